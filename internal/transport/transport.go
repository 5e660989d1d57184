// Package transport carries one call over HTTP: it authenticates, waits for a slot and for the rate limit, asks the circuit breakers, sends
// the request, reads the response, and repeats a request that was provably not processed. It knows about HTTP, but not about messages: the
// root package decides what a response means and makes the errors.
//
// A call is one Do (call.go). It makes one or more attempts (attempt.go), each of which is one request. retry.go decides whether another
// attempt follows, and loop.go makes it.
//
// No goroutine outlives a call, except those of net/http, for idle connections and for a dial that was in progress when the attempt ended;
// see NewBase.
package transport

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// Transport performs calls. It is safe for concurrent use; its fields must not change meanwhile. Every field except
// OwnBase, Jar, Limit and Changed is required.
type Transport struct {
	// Base sends a request. It is never changed, and its idle connections are never closed.
	Base http.RoundTripper
	// OwnBase reports whether Base is from NewBase, or wraps one that is. Only then do calls need slots.
	OwnBase bool
	Jar     http.CookieJar
	// Timeout bounds one attempt: connecting, sending, and reading the response to its end. Getting credentials has the same time.
	Timeout time.Duration
	// MaxAttempts is how many requests a call may make. The retry with a fresh token comes on top. With 1 a call never backs off.
	MaxAttempts int
	// MinWait is the shortest ceiling of a back-off. MaxWait bounds all waits of a call together.
	MinWait, MaxWait time.Duration
	Limit            *Limiter
	// MaxResponseBytes is how much of a 2xx response is read.
	MaxResponseBytes int64
	// Changed is called when a breaker has opened or closed, in the goroutine of the call that made it so, with the request of that
	// call.
	Changed func(ctx context.Context, r *Request, change Change)
}

// Request describes a call.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header // its values are shared and must not change
	Body   []byte
	// Read reports whether the request changes nothing. It may then be repeated however an attempt ended, and must not be answered from a
	// cache.
	Read  bool
	Judge Judge
	// Buffer is overwritten with the response if it is large enough. It must not be used again before Outcome.Body has been read.
	Buffer []byte
	// Channel is what the call belongs to, for Transport.Changed.
	Channel uint8
	// Slots limits the requests in flight of the account. It may be nil.
	Slots *Slots
	// Service and Account are the breakers that each attempt must pass. Either may be nil.
	Service, Account *Breaker
	// Once ends the call after its first attempt, except for one with a fresh token.
	Once bool
	// PriorAttempts is how many attempts there were before the call.
	PriorAttempts int
	// NoToken, unless nil, ends the call before it authenticates. It is the error of an earlier call that got no token.
	NoToken error
	// WaitContext ends the waits of the call, but no request. It may be nil.
	WaitContext context.Context //nolint:containedctx // of a SendAll
	// MaybeWritten, unless nil, is set to whether the last attempt may have written something, even if a function of the user panics.
	MaybeWritten *bool
	// Observe may be nil.
	Observe Observe
	// Guard may be nil.
	Guard Guard
	// Authenticate is nil if URL or Body hold the credentials already.
	Authenticate Authenticator
}

// A Guard decides whether a message may be sent. It runs when the call begins, and again directly before the request is written if it last ran
// more than five seconds ago.
type Guard func(ctx context.Context) error

// A Judge says what a response means, because a Transport knows neither the codes nor the form of a body.
type Judge interface {
	// Judge is called once for each attempt with a response, whether or not it could be read to its end.
	Judge(out *Outcome) Judgement
}

// Judgement is what a response proves. The zero value proves nothing: the call ends with it.
type Judgement struct {
	// Repeatable reports whether another attempt may be made and may end better: the service provably did not process
	// the request, or the request only reads.
	Repeatable bool
	// TokenRefused reports whether the service rejected the token and provably did not process the request.
	TokenRefused bool
	// Health is what the response says about the service. Cause says why, unless it is Healthy. Other calls may show Cause, so it holds
	// nothing from the message.
	Health Health
	Cause  error
}

// An Outcome is the result of a call. Its request and response are those of the last attempt.
type Outcome struct {
	// StatusCode is 0 if no response came. Header is then nil.
	StatusCode int
	Header     http.Header
	Body       []byte
	// Err says why there is no response, or why it could not be read to its end.
	Err error
	// Written is false only if the attempt provably wrote nothing of its request.
	Written bool
	// Interrupted says why the call did not make the next attempt: its context ended, or the attempt could not begin.
	Interrupted error
	// Guard is the error of the guard of this call, if the guard stopped it.
	Guard error
	// Sent is the request with its credentials, or nil if no attempt could begin. It must not be changed.
	Sent *http.Request
	// Began is when the last attempt began, or the zero time.
	Began time.Time
	// Attempts is the number of requests so far, with Request.PriorAttempts.
	Attempts int
	// RetryAfter is how long the response asked to wait, or 0.
	RetryAfter time.Duration
	// Wait is the wait that the call did not begin, because it would have taken too long.
	Wait time.Duration
}

// WasCut reports whether a response came, and ended early. Another attempt may get the whole of it.
func (o *Outcome) WasCut() bool {
	return o.StatusCode != 0 && o.Err != nil && !errors.Is(o.Err, errTooLarge)
}
