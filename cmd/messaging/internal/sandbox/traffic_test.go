package sandbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func TestTrafficShowsCurl(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	_, err := r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "It's 5 o'clock"})
	require.NoError(t, err)
	r.messages(1)
	x := r.exchange(1)
	assert.Equal(t, "sms.send", x.Operation)
	assert.True(t, x.InLedger)
	assert.Equal(t, verdictAccepted, x.Verdict)
	curl := r.curl(&x, "http://127.0.0.1:8026")
	assert.Contains(t, curl, `-H "Authorization: Bearer $MESSAGING_TOKEN"`)
	assert.Contains(t, curl, `It'\''s 5 o'\''clock`)
	assert.Contains(t, curl, "curl http://127.0.0.1:8026/sms/send ")
}

// TestCurlCommandNamesUnusualMethod: curl sends a body by POST.
func TestCurlCommandNamesUnusualMethod(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ method, body, want string }{
		{http.MethodGet, "", "curl http://127.0.0.1/"},
		{http.MethodGet, "a=1", "curl -X 'GET' http://127.0.0.1/ "},
		{http.MethodPost, "", "curl -X 'POST' http://127.0.0.1/"},
		{http.MethodPost, "a=1", "curl http://127.0.0.1/ "},
		{http.MethodPut, "a=1", "curl -X 'PUT' http://127.0.0.1/ "},
	} {
		command := curlCommand(tt.method, "http://127.0.0.1/", nil, tt.body, nil)
		assert.Contains(t, command, tt.want, "%s %q", tt.method, tt.body)
	}
}

func TestStreamSendsChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+Root+"events", nil)
	require.NoError(t, err)
	resp, err := r.http.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	lines := bufio.NewScanner(resp.Body)
	require.True(t, lines.Scan())
	_, err = r.client().SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	said := false
	for !said && lines.Scan() {
		said = strings.Contains(lines.Text(), `"messages":1`) && strings.Contains(lines.Text(), "New message to "+ana)
	}
	assert.True(t, said)
	r.spaces.Close()
	for ended := false; !ended; {
		ended = !lines.Scan()
	}
	assert.NoError(t, lines.Err(), "the stream ends with the sandbox")
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHub()
	for _, waiters := range []chan struct{}{h.pages, h.programs} {
		for range cap(waiters) {
			require.NoError(t, join(waiters))
		}
		assert.ErrorIs(t, join(waiters), errBusy)
		leave(waiters)
		assert.NoError(t, join(waiters))
	}
}

// described returns the operations of the API's description, as "GET messages".
func described(t *testing.T) map[string]document.Node {
	t.Helper()
	found := map[string]document.Node{}
	for path, methods := range document.Parse(openAPI).At("paths").Object() {
		for method := range (document.Node{Value: methods}).Object() {
			found[strings.ToUpper(method)+" "+strings.TrimPrefix(path, "/")] = document.Node{Value: methods}.At(method)
		}
	}
	require.NotEmpty(t, found)
	return found
}

func TestOpenAPIDescribesTheAPI(t *testing.T) {
	t.Parallel()
	require.True(t, json.Valid(openAPI))
	assert.Equal(t, "3.1.0", document.Parse(openAPI).At("openapi").Text())
	r := newRig(t, Config{})
	for operation, what := range described(t) {
		method, path, _ := strings.Cut(operation, " ")
		if path == "events" {
			continue // it does not end
		}
		status, text := r.do(method, Root+strings.NewReplacer("{id}", "msg-9", "{name}", "no-such").Replace(path), "")
		assert.NotEqual(t, http.StatusMethodNotAllowed, status, operation)
		assert.False(t, status == http.StatusNotFound && !strings.Contains(text, `"error"`), operation)
		assert.Equal(t, method != http.MethodGet, what.At("security").Exists(), operation)
		assert.True(t, what.At("operationId").Exists(), operation)
	}
	for operation := range operations() {
		if operation != "GET openapi.json" {
			assert.Contains(t, described(t), operation)
		}
	}
	for name, value := range map[string]any{
		"Message": Message{}, "Call": Call{}, "Answer": Answer{}, "Settings": Settings{}, "Exchange": Exchange{}, "Header": Header{},
		"Reached": Reached{}, "Space": Space{}, "FaultKind": FaultKind{}, "Rule": faultRule{}, "Seed": seed{},
	} {
		var fields []string
		for field := range reflect.TypeOf(value).Fields() {
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != "" && tag != "-" {
				fields = append(fields, tag)
			}
		}
		var documented []string
		for property := range document.Parse(openAPI).At("components.schemas." + name + ".properties").Object() {
			documented = append(documented, property)
		}
		assert.ElementsMatch(t, fields, documented, name)
	}
}

