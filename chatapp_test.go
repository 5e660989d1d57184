package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const chatNumber = "+639171234567"

var instead = sms.Fallback{From: "ACME", Text: "Tom & <Jerry> by SMS"}

// chatMessage1 and chatMessage2 are valid and set in every field that both have.
var (
	chatMessage1 = chatapp1.New("channel-1", chatNumber).Text("Tom & <Jerry> é 😀").WithTTL(10 * time.Minute).WithFallback(instead).
			WithCallback("https://shop.example.com/dlr?status=%s&id=%i&type=%tr").WithReference("order-17")
	chatMessage2 = chatapp2.Message{
		To: chatNumber, Content: chatapp2.Text{Body: "Tom & <Jerry> é 😀"}, ReplyTo: "wamid.HBg", TTL: 10 * time.Minute, Fallback: &instead,
		CallbackURL: "https://shop.example.com/dlr?status=%s&id=%i&type=%tr", ReferenceID: "order-17",
	}
)

const deliveryOnTheWire = `"ttl":600,"sms_from":"ACME","sms_text":"Tom & <Jerry> by SMS","dlrCallback":"https://shop.example.com/dlr?status=%s&id=%i&type=%tr","dlrReport":1,"referenceId":"order-17"}`

func TestChatAppSendOnTheWire(t *testing.T) {
	t.Parallel()
	const metaShaped = `{"messaging_product":"whatsapp","contacts":[{"input":"+639171234567","wa_id":"639171234567"}],"messages":[{"id":"wamid.1"}]}`
	for name, tt := range map[string]struct {
		send     func(context.Context, *messaging.Client) (messaging.Receipt, error)
		path     string
		body     string
		response string
		want     messaging.Receipt
	}{
		"chat app 1": {
			send: func(ctx context.Context, c *messaging.Client) (messaging.Receipt, error) {
				return c.ChatApp1.Send(ctx, chatMessage1)
			},
			path:     "/chatapp1/send",
			body:     `{"from":"channel-1","to":"+639171234567","text":"Tom & <Jerry> é 😀",` + deliveryOnTheWire,
			response: accepted,
			want: messaging.Receipt{
				ID: "0f6c2f7e-9b1d-4d0a-8a35-f4b0a3b0c111", RequestID: "r-77", ReferenceID: "order-17", Parts: 1, UnitCost: "0.50",
				Cost: "0.50", Balance: "199.50", Operator: "OP_1", Status: "ok", Attempts: 1, StatusCode: http.StatusOK, Raw: []byte(accepted),
			},
		},
		"chat app 1, the platform's response": {
			send: func(ctx context.Context, c *messaging.Client) (messaging.Receipt, error) {
				return c.ChatApp1.Send(ctx, chatapp1.New("channel-1", chatNumber).Image("https://shop.example.com/i.jpg"))
			},
			path: "/chatapp1/send", body: `{"from":"channel-1","to":"+639171234567","image":"https://shop.example.com/i.jpg"}`, response: metaShaped,
			want: messaging.Receipt{ID: "wamid.1", Attempts: 1, StatusCode: http.StatusOK, Raw: []byte(metaShaped)},
		},
		"chat app 2": {
			send: func(ctx context.Context, c *messaging.Client) (messaging.Receipt, error) {
				r, err := c.ChatApp2.Send(ctx, chatMessage2)
				return r, err
			},
			path: "/chatapp2/send",
			body: `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567",` +
				`"type":"text","text":{"body":"Tom & <Jerry> é 😀"},"context":{"message_id":"wamid.HBg"},` + deliveryOnTheWire,
			response: metaShaped,
			want:     messaging.Receipt{ID: "wamid.1", ReferenceID: "order-17", Attempts: 1, StatusCode: http.StatusOK, Raw: []byte(metaShaped)},
		},
		"chat app 2, the service's response": {
			send: func(ctx context.Context, c *messaging.Client) (messaging.Receipt, error) {
				r, err := c.ChatApp2.Send(ctx, chatapp2.Message{To: chatNumber, Content: chatapp2.Template{Name: "hello", Language: "en"}})
				return r, err
			},
			path: "/chatapp2/send",
			body: `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567",` +
				`"type":"template","template":{"name":"hello","language":{"code":"en"}}}`,
			response: `{"data":{"id":7,"referenceId":"theirs"}}`,
			want:     messaging.Receipt{ID: "7", ReferenceID: "theirs", Attempts: 1, StatusCode: http.StatusOK, Raw: []byte(`{"data":{"id":7,"referenceId":"theirs"}}`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, mock := mocked(t)
			requests := responding(mock, http.StatusOK, tt.response)
			got, err := tt.send(t.Context(), client)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			require.Len(t, *requests, 1)
			r := (*requests)[0]
			assert.Equal(t, http.MethodPost, r.Method)
			assert.Equal(t, baseURL+tt.path, r.URL.String())
			body, _ := io.ReadAll(r.Body)
			assert.Equal(t, tt.body, string(body))
			assert.Equal(t, int64(len(body)), r.ContentLength)
			assert.Nil(t, r.GetBody, "net/http retries a request with a GetBody")
			assert.Equal(t, http.Header{
				"Accept": {"application/json"}, "Authorization": {"Bearer tok-SECRET"}, "Content-Type": {"application/json"},
				"User-Agent": {"messaging-go/" + messaging.Version},
			}, r.Header)
		})
	}
}

// credentialsOf returns the credentials in a request.
func credentialsOf(t *testing.T, r *http.Request) string {
	t.Helper()
	raw, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	var body struct{ APIKey, APISecret string }
	_ = json.Unmarshal(raw, &body)
	return strings.Join([]string{r.Header.Get("Authorization"), r.Header.Get("X-Signature"), body.APIKey, body.APISecret, r.URL.RawQuery}, "|")
}

func TestCredentialsByChannel(t *testing.T) {
	t.Parallel()
	const shared, none = "Bearer tok-SECRET||||", ""
	own := messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp1)
	signed := messaging.WithAuth(func(r *http.Request) error {
		r.Header.Set("X-Signature", r.URL.Path)
		return nil
	}, messaging.ChannelChatApp2)
	basic, pair, inQuery := "Basic dTpw||||", messaging.WithAPIKey("k", "s"), "||||apiKey=k&apiSecret=s"
	for name, tt := range map[string]struct {
		options []messaging.Option
		others  string            // the credentials of channels without their own; none: they cannot send
		own     map[string]string // by channel
	}{
		"shared":         {[]messaging.Option{messaging.WithToken("tok-SECRET")}, shared, nil},
		"a shared pair":  {[]messaging.Option{pair}, "||k|s|", nil},
		"pair in query":  {[]messaging.Option{pair, overlay(t, `{"auth":{"keyPair":{"in":"query"}}}`)}, inQuery, nil},
		"chat app 1":     {[]messaging.Option{messaging.WithToken("tok-SECRET"), own}, shared, map[string]string{"chatapp1": basic}},
		"both chat apps": {[]messaging.Option{signed, own, pair}, "||k|s|", map[string]string{"chatapp1": basic, "chatapp2": "|/chatapp2/send|||"}},
		"no shared ones": {[]messaging.Option{own}, none, map[string]string{"chatapp1": basic}},
		"two chat apps": {
			[]messaging.Option{messaging.WithBasicAuth("u", "p", messaging.ChannelChatApp1, messaging.ChannelChatApp2)},
			none,
			map[string]string{"chatapp1": basic, "chatapp2": basic},
		},
		"SMS alone": {[]messaging.Option{messaging.WithBasicAuth("u", "p", messaging.ChannelSMS)}, none, map[string]string{"sms": basic}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mock := httpmock.NewMockTransport()
			requests := responding(mock, http.StatusOK, accepted)
			client, err := messaging.NewClient(baseURL, append(tt.options, messaging.WithHTTPClient(&http.Client{Transport: mock}))...)
			require.NoError(t, err)
			for _, channel := range channels {
				*requests = nil
				_, err := channel.send(t.Context(), client, chatNumber, "Tom & Jerry", "order-17")
				want, ok := tt.own[channel.name]
				if !ok {
					want = tt.others
				}
				if want != none {
					require.NoError(t, err, channel.name)
					assert.Equal(t, want, credentialsOf(t, (*requests)[0]), channel.name)
					continue
				}
				assert.Empty(t, *requests, channel.name)
				var e *messaging.Error
				require.ErrorAs(t, err, &e, channel.name)
				require.ErrorIs(t, err, messaging.ErrNotSent)
				assert.Equal(t, messaging.NotSent, e.Verdict)
				assert.Equal(t, "order-17", e.ReferenceID)
				assert.Zero(t, e.Attempts)
				assert.Equal(t, "messaging: "+channel.operation()+" not sent: the client has no credentials for "+channel.name+" (WithAuth)", e.Error())
			}
		})
	}
}

