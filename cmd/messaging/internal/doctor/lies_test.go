package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

// private is what must appear nowhere: parts of numbers, texts, references and credentials.
var private = regexp.MustCompile(`917123|9170000001|quick brown|4711 pesos|Test message of|order-[0-9]|doctor-[A-Z0-9]|secret-token|Zorro|ACME|B00[0-9]|4bcd|E4711`)

// run is what the doctor printed and wrote.
type run struct {
	status   int
	out      string
	words    map[string]string // by part and concept
	lines    map[string]string // of the overlay, without comments
	comments map[string]string
}

// examineFake runs the doctor with --send, and reads what it says.
func examineFake(t *testing.T, f *fake, args ...string) run {
	t.Helper()
	return examineWith(t, f, "", args...)
}

func examineWith(t *testing.T, f *fake, overlay string, args ...string) run {
	t.Helper()
	r := newRig(t, f.serve(t), "secret-token-1")
	if overlay != "" {
		r.overlayFile(overlay)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	status, out, progress := r.sends(append([]string{"-o", file}, args...)...)
	assert.Empty(t, private.FindAllString(out+progress, -1), out)
	raw, err := os.ReadFile(file)
	require.NoError(t, err, "%s%s", out, progress)
	_, err = contract.Parse(raw)
	require.NoError(t, err)
	result := run{status, out, map[string]string{}, map[string]string{}, map[string]string{}}
	part := ""
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, " ") {
			part, _, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		word := regexp.MustCompile(` (proven|plausible|absent) `).FindStringSubmatch(line)
		if fields := strings.Fields(line); word != nil {
			result.words[part+"."+fields[0]] = word[1]
		}
	}
	var sections map[string]map[string]any
	require.NoError(t, json.Unmarshal(raw, &sections))
	for section, keys := range sections {
		for key, value := range keys {
			inner, ok := value.(map[string]any)
			if !ok {
				inner, key = map[string]any{key: value}, ""
			}
			for concept, value := range inner {
				place := strings.ReplaceAll(section+"."+key+"."+concept, "..", ".")
				text, _ := json.Marshal(value)
				if name, isComment := strings.CutSuffix(place, "//"); isComment {
					result.comments[name] = string(text)
				} else {
					result.lines[place] = string(text)
				}
			}
		}
	}
	return result
}

// proven returns what is proven, sorted.
func (r run) proven() []string {
	all := []string{}
	for place, word := range r.words {
		if word == proven {
			all = append(all, place)
		}
	}
	slices.Sort(all)
	return all
}

// truth is the overlay that fits the fake, and all that may be proven of it.
var truth = map[string]string{
	"sms.list.items": `["list.rows"]`, "sms.list.record.id": `["uid"]`, "sms.list.record.request": `["batch"]`, "sms.list.record.reference": `["ref"]`,
	"sms.list.record.text": `["body"]`, "sms.list.record.to": `["target"]`, "sms.send.response.reference": `["ref"]`,
}

func provenPlaces(without ...string) []string {
	all := append(slices.Collect(maps.Keys(truth)), "sms.send.response.id", "sms.send.response.request", "sms.send.fields.to", "sms.send.fields.text",
		"sms.send.fields.reference", "sms.send.sends", "sms.list.params.id", "sms.list.params.reference", "sms.list.params.request")
	all = slices.DeleteFunc(all, func(place string) bool { return slices.Contains(without, place) })
	slices.Sort(all)
	return all
}

func TestProvenIsWhatCameBack(t *testing.T) {
	f := newFake()
	got := examineFake(t, f)
	assert.Equal(t, 0, got.status, got.out)
	assert.Equal(t, provenPlaces(), got.proven(), got.out)
	assert.Equal(t, truth, got.lines)
	assert.Equal(t, `["at"]`, got.comments["sms.list.record.created"])
	assert.Equal(t, `["source","state","tenant.color"]`, got.comments["sms.list.record.deliveryStatus"])
	assert.Contains(t, got.out, "no concept reads tenant.color: letters(3)")
	assert.Len(t, f.taken, enough)
}

