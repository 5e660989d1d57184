package messagingtest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is one way in which a request can go wrong, for [Server.Inject], [Server.InjectFor], [Server.InjectRandomly] and
// [Server.SetFault]. The zero Fault lets a request pass, so that a later one fails. Faults can be compared with ==.
type Fault struct {
	kind       faultKind
	delay      time.Duration
	status     int
	retryAfter time.Duration
	body       string
}

type faultKind int

const (
	kindNone faultKind = iota
	kindAcceptThenDrop
	kindDropUnread
	kindSlow
	kindStatus
	kindStatusAfter
	kindErrorCode
	kindPage
	kindTruncated
	kindNotJSON
)

// FaultAcceptThenDrop processes the request and then resets the connection without a response.
func FaultAcceptThenDrop() Fault { return Fault{kind: kindAcceptThenDrop} }

// FaultDropUnread resets the connection when the header of the request has arrived, and processes nothing. A correct client's
// verdict is unknown nevertheless: it sees the same reset whether the service has read the request or not.
func FaultDropUnread() Fault { return Fault{kind: kindDropUnread} }

// FaultSlow processes the request at once and responds after d. It ends without a response when the client goes away or the
// server is closed, so a very long d is a service that never responds.
func FaultSlow(d time.Duration) Fault { return Fault{kind: kindSlow, delay: d} }

// FaultStatus responds with an HTTP status, 200 to 599, and processes nothing. The header Retry-After is sent in whole seconds,
// rounded up, if retryAfter is positive; as "0" if it is negative; and not at all if it is zero.
//
// The body is an error of the service. It has a code for 400, 401, 402, 404, 429, 5xx and 2xx. For 2xx it has instead the first
// word of the contract that refuses a message, at the place of the status, if there is such a word. There is no Location header.
//
// FaultStatus panics if the code is not in 200 to 599.
func FaultStatus(code int, retryAfter time.Duration) Fault {
	panicUnless(code >= 200 && code <= 599, "FaultStatus(%d): not in 200 to 599", code)
	return Fault{kind: kindStatus, status: code, retryAfter: retryAfter}
}

// FaultStatusAfter processes the request and then responds with an HTTP status, 200 to 599, and a body: like a service that fails
// after processing, or a proxy in front of it. A body that is JSON is sent as such, any other as an HTML page. If the body is "",
// it is an error of the service, like the body of [FaultStatus].
//
// FaultStatusAfter panics if the code is not in 200 to 599.
func FaultStatusAfter(code int, body string) Fault {
	panicUnless(code >= 200 && code <= 599, "FaultStatusAfter(%d): not in 200 to 599", code)
	return Fault{kind: kindStatusAfter, status: code, body: body}
}

// FaultCode refuses the request with HTTP status 400 and an error code, at the contract's first place of a code, and processes nothing: such as
// "131026" of chat app 2's platform, for a recipient who cannot be reached. [Fault.WithStatus] sets another status.
//
// FaultCode panics if the code is empty.
func FaultCode(code string) Fault {
	panicUnless(code != "", "FaultCode: the code is empty")
	return Fault{kind: kindErrorCode, status: http.StatusBadRequest, body: code}
}

// WithStatus returns a [FaultCode] with another HTTP status than 400, from 400 to 599. Chat app 2's platform responds with 403 and "368" to an
// account that it has blocked, for example, and with 500 and "131016" when it is not available.
//
// WithStatus panics for other faults, and if the code is not in 400 to 599.
func (f Fault) WithStatus(code int) Fault {
	panicUnless(f.kind == kindErrorCode, "WithStatus(%d): %v is not a FaultCode", code, f)
	panicUnless(code >= 400 && code <= 599, "WithStatus(%d): not in 400 to 599", code)
	f.status = code
	return f
}

// FaultPage responds with an HTTP status, 200 to 599, and an HTML page, and processes nothing, like a proxy that cannot reach the
// service. For a page after processing, use [FaultStatusAfter].
//
// FaultPage panics if the code is not in 200 to 599.
func FaultPage(code int) Fault {
	panicUnless(code >= 200 && code <= 599, "FaultPage(%d): not in 200 to 599", code)
	text := fmt.Sprintf("<!DOCTYPE html>\n<title>%s</title>\n<h1>%d</h1>\n", http.StatusText(code), code)
	return Fault{kind: kindPage, status: code, body: text}
}

// FaultTruncated processes the request and cuts the response in the middle: the status is 200, Content-Length is larger than what
// is sent, and the connection ends.
func FaultTruncated() Fault { return Fault{kind: kindTruncated} }

// FaultNotJSON processes the request and responds with status 200 and an HTML page, as the sign-in page of a network does.
func FaultNotJSON() Fault { return Fault{kind: kindNotJSON} }

const signInPage = "<!DOCTYPE html>\n<title>Welcome</title>\n<p>Please sign in to use this network.\n"

