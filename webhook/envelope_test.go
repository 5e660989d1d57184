package webhook_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// received collects what each function of a receiver got.
type received struct {
	messages    inbox[webhook.ChatMessage]
	statuses    inbox[webhook.DeliveryReport]
	preferences inbox[webhook.Preference]
	others      inbox[webhook.Other]
	rejected    rejections
}

// post sends a body to a chat app 2 handler with every function.
func (in *received) post(t *testing.T, body string) (status int) {
	t.Helper()
	rcv := hooks(webhook.WithPOST(), webhook.WithStatuses(in.statuses.handle), webhook.WithOther(in.others.handle),
		webhook.WithPreferences(in.preferences.handle), in.rejected.option())
	return call(t, rcv.ChatApp2(in.messages.handle), post("", "application/json", body)).Code
}

// counts says how many events of each kind arrived: messages, statuses, preferences, others.
func (in *received) counts() [4]int {
	return [...]int{len(in.messages.got), len(in.statuses.got), len(in.preferences.got), len(in.others.got)}
}

// contentTypes are the types of Content by the platform's kinds of messages.
func contentTypes() map[string]webhook.Content {
	return map[string]webhook.Content{
		"text": webhook.Text{}, "image": webhook.Media{}, "audio": webhook.Media{}, "video": webhook.Media{}, "document": webhook.Media{},
		"sticker": webhook.Media{}, "location": webhook.Location{}, "contacts": webhook.Contacts{}, "button": webhook.Reply{},
		"interactive": webhook.Reply{}, "reaction": webhook.Reaction{}, "order": webhook.Order{},
		"system": webhook.System{}, "edit": webhook.Edit{}, "revoke": webhook.Revoke{}, "request_welcome": webhook.RequestWelcome{},
	}
}

// Each kind of message that the platform documents, and some that it does not, arrives once, as what it is.
func TestEnvelopeOfEachKindOfMessage(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{}
	for name, sample := range messagingtest.InboundSamples() {
		isEnvelope := strings.Contains(sample.JSON, `"entry"`)
		if sample.JSON == "" || isEnvelope {
			continue
		}
		var message struct{ ID, Type string }
		require.NoError(t, json.Unmarshal([]byte(sample.JSON), &message), name)
		kinds[message.Type] = true
		var in received
		body := envelopeOf(`{"metadata":{"display_phone_number":"15550001111"},"contacts":[{"wa_id":"15550002222"}],"messages":[` + sample.JSON + `]}`)
		assert.Equal(t, 200, in.post(t, body), name)
		require.Equal(t, [...]int{1, 0, 0, 0}, in.counts(), name)
		m := in.messages.got[0]
		assert.Equal(t, message.ID, m.ID, name)
		assert.NotEmpty(t, m.From, name)
		assert.False(t, m.Ambiguous, name)
		content, isKnown := contentTypes()[message.Type]
		if isKnown && name != "interactive gesture_reply" { // a reply that does not exist yet
			assert.IsType(t, content, m.Content, name)
		} else {
			assert.Equal(t, webhook.Unknown{Kind: message.Type, Raw: json.RawMessage(sample.JSON)}, m.Content, name)
		}
	}
	for kind := range contentTypes() {
		assert.True(t, kinds[kind], "no sample is of the kind %s", kind)
	}
}

func TestEnvelopeOfEachStatus(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"sent", "delivered", "read", "played", "failed", "deleted", "warning", "a new one"} {
		var in received
		body := envelopeOf(`{"metadata":{"display_phone_number":"15550001111"},"statuses":[{"id":"wamid.status0001","status":"` + status +
			`","timestamp":"1791038663","recipient_id":"15550002222"}]}`)
		assert.Equal(t, 200, in.post(t, body), status)
		require.Equal(t, [...]int{0, 1, 0, 0}, in.counts(), status)
		assert.Equal(t, status, in.statuses.got[0].RawStatus)
	}
}

// Each field that an account can subscribe to reaches a function, no matter what it holds.
func TestEnvelopeOfEachField(t *testing.T) {
	t.Parallel()
	fields := strings.Fields("account_alerts account_review_update account_settings_update account_update automatic_events " +
		"business_capability_update business_status_update calls flows group_lifecycle_update group_participants_update " +
		"group_settings_update group_status_update history message_echoes message_template_components_update " +
		"message_template_quality_update message_template_status_update messaging_handovers partner_solutions " +
		"payment_configuration_update phone_number_name_update phone_number_quality_update security smb_app_state_sync " +
		"smb_message_echoes standby template_category_update template_correct_category_detection tracking_events a_new_field")
	live := `"messages":[` + textMessage("wamid.live0000001", "15550002222") + `],"statuses":[{"id":"s","status":"read","recipient_id":"1"}]`
	for _, field := range fields {
		for _, value := range []string{`{}`, `{"event":"UPDATED"}`, `{` + live + `}`, `[1]`, `null`} {
			var in received
			name := fmt.Sprint(field, " ", value)
			assert.Equal(t, 200, in.post(t, envelopeIn(field, value)), name)
			require.Equal(t, [...]int{0, 0, 0, 1}, in.counts(), name)
			assert.Equal(t, field, in.others.got[0].Field, name)
			assert.Equal(t, value, string(in.others.got[0].JSON), name)
		}
	}
	var in received
	assert.Equal(t, 200, in.post(t, envelopeIn("user_preferences", preferenceValue("stop"))))
	assert.Equal(t, [...]int{0, 0, 1, 0}, in.counts())
}

