package transport

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"
)

// Breakers are the circuit breakers that a call asks. A nil one lets everything pass.
type Breakers struct {
	// Service is for failures of the service, Account for what concerns the account: refusals and throttling.
	Service, Account *Breaker
	// Channel is what they are for, which the Changed of the Transport may want to know.
	Channel uint8
	// Places bound the attempts in flight; nil does not.
	Places *Places
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

// errNoPlace is why a call waits for a place.
var errNoPlace = &namedError{text: "256 requests of the channel are in flight"}

type passed struct {
	breaker    *Breaker
	entered    bool // and not left
	generation uint64
	number     uint64 // of the attempt
	counted    bool   // the call was counted in countedIn
	countedIn  uint64
}

// admit is the one way in for an attempt. When it returns without an error, the request has its credentials and may be written: the call
// holds a place, has entered both breakers, and has taken its turn of the rate limit.
func (c *call) admit(carrier *http.Request) (err error) {
	ctx, began, in := carrier.Context(), time.Now(), false
	c.own, c.pace, c.turn, c.waited = nil, nil, turn{repeat: c.outcome.Attempts > 0}, false
	defer c.leaveLines()
	defer c.waiter.part()
	c.until, _ = ctx.Deadline()
	for !in && err == nil {
		if err = ctx.Err(); err == nil { // net/http might write before it looks
			in, err = c.enter(ctx, carrier, began)
		}
	}
	return err
}

// enter gets one after the other what an attempt needs, and reports whether it has all. If one of them says wait, it returns what it
// holds, waits, and reports false: what was allowed before the wait is asked again. What it holds is given back by attempt, also if a
// function of the user panics.
func (c *call) enter(ctx context.Context, carrier *http.Request, began time.Time) (in bool, _ error) {
	if c.yes.asked == 0 && c.isUnguarded() { // before any wait
		return false, c.askGuard(ctx)
	}
	if b := c.enterBreakers(true); b != nil {
		c.leaveLines()
		c.request.Slot.park()
		await := func(context.Context) error { return c.await(ctx, b, began) }
		return false, c.wait(ctx, BreakerWait, &b.Trouble, "", await)
	}
	if err := c.request.Slot.resume(ctx); err != nil {
		return false, err
	}
	if c.isUnguarded() {
		return false, c.askGuard(ctx)
	}
	if c.own == nil || c.own.isStale() {
		c.leaveLines()
		if err := c.prepare(ctx, carrier); err != nil {
			return false, err
		}
	}
	if !c.takePlace() {
		c.leaveLines()
		if err := c.wait(ctx, RateLimit, &Trouble{Cause: errNoPlace}, "a connection", c.awaitPlace); err != nil {
			return false, err
		}
	}
	if c.own.isStale() || c.isUnguarded() || c.enterBreakers(false) != nil {
		c.leavePlace()
		return false, nil
	}
	if pace := c.passed[1].breaker.pacer(); pace != c.pace {
		c.leaveLines()
		c.pace, c.paced = pace, turn{repeat: c.turn.repeat}
	}
	isPaced := c.pace == nil || c.pace.take(&c.paced)
	if isPaced && c.transport.Limit.take(&c.turn) {
		return true, nil
	}
	c.leaveBreakers(unwritten)
	c.leavePlace()
	c.leaveLines()
	if !isPaced {
		await := func(ctx context.Context) error { return c.pace.wait(ctx, &c.paced) }
		return false, c.wait(ctx, RateLimit, &Trouble{Cause: c.pace.cause}, "the pace of the service", await)
	}
	await := func(ctx context.Context) error { return c.transport.Limit.wait(ctx, &c.turn) }
	return false, c.wait(ctx, RateLimit, nil, "the rate limit", await)
}

func (c *call) leaveLines() {
	c.transport.Limit.leave(&c.turn)
	if c.pace != nil {
		c.pace.leave(&c.paced)
	}
}

// takePlace takes a place, but not before calls that wait, unless it has waited, too.
func (c *call) takePlace() bool {
	p := c.request.Breakers.Places
	c.placed = p != nil && p.take(c.waited)
	return c.placed || p == nil
}

func (c *call) awaitPlace(ctx context.Context) error {
	err := c.request.Breakers.Places.wait(ctx, c.waited)
	c.placed, c.waited = err == nil, true
	return err
}

func (c *call) leavePlace() {
	if c.placed {
		c.placed = false
		c.request.Breakers.Places.leave()
	}
}

// wait is a step that waits for something, because of trouble unless that is nil.
func (c *call) wait(ctx context.Context, step Step, because *Trouble, what string, wait func(context.Context) error) error {
	waiting, end := c.request.Observe.begin(ctx, step, c.outcome.Attempts+1)
	err := wait(waiting)
	if err != nil && what != "" {
		err = &namedError{"waiting for " + what + ": " + err.Error(), err}
	}
	end(Outcome{Err: err, Trouble: because})
	return err
}

// await waits until a breaker may let the attempt pass, or returns why it is not worth waiting.
func (c *call) await(ctx context.Context, b *blocked, began time.Time) (err error) {
	if c.transport.NoWait {
		return b.err(nil)
	}
	breaker, patience := b.breaker, c.request.Patience
	deadline, _ := ctx.Deadline()
	if patience == Brief && (deadline.IsZero() || began.Add(c.transport.MaxWait).Before(deadline)) {
		deadline = began.Add(c.transport.MaxWait)
	}
	c.until, c.early = deadline, c.early || c.outcome.Attempts > 0
	breaker.join(&c.waiter)
	defer func() {
		if err != nil {
			c.waiter.part()
		}
	}()
	for {
		var again time.Duration
		if b, again = breaker.attend(&c.waiter); b == nil {
			return nil
		}
		if patience != Bulk && !deadline.IsZero() && b.Until.After(deadline) { // the pause is too long
			return b.err(nil)
		}
		if patience == Brief || b.givesUp {
			bound := began.Add(c.transport.MaxWait)
			switch {
			case patience == Brief:
			case b.Account:
				bound = b.Since.Add(cmp.Or(c.transport.GiveUp, time.Minute))
			default:
				bound = b.Since.Add(cmp.Or(c.transport.GiveUp, 10*time.Minute))
			}
			if again = min(again, time.Until(bound)); again <= 0 {
				return b.err(nil)
			}
		}
		if err = c.sleep(ctx, again); err != nil {
			return b.err(err)
		}
	}
}

// err returns the error of a call that does not wait any longer, because its context ended unless ended is nil.
func (b *blocked) err(ended error) error {
	open := &OpenError{Trouble: b.Trouble, RetryAfter: max(time.Until(b.Until), minPause)}
	if ended == nil {
		return &namedError{open.Error(), open}
	}
	return &namedError{ended.Error() + " while " + open.Error(), errors.Join(ended, open)}
}

// enterBreakers enters both breakers, or looks whether it could, and returns what the call has to wait for otherwise.
func (c *call) enterBreakers(look bool) (wait *blocked) {
	for i := range c.passed {
		p := &c.passed[i]
		if p.breaker == nil {
			continue
		}
		if p.generation, wait = p.breaker.enter(&c.waiter, look); wait != nil {
			c.leaveBreakers(unwritten)
			return wait
		}
		p.entered = !look
	}
	return nil
}

// leaveBreakers leaves the breakers that were entered, with what became of the attempt.
func (c *call) leaveBreakers(health Health) {
	o := heard{at: c.outcome.Began, began: c.outcome.Began, retryAfter: c.outcome.RetryAfter}
	if health != Healthy && health.known() {
		o.at, o.cause = time.Now(), c.judgement.Cause
		if o.cause == nil {
			o.cause = &namedError{text: Describe(c.outcome.Err)} // without what it wraps
		}
	}
	if b := c.passed[1]; c.pace != nil && b.entered && !c.pace.hear(&c.paced, health) {
		b.breaker.endPace(c.pace)
	}
	var changes [len(c.passed)]*Change
	for i := range c.passed {
		p := &c.passed[i]
		if !p.entered {
			continue
		}
		p.entered = false
		o.health, o.number = health, p.number
		switch service := i == 0; {
		case service && (health == Refusing || health == Throttling):
			o.health = Healthy
		case !service && health == Failing:
			o.health = Unheard
		}
		changes[i] = p.breaker.leave(p.generation, &o, c.recipient, p.counted && p.countedIn == p.generation)
		if o.health.known() {
			p.counted, p.countedIn = true, p.generation
		}
	}
	for _, change := range changes { // both are left: Changed may panic
		if change != nil && c.transport.Changed != nil {
			c.transport.Changed(c.ctx, &c.request, *change)
		}
	}
}

// health returns what an attempt says of the service. Silence says something whoever's time it ended, if that was long enough.
func (c *call) health(attempt context.Context) Health {
	const long = 5 * time.Second
	o := &c.outcome
	unread := o.Err != nil && !errors.Is(o.Err, errTooLarge)
	switch {
	case o.StatusCode != 0 && !unread && c.canRefresh():
		return unwritten // the next attempt shows whether the account is refused
	case o.StatusCode != 0 && !unread:
		return c.judgement.Health
	case IsPermanent(o.Err):
		return unwritten
	case attempt.Err() == nil:
		return Failing
	}
	lasted, usual := time.Since(o.Began), time.Duration(0)
	if b := c.passed[0].breaker; b != nil {
		usual = time.Duration(b.usual.Load())
	}
	deadline, ok := attempt.Deadline()
	isLate := ok && time.Since(deadline) >= frozen // the process stood still
	switch {
	case !isLate && (lasted >= long || usual > 0 && lasted >= max(time.Second, 10*usual)):
		return Failing
	case o.Written, c.ctx.Err() == nil:
		return Unheard
	default:
		return unwritten
	}
}
