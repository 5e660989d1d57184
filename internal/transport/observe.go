package transport

import "context"

// Step is a part of a call that can be observed.
type Step string

const (
	// Attempt is one request and its response, read to its end.
	Attempt Step = "attempt"
	// RateLimit is a wait for the Limiter.
	RateLimit Step = "rateLimit"
	// BreakerWait is a wait for a circuit breaker, or its refusal to let a call wait. Its Outcome has the Trouble.
	BreakerWait Step = "breaker"
	// Backoff is the wait before another attempt.
	Backoff Step = "backoff"
	// Token is a call of the function of a TokenSource.
	Token Step = "token"
)

// Observe is called when a step begins, in the goroutine of the call. It returns the context of the step, which derives
// from ctx, and a function that is called once when the step has ended: with the outcome of an attempt, or with why
// another step failed in the Err of an Outcome.
type Observe func(ctx context.Context, step Step, attempt int) (context.Context, func(Outcome))

// begin begins a step, also if nobody observes it.
func (observe Observe) begin(ctx context.Context, step Step, attempt int) (context.Context, func(Outcome)) {
	if observe == nil {
		return ctx, func(Outcome) {}
	}
	return observe(ctx, step, attempt)
}
