package messaging

import (
	"container/heap"
	"time"
)

// maxWaiting is how many messages of one SendAll may wait for another attempt before no new ones are taken.
const maxWaiting = 4096

// forever is a wait that only an event ends.
const forever = time.Duration(1<<63 - 1)

// A dispatcher decides when the messages of a bulk begin. It is one goroutine, to which its fields belong.
type dispatcher[M any] struct {
	*bulk[M]

	waiting waiting[M] // for another attempt
	active  int        // messages under way: begun, and not yet back from their attempt
	probe   *job[M]    // the one that probes an open breaker, or nil
	hold    hold       // when the step began, or when a new message came
	timer   *time.Timer

	noMore    <-chan struct{} // nil when no message follows
	waitsDone <-chan struct{} // nil when the waits have ended
}

// dispatch begins messages until each has its outcome and no message follows.
func (b *bulk[M]) dispatch() {
	defer close(b.outcomes)
	d := dispatcher[M]{bulk: b, timer: time.NewTimer(forever), noMore: b.noMore, waitsDone: b.waits.Done()}
	defer d.timer.Stop()
	for d.noMore != nil || d.active > 0 || len(d.waiting) > 0 {
		d.step()
	}
}

// step begins a message, or waits for an event after which one may begin. A message whose wait is over goes before a new one.
func (d *dispatcher[M]) step() {
	if d.active == d.concurrency {
		d.await(nil, forever)
		return
	}
	if d.waits.Err() != nil {
		d.stepAfterWaits()
		return
	}
	d.hold = d.holdNow()
	untilDue := d.waiting.untilDue()
	switch {
	case d.hold.isOpen && d.probe != nil:
		d.await(nil, forever) // the outcome of the probe
	case d.hold.wait > 0:
		d.await(nil, d.hold.wait)
	case untilDue <= 0:
		d.begin(d.waiting.take())
	case len(d.waiting) >= maxWaiting:
		d.await(nil, untilDue)
	default:
		d.await(d.jobs, untilDue)
	}
}

// stepAfterWaits is a step when the waits have ended. Messages that waited have their outcome, and new ones end not sent.
func (d *dispatcher[M]) stepAfterWaits() {
	if len(d.waiting) == 0 {
		d.await(d.jobs, forever)
		return
	}
	j := d.waiting.take()
	j.isOver = true
	j.interrupt(d.ctx.Err())
	d.start(j)
}

// await waits for an event, no longer than atMost. If the event is a new message, it begins; nil jobs take none.
func (d *dispatcher[M]) await(jobs <-chan *job[M], atMost time.Duration) {
	d.timer.Reset(atMost)
	select {
	case j := <-jobs:
		d.hold = d.holdNow()
		d.begin(j)
	case j := <-d.attempted:
		d.receive(j)
	case <-d.noMore:
		d.noMore = nil
	case <-d.waitsDone:
		d.waitsDone = nil
	case <-d.timer.C:
	}
}

// begin starts an attempt at a message when the throttle has a turn for it.
func (d *dispatcher[M]) begin(j *job[M]) {
	if d.hold.isOpen && !d.hold.isBlocked {
		d.probe = j
	}
	d.throttle.wait(d.waits)
	d.start(j)
}

func (d *dispatcher[M]) start(j *job[M]) {
	d.active++
	go d.run(j)
}

// receive takes a message back from its attempt.
func (d *dispatcher[M]) receive(j *job[M]) {
	d.active--
	if d.probe == j {
		d.probe = nil
	}
	if !j.isOver {
		d.waiting.add(j)
	}
}

// waiting is a heap of messages by the time at which they are due.
type waiting[M any] []*job[M]

func (w *waiting[M]) add(j *job[M]) { heap.Push(w, j) }

func (w *waiting[M]) take() *job[M] { return heap.Pop(w).(*job[M]) } //nolint:forcetypeassert // nothing else is in it

// untilDue returns how long until a message is due, which is forever if there is none.
func (w waiting[M]) untilDue() time.Duration {
	if len(w) == 0 {
		return forever
	}
	return time.Until(w[0].due)
}

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
