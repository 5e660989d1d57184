package messagingotel

import (
	"context"
	"errors"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
	"go.opentelemetry.io/otel/semconv/v1.43.0/messagingconv"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	messaging "github.com/messaging-service/messaging-go"
)

// The attributes of metrics that the semantic conventions do not define. Spans have them, too.
const (
	// VerdictKey is the verdict of a send or a settle: "accepted", "refused", "not sent" or "unknown".
	VerdictKey = attribute.Key("messaging.verdict")
	// OutcomeKey is the outcome of an event: the text of a webhook.Disposition.
	OutcomeKey = attribute.Key("messaging.outcome")
	// EventKindKey is the kind of an event: the name of its callback, "delivery" for a delivery report at the callback of a chat app,
	// "preference", or "other".
	EventKindKey = attribute.Key("messaging.event.kind")
)

// The attributes of spans alone that the semantic conventions do not define.
const (
	attemptsKey  = attribute.Key("messaging.attempts")
	partsKey     = attribute.Key("messaging.message.parts")
	requestIDKey = attribute.Key("messaging.request.id")
)

const (
	scope  = "github.com/messaging-service/messaging-go/messagingotel"
	system = "messaging-service" // messaging.system
)

// Observer observes clients, by messaging.WithObserver, and receivers, by its Hook. It is safe for concurrent use by any number of them.
type Observer struct {
	tracer    trace.Tracer
	operation messagingconv.ClientOperationDuration
	sent      messagingconv.ClientSentMessages
	parts     metric.Int64Counter
	request   httpconv.ClientRequestDuration
	process   messagingconv.ProcessDuration
	meter     metric.Meter
	breaker   metric.Int64ObservableGauge
}

var _ messaging.Observer = (*Observer)(nil)

// Option configures an Observer.
type Option func(*settings) error

type settings struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
}

// WithTracerProvider sets the provider of traces. The default is the global provider, which may be set later. For no traces, pass the
// provider of package go.opentelemetry.io/otel/trace/noop.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(s *settings) error {
		if provider == nil {
			return errors.New("messagingotel: WithTracerProvider: needs a provider, got nil")
		}
		s.tracers = provider
		return nil
	}
}

// WithMeterProvider sets the provider of metrics. The default is the global provider, which may be set later. For no metrics, pass the
// provider of package go.opentelemetry.io/otel/metric/noop.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(s *settings) error {
		if provider == nil {
			return errors.New("messagingotel: WithMeterProvider: needs a provider, got nil")
		}
		s.meters = provider
		return nil
	}
}

// New returns an Observer. It returns an error if an option is invalid, or if the meter provider rejects an instrument.
func New(options ...Option) (*Observer, error) {
	s := settings{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, option := range options {
		if option == nil {
			return nil, errors.New("messagingotel: an option is nil")
		}
		if err := option(&s); err != nil {
			return nil, err
		}
	}
	meter := s.meters.Meter(scope, metric.WithInstrumentationVersion(messaging.Version), metric.WithSchemaURL(semconv.SchemaURL))
	o := &Observer{
		tracer: s.tracers.Tracer(scope, trace.WithInstrumentationVersion(messaging.Version), trace.WithSchemaURL(semconv.SchemaURL)),
		meter:  meter,
	}
	if err := o.createInstruments(); err != nil {
		return nil, err
	}
	return o, nil
}

// createInstruments creates the instruments of the meter.
func (o *Observer) createInstruments() error {
	// The boundaries of the conventions, and two more: a send waits for the rate limit and before another attempt.
	boundaries := metric.WithExplicitBucketBoundaries(
		0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60)
	var errs [6]error
	o.operation, errs[0] = messagingconv.NewClientOperationDuration(o.meter, boundaries)
	o.sent, errs[1] = messagingconv.NewClientSentMessages(o.meter)
	o.parts, errs[2] = o.meter.Int64Counter("messaging.client.sent.parts", metric.WithUnit("{part}"),
		metric.WithDescription("Number of parts of sent messages that the service charges."))
	o.request, errs[3] = httpconv.NewClientRequestDuration(o.meter)
	o.process, errs[4] = messagingconv.NewProcessDuration(o.meter, boundaries)
	o.breaker, errs[5] = o.meter.Int64ObservableGauge("messaging.client.breaker.open", metric.WithUnit("{breaker}"),
		metric.WithDescription("1 while the circuit breaker of a channel is open, otherwise 0."))
	return errors.Join(errs[:]...)
}

// spanKey is the key of a context for the innermost span of an Observer. The span of the context itself may be another observer's.
type spanKey struct{ *Observer }

// start starts a span.
func (o *Observer) start(ctx context.Context, name string, kind trace.SpanKind, attributes []attribute.KeyValue) context.Context {
	ctx, span := o.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return context.WithValue(ctx, spanKey{o}, span)
}

// span returns the span that start put into the context.
func (o *Observer) span(ctx context.Context) trace.Span {
	if span, ok := ctx.Value(spanKey{o}).(trace.Span); ok {
		return span
	}
	return noop.Span{}
}

// operation returns the attributes of an operation on a destination, such as a channel.
func operation(name, destination string, kind attribute.KeyValue) []attribute.KeyValue {
	attributes := make([]attribute.KeyValue, 0, 8) // room for what callers add
	attributes = append(attributes, semconv.MessagingSystemKey.String(system), semconv.MessagingOperationName(name),
		semconv.MessagingDestinationName(destination))
	if kind.Valid() {
		attributes = append(attributes, kind)
	}
	return attributes
}

// server returns the attributes of a host, with its port if it has one.
func server(host string) []attribute.KeyValue {
	u := url.URL{Host: host}
	attributes := make([]attribute.KeyValue, 0, 4) // room for what callers add
	attributes = append(attributes, semconv.ServerAddress(u.Hostname()))
	if port, err := strconv.Atoi(u.Port()); err == nil {
		attributes = append(attributes, semconv.ServerPort(port))
	}
	return attributes
}
