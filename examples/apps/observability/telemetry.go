package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/messaging-service/messaging-go/messagingotel"
)

// A telemetry is the part of a program that exports. A program that sends traces to a collector has otlptracegrpc in place of
// stdouttrace.
type telemetry struct {
	tracers  *trace.TracerProvider
	meters   *metric.MeterProvider
	registry *prometheus.Registry
	observer *messagingotel.Observer
}

// newTelemetry returns a telemetry whose traces go to out.
func newTelemetry(out io.Writer) (*telemetry, error) {
	program := resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("observability-example"))
	spans, err := stdouttrace.New(stdouttrace.WithWriter(out))
	if err != nil {
		return nil, err
	}
	t := &telemetry{registry: prometheus.NewRegistry()}
	t.tracers = trace.NewTracerProvider(trace.WithBatcher(spans), trace.WithResource(program))
	// The names that the dashboard has: messaging.client.sent.messages is messaging_client_sent_messages_total.
	reader, err := prometheusexporter.New(prometheusexporter.WithRegisterer(t.registry), prometheusexporter.WithoutScopeInfo(),
		prometheusexporter.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, err
	}
	t.meters = metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(program))
	t.observer, err = messagingotel.New(messagingotel.WithTracerProvider(t.tracers), messagingotel.WithMeterProvider(t.meters))
	return t, err
}

// close exports the spans that are still to be exported, and prints a summary of the metrics.
func (t *telemetry) close(out io.Writer) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(t.tracers.Shutdown(ctx), t.summary(out), t.meters.Shutdown(ctx))
}

// metrics serves the metrics for Prometheus.
func (t *telemetry) metrics() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}

// summary prints what was sent by verdict, and what was received by outcome.
func (t *telemetry) summary(out io.Writer) error {
	w := httptest.NewRecorder()
	t.metrics().ServeHTTP(w, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/metrics", http.NoBody))
	for line := range strings.Lines(w.Body.String()) {
		name, _, _ := strings.Cut(line, "{")
		if name != "messaging_client_sent_messages_total" && name != "messaging_process_duration_seconds_count" {
			continue
		}
		if _, err := io.WriteString(out, line); err != nil {
			return err
		}
	}
	return nil
}
