package messaging_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// What no error may show, and the reference by which a peer knows the message under test.
const (
	faultToken     = "tok-4f1d9a-SECRET"
	faultNumber    = "639171234567"
	faultText      = "the code is 4711-hush"
	faultReference = "order-17"
	faultAttempts  = 3
)

// echo is what services like to put into their error pages.
const echo = `{"message":"cannot send '` + faultText + `' to +` + faultNumber + ` for ` + faultToken + `"}`

func faultMessage(reference string) sms.Message {
	return sms.Message{From: "ACME", To: "+" + faultNumber, Text: faultText, ReferenceID: reference}
}

func newFaultClient(t *testing.T, url string, opts ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(url, append([]messaging.Option{
		messaging.WithToken(faultToken),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: faultAttempts, MinWait: time.Millisecond, MaxWait: 5 * time.Millisecond}),
	}, opts...)...)
	require.NoError(t, err)
	return client
}

// A connection is what a fault hits. On a reused one, a first message was accepted before, and the fault hits
// the second: net/http has replay rules of its own for that case.
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

// A fault is a row of the matrix, or of several that bear one name because their connections differ: what goes wrong, on
// which connections, and what must come of it.
type fault struct {
	number int
	name   string
	on     connection

	// What goes wrong, one of these, in the order in which a request meets them.
	ctx       func(ctx context.Context, p *faultPeer) (context.Context, context.CancelFunc) // the caller's; may stand beside another
	proxy     func(t *testing.T) string                                                     // the URL of the caller's proxy
	occupied  bool                                                                          // another send holds the only connection
	dial      func(ctx context.Context) (net.Conn, error)
	accept    func(c net.Conn)
	handshake func(service *tls.Config) // in the place of a proper one
	begin     func(c net.Conn, r io.Reader)
	early     func(x *exchange)
	react     func(x *exchange)
	idle      func(x *exchange)

	// What the caller has set up.
	tls       bool // with an authority that the client trusts
	transport func(tr *http.Transport)
	option    messaging.Option
	text      string // if not the usual one
	alone     bool   // one call at a time: so much to do that the others would be late
	waits     bool   // longer than it works

	send outcome
	read outcome // of a page of a listing; one without a verdict: a read cannot meet this
}

// An outcome is what must come of a send, or of a read. A read has no outcome that could be in doubt: of what may have
// been processed, unknown, all that counts is that it is asked again.
type outcome struct {
	arrived  int                 // how often the service had the request whole: what it may have processed
	attempts int                 // 0: not fixed
	status   int                 // 0: no answer
	verdict  []messaging.Verdict // more than one where microseconds decide which of them the client can know
	is       error
	clears   bool       // it is tried again: a fault that hits two attempts out of three is not noticed by the caller
	repeated connection // where net/http repeats the first attempt once by itself
	returned bool       // net/http repeats each attempt by itself, as often as it is let
}

const anyStatus = -1

func (o outcome) answered(status int) outcome {
	o.status = status
	return o
}

func (o outcome) because(err error) outcome {
	o.is = err
	return o
}

func (o outcome) repeatedOver(on connection) outcome {
	o.repeated = on
	return o
}