func TestErrorSaysIfNothingCanSettle(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		listing := " that no listing can settle"
		if channel.name == "sms" {
			listing = ""
		}
		for status, want := range map[int]string{
			http.StatusBadGateway: " has an unknown outcome" + listing + ": HTTP 502, unavailable",
			http.StatusOK:         " has an unknown outcome" + listing + ": HTTP 200, the response names no message at any path of the contract (response.id)",
			http.StatusBadRequest: " refused: HTTP 400, invalid",
		} {
			client, mock := mocked(t)
			responding(mock, status, `{}`)
			_, err := channel.send(t.Context(), client, chatNumber, "Tom & Jerry", "order-17")
			var e *messaging.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "messaging: "+channel.operation()+want, err.Error())
			assert.Equal(t, channel.operation(), e.Operation)
			assert.Equal(t, "order-17", e.ReferenceID)
			assert.Equal(t, 1, e.Attempts)
		}
	}
}

// problemsOf returns the fields of the problems of an error, and whether each is a limit.
func problemsOf(t *testing.T, err error) (fields []string, limits []bool) {
	t.Helper()
	var v *messaging.ValidationError
	require.ErrorAs(t, err, &v)
	require.ErrorIs(t, err, messaging.ErrInvalid)
	require.ErrorIs(t, err, messaging.ErrNotSent)
	require.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
	assert.Equal(t, messaging.NotSent, messaging.VerdictOf(err))
	assert.Equal(t, v.Problems[0].Field, v.Field)
	assert.Equal(t, v.Problems[0].Reason, v.Reason)
	for _, p := range v.Problems {
		fields, limits = append(fields, p.Field), append(limits, p.Limit)
		assert.Contains(t, err.Error(), p.Field+": "+p.Reason)
	}
	return fields, limits
}

