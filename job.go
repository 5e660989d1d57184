package messaging

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
)

// A job is a message of a SendAll. It is new, then under way, and then it waits for another attempt or has its outcome. It belongs to one
// goroutine at a time.
type job[M any] struct {
	Outcome[M]

	isOver bool      // it has its outcome
	due    time.Time // when it is to be tried again

	ctx         context.Context //nolint:containedctx // of the StepCall; nil before the first attempt
	observation *observation
	endCall     func(StepResult) // ends the StepCall
	endWait     func(StepResult) // ends the step of a wait, or is nil

	maybeWritten bool          // something of it may have been written
	attempts     int           // requests so far
	tries        int           // attempts that count towards MaxAttempts
	guardWait    time.Duration // how long it has waited for its guard, at most RetryPolicy.MaxWait
}

// interrupt records why the wait of a message was cut short: the end of the caller's context, or nil for a break.
func (j *job[M]) interrupt(why error) {
	if e, ok := errors.AsType[*Error](j.Err); ok && why != nil {
		e.addInterruption(why)
	}
}

// endWaiting ends the step of the wait, if there was one.
func (j *job[M]) endWaiting() {
	end := j.endWait
	j.endWait = nil
	if end != nil {
		end(StepResult{})
	}
}

// run makes one attempt at a message, in a goroutine of its own, unless its outcome is known. It defers what follows, because a function of
// the user may call runtime.Goexit.
func (b *bulk[M]) run(j *job[M]) {
	defer b.report(j)
	defer b.finish(j)
	if !j.isOver {
		b.attempt(j)
	}
}

// report passes a message to the caller if it has its outcome, and to the dispatcher.
func (b *bulk[M]) report(j *job[M]) {
	if j.isOver {
		b.outcomes <- j
	}
	b.attempted <- j
}

// attempt sends a message once, and decides whether it waits for another attempt.
func (b *bulk[M]) attempt(j *job[M]) {
	hasReturned := false
	defer b.catch(j, &hasReturned)
	j.endWaiting()
	if j.ctx == nil {
		j.observation = b.core.observation(b.ctx, &b.endpoint.endpoint)
		j.ctx, j.endCall = j.observation.begin(b.ctx, StepCall, 0)
	}
	began := time.Now()
	mode := sendMode{maybeWritten: &j.maybeWritten, waits: b.waits, priorAttempts: j.attempts, noToken: b.outage.paused()}
	b.send(j.ctx, &j.Outcome, j.observation, mode)
	wait := b.evaluate(j, began)
	j.isOver = !b.startWait(j, wait)
	hasReturned = true
}

// finish ends the steps of a message that has its outcome.
func (b *bulk[M]) finish(j *job[M]) {
	if !j.isOver {
		return
	}
	hasReturned := false
	defer b.catch(j, &hasReturned)
	j.endWaiting()
	end := j.endCall
	j.endCall = nil
	if end != nil {
		end(j.observation.outcome(&j.Receipt, j.Err))
	}
	hasReturned = true
}

var errExited = errors.New("a function of the caller called runtime.Goexit, as a failed assertion of a test does")

// catch makes a panic of a function of the user, or a call of runtime.Goexit, the outcome of the message. It is deferred by a function that
// sets hasReturned at its end.
func (b *bulk[M]) catch(j *job[M], hasReturned *bool) {
	value := recover()
	if *hasReturned {
		return
	}
	j.isOver = true
	referenceID := b.describe(j.Message).ReferenceID
	if value == nil {
		j.Err = stopped(b.endpoint, errExited, j.maybeWritten, referenceID)
		return
	}
	j.Err = panicked(b.endpoint, value, j.maybeWritten, referenceID)
}

// final is in place of a wait if no other attempt follows.
const final = time.Duration(-1)

// evaluate records how an attempt that began at began ended, and returns how long the message waits for another one, or final.
func (b *bulk[M]) evaluate(j *job[M], began time.Time) time.Duration {
	if j.Err == nil {
		b.outage.end(began)
		b.throttle.record(began, false)
		return final
	}
	e, isError := errors.AsType[*Error](j.Err)
	if !isError {
		return final
	}
	hasRequest := e.Attempts > j.attempts
	if !hasRequest {
		return b.waitBlocked(j, e, began)
	}
	b.outage.end(began)
	j.attempts = e.Attempts
	b.recordFailure(e, began)
	return b.waitAfterRequest(j, e)
}

// recordFailure records the response to a request that began at began and failed.
func (b *bulk[M]) recordFailure(e *Error, began time.Time) {
	switch {
	case !isThrottled(e):
	case e.Verdict == Unknown:
		b.throttle.recordLost(began)
	default:
		b.throttle.record(began, true)
	}
}

// isThrottled reports whether the service throttles the account, and not one recipient. A 401 without a fresh token is no throttling.
func isThrottled(e *Error) bool {
	if e.platform.isOfRecipient() || e.hasClass(ErrUnauthorized) {
		return false
	}
	_, isRetryable := Retryable(e)
	return errors.Is(e, ErrRateLimited) || isRetryable && e.Verdict == Refused
}

// waitAfterRequest returns how long a message whose request failed waits, or final.
func (b *bulk[M]) waitAfterRequest(j *job[M], e *Error) time.Duration {
	if _, isRetryable := Retryable(e); !isRetryable {
		return final
	}
	wait := max(e.RetryAfter, b.core.transport.Backoff(j.tries+1))
	if isThrottled(e) && b.throttle.isOn() { // the attempt does not count
		after := cmp.Or(b.core.settings.breaker.GiveUp, giveUp)
		if b.throttle.giveUpIn(after) <= wait {
			return final
		}
		return wait
	}
	policy := b.core.settings.retry.withDefaults()
	j.tries++
	if j.tries >= policy.MaxAttempts || e.RetryAfter > policy.MaxWait {
		return final
	}
	return wait
}

// waitBlocked returns how long a message waits if no request could begin in its attempt, which began at began, or final.
func (b *bulk[M]) waitBlocked(j *job[M], e *Error, began time.Time) time.Duration {
	if e.hasClass(ErrDenied) {
		return final
	}
	if e.hasClass(ErrPostponed) {
		return b.waitForGuard(j, max(e.RetryAfter, time.Second))
	}
	if errors.Is(e.cause, transport.ErrNoToken) {
		return b.outage.record(began, e.cause, b.core.settings.retry.withDefaults().MaxWait)
	}
	if open, ok := errors.AsType[*transport.OpenError](e.cause); ok {
		if b.giveUpIn(&open.Trouble) <= 0 {
			return final
		}
		return e.RetryAfter
	}
	if _, isLate := errors.AsType[*transport.LateError](e.cause); isLate {
		return max(e.RetryAfter, time.Second/10)
	}
	return final
}

// waitForGuard returns the wait of a message that its guard postponed, or final if these waits would take longer than MaxWait together.
func (b *bulk[M]) waitForGuard(j *job[M], wait time.Duration) time.Duration {
	j.guardWait += wait
	if j.guardWait > b.core.settings.retry.withDefaults().MaxWait {
		return final
	}
	return wait
}

// startWait has a message wait for another attempt, and reports whether it does. Otherwise the message has its outcome.
func (b *bulk[M]) startWait(j *job[M], wait time.Duration) bool {
	if wait == final || b.waits.Err() != nil {
		return false
	}
	j.due = time.Now().Add(wait)
	if deadline, ok := b.ctx.Deadline(); ok && deadline.Before(j.due) {
		return false
	}
	_, j.endWait = j.observation.begin(j.ctx, StepBackoff, j.attempts+1)
	return true
}
