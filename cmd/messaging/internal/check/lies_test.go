package check

import (
	"flag"
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
)

var update = flag.Bool("update", false, "write the golden files")

// private matches parts of numbers, texts, references and credentials, which must not appear.
var private = regexp.MustCompile(`917123|9170000001|quick brown|4711 pesos|Test message of|order-[0-9]|check-[A-Z0-9]{6}|secret-token|Zorro|B00[0-9]|4bcd`)

// names is the overlay of the fake.
const names = `{
	"sms.send": {"response": {"reference": ["ref"]}},
	"sms.list": {"items": ["list.rows"], "record": {
		"id": ["uid"], "request": ["batch"], "reference": ["ref"], "from": ["source"], "to": ["target"], "text": ["body"],
		"deliveryStatus": ["state"], "created": ["at"]
	}}
}`

// run is the output of the command.
type run struct {
	status int
	out    string
	grades map[string]grade  // by subject
	why    map[string]string // by subject
}

// checkFake runs the command with --send.
func checkFake(t *testing.T, f *fake, overlay string, args ...string) run {
	t.Helper()
	r := newRig(t, f.serve(t), "secret-token-1")
	r.overlayFile(overlay)
	status, out, progress := r.sends(args...)
	return newRun(t, status, out, progress)
}

var gap = regexp.MustCompile(` {2,}`)

func newRun(t *testing.T, status int, out, progress string) run {
	t.Helper()
	assert.Empty(t, private.FindAllString(out+progress, -1), out)
	result := run{status, out, map[string]grade{}, map[string]string{}}
	for line := range strings.Lines(out) {
		columns := gap.Split(strings.TrimSpace(line), 4)
		require.Len(t, columns, 4, line)
		result.grades[columns[0]] = grade(columns[2])
		result.why[columns[0]] = columns[3]
	}
	return result
}

// proven returns the proven subjects, sorted.
func (r run) proven() []string {
	var all []string
	for subject, grade := range r.grades {
		if grade == proven {
			all = append(all, subject)
		}
	}
	slices.Sort(all)
	return all
}

// provable returns the subjects that can be proven of the fake.
func provable(without ...string) []string {
	all := []string{"created", "filter by id", "filter by reference", "filter by request", "from", "id", "listing", "order by created", "paging", "row 1", "row 2", "text"}
	return slices.DeleteFunc(all, func(subject string) bool { return slices.Contains(without, subject) })
}