// TestNothingFalseIsProven has services with one lie each: what the lie is about is not proven, and what is proven is true.
func TestNothingFalseIsProven(t *testing.T) {
	record := []string{
		"sms.list.items", "sms.list.record.id", "sms.list.record.request", "sms.list.record.reference", "sms.list.record.text", "sms.list.record.to",
		"sms.send.response.id", "sms.send.response.request", "sms.send.response.reference", "sms.send.fields.to", "sms.send.fields.text",
		"sms.send.fields.reference", "sms.send.sends", "sms.list.params.id", "sms.list.params.reference", "sms.list.params.request",
	}
	byReference := func(is func(m fakeMessage, value string) bool) func(*fake) {
		return func(f *fake) { f.filters["filter[referenceId]"] = is }
	}
	ids := []string{"sms.list.record.id", "sms.send.response.id", "sms.list.params.id"}
	for name, tt := range map[string]struct {
		lie     func(f *fake)
		without []string // what is no longer proven
		lines   map[string]string
		says    string
	}{
		"a filter that is ignored": {
			byReference(func(fakeMessage, string) bool { return true }),
			[]string{"sms.list.params.reference"},
			map[string]string{"sms.list.params.reference": `""`},
			"is ignored",
		},
		"a filter that compares the beginning": {
			byReference(func(m fakeMessage, v string) bool { return strings.HasPrefix(m.ref, v) }),
			[]string{"sms.list.params.reference"},
			map[string]string{"sms.list.params.reference": `""`},
			"finds others",
		},
		"a filter that compares the end": {
			byReference(func(m fakeMessage, v string) bool { return strings.HasSuffix(m.ref, v) }),
			[]string{"sms.list.params.reference"},
			map[string]string{"sms.list.params.reference": `""`},
			"finds others",
		},
		"a filter that finds others too": {
			byReference(func(m fakeMessage, v string) bool {
				return strings.HasPrefix(v, "doctor-") && (m.ref == v || m.ref == "order-1") && len(v) == 33
			}),
			[]string{"sms.list.params.reference"},
			map[string]string{"sms.list.params.reference": `""`},
			"",
		},
		"a filter that finds nothing": {
			byReference(func(fakeMessage, string) bool { return false }), []string{"sms.list.params.reference"}, nil, "not even the message",
		},
		"a filter by recipient that is ignored": {
			func(f *fake) { f.filters["filter[to]"] = func(fakeMessage, string) bool { return true } }, nil,
			map[string]string{"sms.list.params.to": `""`},
			"is ignored",
		},
		"a bound of time that is ignored": {
			func(f *fake) { f.filters["filter[dateCreatedGt]"] = func(fakeMessage, string) bool { return true } }, nil,
			map[string]string{"sms.list.params.createdAfter": `""`},
			"is ignored",
		},
		"a row of another account with the reference": {
			func(f *fake) {
				f.others = func() []object {
					rows := []object{}
					for _, m := range f.messages[fakeRows:] {
						m.to, m.id = "639179999999", "other-"+m.id
						rows = append(rows, f.row(m))
					}
					return rows
				}
			}, record, nil, "several rows have its reference",
		},
		"IDs that change": {
			func(f *fake) {
				n := 0
				f.changeRows(func(row object, _ fakeMessage) {
					n++
					row["uid"] = fmt.Sprintf("%08x-0000-4bcd-8ef0-0123456789ab", n)
				})
			}, ids, nil, "no row has the ID of its response",
		},
		"two members with the ID": {
			func(f *fake) { f.changeRows(func(row object, m fakeMessage) { row["dlrId"] = m.id }) }, ids, nil, "",
		},
		"an ID that all messages have": {
			func(f *fake) {
				f.respond = func(w http.ResponseWriter, m fakeMessage) {
					writeJSON(w, http.StatusOK, object{"id": "gateway-17", "requestId": m.batch, "ref": m.ref, "status": "ok"})
				}
				f.changeRows(func(row object, _ fakeMessage) { row["uid"] = "gateway-17" })
			}, ids, nil, "",
		},
		"a text that comes back twice": {
			func(f *fake) { f.changeRows(func(row object, m fakeMessage) { row["original"] = m.text }) },
			[]string{"sms.list.record.text", "sms.send.fields.text", "sms.send.sends"},
			nil, "",
		},
		"a recipient that is also the owner": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { row["owner"] = "tel:+639170000001" }) },
			[]string{"sms.list.record.to", "sms.send.fields.to", "sms.send.sends"},
			nil, "",
		},
		"a value that also has a name which is not shown": {
			func(f *fake) { f.changeRows(func(row object, m fakeMessage) { row["63917"+m.to] = m.text }) },
			[]string{"sms.list.record.text", "sms.send.fields.text", "sms.send.sends"},
			nil, "",
		},
		"a recipient that is dropped": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { delete(row, "target") }) }, record, nil, "and not its recipient",
		},
		"a reference that is dropped": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { delete(row, "ref") }) }, record, nil, "none has a reference that was sent",
		},
		"two statuses": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { row["condition"] = "SENT" }) }, nil, nil, "",
		},
		"another reference in the response": {
			func(f *fake) {
				f.respond = func(w http.ResponseWriter, m fakeMessage) {
					writeJSON(w, http.StatusOK, object{"id": m.id, "requestId": m.batch, "referenceId": "SVC-" + m.batch, "status": "ok"})
				}
			}, []string{"sms.send.response.reference"}, map[string]string{"sms.send.response.reference": `[]`}, "a reference of the service's own",
		},
		"the same page again": {
			func(f *fake) {
				page := f.page
				f.page = func(rows []object, q url.Values) object {
					q.Del("pageNumber")
					return page(rows, q)
				}
			}, nil, nil, "page 2 has only rows of the pages before it",
		},
		"a page size that is ignored": {
			func(f *fake) {
				page := f.page
				f.page = func(rows []object, q url.Values) object {
					q.Del("pageSize")
					return page(rows, q)
				}
			}, nil, nil, "2 rows were asked for, and 9 came",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			tt.lie(f)
			got := examineFake(t, f)
			assert.Equal(t, provenPlaces(tt.without...), got.proven(), got.out)
			assert.Contains(t, got.out, tt.says)
			want := maps.Clone(truth)
			maps.DeleteFunc(want, func(place, _ string) bool { return slices.Contains(tt.without, place) })
			maps.Copy(want, tt.lines)
			assert.Equal(t, want, got.lines)
			for place := range tt.lines {
				assert.NotEmpty(t, got.comments[place], "the reason")
			}
			assert.Len(t, f.taken, enough)
			assert.Len(t, f.tried, enough)
		})
	}
}

