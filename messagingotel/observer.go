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

// The attributes that are not of the semantic conventions.
const (
	// VerdictKey is the verdict of a send or a settle: "accepted", "refused", "not sent" or "unknown".
	VerdictKey = attribute.Key("messaging.verdict")
	// AttemptsKey is the number of requests that a send or a list made.
	AttemptsKey = attribute.Key("messaging.attempts")
	// PartsKey is the number of parts that the service charges for a message.
	PartsKey = attribute.Key("messaging.message.parts")
	// RequestIDKey is the service's ID of a request.
	RequestIDKey = attribute.Key("messaging.request.id")
	// OutcomeKey is what became of an event: the text of a webhook.Disposition.
	OutcomeKey = attribute.Key("messaging.outcome")
	// EventKindKey is the kind of an event: the name of its callback, "delivery" for a delivery report at the callback of a chat app,
	// "preference", or "other".
	EventKindKey = attribute.Key("messaging.event.kind")
)

const (
	scope  = "github.com/messaging-service/messaging-go/messagingotel"
	system = "messaging-service" // messaging.system
)

// Observer is an observer of package messaging, and its Hook is one of package webhook. It is safe for concurrent use, by any number of clients and
// receivers.
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

// Option sets something of an Observer.
type Option func(*settings) error

type settings struct {
	tracers trace.TracerProvider
	meters  metric.MeterProvider
}

// WithTracerProvider sets where spans go. The default is the global provider, which may be set later. To have no traces, give the
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

// WithMeterProvider sets where metrics go. The default is the global provider, which may be set later. To have no metrics, give the
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

// New returns an Observer. It returns an error if an option is wrong, or if the meter provider refuses an instrument.
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
	// The boundaries of the conventions, and two more: a send waits, for the rate limit and before another attempt.
	boundaries := metric.WithExplicitBucketBoundaries(
		0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60)
	o := &Observer{
		tracer: s.tracers.Tracer(scope, trace.WithInstrumentationVersion(messaging.Version), trace.WithSchemaURL(semconv.SchemaURL)),
		meter:  meter,
	}
	var errs [6]error
	o.operation, errs[0] = messagingconv.NewClientOperationDuration(meter, boundaries)
	o.sent, errs[1] = messagingconv.NewClientSentMessages(meter)
	o.parts, errs[2] = meter.Int64Counter("messaging.client.sent.parts", metric.WithUnit("{part}"),
		metric.WithDescription("Number of parts of sent messages that the service charges."))
	o.request, errs[3] = httpconv.NewClientRequestDuration(meter)
	o.process, errs[4] = messagingconv.NewProcessDuration(meter, boundaries)
	o.breaker, errs[5] = meter.Int64ObservableGauge("messaging.client.breaker.open", metric.WithUnit("{breaker}"),
		metric.WithDescription("1 while the circuit breaker of a channel is open, otherwise 0."))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return o, nil
}

// spanKey leads from a context to the innermost span of an Observer, which is not that of the context if there are other observers.
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

// operation returns the attributes that say what is done, and of which channel.
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
