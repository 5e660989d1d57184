package chatapp2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

func goldenEnvelopes() []golden {
	text := Text{Body: "Your order is ready"}
	template := Template{Name: "spring_sale", Language: "en_US"}
	with := func(change func(m *Message)) Message {
		m := goldenTo(text)
		change(&m)
		return m
	}
	return []golden{
		{"envelope/minimal", goldenTo(text)},
		{"envelope/no_plus", Message{To: "639171234567", Content: text}},
		{"envelope/number_and_recipient", Message{To: "+639171234567", Recipient: "US.13491208655302741918", Content: text}},
		{"envelope/recipient", Message{Recipient: "US.13491208655302741918", Content: text}},
		{"envelope/recipient_of_a_parent", Message{Recipient: "US.ENT.13491208655302741918", Content: text}},
		{"envelope/to_a_user", Message{To: "US.13491208655302741918", Content: text}},
		{"envelope/to_a_user_of_a_parent", Message{To: "US.ENT.13491208655302741918", Content: text}},
		{"envelope/reply_to", with(func(m *Message) { m.ReplyTo = "wamid.HBgLM" })},
		{"envelope/callback_data", with(func(m *Message) { m.CallbackData = "order-17;first" })},
		{"envelope/marketing_policy", Message{To: "+639171234567", Content: template, MarketingOptions: MarketingOptions{ProductPolicy: PolicyFallback}}},
		{"envelope/marketing_shared", Message{To: "+639171234567", Content: template, MarketingOptions: MarketingOptions{ActivitySharing: new(true)}}},
		{"envelope/marketing_complete", Message{
			To: "+639171234567", Content: template, MarketingOptions: MarketingOptions{ProductPolicy: PolicyStrict, ActivitySharing: new(false)},
			Extra: map[string]any{"optimization_spec": map[string]any{"per_message_bid_multiplier": 1.5}},
		}},
		{"envelope/fallback", with(func(m *Message) { m.Fallback = &sms.Fallback{From: "ACME", Text: "Your order 17 is ready"} })},
		{"envelope/ttl", with(func(m *Message) { m.TTL = 10 * time.Minute })},
		{"envelope/ttl_with_a_fraction", with(func(m *Message) { m.TTL = 1500 * time.Millisecond })},
		{"envelope/callback", with(func(m *Message) { m.CallbackURL = "https://shop.example.com/dlr/%s?id=%i" })},
		{"envelope/reference", with(func(m *Message) { m.ReferenceID = "order-17" })},
		{"envelope/extra", with(func(m *Message) {
			m.Extra = map[string]any{"z_last": nil, "recipient_identity_key_hash": "DF2lS5v2W6x=", "category": "utility", "n": json.Number("1.50")}
		})},
		{"envelope/complete", Message{
			To: "+639171234567", Content: template, ReplyTo: "wamid.HBgLM", CallbackData: "data",
			MarketingOptions: MarketingOptions{ProductPolicy: PolicyStrict, ActivitySharing: new(true)},
			Fallback:         &sms.Fallback{From: "ACME", Text: "Spring sale"}, TTL: time.Hour,
			CallbackURL: "https://shop.example.com/dlr", ReferenceID: "sale-1", Marketing: true, Extra: map[string]any{"campaign": "spring"},
		}},
	}
}

func TestCallDescribesTheMessage(t *testing.T) {
	t.Parallel()
	m := Message{
		To: "+639171234567", Recipient: "US.1349", Content: Text{Body: "Tom & Jerry <b>\u2028é</b>", PreviewURL: true}, ReplyTo: "wamid.<A&B>", CallbackData: "a&b",
		Fallback: &sms.Fallback{From: "A&B", Text: "Tom & Jerry <b>"}, TTL: 90 * time.Second,
		CallbackURL: "https://shop.example.com/dlr?s=%s&id=%i", ReferenceID: "r&1", Extra: map[string]any{"tag": "<x>"},
	}
	call := callOf(m)
	assert.Equal(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567","recipient":"US.1349","type":"text",`+
		`"text":{"body":"Tom & Jerry <b>\u2028é</b>","preview_url":true},"context":{"message_id":"wamid.<A&B>"},"biz_opaque_callback_data":"a&b"}`, bodyOf(m))
	assert.Equal(t, []wire.Field{
		{Concept: "ttl", Name: "TTL", Value: 90 * time.Second},
		{Concept: "fallbackFrom", Name: "Fallback.From", Text: "A&B", Required: true},
		{Concept: "fallbackText", Name: "Fallback.Text", Text: "Tom & Jerry <b>", Required: true},
		{Concept: "callback", Name: "CallbackURL", Text: "https://shop.example.com/dlr?s=%s&id=%i"},
		{Concept: "reference", Name: "ReferenceID", Text: "r&1"},
	}, call.Fields)
	assert.Empty(t, call.Problems)
}

