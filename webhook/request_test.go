package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/webhook"
)

// get makes a request whose query is byte for byte as given, as net/http hands a careless sender's to a handler.
func get(query string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/hook", http.NoBody)
	r.URL.RawQuery = query
	return r
}

func post(query, contentType, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/hook", strings.NewReader(body))
	r.URL.RawQuery = query
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

// hooks returns a receiver with options that make sense. It needs no proof of origin.
func hooks(options ...webhook.Option) *webhook.Receiver {
	rcv, err := webhook.NewReceiver(append([]webhook.Option{webhook.WithoutProof()}, options...)...)
	if err != nil {
		panic(err)
	}
	return rcv
}

// withKey requires a secret in the parameter key.
func withKey() webhook.Option { return webhook.WithSecret("key", "s3cret-of-16-chars") }

// ignore is a handle function for events that do not matter.
func ignore[E any](context.Context, E) error { return nil }

// call has a handler answer a request, and checks what holds for every answer.
func call(t testing.TB, h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	assert.Empty(t, w.Body.String(), "a gateway may send a body back as a message")
	assert.Equal(t, []string{"no-store"}, w.Result().Header["Cache-Control"])
	assert.Equal(t, w.Code == http.StatusMethodNotAllowed, w.Result().Header.Get("Allow") != "")
	assert.Equal(t, w.Code == http.StatusServiceUnavailable, w.Result().Header.Get("Retry-After") != "")
	return w
}

// inbox is a handle function that keeps what it got.
type inbox[T any] struct {
	got []T
	err error
}

func (i *inbox[T]) handle(_ context.Context, event T) error {
	i.got = append(i.got, event)
	return i.err
}

func (i *inbox[T]) one(t testing.TB) T {
	t.Helper()
	require.Len(t, i.got, 1)
	return i.got[0]
}

// receive has a query handled as an SMS.
func receive(t testing.TB, query string, opts ...webhook.Option) webhook.SMSMessage {
	t.Helper()
	var in inbox[webhook.SMSMessage]
	w := call(t, hooks(opts...).SMS(in.handle), get(query))
	require.Equal(t, http.StatusOK, w.Code, query)
	return in.one(t)
}

func overlay(t testing.TB, text string) webhook.Option {
	t.Helper()
	c, err := contract.Parse([]byte(text))
	require.NoError(t, err)
	return webhook.WithContract(c)
}

func TestSMS(t *testing.T) {
	t.Parallel()
	const query = "id=m-1&from=639171234567&to=21581&message=Hello+there%21&timestamp=1791038663&referenceId=r-1&operator=OP_1&keyword=HELLO&carrier=Z"
	m := receive(t, query)
	assert.Equal(t, "m-1", m.ID)
	assert.Equal(t, "639171234567", m.From)
	assert.Equal(t, "21581", m.To)
	assert.Equal(t, "Hello there!", m.Text)
	assert.Equal(t, "r-1", m.ReferenceID)
	assert.Equal(t, "OP_1", m.Operator)
	assert.Equal(t, "HELLO", m.Keyword)
	assert.Equal(t, "2026-10-03T14:44:23Z", m.ReceivedAt.Format("2006-01-02T15:04:05Z07:00"))
	assert.Equal(t, query, m.RawQuery)
	require.Len(t, m.Params, 9)
	assert.Equal(t, webhook.Param{Name: "id", Value: "m-1"}, m.Params[0])
	assert.Equal(t, webhook.Param{Name: "carrier", Value: "Z"}, m.Params[8])

	parsed, err := hooks().ParseSMS(get(query))
	require.NoError(t, err)
	assert.Equal(t, m, parsed)
}

// Each name of the contract is read, and of several the first in its list that is not blank, in any order of arrival.
func TestParamsOrderOfPreference(t *testing.T) {
	t.Parallel()
	for concept, names := range table.Of(contract.Default()).WebhookSMS.Params {
		if concept == "time" {
			continue
		}
		value := func(m webhook.SMSMessage) string {
			return map[string]string{
				"id": m.ID, "from": m.From, "to": m.To, "text": m.Text, "reference": m.ReferenceID, "operator": m.Operator, "keyword": m.Keyword,
			}[concept]
		}
		for i := range names {
			var pairs []string // all names, those before name i blank
			for j, name := range names {
				v := "v" + name
				if j < i {
					v = []string{"", "+", "%20%09%0A", "%C2%A0"}[j%4]
				}
				pairs = append(pairs, url.QueryEscape(name)+"="+v)
			}
			if concept != "from" {
				pairs = append(pairs, "from=1111")
			}
			assert.Equal(t, "v"+names[i], value(receive(t, strings.Join(pairs, "&"))), pairs)
			slices.Reverse(pairs)
			assert.Equal(t, "v"+names[i], value(receive(t, strings.Join(pairs, "&"))), pairs)
		}
	}
}

// The parameter id is often the ID of the callback.
func TestBareIDYields(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"id=evt&messageId=m-1": "m-1", "messageId=m-1&id=evt": "m-1", "id=m-1": "m-1", "id=m-1&messageId=": "m-1", "id=m-1&messageId=null": "m-1",
	} {
		m := receive(t, "from=1111&"+query)
		assert.Equal(t, want, m.ID, query)
		assert.False(t, m.Ambiguous, query)
	}
	assert.True(t, receive(t, "from=1111&id=a&id=b").Ambiguous, "one name twice")
	assert.True(t, receive(t, "from=1111&id=evt&messageId=a&msgId=b").Ambiguous, "two specific names")
	assert.Equal(t, "a", receive(t, "from=1111&msgId=b&messageId=a").ID)
	first := overlay(t, `{"webhook.sms": {"params": {"id": ["id", "messageId"]}}}`)
	m := receive(t, "from=1111&messageId=b&id=a", first)
	assert.Equal(t, "a", m.ID, "the contract prefers it")
	assert.True(t, m.Ambiguous)
}

