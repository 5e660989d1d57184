package check

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func respond(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// TestUnreadableService: a report names the problem in time.
func TestUnreadableService(t *testing.T) {
	const theCredentials = "see MESSAGING_BASE_URL, the credentials and sms.list of the contract"
	for name, tt := range map[string]struct {
		want    string
		service http.Handler
	}{
		"a page":         {theCredentials, respond(http.StatusOK, "text/html", "<!doctype html><p>+639171230045")},
		"an empty body":  {theCredentials, respond(http.StatusOK, "application/json", "")},
		"half a body":    {theCredentials, respond(http.StatusOK, "application/json", `{"data": [`)},
		"no list":        {"no list at any path of the contract (sms.list.items)", respond(http.StatusOK, "application/json", `{"colour": "red"}`)},
		"a refusal":      {theCredentials, respond(http.StatusUnauthorized, "application/json", `{"code": "40001"}`)},
		"another path":   {theCredentials, respond(http.StatusNotFound, "application/json", `{}`)},
		"a redirect":     {theCredentials, respond(http.StatusFound, "application/json", `{}`)},
		"a code":         {theCredentials, respond(http.StatusOK, "application/json", `{"code": "40001", "message": "no +639171230045"}`)},
		"no response":    {theCredentials, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })},
		"no connection":  {theCredentials, nil},
		"a body forever": {theCredentials, http.HandlerFunc(flow)},
	} {
		t.Run(name, func(t *testing.T) {
			base := "http://127.0.0.1:1" // no server of a test is given a port so low
			if tt.service != nil {
				server := httptest.NewServer(tt.service)
				t.Cleanup(server.Close)
				base = server.URL
			}
			status, out, progress := newRig(t, base, "secret-token-1").run("--timeout", "500ms")
			assert.Equal(t, cli.ExitRefused, status, "%s%s", out, progress)
			assert.Contains(t, out, tt.want)
			assert.Empty(t, private.FindAllString(out+progress, -1))
		})
	}
}

// flow writes for as long as the client reads.
func flow(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		_, _ = io.WriteString(w, " ")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(10 * time.Millisecond)
	}
}

// TestTimeoutIsOfEachRequest: a look-up of ten pages may take longer than the timeout. The sent messages are on the ninth page, and there is no
// filter by reference.
func TestTimeoutIsOfEachRequest(t *testing.T) {
	f := newFake()
	page := f.page
	f.page = func(rows []object, q url.Values) object {
		isFiltered := slices.ContainsFunc(slices.Collect(maps.Keys(q)), func(name string) bool { return strings.HasPrefix(name, "filter") })
		if isFiltered {
			return page(rows, q)
		}
		time.Sleep(100 * time.Millisecond)
		var newer []object
		for n := range 400 {
			m := fakeMessage{id: fmt.Sprint("newer-", n), to: "639170000002", text: "Hi", at: time.Now()}
			newer = append(newer, f.row(m))
		}
		return page(append(newer, rows...), q)
	}
	unfiltered := strings.Replace(names, `"record"`, `"params": {"reference": ""}, "record"`, 1)
	result := checkFake(t, f, unfiltered, "--timeout", "700ms", "--wait", "30s")
	assert.Equal(t, cli.ExitOK, result.status, result.out)
	assert.Contains(t, result.why["send 1"], "listed within")
}

// TestWaitBoundsLookUp: the requests of a look-up, and their retries, end soon after --wait if the service does not respond.
func TestWaitBoundsLookUp(t *testing.T) {
	const timeout = time.Minute // of one request
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(service.Close)
	newRig(t, service.URL, "secret-token-1")
	s := &settings{timeout: timeout, rate: 1000, wait: 10 * time.Millisecond}
	c, err := s.newChecker()
	require.NoError(t, err)
	assert.Equal(t, 30*time.Second, c.overrun)
	c.overrun = 50 * time.Millisecond
	began := time.Now()
	m := c.newMessage()
	c.await(t.Context(), m)
	assert.False(t, m.isListed)
	assert.Less(t, time.Since(began), timeout/2)
}

// oldestFirst has the fake list many older messages, the oldest first unless a request wants another order.
func (f *fake) oldestFirst(rows int) {
	f.addMessages(rows)
	f.sort = func(messages []fakeMessage, q url.Values) {
		slices.Reverse(messages) // the order of their arrival
		sortByDate(messages, q)
	}
	page := f.page
	f.page = func(rows []object, q url.Values) object {
		result := page(rows, q)
		result["count"] = len(rows)
		return result
	}
}

