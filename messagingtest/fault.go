package messagingtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Fault is one way in which a request can go wrong, for [Server.Inject] and its siblings. The zero Fault is
// none: it lets a request pass, so that a later one fails. Faults can be compared with ==.
type Fault struct {
	name       string // of the function that made it
	delay      time.Duration
	status     int
	retryAfter time.Duration
	body       string
}

// AcceptThenDrop processes the request and then resets the connection without a response.
func FaultAcceptThenDrop() Fault { return Fault{name: "AcceptThenDrop"} }

// DropUnread resets the connection when the header of the request has arrived, and processes nothing. A correct client's verdict
// is unknown all the same: it sees the same reset whether the service has read the request or not.
func FaultDropUnread() Fault { return Fault{name: "DropUnread"} }

// Slow processes the request at once and responds after d. It ends without a response when the client goes away or the server
// is closed.
func FaultSlow(d time.Duration) Fault { return Fault{name: "Slow", delay: d} }

// Status responds with an HTTP status, 100 to 599, and processes nothing. The header Retry-After is sent in whole seconds,
// rounded up, if retryAfter is positive; as "0" if it is negative; and not at all if it is zero.
//
// The body is an error of the service, with a code for 400, 401, 402, 404, 429, 5xx and also 2xx, or in place of that code the
// first word by which the contract's status of a message refuses it. There is no Location header. After a status below 200 the
// connection is closed.
//
// Status panics if the code is not in 100 to 599.
func FaultStatus(code int, retryAfter time.Duration) Fault {
	must(code >= 100 && code <= 599, "FaultStatus(%d): not in 100 to 599", code)
	return Fault{name: "Status", status: code, retryAfter: retryAfter}
}

// TruncatedResponse processes the request and cuts the response in its middle: the status is 200, the Content-Length larger
// than what is sent, and the connection ends.
func FaultTruncated() Fault { return Fault{name: "TruncatedResponse"} }

// NotJSON processes the request and responds with status 200 and an HTML page, as an intermediary may.
func FaultNotJSON() Fault { return Fault{name: "NotJSON"} }

// StatusAfter processes the request and then responds with an HTTP status, 200 to 599, and a body: as a service does that fails on the
// way back, or a proxy in front of it. A body that is JSON is sent as such, any other as an HTML page. If the body is "", it is an error
// of the service, like the body of [FaultStatus].
//
// StatusAfter panics if the code is not in 200 to 599.
func FaultStatusAfter(code int, body string) Fault {
	must(code >= 200 && code <= 599, "FaultStatusAfter(%d): not in 200 to 599", code)
	return Fault{name: "StatusAfter", status: code, body: body}
}

// Page responds with an HTTP status, 200 to 599, and an HTML page, and processes nothing, as a proxy does that does not reach the
// service, or does not want to. For a page that follows the processing, use [FaultStatusAfter].
//
// Page panics if the code is not in 200 to 599.
func FaultPage(code int) Fault {
	must(code >= 200 && code <= 599, "FaultPage(%d): not in 200 to 599", code)
	page := fmt.Sprintf("<!DOCTYPE html>\n<title>%s</title>\n<h1>%d</h1>\n", http.StatusText(code), code)
	return Fault{name: "Page", status: code, body: page}
}

// Silence reads the request, processes nothing and never responds. It ends when the client goes away or the server is closed.
func FaultSilence() Fault { return Fault{name: "Silence"} }

// AnotherResponse processes the request and responds with the response to another message, as a cache does that does not look into
// requests, or a server that mixes up connections. That message has an ID and a reference ID of its own, and is in no ledger. A
// listing passes.
func FaultAnotherResponse() Fault { return Fault{name: "AnotherResponse"} }

// ProcessTwice processes the request twice and responds once, with the second response, as behind a proxy that repeats requests.
func FaultProcessTwice() Fault { return Fault{name: "ProcessTwice"} }

// String returns the name of the fault with its arguments, such as "DropUnread" or "FaultStatus(429, 2s)".
func (f Fault) String() string {
	arguments := map[string]string{
		"Slow": fmt.Sprintf("(%v)", f.delay), "Status": fmt.Sprintf("(%d, %v)", f.status, f.retryAfter),
		"StatusAfter": fmt.Sprintf("(%d, %q)", f.status, f.body), "Page": fmt.Sprintf("(%d)", f.status),
	}
	return cmp.Or(f.name, "None") + arguments[f.name]
}