func TestParamsRepeated(t *testing.T) {
	t.Parallel()
	m := receive(t, "from=&from=1111&message=x&from=2222&message=y&text=z")
	assert.Equal(t, "1111", m.From)
	assert.Equal(t, "x", m.Text)
	assert.True(t, m.Ambiguous)
	assert.Equal(t, []string{"", "1111", "2222"}, m.Params.All("from"))
	assert.Equal(t, []string{"x", "y"}, m.Params.All("message"))
	assert.Empty(t, m.Params.Get("from"), "Get does not skip what is blank")
	assert.Nil(t, m.Params.All("none"))
	assert.Empty(t, m.Params.Get("none"))
}

// Where a gateway does not escape, a text can hold parameters of its own. Such an event is flagged.
func TestAmbiguous(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, query string
		from, id    string
		want        bool
	}{
		{"once", "msgId=7&msisdn=1111&text=x", "1111", "7", false},
		{"text that claims another identity", "messageId=7&from=1111&text=x&id=1002&from=%2B63917", "1111", "7", true},
		{"claim before the genuine parameters", "text=x&id=1002&from=%2B63917&msgId=7&msisdn=1111", "+63917", "7", true},
		{"another ID", "from=1111&msgId=8&messageId=7", "1111", "7", true},
		{"another sender", "from=1111&id=7&sender=2222", "1111", "7", true},
		{"another reference", "from=1111&id=7&referenceId=a&reference_id=b", "1111", "7", true},
		{"another text", "from=1111&id=7&message=a&text=b", "1111", "7", false},
		{"another recipient", "from=1111&id=7&to=a&recipient=b", "1111", "7", true},
		{"text that claims another recipient", "text=x&to=PREMIUM&from=1111&id=7&to=21581", "1111", "7", true},
		{"a placeholder next to a sender", "from=null&sender=1111&id=7&to=undefined&recipient=2", "1111", "7", false},
		{"a number in two forms", "from=%2B63+917-1234567&sender=639171234567&id=7", "+63 917-1234567", "7", false},
		{"the same values", "from=1111&id=7&sender=1111&messageId=7", "1111", "7", false},
		{"a sender with and without +", "from=%2B1111&id=7&sender=1111&msisdn=+1111", "+1111", "7", false},
		{"a placeholder next to an ID", "from=1111&id=null&messageId=7", "1111", "7", false},
		{"a blank sender", "from=&sender=1111&id=7", "1111", "7", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := receive(t, tt.query)
			assert.Equal(t, tt.want, m.Ambiguous)
			assert.Equal(t, tt.from, m.From)
			assert.Equal(t, tt.id, m.ID)
		})
	}
}