// TestReport compares the output of a run with a golden file.
func TestReport(t *testing.T) {
	f := newFake()
	f.filters["filter[to]"] = func(fakeMessage, string) bool { return true }
	got := checkFake(t, f, names)
	assert.Equal(t, 1, got.status, "a filter is wrong: %s", got.out)
	assert.Equal(t, provable(), got.proven(), got.out)
	out := regexp.MustCompile(`listed within [0-9.ms]+ `).ReplaceAllString(got.out, "listed within 0s ")
	golden := filepath.Join("testdata", "report.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), out)
	assert.Len(t, f.taken, messageCount)
}

// TestNothingFalseIsProven has services with one lie each. The subject of the lie must not be proven.
func TestNothingFalseIsProven(t *testing.T) {
	byReference := func(is func(m fakeMessage, value string) bool) func(*fake) {
		return func(f *fake) { f.filters["filter[referenceId]"] = is }
	}
	rows := []string{"created", "filter by id", "filter by reference", "filter by request", "from", "id", "row 1", "row 2", "text"}
	for name, tt := range map[string]struct {
		lie     func(f *fake)
		without []string // subjects that are not proven
		subject string   // of a line
		says    string
	}{
		"a filter that is ignored": {
			byReference(func(fakeMessage, string) bool { return true }), []string{"filter by reference"}, "filter by reference", "ignored: a made-up value",
		},
		"a filter that finds another too": {
			byReference(func(m fakeMessage, v string) bool {
				return strings.HasPrefix(v, "check-") && (m.ref == v || m.ref == "order-1") && len(v) == 32
			}),
			[]string{"filter by reference"},
			"filter by reference", "",
		},
		"a filter that finds nothing": {
			byReference(func(fakeMessage, string) bool { return false }),
			[]string{"filter by reference"},
			"filter by reference", "not even the message",
		},
		"a bound of time that is ignored": {
			func(f *fake) { f.filters["filter[dateCreatedGt]"] = func(fakeMessage, string) bool { return true } },
			nil,
			"filter by createdAfter", "ignored: a made-up value",
		},
		"a row of another account with the reference": {
			func(f *fake) {
				f.others = func() []object {
					var all []object
					for _, m := range f.messages[fakeRows:] {
						m.to = "639179999999"
						m.id = "other-" + m.id
						all = append(all, f.row(m))
					}
					return all
				}
			}, append([]string{"order by created"}, rows...), "row 1", "several rows have its reference ID",
		},
		"IDs that change": {
			func(f *fake) {
				n := 0
				f.changeRows(func(row object, _ fakeMessage) {
					n++
					row["uid"] = fmt.Sprintf("%08x-0000-4bcd-8ef0-0123456789ab", n)
				})
			}, []string{"id", "filter by id", "paging"}, "id", "another ID than the response",
		},
		"an ID that all messages have": {
			func(f *fake) {
				f.respond = func(w http.ResponseWriter, m fakeMessage) {
					writeJSON(w, http.StatusOK, object{"id": "gateway-17", "requestId": m.batch, "ref": m.ref, "status": "ok"})
				}
				f.changeRows(func(row object, _ fakeMessage) { row["uid"] = "gateway-17" })
			}, []string{"id", "filter by id", "paging"}, "id", "the same ID",
		},
		"IDs that count the rows": {
			func(f *fake) {
				number := func(m fakeMessage) int {
					return 3_000 + slices.IndexFunc(f.messages, func(o fakeMessage) bool { return o.ref == m.ref })
				}
				f.respond = func(w http.ResponseWriter, m fakeMessage) {
					writeJSON(w, http.StatusOK, object{"id": number(m), "requestId": m.batch, "ref": m.ref, "status": "ok"})
				}
				f.changeRows(func(row object, m fakeMessage) { row["uid"] = number(m) })
			}, []string{"id", "filter by id"}, "id", "may count rows",
		},
		"IDs that are consecutive": {
			func(f *fake) {
				number := func(m fakeMessage) int {
					return 7_000_000 + slices.IndexFunc(f.messages, func(o fakeMessage) bool { return o.ref == m.ref })
				}
				f.respond = func(w http.ResponseWriter, m fakeMessage) {
					writeJSON(w, http.StatusOK, object{"id": number(m), "requestId": m.batch, "ref": m.ref, "status": "ok"})
				}
				f.changeRows(func(row object, m fakeMessage) { row["uid"] = number(m) })
			}, []string{"id", "filter by id"}, "id", "may count rows",
		},
		"a recipient that is dropped": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { delete(row, "target") }) }, rows, "row 1", "and not its recipient",
		},
		"a reference that is dropped": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { delete(row, "ref") }) }, rows, "row 1", "none has its reference ID",
		},
		"a text that is changed": {
			func(f *fake) { f.changeRows(func(row object, m fakeMessage) { row["body"] = m.text + "." }) }, []string{"text"}, "text", "another value than was sent",
		},
		"a text that a row lacks": {
			func(f *fake) {
				f.changeRows(func(row object, m fakeMessage) {
					if strings.HasPrefix(m.text, "Test") {
						delete(row, "body")
					}
				})
			}, []string{"text"}, "text", "a row has no value",
		},
		"a text that is dropped": {
			func(f *fake) { f.changeRows(func(row object, _ fakeMessage) { delete(row, "body") }) }, []string{"text"}, "name of text", "none of 9 rows has body",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			tt.lie(f)
			got := checkFake(t, f, names)
			assert.Equal(t, provable(tt.without...), got.proven(), got.out)
			assert.Contains(t, got.why[tt.subject], tt.says, got.out)
			isWrong := slices.Contains(slices.Collect(maps.Values(got.grades)), wrong)
			assert.True(t, isWrong || !slices.Contains(tt.without, "row 1"), got.out)
			assert.Equal(t, map[bool]int{true: cli.ExitRefused, false: cli.ExitOK}[isWrong], got.status, got.out)
			assert.Len(t, f.taken, messageCount)
			assert.Len(t, f.tried, messageCount)
		})
	}
}

