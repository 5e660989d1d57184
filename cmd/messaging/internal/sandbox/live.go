package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// aspect is what a page has to show anew.
type aspect int

const (
	aboutMessages aspect = 1 << iota
	aboutTraffic
	aboutFaults
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

// hub notifies pages and waiting programs of changes. What changes while a subscriber is busy is one event.
type hub struct {
	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
	count       [2]int // by audience
	closed      bool
}

// A subscriber collects what it has not sent yet.
type subscriber struct {
	who      audience
	wake     chan struct{} // of capacity 1
	aspects  aspect
	messages int
	latest   string // what to say of the newest message
}

func newHub() *hub { return &hub{subscribers: map[*subscriber]struct{}{}} }

var errBusy = errors.New("too many pages are open or programs wait: come back in a second")

func (h *hub) subscribe(who audience) (*subscriber, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.count[who] >= [...]int{maxPages, maxPrograms}[who] {
		return nil, errBusy
	}
	h.count[who]++
	sub := &subscriber{who: who, wake: make(chan struct{}, 1)}
	h.subscribers[sub] = struct{}{}
	return sub, nil
}

func (h *hub) leave(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count[sub.who]--
	delete(h.subscribers, sub)
}

// isWatched reports whether somebody waits for changes.
func (h *hub) isWatched() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.subscribers) > 0
}

// notify says that something changed.
func (h *hub) notify(what aspect) { h.tell(what, "") }

// announce says that a message came.
func (h *hub) announce(text string) { h.tell(aboutMessages, text) }

func (h *hub) tell(what aspect, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for sub := range h.subscribers {
		sub.aspects |= what
		if text != "" {
			sub.messages++
			sub.latest = text
		}
		select {
		case sub.wake <- struct{}{}:
		default: // it will see this too
		}
	}
}

// take returns what a subscriber has not sent, and empties it.
func (h *hub) take(sub *subscriber) (what aspect, say string, open bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	what, say = sub.aspects, sub.latest
	if sub.messages > 1 {
		say = fmt.Sprintf("%d new messages", sub.messages)
	}
	sub.aspects, sub.messages, sub.latest = 0, 0, ""
	return what, say, !h.closed
}

// close ends all streams.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.tell(0, "")
}

// stream sends events to a page until it leaves.
func (s *Sandbox) stream(w http.ResponseWriter, r *http.Request) {
	sub, err := s.live.subscribe(ofPages)
	if err != nil {
		failed(w, err)
		return
	}
	defer s.live.leave(sub)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	conn := http.NewResponseController(w)
	send := func(text string) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(liveBeat))
		_, err := fmt.Fprint(w, text)
		return err == nil && conn.Flush() == nil
	}
	open := send("retry: 1000\n\n")
	for open {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(liveBeat):
			open = send(": still here\n\n")
		case <-sub.wake:
			what, say, stays := s.live.take(sub)
			if !stays {
				return
			}
			event, _ := json.Marshal(map[string]any{ // plain values
				"messages": what&aboutMessages != 0, "traffic": what&aboutTraffic != 0, "faults": what&aboutFaults != 0, "say": say,
			})
			open = send("data: " + string(event) + "\n\n")
			time.Sleep(livePause)
		}
	}
}
