package messagingriver

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

// channelPause is the pause of a channel. While the service, the account or a rate limit holds back the channel, its queue is paused in all
// processes, and messages probe one at a time until the service responds to one.
//
// The rule is that the channel's queue of probes holds at most one message that may make a request. choose puts a message there, and only if
// the queue is empty. The message leaves it when its attempt ends, unless the same message is to probe again. If it expires before, the
// maintenance moves it out. A message that is not due until long after the next probe is moved out by the next choose.
//
// The member "pause" in the metadata of the queue has the time of the pause, its cause, which is the failure of the last probe if there was one,
// how many requests have probed, and when the next one may begin. A pause with another timestamp was made by a person; the outbox never ends it.
type channelPause struct {
	database *database
	logger   *slog.Logger
	now      func() time.Time
	queue    string // of the channel
	probes   string // the queue of its probes
}

func (o *Outbox[TTx]) pauseOf(channel string) *channelPause {
	return &channelPause{
		database: &o.database,
		logger:   o.options.Logger,
		now:      o.options.now,
		queue:    queueOf(channel),
		probes:   probesOf(channel),
	}
}

// isProbe reports whether the message of a job probes a paused channel.
func isProbe(job *river.Job[messageArgs]) bool { return job.Queue == probesOf(job.Args.Channel) }

// begin pauses the channel unless it is paused, and chooses a message to probe after the wait.
func (p *channelPause) begin(ctx context.Context, cause string, wait time.Duration) {
	next := p.now().Add(max(wait, probeBackoff(0))).Format(time.RFC3339Nano)
	hasBegun := false
	err := p.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var err error
		hasBegun, err = p.database.changeOne(ctx, tx, p.database.statements.pauseQueue, p.queue, cause, next)
		if err != nil || !hasBegun {
			return err
		}
		return p.database.pause(ctx, tx, p.queue) // notifies all processes
	})
	if err != nil {
		p.logger.WarnContext(ctx, "messagingriver: a queue cannot be paused", "queue", p.queue, "error", err)
		return
	}
	if hasBegun {
		p.logger.WarnContext(ctx, "messagingriver: the queue is paused", "queue", p.queue, "cause", cause)
		p.choose(ctx)
	}
}

// end resumes the channel after a probe, unless a person paused it.
func (p *channelPause) end(ctx context.Context) {
	hasEnded := false
	err := p.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		var err error
		hasEnded, err = p.database.changeOne(ctx, tx, p.database.statements.forgetPause, p.queue)
		if err != nil || !hasEnded {
			return err
		}
		return p.database.resume(ctx, tx, p.queue) // notifies all processes
	})
	if err != nil {
		p.logger.WarnContext(ctx, "messagingriver: a queue cannot be resumed", "queue", p.queue, "error", err)
		return
	}
	if hasEnded { // at the level of the pause, so that a log of warnings has both
		p.logger.WarnContext(ctx, "messagingriver: the queue is resumed", "queue", p.queue)
	}
}

// choose makes the next message of the channel its probe, unless there is a probe or the outbox did not pause the channel. The probe is due
// when the next request may begin, but not before its own time. A probe whose campaign was paused during its attempt is paused, too.
func (p *channelPause) choose(ctx context.Context) {
	err := p.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		state, err := p.lock(ctx, tx)
		if err != nil || !state.isPaused {
			return err
		}
		wait := max(0, state.next.Sub(p.now()))
		if err = p.database.execOn(ctx, tx, p.database.statements.pauseProbes, p.queue, p.probes); err != nil {
			return err
		}
		if err = p.moveOutPostponed(ctx, tx, wait); err != nil {
			return err
		}
		_, err = p.database.changeOne(ctx, tx, p.database.statements.chooseProbe, p.queue, p.probes, wait.Seconds(), haltLength.Seconds())
		return err
	})
	if err != nil {
		p.logger.WarnContext(ctx, "messagingriver: no message can probe", "queue", p.queue, "error", err)
	}
}

// moveOutPostponed moves messages that are not due until long after the next probe back to the queue of the channel. A guard postponed such a
// message while it was the probe, and the call of leave for it failed.
func (p *channelPause) moveOutPostponed(ctx context.Context, tx riverdriver.ExecutorTx, wait time.Duration) error {
	later := wait + time.Minute
	return p.database.execOn(ctx, tx, p.database.statements.returnPostponed, p.queue, p.probes, later.Seconds())
}

// fail records why the request of a probe failed, and returns how long the next request waits: at least as long as least.
func (p *channelPause) fail(ctx context.Context, cause string, least time.Duration) time.Duration {
	wait := max(least, probeBackoff(0))
	err := p.database.inTx(ctx, func(ctx context.Context, tx riverdriver.ExecutorTx) error {
		state, err := p.lock(ctx, tx)
		if err != nil || !state.isPaused {
			return err
		}
		probes := state.probes + 1
		wait = max(least, probeBackoff(probes))
		next := p.now().Add(wait).Format(time.RFC3339Nano)
		return p.database.execOn(ctx, tx, p.database.statements.countProbe, p.queue, probes, next, cause)
	})
	if err != nil {
		p.logger.WarnContext(ctx, "messagingriver: a probe cannot be counted", "queue", p.queue, "error", err)
	}
	return wait
}

// leave moves the message of a job from the queue of probes to the queue of the channel, if it is there, and chooses another message.
func (p *channelPause) leave(ctx context.Context, job int64) {
	ctx = context.WithoutCancel(ctx) // although the process stops
	err := p.database.exec(ctx, moveProbe, p.queue, job, p.probes)
	if err != nil {
		p.logger.WarnContext(ctx, "messagingriver: a probe cannot be moved to its queue", "queue", p.queue, "error", err)
	}
	p.choose(ctx)
}

// pauseState is what the metadata of a queue says about the outbox's pause.
type pauseState struct {
	isPaused bool      // the outbox paused the queue
	probes   int       // how many requests have probed
	next     time.Time // when the next request may begin, or zero if it may begin at once
}

// lock returns the state of the pause and locks it until the transaction ends, so that two processes do not choose two messages.
func (p *channelPause) lock(ctx context.Context, tx riverdriver.ExecutorTx) (pauseState, error) {
	var state pauseState
	var next string
	var err error
	state.isPaused, err = p.database.scan(ctx, tx, []any{&state.probes, &next}, p.database.statements.lockPause, p.queue)
	if err != nil {
		return pauseState{}, err
	}
	state.next, _ = time.Parse(time.RFC3339Nano, next)
	return state, nil
}

// probeBackoff is how long the next request waits at least after n requests of the same pause: twice as long as the one before, up to a
// minute.
func probeBackoff(n int) time.Duration {
	const doublings = 6
	return min(time.Second<<min(n, doublings), time.Minute)
}
