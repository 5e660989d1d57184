package chatapp1_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// doer is what a channel's test needs of the rest of the library. It has no listing and no policy to settle by: asking for
// one panics.
type doer struct {
	wire.Doer // what a test does not need

	receipt wire.Receipt
	err     error

	mu   sync.Mutex
	call wire.Call // the last
}

func (d *doer) Send(_ context.Context, call wire.Call) (wire.Receipt, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.call = call
	return d.receipt, d.err
}

// described gives the call that sending the message makes.
func described(t testing.TB, m chatapp1.Message) wire.Call {
	t.Helper()
	d := new(doer)
	_, err := chatapp1.NewService(d).Send(t.Context(), m)
	require.NoError(t, err)
	return d.call
}

const (
	number    = "+639171234567"
	callback  = "https://shop.example.com/dlr?status=%s&id=%i"
	delivered = `"ttl":600,"sms_from":"ACME","sms_text":"Order 17 is ready","dlrCallback":"` + callback + `","dlrReport":1,"referenceId":"order-17"`
)

var to = chatapp1.New("channel-1", number)

// complete adds all that a message may say about its delivery.
func complete(m chatapp1.Message) chatapp1.Message {
	return m.WithTTL(10 * time.Minute).WithFallback(sms.Fallback{From: "ACME", Text: "Order 17 is ready"}).WithCallback(callback).WithReference("order-17")
}

// A message is a golden file of its own name. The body is written by hand, so that a golden file cannot hold a mistake that
// nobody saw; the kind is what a service takes the message for.
var messages = map[string]struct {
	message    chatapp1.Message
	body, kind string
}{
	"text-minimal": {
		to.Text("Hi"),
		`{"from":"channel-1","to":"+639171234567","text":"Hi"}`, "text",
	},
	"text-complete": {
		complete(to.Text("1 < 2 && \"é\"\n你好 😀\u2028")),
		`{"from":"channel-1","to":"+639171234567","text":"1 < 2 && \"é\"\n你好 😀\u2028",` + delivered + `}`, "text",
	},
	"image-minimal": {
		to.Image("https://cdn.example.com/a.png"),
		`{"from":"channel-1","to":"+639171234567","image":"https://cdn.example.com/a.png"}`, "image",
	},
	"image-complete": {
		complete(to.Image("https://cdn.example.com/a%20b.png?w=1&h=2")),
		`{"from":"channel-1","to":"+639171234567","image":"https://cdn.example.com/a%20b.png?w=1&h=2",` + delivered + `}`, "image",
	},
	"video-minimal": {
		to.Video(chatapp1.Video{URL: "https://cdn.example.com/v.mp4"}),
		`{"from":"channel-1","to":"+639171234567","video":"https://cdn.example.com/v.mp4"}`, "video",
	},
	"video-complete": {
		complete(to.Video(chatapp1.Video{
			URL: "https://cdn.example.com/v.mp4", ThumbnailURL: "https://cdn.example.com/v.jpg", Duration: 90 * time.Second, Size: 5 << 30,
		})),
		`{"from":"channel-1","to":"+639171234567","video":"https://cdn.example.com/v.mp4","thumbnail":"https://cdn.example.com/v.jpg","duration":90,"fileSize":5368709120,` + delivered + `}`, "video",
	},
	"call-to-action-minimal": {
		to.CallToAction(chatapp1.CallToAction{Text: "Sale", Caption: "Shop", URL: "https://shop.example.com/"}),
		`{"from":"channel-1","to":"+639171234567","text":"Sale","caption":"Shop","action":"https://shop.example.com/"}`, "call_to_action",
	},
	"call-to-action-complete": {
		complete(to.CallToAction(chatapp1.CallToAction{
			Text: "Sale", ImageURL: "https://cdn.example.com/s.png", Caption: "Shop & save", URL: "https://shop.example.com/?a=1&b=2#top",
		})),
		`{"from":"channel-1","to":"+639171234567","text":"Sale","image":"https://cdn.example.com/s.png","caption":"Shop & save","action":"https://shop.example.com/?a=1&b=2#top",` + delivered + `}`, "call_to_action",
	},
	"template-minimal": {
		to.Template(chatapp1.Template{ID: "order_ready"}),
		`{"from":"channel-1","to":"+639171234567","templateId":"order_ready"}`, "template",
	},
	"template-complete": {
		complete(to.Template(chatapp1.Template{
			ID: "order_ready", Language: "en", Params: map[string]string{"shop": "Tom & Jerry", "order": "17", "Name": "Ana \"A\"", "1": "", "é": "ü"},
		})),
		`{"from":"channel-1","to":"+639171234567","templateId":"order_ready","templateLanguage":"en","templateParams":{"shop":"Tom & Jerry","order":"17","Name":"Ana \"A\"","1":"","é":"ü"},` + delivered + `}`, "template",
	},
	"raw-minimal": {
		to.Raw(map[string]any{"text": "Hi", "silent": true}),
		`{"from":"channel-1","to":"+639171234567","text":"Hi","silent":true}`, "text",
	},
	"raw-complete": {
		complete(to.Raw(map[string]any{"text": "Hi", "score": json.Number("1.50"), "a": map[string]any{"b": []any{"<x>", false, nil, json.Number("9007199254740993")}}})),
		`{"from":"channel-1","to":"+639171234567","text":"Hi","score":1.50,"a":{"b":["<x>",false,null,9007199254740993]},` + delivered + `}`, "text",
	},
}

