package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"path"
	"sync"
	"time"
)

// listenAndServe serves codes at the address of the program until the context ends.
func listenAndServe(ctx context.Context, in settings) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return err
	}
	return serve(ctx, listener, in)
}

// serve opens the program, and serves it on a listener until the context ends.
func serve(ctx context.Context, listener net.Listener, in settings) error {
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none
	o, err := open(ctx, in)
	if err != nil {
		return err
	}
	defer o.close()
	if err = o.outbox.Start(ctx); err != nil {
		return explain(err)
	}
	return o.serveOn(ctx, listener)
}

// serveOn serves codes until the context ends. Then requests in flight end, and the next process sends the other messages.
func (o *otp) serveOn(ctx context.Context, listener net.Listener) error {
	server := newServer(&o.ServeMux)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	working, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var tasks sync.WaitGroup
	tasks.Go(func() { every(working, time.Second, "enqueue SMS", o.enqueueDue) })
	tasks.Go(func() { every(working, 10*time.Minute, "prune", o.prune) })
	var serveErr error
	select {
	case serveErr = <-served: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	shutDownErr := o.shutDown(ctx, server)
	tasks.Wait() // they use the database, which the caller closes
	return errors.Join(serveErr, shutDownErr)
}

// newServer returns a server with limits. It responds to unknown paths without a body. docs/webhooks.md also limits the connections.
func newServer(mux *http.ServeMux) *http.Server {
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	return &http.Server{
		Handler:           http.MaxBytesHandler(cleanPaths(mux), 4<<20),
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

// every calls a task at an interval, until the context ends.
func every(ctx context.Context, interval time.Duration, name string, task func(context.Context) error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := task(ctx); err != nil && ctx.Err() == nil {
			log.Printf("otp: cannot %s: %v", name, err)
		}
	}
}

// shutDown ends the server and the outbox at the same time, so that neither uses up the time of the other. Kubernetes must allow more time, such as
// by terminationGracePeriodSeconds: 60.
func (o *otp) shutDown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- o.outbox.Stop(ctx) }()
	return errors.Join(server.Shutdown(ctx), <-stopped)
}
