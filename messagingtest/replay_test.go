package messagingtest_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// writeFiles writes files into a new folder.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestReplay(t *testing.T) {
	t.Parallel()
	srv := messagingtest.Replay(t, writeFiles(t, map[string]string{
		"001-sms.send.json": `{"operation": "sms.send", "request": {"method": "POST", "path": "/sms/send", "body": {"to": "639170000001"}},
			"response": {"status": 200, "header": {"X-Request": ["1"], "content-length": ["5"]}, "body": {"status": "ok", "data": {"id": "id-1"}}}}`,
		"002-sms.list.json": `{"request": {"method": "GET", "path": "/api/sms", "query": {"pageNumber": ["1"]}},
			"response": {"status": 200, "body": {"data": [{"transactionId": "id-1"}], "hasNext": false}}}`,
		"003-sms.send.json": `{"request": {"method": "POST", "path": "/sms/send"}, "response": {"status": 502, "text": "<p>Bad gateway"}}`,
		"notes.txt":         `not an exchange`,
	}))
	client, err := messaging.NewClient(srv.URL, messaging.WithToken("t"), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	message := sms.Message{From: "ACME", To: "639171234567", Text: "Hi"}
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, "id-1", receipt.ID)
	_, err = client.SMS.Send(t.Context(), message)
	require.ErrorContains(t, err, "502")
	for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		assert.Equal(t, "id-1", tx.ID)
	}
	_, err = client.SMS.Send(t.Context(), message)
	require.ErrorContains(t, err, "no recorded response is left for POST /sms/send")
	require.ErrorContains(t, err, "501")
	resp, err := http.Get(srv.URL + "/other%2Fpath?a=b")
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusNotImplemented, resp.StatusCode)
	assert.JSONEq(t, `{"message": "replay: no recorded response is left for GET /other%2Fpath"}`, string(body))
}

// failer is a test that records why it ends.
type failer struct {
	testing.TB

	said string
}

func (f *failer) Helper() {}

func (f *failer) Fatalf(format string, args ...any) {
	f.said = fmt.Sprintf(format, args...)
	panic(f)
}

func TestReplayRefusesFiles(t *testing.T) {
	t.Parallel()
	const request = `"request": {"method": "GET", "path": "/a"}`
	for text, want := range map[string]string{
		``:  "EOF",
		`x`: "invalid character",
		`{` + request + `, "response": {"status": 200}, "query": 1}`:                             `unknown field "query"`,
		`{"request": {"method": "GET"}, "response": {"status": 200}}`:                            "request.method or request.path is absent",
		`{"request": {"path": "/a"}, "response": {"status": 200}}`:                               "request.method or request.path is absent",
		`{` + request + `, "response": {}}`:                                                      "response.status is 0, want 200 to 599",
		`{` + request + `, "response": {"status": 100}}`:                                         "response.status is 100, want 200 to 599",
		`{` + request + `, "response": {"status": 200, "body": {}, "text": "a"}}`:                "response has both body and text",
		`{` + request + `, "response": {"status": 200, "header": {"Content-Type": "a string"}}}`: "cannot unmarshal",
	} {
		f := &failer{TB: t}
		func() {
			defer func() { _ = recover() }()
			messagingtest.Replay(f, writeFiles(t, map[string]string{"1.json": text}))
		}()
		assert.Contains(t, f.said, want, text)
		assert.Contains(t, f.said, "1.json", text)
	}
	f := &failer{TB: t}
	assert.Panics(t, func() { messagingtest.Replay(f, t.TempDir()) })
	assert.True(t, strings.HasSuffix(f.said, "has no file *.json"), f.said)
}
