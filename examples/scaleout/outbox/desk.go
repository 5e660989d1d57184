package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Decision is what a person decides on a message.
type Decision string

// The decisions.
const (
	// WasSent: the service has the message. It becomes accepted.
	WasSent Decision = "sent"
	// SendAgain: the service does not have the message. It is queued.
	SendAgain Decision = "again"
	// Drop: whatever became of the message, it is not to be sent. It becomes refused.
	Drop Decision = "drop"
)

// ErrNothingToDecide says that a message is in a state on which no person decides, or that there is none.
var ErrNothingToDecide = errors.New("there is nothing to decide")

// Desk is where a person decides on messages that are parked or refused.
type Desk struct {
	records   records
	publisher publisher
}

// NewDesk makes a desk on an engine that is prepared.
func NewDesk(ctx context.Context, c *engine.Connection, log *slog.Logger) (*Desk, error) {
	r, err := openRecords(ctx, c, log)
	if err != nil {
		return nil, err
	}
	return &Desk{records: r, publisher: publisher{c, log}}, nil
}

// Resolve carries out what a person decided on a message that is parked or refused. Broken off, it is to be repeated: a message that
// was to be sent again says loading until then.
func (d *Desk) Resolve(ctx context.Context, channel Channel, reference string, decision Decision) error {
	at := key(channel, reference)
	for {
		e, err := d.records.read(ctx, at)
		if err != nil {
			return err
		}
		resumed := e.State == Loading && len(e.Line) > 0
		switch {
		case e.revision == 0:
			return fmt.Errorf("outbox: %w: no such message", ErrNothingToDecide)
		case e.State != Parked && e.State != Refused && (!resumed || decision != SendAgain):
			return fmt.Errorf("outbox: %w: the message is %s", ErrNothingToDecide, e.State)
		case decision == SendAgain && len(e.Line) == 0:
			return fmt.Errorf("outbox: %w: the message itself was dropped", ErrNothingToDecide)
		}
		next, err := e.decided(decision)
		if err != nil {
			return err
		}
		if !resumed {
			written, ok, err := d.records.swap(ctx, at, e.revision, next)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			e = written
		}
		if decision == SendAgain {
			return finishLoading(ctx, d.records, d.publisher, at, e, e.Line)
		}
		return nil
	}
}

// decided gives the record after a decision.
func (e entry) decided(decision Decision) (Record, error) {
	switch decision {
	case WasSent:
		return e.becomes(Accepted, "a person found that it was sent"), nil
	case SendAgain: // the record keeps the message until the stream has it
		return e.becomes(Loading, "a person wants it sent again").keeping(e.Line), nil
	case Drop:
		return e.becomes(Refused, "a person dropped it"), nil
	default:
		return Record{}, fmt.Errorf("outbox: the decision %q is none of %s, %s and %s", decision, WasSent, SendAgain, Drop)
	}
}