// TestCandidatesStandAsComments has two members for a status: neither is chosen.
func TestCandidatesStandAsComments(t *testing.T) {
	f := newFake()
	f.changeRows(func(row object, _ fakeMessage) { row["condition"] = "SENT" })
	got := examineFake(t, f)
	assert.Equal(t, `["condition","source","state","tenant.color"]`, got.comments["sms.list.record.deliveryStatus"])
	assert.NotContains(t, got.lines, "sms.list.record.deliveryStatus")
	assert.Equal(t, plausible, got.words["sms.list.record.deliveryStatus"])
}

// TestTwoIDsAreNotToldApart has a response whose members the contract does not read: either may be the ID.
func TestTwoIDsAreNotToldApart(t *testing.T) {
	f := newFake()
	f.respond = func(w http.ResponseWriter, m fakeMessage) {
		writeJSON(w, http.StatusOK, object{"handle": m.id, "group": m.batch, "status": "ok"})
	}
	got := examineFake(t, f)
	for _, place := range []string{"sms.list.record.id", "sms.list.record.request", "sms.send.response.id"} {
		assert.Equal(t, plausible, got.words[place], place)
	}
	assert.Equal(t, `["group","handle"]`, got.comments["sms.send.response.id"])
}

// TestListInAListIsFound has rows in the only element of the list that the contract reads: the element is no row.
func TestListInAListIsFound(t *testing.T) {
	f := newFake()
	f.page = func(rows []object, _ url.Values) object { return object{"data": []object{{"messages": rows}}} }
	got := examineFake(t, f)
	assert.Equal(t, `["data.0.messages"]`, got.lines["sms.list.items"], got.out)
	assert.Equal(t, provenPlaces(), got.proven(), got.out)
	for place := range got.lines {
		assert.NotContains(t, place, "params")
	}
}

