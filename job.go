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
	attemptsBefore := j.attempts
	began := time.Now()
	b.send(j.ctx, &j.Outcome, j.observation, sendMode{maybeWritten: &j.maybeWritten, waits: b.waits, priorAttempts: attemptsBefore})
	b.recordResponse(j, began)
	j.isOver = !b.scheduleRetry(j, attemptsBefore)
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

// recordResponse records how the service responded to a message that began at began.
func (b *bulk[M]) recordResponse(j *job[M], began time.Time) {
	if j.Err == nil {
		b.throttle.record(began, false)
		return
	}
	e, isError := errors.AsType[*Error](j.Err)
	if !isError || e.Attempts == j.attempts {
		return // no request began
	}
	j.attempts = e.Attempts
	switch {
	case !isThrottled(e):
	case e.Verdict == Unknown:
		b.throttle.recordLost(began)
	default:
		b.throttle.record(began, true)
	}
}

// isThrottled reports whether the service throttles the account, and not one recipient.
func isThrottled(e *Error) bool {
	if e.platform.isOfRecipient() {
		return false
	}
	_, isRetryable := Retryable(e)
	return errors.Is(e, ErrRateLimited) || isRetryable && e.Verdict == Refused
}

// scheduleRetry has a message wait for another attempt, and reports whether it does. Otherwise the message has its outcome.
func (b *bulk[M]) scheduleRetry(j *job[M], attemptsBefore int) bool {
	wait, retries := b.decide(j, attemptsBefore)
	if !retries {
		return false
	}
	j.due = time.Now().Add(wait)
	if deadline, ok := b.ctx.Deadline(); ok && deadline.Before(j.due) {
		return false
	}
	_, j.endWait = j.observation.begin(j.ctx, StepBackoff, j.attempts+1)
	return true
}

// decide returns whether a message is tried again, and after how long.
func (b *bulk[M]) decide(j *job[M], attemptsBefore int) (wait time.Duration, retries bool) {
	e, isError := errors.AsType[*Error](j.Err)
	if !isError || b.waits.Err() != nil {
		return 0, false
	}
	if j.attempts == attemptsBefore {
		return b.decideBlocked(j, e)
	}
	return b.decideAfterRequest(j, e)
}

// decideAfterRequest decides about a message whose request failed.
func (b *bulk[M]) decideAfterRequest(j *job[M], e *Error) (wait time.Duration, retries bool) {
	if _, isRetryable := Retryable(e); !isRetryable {
		return 0, false
	}
	wait = max(e.RetryAfter, b.core.transport.Backoff(j.tries+1))
	if isThrottled(e) && b.throttle.isOn() {
		after := cmp.Or(b.core.settings.breaker.GiveUp, giveUp)
		return wait, b.throttle.giveUpIn(after) > wait // and the attempt does not count
	}
	policy := b.core.settings.retry.withDefaults()
	j.tries++
	return wait, j.tries < policy.MaxAttempts && e.RetryAfter <= policy.MaxWait
}

// decideBlocked decides about a message for which no request could begin.
func (b *bulk[M]) decideBlocked(j *job[M], e *Error) (wait time.Duration, retries bool) {
	if e.hasClass(ErrDenied) {
		return 0, false
	}
	if e.hasClass(ErrPostponed) {
		wait = max(e.RetryAfter, time.Second)
		j.guardWait += wait
		return wait, j.guardWait <= b.core.settings.retry.withDefaults().MaxWait
	}
	if open, ok := errors.AsType[*transport.OpenError](e.cause); ok {
		return e.RetryAfter, b.giveUpIn(&open.Trouble) > 0
	}
	_, isLate := errors.AsType[*transport.LateError](e.cause)
	return max(e.RetryAfter, time.Second/10), isLate
}
