package transport

import (
	"context"
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

	// calm is when a success last counted, in Unix nanoseconds, if the last 40 outcomes are successes. One more then changes
	// nothing, so for a moment none takes the lock. Otherwise it is 0.
	calm atomic.Int64
	// usual is the running median of how long successes take, or 0.
	usual atomic.Int64

	mu       sync.Mutex
	state    state
	seed     maphash.Seed
	last     []heard             // up to 40 outcomes, the latest last
	healthy  int                 // successes since any other outcome
	weak     int                 // successes that are to come before it is as if it had never been open
	trouble  Trouble             // the present one, or the last
	suspects map[uint64]struct{} // recipients whose calls failed in it
	limit    int                 // of calls at once after closing; 0 is none
	passing  int                 // calls that passed in this generation, while the breaker bounds them
	queue    []*waiter           // calls that wait. The first looks after the others
	coming   int                 // calls that were told to ask, and did not yet
	told     time.Time           // when the last was
}

type state uint8

const (
	closed state = iota
	open
	halfOpen
)

type heard struct {
	health     Health
	at         time.Time // of a success, when its request began
	retryAfter time.Duration
	cause      error
	who        uint64 // the hash of its recipient
}

// waiter is a call that may have to wait for a breaker.
type waiter struct {
	recipient string
	who       uint64        // its hash, for the breaker that it waits for
	until     time.Time     // the end of its patience; zero is none
	nudge     chan struct{} // has room for one: attend to the breaker
	caller    *Breaker      // which told it to ask, or nil
	early     bool          // it comes before new calls: it had its turn, or made an attempt
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

	breaker *Breaker
	open    bool // and not only bounded after closing
	pausing bool // a call can pass when the pause ends
	lone    bool // all failures are of one recipient, and the call is for another
}

// enter lets a call pass and returns the generation for leave, or what the call has to wait for. With look it only looks.
func (b *Breaker) enter(ctx context.Context, w *waiter, look bool) (generation uint64, wait *blocked) {
	if generation = b.generation.Load(); !b.bounds.Load() {
		return generation, nil
	}
	return b.ask(ctx, w, look)
}

// ask is enter while the breaker bounds calls.
func (b *Breaker) ask(ctx context.Context, w *waiter, look bool) (generation uint64, wait *blocked) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.who = b.hash(w.recipient)
	if deadline, ok := ctx.Deadline(); ok && w.until.IsZero() {
		w.until = deadline
	}
	switch now := time.Now(); {
	case !b.admits(w, now):
		return 0, b.block(w)
	case look:
		return 0, nil
	case b.state == open:
		b.state = halfOpen
	}
	b.came(w)
	b.passing++
	return b.generation.Load(), nil
}

// admits reports whether a call may pass now. When a pause has ended, one that was called is the probe, or the next to come if none
// waits or it is as fit as those that do.
func (b *Breaker) admits(w *waiter, now time.Time) bool {
	switch b.state {
	case closed:
		return b.limit == 0 || b.passing < b.limit && (w.caller == b || len(b.queue) == 0)
	case open:
		return !now.Before(b.trouble.Until) && (w.caller == b || len(b.queue) == 0 || b.isFit(w, now))
	default:
		return false
	}
}

// isFit reports whether a call makes a good probe: it differs from what failed, and has the time.
func (b *Breaker) isFit(w *waiter, now time.Time) bool {
	_, failed := b.suspects[w.who]
	return !failed && (w.until.IsZero() || w.until.Sub(now) >= probeTime)
}

