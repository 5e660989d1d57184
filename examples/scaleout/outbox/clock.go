package outbox

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// clock is the engine's clock, read now and then, and this machine's monotonic clock in between. The time of day of the machines that run
// workers decides nothing.
type clock struct {
	engine  *engine.Connection
	elapsed func() time.Duration // since some moment, monotonic

	mu      sync.Mutex
	reading reading
}

// reading is a time of the engine, and when it was asked for and received.
type reading struct {
	engine         time.Time
	sent, received time.Duration
}

func newClock(c *engine.Connection) *clock {
	began := time.Now()
	return &clock{engine: c, elapsed: func() time.Duration { return time.Since(began) }}
}

// read returns a recent reading: the fastest of a few, if none is fast.
func (c *clock) read(ctx context.Context) (reading, error) {
	const validFor, tries, fast = 10 * time.Second, 5, 20 * time.Millisecond
	c.mu.Lock()
	defer c.mu.Unlock()
	age := c.elapsed() - c.reading.received
	if !c.reading.engine.IsZero() && age >= 0 && age < validFor {
		return c.reading, nil
	}
	var best reading
	for try := 0; try == 0 || try < tries && best.received-best.sent >= fast; try++ {
		var stream jetstream.Stream
		var r reading
		_, err := c.engine.Retry(ctx, func(ctx context.Context) (err error) {
			r.sent = c.elapsed()
			stream, err = c.engine.JetStream.Stream(ctx, c.engine.BucketStream(engine.Limits))
			r.received = c.elapsed()
			return err
		})
		if err != nil {
			return reading{}, fmt.Errorf("outbox: reading the engine's clock: %w", err)
		}
		r.engine = stream.CachedInfo().TimeStamp
		if try == 0 || r.received-r.sent < best.received-best.sent {
			best = r
		}
	}
	c.reading = best
	return best, nil
}

// now returns a time of the engine that has passed.
func (c *clock) now(ctx context.Context) (time.Time, error) {
	r, err := c.read(ctx)
	return r.now(c.elapsed()), err
}

func (r reading) now(elapsed time.Duration) time.Time { return r.engine.Add(elapsed - r.received) }

// window returns when, by the elapsed time, the engine's clock is certainly between t and t+length. It is empty if the reading is not
// precise enough.
func (r reading) window(t time.Time, length time.Duration) permit {
	return permit{from: r.received + t.Sub(r.engine), until: r.sent + t.Add(length).Sub(r.engine)}
}
