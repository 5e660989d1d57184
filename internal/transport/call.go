package transport

import (
	"context"
)

// A call is the state of one Do. Its attempts are made in attempt.go, and retry.go decides whether another follows.
type call struct {
	transport *Transport
	request   Request
	evidence  evidence
	outcome   Outcome
	judgement Judgement // of the response in outcome

	passed  [2]passed // the breakers
	sending bool      // the last attempt reached the round tripper, and is not known to have been without effect

	refreshes   int    // attempts that were made for a fresh token
	held        int    // attempts that were throttled and do not count, because the next waits for an open breaker
	forgetToken func() // drops the token of the last attempt; nil if it had none from a TokenSource
	hasten      bool   // the attempt that follows need not wait: it is for a fresh token, or waits for a breaker
}

// Do performs a call.
func (t *Transport) Do(ctx context.Context, r Request) Outcome {
	c := &call{transport: t, request: r, passed: [2]passed{{breaker: r.Breakers.Service}, {breaker: r.Breakers.Account}}}
	if r.Doubt != nil {
		defer func() { *r.Doubt = c.sending && c.evidence.written(c.outcome.Err) }()
	}
	c.attempt(ctx)
	if c.shouldRetry(ctx) {
		c.retry(ctx)
	}
	o := &c.outcome
	if o.Attempts == 0 {
		o.Err, o.Interrupted = o.Interrupted, nil
	}
	return *o
}
