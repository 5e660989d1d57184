package faulttest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// maxAttempts is what every client of the matrix may make for one call.
const maxAttempts = 3

// A connection is the kind of connection that a fault hits. On a reused connection a request was answered before, and the
// fault hits the second one: net/http has replay rules of its own for that case.
type connection uint8

const (
	http1Fresh connection = 1 << iota
	http1Reused
	http2Fresh
	http2Reused

	fresh      = http1Fresh | http2Fresh
	reused     = http1Reused | http2Reused
	overHTTP1  = http1Fresh | http1Reused
	overHTTP2  = http2Fresh | http2Reused
	everywhere = overHTTP1 | overHTTP2
)

func (on connection) String() string {
	return map[connection]string{
		http1Fresh: "HTTP/1 fresh", http1Reused: "HTTP/1 reused", http2Fresh: "HTTP/2 fresh", http2Reused: "HTTP/2 reused",
	}[on]
}

// A fault is a row of the matrix: what goes wrong, on which connections, and what must come of it. Faults with the same
// number and name share a row.
type fault struct {
	number int
	name   string
	on     connection

	// What goes wrong, in the order in which a request meets it. A fault has one of these; ctx may accompany another.
	ctx       func(ctx context.Context, p *peer) (context.Context, context.CancelFunc) // the caller's context
	proxy     func(t *testing.T) string                                                // returns the URL of the caller's proxy
	occupied  bool                                                                     // another send holds the only connection
	dial      func(ctx context.Context) (net.Conn, error)
	accept    func(c net.Conn)
	handshake func(service *tls.Config) // changes the service's TLS configuration
	begin     func(c net.Conn, r io.Reader)
	early     func(x *exchange)
	react     func(x *exchange)
	idle      func(x *exchange)

	// What the caller has set up.
	tls       bool // TLS, with an authority that the client trusts
	transport func(tr *http.Transport)
	option    messaging.Option
	text      string // instead of testText
	alone     bool   // runs one call at a time, because each moves much data
	waits     bool   // waits longer than it works, so it runs in the background

	send outcome
	read outcome // of a page of a listing; no verdict if a read cannot meet this fault
}

// An outcome is what must come of a call.
type outcome struct {
	arrived  int                 // how often the service had the whole request
	attempts int                 // 0: not fixed
	status   int                 // 0: no response
	verdict  []messaging.Verdict // several where timing decides what the client can know
	is       error
	clears   bool       // the call is retried: a fault that ends after two attempts goes unnoticed by the caller
	replayed connection // where net/http replays the first attempt once
	endless  bool       // net/http replays each attempt as often as it is allowed
}

// anyStatus is a status that timing decides.
const anyStatus = -1

func (o outcome) withStatus(status int) outcome {
	o.status = status
	return o
}

func (o outcome) withError(err error) outcome {
	o.is = err
	return o
}

func (o outcome) replayedOver(on connection) outcome {
	o.replayed = on
	return o
}

// What can come of a send or of a read.
var (
	accepted = outcome{arrived: 1, verdict: []messaging.Verdict{messaging.Accepted}}
	refused  = outcome{arrived: 1, attempts: 1, verdict: []messaging.Verdict{messaging.Refused}}
	limited  = outcome{arrived: maxAttempts, attempts: maxAttempts, status: 429, verdict: refused.verdict, clears: true}
	notSent  = outcome{attempts: maxAttempts, verdict: []messaging.Verdict{messaging.NotSent}, clears: true}
	// notSentInTime: the caller's deadline ended the first attempt.
	notSentInTime = outcome{attempts: 1, verdict: notSent.verdict, is: context.DeadlineExceeded}
	// notRetried is not sent, and a retry would not help or is not possible.
	notRetried = outcome{verdict: notSent.verdict}
)

// What can come of a send.
var (
	unknown = outcome{arrived: 1, attempts: 1, verdict: []messaging.Verdict{messaging.Unknown}}
	// unread: the service has nothing, but the client cannot know.
	unread = outcome{attempts: 1, verdict: unknown.verdict}
	// either: timing decides whether the client can know that nothing was sent.
	either = outcome{verdict: []messaging.Verdict{messaging.NotSent, messaging.Unknown}}
	// disowned: by RFC 9113, section 8.7, the service has not processed the request, although the peer saw it whole. The only
	// evidence is the text of an error, which the client does not trust: the outcome is unknown, or not sent. It is never
	// sent again.
	disowned = outcome{arrived: 1, attempts: 1, verdict: either.verdict}
)

// What can come of a read. Over a connection that was used before, net/http repeats a read of which no response byte came.
// Over HTTP/2 it repeats what the service gives back as often as it is allowed. That is safe for a read, and why a send must
// not look like one.
var (
	failed   = outcome{arrived: maxAttempts, attempts: maxAttempts, verdict: unknown.verdict, clears: true}
	replayed = failed.replayedOver(http1Reused)
	endless  = outcome{arrived: maxAttempts, attempts: maxAttempts, verdict: unknown.verdict, clears: true, endless: true}
	// unarrived: nothing of the read arrived.
	unarrived = outcome{attempts: maxAttempts, verdict: either.verdict, clears: true}
	// permanent: the next attempt would fail in the same way.
	permanent = unknown
	// ended: the caller's time was over. Over HTTP/2 net/http may notice that before it reports that the header was written.
	ended = outcome{arrived: 1, attempts: 1, verdict: either.verdict}
)

