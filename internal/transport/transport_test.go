package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reaction is what a round tripper does with a request.
type reaction func(*http.Request) (*http.Response, error)

// seen is a request as it came to the base round tripper.
type seen struct {
	at            time.Time
	method, url   string
	host          string
	header        http.Header
	body          string
	contentLength int64
	hasBody       bool
	hasGetBody    bool
}

// fakeBase is a round tripper in memory. Its reactions are taken in turn, and the last one for all that follow.
type fakeBase struct {
	reactions []reaction

	mu     sync.Mutex
	seen   []seen
	closed atomic.Int32 // how often CloseIdleConnections was called
}

func newFakeBase(reactions ...reaction) *fakeBase { return &fakeBase{reactions: reactions} }

func (b *fakeBase) RoundTrip(r *http.Request) (*http.Response, error) {
	s := seen{
		at: time.Now(), method: r.Method, url: r.URL.String(), host: r.Host, header: r.Header.Clone(),
		contentLength: r.ContentLength, hasBody: r.Body != nil && r.Body != http.NoBody, hasGetBody: r.GetBody != nil,
	}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.body = string(body)
	}
	b.mu.Lock()
	react := b.reactions[min(len(b.seen), len(b.reactions)-1)]
	b.seen = append(b.seen, s)
	b.mu.Unlock()
	return react(r)
}

// CloseIdleConnections is what http.Client looks for.
func (b *fakeBase) CloseIdleConnections() { b.closed.Add(1) }

func (b *fakeBase) requests() []seen {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen
}

func (b *fakeBase) count() int { return len(b.requests()) }

// connecting fires the hook of net/http that says that it looks for a connection.
func connecting(r *http.Request) {
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.GetConn != nil {
		trace.GetConn(r.URL.Host)
	}
}

// writing fires the hooks of a request that was written.
func writing(r *http.Request) {
	connecting(r)
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
}

func response(status int, body io.Reader, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Add(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, ContentLength: -1, Body: io.NopCloser(body)}
}

// answers writes the request and gets an answer.
func responds(status int, body string, header ...string) reaction {
	return func(r *http.Request) (*http.Response, error) {
		writing(r)
		return response(status, strings.NewReader(body), header...), nil
	}
}

// cutAnswer gets an answer whose body breaks off.
func cutResponse(status int) reaction {
	return func(r *http.Request) (*http.Response, error) {
		writing(r)
		return response(status, io.MultiReader(strings.NewReader("half"), failingReader{io.ErrUnexpectedEOF})), nil
	}
}

// breaks writes the request and gets no answer.
func breaks(err error) reaction {
	return func(r *http.Request) (*http.Response, error) {
		writing(r)
		return nil, err
	}
}

// breaksAfter writes the request and fails much later, and ignores the context.
func breaksAfter(d time.Duration, err error) reaction {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(d)
		return breaks(err)(r)
	}
}

// unsent looks for a connection and fails before it writes.
func unsent(err error) reaction {
	return func(r *http.Request) (*http.Response, error) {
		connecting(r)
		return nil, err
	}
}

// silent fails without a hook, as a round tripper does that is not net/http's.
func silent(err error) reaction {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// hangs writes the request and waits until the attempt is over.
func hangs(r *http.Request) (*http.Response, error) {
	writing(r)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }

var (
	errRefused = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	errReset   = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

	errCertificate = &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}
)

func newTransport(base http.RoundTripper, changes ...func(*Transport)) *Transport {
	t := &Transport{
		Base: base, Timeout: 30 * time.Second, MaxAttempts: 4, MinWait: 200 * time.Millisecond, MaxWait: time.Minute,
		MaxResponseBytes: 1 << 20,
	}
	for _, change := range changes {
		change(t)
	}
	return t
}

func attemptsUpTo(n int) func(*Transport)        { return func(c *Transport) { c.MaxAttempts = n } }
func timeoutOf(d time.Duration) func(*Transport) { return func(c *Transport) { c.Timeout = d } }
func waits(least, most time.Duration) func(*Transport) {
	return func(c *Transport) { c.MinWait, c.MaxWait = least, most }
}

const sendBody = `{"to":"+639171234567","text":"hello"}`

func sendRequest() Request {
	return Request{
		Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "api.example.com", Path: "/sms/send"},
		Body: []byte(sendBody), Header: constants("Content-Type", "application/json"), Judge: judge{http.StatusTooManyRequests},
	}
}

// judge is a Judge that takes these statuses as proof that a request was not processed.
type judge []int

func (notProcessed judge) Judge(out *Outcome) Judgement {
	return Judgement{
		Repeatable:   slices.Contains(notProcessed, out.StatusCode),
		TokenRefused: out.StatusCode == http.StatusUnauthorized,
	}
}

