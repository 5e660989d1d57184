package webhook_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// changes are values of changes that are neither live messages nor statuses, by name, each in an envelope with its field.
func changes() map[string][2]string {
	message := textMessage("a", "15550002222")
	return map[string][2]string{
		"calls":               {"calls", `{"metadata":{"phone_number_id":"1"},"calls":[{"id":"wacid.1","from":"15550002222","event":"connect"}]}`},
		"user_preferences":    {"user_preferences", preferenceValue("stop")},
		"template status":     {"message_template_status_update", `{"event":"APPROVED","message_template_id":1,"message_template_name":"a"}`},
		"errors":              {"messages", `{"errors":[{"code":130429,"title":"Rate limit hit"}]}`},
		"empty messages":      {"messages", `{"messages":[]}`},
		"standby":             {"standby", `{"messages":[` + message + `]}`},
		"statuses of standby": {"standby", `{"statuses":[{"id":"s","status":"read","recipient_id":"1"}]}`},
		"history":             {"history", `{"history":[{"metadata":{"phase":0},"threads":[{"id":"1","messages":[` + message + `]}]}]}`},
		"echoes":              {"smb_message_echoes", `{"message_echoes":[` + message + `]}`},
		"unknown":             {"a new field", `{"messages":[` + message + `],"statuses":[{"id":"s","status":"read","recipient_id":"1"}]}`},
		"another case":        {"Messages", `{"messages":[` + message + `]}`},
		"account_update":      {"account_update", `{"event":"PARTNER_ADDED","waba_info":{"waba_id":"2"}}`},
		"a word for a value":  {"security", `"x"`},
	}
}

func preferenceValue(choice string) string {
	return `{"messaging_product":"whatsapp","metadata":{"display_phone_number":"15550001111","phone_number_id":"7"},` +
		`"contacts":[{"profile":{"name":"Ana"},"wa_id":"15550002222","user_id":"US.1"}],"user_preferences":[{"wa_id":"15550002222",` +
		`"detail":"User requested to ` + choice + ` marketing messages","category":"marketing_messages","value":"` + choice + `","timestamp":1791038663}]}`
}

// All that is neither a live message nor a status reaches the function, wherever the envelope came.
func TestWithOther(t *testing.T) {
	t.Parallel()
	for name, change := range changes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := `{"object":"x","entry":[{"id":"102","time":1791038663,"changes":[{"value":` + change[1] + `,"field":"` + change[0] + `"}]}]}`
			var others inbox[webhook.Other]
			rcv := hooks(webhook.WithPOST(), webhook.WithOther(others.handle))
			never := func(context.Context, webhook.ChatMessage) error { return errors.New("called") }
			for _, handler := range []http.Handler{
				rcv.ChatApp1(never), rcv.ChatApp2(never), rcv.Delivery(func(context.Context, webhook.DeliveryReport) error { return errors.New("called") }),
			} {
				assert.Equal(t, 200, call(t, handler, post("", "application/json", body)).Code)
				assert.Equal(t, 200, call(t, handler, get("payload="+url.QueryEscape(body))).Code)
			}
			require.Len(t, others.got, 6)
			for i, other := range others.got {
				assert.Equal(t, change[0], other.Field)
				assert.Equal(t, change[1], string(other.JSON))
				assert.Equal(t, "102", other.EntryID)
				assert.Equal(t, at(), other.ChangedAt)
				assert.Equal(t, []webhook.Callback{webhook.CallbackChatApp1, webhook.CallbackChatApp2, webhook.CallbackDelivery}[i/2], other.Callback)
				stores(t, other)
			}

			_, _, err := rcv.ParseChatApp2(post("", "", body))
			require.ErrorIs(t, err, webhook.ErrUnhandled, "a parser has no function to call")
			refusal, _ := errors.AsType[*webhook.RejectError](err)
			assert.Equal(t, change[0], refusal.Field)
			assert.NotContains(t, err.Error(), change[0])
		})
	}
}

