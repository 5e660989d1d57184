package messagingtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{"a", "b.c", "b.d"}, `{"a":0,"b":{"c":1,"d":2}}`},
		{[]string{"a.0.b", "a.0.c", "a.2"}, `{"a":[{"b":0,"c":1},null,2]}`},
		{[]string{"0.a", "1"}, `[{"a":0},1]`},
		{[]string{"", "a"}, `0`},
		{[]string{"a", "a", "a.b", "a.0", ""}, `{"a":0}`},
		{[]string{"a.b", "a.0", "a"}, `{"a":{"0":1,"b":0}}`},
		{[]string{"a.0", "a.b"}, `{"a":[0]}`},
		{[]string{"a.100"}, `{"a":{"100":0}}`},
	} {
		var tree any
		for i, path := range tt.paths {
			tree, _ = place(tree, path, i)
		}
		assert.JSONEq(t, tt.want, string(encode(tree)), "%v", tt.paths)
	}
	tree := placeFirst(nil, []string{"a"}, nil)
	assert.JSONEq(t, `{"a":null,"b":1}`, string(encode(placeFirst(tree, []string{"a", "b"}, 1))), "a null is a value")
	assert.Nil(t, placeFirst(nil, []string{"a"}, ""))
}

func TestTimeFormat(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.UTC)
	for _, tt := range []struct{ form, zone, want string }{
		{"rfc3339ms", "Asia/Manila", "2026-10-03T14:44:23.186Z"},
		{"rfc3339", "", "2026-10-03T14:44:23Z"},
		{"unix", "", "1791038663"},
		{"unixms", "", "1791038663186"},
		{"datetime", "Asia/Manila", "2026-10-03 22:44:23"},
		{"date", "Asia/Manila", "2026-10-03"},
		{"rfc1123", "Asia/Manila", "Sat, 03 Oct 2026 14:44:23 GMT"},
		{"rfc2822", "Asia/Manila", "Sat, 03 Oct 2026 22:44:23 +0800"},
		{"02/01/2006 15:04", "Asia/Manila", "03/10/2026 22:44"},
	} {
		f := newTimeFormat(tt.form, tt.zone)
		assert.Equal(t, tt.want, f.text(at), tt.form)
		again, ok := f.parse(tt.want)
		assert.True(t, ok, tt.form)
		assert.Equal(t, tt.want, f.text(again), tt.form)
		_, ok = f.parse("soon")
		assert.False(t, ok, tt.form)
		assert.Empty(t, f.text(time.Time{}), tt.form)
	}
}

// TestAcceptedWord: the service says the word of the account. The words of the default contract, which a learned contract keeps, only guess.
func TestAcceptedWord(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]string{
		`{}`:                                    "ok",
		`{"sms.send": {"accepted": ["TAKEN"]}}`: "TAKEN",
		`{"sms.send": {"accepted": ["TAKEN_*", "KEPT"]}}`:    "TAKEN_",
		`{"sms.send": {"accepted": ["ok", "sent", "KEPT"]}}`: "KEPT",
		`{"sms.send": {"accepted": ["sent", "ok"]}}`:         "sent",
	} {
		names, err := contract.Parse([]byte(overlay))
		require.NoError(t, err, overlay)
		s := NewServer(t, WithContract(names))
		assert.Equal(t, want, acceptedWord(s.names.SMSSend), overlay)
	}
}

func TestAmountUnderContract(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		amount amount
		scale  int
		want   string
	}{
		{150, 0, "1.50"},
		{150, -2, "150"},
		{5, -4, "500"},
		{5, -1, "0.5"},
		{150, 1, "0.150"},
		{100_000_000, 3, "1000.00000"},
	} {
		assert.Equal(t, tt.want, tt.amount.text(tt.scale), "%d", tt.scale)
	}
}

func TestCodeUnderContract(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ overlay, problem, want string }{
		{`{}`, "duplicate", codeDuplicate},
		{`{}`, "", ""},
		{`{"errors": {"classes": {"duplicate": ["DUP"], "invalid": ["BAD_*"]}}}`, "duplicate", "DUP"},
		{`{"errors": {"classes": {"duplicate": ["DUP"], "invalid": ["BAD_*"]}}}`, "missing", "BAD_200204"},
		{`{"errors": {"classes": {"duplicate": []}}}`, "duplicate", ""},
		{`{"errors": {"classes": {"unavailable": ["E*", "X"], "rateLimited": ["E5*"]}}}`, "unavailable", "X"},
		{`{"errors": {"classes": {"unavailable": ["2*"], "invalid": ["1"]}, "success": ["250*", "1000"]}}`, "unavailable", ""},
	} {
		names, err := contract.Parse([]byte(tt.overlay))
		require.NoError(t, err)
		assert.Equal(t, tt.want, newServer(WithContract(names)).codeOf(tt.problem), "%s %s", tt.overlay, tt.problem)
	}
}

