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
	fewestEven  = 3 // throttled requests that show even spacing
)

// A pace spaces requests to a service that takes them evenly spaced, in the shortest gaps that it takes. It finds them by trials: one
// request at a time comes a little sooner after the one before it.
type pace struct {
	Limit // one turn in each gap

	confirmed atomic.Bool // the service takes requests evenly spaced
	began     time.Time
	took      time.Time     // when the last turn was taken
	gap       time.Duration // that the service takes
	tooShort  time.Duration // the longest that it does not; 0 is unknown
	earlier   time.Duration // what it took before it took less; 0 is none
	proved    bool          // a request after this gap was taken
	trial     time.Duration // on its way, or armed: the next request is it
	armed     bool
	trialAt   time.Time // when the next trial may begin
	changes   int       // of the gap to a longer one
}

func newPace() *pace {
	p := &pace{Limit: Limit{rate: rate.NewLimiter(rate.Every(firstGap), 1)}, began: time.Now(), gap: firstGap}
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
	t.trial, t.changes = p.armed && now.Sub(p.took) <= p.trial*5/4, p.changes
	p.took = now
	if p.armed && !t.trial { // there was no call to try it
		p.trial = 0
	}
	if p.armed = p.trial == 0 && p.proved && !now.Before(p.trialAt); p.armed {
		p.trial = p.shorter()
	}
	p.set()
	return true
}

func (p *pace) shorter() time.Duration {
	switch {
	case p.earlier > 0:
		return p.earlier
	case p.tooShort == 0:
		return p.gap / 2
	case p.isFound():
		return p.gap * 3 / 4
	}
	return (p.gap + p.tooShort) / 2
}

func (p *pace) isFound() bool { return p.gap < p.tooShort+p.tooShort/16 }

func (p *pace) set() {
	gap := p.gap
	if p.armed {
		gap = p.trial
	}
	p.rate.SetLimit(rate.Every(gap))
	p.next()
}

// hear takes an outcome of a request into account, and reports whether the service may still be paced.
func (p *pace) hear(t *turn, health Health) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	gap, wait := p.trial, time.Duration(0)
	switch {
	case health == Healthy && t.trial:
		if p.gap = gap; gap <= max(p.tooShort, p.earlier) {
			p.tooShort, p.earlier = 0, 0
		}
	case health == Healthy:
		p.proved = p.proved || t.changes == p.changes
	case health == Throttling && t.trial && p.earlier > 0:
		wait = time.Second
	case health == Throttling && t.trial:
		p.tooShort = max(p.tooShort, gap)
	case health == Throttling && t.changes == p.changes:
		p.changes++
		p.trial, p.armed, p.tooShort = 0, false, p.gap
		if p.proved {
			p.earlier, p.gap, p.proved = p.gap, p.gap+p.gap/10, false
		} else {
			p.gap *= 2
		}
	}
	if p.earlier == 0 && p.isFound() {
		wait = trialsEvery
	}
	if t.trial {
		p.trial, p.trialAt = 0, time.Now().Add(wait)
	}
	p.set()
	return p.gap <= mostGap && p.gap >= leastGap
}

// isEven reports whether the service may take requests evenly spaced, and how many show it: within the last second it throttled only
// those that came sooner after one that it took than any other that it took.
func (b *Breaker) isEven(now time.Time) (shown int, maybe bool) {
	recent := slices.DeleteFunc(slices.Clone(b.last), func(o heard) bool { return now.Sub(o.began) > time.Second })
	slices.SortFunc(recent, func(a, b heard) int { return cmp.Or(a.began.Compare(b.began), cmp.Compare(a.health, b.health)) })
	var taken time.Time
	shortest, longest := forever, time.Duration(0)
	for _, o := range recent {
		switch gap := o.began.Sub(taken); {
		case o.health == Healthy:
			if !taken.IsZero() {
				shortest = min(shortest, gap)
			}
			taken = o.began
		case o.health == Throttling && !taken.IsZero():
			longest = max(longest, gap)
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
		p.next()
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
