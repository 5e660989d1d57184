package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"sync"
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
	mux.Handle("GET "+HealthPath, &health{engine: c})
	return refuseUncleanPaths(mux), nil
}

// refuseUncleanPaths responds with 404 to a path such as //hooks/sms. http.ServeMux would redirect it, and the body of the
// redirect repeats the query with its secret and number.
func refuseUncleanPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// health responds with 200 if events can be stored, and with 503 otherwise, so that a load balancer sends events elsewhere.
type health struct {
	engine *engine.Connection

	mu      sync.Mutex
	checked time.Time
	err     error
}

// healthTTL is how long a check is relied on: anyone can call.
const healthTTL = time.Second

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.checked) > healthTTL {
		h.err = h.check(r.Context())
		h.checked = time.Now()
	}
	w.Header().Set("Cache-Control", "no-store")
	if h.err != nil {
		http.Error(w, "events cannot be stored", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// check writes to a bucket, which a full account or disk rejects, and looks at what is left of the stream's own limit.
func (h *health) check(ctx context.Context) error {
	if !h.engine.NATS.IsConnected() {
		return errors.New("no connection")
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	stream, err := h.engine.Stream(ctx, engine.Inbox)
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	if left := info.Config.MaxBytes - int64(info.State.Bytes); info.Config.MaxBytes > 0 && left < maxEvent { //nolint:gosec // less than the disk
		return errors.New("the stream is full")
	}
	claims, err := h.engine.Bucket(ctx, engine.Claims)
	if err == nil {
		_, err = claims.Put(ctx, "health", nil)
	}
	return err
}
