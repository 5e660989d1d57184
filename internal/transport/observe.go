package transport

import "context"

// A Step is a part of a call that can be observed.
type Step string

// The steps. Each is a messaging.StepKind.
const (
	Attempt Step = "attempt"
	Wait    Step = "wait"
	Backoff Step = "backoff"
	Token   Step = "token"
)

// Observe is called when a step begins, in the goroutine of the call. It returns the context of the step, which derives
// from ctx, and a function that is called once when the step has ended: with the outcome of an attempt, or with why
// another step failed in the Err of an Outcome.
type Observe func(ctx context.Context, step Step, attempt int) (context.Context, func(Outcome))

func (observe Observe) begin(ctx context.Context, step Step, attempt int) (context.Context, func(Outcome)) {
	if observe == nil {
		return ctx, func(Outcome) {}
	}
	return observe(ctx, step, attempt)
}

// openStep is a step that has begun and not ended. The zero value is not a step.
type openStep struct{ end func(Outcome) }

// begin begins a step, and returns its context.
func (s *openStep) begin(ctx context.Context, observe Observe, step Step, attempt int) context.Context {
	observed, end := observe.begin(ctx, step, attempt)
	s.end = end
	return observed
}

// finish ends the step, if there is one.
func (s *openStep) finish(outcome Outcome) {
	end := s.end
	s.end = nil
	if end != nil {
		end(outcome)
	}
}
