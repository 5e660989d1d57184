package messagingotel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/messaging-service/messaging-go/webhook"
)

// Hook returns a hook for webhook.WithHook. It makes a span for each event, within which the handle function runs, and a metric of its
// outcome.
func (o *Observer) Hook() webhook.Hook {
	return webhook.Hook{Begin: o.beginEvent, End: o.endEvent}
}

// beginEvent starts the span of an event.
func (o *Observer) beginEvent(ctx context.Context, callback webhook.Callback) context.Context {
	return o.start(ctx, "process "+string(callback), trace.SpanKindConsumer, processing(callback))
}

// endEvent ends the span of an event, and records its metric. Neither contains the error, which may hold personal data.
func (o *Observer) endEvent(ctx context.Context, result webhook.Result) {
	span := o.span(ctx)
	kind := EventKindKey.String(result.Kind)
	outcome := OutcomeKey.String(string(result.Disposition))
	span.SetAttributes(kind, outcome, semconv.HTTPResponseStatusCode(result.StatusCode))
	var failure attribute.KeyValue
	switch result.Disposition {
	case webhook.DispositionFailed, webhook.DispositionPanicked, webhook.DispositionStoreFailed:
		failure = semconv.ErrorTypeKey.String(string(result.Disposition))
		span.SetStatus(codes.Error, string(result.Disposition))
	case webhook.DispositionRefused:
		failure = semconv.ErrorTypeKey.String(result.Reason())
	case webhook.DispositionHandled, webhook.DispositionDuplicate, webhook.DispositionInProgress, webhook.DispositionRetryLater:
	}
	if failure.Valid() {
		span.SetAttributes(failure)
	}
	o.process.RecordSet(ctx, result.Duration.Seconds(), set(processing(result.Callback), kind, outcome, failure))
	span.End()
}

// processing returns the attributes of an event before it is read.
func processing(callback webhook.Callback) []attribute.KeyValue {
	return operation("process", string(callback), semconv.MessagingOperationTypeProcess)
}
