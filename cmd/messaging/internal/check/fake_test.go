package check

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

type object = map[string]any

// fakeMessage is a message of a fake service.
type fakeMessage struct {
	id, batch, from, to, text, ref, state string
	at                                    time.Time
}

// fake is a service that is written by hand, not from a contract. It takes and filters by the default names, and its responses have others.
// A lie changes one of its functions.
type fake struct {
	names   map[string]string // of the fields of a send, by concept
	refuses func(r *http.Request, sent url.Values) string
	respond func(w http.ResponseWriter, m fakeMessage)
	row     func(m fakeMessage) object
	others  func() []object // rows of other accounts
	filters map[string]func(m fakeMessage, value string) bool
	page    func(rows []object, q url.Values) object
	sort    func(messages []fakeMessage, q url.Values)

	mu       sync.Mutex
	messages []fakeMessage // the oldest first
	taken    []string      // texts of sends
	tried    []url.Values  // all sends
	requests []time.Time
}

const fakeRows = 7

// newFake returns a fake that does not lie.
func newFake() *fake {
	f := &fake{
		names:   map[string]string{"from": "from", "to": "to", "text": "text", "reference": "referenceId"},
		refuses: func(*http.Request, url.Values) string { return "" },
		respond: func(w http.ResponseWriter, m fakeMessage) {
			writeJSON(w, http.StatusOK, object{"id": m.id, "requestId": m.batch, "ref": m.ref, "status": "ok"})
		},
		row: func(m fakeMessage) object {
			return object{
				"uid": m.id, "batch": m.batch, "ref": m.ref, "source": m.from, "target": m.to, "body": m.text, "state": m.state,
				"at": m.at.UTC().Format(time.RFC3339), "tenant": object{"color": "red"},
			}
		},
		others: func() []object { return nil },
		sort:   sortByDate,
		filters: map[string]func(m fakeMessage, value string) bool{
			"filter[transactionId]": func(m fakeMessage, v string) bool { return m.id == v },
			"filter[requestId]":     func(m fakeMessage, v string) bool { return m.batch == v },
			"filter[referenceId]":   func(m fakeMessage, v string) bool { return m.ref == v },
			"filter[categoryId]":    func(fakeMessage, string) bool { return false },
			"filter[from]":          func(m fakeMessage, v string) bool { return m.from == v },
			"filter[to]":            func(m fakeMessage, v string) bool { return strings.TrimPrefix(m.to, "+") == strings.TrimPrefix(v, "+") },
			"filter[dateCreatedGt]": func(m fakeMessage, v string) bool { return m.at.Format(time.RFC3339) > v },
			"filter[dateCreatedLt]": func(m fakeMessage, v string) bool { return m.at.UTC().Format(time.RFC3339) < v },
		},
	}
	f.page = func(rows []object, q url.Values) object {
		number, size := 1, 20
		_, _ = fmt.Sscan(q.Get("pageNumber"), &number)
		_, _ = fmt.Sscan(q.Get("pageSize"), &size)
		begin := min((number-1)*size, len(rows))
		end := min(begin+size, len(rows))
		return object{"list": object{"rows": rows[begin:end], "hasNext": end < len(rows)}, "hasNext": end < len(rows)}
	}
	for n := range fakeRows {
		f.messages = append(f.messages, fakeMessage{
			id: fmt.Sprintf("%08x-0000-4bcd-8ef0-0123456789ab", 0xabcdef+n*7919), batch: fmt.Sprintf("B%05d", 100+n),
			from: []string{"ACME", "Zorro"}[n%2], to: fmt.Sprintf("6391712300%02d", n), text: fmt.Sprintf("The quick brown fox owes you %d pesos", n),
			ref: fmt.Sprintf("order-%d", n), state: []string{"DELIVERED", "FAILED"}[n%2], at: time.Now().Add(-time.Duration(n) * time.Hour),
		})
	}
	return f
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

// serve starts the fake.
func (f *fake) serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, time.Now())
	sent := url.Values{}
	if raw, _ := io.ReadAll(r.Body); strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		sent, _ = url.ParseQuery(string(raw))
	} else {
		for name, value := range document.Parse(raw).Object() {
			sent.Set(name, document.Node{Value: value}.Text())
		}
	}
	if r.Method == http.MethodPost {
		f.tried = append(f.tried, sent)
	}
	if why := f.refuses(r, sent); why != "" {
		status, _ := strconv.Atoi(why[:3])
		writeJSON(w, status, object{"error": object{"code": "E4711", "message": why[4:]}})
		return
	}
	if r.Method != http.MethodPost {
		f.list(w, r.URL.Query())
		return
	}
	n := len(f.messages)
	m := fakeMessage{
		id: fmt.Sprintf("%08x-0000-4bcd-8ef0-0123456789ab", 0xfedcba+n*104729), batch: fmt.Sprintf("B%05d", 900+n), state: "DELIVERED", at: time.Now(),
		from: sent.Get(f.names["from"]), to: sent.Get(f.names["to"]), text: sent.Get(f.names["text"]), ref: sent.Get(f.names["reference"]),
	}
	f.messages, f.taken = append(f.messages, m), append(f.taken, m.text)
	f.respond(w, m)
}

func (f *fake) list(w http.ResponseWriter, q url.Values) {
	rows, isFiltered := []object{}, false
	for _, m := range f.sorted(q) {
		isMeant := func(name string) bool { return !q.Has(name) || f.filters[name](m, q.Get(name)) }
		all := true
		for name := range f.filters {
			all, isFiltered = all && isMeant(name), isFiltered || q.Has(name)
		}
		if all {
			rows = append(rows, f.row(m))
		}
	}
	if !isFiltered {
		rows = append(rows, f.others()...)
	}
	writeJSON(w, http.StatusOK, f.page(rows, q))
}

// sortByDate sorts messages, the oldest first, if a request wants their order by date, and reverses them if it wants the newest first.
func sortByDate(messages []fakeMessage, q url.Values) {
	if q.Get("sort[column]") != "dateCreated" {
		return
	}
	slices.SortStableFunc(messages, func(a, b fakeMessage) int { return a.at.Compare(b.at) })
	if q.Get("sort[direction]") == "desc" {
		slices.Reverse(messages)
	}
}

// sorted returns the messages in the order of a request, which is that of their arrival backwards if it wants none.
func (f *fake) sorted(q url.Values) []fakeMessage {
	messages := slices.Clone(f.messages)
	slices.Reverse(messages)
	f.sort(messages, q)
	return messages
}

// lie changes what the rows of a fake look like.
func (f *fake) changeRows(change func(row object, m fakeMessage)) {
	row := f.row
	f.row = func(m fakeMessage) object {
		r := row(m)
		change(r, m)
		return r
	}
}
