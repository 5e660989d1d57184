package transport

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// A call is the state of one Do.
type call struct {
	ctx       context.Context //nolint:containedctx // the caller's: a call is one Do
	transport *Transport
	request   Request
	evidence  evidence

	outcome   Outcome
	judgement Judgement  // of the response in outcome
	blocked   error      // why the last attempt could not begin, or nil
	open      *OpenError // the same if a breaker is why, or nil

	current    *attempt      // the last that got its credentials
	allowedAt  time.Time     // when the guard last said yes
	holdsPlace bool          // in the room of the account
	tickets    [2]ticket     // of the breakers that let the attempt pass
	inDoubt    bool          // the last attempt reached the round tripper, and is not known to have been without effect
	endStep    func(Outcome) // ends the step of an attempt or of a back-off that is under way

	isNested    bool          // a function of the user makes it within another call
	tries       int           // attempts that count towards MaxAttempts
	refreshed   bool          // an attempt was made for a fresh token
	forgetToken func()        // drops the token of the last attempt; nil if it had none from a TokenSource
	waited      time.Duration // all waits so far
	again       bool          // another attempt follows
	backoff     time.Duration // before it

	carrier  retryablehttp.Request // goes through the loop: the request, without what belongs to one attempt
	response http.Response         // comes back from it, and says only whose it is
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) } //nolint:forcetypeassert // Do has put it there

// Do performs a call.
func (t *Transport) Do(ctx context.Context, r Request) *Outcome {
	t.once.Do(func() { t.loop = newLoop() })
	c := &call{transport: t, request: r}
	defer c.leave()
	c.outcome.Attempts = r.Begun
	if _, isNested := ctx.Value(callKey{}).(*call); isNested {
		c.isNested = true
		// A function of the user, such as an observer, makes this call within another. It must not wait for what that one holds.
		c.request.Room = nil
		c.request.Service = nil
		c.request.Account = nil
	}
	c.ctx = context.WithValue(ctx, callKey{}, c)
	waits := c.ctx
	if r.Waits != nil {
		waits = waitContext{r.Waits, c.ctx}
	}
	carrier := &http.Request{Method: r.Method, URL: r.URL, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}}
	c.carrier.Request = carrier.WithContext(waits) //nolint:contextcheck // that of the SendAll
	_, _ = t.loop.Do(&c.carrier)                   //nolint:bodyclose // the attempt has read and closed it
	if c.again {                                   // the context ended the wait for another attempt
		c.outcome.Interrupted = cmp.Or(ctx.Err(), waits.Err())
		c.end(Outcome{Err: c.outcome.Interrupted})
	}
	o := &c.outcome
	if o.Sent == nil { // no attempt could begin
		o.Err = withoutURL(o.Interrupted)
		o.Interrupted = nil
	}
	return o
}

// A waitContext ends with the waits of a call, and has the values of the call.
type waitContext struct {
	context.Context //nolint:containedctx // of the waits

	values context.Context //nolint:containedctx // of the call
}

func (w waitContext) Value(key any) any { return w.values.Value(key) }

// AfterFunc lets package context derive from w without a goroutine.
func (w waitContext) AfterFunc(f func()) (stop func() bool) { return context.AfterFunc(w.Context, f) }

// leave gives back what the call still holds, whether it returns or panics, and says what doubt it leaves.
func (c *call) leave() {
	if c.request.Doubt != nil {
		*c.request.Doubt = c.inDoubt && c.evidence.written(c.outcome.Err)
	}
	if c.current != nil && c.current.cancel != nil {
		c.current.cancel()
	}
	c.giveBack(unwritten)
}

