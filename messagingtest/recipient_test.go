package messagingtest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/webhook"
)

// answered returns the message that a receiver reads from a reply.
func answered(t *testing.T, in InboundChatApp) webhook.ChatMessage {
	t.Helper()
	rcv, err := webhook.NewReceiver(webhook.WithPOST(), webhook.WithoutProof())
	require.NoError(t, err)
	parse := rcv.ParseChatApp2
	if in.Channel == channelChatApp1 {
		parse = rcv.ParseChatApp1
	}
	var first webhook.ChatMessage
	for _, opts := range [][]CallOption{nil, {AsForm()}, {AsJSON()}} {
		messages, statuses, err := parse(NewRequest("/hook", in, opts...))
		require.NoError(t, err)
		require.Len(t, messages, 1)
		assert.Empty(t, statuses)
		assert.False(t, messages[0].Ambiguous)
		if opts == nil {
			first = messages[0]
		}
		assert.Equal(t, first.Content, messages[0].Content)
		assert.Equal(t, []string{first.ID, first.From, first.Context.ID}, []string{messages[0].ID, messages[0].From, messages[0].Context.ID})
	}
	assert.Equal(t, in.ID, first.ID)
	return first
}

func TestTap(t *testing.T) {
	t.Parallel()
	m := Sent{ID: "wamid.1", Channel: channelChatApp2, To: "+63 917 123 4567", At: time.Unix(1791038663, 0)}
	for body, taps := range map[string]map[string]webhook.Reply{
		`{"to":"1","type":"interactive","interactive":{"type":"button","action":{"buttons":[{"type":"reply","reply":{"id":"yes","title":"Yes"}},{"type":"reply","reply":{"id":"no","title":"No"}}]}}}`: {
			"yes": {Kind: webhook.ReplyButton, ID: "yes", Title: "Yes"}, "No": {Kind: webhook.ReplyButton, ID: "no", Title: "No"},
		},
		`{"message":{"interactive":{"type":"list","action":{"button":"Menu","sections":[{"title":"a","rows":[{"id":"1","title":"One"}]},{"title":"b","rows":[{"id":"2","title":"Two","description":"the second"}]}]}}}}`: {
			"One": {Kind: webhook.ReplyList, ID: "1", Title: "One"}, "2": {Kind: webhook.ReplyList, ID: "2", Title: "Two", Description: "the second"},
		},
		`{"type":"template","template":{"name":"x","components":[{"type":"button","sub_type":"quick_reply","index":"0","parameters":[{"type":"payload","payload":"stop"}]}]}}`: {
			"stop": {Kind: webhook.ReplyTemplateButton, ID: "stop", Title: "stop"},
		},
	} {
		m.Body = json.RawMessage(body)
		for choice, want := range taps {
			got := answered(t, m.Tap(choice))
			assert.Equal(t, want, got.Content)
			assert.Equal(t, "639171234567 to wamid.1", got.From+" to "+got.Context.ID)
			assert.Equal(t, m.At.UTC(), got.ReceivedAt)
		}
		for _, choice := range []string{"", "maybe", "Menu", "the second", "a"} {
			assert.Panics(t, func() { m.Tap(choice) }, choice)
		}
	}
	in := Sent{Channel: channelChatApp2, To: "1", Body: json.RawMessage(`{"reply":{"id":"yes"}}`)}.Tap("yes")
	in.Kind = "text"
	assert.PanicsWithValue(t, "messagingtest: InboundChatApp: leave Kind empty for the tap of a button or row; it is \"text\"",
		func() { NewRequest("/hook", in) })
}

func TestReplies(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{channelChatApp1, channelChatApp2} {
		m := Sent{ID: "wamid.1", Channel: channel, To: "639171234567", From: "channel-1"}
		text := answered(t, m.Reply("Hi"))
		assert.Equal(t, webhook.Text{Body: "Hi"}, text.Content)
		assert.Equal(t, "639171234567 to channel-1", text.From+" to "+text.To)
		assert.NotEqual(t, text.ID, m.Reply("Hi").ID)
		media := answered(t, m.ReplyMedia("image", "https://example.com/a.png")).Content.(webhook.Media)
		assert.Equal(t, "image at https://example.com/a.png", string(media.Kind)+" at "+media.URL)
		assert.Panics(t, func() { m.ReplyMedia("hologram", "https://example.com") })
	}
	m := Sent{ID: "wamid.1", Channel: channelChatApp2, To: "US.123"}
	reaction := answered(t, m.React("👍"))
	assert.Equal(t, webhook.Reaction{MessageID: "wamid.1", Emoji: "👍"}, reaction.Content)
	assert.Equal(t, "US.123", reaction.From)
	for name, wrong := range map[string]func(){
		"an SMS":                 func() { Sent{Channel: channelSMS, To: "639171234567"}.Reply("Hi") },
		"a reaction, chat app 1": func() { Sent{Channel: channelChatApp1}.React("👍") },
		"a read, chat app 1":     func() { Sent{Channel: channelChatApp1}.Read() },
	} {
		assert.Panics(t, wrong, name)
	}
}

