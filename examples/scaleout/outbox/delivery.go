package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// delivery is one delivery of a message from the stream to a worker.
type delivery struct {
	*Worker
	message Message
	key     string
	raw     jetstream.Msg
	log     *slog.Logger
}

// step says how a delivery continues.
type step int

const (
	reread step = iota // the record has changed: read it again
	done               // the message was acknowledged, terminated or returned to the stream
)

// deliver acts on the record of a message until nothing is left to do, or nothing can be done now. When ctx ends, it starts nothing
// more.
func (w *Worker) deliver(ctx context.Context, raw jetstream.Msg) {
	message, err := ParseLine(raw.Data())
	if err != nil {
		w.log.ErrorContext(ctx, "unreadable message in the stream", slog.String("subject", raw.Subject()), slog.Any("error", err))
		w.logFailure(ctx, raw.TermWithReason("not readable"))
		return
	}
	d := &delivery{Worker: w, message: message, key: message.Key(), raw: raw, log: w.log.With(slog.String("key", message.Key()))}
	for {
		e, err := w.records.read(ctx, d.key)
		next := done
		if err == nil {
			next, err = d.act(ctx, e)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			w.logFailure(ctx, raw.Nak())
			return
		case err != nil:
			d.log.ErrorContext(ctx, "message returned to the stream", slog.Any("error", err))
			d.redeliverAfter(ctx, d.options.SettleInterval)
			return
		case next == done:
			return
		}
	}
}

// act takes the step that the state of the record calls for.
func (d *delivery) act(ctx context.Context, e entry) (step, error) {
	if e.revision != 0 && e.Hash != d.message.hash() {
		d.log.ErrorContext(ctx, "the message in the stream does not match its record")
		d.logFailure(ctx, d.raw.TermWithReason(ErrConflict.Error()))
		return done, nil
	}
	switch e.State {
	case Accepted, Refused, Parked:
		d.acknowledge(ctx, e.Record)
		return done, nil
	case Sending:
		return d.checkSending(ctx, e)
	case Unknown:
		return d.settle(ctx, e)
	case Loading, Queued, "":
		return d.send(ctx, e)
	default:
		return done, fmt.Errorf("outbox: this version does not know the record state %q", e.State)
	}
}

// send makes one attempt, once the rate limit allows it and the record shows the attempt as this delivery's. From then on it
// runs to its end, even if ctx ends.
func (d *delivery) send(ctx context.Context, e entry) (step, error) {
	if err := d.limiter.wait(ctx); err != nil {
		return done, err
	}
	if e.revision == 0 { // published without a Loader
		e.Record = Record{Hash: d.message.hash(), Reference: d.message.reference}
	}
	ctx = context.WithoutCancel(ctx)
	claim := e.withState(Sending, "")
	claim.Attempt++
	claim.Worker = fmt.Sprintf("%s/%d", d.name, d.attempts.Add(1))
	// The deadline counts from before the record says sending, so a later reader of the record knows when the send has ended.
	deadline := time.Now().Add(d.options.SendTimeout)
	claimed, ok, err := d.records.swap(ctx, d.key, e.revision, claim)
	if err != nil || !ok {
		return reread, err
	}
	out := outcome{state: Queued, reason: "not sent: the engine responded too late"}
	if time.Now().Before(deadline) {
		sendCtx, cancel := context.WithDeadline(ctx, deadline)
		messageID, err := d.message.body.send(sendCtx, d.client)
		cancel()
		out = newOutcome(d.message.channel, claim.Attempt, messageID, err)
	}
	return d.recordOutcome(ctx, claimed, out)
}

// checkSending handles a record that says sending. The worker that wrote it may be sending, or may have been killed. Once its send must
// have ended without a recorded verdict, the outcome is unknown.
func (d *delivery) checkSending(ctx context.Context, e entry) (step, error) {
	now, err := d.clock.now(ctx)
	if err != nil {
		return done, err
	}
	if left := d.options.SendTimeout - now.Sub(e.since); left > 0 {
		d.redeliverAfter(ctx, left)
		return done, nil
	}
	_, _, err = d.records.swap(ctx, d.key, e.revision, e.withState(Unknown, "the worker that sent it recorded no verdict"))
	return reread, err
}