func TestSendDescribesTheMessageAndPassesTheReceiptOn(t *testing.T) {
	t.Parallel()
	d := &doer{receipt: wire.Receipt{
		ID: "m-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9.50", Operator: "OP_1", StatusCode: 202, Raw: []byte(`{}`),
	}}
	receipt, err := chatapp1.NewService(d).Send(t.Context(), complete(to.Text("Hi")))
	require.NoError(t, err)
	assert.Equal(t, chatapp1.Receipt{
		ID: "m-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9.50", Operator: "OP_1", StatusCode: 202, Raw: []byte(`{}`),
	}, receipt)
	assert.Equal(t, wire.ChatApp1Send, d.call.Op)
	assert.Equal(t, "order-17", d.call.Reference)
	assert.Equal(t, 10*time.Minute, d.call.TTL)
	assert.Empty(t, d.call.Problems)
	assert.Nil(t, d.call.Message, "a message in the shape of another platform belongs to the other chat app")
}

func TestSendPassesTheErrorOn(t *testing.T) {
	t.Parallel()
	d := &doer{err: errors.New("no")}
	receipt, err := chatapp1.NewService(d).Send(t.Context(), to.Text("Hi"))
	assert.Equal(t, d.err, err)
	assert.Equal(t, chatapp1.Receipt{}, receipt)
}

func TestTheServiceGetsTheJSONOfTheMessage(t *testing.T) {
	t.Parallel()
	for name, tt := range messages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := messagingtest.NewServer(t)
			client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
			require.NoError(t, err)
			receipt, err := client.ChatApp1.Send(t.Context(), tt.message)
			require.NoError(t, err)
			require.Len(t, srv.Sent(), 1)
			sent := srv.Sent()[0]
			assert.JSONEq(t, tt.body, string(sent.Body))
			assert.Equal(t, tt.kind, sent.Kind)
			assert.Equal(t, sent.ID, receipt.ID)
			assert.Equal(t, tt.message.ReferenceID, receipt.ReferenceID)
			assert.Equal(t, "0.50", receipt.Cost)

			again, err := client.ChatApp1.Send(t.Context(), tt.message)
			require.NoError(t, err)
			assert.NotEqual(t, receipt.ID, again.ID, "each Send is a message")
			assert.Equal(t, string(srv.Sent()[0].Body), string(srv.Sent()[1].Body), "the same message is the same bytes")
		})
	}
}

func TestOneMessageIsSentFromManyGoroutinesAtOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range messages {
		d := new(doer)
		service := chatapp1.NewService(d)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, err := service.Send(t.Context(), tt.message)
				assert.NoError(t, err, name)
				assert.NotEmpty(t, fmt.Sprint(tt.message), name)
			})
		}
		all.Wait()
	}
}

func TestARefusedMessageTellsAllItsProblemsAndIsNotSent(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client, err := messaging.NewClient(srv.URL, messaging.WithToken(srv.Token))
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		message chatapp1.Message
		fields  []string
	}{
		"nothing":              {chatapp1.Message{}, []string{"ChannelID", "To", "Payload"}},
		"a nil pointer":        {chatapp1.Message{ChannelID: "1", To: number, Payload: (*chatapp1.Raw)(nil)}, []string{"Payload"}},
		"a fraction of a unit": {to.Text("Hi").WithTTL(1500 * time.Millisecond), []string{"TTL"}},
		"a text and an SMS":    {to.Text("").WithFallback(sms.Fallback{}), []string{"Payload.Body", "Fallback.From", "Fallback.Text"}},
		"fields that the message has": {
			to.Raw(map[string]any{"to": "SECRET", "dlrReport": "SECRET", "ttl": "SECRET", "sms_text": "SECRET", "text": "Hi"}),
			[]string{`Payload.Fields["dlrReport"]`, `Payload.Fields["sms_text"]`, `Payload.Fields["to"]`, `Payload.Fields["ttl"]`},
		},
		"the same behind a pointer": {
			chatapp1.Message{ChannelID: "1", To: number, Payload: &chatapp1.Raw{Fields: map[string]any{"from": "SECRET"}}},
			[]string{`Payload.Fields["from"]`},
		},
		"fields that are no JSON": {
			to.Raw(map[string]any{"f": func() {}, "n": json.Number("SECRET"), "": "SECRET", "\xff": "SECRET", "u": "SECRET\xff"}),
			[]string{`Payload.Fields[""]`, `Payload.Fields["f"]`, `Payload.Fields["n"]`, `Payload.Fields["u"]`, `Payload.Fields["\xff"]`},
		},
	} {
		_, err := client.ChatApp1.Send(t.Context(), tt.message)
		require.ErrorIs(t, err, messaging.ErrInvalid, name)
		assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err), name)
		invalid, ok := errors.AsType[*messaging.ValidationError](err)
		require.True(t, ok, name)
		var fields []string
		for _, p := range invalid.Problems {
			fields = append(fields, p.Field)
		}
		assert.ElementsMatch(t, tt.fields, fields, name)
		assert.NotContains(t, err.Error(), "SECRET", name)
	}
	assert.Zero(t, srv.Requests())
}

