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
	_, err = insist(ctx, log, func(ctx context.Context) (err error) {
		bucket, err = c.Bucket(ctx, name)
		return err
	})
	return bucket, err
}

// entry is a record as it stood at a moment.
type entry struct {
	Record
	revision uint64    // 0 where there is no record
	since    time.Time // when it was written, by the engine's clock
}

// read gives the record of a key, or one without a state.
func (r records) read(ctx context.Context, key string) (entry, error) {
	var found jetstream.KeyValueEntry
	_, err := insist(ctx, r.log, func(ctx context.Context) (err error) {
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
		return entry{}, fmt.Errorf("outbox: the record %s is not readable: %w", found.Key(), err)
	}
	return e, nil
}

// swap writes a record in place of the one with this revision, 0 for none. Where another is there by now it reports false and gives
// that one. It returns only when it knows, or when the context has ended.
func (r records) swap(ctx context.Context, key string, revision uint64, next Record) (e entry, ok bool, err error) {
	value, err := json.Marshal(next)
	if err != nil {
		return entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
	}
	for inDoubt := false; ; {
		var written uint64
		repeated, err := insist(ctx, r.log, func(ctx context.Context) (err error) {
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
		if !engine.IsTaken(err) {
			return entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
		}
		inDoubt = inDoubt || repeated
		current, err := r.read(ctx, key)
		if err != nil {
			return entry{}, false, err
		}
		if current.revision != revision {
			// An earlier try may have written it, with its answer lost.
			same, err := json.Marshal(current.Record)
			return current, inDoubt && err == nil && bytes.Equal(same, value), err
		}
		// A cluster is about to write another, which may come to nothing, or is this one; or the node that was read is behind.
		if !sleep(ctx, jitter(shortestPause)) {
			return entry{}, false, ctx.Err()
		}
	}
}

// Entry is a record with the key that it stands under.
type Entry struct {
	Key     string
	Channel Channel
	// Since is when the record was written, by the engine's clock.
	Since time.Time
	Record
}

// All gives every record that there is, each once, in no order. An error ends it.
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

// Follow gives every record that there is, in no order, then an Entry without a key, then each record that changes, until the
// context ends. When the engine was away it begins again, so that a record may come more than once. An error ends it.
func Follow(ctx context.Context, c *engine.Connection) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		bucket, err := c.Bucket(ctx, engine.Records)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		back := c.NATS.StatusChanged(nats.CONNECTED)
		defer c.NATS.RemoveStatusListener(back)
		for watch(ctx, bucket, back, yield) {
		}
	}
}

// watch gives records until yield returns false or an error has ended it. It reports true where it is to begin
// again: back has something.
func watch(ctx context.Context, bucket jetstream.KeyValue, back <-chan nats.Status, yield func(Entry, error) bool) (again bool) {
	watcher, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil && back != nil && sleep(ctx, longestPause/4) {
		return true // it has gone away again
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
		case <-back:
			return true
		case found, ok := <-watcher.Updates():
			next, err := Entry{}, errors.New("outbox: watching the records: the engine ended it")
			if ok {
				next, err = newKeyed(found)
			}
			if !yield(next, err) || err != nil {
				return false
			}
		}
	}
}

// newKeyed reads an entry of a watcher, which is nil where all entries that were there have come.
func newKeyed(found jetstream.KeyValueEntry) (Entry, error) {
	if found == nil {
		return Entry{}, nil
	}
	e, err := newEntry(found)
	channel, _, _ := strings.Cut(found.Key(), ".")
	return Entry{Key: found.Key(), Channel: Channel(channel), Since: e.since, Record: e.Record}, err
}
