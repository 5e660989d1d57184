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

// WorkerOptions is how a worker works. A zero field takes its default. All workers on one engine should have the same.
type WorkerOptions struct {
	// Concurrency is how many messages are under way at once, 32 by default.
	Concurrency int
	// SendTimeout bounds one send, with what the library repeats by itself; 10 s by default. It must be shorter than three
	// quarters of the engine's AckWait.
	SendTimeout time.Duration
	// SettleWindow is how long the service may take to list an SMS that it has received, 30 s by default. Everything depends on it:
	// an SMS whose outcome is unknown, and which is not listed SendTimeout and SettleWindow later, is sent again.
	SettleWindow time.Duration
	// SettleInterval is the time between two look-ups, 2 s by default.
	SettleInterval time.Duration
	// GiveUp is after how long an SMS that could not be looked up is parked for a person, an hour by default.
	GiveUp time.Duration
	// Logger gets what goes wrong. Nil is none.
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
	if o.GiveUp == 0 {
		o.GiveUp = time.Hour
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o WorkerOptions) check(ackWait time.Duration) error {
	switch {
	case o.Concurrency < 1:
		return fmt.Errorf("outbox: a worker with a concurrency of %d", o.Concurrency)
	case o.SendTimeout < 0 || o.SettleWindow < 0 || o.SettleInterval < 0 || o.GiveUp < 0:
		return errors.New("outbox: a worker with a time below 0")
	case o.SendTimeout >= ackWait-ackWait/signsOfLife:
		return fmt.Errorf("outbox: a send may take %v, and the engine gives a message to another worker after %v; want an AckWait above %v",
			o.SendTimeout, ackWait, o.SendTimeout*signsOfLife/(signsOfLife-1))
	default:
		return nil
	}
}

// signsOfLife is how often within AckWait a worker says that it still has a message.
const signsOfLife = 4

// fetchWait is how long a worker waits for messages before it asks again.
const fetchWait = 500 * time.Millisecond

// Worker sends messages. Any number may work on one engine, in one process or in many.
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

	mu    sync.Mutex
	taken map[jetstream.Msg]struct{}
}

// NewWorker makes a worker on an engine that is prepared.
func NewWorker(ctx context.Context, c *engine.Connection, client *messaging.Client, options WorkerOptions) (*Worker, error) {
	options = options.withDefaults()
	var consumer jetstream.Consumer
	_, err := insist(ctx, options.Logger, func(ctx context.Context) (err error) {
		consumer, err = c.JetStream.Consumer(ctx, engine.Outbox, engine.Senders)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("outbox: the consumer %s: %w", engine.Senders, err)
	}
	ackWait := consumer.CachedInfo().Config.AckWait
	if err = options.check(ackWait); err != nil {
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
		taken: map[jetstream.Msg]struct{}{},
	}, nil
}

// Run takes messages and sends them until the context ends. Then it takes nothing more, gives back what it has not begun, and
// returns when what is under way has ended and is recorded: within SendTimeout if the engine is there, and else when it is there
// again, since this process alone knows what became of those messages. Killing it instead costs look-ups, not messages.
func (w *Worker) Run(ctx context.Context) error {
	alive, stop := context.WithCancel(context.WithoutCancel(ctx))
	var signs, deliveries sync.WaitGroup
	signs.Go(func() { w.giveSigns(alive) })
	defer signs.Wait()
	defer stop()
	defer deliveries.Wait()

	places := make(chan struct{}, w.options.Concurrency)
	for ctx.Err() == nil {
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		n := 1
		for more := true; more; {
			select {
			case places <- struct{}{}:
				n++
			default:
				more = false
			}
		}
		for m := range w.fetch(ctx, n) {
			n--
			w.hold(m)
			deliveries.Go(func() {
				defer func() { <-places }()
				defer w.release(m)
				w.deliver(ctx, m)
			})
		}
		for range n {
			<-places
		}
	}
	return nil
}

// fetch takes up to n messages from the stream, and ends when no more come for a moment.
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
			w.log.WarnContext(ctx, "taking messages failed, trying again", slog.Any("error", err))
			sleep(ctx, jitter(fetchWait))
		}
	}
}

func (w *Worker) hold(m jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken[m] = struct{}{}
}

func (w *Worker) release(m jetstream.Msg) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.taken, m)
}

// giveSigns tells the engine of all messages that this worker holds, so that it gives them to nobody else.
func (w *Worker) giveSigns(ctx context.Context) {
	for sleep(ctx, w.ackWait/signsOfLife) {
		w.mu.Lock()
		for m := range w.taken {
			_ = m.InProgress() // who gets the message instead sees by its record that somebody has it
		}
		w.mu.Unlock()
	}
}