// Each channel must be one that the API, the page, the command and its settings know.
func TestEveryChannelIsKnown(t *testing.T) {
	t.Parallel()
	var described []any
	for _, name := range document.Parse(openAPI).At("components.schemas.Channel.enum").List() {
		described = append(described, name.Text())
	}
	fails := document.Parse(openAPI).At("paths./faults.post.requestBody.content.application/json.schema.properties.operation.enum").List()
	var operations []string
	for _, name := range fails {
		operations = append(operations, name.Text())
	}
	assert.ElementsMatch(t, operationNames(), operations, "openapi.json: the operations that may fail")
	r := newRig(t, Config{})
	connect := r.page("page/connect")
	conversations := r.page("")
	for _, c := range table.Channels() {
		assert.Contains(t, described, c.Name, "openapi.json: components.schemas.Channel")
		assert.Contains(t, connect, `data-webhook="`+c.Name+`"`)
		assert.Contains(t, conversations, "only="+c.Name)
		assert.NotNil(t, NewCommand(cli.Console{}).Flags().Lookup("webhook-"+c.Name))
		r.api(http.MethodPatch, "settings", `{"webhooks":{"`+c.Name+`":"http://127.0.0.1:1/"}}`, nil)
	}
	assert.Len(t, described, len(table.Channels()))
}

// TestDeliveryIsOfEveryChannel: the service has one outcome for all channels but SMS.
func TestDeliveryIsOfEveryChannel(t *testing.T) {
	t.Parallel()
	const recipient = "+639171234567"
	for _, chosen := range append([]table.Channel{{}}, table.Channels()...) {
		r := newRig(t, Config{})
		_, err := r.postDelivery(nil, deliveryBody{Channel: chosen.Name, To: recipient, Outcome: "failed"})
		require.NoError(t, err)
		for _, c := range table.Channels() {
			want := "delivered"
			if chosen.Name == "" || (c.Name == "sms") == (chosen.Name == "sms") {
				want = "failed"
			}
			assert.Equal(t, want, r.guarded.deliveryTo(c.Name, recipient).Outcome, "%s after %q", c.Name, chosen.Name)
		}
	}
}

// TestDeliveryOfMessageBeforeItIsEntered: the delivery of a message takes precedence over the delivery of its recipient.
func TestDeliveryOfMessageBeforeItIsEntered(t *testing.T) {
	t.Parallel()
	r := newRig(t, Config{})
	client, err := messaging.NewClient(r.service.URL, messaging.WithToken(r.service.Token))
	require.NoError(t, err)
	st := r.lock() // the message is not entered meanwhile
	defer st.unlock()
	receipt, err := client.SMS.Send(t.Context(), sms.Message{From: "ACME", To: ana, Text: "Hi"})
	require.NoError(t, err)
	accepted := r.service.Sent()[0]
	require.True(t, r.service.SetMessageDelivery(receipt.ID, messagingtest.DeliveryFailed()))
	st.messageDeliveries[receipt.ID] = deliveryBody{Message: receipt.ID, Outcome: outcomeFailed}
	st.addMessage(&accepted)
	assert.Equal(t, contract.StatusFailed, r.service.Sent()[0].Status)
	assert.Equal(t, outcomeFailed, st.messageDeliveries[receipt.ID].Outcome)
}

func TestDeliveryCanBeChangedAtTheLimit(t *testing.T) {
	t.Parallel()
	const recipient = "+639171234567"
	r := newRig(t, Config{})
	set := func(to, outcome string) error {
		_, err := r.postDelivery(nil, deliveryBody{To: to, Outcome: outcome})
		return err
	}
	require.NoError(t, set(recipient, "failed"))
	for i := range maxDeliveries {
		r.guarded.deliveries[deliveryKey{channel: channelSMS, recipient: fmt.Sprint(i)}] = deliveryBody{Outcome: "failed"}
	}
	require.ErrorContains(t, set("+639170000000", "failed"), "reset everything")
	require.NoError(t, set(recipient, "read"))
	assert.Equal(t, "read", r.guarded.deliveryTo(channelSMS, recipient).Outcome)
}

func TestCostIsThatOfTheService(t *testing.T) {
	t.Parallel()
	s := messagingtest.NewServer(t)
	s.SetBalance("1.00")
	s.Seed(messagingtest.Sent{Text: "Hi"})
	assert.Equal(t, "1.50", cost(3))
}
