package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"path"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// listenAndServe serves the bot at its address until the context ends.
func listenAndServe(ctx context.Context, in settings) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return err
	}
	return serve(ctx, listener, in)
}

// serve opens the bot, and serves it on a listener until the context ends.
func serve(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	b, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer b.close()
	if err = b.outbox.Start(ctx); err != nil {
		return explain(err)
	}
	return b.serveOn(ctx, listener)
}

// serveOn serves the bot until the context ends, and then completes the requests in flight. The next process sends the replies that wait.
func (b *bot) serveOn(ctx context.Context, listener net.Listener) error {
	server := newServer(&b.ServeMux)
	served := make(chan error, 1)
	go func() { served <- server.Serve(netutil.LimitListener(listener, 256)) }()
	working, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var tasks sync.WaitGroup
	tasks.Go(func() { b.pruneHourly(working) })
	var serveErr error
	select {
	case serveErr = <-served: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	shutDownErr := b.shutDown(ctx, server)
	tasks.Wait() // they use the database, which the caller closes
	return errors.Join(serveErr, shutDownErr)
}

// newServer returns a server of webhooks, with limits. It responds to unknown paths without a body.
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

// cleanPaths responds with 404 to a path such as //hooks/sms. A ServeMux would redirect it, and repeat the query with the secret in a body.
func cleanPaths(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path.Clean(r.URL.Path) != r.URL.Path {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// pruneHourly calls prune once an hour, until the context ends.
func (b *bot) pruneHourly(ctx context.Context) {
	hourly := time.NewTicker(time.Hour)
	defer hourly.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hourly.C:
		}
		if err := b.prune(ctx); err != nil && ctx.Err() == nil {
			b.logger.WarnContext(ctx, "bot: cannot prune", "error", err)
		}
	}
}

// shutDown ends the server and the outbox at the same time, so that neither uses up the time of the other. Kubernetes must allow more time, such as
// by terminationGracePeriodSeconds: 60.
func (b *bot) shutDown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- b.outbox.Stop(ctx) }()
	return errors.Join(server.Shutdown(ctx), <-stopped)
}
