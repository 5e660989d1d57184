package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// records are the records and tokens of an environment.
type records struct {
	engine *engine.Connection
	bucket jetstream.KeyValue
	setup  engine.Setup
	log    *slog.Logger
	// failIfFull is for what can stop and tell an operator. A worker waits for room.
	failIfFull bool
}

// ErrFull means that the engine has no room for the message.
var ErrFull = errors.New("the engine is full")

func openRecords(ctx context.Context, c *engine.Connection, log *slog.Logger) (r records, err error) {
	r = records{engine: c, log: log}
	_, err = retry(ctx, log, func(ctx context.Context) (err error) {
		if r.bucket, err = c.Bucket(ctx, engine.Records); err == nil {
			r.setup, err = c.Setup(ctx)
		}
		return err
	})
	return r, err
}

// read returns the record of a key, or an entry without a state if there is none.
func (r records) read(ctx context.Context, key string) (Entry, error) {
	var found jetstream.KeyValueEntry
	_, err := retry(ctx, r.log, func(ctx context.Context) (err error) {
		found, err = r.bucket.Get(ctx, key)
		return err
	})
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return Entry{Key: key, Channel: channelOf(key)}, nil
	}
	if err != nil {
		return Entry{}, fmt.Errorf("outbox: reading a record: %w", err)
	}
	return newEntry(key, found.Value(), found.Revision(), found.Created())
}

// ErrUnreadable means that a record is not one of this version.
var ErrUnreadable = errors.New("outbox: unreadable record")

func newEntry(key string, value []byte, revision uint64, since time.Time) (Entry, error) {
	e := Entry{Key: key, Channel: channelOf(key), revision: revision, Since: since}
	if err := json.Unmarshal(value, &e.Record); err != nil || !slices.Contains(States(), e.State) {
		return e, fmt.Errorf("%w: %s", ErrUnreadable, key)
	}
	return e, nil
}

// swap replaces the record with the entry's revision, or creates it if the revision is 0. If the record has another revision by now,
// swap reports false and returns the current entry. It retries until the result is certain or ctx ends.
func (r records) swap(ctx context.Context, e Entry, next Record) (written Entry, ok bool, err error) {
	value, err := json.Marshal(next)
	if err != nil {
		return Entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
	}
	expected := e.revision
	for maybeWritten := false; ; {
		options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(expected)}
		if next.State == Accepted || next.State == Refused {
			options = append(options, jetstream.WithMsgTTL(r.setup.KeepRecords)) // the engine removes it
		}
		var ack *jetstream.PubAck
		retried, err := retry(ctx, r.log, func(ctx context.Context) (err error) {
			ack, err = r.engine.JetStream.Publish(ctx, r.engine.BucketSubject(engine.Records, e.Key), value, options...)
			return r.orFull(err)
		})
		if err == nil {
			return Entry{Key: e.Key, Channel: e.Channel, Record: next, revision: ack.Sequence}, true, nil
		}
		if !engine.IsConflict(err) {
			return Entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
		}
		maybeWritten = maybeWritten || retried
		current, err := r.read(ctx, e.Key)
		if err != nil {
			return Entry{}, false, err
		}
		if current.revision != e.revision {
			// An earlier try may have written it with its response lost.
			same, encodeErr := json.Marshal(current.Record)
			return current, maybeWritten && bytes.Equal(same, value), encodeErr
		}
		if e.revision == 0 {
			if expected, err = r.removal(ctx, e.Key); err != nil {
				return Entry{}, false, err
			}
		}
		// A cluster may be writing another record, which may still fail, or this one; or the node that was read lags behind.
		if !sleep(ctx, jitter(minPause)) {
			return Entry{}, false, ctx.Err()
		}
	}
}

