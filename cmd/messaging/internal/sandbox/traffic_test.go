package sandbox

import (
	"bufio"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
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
	curl := x.curl("http://127.0.0.1:8026")
	assert.Contains(t, curl, `-H "Authorization: Bearer $MESSAGING_TOKEN"`)
	assert.Contains(t, curl, `It'\''s 5 o'\''clock`)
	assert.Contains(t, curl, "curl http://127.0.0.1:8026/sms/send ")
}

func TestStreamTellsOfChanges(t *testing.T) {
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
	assert.NoError(t, r.spaces.Close())
	for ended := false; !ended; {
		ended = !lines.Scan()
	}
	assert.NoError(t, lines.Err(), "the stream ends with the sandbox")
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHub()
	for who, most := range map[audience]int{ofPages: maxPages, ofPrograms: maxPrograms} {
		for range most {
			require.NoError(t, h.join(who))
		}
		assert.ErrorIs(t, h.join(who), errBusy)
		h.leave(who)
		assert.NoError(t, h.join(who))
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
	for name, value := range map[string]any{
		"Message": Message{}, "Call": Call{}, "Answer": Answer{}, "Settings": Settings{}, "Exchange": Exchange{}, "Header": Header{},
		"Reached": Reached{}, "Space": Space{}, "FaultKind": FaultKind{}, "Rule": faultRule{},
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

// What is chosen for one channel but SMS holds for all of them, also after a restart: the service has one outcome for them.
func TestDeliveryIsOfEveryChannel(t *testing.T) {
	t.Parallel()
	const peer = "+639171234567"
	for _, chosen := range append([]table.Channel{{}}, table.Channels()...) {
		for _, restored := range []bool{false, true} {
			r := newRig(t, Config{})
			_, err := r.postDelivery(nil, deliveryBody{Channel: chosen.Name, To: peer, Outcome: "failed"})
			require.NoError(t, err)
			if restored {
				again := newRig(t, Config{})
				for rec := range r.records() {
					if rec.Do == "POST deliveries" {
						require.NoError(t, again.enter(rec))
					}
				}
				r = again
			}
			for _, c := range table.Channels() {
				want := "delivered"
				if chosen.Name == "" || (c.Name == "sms") == (chosen.Name == "sms") {
					want = "failed"
				}
				assert.Equal(t, want, r.outcomeFor(c.Name, peer).Outcome, "%s after %q", c.Name, chosen.Name)
			}
		}
	}
}

// TestSizeCountsEveryField: what is kept is bounded by bytes, so each field of a message that can hold any text counts.
func TestSizeCountsEveryField(t *testing.T) {
	t.Parallel()
	const long = 1000
	for _, kept := range []entry{{Sent: new(messagingtest.Sent)}, {Answer: new(Answer)}} {
		fields := reflect.ValueOf(kept.Sent)
		if kept.Answer != nil {
			fields = reflect.ValueOf(kept.Answer)
		}
		empty := sizeOf(&kept)
		for field, value := range fields.Elem().Fields() {
			before := reflect.New(field.Type).Elem()
			before.Set(value)
			switch value.Kind() {
			case reflect.String:
				value.SetString(strings.Repeat("x", long))
			case reflect.Slice:
				value.SetBytes(make([]byte, long))
			case reflect.Map:
				value.Set(reflect.ValueOf(map[string]json.RawMessage{"x": make([]byte, long)}))
			default:
				continue
			}
			assert.GreaterOrEqual(t, sizeOf(&kept), empty+long, "%s.%s", value.Type(), field.Name)
			value.Set(before)
		}
	}
}

func TestCostIsThatOfTheService(t *testing.T) {
	t.Parallel()
	s := messagingtest.NewServer(t)
	s.SetBalance("1.00")
	s.Seed(messagingtest.Sent{Text: "Hi"})
	assert.Equal(t, "1.50", cost(3))
}