func TestChatAppSendReportsEveryProblem(t *testing.T) {
	t.Parallel()
	rows := make([]chatapp2.Row, 4)
	for i := range rows {
		rows[i] = chatapp2.Row{ID: fmt.Sprint("id-", i), Title: "Jerry"}
	}
	rows[3].Title = strings.Repeat("Jerry", 5)
	menu := chatapp2.Interactive{Body: "Tom & Jerry", Action: chatapp2.List{Button: "Choose", Sections: []chatapp2.Section{
		{Title: "Jerry 1", Rows: []chatapp2.Row{{ID: "a", Title: "Jerry"}}},
		{Title: "Jerry 2", Rows: rows},
	}}}
	client, mock := mocked(t)
	for name, tt := range map[string]struct {
		send   func(context.Context) error
		fields []string
		limits []bool
	}{
		"chat app 1, nothing": {
			func(ctx context.Context) error {
				_, err := client.ChatApp1.Send(ctx, chatapp1.Message{})
				return err
			},
			[]string{"ChannelID", "To", "Payload"},
			[]bool{false, false, false},
		},
		"chat app 1": {
			func(ctx context.Context) error {
				m := chatapp1.New(" ", "9171234567 Jerry").CallToAction(chatapp1.CallToAction{Text: "Jerry\xff", ImageURL: "shop.example.com", Caption: "", URL: "Jerry"})
				m = m.WithTTL(-time.Second).WithFallback(sms.Fallback{From: " "}).WithCallback("shop.example.com/Jerry").WithReference("Jerry\xff")
				_, err := client.ChatApp1.Send(ctx, m)
				return err
			},
			[]string{"ChannelID", "To", "Payload.Text", "Payload.ImageURL", "Payload.Caption", "Payload.URL", "TTL", "Fallback.From", "Fallback.Text", "CallbackURL", "ReferenceID"},
			make([]bool, 11),
		},
		"chat app 1, unit and names": {
			func(ctx context.Context) error {
				_, err := client.ChatApp1.Send(ctx, chatapp1.New("c", chatNumber).Raw(map[string]any{"from": "Jerry", "f": func() {}}).WithTTL(1500*time.Millisecond))
				return err
			},
			[]string{"TTL", `Payload.Fields["f"]`, `Payload.Fields["from"]`},
			make([]bool, 3),
		},
		"chat app 2, nothing": {
			func(ctx context.Context) error {
				_, err := client.ChatApp2.Send(ctx, chatapp2.Message{})
				return err
			},
			[]string{"To", "Content"},
			[]bool{false, false},
		},
		"chat app 2": {
			func(ctx context.Context) error {
				m := chatMessage2
				m.Content, m.TTL, m.Fallback, m.Extra = menu, 90*time.Second+1, &sms.Fallback{Text: "Jerry"}, map[string]any{"ttl": "Jerry", "type": "Jerry"}
				_, err := client.ChatApp2.Send(ctx, m)
				return err
			},
			[]string{"Content.Action.Sections[1].Rows[3].Title", `Extra["type"]`, "TTL", "Fallback.From", `Extra["ttl"]`},
			[]bool{true, false, false, false, false},
		},
		"no context": {
			func(context.Context) error {
				_, one := client.ChatApp1.Send(noContext, chatMessage1)
				_, two := client.ChatApp2.Send(noContext, chatMessage2)
				assert.ErrorIs(t, one, messaging.ErrNotSent)
				return two
			},
			[]string{"ctx"},
			[]bool{false},
		},
	} {
		err := tt.send(t.Context())
		fields, limits := problemsOf(t, err)
		assert.Equal(t, tt.fields, fields, name)
		assert.Equal(t, tt.limits, limits, name)
		assertSilent(t, err.Error())
	}
	assert.Zero(t, mock.GetTotalCallCount())
}

