package messaging

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

const (
	// maxWaiting is how many messages of one SendAll may be waiting for a retry.
	maxWaiting = 4096
	// maxOutcomes is how many outcomes may wait for the caller before workers wait, too.
	maxOutcomes = 1024
	// giveUp and giveUpAccount are how long messages are held back without a success; see BreakerPolicy.GiveUp.
	giveUp        = 10 * time.Minute
	giveUpAccount = time.Minute
)

// A sender sends the messages of one channel for a SendAll.
type sender[M any] struct {
	core     *core
	endpoint *sendEndpoint
	describe func(M) wire.Call
	// send sends the message of an outcome once, and fills the outcome.
	send func(ctx context.Context, out *Outcome[M], o *observation, mode sendMode)
}

// newSender returns a sender that leaves unknown outcomes as they are.
func newSender[M any](c *core, channel Channel, describe func(M) wire.Call) sender[M] {
	e := c.sendOn(channel)
	send := func(ctx context.Context, out *Outcome[M], o *observation, mode sendMode) {
		out.Receipt, out.Err = c.deliver(ctx, &sending{endpoint: e, call: describe(out.Message)}, o, mode)
	}
	return sender[M]{core: c, endpoint: e, describe: describe, send: send}
}

// sendAll implements SendAll of the services. A message already taken when the context ends yields NotSent.
func (s sender[M]) sendAll(ctx context.Context, messages iter.Seq[M], concurrency int) iter.Seq[Outcome[M]] {
	return func(yield func(Outcome[M]) bool) {
		if problems := checkSendAll(ctx, messages == nil, concurrency); len(problems) > 0 {
			yield(Outcome[M]{Index: -1, Err: invalid(s.endpoint.name, problems)})
			return
		}
		b := newBulk(ctx, s, concurrency)
		defer b.end() // even if the caller or the messages panic
		next := 0
		for message := range messages {
			if !b.begin(job[M]{Outcome: Outcome[M]{Index: next, Message: message}}, yield) {
				return
			}
			next++
			if ctx.Err() != nil {
				break
			}
		}
		for b.taken > 0 {
			if !b.receive(<-b.done, yield) {
				return
			}
		}
	}
}

func checkSendAll(ctx context.Context, noMessages bool, concurrency int) []wire.Problem {
	var c wire.Checks
	if noMessages {
		c.Found("messages", "required, but nil")
	}
	if concurrency < 1 {
		c.Found("concurrency", fmt.Sprintf("must be 1 or more, got %d", concurrency))
	}
	return append(c, checkContext(ctx)...)
}

// A bulk is a SendAll under way. The caller's goroutine takes messages from the sequence, hands each to a worker, and yields outcomes. A
// worker sends its message once. If that is to be tried again, the worker puts it into a heap and takes another message.
//
// Normally, workers take new messages directly. One of them, the leader, also waits for times: when the next message of the heap is due, when
// the pause of a breaker ends, when the throttle has a turn. While the heap is full or the throttle is on, only the leader takes messages, one
// after the other. While a breaker is open, that message is the probe.
type bulk[M any] struct {
	sender[M]

	ctx         context.Context //nolint:containedctx // the caller's: a bulk is one SendAll
	waits       context.Context //nolint:containedctx // of the waits, which also end after a break
	stopWaits   context.CancelFunc
	concurrency int

	workers int // started
	taken   int // messages whose outcomes were not received

	jobs    chan job[M]   // new messages
	done    chan job[M]   // outcomes
	quit    chan struct{} // closed when there are no more messages
	lead    chan struct{} // holds an element while there is a leader
	changed chan struct{} // another message waits
	group   sync.WaitGroup

	throttle throttle

	mu             sync.Mutex
	waiting        waiting[M]
	throttledSince time.Time // the first throttled response after the last accepted message, or zero
}

// A job is a message under way, and then its outcome.
type job[M any] struct {
	Outcome[M]

	ctx         context.Context //nolint:containedctx // of the StepCall; nil before the first attempt
	observation *observation
	endCall     func(StepResult) // ends the StepCall
	endWait     func(StepResult) // ends the step of a wait, or is nil

	maybeWritten bool          // something of it may have been written
	attempts     int           // requests so far
	tries        int           // attempts that count towards MaxAttempts
	due          time.Time     // when it is to be tried again
	postponed    time.Duration // how long it has waited for its guard, at most RetryPolicy.MaxWait
	isOver       bool          // its wait was cut short, so that it has its outcome
}

