package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// shared is a value of the bucket Limits, which all workers share. It changes only by compare-and-swap.
type shared[Value any] struct {
	outbox *Outbox
	key    string
}

// read returns the value and its revision. Both are zero if there is none.
func (s shared[Value]) read(ctx context.Context) (value Value, revision uint64, err error) {
	var found jetstream.KeyValueEntry
	_, err = s.outbox.engine.Retry(ctx, func(ctx context.Context) (err error) {
		found, err = s.outbox.limits.Get(ctx, s.key)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return value, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(found.Value(), &value)
	}
	if err != nil {
		return value, 0, fmt.Errorf("outbox: reading %s: %w", s.key, err)
	}
	return value, found.Revision(), nil
}

// swap replaces the value of a revision, and returns the new revision. It reports false if the value has another revision by now.
func (s shared[Value]) swap(ctx context.Context, value Value, revision uint64) (next uint64, ok bool, err error) {
	encoded, err := json.Marshal(value)
	if err == nil {
		_, err = s.outbox.engine.Retry(ctx, func(ctx context.Context) (err error) {
			next, err = s.outbox.limits.Update(ctx, s.key, encoded, revision)
			return err
		})
	}
	if engine.IsConflict(err) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, fmt.Errorf("outbox: writing %s: %w", s.key, err)
	}
	return next, true, nil
}
