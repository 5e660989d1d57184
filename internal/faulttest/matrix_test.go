package faulttest_test

import (
	"context"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

const (
	brief = 150 * time.Millisecond // where nothing needs to arrive
	pause = 3 * time.Second        // enough for a request to arrive and a response to come, even on a busy machine
)

// faultMatrix returns everything that can go wrong between a request and its response.
//
// The rule for sends: a request that the service may have in full is never sent again, and without a response that decides it
// the outcome is unknown. A request that cannot have left is sent again, and at the end called not sent.
// The rule for reads: every read is retried, unless the response says that a retry is useless, or the caller's time is over.
//
// A row lacks a kind of connection where the fault cannot occur, or is the fault of another row. A reused connection was
// dialed, accepted and encrypted before. What hits an idle connection needs a reused one. Status lines, chunks and unasked
// responses belong to HTTP/1; frames and streams belong to HTTP/2. A read has no text to be large.
func faultMatrix() []fault {
	return slices.Concat(
		connectFaults(), handshakeFaults(), silenceFaults(), brokenResponseFaults(), noTimeFaults(), idleFaults(), replayFaults(),
		statusFaults(), streamFaults(), unusualResponses(), oversizedResponses(), unexpectedResponses(), misleadingResponses(),
	)
}

func TestFaultMatrix(t *testing.T) { //nolint:tparallel // the rows that wait are judged last
	t.Parallel()
	certificate, authority := newCertificate(t)
	table := new(resultTable)
	t.Cleanup(func() { table.finish(t) })
	// The rows that wait run in the background. Each has some work to do first and little time for it, so their starts are staggered.
	const stagger = 250 * time.Millisecond
	var waiting []func()
	t.Run("at once", func(group *testing.T) {
		for _, f := range faultMatrix() {
			name := fmt.Sprintf("%02d %s", f.number, f.name)
			cells := cellsOf(cell{fault: f, certificate: certificate, authority: authority, table: table})
			table.expect(cells)
			if !f.waits {
				group.Run(name, func(t *testing.T) {
					t.Parallel()
					judgeAll(t, cells, prepareAll(t, cells)())
				})
				continue
			}
			calls, results := prepareAll(t, cells), make(chan []result, 1)
			time.AfterFunc(time.Duration(len(waiting))*stagger, func() { results <- calls() })
			waiting = append(waiting, func() {
				t.Run("waiting/"+name, func(t *testing.T) { judgeAll(t, cells, <-results) })
			})
		}
	})
	for _, judge := range waiting {
		judge()
	}
}

// connectFaults break the connection before anything of a request is written.
func connectFaults() []fault {
	return []fault{
		{
			number: 1, name: "connection refused", on: fresh,
			dial: dialRefused,
			send: notSent, read: notSent,
		},
		{
			number: 2, name: "name not found", on: fresh,
			dial: dialUnknownName,
			send: notSent, read: notSent,
		},
		{
			number: 3, name: "dialing times out", on: fresh,
			dial: dialTooSlow,
			send: notSent, read: notSent,
		},
		{
			number: 4, name: "the caller's deadline while dialing", on: fresh, waits: true,
			dial: dialHangs,
			ctx:  deadline(pause),
			send: notSentInTime, read: notSentInTime,
		},
		{
			number: 5, name: "the attempt's timeout while dialing", on: fresh, waits: true,
			dial:   dialHangs,
			option: messaging.WithTimeout(pause),
			send:   notSent, read: notSent,
		},
		// Timing decides whether the reset comes before the request is written. The service has nothing either way.
		{
			number: 6, name: "reset at accept", on: fresh,
			accept: resetConn,
			send:   either, read: unarrived,
		},
	}
}

// handshakeFaults break the TLS handshake, so that nothing of a request is written.
func handshakeFaults() []fault {
	return []fault{
		{
			number: 7, name: "TLS with an unknown authority", on: fresh, tls: true,
			handshake: useSelfSignedCertificate,
			send:      notRetried, read: notRetried,
		},
		{
			number: 8, name: "TLS to a port that speaks plain HTTP", on: fresh, tls: true,
			accept: respondInPlainHTTP,
			send:   notRetried, read: notRetried,
		},
		{
			number: 9, name: "closed in the TLS handshake", on: fresh, tls: true,
			accept: closeAfterHello,
			send:   notSent, read: notSent,
		},
		{
			number: 9, name: "reset in the TLS handshake", on: fresh, tls: true,
			accept: resetAfterHello,
			send:   notSent, read: notSent,
		},
		{
			number: 10, name: "the TLS handshake times out", on: fresh, waits: true, tls: true,
			accept:    readForever,
			transport: func(tr *http.Transport) { tr.TLSHandshakeTimeout = pause },
			send:      notSent, read: notSent,
		},
		// In TLS 1.3 the client finishes the handshake before the service refuses it, so the request may have been written.
		{
			number: 11, name: "TLS 1.3 with a client certificate required", on: fresh, tls: true,
			handshake: requireClientCertificate,
			send:      either, read: unarrived,
		},
	}
}

// silenceFaults leave a request without a response.
func silenceFaults() []fault {
	return []fault{
		{
			number: 12, name: "closed after the request", on: everywhere,
			react: (*exchange).close,
			send:  unknown, read: replayed,
		},
		{
			number: 13, name: "reset after the request", on: everywhere,
			react: (*exchange).reset,
			send:  unknown, read: replayed,
		},
		{
			number: 14, name: "no response before the attempt's timeout", on: everywhere, waits: true,
			react:  (*exchange).hold,
			option: messaging.WithTimeout(pause),
			send:   unknown, read: failed,
		},
		{
			number: 15, name: "no response before the caller's deadline", on: everywhere, waits: true,
			react: (*exchange).hold,
			ctx:   deadline(pause),
			send:  unknown.withError(context.DeadlineExceeded), read: ended.withError(context.DeadlineExceeded),
		},
		{
			number: 15, name: "cancelled while waiting for the response", on: everywhere,
			react: (*exchange).hold,
			ctx:   cancelledOnArrival,
			send:  unknown.withError(context.Canceled), read: ended.withError(context.Canceled),
		},
		{
			number: 16, name: "no response before the transport's own timeout", on: everywhere, waits: true,
			react:     (*exchange).hold,
			transport: func(tr *http.Transport) { tr.ResponseHeaderTimeout = pause },
			send:      unknown, read: failed,
		},

		// The service closes the connection without reading the request.
		{
			number: 17, name: "closed at accept", on: fresh,
			accept: func(net.Conn) {},
			send:   either, read: unarrived,
		},
		{
			number: 17, name: "closed with the request unread", on: http1Fresh,
			begin: hangUp,
			send:  unread, read: unarrived,
		},
		{
			number: 18, name: "4 MiB of text, reset after 1 KiB", on: everywhere, alone: true,
			text:  strings.Repeat("hush", 1<<20),
			begin: resetAfterOneKiB,
			send:  unread,
		},
	}
}

// brokenResponseFaults send something that is no response, or half of one.
func brokenResponseFaults() []fault {
	return []fault{
		{
			number: 19, name: "status line cut", on: overHTTP1,
			react: func(x *exchange) { x.raw("HTTP/1.1 2"); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "malformed status line", on: overHTTP1,
			react: func(x *exchange) { x.raw(echo + "\r\n\r\n"); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "malformed header field", on: overHTTP1,
			react: func(x *exchange) { x.raw("HTTP/1.1 200 OK\r\n" + testNumber + " " + testText + "\r\n\r\n") },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "malformed header field", on: overHTTP2,
			react: func(x *exchange) { x.writeHead(200, testNumber+" "+testText, testText) },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "a header without an end", on: everywhere, alone: true,
			react:     (*exchange).writeEndlessHead,
			transport: func(tr *http.Transport) { tr.MaxResponseHeaderBytes = 64 << 10 },
			send:      unknown, read: failed,
		},
		{
			number: 19, name: "frame cut", on: overHTTP2,
			react: func(x *exchange) { x.raw("\x00\x00\xff\x01"); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "malformed frame", on: overHTTP2,
			react: func(x *exchange) { x.raw(echo + "\r\n\r\n"); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "a header that is not HPACK", on: overHTTP2,
			react: func(x *exchange) { x.frame(frameHeaders, flagEndHeaders, x.stream, []byte{0xff, 0xff, 0xff}) },
			send:  unknown, read: failed,
		},
		{
			number: 19, name: "a response without a status", on: overHTTP2,
			react: func(x *exchange) { x.frame(frameHeaders, flagEndHeaders|flagEndStream, x.stream, nil) },
			send:  unknown, read: failed,
		},
		{
			number: 20, name: "200 with its body cut", on: everywhere,
			react: func(x *exchange) { x.writePart(200); x.close() },
			send:  unknown.withStatus(200), read: failed.withStatus(200),
		},
		{
			number: 20, name: "200 with its chunked body cut", on: overHTTP1,
			react: (*exchange).writeHalfChunk,
			send:  unknown.withStatus(200), read: failed.withStatus(200),
		},
		{
			number: 20, name: "200 with its body held back", on: everywhere, waits: true,
			react:  func(x *exchange) { x.writePart(200); x.hold() },
			option: messaging.WithTimeout(pause),
			send:   unknown.withStatus(200), read: failed.withStatus(200),
		},
		{
			number: 20, name: "200 with an endless body, byte by byte", on: everywhere, waits: true,
			react:  func(x *exchange) { x.trickle(200) },
			option: messaging.WithTimeout(pause),
			send:   unknown.withStatus(200), read: failed.withStatus(200),
		},
		{
			number: 20, name: "200 that is not JSON", on: everywhere,
			react: func(x *exchange) { x.respond(200, "<p>"+echo) },
			send:  unknown.withStatus(200), read: failed.withStatus(200),
		},
		// The origin of a cut body is unknown. A read can be retried.
		{
			number: 20, name: "503 with its body held back", on: everywhere, waits: true,
			react:  func(x *exchange) { x.writePart(503); x.hold() },
			option: messaging.WithTimeout(pause),
			send:   unknown.withStatus(503), read: failed.withStatus(503),
		},
		{
			number: 20, name: "400 with its body cut", on: everywhere,
			react: func(x *exchange) { x.writePart(400); x.close() },
			send:  unknown.withStatus(400),
			read:  outcome{arrived: maxAttempts, attempts: maxAttempts, status: 400, verdict: refused.verdict, clears: true},
		},
		{
			number: 20, name: "429 with its body cut", on: everywhere,
			react: func(x *exchange) { x.writePart(429); x.close() },
			send:  unknown.withStatus(429), read: limited,
		},
	}
}

// noTimeFaults end a call before its request is written: no time is left, or no way to the service.
func noTimeFaults() []fault {
	return []fault{
		{
			number: 21, name: "cancelled before the request", on: everywhere,
			ctx:  cancelled,
			send: notRetried.withError(context.Canceled), read: notRetried.withError(context.Canceled),
		},
		{
			number: 21, name: "deadline exceeded before the request", on: everywhere,
			ctx:  deadline(-time.Second),
			send: notRetried.withError(context.DeadlineExceeded), read: notRetried.withError(context.DeadlineExceeded),
		},
		{
			number: 22, name: "the caller's deadline while another request holds the connection", on: everywhere, occupied: true,
			react:     (*exchange).hold,
			transport: oneAtATime,
			ctx:       deadline(brief),
			send:      notRetried.withError(context.DeadlineExceeded), read: notRetried.withError(context.DeadlineExceeded),
		},
		{
			number: 23, name: "proxy refused", on: fresh, tls: true,
			proxy: func(*testing.T) string { return "http://" + deadAddress },
			send:  notSent, read: notSent,
		},
		{
			number: 23, name: "CONNECT refused with 502", on: fresh, tls: true,
			proxy: proxyThatRefuses(502),
			send:  notSent, read: notSent,
		},
		{
			number: 23, name: "CONNECT refused with 503", on: fresh, tls: true,
			proxy: proxyThatRefuses(503),
			send:  notSent, read: notSent,
		},
		{
			number: 23, name: "CONNECT refused with 407", on: fresh, tls: true,
			proxy: proxyThatRefuses(407),
			send:  notRetried, read: notRetried,
		},
		{
			number: 23, name: "closed after CONNECT", on: fresh, tls: true,
			proxy: proxyThat((*exchange).close),
			send:  notSent, read: notSent,
		},
		{
			number: 23, name: "no response to CONNECT", on: fresh, tls: true, waits: true,
			proxy:  proxyThat((*exchange).hold),
			option: messaging.WithTimeout(pause),
			send:   notSent, read: notSent,
		},
	}
}

// idleFaults end an idle connection. They do no harm if the client notices in time.
func idleFaults() []fault {
	return []fault{
		{
			number: 24, name: "closed while idle", on: reused,
			idle: (*exchange).closeWrite,
			send: accepted, read: accepted,
		},
		{
			number: 24, name: "408 while idle", on: http1Reused,
			idle: func(x *exchange) { x.respond(408, "", "Connection", "close"); x.awaitClose() },
			send: accepted, read: accepted,
		},
		{
			number: 24, name: "a second response while idle", on: http1Reused,
			idle: func(x *exchange) { x.accept(); x.awaitClose() },
			send: accepted, read: accepted,
		},
		{
			number: 24, name: "GOAWAY while idle", on: http2Reused,
			idle: func(x *exchange) { x.goAway(x.stream, codeNoError); x.awaitRead() },
			send: accepted, read: accepted,
		},
		// The client notices too late, and cannot tell these from 12 and 13.
		{
			number: 25, name: "closed as the next request arrives", on: http1Reused,
			begin: hangUp,
			send:  unread, read: unarrived,
		},
		{
			number: 25, name: "reset as the next request arrives", on: http1Reused,
			begin: resetUnread,
			send:  unread, read: unarrived,
		},
		// On HTTP/2 a send ends with a frame of its own, which may not have been written yet.
		{
			number: 25, name: "closed as the next request arrives", on: http2Reused,
			begin: hangUp,
			send:  either, read: unarrived,
		},
		{
			number: 25, name: "reset as the next request arrives", on: http2Reused,
			begin: resetUnread,
			send:  either, read: unarrived,
		},
	}
}

// replayFaults hit requests that net/http considers safe to repeat because of a header field. On a reused connection it
// would repeat them.
func replayFaults() []fault {
	return []fault{
		{
			number: 26, name: "closed after the request, Idempotency-Key", on: everywhere,
			react:  (*exchange).close,
			option: authWithHeader("Idempotency-Key"),
			send:   unknown, read: replayed,
		},
		{
			number: 26, name: "reset after the request, Idempotency-Key", on: everywhere,
			react:  (*exchange).reset,
			option: authWithHeader("Idempotency-Key"),
			send:   unknown, read: replayed,
		},
		{
			number: 26, name: "closed after the request, X-Idempotency-Key", on: everywhere,
			react:  (*exchange).close,
			option: authWithHeader("X-Idempotency-Key"),
			send:   unknown, read: replayed,
		},
	}
}

// streamFaults end a stream of HTTP/2 early.
func streamFaults() []fault {
	return []fault{
		// The service has not processed these.
		{
			number: 29, name: "REFUSED_STREAM", on: overHTTP2, waits: true,
			react:  func(x *exchange) { x.resetStream(codeRefusedStream) },
			option: messaging.WithTimeout(pause),
			send:   disowned, read: endless,
		},
		{
			number: 29, name: "GOAWAY below the stream", on: overHTTP2, waits: true,
			react:  func(x *exchange) { x.pause(); x.goAway(x.stream/2, codeNoError) },
			option: messaging.WithTimeout(pause / 2),
			send:   disowned, read: endless,
		},
		{
			number: 30, name: "GOAWAY below the stream, with a code", on: overHTTP2,
			react: func(x *exchange) { x.goAway(x.stream/2, codeEnhanceYourCalm) },
			send:  disowned, read: failed.replayedOver(http2Reused),
		},
		// It may have processed these.
		{
			number: 31, name: "GOAWAY at the stream, then closed", on: overHTTP2,
			react: func(x *exchange) { x.goAway(x.stream, codeNoError); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 31, name: "GOAWAY at the stream with a code, then closed", on: overHTTP2,
			react: func(x *exchange) { x.goAway(x.stream, codeInternalError); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 31, name: "GOAWAY above the stream, then closed", on: overHTTP2,
			react: func(x *exchange) { x.goAway(math.MaxInt32, codeNoError); x.close() },
			send:  unknown, read: failed,
		},
		{
			number: 32, name: "RST_STREAM INTERNAL_ERROR", on: overHTTP2,
			react: func(x *exchange) { x.resetStream(codeInternalError) },
			send:  unknown, read: failed,
		},
		{
			number: 32, name: "RST_STREAM CANCEL", on: overHTTP2,
			react: func(x *exchange) { x.resetStream(codeCancel) },
			send:  unknown, read: failed,
		},
		{
			number: 32, name: "RST_STREAM ENHANCE_YOUR_CALM", on: overHTTP2,
			react: func(x *exchange) { x.resetStream(codeEnhanceYourCalm) },
			send:  unknown, read: failed,
		},
		{
			number: 32, name: "RST_STREAM NO_ERROR", on: overHTTP2,
			react: func(x *exchange) { x.resetStream(codeNoError) },
			send:  unknown, read: failed,
		},
		// net/http of Go 1.26 repeats these by itself if the request has no body, or one that it can read twice.
		{
			number: 33, name: "RST_STREAM PROTOCOL_ERROR", on: overHTTP2, waits: true,
			react:  func(x *exchange) { x.pause(); x.resetStream(codeProtocolError) },
			option: messaging.WithTimeout(pause / 2),
			send:   unknown, read: endless,
		},
		{
			number: 34, name: "closed before SETTINGS", on: http2Fresh,
			begin: hangUp,
			send:  either, read: unarrived,
		},
		{
			number: 34, name: "closed after the head of a 200", on: overHTTP2,
			react: func(x *exchange) { x.writeHead(200); x.close() },
			send:  unknown.withStatus(200), read: failed.withStatus(200),
		},
		{
			number: 34, name: "RST_STREAM after the head of a 200", on: overHTTP2,
			react: func(x *exchange) { x.writeHead(200); x.resetStream(codeCancel) },
			send:  unknown.withStatus(anyStatus), read: failed.withStatus(anyStatus),
		},
	}
}

// unusualResponses are no faults.
func unusualResponses() []fault {
	return []fault{
		{
			number: 35, name: "100 and 103 before the response", on: everywhere,
			react: func(x *exchange) {
				x.writeHead(100)
				x.writeHead(103, "Link", "</a>; rel=preload")
				x.writeHead(103)
				x.accept()
			},
			send: accepted, read: accepted,
		},
		{
			number: 35, name: "accepted with the code 0", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"code":"0",`+x.acceptance()[1:]) },
			send:  accepted, read: accepted,
		},
		{
			number: 35, name: "accepted, then closed", on: everywhere,
			react: func(x *exchange) { x.accept(); x.close() },
			send:  accepted, read: accepted,
		},
		{
			number: 35, name: "accepted, then RST_STREAM NO_ERROR", on: overHTTP2,
			react: func(x *exchange) { x.accept(); x.resetStream(codeNoError) },
			send:  accepted, read: accepted,
		},
		{
			number: 35, name: "GOAWAY at the stream, then accepted", on: overHTTP2,
			react: func(x *exchange) { x.goAway(x.stream, codeNoError); x.accept() },
			send:  accepted, read: accepted,
		},
	}
}

// oversizedResponses send more than the client reads.
func oversizedResponses() []fault {
	packed, page := gzipped(strings.Repeat(" ", 9<<20)), strings.Repeat("<p>", 10<<20/3)
	return []fault{
		{
			number: 36, name: "200 larger than the limit", on: everywhere, alone: true,
			react: func(x *exchange) {
				x.respond(200, x.acceptance()+strings.Repeat(" ", 8<<20))
			},
			send: unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 36, name: "200 without an end", on: everywhere, alone: true,
			react: func(x *exchange) { x.respondEndlessly(200) },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 36, name: "200 that decompresses to more than the limit", on: everywhere, alone: true,
			react: func(x *exchange) { x.respond(200, packed, "Content-Encoding", "gzip") },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 36, name: "400 without an end", on: everywhere, alone: true,
			react: func(x *exchange) { x.respondEndlessly(400) },
			send:  refused.withStatus(400), read: refused.withStatus(400),
		},
		{
			number: 36, name: "502 without an end", on: everywhere, alone: true,
			react: func(x *exchange) { x.respondEndlessly(502) },
			send:  unknown.withStatus(502), read: failed.withStatus(502),
		},
		{
			number: 36, name: "400 with a body of 10 MiB", on: everywhere, alone: true,
			react: func(x *exchange) { x.respond(400, page) },
			send:  unknown.withStatus(400), read: refused.withStatus(400),
		},
		{
			number: 36, name: "502 with a body of 10 MiB", on: everywhere, alone: true,
			react: func(x *exchange) { x.respond(502, page) },
			send:  unknown.withStatus(502), read: failed.withStatus(502),
		},
	}
}

// unexpectedResponses respond to what was not asked. The body of a 101 is the connection itself on HTTP/1, and ends with no context.
// HTTP/2 has no such status, and the response is still to come.
func unexpectedResponses() []fault {
	return []fault{
		{
			number: 37, name: "101, then silence", on: overHTTP1, waits: true,
			react:  func(x *exchange) { x.writeHead(101, "Connection", "Upgrade", "Upgrade", "other"); x.hold() },
			option: messaging.WithTimeout(pause),
			send:   unknown.withStatus(anyStatus), read: permanent.withStatus(anyStatus),
		},
		{
			number: 37, name: "101, then silence", on: overHTTP2, waits: true,
			react:  func(x *exchange) { x.writeHead(101); x.hold() },
			option: messaging.WithTimeout(pause),
			send:   unknown, read: failed,
		},
		// Timing decides whether the response comes before writing the rest of the request fails.
		{
			number: 37, name: "413 before the text is read", on: everywhere, alone: true,
			text:  strings.Repeat("hush", 1<<20),
			early: (*exchange).refuseUnread,
			send:  outcome{attempts: 1, status: anyStatus, verdict: []messaging.Verdict{messaging.Refused, messaging.Unknown}},
		},
	}
}

// statusFaults are responses with a status that is no success.
func statusFaults() []fault {
	var rows []fault
	add := func(number int, statuses []int, name, body string, send, read outcome, header ...string) {
		for _, status := range statuses {
			rows = append(rows, fault{
				number: number, name: strconv.Itoa(status) + name, on: everywhere,
				react: func(x *exchange) { x.respond(status, body, header...) },
				send:  send.withStatus(status), read: read.withStatus(status),
			})
		}
	}
	add(27, []int{408, 500, 502, 503, 504}, "", echo, unknown, failed)
	add(27, []int{501, 505, 507, 599}, "", echo, unknown, permanent)
	add(28, []int{400, 401, 402, 403, 404, 405, 409, 410, 413, 415, 418, 422, 423, 425, 426, 428, 431, 451}, "", ownError, refused, refused)
	add(28, []int{429}, "", echo, limited, limited)
	add(38, []int{300, 301, 302, 303, 307, 308}, "", echo, unknown, permanent, "Location", "/sms/send?again")
	// A proxy or gateway can respond with these although the service has processed the request.
	const page = "<html>nginx</html>"
	add(40, []int{400, 401, 402, 403, 404, 405, 406, 409, 410, 418, 422, 424, 425, 451, 460, 499}, " of a proxy", page, unknown, permanent)
	add(40, []int{429}, " of a proxy", page, unknown, limited)
	// These come before any processing, or are the gateway's own word.
	add(40, []int{407, 411, 413, 414, 417, 421, 431}, " of a proxy", page, refused, refused)
	add(40, []int{401}, " of a proxy, with WWW-Authenticate", page, refused, refused, "WWW-Authenticate", "Bearer")
	add(40, []int{429}, " of a proxy, with Retry-After", page, limited, limited, "Retry-After", "0")
	add(40, []int{403}, " in JSON", `{"message":"Forbidden"}`, refused, permanent)
	add(40, []int{499}, " in JSON", ownError, unknown, permanent)
	add(41, []int{429}, " that names a message", `{"code":"40002","id":"m-1"}`, unknown, limited)
	add(41, []int{400, 429}, " with a member twice", `{"code":"40002","code":"200101"}`, unknown, outcome{})
	return rows
}

// misleadingResponses have a status of success, and are none.
func misleadingResponses() []fault {
	return []fault{
		{
			number: 39, name: "200 with an error code", on: everywhere,
			react: func(x *exchange) { x.respond(200, ownError) },
			send:  refused.withStatus(200), read: refused.withStatus(200),
		},
		{
			number: 39, name: "200 with an error code of no class, and an ID", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"code":"777",`+x.acceptance()[1:]) },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 39, name: "200 with the code 200, without an ID or rows", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"code":"200","message":"Successfully Sent","batch_id":149039}`) },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 39, name: "200 without an ID or rows", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"status":"ok"}`) },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 39, name: "200 with a placeholder for an ID or rows", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"status":"ok","data":{"id":"None"}}`) },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 41, name: "200 with a text for an ID", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"id":"Error: no credit"}`) },
			send:  unknown.withStatus(200), read: permanent.withStatus(200),
		},
		{
			number: 41, name: "200 with a status of failure and the ID", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"status":"ok","data":{"id":"m-1","status":"rejected"}}`) },
			send:  unknown.withStatus(200),
		},
		{
			number: 41, name: "200 with an error and the ID", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"messages":[{"id":"m-1","error":{"code":"40003"}}]}`) },
			send:  unknown.withStatus(200),
		},
		{
			number: 41, name: "200 with a sign of failure and the ID", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"id":"m-1","success":false}`) },
			send:  unknown.withStatus(200),
		},
		{
			number: 41, name: "200 with two IDs", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"id":"m-1","id":"m-2"}`) },
			send:  unknown.withStatus(200),
		},
		{
			number: 41, name: "200 about another message", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"id":"m-1","referenceId":"another"}`) },
			send:  unknown.withStatus(200),
		},
		{
			number: 41, name: "200 about another message, with the ID", on: everywhere,
			react: func(x *exchange) { x.respond(200, `{"messages":[{"id":"m-1","referenceId":"another"}]}`) },
			send:  unknown.withStatus(200),
		},
	}
}
