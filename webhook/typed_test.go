package webhook_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// The queries of senders that put the platform's JSON into a parameter without escaping it, with texts that a person may type.
func TestJSONThatNobodyEscaped(t *testing.T) {
	t.Parallel()
	const victim = `{%22from%22:%22639170000000%22,%22id%22:%22wamid.stolen000%22,%22type%22:%22button%22,%22button%22:{%22text%22:%22CONFIRM%22,%22payload%22:%22CONFIRM%22}}`
	message := func(text string) string {
		return `{"from":"639179999999","id":"wamid.genuine0001","type":"text","text":{"body":"` + text + `"}}`
	}
	for name, tt := range map[string]struct {
		query     string
		text      string // of the genuine message; "" for none
		from      string // the sender of the only message; "" if it is refused
		ambiguous bool
	}{
		"an ampersand":              {"payload=" + message("Tom+&+Jerry") + "&from=639179999999", "Tom & Jerry", "639179999999", false},
		"ampersand, spaces escaped": {"payload=" + message("Tom%20&%20Jerry"), "Tom & Jerry", "639179999999", false},
		"quotes escaped":            {"payload=" + strings.ReplaceAll(message("Tom%20&%20Jerry"), `"`, "%22"), "Tom & Jerry", "639179999999", false},
		"encodeURI": {
			"payload=" + strings.NewReplacer(`"`, "%22", "{", "%7B", "}", "%7D").Replace(message("Tom%20&%20Jerry%2522")) + "&from=639179999999",
			"Tom & Jerry%22", "639179999999", false,
		},
		"all escaped":      {"payload=" + url.QueryEscape(message("Tom & Jerry")) + "&from=639179999999", "Tom & Jerry", "639179999999", false},
		"in the text":      {"message=" + message("a&b"), "a&b", "639179999999", false},
		"typed JSON":       {"payload=" + message("a&payload="+victim+"&z="), `a&payload={"from":"639170000000","id":"wamid.stolen000","type":"button","button":{"text":"CONFIRM","payload":"CONFIRM"}}&z=`, "639179999999", false},
		"typed parameters": {"payload=" + message("a&from=639170000000&id=x-000001&text=CONFIRM&z="), "a&from=639170000000&id=x-000001&text=CONFIRM&z=", "639179999999", false},
		"typed quotes":     {"payload=" + message("a%22,%22type%22:%22button"), `a","type":"button`, "639179999999", false},
		"typed end":        {"payload=" + message("a%22}}&from=639170000000&x={%22y%22:{%22z%22:%22"), `a"}}&from=639170000000&x={"y":{"z":"`, "639179999999", false},
		"a backslash":      {"payload=" + message(`a\\&from=639170000000\"&id=1`), `a\&from=639170000000"&id=1`, "639179999999", false},
		"typed, cut":       {`payload={"from":"639179999999","text":{"body":"a&from=639170000000&id=x-000001&text=CONFIRM`, "", "", true},
		"typed JSON, cut":  {`payload={"from":"639179999999","text":{"body":"a&payload=` + victim, "", "", true},
		"typed JSON, quotes escaped": {
			"payload=" + strings.ReplaceAll(message("a&payload="+victim+"&z="), `"`, "%22"), "", "", true,
		},
		"sender in front":    {`from=639179999999&payload={"type":"text","text":{"body":"a&id=x-000001&type=button`, "", "639179999999", true},
		"a text in brackets": {"message=[urgent]+call+me&from=639179999999", "[urgent] call me", "639179999999", false},
		"a text in braces":   {"message={urgent}+call+me&from=639179999999", "{urgent} call me", "639179999999", false},
		"a quoted text":      {`message={"urgent"}+call+me&from=639179999999&id=m-1`, `{"urgent"} call me`, "639179999999", false},
		"an escaped quote":   {`message=%7B%22urgent%22%7D%20call%20me, ok&from=639179999999&id=m-1`, `{"urgent"} call me, ok`, "639179999999", false},
		"an open brace":      {`message=[{"urgent" &from=639179999999&id=m-1`, `[{"urgent" `, "639179999999", false},
		"a text and a colon": {`message={"urgent" : call me&from=639179999999`, "", "", true},
		"JSON, and a text":   {`message={"from":"639179999999","text":{"body":"a"}} b&from=639170000000&id=x-000001&text=CONFIRM&z="}}`, "", "", true},
		"a name without end": {`message={"from&from=639170000000`, "", "", true},
		"a text like JSON":   {"message=" + url.QueryEscape(`{"smile`) + "&from=639179999999&id=m-1", `{"smile`, "639179999999", false},
		"a text with an end": {"message=" + url.QueryEscape(`{"a":"b&c"}`) + "&from=639179999999&id=m-1", `{"a":"b&c"}`, "639179999999", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, callback := range []webhook.Callback{webhook.CallbackChatApp1, webhook.CallbackChatApp2} {
				hooks := hooks()
				parse := hooks.ParseChatApp1
				if callback == webhook.CallbackChatApp2 {
					parse = hooks.ParseChatApp2
				}
				messages, statuses, err := parse(get(tt.query))
				assert.Empty(t, statuses)
				if tt.from == "" {
					require.ErrorIs(t, err, webhook.ErrNoSender)
					assert.Empty(t, messages)
					continue
				}
				require.NoError(t, err)
				require.Len(t, messages, 1)
				m := messages[0]
				assert.Equal(t, tt.from, m.From)
				assert.Equal(t, tt.ambiguous, m.Ambiguous)
				assert.NotContains(t, m.ID, "x-000001")
				if tt.text != "" {
					assert.Equal(t, webhook.Text{Body: tt.text}, m.Content)
				}
				_, isReply := m.Content.(webhook.Reply)
				assert.False(t, isReply)
			}
		})
	}
}

