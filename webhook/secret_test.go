package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
		{"right", "key=s3cret-s3cret-16", []string{"s3cret-s3cret-16"}, true},
		{"the old one", "key=an-old-one-of-16", []string{"s3cret-s3cret-16", "an-old-one-of-16"}, true},
		{"the new one", "key=s3cret-s3cret-16", []string{"s3cret-s3cret-16", "an-old-one-of-16"}, true},
		{"none of them", "key=an-old-one-of-16er", []string{"s3cret-s3cret-16", "an-old-one-of-16"}, false},
		{"absent", "", []string{"s3cret-s3cret-16"}, false},
		{"empty", "key=", []string{"s3cret-s3cret-16"}, false},
		{"no value", "key", []string{"s3cret-s3cret-16"}, false},
		{"a beginning", "key=s3cret-s3cret-1", []string{"s3cret-s3cret-16"}, false},
		{"more", "key=s3cret-s3cret-16s", []string{"s3cret-s3cret-16"}, false},
		{"more, of what fills up", "key=s3cret-s3cret-16%00", []string{"s3cret-s3cret-16"}, false},
		{"less, of what fills up", "key=s3cret-s3cret-16", []string{"s3cret-s3cret-16\x00"}, false},
		{"another case", "key=S3cret-S3cret-16", []string{"s3cret-s3cret-16"}, false},
		{"another name", "Key=s3cret-s3cret-16", []string{"s3cret-s3cret-16"}, false},
		{"an escaped name", "k%65y=s3cret-s3cret-16", []string{"s3cret-s3cret-16"}, true},
		{"an escaped value", "key=%733cret-s3cret-16", []string{"s3cret-s3cret-16"}, true},
		{"a + that is escaped", "key=a%2Bb%3D%3D-of-16-characters", []string{"a+b==-of-16-characters"}, true},
		{"a + that is not escaped", "key=a+b==-of-16-characters", []string{"a+b==-of-16-characters"}, true},
		{"a space", "key=a+b-of-16-characters", []string{"a b-of-16-characters"}, true},
		{"a % that is not escaped", "key=100%-of-16-characters", []string{"100%-of-16-characters"}, true},
		{"bytes that are no UTF-8", "key=%FF%FE-of-16-characters", []string{"\xff\xfe-of-16-characters"}, true},
		{"bytes that are UTF-8", "key=%C3%BF-of-16-characters", []string{"\xff-of-16-characters"}, false},
		{"the first counts", "key=no&key=s3cret-s3cret-16", []string{"s3cret-s3cret-16"}, false},
		{"the first counts, and is right", "key=s3cret-s3cret-16&key=no", []string{"s3cret-s3cret-16"}, true},
		{"the first is blank", "key=+&key=s3cret-s3cret-16", []string{"s3cret-s3cret-16"}, true},
		{"behind many parameters", strings.Repeat("a=b&", 100) + "key=s3cret-s3cret-16", []string{"s3cret-s3cret-16"}, true},
		{"a long one", "key=" + long, []string{"short-of-16-char", long}, true},
		{"a short one next to a long one", "key=short-of-16-char", []string{"short-of-16-char", long}, true},
		{"longer than the longest", "key=" + long + long, []string{"short-of-16-char", long}, false},
		{"very long", "key=" + strings.Repeat("s3cret-s3cret-16", 4_000), []string{"s3cret-s3cret-16"}, false},
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
		{"key=s-of-16-characters&from=1111&message=x", "from=1111&message=x"},
		{"from=1111&key=s-of-16-characters&message=x", "from=1111&message=x"},
		{"from=1111&message=x&key=s-of-16-characters", "from=1111&message=x"},
		{"from=1111&k%65y=s-of-16-characters&message=%zz;+", "from=1111&message=%zz;+"},
		{"from=1111&&key=s-of-16-characters&&message=x", "from=1111&&&message=x"},
		{"key=s-of-16-characters&&from=1111&", "&from=1111&"},
		{"key=s-of-16-characters&from=1111&key=s-of-16-characters&message=x&key", "from=1111&message=x"},
		{"key=s-of-16-characters&key=s-of-16-characters&from=1111&&", "from=1111&&"},
		{"from=1111&key=s-of-16-characters&k+ey=1&keys=2&message=key=s", "from=1111&k+ey=1&keys=2&message=key=s"},
		{"from=1111&key=%20s-of-16-characters&key=s-of-16-characters", "from=1111"},
	} {
		m, err := hooks(webhook.WithSecret("key", "s-of-16-characters", " s-of-16-characters")).ParseSMS(get(tt.query))
		require.NoError(t, err, tt.query)
		assert.Equal(t, tt.want, m.RawQuery, tt.query)
		again := receive(t, tt.want)
		assert.Equal(t, again.Params, m.Params, tt.query)
	}
}

func TestSecretIsNotInTheKey(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	h := hooks(webhook.WithSecret("key", "new-of-16-characters", "old-of-16-characters"), webhook.WithStore(webhook.NewMemoryStore(10, 1e12))).SMS(in.handle)
	for _, query := range []string{"key=old-of-16-characters&from=1111&message=x", "from=1111&key=new-of-16-characters&message=x", "from=1111&message=x&key=new-of-16-characters"} {
		assert.Equal(t, http.StatusOK, call(t, h, get(query)).Code)
	}
	in.one(t)
}

