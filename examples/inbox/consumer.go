package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Consumer says how events are handled. A zero field has its default.
type Consumer struct {
	// Name names the consumer. Processes with the same name share the events. A new name begins with the oldest event.
	Name string
	// HandleTimeout is how long a handler may take, 30 s by default. Then the event goes to another process.
	HandleTimeout time.Duration
	// MaxTries is how often an event comes before it is parked, 20 by default: about an hour.
	MaxTries int
}

// Handle calls handle for each event, one after the other, until ctx ends, and then returns nil. An event for which it returns nil
// is done. Another one comes again, after a second at first and five minutes at most, and others come in the meantime. After
// MaxTries it is parked in the stream INBOX_PARKED, and so is what is not an event.
func (s *Stream) Handle(ctx context.Context, c Consumer, handle func(context.Context, Event) error) error {
	c.HandleTimeout, c.MaxTries = cmp.Or(c.HandleTimeout, 30*time.Second), cmp.Or(c.MaxTries, 20)
	consumer, err := s.js.CreateOrUpdateConsumer(ctx, eventStream, jetstream.ConsumerConfig{
		Durable: c.Name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.HandleTimeout, MaxDeliver: -1, MaxAckPending: 50_000,
	})
	if err != nil {
		return fmt.Errorf("inbox: consumer %s: %w", c.Name, err)
	}
	for ctx.Err() == nil {
		batch, err := consumer.Fetch(1, jetstream.FetchMaxWait(500*time.Millisecond))
		if err == nil {
			for message := range batch.Messages() {
				s.handleOne(context.WithoutCancel(ctx), c, message, handle) // an event that was taken is completed
			}
			err = batch.Error()
		}
		if err != nil {
			s.log.WarnContext(ctx, "fetching events failed", slog.Any("error", err))
			select {
			case <-time.After(500 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// handleOne handles a message of the stream. If it is not acknowledged, it comes again.
func (s *Stream) handleOne(ctx context.Context, c Consumer, message jetstream.Msg, handle func(context.Context, Event) error) {
	ctx, done := context.WithTimeout(ctx, c.HandleTimeout)
	defer done()
	metadata, err := message.Metadata()
	if err != nil {
		return // it is not of the stream
	}
	var event Event
	if err = json.Unmarshal(message.Data(), &event); err == nil {
		event.Sequence = metadata.Sequence.Stream
		err = handle(ctx, event)
	}
	tries := metadata.NumDelivered
	if err != nil && tries >= uint64(c.MaxTries) { //nolint:gosec // it is positive
		s.log.LogAttrs(ctx, slog.LevelError, "an event is parked", slog.Uint64("sequence", metadata.Sequence.Stream))
		// Under one subject, so that a process that dies here parks it once.
		_, err = s.js.Publish(ctx, fmt.Sprintf("inbox_parked.%s-%d", c.Name, metadata.Sequence.Stream), message.Data(),
			jetstream.WithExpectLastSequencePerSubject(0))
		if isConflict(err) {
			err = nil
		}
	}
	if err == nil {
		err = message.DoubleAck(ctx)
	} else {
		wait := min(time.Second<<min(tries-1, 10), 5*time.Minute)
		s.log.LogAttrs(ctx, slog.LevelWarn, "an event is not handled", slog.String("key", event.Key), slog.Duration("again_after", wait))
		err = message.NakWithDelay(wait)
	}
	if err != nil {
		s.log.WarnContext(ctx, "not acknowledged", slog.Any("error", err))
	}
}
