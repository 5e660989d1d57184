package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// audience is who waits for changes: each has a bound of its own.
type audience int

const (
	ofPages    audience = iota // open streams of events
	ofPrograms                 // waiting requests
)

const (
	maxPages    = 200
	maxPrograms = 2000
	retryAfter  = "1"                    // second, when there are too many
	livePause   = 100 * time.Millisecond // between two events
	liveBeat    = 15 * time.Second       // so that a proxy does not end an idle stream
)

// hub notifies pages and waiting programs of changes. What changes while one is busy is one event.
type hub struct {
	mu      sync.Mutex
	waiting [2]chan struct{} // by audience, as full as there are waiters
	beat
}

// A beat is what a waiter has seen of the hub.
type beat struct {
	next     chan struct{} // closed by the next change
	messages int           // that came, ever
	latest   string        // what to say of the newest
	closed   bool
}

func newHub() *hub {
	waiting := [...]chan struct{}{make(chan struct{}, maxPages), make(chan struct{}, maxPrograms)}
	return &hub{waiting: waiting, beat: beat{next: make(chan struct{})}}
}

// join counts a waiter in. The caller calls leave.
func (h *hub) join(who audience) error {
	select {
	case h.waiting[who] <- struct{}{}:
		return nil
	default:
		return errBusy
	}
}

func (h *hub) leave(who audience) { <-h.waiting[who] }

// now returns the latest beat.
func (h *hub) now() beat {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.beat
}

// isWatched reports whether somebody waits for changes.
func (h *hub) isWatched() bool { return len(h.waiting[ofPages])+len(h.waiting[ofPrograms]) > 0 }

// notify says that something changed, with what to say if it is a message that came.
func (h *hub) notify(say string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if say != "" {
		h.messages++
		h.latest = say
	}
	close(h.next)
	h.next = make(chan struct{})
}

// close ends all streams.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.notify("")
}

// until calls try, holding mu, until it reports true, whenever something has changed, for so long at most. It reports what try did.
func (s *Sandbox) until(ctx context.Context, wait time.Duration, try func() bool) (bool, error) {
	locked := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return try()
	}
	if wait == 0 {
		return locked(), nil
	}
	if err := s.live.join(ofPrograms); err != nil {
		return false, err
	}
	defer s.live.leave(ofPrograms)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for seen := s.live.now(); !locked(); seen = s.live.now() {
		if seen.closed {
			return false, nil
		}
		select {
		case <-seen.next:
		case <-ctx.Done():
			return false, nil
		}
	}
	return true, nil
}

// stream sends events to a page until it leaves.
func (s *Sandbox) stream(w http.ResponseWriter, r *http.Request) {
	if err := s.live.join(ofPages); err != nil {
		failed(w, err)
		return
	}
	defer s.live.leave(ofPages)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	conn := http.NewResponseController(w)
	send := func(text string) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(liveBeat))
		_, err := fmt.Fprint(w, text)
		return err == nil && conn.Flush() == nil
	}
	seen := s.live.now()
	for open := send("retry: 1000\n\n"); open && !seen.closed; {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(liveBeat):
			open = send(": still here\n\n")
		case <-seen.next:
			last := seen.messages
			seen = s.live.now()
			say := ""
			if came := seen.messages - last; came == 1 {
				say = seen.latest
			} else if came > 1 {
				say = fmt.Sprintf("%d new messages", came)
			}
			event, _ := json.Marshal(map[string]any{"messages": seen.messages - last, "say": say}) // plain values
			open = send("data: " + string(event) + "\n\n")
			time.Sleep(livePause)
		}
	}
}