// Without the option nothing is lost in silence, and the platform does not call again.
func TestOtherWithoutWithOther(t *testing.T) {
	t.Parallel()
	for name, change := range changes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told rejections
			var text bytes.Buffer
			rcv := hooks(webhook.WithPOST(), told.option(), logTo(slog.NewTextHandler(&text, nil)))
			var in inbox[webhook.ChatMessage]
			for range 2 {
				assert.Equal(t, 200, call(t, rcv.ChatApp2(in.handle), post("", "", envelopeIn(change[0], change[1]))).Code)
			}
			assert.Empty(t, in.got)
			require.Len(t, told, 2)
			require.ErrorIs(t, told[0], webhook.ErrUnhandled)
			assert.Equal(t, 2, strings.Count(text.String(), "level=WARN"), "each is logged")
			assert.Contains(t, text.String(), "kind=other")
			assert.NotContains(t, text.String(), "15550002222")
			assert.NotContains(t, text.String(), "handled")
		})
	}
}

func TestOtherFieldInTheLog(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{"standby": "field=standby", "+639171234567": "", "call me": ""} {
		var text bytes.Buffer
		h := hooks(webhook.WithPOST(), logTo(slog.NewTextHandler(&text, nil))).ChatApp2(ignore)
		call(t, h, post("", "", envelopeIn(field, `{}`)))
		assert.Contains(t, text.String(), want)
		assert.Equal(t, want != "", strings.Contains(text.String(), "field="), field)
	}
}

func TestLiveMessageBesideOther(t *testing.T) {
	t.Parallel()
	message := textMessage("a", "15550002222")
	for name, tt := range map[string]struct {
		body   string
		got    int
		others []string
	}{
		"live":                 {envelopeIn("messages", `{"messages":[`+message+`]}`), 1, nil},
		"no field":             {`{"entry":[{"changes":[{"value":{"messages":[` + message + `]}}]}]}`, 1, nil},
		"a field that is null": {`{"entry":[{"changes":[{"field":null,"value":{"messages":[` + message + `]}}]}]}`, 1, nil},
		"one change":           {`{"field":"standby","value":{"messages":[` + message + `]}}`, 0, []string{"standby"}},
		"a field of no name":   {`{"entry":[{"changes":[{"field":["messages"],"value":{"messages":[` + message + `]}}]}]}`, 0, []string{`["messages"]`}},
		"next to a live one": {
			`{"entry":[{"changes":[{"field":"standby","value":{"messages":[` + message + `]}},{"field":"messages","value":{"messages":[` + message + `]}}]}]}`,
			1,
			[]string{"standby"},
		},
		"errors next to a message": {envelopeIn("messages", `{"messages":[`+message+`],"errors":[{"code":1}]}`), 1, []string{"messages"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in inbox[webhook.ChatMessage]
			var others inbox[webhook.Other]
			h := hooks(webhook.WithPOST(), webhook.WithOther(others.handle)).ChatApp2(in.handle)
			assert.Equal(t, 200, call(t, h, post("", "", tt.body)).Code)
			assert.Len(t, in.got, tt.got)
			var fields []string
			for _, other := range others.got {
				fields = append(fields, other.Field)
			}
			assert.Equal(t, tt.others, fields)
		})
	}
}

func TestEnvelopeWithoutEvents(t *testing.T) {
	t.Parallel()
	var told rejections
	rcv := hooks(webhook.WithPOST(), told.option(), webhook.WithOther(ignore))
	const body = `{"object":"whatsapp_business_account","entry":[]}`
	assert.Equal(t, 200, call(t, rcv.ChatApp2(ignore), post("", "", body)).Code)
	assert.Equal(t, 200, call(t, rcv.Delivery(ignore), post("", "", body)).Code)
	require.Len(t, told, 2)
	for _, err := range told {
		assert.ErrorIs(t, err, webhook.ErrUnhandled)
	}
}

// A gateway may add parameters that say what an envelope is about. That does not make it live. A person may type an envelope: that is a text.
func TestOtherBesideParameters(t *testing.T) {
	t.Parallel()
	standby := url.QueryEscape(envelopeIn("standby", `{"messages":[`+textMessage("a", "1111")+`]}`))
	for _, query := range []string{"from=1111&payload=", "from=1111&id=a&type=text&payload=", "id=a&payload="} {
		messages, _, err := hooks().ParseChatApp2(get(query + standby))
		require.ErrorIs(t, err, webhook.ErrUnhandled, query)
		assert.Empty(t, messages, query)
	}
	m := chat(t, "from=1111&message="+standby)
	assert.Equal(t, "1111", m.From, "a person may type it")
	assert.Contains(t, m.Content.(webhook.Text).Body, "standby")
	m = chat(t, "from=1111&message=Hi&payload="+url.QueryEscape(envelopeIn("security", `{}`)))
	assert.Equal(t, webhook.Text{Body: "Hi"}, m.Content)
}

