package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path"
	"time"

	"golang.org/x/net/netutil"

	"github.com/messaging-service/messaging-go/webhook"
)

// This file is the same in bot, campaign, otp and shop. Copy the whole of it, and get the package that limits connections: go get golang.org/x/net/netutil

// serveOn serves a mux on a listener until the context ends. Then requests in flight end, and serveOn calls the stop functions, such as Outbox.Stop.
func serveOn(ctx context.Context, listener net.Listener, mux *http.ServeMux, stops ...func(context.Context) error) error {
	server := newServer(mux)
	end := make(chan error, 1)
	go func() { end <- server.Serve(netutil.LimitListener(listener, 256)) }()
	var serveErr error
	select {
	case serveErr = <-end: // it failed
	case <-ctx.Done():
	}
	return errors.Join(serveErr, shutDown(ctx, server, stops))
}

// newServer returns a server of callbacks, with limits. It responds to unknown paths without a body.
func newServer(mux *http.ServeMux) *http.Server {
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	return &http.Server{ // no BaseContext of signal.NotifyContext: it would cancel the handlers at SIGTERM
		Handler:           http.MaxBytesHandler(cleanPaths(mux), 4<<20), // a batch of the platform has up to 3 MiB
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      40 * time.Second, // more than webhook.WithHandlerTimeout
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    1 << 17,
	}
}

// cleanPaths responds with 404 to a path such as //hooks/delivery. A ServeMux would redirect it, and repeat the query with the secret in a body.
func cleanPaths(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// shutDown ends the server and calls the stop functions at the same time, so that none uses up the time of another. Kubernetes must allow more time,
// such as by terminationGracePeriodSeconds: 60.
func shutDown(ctx context.Context, server *http.Server, stops []func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stopErrs := make(chan error, len(stops))
	for _, stop := range stops {
		go func() { stopErrs <- stop(ctx) }()
	}
	err := server.Shutdown(ctx)
	for range stops {
		err = errors.Join(err, <-stopErrs)
	}
	return err
}

// health serves the readiness probe: 503 while a function such as Outbox.Alive returns false.
func health(isReady func() bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !isReady() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// errorHook logs the errors of the store and of the handlers, which LogHook does not log because they may hold anything. It skips an event that
// another call is handling, and one that a handler asked to get again later.
func errorHook() webhook.Hook {
	logger := slog.Default()
	return webhook.Hook{End: func(ctx context.Context, r webhook.Result) {
		isExpected := errors.Is(r.Err, webhook.ErrInProgress) || errors.Is(r.Err, webhook.ErrRetryLater)
		if r.StatusCode >= http.StatusInternalServerError && !isExpected {
			logger.ErrorContext(ctx, "an event was not handled", "id", r.ID, "error", r.Err)
		}
	}}
}
