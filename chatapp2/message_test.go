package chatapp2

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// sendDoer is what a channel's test needs of the rest of the library.
type sendDoer struct {
	wire.Doer // what a test does not need

	call    wire.Call
	receipt wire.Receipt
	err     error
}

func (d *sendDoer) Send(_ context.Context, call wire.Call) (wire.Receipt, error) {
	d.call = call
	return d.receipt, d.err
}

// sendCall gives what Send hands to the rest of the library.
func sendCall(t *testing.T, m Message) wire.Call {
	t.Helper()
	d := new(sendDoer)
	_, err := NewService(d).Send(t.Context(), m)
	require.NoError(t, err)
	return d.call
}

func sendProblems(t *testing.T, m Message) []wire.Problem {
	t.Helper()
	return sendCall(t, m).Problems
}

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
		{"envelope/individual", with(func(m *Message) { m.RecipientType = RecipientIndividual })},
		{"envelope/group", Message{To: "Y2FwaV9ncm91cDox", RecipientType: RecipientGroup, Content: text}},
		{"envelope/recipient", Message{Recipient: "US.13491208655302741918", Content: text}},
		{"envelope/recipient_of_a_parent", Message{Recipient: "US.ENT.13491208655302741918", Content: text}},
		{"envelope/reply_to", with(func(m *Message) { m.ReplyTo = "wamid.HBgLM" })},
		{"envelope/callback_data", with(func(m *Message) { m.CallbackData = "order-17;first" })},
		{"envelope/marketing_policy", Message{To: "+639171234567", Content: template, Marketing: Marketing{ProductPolicy: "CLOUD_API_FALLBACK"}}},
		{"envelope/marketing_shared", Message{To: "+639171234567", Content: template, Marketing: Marketing{ActivitySharing: new(true)}}},
		{"envelope/marketing_complete", Message{
			To: "+639171234567", Content: template, Marketing: Marketing{ProductPolicy: "STRICT", ActivitySharing: new(false)},
			Extra: map[string]any{"bid_spec": map[string]any{"per_message_bid_multiplier": 1.5}},
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
			To: "+639171234567", RecipientType: RecipientIndividual, Content: template, ReplyTo: "wamid.HBgLM", CallbackData: "data",
			Marketing: Marketing{ProductPolicy: "STRICT", ActivitySharing: new(true)},
			Fallback:  &sms.Fallback{From: "ACME", Text: "Spring sale"}, TTL: time.Hour,
			CallbackURL: "https://shop.example.com/dlr", ReferenceID: "sale-1", Extra: map[string]any{"campaign": "spring"},
		}},
	}
}

func TestSendDescribesTheMessage(t *testing.T) {
	t.Parallel()
	d := &sendDoer{receipt: wire.Receipt{ID: "wamid.1", RequestID: "q-1", ReferenceID: "r-1", Parts: 2, UnitCost: "0.25", Cost: "0.50", Balance: "9", Operator: "OP", StatusCode: 200, Raw: []byte("{}")}}
	m := Message{
		To: "+639171234567", Content: Text{Body: "Tom & Jerry <b>\u2028é</b>", PreviewURL: true}, ReplyTo: "wamid.<A&B>", CallbackData: "a&b",
		Fallback: &sms.Fallback{From: "A&B", Text: "Tom & Jerry <b>"}, TTL: 90 * time.Second,
		CallbackURL: "https://shop.example.com/dlr?s=%s&id=%i", ReferenceID: "r&1", Extra: map[string]any{"tag": "<x>"},
	}
	receipt, err := NewService(d).Send(t.Context(), m)
	require.NoError(t, err)
	assert.Equal(t, Receipt(d.receipt), receipt)
	assert.Equal(t, wire.ChatApp2Send, d.call.Op)
	assert.Equal(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567","context":{"message_id":"wamid.<A&B>"},`+
		`"type":"text","text":{"body":"Tom & Jerry <b>\u2028é</b>","preview_url":true},"biz_opaque_callback_data":"a&b"}`, string(d.call.Message))
	assert.Equal(t, m.Extra, d.call.Extra)
	assert.Empty(t, d.call.ExtraName, "errors name Extra as it is called")
	assert.Equal(t, 90*time.Second, d.call.TTL)
	assert.Equal(t, "r&1", d.call.Reference)
	assert.Empty(t, d.call.Problems)
	raw, err := json.Marshal(d.call.Body)
	require.NoError(t, err)
	assert.JSONEq(t, `{"ttl":90,"sms_from":"A&B","sms_text":"Tom & Jerry <b>","dlrCallback":"https://shop.example.com/dlr?s=%s&id=%i","dlrReport":1,"referenceId":"r&1"}`, string(raw))
}

