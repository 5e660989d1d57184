package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// shared is a process's view of a value of the bucket Limits, which all workers share. It changes only by compare-and-swap.
type shared[Value any] struct {
	outbox *Outbox
	key    string

	mu       sync.Mutex
	value    Value
	revision uint64
	readAt   time.Time
}

// last returns the value that was read or written last.
func (s *shared[Value]) last() Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value
}

// read returns the value and its revision, as they were at most maxAge ago. Both are zero if there is none.
func (s *shared[Value]) read(ctx context.Context, maxAge time.Duration) (value Value, revision uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.readAt) < maxAge {
		return s.value, s.revision, nil
	}
	var found jetstream.KeyValueEntry
	_, err = s.outbox.engine.Retry(ctx, func(ctx context.Context) (err error) {
		found, err = s.outbox.limits.Get(ctx, s.key)
		return err
	})
	switch {
	case err == nil:
		revision, err = found.Revision(), json.Unmarshal(found.Value(), &value)
	case errors.Is(err, jetstream.ErrKeyNotFound):
		err = nil
	}
	if err != nil {
		return value, 0, fmt.Errorf("outbox: reading %s: %w", s.key, err)
	}
	s.value, s.revision, s.readAt = value, revision, time.Now()
	return value, revision, nil
}

// swap replaces the value of a revision. It reports false if the value has another revision by now.
func (s *shared[Value]) swap(ctx context.Context, value Value, revision uint64) (ok bool, err error) {
	encoded, err := json.Marshal(value)
	next := uint64(0)
	if err == nil {
		_, err = s.outbox.engine.Retry(ctx, func(ctx context.Context) (err error) {
			next, err = s.outbox.limits.Update(ctx, s.key, encoded, revision)
			return err
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.value, s.revision, s.readAt = value, next, time.Now()
		return true, nil
	}
	s.readAt = time.Time{}
	if engine.IsConflict(err) {
		return false, nil
	}
	return false, fmt.Errorf("outbox: writing %s: %w", s.key, err)
}
