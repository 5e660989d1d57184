package outbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
)

// WorkerOptions configures a [Worker]. A zero field takes its default. All workers on one engine should have the same options.
type WorkerOptions struct {
	// Concurrency is the number of messages of one channel and priority in flight, 32 by default.
	Concurrency int
	// SendTimeout bounds one send. The default is 10 s. It must be shorter than three quarters of the engine's AckWait.
	SendTimeout time.Duration
	// SettleInterval is the time between the first two lookups of an SMS with an unknown outcome, 2 s by default. The intervals grow, up
	// to ten minutes.
	SettleInterval time.Duration
	// SettleFor is how long such an SMS is looked up before it is parked, 6 hours by default.
	SettleFor time.Duration
	// Resend sends an SMS again that is not listed SettleWindow after it must have been sent. It can send a message twice: if the service
	// takes longer to list it, if the network delivers a request later than that, or if the service ignores the reference ID.
	Resend bool
	// SettleWindow is the longest time that the service may take to list an SMS after receiving it, 5 minutes by default. Only Resend
	// uses it.
	SettleWindow time.Duration
	// StopTimeout bounds what Run takes after its context has ended, if the engine is away. The default is SendTimeout and 10 s more.
	StopTimeout time.Duration
	// MaxTries is how many times a message that this version cannot read is left to other workers, 50 by default: about three hours.
	MaxTries int
	// Logger receives warnings and errors. Nil discards them.
	Logger *slog.Logger
	// Metrics counts what the worker does. Nil counts nothing.
	Metrics *metrics.Set
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	setDefault(&o.Concurrency, 32)
	setDefault(&o.SendTimeout, 10*time.Second)
	setDefault(&o.SettleInterval, 2*time.Second)
	setDefault(&o.SettleFor, 6*time.Hour)
	setDefault(&o.SettleWindow, 5*time.Minute)
	setDefault(&o.StopTimeout, o.SendTimeout+10*time.Second)
	setDefault(&o.MaxTries, 50)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o WorkerOptions) validate(ackWait time.Duration) error {
	switch {
	case o.Concurrency < 1 || o.MaxTries < 1:
		return fmt.Errorf("outbox: Concurrency is %d and MaxTries %d, want at least 1", o.Concurrency, o.MaxTries)
	case min(o.SendTimeout, o.SettleWindow, o.SettleInterval, o.SettleFor, o.StopTimeout) < 0:
		return errors.New("outbox: a duration in WorkerOptions is negative")
	case o.SendTimeout >= ackWait-ackWait/heartbeatsPerAckWait:
		return fmt.Errorf("outbox: SendTimeout is %v, but the engine redelivers a message after %v; want an AckWait above %v",
			o.SendTimeout, ackWait, o.SendTimeout*heartbeatsPerAckWait/(heartbeatsPerAckWait-1))
	default:
		return nil
	}
}

const (
	// heartbeatsPerAckWait is how many times within AckWait a worker reports each message as in progress.
	heartbeatsPerAckWait = 4
	// fetchWait is how long a worker waits for messages before it asks again.
	fetchWait = 500 * time.Millisecond
)

// Worker sends messages. Any number of workers can share an engine, in one process or in many.
type Worker struct {
	name     string
	options  WorkerOptions
	log      *slog.Logger
	metrics  *metrics.Set
	client   *messaging.Client
	records  records
	clock    *clock
	limiters map[string]*limiter // by lane
	breakers *breakers
	attempts atomic.Int64
	parse    func([]byte) (Message, error)

	mu       sync.Mutex
	inFlight map[jetstream.Msg]struct{}
}

