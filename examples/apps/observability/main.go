// Command observability shows a client and a webhook in OpenTelemetry: traces on standard output, a JSON object for each span, and
// metrics for Prometheus at /metrics.
//
//	go run ./examples/apps/observability                         plays for a few seconds, prints the counters, and ends
//	go run ./examples/apps/observability -listen 127.0.0.1:9464  plays and serves /metrics until it is stopped
//
// It sends to a test server in which one request in five fails, so it needs no account. It also runs an outbox of
// messagingriver, whose channels are in trouble.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"

	"github.com/messaging-service/messaging-go/messagingtest"
)

func main() {
	listen := flag.String("listen", "", "the address to serve /metrics on until interrupted, such as 127.0.0.1:9464")
	flag.Parse()
	rounds := 0 // without end
	if *listen == "" {
		rounds = 20
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *listen, rounds)
	stop()
	if err != nil {
		log.Fatalln("observability:", err)
	}
}

// run plays the given number of rounds, or without end if it is 0, and serves the metrics meanwhile. At the end it prints the counters.
func run(ctx context.Context, out io.Writer, listen string, rounds int) (err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", cmp.Or(listen, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	defer listener.Close() //nolint:errcheck // the server has closed it, unless there was none

	spans, err := stdouttrace.New(stdouttrace.WithWriter(out)) // a JSON object for each span
	if err != nil {
		return err
	}
	t, err := newTelemetry(spans)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finish(t, out)) }()
	service := messagingtest.Start()
	defer service.Close()
	p, err := newPlay(service, t.observer, "http://"+listener.Addr().String())
	if err != nil {
		return err
	}
	s, err := openShop(ctx, t.meters.Meter("outbox"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()

	mux := http.NewServeMux()
	mux.Handle("/metrics", t.metrics())
	mux.Handle(hookPath, p.hook)
	if _, err = fmt.Fprintf(out, "metrics at http://%s/metrics\n", listener.Addr()); err != nil {
		return err
	}
	return serveDuring(ctx, listener, mux, func(ctx context.Context) error { return playAll(ctx, s, p, rounds) })
}

// serveDuring calls a function, and serves a handler until it returns. If the server fails, the context of the function ends.
func serveDuring(ctx context.Context, listener net.Listener, handler http.Handler, call func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		cancel()
	}()
	callErr := call(ctx)
	closeErr := server.Close()
	serveErr := <-served
	if errors.Is(serveErr, http.ErrServerClosed) {
		serveErr = nil
	}
	return errors.Join(callErr, closeErr, serveErr)
}

// playAll brings the channels of a shop into trouble, and then plays, until the rounds are over or the context ends.
func playAll(ctx context.Context, s *shop, p *play, rounds int) error {
	err := s.trouble(ctx)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	if err != nil {
		return err
	}
	p.rounds(ctx, rounds)
	return nil
}
