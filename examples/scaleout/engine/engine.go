// Package engine is where everything that has to survive a process is kept: NATS JetStream, in this process, in another, or in a
// cluster. It names the streams and buckets and creates them; what they hold belongs to packages outbox and inbox.
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

// The names in the engine.
const (
	// Outbox is the stream of messages that wait to be sent: a work queue, from which a message goes once it is settled.
	Outbox = "OUTBOX"
	// OutboxSubject begins the subject of an outbound message; channel and key follow.
	OutboxSubject = "outbox"
	// Senders is the consumer that all workers share.
	Senders = "senders"
	// Records is the bucket with one entry for each outbound message, by channel and reference ID.
	Records = "records"
	// Limits is the bucket with the rate limit that all workers share.
	Limits = "limits"
	// Inbox is the stream of inbound events.
	Inbox = "INBOX"
	// InboxSubject begins the subject of an inbound event; kind and key follow.
	InboxSubject = "inbox"
	// Claims is the bucket by which receivers agree on who handles an event.
	Claims = "claims"
)

// Connection is a connection to the engine. It is safe for concurrent use. While the engine is away it reconnects, for as long as it takes.
type Connection struct {
	NATS      *nats.Conn
	JetStream jetstream.JetStream
}

// Connect connects to the engine at a URL, or at several, separated by commas. It fails where none of them answers within the
// time that the context gives, five seconds if it gives none. The caller closes the connection.
func Connect(ctx context.Context, url, name string) (*Connection, error) {
	timeout := 5 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		timeout = time.Until(deadline)
	}
	conn, err := nats.Connect(url, nats.Name(name), nats.Timeout(timeout), nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // who calls gets the error; the default prints it
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

// Close ends the connection, with what is still to be written written.
func (c *Connection) Close() {
	_ = c.NATS.FlushTimeout(time.Second)
	c.NATS.Close()
}

// Setup is what may differ between engines. A zero field leaves an engine that is prepared as it is, and is the default for another.
type Setup struct {
	// Replicas is on how many nodes everything is kept: 1 for a single server, 3 for a cluster of three. By default 1.
	Replicas int
	// AckWait is after how long without a sign of life a message that a worker took goes to another. By default 30 s.
	AckWait time.Duration
	// KeepEvents is how long inbound events stay, and how long they are known when they come again. By default 7 days.
	KeepEvents time.Duration
	// DuplicateWindow is how long a stream knows a message by its ID. By default 2 minutes. What must hold for longer is held by a
	// bucket or by the subject.
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

// over fills what a setup leaves open from an engine that is prepared.
func (s Setup) over(ctx context.Context, js jetstream.JetStream) (Setup, error) {
	outbox, err := js.Stream(ctx, Outbox)
	if err == nil {
		is := outbox.CachedInfo().Config
		s.Replicas, s.DuplicateWindow = cmp.Or(s.Replicas, is.Replicas), cmp.Or(s.DuplicateWindow, is.Duplicates)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, fmt.Errorf("engine: the stream %s: %w", Outbox, err)
	}
	inbox, err := js.Stream(ctx, Inbox)
	if err == nil {
		s.KeepEvents = cmp.Or(s.KeepEvents, inbox.CachedInfo().Config.MaxAge)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return s, fmt.Errorf("engine: the stream %s: %w", Inbox, err)
	}
	senders, err := js.Consumer(ctx, Outbox, Senders)
	if err == nil {
		s.AckWait = cmp.Or(s.AckWait, senders.CachedInfo().Config.AckWait)
	} else if !errors.Is(err, jetstream.ErrStreamNotFound) && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return s, fmt.Errorf("engine: the consumer %s: %w", Senders, err)
	}
	return s.withDefaults(), nil
}

// Prepare creates the streams, buckets and the consumer, or brings them to what setup says. It can be called by every process, at
// every start.
func (c *Connection) Prepare(ctx context.Context, setup Setup) error {
	setup, err := setup.over(ctx, c.JetStream)
	if err != nil {
		return err
	}
	for _, stream := range []jetstream.StreamConfig{
		{
			Name: Outbox, Subjects: []string{OutboxSubject + ".>"}, Retention: jetstream.WorkQueuePolicy, Duplicates: setup.DuplicateWindow,
			Description: "messages that wait to be sent",
		},
		{
			Name: Inbox, Subjects: []string{InboxSubject + ".>"}, Retention: jetstream.LimitsPolicy, MaxAge: setup.KeepEvents, Duplicates: setup.DuplicateWindow,
			Description: "inbound events, each once",
		},
	} {
		stream.Replicas = setup.Replicas
		if _, err = c.JetStream.CreateOrUpdateStream(ctx, stream); err != nil {
			return fmt.Errorf("engine: the stream %s: %w", stream.Name, err)
		}
	}
	for _, bucket := range []jetstream.KeyValueConfig{
		{Bucket: Records, Description: "what became of each outbound message"},
		{Bucket: Limits, Description: "the rate that workers share"},
		// LimitMarkerTTL lets a key have an end of its own: that of a claim is its lease.
		{Bucket: Claims, Description: "who handles which inbound event", TTL: setup.KeepEvents, LimitMarkerTTL: time.Minute},
	} {
		bucket.Replicas = setup.Replicas
		if _, err = c.JetStream.CreateOrUpdateKeyValue(ctx, bucket); err != nil {
			return fmt.Errorf("engine: the bucket %s: %w", bucket.Bucket, err)
		}
	}
	_, err = c.JetStream.CreateOrUpdateConsumer(ctx, Outbox, jetstream.ConsumerConfig{
		Durable: Senders, AckPolicy: jetstream.AckExplicitPolicy, AckWait: setup.AckWait, MaxDeliver: -1, MaxAckPending: 10_000, Replicas: setup.Replicas,
	})
	if err != nil {
		return fmt.Errorf("engine: the consumer %s: %w", Senders, err)
	}
	return nil
}

// Bucket opens one of the buckets.
func (c *Connection) Bucket(ctx context.Context, name string) (jetstream.KeyValue, error) {
	kv, err := c.JetStream.KeyValue(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("engine: the bucket %s: %w", name, err)
	}
	return kv, nil
}

// IsTaken tells whether an error says that somebody else was faster: the key exists, has changed since it was read, or, which a
// cluster says with a code of its own, is being written at this moment by somebody whose write may still come to nothing.
func IsTaken(err error) bool {
	var api *jetstream.APIError
	return errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}
