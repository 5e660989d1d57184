package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// WorkerOptions configures a [Worker]. A zero field takes its default. All workers on one engine should have the same options.
type WorkerOptions struct {
	// Concurrency is the number of messages in flight, 32 by default.
	Concurrency int
	// SendTimeout bounds one send, including the library's retries. The default is 10 s. It must be shorter than three quarters
	// of the engine's AckWait.
	SendTimeout time.Duration
	// SettleWindow is the longest time that the service may take to list an SMS after receiving it, 30 s by default. Sending at most
	// once rests on it: an SMS with an unknown outcome is sent again if it is not listed SendTimeout and SettleWindow later.
	SettleWindow time.Duration
	// SettleInterval is the time between two lookups, 2 s by default.
	SettleInterval time.Duration
	// GiveUpAfter is the time after which an SMS whose lookups fail is parked, an hour by default.
	GiveUpAfter time.Duration
	// Logger receives warnings and errors. Nil discards them.
	Logger *slog.Logger
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	if o.Concurrency == 0 {
		o.Concurrency = 32
	}
	if o.SendTimeout == 0 {
		o.SendTimeout = 10 * time.Second
	}
	if o.SettleWindow == 0 {
		o.SettleWindow = 30 * time.Second
	}
	if o.SettleInterval == 0 {
		o.SettleInterval = 2 * time.Second
	}
	if o.GiveUpAfter == 0 {
		o.GiveUpAfter = time.Hour
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o WorkerOptions) validate(ackWait time.Duration) error {
	switch {
	case o.Concurrency < 1:
		return fmt.Errorf("outbox: Concurrency is %d, want at least 1", o.Concurrency)
	case o.SendTimeout < 0 || o.SettleWindow < 0 || o.SettleInterval < 0 || o.GiveUpAfter < 0:
		return errors.New("outbox: a duration in WorkerOptions is negative")
	case o.SendTimeout >= ackWait-ackWait/heartbeatsPerAckWait:
		return fmt.Errorf("outbox: SendTimeout is %v, but the engine redelivers a message after %v; want an AckWait above %v",
			o.SendTimeout, ackWait, o.SendTimeout*heartbeatsPerAckWait/(heartbeatsPerAckWait-1))
	default:
		return nil
	}
}

// heartbeatsPerAckWait is how many times within AckWait a worker reports each message as in progress.
const heartbeatsPerAckWait = 4

// fetchWait is how long a worker waits for messages before it asks again.
const fetchWait = 500 * time.Millisecond

// Worker sends messages. Any number of workers can share an engine, in one process or in many.
type Worker struct {
	name      string
	options   WorkerOptions
	log       *slog.Logger
	client    *messaging.Client
	consumer  jetstream.Consumer
	ackWait   time.Duration
	records   records
	publisher publisher
	clock     clock
	limiter   *limiter
	attempts  atomic.Int64

	mu       sync.Mutex
	inFlight map[jetstream.Msg]struct{}
}

// NewWorker returns a worker on a prepared engine.
func NewWorker(ctx context.Context, c *engine.Connection, client *messaging.Client, options WorkerOptions) (*Worker, error) {
	options = options.withDefaults()
	var consumer jetstream.Consumer
	_, err := retry(ctx, options.Logger, func(ctx context.Context) (err error) {
		consumer, err = c.JetStream.Consumer(ctx, engine.Outbox, engine.Senders)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: consumer %s: %w", engine.Senders, err)
	}
	ackWait := consumer.CachedInfo().Config.AckWait
	if err = options.validate(ackWait); err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	name := fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
	log := options.Logger.With(slog.String("worker", name))
	all, err := openRecords(ctx, c, log)
	if err != nil {
		return nil, err
	}
	limits, err := openBucket(ctx, c, log, engine.Limits)
	if err != nil {
		return nil, err
	}
	return &Worker{
		name: name, options: options, log: log, client: client, consumer: consumer, ackWait: ackWait,
		records: all, publisher: publisher{c, log}, clock: clock{limits, log}, limiter: newLimiter(limits, log),
		inFlight: map[jetstream.Msg]struct{}{},
	}, nil
}

// Run sends messages until ctx ends. Then it takes no more, returns what it has not started to the stream, and waits until every send
// in flight has ended and is recorded. That takes at most SendTimeout while the engine is reachable. While the engine is away, Run
// waits for it, because only this process knows the outcome of those messages. Killing it instead costs lookups, not messages.
func (w *Worker) Run(ctx context.Context) error {
	heartbeatCtx, stopHeartbeats := context.WithCancel(context.WithoutCancel(ctx))
	var heartbeats, deliveries sync.WaitGroup
	heartbeats.Go(func() { w.sendHeartbeats(heartbeatCtx) })
	defer heartbeats.Wait()
	defer stopHeartbeats()
	defer deliveries.Wait()

	slots := make(chan struct{}, w.options.Concurrency)
	for ctx.Err() == nil {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		n := 1
		for more := true; more; {
			select {
			case slots <- struct{}{}:
				n++
			default:
				more = false
			}
		}
		for m := range w.fetch(ctx, n) {
			n--
			w.track(m)
			deliveries.Go(func() {
				defer func() { <-slots }()
				defer w.untrack(m)
				w.deliver(ctx, m)
			})
		}
		for range n {
			<-slots
		}
	}
	return nil
}

// fetch yields up to n messages from the stream. It ends when no more arrive for a moment.
func (w *Worker) fetch(ctx context.Context, n int) iter.Seq[jetstream.Msg] {
	return func(yield func(jetstream.Msg) bool) {
		batch, err := w.consumer.Fetch(n, jetstream.FetchMaxWait(fetchWait))
		if err == nil {
			for m := range batch.Messages() {
				if !yield(m) {
					return
				}
			}
			err = batch.Error()
		}
		if err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "fetching messages failed, retrying", slog.Any("error", err))
			sleep(ctx, jitter(fetchWait))
		}
	}
}

func (w *Worker) track(m jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inFlight[m] = struct{}{}
}

func (w *Worker) untrack(m jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.inFlight, m)
}

// sendHeartbeats reports every message in flight as in progress, so that the engine does not redeliver it.
func (w *Worker) sendHeartbeats(ctx context.Context) {
	for sleep(ctx, w.ackWait/heartbeatsPerAckWait) {
		w.mu.Lock()
		for m := range w.inFlight {
			_ = m.InProgress() // if it fails, the worker that gets the message sees its record
		}
		w.mu.Unlock()
	}
}
