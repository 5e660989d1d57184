package messagingtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is one way in which a request can go wrong, for [Server.Inject] and [Server.InjectRandomly]. The zero Fault is
// none: it lets a request pass, so that a later one fails. Faults can be compared with ==.
type Fault struct {
	name       string // of the function that made it
	delay      time.Duration
	status     int
	retryAfter time.Duration
}

// AcceptThenDrop processes the request and then resets the connection without a response.
func AcceptThenDrop() Fault { return Fault{name: "AcceptThenDrop"} }

// DropUnread resets the connection when the header of the request has arrived, and processes nothing. A correct client's verdict
// is unknown all the same: it sees the same reset whether the service has read the request or not.
func DropUnread() Fault { return Fault{name: "DropUnread"} }

// Slow processes the request at once and responds after d. It ends without a response when the client goes away or the server
// is closed.
func Slow(d time.Duration) Fault { return Fault{name: "Slow", delay: d} }

// Status responds with an HTTP status, 100 to 599, and processes nothing. The header Retry-After is sent in whole seconds,
// rounded up, if retryAfter is positive; as "0" if it is negative; and not at all if it is zero.
//
// The body is an error of the service, with a code for 400, 401, 402, 404, 429, 5xx and also 2xx, or in place of that code the
// first word by which the contract's status of a message refuses it. There is no Location header. After a status below 200 the
// connection is closed.
//
// Status panics if the code is not in 100 to 599.
func Status(code int, retryAfter time.Duration) Fault {
	must(code >= 100 && code <= 599, "Status(%d): not in 100 to 599", code)
	return Fault{name: "Status", status: code, retryAfter: retryAfter}
}

// TruncatedResponse processes the request and cuts the response in its middle: the status is 200, the Content-Length larger
// than what is sent, and the connection ends.
func TruncatedResponse() Fault { return Fault{name: "TruncatedResponse"} }

// NotJSON processes the request and responds with status 200 and an HTML page, as an intermediary may.
func NotJSON() Fault { return Fault{name: "NotJSON"} }

// String returns the name of the fault with its arguments, such as "DropUnread" or "Status(429, 2s)".
func (f Fault) String() string {
	switch f.name {
	case "":
		return "None"
	case "Slow":
		return fmt.Sprintf("Slow(%v)", f.delay)
	case "Status":
		return fmt.Sprintf("Status(%d, %v)", f.status, f.retryAfter)
	default:
		return f.name
	}
}

// Inject applies the fault to each of the next n requests, to any path. Faults wait in the order in which they were injected,
// and a request takes the first one when it arrives. Inject panics if n is below 1.
func (s *Server) Inject(fault Fault, n int) {
	must(n >= 1, "Inject(%v, %d): the number of requests is below 1", fault, n)
	s.set(func() { s.faults = append(s.faults, slices.Repeat([]Fault{fault}, n)...) })
}

type faultKey struct{}

// WithFault returns a context for a request to [Server.ServeHTTP] that takes this fault, and no fault of [Server.Inject] or
// [Server.InjectRandomly]. It is for a program that mounts the server and decides by itself which request fails. With the zero
// Fault the request passes.
func WithFault(ctx context.Context, fault Fault) context.Context {
	return context.WithValue(ctx, faultKey{}, fault)
}

// ClearFaults ends [Server.Inject] and [Server.InjectRandomly].
func (s *Server) ClearFaults() { s.set(func() { s.faults, s.random = nil, nil }) }

// InjectRandomly applies one of the faults to a request with a probability of share, unless a fault of [Server.Inject] is
// waiting. All are equally likely: to make one likelier, name it more than once. A share of zero, or no faults, ends it.
//
// Requests draw in the order in which they arrive, and what is drawn depends on the seed alone. So sequential requests take
// the same faults in each run, and of concurrent requests the same number take each fault. InjectRandomly panics if share is
// not in 0 to 1.
func (s *Server) InjectRandomly(seed uint64, share float64, faults ...Fault) {
	must(share >= 0 && share <= 1, "InjectRandomly(%d, %v, %v): the share is not in 0 to 1", seed, share, faults)
	source := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // what is drawn is no secret
	faults = slices.Clone(faults)
	random := func() Fault {
		if len(faults) == 0 || source.Float64() >= share {
			return Fault{}
		}
		return faults[source.IntN(len(faults))]
	}
	s.set(func() { s.random = random })
}

// arrive counts a request and returns its fault.
func (s *Server) arrive(ctx context.Context) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.requests++
	chosen, isChosen := ctx.Value(faultKey{}).(Fault)
	switch {
	case isChosen:
		return chosen
	case len(s.faults) > 0:
		fault := s.faults[0]
		s.faults = s.faults[1:]
		return fault
	case s.random != nil:
		return s.random()
	}
	return Fault{}
}

// deliver writes the response as far as the fault lets it pass.
func (f Fault) deliver(w http.ResponseWriter, resp response) {
	switch f.name {
	case "AcceptThenDrop":
		reset(w)
	case "TruncatedResponse":
		w.Header().Set("Content-Length", strconv.Itoa(len(resp.body)))
		resp.status, resp.body = http.StatusOK, resp.body[:len(resp.body)/2]
		resp.write(w)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "NotJSON":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!DOCTYPE html>\n<title>Welcome</title>\n<p>Please sign in to use this network.\n"))
	default:
		resp.write(w)
	}
}

// reset closes the connection so that the client sees a reset, not an end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // the server is being closed
	}
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

func (s *Server) writeStatus(w http.ResponseWriter, r *http.Request, f Fault, requestID string) {
	if f.retryAfter != 0 {
		seconds := max(0, math.Ceil(f.retryAfter.Seconds()))
		w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	switch {
	case f.status < http.StatusOK:
		w.WriteHeader(f.status)
		if f.status == http.StatusSwitchingProtocols { // net/http sends the others at once
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	default:
		message := cmp.Or(strings.ToLower(http.StatusText(f.status)), "status "+strconv.Itoa(f.status))
		name := cmp.Or(s.rules.Statuses[strconv.Itoa(f.status)], s.rules.Statuses[strconv.Itoa(f.status/100)+"xx"])
		paths, code := s.names.Errors.Code, any(s.codeOf(name))
		if _, operations := s.operationsFor(r); f.status < 300 && len(operations) > 0 && len(operations[0].Refused) > 0 {
			paths, code = operations[0].Response["status"], numberOrText(firstWord(operations[0].Refused))
		}
		response{status: f.status, body: s.failure(requestID, message, paths, code)}.write(w)
	}
}
