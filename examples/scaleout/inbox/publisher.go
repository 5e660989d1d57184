package inbox

import (
	"context"
	"crypto/rand"
	"encoding/json"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/webhook"
)

// Publisher stores events in the stream INBOX. Its methods SMS, Chat and Delivery are handlers for package webhook. It is
// safe for concurrent use.
type Publisher struct {
	engine *engine.Connection
	stream jetstream.Stream
}

// NewPublisher returns a publisher on a prepared engine. It logs events that could not be stored, by key only.
func NewPublisher(ctx context.Context, c *engine.Connection) (*Publisher, error) {
	stream, err := c.Stream(ctx, engine.Inbox)
	return &Publisher{engine: c, stream: stream}, err
}

// SMS stores an inbound SMS.
func (p *Publisher) SMS(ctx context.Context, m webhook.SMSMessage) error {
	return p.Publish(ctx, newEvent(SMS, m))
}

// Chat stores an inbound message of either chat app.
func (p *Publisher) Chat(ctx context.Context, m webhook.ChatMessage) error {
	return p.Publish(ctx, newEvent(Kind(m.Callback), m))
}

// Delivery stores a delivery report.
func (p *Publisher) Delivery(ctx context.Context, d webhook.DeliveryReport) error {
	return p.Publish(ctx, newEvent(Delivery, d))
}

// Publish stores an event. It returns nil once the event is stored on as many nodes as the stream requires. After [ErrUnavailable] the event
// may or may not be stored. An event with a lasting key is stored once for as long as the stream keeps it, however often and by whichever
// publisher it is published.
//
// Each call stores an event without a lasting key once. The [Store] decides whether a call is a repetition.
func (p *Publisher) Publish(ctx context.Context, e Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	id := e.Key
	if !e.Lasting {
		id += "." + rand.Text() // the same for all attempts of this call
	}
	subject := p.engine.InboxSubject(string(e.Kind), id)
	return call(ctx, p.engine, publishTimeout, "storing", e.Key, func(ctx context.Context) error {
		// A subject can exist only once, so neither a retry after a lost response nor another receiver stores the event twice.
		_, err := p.engine.JetStream.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0))
		if engine.IsConflict(err) {
			// Either the event is stored, or, on a cluster, another write of it is in progress and may still fail. Only reading it is proof.
			_, err = p.stream.GetLastMsgForSubject(ctx, subject)
		}
		return err
	})
}
