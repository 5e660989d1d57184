package messagingtest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type faultKind int

const (
	none faultKind = iota
	acceptThenDrop
	dropUnread
	slow
	status
	truncatedAnswer
	notJSON
)

// A Fault is one way in which a request can go wrong, for [Server.Inject] and [Server.InjectRandomly]. The functions of
// this package make them. The zero Fault is none: a request that takes it is served as if nothing had been injected, which
// lets the first requests pass and later ones fail.
//
// Where a fault says that the message is processed, it is checked like any other: a message that the service refuses
// does not enter the ledger, fault or not.
//
// A request that lists takes faults too. It changes nothing in the ledger, so that processing is to make up the answer,
// and there is no verdict: a correct client asks again after a Status of 408, 429, 500, 502, 503 or 504, once after 401
// with a new token, and after whatever else left it without an answer that can be read. Any other Status ends its
// listing with an error. net/http's client repeats a GET by itself where a reused connection ends without an answer.
type Fault struct {
	kind       faultKind
	delay      time.Duration
	status     int
	retryAfter time.Duration
}

// AcceptThenDrop processes the message and then resets the connection without an answer, as a service that dies at the
// worst moment. The ledger holds the message. A correct client's verdict is unknown; one that sends again delivers the
// message twice, which the ledger shows.
func AcceptThenDrop() Fault { return Fault{kind: acceptThenDrop} }

// DropUnread resets the connection when the first bytes of the request arrive, on a fresh connection as on a reused
// one, and processes nothing. The ledger does not hold the message, but [Server.Requests] counts the request.
//
// A correct client's verdict is unknown: it has written its request, and sees the same reset whether the service read
// it or not. Only asking the service later can tell. On a reused connection net/http's client repeats requests that it
// takes to be repeatable (GET, or with an Idempotency-Key header) by itself; such a repetition is one more request,
// and takes the next fault.
func DropUnread() Fault { return Fault{kind: dropUnread} }

// Slow processes the message at once and answers after d; with d of zero or less, at once. It ends early, without an
// answer, when the client goes away or the server is closed. The ledger holds the message in any case. A correct
// client's verdict is accepted, or unknown if it did not wait long enough.
func Slow(d time.Duration) Fault { return Fault{kind: slow, delay: d} }

// Status answers with the HTTP status code, 100 to 599, and processes nothing: the ledger does not hold the message.
//
// The header Retry-After is sent in whole seconds, rounded up, if retryAfter is above zero; as "0" if it is below zero;
// and not at all if it is zero.
//
// The body is an error of the contract's shape, except for statuses that have none. It holds a code for 400 (40003),
// 401 (40001), 402 (200101), 404 (40005), 429 (40002) and 5xx (50000), and also for 2xx (40003): a success that says
// that it is none. The codes and their meaning are defaults of the contract, and which status goes with which code is
// the stand-in's choice. The other statuses get a message without a code. There is never a Location header. A status
// below 200 is no final answer: the connection is closed after it.
//
// A correct client's verdict is refused for 4xx except 408, and for 2xx, because of the code. It may try again after
// 429, which by the contract proves that nothing was processed, and once after 401 with a new token; each further
// request takes the next fault. For 1xx, 204, 3xx, 408 and 5xx the verdict is unknown: a service that answers so may
// have processed the message, although this one has not.
func Status(code int, retryAfter time.Duration) Fault {
	return Fault{kind: status, status: code, retryAfter: retryAfter}
}

// TruncatedAnswer processes the message and cuts the answer in its middle: status 200, a Content-Length larger than
// what is sent, and the end of the connection. The ledger holds the message. A correct client's verdict is unknown.
func TruncatedAnswer() Fault { return Fault{kind: truncatedAnswer} }

// NotJSON processes the message and answers with status 200 and an HTML page, as a proxy on the way may do. The ledger
// holds the message. A correct client's verdict is unknown.
func NotJSON() Fault { return Fault{kind: notJSON} }

// String returns the name of the fault with what it was made with, such as "DropUnread" or "Status(429, 2s)".
func (f Fault) String() string {
	switch f.kind {
	case acceptThenDrop:
		return "AcceptThenDrop"
	case dropUnread:
		return "DropUnread"
	case slow:
		return "Slow(" + f.delay.String() + ")"
	case status:
		return "Status(" + strconv.Itoa(f.status) + ", " + f.retryAfter.String() + ")"
	case truncatedAnswer:
		return "TruncatedAnswer"
	case notJSON:
		return "NotJSON"
	default:
		return "None"
	}
}

// Inject lets each of the next n requests take the fault, whatever their path. Faults wait in the order in which they
// were injected, and a request takes the first when its first byte arrives; a request that has begun before is not
// touched. Inject panics if n is below 1, or if the fault is a [Status] outside of 100 to 599.
func (s *Server) Inject(fault Fault, n int) {
	if n < 1 {
		panic(fmt.Sprintf("messagingtest: Inject(%v, %d): the number of requests is below 1", fault, n))
	}
	if !fault.exists() {
		panic(fmt.Sprintf("messagingtest: Inject(%v, %d): no HTTP status: it is not in 100 to 599", fault, n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.faults = append(s.faults, fault)
	}
}

// exists says whether there is such a fault: a Status can be made of any number.
func (f Fault) exists() bool { return f.kind != status || f.status >= 100 && f.status <= 599 }

// hold waits as long as the fault delays the answer.
func (f Fault) hold(ctx context.Context) {
	if f.kind != slow {
		return
	}
	timer := time.NewTimer(f.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done(): // the client has gone, or the server is being closed
		panic(http.ErrAbortHandler)
	}
}

// deliver writes the answer, as far as the fault lets it through.
func (f Fault) deliver(w http.ResponseWriter, c *conn, a answer) {
	switch f.kind {
	case acceptThenDrop:
		c.reset()
		panic(http.ErrAbortHandler)
	case truncatedAnswer:
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(a.body[:len(a.body)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case notJSON:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!DOCTYPE html>\n<title>Welcome</title>\n<p>Please sign in to use this network.\n"))
	default:
		a.write(w)
	}
}

// writeStatus answers in place of the service.
func (f Fault) writeStatus(w http.ResponseWriter, requestID string) {
	switch {
	case f.retryAfter > 0:
		seconds := (f.retryAfter-1)/time.Second + 1 // no overflow, unlike adding a second first
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	case f.retryAfter < 0:
		w.Header().Set("Retry-After", "0")
	}
	switch {
	case f.status < http.StatusOK:
		w.WriteHeader(f.status)
		if f.status == http.StatusSwitchingProtocols { // net/http sends the others at once
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	case f.status == http.StatusNoContent, f.status == http.StatusNotModified:
		w.WriteHeader(f.status)
	default:
		refuse(requestID, f.status, codeOfStatus(f.status), f.message()).write(w)
	}
}

func (f Fault) message() string {
	if text := http.StatusText(f.status); text != "" {
		return strings.ToLower(text)
	}
	return "status " + strconv.Itoa(f.status)
}

// codeOfStatus is a code of the class that the status is about, or "" where the contract has none.
func codeOfStatus(code int) string {
	switch {
	case code == http.StatusBadRequest, code < 300:
		return codeInvalid
	case code == http.StatusUnauthorized:
		return codeUnauthorized
	case code == http.StatusPaymentRequired:
		return codeInsufficientBalance
	case code == http.StatusNotFound:
		return codeNoSuchPath
	case code == http.StatusTooManyRequests:
		return codeRateLimited
	case code >= 500:
		return codeUnavailable
	default:
		return ""
	}
}