func TestPlaceholdersAreNoID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"null", "NULL", "0", "undefined", "-", "n/a", "none", "%25i", "%i", "", "+"} {
		m := receive(t, "from=1111&id="+id+"&referenceId="+id)
		assert.Empty(t, m.ID, id)
		assert.Empty(t, m.ReferenceID, id)
		assert.Len(t, m.Params, 3)
	}
	assert.Equal(t, "00a", receive(t, "from=1111&id=00a").ID)
}

func TestSMSTextOfWhiteSpace(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "  ", receive(t, "from=1111&message=++").Text)
	assert.Equal(t, "x", receive(t, "from=1111&message=++&text=x").Text)
	assert.Equal(t, "\n", receive(t, "from=1111&text=+&message=%0A").Text, "in the order of the contract")
	assert.Empty(t, receive(t, "from=1111").Text)
}

// A row for each row of the table of hostile queries: what net/http hands over, and what is read.
func TestQueries(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("%F0%9F%98%80", 5000) // 60,000 bytes as sent
	for _, tt := range []struct {
		name, query    string
		from, to, text string
	}{
		{"a + in front of a number", "from=+639171234567&to=+21581&message=a", "+639171234567", "+21581", "a"},
		{"several spaces in front of a number", "from=%20+639171234567%20&to=1&message=a", "+639171234567", "1", "a"},
		{"a + that was escaped", "from=%2B639171234567&to=%2b21581&message=a", "+639171234567", "+21581", "a"},
		{"a number with spaces in it", "from=+63+917+123-4567&message=a", "+63 917 123-4567", "", "a"},
		{"a space in front of a name", "from=+ACME&message=a", "ACME", "", "a"},
		{"a space in front of a name with digits", "from=+24seven&message=a", "24seven", "", "a"},
		{"other white space around a number", "from=%09639171234567%0A&message=a", "639171234567", "", "a"},
		{"a space behind a number", "from=639171234567+&message=a", "639171234567", "", "a"},
		{"a space in front of digits in a text", "from=1111&message=+639171234567", "1111", "", " 639171234567"},
		{"+ and %20 in a text", "from=1111&message=a+b%20c", "1111", "", "a b c"},
		{"a + in a text", "from=1111&message=1%2B1", "1111", "", "1+1"},
		{"decoded once", "from=1111&message=%252B%2520%2526", "1111", "", "%2B%20%26"},
		{"a % at the end", "from=1111&message=100%", "1111", "", "100%"},
		{"a % and one digit at the end", "from=1111&message=100%2", "1111", "", "100%2"},
		{"a % before no digits", "from=1111&message=%zz%2g%g2%%41", "1111", "", "%zz%2g%g2%A"},
		{"a % before a separator", "from=1111&message=50%&to=2222", "1111", "2222", "50%"},
		{"an escape of another kind", "from=1111&message=%u00E6", "1111", "", "%u00E6"},
		{"a % in a name", "from=1111&100%=x&message=a", "1111", "", "a"},
		{"a semicolon", "from=1111&message=a;b=c;d&to=2222", "1111", "2222", "a;b=c;d"},
		{"a semicolon in place of a separator", "message=a;from=2222&from=1111", "1111", "", "a;from=2222"},
		{"an = in a value", "from=1111&message=a=b==", "1111", "", "a=b=="},
		{"duplicates", "from=1111&from=2222&message=a&message=b", "1111", "", "a"},
		{"Latin-1, escaped", "from=1111&message=%E6%F8%E5", "1111", "", "æøå"},
		{"Latin-1, raw", "from=1111&message=\xe6\xf8\xe5", "1111", "", "æøå"},
		{"Windows-1252", "from=1111&message=%80%82%8A%9F%81%8D%8F%90%9D", "1111", "", "€‚ŠŸ\u0081\u008d\u008f\u0090\u009d"},
		{"UTF-8, escaped", "from=1111&message=%C3%A6%E2%82%AC%F0%9F%98%80", "1111", "", "æ€😀"},
		{"UTF-8, raw", "from=1111&message=æ€😀", "1111", "", "æ€😀"},
		{"UTF-8 next to Latin-1", "from=1111&message=%C3%A6%E6%C3%A6", "1111", "", "ææ\u00e6"},
		{"a character that is cut off", "from=1111&message=a%F0%9F%98", "1111", "", "að\u0178\u02dc"},
		{"a replacement character", "from=1111&message=%EF%BF%BD", "1111", "", "\ufffd"},
		{"a replacement character next to Latin-1", "from=1111&message=%EF%BF%BD%E6", "1111", "", "\ufffdæ"},
		{"overlong UTF-8", "from=1111&message=%C0%AF", "1111", "", "À¯"},
		{"UTF-16 in hexadecimal digits", "from=1111&message=00480069", "1111", "", "00480069"},
		{"surrogates in UTF-8", "from=1111&message=%ED%A0%BD%ED%B8%80", "1111", "", "í\u00a0½í¸€"},
		{"NUL and control characters", "from=1111&message=a%00b%0D%0Ac%1B%7F", "1111", "", "a\x00b\r\nc\x1b\x7f"},
		{"case of a name", "From=2222&from=1111&Message=b&message=a", "1111", "", "a"},
		{"names with brackets", "from[]=2222&from=1111&message[]=b&message=a", "1111", "", "a"},
		{"an escaped name", "%66rom=1111&m%65ssage=a", "1111", "", "a"},
		{"nothing between separators", "&&from=1111&&&message=a&&", "1111", "", "a"},
		{"a name alone, and a value alone", "x&=y&from=1111&message=a", "1111", "", "a"},
		{"a fragment", "from=1111&message=a#b", "1111", "", "a#b"},
		{"question marks", "from=1111&message=a?b?", "1111", "", "a?b?"},
		{"a long text", "from=1111&message=" + long, "1111", "", strings.Repeat("😀", 5000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := receive(t, tt.query)
			assert.Equal(t, tt.from, m.From)
			assert.Equal(t, tt.to, m.To)
			assert.Equal(t, tt.text, m.Text)
			assert.Equal(t, tt.query, m.RawQuery)
		})
	}
	t.Run("a body on a GET is ignored", func(t *testing.T) {
		t.Parallel()
		r := get("from=1111&message=a")
		r.Body = http.NoBody
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		m, err := hooks(webhook.WithPOST()).ParseSMS(r)
		require.NoError(t, err)
		assert.Equal(t, "1111", m.From)
	})
	t.Run("a path that a mux cleans keeps its query", func(t *testing.T) {
		t.Parallel()
		var in inbox[webhook.SMSMessage]
		mux := http.NewServeMux()
		mux.Handle("/hook", hooks().SMS(in.handle))
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x/..//hook?from=1111&message=a", http.NoBody))
		require.Equal(t, http.StatusTemporaryRedirect, w.Code)
		w2 := httptest.NewRecorder()
		mux.ServeHTTP(w2, httptest.NewRequest(http.MethodGet, w.Header().Get("Location"), http.NoBody))
		assert.Equal(t, http.StatusOK, w2.Code)
		assert.Equal(t, "1111", in.one(t).From)
	})
	t.Run("more parameters than net/url reads", func(t *testing.T) {
		t.Parallel()
		query := "from=1111&message=a" + strings.Repeat("&a=b", 10_001)
		w := call(t, hooks().SMS(ignore), get(query))
		assert.Equal(t, http.StatusRequestURITooLong, w.Code)
		m := receive(t, query, webhook.WithLimits(20_000, 64<<10))
		assert.Len(t, m.Params, 10_003)
	})
}

