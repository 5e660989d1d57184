package outbox

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
)

// recordOverhead is the room that a record needs besides the message that it may hold.
const recordOverhead = 8 << 10

// publisher publishes messages to the stream.
type publisher struct {
	connection *engine.Connection
	log        *slog.Logger
}

// publish publishes a message for the attempt that follows attempt. It can be retried: within the stream's duplicate window the message
// is stored once per attempt, and beyond it the record keeps the message from being sent twice.
func (p publisher) publish(ctx context.Context, key string, attempt int, data []byte) error {
	_, err := retry(ctx, p.log, func(ctx context.Context) error {
		message := &nats.Msg{Subject: engine.OutboxSubject + "." + key, Data: data}
		_, err := p.connection.JetStream.PublishMsg(ctx, message, jetstream.WithMsgID(key+"."+strconv.Itoa(attempt)))
		return err
	})
	if err != nil {
		return fmt.Errorf("outbox: publishing: %w", err)
	}
	return nil
}

// fits reports whether a message fits in the stream and in a record.
func (p publisher) fits(data []byte) bool {
	return int64(len(data)) <= p.connection.NATS.MaxPayload()-recordOverhead
}