func TestSentRead(t *testing.T) {
	t.Parallel()
	rcv, err := webhook.NewReceiver(webhook.WithoutProof())
	require.NoError(t, err)
	m := Sent{ID: "wamid.1", Channel: channelChatApp2, To: "639171234567", At: time.Unix(1791038663, 0)}
	for _, parse := range []func(*http.Request) ([]webhook.DeliveryReport, error){
		rcv.ParseDelivery, func(r *http.Request) ([]webhook.DeliveryReport, error) {
			_, statuses, err := rcv.ParseChatApp2(r)
			return statuses, err
		},
	} {
		reports, err := parse(NewRequest("/hook", m.Read()))
		require.NoError(t, err)
		require.Len(t, reports, 1)
		assert.Equal(t, []any{"wamid.1", "639171234567", webhook.StatusRead}, []any{reports[0].ID, reports[0].To, reports[0].Status})
	}
}

func TestSetWindow(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetWindow(24 * time.Hour)
	const to = "+639171234567"
	text := `{"messaging_product":"whatsapp","to":"` + to + `","type":"text","text":{"body":"Hi"}}`
	template := `{"messaging_product":"whatsapp","to":"` + to + `","type":"template","template":{"name":"x","language":{"code":"en"}}}`
	status := func(body string) int { return sendTo(t, client, s, chatApp2, body).status }
	receive := func(in InboundChatApp) { s.CallWebhook(t.Context(), s.URL, in) }

	refused := sendTo(t, client, s, chatApp2, text)
	assert.Equal(t, http.StatusBadRequest, refused.status, "they never wrote")
	assert.Contains(t, string(refused.body), "131047")
	assert.Empty(t, s.Sent())
	assert.Equal(t, http.StatusOK, status(template))

	receive(InboundChatApp{Channel: channelChatApp1, From: "639171234567", Text: "Hi"})
	assert.Equal(t, http.StatusBadRequest, status(text), "they wrote elsewhere")
	receive(s.Sent()[0].Read())
	assert.Equal(t, http.StatusBadRequest, status(text), "they read it, and wrote nothing")
	receive(s.Sent()[0].Reply("Hi"))
	assert.Equal(t, http.StatusOK, status(text))
	s.Advance(24*time.Hour - time.Minute)
	assert.Equal(t, http.StatusOK, status(text))
	s.Advance(2 * time.Minute)
	assert.Equal(t, http.StatusBadRequest, status(text))
	receive(InboundChatApp{Channel: channelChatApp2, JSON: `{"from":"639171234567","id":"a","type":"text","text":{"body":"Hi"}}`})
	assert.Equal(t, http.StatusOK, status(text))
	s.Advance(25 * time.Hour)
	assert.Equal(t, http.StatusBadRequest, status(text))
	results := s.CallWebhook(t.Context(), "", s.Sent()[0].Reply("Hi"))
	require.Len(t, results, 1)
	assert.Zero(t, results[0].Attempt)
	require.ErrorContains(t, results[0].Err, "no webhook")
	assert.Equal(t, http.StatusOK, status(text), "without a webhook, the message counts all the same")
	s.Advance(25 * time.Hour)
	assert.Equal(t, http.StatusBadRequest, status(text))
	s.SetWindow(0)
	assert.Equal(t, http.StatusOK, status(text))
	s.SetWindow(48 * time.Hour)
	assert.Equal(t, http.StatusOK, status(text))

	without := NewServer(t)
	assert.Equal(t, http.StatusOK, sendTo(t, client, without, chatApp2, text).status)
}

func TestSetWindowCountsMessagesInAnEnvelope(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t), newClient(t)
	s.SetWindow(24 * time.Hour)
	value := `{"contacts":[{"wa_id":"639170000001"},{"user_id":"US.2"}],"messages":[` +
		`{"from":"639170000001","id":"a","context":{"from":"639170000003"},"type":"text","text":{"body":"Hi"}},` +
		`{"from_user_id":"US.2","id":"b","type":"text","text":{"body":"Hi"}}]}`
	envelope := `{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":` + value + `}]}]}`
	s.CallWebhook(t.Context(), "", InboundChatApp{Channel: channelChatApp2, JSON: envelope})
	for address, want := range map[string]int{
		`"to":"+639170000001"`: http.StatusOK,
		`"recipient":"US.2"`:   http.StatusOK,
		`"to":"+639170000003"`: http.StatusBadRequest, // the author of the message that was replied to
	} {
		got := sendTo(t, client, s, chatApp2, `{"messaging_product":"whatsapp",`+address+`,"text":{"body":"Hi"}}`)
		assert.Equal(t, want, got.status, address)
	}
}

// A closed window is the platform's refusal: it has the platform's code, even if the contract has none of that class.
func TestSetWindowUnderAnotherContract(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		classes string
		want    string // the code
	}{
		"no code":                 {`"windowClosed": []`, `{"fault":{"num":"131047"`},
		"a code of the account":   {`"windowClosed": ["W1"]`, `{"fault":{"num":"W1"`},
		"a code that has a class": {`"windowClosed": [], "invalid": ["131047"]`, `{"fault":{"reason":`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names, err := contract.Parse([]byte(`{"errors": {"code": ["fault.num"], "message": ["fault.reason"], "classes": {` + tc.classes + `}}}`))
			require.NoError(t, err)
			s := NewServer(t, WithContract(names))
			s.SetWindow(24 * time.Hour)
			refused := sendTo(t, newClient(t), s, chatApp2, `{"messaging_product":"whatsapp","to":"+639171234567","type":"text","text":{"body":"Hi"}}`)
			assert.Equal(t, http.StatusBadRequest, refused.status)
			assert.Contains(t, string(refused.body), tc.want)
		})
	}
}