// String returns the name of the fault with its arguments, such as "DropUnread" or "Status(429, 2s)".
func (f Fault) String() string {
	switch f.kind {
	case kindAcceptThenDrop:
		return "AcceptThenDrop"
	case kindDropUnread:
		return "DropUnread"
	case kindSlow:
		return fmt.Sprintf("Slow(%v)", f.delay)
	case kindStatus:
		return fmt.Sprintf("Status(%d, %v)", f.status, f.retryAfter)
	case kindStatusAfter:
		return fmt.Sprintf("StatusAfter(%d, %q)", f.status, f.body)
	case kindErrorCode:
		return fmt.Sprintf("Code(%q, %d)", f.body, f.status)
	case kindPage:
		return fmt.Sprintf("Page(%d)", f.status)
	case kindTruncated:
		return "Truncated"
	case kindNotJSON:
		return "NotJSON"
	default:
		return "None"
	}
}

// faultQueue decides which fault a request takes. The server's mutex guards it.
type faultQueue struct {
	next       []Fault           // of Inject
	outage     Fault             // of InjectFor
	outageEnds time.Time         // of InjectFor
	random     func() Fault      // of InjectRandomly; nil if it is not in force
	byAddress  map[address]Fault // of SetFault
}

// An address is a recipient on a channel. The recipient is a recipientKey.
type address struct{ channel, recipient string }

// take returns the fault of the next request, and reports false if its address decides.
func (q *faultQueue) take() (Fault, bool) {
	if len(q.next) > 0 {
		fault := q.next[0]
		q.next = q.next[1:]
		return fault, true
	}
	if time.Now().Before(q.outageEnds) {
		return q.outage, true
	}
	var fault Fault
	if q.random != nil {
		fault = q.random()
	}
	return fault, fault != Fault{}
}

// Inject applies the fault to each of the next n requests, to any path. Faults wait in the order in which they were injected,
// and a request takes the first one when it arrives, even a lookup that a client makes in the background. [Server.SetFault] applies to
// messages alone. Inject panics if n is below 1.
func (s *Server) Inject(fault Fault, n int) {
	panicUnless(n >= 1, "Inject(%v, %d): the number of requests is below 1", fault, n)
	s.set(func() { s.faults.next = append(s.faults.next, slices.Repeat([]Fault{fault}, n)...) })
}

// InjectFor applies the fault to every request of the next d, unless a fault of [Server.Inject] is waiting: an outage, or a
// service in trouble. It replaces an earlier InjectFor. The time is real time, not that of [Server.Advance]. InjectFor panics if d
// is not above zero.
func (s *Server) InjectFor(d time.Duration, fault Fault) {
	panicUnless(d > 0, "InjectFor(%v, %v): the duration is not above zero", d, fault)
	s.set(func() {
		s.faults.outage = fault
		s.faults.outageEnds = time.Now().Add(d)
	})
}

// InjectRandomly applies one of the faults to a request with a probability of share, unless a fault of [Server.Inject] or
// [Server.InjectFor] applies. All are equally likely: to make one likelier, name it more than once. A share of zero, or no faults,
// turns it off.
//
// The seed alone decides the sequence of faults, and requests take them in the order in which they arrive. So sequential requests get the
// same faults in every run. InjectRandomly panics if share is not in 0 to 1.
func (s *Server) InjectRandomly(seed uint64, share float64, faults ...Fault) {
	panicUnless(share >= 0 && share <= 1, "InjectRandomly(%d, %v, %v): the share is not in 0 to 1", seed, share, faults)
	source := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // not a secret
	faults = slices.Clone(faults)
	random := func() Fault {
		if len(faults) == 0 || source.Float64() >= share {
			return Fault{}
		}
		return faults[source.IntN(len(faults))]
	}
	s.set(func() { s.faults.random = random })
}

// SetFault applies the fault to every valid message to one recipient on a channel, "sms", "chatapp1" or "chatapp2", unless a fault of
// [Server.Inject], [Server.InjectFor] or [Server.InjectRandomly] applies. All other messages are accepted. It replaces an earlier SetFault for
// the channel and the recipient, and the zero Fault ends it. A number is the same with and without its leading +. The recipient is in the
// body, so [FaultDropUnread] resets the connection after the request was read.
//
// SetFault panics if there is no such channel, or the recipient is empty.
func (s *Server) SetFault(channel, recipient string, fault Fault) {
	panicUnless(isChannel(channel), "SetFault: no such channel: %q", channel)
	panicUnless(recipient != "", "SetFault: the recipient is empty")
	to := address{channel, recipientKey(recipient)}
	s.set(func() { s.faults.setAddress(to, fault) })
}

// setAddress sets the fault of an address. Without any, requests are not read for their addresses.
func (q *faultQueue) setAddress(to address, fault Fault) {
	if fault == (Fault{}) {
		delete(q.byAddress, to)
		return
	}
	if q.byAddress == nil {
		q.byAddress = map[address]Fault{}
	}
	q.byAddress[to] = fault
}

// ClearFaults ends [Server.Inject], [Server.InjectFor], [Server.InjectRandomly] and [Server.SetFault].
func (s *Server) ClearFaults() {
	s.set(func() { s.faults = faultQueue{} })
}

type faultKey struct{}