// A payload under wire names is one payload, by the names of the contract.
func TestRawPayloadIsOne(t *testing.T) {
	t.Parallel()
	standard, _ := mocked(t)
	renamed, err := standard.With(overlay(t, `{"chatapp1.send": {"fields": {"text": "body", "template": ""}}}`))
	require.NoError(t, err)
	for _, tt := range []struct {
		client  *messaging.Client
		fields  []string
		several string // "" if they are one payload
	}{
		{standard, []string{"text"}, ""},
		{standard, []string{"image", "sticker"}, ""},
		{standard, []string{"video", "thumbnail", "duration"}, ""},
		{standard, []string{"text", "caption", "action"}, ""},
		{standard, []string{"text", "image", "caption", "action"}, ""},
		{standard, []string{"templateId", "templateParams"}, ""},
		{standard, []string{"sticker", "score"}, ""},
		{standard, []string{"text", "image"}, ""},
		{standard, []string{"text", "video", "x"}, ""},
		{standard, []string{"image", "video"}, "image, video"},
		{standard, []string{"text", "templateId"}, "text, templateId"},
		{standard, []string{"image", "templateId"}, "image, templateId"},
		{standard, []string{"action", "templateId"}, "action, templateId"},
		{standard, []string{"action", "image", "text", "video"}, "text, image, video, action"},
		{renamed, []string{"body", "image"}, ""},
		{renamed, []string{"text", "image"}, ""},
		{renamed, []string{"image", "templateId"}, ""},
	} {
		fields := map[string]any{}
		for _, name := range tt.fields {
			fields[name] = "Jerry"
		}
		err := tt.client.ChatApp1.Validate(chatapp1.New("c", chatNumber).Raw(fields))
		if tt.several == "" {
			require.NoError(t, err, "%v", tt.fields)
			continue
		}
		require.ErrorContains(t, err, "Payload.Fields: has several payloads ("+tt.several+"); one message has one")
		assertSilent(t, err.Error())
	}
	// Extra makes no second payload.
	button := chatapp1.New("c", chatNumber).CallToAction(chatapp1.CallToAction{Text: "Hi", Caption: "Go", URL: "https://example.com"})
	button.Extra = map[string]any{"video": "https://example.com/a.mp4"}
	require.ErrorContains(t, standard.ChatApp1.Validate(button), "Extra: has several payloads (text, video, action); one message has one")
	button.Extra = map[string]any{"action": "https://example.com/b"}
	require.ErrorContains(t, standard.ChatApp1.Validate(button), `Extra["action"]: the contract uses this name`)
	button.Extra = map[string]any{"campaign": "spring"}
	require.NoError(t, standard.ChatApp1.Validate(button))
	both := chatapp1.New("c", chatNumber).Raw(map[string]any{"sticker": "s"})
	both.Extra = map[string]any{"sticker": "t"}
	require.ErrorContains(t, standard.ChatApp1.Validate(both), `Extra["sticker"]: is a field of the payload too`)
	for _, none := range []map[string]any{nil, {}} {
		err := standard.ChatApp1.Validate(chatapp1.New("c", chatNumber).Raw(none))
		require.ErrorContains(t, err, "Payload.Fields: required, but absent")
	}
	require.ErrorContains(t, standard.ChatApp1.Validate(chatapp1.Message{ChannelID: "c", To: chatNumber}), "Payload: required, but nil")
}