// faultMatrix holds what can go wrong between a request and its answer.
//
// The rule for sends: a request that the service may have whole is never sent again, and without an answer that decides it
// is never called anything but unknown. A request that cannot have left is sent again, and at the end called not sent.
// The rule for reads: each is asked again, unless the answer says that this would be in vain, or the caller's time is over.
//
// A kind of connection is missing in a row only where the fault cannot be there, or is the fault of another row. A connection
// that was used has been dialled, accepted and shaken hands over; what befalls one that is idle, or the next request on it,
// needs one that was used; status lines, chunks and answers that nobody asked for are of HTTP/1, frames and streams of
// HTTP/2. And a read has no text to be large.
func faultMatrix() []fault {
	const (
		brief = 150 * time.Millisecond // where nothing needs to arrive
		pause = 3 * time.Second        // enough for a request to arrive and an answer to come, also where the machine is busy
	)
	var (
		accepted = outcome{arrived: 1, verdict: []messaging.Verdict{messaging.Accepted}}
		refused  = outcome{arrived: 1, attempts: 1, verdict: []messaging.Verdict{messaging.Refused}}
		limited  = outcome{arrived: faultAttempts, attempts: faultAttempts, status: 429, verdict: refused.verdict, clears: true}
		notSent  = outcome{attempts: faultAttempts, verdict: []messaging.Verdict{messaging.NotSent}, clears: true}
		notTried = outcome{verdict: notSent.verdict} // not again, or not at all
		tooLate  = outcome{attempts: 1, verdict: notSent.verdict, is: context.DeadlineExceeded}

		// Of sends.
		inDoubt = outcome{arrived: 1, attempts: 1, verdict: []messaging.Verdict{messaging.Unknown}}
		unread  = outcome{attempts: 1, verdict: inDoubt.verdict} // the service has nothing, but the client cannot know
		either  = outcome{verdict: []messaging.Verdict{messaging.NotSent, messaging.Unknown}}
		// By RFC 9113 section 8.7 the service has not processed these, although the peer saw each whole, once. But the only
		// evidence is the text of an error, and the client takes none from there: it says that the outcome is unknown.
		// That it were not sent would be as true; that it is sent again, or called accepted or refused, is not allowed.
		disowned = outcome{arrived: 1, attempts: 1, verdict: either.verdict}

		// Of reads. Where no byte of an answer came over a connection that was used before, net/http asks once more by
		// itself; and for what a service of HTTP/2 gives back as often as it is let. That is safe for a read, and the reason
		// why no send may look like one.
		again    = outcome{arrived: faultAttempts, attempts: faultAttempts, verdict: inDoubt.verdict, clears: true}
		replayed = again.repeatedOver(http1Reused)
		returned = outcome{arrived: faultAttempts, attempts: faultAttempts, verdict: inDoubt.verdict, clears: true, returned: true}
		anew     = outcome{attempts: faultAttempts, verdict: either.verdict, clears: true} // nothing of it arrived
		inVain   = inDoubt                                                                 // would be the same the next time
		// The caller's time is. Over HTTP/2 net/http may notice that before it tells that the header fields were written.
		over = outcome{arrived: 1, attempts: 1, verdict: either.verdict}
	)
	hangUp := func(net.Conn, io.Reader) {}
	packed, page := gzipped(strings.Repeat(" ", 1<<20)), strings.Repeat("<p>", 10<<20/3)
	rows := []fault{
		// Nothing was written: there never was a connection.
		{number: 1, name: "connection refused", on: fresh, dial: dialRefused, send: notSent, read: notSent},
		{number: 2, name: "name not found", on: fresh, dial: dialUnknownName, send: notSent, read: notSent},
		{number: 3, name: "dialling times out", on: fresh, dial: dialTooSlow, send: notSent, read: notSent},
		{number: 4, name: "the caller's deadline while dialling", on: fresh, waits: true, dial: dialHangs, ctx: deadline(pause), send: tooLate, read: tooLate},
		{number: 5, name: "the attempt's timeout while dialling", on: fresh, waits: true, dial: dialHangs, option: messaging.WithTimeout(pause), send: notSent, read: notSent},
		// Whether the reset overtakes the request is a matter of microseconds; the service has nothing either way.
		{number: 6, name: "reset at accept", on: fresh, accept: resetConn, send: either, read: anew},

		// Nothing was written: the handshake failed.
		{number: 7, name: "TLS with an unknown authority", on: fresh, tls: true, handshake: showStrangeCertificate, send: notTried, read: notTried},
		{number: 8, name: "TLS to a port that speaks plain HTTP", on: fresh, tls: true, accept: answerInPlainHTTP, send: notTried, read: notTried},
		{number: 9, name: "closed in the TLS handshake", on: fresh, tls: true, accept: func(c net.Conn) { readHello(c) }, send: notSent, read: notSent},
		{number: 9, name: "reset in the TLS handshake", on: fresh, tls: true, accept: func(c net.Conn) { readHello(c); resetConn(c) }, send: notSent, read: notSent},
		{number: 10, name: "the TLS handshake times out", on: fresh, waits: true, tls: true, accept: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, transport: func(tr *http.Transport) { tr.TLSHandshakeTimeout = pause }, send: notSent, read: notSent},
		// In TLS 1.3 the client's side of the handshake is over before the service refuses it: the request may be on its way.
		{number: 11, name: "TLS 1.3 with a client certificate required", on: fresh, tls: true, handshake: requireCertificate, send: either, read: anew},

		// The service has the request, and no answer comes.
		{number: 12, name: "closed after the request", on: everywhere, react: (*exchange).close, send: inDoubt, read: replayed},
		{number: 13, name: "reset after the request", on: everywhere, react: (*exchange).reset, send: inDoubt, read: replayed},
		{number: 14, name: "no answer before the attempt's timeout", on: everywhere, waits: true, react: (*exchange).hold, option: messaging.WithTimeout(pause), send: inDoubt, read: again},
		{number: 15, name: "no answer before the caller's deadline", on: everywhere, waits: true, react: (*exchange).hold, ctx: deadline(pause), send: inDoubt.because(context.DeadlineExceeded), read: over.because(context.DeadlineExceeded)},
		{number: 15, name: "cancelled while the answer is awaited", on: everywhere, react: (*exchange).hold, ctx: cancelledOnceStruck, send: inDoubt.because(context.Canceled), read: over.because(context.Canceled)},
		{number: 16, name: "no answer before the transport's own timeout", on: everywhere, waits: true, react: (*exchange).hold, transport: func(tr *http.Transport) { tr.ResponseHeaderTimeout = pause }, send: inDoubt, read: again},

		// The service closes with the request unread.
		{number: 17, name: "closed at accept", on: fresh, accept: func(net.Conn) {}, send: either, read: anew},
		{number: 17, name: "closed with the request unread", on: http1Fresh, begin: hangUp, send: unread, read: anew},
		{number: 18, name: "4 MiB of text, reset after 1 KiB", on: everywhere, alone: true, text: strings.Repeat("hush", 1<<20), begin: func(c net.Conn, r io.Reader) { _, _ = io.CopyN(io.Discard, r, 1<<10); resetConn(c) }, send: unread},

		// The service has the request, and what comes is no answer.
		{number: 19, name: "cut status line", on: overHTTP1, react: func(x *exchange) { x.raw("HTTP/1.1 2"); x.close() }, send: inDoubt, read: again},
		{number: 19, name: "malformed status line", on: overHTTP1, react: func(x *exchange) { x.raw(echo + "\r\n\r\n"); x.close() }, send: inDoubt, read: again},
		{number: 19, name: "malformed header field", on: overHTTP1, react: func(x *exchange) { x.raw("HTTP/1.1 200 OK\r\n" + faultNumber + " " + faultText + "\r\n\r\n") }, send: inDoubt, read: again},
		{number: 19, name: "malformed header field", on: overHTTP2, react: func(x *exchange) { x.head(200, faultNumber+" "+faultText, faultText) }, send: inDoubt, read: again},
		{number: 19, name: "header fields without an end", on: everywhere, alone: true, react: (*exchange).endlessHead, transport: func(tr *http.Transport) { tr.MaxResponseHeaderBytes = 64 << 10 }, send: inDoubt, read: again},
		{number: 19, name: "cut frame", on: overHTTP2, react: func(x *exchange) { x.raw("\x00\x00\xff\x01"); x.close() }, send: inDoubt, read: again},
		{number: 19, name: "malformed frame", on: overHTTP2, react: func(x *exchange) { x.raw(echo + "\r\n\r\n"); x.close() }, send: inDoubt, read: again},
		{number: 19, name: "header fields that are no HPACK", on: overHTTP2, react: func(x *exchange) { x.frame(frameHeaders, flagEndHeaders, x.stream, []byte{0xff, 0xff, 0xff}) }, send: inDoubt, read: again},
		{number: 19, name: "an answer without a status", on: overHTTP2, react: func(x *exchange) { x.frame(frameHeaders, flagEndHeaders|flagEndStream, x.stream, nil) }, send: inDoubt, read: again},
		{number: 20, name: "200 with its body cut", on: everywhere, react: func(x *exchange) { x.part(200); x.close() }, send: inDoubt.answered(200), read: again.answered(200)},
		{number: 20, name: "200 with its chunked body cut", on: overHTTP1, react: func(x *exchange) {
			x.head(200, "Transfer-Encoding", "chunked")
			x.raw("a\r\n{\"status\":\r\n")
			x.close()
		}, send: inDoubt.answered(200), read: again.answered(200)},
		{number: 20, name: "200 with its body held back", on: everywhere, waits: true, react: func(x *exchange) { x.part(200); x.hold() }, option: messaging.WithTimeout(pause), send: inDoubt.answered(200), read: again.answered(200)},
		{number: 20, name: "200 with a body that comes byte by byte, without an end", on: everywhere, waits: true, react: func(x *exchange) { x.trickle(200) }, option: messaging.WithTimeout(pause), send: inDoubt.answered(200), read: again.answered(200)},
		{number: 20, name: "200 that is no JSON", on: everywhere, react: func(x *exchange) { x.answer(200, "<p>"+echo) }, send: inDoubt.answered(200), read: again.answered(200)},
		// Of these the status says enough, whatever is missing of the rest; but nothing is lost when a read is asked again.
		{number: 20, name: "503 with its body held back", on: everywhere, waits: true, react: func(x *exchange) { x.part(503); x.hold() }, option: messaging.WithTimeout(pause), send: inDoubt.answered(503), read: again.answered(503)},
		{number: 20, name: "400 with its body cut", on: everywhere, react: func(x *exchange) { x.part(400); x.close() }, send: refused.answered(400), read: outcome{arrived: faultAttempts, attempts: faultAttempts, status: 400, verdict: refused.verdict, clears: true}},
		{number: 20, name: "429 with its body cut", on: everywhere, react: func(x *exchange) { x.part(429); x.close() }, send: limited, read: limited},

		// Nothing was written: there was no time, or no way.
		{number: 21, name: "cancelled before the request", on: everywhere, ctx: cancelled, send: notTried.because(context.Canceled), read: notTried.because(context.Canceled)},
		{number: 21, name: "past the deadline before the request", on: everywhere, ctx: deadline(-time.Second), send: notTried.because(context.DeadlineExceeded), read: notTried.because(context.DeadlineExceeded)},
		{number: 22, name: "the caller's deadline behind another request", on: everywhere, occupied: true, react: (*exchange).hold, transport: oneAtATime, ctx: deadline(brief), send: notTried.because(context.DeadlineExceeded), read: notTried.because(context.DeadlineExceeded)},
		{number: 23, name: "proxy refused", on: fresh, tls: true, proxy: func(*testing.T) string { return "http://" + nobody }, send: notSent, read: notSent},
		{number: 23, name: "CONNECT answered 503", on: fresh, tls: true, proxy: proxyThatRefuses, send: notSent, read: notSent},

		// What happens to an idle connection hurts nobody, if the client notices in time.
		{number: 24, name: "closed while idle", on: reused, idle: (*exchange).leave, send: accepted, read: accepted},
		{number: 24, name: "408 while idle", on: http1Reused, idle: func(x *exchange) { x.answer(408, "", "Connection", "close"); x.left() }, send: accepted, read: accepted},
		{number: 24, name: "a second answer while idle", on: http1Reused, idle: func(x *exchange) { x.accept(); x.left() }, send: accepted, read: accepted},
		{number: 24, name: "GOAWAY while idle", on: http2Reused, idle: func(x *exchange) { x.goAway(x.stream, codeNoError); x.obeyed() }, send: accepted, read: accepted},
		// And if it does not, it cannot tell this from 12 and 13.
		{number: 25, name: "closed as the next request arrives", on: http1Reused, begin: hangUp, send: unread, read: anew},
		{number: 25, name: "reset as the next request arrives", on: http1Reused, begin: func(c net.Conn, _ io.Reader) { resetConn(c) }, send: unread, read: anew},
		// On HTTP/2 the end of a send comes after its header fields, in a frame of its own, which need not have been written yet.
		{number: 25, name: "closed as the next request arrives", on: http2Reused, begin: hangUp, send: either, read: anew},
		{number: 25, name: "reset as the next request arrives", on: http2Reused, begin: func(c net.Conn, _ io.Reader) { resetConn(c) }, send: either, read: anew},

		// net/http takes a request with one of these fields for safe to repeat, and on a reused connection repeats it by itself.
		{number: 26, name: "closed after the request, Idempotency-Key", on: everywhere, react: (*exchange).close, option: authWith("Idempotency-Key"), send: inDoubt, read: replayed},
		{number: 26, name: "reset after the request, Idempotency-Key", on: everywhere, react: (*exchange).reset, option: authWith("Idempotency-Key"), send: inDoubt, read: replayed},
		{number: 26, name: "closed after the request, X-Idempotency-Key", on: everywhere, react: (*exchange).close, option: authWith("X-Idempotency-Key"), send: inDoubt, read: replayed},

		// The service gives a stream of HTTP/2 back: these it has not processed,
		{number: 29, name: "REFUSED_STREAM", on: overHTTP2, waits: true, react: func(x *exchange) { x.resetStream(codeRefusedStream) }, option: messaging.WithTimeout(pause), send: disowned, read: returned},
		{number: 29, name: "GOAWAY below the stream", on: overHTTP2, waits: true, react: func(x *exchange) { x.dawdle(); x.goAway(x.stream/2, codeNoError) }, option: messaging.WithTimeout(pause / 2), send: disowned, read: returned},
		{number: 30, name: "GOAWAY below the stream, with a code", on: overHTTP2, react: func(x *exchange) { x.goAway(x.stream/2, codeEnhanceYourCalm) }, send: disowned, read: again.repeatedOver(http2Reused)},
		// and these it may have.
		{number: 31, name: "GOAWAY at the stream, then closed", on: overHTTP2, react: func(x *exchange) { x.goAway(x.stream, codeNoError); x.close() }, send: inDoubt, read: again},
		{number: 31, name: "GOAWAY at the stream with a code, then closed", on: overHTTP2, react: func(x *exchange) { x.goAway(x.stream, codeInternalError); x.close() }, send: inDoubt, read: again},
		{number: 31, name: "GOAWAY above the stream, then closed", on: overHTTP2, react: func(x *exchange) { x.goAway(math.MaxInt32, codeNoError); x.close() }, send: inDoubt, read: again},
		{number: 32, name: "RST_STREAM INTERNAL_ERROR", on: overHTTP2, react: func(x *exchange) { x.resetStream(codeInternalError) }, send: inDoubt, read: again},
		{number: 32, name: "RST_STREAM CANCEL", on: overHTTP2, react: func(x *exchange) { x.resetStream(codeCancel) }, send: inDoubt, read: again},
		{number: 32, name: "RST_STREAM ENHANCE_YOUR_CALM", on: overHTTP2, react: func(x *exchange) { x.resetStream(codeEnhanceYourCalm) }, send: inDoubt, read: again},
		{number: 32, name: "RST_STREAM NO_ERROR", on: overHTTP2, react: func(x *exchange) { x.resetStream(codeNoError) }, send: inDoubt, read: again},
		// net/http of Go 1.26 repeats these by itself, without a word, where a request can give its body twice or has none.
		{number: 33, name: "RST_STREAM PROTOCOL_ERROR", on: overHTTP2, waits: true, react: func(x *exchange) { x.dawdle(); x.resetStream(codeProtocolError) }, option: messaging.WithTimeout(pause / 2), send: inDoubt, read: returned},
		{number: 34, name: "closed before SETTINGS", on: http2Fresh, begin: hangUp, send: either, read: anew},
		{number: 34, name: "closed after the head of a 200", on: overHTTP2, react: func(x *exchange) { x.head(200); x.close() }, send: inDoubt.answered(200), read: again.answered(200)},
		{number: 34, name: "RST_STREAM after the head of a 200", on: overHTTP2, react: func(x *exchange) { x.head(200); x.resetStream(codeCancel) }, send: inDoubt.answered(anyStatus), read: again.answered(anyStatus)},

		// No fault, only unusual.
		{number: 35, name: "100 and 103 before the answer", on: everywhere, react: func(x *exchange) { x.head(100); x.head(103, "Link", "</a>; rel=preload"); x.head(103); x.accept() }, send: accepted, read: accepted},
		{number: 35, name: "accepted, then closed", on: everywhere, react: func(x *exchange) { x.accept(); x.close() }, send: accepted, read: accepted},
		{number: 35, name: "accepted, then RST_STREAM NO_ERROR", on: overHTTP2, react: func(x *exchange) { x.accept(); x.resetStream(codeNoError) }, send: accepted, read: accepted},
		{number: 35, name: "GOAWAY at the stream, then accepted", on: overHTTP2, react: func(x *exchange) { x.goAway(x.stream, codeNoError); x.accept() }, send: accepted, read: accepted},

		// More than the client wants to read.
		{number: 36, name: "200 over the bound", on: everywhere, react: func(x *exchange) {
			x.answer(200, x.acceptance()+strings.Repeat(" ", 4<<10))
		}, option: messaging.WithMaxAnswer(1 << 10), send: inDoubt.answered(200), read: inVain.answered(200)},
		{number: 36, name: "200 without an end", on: everywhere, alone: true, react: func(x *exchange) { x.endless(200) }, option: messaging.WithMaxAnswer(1 << 16), send: inDoubt.answered(200), read: inVain.answered(200)},
		{number: 36, name: "200 that unpacks to more than the bound", on: everywhere, alone: true, react: func(x *exchange) { x.answer(200, packed, "Content-Encoding", "gzip") }, option: messaging.WithMaxAnswer(1 << 16), send: inDoubt.answered(200), read: inVain.answered(200)},
		{number: 36, name: "400 without an end", on: everywhere, alone: true, react: func(x *exchange) { x.endless(400) }, send: refused.answered(400), read: refused.answered(400)},
		{number: 36, name: "502 without an end", on: everywhere, alone: true, react: func(x *exchange) { x.endless(502) }, send: inDoubt.answered(502), read: again.answered(502)},
		{number: 36, name: "400 with a page of 10 MiB", on: everywhere, alone: true, react: func(x *exchange) { x.answer(400, page) }, send: refused.answered(400), read: refused.answered(400)},
		{number: 36, name: "502 with a page of 10 MiB", on: everywhere, alone: true, react: func(x *exchange) { x.answer(502, page) }, send: inDoubt.answered(502), read: again.answered(502)},

		// Answers to what was not asked. The body of a 101 is the connection itself on HTTP/1, which ends with no context; on
		// HTTP/2 there is no such thing, and the answer is still to come.
		{number: 37, name: "101, then silence", on: overHTTP1, waits: true, react: func(x *exchange) { x.head(101, "Connection", "Upgrade", "Upgrade", "other"); x.hold() }, option: messaging.WithTimeout(pause), send: inDoubt.answered(anyStatus), read: inVain.answered(anyStatus)},
		{number: 37, name: "101, then silence", on: overHTTP2, waits: true, react: func(x *exchange) { x.head(101); x.hold() }, option: messaging.WithTimeout(pause), send: inDoubt, read: again},
		// Whether the answer overtakes the failure to write the rest is a matter of microseconds again.
		{number: 37, name: "413 before the text was read", on: everywhere, alone: true, text: strings.Repeat("hush", 1<<20), early: (*exchange).refuseUnread, send: outcome{attempts: 1, status: anyStatus, verdict: []messaging.Verdict{messaging.Refused, messaging.Unknown}}},
	}
	// What says that all is well, and does not mean it.
	rows = append(
		rows,
		fault{number: 39, name: "200 with an error code", on: everywhere, react: func(x *exchange) { x.answer(200, `{"code":"200202",`+echo[1:]) }, send: refused.answered(200), read: refused.answered(200)},
		fault{number: 39, name: "200 without what was asked for", on: everywhere, react: func(x *exchange) { x.answer(200, `{"status":"ok"}`) }, send: inDoubt.answered(200), read: inVain.answered(200)},
	)
	for _, status := range []int{408, 500, 502, 503, 504} {
		rows = append(rows, fault{number: 27, name: strconv.Itoa(status), on: everywhere, react: func(x *exchange) { x.answer(status, echo) }, send: inDoubt.answered(status), read: again.answered(status)})
	}
	for _, status := range []int{501, 505, 507, 599} {
		rows = append(rows, fault{number: 27, name: strconv.Itoa(status), on: everywhere, react: func(x *exchange) { x.answer(status, echo) }, send: inDoubt.answered(status), read: inVain.answered(status)})
	}
	for _, status := range []int{400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 418, 422, 423, 425, 426, 428, 431, 451, 499} {
		rows = append(rows, fault{number: 28, name: strconv.Itoa(status), on: everywhere, react: func(x *exchange) { x.answer(status, echo) }, send: refused.answered(status), read: refused.answered(status)})
	}
	rows = append(rows, fault{number: 28, name: "429", on: everywhere, react: func(x *exchange) { x.answer(429, echo) }, send: limited, read: limited})
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		rows = append(rows, fault{number: 38, name: strconv.Itoa(status), on: everywhere, react: func(x *exchange) { x.answer(status, echo, "Location", "/sms/send?again") }, send: inDoubt.answered(status), read: inVain.answered(status)})
	}
	return rows
}