func TestOtherIsHandledOnce(t *testing.T) {
	t.Parallel()
	others := inbox[webhook.Other]{err: errors.New("not yet")}
	h := hooks(webhook.WithPOST(), webhook.WithOther(others.handle), webhook.WithStore(webhook.NewMemoryStore(10, time.Hour))).
		ChatApp2(ignore)
	hit := func(entry, value string) int {
		body := `{"entry":[{"id":"1","time":` + entry + `,"changes":[{"value":` + value + `,"field":"account_update"}]}]}`
		return call(t, h, post("", "", body)).Code
	}
	assert.Equal(t, http.StatusServiceUnavailable, hit("1", `{"event":"A"}`), "the platform calls again")
	others.err = nil
	assert.Equal(t, 200, hit("1", `{"event":"A"}`))
	assert.Equal(t, 200, hit("1", `{"event":"A"}`))
	assert.Len(t, others.got, 2, "the first failed")
	assert.Equal(t, 200, hit("2", `{"event":"A"}`))
	assert.Equal(t, 200, hit("1", `{"event":"B"}`))
	assert.Len(t, others.got, 4, "another entry or value is another event")
}

// A change without a time does not say whether it is a repetition: after five seconds it is another.
func TestChangeWithoutATimeIsAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var preferences inbox[webhook.Preference]
		var others inbox[webhook.Other]
		store := webhook.WithStore(webhook.NewMemoryStore(100, 24*time.Hour))
		h := hooks(webhook.WithPOST(), store, webhook.WithPreferences(preferences.handle), webhook.WithOther(others.handle)).ChatApp2(ignore)
		arrive := func(field, value string) {
			for range 2 { // the service calls twice
				require.Equal(t, 200, call(t, h, post("", "", envelopeIn(field, value))).Code)
			}
			time.Sleep(5 * time.Second)
		}
		for _, choice := range []string{"stop", "resume", "stop"} {
			arrive("user_preferences", `{"user_preferences":[{"wa_id":"15550002222","value":"`+choice+`"}]}`)
		}
		require.Len(t, preferences.got, 3)
		assert.True(t, preferences.got[2].Stopped)

		const failure = `{"errors":[{"code":130429,"title":"Rate limit hit"}]}`
		arrive("messages", failure)
		arrive("messages", failure)
		assert.Len(t, others.got, 2)

		const standby = `{"messages":[{"id":"m-1","from":"1111","timestamp":"1791038663","type":"text","text":{"body":"Hi"}}]}`
		arrive("standby", standby)
		arrive("standby", standby)
		assert.Len(t, others.got, 3, "the message has a time")
	})
}

// The bound on events holds for preferences too, of which one change has many.
func TestTooManyPreferences(t *testing.T) {
	t.Parallel()
	var preferences inbox[webhook.Preference]
	h := hooks(webhook.WithPOST(), webhook.WithPreferences(preferences.handle)).ChatApp2(ignore)
	body := func(changes int) string {
		list := strings.TrimSuffix(strings.Repeat(`{"wa_id":"1","value":"stop"},`, 500), ",")
		change := `{"field":"user_preferences","value":{"user_preferences":[` + list + `]}},`
		return `{"entry":[{"changes":[` + strings.TrimSuffix(strings.Repeat(change, changes), ",") + `]}]}`
	}
	assert.Equal(t, http.StatusRequestEntityTooLarge, call(t, h, post("", "", body(3))).Code)
	assert.Empty(t, preferences.got)
	assert.Equal(t, 200, call(t, h, post("", "", body(2))).Code)
	assert.Len(t, preferences.got, 1000)
}

// A text without a sender is a message that cannot be read, whatever JSON is next to it: it is not acknowledged.
func TestTextWithoutASenderNextToAnEmptyEnvelope(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{`{"messages":[]}`, `{"entry":[]}`, envelopeIn("security", `{}`)} {
		query := "message=Hi&payload=" + url.QueryEscape(payload)
		_, _, err := hooks().ParseChatApp1(get(query))
		require.ErrorIs(t, err, webhook.ErrNoSender, query)
		assert.Equal(t, http.StatusBadRequest, call(t, hooks().ChatApp1(ignore), get(query)).Code, query)
	}
}