// newLoop returns the loop of all calls: an attempt, a decision, a wait, and again. The call is in the context.
func newLoop() *retryablehttp.Client {
	return &retryablehttp.Client{
		HTTPClient: &http.Client{Transport: attempts{}},
		RetryMax:   math.MaxInt, // decide counts
		CheckRetry: func(ctx context.Context, _ *http.Response, _ error) (bool, error) {
			c := callOf(ctx)
			c.again = c.decide(ctx)
			return c.again, nil
		},
		Backoff: func(_, _ time.Duration, _ int, resp *http.Response) time.Duration {
			return callOf(resp.Request.Context()).backoff
		},
		PrepareRetry: func(r *http.Request) error {
			callOf(r.Context()).end(Outcome{})
			return nil
		},
		ErrorHandler: retryablehttp.PassthroughErrorHandler,
	}
}

// attempts is the round tripper of the loop. What an attempt found is in the call.
type attempts struct{}

func (attempts) RoundTrip(r *http.Request) (*http.Response, error) {
	c := callOf(r.Context())
	c.again = false
	c.attempt(r)
	c.response = http.Response{Body: http.NoBody, Request: r}
	return &c.response, nil
}

// decide is the only place that judges an attempt, gives back what it held, and says whether another follows. It judges what the attempt
// found: a response is never given up because a context ended after it came.
func (c *call) decide(ctx context.Context) bool {
	if c.blocked != nil {
		c.giveBack(unwritten)
		return c.backsOffForBreaker(ctx)
	}
	c.judge()
	if c.canRefresh() {
		c.forgetToken()
		c.refreshed = true
		c.backoff = 0
		return true
	}
	c.tries++
	if !c.worthRepeating() {
		return false
	}
	if err := ctx.Err(); err != nil {
		if !errors.Is(c.outcome.Err, err) {
			c.outcome.Interrupted = err
		}
		return false
	}
	return c.backsOff(ctx, max(c.transport.Backoff(c.tries), c.outcome.RetryAfter))
}

// judge finds out what the attempt says of its message and of the service, gives back what it held, and ends it.
func (c *call) judge() {
	o := &c.outcome
	if o.StatusCode != 0 {
		c.judgement = c.request.Judge.Judge(o)
	}
	c.giveBack(c.health())
	c.end(*o)
	c.current.cancel()
}

// giveBack gives back the tickets of the breakers, which hear what the attempt says of the service, and the place.
func (c *call) giveBack(health Health) {
	defer c.leavePlace() // even if Transport.Changed panics
	c.report(health)
}

// end ends the step under way, if there is one.
func (c *call) end(found Outcome) {
	end := c.endStep
	c.endStep = nil
	if end != nil {
		end(found)
	}
}

// backsOffForBreaker reports whether a call that an open breaker held back waits and asks it again. Such a wait is no attempt.
func (c *call) backsOffForBreaker(ctx context.Context) bool {
	if c.open != nil && ctx.Err() == nil {
		if c.mayBackOff() && c.backsOff(ctx, c.open.RetryAfter) {
			return true
		}
		c.outcome.Wait = c.open.RetryAfter
	}
	c.outcome.Interrupted = c.blocked
	return false
}

// backsOff begins the wait before another attempt, unless the call must not wait so long.
func (c *call) backsOff(ctx context.Context, wait time.Duration) bool {
	if wait > c.longestWait() {
		c.outcome.Wait = wait
		return false
	}
	c.inDoubt = false
	c.waited += wait
	c.backoff = wait
	_, c.endStep = c.request.Observe.begin(ctx, Backoff, c.outcome.Attempts+1)
	return true
}

// longestWait returns how long the call may still wait: its waits take MaxWait together at most, and end before its deadline.
func (c *call) longestWait() time.Duration {
	return min(c.transport.MaxWait-c.waited, c.untilDeadline())
}

// untilDeadline returns how long the call has until its deadline, less twice the usual time of a response: nothing is written that has no
// time for its response.
func (c *call) untilDeadline() time.Duration {
	deadline, ok := c.ctx.Deadline()
	if !ok {
		return forever
	}
	return time.Until(deadline) - 2*c.request.Room.usualTime()
}

const forever = time.Duration(math.MaxInt64)