// TestUnknownSendIsNotSentAgain cuts the connection after each send. The rows show that the messages were sent.
func TestUnknownSendIsNotSentAgain(t *testing.T) {
	f := newFake()
	f.respond = func(http.ResponseWriter, fakeMessage) { panic(http.ErrAbortHandler) }
	got := checkFake(t, f, names)
	assert.Len(t, f.taken, messageCount)
	assert.Len(t, slices.Compact(slices.Sorted(slices.Values(f.taken))), messageCount, "each text once")
	assert.Contains(t, got.why["send 1"], "unknown outcome")
	assert.NotContains(t, got.out, "accepted")
	assert.Equal(t, proven, got.grades["row 1"])
}

// TestUnlistedUnknownSendIsNotProven or sent.
func TestUnlistedUnknownSendIsNotProven(t *testing.T) {
	f := newFake()
	f.respond = func(http.ResponseWriter, fakeMessage) {
		f.messages = f.messages[:fakeRows]
		panic(http.ErrAbortHandler)
	}
	got := checkFake(t, f, names, "--wait", "50ms")
	assert.Equal(t, 1, got.status)
	assert.Equal(t, wrong, got.grades["row 1"])
	assert.NotContains(t, got.out, "accepted")
	assert.NotContains(t, got.out, "taken")
}

// TestRefusalEndsSending shows the reason, and sends nothing more.
func TestRefusalEndsSending(t *testing.T) {
	for _, status := range []string{"400", "401", "402", "403", "404", "422"} {
		f := newFake()
		f.refuses = func(r *http.Request, _ url.Values) string {
			if r.Method == http.MethodPost {
				return status + " the sender is not registered"
			}
			return ""
		}
		got := checkFake(t, f, names, "--wait", "50ms")
		assert.Equal(t, 1, got.status, status)
		assert.Len(t, f.tried, 1, status)
		assert.Contains(t, got.why["send 1"], "E4711", status)
		assert.NotContains(t, got.grades, "send 2")
	}
}

// TestRefusedMessageThatIsListedEndsCheck has a service that refuses a message and sends it: the report must say so.
func TestRefusedMessageThatIsListedEndsCheck(t *testing.T) {
	f := newFake()
	f.respond = func(w http.ResponseWriter, _ fakeMessage) {
		writeJSON(w, http.StatusBadRequest, object{"code": "E1", "message": "no"})
	}
	got := checkFake(t, f, names)
	assert.Equal(t, 1, got.status)
	assert.Len(t, f.taken, 1)
	assert.Equal(t, wrong, got.grades["send 1"])
	assert.Contains(t, got.why["send 1"], "the service refuses the message and lists it")
}

// TestFilterThatIsRefusedIsWrong has a service that refuses the parameter.
func TestFilterThatIsRefusedIsWrong(t *testing.T) {
	f := newFake()
	f.refuses = func(r *http.Request, _ url.Values) string {
		if r.URL.Query().Has("filter[to]") {
			return "400 unknown parameter"
		}
		return ""
	}
	got := checkFake(t, f, names)
	assert.Equal(t, 1, got.status)
	assert.Equal(t, wrong, got.grades["filter by to"], got.out)
	assert.Contains(t, got.why["filter by to"], "unknown parameter")
}

// TestBoundThatIsRefused: the service may refuse the name or the time, so that the line must not blame the time alone.
func TestBoundThatIsRefused(t *testing.T) {
	f := newFake()
	f.refuses = func(r *http.Request, _ url.Values) string {
		if r.URL.Query().Has("filter[dateCreatedGt]") {
			return "400 unknown parameter"
		}
		return ""
	}
	got := listFake(t, f, names)
	assert.Equal(t, wrong, got.grades["filter by createdAfter"], got.out)
	assert.Contains(t, got.why["filter by createdAfter"], "unknown parameter")
	assert.Contains(t, got.why["filter by createdAfter"], "the service refuses the name or the time: see sms.list.params.createdAfter, sms.list.time")
	assert.NotContains(t, got.why["filter by createdAfter"], "first")
}

// TestWrongContractIsWrong has the default contract, which does not fit the rows.
func TestWrongContractIsWrong(t *testing.T) {
	f := newFake()
	got := checkFake(t, f, "{}")
	assert.Equal(t, 1, got.status)
	assert.Equal(t, wrong, got.grades["listing"])
	assert.Contains(t, got.why["listing"], "sms.list")
}
