package transport

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	firstGap    = time.Second / 8 // between paced requests, until it is known better
	leastGap    = 2 * time.Millisecond
	mostGap     = 2 * time.Second
	trialsEvery = 10 * time.Second
	fewestEven  = 3 // throttled requests that show even spacing
)

// A pace spaces requests to a service that takes them evenly spaced, in the shortest gaps that it takes. It finds them by trials: one
// request at a time comes a little sooner after the one before it.
type pace struct {
	Limit // one turn in each gap

	confirmed atomic.Bool // the service takes requests evenly spaced
	began     time.Time
	cause     error         // what the service responded then
	gap       time.Duration // that the service takes
	changes   int           // of what is known of gaps
	proved    bool          // a request after this gap was taken
	tooShort  time.Duration // the longest gap that the service does not take; 0 is unknown
	earlier   time.Duration // a gap that the service took before it took less
	following time.Duration // the gap before the next request: a shorter one is a trial
	trying    bool          // a trial is to come or on its way
	trialAt   time.Time     // when the next may be, if the gap is found
}

func (p *pace) take(t *turn) bool {
	if !p.Limit.take(t) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.gap, t.changes, p.following = p.following, p.changes, p.gap
	now, isFound, wait := time.Now(), p.gap < p.tooShort+p.tooShort/16, trialsEvery
	if p.proved && !p.trying && (!isFound || now.After(p.trialAt)) {
		if p.following = (p.gap + p.tooShort) / 2; isFound {
			p.following, p.earlier = min(p.earlier, p.gap*3/4), min(p.earlier+p.earlier/8, mostGap)
		}
		if p.earlier < p.gap*3/4 {
			wait = time.Second
		}
		p.trying, p.trialAt = true, now.Add(wait)
	}
	p.rate.SetLimit(rate.Every(p.following))
	p.next()
	return true
}

// hear takes an outcome of a request into account, and reports whether the service may still be paced.
func (p *pace) hear(t *turn, health Health) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch isTrial := t.gap < p.gap; {
	case t.changes != p.changes:
		return true
	case isTrial && health == Healthy:
		if p.gap = t.gap; p.gap <= p.tooShort {
			p.tooShort, p.earlier = 0, mostGap
		}
	case isTrial && health == Throttling:
		p.tooShort = max(p.tooShort, t.gap)
	case isTrial:
	case health == Throttling:
		p.tooShort, p.earlier, p.gap, p.proved = p.gap, min(p.earlier, p.gap), p.gap*5/4, false
	default:
		p.proved = p.proved || health == Healthy
		return true
	}
	p.changes++
	p.trying, p.following = false, p.gap
	p.rate.SetLimit(rate.Every(p.following))
	p.next()
	return p.gap <= mostGap && p.gap >= leastGap
}

// isEven reports whether the service may take requests evenly spaced, and how many show it: within the last second it throttled only
// those that began closer to one that it took than any two that it took. They may arrive in another order than they began.
func (b *Breaker) isEven(now time.Time) (shown int, maybe bool) {
	recent := slices.DeleteFunc(slices.Clone(b.last), func(o heard) bool { return now.Sub(o.began) > time.Second })
	shortest, longest := forever, time.Duration(0)
	for i, o := range recent {
		nearest := forever
		for j, other := range recent {
			if i != j && other.health == Healthy {
				nearest = min(nearest, o.began.Sub(other.began).Abs())
			}
		}
		if o.health == Healthy {
			shortest = min(shortest, nearest)
		} else if o.health == Throttling && nearest < forever {
			longest = max(longest, nearest)
			shown++
		}
	}
	return shown, longest < shortest-shortest/8
}

// space begins, confirms or ends the pace by what was remembered last. Until it is confirmed all wait for the rest of those that were
// in flight together, of which one may tell that the service takes more at once.
func (b *Breaker) space(o *heard, now time.Time) (change *Change) {
	p := b.pace.Load()
	isTogether := func(other heard) bool { return other.health == Throttling && o.began.Before(other.at) }
	begins := o.health == Throttling && slices.ContainsFunc(b.last[:len(b.last)-1], isTogether)
	if p.isConfirmed() || o.began.IsZero() || p == nil && !begins {
		return nil
	}
	switch shown, maybe := b.isEven(now); {
	case !maybe, shown < fewestEven && p != nil && o.began.After(p.began):
		b.endPace(p)
	case p == nil:
		p = &pace{began: now, cause: o.cause, gap: firstGap, changes: 1, following: firstGap, earlier: mostGap}
		p.rate, p.soft = rate.NewLimiter(rate.Every(firstGap), 1), true
		p.rate.Allow() // just now
		b.pace.Store(p)
	case shown >= fewestEven:
		p.confirmed.Store(true)
		b.last = b.last[:0]
		change = &Change{Trouble: Trouble{Cause: p.cause}, Paced: true}
	}
	return change
}

func (b *Breaker) endPace(p *pace) {
	if p != nil && b.pace.CompareAndSwap(p, nil) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rate = rate.NewLimiter(rate.Inf, math.MaxInt) // no turn is missing
		p.next()
	}
}

// Gap returns the time between requests if the breaker spaces them, and 0 otherwise.
func (b *Breaker) Gap() time.Duration {
	p := b.pacer()
	if !p.isConfirmed() {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gap
}

func (b *Breaker) pacer() *pace {
	if b == nil {
		return nil
	}
	return b.pace.Load()
}

func (p *pace) isConfirmed() bool { return p != nil && p.confirmed.Load() }