func TestEveryFaultEndsWithTheRightVerdict(t *testing.T) { //nolint:tparallel // the rows that wait are judged last
	t.Parallel()
	certificate, authority := faultCertificate(t)
	table := new(faultTable)
	t.Cleanup(func() { table.finish(t) })
	// The rows that wait do so behind the others' backs. Each has some work to do first, for which it has little time: so they
	// do not begin together.
	const apart = 250 * time.Millisecond
	var waiting []func()
	t.Run("at once", func(group *testing.T) {
		for _, f := range faultMatrix() {
			name := fmt.Sprintf("%02d %s", f.number, f.name)
			cells := cellsOf(faultCell{fault: f, certificate: certificate, authority: authority, table: table})
			table.expect(cells)
			if !f.waits {
				group.Run(name, func(t *testing.T) {
					t.Parallel()
					judgeAll(t, cells, prepareAll(t, cells)())
				})
				continue
			}
			calls, ends := prepareAll(t, cells), make(chan []faultEnd, 1)
			time.AfterFunc(time.Duration(len(waiting))*apart, func() { ends <- calls() })
			waiting = append(waiting, func() {
				t.Run("waiting/"+name, func(t *testing.T) { judgeAll(t, cells, <-ends) })
			})
		}
	})
	for _, judge := range waiting {
		judge()
	}
}

