package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

func TestSecret(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100)
	for _, tt := range []struct {
		name    string
		query   string
		secrets []string
		ok      bool
	}{
		{"right", "key=s3cret", []string{"s3cret"}, true},
		{"the old one", "key=old", []string{"s3cret", "old"}, true},
		{"the new one", "key=s3cret", []string{"s3cret", "old"}, true},
		{"none of them", "key=older", []string{"s3cret", "old"}, false},
		{"absent", "", []string{"s3cret"}, false},
		{"empty", "key=", []string{"s3cret"}, false},
		{"no value", "key", []string{"s3cret"}, false},
		{"a beginning", "key=s3cre", []string{"s3cret"}, false},
		{"more", "key=s3crets", []string{"s3cret"}, false},
		{"more, of what fills up", "key=s3cret%00", []string{"s3cret"}, false},
		{"less, of what fills up", "key=s3cret", []string{"s3cret\x00"}, false},
		{"another case", "key=S3cret", []string{"s3cret"}, false},
		{"another name", "Key=s3cret", []string{"s3cret"}, false},
		{"an escaped name", "k%65y=s3cret", []string{"s3cret"}, true},
		{"an escaped value", "key=%733cret", []string{"s3cret"}, true},
		{"a + that is escaped", "key=a%2Bb%3D%3D", []string{"a+b=="}, true},
		{"a + that is not escaped", "key=a+b==", []string{"a+b=="}, true},
		{"a space", "key=a+b", []string{"a b"}, true},
		{"a % that is not escaped", "key=100%", []string{"100%"}, true},
		{"bytes that are no UTF-8", "key=%FF%FE", []string{"\xff\xfe"}, true},
		{"bytes that are UTF-8", "key=%C3%BF", []string{"\xff"}, false},
		{"the first counts", "key=no&key=s3cret", []string{"s3cret"}, false},
		{"the first counts, and is right", "key=s3cret&key=no", []string{"s3cret"}, true},
		{"the first is blank", "key=+&key=s3cret", []string{"s3cret"}, true},
		{"behind many parameters", strings.Repeat("a=b&", 100) + "key=s3cret", []string{"s3cret"}, true},
		{"a long one", "key=" + long, []string{"short", long}, true},
		{"a short one beside a long one", "key=short", []string{"short", long}, true},
		{"longer than the longest", "key=" + long + long, []string{"short", long}, false},
		{"very long", "key=" + strings.Repeat("s3cret", 10_000), []string{"s3cret"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var in inbox[webhook.SMSMessage]
			secret := webhook.WithSecret("key", tt.secrets...)
			w := call(t, hooks(secret).SMS(in.handle), get("from=1111&"+tt.query+"&message=a"))
			_, err := hooks(secret).ParseSMS(get("from=1111&" + tt.query + "&message=a"))
			if tt.ok {
				require.NoError(t, err)
				require.Equal(t, http.StatusOK, w.Code)
				assert.Empty(t, in.one(t).Params.All("key"))
				return
			}
			require.ErrorIs(t, err, webhook.ErrProof)
			assert.Equal(t, http.StatusForbidden, w.Code)
			assert.Empty(t, in.got)
		})
	}
}

func TestSecretIsCutOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ query, want string }{
		{"key=s&from=1111&message=x", "from=1111&message=x"},
		{"from=1111&key=s&message=x", "from=1111&message=x"},
		{"from=1111&message=x&key=s", "from=1111&message=x"},
		{"from=1111&k%65y=s&message=%zz;+", "from=1111&message=%zz;+"},
		{"from=1111&&key=s&&message=x", "from=1111&&&message=x"},
		{"key=s&&from=1111&", "&from=1111&"},
		{"key=s&from=1111&key=s&message=x&key", "from=1111&message=x"},
		{"key=s&key=s&from=1111&&", "from=1111&&"},
		{"from=1111&key=s&k+ey=1&keys=2&message=key=s", "from=1111&k+ey=1&keys=2&message=key=s"},
		{"from=1111&key=%20s&key=s", "from=1111"},
	} {
		m, err := hooks(webhook.WithSecret("key", "s", " s")).ParseSMS(get(tt.query))
		require.NoError(t, err, tt.query)
		assert.Equal(t, tt.want, m.RawQuery, tt.query)
		again := receive(t, tt.want)
		assert.Equal(t, again.Params, m.Params, tt.query)
	}
}

func TestSecretIsNotInTheKey(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	h := hooks(webhook.WithSecret("key", "new", "old"), webhook.WithStore(webhook.NewMemoryStore(10, 1e12))).SMS(in.handle)
	for _, query := range []string{"key=old&from=1111&message=x", "from=1111&key=new&message=x", "from=1111&message=x&key=new"} {
		assert.Equal(t, http.StatusOK, call(t, h, get(query)).Code)
	}
	in.one(t)
}

