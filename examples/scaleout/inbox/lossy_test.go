package inbox_test

import (
	"context"
	"sync/atomic"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// losing is an engine that does what it is asked, but some of whose answers get lost.
type lossyEngine struct {
	jetstream.JetStream
	// answers is how many more are lost.
	answers atomic.Int32
	// before, if any, is asked first; an error of it is the answer, and nothing is done.
	before func() error
}

// over is a connection through which answers get lost.
func (l *lossyEngine) over(c *engine.Connection) *engine.Connection {
	l.JetStream = c.JetStream
	return &engine.Connection{NATS: c.NATS, JetStream: l}
}

// lose waits for an answer that does not come. It returns nil where the answer is not lost.
func (l *lossyEngine) lose(ctx context.Context) error {
	if l.answers.Add(-1) < 0 {
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
