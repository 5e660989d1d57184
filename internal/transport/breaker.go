package transport

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Health is what an attempt says of the service and of the account, for the breaker.
type Health uint8

const (
	// Healthy: the service itself responded. It may well have refused the request.
	Healthy Health = iota
	// Failing: the service is in trouble, or something else responds in its place.
	Failing
	// Refusing: the service refuses the account, whatever the request.
	Refusing
	// Unheard: the request went out, and what came of it says nothing of the service.
	Unheard

	unwritten // nothing went out
)

const (
	failuresToOpen = 16
	minPause       = time.Second
	maxPause       = 30 * time.Second
	maxAsked       = 10 * time.Minute       // that a Retry-After may hold calls back
	probeWait      = 100 * time.Millisecond // for a call that comes while a probe is on its way
)

// A Breaker is a circuit breaker. Closed, it lets every call pass. It opens after 16 failures in a row, and then lets none pass for a pause of
// a fifth of the trouble so far, within 1 and 30 seconds, or as long as the last failure asked to wait, at most 10 minutes. The first call after the pause is the
// probe: its success closes the breaker, and its failure begins the next pause.
//
// Nothing waits in a Breaker. The zero Breaker is closed. It is safe for concurrent use and runs no goroutine.
type Breaker struct {
	generation atomic.Uint64 // counts openings and closings: an attempt from before one says nothing after it
	isOpen     atomic.Bool
	row        atomic.Int32 // failures in a row

	mu        sync.Mutex
	rowBegan  time.Time // when the first of the row began
	isProbing bool      // a probe is on its way
	trouble   Trouble
}

// Trouble is why a breaker is open.
type Trouble struct {
	// Since is when it opened, and Until the end of the pause.
	Since, Until time.Time
	// Cause is what the last outcome says. It holds nothing of a message.
	Cause error
	// Account reports whether the account is in trouble, and not the service.
	Account bool
}

// Change is the opening of a breaker, or its closing.
type Change struct {
	Trouble

	Opened bool
}

// OpenError is in the chain of an error of a call that an open breaker held back. Its text and what it wraps hold nothing of
// another call's message.
type OpenError struct {
	Trouble

	// RetryAfter is how long until the breaker may let a call pass.
	RetryAfter time.Duration
}

// Error returns why the breaker is open.
func (e *OpenError) Error() string { return "the circuit breaker is open: " + Describe(e.Cause) }

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Cause }