// NewWorker returns a worker on a prepared engine. It sends through client, without the retries of client: a message that was not
// processed goes back to the stream.
func NewWorker(ctx context.Context, c *engine.Connection, client *messaging.Client, options WorkerOptions) (*Worker, error) {
	options = options.withDefaults()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	name := fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8]) // unique: a record shows whose claim it holds
	log := options.Logger.With(slog.String("worker", name))
	all, err := openRecords(ctx, c, log)
	if err != nil {
		return nil, err
	}
	if err = options.validate(all.setup.AckWait); err != nil {
		return nil, err
	}
	limits, err := c.Bucket(ctx, engine.Limits)
	if err != nil {
		return nil, err
	}
	w := &Worker{
		name: name, options: options, log: log, metrics: options.Metrics, records: all, clock: newClock(c, log), parse: ParseLine,
		limiters: map[string]*limiter{}, inFlight: map[jetstream.Msg]struct{}{},
	}
	w.client, err = client.With(messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper { return guard{base} }))
	if err != nil {
		return nil, fmt.Errorf("outbox: the client: %w", err)
	}
	for _, lane := range engine.Priorities() {
		ahead := reserveAhead
		if lane == string(High) {
			ahead *= 3
		}
		w.limiters[lane] = newLimiter(limits, w.clock, log, w.metrics, ahead)
	}
	w.breakers = newBreakers(limits, w.clock, log, w.metrics, options.SendTimeout+time.Second)
	w.metrics.Gauge("scaleout_in_flight", func() float64 {
		w.mu.Lock()
		defer w.mu.Unlock()
		return float64(len(w.inFlight))
	})
	return w, nil
}

// ErrUnrecorded means that the engine was away for so long that outcomes could not be recorded. Other workers look those messages up.
var ErrUnrecorded = errors.New("outbox: stopped before every outcome was recorded")

// Run sends messages until ctx ends. Then it takes no more, returns what it has not started to the stream, and waits until every send
// in flight has ended and is recorded. That takes at most SendTimeout while the engine is reachable, and at most StopTimeout otherwise.
func (w *Worker) Run(ctx context.Context) error {
	// Outcomes are recorded for a while after ctx has ended.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	helpersCtx, stopHelpers := context.WithCancel(work)
	var helpers, lanes sync.WaitGroup
	helpers.Go(func() { w.sendHeartbeats(helpersCtx) })
	helpers.Go(func() { w.breakers.follow(helpersCtx) })
	helpers.Go(func() {
		select {
		case <-ctx.Done():
			if sleep(helpersCtx, w.options.StopTimeout) {
				stop(ErrUnrecorded)
			}
		case <-helpersCtx.Done():
		}
	})
	errs := make(chan error, len(engine.Channels())*len(engine.Priorities()))
	for _, channel := range engine.Channels() {
		for _, lane := range engine.Priorities() {
			lanes.Go(func() { errs <- w.runLane(ctx, work, channel, lane) })
		}
	}
	lanes.Wait()
	stopHelpers()
	helpers.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	if errors.Is(context.Cause(work), ErrUnrecorded) {
		all = errors.Join(all, ErrUnrecorded)
	}
	return all
}

// runLane sends the messages of one lane until ctx ends.
func (w *Worker) runLane(ctx, work context.Context, channel, lane string) error {
	var consumer jetstream.Consumer
	_, err := retry(ctx, w.log, func(ctx context.Context) (err error) {
		consumer, err = w.records.engine.JetStream.Consumer(ctx, w.records.engine.Name(engine.Outbox), w.records.engine.Consumer(channel, lane))
		return err
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("outbox: consumer of %s: %w", channel, err)
	}
	var deliveries sync.WaitGroup
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
		for m := range w.fetch(ctx, consumer, n) {
			n--
			w.track(m)
			deliveries.Go(func() {
				defer func() { <-slots }()
				defer w.untrack(m)
				w.deliver(ctx, work, m)
			})
		}
		for range n {
			<-slots
		}
	}
	return nil
}

// fetch yields up to n messages from the stream. It ends when no more arrive for a moment.
func (w *Worker) fetch(ctx context.Context, consumer jetstream.Consumer, n int) iter.Seq[jetstream.Msg] {
	return func(yield func(jetstream.Msg) bool) {
		batch, err := consumer.Fetch(n, jetstream.FetchMaxWait(fetchWait))
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
	for sleep(ctx, w.records.setup.AckWait/heartbeatsPerAckWait) {
		w.mu.Lock()
		for m := range w.inFlight {
			_ = m.InProgress() // if it fails, the worker that gets the message sees its record
		}
		w.mu.Unlock()
	}
}

// alarm logs and counts what an operator should know of.
func (w *Worker) alarm(ctx context.Context, kind, text string, attributes ...slog.Attr) {
	w.metrics.Count("scaleout_alarms_total", "kind", kind)
	w.log.LogAttrs(ctx, slog.LevelError, text, append(attributes, slog.String("alarm", kind))...) //nolint:sloglint // the callers' texts are fixed
}
