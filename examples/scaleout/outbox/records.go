package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// records is the bucket of records.
type records struct {
	bucket jetstream.KeyValue
	log    *slog.Logger
}

func openRecords(ctx context.Context, c *engine.Connection, log *slog.Logger) (records, error) {
	bucket, err := openBucket(ctx, c, log, engine.Records)
	return records{bucket, log}, err
}

func openBucket(ctx context.Context, c *engine.Connection, log *slog.Logger, name string) (bucket jetstream.KeyValue, err error) {
	_, err = retry(ctx, log, func(ctx context.Context) (err error) {
		bucket, err = c.Bucket(ctx, name)
		return err
	})
	return bucket, err
}

// entry is a record as it was read or written.
type entry struct {
	Record
	revision uint64    // 0 if there is no record
	since    time.Time // when it was written, by the engine's clock
}

// read returns the record of a key, or an entry without a state if there is none.
func (r records) read(ctx context.Context, key string) (entry, error) {
	var found jetstream.KeyValueEntry
	_, err := retry(ctx, r.log, func(ctx context.Context) (err error) {
		found, err = r.bucket.Get(ctx, key)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return entry{}, nil
	}
	if err != nil {
		return entry{}, fmt.Errorf("outbox: reading a record: %w", err)
	}
	return newEntry(found)
}

func newEntry(found jetstream.KeyValueEntry) (entry, error) {
	e := entry{revision: found.Revision(), since: found.Created()}
	if err := json.Unmarshal(found.Value(), &e.Record); err != nil {
		return entry{}, fmt.Errorf("outbox: record %s is unreadable: %w", found.Key(), err)
	}
	return e, nil
}

// swap replaces the record with the given revision, or creates it if revision is 0. If the record has another revision by now, swap
// reports false and returns the current entry. It retries until the result is certain or ctx ends.
func (r records) swap(ctx context.Context, key string, revision uint64, next Record) (e entry, ok bool, err error) {
	value, err := json.Marshal(next)
	if err != nil {
		return entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
	}
	for maybeWritten := false; ; {
		var written uint64
		retried, err := retry(ctx, r.log, func(ctx context.Context) (err error) {
			if revision == 0 {
				written, err = r.bucket.Create(ctx, key, value)
			} else {
				written, err = r.bucket.Update(ctx, key, value, revision)
			}
			return err
		})
		if err == nil {
			return entry{Record: next, revision: written}, true, nil
		}
		if !engine.IsConflict(err) {
			return entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
		}
		maybeWritten = maybeWritten || retried
		current, err := r.read(ctx, key)
		if err != nil {
			return entry{}, false, err
		}
		if current.revision != revision {
			// An earlier try may have written it with its response lost.
			same, err := json.Marshal(current.Record)
			return current, maybeWritten && err == nil && bytes.Equal(same, value), err
		}
		// A cluster may be writing another record, which may still fail, or this one; or the node that was read lags behind.
		if !sleep(ctx, jitter(minPause)) {
			return entry{}, false, ctx.Err()
		}
	}
}

// Entry is a record with its key.
type Entry struct {
	Key     string
	Channel Channel
	// Since is when the record was written, by the engine's clock.
	Since time.Time
	Record
}

// All yields every record once, in no particular order. It ends after the first error.
func All(ctx context.Context, c *engine.Connection) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		bucket, err := c.Bucket(ctx, engine.Records)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		watch(ctx, bucket, nil, func(e Entry, err error) bool {
			return (err != nil || e.Key != "") && yield(e, err)
		})
	}
}

// Follow yields every record in no particular order, then an Entry without a key, then each record that changes, until ctx ends. After
// the connection was lost it starts again, so a record can come more than once. It ends after the first error.
func Follow(ctx context.Context, c *engine.Connection) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		bucket, err := c.Bucket(ctx, engine.Records)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		reconnected := c.NATS.StatusChanged(nats.CONNECTED)
		defer c.NATS.RemoveStatusListener(reconnected)
		for watch(ctx, bucket, reconnected, yield) {
		}
	}
}

// watch yields records until yield returns false or an error has ended it. It reports true if it must start again because the
// connection was lost.
func watch(ctx context.Context, bucket jetstream.KeyValue, reconnected <-chan nats.Status, yield func(Entry, error) bool) (restart bool) {
	watcher, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil && reconnected != nil && sleep(ctx, maxPause/4) {
		return true // the connection was lost again
	}
	if err != nil {
		yield(Entry{}, fmt.Errorf("outbox: watching the records: %w", err))
		return false
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case <-ctx.Done():
			yield(Entry{}, ctx.Err())
			return false
		case <-reconnected:
			return true
		case found, ok := <-watcher.Updates():
			next, err := Entry{}, errors.New("outbox: watching the records: ended by the engine")
			if ok {
				next, err = newWatchedEntry(found)
			}
			if !yield(next, err) || err != nil {
				return false
			}
		}
	}
}

// newWatchedEntry converts an entry of a watcher, which is nil once all existing entries have come.
func newWatchedEntry(found jetstream.KeyValueEntry) (Entry, error) {
	if found == nil {
		return Entry{}, nil
	}
	e, err := newEntry(found)
	channel, _, _ := strings.Cut(found.Key(), ".")
	return Entry{Key: found.Key(), Channel: Channel(channel), Since: e.since, Record: e.Record}, err
}
