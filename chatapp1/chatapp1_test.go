package chatapp1_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	number    = "+639171234567"
	callback  = "https://shop.example.com/dlr?status=%s&id=%i"
	delivered = `"ttl":600,"sms_from":"ACME","sms_text":"Order 17 is ready","dlrCallback":"` + callback + `","dlrReport":1,"referenceId":"order-17"`
)

var to = chatapp1.New("channel-1", number)

// complete sets every optional field.
func complete(m chatapp1.Message) chatapp1.Message {
	return m.WithTTL(10 * time.Minute).WithFallback(sms.Fallback{From: "ACME", Text: "Order 17 is ready"}).WithCallback(callback).WithReference("order-17")
}

// messages are those of the golden files, by name. The body is written by hand, so that a golden file cannot hide a mistake;
// the kind is what a service takes the message for.
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

var standard = sync.OnceValue(func() *codec.Send { return compile(contract.Default()) })

func compile(names contract.Contract) *codec.Send {
	return codec.CompileSend(table.Of(names), &table.Of(names).ChatApp1Send, &url.URL{Path: "/"}, nil)
}

// encode writes the message under a contract.
func encode(t testing.TB, m chatapp1.Message, overlay string) (codec.Request, []wire.Problem) {
	t.Helper()
	if overlay == "{}" {
		return standard().Encode(describe.ChatApp1(m), false)
	}
	names, err := contract.Parse([]byte(overlay))
	require.NoError(t, err)
	return compile(names).Encode(describe.ChatApp1(m), false)
}

func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range messages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, err := json.MarshalIndent(tt.message, "", "  ")
			require.NoError(t, err)
			body, problems := encode(t, tt.message, `{}`)
			require.Empty(t, problems)
			assert.JSONEq(t, tt.body, string(body.Body))
			text := fmt.Sprintf("stored:\n%s\n\nbody:\n%s\n", stored, body.Body)
			if name != "raw-complete" { // which has an object that no form can hold
				form, problems := encode(t, tt.message, `{"chatapp1.send": {"encoding": "form"}}`)
				require.Empty(t, problems)
				text += fmt.Sprintf("\nbody of a form:\n  %s\n", strings.ReplaceAll(string(form.Body), "&", "\n  "))
			}
			file := filepath.Join("testdata", "messages", name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
				require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "run the test with -update")
			assert.Equal(t, string(want), text)
		})
	}
}

func TestGoldenFilesHaveTheirMessages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "messages", "*"))
	require.NoError(t, err)
	for _, file := range files {
		assert.Contains(t, messages, strings.TrimSuffix(filepath.Base(file), ".golden"))
	}
	for kind := range payloads() {
		count := 0
		for name, tt := range messages {
			if reflect.TypeOf(tt.message.Payload).Name() == kind {
				count++
				assert.Equal(t, strings.HasSuffix(name, "-complete"), tt.message.Fallback != nil, name)
			}
		}
		assert.Equal(t, 2, count, "%s: one minimal golden file and one complete", kind)
	}
}

func TestSendOnTheWire(t *testing.T) {
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
			assert.NotEqual(t, receipt.ID, again.ID, "each send is a message")
			assert.Equal(t, string(srv.Sent()[0].Body), string(srv.Sent()[1].Body), "the same message is the same bytes")
		})
	}
}

func TestSendReportsEveryProblem(t *testing.T) {
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
			to.Raw(map[string]any{"to": "SECRET", "dlrReport": "SECRET", "ttl": "SECRET", "sms_text": "SECRET", "text": "Hi"}).
				WithTTL(time.Minute).WithFallback(sms.Fallback{From: "ACME", Text: "Hi"}),
			[]string{`Payload.Fields["sms_text"]`, `Payload.Fields["to"]`, `Payload.Fields["ttl"]`},
		},
		"a field of the payload and one of Extra": {
			chatapp1.Message{
				ChannelID: "1", To: number,
				Payload: chatapp1.Raw{Fields: map[string]any{"to": "SECRET", "text": "Hi"}}, Extra: map[string]any{"sms_text": func() {}},
			},
			[]string{`Extra["sms_text"]`, `Payload.Fields["to"]`},
		},
		"a pointer": {chatapp1.Message{ChannelID: "1", To: number, Payload: &chatapp1.Text{Body: "SECRET"}}, []string{"Payload"}},
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

