package transport

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHeaderSetsHeaders(t *testing.T) {
	base := newFakeBase(responds(200, "{}"))
	tr := newTransport(base)
	tr.Do(t.Context(), authenticatedBy(sendRequest(), Header("x-api-key", "k", "X-Api-Secret", "s")))
	tr.Do(t.Context(), authenticatedBy(sendRequest(), Header("Accept", "text/plain")))
	tr.Do(t.Context(), sendRequest())
	first, second, third := base.requests()[0].header, base.requests()[1].header, base.requests()[2].header
	assert.Equal(t, []string{"k"}, first["X-Api-Key"])
	assert.Equal(t, []string{"s"}, first["X-Api-Secret"])
	assert.Equal(t, []string{"text/plain"}, second["Accept"])
	assert.Equal(t, []string{"application/json"}, third["Accept"], "one call's credentials do not show in another")
	assert.Len(t, third, 3)
}

func TestAuthenticatorDoesNotPrintCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := NewTokenSource(func(context.Context) (string, time.Time, error) {
			return "secret-token", time.Now().Add(time.Hour), nil
		})
		request := authenticatedBy(sendRequest(), source.Authenticator("Authorization", "Bearer"))
		tr := newTransport(newFakeBase(responds(200, "{}")))
		tr.Do(t.Context(), request)
		require.NotNil(t, source.current)
		fixed := Header("Authorization", "Bearer secret-token")
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%t"} {
			for _, value := range []any{source, source.current, *source.current, fixed, request.Authenticate, struct{ a Authenticator }{fixed}} {
				text := fmt.Sprintf(verb, value)
				assert.NotContains(t, text, "secret")
				assert.NotContains(t, text, hex.EncodeToString([]byte("secret")))
			}
		}
	})
}

func TestCustomSeesTheFinishedRequest(t *testing.T) {
	type finished struct {
		method, url, host, body, replay string
		header                          http.Header
		contentLength                   int64
	}
	look := func(r *http.Request) (f finished, err error) {
		f = finished{method: r.Method, url: r.URL.String(), host: r.Host, header: r.Header.Clone(), contentLength: r.ContentLength}
		if r.Body == nil {
			return f, nil
		}
		replay, err := r.GetBody()
		if err != nil {
			return f, err
		}
		for into, body := range map[*string]io.Reader{&f.body: r.Body, &f.replay: replay} {
			text, err := io.ReadAll(body)
			if err != nil {
				return f, err
			}
			*into = string(text)
		}
		return f, nil
	}
	synctest.Test(t, func(t *testing.T) {
		var saw []finished
		custom := Custom(func(r *http.Request) error {
			f, err := look(r)
			saw = append(saw, f)
			return err
		})
		base := newFakeBase(unsent(errRefused), responds(429, ""), responds(200, "{}"))
		require.Equal(t, 200, newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), custom)).StatusCode)
		require.Len(t, saw, 3, "once for each attempt")
		for i, f := range saw {
			assert.Equal(t, finished{
				"POST", "https://api.example.com/sms/send", "api.example.com", sendBody, sendBody,
				http.Header{"Accept": {"application/json"}, "User-Agent": {"test/1"}, "Content-Type": {"application/json"}},
				int64(len(sendBody)),
			}, f)
			assert.Equal(t, sendBody, base.requests()[i].body, "what was read is sent all the same")
		}

		saw = nil
		require.Equal(t, 200, newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), authenticatedBy(readRequest(), custom)).StatusCode)
		require.Len(t, saw, 1)
		assert.Equal(t, "GET", saw[0].method)
		assert.Equal(t, readRequest().URL.String(), saw[0].url)
		assert.Empty(t, saw[0].body)
	})
}

func TestCustomReadsTheBodyAnyNumberOfTimes(t *testing.T) {
	base := newFakeBase(responds(200, "{}"))
	out := newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), Custom(func(r *http.Request) error {
		for range 3 {
			body, err := r.GetBody()
			if err != nil {
				return err
			}
			sum := hmac.New(sha256.New, []byte("key"))
			if _, err := io.Copy(sum, body); err != nil {
				return err
			}
			r.Header.Add("X-Signature", hex.EncodeToString(sum.Sum(nil)))
		}
		return nil
	})))
	require.NoError(t, out.Err)
	sum := hmac.New(sha256.New, []byte("key"))
	sum.Write([]byte(sendBody))
	want := hex.EncodeToString(sum.Sum(nil))
	assert.Equal(t, []string{want, want, want}, base.requests()[0].header["X-Signature"])
	assert.Equal(t, sendBody, base.requests()[0].body)
}

