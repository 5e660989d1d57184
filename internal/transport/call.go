package transport

import (
	"cmp"
	"context"
	"time"
)

// A call is the state of one Do. Each attempt leaves here what decide needs to know about it.
type call struct {
	ctx       context.Context //nolint:containedctx // the caller's: a call is one Do
	transport *Transport
	request   Request
	isNested  bool // a function of the user makes this call within another

	outcome   Outcome   // of the last attempt that began
	judgement Judgement // of the response in outcome

	current  *attempt // the last that got its credentials
	sent     *attempt // the last that reached the round tripper, until another replaces it; or nil
	obstacle obstacle // why the last attempt could not begin
	held     holdings // what the attempt under way holds
	step     openStep // the step under way: an attempt or a back-off
	used     usage    // what the call has used up of its attempts and waits

	guardPassedAt time.Time // when the guard last let the message pass
}

// obstacle is why an attempt could not begin. The zero value means that nothing was in the way.
type obstacle struct {
	err  error
	open *OpenError // the open breaker, or nil if something else is in the way
}

// holdings are what an attempt holds of what calls share. release gives them back.
type holdings struct {
	hasSlot bool   // one of Request.Slots
	service ticket // of the breaker Request.Service, once the attempt has entered it
	account ticket // of the breaker Request.Account
}

// usage is what a call has used up of what its RetryPolicy allows.
type usage struct {
	tries     int           // attempts that count towards MaxAttempts
	refreshed bool          // an attempt was made for a fresh token
	waited    time.Duration // all waits so far
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
	if err := c.loop(ctx); err != nil { // ctx ended a wait
		c.outcome.Interrupted = cmp.Or(c.ctx.Err(), ctx.Err())
		c.step.finish(Outcome{Err: c.outcome.Interrupted})
	}
}

// cleanUp releases what the call still holds, whether it returns or panics, and sets Request.MaybeWritten.
func (c *call) cleanUp() {
	if c.current != nil && c.current.evidence.stop != nil { // it began
		c.current.evidence.end()
	}
	if c.request.MaybeWritten != nil {
		*c.request.MaybeWritten = c.sent != nil && c.sent.evidence.written(c.outcome.Err)
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
	c.step.finish(c.outcome)
}

// release reports the health of the attempt to the breakers that it entered, and releases its slot.
func (c *call) release(health Health) {
	defer c.releaseSlot() // even if Transport.Changed panics
	c.recordAttempt(health)
}

// A waitContext ends with the waits of a call, and has the values of the call.
type waitContext struct {
	context.Context //nolint:containedctx // of the waits

	values context.Context //nolint:containedctx // of the call
}

func (w waitContext) Value(key any) any { return w.values.Value(key) }

// AfterFunc lets package context derive from w without a goroutine.
func (w waitContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(w.Context, f) }
