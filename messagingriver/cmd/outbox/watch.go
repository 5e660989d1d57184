package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/schollz/progressbar/v3"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/messaging-service/messaging-go/messagingriver"
)

// serve serves /metrics and /healthz at an address until stop is called, or does nothing if there is none.
func serve(ctx context.Context, address string, db database) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader))
	if _, err = db.Observe(meters.Meter("outbox")); err != nil {
		return nil, err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if !db.Alive() {
			http.Error(w, "this worker does not reach its database", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	return func() {
		_ = errors.Join(server.Close(), meters.Shutdown(context.WithoutCancel(ctx)))
	}, nil
}

// report writes a line a minute to a log, or shows a bar on a terminal, until ctx ends.
func report(ctx context.Context, out io.Writer, db database) {
	every, bar := time.Minute, (*progressbar.ProgressBar)(nil)
	if isTerminal(out) {
		every = time.Second
		bar = progressbar.NewOptions(1, progressbar.OptionSetWriter(out), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish())
	}
	accepted := -1
	for {
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return
		}
		status, err := db.Status(ctx)
		if err != nil {
			continue // River's client says what is wrong
		}
		n := map[messagingriver.State]int{}
		for _, channel := range status.Channels {
			for _, state := range channel.States {
				n[state.State] += state.Messages
			}
		}
		open := n[messagingriver.Waiting] + n[messagingriver.Sending] + n[messagingriver.Unknown]
		if bar == nil {
			_, _ = fmt.Fprintf(out, "%s %d accepted in the last minute; %d open, %d parked, %d refused; %d workers\n",
				time.Now().Format(time.RFC3339), status.LastMinute, open, n[messagingriver.Parked], n[messagingriver.Refused], status.Workers)
			continue
		}
		if accepted < 0 { // what is done before counts nothing
			accepted = n[messagingriver.Accepted]
		}
		done := max(0, n[messagingriver.Accepted]-accepted)
		bar.ChangeMax(max(1, done+open))
		_ = bar.Set(done)
	}
}
