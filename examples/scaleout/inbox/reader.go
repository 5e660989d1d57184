package inbox

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
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
	// HandleTimeout is how long an event can be held before it goes to another process of the same name. The default is a minute. A
	// process holds up to sixteen events, so the time must suffice for sixteen.
	HandleTimeout time.Duration
	// Logger receives a record for each event that was not handled, without numbers and texts. Nil discards them.
	Logger *slog.Logger
}

const (
	maxPending = 16
	minDelay   = time.Second
	maxDelay   = 5 * time.Minute
)

// Read calls handle for each event, one after the other, until ctx ends, and then returns nil. An event for which handle returns nil is done
// for this name. An event for which it returns an error comes again, after one second at first and five minutes at most; others come
// in the meantime. Data that is not an event is logged and skipped.
//
// Each event comes at least once. It can come again after a process was killed or was too slow, so handle must tolerate repetition;
// Event.Sequence is the same each time. Events come in the order in which they were stored, except for repetitions and events that
// another process holds.
func Read(ctx context.Context, c *engine.Connection, options ReadOptions, handle func(context.Context, Event) error) error {
	if options.HandleTimeout == 0 {
		options.HandleTimeout = time.Minute
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	config := jetstream.ConsumerConfig{
		Durable: options.Name, AckPolicy: jetstream.AckExplicitPolicy, AckWait: options.HandleTimeout, MaxDeliver: -1,
	}
	for _, kind := range options.Kinds {
		config.FilterSubjects = append(config.FilterSubjects, engine.InboxSubject+"."+string(kind)+".>")
	}
	consumer, err := c.JetStream.CreateOrUpdateConsumer(ctx, engine.Inbox, config)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("inbox: reader %s: %w", options.Name, err)
	}
	// While the engine is away no heartbeat arrives. Reading continues when it is back.
	messages, err := consumer.Messages(jetstream.PullMaxMessages(maxPending), jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return fmt.Errorf("inbox: reader %s: %w", options.Name, err)
	}
	defer messages.Stop()
	for {
		message, err := messages.Next(jetstream.NextContext(ctx))
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = message.Nak()
			}
			returnPending(messages)
			return nil
		case err != nil:
			return fmt.Errorf("inbox: reader %s: %w", options.Name, err)
		}
		options.handleMessage(ctx, message, handle)
	}
}

// returnPending returns the events that were not handled, so that another process gets them at once. If the engine does not respond, they
// are redelivered after HandleTimeout.
func returnPending(messages jetstream.MessagesContext) {
	messages.Drain()
	for {
		message, err := messages.Next(jetstream.NextMaxWait(time.Second))
		if err != nil {
			return
		}
		_ = message.Nak()
	}
}

// handleMessage handles one message of the stream. If an acknowledgement fails, the event comes again.
func (r ReadOptions) handleMessage(ctx context.Context, message jetstream.Msg, handle func(context.Context, Event) error) {
	var event Event
	metadata, err := message.Metadata()
	if err == nil {
		err = json.Unmarshal(message.Data(), &event)
		event.Sequence = metadata.Sequence.Stream
	}
	var ackErr error
	switch {
	case err != nil:
		r.Logger.LogAttrs(ctx, slog.LevelError, "not an event", slog.Uint64("sequence", event.Sequence))
		ackErr = message.TermWithReason("not an event")
	case handle(ctx, event) != nil:
		pause := min(minDelay<<min(metadata.NumDelivered-1, 10), maxDelay)
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "not handled", slog.Any("event", event), slog.Duration("retry_after", pause))
		ackErr = message.NakWithDelay(pause)
	default:
		ackErr = message.Ack()
	}
	if ackErr != nil {
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "not acknowledged", slog.Any("event", event), slog.Any("error", ackErr))
	}
}
