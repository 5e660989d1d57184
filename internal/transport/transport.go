// Package transport carries one call over HTTP: it authenticates, waits for the rate limit, retries, reads the response
// and keeps evidence of what was written. It knows HTTP and nothing of messages: the root package decides what a
// response means and makes the errors.
//
// A call is one Do and makes one or more attempts. An attempt is one request. The way of a call is in call.go.
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
)

// Transport performs calls. It is safe for concurrent use; its fields must not change meanwhile. Every field except
// OwnBase, Jar, Limit, GiveUp, NoWait and Changed is required.
type Transport struct {
	// Base sends a request. It is never changed, and its idle connections are never closed.
	Base http.RoundTripper
	// OwnBase reports that Base is from NewBase, or wraps one that is.
	OwnBase bool
	Jar     http.CookieJar
	// Timeout bounds one attempt: connecting, sending, and reading the response to its end.
	Timeout time.Duration
	// MaxAttempts is how many requests a call may make. The retry with a fresh token comes on top.
	MaxAttempts int
	// MinWait and MaxWait bound the waits between attempts, see backoff.
	MinWait, MaxWait time.Duration
	Limit            *Limit
	// MaxResponseBytes is how much of a 2xx response is read.
	MaxResponseBytes int64
	// GiveUp bounds how long a patient call waits in one trouble of a breaker. 0 is 10 minutes, or one for trouble of the
	// account.
	GiveUp time.Duration
	// NoWait ends a call that a breaker holds back at once.
	NoWait bool
	// Changed is called when a breaker has opened, or closed after trouble, in the goroutine of the call that made it so, with
	// the request of that call. It may be nil.
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
	// Read reports that the request changes nothing, so that it may be retried however an attempt ended, and must
	// not be answered from a cache.
	Read  bool
	Judge Judge
	// Buffer is overwritten with the response if it is large enough. It must not be used again before
	// Outcome.Body has been read.
	Buffer []byte
	// Breakers are asked before each attempt, and told what became of it.
	Breakers Breakers
	Patience Patience
	// Recipient is who the message is for, so that the trouble of one is not that of all. It may be empty.
	Recipient string
	// Slot is that of a message of a SendAll, or nil.
	Slot *Slot
	// Doubt, unless nil, is set to whether the last attempt may have written something, also if a function of the user
	// panics.
	Doubt   *bool
	Observe Observe // nil if nobody does
	Guard   Guard   // nil if there is none
	// Authenticate is nil if URL or Body hold the credentials already.
	Authenticate Authenticator
}

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
	// Interrupted says why a call that would have been retried was not: its context ended, or the next attempt could
	// not begin.
	Interrupted error
	// Sent is the request with its credentials, or nil if no attempt could begin. It must not be changed.
	Sent *http.Request
	// Began is when the last attempt began, or the zero time.
	Began time.Time
	// Trouble is why a call waited for a breaker. It is set at the end of a BreakerWait only.
	Trouble  *Trouble
	Attempts int
	// RetryAfter is how long the response asked to wait, or 0.
	RetryAfter time.Duration
}