// ContextWithFault returns a context for a request to [Server.ServeHTTP] that takes this fault, and no other fault of the server. It is
// for a program that mounts the server and decides itself which request fails. With the zero Fault the request passes.
func ContextWithFault(ctx context.Context, fault Fault) context.Context {
	return context.WithValue(ctx, faultKey{}, fault)
}

// arrive counts a request and returns its fault. It reports false if the request has none yet, so that its address decides.
func (s *Server) arrive(ctx context.Context) (fault Fault, isChosen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.requests++
	if chosen, ok := ctx.Value(faultKey{}).(Fault); ok {
		return chosen, true
	}
	return s.faults.take()
}

// addressFault returns the fault of SetFault for a request, or the zero Fault.
func (s *Server) addressFault(r *http.Request, body []byte) Fault {
	s.mu.Lock()
	isUsed := len(s.faults.byAddress) > 0
	s.mu.Unlock()
	if !isUsed { // do not read every request twice
		return Fault{}
	}
	to := s.addressOf(r, body)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.faults.byAddress[to]
}

// addressOf returns the address of a valid message, or the zero address for any other request.
func (s *Server) addressOf(r *http.Request, body []byte) address {
	_, operations := s.operationsFor(r)
	f, p := s.readFirst(operations, r, body)
	if p != nil || f.op.channel == "" { // it cannot be read, or lists
		return address{}
	}
	message, p := f.submission()
	if p != nil {
		return address{}
	}
	return address{f.op.channel, recipientKey(message.To)}
}

// replacesResponse reports whether a request with this fault gets a response of the fault, not the response of the service.
func (f Fault) replacesResponse() bool {
	switch f.kind {
	case kindStatus, kindStatusAfter, kindErrorCode, kindPage:
		return true
	default:
		return false
	}
}

// isProcessed reports whether a request with this fault is processed.
func (f Fault) isProcessed() bool {
	return !slices.Contains([]faultKind{kindDropUnread, kindStatus, kindErrorCode, kindPage}, f.kind)
}

// respond writes the response to a request, or what the fault makes of it.
func (f Fault) respond(w http.ResponseWriter, resp response) {
	switch f.kind {
	case kindAcceptThenDrop, kindDropUnread:
		reset(w)
	case kindTruncated:
		resp.status = http.StatusOK
		resp.header = maps.Clone(resp.header)
		resp.header.Set("Content-Length", strconv.Itoa(len(resp.body)))
		resp.body = resp.body[:len(resp.body)/2]
		resp.write(w)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case kindNotJSON:
		htmlResponse(http.StatusOK, signInPage).write(w)
	default:
		resp.write(w)
	}
}

// reset closes the connection so that the client sees a reset, not an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // the server is being closed, or a program serves HTTP/2
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// faultResponse returns the response of FaultStatus, FaultStatusAfter, FaultCode and FaultPage.
func (s *Server) faultResponse(r *http.Request, f Fault, requestID string) response {
	var resp response
	switch {
	case f.kind == kindErrorCode:
		resp = jsonResponse(f.status, s.failure(requestID, "refused", s.names.Errors.Code, f.body))
	case f.body == "":
		resp = s.errorResponse(r, f.status, requestID)
	case json.Valid([]byte(f.body)):
		resp = jsonResponse(f.status, []byte(f.body))
	default:
		resp = htmlResponse(f.status, f.body)
	}
	if f.retryAfter != 0 {
		seconds := max(0, math.Ceil(f.retryAfter.Seconds()))
		resp.header.Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	return resp
}

// errorResponse returns an error of the service, with the code that goes with an HTTP status.
func (s *Server) errorResponse(r *http.Request, code int, requestID string) response {
	message := strings.ToLower(http.StatusText(code))
	if message == "" {
		message = "status " + strconv.Itoa(code)
	}
	places, word := s.refusalFor(r)
	if code < 300 && word != "" {
		return jsonResponse(code, s.failure(requestID, message, places, numberOrText(word)))
	}
	return jsonResponse(code, s.failure(requestID, message, s.names.Errors.Code, s.codeOf(problemForStatus(code))))
}

// problemForStatus returns the problem that goes with the HTTP status of a fault, or "" if none does.
func problemForStatus(status int) string {
	switch {
	case status == http.StatusBadRequest, status >= 200 && status < 300:
		return "invalid"
	case status == http.StatusUnauthorized:
		return "unauthorized"
	case status == http.StatusPaymentRequired:
		return "insufficientBalance"
	case status == http.StatusNotFound:
		return "notFound"
	case status == http.StatusTooManyRequests:
		return "rateLimited"
	case status >= http.StatusInternalServerError:
		return "unavailable"
	default:
		return ""
	}
}

// refusalFor returns the places of the status in a response to a request, and the first word that refuses a message there, or "".
func (s *Server) refusalFor(r *http.Request) (places []string, word string) {
	_, operations := s.operationsFor(r)
	if len(operations) == 0 {
		return nil, ""
	}
	return operations[0].contract.Response["status"], firstWord(operations[0].contract.Refused)
}
