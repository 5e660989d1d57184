package outbox

import (
	"context"
	"errors"
	"fmt"
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
	records   records
	publisher publisher
}

// NewLoader returns a loader on a prepared engine.
func NewLoader(ctx context.Context, c *engine.Connection, log *slog.Logger) (*Loader, error) {
	r, err := openRecords(ctx, c, log)
	if err != nil {
		return nil, err
	}
	return &Loader{records: r, publisher: publisher{c, log}}, nil
}

// Put takes one message in. If the message is already known, Put does nothing and reports false, however long ago it was taken in. If
// an earlier Put of the message was interrupted, Put completes it.
//
// If Put returns no error, the message will be sent. While the engine is away, Put waits until ctx ends.
func (l *Loader) Put(ctx context.Context, m Message) (queued bool, err error) {
	data, err := m.Line()
	if err != nil {
		return false, fmt.Errorf("outbox: encoding the message: %w", err)
	}
	if !l.publisher.fits(data) {
		return false, ErrTooLarge
	}
	e, created, err := l.records.swap(ctx, m.Key(), 0, Record{State: Loading, Hash: m.hash(), Reference: m.reference})
	if err != nil {
		return false, err
	}
	switch {
	case !created && e.Hash != m.hash():
		return false, ErrConflict
	case !created && e.State != Loading:
		return false, nil
	}
	return true, finishLoading(ctx, l.records, l.publisher, m.Key(), e, data)
}

// finishLoading publishes a message whose record says loading.
func finishLoading(ctx context.Context, r records, p publisher, key string, e entry, data []byte) error {
	if err := p.publish(ctx, key, e.Attempt, data); err != nil {
		return err
	}
	// If the record has changed, a worker or another loader was faster, and the message is on its way.
	_, _, err := r.swap(ctx, key, e.revision, e.withState(Queued, ""))
	return err
}