// constants returns the header of a request, with more pairs of name and value.
func constants(pairs ...string) http.Header {
	h := http.Header{"Accept": {"application/json"}, "User-Agent": {"test/1"}}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func readRequest() Request {
	return Request{
		Method: http.MethodGet, Read: true, Header: constants(), Judge: judge{408, 429, 500, 502, 503, 504},
		URL: &url.URL{Scheme: "https", Host: "api.example.com", Path: "/sms", RawQuery: "to=%2B639171234567"},
	}
}

const authFailed = "authentication failed before anything was sent"

// isAuthError reports whether err says that there were no credentials.
func isAuthError(err error) bool { return err != nil && err.Error() == authFailed }

// assertOutcome compares outcomes except for their requests and times.
func assertOutcome(t *testing.T, want Outcome, out *Outcome, message ...any) {
	t.Helper()
	got := *out
	got.Sent, got.Began = nil, time.Time{}
	assert.Equal(t, want, got, message...)
}

func authenticatedBy(r Request, a Authenticator) Request {
	r.Authenticate = a
	return r
}

func TestDoSendsTheRequestAsDescribed(t *testing.T) {
	base := newFakeBase(responds(200, "{}"))
	tr := newTransport(base)

	out := tr.Do(t.Context(), sendRequest())
	require.NoError(t, out.Err)
	out = tr.Do(t.Context(), readRequest())
	require.NoError(t, out.Err)
	form := sendRequest()
	form.Header, form.Body = constants("Content-Type", "application/x-www-form-urlencoded"), []byte("to=1")
	out = tr.Do(t.Context(), form)
	require.NoError(t, out.Err)

	require.Equal(t, 3, base.count())
	send, read, posted := base.requests()[0], base.requests()[1], base.requests()[2]
	assert.Equal(t, "POST https://api.example.com/sms/send", send.method+" "+send.url)
	assert.Equal(t, "api.example.com", send.host)
	assert.Equal(t, sendBody, send.body)
	assert.EqualValues(t, len(sendBody), send.contentLength)
	assert.Equal(t, http.Header{"Accept": {"application/json"}, "User-Agent": {"test/1"}, "Content-Type": {"application/json"}}, send.header)

	assert.Equal(t, "GET https://api.example.com/sms?to=%2B639171234567", read.method+" "+read.url)
	assert.False(t, read.hasBody)
	assert.Equal(t, http.Header{"Accept": {"application/json"}, "User-Agent": {"test/1"}, "Cache-Control": {"no-cache"}}, read.header)

	assert.Equal(t, "application/x-www-form-urlencoded", posted.header.Get("Content-Type"))
}

func TestOutcomeHoldsTheResponse(t *testing.T) {
	out := newTransport(newFakeBase(responds(409, "conflict", "X-Request-Id", "r-1", "Retry-After", "3"))).Do(t.Context(), sendRequest())
	assertOutcome(t, Outcome{
		StatusCode: 409, Header: http.Header{"X-Request-Id": {"r-1"}, "Retry-After": {"3"}}, Body: []byte("conflict"),
		Written: true, Attempts: 1, RetryAfter: 3 * time.Second,
	}, out)
}

// net/http repeats a request by itself where it has GetBody, or where there is no body.
func TestSendGivesNetHTTPNothingToReplay(t *testing.T) {
	for name, body := range map[string][]byte{"with a body": []byte(sendBody), "empty body": {}, "no body": nil} {
		for kind, a := range map[string]Authenticator{
			"no authenticator": nil,
			"header":           Header("Authorization", "Bearer x"),
			"custom":           Custom(func(r *http.Request) error { r.Header.Set("Idempotency-Key", "k"); return nil }),
			"custom that reads the body": Custom(func(r *http.Request) error {
				_, err := io.Copy(io.Discard, r.Body)
				return err
			}),
			"custom that removes the body": Custom(func(r *http.Request) error { r.Body = nil; return nil }),
			"custom that sets GetBody": Custom(func(r *http.Request) error {
				r.Body = http.NoBody
				r.GetBody = func() (io.ReadCloser, error) { return http.NoBody, nil }
				return nil
			}),
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				base := newFakeBase(responds(200, "{}"))
				request := authenticatedBy(sendRequest(), a)
				request.Body = body
				require.NoError(t, newTransport(base).Do(t.Context(), request).Err)
				require.Equal(t, 1, base.count())
				assert.True(t, base.requests()[0].hasBody, "a request without a body may be repeated")
				assert.False(t, base.requests()[0].hasGetBody)
			})
		}
	}
}

