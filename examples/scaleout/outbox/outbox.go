package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// Outbox is the outbox of an environment. It is safe for concurrent use, and any number of processes can have one.
type Outbox struct {
	engine  *engine.Connection
	records jetstream.KeyValue
	limits  jetstream.KeyValue
	setup   engine.Setup
	// waitForRoom is for workers. Others can stop and tell an operator.
	waitForRoom bool
}

// Open opens the outbox of a prepared environment.
func Open(ctx context.Context, c *engine.Connection) (*Outbox, error) {
	o := &Outbox{engine: c}
	_, err := c.Retry(ctx, func(ctx context.Context) (err error) {
		if o.records, err = c.Bucket(ctx, engine.Records); err != nil {
			return err
		}
		if o.limits, err = c.Bucket(ctx, engine.Limits); err != nil {
			return err
		}
		o.setup, err = c.Setup(ctx)
		return err
	})
	if err == nil && o.setup.AckWait == 0 {
		err = fmt.Errorf("outbox: the environment %w", engine.ErrNotPrepared)
	}
	return o, err
}

// read returns the record of a key, or an entry without a state if there is none.
func (o *Outbox) read(ctx context.Context, key string) (Entry, error) {
	var found jetstream.KeyValueEntry
	_, err := o.engine.Retry(ctx, func(ctx context.Context) (err error) {
		found, err = o.records.Get(ctx, key)
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
	e := Entry{Key: key, Channel: channelOf(key), Since: since, revision: revision, value: value}
	if err := json.Unmarshal(value, &e.Record); err != nil || !slices.Contains(States(), e.State) {
		return e, fmt.Errorf("%w: %s", ErrUnreadable, key)
	}
	return e, nil
}

// swap replaces the record with the entry's revision, or creates it if the revision is 0. If the record has another revision by now,
// swap reports false and returns the current entry. It retries until the result is certain or ctx ends.
func (o *Outbox) swap(ctx context.Context, e Entry, next Record) (written Entry, ok bool, err error) {
	value, err := json.Marshal(next)
	if err != nil {
		return Entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
	}
	for maybeWritten := false; ; {
		written = Entry{Key: e.Key, Channel: e.Channel, Record: next}
		retried, err := o.engine.Retry(ctx, func(ctx context.Context) (err error) {
			written.revision, err = o.write(ctx, e, next.State, value)
			return o.orFull(err)
		})
		if err == nil {
			return written, true, nil
		}
		if !engine.IsConflict(err) {
			return Entry{}, false, fmt.Errorf("outbox: writing a record: %w", err)
		}
		maybeWritten = maybeWritten || retried
		current, err := o.read(ctx, e.Key)
		if err != nil {
			return Entry{}, false, err
		}
		if current.revision != e.revision {
			return current, maybeWritten && bytes.Equal(current.value, value), nil
		}
		// A cluster may be writing another record, which may still fail, or this one; or the node that was read lags behind.
		if !engine.Sleep(ctx, engine.Jitter(shortPause)) {
			return Entry{}, false, ctx.Err()
		}
	}
}

// shortPause bounds the pause after a conflict with another process.
const shortPause = 20 * time.Millisecond

func (o *Outbox) write(ctx context.Context, e Entry, state State, value []byte) (revision uint64, err error) {
	if e.revision == 0 {
		return o.records.Create(ctx, e.Key, value)
	}
	options := []jetstream.PublishOpt{jetstream.WithExpectLastSequencePerSubject(e.revision)}
	if state == Accepted || state == Refused {
		options = append(options, jetstream.WithMsgTTL(o.setup.KeepRecords)) // the engine removes it
	}
	ack, err := o.engine.JetStream.Publish(ctx, o.engine.BucketSubject(engine.Records, e.Key), value, options...)
	if err != nil {
		return 0, err
	}
	return ack.Sequence, nil
}

// subject returns the subject of the token that stands for a message.
func (o *Outbox) subject(e Entry) string {
	_, encoded, _ := strings.Cut(e.Key, ".")
	return o.engine.OutboxSubject(string(e.Channel), e.Lane, encoded+"."+strconv.Itoa(e.Token))
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
func (o *Outbox) publish(ctx context.Context, e Entry) (created bool, err error) {
	_, err = o.engine.Retry(ctx, func(ctx context.Context) error {
		_, publishErr := o.engine.JetStream.Publish(ctx, o.subject(e), nil)
		return o.orFull(publishErr)
	})
	if engine.IsPresent(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("outbox: publishing: %w", err)
	}
	return true, nil
}

func (o *Outbox) orFull(err error) error {
	if !o.waitForRoom && engine.IsFull(err) {
		return fmt.Errorf("%w: %w", engine.ErrFull, err)
	}
	return err
}

// fits reports whether a message fits in a record.
func (o *Outbox) fits(line []byte) bool {
	const overhead = 8 << 10 // of a record, besides the message
	return int64(len(line)) <= o.engine.NATS.MaxPayload()-overhead
}

// All yields every record once, in no particular order. A record that cannot be read comes with an error that matches [ErrUnreadable];
// any other error ends the sequence. Memory does not grow with the number of records.
func (o *Outbox) All(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := o.eachRecord(ctx, yield); err != nil {
			yield(Entry{}, fmt.Errorf("outbox: reading the records: %w", err))
		}
	}
}

// eachRecord returns nil if yield has returned false.
func (o *Outbox) eachRecord(ctx context.Context, yield func(Entry, error) bool) error {
	const maxTries = 20
	last := uint64(0)
	for try := 1; ; try++ {
		err := o.eachRecordAfter(ctx, &last, yield)
		if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil || try == maxTries {
			return err
		}
	}
}

// eachRecordAfter yields the records after a sequence, which it advances. Its error is [context.DeadlineExceeded] if the node of its consumer
// does not respond, or a record was lost on the way. Another consumer can be on another node.
func (o *Outbox) eachRecordAfter(ctx context.Context, last *uint64, yield func(Entry, error) bool) error {
	callCtx, cancel := context.WithTimeout(ctx, engine.CallTimeout)
	defer cancel()
	stream := o.engine.BucketStream(engine.Records)
	// A pull consumer: the engine sends no more than this process has asked for. A subject has one message.
	consumer, err := o.engine.JetStream.CreateConsumer(callCtx, stream, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: *last + 1, AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return err
	}
	defer func() { // the engine would keep it for a while
		deleteCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), engine.CallTimeout)
		defer cancel()
		_ = o.engine.JetStream.DeleteConsumer(deleteCtx, stream, consumer.CachedInfo().Name)
	}()
	prefix := o.engine.BucketSubject(engine.Records, "")
	const atOnce = 2000
	delivered := uint64(0)
	for pending := consumer.CachedInfo().NumPending; pending > 0; {
		batch, err := consumer.Fetch(int(min(pending, atOnce)), jetstream.FetchMaxWait(engine.CallTimeout))
		if err != nil {
			return err
		}
		received := false
		for message := range batch.Messages() {
			metadata, err := message.Metadata()
			if err != nil {
				return err
			}
			if delivered++; metadata.Sequence.Consumer != delivered { // one was lost with a connection
				return context.DeadlineExceeded
			}
			received, pending, *last = true, metadata.NumPending, metadata.Sequence.Stream
			if len(message.Data()) == 0 { // the engine or an operator has removed the record
				continue
			}
			e, entryErr := newEntry(strings.TrimPrefix(message.Subject(), prefix), message.Data(), metadata.Sequence.Stream, metadata.Timestamp)
			if !yield(e, entryErr) {
				return nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case batch.Error() != nil:
			return fmt.Errorf("%w: %w", context.DeadlineExceeded, batch.Error())
		case !received: // the engine may have removed what was pending: a record whose time is over, or the mark that replaced one
			return context.DeadlineExceeded
		}
	}
	return nil
}
