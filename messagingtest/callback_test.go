package messagingtest

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// noon is a time with a fraction, in a zone of its own.
var noon = time.Date(2026, 10, 3, 12, 0, 0, 120_000_000, time.FixedZone("", 8*60*60))

var fullSMS = InboundSMS{
	ID: "1", From: "+639171234567", To: "21581", Text: "Hi there", ReceivedAt: noon, ReferenceID: "r-1", Operator: "OP", Keyword: "HI",
}

var fullChatApp = InboundChatApp{
	ID: "1", From: "2", To: "3", Name: "4", Kind: "5", Text: "6", MediaURL: "7", MediaID: "8", MIMEType: "9", Caption: "10", FileName: "11",
	Latitude: "12", Longitude: "13", ReceivedAt: noon, ReferenceID: "15", JSON: "16",
}

var fullReport = DeliveryReport{Status: "1", ID: "2", ReferenceID: "3", At: noon, Kind: "5", From: "6", To: "7"}

func TestCallbackParameters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		callback Callback
		want     []param
	}{
		"SMS": {fullSMS, []param{
			{"messageId", "1"},
			{"from", "+639171234567"},
			{"to", "21581"},
			{"message", "Hi there"},
			{"timestamp", "2026-10-03T04:00:00.12Z"},
			{"referenceId", "r-1"},
			{"operator", "OP"},
			{"keyword", "HI"},
		}},
		"chat app": {fullChatApp, []param{
			{"messageId", "1"},
			{"from", "2"},
			{"to", "3"},
			{"name", "4"},
			{"type", "5"},
			{"message", "6"},
			{"mediaUrl", "7"},
			{"mediaId", "8"},
			{"mimeType", "9"},
			{"caption", "10"},
			{"fileName", "11"},
			{"latitude", "12"},
			{"longitude", "13"},
			{"timestamp", "2026-10-03T04:00:00.12Z"},
			{"referenceId", "15"},
			{"payload", "16"},
		}},
		"delivery report": {fullReport, []param{
			{"status", "1"},
			{"messageId", "2"},
			{"referenceId", "3"},
			{"timestamp", "2026-10-03T04:00:00.12Z"},
			{"transactionType", "5"},
			{"from", "6"},
			{"to", "7"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, paramsOf(tt.callback, defaults()))
		})
	}
}

func TestCallbackOmitsZeroFields(t *testing.T) {
	t.Parallel()
	for _, callback := range []Callback{InboundSMS{}, InboundChatApp{}, DeliveryReport{}} {
		assert.Empty(t, paramsOf(callback, defaults()))
	}
}

func TestCallbackExtraComesLast(t *testing.T) {
	t.Parallel()
	extra := url.Values{"to": {""}, "from": {"2", "3"}, "": {""}, "msg": {"Hi"}}
	want := []param{{"from", "1"}, {"", ""}, {"from", "2"}, {"from", "3"}, {"msg", "Hi"}, {"to", ""}}
	for _, callback := range []Callback{
		InboundSMS{From: "1", Extra: extra}, InboundChatApp{From: "1", Extra: extra}, DeliveryReport{From: "1", Extra: extra},
	} {
		assert.Equal(t, want, paramsOf(callback, defaults()))
	}
	assert.Equal(t, "from=1&=&from=2&from=3&msg=Hi&to=", queryOf(want))
}

func TestCallbackParametersFollowQuery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ target, query, want string }{
		{"/hook", "a=b", "/hook?a=b"},
		{"/hook?", "a=b", "/hook?a=b"},
		{"/hook?key=%zz", "a=b", "/hook?key=%zz&a=b"},
		{"/hook?key=1&", "a=b", "/hook?key=1&a=b"},
		{"/hook?key=1#part?", "a=b", "/hook?key=1&a=b"},
		{"/hook#part", "a=b", "/hook?a=b"},
		{"/hook", "", "/hook"},
		{"/hook?key=1#part", "", "/hook?key=1"},
	} {
		assert.Equal(t, tt.want, withQuery(tt.target, tt.query), tt.target)
	}
}
