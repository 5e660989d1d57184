package inbox

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/webhook"
)

// Paths of a receiver. The service calls the first four.
const (
	SMSPath      = "/hooks/sms"
	ChatApp1Path = "/hooks/chatapp1"
	ChatApp2Path = "/hooks/chatapp2"
	DeliveryPath = "/hooks/delivery"
	HealthPath   = "/healthz"
)

// NewHandler returns a handler for the webhooks and the health check. It takes the same configuration as [Run].
func NewHandler(ctx context.Context, c *engine.Connection, config Config) (http.Handler, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	store, err := NewStore(ctx, c, config.Lease, config.Logger)
	if err != nil {
		return nil, err
	}
	publisher, err := NewPublisher(ctx, c, config.Logger)
	if err != nil {
		return nil, err
	}
	options := append([]webhook.Option{
		webhook.WithSecret(SecretParameter, config.Secret), webhook.WithStore(store), webhook.WithStatuses(publisher.Delivery),
		webhook.WithLogger(config.Logger),
	}, config.Options...)
	receiver, err := webhook.NewReceiver(options...)
	if err != nil {
		return nil, fmt.Errorf("inbox: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(SMSPath, receiver.SMS(publisher.SMS))
	mux.Handle(ChatApp1Path, receiver.ChatApp1(publisher.Chat))
	mux.Handle(ChatApp2Path, receiver.ChatApp2(publisher.Chat))
	mux.Handle(DeliveryPath, receiver.Delivery(publisher.Delivery))
	mux.Handle("GET "+HealthPath, health(c))
	return webhook.RefuseUncleanPaths(mux), nil
}

// health responds with 200 if the leader of the stream can be reached, so that events can be stored, and with 503 otherwise, so that a load
// balancer sends events elsewhere.
func health(c *engine.Connection) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		if !isReachable(r.Context(), c) {
			http.Error(w, "the engine is unreachable", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
}

func isReachable(ctx context.Context, c *engine.Connection) bool {
	if !c.NATS.IsConnected() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := c.JetStream.Stream(ctx, engine.Inbox)
	return err == nil
}