func TestCustomMayChange(t *testing.T) {
	type want struct {
		url, body string
		header    http.Header
	}
	same := func() want {
		return want{"https://api.example.com/sms/send", sendBody, http.Header{"Accept": {"application/json"}, "User-Agent": {"test/1"}, "Content-Type": {"application/json"}}}
	}
	for name, tc := range map[string]struct {
		change func(*http.Request)
		want   func(*want)
	}{
		"headers": {
			func(r *http.Request) { r.Header.Set("X-Key", "k"); r.Header.Del("Content-Type") },
			func(w *want) { w.header.Set("X-Key", "k"); w.header.Del("Content-Type") },
		},
		"all headers": {
			func(r *http.Request) { r.Header = http.Header{"X-Key": {"k"}} },
			func(w *want) { w.header = http.Header{"X-Key": {"k"}} },
		},
		"the header, for none": {
			func(r *http.Request) { r.Header = nil },
			func(w *want) { w.header = http.Header{} }, // net/http refuses a request that has none at all
		},
		"basic authentication": {
			func(r *http.Request) { r.SetBasicAuth("u", "p") },
			func(w *want) { w.header.Set("Authorization", "Basic dTpw") },
		},
		"the query": {
			func(r *http.Request) { r.URL.RawQuery = "signature=s" },
			func(w *want) { w.url += "?signature=s" },
		},
		"the URL, for one of the same host": {
			func(r *http.Request) {
				r.URL = &url.URL{Scheme: "https", Host: "api.example.com", Path: "/v2/sms/send"}
			},
			func(w *want) { w.url = "https://api.example.com/v2/sms/send" },
		},
		"the body, for a longer one": {
			func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader(sendBody + " and a signature")) },
			func(w *want) { w.body += " and a signature" },
		},
		"the body, for a shorter one": {
			func(r *http.Request) { r.Body = io.NopCloser(strings.NewReader("short")) },
			func(w *want) { w.body = "short" },
		},
		"the body, for one that wraps it": {
			func(r *http.Request) {
				r.Body = io.NopCloser(io.MultiReader(strings.NewReader("["), r.Body, strings.NewReader("]")))
			},
			func(w *want) { w.body = "[" + sendBody + "]" },
		},
		"the body, for none":   {func(r *http.Request) { r.Body = nil }, func(w *want) { w.body = "" }},
		"the body, for NoBody": {func(r *http.Request) { r.Body = http.NoBody }, func(w *want) { w.body = "" }},
		"the length alone":     {func(r *http.Request) { r.ContentLength = 3 }, func(*want) {}},
		"a part of the body read": {
			func(r *http.Request) { _, _ = io.CopyN(io.Discard, r.Body, 5) },
			func(*want) {},
		},
		"the body closed": {func(r *http.Request) { _ = r.Body.Close() }, func(*want) {}},
		"nothing":         {func(*http.Request) {}, func(*want) {}},
	} {
		t.Run(name, func(t *testing.T) {
			base := newFakeBase(responds(200, "{}"))
			out := newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), Custom(func(r *http.Request) error {
				tc.change(r)
				return nil
			})))
			require.NoError(t, out.Err)
			want, got := same(), base.requests()[0]
			tc.want(&want)
			assert.Equal(t, want.url, got.url)
			assert.Equal(t, want.body, got.body)
			assert.Equal(t, want.header, got.header)
			assert.EqualValues(t, len(want.body), got.contentLength, "the length is that of the body")
			assert.False(t, got.hasGetBody)
			assert.True(t, got.hasBody)
		})
	}
}

func TestCustomBodyIsClosed(t *testing.T) {
	for name, content := range map[string]io.Reader{
		"whole": strings.NewReader("changed"), "unreadable": failingReader{errSecret},
	} {
		body := &countedBody{Reader: content}
		newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), authenticatedBy(sendRequest(), Custom(func(r *http.Request) error {
			r.Body = body
			return nil
		})))
		assert.Equal(t, 1, body.closed, name)
	}
}

func TestCustomChangesOneAttemptOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(429, ""), responds(200, "{}"))
		tr := newTransport(base)
		request := sendRequest()
		changed := 0
		custom := Custom(func(r *http.Request) error {
			if changed++; changed > 1 {
				return nil
			}
			r.Header.Set("X-Changed", "1")
			r.Header.Add("Accept", "text/plain")
			r.Header.Del("User-Agent")
			r.URL.RawQuery, r.URL.Path = "changed=1", "/changed"
			r.Body = io.NopCloser(strings.NewReader("changed"))
			return nil
		})
		require.Equal(t, 200, tr.Do(t.Context(), authenticatedBy(request, custom)).StatusCode)
		require.Equal(t, 200, tr.Do(t.Context(), request).StatusCode)
		require.Equal(t, 3, base.count())
		require.Equal(t, "changed", base.requests()[0].body)
		want := http.Header{"Accept": {"application/json"}, "User-Agent": {"test/1"}, "Content-Type": {"application/json"}}
		for _, later := range base.requests()[1:] {
			assert.Equal(t, want, later.header)
			assert.Equal(t, sendRequest().URL.String(), later.url)
			assert.Equal(t, sendBody, later.body)
		}
		assert.Equal(t, sendRequest().URL, request.URL)
		assert.Equal(t, sendBody, string(request.Body))
	})
}

func TestCustomIsSafeForConcurrentCalls(t *testing.T) {
	base := newFakeBase(responds(200, "{}"))
	tr := newTransport(base)
	shared := sendRequest()
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			name := fmt.Sprint("call-", i)
			tr.Do(t.Context(), authenticatedBy(shared, Custom(func(r *http.Request) error {
				r.Header.Set("X-Call", name)
				r.Header.Add("Accept", name)
				r.Header.Del("User-Agent")
				r.URL.RawQuery = "call=" + name
				r.Body = io.NopCloser(strings.NewReader(name))
				return nil
			})))
		})
	}
	calls.Wait()
	for _, request := range base.requests() {
		assert.Equal(t, request.body, request.header.Get("X-Call"))
		assert.Equal(t, []string{"application/json", request.body}, request.header["Accept"])
		assert.Equal(t, "https://api.example.com/sms/send?call="+request.body, request.url)
	}
	assert.Equal(t, sendRequest().URL, shared.URL)
}

func TestCustomCannotSendElsewhere(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"host of the URL":   func(r *http.Request) { r.URL.Host = "evil.example" },
		"port of the URL":   func(r *http.Request) { r.URL.Host += ":8443" },
		"scheme":            func(r *http.Request) { r.URL.Scheme = "http" },
		"method":            func(r *http.Request) { r.Method = http.MethodPut },
		"no method":         func(r *http.Request) { r.Method = "" },
		"host header":       func(r *http.Request) { r.Host = "evil.example" },
		"no host header":    func(r *http.Request) { r.Host = "" },
		"no URL":            func(r *http.Request) { r.URL = nil },
		"URL of other host": func(r *http.Request) { r.URL = &url.URL{Scheme: "https", Host: "evil.example"} },
		"opaque URL":        func(r *http.Request) { r.URL.Opaque = "//evil.example/sms/send" },
		"relative URL":      func(r *http.Request) { r.URL = &url.URL{Path: "/sms/send"} },
	} {
		for _, request := range []Request{sendRequest(), readRequest()} {
			asked, base := 0, newFakeBase(responds(200, "{}"))
			out := newTransport(base).Do(t.Context(), authenticatedBy(request, Custom(func(r *http.Request) error {
				asked++
				change(r)
				return nil
			})))
			require.Error(t, out.Err, name)
			assert.Contains(t, Describe(out.Err), "the method or the host", name)
			assert.False(t, out.Written, name)
			assert.Equal(t, 1, asked, "it is not repeated: %s", name)
			assert.Zero(t, base.count(), name)
		}
	}
}

func TestCustomCannotSetInvalidHeaders(t *testing.T) {
	for name, h := range map[string]http.Header{
		"CR in a value":           {"X-Key": {"a\rb"}},
		"LF in a value":           {"X-Key": {"a\nb"}},
		"CRLF in a value":         {"X-Key": {"a\r\nX-Injected: 1"}},
		"NUL in a value":          {"X-Key": {"a\x00b"}},
		"DEL in a value":          {"X-Key": {"a\x7fb"}},
		"LF in the second value":  {"X-Key": {"a", "b\n"}},
		"no name":                 {"": {"a"}},
		"space in a name":         {"X Key": {"a"}},
		"colon in a name":         {"X-Key:": {"a"}},
		"LF in a name":            {"X-Key\n": {"a"}},
		"letter outside of ASCII": {"X-Schlüssel": {"a"}},
	} {
		asked, base := 0, newFakeBase(responds(200, "{}"))
		out := newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), Custom(func(r *http.Request) error {
			asked++
			maps.Copy(r.Header, h)
			return nil
		})))
		require.Error(t, out.Err, name)
		assert.Contains(t, Describe(out.Err), "header", name)
		assert.False(t, out.Written, name)
		assert.Equal(t, 1, asked, "it is not repeated: %s", name)
		assert.Zero(t, base.count(), name)
	}
}

