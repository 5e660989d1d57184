package transport

import (
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Health is what an attempt says of the service and of the account, for the breakers.
type Health uint8

const (
	// Healthy: the service itself responded. It may well have refused the request.
	Healthy Health = iota
	// Failing: the service is in trouble, or something else responds in its place.
	Failing
	// Refusing: the service refuses the account, whatever the request.
	Refusing
	// Throttling: the service takes no more requests now.
	Throttling
	// Unheard: the request went out, and what came of it says nothing of the service.
	Unheard

	unwritten // nothing went out
)

func (h Health) known() bool { return h < Unheard }

const (
	remembered   = 40                       // outcomes that a breaker counts
	mostOfOne    = remembered / 2           // failures among them of one recipient
	fewest       = 5                        // outcomes that can open it
	fewestAgain  = 10                       // outcomes that can open it again
	convalescent = 20                       // successes after which it is as if it had never been open
	inARow       = 10                       // failures in a row that open it
	throttleOf   = 20                       // the latest outcomes, of which half are throttled when that opens it
	relevance    = time.Minute              // older outcomes do not count
	calmFor      = time.Second / remembered // so that no outcome seems older by more than a second

	minPause = 500 * time.Millisecond
	maxPause = 30 * time.Second
	// fullSpeed is the number of calls at once from which a breaker that has closed no longer bounds them.
	fullSpeed = places
	// probeTime is how much time a probe should have for its response.
	probeTime = time.Second
	// recall is when another call is told to ask, if the one that was told before did not come.
	recall = minPause / 5

	mostSuspects = 4096
	forever      = time.Duration(math.MaxInt64)
)

// A Breaker is a circuit breaker. While it is closed, calls pass. It opens when most of the last of them failed, counted by calls and
// by recipients, and then nothing passes for a pause. After the pause it is half-open: one call passes, the probe, which closes it or
// begins the next pause. Having closed, it lets one call more pass at once for each that succeeds.
//
// The zero Breaker is closed. It is safe for concurrent use and runs no goroutine.
type Breaker struct {
	// bounds reports that not every call may pass. It is written before generation, which is read before it.
	bounds     atomic.Bool
	generation atomic.Uint64 // counts openings and closings, so that what began before does not count after
	begun      atomic.Uint64 // counts attempts, which numbers them

	// calm is when a success last counted, in Unix nanoseconds, if the last 40 outcomes are successes. One more then changes
	// nothing, so for a moment none takes the lock. Otherwise it is 0.
	calm atomic.Int64
	// usual is the running median of how long successes take, or 0.
	usual atomic.Int64
	// pace spaces the requests if the service takes them evenly spaced, and is nil otherwise.
	pace atomic.Pointer[pace]

	mu       sync.Mutex
	isOpen   bool // while a call is passing it is half-open
	seed     maphash.Seed
	last     []heard             // up to 40 outcomes, the latest last
	healthy  int                 // successes since any other outcome
	weak     int                 // successes that are to come before it is as if it had never been open
	trouble  Trouble             // the present one, or the last
	suspects map[uint64]struct{} // recipients whose calls failed in it
	limit    int                 // of calls at once after closing; 0 is none
	passing  int                 // calls that passed in this generation, while the breaker bounds them
	queue    []*waiter           // calls that wait. The first looks after the others
	coming   int                 // calls that were called and did not come yet
	told     time.Time           // when the last was
}

type heard struct {
	health     Health
	at         time.Time // of a success, when its request began
	began      time.Time
	retryAfter time.Duration
	cause      error
	who        uint64 // the hash of its recipient
	number     uint64 // by when its attempt began
}

// waiter is a call that may have to wait for a breaker.
type waiter struct {
	sleeper

	recipient string
	who       uint64    // its hash, for the breaker that it waits for
	until     time.Time // the end of its patience; zero is none
	of        *Breaker  // where it waits, or was called
	called    bool      // it is its turn to ask
	early     bool      // it comes before new calls: it had its turn, or made an attempt
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

// Change is the beginning of trouble, in which a breaker opened, or its end, or the beginning of a pace.
type Change struct {
	Trouble

	Opened, Paced bool
}

// Trouble returns why the breaker is open, and whether it is. A nil Breaker is closed.
func (b *Breaker) Trouble() (Trouble, bool) {
	if b == nil || !b.bounds.Load() {
		return Trouble{}, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.trouble, b.isOpen
}

// blocked is what a call waits for that may not pass.
type blocked struct {
	Trouble

	breaker *Breaker
	givesUp bool // the call ends after a time: the breaker is open, and not because of one recipient, who is another
}

// enter lets a call pass and returns the generation for leave, or what the call has to wait for. With look it only looks.
func (b *Breaker) enter(w *waiter, look bool) (generation uint64, wait *blocked) {
	if generation = b.generation.Load(); !b.bounds.Load() {
		return generation, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w.who = b.hash(w.recipient)
	if !b.admits(w, time.Now()) {
		return 0, b.block(w)
	}
	if !look {
		b.came(w)
		b.passing++
	}
	return b.generation.Load(), nil
}

// admits reports whether a call may pass now. When a pause has ended, one that was called is the probe, or the next to come if none
// waits or it is as fit as those that do.
func (b *Breaker) admits(w *waiter, now time.Time) bool {
	isNext := w.called && w.of == b || len(b.queue) == 0
	if b.isOpen {
		return b.passing == 0 && !now.Before(b.trouble.Until) && (isNext || b.isFit(w, now))
	}
	return b.limit == 0 || b.passing < b.limit && isNext
}

// isFit reports whether a call makes a good probe: it differs from what failed, and has the time.
func (b *Breaker) isFit(w *waiter, now time.Time) bool {
	_, failed := b.suspects[w.who]
	return !failed && (w.until.IsZero() || w.until.Sub(now) >= probeTime)
}

func (b *Breaker) block(w *waiter) *blocked {
	_, failed := b.suspects[w.who]
	return &blocked{b.trouble, b, b.isOpen && (failed || len(b.suspects) != 1)}
}

// hash returns a hash of a recipient. Each call without one counts as another.
func (b *Breaker) hash(recipient string) uint64 {
	if recipient == "" {
		return rand.Uint64() //nolint:gosec // no secret depends on it
	}
	if b.seed == (maphash.Seed{}) {
		b.seed = maphash.MakeSeed()
	}
	return maphash.String(b.seed, recipient)
}

// join has a call wait until it is called, in front of calls that never were.
func (b *Breaker) join(w *waiter) {
	w.part()
	b.mu.Lock()
	defer b.mu.Unlock()
	at := len(b.queue)
	if isNew := slices.IndexFunc(b.queue, func(other *waiter) bool { return !other.early }); w.early && isNew >= 0 {
		at = isNew
	}
	w.of, w.sleeper = b, newSleeper()
	b.queue = slices.Insert(b.queue, at, w)
	b.queue[0].wake()
}

// attend returns nil if a call that joined is called, and otherwise what it waits for, and when to attend again unless it is woken before.
func (b *Breaker) attend(w *waiter) (wait *blocked, again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	again = forever
	if now := time.Now(); !w.called && b.queue[0] == w && (!b.isOpen || b.passing == 0) {
		if again = b.trouble.Until.Sub(now); !b.isOpen || again <= 0 {
			if again = recall; now.Sub(b.told) >= recall {
				b.coming = 0 // they may be held up
			}
			b.invite(now)
		}
	}
	if w.called {
		return nil, 0
	}
	return b.block(w), again
}

// part ends the wait of a call. If it was called and does not come, the next takes its turn.
func (w *waiter) part() {
	b := w.of
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.called {
		b.came(w)
		b.invite(time.Now())
	} else {
		b.remove(slices.Index(b.queue, w))
	}
	w.of = nil
}

// invite calls those of the queue that may pass: the probe, or the first after closing.
func (b *Breaker) invite(now time.Time) {
	n, next := len(b.queue), 0
	switch {
	case n == 0:
	case b.isOpen && (b.passing > 0 || b.coming > 0 || now.Before(b.trouble.Until)):
		return
	case b.isOpen:
		n, next = 1, b.probe(now)
	case b.limit > 0:
		n = min(n, b.limit-b.passing-b.coming)
	}
	for range n {
		w := b.queue[next]
		b.remove(next)
		w.called, w.early, b.told = true, true, now
		b.coming++
		w.wake()
	}
}

// probe returns the place of a call in the queue, drawn at random from those that are fit, if any is.
func (b *Breaker) probe(now time.Time) int {
	chosen, fit := rand.N(len(b.queue)), 0 //nolint:gosec // no secret depends on it
	for i, w := range b.queue {
		if b.isFit(w, now) {
			if fit++; rand.N(fit) == 0 { //nolint:gosec // no secret depends on it
				chosen = i
			}
		}
	}
	return chosen
}

// came says that a call has asked, or will not, if this breaker called it.
func (b *Breaker) came(w *waiter) {
	if w.called && w.of == b {
		w.called, w.of = false, nil
		b.coming = max(0, b.coming-1)
	}
}

func (b *Breaker) remove(i int) {
	b.queue = slices.Delete(b.queue, i, i+1)
	if i == 0 && len(b.queue) > 0 {
		b.queue[0].wake()
	}
}

// leave records what became of a call that entered. again reports that the call has been counted in this generation. It
// returns what has changed, or nil.
func (b *Breaker) leave(generation uint64, o *heard, recipient string, again bool) *Change {
	if o.health == Healthy && time.Duration(o.at.UnixNano()-b.calm.Load()).Abs() < calmFor {
		return nil
	}
	now := time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	o.who = b.hash(recipient)
	if o.health == Healthy {
		b.took(now.Sub(o.at))
	}
	if generation != b.generation.Load() {
		if b.isOpen {
			b.suspect(o)
		}
		return nil
	}
	b.passing--
	change := b.hear(o, again, now)
	b.invite(now)
	return change
}

// hear takes an outcome into account.
func (b *Breaker) hear(o *heard, again bool, now time.Time) (change *Change) {
	switch {
	case b.isOpen && o.health == unwritten: // the next call probes, at once
	case b.isOpen && o.health == Healthy:
		b.close()
		return &Change{Trouble: b.trouble}
	case b.isOpen:
		b.open(o, now, o.retryAfter)
	case !o.health.known():
	case o.health == Healthy:
		b.grow()
		b.weak = max(0, b.weak-1)
		if !again {
			b.remember(o)
			change = b.space(o, now)
		}
	case o.health == Throttling && b.pace.Load().isConfirmed(): // the pace has heard it
	case !again:
		b.remember(o)
		change = b.space(o, now)
		if p := b.pace.Load(); (p == nil || p.isConfirmed()) && b.trips(now) {
			b.trouble.Since = now
			for i := range b.last {
				b.suspect(&b.last[i])
			}
			b.open(o, now, b.shortestWait(now))
			return &Change{Trouble: b.trouble, Opened: true}
		}
	}
	return change
}

// Settled records that the service lists a message whose send, which began at a time, had an unknown outcome. It closes the breaker if the
// message went out while that was open.
func (b *Breaker) Settled(recipient string, began time.Time) *Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch o := (&heard{at: now, who: b.hash(recipient), number: b.begun.Add(1)}); {
	case !b.isOpen:
		b.remember(o)
	case began.After(b.trouble.Since):
		b.close()
		b.invite(now)
		return &Change{Trouble: b.trouble}
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
	isSame := func(other heard) bool { return other.who == o.who && other.health != Healthy }
	same, forget := 0, -1
	for _, other := range b.last {
		if isSame(other) {
			same++
		}
	}
	if o.health != Healthy && same == mostOfOne {
		forget = slices.IndexFunc(b.last, isSame)
	} else if len(b.last) == remembered {
		forget = 0
	}
	if forget >= 0 {
		b.last = slices.Delete(b.last, forget, forget+1)
	}
	b.last = append(b.last, *o)
}

// suspect notes whom a failure was for.
func (b *Breaker) suspect(o *heard) {
	if o.health == Healthy || !o.health.known() || len(b.suspects) == mostSuspects {
		return
	}
	if b.suspects == nil {
		b.suspects = map[uint64]struct{}{}
	}
	b.suspects[o.who] = struct{}{}
}

// took counts how long a success took.
func (b *Breaker) took(d time.Duration) {
	switch usual := b.usual.Load(); {
	case usual == 0:
		b.usual.Store(int64(d))
	case int64(d) > usual:
		b.usual.Store(usual + usual/16 + 1)
	default:
		b.usual.Store(usual - usual/16)
	}
}

// recent returns the outcomes that count, the latest first.
func (b *Breaker) recent(now time.Time) []heard {
	recent := slices.DeleteFunc(slices.Clone(b.last), func(o heard) bool { return now.Sub(o.at) > relevance })
	slices.Reverse(recent)
	return recent
}

// twoOfEach returns the two latest outcomes of each recipient.
func twoOfEach(outcomes []heard) []heard {
	seen := map[uint64]int{}
	return slices.DeleteFunc(slices.Clone(outcomes), func(o heard) bool {
		seen[o.who]++
		return seen[o.who] > 2
	})
}

func count(outcomes []heard, of ...Health) (n int) {
	for _, o := range outcomes {
		if slices.Contains(of, o.health) {
			n++
		}
	}
	return n
}

// trips reports whether the outcomes open the breaker: four in five failed, or ten in a row, or half of them were throttled. All of
// that has to hold for more than one recipient, unless there is only one.
func (b *Breaker) trips(now time.Time) bool {
	recent := b.recent(now)
	mostFailed := func(of []heard) bool { return 5*count(of, Failing, Refusing) >= 4*len(of) }
	latest := recent[:min(len(recent), throttleOf)]
	recipients := twoOfEach(latest)
	least := fewest
	if b.weak > 0 {
		least = fewestAgain
	}
	return len(recent) >= least && mostFailed(recent) && mostFailed(twoOfEach(recent)) || isRow(recent, false) ||
		2*count(latest, Throttling) >= throttleOf && 2*count(recipients, Throttling) >= len(recipients) ||
		isRow(lastBegunFirst(recent), true)
}

// lastBegunFirst sorts outcomes, which nearly are in that order.
func lastBegunFirst(outcomes []heard) []heard {
	sorted := slices.Clone(outcomes)
	for i := range sorted {
		for ; i > 0 && sorted[i].number > sorted[i-1].number; i-- {
			sorted[i], sorted[i-1] = sorted[i-1], sorted[i]
		}
	}
	return sorted
}

// isRow reports whether ten in a row failed and no success is later, which is asked of the order in which outcomes came and of that in
// which attempts began. In the first, successes from before the trouble come between the failures. In the second an attempt in flight
// leaves a gap: it may succeed.
func isRow(outcomes []heard, gaps bool) bool {
	first := 0
	for i, o := range outcomes {
		if o.health != Failing && o.health != Refusing {
			return false
		}
		if gaps && i > 0 && o.number+1 != outcomes[i-1].number {
			first = i
		}
		isOther := func(other heard) bool { return other.who != o.who }
		if i-first+1 >= inARow && (slices.ContainsFunc(outcomes[first:i], isOther) || !slices.ContainsFunc(outcomes, isOther)) {
			return true
		}
	}
	return false
}

func (b *Breaker) shortestWait(now time.Time) (shortest time.Duration) {
	for _, o := range b.recent(now) {
		if o.health != Healthy && o.retryAfter > 0 && (shortest == 0 || o.retryAfter < shortest) {
			shortest = o.retryAfter
		}
	}
	return shortest
}

// open begins a pause. A probe of which nothing was heard costs one, too.
func (b *Breaker) open(o *heard, now time.Time, dictated time.Duration) {
	b.begin(true)
	b.suspect(o)
	if o.health.known() {
		b.trouble.Cause, b.trouble.Account = o.cause, o.health == Refusing
	}
	b.trouble.Until = now.Add(pause(now.Sub(b.trouble.Since), dictated))
	for _, w := range b.queue {
		w.wake() // some cannot wait so long
	}
}

func (b *Breaker) close() {
	b.begin(false)
	b.last, b.weak, b.limit = b.last[:0], convalescent, 2 // the probe succeeded
	clear(b.suspects)
}

func (b *Breaker) begin(isOpen bool) {
	b.isOpen, b.limit, b.passing, b.healthy, b.coming = isOpen, 0, 0, 0, 0
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
