package main

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
)

// This file is the same in bot, otp and shop, so that each can be copied.

// serveOn serves a mux on a listener and repeats tasks, until the context ends. Then requests in flight end, and the next process sends the messages
// that wait.
func serveOn(ctx context.Context, listener net.Listener, mux *http.ServeMux, outbox *messagingriver.Outbox[*sql.Tx], tasks ...task) error {
	server := newServer(mux)
	end := make(chan error, 1)
	go func() { end <- server.Serve(netutil.LimitListener(listener, 256)) }()
	taskCtx, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var group sync.WaitGroup
	for _, t := range tasks {
		group.Go(func() { t.repeat(taskCtx) })
	}
	var serveErr error
	select {
	case serveErr = <-end: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	shutDownErr := shutDown(ctx, server, outbox)
	group.Wait() // tasks use the database, which the caller closes
	return errors.Join(serveErr, shutDownErr)
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

// shutDown ends the server and the outbox at the same time, so that neither uses up the time of the other. Kubernetes must allow more time, such as
// by terminationGracePeriodSeconds: 60.
func shutDown(ctx context.Context, server *http.Server, outbox *messagingriver.Outbox[*sql.Tx]) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stop := make(chan error, 1)
	go func() { stop <- outbox.Stop(ctx) }()
	return errors.Join(server.Shutdown(ctx), <-stop)
}

// task is what a process does at an interval.
type task struct {
	name     string
	interval time.Duration
	do       func(ctx context.Context) error
}

// repeat does the task until the context ends.
func (t task) repeat(ctx context.Context) {
	logger := slog.Default()
	ticker := time.NewTicker(t.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := t.do(ctx); err != nil && ctx.Err() == nil {
			logger.WarnContext(ctx, "a task failed and will be done again", "task", t.name, "error", err)
		}
	}
}

// health serves the readiness probe: 503 while the outbox does not work.
func health(outbox *messagingriver.Outbox[*sql.Tx]) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !outbox.Alive() {
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
