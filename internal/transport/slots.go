package transport

import (
	"context"
	"slices"
	"sync"
)

// MaxWaiting is how many messages of one SendAll wait without a slot.
const MaxWaiting = 4096

// Slots are how many messages of one SendAll may be in flight at once. A message that waits gives its slot back as long as fewer than
// MaxWaiting wait so. When its wait is over it gets a slot before any new message, if need be that of one that waits.
type Slots struct {
	waits context.Context //nolint:containedctx // of all waits of the SendAll
	freed chan struct{}   // has room for one: a slot is free

	mu      sync.Mutex
	free    int
	waiting int     // messages without a slot
	idle    []*Slot // of messages that wait and have one
	back    []*Slot // of messages that wait for one, which do no longer wait for anything else
}

// Slot is what a message has of Slots. Its zero value and nil have none, and need none.
type Slot struct {
	of    *Slots
	held  bool
	ready chan struct{} // closed when it gets one again
}

// NewSlots returns n slots for messages whose waits end with a context.
func NewSlots(waits context.Context, n int) *Slots {
	return &Slots{waits: waits, freed: make(chan struct{}, 1), free: n}
}

// Freed receives a value when Take may succeed again.
func (s *Slots) Freed() <-chan struct{} { return s.freed }

// Take returns a slot for a new message, or nil if there is none.
func (s *Slots) Take() *Slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == 0 {
		return nil
	}
	s.free--
	return &Slot{of: s, held: true}
}

// pass gives a slot to the next that needs one.
func (s *Slots) pass() {
	if len(s.back) > 0 {
		next := s.back[0]
		s.back = s.back[1:]
		s.waiting--
		next.held = true
		close(next.ready)
		return
	}
	s.free++
	select {
	case s.freed <- struct{}{}:
	default:
	}
}

// Done says that the message is out of the way: its outcome was received.
func (s *Slot) Done() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.held {
		s.of.pass()
	} else {
		s.of.waiting--
	}
}

// park begins a wait.
func (s *Slot) park() {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	switch {
	case !s.held:
	case s.of.waiting < MaxWaiting || len(s.of.back) > 0:
		s.held = false
		s.of.waiting++
		s.of.pass()
	case !slices.Contains(s.of.idle, s):
		s.of.idle = append(s.of.idle, s)
	}
}

// resume ends a wait: the message has a slot again, unless the context ends before.
func (s *Slot) resume(ctx context.Context) error {
	if s == nil || !s.lacks() {
		return nil
	}
	select {
	case <-s.ready:
		return nil
	case <-ctx.Done():
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		s.of.back = slices.DeleteFunc(s.of.back, func(other *Slot) bool { return other == s })
		return ctx.Err()
	}
}

// lacks takes a slot if there is one, and otherwise queues for one.
func (s *Slot) lacks() bool {
	all := s.of
	all.mu.Lock()
	defer all.mu.Unlock()
	switch {
	case s.held:
		all.idle = slices.DeleteFunc(all.idle, func(other *Slot) bool { return other == s })
	case all.free > 0:
		all.free--
		all.waiting--
		s.held = true
	case len(all.idle) > 0: // one that waits changes places with it
		all.idle[0].held, s.held = false, true
		all.idle = all.idle[1:]
	default:
		s.ready = make(chan struct{})
		all.back = append(all.back, s)
		return true
	}
	return false
}