// A query that was escaped as it should be is read as net/url reads it.
func TestQueryReadsWhatNetURLReads(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"a=1&b=2", "a=1&a=2&b", "=x&y", "a=%41%42&%61=c", "a=b+c&d+e=f", "a=%C3%A6", "&&a=&", strings.Repeat("longer+name=%20longer+value&", 200), "a=" + strings.Repeat("%41+", 100),
		"12345678=12345678&1234567=1234567&123456789=123456789",
	} {
		want, err := url.ParseQuery(query)
		require.NoError(t, err)
		m := receive(t, "from=1111&"+query, webhook.WithLimits(1000, 64<<10))
		got := url.Values{}
		for _, p := range m.Params[1:] {
			got[p.Name] = append(got[p.Name], p.Value)
		}
		assert.Equal(t, want, got, query)
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	const want = "2026-10-03T14:44:23Z"
	for _, tt := range []struct{ query, want string }{
		{"1791038663", want},
		{"1791038663000", want},
		{"1791038663250", "2026-10-03T14:44:23.25Z"},
		{"2026-10-03T14:44:23Z", want},
		{"2026-10-03T14:44:23.186Z", "2026-10-03T14:44:23.186Z"},
		{"2026-10-03T22:44:23%2B08:00", want},
		{"2026-10-03T22:44:23+08:00", want},
		{"2026-10-03T22:44:23.5+0800", "2026-10-03T14:44:23.5Z"},
		{"2026-10-03+22:44:23+08:00", want},
		{"2026-10-03T09:14:23-05:30", want},
		{"2026-10-03+14:44:23", want},
		{"2026-10-03%2014:44:23", want},
		{"2026-10-03+14:44", "2026-10-03T14:44:00Z"},
		{"2026-10-03+14:44:23.186", "2026-10-03T14:44:23.186Z"},
		{"20261003144423", want},
		{"+1791038663+", want},
		{"19991231235959", "1999-12-31T23:59:59Z"},
		{"18991231235959", "2571-10-22T22:00:35.959Z"},
		{"yesterday", "0001-01-01T00:00:00Z"},
		{"", "0001-01-01T00:00:00Z"},
		{"2026-10-03T14:44:23+x", "0001-01-01T00:00:00Z"},
		{"20261399999999", "0001-01-01T00:00:00Z"},
		{"99999999999999999999999", "0001-01-01T00:00:00Z"},
		{strings.Repeat("9", 10_000), "0001-01-01T00:00:00Z"},
	} {
		m := receive(t, "from=1111&timestamp="+tt.query)
		assert.Equal(t, tt.want, m.ReceivedAt.UTC().Format("2006-01-02T15:04:05.999Z07:00"), tt.query)
		assert.Len(t, m.Params.All("timestamp"), 1, "what cannot be read is kept")
	}
}