func TestCallLeavesOutWhatIsAbsent(t *testing.T) {
	t.Parallel()
	m := goldenTo(Text{Body: "Hi"})
	assert.Equal(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567","type":"text","text":{"body":"Hi"}}`, bodyOf(m))
	assert.Nil(t, callOf(m).Extra)
	for _, field := range callOf(m).Fields { // each of them, so that Extra cannot take its name
		assert.Empty(t, field.Text, field.Concept)
		assert.False(t, field.Required, field.Concept)
	}
	assert.Len(t, callOf(m).Fields, 5)
}

func TestCallDoesNotEscapeForHTML(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		for n := range validTextPaths(reflect.ValueOf(g.message), "") {
			m := validNthText(g.message, n, func(s string) string { return s + "<&>" })
			assert.NotContains(t, bodyOf(m), `\u003c`, g.name)
		}
	}
}

func TestCallHasTheMembersThatAreStored(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		raw, err := json.Marshal(g.message)
		require.NoError(t, err, g.name)
		stored := jsonTree(t, raw).(map[string]any)
		for _, name := range storedNames() {
			delete(stored, name)
		}
		for name := range g.message.Extra {
			delete(stored, name)
		}
		assert.Equal(t, stored, jsonTree(t, []byte(bodyOf(g.message))), g.name)
	}
}

func TestCallDoesNotChangeTheMessage(t *testing.T) {
	t.Parallel()
	fresh := goldenMessages()
	for i, g := range goldenMessages() {
		callOf(g.message)
		_, err := json.Marshal(g.message)
		require.NoError(t, err, g.name)
		assert.Equal(t, fresh[i].message, g.message, g.name)
	}
}

func TestCallFromManyGoroutines(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		var all sync.WaitGroup
		encoded := make([]string, 4)
		for i := range encoded {
			all.Go(func() { encoded[i] = bodyOf(g.message) })
		}
		all.Wait()
		assert.Len(t, slices.Compact(encoded), 1, g.name)
	}
}

func TestExtraCannotReplaceAMember(t *testing.T) {
	t.Parallel()
	whole := Message{
		To: "+639171234567", Content: validTemplate(), ReplyTo: "wamid.A", CallbackData: "x", MarketingOptions: MarketingOptions{"STRICT", new(true)},
	}
	toUser := Message{Recipient: "US.1349", Content: Raw{Type: "poll", JSON: json.RawMessage(`{}`)}}
	for name, m := range map[string]Message{
		"messaging_product": whole, "recipient_type": whole, "to": whole, "context": whole, "type": whole, "template": whole,
		"biz_opaque_callback_data": whole, "product_policy": whole, "message_activity_sharing": whole, "recipient": toUser, "poll": toUser,
	} {
		m.Extra = map[string]any{name: "other", "fine": 1}
		problems := problemsOf(m)
		if assert.Len(t, problems, 1, name) {
			assert.Equal(t, `Extra["`+name+`"]`, problems[0].Field)
			assert.Contains(t, problems[0].Reason, "is a member of the message itself")
			assert.False(t, problems[0].Limit)
		}
		_, err := json.Marshal(m)
		assert.ErrorContains(t, err, `"`+name+`"`)
	}
	for _, name := range storedNames() {
		_, err := json.Marshal(goldenTo(Raw{Type: name, JSON: json.RawMessage(`{}`)}))
		assert.ErrorContains(t, err, `"`+name+`"`)
	}
}

