package doctor

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/messagingtest"
)

func respond(status int, contentType, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// TestServiceThatCannotBeExamined checks what is said of services that tell nothing, and that it is said in time.
func TestServiceThatCannotBeExamined(t *testing.T) {
	t.Parallel()
	for want, service := range map[string]http.Handler{
		"the body is HTML, not JSON":          respond(http.StatusOK, "text/html", "<!doctype html><p>+639171230045"),
		"the body is empty":                   respond(http.StatusOK, "application/json", ""),
		"the body is not JSON":                respond(http.StatusOK, "application/json", `{"data": [`),
		"none in the response that is surely": respond(http.StatusOK, "application/json", `{"colour": "red"}`),
		"refused: sms.list failed: HTTP 401":  respond(http.StatusUnauthorized, "application/json", `{"code": "40001"}`),
		"nothing at GET /api/sms":             respond(http.StatusNotFound, "application/json", `{}`),
		"HTTP 302":                            respond(http.StatusFound, "application/json", `{}`),
		"HTTP 200, code 40001":                respond(http.StatusOK, "application/json", `{"code": "40001", "message": "no"}`),
		"HTTP 200, code 50000":                respond(http.StatusOK, "application/json", `{"code": "50000", "message": "no"}`),
		"HTTP 503":                            respond(http.StatusServiceUnavailable, "application/json", `{}`),
		"no response within":                  http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }),
		"does not end within": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}),
		"connection refused": nil,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			base := "http://127.0.0.1:1" // no server of a test is given a port so low
			if service != nil {
				server := httptest.NewServer(service)
				t.Cleanup(server.Close)
				base = server.URL
			}
			r := newRig(t, base, "secret-token-1")
			status, out, progress := r.run("-timeout", "2s")
			assert.Equal(t, statusUnknown, status, "%s%s", out, progress)
			assert.Contains(t, out, want)
			assert.NotContains(t, out, "+639")
			assert.NotContains(t, out, "secret-token")
		})
	}
}

// TestInterruptEndsExamination ends the context while a service does not respond, after the progress has said so.
func TestInterruptEndsExamination(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	env := map[string]string{envBaseURL: server.URL, envToken: "token"}
	ctx, cancel := context.WithCancel(t.Context())
	var out, progress safeBuffer
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, []string{"-timeout", "10m"}, cli.Console{Out: &out, Err: &progress, Getenv: func(name string) string { return env[name] }})
	}()
	require.Eventually(t, func() bool { return strings.Contains(progress.String(), "asking for the listing ...") }, 20*time.Second, 10*time.Millisecond)
	cancel()
	assert.Equal(t, statusUnknown, <-done)
	assert.Contains(t, out.String(), "interrupted")
}

// TestSendWithoutListing sends for an account that may not list.
func TestSendWithoutListing(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		srv.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, srv.Token)
	report := r.report("-send", "+639170000001", "-from", "ACME", "-yes")
	assert.Equal(t, Note, r.check(report, "send", "verdict").Result, "only the listing would prove it")
	assert.Equal(t, Differs, r.check(report, "send", "listed").Result)
}

// TestServiceWithReferencesOfItsOwn sends to a service that responds with a reference of its own, and lists the one that was sent.
func TestServiceWithReferencesOfItsOwn(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	seedMessages(srv, 6)
	sent := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			srv.ServeHTTP(w, r)
			return
		}
		sent++
		recorded := httptest.NewRecorder()
		srv.ServeHTTP(recorded, r)
		var body map[string]any
		assert.NoError(t, json.Unmarshal(recorded.Body.Bytes(), &body))
		data, _ := body["data"].(map[string]any)
		if assert.NotNil(t, data, "%v", body) {
			data["referenceId"] = fmt.Sprint("SVC-REF-", sent)
		}
		writeJSON(w, recorded.Code, body)
	}))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, srv.Token)
	report := r.report("-send", "+639170000001", "-from", "ACME", "-yes")
	assert.Equal(t, Differs, r.check(report, "send", "no reference").Result)
	assert.Contains(t, r.check(report, "send", "no reference").Detail, "a reference of the service's own")
	assert.Equal(t, OK, r.check(report, "send", "verdict").Result)
	assert.JSONEq(t, `{"sms.send":{"response":{"reference":[]}}}`, string(report.Overlay))
}

func TestCertificateIsReported(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(respond(http.StatusOK, "application/json", `{"data": []}`))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	status, out, _ := newRig(t, server.URL, "token").run()
	assert.Equal(t, statusUnknown, status)
	assert.Contains(t, out, "certificate")
}

func TestBadInputIsOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for want, input := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"MESSAGING_BASE_URL or --base-url: required": {env: map[string]string{envBaseURL: ""}},
		"MESSAGING_TOKEN: required":                  {env: map[string]string{envToken: ""}},
		"MESSAGING_TOKEN: set beside":                {env: map[string]string{envAPIKey: "key"}},
		"MESSAGING_API_KEY: required":                {env: map[string]string{envToken: "", envAPISecret: "hush"}},
		"baseURL: must be https":                     {args: []string{"-base-url", "http://api.example.com"}},
		"-contract: open":                            {args: []string{"-contract", filepath.Join(dir, "absent.json")}},
		"unknown key":                                {args: []string{"-contract", file("wrong.json", `{"sms.sent": {}}`)}},
		"-timeout: must be more than 0":              {args: []string{"-timeout", "-1s"}},
		"-rate: must be":                             {args: []string{"-rate", "NaN"}},
		"-wait: must be":                             {args: []string{"-wait", "0s"}},
		"-for: must be":                              {args: []string{"-for", "-1s"}},
		"--for: needs --listen":                      {args: []string{"-for", "1s"}},
		"-listen: ":                                  {args: []string{"-listen", "127.0.0.1:99999"}},
		"--send: needs --from":                       {args: []string{"-send", "639170000001"}},
		"-send: there is no terminal":                {args: []string{"-send", "639170000001", "-from", "ACME"}},
		"exists; --force overwrites it":              {args: []string{"-o", file("out.json", "{}")}},
		"holds fixtures":                             {args: []string{"-record", filepath.Dir(file("recorded/001.json", "{}"))}},
		"-record: mkdir":                             {args: []string{"-record", filepath.Join(file("plain", ""), "dir")}},
		"unknown flag: --colour":                     {args: []string{"--colour", "red"}},
		"everything is a flag":                       {args: []string{"639170000001"}},
		"invalid argument":                           {args: []string{"-timeout", "long"}},
	} {
		r := newRig(t, "http://127.0.0.1:1", "secret-token-1")
		maps.Copy(r.env, input.env)
		status, out, progress := r.run(input.args...)
		assert.Equal(t, statusUnknown, status, want)
		assert.Contains(t, progress, want)
		assert.Equal(t, 1, strings.Count(progress, "\n"), "one line: %s", progress)
		assert.Empty(t, out, want)
		for _, secret := range []string{"secret-token", "hush", "639170000001"} {
			assert.NotContains(t, progress, secret, want)
		}
	}
	status, usage, _ := newRig(t, "", "").run("-h")
	assert.Equal(t, statusOK, status)
	assert.Contains(t, usage, "--record folder")
}

// TestReferenceFilterThatIsIgnored examines a service with which settling cannot be trusted.
func TestReferenceFilterThatIsIgnored(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	seedMessages(srv, 6)
	srv.IgnoreFilter(true)
	r := newRig(t, srv.URL, srv.Token)
	report := r.report()
	assert.Equal(t, statusDiffers, report.Status)
	for _, name := range []string{"reference that does not", "id", "to", "createdAfter"} {
		c := r.check(report, "filters", name)
		assert.Equal(t, Differs, c.Result, name)
		assert.Contains(t, c.Detail, "is ignored", name)
	}
	assert.Contains(t, r.check(report, "filters", "reference that does not").Detail, "cannot be trusted")
}

func TestEmptyAccountIsNotFoundOut(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	status, out, _ := newRig(t, srv.URL, srv.Token).run()
	assert.Equal(t, statusUnknown, status)
	assert.Contains(t, out, "the account lists no message")
	assert.Contains(t, out, "no row has a reference ID")
}

// TestSendBringsRowToLookAt examines an account that has no message before, and rows of its own.
func TestSendBringsRowToLookAt(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, `{"sms.list": {"record": {"id": ["msgUuid"], "reference": ["tags.0"]}}}`)))
	r := newRig(t, srv.URL, srv.Token)
	report := r.report("-send", "+639170000001", "-from", "ACME", "-yes")
	assert.Equal(t, statusDiffers, report.Status)
	assert.False(t, report.has(Unknown), "%+v", report.Checks)
	assert.Equal(t, `"sms.list": {"record": {"reference": ["tags.0"]}}`, r.check(report, "listing", "reference").Overlay)
	assert.Equal(t, `"sms.list": {"record": {"id": ["msgUuid"]}}`, r.check(report, "listing", "id").Overlay)
	assert.Equal(t, OK, r.check(report, "filters", "reference that exists").Result)
}

