package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

const (
	// clockTTL is how long a reading of the engine's clock is relied on.
	clockTTL = 10 * time.Second
	// goodReading is the duration of a reading that is precise enough.
	goodReading = 20 * time.Millisecond
)

// clock is the engine's clock, read now and then, and this machine's monotonic clock in between. The time of day of the machines that run
// workers decides nothing.
type clock struct {
	engine  *engine.Connection
	log     *slog.Logger
	elapsed func() time.Duration // since some moment, monotonic

	turn    chan struct{} // its one element guards the reading; unlike a mutex, waiting for it can be canceled
	reading reading
}

// reading is a time of the engine, and when it was asked for and received.
type reading struct {
	engine         time.Time
	sent, received time.Duration
}

func newClock(c *engine.Connection, log *slog.Logger) *clock {
	began := time.Now()
	k := &clock{engine: c, log: log, elapsed: func() time.Duration { return time.Since(began) }, turn: make(chan struct{}, 1)}
	k.turn <- struct{}{}
	return k
}

// read returns a recent reading.
func (c *clock) read(ctx context.Context) (reading, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return reading{}, ctx.Err()
	}
	age := c.elapsed() - c.reading.received
	if !c.reading.engine.IsZero() && age >= 0 && age < clockTTL {
		return c.reading, nil
	}
	const tries = 5
	var best reading
	for try := range tries {
		var stream jetstream.Stream
		r := reading{}
		_, err := retry(ctx, c.log, func(ctx context.Context) (err error) {
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
		if best.received-best.sent < goodReading {
			break
		}
	}
	c.reading = best
	return best, nil
}

// now returns a time of the engine that has passed.
func (c *clock) now(ctx context.Context) (time.Time, error) {
	r, err := c.read(ctx)
	return r.engine.Add(c.elapsed() - r.received), err
}

// window returns when, by the elapsed time, the engine's clock is certainly between t and t+length. It is empty if the reading is not
// precise enough.
func (r reading) window(t time.Time, length time.Duration) permit {
	return permit{from: r.received + t.Sub(r.engine), until: r.sent + t.Add(length).Sub(r.engine)}
}
