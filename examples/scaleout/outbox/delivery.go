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

// delivery is a message in the hands of a worker.
type delivery struct {
	*Worker
	message Message
	key     string
	raw     jetstream.Msg
	log     *slog.Logger
}

// step says how a delivery goes on.
type step int

const (
	again step = iota // the record has changed: it is read again
	ended             // the message is acknowledged, terminated or given back
)

// deliver does what the record of a message says, until there is nothing to do or nothing to do now. When stop ends, nothing more is
// begun.
func (w *Worker) deliver(stop context.Context, raw jetstream.Msg) {
	message, err := ParseLine(raw.Data())
	if err != nil {
		w.log.ErrorContext(stop, "a message in the stream is none", slog.String("subject", raw.Subject()), slog.Any("error", err))
		w.say(stop, raw.TermWithReason("not readable"))
		return
	}
	d := &delivery{Worker: w, message: message, key: message.Key(), raw: raw, log: w.log.With(slog.String("key", message.Key()))}
	for {
		e, err := w.records.read(stop, d.key)
		next := ended
		if err == nil {
			next, err = d.act(stop, e)
		}
		if err != nil {
			if stop.Err() == nil {
				d.log.ErrorContext(stop, "a message is given back", slog.Any("error", err))
				d.later(stop, d.options.SettleInterval)
			} else {
				w.say(stop, raw.Nak())
			}
			return
		}
		if next == ended {
			return
		}
	}
}

// act does what one state of the record asks for.
func (d *delivery) act(stop context.Context, e entry) (step, error) {
	if e.revision != 0 && e.Hash != d.message.hash() {
		d.log.ErrorContext(stop, "a message in the stream is another than its record says")
		d.say(stop, d.raw.TermWithReason(ErrConflict.Error()))
		return ended, nil
	}
	switch e.State {
	case Accepted, Refused, Parked:
		d.finish(stop, e.Record)
		return ended, nil
	case Sending:
		return d.doubt(stop, e)
	case Unknown:
		return d.settle(stop, e)
	case Loading, Queued, "":
		return d.send(stop, e)
	default:
		return ended, fmt.Errorf("outbox: a record with the state %q, which this version does not know", e.State)
	}
}

// send makes an attempt, once the rate allows it and the record says that it is this delivery's. From then on it goes to its end,
// whoever asks this process to stop.
func (d *delivery) send(stop context.Context, e entry) (step, error) {
	if err := d.limiter.wait(stop); err != nil {
		return ended, err
	}
	if e.revision == 0 { // somebody published without a loader
		e.Record = Record{Hash: d.message.hash(), Reference: d.message.reference}
	}
	ctx := context.WithoutCancel(stop)
	mine := e.becomes(Sending, "")
	mine.Attempt++
	mine.Worker = fmt.Sprintf("%s/%d", d.name, d.attempts.Add(1))
	// The time runs from before the record says sending, so that whoever finds it there later knows when the send has ended.
	deadline := time.Now().Add(d.options.SendTimeout)
	begun, ok, err := d.records.swap(ctx, d.key, e.revision, mine)
	if err != nil || !ok {
		return again, err
	}
	out := outcome{state: Queued, reason: "not sent: the engine took too long to agree"}
	if time.Now().Before(deadline) {
		limited, cancel := context.WithDeadline(ctx, deadline)
		messageID, failure := d.message.body.send(limited, d.client)
		cancel()
		out = outcomeOf(d.message.channel, mine.Attempt, messageID, failure)
	}
	return d.conclude(ctx, begun, out)
}

// doubt is for a record that says sending. Whoever wrote that may have been killed, or may be at it. When a send must have ended and
// nobody has said how, its outcome is unknown.
func (d *delivery) doubt(stop context.Context, e entry) (step, error) {
	now, err := d.clock.now(stop)
	if err != nil {
		return ended, err
	}
	if left := d.options.SendTimeout - now.Sub(e.since); left > 0 {
		d.later(stop, left)
		return ended, nil
	}
	_, _, err = d.records.swap(stop, d.key, e.revision, e.becomes(Unknown, "the worker that sent it did not say what became of it"))
	return again, err
}

