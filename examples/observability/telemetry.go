package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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

// summary prints what was sent by verdict, and what was received by outcome.
func (t *telemetry) summary(out io.Writer) error {
	families, err := t.registry.Gather()
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, family := range families {
		key := map[string]string{
			"messaging_client_sent_messages_total": "messaging_verdict",
			"messaging_process_duration_seconds":   "messaging_outcome",
		}[family.GetName()]
		if key == "" {
			continue
		}
		counts := map[string]uint64{}
		for _, one := range family.GetMetric() {
			for _, label := range one.GetLabel() {
				if label.GetName() == key {
					counts[label.GetValue()] += one.GetHistogram().GetSampleCount() + uint64(one.GetCounter().GetValue())
				}
			}
		}
		words := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
		fmt.Fprintln(&lines, family.GetName())
		for _, word := range words {
			fmt.Fprintf(&lines, "  %s=%q %d\n", key, word, counts[word])
		}
	}
	_, err = io.WriteString(out, lines.String())
	return err
}
