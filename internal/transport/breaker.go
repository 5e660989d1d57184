package transport

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Health is what an attempt says of the service and of the account, for the breakers.
type Health uint8

const (
	// Healthy: the service works. It may well have refused the request.
	Healthy Health = iota
	// Failing: the service is in trouble.
	Failing
	// Refusing: the service refuses the account, whatever the request.
	Refusing
	// Throttling: the service takes no more requests now.
	Throttling

	unheard  // nothing is known, such as after a context that ended
	timedOut // nothing is known, because the timeout of the client was too short to tell
)

func (h Health) known() bool { return h < unheard }

const (
	remembered   = 20                       // outcomes that a breaker counts
	fewest       = 5                        // outcomes that can open it
	mostThrottle = 10                       // throttled ones among them that do
	relevance    = time.Minute              // older outcomes do not count
	calmFor      = time.Second / remembered // so that no outcome seems older by more than a second

	minPause = 500 * time.Millisecond
	maxPause = 30 * time.Second
	// fullSpeed is the number of calls at once from which a breaker that has closed no longer bounds them.
	fullSpeed = maxConnsPerHost
)

// A Breaker is a circuit breaker. While it is closed, calls pass. It opens when most of the last of them failed, and then
// nothing passes for a pause. After the pause it is half-open: one call passes, the probe, which closes it or begins the
// next pause. Having closed, it lets one call more pass at once for each that succeeds.
//
// The zero Breaker is closed. It is safe for concurrent use and runs no goroutine.
type Breaker struct {
	// bounds reports that not every call may pass. It is written before generation, which is read before it.
	bounds     atomic.Bool
	generation atomic.Uint64 // counts openings and closings, so that what began before does not count after

	// calm is when a success last counted, in Unix nanoseconds, if the last 20 outcomes are successes. One more then changes
	// nothing, so for a moment none takes the lock. Otherwise it is 0.
	calm atomic.Int64

	mu      sync.Mutex
	state   state
	last    []heard       // up to 20 outcomes, a ring
	oldest  int           // the outcome that the next one replaces, once there are 20
	healthy int           // successes since any other outcome
	trouble Trouble       // the present one, or the last
	limit   int           // of calls at once after closing; 0 is none
	passing int           // calls that passed in this generation, while the breaker bounds them
	changed chan struct{} // closed when a call that waits should ask again; nil if none waits
}

type state uint8

const (
	closed state = iota
	open
	halfOpen
)