func TestWithLenientLimits(t *testing.T) {
	t.Parallel()
	long := chatapp2.Message{To: chatNumber, Content: chatapp2.Text{Body: strings.Repeat("Jerry", 1000)}, CallbackData: strings.Repeat("x", 513)}
	broken := long
	broken.To, broken.CallbackURL = "nobody", "x"
	empty := long
	empty.Content = chatapp2.Text{}

	strict, mock := mocked(t)
	requests := responding(mock, http.StatusOK, accepted)
	lenient, err := strict.With(messaging.WithLenientLimits())
	require.NoError(t, err)
	derived, err := lenient.With(messaging.WithTimeout(time.Second))
	require.NoError(t, err)

	_, err = strict.ChatApp2.Send(t.Context(), long)
	fields, limits := problemsOf(t, err)
	assert.Equal(t, []string{"Content.Body", "CallbackData"}, fields)
	assert.Equal(t, []bool{true, true}, limits)
	assert.ErrorContains(t, err, "4096 characters, got 5000")
	assert.Empty(t, *requests, "deriving a client changes nothing of the first")

	for _, client := range []*messaging.Client{lenient, derived} {
		_, err = client.ChatApp2.Send(t.Context(), long)
		require.NoError(t, err)
		_, err = client.ChatApp2.Send(t.Context(), broken)
		fields, limits = problemsOf(t, err)
		assert.Equal(t, []string{"To", "CallbackURL"}, fields)
		assert.Equal(t, []bool{false, false}, limits)
		_, err = client.ChatApp2.Send(t.Context(), empty)
		fields, _ = problemsOf(t, err)
		assert.Equal(t, []string{"Content.Body"}, fields)

		_, err = client.SMS.Send(t.Context(), sms.Message{})
		fields, _ = problemsOf(t, err)
		assert.Len(t, fields, 3, "no limit of an SMS is documented")
		_, err = client.ChatApp1.Send(t.Context(), chatMessage1.WithTTL(1500*time.Millisecond))
		fields, _ = problemsOf(t, err)
		assert.Equal(t, []string{"TTL"}, fields, "what the contract cannot say is no limit of the platform")
	}
	assert.Len(t, *requests, 2)
	body, _ := io.ReadAll((*requests)[0].Body)
	assert.Contains(t, string(body), strings.Repeat("Jerry", 1000))

	_, err = strict.ChatApp2.Send(t.Context(), broken)
	fields, limits = problemsOf(t, err)
	assert.Equal(t, []string{"To", "Content.Body", "CallbackData", "CallbackURL"}, fields)
	assert.Equal(t, []bool{false, true, true, false}, limits)
}

