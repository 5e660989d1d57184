package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// A Store remembers which events were handled (see [WithStore]). A [MemoryStore] serves one process, package webhook/sqlstore several.
// messagingtest.TestStore checks a store of your own. A Store is called from many goroutines at once.
//
// A key has up to 100 characters: letters, digits, and dots within. It holds no secret, number or text.
type Store interface {
	// Once calls handle unless key was handled before, and remembers the key if handle returns nil.
	// It returns ErrInProgress while another call handles the same key, or waits for that call as long as the context lasts. It does
	// not wait for calls with other keys.
	//
	// It returns nil if the key was handled before. It returns the error of handle, and then forgets the key. After any
	// other error the service is asked to call again, so a store that cannot record that an event was handled must return an
	// error. The context keeps the values of the request's, and ends with the handler timeout.
	Once(ctx context.Context, key string, handle func(context.Context) error) error
}

// ErrInProgress means that another call is handling the same event. The service is asked to call again.
var ErrInProgress = errors.New("webhook: the event is being handled")

// MemoryStore is a [Store] in the memory of one process. It forgets all events when the process ends, and the oldest ones when it is full. If
// the service calls again, a forgotten event is handled again; use package webhook/sqlstore if that must not happen.
type MemoryStore struct {
	// Lease is how long one call may handle an event before another may take it over. NewMemoryStore sets one minute. Change it only before
	// the store is used, and keep it above WithHandlerTimeout.
	Lease time.Duration

	capacity int
	remember time.Duration

	mu      sync.Mutex
	events  map[string]*claim
	handled []*claim // of the events that were handled, the oldest first
}

// claim is the right of one call to handle an event, and then the record that it was handled. It is void when the store has another
// claim for the event.
type claim struct {
	key     string
	until   time.Time // the end of the lease, or of remembering
	handled bool
}

// NewMemoryStore returns a store that remembers up to capacity handled events, each for the given time. When it is full it
// forgets the oldest. Events in progress do not count and are never evicted. An event takes about 200 bytes. Both arguments must be
// positive, or [WithStore] is an error. The capacity has no other bound, and is not allocated in advance.
func NewMemoryStore(capacity int, remember time.Duration) *MemoryStore {
	return &MemoryStore{Lease: time.Minute, capacity: capacity, remember: remember}
}

func (s *MemoryStore) isValid() bool {
	return s.capacity > 0 && s.remember > 0 && s.Lease > 0
}

// Once implements [Store]. A panic of handle counts as an error. A call whose lease has ended cannot give back the claim of
// the call that took over; if it ends well, the event counts as handled.
func (s *MemoryStore) Once(ctx context.Context, key string, handle func(context.Context) error) error {
	c, err := s.claim(key)
	if c == nil {
		return err
	}
	done := false
	defer func() { s.settle(c, done) }() // even if handle panics or ends its goroutine
	err = handle(ctx)
	done = err == nil
	return err
}

// claim returns a claim. It is nil if the event was handled or, with ErrInProgress, is being handled.
func (s *MemoryStore) claim(key string) (*claim, error) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for range 2 { // each claim adds at most one event, so two are enough for the store to shrink
		if len(s.handled) > 0 && !now.Before(s.handled[0].until) {
			s.forgetOldest()
		}
	}
	if known := s.events[key]; known != nil && now.Before(known.until) {
		if known.handled {
			return nil, nil
		}
		return nil, ErrInProgress
	}
	if s.events == nil {
		s.events = map[string]*claim{}
	}
	c := &claim{key: key, until: now.Add(s.Lease)}
	s.events[key] = c
	return c, nil
}

// settle ends a claim. An event that was handled stays handled, even if another call has taken over.
func (s *MemoryStore) settle(c *claim, done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !done {
		s.forget(c)
		return
	}
	now := time.Now()
	if !now.Before(c.until) {
		s.events[c.key] = c
	}
	c.handled = true
	c.until = now.Add(s.remember)
	s.handled = append(s.handled, c)
	if len(s.handled) > s.capacity {
		s.forgetOldest()
	}
}

func (s *MemoryStore) forgetOldest() {
	s.forget(s.handled[0])
	s.handled[0] = nil
	s.handled = s.handled[1:]
}

// forget forgets a claim, unless it is void.
func (s *MemoryStore) forget(c *claim) {
	if s.events[c.key] == c {
		delete(s.events, c.key)
	}
}

// duplicateKey returns a duplicate key: the callback, and a hash of the known fields of an event and of its JSON. If the event does not
// identify itself, the hash also covers the parameters.
func duplicateKey(callback Callback, identifiesItself bool, raw json.RawMessage, params Params, known ...string) string {
	b := make([]byte, 0, 512)
	add := func(part string) {
		b = binary.AppendUvarint(b, uint64(len(part))) // so that no two lists of parts look the same
		b = append(b, part...)
	}
	if identifiesItself {
		add("known")
		params = nil
	}
	for _, value := range known {
		add(value)
	}
	b = binary.AppendUvarint(b, uint64(len(raw)))
	b = append(b, raw...)
	for _, p := range params {
		add(p.Name)
		add(p.Value)
	}
	sum := sha256.Sum256(b)
	key := append(b[:0], callback...)
	key = append(key, '.')
	return string(hex.AppendEncode(key, sum[:16]))
}

// isPrecise reports whether a time distinguishes two events of a day. At second 0 it may be a time without seconds.
func isPrecise(at time.Time) bool {
	hasSeconds := at.Second() != 0 || at.Nanosecond() != 0
	return hasSeconds && at.Unix() > 0
}