// assertOutcome checks that everything an error says about a fault is true and consistent.
func assertOutcome(t *testing.T, err error, want outcome) {
	t.Helper()
	verdict := messaging.VerdictOf(err)
	assert.Contains(t, want.verdict, verdict, "%v", err)
	assert.Equal(t, verdict == messaging.Unknown, errors.Is(err, messaging.ErrOutcomeUnknown), "ErrOutcomeUnknown beside the verdict %v", verdict)
	assert.Equal(t, verdict == messaging.NotSent, errors.Is(err, messaging.ErrNotSent), "ErrNotSent beside the verdict %v", verdict)
	if verdict == messaging.Accepted {
		require.NoError(t, err)
		return
	}
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, verdict, e.Verdict)
	assert.NotEmpty(t, e.Operation)
	assert.Equal(t, faultReference, e.ReferenceID)
	assertKnown(t, e, want)
}

// assertKnown checks what an error says of the answer and of the attempts, and that it can be logged.
func assertKnown(t *testing.T, e *messaging.Error, want outcome) {
	t.Helper()
	assertNoSecrets(t, e)
	if want.status != anyStatus {
		assert.Equal(t, want.status, e.StatusCode, "%v", e)
	}
	if want.attempts != 0 {
		assert.Equal(t, want.attempts, e.Attempts, "%v", e)
	}
	assert.LessOrEqual(t, e.Attempts, faultAttempts)
	assert.LessOrEqual(t, len(e.Body), 64<<10)
	if e.StatusCode >= 400 && want.status != anyStatus {
		assert.NotEmpty(t, e.Body, "what the service said is lost")
	}
	if want.is != nil {
		require.ErrorIs(t, e, want.is)
	}
}

