package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEvidenceWritten(t *testing.T) {
	dns := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "api.example.com"}}
	for name, tc := range map[string]struct {
		connections, wrote int
		err                error
		want               bool
	}{
		"looked for a connection":                    {1, 0, io.EOF, false},
		"looked for a connection, timeout":           {1, 0, context.DeadlineExceeded, false},
		"looked for a connection, reset":             {1, 0, errReset, false},
		"looked for two connections":                 {2, 0, io.EOF, false},
		"wrote":                                      {1, 1, io.EOF, true},
		"wrote, despite the error":                   {1, 1, errRefused, true},
		"wrote on the second connection":             {2, 1, errRefused, true},
		"wrote on the first connection":              {2, 1, io.EOF, true},
		"wrote, and no connection was looked for":    {0, 1, io.EOF, true},
		"no hooks, dial error":                       {0, 0, errRefused, false},
		"no hooks, dial error, wrapped":              {0, 0, fmt.Errorf("a: %w", &url.Error{Op: "Post", Err: errRefused}), false},
		"no hooks, DNS error":                        {0, 0, dns, false},
		"no hooks, read error":                       {0, 0, errReset, true},
		"no hooks, write error":                      {0, 0, &net.OpError{Op: "write", Err: syscall.EPIPE}, true},
		"no hooks, refused by no dial":               {0, 0, syscall.ECONNREFUSED, true},
		"no hooks, EOF":                              {0, 0, io.EOF, true},
		"no hooks, timeout":                          {0, 0, context.DeadlineExceeded, true},
		"no hooks, certificate":                      {0, 0, &tls.CertificateVerificationError{Err: io.EOF}, true},
		"no hooks, an error that talks of a dial":    {0, 0, errors.New("dial tcp: connection refused"), true},
		"no hooks, read error wrapped around a dial": {0, 0, &net.OpError{Op: "read", Err: errRefused}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var e evidence
			var trace httptrace.ClientTrace
			e.trace(&trace, func() {}, false)
			for range tc.connections {
				trace.GetConn("api.example.com:443")
			}
			for range tc.wrote {
				trace.WroteHeaders()
			}
			assert.Equal(t, tc.want, e.written(tc.err))
		})
	}
}

func TestResponseProvesThatTheRequestWasWritten(t *testing.T) {
	for _, react := range []reaction{
		func(*http.Request) (*http.Response, error) { return response(503, http.NoBody), nil }, // without hooks
		func(*http.Request) (*http.Response, error) { return response(200, failingReader{errRefused}), nil },
	} {
		assert.True(t, newTransport(newFakeBase(react), attemptsUpTo(1)).Do(t.Context(), sendRequest()).Written)
	}
}

// The error of the timeout takes the place of the round tripper's own, which is the evidence.
func TestEvidenceIsJudgedBeforeTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, tc := range map[string]struct {
			err  error
			want bool
		}{
			"dial": {errRefused, false}, "dial, in a URL": {&url.Error{Op: "Post", URL: "https://h/", Err: errRefused}, false}, "read": {errReset, true},
		} {
			late := func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return silent(tc.err)(r)
			}
			out := newTransport(newFakeBase(late), attemptsUpTo(1)).Do(t.Context(), sendRequest())
			assert.ErrorIs(t, out.Err, context.DeadlineExceeded, name)
			assert.Contains(t, Describe(out.Err), "timeout of 30s", name)
			assert.Equal(t, tc.want, out.Written, name)

			base := newFakeBase(late, responds(200, "{}"))
			out = newTransport(base).Do(t.Context(), sendRequest())
			assert.Equal(t, !tc.want, out.StatusCode == http.StatusOK, "a send that wrote nothing is repeated: %s", name)
		}
	})
}

func TestTimeoutSaysWhatWasMissing(t *testing.T) {
	connected := func(r *http.Request) (*http.Response, error) {
		connecting(r)
		httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: new(net.TCPConn)})
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	withoutHooks := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	for name, tt := range map[string]struct {
		react   reaction
		want    string
		written bool
	}{
		"no connection":                 {hangsUnsent, "no connection within the timeout of 7s", false},
		"a connection, nothing written": {connected, "no complete response within the timeout of 7s", false},
		"written":                       {hangs, "no complete response within the timeout of 7s", true},
		"no evidence":                   {withoutHooks, "no complete response within the timeout of 7s", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			out := newTransport(newFakeBase(tt.react), timeoutOf(7*time.Second), attemptsUpTo(1)).Do(t.Context(), sendRequest())
			require.EqualError(t, out.Err, tt.want, name)
			require.ErrorIs(t, out.Err, context.DeadlineExceeded, name)
			assert.Equal(t, tt.written, out.Written, name)
		})
	}
}

func TestCallersTraceRunsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []string
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			GetConn:      func(hostPort string) { events = append(events, "connection to "+hostPort) },
			WroteHeaders: func() { events = append(events, "headers") },
		})
		base := newFakeBase(unsent(errRefused), responds(429, ""), breaks(io.EOF))
		out := newTransport(base).Do(ctx, sendRequest())
		assert.Equal(t, []string{
			"connection to api.example.com",
			"connection to api.example.com", "headers",
			"connection to api.example.com", "headers",
		}, events)
		assert.Equal(t, 3, out.Attempts, "and evidence is found all the same")
		assert.True(t, out.Written)

		events = nil
		newTransport(newFakeBase(responds(200, "{}"))).Do(ctx, sendRequest())
		assert.Len(t, events, 2, "the trace of one call does not run in another")
	})
}

func TestLateHookIsNoEvidenceOfTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(r *http.Request) (*http.Response, error) {
			connecting(r)
			time.AfterFunc(time.Minute, func() { connecting(r) })
			return nil, errRefused
		}
		next := func(*http.Request) (*http.Response, error) {
			time.Sleep(2 * time.Minute)
			return nil, io.EOF
		}
		base := newFakeBase(late, next)
		out := newTransport(base, timeoutOf(time.Hour)).Do(t.Context(), sendRequest())
		assert.True(t, out.Written)
		assert.Equal(t, 2, base.count())
	})
}

// inTurn is a round tripper that calls one function for each request, and does not read the request itself.
type inTurn []reaction

func (f *inTurn) RoundTrip(r *http.Request) (*http.Response, error) {
	react := (*f)[0]
	*f = (*f)[1:]
	return react(r)
}

// A wrapper with a timeout of its own may return while net/http is still connecting, without evidence of a write. The message is then sent
// again, so the first request must not be written later.
func TestAbandonedRequestIsNeverWritten(t *testing.T) {
	var got atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err == nil {
			got.Add(1)
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	isReady := make(chan struct{})
	slow := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		<-isReady
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	defer slow.CloseIdleConnections()
	isAbandoned := make(chan struct{})
	abandon := func(r *http.Request) (*http.Response, error) {
		isConnecting := make(chan struct{})
		hooks := &httptrace.ClientTrace{GetConn: func(string) { close(isConnecting) }}
		detached := httptrace.WithClientTrace(context.WithoutCancel(r.Context()), hooks)
		go func() {
			defer close(isAbandoned)
			resp, err := slow.RoundTrip(r.WithContext(detached))
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-isConnecting
		return nil, errors.New("the timeout of the wrapper")
	}
	afterIt := func(r *http.Request) (*http.Response, error) {
		close(isReady)
		<-isAbandoned
		return http.DefaultTransport.RoundTrip(r)
	}
	base := &inTurn{abandon, afterIt}
	request := sendRequest()
	request.URL, _ = url.Parse(server.URL)
	out := newTransport(base).Do(t.Context(), request)
	assert.Equal(t, 200, out.StatusCode, out.Err)
	assert.Equal(t, 2, out.Attempts)
	assert.EqualValues(t, 1, got.Load(), "messages that the service got")
}

func TestErrorOfNoKnownKindSaysWhatIsKnown(t *testing.T) {
	plain := errors.New("secret")
	for name, tc := range map[string]struct {
		react reaction
		want  string
	}{
		"written":               {breaks(plain), "the connection failed after the request was written"},
		"nothing written":       {unsent(plain), "the connection failed before anything was written"},
		"no evidence":           {silent(plain), "the round tripper failed, and does not tell whether it wrote the request"},
		"of a type that tells":  {breaks(&chatty{"secret"}), "the connection failed after the request was written (*transport.chatty)"},
		"wrapped":               {breaks(fmt.Errorf("secret: %w", plain)), "the connection failed after the request was written"},
		"known":                 {breaks(io.EOF), "the connection ended without a response"},
		"known, before writing": {unsent(errRefused), "dial tcp: connection refused"},
	} {
		out := newTransport(newFakeBase(tc.react), attemptsUpTo(1)).Do(t.Context(), sendRequest())
		assert.Equal(t, tc.want, Describe(out.Err), name)
	}
}