// deadAddress is a local address on which nothing listens.
const deadAddress = "127.0.0.1:1"

func dialRefused(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", deadAddress)
}

// dialUnknownName asks a name server that cannot be reached, so that no test depends on a real one.
func dialUnknownName(ctx context.Context) (net.Conn, error) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	return (&net.Dialer{Resolver: resolver}).DialContext(ctx, "tcp", "sms.example.invalid:443")
}

func dialTooSlow(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: time.Nanosecond}).DialContext(ctx, "tcp", deadAddress)
}

func dialHangs(ctx context.Context) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func hangUp(net.Conn, io.Reader) {}

func resetUnread(c net.Conn, _ io.Reader) { resetConn(c) }

func resetAfterOneKiB(c net.Conn, r io.Reader) {
	_, _ = io.CopyN(io.Discard, r, 1<<10)
	resetConn(c)
}

func closeAfterHello(c net.Conn) { readHello(c) }

func resetAfterHello(c net.Conn) {
	readHello(c)
	resetConn(c)
}

func readForever(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

// respondInPlainHTTP is what an HTTP server says to a TLS handshake.
func respondInPlainHTTP(c net.Conn) {
	readHello(c)
	_, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTPS request to an HTTP server.\n")
}

// readHello reads the client's first TLS record.
func readHello(r io.Reader) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r, int64(head[3])<<8|int64(head[4]))
}

func requireClientCertificate(service *tls.Config) {
	service.MinVersion, service.ClientAuth = tls.VersionTLS13, tls.RequireAnyClientCert
}

func useSelfSignedCertificate(service *tls.Config) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		return
	}
	service.Certificates = []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: private}}
}

// oneAtATime makes requests wait for each other.
func oneAtATime(tr *http.Transport) {
	tr.MaxConnsPerHost = 1
	tr.HTTP2 = &http.HTTP2Config{StrictMaxConcurrentRequests: true}
}

// proxyThat returns a proxy that does something with every CONNECT. It must never see what is meant for the service.
func proxyThat(react func(x *exchange)) func(t *testing.T) string {
	return func(t *testing.T) string {
		t.Helper()
		p := newPeer(t, script{react: react})
		t.Cleanup(func() {
			for _, a := range p.seen("") {
				assert.NotContains(t, fmt.Sprint(a), testToken)
			}
		})
		return p.url()
	}
}

func proxyThatRefuses(status int) func(t *testing.T) string {
	return proxyThat(func(x *exchange) { x.respond(status, "") })
}

func deadline(d time.Duration) func(context.Context, *peer) (context.Context, context.CancelFunc) {
	return func(ctx context.Context, _ *peer) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, d)
	}
}

func cancelled(ctx context.Context, _ *peer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}

// cancelledOnArrival cancels the caller's context when the request is there.
func cancelledOnArrival(ctx context.Context, p *peer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-p.struck:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// authWithHeader is an Auth that sets one more header field.
func authWithHeader(key string) messaging.Option {
	return messaging.WithAuth(func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.Header.Set(key, testReference)
		return nil
	})
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

// assertOutcome checks that everything an error says about a send is true and consistent.
func assertOutcome(t *testing.T, err error, want outcome) {
	t.Helper()
	verdict := messaging.VerdictOf(err)
	assert.Contains(t, want.verdict, verdict, "%v", err)
	assert.Equal(t, verdict == messaging.Unknown, errors.Is(err, messaging.ErrOutcomeUnknown), "ErrOutcomeUnknown with the verdict %v", verdict)
	assert.Equal(t, verdict == messaging.NotSent, errors.Is(err, messaging.ErrNotSent), "ErrNotSent with the verdict %v", verdict)
	if verdict == messaging.Accepted {
		require.NoError(t, err)
		return
	}
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, verdict, e.Verdict)
	assert.NotEmpty(t, e.Operation)
	assert.Equal(t, testReference, e.ReferenceID)
	assertResponse(t, e, want)
}

// assertResponse checks what an error says about the response and the attempts, and that it can be logged.
func assertResponse(t *testing.T, e *messaging.Error, want outcome) {
	t.Helper()
	assertNoSecrets(t, e)
	if want.status != anyStatus {
		assert.Equal(t, want.status, e.StatusCode, "%v", e)
	}
	if want.attempts != 0 {
		assert.Equal(t, want.attempts, e.Attempts, "%v", e)
	}
	assert.LessOrEqual(t, e.Attempts, maxAttempts)
	assert.LessOrEqual(t, len(e.Body), 64<<10)
	if e.StatusCode >= 400 && want.status != anyStatus {
		assert.NotEmpty(t, e.Body, "the response body is lost")
	}
	if want.is != nil {
		require.ErrorIs(t, e, want.is)
	}
}