// assertNoSecrets checks that an error can be printed and logged in every way, even where the service echoed what it was
// sent.
func assertNoSecrets(t *testing.T, err error) {
	t.Helper()
	printed := shown(t, err, true) + fmt.Sprintf("%v %+v %q", errors.Join(err), fmt.Errorf("wrapped: %w", err), fmt.Errorf("wrapped: %w", err))
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		printed += fmt.Sprintf("%v %+v %#v %s %d", *e, *e, *e, *e, *e)
	}
	for _, secret := range []string{faultToken, faultNumber, faultText, "hush", "pageNumber", "filter"} {
		for _, form := range []string{secret, fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret)} {
			if at := strings.Index(printed, form); at >= 0 {
				assert.Fail(t, "shows "+secret, "%.300s", printed[max(0, at-150):])
			}
		}
	}
}

// await waits for what must happen, so that a test that would hang fails.
func await(t *testing.T, event <-chan struct{}) {
	t.Helper()
	require.NoError(t, happens(event))
}

// nobody is an address of this machine on which nothing listens: a port that was free a moment ago could be
// another test's by now.
const nobody = "127.0.0.1:1"

func dialRefused(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", nobody)
}

// dialUnknownName asks a name server that cannot be reached, so that no test depends on a real one.
func dialUnknownName(ctx context.Context) (net.Conn, error) {
	resolver := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	return (&net.Dialer{Resolver: resolver}).DialContext(ctx, "tcp", "sms.example.invalid:443")
}