func TestCallReportsWhatHasNoJSON(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		content Content
		field   string
	}{
		"a function in the data of a flow":   {validInteractive(Flow{ID: "1", CTA: "Book", Screen: "A", Data: func() {}}), "Content.Action.Data"},
		"a channel in the data of a flow":    {validInteractive(Flow{ID: "1", CTA: "Book", Screen: "A", Data: map[string]any{"c": make(chan int)}}), "Content.Action.Data"},
		"a function in the data of a button": {validTemplate(FlowButton{Data: func() {}}), "Content.Components[0].Data"},
		"raw content that is no JSON":        {Raw{Type: "poll", JSON: json.RawMessage(`{"a":`)}, "Content.JSON"},
		"raw content that is two values":     {Raw{Type: "poll", JSON: json.RawMessage(`{} {}`)}, "Content.JSON"},
		"a raw action that is no JSON":       {validInteractive(RawAction{Type: "poll", JSON: json.RawMessage(`no`)}), "Content.Action.JSON"},
		"a raw component that is no JSON":    {validTemplate(RawComponent{JSON: json.RawMessage(`{`)}), "Content.Components[0].JSON"},
		"a raw parameter that is no JSON":    {validTemplate(TemplateBody{RawParameter{JSON: json.RawMessage(`}`)}}), "Content.Components[0][0].JSON"},
	} {
		var call wire.Call
		require.NotPanics(t, func() { call = callOf(goldenTo(tt.content)) }, name)
		require.NotEmpty(t, call.Problems, name)
		assert.Equal(t, tt.field, call.Problems[0].Field, name)
		assert.False(t, call.Problems[0].Limit, name)
		_, err := json.Marshal(goldenTo(tt.content))
		assert.Error(t, err, name)
	}
}

func TestMessagePrintsAsPlainData(t *testing.T) {
	t.Parallel()
	m := Message{To: "+639171234567", Content: Text{Body: "Hi"}, TTL: time.Minute, ReferenceID: "r-1"}
	for _, shown := range []string{"+639171234567", "Body:Hi", "1m0s", "r-1"} {
		assert.Contains(t, fmt.Sprintf("%+v", m), shown)
	}
}

func TestMessageLogsNoPersonalData(t *testing.T) {
	t.Parallel()
	m := Message{
		To: "+639171234567", Recipient: "US.1349", Content: Text{Body: "s3cret"}, ReplyTo: "s3cret", CallbackData: "s3cret", TTL: time.Minute, ReferenceID: "r-1",
		Fallback: &sms.Fallback{From: "s3cret", Text: "s3cret"}, CallbackURL: "https://s3cret.example", Extra: map[string]any{"s3cret": "s3cret"},
	}
	var text, doc bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("sent", "message", m)
	slog.New(slog.NewJSONHandler(&doc, nil)).Info("sent", "message", m)
	assert.Contains(t, text.String(), "message.reference_id=r-1 message.content=chatapp2.Text message.ttl=1m0s")
	for _, log := range []string{text.String(), doc.String()} {
		for _, hidden := range []string{"s3cret", "639171234567", "1349"} {
			assert.NotContains(t, log, hidden)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	message := func(content Content) Message {
		return Message{To: "+639171234567", Content: content, ReferenceID: "order-17"}
	}
	for name, m := range map[string]Message{
		"text": message(Text{Body: "Your order 17 is ready for pickup"}),
		"template": message(Template{Name: "order_ready", Language: "en_US", Components: []Component{
			TemplateHeader{Image{Media: MediaID("1")}}, Body("Ana", "42", "Manila"), URLButton{Index: 0, Suffix: "17"},
		}}),
		"list": message(Interactive{Body: "When?", Action: List{Button: "Times", Sections: []Section{
			{Title: "Today", Rows: []Row{{ID: "1", Title: "At nine", Description: "Before noon"}, {ID: "2", Title: "At three"}}},
		}}}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if call := callOf(m); len(call.Problems) > 0 {
					b.Fatal(call.Problems)
				}
			}
		})
	}
}
