package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// delivery is one delivery of a token to a worker.
type delivery struct {
	*Worker
	message Message
	raw     jetstream.Msg
	tries   int // deliveries of the token so far
	log     *slog.Logger
}

// step says how a delivery continues.
type step bool

const (
	reread step = true  // the record has changed: read it again
	done   step = false // the token was acknowledged or returned to the stream
)

// deliver acts on the record that a token stands for until nothing is left to do, or nothing can be done now. When ctx ends, it starts
// nothing more; what it has started goes on until work ends.
func (w *Worker) deliver(ctx, work context.Context, raw jetstream.Msg) {
	d := &delivery{Worker: w, raw: raw, log: w.outbox.engine.Log}
	metadata, err := raw.Metadata()
	key, ok := keyOfSubject(raw.Subject())
	if err != nil || !ok {
		w.alarm(ctx, "bad_token", "the stream held something else than a token, which was removed", slog.String("subject", raw.Subject()))
		w.logFailure(ctx, raw.TermWithReason("not a token"))
		return
	}
	d.tries, d.log = int(metadata.NumDelivered), d.log.With(slog.String("key", key)) //nolint:gosec // never that many
	for {
		e, err := w.outbox.read(ctx, key)
		next := done
		if err == nil {
			next, err = d.act(ctx, work, e)
		}
		switch {
		case err != nil && (ctx.Err() != nil || work.Err() != nil):
			w.logFailure(ctx, raw.Nak())
			return
		case err != nil:
			d.log.ErrorContext(ctx, "token returned to the stream", slog.Any("error", err))
			_, _ = d.redeliverAfter(ctx, backoff(d.tries, 0))
			return
		case next == done:
			return
		}
	}
}

// act takes the step that the state of the record calls for.
func (d *delivery) act(ctx, work context.Context, e Entry) (step, error) {
	if e.revision == 0 { // nobody knows what became of the message
		d.alarm(ctx, "record_lost", "a record was lost; load its message again", slog.String("key", e.Key))
		return d.become(ctx, e, lostRecord())
	}
	if e.State.IsFinal() {
		return d.acknowledge(work)
	}
	if d.outbox.subject(e) != d.raw.Subject() { // another token stands for the message by now: make sure that the stream has it
		if _, err := d.outbox.publish(work, e); err != nil {
			return done, err
		}
		return d.acknowledge(work)
	}
	var err error
	if d.message, err = d.parse(e.Line); err != nil {
		return d.leaveToOthers(ctx, e, err)
	}
	switch e.State {
	case Sending:
		return d.checkSending(ctx, e)
	case Unknown:
		return d.settle(ctx, e)
	case Queued:
		return d.send(ctx, work, e)
	default:
		return done, fmt.Errorf("outbox: the state is %q", e.State)
	}
}

// leaveToOthers returns a message that this version cannot read, and parks it if no other version takes it.
func (d *delivery) leaveToOthers(ctx context.Context, e Entry, problem error) (step, error) {
	if d.tries > d.maxTries {
		return d.park(ctx, e, "no worker could read the message: "+problem.Error())
	}
	d.log.WarnContext(ctx, "this version cannot read the message, leaving it to others", slog.Any("error", problem))
	return d.redeliverAfter(ctx, backoff(d.tries, 0))
}

// send makes one attempt, once the breaker and the rate limit allow it and the record shows the attempt as this delivery's. From then on it
// runs to its end, even if ctx ends.
func (d *delivery) send(ctx, work context.Context, e Entry) (step, error) {
	probe, err := d.breakers[e.Channel].wait(ctx)
	if err != nil {
		return done, err
	}
	out := outcome{untried: true}
	if probe {
		defer func() { d.breakers[e.Channel].report(work, true, out) }()
	}
	allowed, err := d.limiters[string(d.message.priority)].wait(ctx)
	if err != nil {
		return done, err
	}
	now, err := d.clock.now(ctx)
	if err != nil {
		return done, err
	}
	timeout := d.options.SendTimeout
	if !d.message.expires.IsZero() {
		if timeout = min(timeout, d.message.expires.Sub(now)); timeout <= 0 {
			return d.become(ctx, e, e.withState(Refused, "it expired before it was sent"))
		}
	}
	claim := e.withState(Sending, "")
	claim.Attempt++
	claim.SentAt = now
	claim.Worker = fmt.Sprintf("%s/%d", d.name, d.attempts.Add(1))
	// The deadline counts from before the record says sending, so a later reader of the record knows when the send has ended.
	a := &attempt{
		limiter: d.limiters[string(d.message.priority)], elapsed: d.clock.elapsed, permit: allowed,
		deadline: d.clock.elapsed() + timeout, wall: time.Now().Add(timeout).Round(0),
	}
	claimed, ok, err := d.outbox.swap(work, e, claim)
	switch {
	case err != nil:
		return done, err
	case !ok && claimed.Worker == claim.Worker:
		// It was written, with its response lost, and another worker has judged it since. Only this process knows that it sent nothing.
		return d.recordOutcome(work, claimed, notWritten("the engine responded too late"))
	case !ok:
		return reread, nil
	}
	sendCtx, cancel := context.WithTimeout(a.context(work), a.deadline-d.clock.elapsed())
	messageID, err := d.message.send(sendCtx, d.client)
	cancel()
	if reason := a.reason(); reason != "" {
		out = notWritten(reason)
	} else {
		out = newOutcome(e.Channel, claim.Attempt, messageID, err)
	}
	if !probe {
		d.breakers[e.Channel].report(work, false, out)
	}
	return d.recordOutcome(work, claimed, out)
}

