package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/otlptranslator"
	prometheusexporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/messaging-service/messaging-go/messagingotel"
)

// A telemetry is the part of a program that exports.
type telemetry struct {
	tracers  *trace.TracerProvider
	meters   *metric.MeterProvider
	registry *prometheus.Registry
	observer *messagingotel.Observer
}

// newTelemetry returns a telemetry whose traces go to an exporter, such as that of otlptracegrpc, which sends them to a collector.
func newTelemetry(spans trace.SpanExporter) (*telemetry, error) {
	program := resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("observability-example"))
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

// close exports the spans that are still to be exported.
func (t *telemetry) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return errors.Join(t.tracers.Shutdown(ctx), t.meters.Shutdown(ctx))
}

// metrics serves the metrics for Prometheus.
func (t *telemetry) metrics() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{})
}
