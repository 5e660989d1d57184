package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/webhook"
)

// SecretParameter is the query parameter that carries the secret.
const SecretParameter = "key"

// Config configures a receiver.
type Config struct {
	// Address is the address on which [Run] listens, such as 127.0.0.1:8080.
	Address string
	// Secret is the secret that the service sends in the parameter key. It is required.
	Secret string
	// Lease is how long an event belongs to the receiver that handles it. The default is [DefaultLease].
	Lease time.Duration
	// Logger receives a record for each request and each failure, without numbers, texts and secrets. Nil discards them.
	Logger *slog.Logger
	// Options are further options of package webhook. They must be the same for all receivers.
	Options []webhook.Option
}

func (c Config) withDefaults() (Config, error) {
	if strings.TrimSpace(c.Secret) == "" {
		return c, errors.New("inbox: the secret is empty: anyone could send events")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Limits of a receiver's server. By default, http.Server has none.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = time.Minute
	maxBody           = 1 << 16
	maxEvent          = 1 << 18 // stored, with everything that the request held
	maxHeader         = 1 << 17 // the query can hold a long text, with six bytes per character
	// writeTimeout leaves time for a response after every call to the engine has timed out.
	writeTimeout = readTimeout + claimTimeout + publishTimeout + settleTimeout + time.Second
	// shutdownTimeout is the time for events in progress when a receiver is shut down.
	shutdownTimeout = claimTimeout + publishTimeout + settleTimeout + time.Second
)

// Run receives events until ctx ends and completes the events in progress. It takes none after that, and the service calls again. The engine
// must be prepared; the caller closes the connection.
func Run(ctx context.Context, c *engine.Connection, config Config) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", config.Address)
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	return Serve(ctx, listener, c, config)
}

// Serve is like [Run] on an existing listener, which it closes.
func Serve(ctx context.Context, listener net.Listener, c *engine.Connection, config Config) error {
	handler, err := NewHandler(ctx, c, config)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{
		Handler:           http.MaxBytesHandler(handler, maxBody),
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	return errors.Join(err, server.Shutdown(shutdownCtx))
}
