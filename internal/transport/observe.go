package transport

import "context"

// Step is a part of a call that can be observed.
type Step string

const (
	// Attempt is one request and its response, read to its end.
	Attempt Step = "attempt"
	// RateLimit is a wait for the Limiter.
	RateLimit Step = "rateLimit"
	// Backoff is the wait before another attempt.
	Backoff Step = "backoff"
)

// Observe is called when a step begins, in the goroutine of the call. It returns the context of the step, which derives
// from ctx, and a function that is called once when the step has ended: with the status of a response, or 0, and with
// what went wrong, or nil.
type Observe func(ctx context.Context, step Step, attempt int) (context.Context, func(status int, err error))

// begin begins a step, also if nobody observes it.
func (observe Observe) begin(ctx context.Context, step Step, attempt int) (context.Context, func(int, error)) {
	if observe == nil {
		return ctx, func(int, error) {}
	}
	return observe(ctx, step, attempt)
}
