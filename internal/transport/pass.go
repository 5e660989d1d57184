package transport

import (
	"context"
	"errors"
	"time"
)

// Breakers are the circuit breakers that a call asks. A nil one lets everything pass.
type Breakers struct {
	// Service is for failures of the service, Account for what concerns the account: refusals and throttling.
	Service, Account *Breaker
	// Channel is what they are for, which the Changed of the Transport may want to know.
	Channel uint8
}

// Patience is how long a call waits for its breakers.
type Patience uint8

const (
	// Brief: up to MaxWait, or not at all if that or the context would end before the pause.
	Brief Patience = iota
	// Patient: until the GiveUp of the Transport, or not at all if the context would end before the pause.
	Patient
	// Bulk: until the GiveUp of the Transport or the end of the context. A request that is throttled while the breaker is
	// open does not count towards MaxAttempts.
	Bulk
)

// OpenError is in the chain of an error of a call that an open breaker ended. Its text and what it wraps hold nothing of
// another call's message.
type OpenError struct {
	Trouble

	// RetryAfter is the time left until the breaker lets a call pass, at least a little.
	RetryAfter time.Duration
}

// Error returns why the breaker is open.
func (e *OpenError) Error() string { return "the circuit breaker is open: " + Describe(e.Cause) }

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Cause }

type passed struct {
	breaker    *Breaker
	entered    bool // and not left
	generation uint64
	counted    bool // the call was counted in countedIn
	countedIn  uint64
}

// enterBreakers waits until both breakers let the attempt pass. While it waits, it holds none of them. What it has entered is left by
// leaveBreakers, also if a function of the user panics before the attempt begins.
func (c *call) enterBreakers(ctx context.Context) error {
	wait := c.tryBreakers(ctx)
	if wait == nil {
		return nil
	}
	began := time.Now()
	_, end := c.request.Observe.begin(ctx, BreakerWait, c.outcome.Attempts+1)
	trouble := &wait.Trouble
	for {
		if err := c.await(ctx, wait, began); err != nil {
			end(Outcome{Err: err, Trouble: trouble})
			return err
		}
		if wait = c.tryBreakers(ctx); wait == nil {
			end(Outcome{Trouble: trouble})
			return nil
		}
	}
}

func (c *call) tryBreakers(ctx context.Context) (wait *blocked) {
	for i := range c.passed {
		p := &c.passed[i]
		if p.breaker == nil {
			continue
		}
		if p.generation, wait = p.breaker.enter(); wait != nil {
			c.leaveBreakers(ctx, unheard)
			return wait
		}
		p.entered = true
	}
	return nil
}

// await waits until a breaker may let the attempt pass, or returns why it is not worth waiting.
func (c *call) await(ctx context.Context, b *blocked, began time.Time) error {
	var bound time.Time // zero is none
	deadline, ok := ctx.Deadline()
	switch {
	case c.request.Patience == Brief:
		bound = began.Add(c.transport.MaxWait)
	case b.open:
		bound = b.Since.Add(c.transport.giveUp(b.Account))
	}
	now := time.Now()
	wait := time.Duration(1<<63 - 1)
	if b.pausing {
		wait = b.Until.Sub(now)
	}
	tooLong := c.request.Patience == Brief && b.pausing && b.Until.After(bound) ||
		c.request.Patience != Bulk && b.pausing && ok && b.Until.After(deadline)
	if tooLong || !bound.IsZero() && !now.Before(bound) {
		return b.err(now, nil)
	}
	if !bound.IsZero() {
		wait = min(wait, bound.Sub(now))
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return b.err(time.Now(), ctx.Err())
	case <-b.changed:
	case <-timer.C:
	}
	return nil
}

// err returns the error of a call that does not wait any longer, because its context ended unless ended is nil.
func (b *blocked) err(now time.Time, ended error) error {
	open := &OpenError{Trouble: b.Trouble, RetryAfter: max(b.Until.Sub(now), minPause)}
	if ended == nil {
		return &namedError{open.Error(), open}
	}
	return &namedError{ended.Error() + " while " + open.Error(), errors.Join(ended, open)}
}

// leaveBreakers leaves the breakers that were entered, with what became of the attempt.
func (c *call) leaveBreakers(ctx context.Context, health Health) {
	o := heard{at: c.outcome.Began, retryAfter: c.outcome.RetryAfter}
	if health != Healthy && health.known() {
		o.at, o.cause = time.Now(), c.judgement.Cause
		if o.cause == nil {
			o.cause = &namedError{text: Describe(c.outcome.Err)} // without what it wraps
		}
	}
	var changes [len(c.passed)]*Change
	for i := range c.passed {
		p := &c.passed[i]
		if !p.entered {
			continue
		}
		p.entered = false
		o.health = health
		switch service := i == 0; {
		case service && (health == Refusing || health == Throttling):
			o.health = Healthy
		case !service && health == Failing:
			o.health = unheard
		}
		changes[i] = p.breaker.leave(p.generation, &o, p.counted && p.countedIn == p.generation)
		if o.health.known() {
			p.counted, p.countedIn = true, p.generation
		}
	}
	for _, change := range changes { // both are left: Changed may panic
		if change != nil && c.transport.Changed != nil {
			c.transport.Changed(ctx, &c.request, *change)
		}
	}
}

func (c *call) health(attempt, caller context.Context) Health {
	const shortest = 5 * time.Second // a timeout below says more of the caller than of the service
	o := &c.outcome
	unread := o.Err != nil && !errors.Is(o.Err, errTooLarge)
	switch {
	case o.StatusCode != 0 && !unread && c.canRefresh():
		return unheard // the next attempt shows whether the account is refused
	case o.StatusCode != 0 && !unread:
		return c.judgement.Health
	case caller.Err() != nil, IsPermanent(o.Err):
		return unheard
	case attempt.Err() != nil && c.transport.Timeout < shortest:
		return timedOut
	default:
		return Failing
	}
}
