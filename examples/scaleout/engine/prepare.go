package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Setup configures an environment. A zero field keeps the current value of a prepared environment, and means the default for a new one.
type Setup struct {
	// Replicas is the number of nodes that keep the data: 1 for a single server, 3 for a cluster of three. The default is 1.
	Replicas int
	// AckWait is how long a worker can hold a message without a heartbeat before the engine redelivers it. The default is 30 s.
	AckWait time.Duration
	// MaxBytes is the most that each stream and bucket can hold. What exceeds it is rejected; nothing is discarded. The default is -1,
	// no limit but the engine's.
	MaxBytes int64
	// KeepEvents is how long inbound events are kept and recognized as duplicates. The default is 7 days.
	KeepEvents time.Duration
	// KeepRecords is how long the record of a message that was accepted or refused is kept. Then its reference ID counts as new. The
	// default is 30 days, the least a second.
	KeepRecords time.Duration
}

// setupKey is the key of the Setup, as JSON, in the metadata of the stream Outbox.
const setupKey = "setup"

// Setup returns how the environment is configured. AckWait is zero if this version has not prepared the environment.
func (c *Connection) Setup(ctx context.Context) (setup Setup, err error) {
	outbox, err := c.JetStream.Stream(ctx, c.Name(Outbox))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return Setup{}, nil
	}
	if err == nil {
		config := outbox.CachedInfo().Config
		setup = Setup{Replicas: config.Replicas, MaxBytes: config.MaxBytes}
		if encoded, ok := config.Metadata[setupKey]; ok {
			err = json.Unmarshal([]byte(encoded), &setup)
		}
	}
	if err != nil {
		return Setup{}, fmt.Errorf("engine: the setup of environment %s: %w", c.environment, err)
	}
	return setup, nil
}

// IsEmpty reports whether the engine holds nothing at all, in any environment.
func (c *Connection) IsEmpty(ctx context.Context) (bool, error) {
	info, err := c.JetStream.AccountInfo(ctx)
	if err != nil {
		return false, fmt.Errorf("engine: %w", err)
	}
	return info.Streams == 0, nil
}

// Prepare creates or updates the streams, the buckets and the consumers of the environment. Nothing else changes them.
// It takes 30 s at most: an engine does not respond to a user that may not do this.
func (c *Connection) Prepare(ctx context.Context, setup Setup) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	current, err := c.Setup(ctx)
	if err != nil {
		return err
	}
	setup = Setup{
		Replicas:    cmp.Or(setup.Replicas, current.Replicas, 1),
		AckWait:     cmp.Or(setup.AckWait, current.AckWait, 30*time.Second),
		MaxBytes:    cmp.Or(setup.MaxBytes, current.MaxBytes, -1),
		KeepEvents:  cmp.Or(setup.KeepEvents, current.KeepEvents, 7*24*time.Hour),
		KeepRecords: cmp.Or(setup.KeepRecords, current.KeepRecords, 30*24*time.Hour),
	}
	if setup.KeepRecords < time.Second || setup.AckWait < 0 || setup.KeepEvents < 0 {
		return fmt.Errorf("engine: KeepRecords is %v, want at least 1s; AckWait and KeepEvents cannot be negative", setup.KeepRecords)
	}
	encoded, err := json.Marshal(setup)
	if err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	for _, stream := range []jetstream.StreamConfig{
		{
			Name: c.Name(Outbox), Subjects: []string{c.OutboxSubject("*", "*", ">")}, Description: "messages to send",
			Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, DiscardNewPerSubject: true, // a token exists once
			Metadata: map[string]string{setupKey: string(encoded)},
		},
		{Name: c.Name(Inbox), Subjects: []string{c.InboxSubject("*", ">")}, Description: "inbound events", MaxAge: setup.KeepEvents},
	} {
		stream.Discard, stream.MaxBytes, stream.Replicas = jetstream.DiscardNew, setup.MaxBytes, setup.Replicas
		if _, err = c.JetStream.CreateOrUpdateStream(ctx, stream); err != nil {
			return fmt.Errorf("engine: stream %s: %w", stream.Name, err)
		}
	}
	for _, bucket := range []jetstream.KeyValueConfig{
		{Bucket: Records, Description: "what became of each outbound message"},
		{Bucket: Limits, Description: "the shared rate limit and breakers"},
		{Bucket: Claims, Description: "which receiver handles which inbound event", TTL: setup.KeepEvents},
		{Bucket: Parked, Description: "events that readers have given up on", TTL: setup.KeepEvents},
	} {
		// LimitMarkerTTL allows a time to live per key.
		bucket.Bucket, bucket.LimitMarkerTTL, bucket.MaxBytes, bucket.Replicas = c.Name(bucket.Bucket), time.Second, setup.MaxBytes, setup.Replicas
		if _, err = c.JetStream.CreateOrUpdateKeyValue(ctx, bucket); err != nil {
			return fmt.Errorf("engine: bucket %s: %w", bucket.Bucket, err)
		}
	}
	for _, channel := range Channels() {
		for _, lane := range Priorities() {
			config := jetstream.ConsumerConfig{
				Durable: c.Consumer(channel, lane), FilterSubject: c.OutboxSubject(channel, lane, ">"),
				AckPolicy: jetstream.AckExplicitPolicy, AckWait: setup.AckWait, MaxDeliver: -1, MaxAckPending: 10_000, Replicas: setup.Replicas,
			}
			if _, err = c.JetStream.CreateOrUpdateConsumer(ctx, c.Name(Outbox), config); err != nil {
				return fmt.Errorf("engine: consumer %s: %w", config.Durable, err)
			}
		}
	}
	return nil
}
