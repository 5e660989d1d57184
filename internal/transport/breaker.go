package transport

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// Health is the result of an attempt as a breaker counts it.
type Health uint8

const (
	// Healthy: the service itself responded. It may have refused the request.
	Healthy Health = iota
	// Failing: the service is in trouble, or something else responds in its place.
	Failing
	// Refusing: the service refuses the account, and not this request.
	Refusing
	// Inconclusive: the request went out, and its result says nothing about the service.
	Inconclusive

	notWritten // nothing went out
)

const (
	failuresToOpen    = 16
	minPause          = time.Second
	maxPause          = 30 * time.Second
	maxRequestedPause = 10 * time.Minute       // by Retry-After
	probeWait         = 100 * time.Millisecond // for a call that comes while a probe is under way
)

// A Breaker is a circuit breaker. While it is closed, every attempt may enter. It opens after 16 failures in a row. No attempt may then enter
// for a pause. Its length is a fifth of the time since the breaker opened, but between 1 and 30 seconds, or what the last response asked for, up
// to 10 minutes; up to a tenth is added at random. The first attempt after the pause is the probe: its success closes the breaker, and its failure
// starts the next pause.
//
// A Breaker never waits. The zero Breaker is closed. It is safe for concurrent use and runs no goroutine.
type Breaker struct {
	mu           sync.Mutex
	generation   uint64 // counts openings and closings: an attempt that entered before one is not counted after it
	isOpen       bool
	isProbing    bool      // a probe is under way
	failures     int       // in a row
	firstFailure time.Time // when the first attempt of the row began
	trouble      Trouble
}

// Trouble is why a breaker is open.
type Trouble struct {
	// Since is when it opened, and Until the end of the pause.
	Since, Until time.Time
	// Cause is what the last outcome says. It holds nothing of a message.
	Cause error
	// Account reports whether the account is in trouble, and not the service, and AccountSince since when.
	Account      bool
	AccountSince time.Time
}

// A Change is the opening or the closing of a breaker.
type Change struct {
	Trouble

	Opened bool
}

// OpenError is in the chain of the error of a call that an open breaker blocked. Its text, and what it wraps, hold nothing from the message of
// another call.
type OpenError struct {
	Trouble

	// RetryAfter is how long until an attempt may enter.
	RetryAfter time.Duration
}

// Error returns why the breaker is open.
func (e *OpenError) Error() string { return "the circuit breaker is open: " + Describe(e.Cause) }

// Unwrap returns the cause.
func (e *OpenError) Unwrap() error { return e.Cause }

// Trouble returns why the breaker is open, and whether it is.
func (b *Breaker) Trouble() (Trouble, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.isOpen {
		return Trouble{}, false
	}
	return b.trouble, true
}

// Blocked returns why no attempt may enter now, or nil if one may.
func (b *Breaker) Blocked() *OpenError {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.blocked()
}

func (b *Breaker) blocked() *OpenError {
	if !b.isOpen {
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

// A ticket is the right of an attempt that entered a breaker to report to it once.
type ticket struct {
	breaker    *Breaker // or nil
	generation uint64
}

// enter lets an attempt enter, or returns why it must not.
func (b *Breaker) enter() (ticket, *OpenError) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if open := b.blocked(); open != nil {
		return ticket{}, open
	}
	b.isProbing = b.isOpen
	return ticket{b, b.generation}, nil
}

// A report is what an attempt says to a breaker that it entered.
type report struct {
	health     Health
	began      time.Time     // the attempt
	retryAfter time.Duration // that the response asked for, or 0
	cause      error         // of a failure
}

// record counts a report at the breaker of the ticket, and returns the change that it makes, or nil.
func (t ticket) record(r report) *Change {
	b := t.breaker
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if t.generation != b.generation {
		return nil
	}
	if b.isOpen {
		return b.recordProbe(r)
	}
	switch r.health {
	case Healthy:
		b.endRow(r.began)
	case Failing, Refusing:
		return b.countFailure(r)
	case Inconclusive, notWritten:
	}
	return nil
}

// recordProbe counts the report of a probe.
func (b *Breaker) recordProbe(r report) *Change {
	b.isProbing = false
	switch r.health {
	case Healthy:
		return b.close()
	case Failing, Refusing:
		b.pause(r)
	case Inconclusive: // it costs a pause too, or each caller with a short deadline would probe
		r.cause = b.trouble.Cause
		b.pause(r)
	case notWritten: // the next attempt is the probe
	}
	return nil
}

// endRow ends the row of failures because an attempt that began at a time succeeded. An attempt from before the row says nothing about the
// failures since.
func (b *Breaker) endRow(began time.Time) {
	if !began.Before(b.firstFailure) {
		b.failures = 0
	}
}

// countFailure counts a failure, and opens the breaker when there are enough in a row.
func (b *Breaker) countFailure(r report) *Change {
	if b.failures == 0 {
		b.firstFailure = r.began
	}
	b.failures++
	if b.failures < failuresToOpen {
		return nil
	}
	b.isOpen = true
	b.generation++
	b.trouble = Trouble{Since: time.Now()}
	b.pause(r)
	return &Change{b.trouble, true}
}

// pause starts a pause.
func (b *Breaker) pause(r report) {
	length := time.Since(b.trouble.Since) / 5
	length = min(max(length, minPause), maxPause)
	if r.retryAfter > 0 {
		length = min(r.retryAfter, maxRequestedPause)
	}
	length += rand.N(length/10 + 1) //nolint:gosec // so that clients that failed together do not come back together
	b.trouble.Until = time.Now().Add(length)
	b.trouble.Cause = r.cause
	if r.health == Inconclusive {
		return
	}
	isRefused := r.health == Refusing
	if isRefused && !b.trouble.Account {
		b.trouble.AccountSince = time.Now()
	}
	b.trouble.Account = isRefused
}

func (b *Breaker) close() *Change {
	b.isOpen = false
	b.isProbing = false
	b.failures = 0
	b.generation++
	return &Change{Trouble: b.trouble}
}

// Settled records that the service lists a message whose send, which began at a time, had an unknown outcome. It returns the change that this
// makes, or nil.
func (b *Breaker) Settled(began time.Time) *Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOpen && began.After(b.trouble.Since) {
		return b.close()
	}
	b.endRow(began)
	return nil
}

