package messagingotel_test

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingotel"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// A lab has an observer, the exported data, and a service.
type lab struct {
	observer *messagingotel.Observer
	tracers  *sdktrace.TracerProvider
	meters   *sdkmetric.MeterProvider
	spans    *tracetest.InMemoryExporter
	metrics  *sdkmetric.ManualReader
	service  *messagingtest.Server
}

func newLab(tb testing.TB) *lab {
	tb.Helper()
	l := &lab{spans: tracetest.NewInMemoryExporter(), metrics: sdkmetric.NewManualReader(), service: messagingtest.NewServer(tb)}
	l.tracers = sdktrace.NewTracerProvider(sdktrace.WithSyncer(l.spans))
	l.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(l.metrics))
	var err error
	l.observer, err = messagingotel.New(messagingotel.WithTracerProvider(l.tracers), messagingotel.WithMeterProvider(l.meters))
	require.NoError(tb, err)
	return l
}

// client returns a client of the service that is observed.
func (l *lab) client(tb testing.TB, options ...messaging.Option) *messaging.Client {
	tb.Helper()
	options = append([]messaging.Option{messaging.WithToken(l.service.Token), messaging.WithObserver(l.observer)}, options...)
	client, err := messaging.NewClient(l.service.URL, options...)
	require.NoError(tb, err)
	return client
}

// tree shows the spans that have ended: a line for each, indented by depth, with its kind, its status, and the attributes named.
func (l *lab) tree(keys ...attribute.Key) []string {
	spans := l.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var lines []string
	var show func(parent trace.SpanID, depth int)
	show = func(parent trace.SpanID, depth int) {
		for _, span := range spans {
			if span.Parent.SpanID() != parent {
				continue
			}
			line := strings.Repeat("  ", depth) + span.Name + " (" + span.SpanKind.String() + ")"
			for _, key := range keys {
				if value, ok := find(span.Attributes, key); ok {
					line += fmt.Sprintf(" %s=%s", key, value)
				}
			}
			lines = append(lines, cmp.Or(strings.TrimSuffix(line+" "+span.Status.Code.String(), " Unset"), line))
			show(span.SpanContext.SpanID(), depth+1)
		}
	}
	show(trace.SpanID{}, 0)
	return lines
}

// span returns the attributes of the only span of that name, as text.
func (l *lab) span(t *testing.T, name string) map[string]string {
	t.Helper()
	var found []map[string]string
	for _, span := range l.spans.GetSpans() {
		if span.Name == name {
			found = append(found, texts(span.Attributes))
		}
	}
	require.Len(t, found, 1, "spans named %s", name)
	return found[0]
}

// collect returns the metrics by their names.
func (l *lab) collect(t *testing.T) map[string]metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, l.metrics.Collect(t.Context(), &all))
	found := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, one := range scope.Metrics {
			found[one.Name] = one
		}
	}
	return found
}

// counts returns how much each data point of a metric counts, by the values of some attributes.
func (l *lab) counts(t *testing.T, name string, keys ...attribute.Key) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for n, set := range points(t, l.collect(t)[name]) {
		var values []string
		for _, key := range keys {
			value, _ := set.Value(key)
			values = append(values, value.String())
		}
		counts[strings.Join(values, ", ")] += n
	}
	return counts
}

// points yields how much each data point of a metric counts, and its attributes.
func points(t *testing.T, one metricdata.Metrics) iter.Seq2[int64, attribute.Set] {
	t.Helper()
	return func(yield func(int64, attribute.Set) bool) {
		switch data := one.Data.(type) {
		case metricdata.Histogram[float64]:
			for _, point := range data.DataPoints {
				if !yield(int64(point.Count), point.Attributes) {
					return
				}
			}
		case metricdata.Sum[int64]:
			for _, point := range data.DataPoints {
				if !yield(point.Value, point.Attributes) {
					return
				}
			}
		case metricdata.Gauge[int64]:
			for _, point := range data.DataPoints {
				if !yield(point.Value, point.Attributes) {
					return
				}
			}
		default:
			require.Failf(t, "no such metric", "%s: %T", one.Name, data)
		}
	}
}

func texts(attributes []attribute.KeyValue) map[string]string {
	found := map[string]string{}
	for _, one := range attributes {
		found[string(one.Key)] = one.Value.String()
	}
	return found
}

func find(attributes []attribute.KeyValue, key attribute.Key) (string, bool) {
	value, ok := texts(attributes)[string(key)]
	return value, ok
}
