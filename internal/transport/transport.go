// Package transport carries one call over HTTP: it authenticates, waits for a place and for the rate limit, asks the circuit breakers, sends
// the request, reads the response, and repeats what was provably not processed. It knows HTTP and nothing of messages: the root package
// decides what a response means and makes the errors.
//
// A call is one Do, in call.go, and makes one or more attempts, in attempt.go. An attempt is one request.
//
// No goroutine outlives a call, except those of net/http: its idle connections, and a connection that was being
// established when the attempt ended, see NewBase.
package transport

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/time/rate"
)

// Transport performs calls. It is safe for concurrent use; its fields must not change meanwhile. Every field except
// OwnBase, Jar, Limit and Changed is required.
type Transport struct {
	// Base sends a request. It is never changed, and its idle connections are never closed.
	Base http.RoundTripper
	// OwnBase reports that Base is from NewBase, or wraps one that is. Only then calls need places.
	OwnBase bool
	Jar     http.CookieJar
	// Timeout bounds one attempt: connecting, sending, and reading the response to its end. Getting credentials has the same time.
	Timeout time.Duration
	// MaxAttempts is how many requests a call may make. The retry with a fresh token comes on top. With 1 a call never backs off.
	MaxAttempts int
	// MinWait is the shortest ceiling of a back-off. MaxWait bounds all waits of a call together.
	MinWait, MaxWait time.Duration
	Limit            *rate.Limiter
	// MaxResponseBytes is how much of a 2xx response is read.
	MaxResponseBytes int64
	// Changed is called when a breaker has opened or closed, in the goroutine of the call that made it so, with the request of that
	// call.
	Changed func(ctx context.Context, r *Request, change Change)

	once sync.Once
	loop *retryablehttp.Client
}

// Request describes a call.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header // its values are shared and must not change
	Body   []byte
	// Read reports that the request changes nothing, so that it may be repeated however an attempt ended, and must
	// not be answered from a cache.
	Read  bool
	Judge Judge
	// Buffer is overwritten with the response if it is large enough. It must not be used again before
	// Outcome.Body has been read.
	Buffer []byte
	// Channel is what the call belongs to. Transport.Changed may want to know.
	Channel uint8
	// Room has the places of the account, or is nil.
	Room *Room
	// Service and Account are the breakers that are asked before each attempt and told what became of it. Either may be nil.
	Service, Account *Breaker
	// Once ends the call after its first attempt, except for one with a fresh token. Begun is how many attempts there were before.
	Once  bool
	Begun int
	// Waits ends the waits of the call, but no request. It may be nil.
	Waits context.Context //nolint:containedctx // of a SendAll
	// Doubt, unless nil, is set to whether the last attempt may have written something, even if a function of the user
	// panics.
	Doubt   *bool
	Observe Observe // may be nil
	Guard   Guard   // may be nil
	// Authenticate is nil if URL or Body hold the credentials already.
	Authenticate Authenticator
}

// Guard decides whether a message may go. It is asked when the call begins, and again directly before the request is written if it
// said yes more than five seconds ago.
type Guard func(ctx context.Context) error

// GuardError is in the chain of an error of a call that its guard ended. It wraps that of the guard.
type GuardError struct{ error }

func (g GuardError) Unwrap() error { return g.error }

// Judge judges responses, because a Transport knows neither the codes nor the form of a body.
type Judge interface {
	// Judge is called once for each attempt with a response, whether or not it could be read to its end.
	Judge(out *Outcome) Judgement
}

// Judgement is what a response proves. The zero value proves nothing: the call ends with it.
type Judgement struct {
	// Repeatable reports whether another attempt may be made and may end better: the service provably did not process
	// the request, or the request only reads.
	Repeatable bool
	// TokenRefused reports whether the service provably did not process the request because of its token.
	TokenRefused bool
	// Health is what the response says of the service, and Cause why, unless it is Healthy. Other calls may show Cause: it
	// holds nothing of the message.
	Health Health
	Cause  error
}

// Outcome is what is known when a call has ended. What it says of a request or a response is about the last attempt.
type Outcome struct {
	// StatusCode is 0 if no response came. Header is then nil.
	StatusCode int
	Header     http.Header
	Body       []byte
	// Err says why there is no response, or why it could not be read to its end.
	Err error
	// Written is false only if the attempt provably wrote nothing of its request.
	Written bool
	// Interrupted says why a call that would have been repeated was not: its context ended, or the next attempt could
	// not begin.
	Interrupted error
	// Sent is the request with its credentials, or nil if no attempt could begin. It must not be changed.
	Sent *http.Request
	// Began is when the last attempt began, or the zero time.
	Began    time.Time
	Attempts int
	// RetryAfter is how long the response asked to wait, or 0.
	RetryAfter time.Duration
	// Wait is how long the call would have had to wait for another attempt, if it ended because it must not wait so long.
	Wait time.Duration
}