// removal returns the revision of the mark that a record was removed, or 0 if there is none.
func (r records) removal(ctx context.Context, key string) (revision uint64, err error) {
	_, err = retry(ctx, r.log, func(ctx context.Context) error {
		stream, streamErr := r.engine.JetStream.Stream(ctx, r.engine.BucketStream(engine.Records))
		if streamErr != nil {
			return streamErr
		}
		last, lastErr := stream.GetLastMsgForSubject(ctx, r.engine.BucketSubject(engine.Records, key))
		if errors.Is(lastErr, jetstream.ErrMsgNotFound) {
			return nil
		}
		if lastErr == nil && len(last.Data) == 0 {
			revision = last.Sequence
		}
		return lastErr
	})
	return revision, err
}

// subject returns the subject of the token that stands for a message.
func (r records) subject(e Entry) string {
	_, encoded, _ := strings.Cut(e.Key, ".")
	return r.engine.OutboxSubject(string(e.Channel), e.Lane, encoded+"."+strconv.Itoa(e.Token))
}

// keyOfSubject returns the key of the record that a token stands for.
func keyOfSubject(subject string) (key string, ok bool) {
	parts := strings.Split(subject, ".")
	const environment, channel, encoded, all = 0, 2, 4, 6
	if len(parts) != all || parts[environment] == "" {
		return "", false
	}
	return parts[channel] + "." + parts[encoded], true
}

// publish creates the token of a message. It reports false if the stream has the token: a token exists once.
func (r records) publish(ctx context.Context, e Entry) (created bool, err error) {
	_, err = retry(ctx, r.log, func(ctx context.Context) error {
		_, publishErr := r.engine.JetStream.Publish(ctx, r.subject(e), nil)
		return r.orFull(publishErr)
	})
	if engine.IsPresent(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("outbox: publishing: %w", err)
	}
	return true, nil
}

func (r records) orFull(err error) error {
	if r.failIfFull && engine.IsFull(err) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// fits reports whether a message fits in a record.
func (r records) fits(line []byte) bool {
	const overhead = 8 << 10 // of a record, besides the message
	return int64(len(line)) <= r.engine.NATS.MaxPayload()-overhead
}

// All yields every record once, in no particular order. A record that cannot be read comes with an error that matches [ErrUnreadable];
// any other error ends the sequence. Memory does not grow with the number of records.
func All(ctx context.Context, c *engine.Connection) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range Follow(ctx, c) {
			if err == nil && e.Key == "" || !yield(e, err) {
				return
			}
		}
	}
}

// Follow is like All, but then yields an Entry without a key and continues with each record that changes, until ctx ends.
func Follow(ctx context.Context, c *engine.Connection) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		_, err := c.Bucket(ctx, engine.Records)
		if err == nil {
			err = follow(ctx, c, yield)
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("outbox: following the records: %w", err))
		}
	}
}

// follow returns nil if yield has returned false.
func follow(ctx context.Context, c *engine.Connection, yield func(Entry, error) bool) error {
	// A pull consumer: the engine sends no more than this process has asked for.
	consumer, err := c.JetStream.OrderedConsumer(ctx, c.BucketStream(engine.Records), jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverAllPolicy, // a subject has one message,
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(2000))
	if err != nil {
		return err
	}
	defer messages.Stop()
	complete := consumer.CachedInfo().NumPending == 0
	if complete && !yield(Entry{}, nil) {
		return nil
	}
	prefix := c.BucketSubject(engine.Records, "")
	for {
		message, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return err
		}
		metadata, err := message.Metadata()
		if err != nil {
			return err
		}
		if len(message.Data()) > 0 { // otherwise the engine or an operator has removed the record
			e, entryErr := newEntry(strings.TrimPrefix(message.Subject(), prefix), message.Data(), metadata.Sequence.Stream, metadata.Timestamp)
			if !yield(e, entryErr) {
				return nil
			}
		}
		if !complete && metadata.NumPending == 0 {
			complete = true
			if !yield(Entry{}, nil) {
				return nil
			}
		}
	}
}