// nestedOverlay is of a service whose three operations share a path.
const nestedOverlay = `{
	"headers": {"X-Version": "3"},
	"sms.send": {
		"path": "/messages", "constants": {"channel": "sms", "options": {"a": [1, 2.50]}},
		"fields": {"from": "from.id", "to": "to.0", "text": "body.1.text", "reference": "body.0.ref", "callback": ""}, "with": {"callback": {}}
	},
	"chatapp1.send": {"path": "/messages", "headers": {"X-Version": ""}, "constants": {"channel": "one"}},
	"sms.list": {"path": "/messages"}
}`

func TestServerUnderContractReads(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t, speaking(nestedOverlay)), newClient(t)
	call := func(method, query, body string, header ...string) reply {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL+"/messages?"+query, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+s.Token)
		req.Header.Set("X-Version", "3")
		for i := 0; i < len(header); i += 2 {
			req.Header[header[i]] = strings.Fields(header[i+1])
		}
		return do(client, req)
	}
	const rest = `"channel":"sms","options":{"a":[1,2.50]}`
	good := `{"from":{"id":"ACME"},"to":["639171234567"],"body":[{"ref":"r"},{"text":"Hi"}],` + rest + `,"more":{"x.y":1}}`
	call(http.MethodPost, "", good).data(t)
	call(http.MethodPost, "", strings.Replace(good, `{"ref":"r"}`, `null`, 1)).data(t)
	sent := s.Sent()
	require.Len(t, sent, 2)
	assert.Equal(t, "ACME 639171234567 Hi r", fmt.Sprint(sent[0].From, " ", sent[0].To, " ", sent[0].Text, " ", sent[0].ReferenceID))
	assert.Equal(t, map[string]json.RawMessage{"more": []byte(`{"x.y":1}`)}, sent[0].Extra)
	assert.Equal(t, good, string(sent[0].Body))
	assert.Empty(t, sent[1].ReferenceID)

	for name, tt := range map[string]struct{ old, replacement, code string }{
		"an object for a list":    {`["639171234567"]`, `{"0":"639171234567"}`, codeKind},
		"a list for an object":    {`{"id":"ACME"}`, `["ACME"]`, codeKind},
		"a name with a dot":       {`"from":{"id":"ACME"}`, `"from.id":"ACME"`, codeMissing},
		"the element before":      {`{"ref":"r"},{"text":"Hi"}`, `{"text":"Hi"}`, codeMissing},
		"a constant is absent":    {`"channel":"sms",`, ``, codeConstant},
		"another constant":        {`"sms"`, `"other"`, codeConstant},
		"a constant as text":      {`[1,2.50]`, `["1",2.50]`, codeConstant},
		"another element instead": {`["639171234567"]`, `[null,"639171234567"]`, codeMissing},
	} {
		body := strings.Replace(good, tt.old, tt.replacement, 1)
		require.NotEqual(t, good, body, name)
		r := call(http.MethodPost, "", body)
		assert.Equal(t, http.StatusBadRequest, r.status, name)
		assert.Equal(t, tt.code, r.code(t), "%s: %s", name, r.body)
	}
	one := `{"from":"channel-1","to":"639171234567","text":"Hi","channel":"one"}`
	assert.Equal(t, http.StatusBadRequest, call(http.MethodPost, "", one).status, "this operation goes without the header")
	call(http.MethodPost, "", one, "X-Version", "").data(t)
	assert.Equal(t, channelChatApp1, s.Sent()[2].Channel)
	for _, version := range []string{"", "2", "3 3"} {
		assert.Equal(t, codeConstant, call(http.MethodPost, "", good, "X-Version", version).code(t), version)
	}
	assert.Len(t, readList(t, call(http.MethodGet, "", "")).Data, 2)
	r := call(http.MethodPut, "", good)
	assert.Equal(t, http.StatusMethodNotAllowed, r.status)
	assert.Equal(t, "GET, POST", r.header.Get("Allow"))
}