// net/http refuses a header before it runs a hook: without ValidHeader such a send would be in doubt.
func TestValidHeaderAgreesWithNetHTTP(t *testing.T) {
	reached := errors.New("reached the dialer")
	pool := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, reached }}
	agree := func(name, value string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api.example.com/", http.NoBody)
		require.NoError(t, err)
		req.Header[name] = []string{value}
		resp, err := pool.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		assert.Equal(t, errors.Is(err, reached), ValidHeader(name, value), "%q: %q", name, value)
	}
	for c := range 256 {
		agree("X-Key", "a"+string([]byte{byte(c)})+"b")
		agree("X"+string([]byte{byte(c)})+"K", "a")
	}
	agree("", "a")
	agree("X-Key", "")
	agree("X-Key", "grün 中文 😀")
	agree("X-Key", "\xff\xfe")
	agree("X\u2028", "a")
}

func TestCustomErrorSendsNothing(t *testing.T) {
	failed := errors.New("secret in the error")
	for name, custom := range map[string]Custom{
		"its own":           func(*http.Request) error { return failed },
		"of reading a body": func(r *http.Request) error { r.Body = io.NopCloser(failingReader{failed}); return nil },
	} {
		asked, base := 0, newFakeBase(responds(200, "{}"))
		out := newTransport(base).Do(t.Context(), authenticatedBy(sendRequest(), Custom(func(r *http.Request) error {
			asked++
			return custom(r)
		})))
		require.ErrorIs(t, out.Err, failed, name)
		assert.True(t, isAuthError(out.Err))
		assert.NotContains(t, out.Err.Error(), "secret")
		assert.NotContains(t, Describe(out.Err), "secret")
		assert.Contains(t, Describe(out.Err), "authentication failed")
		assert.False(t, out.Written)
		assert.Equal(t, 1, asked, "it is not repeated")
		assert.Zero(t, base.count())
	}
}

func TestCustomErrorInALaterAttemptEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		base := newFakeBase(responds(503, ""))
		out := newTransport(base).Do(t.Context(), authenticatedBy(readRequest(), Custom(func(*http.Request) error {
			if asked++; asked == 2 {
				return errSecret
			}
			return nil
		})))
		require.ErrorIs(t, out.Interrupted, errSecret)
		assert.Equal(t, "authentication failed before anything was sent", Describe(out.Interrupted))
		assert.Equal(t, 503, out.StatusCode, "the answer of the first attempt is what is known")
		assert.NoError(t, out.Err)
		assert.True(t, out.Written)
		assert.Equal(t, 1, out.Attempts)
		assert.Equal(t, 1, base.count())
		assert.Equal(t, 2, asked)
	})
}

func TestCustomHasTheContextOfTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(503, ""), responds(200, "{}"))
		var ctxs []context.Context
		out := newTransport(base, timeoutOf(time.Second)).Do(t.Context(), authenticatedBy(readRequest(), Custom(func(r *http.Request) error {
			deadline, ok := r.Context().Deadline()
			assert.True(t, ok)
			assert.Equal(t, time.Second, time.Until(deadline))
			for _, ended := range ctxs {
				assert.Error(t, ended.Err(), "an attempt's context ends with it")
			}
			ctxs = append(ctxs, r.Context())
			return nil
		})))
		require.Equal(t, 200, out.StatusCode)
		assert.Len(t, ctxs, 2)
	})
}

func TestURLErrorIsReducedToItsCause(t *testing.T) {
	inner := &url.Error{Op: "Get", URL: "https://u:p@inner.example/a?token=secret#secret", Err: errReset}
	for name, err := range map[string]error{
		"one":    inner,
		"nested": &url.Error{Op: "Post", URL: "https://api.example.com/?a=secret", Err: inner},
		"none":   errReset,
	} {
		out := newTransport(newFakeBase(breaks(err))).Do(t.Context(), sendRequest())
		assert.Equal(t, errReset, out.Err, name)
	}
	assert.Contains(t, inner.URL, "secret", "the round tripper's own error does not change")
}
