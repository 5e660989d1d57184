package doctor

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// fakeMessage is a message of a fake service.
type fakeMessage struct {
	n                                     int
	id, batch, from, to, text, ref, state string
	parts                                 int
	created, sent                         time.Time
}

// fake is a service that is written by hand, not from a contract: its shape is that of its functions.
type fake struct {
	truth string // the overlay that fits it

	// row writes a message, and page what stands around some rows.
	row  func(m fakeMessage) any
	page func(rows []any, p fakePage) any
	// filters are parameters, and what they select.
	filters map[string]func(m fakeMessage, value string) bool
	// size, number, offset and cursor are the names of the parameters that page, "" for those that it does not have.
	size, number, offset, cursor string
	firstPage, defaultSize       int
	largest                      int // page, if that is not 0
	sort                         func(q url.Values, rows []fakeMessage)
	others                       []string // parameters that sort takes
	isStrict                     bool
	ascending                    bool // the oldest first
	refuses                      func(w http.ResponseWriter, unknown string, known []string)
	// read reads a send, or responds with a refusal and returns false.
	read    func(w http.ResponseWriter, r *http.Request) (fakeMessage, bool)
	respond func(w http.ResponseWriter, m fakeMessage)

	mu       sync.Mutex
	messages []fakeMessage // the oldest first
	refused  int
}

type fakePage struct {
	total, size, number, offset int
	next                        string
	query                       url.Values
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}

const fakeRows = 57

// seed puts messages into a fake.
func (f *fake) seed() {
	senders := []string{"ACME", "Zorro", "639170009999"}
	states := []string{"A", "B", "C"}
	for n := range fakeRows {
		at := time.Now().Add(-time.Duration(fakeRows-n) * 11 * time.Hour).Truncate(time.Second)
		f.messages = append(f.messages, fakeMessage{
			n: n, id: fmt.Sprintf("%08x-00%02d-4bcd-8ef0-0123456789ab", 0xabcdef+n*7919, n), batch: fmt.Sprintf("B%05d", 100+n/3), from: senders[n%3],
			to: fmt.Sprintf("6391712300%02d", n), text: fmt.Sprintf("The quick brown fox owes you %d pesos", n), ref: fmt.Sprintf("order-%d", n*3+1),
			state: states[n%3], parts: 1 + n%2, created: at, sent: at.Add(2 * time.Second),
		})
	}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/sms/send":
		m, ok := f.read(w, r)
		if !ok {
			f.refused++
			return
		}
		m.n = len(f.messages)
		m.id, m.batch = fmt.Sprintf("%08x-00%02d-4bcd-8ef0-0123456789ab", 0xfedcba+m.n*104729, m.n%100), fmt.Sprintf("B%05d", 900+m.n)
		m.created = time.Now().Truncate(time.Second)
		m.sent, m.parts, m.state = m.created.Add(time.Second), 1, "A"
		f.messages = append(f.messages, m)
		f.respond(w, m)
	case r.Method == http.MethodGet && r.URL.Path == "/api/sms":
		f.list(w, r.URL.Query())
	default:
		writeJSON(w, http.StatusNotFound, map[string]any{"message": "no such resource"})
	}
}

func (f *fake) list(w http.ResponseWriter, q url.Values) {
	known := append([]string{f.size, f.number, f.offset, f.cursor}, f.others...)
	known = slices.DeleteFunc(append(known, slices.Sorted(maps.Keys(f.filters))...), func(name string) bool { return name == "" })
	rows := slices.Clone(f.messages)
	if !f.ascending {
		slices.Reverse(rows)
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		if f.isStrict && !slices.Contains(known, name) {
			f.refuses(w, name, known)
			return
		}
		if keeps := f.filters[name]; keeps != nil {
			rows = slices.DeleteFunc(rows, func(m fakeMessage) bool { return !keeps(m, q.Get(name)) })
		}
	}
	if f.sort != nil {
		f.sort(q, rows)
	}
	p := fakePage{total: len(rows), size: f.defaultSize, number: f.firstPage, query: q}
	for name, target := range map[string]*int{f.size: &p.size, f.number: &p.number, f.offset: &p.offset} {
		if text := q.Get(name); name != "" && text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || name == f.size && n == 0 || name == f.number && n < f.firstPage {
				writeJSON(w, http.StatusBadRequest, map[string]any{"message": "bad value of " + name})
				return
			}
			*target = n
		}
	}
	if f.largest > 0 {
		p.size = min(p.size, f.largest)
	}
	if f.number != "" {
		p.offset = (p.number - f.firstPage) * p.size
	}
	if text := q.Get(f.cursor); f.cursor != "" && text != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(text, "c-"))
		if err != nil {
			writeJSON(w, http.StatusBadRequest, map[string]any{"message": "bad cursor"})
			return
		}
		p.offset = n
	}
	begin := min(p.offset, len(rows))
	end := min(begin+p.size, len(rows))
	if end < len(rows) {
		p.next = "c-" + strconv.Itoa(end)
	}
	list := []any{}
	for _, m := range rows[begin:end] {
		list = append(list, f.row(m))
	}
	writeJSON(w, http.StatusOK, f.page(list, p))
}