func TestTimesZone(t *testing.T) {
	t.Parallel()
	wire := overlay(t, `{"webhook.sms": {"zone": "Asia/Manila"}, "webhook.chatapp1": {"zone": "America/New_York"}, "webhook.delivery": {"zone": "Asia/Kathmandu"}}`)
	const query = "from=1111&id=1&timestamp=2026-10-03+14:44:23"
	sms, err := hooks(wire).ParseSMS(get(query))
	require.NoError(t, err)
	one, _, err := hooks(wire).ParseChatApp1(get(query))
	require.NoError(t, err)
	two, _, err := hooks(wire).ParseChatApp2(get(query))
	require.NoError(t, err)
	reports, err := hooks(wire).ParseDelivery(get(query))
	require.NoError(t, err)
	for want, at := range map[string]interface{ Unix() int64 }{
		"sms": sms.ReceivedAt, "one": one[0].ReceivedAt, "two": two[0].ReceivedAt, "delivery": reports[0].StatusAt,
	} {
		east := map[string]int64{"sms": 8 * 3600, "one": -4 * 3600, "two": 0, "delivery": 5*3600 + 45*60}[want]
		assert.Equal(t, int64(1791038663)-east, at.Unix(), want)
	}
}

func TestContractNames(t *testing.T) {
	t.Parallel()
	wire := overlay(t, `{"webhook.sms": {"params": {"from": ["absender nr", "b+c"], "text": ["größe", "100%"], "id": ["x"], "reference": ["z", "y"], "to": [], "keyword": ["k;w"]}}}`)
	m := receive(t, "from=2222&absender+nr=1111&gr%C3%B6%C3%9Fe=a&x=7&y=8&k;w=STOP&to=3333", wire)
	assert.Equal(t, "1111", m.From)
	assert.Equal(t, "a", m.Text)
	assert.Equal(t, "7", m.ID)
	assert.Equal(t, "8", m.ReferenceID)
	assert.Empty(t, m.To, "an empty list: the callback does not carry the fact")
	assert.Equal(t, "STOP", m.Keyword)

	m = receive(t, "b%2Bc=1111&100%=a", wire)
	assert.Equal(t, "1111", m.From)
	assert.Equal(t, "a", m.Text)
	_, err := hooks(wire).ParseSMS(get("b+c=1111&message=a"))
	require.ErrorIs(t, err, webhook.ErrNoSender, "b+c in a query is the name b c")

	m = receive(t, "y=8&from=2222&absender%20nr=1", wire)
	assert.Equal(t, "8", m.ReferenceID)
}