func TestPathSecret(t *testing.T) {
	t.Parallel()
	var in inbox[webhook.SMSMessage]
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", hooks(webhook.WithPathSecret("key", "new secret of 16", "old-secret-of-16")).SMS(in.handle))
	for path, want := range map[string]int{
		"/hooks/new%20secret%20of%2016/sms": 200, "/hooks/old-secret-of-16/sms": 200, "/hooks/no/sms": 404, "/hooks/%20/sms": 404, "/hooks/old-secret-of-16%00/sms": 404,
	} {
		w := call(t, mux, httptest.NewRequest(http.MethodGet, path+"?from=1111", http.NoBody))
		assert.Equal(t, want, w.Code, path)
	}
	assert.Len(t, in.got, 2)

	r := get("from=1111")
	_, err := hooks(webhook.WithPathSecret("key", "a-secret-of-16-ch")).ParseSMS(r)
	require.ErrorIs(t, err, webhook.ErrProof)
	r.SetPathValue("key", "a-secret-of-16-ch") // what a line does for a router that sets no path values
	_, err = hooks(webhook.WithPathSecret("key", "a-secret-of-16-ch")).ParseSMS(r)
	require.NoError(t, err)
}

func TestProofsMustAllHold(t *testing.T) {
	t.Parallel()
	verified := 0
	opts := []webhook.Option{
		webhook.WithSecret("a", "1-of-16-characters"), webhook.WithSecret("b", "2-of-16-characters"), webhook.WithPathSecret("c", "3-of-16-characters"), webhook.WithPathSecret("d", "4-of-16-characters"),
		webhook.WithVerifier(func(r *http.Request) error { verified++; return headerIs(r, "E", "5-of-16-characters") }),
		webhook.WithVerifier(func(r *http.Request) error { verified++; return headerIs(r, "F", "6-of-16-characters") }),
	}
	right := map[string]string{"a": "1-of-16-characters", "b": "2-of-16-characters", "c": "3-of-16-characters", "d": "4-of-16-characters", "E": "5-of-16-characters", "F": "6-of-16-characters"}
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
	const query, body = "key=s3cret-of-16-chars&a=b", "from=1111&message=a"
	verify := webhook.WithVerifier(func(r *http.Request) error {
		text, err := io.ReadAll(r.Body)
		if err != nil || string(text) != body || r.URL.RawQuery != query {
			return fmt.Errorf("%s %s %w", r.URL.RawQuery, text, err)
		}
		return nil
	})
	r := post(query, "", body)
	m, err := hooks(webhook.WithPOST(), withKey(), verify, verify).ParseSMS(r)
	require.NoError(t, err)
	assert.Equal(t, "a", m.Text)
	rest, err := io.ReadAll(r.Body)
	require.NoError(t, err)
	assert.Equal(t, body, string(rest), "the next handler can read it again")
}

func TestVerifierErrorStaysInside(t *testing.T) {
	t.Parallel()
	cause := errors.New("hunter2")
	var all rejections
	h := hooks(webhook.WithVerifier(func(*http.Request) error { return cause }), all.option()).SMS(func(context.Context, webhook.SMSMessage) error { return nil })
	assert.Equal(t, http.StatusForbidden, call(t, h, get(honest)).Code)
	require.Len(t, all, 1)
	told := all[0]
	require.ErrorIs(t, told, cause)
	require.ErrorIs(t, told, webhook.ErrProof)
	assert.Equal(t, "webhook: sms: wrong proof of origin", told.Error())
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		assert.NotContains(t, fmt.Sprintf(verb, told), "hunter2", verb)
	}
}

func TestSecretComesBeforeAnUnreadableBody(t *testing.T) {
	t.Parallel()
	h := hooks(webhook.WithPOST(), withKey()).SMS(ignore)
	for query, want := range map[string]int{"": 403, "key=s3cret-of-16-chars": 400} {
		r := post(query, "", "")
		r.Body, r.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader("from=1111"), iotest.ErrReader(errors.New("cut")))), -1
		assert.Equal(t, want, call(t, h, r).Code, query)
	}
}

// A wrong secret in the path is always answered in the same way, before anything else is looked at.
func TestPathSecretWrong(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("/hooks/{key}/sms", hooks(webhook.WithPathSecret("key", "s3cret-of-16-chars"), webhook.WithPOST()).SMS(ignore))
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

// A copy of the secret in another parameter is what the service sent, and stays.
func TestSecretCopyStays(t *testing.T) {
	t.Parallel()
	const secret = "QZ5JEWNTJ4W5SXPJ"
	m, err := hooks(webhook.WithSecret("key", secret)).ParseSMS(get("key=" + secret + "&from=1111&message=a&copy=" + secret))
	require.NoError(t, err)
	assert.Equal(t, "from=1111&message=a&copy="+secret, m.RawQuery)
	assert.Equal(t, secret, m.Params.Get("copy"))
	assert.Empty(t, m.Params.Get("key"))
}
