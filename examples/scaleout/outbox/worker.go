package outbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	// Metrics counts what the worker does. Nil counts nothing.
	Metrics *metrics.Set
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	o.Concurrency = cmp.Or(o.Concurrency, 32)
	o.SendTimeout = cmp.Or(o.SendTimeout, 10*time.Second)
	o.SettleInterval = cmp.Or(o.SettleInterval, 2*time.Second)
	o.SettleFor = cmp.Or(o.SettleFor, 6*time.Hour)
	o.SettleWindow = cmp.Or(o.SettleWindow, 5*time.Minute)
	o.StopTimeout = cmp.Or(o.StopTimeout, o.SendTimeout+10*time.Second)
	return o
}

func (o WorkerOptions) validate(ackWait time.Duration) error {
	switch {
	case o.Concurrency < 1:
		return fmt.Errorf("outbox: Concurrency is %d, want at least 1", o.Concurrency)
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
	// maxTries is how many times a message that this version cannot read is left to other workers: for about three hours.
	maxTries = 50
)

// Worker sends messages. Any number of workers can share an engine, in one process or in many.
type Worker struct {
	name     string
	options  WorkerOptions
	client   *messaging.Client
	outbox   *Outbox
	clock    *clock
	limiters map[string]*limiter // by lane
	breakers map[Channel]*breaker
	attempts atomic.Int64
	inFlight atomic.Int64
	parse    func([]byte) (Message, error)
	maxTries int
}

// NewWorker returns a worker. It sends through client, without the retries of client: a message that was not
// processed goes back to the stream.
func (o *Outbox) NewWorker(client *messaging.Client, options WorkerOptions) (*Worker, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	w := &Worker{
		name:    fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8]), // unique: a record shows whose claim it holds
		options: options.withDefaults(), parse: ParseLine, maxTries: maxTries, limiters: map[string]*limiter{}, breakers: map[Channel]*breaker{},
	}
	connection, own := *o.engine, *o
	connection.Log = o.engine.Log.With(slog.String("worker", w.name))
	own.engine, own.waitForRoom = &connection, true
	w.outbox, w.clock = &own, newClock(&connection)
	if err = w.options.validate(o.setup.AckWait); err != nil {
		return nil, err
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
		w.limiters[lane] = newLimiter(w.outbox, w.clock, w.options.Metrics, ahead)
	}
	for _, channel := range engine.Channels() {
		w.breakers[Channel(channel)] = newBreaker(w.outbox, channel, w.clock, w.options.Metrics, w.options.SendTimeout+time.Second)
	}
	w.options.Metrics.Gauge("scaleout_in_flight", func() float64 { return float64(w.inFlight.Load()) })
	return w, nil
}

// ErrUnrecorded means that the engine was away for so long that outcomes could not be recorded. Other workers look those messages up.
var ErrUnrecorded = errors.New("outbox: stopped before every outcome was recorded")

// Run sends messages until ctx ends. Then it takes no more, returns what it has not started to the stream, and waits until every send
// in flight has ended and is recorded. That takes at most SendTimeout while the engine is reachable, and at most StopTimeout otherwise.
func (w *Worker) Run(ctx context.Context) error {
	// Outcomes are recorded for a while after ctx has ended.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	var helper, lanes sync.WaitGroup
	defer helper.Wait()
	defer stop(nil)
	helper.Go(func() {
		select {
		case <-ctx.Done():
		case <-work.Done():
		}
		if engine.Sleep(work, w.options.StopTimeout) {
			stop(ErrUnrecorded)
		}
	})
	var mu sync.Mutex
	var all error
	for _, channel := range engine.Channels() {
		for _, lane := range engine.Priorities() {
			lanes.Go(func() {
				err := w.runLane(ctx, work, channel, lane)
				mu.Lock()
				defer mu.Unlock()
				all = errors.Join(all, err)
			})
		}
	}
	lanes.Wait()
	return errors.Join(all, context.Cause(work))
}

// runLane sends the messages of one lane until ctx ends.
func (w *Worker) runLane(ctx, work context.Context, channel, lane string) error {
	var consumer jetstream.Consumer
	c := w.outbox.engine
	_, err := c.Retry(ctx, func(ctx context.Context) (err error) {
		consumer, err = c.JetStream.Consumer(ctx, c.Name(engine.Outbox), c.Consumer(channel, lane))
		return err
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("outbox: consumer of %s: %w", channel, err)
	}
	if err == nil {
		c.Pull(ctx, consumer, w.options.Concurrency, w.outbox.setup.AckWait/heartbeatsPerAckWait, func(m jetstream.Msg) {
			w.inFlight.Add(1)
			defer w.inFlight.Add(-1)
			w.deliver(ctx, work, m)
		})
	}
	return nil
}

func (w *Worker) alarm(ctx context.Context, kind, text string, attributes ...slog.Attr) {
	alarm(ctx, w.outbox.engine.Log, w.options.Metrics, kind, text, attributes...)
}

// alarm logs and counts what an operator should know of.
func alarm(ctx context.Context, log *slog.Logger, monitor *metrics.Set, kind, text string, attributes ...slog.Attr) {
	monitor.Count("scaleout_alarms_total", "kind", kind)
	log.LogAttrs(ctx, slog.LevelError, text, append(attributes, slog.String("alarm", kind))...) //nolint:sloglint // the callers' texts are fixed
}
