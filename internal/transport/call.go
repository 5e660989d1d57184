package transport

import (
	"context"
	"net/http"

	"github.com/hashicorp/go-retryablehttp"
)

// A call is the state of one Do. Its attempts are made in attempt.go, and retry.go decides whether another follows.
type call struct {
	ctx       context.Context //nolint:containedctx // the caller's: a call is one Do
	transport *Transport
	request   Request
	evidence  evidence
	outcome   Outcome
	judgement Judgement // of the response in outcome

	waiter            // for the breakers
	passed  [2]passed // the breakers
	placed  bool      // it has a place
	waited  bool      // for a place, in this attempt
	yes     yes       // of the guard
	turn    turn      // of the rate limit
	paced   turn      // of the pace
	pace    *pace     // of the account, or nil
	own     *ownParts // of the attempt
	sending bool      // the last attempt reached the round tripper, and is not known to have been without effect

	tries       int           // attempts that count towards MaxAttempts
	refreshed   bool          // an attempt was made for a fresh token
	forgetToken func()        // drops the token of the last attempt; nil if it had none from a TokenSource
	endBackoff  func(Outcome) // nil when no wait is under way

	carrier  retryablehttp.Request // goes through the loop: the request, without what is an attempt's own
	response http.Response         // comes back: that of the last attempt, read and closed
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) } //nolint:forcetypeassert // Do has put it there

// Do performs a call.
func (t *Transport) Do(ctx context.Context, r Request) *Outcome {
	c := &call{transport: t, request: r}
	c.recipient, c.passed[0].breaker, c.passed[1].breaker = r.Recipient, r.Breakers.Service, r.Breakers.Account
	if r.Doubt != nil {
		defer func() { *r.Doubt = c.sending && c.evidence.written(c.outcome.Err) }()
	}
	if _, nested := ctx.Value(callKey{}).(*call); nested { // such as of an observer: that call holds what this one would wait for
		c.request.Breakers.Places, c.passed = nil, [2]passed{}
	}
	c.ctx = context.WithValue(ctx, callKey{}, c)
	waits := c.ctx
	if r.Slot != nil {
		waits = context.WithValue(r.Slot.of.waits, callKey{}, c)
	}
	t.once.Do(func() { t.loop = t.newLoop() })
	carrier := &http.Request{Method: r.Method, URL: r.URL, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}
	carrier.Header = http.Header{}                 // each attempt has its own
	c.carrier.Request = carrier.WithContext(waits) //nolint:contextcheck // that of the SendAll
	_, err := t.loop.Do(&c.carrier)                //nolint:bodyclose // attempt has read and closed it
	o := &c.outcome
	if c.endBackoff != nil { // the context ended the wait
		o.Interrupted = ctx.Err()
		c.endBackoff(Outcome{Err: o.Interrupted})
	}
	if o.Attempts == 0 {
		o.Err, o.Interrupted = withoutURL(err), nil
	}
	return o
}
