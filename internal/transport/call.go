package transport

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// A call is the state of one Do.
type call struct {
	ctx       context.Context //nolint:containedctx // the caller's: a call is one Do
	transport *Transport
	request   Request

	// What the last attempt found.
	outcome      Outcome
	judgement    Judgement  // of the response in outcome
	blocked      error      // why the attempt could not begin, or nil
	open         *OpenError // the open breaker that blocked it, or nil
	maybeWritten bool       // it reached the round tripper, and no later attempt has replaced it
	forgetToken  func()     // drops its token; nil if it had none from a TokenSource

	// What the attempt under way holds.
	current *attempt      // the last that got its credentials
	hasSlot bool          // one of request.Slots
	tickets [2]ticket     // of the breakers that it entered
	endStep func(Outcome) // ends the step under way: an attempt or a back-off

	// What limits further attempts.
	isNested      bool          // a function of the user makes this call within another
	guardPassedAt time.Time     // when the guard last let the message pass
	tries         int           // attempts that count towards MaxAttempts
	refreshed     bool          // an attempt was made for a fresh token
	waited        time.Duration // all waits so far
	backoff       time.Duration // the wait before the next attempt
}

// callKey is the key of the call in the contexts of its attempt.
type callKey struct{}

// Do performs a call.
func (t *Transport) Do(ctx context.Context, r Request) *Outcome {
	c := &call{transport: t, request: r}
	defer c.cleanUp()
	c.outcome.Attempts = r.PriorAttempts
	_, c.isNested = ctx.Value(callKey{}).(*call)
	if c.isNested {
		// A function of the user, such as an observer, makes this call within another. It must not wait for what that one holds.
		c.request.Slots = nil
		c.request.Service = nil
		c.request.Account = nil
	}
	c.ctx = context.WithValue(ctx, callKey{}, c)
	waits := c.ctx
	if r.WaitContext != nil {
		waits = waitContext{r.WaitContext, c.ctx}
	}
	c.run(waits) //nolint:contextcheck // that of the SendAll
	outcome := &c.outcome
	if outcome.Sent == nil { // no attempt could begin
		outcome.Err = withoutURL(outcome.Interrupted)
		outcome.Interrupted = nil
	}
	return outcome
}

// run makes attempts until decide says that none follows, or ctx ends a wait.
func (c *call) run(ctx context.Context) {
	if err := c.repeat(ctx); err != nil { // ctx ended a wait
		c.outcome.Interrupted = cmp.Or(c.ctx.Err(), ctx.Err())
		c.end(Outcome{Err: c.outcome.Interrupted})
	}
}

// repeat makes an attempt, and another after each wait, until decide returns false. It returns the error of ctx if ctx ends a wait.
//
// The loop and its timer are from go-retryablehttp. A retryablehttp.Client passes a request to the round tripper of its HTTPClient, asks
// CheckRetry whether another attempt follows, waits for as long as Backoff returns, and begins again. It would repeat the same request, but each
// attempt has its own request and credentials. So the round tripper makes that request and keeps the response in the call, and the Client gets
// an empty request and empty responses, which it has no reason to redirect, log or close.
func (c *call) repeat(ctx context.Context) error {
	client := retryablehttp.Client{
		HTTPClient: &http.Client{Transport: attempts{c}},
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) { return c.decide(ctx), nil },
		Backoff:    func(time.Duration, time.Duration, int, *http.Response) time.Duration { return c.backoff },
		RetryMax:   math.MaxInt, // decide counts the attempts
	}
	empty := (&http.Request{URL: new(url.URL)}).WithContext(ctx)
	_, err := client.Do(&retryablehttp.Request{Request: empty}) //nolint:bodyclose // it has none
	return err
}

// attempts is the round tripper of repeat. It returns no error.
type attempts struct{ call *call }

// RoundTrip makes one attempt. The empty request has the context of the waits.
func (a attempts) RoundTrip(empty *http.Request) (*http.Response, error) {
	a.call.end(Outcome{}) // the wait before it
	a.call.tryOnce(empty.Context())
	return &http.Response{Body: http.NoBody}, nil
}

// A waitContext ends with the waits of a call, and has the values of the call.
type waitContext struct {
	context.Context //nolint:containedctx // of the waits

	values context.Context //nolint:containedctx // of the call
}

func (w waitContext) Value(key any) any { return w.values.Value(key) }

// AfterFunc lets package context derive from w without a goroutine.
func (w waitContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(w.Context, f) }

// cleanUp releases what the call still holds, whether it returns or panics, and sets Request.MaybeWritten.
func (c *call) cleanUp() {
	if c.current != nil && c.current.evidence.stop != nil { // it began
		c.current.evidence.end()
	}
	if c.request.MaybeWritten != nil {
		*c.request.MaybeWritten = c.maybeWritten && c.current.evidence.written(c.outcome.Err)
	}
	c.release(notWritten)
}

// judge finds out what the attempt says of its message and of the service, releases what it held, and ends it.
func (c *call) judge() {
	if c.outcome.StatusCode != 0 {
		c.judgement = c.request.Judge.Judge(&c.outcome)
	}
	health := c.health()
	if health == Healthy && !c.judgement.Repeatable {
		c.request.Slots.addTime(time.Since(c.outcome.Began))
	}
	c.release(health)
	c.end(c.outcome)
}

// release reports the health of the attempt to the breakers that it entered, and releases its slot.
func (c *call) release(health Health) {
	defer c.releaseSlot() // even if Transport.Changed panics
	c.recordAttempt(health)
}

// end ends the step under way, if there is one.
func (c *call) end(outcome Outcome) {
	end := c.endStep
	c.endStep = nil
	if end != nil {
		end(outcome)
	}
}