func TestNoTextIsEscapedAsForHTML(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		for n := range validTextPaths(reflect.ValueOf(g.message), "") {
			m := validNthText(g.message, n, func(s string) string { return s + "<&>" })
			assert.NotContains(t, string(sendCall(t, m).Message), `\u00`, g.name)
		}
	}
}

func TestWhatIsAbsentIsNotSent(t *testing.T) {
	t.Parallel()
	call := sendCall(t, goldenTo(Text{Body: "Hi"}))
	assert.Equal(t, `{"messaging_product":"whatsapp","recipient_type":"individual","to":"+639171234567","type":"text","text":{"body":"Hi"}}`, string(call.Message))
	raw, err := json.Marshal(call.Body)
	require.NoError(t, err)
	assert.Equal(t, `{}`, string(raw))
	assert.Nil(t, call.Extra)
	assert.Zero(t, call.TTL)
	assert.Empty(t, call.Reference)
}

// What is sent and what is stored are the same, but for the order of the members.
func TestSendHandsOverWhatTheJSONOfAMessageHolds(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		call := sendCall(t, g.message)
		var message, body, whole map[string]any
		require.NoError(t, json.Unmarshal(call.Message, &message), g.name)
		raw, err := json.Marshal(call.Body)
		require.NoError(t, err, g.name)
		require.NoError(t, json.Unmarshal(raw, &body), g.name)
		members := len(message) + len(body) + len(call.Extra)
		maps.Copy(message, body)
		for name, value := range call.Extra {
			extra, err := json.Marshal(value)
			require.NoError(t, err, g.name)
			var decoded any
			require.NoError(t, json.Unmarshal(extra, &decoded), g.name)
			message[name] = decoded
		}
		raw, err = json.Marshal(g.message)
		require.NoError(t, err, g.name)
		require.NoError(t, json.Unmarshal(raw, &whole), g.name)
		assert.Equal(t, whole, message, g.name)
		assert.Len(t, whole, members, "%s: a member is of two parts", g.name)
	}
}

// The names of what the service adds are the fast path: where they are not the default contract's, a client without an
// overlay sends wrong ones.
func TestTheServicesOwnFieldsHaveTheNamesOfTheDefaultContract(t *testing.T) {
	t.Parallel()
	c := contract.Default().ChatApp2Send
	m := goldenTo(Text{Body: "Hi"})
	m.TTL, m.CallbackURL, m.ReferenceID, m.Fallback = time.Minute, "https://a.example", "r-1", &sms.Fallback{From: "ACME", Text: "Hi"}
	raw, err := json.Marshal(sendCall(t, m).Body)
	require.NoError(t, err)
	want := map[string]any{
		c.Fields.TTL: 60, c.Fields.FallbackFrom: "ACME", c.Fields.FallbackText: "Hi", c.Fields.Callback: "https://a.example", c.Fields.Reference: "r-1",
	}
	maps.Copy(want, c.With["callback"])
	require.Len(t, want, 6)
	assert.Empty(t, c.Constants)
	wanted, err := json.Marshal(want)
	require.NoError(t, err)
	assert.JSONEq(t, string(wanted), string(raw))
	for name := range want {
		m := goldenTo(Text{Body: "Hi"})
		m.Extra = map[string]any{name: 1}
		_, err := json.Marshal(m)
		assert.ErrorContains(t, err, name, "a field of the service is no member of the message")
	}
}

func TestSendPassesTheErrorOn(t *testing.T) {
	t.Parallel()
	d := &sendDoer{err: errors.New("no")}
	_, err := NewService(d).Send(t.Context(), goldenTo(Text{Body: "Hi"}))
	assert.Equal(t, d.err, err)
}

