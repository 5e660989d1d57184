package messagingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestCallbackRequests(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request *http.Request
		uri     string
	}{
		"SMS":             {NewRequest("/hook?key=a%2Bb", InboundSMS{From: "+1", Text: "a b"}), "/hook?key=a%2Bb&from=%2B1&message=a+b"},
		"chat app 1":      {NewRequest("/hook", InboundChatApp{From: "1", Kind: "text"}), "/hook?from=1&type=text"},
		"chat app 2":      {NewRequest("/hook", InboundChatApp{Channel: channelChatApp2, From: "1", JSON: "{}"}), "/hook?from=1&payload=%7B%7D"},
		"delivery report": {NewRequest("/hook", DeliveryReport{ID: "1", Status: "1"}), "/hook?status=1&messageId=1"},
		"nothing":         {NewRequest("/hook", InboundSMS{}), "/hook"},
		"absolute":        {NewRequest("https://shop.example.com/hook", InboundSMS{From: "1"}), "https://shop.example.com/hook?from=1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := tt.request
			assert.Equal(t, http.MethodGet, r.Method)
			assert.Equal(t, tt.uri, r.RequestURI)
			assert.Equal(t, "/hook", r.URL.Path)
			_, query, _ := strings.Cut(tt.uri, "?")
			assert.Equal(t, query, r.URL.RawQuery)
			assert.NotEmpty(t, r.RemoteAddr)
			assert.Equal(t, name == "absolute", r.TLS != nil)
			assert.Equal(t, map[bool]string{true: "shop.example.com", false: "example.com"}[name == "absolute"], r.Host)
			assert.Zero(t, r.ContentLength)
			body, err := io.ReadAll(r.Body)
			assert.Empty(t, body)
			assert.NoError(t, err)
			assert.NotNil(t, r.Context())
		})
	}
}

func TestCallbackRequestHasTheEncodingOfTheContract(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"webhook.sms": {"encoding": "json"}, "webhook.delivery": {"encoding": "form"}}`))
	require.NoError(t, err)
	for want, r := range map[string]*http.Request{
		`{"from":"1"}`: NewRequest("/hook", InboundSMS{From: "1"}, UnderContract(names)),
		`from=1`:       NewRequest("/hook", InboundSMS{From: "1"}, UnderContract(names), AsForm()),
		`status=1`:     NewRequest("/hook", DeliveryReport{Status: "1"}, UnderContract(names)),
	} {
		assert.Equal(t, http.MethodPost, r.Method, want)
		assert.Empty(t, r.URL.RawQuery, want)
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		assert.Equal(t, want, string(body))
	}
	assert.Equal(t, http.MethodGet, NewRequest("/hook", InboundChatApp{From: "1"}, UnderContract(names)).Method)
}

func TestCallbackRequestReachesHandler(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hooks/{secret}/sms", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.PathValue("secret")+" "+r.FormValue("key")+" "+r.FormValue("message"))
	})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, NewRequest("/hooks/s3cret/sms?key=a%2Fb", InboundSMS{Text: "Hi & bye"}))
	assert.Equal(t, "s3cret a/b Hi & bye", w.Body.String())
}

func TestCallbackRequestRefusesTarget(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"", "hook", "/a b", "/a\r\nX: y", "/\x00", "/\x7f", "/%zz", "http://[::1/"} {
		assert.Panics(t, func() { NewRequest(target, InboundSMS{From: "1"}) }, "%q", target)
	}
}

func FuzzRequest(f *testing.F) {
	for _, seed := range []string{
		"", "Hi there!", "+639171234567", "100%", "a;b=c", "a&b#c", "a\r\n\x00\x7fb", "é😀", "caf\xe9", `{"a":"b"}`,
	} {
		f.Add(seed, seed, seed, seed)
		f.Add("1", "", seed, "")
	}
	f.Fuzz(func(t *testing.T, from, to, text, extra string) {
		more := url.Values{"extra": {extra}}
		sms := InboundSMS{From: from, To: to, Text: text, Extra: more}
		chat := InboundChatApp{From: from, To: to, Caption: text, JSON: text, Extra: more}
		two := chat
		two.Channel = channelChatApp2
		report := DeliveryReport{From: from, To: to, Status: text, ReferenceID: text, Extra: more}
		for _, callback := range []Callback{sms, chat, two, report} {
			r := NewRequest("/hook?key=s3cret", callback)
			got, err := url.ParseQuery(r.URL.RawQuery)
			require.NoError(t, err)
			want := url.Values{"key": {"s3cret"}}
			for _, p := range paramsOf(callback, defaults()) {
				want.Add(p.name, p.value)
			}
			require.Equal(t, want, got)
			require.Equal(t, "/hook?"+r.URL.RawQuery, r.RequestURI)
		}
	})
}
