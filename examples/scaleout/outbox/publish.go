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

// recordAround is what a record needs beside the message that it may hold, with room to spare.
const recordAround = 8 << 10

// publisher puts messages into the stream.
type publisher struct {
	connection *engine.Connection
	log        *slog.Logger
}

// put publishes the message for the attempt after this one. It can be repeated: within the duplicate window of the stream the
// message stands there once for each attempt, and beyond it the record keeps it from being sent twice.
func (p publisher) put(ctx context.Context, key string, attempt int, data []byte) error {
	_, err := insist(ctx, p.log, func(ctx context.Context) error {
		message := &nats.Msg{Subject: engine.OutboxSubject + "." + key, Data: data}
		_, err := p.connection.JetStream.PublishMsg(ctx, message, jetstream.WithMsgID(key+"."+strconv.Itoa(attempt)))
		return err
	})
	if err != nil {
		return fmt.Errorf("outbox: publishing: %w", err)
	}
	return nil
}

// fits tells whether the engine takes a message, in the stream and in a record.
func (p publisher) fits(data []byte) bool {
	return int64(len(data)) <= p.connection.NATS.MaxPayload()-recordAround
}
