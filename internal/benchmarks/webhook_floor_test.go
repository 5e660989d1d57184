package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// A handlerByHand is a handler as a careful person writes it with net/url alone. No cache keeps its response, and the function that handles an
// event has 30 seconds even if the caller hangs up.
type handlerByHand struct {
	secret *[sha256.Size]byte // its hash, so that a comparison does not reveal the length
	seen   *seenIDs
	handle func(ctx context.Context, from, to, text, at string) error
}

// ServeHTTP implements http.Handler.
func (h *handlerByHand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	values, err := url.ParseQuery(r.URL.RawQuery)
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case !h.isSecret(values.Get("key")):
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 30*time.Second)
	defer cancel()
	err = h.seen.once(key(values), func() error {
		return h.handle(ctx, values.Get("from"), values.Get("to"), values.Get("message"), values.Get("timestamp"))
	})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}

func (h *handlerByHand) isSecret(value string) bool {
	hash := sha256.Sum256([]byte(value))
	return subtle.ConstantTimeCompare(hash[:], h.secret[:]) == 1
}

// key returns a key for an event: a hash of all its values, which reveals no number and no text.
func key(values url.Values) string {
	b := make([]byte, 0, 512)
	for _, name := range [...]string{"id", "reference", "from", "to", "message", "operator", "keyword", "timestamp"} {
		value := values.Get(name)
		b = binary.AppendUvarint(b, uint64(len(value)))
		b = append(b, value...)
	}
	sum := sha256.Sum256(b)
	return "sms." + hex.EncodeToString(sum[:16])
}

// seenIDs has the keys of the latest events, handled or in progress.
type seenIDs struct {
	mu      sync.Mutex
	isDone  map[string]bool // false while a call handles the event
	handled []string        // the oldest first
}

var errInProgress = errors.New("another call handles the event")

// once calls handle unless an event with the key was handled.
func (s *seenIDs) once(id string, handle func() error) error {
	s.mu.Lock()
	isDone, isKnown := s.isDone[id]
	if !isKnown {
		s.isDone[id] = false
	}
	s.mu.Unlock()
	switch {
	case isDone:
		return nil
	case isKnown:
		return errInProgress
	}
	err := handle()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.isDone, id)
		return err
	}
	s.isDone[id] = true
	s.handled = append(s.handled, id)
	if len(s.handled) > storeCapacity {
		delete(s.isDone, s.handled[0])
		s.handled = s.handled[1:]
	}
	return nil
}

func handleByHand(_ context.Context, from, _, text, _ string) error {
	return requireEvent(from != "" && text != "")
}
