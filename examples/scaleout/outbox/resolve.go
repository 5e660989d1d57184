package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Decision is an operator's decision on a message.
type Decision string

// The decisions.
const (
	// MarkSent: the service has the message. It becomes accepted.
	MarkSent Decision = "sent"
	// Resend: the service does not have the message. It is queued again.
	Resend Decision = "resend"
	// Drop: the message must not be sent again. It becomes refused.
	Drop Decision = "drop"
)

// ErrNotResolvable means that there is no such message, or that its state leaves nothing to decide.
var ErrNotResolvable = errors.New("nothing to resolve")

// Selection selects messages to list or to resolve. A zero field selects all.
type Selection struct {
	// State is Parked or Refused.
	State State
	// Channel is the channel.
	Channel Channel
	// Reason is a part of the reason in the record, such as "HTTP 401".
	Reason string
}

// Includes reports whether an operator can resolve the message, and the selection has it.
func (s Selection) Includes(e Entry) bool {
	return (e.State == Parked || e.State == Refused) && (s.State == "" || e.State == s.State) && (s.Channel == "" || e.Channel == s.Channel) &&
		strings.Contains(e.Reason, s.Reason)
}

// ResolveAll carries out a decision on every selected message, and returns the number of messages. The note goes into their records. Those
// that cannot be resolved, or have been resolved by someone else meanwhile, are skipped. If it is interrupted, call it again.
func (o *Outbox) ResolveAll(ctx context.Context, selection Selection, decision Decision, note string) (resolved int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	const atOnce = 32
	var done atomic.Int64
	var workers sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for e, readErr := range o.All(ctx) {
		switch {
		case errors.Is(readErr, ErrUnreadable), readErr == nil && !selection.Includes(e):
			continue
		case readErr != nil: // the last of the sequence
			err = readErr
			continue
		}
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			switch resolveErr := o.resolve(ctx, e, decision, note); {
			case resolveErr == nil:
				done.Add(1)
			case !errors.Is(resolveErr, ErrNotResolvable):
				cancel(resolveErr)
			}
		})
	}
	workers.Wait()
	return int(done.Load()), errors.Join(context.Cause(ctx), err)
}

// Resolve carries out a decision on one parked or refused message. If it is interrupted, call it again with the same decision.
func (o *Outbox) Resolve(ctx context.Context, channel Channel, reference string, decision Decision, note string) error {
	e, err := o.read(ctx, key(channel, reference))
	if err != nil {
		return err
	}
	return o.resolve(ctx, e, decision, note)
}

func (o *Outbox) resolve(ctx context.Context, e Entry, decision Decision, note string) error {
	for {
		next, err := e.resolved(decision, note)
		switch {
		case err != nil:
			return err
		case e.revision == 0:
			return fmt.Errorf("outbox: %w: no such message", ErrNotResolvable)
		case e.State == Queued && decision == Resend: // perhaps an interrupted call
			_, err = o.publish(ctx, e)
			return err
		case e.State != Parked && e.State != Refused:
			return fmt.Errorf("outbox: %w: the message is %s", ErrNotResolvable, e.State)
		case decision == Resend && len(e.Line) == 0:
			return fmt.Errorf("outbox: %w: the record does not hold the message", ErrNotResolvable)
		}
		written, ok, err := o.swap(ctx, e, next)
		if ok && decision == Resend {
			_, err = o.publish(ctx, written)
		}
		if ok || err != nil {
			return err
		}
		e = written
	}
}

// resolved returns the record after a decision.
func (e Entry) resolved(decision Decision, note string) (Record, error) {
	if note != "" {
		note = ": " + note
	}
	switch decision {
	case MarkSent:
		return e.withState(Accepted, "an operator found that it was sent"+note), nil
	case Resend:
		lane := Normal
		if m, err := ParseLine(e.Line); err == nil {
			lane = m.priority
		}
		return e.withState(Queued, "an operator wants it sent again"+note).onLane(string(lane)), nil
	case Drop:
		return e.withState(Refused, "an operator dropped it"+note), nil
	default:
		return Record{}, fmt.Errorf("outbox: the decision is %q, want %s, %s or %s", decision, MarkSent, Resend, Drop)
	}
}
