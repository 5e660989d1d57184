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

	refreshes   int    // attempts that were made for a fresh token
	forgetToken func() // drops the token of the last attempt; nil if it had none from a TokenSource
	refreshing  bool   // the attempt that follows is for a fresh token, and need not wait
}

// Do performs a call.
func (t *Transport) Do(ctx context.Context, r Request) Outcome {
	c := &call{transport: t, request: r}
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