// checkBreakers returns why an attempt could not enter now, or nil. Of two open breakers it names the one whose pause ends later.
func (c *call) checkBreakers() error {
	var open *OpenError
	for _, breaker := range []*Breaker{c.request.Service, c.request.Account} {
		if breaker == nil {
			continue
		}
		other := breaker.Blocked()
		if open == nil || other != nil && other.RetryAfter > open.RetryAfter {
			open = other
		}
	}
	return c.blockedBy(open)
}

// enterBreakers enters the breakers of the service and of the account.
func (c *call) enterBreakers() error {
	if err := c.enter(c.request.Service, &c.held.service); err != nil {
		return err
	}
	return c.enter(c.request.Account, &c.held.account)
}

// enter enters a breaker, which may be nil, and sets its ticket.
func (c *call) enter(breaker *Breaker, entered *ticket) error {
	if breaker == nil {
		return nil
	}
	t, open := breaker.enter()
	*entered = t
	return c.blockedBy(open)
}

// blockedBy notes the open breaker that blocks an attempt, and returns its error. Both are nil if none does.
func (c *call) blockedBy(open *OpenError) error {
	c.obstacle.open = open
	if open == nil {
		return nil
	}
	return &safeError{open.Error(), open}
}

// recordAttempt tells the breakers that the attempt entered how it ended.
func (c *call) recordAttempt(health Health) {
	outcome := &c.outcome
	toAccount := report{health: health, began: outcome.Began, retryAfter: outcome.RetryAfter, cause: c.judgement.Cause}
	if toAccount.cause == nil && health == Failing {
		toAccount.cause = &safeError{text: Describe(outcome.Err)} // without what it wraps
	}
	toService := toAccount
	if health == Refusing {
		toService.health = Healthy // the service is up
	}
	entered := c.held
	c.held.service = ticket{}
	c.held.account = ticket{}
	serviceChange := entered.service.record(toService)
	accountChange := entered.account.record(toAccount)
	if serviceChange != nil {
		c.changed(*serviceChange)
	}
	// Trouble of the service opens and closes both breakers, which is one change.
	isSame := serviceChange != nil && accountChange != nil && serviceChange.Account == accountChange.Account
	if accountChange != nil && !isSame {
		c.changed(*accountChange)
	}
}

func (c *call) changed(change Change) {
	if c.transport.Changed != nil {
		c.transport.Changed(c.ctx, &c.request, change)
	}
}

// health returns what the attempt says about the service. A missing response counts as a failure after a long silence, even if the caller's
// own deadline ended the attempt.
func (c *call) health() Health {
	outcome := &c.outcome
	isRead := outcome.StatusCode != 0 && (outcome.Err == nil || errors.Is(outcome.Err, errTooLarge))
	isSilent := time.Since(outcome.Began) >= c.request.Slots.longSilence()
	switch {
	case isRead && c.canRefresh():
		return notWritten // the next attempt shows whether the account is refused
	case isRead:
		return c.judgement.Health
	case IsPermanent(outcome.Err):
		return notWritten
	case !c.current.contextEnded || isSilent:
		return Failing
	case outcome.Written:
		return Inconclusive
	default:
		return notWritten
	}
}