// rows serves a listing that ignores every parameter.
func rows(list ...string) http.Handler {
	return respond(http.StatusOK, "application/json", `{"data": [`+strings.Join(list, ",")+`]}`)
}

func TestPagingThatDiffers(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 3 {
		list = append(list, fmt.Sprintf(`{"id": "m%d", "referenceId": "r%d", "to": "63917000000%d", "dateCreated": "2026-10-03T14:44:23Z", "dlrStatus": "sent"}`, i, i, i))
	}
	server := httptest.NewServer(rows(list...))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "token")
	report := r.report()
	assert.Equal(t, statusDiffers, report.Status)
	assert.Equal(t, Differs, r.check(report, "paging", "page size").Result)
	assert.Contains(t, r.check(report, "paging", "second page").Detail, "is the first again")
}

func TestTimesInForeignLayout(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"23/10/2026 14:44:23"`: `"sms.list": {"layouts": ["02/01/2006 15:04:05"]}`,
		`"10/23/2026 3:04 PM"`:  `"sms.list": {"layouts": ["01/02/2006 3:04 PM"]}`,
		`"03/10/2026 14:44:23"`: "", // a day or a month
		`"the day before"`:      "",
		`"2026-10-03 14:44:23"`: "",
		`1791038663`:            "",
	} {
		server := httptest.NewServer(rows(`{"id": "m1", "referenceId": "r", "to": "639170000001", "dlrStatus": "sent", "dateCreated": ` + value + `}`))
		t.Cleanup(server.Close)
		r := newRig(t, server.URL, "token")
		c := r.check(r.report(), "times", "created")
		assert.Equal(t, want, c.Overlay, "%s: %+v", value, c)
		if want != "" {
			assert.Equal(t, Differs, c.Result)
		}
	}
}

// TestSendFindsZoneWordAndDuplicateCode sends to a service that writes local times, and has words and codes of its own.
func TestSendFindsZoneWordAndDuplicateCode(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t, messagingtest.WithContract(parseContract(t, `{
		"sms.list": {"zone": "Asia/Manila", "time": "datetime", "params": {"createdAfter": "", "createdBefore": ""}},
		"sms.send": {"accepted": ["ENROUTE_9"], "response": {"id": ["result.smsUuid"], "status": ["status"]}},
		"errors": {"classes": {"duplicate": ["4711"]}}
	}`)))
	srv.RefuseDuplicates(true)
	r := newRig(t, srv.URL, srv.Token)
	out := filepath.Join(t.TempDir(), "overlay.json")
	report := r.report("-send", "+639170000001", "-from", "ACME", "-yes", "-o", out)
	assert.Equal(t, `"sms.list": {"zone": "Etc/GMT-8"}`, r.check(report, "send", "zone").Overlay)
	assert.Contains(t, r.check(report, "send", "accepted").Overlay, "ENROUTE_9")
	assert.Equal(t, `"sms.send": {"response": {"id": ["result.smsUuid"]}}`, r.check(report, "send", "id").Overlay)
	assert.Contains(t, r.check(report, "send", "duplicate").Overlay, `"4711"`)
	assert.Contains(t, r.check(report, "send", "listed").Detail, "SettlePolicy.Window")
	assert.LessOrEqual(t, len(srv.Sent()), 1)
	saved, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.JSONEq(t, string(report.Overlay), string(saved))

	r.env[envContract] = out
	assert.NotEqual(t, Differs, r.check(r.report("-send", "+639170000001", "-from", "ACME", "-yes"), "send", "duplicate").Result, "with the overlay, nothing is left")
}

// TestReferenceIsNotGuessed has rows whose names say much, and whose values prove nothing: without a message that was sent, nothing that
// says which message it is, or whose, is proposed, and no filter is called good.
func TestReferenceIsNotGuessed(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 3 {
		list = append(list, fmt.Sprintf(`{"messageRef": "r%d", "clientTag": "t%d", "messageUuid": "u-%d", "source": "63917000000%d", "destination": "63917000001%d"}`, i, i, i, i, i))
	}
	server := httptest.NewServer(rows(list...))
	t.Cleanup(server.Close)
	r := newRig(t, server.URL, "token")
	report := r.report()
	assert.NotContains(t, string(report.Overlay), "record")
	assert.Contains(t, r.check(report, "listing", "reference").Detail, "could be messageRef")
	for _, c := range report.Checks {
		assert.False(t, c.Result == OK && c.Section == "filters", "%+v", c)
	}
	assert.Equal(t, statusDiffers, report.Status)
}