func dialTooSlow(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: time.Nanosecond}).DialContext(ctx, "tcp", nobody)
}

func dialHangs(ctx context.Context) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func requireCertificate(service *tls.Config) {
	service.MinVersion, service.ClientAuth = tls.VersionTLS13, tls.RequireAnyClientCert
}

// showStrangeCertificate shows one that nobody has signed but itself.
func showStrangeCertificate(service *tls.Config) {
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

// proxyThatRefuses answers everything with 503, and must never be shown what is meant for the service.
func proxyThatRefuses(t *testing.T) string {
	t.Helper()
	p := newFaultPeer(t, faultScript{react: func(x *exchange) { x.answer(503, "") }})
	t.Cleanup(func() {
		for _, a := range p.seen("") {
			assert.NotContains(t, fmt.Sprint(a), faultToken)
		}
	})
	return p.url()
}

func deadline(d time.Duration) func(context.Context, *faultPeer) (context.Context, context.CancelFunc) {
	return func(ctx context.Context, _ *faultPeer) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, d)
	}
}

func cancelled(ctx context.Context, _ *faultPeer) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}

func cancelledOnceStruck(ctx context.Context, p *faultPeer) (context.Context, context.CancelFunc) {
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

// authWith signs requests in a way that gives them one more header field.
func authWith(key string) messaging.Option {
	return messaging.WithAuth(messaging.AuthFunc(func(r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+faultToken)
		r.Header.Set(key, faultReference)
		return nil
	}))
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

// A target of a redirect is another host: it must see no message and no credentials, whatever the user's own
// client is used to do.
func TestTheTargetOfARedirectSeesNothing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, options := range map[string][]messaging.Option{
			"own transport": {messaging.WithToken(faultToken)},
			"own header":    {authWith("X-Api-Key")},
			"a client that follows": {messaging.WithHTTPClient(&http.Client{
				Transport:     &http.Transport{DisableKeepAlives: true},
				CheckRedirect: func(*http.Request, []*http.Request) error { return nil },
			})},
		} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				t.Parallel()
				target := newFaultPeer(t, faultScript{})
				p := newFaultPeer(t, faultScript{react: func(x *exchange) { x.answer(status, echo, "Location", target.url()+"/sms/send") }})
				_, err := newFaultClient(t, p.url(), options...).SMS.Send(t.Context(), faultMessage(faultReference))
				target.stop()
				assertOutcome(t, err, outcome{status: status, attempts: 1, verdict: []messaging.Verdict{messaging.Unknown}})
				assert.Len(t, p.seen(faultReference), 1)
				assert.Empty(t, target.seen(""))
			})
		}
	}
}

// roundTripper is a transport that is a function: it shows none of the events of net/http/httptrace.
type roundTripper func(r *http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return f(r)
}

func (f roundTripper) option() messaging.Option {
	return messaging.WithHTTPClient(&http.Client{Transport: f})
}

func stubAnswer(r *http.Request, status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Header: h,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}

const stubAccepted = `{"status":"ok","data":{"id":"m-1"}}`

// That no byte was seen leaving proves something only where bytes would have been seen.
func TestATransportThatShowsNothingProvesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		err     error
		calls   int
		verdict messaging.Verdict
	}{
		{"an error that says nothing", io.EOF, 1, messaging.Unknown},
		{"an error of its own", errors.New("connection refused"), 1, messaging.Unknown},
		{"a read that failed", &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}, 1, messaging.Unknown},
		{"a dial that failed", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route")}, faultAttempts, messaging.NotSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			tr := roundTripper(func(*http.Request) (*http.Response, error) {
				calls++
				return nil, tt.err
			})
			_, err := newFaultClient(t, "https://sms.example.invalid", tr.option()).SMS.Send(t.Context(), faultMessage(faultReference))
			assertOutcome(t, err, outcome{attempts: tt.calls, verdict: []messaging.Verdict{tt.verdict}})
			assert.Equal(t, tt.calls, calls)
			assert.ErrorIs(t, err, tt.err, "the cause")
		})
	}
}

func TestAnAnswerOutlivesAContextThatEndsLate(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tr := roundTripper(func(r *http.Request) (*http.Response, error) {
		cancel()
		return stubAnswer(r, 200, stubAccepted), nil
	})
	receipt, err := newFaultClient(t, "https://sms.example.invalid", tr.option()).SMS.Send(ctx, faultMessage(faultReference))
	require.NoError(t, err)
	assert.Equal(t, "m-1", receipt.ID)
}