func newBulk[M any](ctx context.Context, s sender[M], concurrency int) *bulk[M] {
	b := &bulk[M]{
		ctx:         ctx,
		sender:      s,
		concurrency: concurrency,
		jobs:        make(chan job[M]),
		done:        make(chan job[M], min(concurrency, maxOutcomes)),
		quit:        make(chan struct{}),
		lead:        make(chan struct{}, 1),
		changed:     make(chan struct{}, 1),
	}
	b.throttle.period.startedAt = time.Now()
	b.waits, b.stopWaits = context.WithCancel(ctx) //nolint:gosec // end calls it
	return b
}

// begin hands a message to a worker, and reports whether the caller wants more outcomes. It yields those that are ready first.
func (b *bulk[M]) begin(j job[M], yield func(Outcome[M]) bool) bool {
	for len(b.done) > 0 {
		if !b.receive(<-b.done, yield) {
			return false
		}
	}
	if b.taken >= b.workers && b.workers < b.concurrency {
		b.workers++
		b.group.Go(b.work)
	}
	for {
		select {
		case b.jobs <- j:
			b.taken++
			return true
		case out := <-b.done:
			if !b.receive(out, yield) {
				return false
			}
		}
	}
}

// receive yields an outcome, and reports whether the caller wants more of them.
func (b *bulk[M]) receive(j job[M], yield func(Outcome[M]) bool) bool {
	b.taken--
	return yield(j.Outcome)
}

// end waits until the sends under way have ended. Their outcomes are lost.
func (b *bulk[M]) end() {
	b.stopWaits()
	close(b.quit)
	go func() {
		b.group.Wait()
		close(b.done)
	}()
	for range b.done {
	}
	var j job[M]
	for b.takeWaiting(&j) { // its steps are still open
		b.interrupt(&j)
		b.finish(&j)
	}
}

// A turn is a worker's turn to send a message.
type turn[M any] struct {
	job       job[M]
	isProbe   bool // the message probes an open breaker
	holdsLead bool // the worker is the leader
}

// releaseLead lets another worker lead, if this one does.
func (b *bulk[M]) releaseLead(t *turn[M]) {
	if t.holdsLead {
		t.holdsLead = false
		<-b.lead
	}
}

// work sends messages until there are no more.
func (b *bulk[M]) work() {
	var t turn[M] // one variable for all messages, because it escapes
	hasReturned := false
	defer func() {
		if !hasReturned {
			b.exited(&t)
		}
	}()
	for b.next(&t) {
		isEnded := t.job.isOver || b.attempt(&t.job)
		b.releaseLead(&t)
		if isEnded {
			b.finish(&t.job)
			b.done <- t.job
		}
	}
	hasReturned = true
}

var errExited = errors.New("a function of the caller called runtime.Goexit, as a failed assertion of a test does")

// exited ends the message of a worker that user code ended by runtime.Goexit, and starts another worker.
func (b *bulk[M]) exited(t *turn[M]) {
	j := &t.job
	defer func() {
		b.group.Go(b.work)
		b.done <- *j
	}()
	b.releaseLead(t)
	j.Err = stopped(b.endpoint, errExited, j.maybeWritten, b.describe(j.Message).ReferenceID)
	b.finish(j)
}

// next waits for the next turn of a worker, and reports whether there is one. The worker holds the lead during the turn only if its message is
// a probe.
func (b *bulk[M]) next(t *turn[M]) bool {
	*t = turn[M]{}
	direct := b.jobs
	if b.isPaused() {
		direct = nil
	}
	select {
	case t.job = <-direct:
		return true
	case <-b.quit:
		return false
	case b.lead <- struct{}{}:
		t.holdsLead = true
	}
	hasMessage := b.nextToLead(t)
	if !hasMessage || !t.isProbe {
		b.releaseLead(t)
	}
	return hasMessage
}

// isPaused reports whether only the leader may take messages.
func (b *bulk[M]) isPaused() bool {
	if b.throttle.isOn() {
		return true
	}
	if _, isOpen := b.pause(); isOpen {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting) >= maxWaiting
}

// nextToLead waits, as the leader, for a message that may begin: one that waited and is due, or a new one. When the waits have ended, a message
// that waited has its outcome.
func (b *bulk[M]) nextToLead(t *turn[M]) bool {
	for b.waits.Err() == nil {
		pause, isOpen := b.pause()
		t.isProbe = isOpen
		wait, isFull := b.takeDue(&t.job, pause)
		if wait == 0 {
			b.throttle.wait(b.waits)
			return true
		}
		jobs := b.jobs
		if pause > 0 || isFull {
			jobs = nil
		}
		timer := time.NewTimer(wait)
		select {
		case t.job = <-jobs:
			timer.Stop()
			b.throttle.wait(b.waits)
			return true
		case <-timer.C:
		case <-b.changed:
		case <-b.waits.Done():
		case <-b.quit:
			timer.Stop()
			return false
		}
		timer.Stop()
	}
	t.isProbe = false
	return b.nextAfterWaits(&t.job)
}

