package doctor

import (
	"context"
	"fmt"
	"io"
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
	"github.com/messaging-service/messaging-go/contract"
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
	const theCredentials = "see MESSAGING_BASE_URL, the credentials and sms.list.path"
	for name, tt := range map[string]struct {
		want    string
		service http.Handler
	}{
		"a page":         {theCredentials, respond(http.StatusOK, "text/html", "<!doctype html><p>+639171230045")},
		"an empty body":  {theCredentials, respond(http.StatusOK, "application/json", "")},
		"half a body":    {theCredentials, respond(http.StatusOK, "application/json", `{"data": [`)},
		"no list":        {"there is no list of objects", respond(http.StatusOK, "application/json", `{"colour": "red"}`)},
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

// TestInterruptEndsExamination ends the context while a service does not respond, after the progress has said so.
func TestInterruptEndsExamination(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(server.Close)
	newRig(t, server.URL, "token")
	ctx, cancel := context.WithCancel(t.Context())
	var out, progress safeBuffer
	done := make(chan int, 1)
	go func() {
		done <- execute(ctx, []string{"--timeout", "10m"}, cli.Console{Out: &out, Err: &progress, Getenv: os.Getenv})
	}()
	require.Eventually(t, func() bool { return strings.Contains(progress.String(), "asking for the listing ...") }, 20*time.Second, 10*time.Millisecond)
	cancel()
	assert.Equal(t, cli.ExitRefused, <-done)
	assert.Contains(t, out.String(), "interrupted")
}

// TestSendWithoutListing sends for an account that may not list: nothing shows what came of it.
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
	status, out, _ := newRig(t, server.URL, srv.Token).sends()
	assert.Equal(t, cli.ExitRefused, status)
	assert.Len(t, srv.Sent(), enough)
	assert.Contains(t, out, "message 1: accepted; not listed in time (--wait)")
	assert.Regexp(t, `sends +POST /sms/send +- +plausible`, out)
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
		"MESSAGING_BASE_URL: required":      {env: map[string]string{base: ""}},
		"MESSAGING_TOKEN: want credentials": {env: map[string]string{token: ""}},
		"MESSAGING_TOKEN: set beside":       {env: map[string]string{key: "key"}},
		"MESSAGING_API_KEY: required":       {env: map[string]string{token: "", secret: "hush"}},
		"MESSAGING_TOKEN: ":                 {env: map[string]string{token: "secret-token\n1"}},
		"(--plain-http allows it)":          {env: map[string]string{base: "http://api.example.com"}},
		"MESSAGING_CONTRACT: ":              {env: map[string]string{contract.EnvFile: filepath.Join(t.TempDir(), "absent.json")}},
		"unknown key":                       {env: map[string]string{contract.EnvFile: file("wrong.json", `{"sms.sent": {}}`)}},
		"--timeout: must be more than":      {args: []string{"--timeout", "-1s"}},
		"--rate: must be":                   {args: []string{"--rate", "NaN"}},
		"want --send, --from SENDER and":    {args: []string{"--send", "--from", "639170000001"}},
		"and --to NUMBER together":          {args: []string{"--from", "ACME", "--to", "639170000001"}},
		"--send: there is no terminal":      {args: []string{"--send", "--to", "639170000001", "--from", "ACME"}},
		"exists":                            {args: []string{"-o", file("out.json", "{}")}},
		"unknown flag: --colour":            {args: []string{"--colour", "red"}},
		"everything is a flag":              {args: []string{"639170000001"}},
		"invalid argument":                  {args: []string{"--timeout", "long"}},
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
	assert.Contains(t, help, "messaging doctor --send --from ACME --to +639171234567 -o contract.json")
	assert.Contains(t, help, "MESSAGING_TOKEN")
}

func TestSendAsksFirst(t *testing.T) {
	for answer, sends := range map[string]bool{"y\n": true, "yes": true, "n\n": false, "\n": false, "": false} {
		srv := messagingtest.NewServer(t)
		seedMessages(srv, 2)
		newRig(t, srv.URL, srv.Token)
		var out, progress safeBuffer
		status := execute(t.Context(), []string{"--rate", "1000", "--send", "--to", "+639170000001", "--from", "ACME"}, cli.Console{
			In: strings.NewReader(answer), InTerminal: true, Out: &out, Err: &progress, Getenv: os.Getenv,
		})
		assert.Contains(t, progress.String(), "until two are not refused", "before asking")
		if sends {
			assert.Len(t, srv.Sent(), 2+enough, "%q", answer)
			assert.Equal(t, cli.ExitOK, status, "%q %s", answer, out.String())
			continue
		}
		assert.Len(t, srv.Sent(), 2, "%q", answer)
		assert.Equal(t, cli.ExitUsage, status)
		assert.Contains(t, progress.String(), "nothing was sent")
	}
}

func TestEmptyAccountShowsNothing(t *testing.T) {
	srv := messagingtest.NewServer(t)
	status, out, _ := newRig(t, srv.URL, srv.Token).run()
	assert.Equal(t, cli.ExitRefused, status)
	assert.Contains(t, out, "no row was read")
	assert.NotContains(t, out, proven)
	assert.Contains(t, out, "keys that end in //\n{}\n")
}

// rows serves a listing that ignores every parameter.
func rows(list ...string) http.Handler {
	return respond(http.StatusOK, "application/json", `{"data": [`+strings.Join(list, ",")+`]}`)
}

// TestNothingIsProvenWithoutSending has rows whose names say much, and whose values prove nothing. That filters are ignored needs no message.
func TestNothingIsProvenWithoutSending(t *testing.T) {
	var list []string
	for i := range 3 {
		list = append(list, fmt.Sprintf(`{"messageRef": "r%d", "clientTag": "t%d", "source": "63917000000%d", "destination": "63917000001%d"}`, i, i, i, i))
	}
	server := httptest.NewServer(rows(list...))
	t.Cleanup(server.Close)
	status, out, _ := newRig(t, server.URL, "token").run()
	assert.Equal(t, cli.ExitOK, status)
	_, overlay, _ := strings.Cut(out, "\nThe overlay")
	assert.NotContains(t, strings.TrimSuffix(out, overlay), " proven ")
	assert.Contains(t, overlay, `"to//": ["destination","source"]`)
	assert.Contains(t, overlay, `"reference": "",`)
	assert.Contains(t, overlay, `"reference//": "is ignored: a value that nobody has finds rows"`)
	assert.Regexp(t, `page +pageNumber +- +absent +page 2 has only rows of the pages before it`, out)
	assert.NotRegexp(t, `"(id|to|from)": `, strings.ReplaceAll(overlay, `": ""`, ""))
}

// TestMembersThatNoConceptReadsAreListed also has a name that is a number: it is not shown.
func TestMembersThatNoConceptReadsAreListed(t *testing.T) {
	server := httptest.NewServer(rows(`{"id": "m1", "639171230045": "x", "deliveredAt": "23/10/2026 14:44:23", "inner": {"flag": true}}`))
	t.Cleanup(server.Close)
	_, out, _ := newRig(t, server.URL, "token").run()
	assert.Contains(t, out, "no concept reads deliveredAt: time 00/00/0000 00:00:00\n")
	assert.Contains(t, out, "no concept reads inner.flag: true or false\n")
	assert.NotContains(t, out, "917123")
	assert.Regexp(t, `created +dateCreated +nothing +plausible +deliveredAt\n`, out)
}