func TestReportThatNobodyEscaped(t *testing.T) {
	t.Parallel()
	status := `{"id":"wamid.genuine0001","status":"delivered","timestamp":"1791038663","recipient_id":"639179999999","biz_opaque_callback_data":"`
	reports, err := hooks().ParseDelivery(get(`payload=` + status + `a&status=failed&id=wamid.genuine0001"}`))
	require.NoError(t, err)
	require.Len(t, reports, 1)
	assert.Equal(t, webhook.StatusDelivered, reports[0].Status)
	assert.False(t, reports[0].Ambiguous)
	_, err = hooks().ParseDelivery(get(`payload=` + status + `a&status=failed&id=wamid.genuine0001`))
	require.ErrorIs(t, err, webhook.ErrNoMessage)
	reports, err = hooks().ParseDelivery(get(`id=wamid.genuine0001&payload=` + status + `a&status=failed`))
	require.NoError(t, err)
	require.Len(t, reports, 1)
	assert.Equal(t, webhook.StatusUnknown, reports[0].Status)
	assert.Empty(t, reports[0].RawStatus)
	assert.True(t, reports[0].Ambiguous)
}

func TestFormThatNobodyEscaped(t *testing.T) {
	t.Parallel()
	body := `payload={"from":"639179999999","type":"text","text":{"body":"a&from=639170000000&z="}}&to=21581`
	messages, _, err := hooks(webhook.WithPOST()).ParseChatApp1(post("", "application/x-www-form-urlencoded", body))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, "639179999999", messages[0].From)
	assert.Equal(t, "21581", messages[0].To)
	assert.False(t, messages[0].Ambiguous)
	// What a person may have typed in the query says nothing about the body.
	messages, _, err = hooks(webhook.WithPOST()).ParseChatApp1(post(`payload={"a&from=639170000000`, "application/x-www-form-urlencoded", "from=639179999999"))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, "639179999999", messages[0].From)
	assert.True(t, messages[0].Ambiguous)
}

// The test server can send so.
func TestUnescapedJSON(t *testing.T) {
	t.Parallel()
	for name, sample := range messagingtest.InboundSamples() {
		sample.JSON = strings.Replace(sample.JSON, `"body":"`, `"body":"a&from=639170000000&z={%22x%22:%22`, 1)
		escaped, _, err := hooks().ParseChatApp1(messagingtest.ChatAppRequest("/hook", sample))
		require.NoError(t, err, name)
		messages, _, err := hooks().ParseChatApp1(messagingtest.ChatAppRequest("/hook", sample, messagingtest.Unescaped()))
		require.NoError(t, err, name)
		require.Len(t, messages, len(escaped), name)
		assert.Equal(t, escaped[0].From, messages[0].From, name)
	}
}