// TestRepeatedCursorEnds has a service that pages by cursor, with the same one each time.
func TestRepeatedCursorEnds(t *testing.T) {
	f := newFake()
	f.page = func(rows []object, _ url.Values) object {
		return object{"list": object{"rows": rows}, "cursor": "c-1"}
	}
	got := examineWith(t, f, `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "page": {"next": ["cursor"]}, "items": ["list.rows"]}}`)
	assert.Equal(t, absent, got.words["sms.list.params.cursor"], got.out)
	assert.Equal(t, proven, got.words["sms.send.sends"])
}

// strict refuses all names that the service does not know.
func (f *fake) strict() {
	f.names = map[string]string{"from": "source", "to": "target", "text": "body", "reference": "ref"}
	known := slices.Collect(maps.Values(f.names))
	f.refuses = func(r *http.Request, sent url.Values) string {
		for name := range sent {
			if !slices.Contains(known, name) {
				return "400 unknown field"
			}
		}
		for name := range r.URL.Query() {
			if f.filters[name] == nil && name != "pageNumber" && name != "pageSize" {
				return "400 unknown parameter"
			}
		}
		return ""
	}
}

// TestRefusalTriesNamesOfRows sends to a service with strict names, which are those of its rows. The reference, of which the contract does
// not know the name, is not sent, and so nothing is proven.
func TestRefusalTriesNamesOfRows(t *testing.T) {
	f := newFake()
	f.strict()
	got := examineFake(t, f)
	assert.Empty(t, got.proven(), got.out)
	assert.Len(t, f.taken, enough)
	assert.Equal(t, `["target"]`, got.comments["sms.send.fields.to"])
	assert.Equal(t, `["body"]`, got.comments["sms.send.fields.text"])
	assert.Contains(t, got.out, "as the contract says: refused")

	f = newFake()
	f.strict()
	got = examineWith(t, f, `{"sms.list": {"items": ["list.rows"], "record": {"reference": ["ref"]}}}`)
	assert.Equal(t, proven, got.words["sms.send.sends"], got.out)
	assert.Equal(t, `"target"`, got.lines["sms.send.fields.to"])
	assert.Equal(t, `"ref"`, got.lines["sms.send.fields.reference"])
	assert.Equal(t, `["source"]`, got.comments["sms.send.fields.from"])
	assert.Len(t, f.taken, enough)
}

// TestRefusalTriesAForm sends to a service that takes forms.
func TestRefusalTriesAForm(t *testing.T) {
	f := newFake()
	f.refuses = func(r *http.Request, _ url.Values) string {
		if r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/json" {
			return "400 want a form"
		}
		return ""
	}
	got := examineFake(t, f)
	assert.Equal(t, proven, got.words["sms.send.sends"], got.out)
	assert.Equal(t, `"form"`, got.lines["sms.send.encoding"])
	assert.Len(t, f.taken, enough)
}

// TestRefusedSendPrintsOverlayToFillIn sends to a service whose names are nowhere to be seen. Two members of its rows are numbers: nothing
// is sent under either.
func TestRefusedSendPrintsOverlayToFillIn(t *testing.T) {
	f := newFake()
	f.strict()
	f.names["to"] = "msisdn"
	f.strict()
	f.changeRows(func(row object, _ fakeMessage) { row["source"] = "639175550000" })
	known := f.refuses
	f.refuses = func(r *http.Request, sent url.Values) string {
		if r.Method == http.MethodPost {
			return "422 no"
		}
		return known(r, sent)
	}
	got := examineFake(t, f)
	assert.Equal(t, 1, got.status)
	assert.Contains(t, got.out, "fill in the overlay below")
	_, overlay, _ := strings.Cut(got.out, "The overlay")
	assert.Contains(t, overlay, "{\n  \"sms.send\": {\n    \"fields\": {\n      \"from\": \"from\"")
	assert.NotContains(t, overlay, "sms.list")
	assert.Equal(t, `["source","target"]`, got.comments["sms.send.fields.to"])
	for _, sent := range f.tried {
		assert.NotContains(t, sent, "source")
		assert.NotContains(t, sent, "target")
	}
	assert.Empty(t, f.taken)
}

