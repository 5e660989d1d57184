package transport

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// places is how many attempts of one channel and kind are in flight at once.
const places = 256

// Places let a number of calls through at once. Those that wait are let through in order. The zero Places are for one channel and kind.
type Places struct {
	size           int64 // 0 is 256
	taken, waiting atomic.Int64

	mu   sync.Mutex
	line []chan struct{} // as many as waiting says. Each is closed when a place is its own
}

// take takes a place if there is one and no call waits, or the caller comes first.
func (p *Places) take(first bool) bool {
	for n := p.taken.Load(); n < cmp.Or(p.size, places) && (first || p.waiting.Load() == 0); n = p.taken.Load() {
		if p.taken.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

// wait waits for a place, behind or in front of the calls that wait.
func (p *Places) wait(ctx context.Context, first bool) error {
	mine := make(chan struct{})
	p.change(func() {
		if first {
			p.line = append([]chan struct{}{mine}, p.line...)
			return
		}
		p.line = append(p.line, mine)
	})
	select {
	case <-mine:
		return nil
	case <-ctx.Done():
	}
	p.change(func() {
		if i := slices.Index(p.line, mine); i >= 0 {
			p.line = slices.Delete(p.line, i, i+1)
		} else {
			p.taken.Add(-1)
		}
	})
	return ctx.Err()
}

// change changes the line, and lets the first of it in.
func (p *Places) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.waiting.Store(int64(len(p.line)))
	for len(p.line) > 0 && p.take(true) {
		close(p.line[0])
		p.line = p.line[1:]
		p.waiting.Add(-1)
	}
}

func (p *Places) leave() {
	if p.taken.Add(-1); p.waiting.Load() > 0 {
		p.change(func() {})
	}
}

// MaxWaiting is how many messages of one SendAll wait without a slot.
const MaxWaiting = 4096

// Slots are how many messages of one SendAll may be in flight at once. A message that waits returns its slot. When its wait is over it
// gets one before any new message. No more than MaxWaiting messages are taken beyond the slots.
type Slots struct {
	waits   context.Context //nolint:containedctx // of all waits of the SendAll
	freed   sleeper
	places  Places
	pending atomic.Int64 // messages whose outcomes were not received
}

// Slot is what a message has of Slots. Nil needs none.
type Slot struct {
	of   *Slots
	held bool
}

// NewSlots returns n slots for messages whose waits end with a context.
func NewSlots(waits context.Context, n int) *Slots {
	return &Slots{waits: waits, freed: newSleeper(), places: Places{size: int64(n)}}
}

// Freed receives a value when Take may succeed again because a message waits.
func (s *Slots) Freed() <-chan struct{} { return s.freed }

// Take returns a slot for a new message, or nil if there is none.
func (s *Slots) Take() *Slot {
	if s.pending.Load()-MaxWaiting >= s.places.size || !s.places.take(false) {
		return nil
	}
	s.pending.Add(1)
	return &Slot{s, true}
}

// Done says that the message is out of the way: its outcome was received, by the goroutine that takes slots.
func (s *Slot) Done() {
	s.of.pending.Add(-1)
	if s.held {
		s.of.places.leave()
	}
}

// park begins a wait.
func (s *Slot) park() {
	if s != nil && s.held {
		s.held = false
		s.of.places.leave()
		s.of.freed.wake()
	}
}

// resume ends a wait: the message has a slot again, unless the context ends before.
func (s *Slot) resume(ctx context.Context) error {
	if s == nil || s.held {
		return nil
	}
	if !s.of.places.take(false) {
		if err := s.of.places.wait(ctx, false); err != nil {
			return err
		}
	}
	s.held = true
	return nil
}
