package messaging

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// maxOutcomes is how many outcomes may wait for the caller. Further attempts then wait until the caller takes one.
const maxOutcomes = 1024

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

// sendAll implements SendAll of the services. A message that has been taken when the context ends, and has not begun, ends not sent.
func (s sender[M]) sendAll(ctx context.Context, messages iter.Seq[M], concurrency int) iter.Seq[Outcome[M]] {
	return func(yield func(Outcome[M]) bool) {
		if problems := checkSendAll(ctx, messages == nil, concurrency); len(problems) > 0 {
			yield(Outcome[M]{Index: -1, Err: invalid(s.endpoint.name, problems)})
			return
		}
		b := newBulk(ctx, s, concurrency)
		go b.dispatch()
		defer b.end() // even if the caller or the messages panic
		if !b.takeAll(messages, yield) {
			return
		}
		for j := range b.outcomes {
			if !yield(j.Outcome) {
				return
			}
		}
	}
}

func checkSendAll(ctx context.Context, noMessages bool, concurrency int) []wire.Problem {
	var c wire.Checks
	if noMessages {
		c.Add("messages", "required, but nil")
	}
	if concurrency < 1 {
		c.Add("concurrency", fmt.Sprintf("must be 1 or more, got %d", concurrency))
	}
	return append(c, checkContext(ctx)...)
}

// A bulk is a SendAll under way. Each message is a job, which passes between goroutines of three kinds:
//
//   - The caller's goroutine takes messages from the sequence, passes them to the dispatcher (jobs), and yields outcomes (outcomes).
//   - The dispatcher begins attempts (dispatch.go). It keeps the messages that wait for another attempt.
//   - Each attempt is a goroutine (job.go). It passes the message to the caller if it has its outcome (outcomes), and then back to the dispatcher
//     (attempted).
//
// At the end the caller's goroutine closes noMore, and the dispatcher closes outcomes after the last one.
type bulk[M any] struct {
	sender[M]

	ctx         context.Context //nolint:containedctx // the caller's: a bulk is one SendAll
	waits       context.Context //nolint:containedctx // of the waits, which also end after a break
	endWaits    context.CancelFunc
	began       time.Time
	concurrency int // messages under way at once
	throttle    *throttle
	outage      tokenOutage

	jobs      chan *job[M]  // new messages
	noMore    chan struct{} // closed when no message follows
	attempted chan *job[M]  // messages whose attempt has ended
	outcomes  chan *job[M]  // messages that have their outcome
}

func newBulk[M any](ctx context.Context, s sender[M], concurrency int) *bulk[M] {
	waits, endWaits := context.WithCancel(ctx) //nolint:gosec // end calls it
	return &bulk[M]{
		sender:      s,
		ctx:         ctx,
		waits:       waits,
		endWaits:    endWaits,
		began:       time.Now(),
		concurrency: concurrency,
		throttle:    newThrottle(),
		jobs:        make(chan *job[M]),
		noMore:      make(chan struct{}),
		attempted:   make(chan *job[M]),
		outcomes:    make(chan *job[M], min(concurrency, maxOutcomes)),
	}
}

// takeAll passes the messages of the sequence to the dispatcher, until the sequence or the context ends. It yields outcomes meanwhile, and reports
// whether the caller wants more.
func (b *bulk[M]) takeAll(messages iter.Seq[M], yield func(Outcome[M]) bool) bool {
	defer close(b.noMore)
	index := 0
	for message := range messages {
		j := &job[M]{Outcome: Outcome[M]{Index: index, Message: message}}
		if !b.pass(j, yield) {
			return false
		}
		index++
		if b.ctx.Err() != nil {
			break
		}
	}
	return true
}

// pass passes a message to the dispatcher. Outcomes that are ready are yielded first, and then those that come until the dispatcher takes the
// message. It reports whether the caller wants more.
func (b *bulk[M]) pass(next *job[M], yield func(Outcome[M]) bool) bool {
	for len(b.outcomes) > 0 {
		j := <-b.outcomes
		if !yield(j.Outcome) {
			return false
		}
	}
	for {
		select {
		case b.jobs <- next:
			return true
		case j := <-b.outcomes:
			if !yield(j.Outcome) {
				return false
			}
		}
	}
}

// end waits until the sends under way have ended. Outcomes that were not yielded are lost.
func (b *bulk[M]) end() {
	b.endWaits()
	for range b.outcomes {
	}
}
