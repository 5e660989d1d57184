package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"syscall"
	"time"
)

// Serve serves until the context ends. It then waits up to a second for requests in progress.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	const (
		headerTimeout = 30 * time.Second
		idleTimeout   = 2 * time.Minute
		grace         = time.Second
	)
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ListenError returns the error of a command that cannot listen on the address of --listen.
func ListenError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--listen: %s is taken: another program listens there; --listen 127.0.0.1:0 takes any free port", address)
	}
	return fmt.Errorf("--listen: %w; want an address such as 127.0.0.1:8080, or 127.0.0.1:0 for any free port", err)
}
