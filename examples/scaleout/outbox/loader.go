package outbox

import (
	"context"
	"errors"
	"log/slog"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Errors of [Loader.Put].
var (
	// ErrConflict means that the channel and reference ID belong to a message with other content.
	ErrConflict = errors.New("another message has this channel and reference ID")
	// ErrTooLarge means that the message exceeds the engine's limit.
	ErrTooLarge = errors.New("the message is larger than the engine allows")
)

// Loader takes messages in. It is safe for concurrent use, and any number of processes can load at once.
type Loader struct {
	records records
}

// NewLoader returns a loader on a prepared engine.
func NewLoader(ctx context.Context, c *engine.Connection, log *slog.Logger) (*Loader, error) {
	r, err := openRecords(ctx, c, log)
	r.failIfFull = true
	return &Loader{records: r}, err
}

// Put takes one message in. If the message is already known, Put does nothing and reports false, however long ago it was taken in, until
// its record is removed. If an earlier Put of the message was interrupted, Put completes it. A message whose record was lost is taken
// in as one with an unknown outcome.
//
// If Put returns no error, the message will be sent or parked. While the engine is away, Put waits until ctx ends. It returns
// [ErrFull] if the engine has no room.
func (l *Loader) Put(ctx context.Context, m Message) (queued bool, err error) {
	if !l.records.fits(m.line) {
		return false, ErrTooLarge
	}
	record := Record{State: Queued, Lane: string(m.priority), Hash: hash(m.line), Reference: m.reference, Line: m.line}
	e, created, err := l.records.swap(ctx, Entry{Key: m.Key(), Channel: m.channel}, record)
	if err == nil && !created && e.Hash == "" {
		record.State, record.Reason, record.SentAt = Unknown, "its record was lost", e.Since
		record.Token = e.Token
		e, created, err = l.records.swap(ctx, e, record.onLane(settleLane))
	}
	switch {
	case err != nil:
		return false, err
	case e.Hash != record.Hash:
		return false, ErrConflict
	case created:
		_, err = l.records.publish(ctx, e)
		return err == nil, err
	case e.State == Queued: // an earlier Put may have been interrupted
		return l.records.publish(ctx, e)
	default:
		return false, nil
	}
}
