package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// clockKey is written to be told the time.
const clockKey = "clock"

// clock is the engine's: the clocks of the machines on which workers run decide nothing.
type clock struct {
	bucket jetstream.KeyValue
	log    *slog.Logger
}

// now gives a time of the engine that has passed when it returns. A node that lags behind makes it earlier, never later.
func (c clock) now(ctx context.Context) (time.Time, error) {
	var now time.Time
	_, err := insist(ctx, c.log, func(ctx context.Context) error {
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
		return time.Time{}, fmt.Errorf("outbox: asking the engine for the time: %w", err)
	}
	return now, nil
}