func TestChatAppSendFollowsTheContract(t *testing.T) {
	t.Parallel()
	tpl := chatapp1.New("channel-1", "12345").Template(chatapp1.Template{ID: "t", Language: "en", Params: map[string]string{"b": "<2>", "a": "1"}}).WithTTL(time.Hour).WithFallback(instead)
	text2 := chatapp2.Message{To: "12345", Content: chatapp2.Text{Body: "<x>"}, TTL: time.Hour, ReferenceID: "r", Extra: map[string]any{"ttl": "own"}}
	form := func(pairs ...string) string {
		values := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			values.Set(pairs[i], pairs[i+1])
		}
		return values.Encode()
	}
	for name, tt := range map[string]struct {
		overlay string
		message any
		url     string
		body    string
	}{
		"chat app 1, names": {
			`{"chatapp1.send": {"path": "/v2/chat", "ttl": "m", "fields": {"channel": "sender.id", "params": "template.values", "template": "template.id", "ttl": "options.lifetime", "fallbackFrom": "sms.from", "fallbackText": "sms.text"}, "constants": {"app": "billing"}}}`,
			tpl,
			"/v2/chat",
			`{"sender":{"id":"channel-1"},"to":"12345","template":{"id":"t","values":{"a":"1","b":"<2>"}},"templateLanguage":"en","options":{"lifetime":60},"sms":{"from":"ACME","text":"Tom & <Jerry> by SMS"},"app":"billing"}`,
		},
		"chat app 1, form": {
			`{"chatapp1.send": {"encoding": "form", "ttl": "ms"}}`, tpl, "/chatapp1/send",
			form("from", "channel-1", "to", "12345", "templateId", "t", "templateLanguage", "en", "templateParams", `{"a":"1","b":"<2>"}`, "ttl", "3600000", "sms_from", "ACME", "sms_text", "Tom & <Jerry> by SMS"),
		},
		"chat app 1, query": {
			`{"chatapp1.send": {"encoding": "query"}}`, chatapp1.New("c", "12345").Text("a&b"), "/chatapp1/send?" + form("from", "c", "to", "12345", "text", "a&b"), "",
		},
		"chat app 2, wrap": {
			`{"chatapp2.send": {"wrap": "payload.message", "ttl": "m", "fields": {"ttl": "payload.minutes", "reference": "ref"}}}`, text2, "/chatapp2/send",
			`{"payload":{"minutes":60,"message":{"ttl":"own","messaging_product":"whatsapp","recipient_type":"individual","to":"12345","type":"text","text":{"body":"<x>"}}},"ref":"r"}`,
		},
		"chat app 2, names": {
			`{"chatapp2.send": {"fields": {"ttl": "options.ttl", "reference": "options.ref"}}}`, text2, "/chatapp2/send",
			`{"ttl":"own","options":{"ttl":3600,"ref":"r"},"messaging_product":"whatsapp","recipient_type":"individual","to":"12345","type":"text","text":{"body":"<x>"}}`,
		},
		"chat app 2, form": {
			`{"chatapp2.send": {"encoding": "form", "fields": {"ttl": "lifetime"}}}`, text2, "/chatapp2/send",
			form("ttl", "own", "lifetime", "3600", "referenceId", "r", "messaging_product", "whatsapp", "recipient_type", "individual", "to", "12345", "type", "text", "text", `{"body":"<x>"}`),
		},
		"chat app 2, wrapped in a form": {
			`{"chatapp2.send": {"encoding": "form", "wrap": "message"}}`, text2, "/chatapp2/send",
			form("ttl", "3600", "referenceId", "r", "message", `{"messaging_product":"whatsapp","recipient_type":"individual","to":"12345","type":"text","text":{"body":"<x>"},"ttl":"own"}`),
		},
		"the one leaves the other": {
			`{"chatapp1.send": {"fields": {"to": "msisdn"}}, "sms.send": {"fields": {"to": "number"}}}`,
			chatapp2.Message{To: "12345", Content: chatapp2.Text{Body: "x"}},
			"/chatapp2/send",
			`{"messaging_product":"whatsapp","recipient_type":"individual","to":"12345","type":"text","text":{"body":"x"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, mock := mocked(t, overlay(t, tt.overlay))
			var got *http.Request
			mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
				got = r
				return httpmock.NewStringResponse(http.StatusOK, accepted), nil
			})
			var err error
			switch m := tt.message.(type) {
			case chatapp1.Message:
				_, err = client.ChatApp1.Send(t.Context(), m)
			case chatapp2.Message:
				_, err = client.ChatApp2.Send(t.Context(), m)
			}
			require.NoError(t, err)
			path, query, _ := strings.Cut(tt.url, "?")
			assert.Equal(t, baseURL+path, got.URL.Scheme+"://"+got.URL.Host+got.URL.Path)
			assertSameBody(t, query, got.URL.RawQuery)
			body, _ := io.ReadAll(got.Body)
			assertSameBody(t, tt.body, string(body))
		})
	}
}

// assertSameBody compares JSON or forms without regard to the order of their members.
func assertSameBody(t *testing.T, want, got string) {
	t.Helper()
	if strings.HasPrefix(want, "{") {
		assert.JSONEq(t, want, got)
		return
	}
	wanted, err := url.ParseQuery(want)
	require.NoError(t, err)
	found, err := url.ParseQuery(got)
	require.NoError(t, err)
	assert.Equal(t, wanted, found)
}

func TestChatAppSendRejectsWhatTheContractLacks(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, overlay(t, `{"chatapp1.send": {"ttl": "m", "fields": {"video": "", "fallbackFrom": ""}}, "chatapp2.send": {"fields": {"ttl": "to", "callback": ""}}}`))
	responding(mock, http.StatusOK, accepted)
	_, err := client.ChatApp1.Send(t.Context(), chatapp1.New("c", "12345").Video(chatapp1.Video{URL: "https://shop.example.com/v"}).WithTTL(90*time.Second).WithFallback(instead))
	fields, _ := problemsOf(t, err)
	assert.Equal(t, []string{"Payload.URL", "TTL", "Fallback.From"}, fields)
	assert.ErrorContains(t, err, "TTL: must be a whole number of minutes, the unit of the contract, got 1m30s")
	_, err = client.ChatApp2.Send(t.Context(), chatMessage2)
	fields, _ = problemsOf(t, err)
	assert.Equal(t, []string{"CallbackURL", "Message"}, fields)
	assertSilent(t, err.Error())
	assert.Zero(t, mock.GetTotalCallCount())

	_, err = client.ChatApp1.Send(t.Context(), chatapp1.New("c", "12345").Text("x").WithFallback(sms.Fallback{Text: "y"}))
	require.NoError(t, err, "the account has one sender, and the contract says so")
}

// references names n messages.
func references(n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if !yield(fmt.Sprint("r-", i)) {
				return
			}
		}
	}
}

func TestChatAppSendAllDoesNotSettle(t *testing.T) {
	t.Parallel()
	for _, channel := range chatApps {
		t.Run(channel.name, func(t *testing.T) {
			t.Parallel()
			const n = 20
			var sends, lookUps atomic.Int32
			client, mock := mocked(t, messaging.WithSettle(messaging.SettlePolicy{Window: time.Hour, Interval: time.Hour}))
			mock.RegisterNoResponder(func(r *http.Request) (*http.Response, error) {
				if r.Method != http.MethodPost {
					lookUps.Add(1)
					return httpmock.NewStringResponse(http.StatusOK, `{"data":[]}`), nil
				}
				status := []int{http.StatusOK, http.StatusBadGateway, http.StatusBadRequest}[sends.Add(1)%3]
				body := map[int]string{http.StatusOK: `{"id":"m"}`}[status]
				return httpmock.NewStringResponse(status, body), nil
			})
			verdicts := map[messaging.Verdict]int{}
			seen := map[int]bool{}
			for out := range channel.sendAll(t.Context(), client, references(n), 4) {
				assert.False(t, seen[out.index])
				seen[out.index] = true
				assert.Equal(t, fmt.Sprint("r-", out.index), out.reference)
				verdicts[messaging.VerdictOf(out.err)]++
				assert.Equal(t, out.err == nil, out.id == "m")
				if e, ok := errors.AsType[*messaging.Error](out.err); ok {
					assert.Equal(t, channel.operation(), e.Operation)
					assert.Equal(t, out.reference, e.ReferenceID)
				}
			}
			assert.Len(t, seen, n)
			assert.Equal(t, map[messaging.Verdict]int{messaging.Accepted: 6, messaging.Unknown: 7, messaging.Refused: 7}, verdicts)
			assert.EqualValues(t, n, sends.Load(), "none is sent again")
			assert.Zero(t, lookUps.Load())
		})
	}
}

func TestChatAppSendAllGivesNoReferenceID(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, messaging.WithSettle(messaging.SettlePolicy{}))
	requests := responding(mock, http.StatusBadGateway, "")
	for out := range client.ChatApp1.SendAll(t.Context(), slices.Values([]chatapp1.Message{chatapp1.New("c", chatNumber).Text("x")}), 1) {
		assert.Empty(t, out.Message.ReferenceID)
		require.ErrorIs(t, out.Err, messaging.ErrOutcomeUnknown)
	}
	for out := range client.ChatApp2.SendAll(t.Context(), slices.Values([]chatapp2.Message{{To: chatNumber, Content: chatapp2.Text{Body: "x"}}}), 1) {
		assert.Empty(t, out.Message.ReferenceID)
		require.ErrorIs(t, out.Err, messaging.ErrOutcomeUnknown)
	}
	require.Len(t, *requests, 2)
	for _, r := range *requests {
		body, _ := io.ReadAll(r.Body)
		assert.NotContains(t, string(body), "referenceId")
	}
}

func TestClientSendsOverAllChannelsConcurrently(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := clientOf(t, srv)
	var all sync.WaitGroup
	for _, channel := range channels {
		for i := range 20 {
			all.Go(func() {
				id, err := channel.send(t.Context(), client, chatNumber, "x", fmt.Sprint(channel.name, "-", i))
				assert.NoError(t, err)
				assert.NotEmpty(t, id)
			})
		}
	}
	all.Wait()
	counted := map[string]int{}
	for _, entry := range srv.Sent() {
		assert.True(t, strings.HasPrefix(entry.ReferenceID, entry.Channel+"-"), "%s by %s", entry.ReferenceID, entry.Channel)
		counted[entry.Channel]++
	}
	for _, channel := range channels {
		assert.Equal(t, 20, counted[channel.name], channel.name)
	}
}

func TestFallbackIsListedAsAnSMS(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := clientOf(t, srv)
	srv.SetDelivery(chatNumber, messagingtest.DeliveryUnreachable())
	_, err := client.ChatApp1.Send(t.Context(), chatMessage1.WithReference("one"))
	require.NoError(t, err)
	m := chatMessage2
	m.ReferenceID = "two"
	_, err = client.ChatApp2.Send(t.Context(), m)
	require.NoError(t, err)
	srv.Advance(10*time.Minute - time.Second)
	rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
	require.Empty(t, errs)
	assert.Empty(t, rows)

	srv.Advance(2 * time.Second)
	rows, errs = list(client.SMS.List(t.Context(), sms.ListOptions{}))
	require.Empty(t, errs)
	texts := map[string]string{}
	for _, row := range rows {
		texts[row.ReferenceID] = row.From + ": " + row.Text
	}
	assert.Equal(t, map[string]string{"one": "ACME: " + instead.Text, "two": "ACME: " + instead.Text}, texts)
}

func TestAChatAppMessageIsNeverChangedAndServesManyGoroutines(t *testing.T) {
	t.Parallel()
	srv := messagingtest.NewServer(t)
	client := clientOf(t, srv)
	params := map[string]string{"a": "1", "b": "2"}
	one := chatMessage1
	one.Payload = chatapp1.Template{ID: "t", Params: params}
	two := chatMessage2
	two.Extra = map[string]any{"later": []any{"a", 1}}
	two.Content = chatapp2.Template{Name: "t", Language: "en", Components: []chatapp2.Component{chatapp2.Body("Ana", "42")}}
	before := fmt.Sprint(jsonOf(t, one), jsonOf(t, two))
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			_, err := client.ChatApp1.Send(t.Context(), one)
			assert.NoError(t, err)
			_, err = client.ChatApp2.Send(t.Context(), two)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	assert.Equal(t, before, fmt.Sprint(jsonOf(t, one), jsonOf(t, two)))
	bodies := map[string]int{}
	for _, entry := range srv.Sent() {
		bodies[string(entry.Body)]++
	}
	assert.Equal(t, []int{50, 50}, slices.Collect(maps.Values(bodies)), "the same message, the same bytes")
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return string(raw)
}
