package messagingotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/messaging-service/messaging-go/webhook"
)

// StartEvent starts a span; see webhook.Observer.
func (o *Observer) StartEvent(ctx context.Context, event webhook.Event) context.Context {
	return o.start(ctx, "process "+string(event.Callback), trace.SpanKindConsumer, processing(event))
}

// EndEvent ends the span of an event, and records its metric; see webhook.Observer.
func (o *Observer) EndEvent(ctx context.Context, event webhook.Event, result webhook.EventResult) {
	span := o.span(ctx)
	kind, outcome := EventKindKey.String(string(result.Kind)), OutcomeKey.String(string(result.Outcome))
	span.SetAttributes(kind, outcome, semconv.HTTPResponseStatusCode(result.StatusCode))
	var failure attribute.KeyValue
	switch result.Outcome {
	case webhook.OutcomeFailed, webhook.OutcomePanicked, webhook.OutcomeStoreFailed:
		failure = semconv.ErrorTypeKey.String(string(result.Outcome))
		span.SetStatus(codes.Error, string(result.Outcome))
	case webhook.OutcomeRejected:
		failure = semconv.ErrorTypeKey.String(result.Reason)
	case webhook.OutcomeHandled, webhook.OutcomeDuplicate, webhook.OutcomeInProgress, webhook.OutcomeRetryLater:
	}
	if failure.Valid() {
		span.SetAttributes(failure)
	}
	o.process.RecordSet(ctx, result.Duration.Seconds(), set(processing(event), kind, outcome, failure))
	span.End()
}

// processing returns the attributes of an event before it is read.
func processing(event webhook.Event) []attribute.KeyValue {
	return operation("process", string(event.Callback), semconv.MessagingOperationTypeProcess)
}
