package inbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// ReadOptions configures [Read].
type ReadOptions struct {
	// Name names the reader. Processes with the same name share the events: each event goes to one of them. A new name starts with the
	// oldest stored event.
	Name string
	// Kinds lists the kinds to read. If it is empty, all kinds are read.
	Kinds []Kind
	// HandleTimeout is how long an event stays with a process that was killed or has lost the engine. Then it goes to another process of
	// the same name. The default is a minute.
	HandleTimeout time.Duration
	// MaxTries is how many times an event comes before it is parked, 20 by default: about an hour.
	MaxTries int
}

const (
	// maxPending is how many events can be held or wait to come again. The engine delivers others only below that.
	maxPending = 50_000
	minDelay   = time.Second
	maxDelay   = 5 * time.Minute
)

// Read calls handle for each event, one after the other, until ctx ends, and then returns nil. An event for which handle returns nil is done
// for this name. An event for which it returns an error comes again, after one second at first and five minutes at most; others come
// in the meantime. After MaxTries it is parked; see [ReadParked]. So is data that is not an event, or one of a newer version.
//
// Each event comes at least once. It can come again after a process was killed or has lost the engine, so handle must tolerate repetition;
// Event.Sequence is the same each time. Events come in the order in which they were stored, except for repetitions and events that
// another process holds.
func Read(ctx context.Context, c *engine.Connection, options ReadOptions, handle func(context.Context, Event) error) error {
	options.HandleTimeout, options.MaxTries = cmp.Or(options.HandleTimeout, time.Minute), cmp.Or(options.MaxTries, 20)
	config := jetstream.ConsumerConfig{
		Durable: c.Name(options.Name), AckPolicy: jetstream.AckExplicitPolicy, AckWait: options.HandleTimeout, MaxDeliver: -1, MaxAckPending: maxPending,
	}
	for _, kind := range options.Kinds {
		config.FilterSubjects = append(config.FilterSubjects, c.InboxSubject(string(kind), ">"))
	}
	var consumer jetstream.Consumer
	parked, err := c.Bucket(ctx, engine.Parked)
	if err == nil {
		consumer, err = c.JetStream.CreateOrUpdateConsumer(ctx, c.Name(engine.Inbox), config)
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the caller has ended it
	}
	if err != nil {
		return fmt.Errorf("inbox: reader %s: %w", options.Name, err)
	}
	heartbeat := options.HandleTimeout / 4
	c.Pull(ctx, consumer, 1, heartbeat, func(message jetstream.Msg) {
		if ctx.Err() != nil {
			_ = message.Nak() // another process gets it at once
			return
		}
		options.handleMessage(ctx, c.Log, parked, message, handle)
	})
	return nil
}

// handleMessage handles one message of the stream. If an acknowledgement fails, the event comes again.
func (r ReadOptions) handleMessage(
	ctx context.Context, log *slog.Logger, parked jetstream.KeyValue, message jetstream.Msg, handle func(context.Context, Event) error,
) {
	metadata, err := message.Metadata()
	if err != nil {
		log.LogAttrs(ctx, slog.LevelError, "not a message of the stream", slog.Any("error", err))
		return
	}
	event, err := newStoredEvent(message.Data(), metadata.Sequence.Stream)
	if err == nil {
		err = handle(ctx, event)
	}
	log = log.With(slog.Any("event", event))
	if err != nil && metadata.NumDelivered >= uint64(r.MaxTries) { //nolint:gosec // it is positive
		log.LogAttrs(ctx, slog.LevelError, "not handled, and parked", slog.String("alarm", "event_parked"))
		if _, err = parked.Put(ctx, fmt.Sprintf("%s.%d", r.Name, event.Sequence), message.Data()); err != nil {
			log.LogAttrs(ctx, slog.LevelError, "not parked", slog.Any("error", err))
		}
	}
	if err == nil { // handled or parked
		err = message.Ack()
	} else {
		pause := min(minDelay<<min(metadata.NumDelivered-1, 10), maxDelay)
		log.LogAttrs(ctx, slog.LevelWarn, "not handled", slog.Duration("retry_after", pause))
		err = message.NakWithDelay(pause)
	}
	if err != nil {
		log.LogAttrs(ctx, slog.LevelWarn, "not acknowledged", slog.Any("error", err))
	}
}

func newStoredEvent(data []byte, sequence uint64) (Event, error) {
	var event Event
	err := json.Unmarshal(data, &event)
	event.Sequence = sequence
	return event, err
}

// ReadParked calls handle for each event that the reader of a name has parked. An event for which handle returns nil is done. It returns how
// many are left. Parked events are kept as long as events.
func ReadParked(ctx context.Context, c *engine.Connection, name string, handle func(context.Context, Event) error) (left int, err error) {
	parked, err := c.Bucket(ctx, engine.Parked)
	if err != nil {
		return 0, err
	}
	keys, err := parked.ListKeysFiltered(ctx, name+".*")
	if err != nil {
		return 0, fmt.Errorf("inbox: parked events: %w", err)
	}
	defer func() { _ = keys.Stop() }()
	for key := range keys.Keys() {
		entry, err := parked.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue
		}
		if err != nil {
			return left, fmt.Errorf("inbox: parked events: %w", err)
		}
		sequence, _ := strconv.ParseUint(key[len(name)+1:], 10, 64) // 0 if an operator made the key
		event, err := newStoredEvent(entry.Value(), sequence)
		if err != nil || handle(ctx, event) != nil {
			left++
			continue
		}
		if err = parked.Purge(ctx, key); err != nil {
			return left, fmt.Errorf("inbox: parked events: %w", err)
		}
	}
	return left, nil
}
