package messagingriver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/fence"
)

// messageWorker works the jobs of messages.
type messageWorker[TTx any] struct {
	river.WorkerDefaults[messageArgs]

	outbox *Outbox[TTx]
}

// Timeout implements river.Worker. An attempt ends before it.
func (w *messageWorker[TTx]) Timeout(*river.Job[messageArgs]) time.Duration {
	return w.outbox.options.SendTimeout + attemptSlack
}

// River lets a job run for attemptSlack longer than SendTimeout, and rescues it rescueSlack after SendTimeout.
const (
	attemptSlack = 10 * time.Second
	rescueSlack  = 15 * time.Second
)

// NextRetry implements river.Worker. A rescued job is worked again at once.
func (w *messageWorker[TTx]) NextRetry(job *river.Job[messageArgs]) time.Time {
	return time.Now().Add(job.Args.retryAfter)
}

// Work implements river.Worker. A probe makes room for another, unless its job keeps its queue.
func (w *messageWorker[TTx]) Work(ctx context.Context, job *river.Job[messageArgs]) error {
	result := w.outbox.work(ctx, job)
	if isProbe(job) && !job.Args.keepsQueue {
		w.outbox.pauseOf(job.Args.Channel).leave(ctx, job.ID)
	}
	return result
}

// work works a job and returns what River does with it.
func (o *Outbox[TTx]) work(ctx context.Context, job *river.Job[messageArgs]) error {
	var m metadata
	if err := json.Unmarshal(job.Metadata, &m); err != nil {
		return discardJob(job, errors.New("the metadata of the job cannot be read"))
	}
	if m.ResolvedSent {
		return o.finishResolved(ctx, job)
	}
	if m.EndsAs != "" {
		setMetadata(ctx, keyEndsAs, "")          // finish sets it again if it fails
		setMetadata(ctx, keyAnswered, m.Rescues) // no attempt after the outcome made a request
		return o.finish(ctx, job, m.EndsAs, m.Reason)
	}
	if m.Verdict == accepted { // the outcome was recorded late
		return o.finish(ctx, job, rivertype.JobStateCompleted, "")
	}
	if m.isInDoubt(job, o.database.isPostgres) {
		setMetadata(ctx, keyInDoubt, !o.database.isPostgres)
		return o.lookUp(ctx, job, &m)
	}
	setMetadata(ctx, keyOutcomes, len(job.AttemptedBy))
	if m.Cancelled {
		return o.finish(ctx, job, rivertype.JobStateCancelled, "it was cancelled by a person")
	}
	if job.Queue == lookups { // a late outcome proved that the message was not sent
		o.moveTo(ctx, job, queueOf(job.Args.Channel))
		return river.JobSnooze(0)
	}
	return o.sendJob(ctx, job, &m)
}

// sendJob sends the message of a job, if this version can read it, and returns what River does with the job.
func (o *Outbox[TTx]) sendJob(ctx context.Context, job *river.Job[messageArgs], m *metadata) error {
	c, isKnown := o.channels[job.Args.Channel]
	if !isKnown {
		return snoozeWith(ctx, time.Minute, "a worker of another version knows the channel")
	}
	a := o.newAttempt(c, job, m)
	hasExpired := job.Queue == expired || a.hasExpired() // by the clock of the database, or of this process
	if hasExpired {                                      // whether or not this version can read it
		return o.recordAttempt(ctx, a, messaging.Receipt{}, errExpired)
	}
	message, err := c.decode(job.Args.Message)
	if errors.Is(err, messaging.ErrUnknownKey) { // the error names the key, but no content
		return snoozeWith(ctx, time.Minute, "a worker of another version can read the message: "+err.Error())
	}
	if err != nil { // the error may repeat content
		return o.finish(ctx, job, rivertype.JobStateDiscarded, "the job holds no message that this version can read")
	}
	return o.send(ctx, a, message)
}

// send makes an attempt to send a message and returns what River does with the job.
func (o *Outbox[TTx]) send(ctx context.Context, a *attempt, message messaging.Message) error {
	if err := a.check(); err != nil { // before a guard is asked
		return o.recordAttempt(ctx, a, messaging.Receipt{}, err)
	}
	// A request that has begun is not interrupted when the process stops: its outcome would be unknown.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	abandon := func() {
		if a.abandon() {
			cancel()
		}
	}
	defer context.AfterFunc(ctx, abandon)()
	defer context.AfterFunc(o.process.stopping(), abandon)() //nolint:contextcheck // it ends when the outbox stops
	defer time.AfterFunc(maxClaimAge, abandon).Stop()
	isGuarded := !a.metadata.Unguarded
	receipt, err := a.channel.send(fence.With(sending, a.enter), message, isGuarded)
	return o.recordAttempt(ctx, a, receipt, err)
}

// recordAttempt records the outcome of an attempt and returns what River does with the job.
func (o *Outbox[TTx]) recordAttempt(ctx context.Context, a *attempt, receipt messaging.Receipt, err error) error {
	if a.mayHaveLostJob(err) {
		return o.giveBack(ctx, a)
	}
	breaker := o.client.Breaker(a.channel.channel)
	v := a.classify(err, breaker.Open)
	a.settleMark(ctx, v)
	v = o.updatePause(ctx, a, v, breaker.Until)
	return o.apply(ctx, a, v, receipt)
}

