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
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	listen := flag.String("listen", "", "the address to serve /metrics on until interrupted, such as 127.0.0.1:9464")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	rounds := 0 // without end
	if *listen == "" {
		rounds = 20
	}
	if err := run(ctx, os.Stdout, *listen, rounds); err != nil {
		fmt.Fprintln(os.Stderr, "observability:", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would release outlives the process
	}
}

// run plays the given number of rounds, or without end if it is 0, and serves the metrics meanwhile.
func run(ctx context.Context, out io.Writer, listen string, rounds int) (err error) {
	if listen == "" {
		listen = "127.0.0.1:0"
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	defer func() { _ = listener.Close() }() // the server has closed it, unless there was none
	spans, err := newSpans(out)
	if err != nil {
		return err
	}
	t, err := newTelemetry(spans)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, finish(t, out)) }()
	p, err := newPlay(t.observer, "http://"+listener.Addr().String())
	if err != nil {
		return err
	}
	defer p.service.Close()
	shop, err := openShop(ctx, t.meters.Meter("outbox"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shop.close()) }()

	mux := http.NewServeMux()
	mux.Handle("/metrics", t.metrics())
	mux.Handle(hookPath, p.hook)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	ctx, end := context.WithCancel(ctx)
	defer end()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		end() // if it failed, there is nothing to play for
	}()
	_, err = fmt.Fprintf(out, "metrics at http://%s/metrics\n", listener.Addr())
	if err == nil {
		err = playAll(ctx, shop, p, rounds)
	}
	err = errors.Join(err, server.Close())
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}

// playAll breaks the channels of the shop, and plays until the rounds are over or ctx ends, which is no error.
func playAll(ctx context.Context, shop *shop, p *play, rounds int) error {
	err := shop.trouble(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case err != nil:
		return err
	}
	p.rounds(ctx, rounds)
	return nil
}
