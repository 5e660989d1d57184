package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
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

// Resolver carries out an operator's decisions on parked and refused messages.
type Resolver struct {
	engine  *engine.Connection
	records records
}

// NewResolver returns a resolver on a prepared engine.
func NewResolver(ctx context.Context, c *engine.Connection, log *slog.Logger) (*Resolver, error) {
	r, err := openRecords(ctx, c, log)
	r.failIfFull = true
	return &Resolver{engine: c, records: r}, err
}

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

// resolveWorkers is the number of messages that are resolved at once.
const resolveWorkers = 32

// ResolveAll carries out a decision on every selected message, and returns the number of messages. Those that cannot be resolved, or have
// been resolved by someone else meanwhile, are skipped. If it is interrupted, call it again.
func (r *Resolver) ResolveAll(ctx context.Context, selection Selection, decision Decision, note string) (resolved int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	entries := make(chan Entry)
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range resolveWorkers {
		workers.Go(func() {
			for e := range entries {
				switch resolveErr := r.resolve(ctx, e, decision, note); {
				case resolveErr == nil:
					mu.Lock()
					resolved++
					mu.Unlock()
				case !errors.Is(resolveErr, ErrNotResolvable):
					cancel(resolveErr)
				}
			}
		})
	}
	for e, followErr := range All(ctx, r.engine) {
		if followErr != nil {
			if !errors.Is(followErr, ErrUnreadable) {
				err = followErr
			}
			continue
		}
		if selection.Includes(e) {
			entries <- e
		}
	}
	close(entries)
	workers.Wait()
	return resolved, errors.Join(context.Cause(ctx), err)
}

// Resolve carries out a decision on one parked or refused message. The note goes into the record. If Resolve is interrupted, call it again
// with the same decision.
func (r *Resolver) Resolve(ctx context.Context, channel Channel, reference string, decision Decision, note string) error {
	e, err := r.records.read(ctx, key(channel, reference))
	if err != nil {
		return err
	}
	return r.resolve(ctx, e, decision, note)
}

func (r *Resolver) resolve(ctx context.Context, e Entry, decision Decision, note string) error {
	for {
		next, err := e.resolved(decision, note)
		switch {
		case e.revision == 0:
			return fmt.Errorf("outbox: %w: no such message", ErrNotResolvable)
		case e.State == Queued && decision == Resend: // perhaps an interrupted call
			_, err = r.records.publish(ctx, e)
			return err
		case e.State != Parked && e.State != Refused:
			return fmt.Errorf("outbox: %w: the message is %s", ErrNotResolvable, e.State)
		case decision == Resend && len(e.Line) == 0:
			return fmt.Errorf("outbox: %w: the record does not hold the message", ErrNotResolvable)
		case err != nil:
			return err
		}
		written, ok, err := r.records.swap(ctx, e, next)
		if err != nil {
			return err
		}
		if e = written; ok && decision == Resend {
			_, err = r.records.publish(ctx, e)
		}
		if ok {
			return err
		}
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