func TestADeadlineEndsABackOff(t *testing.T) {
	t.Parallel()
	const deadline = 100 * time.Millisecond
	for _, tt := range []struct {
		name    string
		answer  roundTripper
		status  int
		verdict messaging.Verdict
	}{
		{"429", func(r *http.Request) (*http.Response, error) { return stubAnswer(r, 429, echo), nil }, 429, messaging.Refused},
		{"no connection", func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route")}
		}, 0, messaging.NotSent},
	} {
		for _, end := range []error{context.DeadlineExceeded, context.Canceled} {
			t.Run(fmt.Sprint(tt.name, ", ", end), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					// The jitter may make one wait short, but not so many.
					client := newFaultClient(t, "https://sms.example.invalid", tt.answer.option(),
						messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 50, MinWait: 30 * time.Second, MaxWait: time.Minute}))
					ctx, cancel := context.WithTimeout(t.Context(), deadline)
					defer cancel()
					if errors.Is(end, context.Canceled) {
						ctx, cancel = context.WithCancel(t.Context())
						defer cancel()
						time.AfterFunc(deadline, cancel)
					}
					start := time.Now()
					_, err := client.SMS.Send(ctx, faultMessage(faultReference))
					assert.LessOrEqual(t, time.Since(start), deadline)
					require.ErrorIs(t, err, end)
					var e *messaging.Error
					require.ErrorAs(t, err, &e)
					assert.Equal(t, tt.verdict, e.Verdict, "what the last attempt has shown stays true")
					assert.Equal(t, tt.status, e.StatusCode)
					assertNoSecrets(t, err)
				})
			})
		}
	}
}

func TestRetryAfterIsHonouredWithinBounds(t *testing.T) {
	t.Parallel()
	const (
		minWait = 10 * time.Millisecond
		maxWait = 10 * time.Second
	)
	for _, tt := range []struct {
		after    string        // what the first answers say; {date} is three seconds from now
		least    time.Duration // waited before the message is accepted, at the next attempt
		most     time.Duration
		tooLong  bool          // not waited for
		reported time.Duration // at least
	}{
		{after: "2", least: 2 * time.Second, most: 3 * time.Second},
		{after: "{date}", least: 3 * time.Second, most: 4 * time.Second},
		{after: "0", most: maxWait},
		{after: "Fri, 31 Dec 1999 23:59:59 GMT", most: maxWait},
		// Not a number of seconds and not a date: as if it were not there.
		{after: "-5", most: maxWait},
		{after: "1.5", most: maxWait},
		{after: "soon", most: maxWait},
		{after: "11", tooLong: true, reported: 11 * time.Second},
		{after: "3600", tooLong: true, reported: time.Hour},
		{after: "18446744073", tooLong: true, reported: time.Hour}, // negative, as nanoseconds in 64 bits
		{after: "99999999999999999999", tooLong: true, reported: time.Hour},
		{after: "Fri, 31 Dec 2100 23:59:59 GMT", tooLong: true, reported: time.Hour},
	} {
		t.Run(tt.after, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				after := strings.ReplaceAll(tt.after, "{date}", time.Now().Add(3*time.Second).UTC().Format(http.TimeFormat))
				tr := roundTripper(func(r *http.Request) (*http.Response, error) {
					if calls++; calls == 1 || tt.tooLong {
						return stubAnswer(r, 429, echo, "Retry-After", after), nil
					}
					return stubAnswer(r, 200, stubAccepted), nil
				})
				client := newFaultClient(t, "https://sms.example.invalid", tr.option(),
					messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: faultAttempts, MinWait: minWait, MaxWait: maxWait}))
				start := time.Now()
				_, err := client.SMS.Send(t.Context(), faultMessage(faultReference))
				took := time.Since(start)
				if !tt.tooLong {
					require.NoError(t, err)
					assert.Equal(t, 2, calls)
					assert.GreaterOrEqual(t, took, tt.least)
					assert.LessOrEqual(t, took, tt.most)
					return
				}
				assertOutcome(t, err, outcome{attempts: 1, status: 429, verdict: []messaging.Verdict{messaging.Refused}})
				assert.Zero(t, took, "waited for what cannot come")
				var e *messaging.Error
				require.ErrorAs(t, err, &e)
				assert.GreaterOrEqual(t, e.RetryAfter, tt.reported)
			})
		})
	}
}

// Only a status of which the contract says that the request was not processed permits another attempt:
// a Retry-After does not.
func TestRetryAfterOnAnUnknownOutcomeIsNoInvitation(t *testing.T) {
	t.Parallel()
	p := newFaultPeer(t, faultScript{react: func(x *exchange) { x.answer(503, echo, "Retry-After", "0") }})
	_, err := newFaultClient(t, p.url()).SMS.Send(t.Context(), faultMessage(faultReference))
	assertOutcome(t, err, outcome{attempts: 1, status: 503, verdict: []messaging.Verdict{messaging.Unknown}})
	assert.Len(t, p.seen(faultReference), 1)
}

// faultServer is a proper server that counts its connections.
func faultServer(t *testing.T, handle http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(handle)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	t.Cleanup(server.Close)
	return server, &connections
}

// referenceOf reads a request whole and returns the reference of its message.
func referenceOf(r *http.Request) string {
	var m struct{ ReferenceID string }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_ = json.Unmarshal(body, &m)
	}
	return m.ReferenceID
}

func TestBurstsOfSendsReuseTheirConnections(t *testing.T) {
	t.Parallel()
	const burst = 64
	var (
		arrived atomic.Int64
		gates   = [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	)
	server, connections := faultServer(t, func(w http.ResponseWriter, r *http.Request) {
		_ = referenceOf(r)
		// Nobody is answered before all are there: otherwise a burst would need fewer connections by luck.
		n := arrived.Add(1) - 1
		gate := gates[min(n/burst, 1)]
		if (n+1)%burst == 0 {
			close(gate)
		}
		select {
		case <-gate:
		case <-time.After(peerLife / 2):
		}
		_, _ = io.WriteString(w, stubAccepted)
	})
	server.Start()
	client := newFaultClient(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), peerLife)
	defer cancel()
	var before int64
	for n := range gates {
		before = connections.Load()
		var sends sync.WaitGroup
		for range burst {
			sends.Go(func() {
				_, err := client.SMS.Send(ctx, faultMessage(faultReference))
				assert.NoError(t, err, "burst %d", n+1)
			})
		}
		sends.Wait()
	}
	assert.GreaterOrEqual(t, before, int64(burst))
	assert.LessOrEqual(t, connections.Load()-before, int64(8), "connections opened by the second burst")
	assert.EqualValues(t, len(gates)*burst, arrived.Load())
}