// TestSentMessageOfLargeAccount: the filter by reference finds a message that is on no page of a look-up, and so does the order by time. Without
// either, nothing shows that the message is absent.
func TestSentMessageOfLargeAccount(t *testing.T) {
	for name, tt := range map[string]struct {
		params string
		want   grade
	}{
		"both":      {`{}`, proven},
		"by filter": {`{"sortBy": "", "order": ""}`, proven},
		"by order":  {`{"reference": ""}`, proven},
		"neither":   {`{"reference": "", "sortBy": "", "order": ""}`, plausible},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.oldestFirst(600)
			overlay := strings.Replace(names, `"record"`, `"page": {"total": ["count"]}, "params": `+tt.params+`, "record"`, 1)
			got := checkFake(t, f, overlay, "--wait", "0s")
			assert.Equal(t, tt.want, got.grades["row 1"], got.out)
			assert.Equal(t, tt.want, got.grades["row 2"], got.out)
			assert.Equal(t, tt.want == proven, got.status == cli.ExitOK, got.out)
			if tt.want == plausible {
				assert.Equal(t, "not in the first 500 of 609 rows", got.why["row 2"])
				assert.Equal(t, "accepted; not in the first 500 of 608 rows", got.why["send 1"])
				assert.NotContains(t, got.out, string(wrong), got.out)
			}
		})
	}
}

// TestLookUpSurvivesARefusedOrder: a service that refuses the order lists its rows in its own.
func TestLookUpSurvivesARefusedOrder(t *testing.T) {
	f := newFake()
	f.refuses = func(r *http.Request, _ url.Values) string {
		if r.URL.Query().Has("sort[column]") {
			return "400 unknown parameter"
		}
		return ""
	}
	got := checkFake(t, f, names)
	assert.Equal(t, proven, got.grades["row 1"], got.out)
	assert.Equal(t, wrong, got.grades["order by created"], got.out)
}

// TestInterruptEndsCheck ends the context while a service does not respond.
func TestInterruptEndsCheck(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	newRig(t, server.URL, "token")
	ctx, cancel := context.WithCancel(t.Context())
	var out, progress safeBuffer
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, []string{"--timeout", "10m"}, cli.Console{Out: &out, Err: &progress})
	}()
	require.Eventually(t, func() bool { return strings.Contains(progress.String(), "reading the listing") }, 20*time.Second, 10*time.Millisecond)
	cancel()
	assert.Equal(t, cli.ExitRefused, <-done)
	assert.Contains(t, out.String(), "interrupted")
}

// TestSendWithoutListing sends for an account that may not list: nothing can be proven.
func TestSendWithoutListing(t *testing.T) {
	srv := messagingtest.NewServer(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	status, out, progress := newRig(t, server.URL, srv.Token).sends()
	got := newRun(t, status, out, progress)
	assert.Equal(t, cli.ExitRefused, status)
	assert.Len(t, srv.Sent(), messageCount)
	assert.Equal(t, "accepted; not looked up, because the listing cannot be read", got.why["send 1"])
	assert.Empty(t, got.proven())
}

func TestBadInputIsOneLine(t *testing.T) {
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const key, secret, token, base = "MESSAGING_API_KEY", "MESSAGING_API_SECRET", "MESSAGING_TOKEN", "MESSAGING_BASE_URL"
	for want, input := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"MESSAGING_BASE_URL: required":       {env: map[string]string{base: ""}},
		"MESSAGING_TOKEN: want credentials":  {env: map[string]string{token: ""}},
		"MESSAGING_TOKEN: set together with": {env: map[string]string{key: "key"}},
		"MESSAGING_API_KEY: required":        {env: map[string]string{token: "", secret: "hush"}},
		"MESSAGING_TOKEN: ":                  {env: map[string]string{token: "secret-token\n1"}},
		"(--plain-http allows it)":           {env: map[string]string{base: "http://api.example.com"}},
		"MESSAGING_CONTRACT: ":               {env: map[string]string{table.EnvFile: filepath.Join(t.TempDir(), "absent.json")}},
		"unknown key":                        {env: map[string]string{table.EnvFile: file("wrong.json", `{"sms.sent": {}}`)}},
		"--timeout: must be more than":       {args: []string{"--timeout", "-1s"}},
		"--rate: must be":                    {args: []string{"--rate", "NaN"}},
		"want --send, --from SENDER and":     {args: []string{"--send", "--from", "639170000001"}},
		"and --to NUMBER together":           {args: []string{"--from", "ACME", "--to", "639170000001"}},
		"--send: there is no terminal":       {args: []string{"--send", "--to", "639170000001", "--from", "ACME"}},
		"unknown flag: --colour":             {args: []string{"--colour", "red"}},
		"takes flags only":                   {args: []string{"639170000001"}},
		"invalid argument":                   {args: []string{"--timeout", "long"}},
	} {
		r := newRig(t, "http://127.0.0.1:1", "secret-token-1")
		for name, value := range input.env {
			t.Setenv(name, value)
		}
		status, out, progress := r.run(input.args...)
		assert.Equal(t, cli.ExitUsage, status, want)
		assert.Contains(t, progress, want)
		assert.Equal(t, 1, strings.Count(progress, "\n"), "one line: %s", progress)
		assert.Empty(t, out, want)
		for _, not := range []string{"secret-token", "hush", "639170000001", "With"} {
			assert.NotContains(t, progress, not, want)
		}
	}
}

func TestHelpHasAnExample(t *testing.T) {
	status, help, _ := newRig(t, "", "").run("--help")
	assert.Equal(t, cli.ExitOK, status)
	assert.Contains(t, help, "messaging check --send --from ACME --to +639171234567")
	assert.Contains(t, help, "MESSAGING_TOKEN")
}

