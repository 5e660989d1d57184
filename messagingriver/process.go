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

// process is the part of an outbox that sends in the background. It has at most one run at a time.
type process struct {
	mu      sync.Mutex
	current *run // from the beginning of Start to the end of Stop, otherwise nil

	reachedAt atomic.Int64 // when the database was reached last, as uptime
}

// run is what one Start began and one Stop ends.
type run struct {
	ctx  context.Context //nolint:containedctx // ends when Stop is called
	stop context.CancelFunc
	done chan struct{} // closed when the maintenance has ended
	// stopTurn holds a value that a call of Stop takes while it stops the worker, and then puts back. A second call would wait in River's Stop
	// beyond its context.
	stopTurn chan struct{}

	// worker is the started client of River, or nil while the clock of the process is wrong. It belongs to Start, then to the maintenance and,
	// when done is closed, to the call of Stop that has the turn.
	worker    riverWorker
	isWorking atomic.Bool // worker is not nil
}

// newRun returns a run with the values of ctx.
func newRun(ctx context.Context) *run {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	r := &run{ctx: ctx, stop: stop, done: make(chan struct{}), stopTurn: make(chan struct{}, 1)}
	r.stopTurn <- struct{}{}
	return r
}

func (r *run) setWorker(worker riverWorker) {
	r.worker = worker
	r.isWorking.Store(worker != nil)
}

// begin makes a run the current one and reports whether there was none.
func (p *process) begin(r *run) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current != nil {
		return false
	}
	p.current = r
	return true
}

// end records that a run has ended. If the next run has begun, it stays the current one.
func (p *process) end(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == r {
		p.current = nil
	}
}

// currentRun returns the current run, or nil.
func (p *process) currentRun() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// untilStop returns a context that ends when Stop is called. It is for jobs, which end before their run does.
func (p *process) untilStop() context.Context { return p.currentRun().ctx }

// Start starts to send messages in the background, until Stop is called. It makes and starts a River client of its own. The values of ctx are
// kept; its end does not stop the outbox.
//
// It returns an error if the database cannot be reached or has no tables (ErrNotMigrated), or if the clock of this process differs from the
// database's by more than 5 seconds. It does not check whether the tables are up to date. It also returns an error if the outbox has been
// started already, or another call of Start or Stop is under way. If the clock goes wrong later, the outbox stops working, logs an error, and
// continues when the clocks agree.
func (o *Outbox[TTx]) Start(ctx context.Context) error {
	r := newRun(ctx)
	if !o.process.begin(r) {
		return errors.New("messagingriver: the outbox is started already")
	}
	if err := o.startRun(ctx, r); err != nil {
		r.stop()
		close(r.done)
		o.process.end(r)
		return err
	}
	go func() {
		defer close(r.done)
		o.maintain(r)
	}()
	return nil
}

// startRun checks the database and starts the worker of a run.
func (o *Outbox[TTx]) startRun(ctx context.Context, r *run) error {
	if err := o.checkDatabase(ctx); err != nil {
		return err
	}
	worker, err := o.startWorker(r.ctx) //nolint:contextcheck // the run outlives ctx
	if err != nil {
		return err
	}
	r.setWorker(worker)
	return nil
}

// checkDatabase returns an error if the database cannot be reached or has no tables, or if its clock differs too much.
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

// Stop stops sending. Messages whose request has not begun are left to other processes at once. Requests under way end, which takes up to
// Options.SendTimeout, and calls of OnOutcome, which may take 10 seconds more. Then Stop deletes the content of accepted messages, which takes up to
// 10 seconds; what remains, the next Start deletes. If ctx ends before the requests do, Stop returns its error, and the process may end: River
// rescues the rest. A stopped outbox can be started again. Without a successful Start, Stop does nothing.
func (o *Outbox[TTx]) Stop(ctx context.Context) error {
	r := o.process.currentRun()
	if r == nil {
		return nil
	}
	r.stop()
	if err := waitFor(ctx, r.done); err != nil { // before that, Start or the maintenance may start or stop River
		return err
	}
	if err := waitFor(ctx, r.stopTurn); err != nil {
		return err
	}
	defer func() { r.stopTurn <- struct{}{} }()
	if o.process.currentRun() != r { // another call has stopped it
		return nil
	}
	return o.stopRun(ctx, r)
}

// waitFor waits until a channel is closed or has a value, which it takes. It returns an error if ctx ends before.
func waitFor(ctx context.Context, ready <-chan struct{}) error {
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("messagingriver: %w", ctx.Err())
	}
}

// stopRun stops the worker of a run whose maintenance has ended, and ends the run.
func (o *Outbox[TTx]) stopRun(ctx context.Context, r *run) error {
	if r.worker != nil {
		if err := r.worker.Stop(ctx); err != nil {
			return fmt.Errorf("messagingriver: %w", err)
		}
		o.deleteLastContent(ctx)
	}
	o.process.end(r)
	return nil
}

// aliveFor is how long Alive stays true without reaching the database.
const aliveFor = 30 * time.Second

// Alive reports whether this process works: the outbox was started, its clock is right, and it reached its database in the last 30 seconds. It is
// for readiness probes.
func (o *Outbox[TTx]) Alive() bool {
	r := o.process.currentRun()
	sinceReached := uptime() - time.Duration(o.process.reachedAt.Load())
	return r != nil && r.isWorking.Load() && sinceReached < aliveFor
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
		return nil, err
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
		queueLookups:  {MaxWorkers: fewWorkers},
		queueExpired:  {MaxWorkers: fewWorkers, FetchCooldown: fetchCooldown},
		queueOutcomes: {MaxWorkers: fewWorkers},
	}
	for name := range o.channels {
		queues[queueOf(name)] = river.QueueConfig{MaxWorkers: o.options.Workers, FetchCooldown: fetchCooldown}
		queues[probesOf(name)] = river.QueueConfig{MaxWorkers: 1, FetchCooldown: fetchCooldown}
	}
	return queues
}
