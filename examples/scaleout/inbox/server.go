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

// SecretParameter is the parameter of the query in which the service has to bring the secret.
const SecretParameter = "key"

// Config is what a receiver has to be told.
type Config struct {
	// Address is where [Run] listens, such as 127.0.0.1:8080.
	Address string
	// Secret is what the service has to bring in the parameter key.
	Secret string
	// Lease is for how long an event belongs to the receiver that has begun with it. Zero means [DefaultLease].
	Lease time.Duration
	// Logger gets one record for each request and each failure, without numbers, texts and secrets. Nil means none.
	Logger *slog.Logger
	// Options are further options of package webhook, such as the contract. They are the same for all receivers.
	Options []webhook.Option
}

func (c Config) withDefaults() (Config, error) {
	if strings.TrimSpace(c.Secret) == "" {
		return c, errors.New("inbox: there is no secret: anybody could bring events")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// The bounds of a receiver's server. http.Server has none by default.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = time.Minute
	maxBody           = 1 << 16
	maxHeader         = 1 << 17 // a long text stands in the query, six bytes for many a character
	// writeTimeout leaves time for an answer after the engine has used up all patience.
	writeTimeout = readTimeout + claimTimeout + publishTimeout + settleTimeout + time.Second
	// shutdownTimeout is for what is being handled when a receiver is told to end.
	shutdownTimeout = claimTimeout + publishTimeout + settleTimeout + time.Second
)

// Run receives events until the context ends, and then ends what it has begun: what comes from then on is not taken, and the service
// calls again. The engine has to be prepared, and is the caller's to close.
func Run(ctx context.Context, c *engine.Connection, config Config) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", config.Address)
	if err != nil {
		return fmt.Errorf("inbox: %w", err)
	}
	return Serve(ctx, listener, c, config)
}

// Serve is [Run] on a listener that is there already, which it closes.
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
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err = <-ended: // it never ends by itself but for an error
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	return errors.Join(err, server.Shutdown(ending))
}