func TestAPrintedReceiptShowsNothingOfTheAnswer(t *testing.T) {
	t.Parallel()
	receipt := chatapp1.Receipt{
		ID: "m-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9.50", Operator: "OP_1", StatusCode: 200,
		Raw: []byte(`{"to":"+639171234567","text":"PRIVATE"}`),
	}
	assertSilent(t, shown(receipt))
	assertSilent(t, shown(&receipt))
	want := `chatapp1.Receipt{ID: "m-1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9.50", Operator: "OP_1", StatusCode: 200, Raw: 39 bytes}`
	assert.Equal(t, want, fmt.Sprint(receipt))
	assert.Equal(t, want, receipt.LogValue().String())
}

// sealed tells of a type of interface that no other package can implement.
func sealed(i reflect.Type) bool {
	for method := range i.Methods() {
		if method.PkgPath != "" {
			return true
		}
	}
	return false
}

func TestOnlyAMessageWithOnePayloadCanBeWritten(t *testing.T) {
	t.Parallel()
	draft, message, payload := reflect.TypeFor[chatapp1.Draft](), reflect.TypeFor[chatapp1.Message](), reflect.TypeFor[chatapp1.Payload]()
	send, ok := reflect.TypeFor[*chatapp1.Service]().MethodByName("Send")
	require.True(t, ok)
	assert.Equal(t, message, send.Type.In(2))
	assert.False(t, draft.ConvertibleTo(message), "a draft can be sent")
	assert.False(t, draft.Implements(payload))
	assert.False(t, message.Implements(payload))
	assert.True(t, sealed(payload))
	field, ok := message.FieldByName("Payload")
	require.True(t, ok)
	assert.Equal(t, payload, field.Type)
	made := 0
	for method := range draft.Methods() {
		if method.Type.NumOut() == 1 && method.Type.Out(0) == message {
			made++
			_, twice := message.MethodByName(method.Name)
			assert.False(t, twice, "a message can have a second payload, by its method %s", method.Name)
		}
	}
	assert.Equal(t, len(payloads()), made, "each payload has a method of Draft that makes it")
}

// payloads gives one of each kind, under the kind's name.
func payloads() map[string]chatapp1.Payload {
	return map[string]chatapp1.Payload{
		"Text":         chatapp1.Text{Body: "PRIVATE"},
		"Image":        chatapp1.Image{URL: "https://PRIVATE.example.com/a.png"},
		"Video":        chatapp1.Video{URL: "https://PRIVATE.example.com/v.mp4", ThumbnailURL: "https://PRIVATE.example.com/v.jpg", Duration: time.Minute, Size: 4096},
		"CallToAction": chatapp1.CallToAction{Text: "PRIVATE", ImageURL: "https://PRIVATE.example.com/a.png", Caption: "PRIVATE", URL: "https://PRIVATE.example.com/?q=PRIVATE"},
		"Template":     chatapp1.Template{ID: "PRIVATE", Language: "PRIVATE", Params: map[string]string{"PRIVATE": "PRIVATE"}},
		"Raw":          chatapp1.Raw{Fields: map[string]any{"PRIVATE": "PRIVATE", "n": map[string]any{"PRIVATE": json.Number("639171234567")}}},
	}
}

// pointer gives the same payload behind a pointer.
func pointer(p chatapp1.Payload) chatapp1.Payload {
	v := reflect.New(reflect.TypeOf(p))
	v.Elem().Set(reflect.ValueOf(p))
	return v.Interface().(chatapp1.Payload)
}

// none gives a nil pointer to the same kind of payload.
func none(p chatapp1.Payload) chatapp1.Payload {
	return reflect.Zero(reflect.PointerTo(reflect.TypeOf(p))).Interface().(chatapp1.Payload)
}