// TestUnknownSendIsNotSentAgain cuts the connection after each send.
func TestUnknownSendIsNotSentAgain(t *testing.T) {
	f := newFake()
	f.respond = func(http.ResponseWriter, fakeMessage) { panic(http.ErrAbortHandler) }
	got := examineFake(t, f)
	assert.Len(t, f.taken, enough)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(f.taken))), enough, "each text once")
	assert.Contains(t, got.out, "message 1: unknown")
	assert.Equal(t, proven, got.words["sms.send.sends"], "the rows show it")
}

// TestAccountsRefusalEndsTrying refuses for want of credit: no other name is tried.
func TestAccountsRefusalEndsTrying(t *testing.T) {
	for _, status := range []string{"401", "403", "404", "402"} {
		f := newFake()
		f.refuses = func(r *http.Request, _ url.Values) string {
			if r.Method == http.MethodPost {
				return status + " no"
			}
			return ""
		}
		examineFake(t, f)
		assert.Len(t, f.tried, 1, status)
	}
}

// TestRateOfTheServiceIsNoProof has a service that takes so many requests a second: a request too many is no proof of anything.
func TestRateOfTheServiceIsNoProof(t *testing.T) {
	const most = 40
	f := newFake()
	f.refuses = func(*http.Request, url.Values) string {
		if n := len(f.requests); n > most && time.Since(f.requests[n-1-most]) < time.Second {
			return "429 slow down"
		}
		return ""
	}
	got := examineFake(t, f, "--timeout", "300ms")
	for _, place := range got.proven() {
		assert.Contains(t, provenPlaces(), place)
	}
	for place, value := range got.lines {
		assert.Equal(t, truth[place], value, "%s\n%s", place, got.out)
	}
	f = newFake()
	f.refuses = func(*http.Request, url.Values) string {
		if n := len(f.requests); n > most && time.Since(f.requests[n-1-most]) < time.Second {
			return "429 slow down"
		}
		return ""
	}
	assert.Equal(t, provenPlaces(), examineFake(t, f, "--rate", "35").proven())
}

// TestFailedCounterTestProvesNothing has a filter that compares the beginning, and a service that fails whenever it would show that.
func TestFailedCounterTestProvesNothing(t *testing.T) {
	f := newFake()
	f.filters["filter[referenceId]"] = func(m fakeMessage, v string) bool { return strings.HasPrefix(m.ref, v) }
	f.refuses = func(r *http.Request, _ url.Values) string {
		if v := r.URL.Query().Get("filter[referenceId]"); v != "" && len(v) != len("doctor-")+26 {
			return "503 later"
		}
		return ""
	}
	got := examineFake(t, f, "--timeout", "200ms")
	assert.Equal(t, plausible, got.words["sms.list.params.reference"], got.out)
	assert.NotContains(t, got.lines, "sms.list.params.reference")
}

// TestFilterHasTheNameOfTheRow has a service that ignores the default names, and filters by those of its rows.
func TestFilterHasTheNameOfTheRow(t *testing.T) {
	f := newFake()
	f.filters = map[string]func(m fakeMessage, value string) bool{
		"ref": f.filters["filter[referenceId]"], "uid": f.filters["filter[transactionId]"], "batch": f.filters["filter[requestId]"],
		"target": f.filters["filter[to]"], "body": func(fakeMessage, string) bool { return true },
	}
	got := examineFake(t, f)
	assert.Equal(t, provenPlaces(), got.proven(), got.out)
	for concept, name := range map[string]string{"reference": `"ref"`, "id": `"uid"`, "request": `"batch"`, "to": `""`, "from": `""`} {
		assert.Equal(t, name, got.lines["sms.list.params."+concept], concept)
	}
	assert.Contains(t, got.comments["sms.list.params.to"], "target finds 2 rows, each with the value")
}

// TestListingThatTakesNoParameter has a service that refuses every parameter of the listing: what came back is proven all the same, and no
// filter is.
func TestListingThatTakesNoParameter(t *testing.T) {
	f := newFake()
	f.refuses = func(r *http.Request, _ url.Values) string {
		if r.URL.RawQuery != "" {
			return "400 no parameters"
		}
		return ""
	}
	got := examineFake(t, f)
	assert.Equal(t, proven, got.words["sms.send.sends"], got.out)
	for _, concept := range []string{"reference", "id", "request", "to"} {
		assert.Equal(t, absent, got.words["sms.list.params."+concept], concept)
		assert.NotContains(t, got.lines, "sms.list.params."+concept)
	}
}
