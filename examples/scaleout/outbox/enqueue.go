package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Errors of Loader.Put, for errors.Is.
var (
	// ErrConflict: another message is known under this channel and reference ID.
	ErrConflict = errors.New("another message has this channel and reference ID")
	// ErrTooLarge: the engine takes no message of this size.
	ErrTooLarge = errors.New("the message is larger than the engine takes")
)

// Loader takes messages in. It is safe for concurrent use, and any number of processes may load at once.
type Loader struct {
	records   records
	publisher publisher
}

// NewLoader makes a loader on an engine that is prepared.
func NewLoader(ctx context.Context, c *engine.Connection, log *slog.Logger) (*Loader, error) {
	r, err := openRecords(ctx, c, log)
	if err != nil {
		return nil, err
	}
	return &Loader{records: r, publisher: publisher{c, log}}, nil
}

// Put takes one message in. It reports false where the message is known: then nothing happens, however long ago that was and
// whatever became of it. A message whose taking in was broken off is taken in to its end.
//
// When Put returns without an error, the message will be sent. While the engine is away it waits, as long as the context lives.
func (l *Loader) Put(ctx context.Context, m Message) (queued bool, err error) {
	data, err := m.Line()
	if err != nil {
		return false, fmt.Errorf("outbox: writing the message: %w", err)
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

// finishLoading brings a message whose record says loading into the stream.
func finishLoading(ctx context.Context, r records, p publisher, key string, e entry, data []byte) error {
	if err := p.put(ctx, key, e.Attempt, data); err != nil {
		return err
	}
	// Where the record has changed, a worker or another loader was faster, and the message is on its way.
	_, _, err := r.swap(ctx, key, e.revision, e.becomes(Queued, ""))
	return err
}