func TestServerUnderContractReadsForms(t *testing.T) {
	t.Parallel()
	s, client := NewServer(t, speaking(`{
		"sms.send": {"encoding": "form", "constants": {"v": 2, "on": true}},
		"chatapp1.send": {"encoding": "query", "ttl": "m"},
		"chatapp2.send": {"encoding": "form", "wrap": "payload"}
	}`)), newClient(t)
	call := func(path, query, form string) reply {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path+"?"+query, strings.NewReader(form))
		require.NoError(t, err)
		if form != "" {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		req.Header.Set("Authorization", "Bearer "+s.Token)
		return do(client, req)
	}
	const good = "from=ACME&to=639171234567&text=60&v=2&on=true&more=1"
	call("/sms/send", "", good).data(t)
	call("/sms/send", "", good+"&apiKey="+s.APIKey+"&apiSecret="+s.APISecret).data(t)
	call("/chatapp1/send", "from=c&to=639171234567&templateId=t&templateParams="+url.QueryEscape(`{"a":"b"}`)+"&ttl=5", "").data(t)
	platform := url.QueryEscape(`{"messaging_product":"whatsapp","to":"639171234567","text":{"body":"Hi"},"more":1}`)
	assert.Equal(t, http.StatusOK, call("/chatapp2/send", "", "payload="+platform).status)
	sent := s.Sent()
	require.Len(t, sent, 4)
	for _, m := range sent[:2] {
		assert.Equal(t, "60", m.Text, "a text that is also a number")
		assert.JSONEq(t, `{"from":"ACME","to":"639171234567","text":"60","v":"2","on":"true","more":"1"}`, string(m.Body))
		assert.Equal(t, map[string]json.RawMessage{"more": []byte(`"1"`)}, m.Extra)
	}
	assert.Equal(t, 5*time.Minute, sent[2].TTL)
	assert.Equal(t, map[string]json.RawMessage{"more": []byte("1")}, sent[3].Extra)
	for name, tt := range map[string]struct{ path, query, form, code string }{
		"twice":                {"/sms/send", "", good + "&to=639171234567", codeBody},
		"not UTF-8":            {"/sms/send", "", good + "&a=%ff", codeBody},
		"twice in a query":     {"/chatapp1/send", "from=c&to=639171234567&text=Hi&to=639171234567", "", codeQuery},
		"no form":              {"/sms/send", "", good + "&a=%", codeBody},
		"a constant":           {"/sms/send", "", strings.Replace(good, "v=2", "v=3", 1), codeConstant},
		"a body with a query":  {"/chatapp1/send", "from=c&to=639171234567&text=Hi", "a=b", codeBody},
		"a lifetime":           {"/chatapp1/send", "from=c&to=639171234567&text=Hi&ttl=5.5", "", codeLifetime},
		"params that are none": {"/chatapp1/send", "from=c&to=639171234567&templateId=t&templateParams=a", "", codeKind},
		"no message":           {"/chatapp2/send", "", "payload=a", codeMissing},
	} {
		r := call(tt.path, tt.query, tt.form)
		assert.Equal(t, http.StatusBadRequest, r.status, name)
		assert.Equal(t, tt.code, r.code(t), "%s: %s", name, r.body)
	}
}

func TestServerUnderContractAuthorizes(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for name, tt := range map[string]struct {
		overlay string
		set     func(r *http.Request, key, secret string)
	}{
		"query": {`{"keyPair": {"in": "query"}}`, func(r *http.Request, key, secret string) {
			r.URL.RawQuery = url.Values{"apiKey": {key}, "apiSecret": {secret}}.Encode()
		}},
		"headers": {`{"keyPair": {"in": "header", "key": "X-Key", "secret": "X-Secret"}}`, func(r *http.Request, key, secret string) {
			r.Header.Set("X-Key", key)
			r.Header.Set("X-Secret", secret)
		}},
		"one key":           {`{"keyPair": {"in": "header", "key": "X-Key", "secret": ""}}`, func(r *http.Request, key, _ string) { r.Header.Set("X-Key", key) }},
		"one key for token": {`{"keyPair": {"in": "header", "key": "Authorization", "secret": ""}}`, func(r *http.Request, key, _ string) { r.Header.Set("Authorization", key) }},
		"basic":             {`{"keyPair": {"in": "basic"}}`, func(r *http.Request, key, secret string) { r.SetBasicAuth(key, secret) }},
		"basic with a key":  {`{"keyPair": {"in": "basic", "secret": ""}}`, func(r *http.Request, key, _ string) { r.SetBasicAuth(key, "") }},
		"body, nested": {`{"keyPair": {"in": "body", "key": "auth.0.key", "secret": "auth.0.secret"}}`, func(r *http.Request, key, secret string) {
			body := strings.Replace(goodBody, "{", fmt.Sprintf(`{"auth":[{"key":%q,"secret":%q}],`, key, secret), 1)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}},
		"token in a header of its own": {`{"token": {"header": "X-Token", "scheme": ""}, "keyPair": {"secret": ""}}`, func(r *http.Request, key, _ string) {
			r.Header.Set("X-Token", strings.Replace(key, "key-1", "token-1", 1))
		}},
	} {
		s := NewServer(t, speaking(`{"auth": `+tt.overlay+`}`), WithToken("token-1"), WithAPIKey("key-1", "secret-1"))
		for _, pair := range [][2]string{{"key-1", "secret-1"}, {"other", "secret-1"}, {"", ""}} {
			req := newRequest(t, s, goodBody)
			req.Header.Del("Authorization")
			tt.set(req, pair[0], pair[1])
			r := do(client, req)
			if pair[0] == "key-1" {
				assert.Equal(t, http.StatusOK, r.status, "%s: %s", name, r.body)
				continue
			}
			assert.Equal(t, http.StatusUnauthorized, r.status, "%s %v: %s", name, pair, r.body)
			assert.NotContains(t, string(r.body), "secret-1", name)
		}
		require.Len(t, s.Sent(), 1, name)
		assert.NotContains(t, string(s.Sent()[0].Body), "secret-1", name)
	}
}