func equals(get func(m fakeMessage) string) func(fakeMessage, string) bool {
	return func(m fakeMessage, value string) bool { return get(m) == value }
}

// flat returns the lines of an overlay by their paths. Of a list of paths only the first counts.
func flat(t *testing.T, overlay []byte) map[string]string {
	t.Helper()
	var sections map[string]map[string]any
	require.NoError(t, json.Unmarshal(overlay, &sections))
	lines := map[string]string{}
	for section, keys := range sections {
		for key, value := range keys {
			inner, ok := value.(map[string]any)
			if !ok {
				inner = map[string]any{"": value}
			}
			for concept, value := range inner {
				if list, ok := value.([]any); ok && len(list) > 0 && key != "accepted" {
					value = list[0]
				}
				lines[strings.TrimSuffix(section+" "+key+" "+concept, " ")] = document.Encode(value)
			}
		}
	}
	return lines
}

// hold examines a fake with -send, and compares what the doctor proposes with the truth.
func hold(t *testing.T, f *fake, args ...string) Report {
	t.Helper()
	f.seed()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "secret-token-1")
	file := filepath.Join(t.TempDir(), "overlay.json")
	status, out, progress := r.run(append([]string{"-send", "+639170000001", "-from", "ACME", "-yes", "-o", file, "-json", "-wait", "30s"}, args...)...)
	var report Report
	require.NoError(t, json.Unmarshal([]byte(out), &report), "%s%s", out, progress)
	require.Equal(t, status, report.Status)
	assert.Contains(t, progress, "written to "+file)
	assert.Empty(t, private.FindAllString(out+progress, -1))

	truth, found := flat(t, []byte(f.truth)), flat(t, report.Overlay)
	n, renamed := 0, 0
	for place, want := range truth {
		if found[place] != want {
			t.Logf("not found: %s: %s, got %q", place, want, found[place])
		}
		if renamed++; found[place] == want {
			n++
		}
	}
	for place, got := range found {
		want, ok := truth[place]
		assert.True(t, ok && want == got || isHarmless(place, got), "%s: %s is wrong, want %s", place, got, want)
	}
	t.Logf("%d of %d found, %d sends refused, %d messages", n, renamed, f.refused, len(f.messages))
	assert.GreaterOrEqual(t, renamed, 12)
	assert.GreaterOrEqual(t, n*10, renamed*8)
	assertOverlayLists(t, server.URL, file, len(f.messages))
	var b strings.Builder
	require.NoError(t, report.writeText(&b, "The overlay"))
	t.Log(b.String())
	return report
}

// isHarmless reports whether a line says the same as the default contract, or what only the service's words can say.
func isHarmless(place, got string) bool {
	defaults := map[string]string{"sms.list time": `"rfc3339ms"`, "sms.list paging by": `"page"`}
	return defaults[place] == got
}

// assertOverlayLists lists with an overlay as a user does, and expects each row in full.
func assertOverlayLists(t *testing.T, base, file string, rows int) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	names, err := contract.Parse(raw)
	require.NoError(t, err)
	client, err := messaging.NewClient(base, messaging.WithToken("secret-token-1"), messaging.WithContract(names))
	require.NoError(t, err)
	listed := map[string]bool{}
	for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		if !assert.NoError(t, err) {
			return
		}
		listed[tx.ID] = true
		assert.NotEmpty(t, tx.To)
		assert.False(t, tx.CreatedAt.IsZero())
	}
	assert.Len(t, listed, rows)
}