// The service may close an idle connection just as the next request is written, which cannot be told from a
// request that was processed. So the client is the first to close, below the usual keep-alive of servers.
func TestIdleConnectionsAreClosedByTheClient(t *testing.T) {
	t.Parallel()
	p := newFaultPeer(t, faultScript{warmUp: 1, idle: (*exchange).left})
	_, err := newFaultClient(t, p.url()).SMS.Send(t.Context(), faultMessage(faultReference))
	require.NoError(t, err)
	start := time.Now()
	await(t, p.noticed)
	assert.InDelta(t, 4.5, time.Since(start).Seconds(), 1.5)
}

func TestTheUsersHTTPClientIsLeftAlone(t *testing.T) {
	t.Parallel()
	server, connections := faultServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "mine") })
	server.Start()
	tr := &http.Transport{IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 3}
	hc := &http.Client{Transport: tr, Timeout: time.Minute}
	t.Cleanup(tr.CloseIdleConnections)
	visit := func() {
		t.Helper()
		resp, err := hc.Get(server.URL)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	visit()
	require.EqualValues(t, 1, connections.Load())

	p := newFaultPeer(t, faultScript{react: func(x *exchange) {
		switch x.index {
		case 1:
			x.close()
		case 2:
			x.answer(500, echo)
		case 3:
			x.reset()
		default:
			x.answer(429, echo)
		}
	}})
	for range 4 {
		_, err := newFaultClient(t, p.url(), messaging.WithHTTPClient(hc), messaging.WithTimeout(time.Second)).SMS.Send(t.Context(), faultMessage(faultReference))
		require.Error(t, err)
	}
	_, err := newFaultClient(t, "http://"+nobody, messaging.WithHTTPClient(hc)).SMS.Send(t.Context(), faultMessage(faultReference))
	require.ErrorIs(t, err, messaging.ErrNotSent)

	visit()
	assert.EqualValues(t, 1, connections.Load(), "the user's idle connection was closed")
	assert.Same(t, tr, hc.Transport)
	assert.Nil(t, hc.CheckRedirect)
	assert.Nil(t, hc.Jar)
	assert.Equal(t, time.Minute, hc.Timeout)
	assert.Equal(t, time.Minute, tr.IdleConnTimeout)
	assert.Equal(t, 3, tr.MaxIdleConnsPerHost)
	assert.False(t, tr.DisableKeepAlives)
	assert.Nil(t, tr.Proxy)
	assert.Nil(t, tr.Protocols)
}

func TestOneClientServesManyGoroutines(t *testing.T) {
	t.Parallel()
	const goroutines, each = 100, 3
	var handled sync.Map // reference to *atomic.Int64
	server, _ := faultServer(t, func(w http.ResponseWriter, r *http.Request) {
		reference := referenceOf(r)
		times, _ := handled.LoadOrStore(reference, new(atomic.Int64))
		times.(*atomic.Int64).Add(1)
		_, _ = fmt.Fprintf(w, `{"status":"ok","data":{"id":"id of %s"}}`, reference)
	})
	server.Start()
	client := newFaultClient(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), peerLife)
	defer cancel()
	var senders sync.WaitGroup
	for g := range goroutines {
		senders.Go(func() {
			for i := range each {
				reference := fmt.Sprintf("r-%d-%d", g, i)
				receipt, err := client.SMS.Send(ctx, faultMessage(reference))
				assert.Equal(t, "id of "+reference, receipt.ID, "%v", err)
			}
		})
	}
	senders.Wait()
	messages := 0
	handled.Range(func(reference, times any) bool {
		messages++
		assert.EqualValues(t, 1, times.(*atomic.Int64).Load(), "%v", reference)
		return true
	})
	assert.Equal(t, goroutines*each, messages)
}

// The service drops idle connections at about the time at which the client sends again: about a quarter of
// these sends fail with net/http alone. However each of them ends, its verdict is true.
func TestVerdictsHoldInTheKeepAliveRace(t *testing.T) {
	t.Parallel()
	const keepAlive = 20 * time.Millisecond
	var mu sync.Mutex
	handled := map[string]int{}
	server, _ := faultServer(t, func(w http.ResponseWriter, r *http.Request) {
		reference := referenceOf(r)
		mu.Lock()
		handled[reference]++
		mu.Unlock()
		_, _ = io.WriteString(w, stubAccepted)
	})
	server.Config.IdleTimeout = keepAlive
	server.Start()
	client := newFaultClient(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), peerLife)
	defer cancel()
	verdicts := map[string]messaging.Verdict{}
	pace := time.NewTicker(keepAlive)
	defer pace.Stop()
	for i := range 80 {
		reference := fmt.Sprint("r-", i)
		_, err := client.SMS.Send(ctx, faultMessage(reference))
		verdicts[reference] = messaging.VerdictOf(err)
		<-pace.C
	}
	server.Close()
	for reference, verdict := range verdicts {
		switch verdict {
		case messaging.Accepted:
			assert.Equal(t, 1, handled[reference], reference)
		case messaging.NotSent:
			assert.Zero(t, handled[reference], reference)
		case messaging.Unknown:
			assert.LessOrEqual(t, handled[reference], 1, reference)
		default:
			assert.Fail(t, "nobody refused this message", "%s: %v", reference, verdict)
		}
	}
}