func TestEnvelopeOfManyMessages(t *testing.T) {
	t.Parallel()
	const count = 900
	var messages []string
	for i := range count {
		text := strings.Repeat("hello ", 400) // a platform batch may have 3 MB
		messages = append(messages, fmt.Sprintf(`{"id":"wamid.%d","from":"639171234567","timestamp":"1759500000","type":"text","text":{"body":%q}}`, i, text))
	}
	body := fmt.Sprintf(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp","messages":[%s]}}]}]}`,
		strings.Join(messages, ","))
	require.Greater(t, len(body), 2<<20)
	var in received
	assert.Equal(t, http.StatusOK, in.post(t, body))
	assert.Len(t, in.messages.got, count)
}

// An event of several is stored without the others, so that each can be erased. Its duplicate key still covers the whole call.
func TestEventOfSeveralHoldsNoOther(t *testing.T) {
	t.Parallel()
	const one, other = `{"from":"1111","type":"text","text":{"body":"one"}}`, `{"from":"2222","type":"text","text":{"body":"other"}}`
	value := func(messages string) string {
		return `{"contacts":[{"wa_id":"1111","profile":{"name":"Ana"}},{"wa_id":"2222","profile":{"name":"Ben"}}],"messages":[` + messages + `]}`
	}
	rcv := hooks(webhook.WithPOST())
	for name, wrap := range map[string]func(string) *http.Request{
		"an envelope": func(value string) *http.Request {
			return post("a=b", "", `{"object":"x","entry":[{"changes":[{"value":`+value+`}]}]}`)
		},
		"a change": func(value string) *http.Request {
			return post("a=b", "", `{"object":"x","field":"messages","value":`+value+`}`)
		},
		"a value": func(value string) *http.Request {
			return post("a=b", "", strings.Replace(value, "{", `{"object":"x",`, 1))
		},
		"in a parameter": func(value string) *http.Request { return post("a=b", "", "object=x&payload="+url.QueryEscape(value)) },
	} {
		messages, _, err := rcv.ParseChatApp2(wrap(value(one + "," + other)))
		require.NoError(t, err, name)
		require.Len(t, messages, 2, name)
		stored, err := json.Marshal(messages[0])
		require.NoError(t, err, name)
		for _, theirs := range []string{"2222", "other", "Ben"} {
			assert.NotContains(t, string(stored), theirs, name)
		}
		assert.Equal(t, []string{"b", "x"}, []string{messages[0].Params.Get("a"), messages[0].Params.Get("object")}, name)
		key, _ := messages[0].DuplicateKey()
		var again webhook.ChatMessage
		require.NoError(t, json.Unmarshal(stored, &again), name)
		keyAgain, _ := again.DuplicateKey()
		assert.Equal(t, key, keyAgain, name)
		changed, _, err := rcv.ParseChatApp2(wrap(value(one + "," + strings.Replace(other, "other", "another", 1))))
		require.NoError(t, err, name)
		keyOfChanged, _ := changed[0].DuplicateKey()
		assert.NotEqual(t, key, keyOfChanged, name)
		alone, _, err := rcv.ParseChatApp2(wrap(value(one)))
		require.NoError(t, err, name)
		assert.Contains(t, fmt.Sprint(alone[0].Params), "Ben", "%s: one event keeps all parameters", name)
	}
}

// The JSON of an envelope may be within a member of the body, or hold values that cannot be read.
func TestEventOfSeveralHoldsNoOtherInAMember(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"webhook.chatapp2":{"params":{"json":["data.payload"]}}}`))
	require.NoError(t, err)
	const one = `{"from":"1111","type":"text","text":{"body":"one"}}`
	for _, other := range []string{`{"from":"2222","type":"text","text":{"body":"other"}}`, `["2222", "other"]`} {
		body := `{"x":"y","data":{"payload":{"messages":[` + one + "," + other + `]}}}`
		messages, _, _ := hooks(webhook.WithPOST(), webhook.WithContract(names)).ParseChatApp2(post("", "", body))
		require.NotEmpty(t, messages)
		stored, err := json.Marshal(messages[0])
		require.NoError(t, err)
		assert.NotContains(t, string(stored), "2222")
		assert.Contains(t, string(stored), "1111")
	}
}