// Trouble returns why the breaker is open, and whether it is.
func (b *Breaker) Trouble() (Trouble, bool) {
	if !b.isOpen.Load() {
		return Trouble{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trouble, b.isOpen.Load()
}

// Blocked returns why no call may pass now, or nil if one may.
func (b *Breaker) Blocked() *OpenError {
	if !b.isOpen.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.blocked()
}

func (b *Breaker) blocked() *OpenError {
	if !b.isOpen.Load() {
		return nil
	}
	wait := time.Until(b.trouble.Until)
	if b.isProbing {
		wait = max(wait, probeWait)
	}
	if wait <= 0 {
		return nil
	}
	return &OpenError{b.trouble, wait}
}

// A ticket is the right of an attempt that passed a breaker to report to it once.
type ticket struct {
	breaker    *Breaker // or nil
	generation uint64
}

// pass lets an attempt pass, or returns why it must not.
func (b *Breaker) pass() (ticket, *OpenError) {
	generation := b.generation.Load() // before isOpen: see open and close
	if !b.isOpen.Load() {
		return ticket{b, generation}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if open := b.blocked(); open != nil {
		return ticket{}, open
	}
	b.isProbing = b.isOpen.Load()
	return ticket{b, b.generation.Load()}, nil
}

// A report is what an attempt says to a breaker that let it pass.
type report struct {
	health     Health
	began      time.Time     // the attempt
	retryAfter time.Duration // what the response asked for, or 0
	cause      error         // of a failure
}

// hear takes a report to the breaker of a ticket, and returns what it changes, or nil.
func (t ticket) hear(r report) *Change {
	b := t.breaker
	if b == nil {
		return nil
	}
	if r.health == Healthy && b.row.Load() == 0 && !b.isOpen.Load() {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.generation != b.generation.Load() {
		return nil
	}
	if b.isOpen.Load() {
		return b.hearProbe(r)
	}
	switch r.health {
	case Healthy:
		if !r.began.Before(b.rowBegan) { // otherwise it shows what was before the row
			b.row.Store(0)
		}
	case Failing, Refusing:
		return b.countFailure(r)
	case Unheard, unwritten:
	}
	return nil
}

// hearProbe takes the report of a probe.
func (b *Breaker) hearProbe(r report) *Change {
	b.isProbing = false
	switch r.health {
	case Healthy:
		return b.close()
	case Failing, Refusing:
		b.pause(r)
	case Unheard: // costs a pause too, or each caller with a short deadline would probe
		r.cause = b.trouble.Cause
		b.pause(r)
	case unwritten: // the next call is the probe
	}
	return nil
}

// countFailure adds a failure to the row, and opens the breaker when the row is long enough.
func (b *Breaker) countFailure(r report) *Change {
	if b.row.Add(1) == 1 {
		b.rowBegan = r.began
	}
	if b.row.Load() < failuresToOpen {
		return nil
	}
	b.trouble.Since = time.Now()
	b.pause(r)
	b.isOpen.Store(true)
	b.generation.Add(1) // after isOpen: whoever reads the new one sees that the breaker is open
	return &Change{b.trouble, true}
}

// pause begins a pause.
func (b *Breaker) pause(r report) {
	length := max(minPause, time.Since(b.trouble.Since)/5)
	length = min(length, maxPause)
	if r.retryAfter > 0 {
		length = min(r.retryAfter, maxAsked)
	}
	length += rand.N(length/10 + 1) //nolint:gosec // so that clients which failed together do not come back together
	b.trouble.Until = time.Now().Add(length)
	b.trouble.Cause = r.cause
	if r.health != Unheard {
		b.trouble.Account = r.health == Refusing
	}
}

func (b *Breaker) close() *Change {
	b.generation.Add(1) // before isOpen: an attempt with the new one passed a closed breaker
	b.row.Store(0)
	b.isOpen.Store(false)
	b.isProbing = false
	return &Change{Trouble: b.trouble}
}

// Settled records that the service lists a message whose send, which began at a time, had an unknown outcome. It returns what that changes,
// or nil.
func (b *Breaker) Settled(began time.Time) *Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.row.Store(0)
	if b.isOpen.Load() && began.After(b.trouble.Since) {
		return b.close()
	}
	return nil
}

// lookAtBreakers returns why an attempt would not pass now, or nil. Of two breakers that are open it is the one whose pause ends later.
func (c *call) lookAtBreakers() error {
	for _, breaker := range []*Breaker{c.request.Service, c.request.Account} {
		if breaker == nil {
			continue
		}
		open := breaker.Blocked()
		if open != nil && (c.open == nil || open.RetryAfter > c.open.RetryAfter) {
			c.open = open
		}
	}
	return c.openError()
}

// passBreakers asks the breakers of the service and of the account to let the attempt pass.
func (c *call) passBreakers() error {
	for i, breaker := range []*Breaker{c.request.Service, c.request.Account} {
		if breaker != nil && c.open == nil {
			c.tickets[i], c.open = breaker.pass()
		}
	}
	return c.openError()
}

func (c *call) openError() error {
	if c.open == nil {
		return nil
	}
	return &namedError{c.open.Error(), c.open}
}

// report tells the breakers that let the attempt pass what became of it.
func (c *call) report(health Health) {
	o := &c.outcome
	ofAccount := report{health: health, began: o.Began, retryAfter: o.RetryAfter, cause: c.judgement.Cause}
	if ofAccount.cause == nil && health == Failing {
		ofAccount.cause = &namedError{text: Describe(o.Err)} // without what it wraps
	}
	ofService := ofAccount
	if health == Refusing {
		ofService.health = Healthy // the service lives
	}
	service, account := c.tickets[0], c.tickets[1]
	c.tickets = [2]ticket{}
	change := service.hear(ofService)
	if changeOfAccount := account.hear(ofAccount); change == nil {
		change = changeOfAccount
	}
	if change != nil && c.transport.Changed != nil {
		c.transport.Changed(c.ctx, &c.request, *change)
	}
}

// health returns what the attempt says of the service. Silence says something if it was long enough, whoever's deadline ended it.
func (c *call) health() Health {
	o := &c.outcome
	isRead := o.StatusCode != 0 && (o.Err == nil || errors.Is(o.Err, errTooLarge))
	if isRead {
		if c.canRefresh() {
			return unwritten // the next attempt shows whether the account is refused
		}
		if c.judgement.Health == Healthy && !c.judgement.Repeatable {
			c.request.Room.addTime(time.Since(o.Began))
		}
		return c.judgement.Health
	}
	silent := time.Since(o.Began)
	switch {
	case IsPermanent(o.Err):
		return unwritten
	case c.current.ctx.Err() == nil, silent >= c.request.Room.silence():
		return Failing
	case o.Written:
		return Unheard
	default:
		return unwritten
	}
}