func TestPathSecret(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", hooks(webhook.WithPathSecret("key", "new secret", "old")).SMS(in.handle))
	for path, want := range map[string]int{
		"/hooks/new%20secret/sms": 200, "/hooks/old/sms": 200, "/hooks/no/sms": 404, "/hooks/%20/sms": 404, "/hooks/old%00/sms": 404,
	} {
		w := call(t, mux, httptest.NewRequest(http.MethodGet, path+"?from=1111", http.NoBody))
		assert.Equal(t, want, w.Code, path)
	}
	assert.Len(t, in.got, 2)

	r := get("from=1111")
	_, err := hooks(webhook.WithPathSecret("key", "a")).ParseSMS(r)
	require.ErrorIs(t, err, webhook.ErrProof)
	r.SetPathValue("key", "a") // what a line does for a router that sets no path values
	_, err = hooks(webhook.WithPathSecret("key", "a")).ParseSMS(r)
	require.NoError(t, err)
}

func TestProofsMustAllHold(t *testing.T) {
	t.Parallel()
	verified := 0
	opts := []webhook.Option{
		webhook.WithSecret("a", "1"), webhook.WithSecret("b", "2"), webhook.WithPathSecret("c", "3"), webhook.WithPathSecret("d", "4"),
		webhook.WithVerifier(func(r *http.Request) error { verified++; return headerIs(r, "E", "5") }),
		webhook.WithVerifier(func(r *http.Request) error { verified++; return headerIs(r, "F", "6") }),
	}
	right := map[string]string{"a": "1", "b": "2", "c": "3", "d": "4", "E": "5", "F": "6"}
	try := func(wrong string) error {
		value := func(name string) string {
			if name == wrong {
				return "0"
			}
			return right[name]
		}
		r := get("from=1111&a=" + value("a") + "&b=" + value("b"))
		r.SetPathValue("c", value("c"))
		r.SetPathValue("d", value("d"))
		r.Header.Set("E", value("E"))
		r.Header.Set("F", value("F"))
		_, err := hooks(opts...).ParseSMS(r)
		return err
	}
	require.NoError(t, try(""))
	for name := range right {
		err := try(name)
		require.ErrorIs(t, err, webhook.ErrProof, name)
		refusal, _ := errors.AsType[*webhook.RejectError](err)
		assert.Equal(t, http.StatusNotFound, refusal.Status, "the answer tells not which was wrong")
	}
	assert.Equal(t, 2*5, verified, "each is looked at, whichever was wrong, unless the path is")
}

func headerIs(r *http.Request, name, want string) error {
	if r.Header.Get(name) != want {
		return errors.New("the signature of hunter2 is wrong")
	}
	return nil
}

func TestVerifierSeesTheRequest(t *testing.T) {
	t.Parallel()
	const query, body = "key=s3cret&from=1111", "message=a"
	verify := webhook.WithVerifier(func(r *http.Request) error {
		text, err := io.ReadAll(r.Body)
		if err != nil || string(text) != body || r.URL.RawQuery != query {
			return fmt.Errorf("%s %s %w", r.URL.RawQuery, text, err)
		}
		return nil
	})
	r := post(query, "", body)
	m, err := hooks(webhook.WithPOST(), webhook.WithSecret("key", "s3cret"), verify, verify).ParseSMS(r)
	require.NoError(t, err)
	assert.Equal(t, "a", m.Text)
	rest, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, body, string(rest), "whoever comes after can read it again")
}

func TestVerifierErrorStaysInside(t *testing.T) {
	t.Parallel()
	cause := errors.New("hunter2")
	var told error
	h := hooks(webhook.WithVerifier(func(*http.Request) error { return cause }), webhook.WithOnReject(func(_ *http.Request, err error) { told = err })).SMS(func(context.Context, webhook.SMSMessage) error { return nil })
	assert.Equal(t, http.StatusForbidden, call(t, h, get(honest)).Code)
	require.ErrorIs(t, told, cause)
	require.ErrorIs(t, told, webhook.ErrProof)
	assert.Equal(t, "webhook: sms: wrong proof of origin", told.Error())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		assert.NotContains(t, fmt.Sprintf(verb, told), "hunter2", verb)
	}
}

func TestSecretComesBeforeAnUnreadableBody(t *testing.T) {
	t.Parallel()
	h := hooks(webhook.WithPOST(), webhook.WithSecret("key", "s3cret")).SMS(new(inbox[webhook.SMSMessage]).handle)
	for query, want := range map[string]int{"": 403, "key=s3cret": 400} {
		r := post(query, "", "")
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("from=1111"), iotest.ErrReader(errors.New("cut")))), -1
		assert.Equal(t, want, call(t, h, r).Code, query)
	}
}

