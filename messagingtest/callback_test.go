package messagingtest

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		want     []Param
	}{
		"SMS": {fullSMS, []Param{
			{"messageId", "1"},
			{"from", "+639171234567"},
			{"to", "21581"},
			{"message", "Hi there"},
			{"timestamp", "2026-10-03T04:00:00.12Z"},
			{"referenceId", "r-1"},
			{"operator", "OP"},
			{"keyword", "HI"},
		}},
		"chat app": {fullChatApp, []Param{
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
		"delivery report": {fullReport, []Param{
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
			calls := tt.callback.events()
			require.Len(t, calls, 1)
			assert.Equal(t, tt.want, calls[0].params(defaults()))
			assert.Equal(t, tt.callback, calls[0].callback)
		})
	}
}

func TestCallbackOmitsZeroFields(t *testing.T) {
	t.Parallel()
	for _, callback := range []Callback{InboundSMS{}, InboundChatApp{}, DeliveryReport{}} {
		assert.Empty(t, callback.events()[0].params(defaults()))
	}
}

func TestCallbackExtraComesLast(t *testing.T) {
	t.Parallel()
	extra := []Param{{"to", ""}, {"from", "2"}, {"", ""}, {"msg", "Hi"}, {"from", "3"}}
	want := append([]Param{{"from", "1"}}, extra...)
	for _, callback := range []Callback{
		InboundSMS{From: "1", Extra: extra}, InboundChatApp{From: "1", Extra: extra}, DeliveryReport{From: "1", Extra: extra},
	} {
		assert.Equal(t, want, callback.events()[0].params(defaults()))
	}
	assert.Equal(t, "from=1&to=&from=2&=&msg=Hi&from=3", queryOf(want, false))
}

func TestCallbacksNest(t *testing.T) {
	t.Parallel()
	m := InboundSMS{ID: "2"}
	all := Callbacks{InboundSMS{ID: "1"}, Callbacks{}, Callbacks{&m, nilCallbacks()}, DeliveryReport{ID: "3"}}
	var ids []string
	for _, c := range all.events() {
		ids = append(ids, c.params(defaults())[0].Value)
	}
	assert.Equal(t, []string{"1", "2", "3"}, ids)
	assert.Equal(t, m, all.events()[1].callback, "a pointer is as good as what it points to")
	assert.Empty(t, nilCallbacks().events())
	assert.PanicsWithValue(t, "messagingtest: a callback is nil", func() { Callbacks{m, nil}.events() })
}

func nilCallbacks() Callbacks { return nil }

func TestCallbackValueEscaping(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ value, escaped, careless string }{
		{"", "", ""},
		{"Hi there!", "Hi+there%21", "Hi+there!"},
		{"+639171234567", "%2B639171234567", "+639171234567"},
		{"100%", "100%25", "100%"},
		{"%zz %41", "%25zz+%2541", "%zz+%41"},
		{"a;b=c", "a%3Bb%3Dc", "a;b=c"},
		{"a&b#c", "a%26b%23c", "a%26b%23c"},
		{"a\r\n\t\x00\x7fb", "a%0D%0A%09%00%7Fb", "a%0D%0A%09%00%7Fb"},
		{"é😀", "%C3%A9%F0%9F%98%80", "é😀"},
		{"caf\xe9 \x93x\x94", "caf%E9+%93x%94", "caf\xe9+\x93x\x94"},
		{`{"a":"b"}`, "%7B%22a%22%3A%22b%22%7D", `{"a":"b"}`},
	} {
		assert.Equal(t, tt.escaped, url.QueryEscape(tt.value))
		assert.Equal(t, tt.careless, escapeLittle(tt.value))
	}
	assert.Equal(t, "a%3D%26+b=%", queryOf([]Param{{"a=& b", "%"}}, true), "names are escaped in any case")
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

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"", "Hi there!", "+639171234567", "100%", "%zz %41", "a;b=c", "a&b#c", "a\r\n\x00\x7fb", "é😀", "caf\xe9 \x93x\x94", `{"a":"b"}`,
		"\u2028",
		strings.Repeat("%41+", 1000),
	} {
		f.Add("message", seed, "from", seed)
		f.Add(seed, seed, seed, "1")
	}
	f.Fuzz(func(t *testing.T, name, value, second, other string) {
		params := []Param{{name, value}, {second, other}}
		escaped := queryOf(params, false)
		got, err := url.ParseQuery(escaped)
		if err != nil {
			t.Fatal(err)
		}
		want := url.Values{}
		for _, p := range params {
			want.Add(p.Name, p.Value)
		}
		assert.Equal(t, want, got)
		for _, c := range []byte(escaped) {
			if c <= ' ' || c >= 0x7f || c == '#' {
				t.Fatalf("%q is on the wire", c)
			}
		}

		unescaped := queryOf(params, true)
		for i, p := range params {
			rest, found := strings.CutPrefix(unescaped, url.QueryEscape(p.Name)+"=")
			written, after, more := strings.Cut(rest, "&")
			if unescaped = after; !found || more != (i+1 < len(params)) {
				t.Fatalf("%q stands where %q and %d parameters after it should", rest, p.Name, len(params)-1-i)
			}
			if !strings.ContainsAny(p.Value, "+%") {
				if read, err := url.QueryUnescape(written); err != nil || read != p.Value {
					t.Fatalf("%q is written as %q", p.Value, written)
				}
			}
		}
	})
}