// recordOutcome records the outcome of an attempt. The process that made the attempt knows more than those that judged by its silence,
// so its outcome replaces an unknown, parked or queued state of the same attempt.
func (d *delivery) recordOutcome(ctx context.Context, e entry, out outcome) (_ step, err error) {
	attempt := e.Attempt
	for {
		record, changed := e.withOutcome(attempt, out, d.raw.Data())
		if !changed {
			d.log.WarnContext(ctx, "the record changed during the send", slog.String("state", string(e.State)), slog.Int("attempt", attempt))
			break
		}
		if e.Attempt > attempt {
			d.log.ErrorContext(ctx, "message may have been sent more than once: an attempt was accepted after another had started",
				slog.Int("attempt", attempt), slog.Int("later_attempt", e.Attempt))
		}
		var ok bool
		if e, ok, err = d.records.swap(ctx, d.key, e.revision, record); err != nil {
			return done, err
		}
		if ok {
			if record.State == Loading {
				if err = finishLoading(ctx, d.records, d.publisher, d.key, e, d.raw.Data()); err != nil {
					return done, err
				}
			}
			break
		}
	}
	switch {
	case e.State.IsFinal():
		d.acknowledge(ctx, e.Record)
		return done, nil
	case out.state == Queued:
		d.redeliverAfter(ctx, backoff(e.Attempt, out.retryAfter))
		return done, nil
	case out.state == Unknown && d.message.channel == SMS:
		d.redeliverAfter(ctx, d.options.SettleInterval)
		return done, nil
	default:
		return reread, nil
	}
}

// withOutcome returns the record with the outcome of one of its attempts, and reports whether that changes it.
func (e entry) withOutcome(attempt int, out outcome, line []byte) (next Record, changed bool) {
	if e.Attempt != attempt {
		if out.state != Accepted {
			return e.Record, false
		}
		next = e.Record
		next.OtherIDs = append(slices.Clip(next.OtherIDs), out.messageID)
		return next, true
	}
	next = e.withState(out.state, out.reason)
	switch out.state {
	case Accepted:
		next.MessageID = out.messageID
		return next, e.State != Accepted
	case Refused:
		return next.withLine(line), e.State != Accepted && e.State != Refused
	case Queued:
		if e.State == Parked { // a parked message has left the stream
			return e.withState(Loading, out.reason).withLine(line), true
		}
		return next, e.State == Sending || e.State == Unknown
	default:
		return next, e.State == Sending
	}
}

// acknowledge removes a message with a final record from the stream.
func (d *delivery) acknowledge(ctx context.Context, r Record) {
	if r.State != Accepted {
		d.logFailure(ctx, d.raw.TermWithReason(terminationReason(r)))
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	d.logFailure(ctx, d.raw.DoubleAck(ctx))
}

// terminationReason returns state and reason of a record on one line, as short as the engine wants it.
func terminationReason(r Record) string {
	const maxBytes = 256
	reason := strings.Join(strings.Fields(string(r.State)+": "+r.Reason), " ")
	return strings.ToValidUTF8(reason[:min(len(reason), maxBytes)], "")
}

// redeliverAfter returns a message to the stream, which delivers it again after wait.
func (d *delivery) redeliverAfter(ctx context.Context, wait time.Duration) {
	d.logFailure(ctx, d.raw.NakWithDelay(max(wait, time.Millisecond)))
}

// logFailure logs an acknowledgement that failed. The engine then delivers the message again, and the record says what to do with it.
func (w *Worker) logFailure(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
		w.log.WarnContext(ctx, "acknowledging a message failed", slog.Any("error", err))
	}
}

// backoff returns a random wait before the next attempt. It grows with each attempt and is at least retryAfter.
func backoff(attempt int, retryAfter time.Duration) time.Duration {
	const shortest, longest, maxRetryAfter = 250 * time.Millisecond, time.Minute, time.Hour
	bound := longest
	if shift := attempt - 1; shift < 8 {
		bound = shortest << max(shift, 0)
	}
	return max(jitter(bound), min(retryAfter, maxRetryAfter))
}
