package transport

import (
	"cmp"
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
	fewestEven  = 3  // throttled requests that show even spacing
	forgiven    = 10 // requests taken in a row, after which one that is throttled came early on its way
)

// A pace spaces requests to a service that takes them evenly spaced, in the shortest gaps that it takes. It finds them by trials: one
// request at a time comes a little sooner after the one before it.
type pace struct {
	Limit // one turn in each gap

	confirmed atomic.Bool // the service takes requests evenly spaced
	began     time.Time
	took      time.Time     // when the last turn was taken
	gap       time.Duration // that the service takes
	changes   int           // of the gap
	taken     int           // requests after this gap
	next      time.Duration // the gap before the next request: a shorter one is a trial
	trying    bool          // a trial is to come or on its way
	tooShort  time.Duration // the longest gap that the service does not take; 0 is unknown
	before    time.Duration // the gap before the last trial that succeeded, perhaps by luck; 0 is none
	earlier   time.Duration // the gap before the service took less; 0 is none
	trialAt   time.Time     // when to try a shorter gap than the one that was found
	earlierAt time.Time     // when to try the earlier one
}

func newPace() *pace {
	limit := rate.NewLimiter(rate.Every(firstGap), 1)
	p := &pace{Limit: Limit{rate: limit}, began: time.Now(), gap: firstGap, next: firstGap, changes: 1}
	p.rate.Allow() // just now
	return p
}

// take takes a turn if one is due.
func (p *pace) take(t *turn) bool {
	if !p.Limit.take(t) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	t.gap, t.changes = p.next, p.changes
	if p.next < p.gap && now.Sub(p.took) > p.next*5/4 { // there was no call to try it
		t.gap, p.trying = p.gap, false
	}
	p.took, p.next = now, p.gap
	switch {
	case p.trying, p.taken == 0:
	case p.earlier > 0 && !now.Before(p.earlierAt):
		p.next, p.earlierAt = p.earlier, now.Add(time.Second)
	case !p.isFound() && p.tooShort == 0:
		p.next = p.gap / 2
	case !p.isFound():
		p.next = (p.gap + p.tooShort) / 2
	case !now.Before(p.trialAt):
		p.next, p.trialAt = p.gap*3/4, now.Add(trialsEvery)
	}
	p.trying = p.trying || p.next < p.gap
	p.set()
	return true
}

func (p *pace) isFound() bool { return p.gap < p.tooShort+p.tooShort/16 }

func (p *pace) set() {
	p.rate.SetLimit(rate.Every(p.next))
	p.Limit.next()
}

// hear takes an outcome of a request into account, and reports whether the service may still be paced.
func (p *pace) hear(t *turn, health Health) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.changes != p.changes {
		return true
	}
	t.changes = 0 // it counts once
	wasFound, old := p.isFound(), p.gap
	switch {
	case t.gap < p.gap:
		p.trying = false
		if health == Healthy {
			p.gap, p.before, p.taken = t.gap, p.gap, 1
		} else if health == Throttling {
			p.tooShort = max(p.tooShort, t.gap)
		}
	case health == Healthy:
		p.taken++
	case health != Throttling:
	case p.taken >= forgiven:
		p.taken, p.before = 1, 0
	case p.before > 0:
		p.tooShort, p.gap, p.before = p.gap, p.before, 0
	case p.taken > 0:
		p.tooShort, p.earlier, p.gap = p.gap, cmp.Or(p.earlier, p.gap), p.gap+p.gap/10
	default:
		p.tooShort, p.gap = p.gap, p.gap*2
	}
	if p.gap != old {
		p.changes++
		p.trying = false
	}
	if p.gap > old {
		p.taken = 0
	} else if p.gap < old && p.gap <= max(p.tooShort, p.earlier) {
		p.tooShort, p.earlier = 0, 0
	}
	if p.isFound() && !wasFound {
		p.trialAt = time.Now().Add(trialsEvery)
	}
	if !p.trying {
		p.next = p.gap
		p.set()
	}
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
func (b *Breaker) space(o *heard, now time.Time) *Change {
	p := b.pace.Load()
	isTogether := func(other heard) bool { return other.health == Throttling && o.began.Before(other.at) }
	begins := p == nil && o.health == Throttling && slices.ContainsFunc(b.last[:len(b.last)-1], isTogether)
	if p.isConfirmed() || o.began.IsZero() || p == nil && !begins {
		return nil
	}
	switch shown, maybe := b.isEven(now); {
	case !maybe, shown < fewestEven && p != nil && o.began.After(p.began):
		b.endPace(p)
	case p == nil:
		b.pace.Store(newPace())
	case shown >= fewestEven:
		p.confirmed.Store(true)
		throttled := slices.IndexFunc(b.last, func(o heard) bool { return o.health == Throttling })
		change := &Change{Trouble: Trouble{Cause: b.last[throttled].cause}, Paced: true}
		b.last = b.last[:0]
		return change
	}
	return nil
}

func (b *Breaker) endPace(p *pace) {
	if p != nil && b.pace.CompareAndSwap(p, nil) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rate.SetLimit(rate.Inf)
		p.Limit.next()
	}
}

// Gap returns the time between requests if the breaker spaces them, and 0 otherwise.
func (b *Breaker) Gap() time.Duration {
	if p := b.pacer(); p.isConfirmed() {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.gap
	}
	return 0
}

func (b *Breaker) pacer() *pace {
	if b == nil {
		return nil
	}
	return b.pace.Load()
}

func (p *pace) isConfirmed() bool { return p != nil && p.confirmed.Load() }