// nextAfterWaits takes a message when the waits have ended, and reports whether there is one.
func (b *bulk[M]) nextAfterWaits(j *job[M]) bool {
	for {
		if b.takeWaiting(j) {
			j.isOver = true
			b.interrupt(j)
			return true
		}
		select {
		case *j = <-b.jobs:
			return true
		case <-b.changed:
		case <-b.quit:
			return false
		}
	}
}

// takeWaiting takes a message of the heap, and reports whether there is one.
func (b *bulk[M]) takeWaiting(j *job[M]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return false
	}
	*j = b.waiting.take()
	return true
}

// interrupt records that the context cut the wait of a message short.
func (b *bulk[M]) interrupt(j *job[M]) {
	if e, ok := errors.AsType[*Error](j.Err); ok && b.ctx.Err() != nil {
		e.interrupted(b.ctx.Err())
	}
}

const forever = time.Duration(1<<63 - 1)

// takeDue takes the message of the heap that is due, and returns 0. If none is, it returns how long until one may be, at least as long as the
// breaker pauses, and whether the heap is full.
func (b *bulk[M]) takeDue(j *job[M], pause time.Duration) (wait time.Duration, isFull bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		return cmp.Or(pause, forever), false
	}
	wait = max(time.Until(b.waiting[0].due), pause, 0)
	isFull = len(b.waiting) >= maxWaiting
	if wait == 0 {
		*j = b.waiting.take()
	}
	return wait, isFull
}

// pause returns how long no message may begin because a breaker is open, and whether one is open. When the trouble has lasted too long,
// messages begin anyway, and end not sent.
func (b *bulk[M]) pause() (pause time.Duration, isOpen bool) {
	calls := b.core.calls(b.endpoint.channel, false)
	for _, breaker := range []*transport.Breaker{calls.service, calls.account} {
		if breaker == nil {
			continue
		}
		trouble, open := breaker.Trouble()
		if !open {
			continue
		}
		giveUpIn := b.giveUpIn(&trouble)
		if giveUpIn <= 0 {
			return 0, false
		}
		isOpen = true
		if blocked := breaker.Blocked(); blocked != nil {
			pause = max(pause, min(blocked.RetryAfter, giveUpIn))
		}
	}
	return pause, isOpen
}

// giveUpIn returns how much longer messages are held back because of a trouble.
func (b *bulk[M]) giveUpIn(t *transport.Trouble) time.Duration {
	after := giveUp
	if t.Account {
		after = giveUpAccount
	}
	after = cmp.Or(b.core.settings.breaker.GiveUp, after)
	return time.Until(t.Since.Add(after))
}

// attempt sends a message once, and reports whether it has its outcome. Otherwise the message waits. A panic is its outcome.
func (b *bulk[M]) attempt(j *job[M]) (isEnded bool) {
	defer b.catch(j, &isEnded)
	j.resume()
	if j.ctx == nil {
		j.observation = b.core.observation(b.ctx, &b.endpoint.endpoint)
		j.ctx, j.endCall = j.observation.begin(b.ctx, StepCall, 0)
	}
	attemptsBefore := j.attempts
	began := time.Now()
	b.send(j.ctx, &j.Outcome, j.observation, sendMode{maybeWritten: &j.maybeWritten, waits: b.waits, priorAttempts: attemptsBefore})
	b.recordResponse(j, began)
	wait, again := b.decide(j, attemptsBefore)
	if !again {
		return true
	}
	j.due = time.Now().Add(wait)
	if deadline, ok := b.ctx.Deadline(); ok && deadline.Before(j.due) {
		return true
	}
	_, j.endWait = j.observation.begin(j.ctx, StepBackoff, j.attempts+1)
	b.mu.Lock()
	b.waiting.add(*j)
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default: // the leader looks anyway
	}
	return false
}

// finish ends the steps of a message that has its outcome. A panic is its outcome.
func (b *bulk[M]) finish(j *job[M]) {
	var isEnded bool
	defer b.catch(j, &isEnded)
	j.resume()
	end := j.endCall
	j.endCall = nil
	if end != nil {
		end(j.observation.outcome(&j.Receipt, j.Err))
	}
}

