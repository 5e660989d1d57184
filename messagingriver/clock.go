package messagingriver

import (
	"context"
	"time"
)

// maxClockDifference is how far the clock of a process may be from the clock of the database. River schedules and rescues by the first.
const maxClockDifference = 5 * time.Second

// superviseClock stops River while the clock of this process is wrong and starts it again when the clock is right. It reports whether the
// database could be reached and the clock is right.
func (o *Outbox[TTx]) superviseClock(r *run) bool {
	ctx := r.ctx
	difference, err := o.clockDifference(ctx)
	if err != nil {
		if ctx.Err() == nil {
			o.options.Logger.WarnContext(ctx, "messagingriver: the database cannot be reached", "error", err)
		}
		return false
	}
	if difference > maxClockDifference {
		o.suspend(r, difference)
		return false
	}
	o.restart(r)
	return true
}

// suspend stops River while the clock of this process is wrong.
func (o *Outbox[TTx]) suspend(r *run, difference time.Duration) {
	if r.worker == nil {
		return
	}
	o.options.Logger.ErrorContext(r.ctx, "messagingriver: this process does not work, because its clock differs from the database's",
		"difference", difference.Round(time.Second), "allowed", maxClockDifference)
	if r.worker.Stop(r.ctx) != nil { // the outbox stops
		return
	}
	r.setWorker(nil)
}

// restart starts River again after suspend.
func (o *Outbox[TTx]) restart(r *run) {
	if r.worker != nil {
		return
	}
	worker, err := o.startWorker(r.ctx)
	if err != nil {
		o.options.Logger.ErrorContext(r.ctx, "messagingriver: this process cannot work yet and will try again", "error", err)
		return
	}
	r.setWorker(worker)
}

// clockDifference returns by how much the clock of this process differs from that of the database.
func (o *Outbox[TTx]) clockDifference(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	var seconds float64
	before := o.options.now()
	if _, err := o.database.scan(ctx, o.database.executor, []any{&seconds}, o.database.statements.clock); err != nil {
		return 0, err
	}
	after := o.options.now()
	o.process.reachedAt.Store(int64(uptime()))
	database := time.UnixMicro(int64(seconds * 1e6))
	return max(before.Sub(database), database.Sub(after), 0), nil
}

var processStart = time.Now() //nolint:gochecknoglobals // is never changed

// processAge returns the time since the process started. If a suspended machine stops this clock, the suspension does not count toward the age
// of a claim.
func processAge() time.Duration { return time.Since(processStart) }
