package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	maxPages    = 200  // open streams of events
	maxPrograms = 2000 // waiting requests
)

// hub notifies pages and waiting programs of changes.
type hub struct {
	pages    chan struct{} // one element for each open page
	programs chan struct{} // one element for each waiting program

	mu    sync.Mutex // guards state
	state hubState
}

// hubState is the state of a hub until the next change.
type hubState struct {
	changed      chan struct{} // closed by the next change
	messages     int           // how many messages there have been
	announcement string        // of the newest message, for screen readers
	closed       bool
}

func newHub() *hub {
	return &hub{
		pages:    make(chan struct{}, maxPages),
		programs: make(chan struct{}, maxPrograms),
		state:    hubState{changed: make(chan struct{})},
	}
}

// join adds a waiter. It fails if there are too many.
func join(waiters chan struct{}) error {
	select {
	case waiters <- struct{}{}:
		return nil
	default:
		return errBusy
	}
}

func leave(waiters chan struct{}) { <-waiters }

func (h *hub) current() hubState {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// isWatched reports whether a page or a program waits for changes.
func (h *hub) isWatched() bool { return len(h.pages)+len(h.programs) > 0 }

// notify reports a change. announcement is not empty if the change is a new message.
func (h *hub) notify(announcement string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if announcement != "" {
		h.state.messages++
		h.state.announcement = announcement
	}
	close(h.state.changed)
	h.state.changed = make(chan struct{})
}

// close ends all streams.
func (h *hub) close() {
	h.mu.Lock()
	h.state.closed = true
	h.mu.Unlock()
	h.notify("")
}

// waitUntil calls try with the state now and after each change, until try reports true or the time is up. It reports the result of try.
func (s *Sandbox) waitUntil(ctx context.Context, wait time.Duration, try func(st *sandboxState) bool) (bool, error) {
	tryLocked := func() bool {
		st := s.lock()
		defer st.unlock()
		return try(st)
	}
	if wait == 0 {
		return tryLocked(), nil
	}
	if err := join(s.live.programs); err != nil {
		return false, err
	}
	defer leave(s.live.programs)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		seen := s.live.current()
		if tryLocked() {
			return true, nil
		}
		if seen.closed {
			return false, nil
		}
		select {
		case <-seen.changed:
		case <-ctx.Done():
			return false, nil
		}
	}
}

// stream sends an event to a page for each change, or for several changes in a short time.
func (s *Sandbox) stream(w http.ResponseWriter, r *http.Request) {
	const (
		interval = 100 * time.Millisecond // between two events
		beat     = 15 * time.Second       // keeps an idle stream open in proxies
	)
	if err := join(s.live.pages); err != nil {
		writeError(w, err)
		return
	}
	defer leave(s.live.pages)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	conn := http.NewResponseController(w)
	send := func(text string) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(beat))
		_, err := fmt.Fprint(w, text)
		return err == nil && conn.Flush() == nil
	}
	seen := s.live.current()
	for isOpen := send("retry: 1000\n\n"); isOpen && !seen.closed; {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(beat):
			isOpen = send(": idle\n\n")
		case <-seen.changed:
			next := s.live.current()
			isOpen = send("data: " + eventBetween(seen, next) + "\n\n")
			seen = next
			time.Sleep(interval)
		}
	}
}

// eventBetween returns the event for the changes between two states.
func eventBetween(before, after hubState) string {
	messages := after.messages - before.messages
	say := ""
	switch {
	case messages == 1:
		say = after.announcement
	case messages > 1:
		say = fmt.Sprintf("%d new messages", messages)
	}
	event, _ := json.Marshal(map[string]any{"messages": messages, "say": say}) // plain values
	return string(event)
}