// catch makes a panic of a function of the user the outcome of the message.
func (b *bulk[M]) catch(j *job[M], isEnded *bool) {
	if value := recover(); value != nil {
		j.Err = panicked(b.endpoint, value, j.maybeWritten, b.describe(j.Message).ReferenceID)
		*isEnded = true
	}
}

// resume ends the step of the wait, if there was one.
func (j *job[M]) resume() {
	end := j.endWait
	j.endWait = nil
	if end != nil {
		end(StepResult{})
	}
}

// recordResponse records how the service responded to a message that began at a time.
func (b *bulk[M]) recordResponse(j *job[M], began time.Time) {
	if j.Err == nil {
		b.throttle.record(began, false)
		b.recordSuccess()
		return
	}
	e, isError := errors.AsType[*Error](j.Err)
	if !isError || e.Attempts == j.attempts {
		return // no request began
	}
	j.attempts = e.Attempts
	switch {
	case !isThrottled(e):
	case e.Verdict == Unknown:
		b.recordThrottled()
		b.throttle.recordLost(began)
	default:
		b.recordThrottled()
		b.throttle.record(began, true)
	}
}

func (b *bulk[M]) recordSuccess() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.throttledSince = time.Time{}
}

func (b *bulk[M]) recordThrottled() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.throttledSince.IsZero() {
		b.throttledSince = time.Now()
	}
}

// isThrottled reports whether the service throttles the account, and not one recipient.
func isThrottled(e *Error) bool {
	if e.platform.isOfRecipient() {
		return false
	}
	_, isRetryable := Retryable(e)
	return errors.Is(e, ErrRateLimited) || isRetryable && e.Verdict == Refused
}

// decide returns whether a message is tried again, and after how long.
func (b *bulk[M]) decide(j *job[M], attemptsBefore int) (wait time.Duration, again bool) {
	e, isError := errors.AsType[*Error](j.Err)
	switch {
	case !isError || b.waits.Err() != nil:
		return 0, false
	case j.attempts == attemptsBefore:
		return b.decideUnbegun(j, e)
	default:
		return b.decideAfterRequest(j, e)
	}
}

// decideAfterRequest decides about a message whose request failed.
func (b *bulk[M]) decideAfterRequest(j *job[M], e *Error) (wait time.Duration, again bool) {
	if _, isRetryable := Retryable(e); !isRetryable {
		return 0, false
	}
	wait = max(e.RetryAfter, b.core.transport.Backoff(j.tries+1))
	if isThrottled(e) && b.throttle.isOn() {
		return wait, b.mayWait(wait) // and the attempt does not count
	}
	policy := b.core.settings.retry.withDefaults()
	j.tries++
	return wait, j.tries < policy.MaxAttempts && e.RetryAfter <= policy.MaxWait
}

// decideUnbegun decides about a message for which no request could begin.
func (b *bulk[M]) decideUnbegun(j *job[M], e *Error) (wait time.Duration, again bool) {
	if e.is(ErrDenied) {
		return 0, false
	}
	if e.is(ErrPostponed) {
		wait = max(e.RetryAfter, time.Second)
		j.postponed += wait
		return wait, j.postponed <= b.core.settings.retry.withDefaults().MaxWait
	}
	if open, ok := errors.AsType[*transport.OpenError](e.cause); ok {
		return e.RetryAfter, b.giveUpIn(&open.Trouble) > 0
	}
	_, isLate := errors.AsType[*transport.LateError](e.cause)
	return max(e.RetryAfter, time.Second/10), isLate
}

// mayWait reports whether a throttled message may wait so long: it may until the service has accepted no message for too long.
func (b *bulk[M]) mayWait(wait time.Duration) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	after := cmp.Or(b.core.settings.breaker.GiveUp, giveUp)
	return time.Until(b.throttledSince.Add(after)) > wait
}

// waiting is a heap of jobs by the time at which they are due.
type waiting[M any] []*job[M]

func (w *waiting[M]) add(j job[M]) { heap.Push(w, &j) }

func (w *waiting[M]) take() job[M] { return *heap.Pop(w).(*job[M]) } //nolint:forcetypeassert // nothing else is in it

func (w waiting[M]) Len() int           { return len(w) }
func (w waiting[M]) Less(i, k int) bool { return w[i].due.Before(w[k].due) }
func (w waiting[M]) Swap(i, k int)      { w[i], w[k] = w[k], w[i] }

// Push is for heap.Push.
func (w *waiting[M]) Push(x any) { *w = append(*w, x.(*job[M])) } //nolint:forcetypeassert // nothing else is in it

// Pop is for heap.Pop.
func (w *waiting[M]) Pop() any {
	last := len(*w) - 1
	j := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	return j
}