func TestCallbackUnderContract(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{
		"webhook.sms": {"params": {"from": ["user.phone"], "text": ["parts.0.body"], "id": []}, "events": ["data.0.events"], "zone": "Asia/Manila"},
		"webhook.chatapp2": {"params": {"json": ["inner"]}, "layouts": ["02/01/2006"]},
		"webhook.delivery": {"params": {"status": ["state"]}}
	}`))
	require.NoError(t, err)
	under := UnderContract(names)
	sms := InboundSMS{ID: "1", From: "63917", Text: "Hi", ReceivedAt: day, Extra: url.Values{"a.b": {"c"}}}
	const event = `{"a.b":"c","parts":[{"body":"Hi"}],"timestamp":"2026-10-03 22:44:23.186","user":{"phone":"63917"}}`
	chat := InboundChatApp{From: "63917", JSON: `{"a":1}`, ReceivedAt: day}
	two := chat
	two.Channel = channelChatApp2
	for _, tt := range []struct {
		request     *http.Request
		query, body string
	}{
		{NewRequest("/hook", sms, under), "user.phone=63917&parts.0.body=Hi&timestamp=2026-10-03+22%3A44%3A23.186&a.b=c", ""},
		{NewRequest("/hook?key=1", sms, under, AsForm()), "key=1", "user.phone=63917&parts.0.body=Hi&timestamp=2026-10-03+22%3A44%3A23.186&a.b=c"},
		{NewRequest("/hook?key=1", sms, under, AsJSON()), "key=1", `{"data":[{"events":[` + event + `]}]}`},
		{NewRequest("/hook", chat, under), "from=63917&timestamp=2026-10-03T14%3A44%3A23.186Z&payload=%7B%22a%22%3A1%7D", ""},
		{NewRequest("/hook", two, under, AsJSON()), "", `{"from":"63917","timestamp":"03/10/2026","inner":{"a":1}}`},
	} {
		body, err := io.ReadAll(tt.request.Body)
		require.NoError(t, err)
		assert.Equal(t, tt.query, tt.request.URL.RawQuery)
		if strings.HasPrefix(tt.body, "{") || strings.HasPrefix(tt.body, "[") {
			assert.JSONEq(t, tt.body, string(body))
			assert.Equal(t, "application/json", tt.request.Header.Get("Content-Type"))
			assert.Equal(t, http.MethodPost, tt.request.Method)
			continue
		}
		assert.Equal(t, tt.body, string(body))
	}
}

func TestReportDeliverySaysTheWordOfTheContract(t *testing.T) {
	t.Parallel()
	h := newHook(t, nil)
	for _, tt := range []struct{ overlay, status, want string }{
		{`{}`, "1", "1"},
		{`{}`, "delivered", "delivered"},
		{`{}`, "odd", "odd"},
		{`{"webhook.delivery": {"statuses": {"delivered": ["ARRIVED*"]}}}`, "delivered", "ARRIVED"},
		{`{"webhook.delivery": {"statuses": {"delivered": ["ARRIVED*"]}}}`, "ARRIVED_LATE", "ARRIVED_LATE"},
	} {
		s := NewServer(t, speaking(tt.overlay))
		s.Seed(Sent{ID: "m", CallbackURL: h.URL + "?status=%s"})
		replies := s.ReportDelivery(t.Context(), "m", tt.status)
		require.Len(t, replies, 1)
		require.NoError(t, replies[0].Err)
		assert.Equal(t, tt.want, replies[0].Request.URL.Query().Get("status"))
	}
}