func (b *Breaker) block(w *waiter) *blocked {
	_, failed := b.suspects[w.who]
	return &blocked{
		Trouble: b.trouble, breaker: b, open: b.state != closed,
		pausing: b.state == open && time.Now().Before(b.trouble.Until), lone: !failed && len(b.suspects) == 1,
	}
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

// join has a call wait until attend tells it to ask.
func (b *Breaker) join(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.nudge == nil {
		w.nudge = make(chan struct{}, 1)
	}
	b.came(w)
	at := len(b.queue)
	if w.early {
		if at = slices.IndexFunc(b.queue, func(other *waiter) bool { return !other.early }); at < 0 {
			at = len(b.queue)
		}
	}
	b.queue = slices.Insert(b.queue, at, w)
	b.queue[0].alert()
}

// attend returns what a call that joined has to wait for, and when to attend again unless it is nudged before; or nil if the call
// should ask now.
func (b *Breaker) attend(w *waiter) (wait *blocked, again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	again = forever
	if now := time.Now(); w.caller != b && b.queue[0] == w && b.state != halfOpen {
		if again = b.trouble.Until.Sub(now); b.state == closed || again <= 0 {
			if again = recall; now.Sub(b.told) >= recall {
				b.coming = 0 // they may be held up
			}
			b.invite(now)
		}
	}
	if w.caller == b {
		return nil, 0
	}
	return b.block(w), again
}

// part ends the wait of a call that does not ask.
func (b *Breaker) part(w *waiter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.caller == b {
		b.came(w)
		b.invite(time.Now()) // the next takes its turn
	} else {
		b.remove(slices.Index(b.queue, w))
	}
}

// invite tells as many calls to ask as may pass: the probe, drawn at random from those that are fit, or the first after closing.
func (b *Breaker) invite(now time.Time) {
	switch n := len(b.queue); {
	case n == 0, b.state == halfOpen, b.state == open && (now.Before(b.trouble.Until) || b.coming > 0):
	case b.state == open:
		b.tell(b.probe(now), now)
	default:
		if b.limit > 0 {
			n = min(n, b.limit-b.passing-b.coming)
		}
		for range n {
			b.tell(0, now)
		}
	}
}

// probe returns the place of a call in the queue.
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

func (b *Breaker) tell(i int, now time.Time) {
	w := b.queue[i]
	b.remove(i)
	w.caller, w.early, b.told = b, true, now
	b.coming++
	w.alert()
}

// came says that a call which was told has asked, or does not.
func (b *Breaker) came(w *waiter) {
	if w.caller == b {
		w.caller = nil
		b.coming = max(0, b.coming-1)
	}
}

func (b *Breaker) remove(i int) {
	b.queue = slices.Delete(b.queue, i, i+1)
	if i == 0 && len(b.queue) > 0 {
		b.queue[0].alert()
	}
}

func (w *waiter) alert() {
	select {
	case w.nudge <- struct{}{}:
	default:
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
		if b.state != closed {
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
func (b *Breaker) hear(o *heard, again bool, now time.Time) *Change {
	switch {
	case b.state == halfOpen && o.health == unwritten:
		b.state = open // the next call probes, at once
	case b.state == halfOpen && o.health == Healthy:
		b.close()
		return &Change{b.trouble, false}
	case b.state == halfOpen:
		b.open(o, now, o.retryAfter)
	case !o.health.known():
	case o.health == Healthy:
		b.grow()
		b.weak = max(0, b.weak-1)
		if !again {
			b.remember(o)
		}
	case !again:
		b.remember(o)
		if b.trips(now) {
			b.trouble.Since = now
			for i := range b.last {
				b.suspect(&b.last[i])
			}
			b.open(o, now, b.shortestWait(now))
			return &Change{b.trouble, true}
		}
	}
	return nil
}

// Settled tells the breaker that the service lists the message of a call that began at a time, and of which nothing good was heard. It
// closes the breaker if the message went out while that was open.
func (b *Breaker) Settled(recipient string, began time.Time) *Change {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch o := (&heard{at: now, who: b.hash(recipient)}); {
	case b.state == closed:
		b.remember(o)
	case began.After(b.trouble.Since):
		b.close()
		b.invite(now)
		return &Change{b.trouble, false}
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
	if b.last == nil {
		b.last = make([]heard, 0, remembered)
	}
	forget, same := -1, 0
	if len(b.last) == remembered {
		forget = 0
	}
	for i := len(b.last) - 1; i >= 0 && o.health != Healthy && same < mostOfOne; i-- {
		if b.last[i].who == o.who && b.last[i].health != Healthy {
			if same++; same == mostOfOne {
				forget = i
			}
		}
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

func (b *Breaker) recent(now time.Time) []heard {
	return slices.DeleteFunc(slices.Clone(b.last), func(o heard) bool { return now.Sub(o.at) > relevance })
}

// tally counts outcomes.
type tally struct{ all, failed, throttled int }

func (t *tally) add(h Health) {
	t.all++
	switch h {
	case Failing, Refusing:
		t.failed++
	case Throttling:
		t.throttled++
	default:
	}
}

func (t *tally) mostFailed() bool { return 5*t.failed >= 4*t.all }

// trips reports whether the outcomes open the breaker: four in five failed, or ten in a row, or half of them were throttled. All of
// that has to hold for more than one recipient, unless there is only one.
func (b *Breaker) trips(now time.Time) bool {
	recent := b.recent(now)
	slices.Reverse(recent)                                // the latest first
	var calls, recipients, latest, latestRecipients tally // two outcomes of each recipient count
	row, ofRow, others := 0, 0, 0
	for i, o := range recent {
		same := 0
		for _, later := range recent[:i] {
			if later.who == o.who {
				same++
			}
		}
		counts := same < 2
		calls.add(o.health)
		if counts {
			recipients.add(o.health)
		}
		if i < throttleOf {
			latest.add(o.health)
			if counts {
				latestRecipients.add(o.health)
			}
		}
		if o.who != recent[0].who {
			others++
		}
		if calls.failed == i+1 {
			row, ofRow = calls.failed, others
		}
	}
	least := fewest
	if b.weak > 0 {
		least = fewestAgain
	}
	return calls.all >= least && calls.mostFailed() && recipients.mostFailed() ||
		row >= inARow && (ofRow > 0 || others == 0) ||
		2*latest.throttled >= throttleOf && 2*latestRecipients.throttled >= latestRecipients.all
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
	b.begin(open)
	b.suspect(o)
	if o.health.known() {
		b.trouble.Cause, b.trouble.Account = o.cause, o.health == Refusing
	}
	b.trouble.Until = now.Add(pause(now.Sub(b.trouble.Since), dictated))
	for _, w := range b.queue {
		w.alert() // some cannot wait so long
	}
}

func (b *Breaker) close() {
	b.begin(closed)
	b.last, b.weak, b.limit = b.last[:0], convalescent, 2 // the probe succeeded
	clear(b.suspects)
}

func (b *Breaker) begin(s state) {
	b.state, b.limit, b.passing, b.healthy, b.coming = s, 0, 0, 0, 0
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
