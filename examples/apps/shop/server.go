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

// listenAndServe serves the shop until the context ends. It listens once the outbox has started, so that no one connects to a shop that cannot work.
func listenAndServe(ctx context.Context, in settings) error {
	s, err := start(ctx, in)
	if err != nil {
		return err
	}
	defer s.close()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", in.address)
	if err != nil {
		return errors.Join(err, s.outbox.Stop(ctx))
	}
	return s.serve(ctx, listener)
}

// start opens the shop and starts its outbox. The caller must close the shop.
func start(ctx context.Context, in settings) (*shop, error) {
	s, err := open(ctx, in)
	if err != nil {
		return nil, err
	}
	if err = s.outbox.Start(ctx); err != nil {
		s.close()
		return nil, explain(err)
	}
	return s, nil
}

// serve serves the shop until the context ends. Then requests in flight end, and the next process sends the other messages.
func (s *shop) serve(ctx context.Context, listener net.Listener) error {
	server := newServer(s)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	working, stopTasks := context.WithCancel(ctx)
	defer stopTasks()
	var tasks sync.WaitGroup
	tasks.Go(func() { every(working, time.Hour, "prune", s.prune) })
	var serveErr error
	select {
	case serveErr = <-served: // it failed
	case <-ctx.Done():
	}
	stopTasks()
	shutDownErr := s.shutDown(ctx, server)
	tasks.Wait() // they use the database, which the caller closes
	return errors.Join(serveErr, shutDownErr)
}

// newServer returns a server with limits. docs/webhooks.md also limits the connections.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           http.MaxBytesHandler(cleanPaths(handler), 4<<20), // a batch of the platform has up to 3 MiB
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
			log.Printf("shop: cannot %s: %v", name, err)
		}
	}
}

// shutDown ends the server and the outbox at the same time, so that neither uses up the time of the other. Kubernetes must allow more time, such as
// by terminationGracePeriodSeconds: 60.
func (s *shop) shutDown(ctx context.Context, server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 55*time.Second) // Outbox.Stop takes up to SendTimeout and 20 seconds
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- s.outbox.Stop(ctx) }()
	return errors.Join(server.Shutdown(ctx), <-stopped)
}