type heard struct {
	health     Health
	at         time.Time
	retryAfter time.Duration
	cause      error
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

// Change is the beginning of trouble, in which a breaker opened, or its end.
type Change struct {
	Trouble

	Opened bool
}

// Trouble returns why the breaker is open, and whether it is. A nil Breaker is closed.
func (b *Breaker) Trouble() (Trouble, bool) {
	if b == nil || !b.bounds.Load() {
		return Trouble{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trouble, b.state != closed
}

// blocked is what a call waits for that may not pass.
type blocked struct {
	Trouble

	open    bool            // and not only bounded after closing
	pausing bool            // the call can pass when the pause ends
	changed <-chan struct{} // closed when the call should ask again
}

// enter lets a call pass and returns the generation for leave, or what the call has to wait for.
func (b *Breaker) enter() (generation uint64, wait *blocked) {
	if generation = b.generation.Load(); !b.bounds.Load() {
		return generation, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state == closed && (b.limit == 0 || b.passing < b.limit):
	case b.state == open && !time.Now().Before(b.trouble.Until):
		b.state = halfOpen
	default:
		if b.changed == nil {
			b.changed = make(chan struct{})
		}
		return 0, &blocked{Trouble: b.trouble, open: b.state != closed, pausing: b.state == open, changed: b.changed}
	}
	b.passing++
	return b.generation.Load(), nil
}

// leave records what became of a call that entered. again reports that the call has been counted in this generation. It
// returns what has changed, or nil.
func (b *Breaker) leave(generation uint64, o *heard, again bool) *Change {
	if o.health == Healthy && time.Duration(o.at.UnixNano()-b.calm.Load()).Abs() < calmFor {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if generation != b.generation.Load() {
		return nil
	}
	b.passing--
	if b.limit > 0 || b.state != closed {
		b.wake()
	}
	switch {
	case b.state == halfOpen && o.health == unheard:
		b.state = open // the next call probes, at once
	case b.state == halfOpen && o.health == timedOut:
		b.state, b.trouble.Until = open, time.Now().Add(pause(0, 0))
	case b.state == halfOpen && o.health == Healthy:
		b.close()
		return &Change{b.trouble, false}
	case b.state == halfOpen:
		b.open(o, time.Now(), o.retryAfter)
	case !o.health.known():
	case o.health == Healthy:
		b.grow()
		if !again {
			b.remember(o)
		}
	case !again:
		b.remember(o)
		if now := time.Now(); b.trips(now) {
			b.trouble.Since = now
			b.open(o, now, b.shortestWait(now))
			return &Change{b.trouble, true}
		}
	}
	return nil
}

func (b *Breaker) remember(o *heard) {
	if o.health != Healthy {
		b.healthy = 0
		b.calm.Store(0)
	} else if b.healthy++; b.healthy >= remembered && b.limit == 0 {
		b.calm.Store(o.at.UnixNano())
	}
	if len(b.last) < remembered {
		b.last = append(slices.Grow(b.last, remembered-len(b.last)), *o)
		return
	}
	b.last[b.oldest] = *o
	b.oldest = (b.oldest + 1) % remembered
}

func (b *Breaker) recent(now time.Time) []heard {
	return slices.DeleteFunc(slices.Clone(b.last), func(o heard) bool { return now.Sub(o.at) > relevance })
}

// trips reports whether the outcomes open the breaker: four in five of them failed, or half of them were throttled.
func (b *Breaker) trips(now time.Time) bool {
	recent := b.recent(now)
	failed, throttled := 0, 0
	for _, o := range recent {
		switch o.health {
		case Failing, Refusing:
			failed++
		case Throttling:
			throttled++
		default:
		}
	}
	return len(recent) >= fewest && 5*failed >= 4*len(recent) || throttled >= mostThrottle
}

func (b *Breaker) shortestWait(now time.Time) (shortest time.Duration) {
	for _, o := range b.recent(now) {
		if o.health != Healthy && o.retryAfter > 0 && (shortest == 0 || o.retryAfter < shortest) {
			shortest = o.retryAfter
		}
	}
	return shortest
}

func (b *Breaker) open(o *heard, now time.Time, dictated time.Duration) {
	b.begin(open)
	b.trouble.Cause, b.trouble.Account = o.cause, o.health == Refusing
	b.trouble.Until = now.Add(pause(now.Sub(b.trouble.Since), dictated))
}

func (b *Breaker) close() {
	b.begin(closed)
	b.last, b.oldest = b.last[:0], 0
	b.limit = 2 // the probe succeeded
}

func (b *Breaker) begin(s state) {
	b.state, b.limit, b.passing, b.healthy = s, 0, 0, 0
	b.calm.Store(0)
	b.bounds.Store(true)
	b.generation.Add(1)
}

func (b *Breaker) grow() {
	if b.limit == 0 {
		return
	}
	if b.limit++; b.limit > fullSpeed {
		b.limit = 0
		b.bounds.Store(false)
	}
}

// wake lets all who wait ask again.
func (b *Breaker) wake() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

// pause returns how long a breaker is open, in trouble that has lasted for a time: as long as the service dictates, or a
// fifth of that time. It is jittered, so that clients which failed together do not come back together.
func pause(lasted, dictated time.Duration) time.Duration {
	if dictated > 0 {
		dictated = min(dictated, maxPause)
		return between(dictated, dictated+dictated/10)
	}
	most := min(lasted/5, maxPause)
	return between(max(minPause, most*3/4), max(minPause*5/4, most))
}

func between(least, most time.Duration) time.Duration {
	return least + rand.N(most-least+1) //nolint:gosec // no secret depends on it
}