func TestSendingAndEncodingNeverChangeTheMessage(t *testing.T) {
	t.Parallel()
	fresh := goldenMessages()
	for i, g := range goldenMessages() {
		sendCall(t, g.message)
		_, err := json.Marshal(g.message)
		require.NoError(t, err, g.name)
		assert.Equal(t, fresh[i].message, g.message, g.name)
	}
}

func TestOneMessageCanBeSentFromManyGoroutinesAtOnce(t *testing.T) {
	t.Parallel()
	for _, g := range goldenMessages() {
		var all sync.WaitGroup
		encoded := make([]string, 4)
		for i := range encoded {
			all.Go(func() { encoded[i] = string(sendCall(t, g.message).Message) })
		}
		all.Wait()
		assert.Len(t, slices.Compact(encoded), 1, g.name)
	}
}

func TestAKeyThatComesTwiceIsAnErrorAndNeverAnOverwrite(t *testing.T) {
	t.Parallel()
	whole := Message{
		To: "+639171234567", Content: validTemplate(), ReplyTo: "wamid.A", CallbackData: "x", Marketing: Marketing{"STRICT", new(true)},
	}
	toUser := Message{Recipient: "US.1349", Content: Raw{Type: "poll", JSON: json.RawMessage(`{}`)}}
	for name, m := range map[string]Message{
		"messaging_product": whole, "recipient_type": whole, "to": whole, "context": whole, "type": whole, "template": whole,
		"biz_opaque_callback_data": whole, "product_policy": whole, "message_activity_sharing": whole, "recipient": toUser, "poll": toUser,
	} {
		m.Extra = map[string]any{name: "other", "fine": 1}
		problems := sendProblems(t, m)
		if assert.Len(t, problems, 1, name) {
			assert.Equal(t, `Extra["`+name+`"]`, problems[0].Field)
			assert.Contains(t, problems[0].Reason, "is a key of the message itself")
			assert.False(t, problems[0].Limit)
		}
		_, err := json.Marshal(m)
		assert.ErrorContains(t, err, `"`+name+`"`)
	}
	for _, name := range []string{"ttl", "sms_from", "sms_text", "dlrCallback", "dlrReport", "referenceId"} {
		_, err := json.Marshal(goldenTo(Raw{Type: name, JSON: json.RawMessage(`{}`)}))
		assert.ErrorContains(t, err, `"`+name+`"`)
	}
}

func TestWhatHasNoJSONIsAProblemThatNamesItsField(t *testing.T) {
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
		"payment settings that are no JSON": {
			validInteractive(func() OrderDetails { o := validOrder(); o.PaymentSettings = json.RawMessage(`[`); return o }()), "Content.Action.PaymentSettings",
		},
	} {
		var call wire.Call
		require.NotPanics(t, func() { call = sendCall(t, goldenTo(tt.content)) }, name)
		require.NotEmpty(t, call.Problems, name)
		assert.Equal(t, tt.field, call.Problems[0].Field, name)
		assert.False(t, call.Problems[0].Limit, name)
		assert.True(t, json.Valid(call.Message), name)
		_, err := json.Marshal(goldenTo(tt.content))
		assert.Error(t, err, name)
	}
}

func TestAPrintedMessageShowsItsMeasures(t *testing.T) {
	t.Parallel()
	m := Message{
		To: "+639171234567", Content: &Text{Body: "Hi"}, ReplyTo: "wamid.é", CallbackData: "abc", CallbackURL: "https://a.example", ReferenceID: "r-1",
		TTL: time.Minute, Fallback: &sms.Fallback{From: "ACME", Text: "Hé"}, Extra: map[string]any{"a": 1, "b": 2},
	}
	shown := fmt.Sprint(m)
	assert.Equal(t, "chatapp2.Message{To: 13 characters, ReplyTo: 7 characters, CallbackData: 3 characters, CallbackURL: 17 characters, "+
		"ReferenceID: 3 characters, Content: *chatapp2.Text, TTL: 1m0s, Fallback: sms.Fallback{From: 4 characters, Text: 2 characters}, Extra: 2 fields}", shown)
	assert.Equal(t, "chatapp2.Message{}", fmt.Sprint(Message{}))
	assert.Equal(t, "chatapp2.Message{Recipient: 7 characters}", fmt.Sprint(Message{Recipient: "US.1349", Content: (*Text)(nil)}))
}
