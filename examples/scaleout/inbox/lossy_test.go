package inbox_test

import (
	"context"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// lossyEngine does what it is asked, but loses some of its responses.
type lossyEngine struct {
	jetstream.JetStream
	// responses is the number of responses to lose.
	responses atomic.Int32
	// before, if set, is called before each Publish. If it returns an error, that is the response and nothing is published.
	before func() error
}

// over returns a connection that loses responses.
func (l *lossyEngine) over(c *engine.Connection) *engine.Connection {
	l.JetStream = c.JetStream
	other := *c
	other.JetStream = l
	return &other
}

// lose waits for a response that never comes. It returns nil if this response is not lost.
func (l *lossyEngine) lose(ctx context.Context) error {
	if l.responses.Add(-1) < 0 {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

func (l *lossyEngine) Publish(ctx context.Context, subject string, data []byte, options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	if l.before != nil {
		if err := l.before(); err != nil {
			return nil, err
		}
	}
	ack, err := l.JetStream.Publish(ctx, subject, data, options...)
	if err != nil {
		return nil, err
	}
	return ack, l.lose(ctx)
}

func (l *lossyEngine) KeyValue(ctx context.Context, bucket string) (jetstream.KeyValue, error) {
	kv, err := l.JetStream.KeyValue(ctx, bucket)
	return &lossyBucket{KeyValue: kv, lossyEngine: l}, err
}

type lossyBucket struct {
	jetstream.KeyValue
	lossyEngine *lossyEngine
}

func (b *lossyBucket) Create(ctx context.Context, key string, value []byte, options ...jetstream.KVCreateOpt) (uint64, error) {
	revision, err := b.KeyValue.Create(ctx, key, value, options...)
	if err != nil {
		return 0, err
	}
	return revision, b.lossyEngine.lose(ctx)
}

func (b *lossyBucket) Purge(ctx context.Context, key string, options ...jetstream.KVDeleteOpt) error {
	if err := b.KeyValue.Purge(ctx, key, options...); err != nil {
		return err
	}
	return b.lossyEngine.lose(ctx)
}