func TestSendAsksFirst(t *testing.T) {
	for answer, sends := range map[string]bool{"y\n": true, "yes": true, "n\n": false, "\n": false, "": false} {
		srv := messagingtest.NewServer(t)
		seedMessages(srv, 2)
		newRig(t, srv.URL, srv.Token)
		var out, progress safeBuffer
		status := execute(t.Context(), []string{"--rate", "1000", "--send", "--to", "+639170000001", "--from", "ACME"}, cli.Console{
			In: strings.NewReader(answer), InTerminal: true, Out: &out, Err: &progress,
		})
		assert.Contains(t, progress.String(), "sends two SMS", "before asking")
		if sends {
			assert.Len(t, srv.Sent(), 2+messageCount, "%q", answer)
			assert.Equal(t, cli.ExitOK, status, "%q %s", answer, out.String())
			continue
		}
		assert.Len(t, srv.Sent(), 2, "%q", answer)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, progress.String(), "nothing was sent")
	}
}

func TestEmptyAccountProvesLittle(t *testing.T) {
	srv := messagingtest.NewServer(t)
	status, out, progress := newRig(t, srv.URL, srv.Token).run()
	got := newRun(t, status, out, progress)
	assert.Equal(t, cli.ExitOK, status)
	assert.Equal(t, plausible, got.grades["listing"])
	assert.Equal(t, "not tried: there is no row to find", got.why["filters"])
	assert.Empty(t, got.proven())
}

// TestOnlyListingIsProvenWithoutSending has a service that ignores every parameter. That needs no message.
func TestOnlyListingIsProvenWithoutSending(t *testing.T) {
	const body = `{"data": [{"id": "m1", "to": "639170000001"}, {"id": "m2", "to": "639170000002"}]}`
	server := httptest.NewServer(respond(http.StatusOK, "application/json", body))
	t.Cleanup(server.Close)
	status, out, progress := newRig(t, server.URL, "token").run()
	got := newRun(t, status, out, progress)
	assert.Equal(t, cli.ExitRefused, status, "a filter is wrong")
	assert.Equal(t, []string{"listing"}, got.proven())
	assert.Equal(t, wrong, got.grades["filter by to"])
	assert.Equal(t, "ignored: a made-up value still returned 2 rows; if the service has no such filter, set its name to \"\"", got.why["filter by to"])
}

// TestTrueContracts checks test servers of several contracts, with these contracts: nothing is wrong.
func TestTrueContracts(t *testing.T) {
	for name, overlay := range map[string]string{
		"the default": `{}`,
		"nested names and a cursor": `{
			"auth": {"token": {"scheme": "App"}},
			"sms.send": {
				"path": "/v3/messages",
				"fields": {
					"from": "messages.0.from", "to": "messages.0.destinations.0.to", "text": "messages.0.content.text",
					"callback": "", "reference": "messages.0.destinations.0.key"
				},
				"with": {"callback": {}},
				"response": {"id": ["messages.0.key"], "status": ["messages.0.status.name"]}
			},
			"sms.list": {
				"method": "POST", "path": "/v3/search", "encoding": "json",
				"params": {
					"createdAfter": "", "createdBefore": "", "request": "", "category": "", "page": "", "sortBy": "", "order": "",
					"id": "filter.key", "reference": "filter.client", "from": "filter.from", "to": "filter.to", "pageSize": "limit", "cursor": "after"
				},
				"paging": {"by": "cursor"}, "items": ["results"], "page": {"next": ["next"]},
				"record": {"id": ["key"], "reference": ["client"], "text": ["content.text"], "to": ["phone"], "from": ["sender"]}
			}
		}`,
		"a form and an offset": `{
			"sms.send": {"encoding": "form", "fields": {"to": "msisdn", "text": "body"}},
			"sms.list": {
				"params": {"page": "", "offset": "start", "to": "msisdn"}, "paging": {"by": "offset", "first": 0}, "time": "unix",
				"record": {"to": ["msisdn"], "text": ["body"]}
			}
		}`,
		"one page and the reference as ID": `{
			"sms.send": {"fields": {"reference": "key"}, "response": {"id": ["key"], "reference": ["key"]}},
			"sms.list": {
				"paging": {"by": "none", "most": 500}, "params": {"id": "", "reference": "key", "page": "", "pageSize": ""},
				"record": {"id": ["key"], "reference": ["key"]}
			},
			"webhook.delivery": {"params": {"id": ["key"], "reference": ["key"]}}
		}`,
	} {
		t.Run(name, func(t *testing.T) {
			srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, overlay)))
			seedMessages(srv, 6)
			r := newRig(t, srv.URL, srv.Token)
			r.overlayFile(overlay)
			status, out, progress := r.sends()
			got := newRun(t, status, out, progress)
			assert.Equal(t, 0, status, "%s%s", out, progress)
			for subject, grade := range got.grades {
				assert.NotEqual(t, wrong, grade, "%s\n%s", subject, out)
			}
			assert.Equal(t, proven, got.grades["filter by reference"], out)
		})
	}
}
