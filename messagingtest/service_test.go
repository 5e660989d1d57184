package messagingtest_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

var update = flag.Bool("update", false, "write the exchanges of contract/testdata anew")

// services are those of contract/testdata.
var services = map[string]struct {
	credentials messaging.Option
	statuses    [3]string // of the rows: delivered, failed, and one that the contract does not know
	encoding    messagingtest.CallOption
}{
	"nested": {messaging.WithAPIKey("key-1", ""), [3]string{"DELIVERED_TO_HANDSET", "UNDELIVERABLE", "odd"}, messagingtest.AsJSON()},
	"cents":  {messaging.WithAPIKey("key-1", "secret-1"), [3]string{"4", "16", "odd"}, messagingtest.AsForm()},
	"cursor": {messaging.WithToken("token-1"), [3]string{"ARRIVED", "LOST_CARRIER", "odd"}, messagingtest.AsJSON()},
}

// An exchange is a request and its response, as a file holds them.
type exchange struct {
	Request  recordedRequest  `json:"request"`
	Response recordedResponse `json:"response"`
}

type recordedRequest struct {
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  url.Values  `json:"query,omitempty"`
	Header http.Header `json:"header,omitempty"`
	recordedBody
}

type recordedResponse struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	recordedBody
}

// A recordedBody is JSON, or any other body as text.
type recordedBody struct {
	JSON json.RawMessage `json:"body,omitempty"`
	Text string          `json:"text,omitempty"`
}

// A recorder is a proxy that compares what passes through it with files.
type recorder struct {
	t       *testing.T
	dir     string
	handler http.Handler
	count   int
}

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	assert.NoError(rec.t, err)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	response := httptest.NewRecorder()
	rec.handler.ServeHTTP(response, r)
	header := http.Header{}
	for name, values := range r.Header {
		switch name {
		case "Accept", "Accept-Encoding", "Connection", "Content-Length", "User-Agent":
		default:
			header[name] = values
		}
	}
	rec.count++
	x := exchange{
		Request:  recordedRequest{r.Method, r.URL.EscapedPath(), r.URL.Query(), header, recorded(body)},
		Response: recordedResponse{response.Code, response.Header().Clone(), recorded(response.Body.Bytes())},
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	assert.NoError(rec.t, encoder.Encode(x))
	rec.compare(fmt.Sprintf("%03d.json", rec.count), text.String())
	maps.Copy(w.Header(), response.Header())
	w.WriteHeader(response.Code)
	_, _ = w.Write(response.Body.Bytes())
}

func recorded(body []byte) recordedBody {
	if json.Valid(body) {
		return recordedBody{JSON: body}
	}
	return recordedBody{Text: string(body)}
}

