// Package engine connects to NATS JetStream, which keeps everything that must survive a process. The server can be embedded in this
// process, run elsewhere, or be a cluster. The package names and creates the streams and buckets; packages outbox and inbox define
// what they hold.
package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Names of streams, subjects, consumers and buckets.
const (
	// Outbox is the stream of messages to send: a work queue that a message leaves once it is settled.
	Outbox = "OUTBOX"
	// OutboxSubject is the subject prefix of outbound messages. Channel and key follow.
	OutboxSubject = "outbox"
	// Senders is the consumer that all workers share.
	Senders = "senders"
	// Records is the bucket with one entry per outbound message, by channel and reference ID.
	Records = "records"
	// Limits is the bucket that holds the shared rate limit.
	Limits = "limits"
	// Inbox is the stream of inbound events.
	Inbox = "INBOX"
	// InboxSubject is the subject prefix of inbound events. Kind and key follow.
	InboxSubject = "inbox"
	// Claims is the bucket by which receivers agree on who handles an event.
	Claims = "claims"
)

// Connection is a connection to the engine. It is safe for concurrent use. When the connection is lost, it reconnects until it succeeds.
type Connection struct {
	NATS      *nats.Conn
	JetStream jetstream.JetStream
}

// Connect connects to the engine at a URL, or at several URLs separated by commas. It fails if none of them responds before ctx ends, or
// within five seconds if ctx has no deadline. The caller closes the connection.
func Connect(ctx context.Context, url, name string) (*Connection, error) {
	timeout := 5 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		timeout = time.Until(deadline)
	}
	conn, err := nats.Connect(url, nats.Name(name), nats.Timeout(timeout), nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // callers get the error; the default handler prints it
	if err != nil {
		return nil, fmt.Errorf("engine: connecting: %w", err)
	}
	js, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("engine: %w", err)
	}
	return &Connection{NATS: conn, JetStream: js}, nil
}

// Close flushes and closes the connection.
func (c *Connection) Close() {
	_ = c.NATS.FlushTimeout(time.Second)
	c.NATS.Close()
}

// Setup configures an engine. A zero field keeps the current value of a prepared engine, and means the default for a new one.
type Setup struct {
	// Replicas is the number of nodes that keep the data: 1 for a single server, 3 for a cluster of three. The default is 1.
	Replicas int
	// AckWait is how long a worker can hold a message without a heartbeat before the engine redelivers it. The default is 30 s.
	AckWait time.Duration
	// KeepEvents is how long inbound events are kept and recognized as duplicates. The default is 7 days.
	KeepEvents time.Duration
	// DuplicateWindow is how long a stream recognizes a message by its ID. The default is 2 minutes. Buckets and subjects hold what must
	// be recognized for longer.
	DuplicateWindow time.Duration
}

func (s Setup) withDefaults() Setup {
	if s.Replicas == 0 {
		s.Replicas = 1
	}
	if s.AckWait == 0 {
		s.AckWait = 30 * time.Second
	}
	if s.KeepEvents == 0 {
		s.KeepEvents = 7 * 24 * time.Hour
	}
	if s.DuplicateWindow == 0 {
		s.DuplicateWindow = 2 * time.Minute
	}
	return s
}

// fillFrom fills the zero fields of s from a prepared engine, and the rest with defaults.
func (s Setup) fillFrom(ctx context.Context, js jetstream.JetStream) (Setup, error) {
	outbox, err := js.Stream(ctx, Outbox)
	if err == nil {
		current := outbox.CachedInfo().Config
		s.Replicas, s.DuplicateWindow = cmp.Or(s.Replicas, current.Replicas), cmp.Or(s.DuplicateWindow, current.Duplicates)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, fmt.Errorf("engine: stream %s: %w", Outbox, err)
	}
	inbox, err := js.Stream(ctx, Inbox)
	if err == nil {
		s.KeepEvents = cmp.Or(s.KeepEvents, inbox.CachedInfo().Config.MaxAge)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, fmt.Errorf("engine: stream %s: %w", Inbox, err)
	}
	senders, err := js.Consumer(ctx, Outbox, Senders)
	if err == nil {
		s.AckWait = cmp.Or(s.AckWait, senders.CachedInfo().Config.AckWait)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return s, fmt.Errorf("engine: consumer %s: %w", Senders, err)
	}
	return s.withDefaults(), nil
}

// Prepare creates or updates the streams, the buckets and the consumer. Every process can call it at every start.
func (c *Connection) Prepare(ctx context.Context, setup Setup) error {
	setup, err := setup.fillFrom(ctx, c.JetStream)
	if err != nil {
		return err
	}
	for _, stream := range []jetstream.StreamConfig{
		{
			Name: Outbox, Subjects: []string{OutboxSubject + ".>"}, Retention: jetstream.WorkQueuePolicy, Duplicates: setup.DuplicateWindow,
			Description: "messages to send",
		},
		{
			Name: Inbox, Subjects: []string{InboxSubject + ".>"}, Retention: jetstream.LimitsPolicy, MaxAge: setup.KeepEvents, Duplicates: setup.DuplicateWindow,
			Description: "inbound events",
		},
	} {
		stream.Replicas = setup.Replicas
		if _, err = c.JetStream.CreateOrUpdateStream(ctx, stream); err != nil {
			return fmt.Errorf("engine: stream %s: %w", stream.Name, err)
		}
	}
	for _, bucket := range []jetstream.KeyValueConfig{
		{Bucket: Records, Description: "what became of each outbound message"},
		{Bucket: Limits, Description: "the shared rate limit"},
		// LimitMarkerTTL allows a TTL per key: a claim ends with its lease.
		{Bucket: Claims, Description: "which receiver handles which inbound event", TTL: setup.KeepEvents, LimitMarkerTTL: time.Minute},
	} {
		bucket.Replicas = setup.Replicas
		if _, err = c.JetStream.CreateOrUpdateKeyValue(ctx, bucket); err != nil {
			return fmt.Errorf("engine: bucket %s: %w", bucket.Bucket, err)
		}
	}
	_, err = c.JetStream.CreateOrUpdateConsumer(ctx, Outbox, jetstream.ConsumerConfig{
		Durable: Senders, AckPolicy: jetstream.AckExplicitPolicy, AckWait: setup.AckWait, MaxDeliver: -1, MaxAckPending: 10_000, Replicas: setup.Replicas,
	})
	if err != nil {
		return fmt.Errorf("engine: consumer %s: %w", Senders, err)
	}
	return nil
}

// Bucket opens a bucket.
func (c *Connection) Bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	kv, err := c.JetStream.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("engine: bucket %s: %w", name, err)
	}
	return kv, nil
}

// IsConflict reports whether err means that another writer was faster: the key exists, has changed since it was read, or is being written
// at this moment. A cluster reports the last case with a code of its own; that write may still fail.
func IsConflict(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
