package webhook_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// A person who writes to a service that does not escape JSON can type parameters: after an &, or after quotes and brackets that end the JSON.
// None of them replaces the sender that the JSON names, and an event whose sender they may have set is ambiguous.
func TestJSONThatWasNotEscaped(t *testing.T) {
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
		"no ampersand": {"payload=" + message("Tom+and+Jerry") + "&from=639179999999", "Tom and Jerry", "639179999999", false},
		"all escaped":  {"payload=" + url.QueryEscape(message("Tom & Jerry")) + "&from=639179999999", "Tom & Jerry", "639179999999", false},
		"a typed end":  {"payload=" + message("a%22}}&from=639170000000&x={%22y%22:{%22z%22:%22"), "", "639179999999", true},
		"a typed end before the sender": {
			`payload={"id":"wamid.genuine0001","type":"text","text":{"body":"a"}}&from=639170000000&x={"y":{"z":""},"from":"639179999999"}`,
			"", "639170000000", true,
		},
		"a typed end of an escaped quote": {
			"payload=" + strings.ReplaceAll(message(`a"}}&from=639170000000&payload=`+`{"from":"639170000000","type":"text","text":{"body":"b"}}`+`&x={"y":{"z":"`), `"`, "%22"),
			"a", "639179999999", true,
		},
		"a typed end of a text":      {"message=" + message("a%22}}&payload="+victim+"&x={%22y%22:{%22z%22:%22"), "", "", true},
		"a text next to JSON":        {"payload=" + message("a") + "&message=a", "a", "639179999999", false},
		"another sender after JSON":  {`payload={"type":"text","text":{"body":"a"}}&from=639179999999`, "a", "639179999999", true},
		"another sender before JSON": {`from=639179999999&payload={"type":"text","text":{"body":"a"}}`, "a", "639179999999", false},
		"typed JSON is a text":       {`message={"from":"639170000000","type":"text","text":{"body":"a"}}&from=639179999999`, `{"from":"639170000000","type":"text","text":{"body":"a"}}`, "639179999999", true},
		"an ampersand":               {"payload=" + message("Tom+&+Jerry") + "&from=639170000000", "", "", true},
		"the sender first":           {"from=639179999999&payload=" + message("Tom+&+Jerry") + "&id=x-000001&type=button", "", "639179999999", true},
		"quotes escaped":             {"payload=" + strings.ReplaceAll(message("Tom%20&%20Jerry"), `"`, "%22") + "&from=639170000000", "", "", true},
		"typed JSON":                 {"payload=" + message("a&payload="+victim+"&z="), "", "", true},
		"typed parameters":           {"payload=" + message("a&from=639170000000&id=x-000001&text=CONFIRM&z="), "", "", true},
		"in the text":                {"message=" + message("a&from=639170000000"), "", "", true},
		"a text in brackets":         {"message=[urgent]+call+me&from=639179999999", "[urgent] call me", "639179999999", false},
		"a text in braces":           {"message={urgent}+call+me&from=639179999999", "{urgent} call me", "639179999999", false},
		"a quoted text":              {`message={"urgent"}+call+me&from=639179999999&id=m-1`, `{"urgent"} call me`, "639179999999", false},
		"an open brace":              {`message=[{"urgent" &from=639179999999&id=m-1`, `[{"urgent" `, "639179999999", false},
		"a text and a colon":         {`message={"urgent" : call me&from=639179999999`, "", "", true},
		"a name without end":         {`message={"from&from=639170000000`, "", "", true},
		"a text like JSON":           {"message=" + url.QueryEscape(`{"smile`) + "&from=639179999999&id=m-1", `{"smile`, "639179999999", false},
		"a text with an end":         {"message=" + url.QueryEscape(`{"a":"b&c"}`) + "&from=639179999999&id=m-1", `{"a":"b&c"}`, "639179999999", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rcv := hooks()
			for _, parse := range []func(*http.Request) ([]webhook.ChatMessage, []webhook.DeliveryReport, error){rcv.ParseChatApp1, rcv.ParseChatApp2} {
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

func TestReportThatWasNotEscaped(t *testing.T) {
	t.Parallel()
	status := `{"id":"wamid.genuine0001","status":"delivered","recipient_id":"639179999999","biz_opaque_callback_data":"`
	_, err := hooks().ParseDelivery(get(`payload=` + status + `a&status=failed&id=wamid.genuine0001`))
	require.ErrorIs(t, err, webhook.ErrNoMessage)
	reports, err := hooks().ParseDelivery(get(`id=wamid.genuine0001&payload=` + status + `a&status=failed`))
	require.NoError(t, err)
	require.Len(t, reports, 1)
	assert.Equal(t, webhook.StatusUnknown, reports[0].Status)
	assert.Empty(t, reports[0].RawStatus)
	assert.True(t, reports[0].Ambiguous)
}

// What a person may have typed into the query says nothing about the body.
func TestFormAfterAQueryThatWasNotEscaped(t *testing.T) {
	t.Parallel()
	messages, _, err := hooks(webhook.WithPOST()).ParseChatApp1(post(`payload={"a&from=639170000000`, "application/x-www-form-urlencoded", "from=639179999999"))
	require.NoError(t, err)
	require.Len(t, messages, 1)
	assert.Equal(t, "639179999999", messages[0].From)
	assert.True(t, messages[0].Ambiguous)
}

func TestUnescapedSamples(t *testing.T) {
	t.Parallel()
	for name, sample := range messagingtest.InboundSamples() {
		r := messagingtest.NewRequest("/hook", sample)
		escaped, _, err := hooks().ParseChatApp1(r)
		require.NoError(t, err, name)
		r.URL.RawQuery = unescape(r.URL.Query())
		messages, _, err := hooks().ParseChatApp1(r)
		require.NoError(t, err, name)
		require.Len(t, messages, len(escaped), name)
		assert.Equal(t, escaped[0].From, messages[0].From, name)
	}
}

// unescape writes a query as a careless sender does: only & and # are escaped, and a space is a +.
func unescape(query url.Values) string {
	var pairs []string
	for name := range query {
		value := strings.NewReplacer("&", "%26", "#", "%23", " ", "+").Replace(query.Get(name))
		pairs = append(pairs, name+"="+value)
	}
	return strings.Join(pairs, "&")
}