func TestWithPreferences(t *testing.T) {
	t.Parallel()
	var preferences inbox[webhook.Preference]
	var others inbox[webhook.Other]
	rcv := hooks(webhook.WithPOST(), webhook.WithPreferences(preferences.handle), webhook.WithOther(others.handle))
	h := rcv.ChatApp2(ignore)
	for _, choice := range []string{"stop", "resume"} {
		assert.Equal(t, 200, call(t, h, post("", "", envelopeIn("user_preferences", preferenceValue(choice)))).Code)
	}
	require.Len(t, preferences.got, 2)
	for i, p := range preferences.got {
		assert.Equal(t, i == 0, p.Stopped)
		assert.Equal(t, "15550002222", p.From)
		assert.Equal(t, "US.1", p.UserID)
		assert.Equal(t, "15550001111", p.To)
		assert.Equal(t, "marketing_messages", p.Category)
		assert.Equal(t, at(), p.ChangedAt)
		assert.Equal(t, webhook.CallbackChatApp2, p.Callback)
		assert.False(t, p.Ambiguous)
		stores(t, p)
	}
	assert.Empty(t, others.got)
	first, lasting := preferences.got[0].DuplicateKey()
	second, _ := preferences.got[1].DuplicateKey()
	assert.True(t, lasting)
	assert.NotEqual(t, first, second)

	for name, value := range map[string]string{
		"another word": preferenceValue("pause"),
		"no person":    `{"user_preferences":[{"value":"stop"}]}`,
		"no object":    `{"user_preferences":[7]}`,
		"none":         `{"user_preferences":[]}`,
	} {
		preferences.got, others.got = nil, nil
		assert.Equal(t, 200, call(t, h, post("", "", envelopeIn("user_preferences", value))).Code)
		assert.Empty(t, preferences.got, name)
		assert.Len(t, others.got, 1, name)
	}
	preferences.err = errors.New("the database is down")
	assert.Equal(t, http.StatusServiceUnavailable, call(t, h, post("", "", envelopeIn("user_preferences", preferenceValue("stop")))).Code)
}

// A method that only parses returns no preferences, so it must not hide a stop from its caller.
func TestParseRefusesPreferences(t *testing.T) {
	t.Parallel()
	body := envelopeIn("user_preferences", preferenceValue("stop"))
	var preferences inbox[webhook.Preference]
	for name, options := range map[string][]webhook.Option{
		"without the option": nil,
		"WithPreferences":    {webhook.WithPreferences(preferences.handle)},
	} {
		rcv := hooks(append(options, webhook.WithPOST())...)
		_, _, err1 := rcv.ParseChatApp1(post("", "", body))
		_, _, err2 := rcv.ParseChatApp2(post("", "", body))
		_, err3 := rcv.ParseDelivery(post("", "", body))
		for _, err := range []error{err1, err2, err3} {
			require.ErrorIs(t, err, webhook.ErrUnhandled, name)
			var rejected *webhook.RejectError
			require.ErrorAs(t, err, &rejected, name)
			assert.Equal(t, http.StatusOK, rejected.Status, name)
			assert.Equal(t, "user_preferences", rejected.Field, name)
		}
	}
	assert.Empty(t, preferences.got)
}

func TestPreferenceOfAUserWithoutANumber(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`{"contacts":[{"user_id":"US.1"}],"user_preferences":[{"user_id":"US.1","value":"stop"}]}`,
		`{"contacts":[{"user_id":"US.1"}],"user_preferences":[{"value":"stop"}]}`,
	} {
		var preferences inbox[webhook.Preference]
		h := hooks(webhook.WithPOST(), webhook.WithPreferences(preferences.handle)).ChatApp2(ignore)
		assert.Equal(t, 200, call(t, h, post("", "", envelopeIn("user_preferences", value))).Code)
		p := preferences.one(t)
		assert.Equal(t, "US.1 US.1", p.From+" "+p.UserID)
	}
}

// A person who types an envelope of the platform changes no preferences.
func TestPreferenceInAText(t *testing.T) {
	t.Parallel()
	typed := url.QueryEscape(envelopeIn("user_preferences", preferenceValue("stop")))
	for _, query := range []string{"from=1111&message=" + typed, "from=1111&message=Hi&payload=" + typed, "from=1111&payload=" + typed, "message=" + typed} {
		var preferences inbox[webhook.Preference]
		h := hooks(webhook.WithPreferences(preferences.handle)).ChatApp2(ignore)
		call(t, h, get(query))
		assert.Empty(t, preferences.got, query)
	}
}
