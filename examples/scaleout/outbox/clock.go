package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// clockKey is the key that is written to read the engine's clock.
const clockKey = "clock"

// clock is the engine's clock. The clocks of the machines that run workers decide nothing.
type clock struct {
	bucket jetstream.KeyValue
	log    *slog.Logger
}

// now returns a time of the engine that has passed when now returns. A node that lags behind makes it earlier, never later.
func (c clock) now(ctx context.Context) (time.Time, error) {
	var now time.Time
	_, err := retry(ctx, c.log, func(ctx context.Context) error {
		if _, err := c.bucket.Put(ctx, clockKey, nil); err != nil {
			return err
		}
		written, err := c.bucket.Get(ctx, clockKey)
		if err != nil {
			return err
		}
		now = written.Created()
		return nil
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("outbox: reading the engine's clock: %w", err)
	}
	return now, nil
}