// conclude records what became of an attempt. What the process that made the attempt knows is better than what others concluded
// from its silence, so it goes over an unknown, parked or queued record of the same attempt.
func (d *delivery) conclude(ctx context.Context, e entry, out outcome) (_ step, err error) {
	attempt := e.Attempt
	for {
		record, changes := e.after(attempt, out, d.raw.Data())
		if !changes {
			d.log.WarnContext(ctx, "the record of a message has gone on without its worker", slog.String("state", string(e.State)), slog.Int("attempt", attempt))
			break
		}
		if e.Attempt > attempt {
			d.log.ErrorContext(ctx, "a message may have gone out more than once: it was accepted when another attempt had begun",
				slog.Int("attempt", attempt), slog.Int("later_attempt", e.Attempt))
		}
		var ok bool
		if e, ok, err = d.records.swap(ctx, d.key, e.revision, record); err != nil {
			return ended, err
		}
		if ok {
			if record.State == Loading {
				if err = finishLoading(ctx, d.records, d.publisher, d.key, e, d.raw.Data()); err != nil {
					return ended, err
				}
			}
			break
		}
	}
	switch {
	case e.State.IsFinal():
		d.finish(ctx, e.Record)
		return ended, nil
	case out.state == Queued:
		d.later(ctx, backOff(e.Attempt, out.wait))
		return ended, nil
	case out.state == Unknown && d.message.channel == SMS:
		d.later(ctx, d.options.SettleInterval)
		return ended, nil
	default:
		return again, nil
	}
}

// after gives the record as it is once the outcome of one of its attempts is known, and whether that changes anything.
func (e entry) after(attempt int, out outcome, line []byte) (next Record, changes bool) {
	if e.Attempt != attempt {
		if out.state != Accepted {
			return e.Record, false
		}
		next = e.Record
		next.OtherIDs = append(slices.Clip(next.OtherIDs), out.messageID)
		return next, true
	}
	next = e.becomes(out.state, out.reason)
	switch out.state {
	case Accepted:
		next.MessageID = out.messageID
		return next, e.State != Accepted
	case Refused:
		return next.keeping(line), e.State != Accepted && e.State != Refused
	case Queued:
		if e.State == Parked { // whoever parked it has taken it out of the stream
			return e.becomes(Loading, out.reason).keeping(line), true
		}
		return next, e.State == Sending || e.State == Unknown
	default:
		return next, e.State == Sending
	}
}

// finish takes a message out of the stream for which nothing is left to do.
func (d *delivery) finish(ctx context.Context, r Record) {
	if r.State != Accepted {
		d.say(ctx, d.raw.TermWithReason(oneLine(string(r.State)+": "+r.Reason)))
		return
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	d.say(ctx, d.raw.DoubleAck(limited))
}

// oneLine keeps a reason within what the engine takes as one.
func oneLine(reason string) string {
	const longest = 256
	reason = strings.Join(strings.Fields(reason), " ")
	return strings.ToValidUTF8(reason[:min(len(reason), longest)], "")
}

// later gives a message back for a while.
func (d *delivery) later(ctx context.Context, wait time.Duration) {
	d.say(ctx, d.raw.NakWithDelay(max(wait, time.Millisecond)))
}

// say logs what the engine could not be told. It gives the message to a worker again then, who finds out by the record.
func (w *Worker) say(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, jetstream.ErrMsgAlreadyAckd) {
		w.log.WarnContext(ctx, "the engine could not be told of a message", slog.Any("error", err))
	}
}

// backOff gives a random time before the next attempt, which grows with each, and is at least what the service asked for.
func backOff(attempt int, asked time.Duration) time.Duration {
	const shortest, longest, longestAsked = 250 * time.Millisecond, time.Minute, time.Hour
	bound := longest
	if shift := attempt - 1; shift < 8 {
		bound = shortest << max(shift, 0)
	}
	return max(jitter(bound), min(asked, longestAsked))
}
