package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
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

// SecretParameter is the query parameter that carries the secret.
const SecretParameter = "key"

// Config configures a receiver. It logs each request and each failure to the logger of the connection, without numbers, texts and secrets.
type Config struct {
	// Secret is the secret that the service sends in the parameter key. It is required.
	Secret string
	// Lease is how long an event belongs to the receiver that handles it. The default is [DefaultLease].
	Lease time.Duration
	// Options are further options of package webhook. They must be the same for all receivers.
	Options []webhook.Option
}

// Limits of a receiver's server. By default, http.Server has none.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = time.Minute
	maxBody           = 1 << 16
	maxEvent          = 1 << 18 // stored, with everything that the request held
	maxHeader         = 1 << 17 // the query can hold a long text, with six bytes per character
	// handleTimeout leaves time for a response after every call to the engine has timed out.
	handleTimeout = storeTimeout + publishTimeout + storeTimeout + time.Second
)

// Timeouts for what a receiver asks the engine. Services wait 5 to 30 seconds for a response; a failure within that time makes them call
// again. A cluster that has lost a node needs some seconds to elect a leader.
const (
	storeTimeout   = 3 * time.Second
	publishTimeout = 5 * time.Second
)

// ErrUnavailable means that the engine did not respond in time. It may or may not have done what it was asked.
var ErrUnavailable = errors.New("inbox: the engine does not respond")

// errAgain has call repeat the step.
var errAgain = errors.New("not certain yet")

// call calls the engine until it responds, or until timeout, and logs a failure by the key of the event, with nothing else of it. The step
// must be safe to repeat. It continues if the caller is gone: completing the work is better than leaving it to a lease.
func call(ctx context.Context, c *engine.Connection, timeout time.Duration, what, key string, step func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	_, err := c.Retry(ctx, step)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	c.Log.LogAttrs(ctx, slog.LevelError, "an event is not stored", slog.String("what", what), slog.String("key", key), slog.Any("error", err))
	return fmt.Errorf("inbox: %s: %w", what, err)
}

// Serve receives events until ctx ends and completes the events in progress. It takes none after that, and the service calls again. Serve
// closes the listener. The engine must be prepared; the caller closes the connection.
func Serve(ctx context.Context, listener net.Listener, c *engine.Connection, config Config) error {
	handler, err := NewHandler(ctx, c, config)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           http.MaxBytesHandler(handler, maxBody),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      readTimeout + handleTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), handleTimeout)
	defer cancel()
	return errors.Join(err, server.Shutdown(shutdownCtx))
}

// NewHandler returns a handler for the webhooks and the health check. It takes the same configuration as [Serve].
func NewHandler(ctx context.Context, c *engine.Connection, config Config) (http.Handler, error) {
	if strings.TrimSpace(config.Secret) == "" {
		return nil, errors.New("inbox: the secret is empty: anyone could send events")
	}
	store, err := NewStore(ctx, c, config.Lease)
	if err != nil {
		return nil, err
	}
	publisher, err := NewPublisher(ctx, c)
	if err != nil {
		return nil, err
	}
	receiver, err := webhook.NewReceiver(append([]webhook.Option{
		webhook.WithSecret(SecretParameter, config.Secret), webhook.WithStore(store), webhook.WithStatuses(publisher.Delivery), webhook.WithLogger(c.Log),
	}, config.Options...)...)
	if err != nil {
		return nil, fmt.Errorf("inbox: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(SMSPath, receiver.SMS(publisher.SMS))
	mux.Handle(ChatApp1Path, receiver.ChatApp1(publisher.Chat))
	mux.Handle(ChatApp2Path, receiver.ChatApp2(publisher.Chat))
	mux.Handle(DeliveryPath, receiver.Delivery(publisher.Delivery))
	mux.Handle("GET "+HealthPath, &health{engine: c})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// http.ServeMux would redirect a path such as //hooks/sms, and the body of the redirect repeats the query with its secret and number.
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	}), nil
}

// health responds with 200 if events can be stored, and with 503 otherwise, so that a load balancer sends events elsewhere.
type health struct {
	engine *engine.Connection

	mu      sync.Mutex
	checked time.Time
	err     error
}

func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.checked) > time.Second { // anyone can call
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