func (rec *recorder) compare(name, got string) {
	rec.t.Helper()
	file := filepath.Join(rec.dir, name)
	if *update {
		assert.NoError(rec.t, os.MkdirAll(rec.dir, 0o750))
		assert.NoError(rec.t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	assert.NoError(rec.t, err)
	assert.Equal(rec.t, string(want), got, file)
}

// finish finds files of which nothing was recorded.
func (rec *recorder) finish() {
	rec.t.Helper()
	files, err := filepath.Glob(filepath.Join(rec.dir, "*.json"))
	require.NoError(rec.t, err)
	assert.Len(rec.t, files, rec.count, rec.dir)
}

// TestServices compares what the client and the test server say to each other, under the contract of each service, with files.
func TestServices(t *testing.T) {
	t.Parallel()
	for name, service := range services {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join("..", "contract", "testdata", name)
			overlay, err := os.ReadFile(filepath.Join(dir, "contract.json"))
			require.NoError(t, err)
			names, err := contract.Parse(overlay)
			require.NoError(t, err)
			srv := messagingtest.NewServer(t, messagingtest.WithContract(names), messagingtest.WithToken("token-1"), messagingtest.WithAPIKey("key-1", "secret-1"))
			srv.RefuseDuplicates(true)
			srv.Seed(seeds(service.statuses)...)
			rec := &recorder{t: t, dir: filepath.Join(dir, "exchanges"), handler: srv}
			proxy := httptest.NewServer(rec)
			t.Cleanup(proxy.Close)
			client, err := messaging.NewClient(proxy.URL, service.credentials, messaging.WithContract(names), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			require.NoError(t, err)
			speak(t, client)
			rec.finish()
			receive(t, srv, names, filepath.Join(dir, "callbacks"), service.encoding)
		})
	}
}

func day() time.Time { return time.Date(2026, time.October, 3, 14, 44, 23, 0, time.UTC) }

func seeds(statuses [3]string) []messagingtest.Sent {
	var all []messagingtest.Sent
	for i, status := range statuses {
		all = append(all, messagingtest.Sent{
			ID: fmt.Sprint("row-", i+1), RequestID: "q-1", ReferenceID: fmt.Sprint("seed ", i+1), From: "SEEDED", To: "+639171234567", Text: "Hello, 世界 & co",
			At: day().Add(time.Duration(i) * time.Hour), SentAt: day().Add(24 * time.Hour), DeliveryStatus: status,
		})
	}
	return all
}

// speak calls every operation, and checks what each returns: the same from every service.
func speak(t *testing.T, client *messaging.Client) {
	t.Helper()
	message := sms.Message{
		From: "ACME & co", To: "+639171234567", Text: "Kumusta, 世界? 100% + \"x\"", CallbackURL: "https://example.com/dlr?s=%s&i={msgid}", ReferenceID: "order/17",
	}
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	assert.Equal(t, []any{"msg-1", "req-1", "order/17", 1, "XTS"}, []any{receipt.ID, receipt.RequestID, receipt.ReferenceID, receipt.Parts, receipt.Currency})
	assert.Contains(t, []string{"0.50", "0.5000"}, receipt.Cost)

	_, err = client.SMS.Send(t.Context(), message)
	require.ErrorIs(t, err, messaging.ErrDuplicate)
	assert.NotEqual(t, messaging.Accepted, messaging.VerdictOf(err), "refused, or unknown with HTTP 409")

	receipt, err = client.ChatApp1.Send(t.Context(), chatapp1.New("channel-1", "639171234567").CallToAction(chatapp1.CallToAction{
		Text: "Your order", Caption: "Track", URL: "https://example.com/track?o=17&x=y",
	}).WithTTL(10*time.Minute).WithReference("chat-1"))
	require.NoError(t, err)
	assert.Equal(t, "msg-2", receipt.ID)

	receipt, err = client.ChatApp2.Send(t.Context(), chatapp2.Message{
		To: "+639171234567", Content: chatapp2.Text{Body: "Salamat <3"}, TTL: 5 * time.Minute, ReferenceID: "chat-2",
	})
	require.NoError(t, err)
	assert.NotEmpty(t, receipt.ID)

	var rows []string
	for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{From: "SEEDED", PageSize: 2}) {
		require.NoError(t, err)
		assert.True(t, day().Add(24*time.Hour).Equal(tx.SentAt), "%s", tx.SentAt)
		assert.Equal(t, []string{"SEEDED", "+639171234567", "Hello, 世界 & co", "q-1", "XTS"}, []string{tx.From, tx.To, tx.Text, tx.RequestID, tx.Currency})
		assert.Contains(t, []string{"0.50", "0.5000"}, tx.Price)
		rows = append(rows, fmt.Sprint(tx.ID, " ", tx.ReferenceID, " ", tx.Status, " ", tx.CreatedAt.UTC().Format(time.TimeOnly)))
	}
	assert.Equal(t, []string{"row-3 seed 3 unknown 16:44:23", "row-2 seed 2 failed 15:44:23", "row-1 seed 1 delivered 14:44:23"}, rows)
	tx, err := client.SMS.Find(t.Context(), "seed 2")
	require.NoError(t, err)
	assert.Equal(t, "row-2", tx.ID)
}

// receive calls a receiver as the service does, and checks what the handlers get: the same from every service.
func receive(t *testing.T, srv *messagingtest.Server, names contract.Contract, dir string, encoding messagingtest.CallOption) {
	t.Helper()
	receiver, err := webhook.NewReceiver(webhook.WithContract(names), webhook.WithPOST(), webhook.WithoutProof())
	require.NoError(t, err)
	var got []string
	mux := http.NewServeMux()
	mux.Handle("/sms", receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error {
		got = append(got, fmt.Sprint(m.ID, " ", m.From, " ", m.To, " ", m.Text, " ", m.ReceivedAt.UTC().Format(time.DateTime)))
		return nil
	}))
	mux.Handle("/delivery", receiver.Delivery(func(_ context.Context, d webhook.DeliveryReport) error {
		got = append(got, fmt.Sprint(d.ID, " ", d.ReferenceID, " ", d.Status, " ", d.StatusAt.UTC().Format(time.DateTime)))
		return nil
	}))
	rec := &recorder{t: t, dir: dir, handler: mux}
	hooks := httptest.NewServer(rec)
	t.Cleanup(hooks.Close)
	one := messagingtest.InboundSMS{ID: "in-1", From: "639171234567", To: "2929", Text: "Oo, 100% & é", ReceivedAt: day()}
	report := messagingtest.DeliveryReport{ID: "msg-1", ReferenceID: "order/17", Status: table.Of(names).WebhookDelivery.Statuses["failed"][0], At: day(), To: "639171234567"}
	report.Status = strings.TrimSuffix(report.Status, "*")
	replies := srv.CallWebhook(t.Context(), hooks.URL+"/sms", one, encoding)
	replies = append(replies, srv.CallWebhook(t.Context(), hooks.URL+"/delivery", report, encoding)...)
	want := []string{"in-1 639171234567 2929 Oo, 100% & é 2026-10-03 14:44:23", "msg-1 order/17 failed 2026-10-03 14:44:23"}
	for _, r := range replies {
		require.NoError(t, r.Err)
		assert.Equal(t, http.StatusOK, r.StatusCode)
	}
	assert.Equal(t, want, got)
	rec.finish()
}