// checkSending handles a record that says sending. The worker that wrote it may be sending, or may have been killed. Once its send must
// have ended without a recorded verdict, the outcome is unknown.
func (d *delivery) checkSending(ctx context.Context, e Entry) (step, error) {
	now, err := d.clock.now(ctx)
	if err != nil {
		return done, err
	}
	if left := d.options.SendTimeout - now.Sub(e.Since); left > 0 {
		return d.redeliverAfter(ctx, left)
	}
	return d.become(ctx, e, e.withState(Unknown, "the worker that sent it recorded no verdict").onLane(settleLane))
}

// recordOutcome records the outcome of an attempt. The process that made the attempt knows more than those that judged by its silence, so
// its outcome replaces what they recorded of the same attempt. An attempt that was overtaken by a later one is added to the record.
func (d *delivery) recordOutcome(work context.Context, e Entry, out outcome) (_ step, err error) {
	attempt := e.Attempt
	d.options.Metrics.Count("scaleout_attempts_total", "channel", string(e.Channel), "outcome", string(out.state))
	for {
		record, changed := e.withOutcome(attempt, out, d.message.priority)
		if !changed {
			break
		}
		if e.Attempt > attempt {
			d.alarm(work, "overtaken", "message may have been sent more than once: an attempt ended after another had started",
				slog.String("key", e.Key), slog.Int("attempt", attempt), slog.Int("later_attempt", e.Attempt), slog.String("outcome", string(out.state)))
		}
		var ok bool
		if e, ok, err = d.outbox.swap(work, e, record); err != nil {
			d.alarm(work, "unrecorded", "the outcome of a send could not be recorded",
				slog.String("key", e.Key), slog.String("outcome", string(out.state)), slog.String("message_id", out.messageID))
			return done, err
		}
		if ok {
			break
		}
		if e.revision == 0 { // removed by an operator, or after KeepRecords
			d.alarm(work, "record_lost", "the record of a message was removed while it was sent", slog.String("key", e.Key))
			return d.acknowledge(work)
		}
	}
	if e.State == Queued && d.outbox.subject(e) == d.raw.Subject() {
		wait := backoff(e.Attempt, out.retryAfter)
		if out.account { // the breaker says when
			wait = engine.Jitter(time.Second)
		}
		return d.redeliverAfter(work, wait)
	}
	return reread, nil
}

// withOutcome returns the record with the outcome of one of its attempts, and reports whether that changes it.
func (e Entry) withOutcome(attempt int, out outcome, priority Priority) (next Record, changed bool) {
	if e.Attempt != attempt {
		next = e.Record
		next.Overtaken = append(slices.Clip(next.Overtaken), Overtaken{attempt, out.state, out.messageID})
		return next, true
	}
	next = e.withState(out.state, out.reason)
	switch out.state {
	case Accepted:
		next.MessageID = out.messageID
		return next, e.State != Accepted
	case Queued: // it was parked or is being looked up, and its token with it
		if e.State != Sending {
			next = next.onLane(string(priority))
		}
		return next, e.State == Sending || e.State == Unknown || e.State == Parked && len(e.Line) > 0
	case Refused:
		return next, e.State != Accepted && e.State != Refused
	default: // it may be queued again, because it was not listed
		return next.onLane(settleLane), e.State == Sending || e.State == Queued
	}
}

// become changes the record, unless it has changed already.
func (d *delivery) become(ctx context.Context, e Entry, next Record) (step, error) {
	_, _, err := d.outbox.swap(ctx, e, next)
	return reread, err
}

// park leaves a message to an operator.
func (d *delivery) park(ctx context.Context, e Entry, reason string) (step, error) {
	d.alarm(ctx, "parked", "message parked: an operator has to decide", slog.String("key", e.Key), slog.String("reason", reason))
	return d.become(ctx, e, e.withState(Parked, reason))
}

// acknowledge removes the token from the stream.
func (d *delivery) acknowledge(ctx context.Context) (step, error) {
	d.logFailure(ctx, d.raw.Ack())
	return done, nil
}

// redeliverAfter returns the token to the stream, which delivers it again after wait.
func (d *delivery) redeliverAfter(ctx context.Context, wait time.Duration) (step, error) {
	d.logFailure(ctx, d.raw.NakWithDelay(max(wait, time.Millisecond)))
	return done, nil
}

// logFailure logs an acknowledgement that failed. The engine then delivers the token again, and the record says what to do with it.
func (w *Worker) logFailure(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
		w.outbox.engine.Log.WarnContext(ctx, "acknowledging a token failed", slog.Any("error", err))
	}
}

// backoff returns a random wait before the next try. It grows with each try, up to five minutes, and is at least retryAfter.
func backoff(try int, retryAfter time.Duration) time.Duration {
	const shortest, longest, maxRetryAfter = 250 * time.Millisecond, 5 * time.Minute, time.Hour
	bound := min(shortest<<min(max(try-1, 0), 12), longest)
	return max(bound/2+engine.Jitter(bound/2), min(retryAfter, maxRetryAfter))
}
