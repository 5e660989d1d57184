package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
)

// process is the state of a started outbox.
type process struct {
	starting sync.Mutex // held by Start and, for a short time, by Stop

	mu         sync.Mutex // is not held while a function waits for the database
	started    bool
	stop       context.CancelFunc // ends stopped
	stopped    context.Context    //nolint:containedctx // ends when Stop is called
	maintained chan struct{}      // closed when the maintenance has ended
	river      riverWorker        // nil while the clock of the process is wrong

	reachedAt atomic.Int64 // when the database was reached last, as uptime
}

// stopping returns a context that ends when the outbox stops. It is for the jobs of a started outbox.
func (p *process) stopping() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

// worker returns the started client of River, or nil.
func (p *process) worker() riverWorker {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.river
}

// isStarted reports whether Start was called, and not Stop after it.
func (p *process) isStarted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// prepare sets the context that ends when the outbox stops.
func (p *process) prepare(stopped context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = stopped
}

// begin records that the outbox is started.
func (p *process) begin(worker riverWorker, stop context.CancelFunc, maintained chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started = true
	p.river = worker
	p.stop = stop
	p.maintained = maintained
}

func (p *process) setWorker(worker riverWorker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.river = worker
}

const (
	// maintenanceInterval is the time between two runs of the outbox's maintenance.
	maintenanceInterval = 5 * time.Second
	// aliveFor is how long Alive stays true without reaching the database.
	aliveFor = 30 * time.Second
)

// Start starts to send messages in the background, until Stop is called. It makes and starts a River client of its own. It returns an error
// if the database cannot be reached or is not migrated, or if the clock of this process differs from the database's by more than 5 seconds.
// If the clock goes wrong later, the outbox stops working, logs an error, and continues when the clocks agree. The values of ctx are kept;
// its end does not stop the outbox.
func (o *Outbox[TTx]) Start(ctx context.Context) error {
	p := &o.process
	p.starting.Lock()
	defer p.starting.Unlock()
	if p.isStarted() {
		return errors.New("messagingriver: the outbox is started already")
	}
	if err := o.checkDatabase(ctx); err != nil {
		return err
	}
	stopped, stop := context.WithCancel(context.WithoutCancel(ctx))
	p.prepare(stopped) // jobs ask for it as soon as the worker starts
	worker, err := o.startWorker(stopped)
	if err != nil {
		stop()
		return err
	}
	maintained := make(chan struct{})
	p.begin(worker, stop, maintained)
	go func() {
		defer close(maintained)
		o.maintain(stopped)
	}()
	return nil
}

// checkDatabase returns an error if the database cannot be reached or is not migrated, or if its clock differs too much.
func (o *Outbox[TTx]) checkDatabase(ctx context.Context) error {
	difference, err := o.clockDifference(ctx)
	if err != nil {
		return err
	}
	if difference > maxClockDifference {
		return fmt.Errorf("messagingriver: the clock of this process differs from that of the database by %v; want at most %v",
			difference.Round(time.Second), maxClockDifference)
	}
	var hasJobs bool
	_, err = o.database.scan(ctx, o.database.executor, []any{&hasJobs}, anyJob)
	return err // the tables are missing
}

// Stop stops sending. Messages whose request has not begun are left to other processes at once; requests under way end, which takes up to
// SendTimeout. Then Stop deletes the content of accepted messages, which takes up to 10 seconds; what remains, the next Start deletes. If ctx
// ends before the requests do, Stop returns its error, and the process may end: River rescues the rest. A stopped outbox can be started again.
func (o *Outbox[TTx]) Stop(ctx context.Context) error {
	p := &o.process
	maintained, isStarted := p.cancel()
	if !isStarted {
		return nil
	}
	select { // the maintenance may start or stop River
	case <-maintained:
	case <-ctx.Done():
		return fmt.Errorf("messagingriver: %w", ctx.Err())
	}
	if worker := p.workerOf(maintained); worker != nil {
		if err := worker.Stop(ctx); err != nil {
			return fmt.Errorf("messagingriver: %w", err)
		}
		o.deleteLastContent(ctx)
	}
	p.end(maintained)
	return nil
}

// workerOf returns the started client of River of one run, which its channel identifies. It returns nil if the run has ended: another Stop
// ended it, and Start may have begun the next run.
func (p *process) workerOf(maintained <-chan struct{}) riverWorker {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.maintained != maintained {
		return nil
	}
	return p.river
}

// end records that a run has ended, unless the next run has begun.
func (p *process) end(maintained <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.maintained == maintained {
		p.started = false
		p.river = nil
	}
}

// cancel tells jobs and maintenance that the outbox stops, and reports whether it is started. The channel is closed when the maintenance
// has ended.
func (p *process) cancel() (maintained <-chan struct{}, isStarted bool) {
	p.starting.Lock() // Start may be under way
	defer p.starting.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started {
		p.stop()
	}
	return p.maintained, p.started
}

// Alive reports whether this process works: it is started, its clock is right, and it reached its database in the last 30 seconds. It is for
// health checks.
func (o *Outbox[TTx]) Alive() bool {
	sinceReached := uptime() - time.Duration(o.process.reachedAt.Load())
	return o.process.worker() != nil && sinceReached < aliveFor
}

// startWorker makes and starts a client of River.
func (o *Outbox[TTx]) startWorker(ctx context.Context) (riverWorker, error) {
	workers := river.NewWorkers()
	river.AddWorker(workers, &messageWorker[TTx]{outbox: o})
	river.AddWorker(workers, &outcomeWorker[TTx]{outbox: o})
	config := &river.Config{
		Schema:                      o.options.Schema,
		Logger:                      o.options.Logger,
		Workers:                     workers,
		Queues:                      o.queues(),
		JobTimeout:                  o.options.SendTimeout + attemptSlack,
		RescueStuckJobsAfter:        o.options.SendTimeout + rescueSlack,
		CompletedJobRetentionPeriod: o.options.Keep,
		CancelledJobRetentionPeriod: o.options.Keep,
		DiscardedJobRetentionPeriod: -1, // until a person decides
		SoftStopTimeout:             o.options.SendTimeout + attemptSlack,
		PollOnly:                    o.options.PollOnly,
		TestOnly:                    o.options.startAtOnce,
	}
	worker, err := o.database.newWorker(config)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	if err := worker.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	return worker, nil
}

// queues returns the queues that a process works.
func (o *Outbox[TTx]) queues() map[string]river.QueueConfig {
	const fetchCooldown = 20 * time.Millisecond
	const fewWorkers = 8
	queues := map[string]river.QueueConfig{
		lookups:       {MaxWorkers: fewWorkers},
		expired:       {MaxWorkers: fewWorkers, FetchCooldown: fetchCooldown},
		outcomesQueue: {MaxWorkers: fewWorkers},
	}
	for name := range o.channels {
		queues[queueOf(name)] = river.QueueConfig{MaxWorkers: o.options.Workers, FetchCooldown: fetchCooldown}
		queues[probesOf(name)] = river.QueueConfig{MaxWorkers: 1, FetchCooldown: fetchCooldown}
	}
	return queues
}
