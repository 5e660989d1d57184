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

// Reading says which events are read, and by whom.
type ReadOptions struct {
	// Name is the reader's. Processes that read under one name share the events: each gets to one of them. A reader of a
	// new name begins with the oldest event that is kept.
	Name string
	// Kinds are the kinds that are read. None means all.
	Kinds []Kind
	// HandleTimeout is how long an event may take before it goes to another process of the same name. Zero means a minute. A process
	// has up to sixteen events waiting, so the time of sixteen counts.
	HandleTimeout time.Duration
	// Logger gets a record for each event that could not be handled, without numbers and texts. Nil means none.
	Logger *slog.Logger
}

const (
	waiting  = 16
	minDelay = time.Second
	maxDelay = 5 * time.Minute
)

// Read calls handle for each event, one after the other, until the context ends; it then returns nil. Where handle returns nil the event
// is done for this name; where it returns an error the event comes again, after a second at first and five minutes at last, and
// others go on in the meantime. What is no event is logged and left out.
//
// Each event comes at least once, and may come again where a process was killed or has taken too long. So handle has to be one that
// may be called twice for an event: Event.Sequence is the same each time. Events are in the order in which they were stored, but for
// those that come again and those that another process has.
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
	if err != nil {
		return fmt.Errorf("inbox: the reader %s: %w", options.Name, err)
	}
	// While the engine is away no heartbeat comes, and reading goes on when it is there again.
	messages, err := consumer.Messages(jetstream.PullMaxMessages(waiting), jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return fmt.Errorf("inbox: the reader %s: %w", options.Name, err)
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
			return fmt.Errorf("inbox: the reader %s: %w", options.Name, err)
		}
		options.handleMessage(ctx, message, handle)
	}
}

// giveBack lets the events that were waiting here go to others at once. If the engine does not answer they go when their time is over.
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

// one handles a message of the stream. That it could not tell the engine so changes nothing but that the event comes again.
func (r ReadOptions) handleMessage(ctx context.Context, message jetstream.Msg, handle func(context.Context, Event) error) {
	var event Event
	about, err := message.Metadata()
	if err == nil {
		err = json.Unmarshal(message.Data(), &event)
		event.Sequence = about.Sequence.Stream
	}
	var told error
	switch {
	case err != nil:
		r.Logger.LogAttrs(ctx, slog.LevelError, "not an event", slog.Uint64("sequence", event.Sequence))
		told = message.TermWithReason("not an event")
	case handle(ctx, event) != nil:
		pause := min(minDelay<<min(about.NumDelivered-1, 10), maxDelay)
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "not handled", slog.Any("event", event), slog.Duration("again_after", pause))
		told = message.NakWithDelay(pause)
	default:
		told = message.Ack()
	}
	if told != nil {
		r.Logger.LogAttrs(ctx, slog.LevelWarn, "not acknowledged", slog.Any("event", event), slog.Any("error", told))
	}
}