// A wrong secret in the path is always answered in the same way, before anything else is looked at.
func TestPathSecretWrong(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", hooks(webhook.WithPathSecret("key", "s3cret"), webhook.WithPOST()).SMS(new(inbox[webhook.SMSMessage]).handle))
	server := httptest.NewServer(mux)
	defer server.Close()
	var first http.Header
	for _, request := range []string{
		"GET /hooks/no/sms?from=1111 HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD /hooks/no/sms?from=1111 HTTP/1.1\r\nHost: x\r\n\r\n",
		"PUT /hooks/no/sms HTTP/1.1\r\nHost: x\r\n\r\n",
		"BREW /hooks/no/sms HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /hooks/no/sms?a=" + strings.Repeat("a", 100_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /hooks/no/sms HTTP/1.1\r\nHost: x\r\nX-Purpose: preview\r\n\r\n",
		"POST /hooks/no/sms HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n",
		"POST /hooks/no/sms HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", // and no body follows
		"POST /hooks/no/sms HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		status, header, body := raw(t, server, request)
		assert.Equal(t, http.StatusNotFound, status, request[:20])
		assert.Empty(t, body)
		header.Del("Date")
		header.Del("Content-Length") // which HEAD has not
		if first == nil {
			first = header
		}
		assert.Equal(t, first, header, request[:20])
	}
}

// A copy is found by what it says, however it is escaped.
func TestCopyOfASecretInAnyEscape(t *testing.T) {
	t.Parallel()
	const secret = "QZ5/JEWN+TJ4W="
	rcv := hooks(webhook.WithPOST(), webhook.WithSecret("key", secret))
	for name, r := range map[string]*http.Request{
		"a plus in the query":         get("key=QZ5/JEWN+TJ4W=&copy=QZ5/JEWN+TJ4W=&from=1111&message=a"),
		"escaped":                     get("key=QZ5/JEWN%2BTJ4W=&copy=QZ5%2FJEWN%2BTJ4W%3D&from=1111&message=a"),
		"a slash in JSON":             post("", "application/json", `{"key":"QZ5/JEWN+TJ4W=","copy":"QZ5\/JEWN+TJ4W=","from":"1111","message":"a"}`),
		"in nested JSON":              post("", "application/json", `{"key":"QZ5/JEWN+TJ4W=","more":{"copy":["QZ5\/JEWN\u002bTJ4W="]},"from":"1111","message":"a"}`),
		"in JSON in the query":        get("key=QZ5/JEWN+TJ4W=&payload=" + url.QueryEscape(`{"copy":"QZ5\/JEWN+TJ4W="}`) + "&from=1111&message=a"),
		"in JSON that is not escaped": get(`key=QZ5/JEWN+TJ4W=&payload={"a":"b&c","copy":"QZ5\/JEWN+TJ4W="}&from=1111&message=a`),
	} {
		m, _, err := rcv.ParseChatApp1(r)
		require.NoError(t, err, name)
		require.Len(t, m, 1, name)
		shown := fmt.Sprintf("%v %s %s", m[0].Params, m[0].RawQuery, m[0].JSON)
		assert.NotContains(t, shown, "TJ4W", name)
		assert.Equal(t, webhook.Text{Body: "a"}, m[0].Content, name)
	}
}

// A long secret is no part of another word by chance, so a part of a value that equals it is a copy.
func TestCopyOfALongSecretWithinAValue(t *testing.T) {
	t.Parallel()
	const secret = "QZ5JEWN+TJ4W5SXP" // 16 characters
	rcv := hooks(webhook.WithPOST(), webhook.WithSecret("key", secret))
	link := url.QueryEscape("https://shop.example.com/in?key=" + url.QueryEscape(secret))
	for name, r := range map[string]*http.Request{
		"in a text":           get("key=QZ5JEWN%2BTJ4W5SXP&copy=a+QZ5JEWN%2BTJ4W5SXP+b&from=1111&message=Hi"),
		"in the text":         get("key=QZ5JEWN%2BTJ4W5SXP&from=1111&message=QZ5JEWN%2BTJ4W5SXPHi"),
		"in a name":           get("key=QZ5JEWN%2BTJ4W5SXP&xQZ5JEWN%2BTJ4W5SXPy=a&from=1111&message=Hi"),
		"in a URL":            get("key=QZ5JEWN%2BTJ4W5SXP&from=1111&message=Hi&callback=" + link),
		"escaped again":       get("key=QZ5JEWN%2BTJ4W5SXP&from=1111&message=Hi&callback=" + url.QueryEscape("in?key=QZ5JEWN%2bTJ4W5%53XP")),
		"one within another":  get("key=QZ5JEWN%2BTJ4W5SXP&from=1111&message=Hi&copy=QZ5JEWN%2BTQZ5JEWN%2BTJ4W5SXPJ4W5SXP"),
		"in JSON":             post("", "", `{"key":"QZ5JEWN+TJ4W5SXP","copy":{"a":["in?key=QZ5JEWN\u002bTJ4W5SXP"]},"xQZ5JEWN+TJ4W5SXP":1,"from":"1111","message":"Hi"}`),
		"in JSON of a query":  get("key=QZ5JEWN%2BTJ4W5SXP&from=1111&message=Hi&payload=" + url.QueryEscape(`{"copy":"in?key=QZ5JEWN\u002bTJ4W5SXP"}`)),
		"in JSON that is cut": get("key=QZ5JEWN%2BTJ4W5SXP&from=1111&message=Hi&other=" + url.QueryEscape(`{"copy":"in?key=QZ5JEWN+TJ4W5SXP`)),
		"in JSON of a body":   post("", "", `{"key":"QZ5JEWN+TJ4W5SXP","type":"text","from":"1111","id":"a","text":{"body":"Hi","copy":"QZ5JEWN+TJ4W5SXP!"}}`),
	} {
		m, _, err := rcv.ParseChatApp1(r)
		require.NoError(t, err, name)
		require.Len(t, m, 1, name)
		shown := fmt.Sprintf("%v %s %s", m[0].Params, m[0].RawQuery, m[0].JSON)
		assert.NotContains(t, shown, "J4W5", name)
		assert.True(t, m[0].JSON == nil || json.Valid(m[0].JSON), "%s: %s", name, m[0].JSON)
		assert.Equal(t, webhook.Text{Body: "Hi"}, m[0].Content, name)
	}
	m, err := hooks(webhook.WithSecret("key", "a&b=c&defghijklmno")).ParseSMS(get("key=a%26b%3Dc%26defghijklmno&from=1&x=a&b=c&defghijklmno=1"))
	require.NoError(t, err)
	assert.Empty(t, m.RawQuery, "a copy that nobody escaped is several parameters")
	m, err = hooks(webhook.WithSecret("key", "1234567890123456"), webhook.WithPOST()).ParseSMS(post("", "", `{"key":"1234567890123456","n":-1234567890123456.5,"o":{"n":12345678901234567},"from":"1"}`))
	require.NoError(t, err)
	assert.Equal(t, webhook.Params{{Name: "n", Value: "-.5"}, {Name: "o", Value: `{"n":0}`}, {Name: "from", Value: "1"}}, m.Params)

	short, err := hooks(webhook.WithSecret("key", "QZ5JEWNTJ4W5SXP")).ParseSMS(get("key=QZ5JEWNTJ4W5SXP&from=1&message=a+QZ5JEWNTJ4W5SXP&copy=QZ5JEWNTJ4W5SXP"))
	require.NoError(t, err)
	assert.Equal(t, "a QZ5JEWNTJ4W5SXP", short.Text, "15 characters are a part of a text")
	assert.Equal(t, "from=1&message=a+QZ5JEWNTJ4W5SXP&copy=", short.RawQuery)
}

// A query without a copy of the secret stays byte for byte, whatever the body holds.
func TestCopyInTheBodyLeavesTheQuery(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"s3cret", "QZ5JEWN+TJ4W5SXP"} {
		rcv := hooks(webhook.WithPOST(), webhook.WithSecret("key", secret))
		body := fmt.Sprintf(`{"key":%[1]q,"copy":%[1]q,"o":{"copy":%[1]q},"message":"a"}`, secret)
		for query, want := range map[string]string{
			"from=1111&x=\xf5\xa0%zz;+&&y":                            "from=1111&x=\xf5\xa0%zz;+&&y",
			"x=b c&key=" + url.QueryEscape(secret) + "&from=1111":     "x=b c&from=1111",
			"from=1111&x=b c&again=" + url.QueryEscape(secret) + "&y": "from=1111&x=b+c&again=&y=",
		} {
			m, err := rcv.ParseSMS(post(query, "", body))
			require.NoError(t, err)
			assert.Equal(t, want, m.RawQuery)
			assert.NotContains(t, fmt.Sprint(m.Params), secret)
		}
	}
}

func TestCopyOfAPathSecret(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	mux := http.NewServeMux()
	mux.Handle("/{place}/sms", hooks(webhook.WithPathSecret("place", "QZ5JEWNTJ4W5SXPJ")).SMS(in.handle))
	r := get("from=1111&message=Hi&callback=https://shop.example.com/QZ5JEWNTJ4W5SXPJ/sms")
	r.URL.Path = "/QZ5JEWNTJ4W5SXPJ/sms"
	require.Equal(t, http.StatusOK, call(t, mux, r).Code)
	m := in.one(t)
	assert.NotContains(t, fmt.Sprint(m.Params, m.RawQuery), "QZ5JEWNTJ4W5SXPJ")
	assert.Equal(t, "https://shop.example.com//sms", m.Params.Get("callback"))
}