func TestCallHasEveryFieldOfTheContract(t *testing.T) {
	t.Parallel()
	standard := table.Of(contract.Default()).ChatApp1Send.Fields
	used := map[string]bool{}
	for kind, p := range payloads() {
		seen := map[string]bool{}
		for _, f := range describe.ChatApp1(chatapp1.Message{Payload: p}).Fields {
			assert.Contains(t, standard, f.Concept, kind)
			assert.False(t, seen[f.Concept], "%s has %s twice", kind, f.Concept)
			seen[f.Concept], used[f.Concept] = true, true
			assertFieldOf(t, p, f.Name)
			seen[f.Name] = true
		}
		for field := range reflect.TypeFor[chatapp1.Message]().Fields() {
			assert.True(t, seen[field.Name] || slices.Contains([]string{"Payload", "Fallback", "Marketing", "Extra"}, field.Name), field.Name)
		}
		for field := range reflect.TypeOf(p).Fields() {
			assert.True(t, seen["Payload."+field.Name] || kind == "Raw", "%s.%s", kind, field.Name)
		}
	}
	for concept := range standard {
		assert.True(t, used[concept], "no payload has %s", concept)
	}
}

// assertFieldOf checks that a message with the payload has the field that an error names.
func assertFieldOf(t *testing.T, p chatapp1.Payload, path string) {
	t.Helper()
	at := reflect.TypeFor[chatapp1.Message]()
	for name := range strings.SplitSeq(path, ".") {
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		field, ok := at.FieldByName(name)
		if !assert.True(t, ok, "errors name %s, which a message with %T does not have", path, p) {
			return
		}
		at = field.Type
		if name == "Payload" {
			at = reflect.TypeOf(p)
		}
	}
}

func TestCallRejectsAPointer(t *testing.T) {
	t.Parallel()
	for kind, p := range payloads() {
		for _, behind := range []chatapp1.Payload{pointer(p), none(p)} {
			call := describe.ChatApp1(chatapp1.Message{ChannelID: "c", To: number, Payload: behind})
			name := "chatapp1." + kind
			want := "must be a value, not a pointer: " + name + "{…}, not &" + name + "{…}"
			assert.Equal(t, []wire.Problem{{Field: "Payload", Reason: want}}, call.Problems)
			_, err := json.Marshal(chatapp1.Message{Payload: behind})
			assert.ErrorContains(t, err, "Payload "+want)
		}
	}
}

func TestCallOfRaw(t *testing.T) {
	t.Parallel()
	fields := map[string]any{"text": "Hi", "n": json.Number("1.50"), "o": map[string]any{"p": nil}}
	call := describe.ChatApp1(complete(to.Raw(fields)))
	assert.Equal(t, fields, call.Extra)
	assert.Equal(t, "Payload.Fields", call.ExtraField)
	for kind, p := range payloads() {
		if kind != "Raw" {
			assert.Nil(t, describe.ChatApp1(chatapp1.Message{Payload: p}).Extra, kind)
		}
	}
}

// sealed reports whether no other package can implement an interface.
func sealed(i reflect.Type) bool {
	for method := range i.Methods() {
		if method.PkgPath != "" {
			return true
		}
	}
	return false
}

func TestMessageHasOnePayload(t *testing.T) {
	t.Parallel()
	draft, message, payload := reflect.TypeFor[chatapp1.Draft](), reflect.TypeFor[chatapp1.Message](), reflect.TypeFor[chatapp1.Payload]()
	send, ok := reflect.TypeFor[*messaging.ChatApp1Service]().MethodByName("Send")
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

// payloads returns one of each kind, by the name of its type.
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

// pointer returns the same payload behind a pointer.
func pointer(p chatapp1.Payload) chatapp1.Payload {
	v := reflect.New(reflect.TypeOf(p))
	v.Elem().Set(reflect.ValueOf(p))
	return v.Interface().(chatapp1.Payload)
}

// none returns a nil pointer to the same kind of payload.
func none(p chatapp1.Payload) chatapp1.Payload {
	return reflect.Zero(reflect.PointerTo(reflect.TypeOf(p))).Interface().(chatapp1.Payload)
}