// settleMark records what became of the request that the attempt's mark announced.
func (a *attempt) settleMark(ctx context.Context, v verdict) {
	switch {
	case v.action == lookUp: // the mark keeps the message in doubt
	case a.isMarked: // the outcome is known
		setMetadata(ctx, keyEnded, a.token)
	default: // the mark was not confirmed
		a.recordUnsent(ctx)
	}
}

// updatePause begins, prolongs or ends the pause of the channel after an attempt. It returns the verdict, with the wait of a probe that stays
// the probe.
func (o *Outbox[TTx]) updatePause(ctx context.Context, a *attempt, v verdict, breakerUntil time.Time) verdict {
	wait := time.Until(breakerUntil)
	if v.action != snooze { // the wait of a snoozed message is its own
		wait = max(wait, v.retryAfter)
	}
	switch {
	case isProbe(a.job): // the channel is paused already
		return o.recordProbe(ctx, a, v, wait)
	case v.pauses:
		o.pauseOf(a.job.Args.Channel).begin(ctx, v.reason, wait)
	}
	return v
}

// giveBack returns what River does with a job after an attempt that sent nothing and may have lost the job to another attempt.
func (o *Outbox[TTx]) giveBack(ctx context.Context, a *attempt) error {
	age := uptime() - a.claimedAt
	if age < maxClaimAge { // another attempt has the job
		return a.leaveJob(0)
	}
	reason := fmt.Sprintf("no request could begin within %v: a guard, the rate limit or the process took longer", maxClaimAge)
	o.options.Logger.WarnContext(ctx, "messagingriver: the message waits", "job", a.job.ID, "reason", reason, "took", age.Round(time.Second))
	if age >= o.options.SendTimeout+rescueSlack-maxClockDifference { // River may have given the job to another attempt
		return a.leaveJob(time.Second)
	}
	a.recordUnsent(ctx)
	return snoozeWith(ctx, time.Second, reason)
}

// leaveJob returns what River does with a job that may be another attempt's. Neither the metadata nor the queue of the job changes.
func (a *attempt) leaveJob(after time.Duration) error {
	a.job.Args.keepsQueue = true
	return river.JobSnooze(after)
}

// recordProbe records what the attempt of a probe says about the channel, and returns the verdict on the message. If the service works, the
// pause ends. If the channel is held back, the same message probes again after the wait. Otherwise another message probes: after the wait, or
// at once if this one made no request.
func (o *Outbox[TTx]) recordProbe(ctx context.Context, a *attempt, v verdict, wait time.Duration) verdict {
	pause := o.pauseOf(a.job.Args.Channel)
	switch {
	case v.serviceWorks:
		pause.end(ctx)
	case v.action == pauseChannel:
		v.retryAfter = pause.fail(ctx, wait)
		a.job.Args.keepsQueue = true
	case a.hasEntered():
		pause.fail(ctx, wait)
	}
	return v
}

// apply records a verdict and returns what River does with the job.
func (o *Outbox[TTx]) apply(ctx context.Context, a *attempt, v verdict, receipt messaging.Receipt) error {
	if v.action != complete && a.hasEntered() && o.isResolvedSent(ctx, a.job) { // a delivery report came before the response
		return o.finishResolved(ctx, a.job)
	}
	setMetadata(ctx, keyClasses, v.classes)
	if v.action == lookUp {
		return o.startLookup(ctx, a.job, v.reason)
	}
	setMetadata(ctx, keyVerdict, v.recorded)
	if v.action == complete {
		o.setReceipt(ctx, a.job, receipt)
		return o.finish(ctx, a.job, rivertype.JobStateCompleted, "")
	}
	setMetadata(ctx, keyReason, v.reason)
	switch v.action {
	case cancel:
		return o.finish(ctx, a.job, rivertype.JobStateCancelled, v.reason)
	case retry:
		return o.retry(ctx, a, v)
	default: // snooze or pauseChannel, where the message waits in the paused queue
		return river.JobSnooze(v.retryAfter)
	}
}

// retry schedules another attempt, or discards the message after too many failures.
func (o *Outbox[TTx]) retry(ctx context.Context, a *attempt, v verdict) error {
	failures := a.metadata.Failures + 1
	setMetadata(ctx, keyFailures, failures)
	if failures >= cmp.Or(a.metadata.MaxAttempts, 1) {
		return o.finish(ctx, a.job, rivertype.JobStateDiscarded, v.reason)
	}
	a.job.Args.retryAfter = max(v.retryAfter, backoff(failures))
	return errors.New(v.reason)
}

// backoff is how long a message waits after its n-th failure. It is about as long as for River's jobs.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}

// snoozeWith snoozes a job for which nothing was tried.
func snoozeWith(ctx context.Context, after time.Duration, reason string) error {
	setMetadata(ctx, keyReason, reason)
	return river.JobSnooze(after)
}

// discardJob makes River discard a job: a person decides about it. River compares the attempts in the row that it gave to the worker.
func discardJob(job *river.Job[messageArgs], err error) error {
	job.JobRow.MaxAttempts = job.JobRow.Attempt
	return err
}

// moveTo moves a job to another queue. If that fails, the job stays in its queue.
func (o *Outbox[TTx]) moveTo(ctx context.Context, job *river.Job[messageArgs], queue string) {
	if job.Queue == queue {
		return
	}
	ctx = context.WithoutCancel(ctx) // a result is recorded although the process stops
	if err := o.database.exec(ctx, moveJob, queue, job.ID); err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a job cannot be moved", "queue", queue, "error", err)
	}
}