// net/http writes a header and a body at once if it knows that the body is in memory.
func TestSendIsOneWrite(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for name, a := range map[string]Authenticator{
		"no authenticator": nil,
		"header":           Header("Authorization", "Bearer x"),
		"custom":           Custom(func(r *http.Request) error { r.Header.Set("X-Key", "k"); return nil }),
	} {
		base := NewBase()
		dial := base.DialContext
		var writes atomic.Int32
		base.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return countingConn{conn, &writes}, err
		}
		request := authenticatedBy(sendRequest(), a)
		request.URL = &url.URL{Scheme: "http", Host: server.Listener.Addr().String(), Path: "/"}
		out := newTransport(base, func(tr *Transport) { tr.OwnBase = true }).Do(t.Context(), request)
		base.CloseIdleConnections()
		require.NoError(t, out.Err, name)
		assert.Equal(t, int32(1), writes.Load(), name)
	}
}

type countingConn struct {
	net.Conn
	writes *atomic.Int32
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

func TestRetrySendsTheWholeBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(unsent(errRefused), responds(429, ""), responds(200, "{}"))
		require.Equal(t, 200, newTransport(base).Do(t.Context(), sendRequest()).StatusCode)
		require.Equal(t, 3, base.count())
		for _, request := range base.requests() {
			assert.Equal(t, sendBody, request.body)
			assert.EqualValues(t, len(sendBody), request.contentLength)
			assert.False(t, request.hasGetBody)
		}
	})
}

func TestRedirectIsNotFollowed(t *testing.T) {
	for _, status := range []int{300, 301, 302, 303, 304, 305, 307, 308} {
		for _, location := range []string{"https://elsewhere.example/", "/sms/send2", "%zz:", ""} {
			for _, request := range []Request{sendRequest(), readRequest()} {
				header := []string{}
				if location != "" {
					header = []string{"Location", location}
				}
				base := newFakeBase(responds(status, "moved", header...))
				out := newTransport(base).Do(t.Context(), request)
				assert.Equal(t, status, out.StatusCode)
				assert.Equal(t, "moved", string(out.Body))
				assert.Equal(t, location, out.Header.Get("Location"))
				assert.True(t, out.Written)
				assert.NoError(t, out.Err)
				assert.Equal(t, 1, base.count(), "%d to %q by %s", status, location, request.Method)
			}
		}
	}
}

// net/http fails over a Location that it cannot read, and closes the answer.
func TestRedirectWithAnInvalidLocationKeepsTheResponse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(307, "busy", "Location", "%zz:", "Retry-After", "5"), responds(200, "{}"))
		start := time.Now()
		request := sendRequest()
		request.Judge = judge{307}
		out := newTransport(base).Do(t.Context(), request)
		require.Equal(t, 200, out.StatusCode)
		assert.Equal(t, 5*time.Second, time.Since(start))

		header := http.Header{"Location": {"%zz:"}, "Retry-After": {"90"}}
		shared := header.Clone()
		out = newTransport(newFakeBase(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: shared, Body: io.NopCloser(strings.NewReader("moved"))}, nil
		})).Do(t.Context(), sendRequest())
		assertOutcome(t, Outcome{StatusCode: 307, Header: header, Body: []byte("moved"), Written: true, Attempts: 1, RetryAfter: 90 * time.Second}, out)
		assert.Equal(t, header, shared, "what the round tripper gave stays as it is")
	})
}

func TestJarCookiesAreSentOnceInEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		jar.SetCookies(readRequest().URL, []*http.Cookie{{Name: "route", Value: "1"}})
		base := newFakeBase(responds(503, ""), responds(503, "", "Set-Cookie", "more=2"), breaks(io.EOF), responds(200, "{}"))
		var shown []string
		request := authenticatedBy(readRequest(), Custom(func(r *http.Request) error {
			shown = append(shown, strings.Join(r.Header["Cookie"], "|"))
			return nil
		}))
		out := newTransport(base, func(c *Transport) { c.Jar = jar }).Do(t.Context(), request)
		require.Equal(t, 200, out.StatusCode)
		require.Equal(t, 4, base.count())
		want := []string{"route=1", "route=1", "route=1; more=2", "route=1; more=2"}
		for i, request := range base.requests() {
			assert.Equal(t, []string{want[i]}, request.header["Cookie"], "attempt %d", i+1)
		}
		assert.Equal(t, want, shown, "an authenticator sees the finished request")
	})
}

func TestJarCookiesDoNotMixBetweenCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jar, err := cookiejar.New(nil)
		require.NoError(t, err)
		jar.SetCookies(sendRequest().URL, []*http.Cookie{{Name: "route", Value: "1", Path: "/"}})
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, limitOf(time.Second, 1), func(c *Transport) { c.Jar = jar })
		var calls sync.WaitGroup
		for range 20 { // net/http has added the cookies of all when the first gets its turn
			calls.Go(func() { tr.Do(t.Context(), sendRequest()) })
		}
		calls.Wait()
		require.Equal(t, 20, base.count())
		for _, request := range base.requests() {
			assert.Equal(t, []string{"route=1"}, request.header["Cookie"])
		}
	})
}

// A pool that belongs to the user is not emptied because one call failed, as retryablehttp would.
func TestIdleConnectionsAreNotClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, react := range map[string]reaction{
			"broken": breaks(io.EOF), "unsent": unsent(errRefused), "unavailable": responds(503, ""), "hopeless": responds(400, ""),
		} {
			base := newFakeBase(react)
			tr := newTransport(base)
			tr.Do(t.Context(), sendRequest())
			tr.Do(t.Context(), readRequest())
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			tr.Do(ctx, readRequest()) // ends in the wait
			cancel()
			tr.Do(ctx, readRequest()) // ends before it begins
			assert.Zero(t, base.closed.Load(), name)
		}
	})
}

func TestPanicReachesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which fails where a goroutine is left
		base := newFakeBase(func(*http.Request) (*http.Response, error) { panic("round tripper") }, responds(200, "{}"))
		tr := newTransport(base)
		assert.PanicsWithValue(t, "round tripper", func() { tr.Do(t.Context(), sendRequest()) })
		custom := authenticatedBy(sendRequest(), Custom(func(*http.Request) error { panic("authenticator") }))
		assert.PanicsWithValue(t, "authenticator", func() { tr.Do(t.Context(), custom) })
		assert.Equal(t, 1, base.count())
		assert.Equal(t, 200, tr.Do(t.Context(), sendRequest()).StatusCode)
	})
}

func TestRoundTripperWithoutResponseOrError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(func(*http.Request) (*http.Response, error) { return nil, nil })
		out := newTransport(base).Do(t.Context(), sendRequest())
		require.Error(t, out.Err)
		assert.Contains(t, out.Err.Error(), "neither a response nor an error")
		assert.Zero(t, out.StatusCode)
		assert.True(t, out.Written)
		assert.Equal(t, 1, base.count())
	})
}

func TestCallersContextReachesTheBase(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "trace-1")
	var got any
	tr := newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
		got = r.Context().Value(key{})
		return responds(200, "{}")(r)
	}))
	require.NoError(t, tr.Do(ctx, sendRequest()).Err)
	assert.Equal(t, "trace-1", got)
}

func TestCallLeavesNoGoroutine(t *testing.T) {
	var served atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch served.Add(1) % 4 {
		case 0:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 1:
			panic(http.ErrAbortHandler)
		case 2:
			<-r.Context().Done() // until the attempt's timeout
		default:
			_, _ = io.WriteString(w, "{}")
		}
	}))
	defer server.Close()
	target, err := url.Parse(server.URL)
	require.NoError(t, err)
	pool := NewBase()
	source := NewTokenSource(func(context.Context) (string, time.Time, error) { return "t", time.Now().Add(time.Hour), nil })
	tr := newTransport(pool, timeoutOf(20*time.Millisecond), waits(time.Millisecond, time.Second))
	before := runtime.NumGoroutine()
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			request := authenticatedBy(readRequest(), source.Authenticator("Authorization", "Bearer"))
			request.URL = target
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			tr.Do(ctx, request)
		})
	}
	calls.Wait()
	pool.CloseIdleConnections() // the connections' own goroutines; and those of the server end with them
	server.CloseClientConnections()
	assertGoroutines(t, before)
}

// assertGoroutines waits until no more than so many goroutines are left.
func assertGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 2000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines before, %d after:\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
}

func TestTransportIsSafeForConcurrentUse(t *testing.T) {
	base := newFakeBase(func(r *http.Request) (*http.Response, error) {
		return responds(200, r.Header.Get("X-Call"))(r)
	})
	tr := newTransport(base)
	var calls sync.WaitGroup
	for i := range 100 {
		calls.Go(func() {
			name := strings.Repeat("x", i+1)
			out := tr.Do(t.Context(), authenticatedBy(sendRequest(), Header("X-Call", name)))
			assert.NoError(t, out.Err)
			assert.Equal(t, name, string(out.Body))
			assert.Equal(t, 1, out.Attempts)
		})
	}
	calls.Wait()
	for _, request := range base.requests() {
		assert.Len(t, request.header, 4)
	}
}

var errSecret = errors.New("secret-7361")
