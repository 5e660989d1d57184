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

// process is what a started outbox consists of.
type process struct {
	mu      sync.Mutex
	started bool
	stop    context.CancelFunc // ends stopped
	stopped context.Context    //nolint:containedctx // ends when Stop is called
	tending sync.WaitGroup
	river   riverWorker // nil while the clock of the process is wrong

	seenAt atomic.Int64 // when the database was reached last, as uptime
	ahead  atomic.Int64 // by how much a test has the clock differ
}

// stopping returns a context that ends when the outbox stops. It is for the jobs of a started outbox.
func (p *process) stopping() context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

const (
	// tendInterval is the time between two rounds of the outbox's own work.
	tendInterval = 5 * time.Second
	// maxClockDifference is how far the clock of a process may be from that of the database. River schedules and rescues by the first.
	maxClockDifference = 5 * time.Second
	// aliveFor is for how long a process counts as alive that does not reach its database.
	aliveFor = 30 * time.Second
)

// Start starts to send messages in the background, until Stop is called. It makes and starts a River client of its own. It returns an error
// if the database cannot be reached or is not migrated, or if the clock of this process differs from the database's by more than 5 seconds.
// If that happens later, the outbox stops working, says so in the log, and goes on when the clocks agree. The values of ctx are kept; its end
// does not stop the outbox.
func (o *Outbox[TTx]) Start(ctx context.Context) error {
	p := &o.process
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.started {
		return errors.New("messagingriver: the outbox is started already")
	}
	difference, err := o.clockDifference(ctx)
	if err != nil {
		return err
	}
	if difference > maxClockDifference {
		return fmt.Errorf("messagingriver: the clock of this process differs from that of the database by %v; want at most %v",
			difference.Round(time.Second), maxClockDifference)
	}
	var exists bool
	if _, err := o.database.scan(ctx, o.database.executor, []any{&exists}, "SELECT EXISTS (SELECT 1 FROM JOBS)"); err != nil {
		return err
	}
	p.stopped, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err := o.startWorker(p.stopped); err != nil { //nolint:contextcheck // it outlives the call
		p.stop()
		return err
	}
	p.started = true
	p.tending.Go(func() { o.tend(p.stopped) })
	return nil
}

// Stop stops sending. What has not begun is left to other processes at once; requests under way end, which takes up to SendTimeout. If ctx
// ends before, Stop returns its error, and the process may end: River rescues what is left. A stopped outbox can be started again.
func (o *Outbox[TTx]) Stop(ctx context.Context) error {
	p := &o.process
	p.mu.Lock()
	isStarted, stop := p.started, p.stop
	p.mu.Unlock()
	if !isStarted {
		return nil
	}
	stop()
	p.tending.Wait()
	p.mu.Lock()
	worker := p.river
	p.mu.Unlock() // messages under way ask for stopping
	if worker != nil {
		if err := worker.Stop(ctx); err != nil {
			return fmt.Errorf("messagingriver: %w", err)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.started, p.river = false, nil
	return nil
}

// Alive reports whether this process works: it is started, its clock is right, and it reached its database in the last 30 seconds. It is for
// health checks.
func (o *Outbox[TTx]) Alive() bool {
	p := &o.process
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.river != nil && uptime()-time.Duration(p.seenAt.Load()) < aliveFor
}

// startWorker makes and starts a client of River.
func (o *Outbox[TTx]) startWorker(ctx context.Context) error {
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
		TestOnly:                    startsAtOnce,
	}
	worker, err := o.database.newWorker(config)
	if err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	if err := worker.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	o.process.river = worker
	return nil
}

// startsAtOnce has River's maintenance begin without a random delay. Tests set it.
var startsAtOnce bool //nolint:gochecknoglobals // see above

func (o *Outbox[TTx]) queues() map[string]river.QueueConfig {
	const fetchCooldown = 20 * time.Millisecond
	const fewWorkers = 8
	queues := map[string]river.QueueConfig{
		lookups:       {MaxWorkers: fewWorkers},
		outcomesQueue: {MaxWorkers: fewWorkers},
	}
	for name := range o.channels {
		queues[queueOf(name)] = river.QueueConfig{MaxWorkers: o.options.Workers, FetchCooldown: fetchCooldown}
		queues[probesOf(name)] = river.QueueConfig{MaxWorkers: 1}
	}
	return queues
}

// clockDifference returns by how much the clock of this process differs from that of the database.
func (o *Outbox[TTx]) clockDifference(ctx context.Context) (time.Duration, error) {
	var seconds float64
	before := o.process.now()
	if _, err := o.database.scan(ctx, o.database.executor, []any{&seconds}, "SELECT CLOCK"); err != nil {
		return 0, err
	}
	after := o.process.now()
	o.process.seenAt.Store(int64(uptime()))
	database := time.UnixMicro(int64(seconds * 1e6))
	return max(before.Sub(database), database.Sub(after), 0), nil
}

func (p *process) now() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) }