// Inject applies the fault to each of the next n requests, to any path. Faults wait in the order in which they were injected,
// and a request takes the first one when it arrives. Inject panics if n is below 1.
func (s *Server) Inject(fault Fault, n int) {
	must(n >= 1, "Inject(%v, %d): the number of requests is below 1", fault, n)
	s.set(func() { s.faults = append(s.faults, slices.Repeat([]Fault{fault}, n)...) })
}

type faultKey struct{}

// WithFault returns a context for a request to [Server.ServeHTTP] that takes this fault, and no other fault of the
// server. It is for a program that mounts the server and decides by itself which request fails. With the zero
// Fault the request passes.
func WithFault(ctx context.Context, fault Fault) context.Context {
	return context.WithValue(ctx, faultKey{}, fault)
}

// InjectFor applies the fault to every request of the next d, unless a fault of [Server.Inject] is waiting: an outage, or a service in
// trouble. It replaces an InjectFor before, and counts the time that really passes. InjectFor panics if d is not above zero.
func (s *Server) InjectFor(d time.Duration, fault Fault) {
	must(d > 0, "InjectFor(%v, %v): the duration is not above zero", d, fault)
	s.set(func() { s.outage, s.outageEnds = fault, time.Now().Add(d) })
}

// SetCapacity limits how many requests the server takes in a second. It responds to more with status 429 and Retry-After: 1, and does not
// process them. Requests that take a fault are not counted. Zero, as at the start, is no limit. SetCapacity panics if perSecond is
// negative.
func (s *Server) SetCapacity(perSecond int) {
	must(perSecond >= 0, "SetCapacity(%d): the number of requests is negative", perSecond)
	s.set(func() { s.capacity, s.taken = perSecond, 0 })
}

// isBusy counts a request, and reports whether it is beyond the capacity. The caller holds mu.
func (s *Server) isBusy() bool {
	if now := time.Now(); now.Sub(s.second) >= time.Second {
		s.second, s.taken = now, 0
	}
	s.taken++
	return s.capacity > 0 && s.taken > s.capacity
}

// ClearFaults ends [Server.Inject], [Server.InjectFor] and [Server.InjectRandomly].
func (s *Server) ClearFaults() {
	s.set(func() { s.faults, s.random, s.outageEnds = nil, nil, time.Time{} })
}

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
	case time.Now().Before(s.outageEnds):
		return s.outage
	}
	var fault Fault
	if s.random != nil {
		fault = s.random()
	}
	if fault.name == "" && s.isBusy() {
		return FaultStatus(http.StatusTooManyRequests, time.Second)
	}
	return fault
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

// writeStatus writes the response of Status, StatusAfter and Page.
func (s *Server) writeStatus(w http.ResponseWriter, r *http.Request, f Fault, requestID string) {
	if f.retryAfter != 0 {
		seconds := max(0, math.Ceil(f.retryAfter.Seconds()))
		w.Header().Set("Retry-After", strconv.FormatFloat(seconds, 'f', 0, 64))
	}
	switch {
	case f.body != "" && json.Valid([]byte(f.body)):
		response{status: f.status, body: []byte(f.body)}.write(w)
	case f.body != "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(f.status)
		_, _ = io.WriteString(w, f.body)
	case f.status < http.StatusOK:
		w.WriteHeader(f.status)
		if f.status == http.StatusSwitchingProtocols { // net/http sends the others at once
			_ = http.NewResponseController(w).Flush()
		}
		panic(http.ErrAbortHandler)
	default:
		message := cmp.Or(strings.ToLower(http.StatusText(f.status)), "status "+strconv.Itoa(f.status))
		name := cmp.Or(s.rules.Statuses[strconv.Itoa(f.status)], s.rules.Statuses[strconv.Itoa(f.status/100)+"xx"])
		_, operations := s.operationsFor(r)
		paths, code := s.names.Errors.Code, any(s.codeOf(name))
		if f.status < 300 && len(operations) > 0 && len(operations[0].Refused) > 0 {
			paths, code = operations[0].Response["status"], numberOrText(firstWord(operations[0].Refused))
		}
		response{status: f.status, body: s.failure(requestID, message, paths, code)}.write(w)
	}
}
