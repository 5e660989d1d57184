package messagingtest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that does not follow a construct of the contract is refused. A client that does gets a response in the same form.
func TestServerSpeaksEachConstruct(t *testing.T) {
	t.Parallel()
	const (
		encodings = `{"sms.send": {"with": {"gsm": {"type": "text", "flash": 0}, "unicode": {"type": "unicode"}}}}`
		rows      = `{"sms.list": {"only": {"meta.direction": ["outbound*"]}, "paging": {"by": "none", "most": 1}, "params": {"page": ""}}}`
		reported  = `{"sms.send": {"with": {"callback": {"report": 1}}}}`
		variable  = `{"sms.list": {"path": "/{account}/list"}}`
		everyOne  = `{"sms.send": {"response": {"id": ["messages.0.id"], "status": ["messages.*.status"]}}}`
	)
	seeded := []Sent{{ID: "m-1", To: "1111"}, {ID: "m-2", To: "2222"}}
	for _, tt := range []struct{ overlay, method, path, body, want string }{
		{encodings, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","type":"text","flash":0}`, `"status":"ok"`},
		{encodings, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Да","type":"unicode"}`, `"status":"ok"`},
		{encodings, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Да","type":"text"}`, "type is not"},
		{encodings, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Да","type":"unicode","flash":0}`, "flash go together"},
		{encodings, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","type":"text"}`, "flash go together"},
		{reported, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","dlrCallback":"https://example.com","report":1}`, `"status":"ok"`},
		{reported, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","dlrCallback":"https://example.com","report":"1"}`, "report is not 1"},
		{reported, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","dlrCallback":"https://example.com"}`, "report go together"},
		{reported, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","report":1}`, "report go together"},
		{`{}`, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","dlrCallback":"https://example.com","dlrReport":2}`, `"status":"ok"`},
		{`{}`, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi","dlrCallback":"https://example.com"}`, "dlrReport go together"},
		{rows, "GET", "/api/sms?filter[to]=1111", "", `"meta":{"direction":"outbound"}`},
		{rows, "GET", "/api/sms", "", `"totalRows":2`},
		{variable, "GET", "/AC%2F1/list?pageNumber=0", "", `"code":"200210"`},
		{variable, "GET", "/AC/1/list", "", `"code":"40005"`},
		{everyOne, "POST", "/sms/send", `{"from":"A","to":"12345","text":"Hi"}`, `"messages":[{"id":"msg-1","status":"ok"}]`},
	} {
		s := NewServer(t, speaking(tt.overlay))
		if strings.Contains(tt.overlay, "sms.list") {
			s.Seed(seeded...)
		}
		r, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+tt.path, strings.NewReader(tt.body))
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		if tt.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Contains(t, string(body), tt.want, "%s %s %s", tt.overlay, tt.path, tt.body)
		if tt.path == "/api/sms" && tt.overlay == rows {
			assert.Equal(t, 1, strings.Count(string(body), "outbound"), "a page has at most one row")
		}
	}
}

// TestWrongConstantsAreReportedInOrder: of several wrong constants, each run reports the same one.
func TestWrongConstantsAreReportedInOrder(t *testing.T) {
	t.Parallel()
	const (
		headers   = `{"headers": {"X-Region": "ph", "X-Brand": "acme", "X-Tier": "2"}}`
		constants = `{"sms.send": {"with": {"text": {"lane": 1, "flash": 0, "mode": "a"}}}}`
	)
	for overlay, want := range map[string]string{headers: "the header X-Brand is not", constants: "text and flash go together"} {
		s := newServer()
		speaking(overlay)(s)
		f := fields{op: s.operations[0], values: document{"text": "Hi"}}
		for range 50 {
			p := f.checkConstants(s.names.Headers, http.Header{})
			require.NotNil(t, p)
			require.Contains(t, p.text, want)
		}
	}
}

// TestConstantsHaveTheirKind: only a constant that goes with a callback URL is reported as a problem of the callback.
func TestConstantsHaveTheirKind(t *testing.T) {
	t.Parallel()
	const overlay = `{"sms.send": {"with": {"callback": {"report": 1}, "reference": {"track": 1}, "gsm": {"type": "text"}}}}`
	s := NewServer(t, speaking(overlay))
	for body, want := range map[string]string{
		`{"from":"A","to":"12345","text":"Hi","type":"text","report":1}`:          "callback",
		`{"from":"A","to":"12345","text":"Hi","type":"text","referenceId":"r-1"}`: "constant",
		`{"from":"A","to":"12345","text":"Hi"}`:                                   "constant",
		`{"from":"A","to":"12345","text":"Да","type":"text"}`:                     "constant",
	} {
		_, p := readSend(s, "/sms/send", body)
		require.NotNil(t, p, body)
		assert.Equal(t, want, p.name, "%s: %s", body, p.text)
	}
}
