package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

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
	records   records
	publisher publisher
}

// NewResolver returns a resolver on a prepared engine.
func NewResolver(ctx context.Context, c *engine.Connection, log *slog.Logger) (*Resolver, error) {
	r, err := openRecords(ctx, c, log)
	if err != nil {
		return nil, err
	}
	return &Resolver{records: r, publisher: publisher{c, log}}, nil
}

// Resolve carries out a decision on a parked or refused message. If it is interrupted, call it again with the same decision: a message
// to be sent again says loading until then.
func (r *Resolver) Resolve(ctx context.Context, channel Channel, reference string, decision Decision) error {
	k := key(channel, reference)
	for {
		e, err := r.records.read(ctx, k)
		if err != nil {
			return err
		}
		interrupted := e.State == Loading && len(e.Line) > 0
		switch {
		case e.revision == 0:
			return fmt.Errorf("outbox: %w: no such message", ErrNotResolvable)
		case e.State != Parked && e.State != Refused && (!interrupted || decision != Resend):
			return fmt.Errorf("outbox: %w: the message is %s", ErrNotResolvable, e.State)
		case decision == Resend && len(e.Line) == 0:
			return fmt.Errorf("outbox: %w: the message was dropped", ErrNotResolvable)
		}
		next, err := e.resolved(decision)
		if err != nil {
			return err
		}
		if !interrupted {
			written, ok, err := r.records.swap(ctx, k, e.revision, next)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			e = written
		}
		if decision == Resend {
			return finishLoading(ctx, r.records, r.publisher, k, e, e.Line)
		}
		return nil
	}
}

// resolved returns the record after a decision.
func (e entry) resolved(decision Decision) (Record, error) {
	switch decision {
	case MarkSent:
		return e.withState(Accepted, "an operator found that it was sent"), nil
	case Resend: // the record keeps the message until it is in the stream
		return e.withState(Loading, "an operator wants it sent again").withLine(e.Line), nil
	case Drop:
		return e.withState(Refused, "an operator dropped it"), nil
	default:
		return Record{}, fmt.Errorf("outbox: the decision is %q, want %s, %s or %s", decision, MarkSent, Resend, Drop)
	}
}
