package messagingotel

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	messaging "github.com/messaging-service/messaging-go"
)

// StartStep starts a span; see messaging.Observer.
func (o *Observer) StartStep(ctx context.Context, step messaging.Step) context.Context {
	switch step.Kind {
	case messaging.StepAttempt:
		attributes := request(step)
		if step.Attempt > 1 {
			attributes = append(attributes, semconv.HTTPRequestResendCount(step.Attempt-1))
		}
		return o.start(ctx, step.Method, trace.SpanKindClient, attributes)
	case messaging.StepWait:
		return o.start(ctx, "wait", trace.SpanKindInternal, nil)
	case messaging.StepBackoff:
		return o.start(ctx, "backoff", trace.SpanKindInternal, nil)
	case messaging.StepToken:
		return o.start(ctx, "fetch token", trace.SpanKindInternal, nil)
	case messaging.StepCall:
		name, destination := names(step)
		return o.start(ctx, name+" "+destination, trace.SpanKindClient, call(step))
	default: // a lookup or a settle, which make calls
		name, destination := names(step)
		return o.start(ctx, name+" "+destination, trace.SpanKindInternal, call(step))
	}
}

// EndStep ends the span of a step, and records its metrics; see messaging.Observer.
func (o *Observer) EndStep(ctx context.Context, step messaging.Step, result messaging.StepResult) {
	span := o.span(ctx)
	failure := failureOf(step, result)
	if failure.Valid() {
		span.SetStatus(codes.Error, result.Reason)
		span.SetAttributes(failure)
	}
	if span.IsRecording() {
		span.SetAttributes(details(step, result)...)
	}
	switch step.Kind {
	case messaging.StepAttempt:
		o.request.RecordSet(ctx, result.Duration.Seconds(), set(request(step), failure, status(result.StatusCode)))
	case messaging.StepCall, messaging.StepLookup, messaging.StepSettle:
		attributes := set(call(step), failure, verdictOf(step, result))
		o.operation.RecordSet(ctx, result.Duration.Seconds(), attributes)
		if isSend(step) {
			o.sent.AddSet(ctx, 1, attributes)
			if result.Parts > 0 {
				o.parts.Add(ctx, int64(result.Parts), metric.WithAttributeSet(attributes))
			}
		}
	default: // waits and tokens have spans, but no metrics
	}
	span.End()
}

// details returns the attributes that a span gets when it ends, except the error.
func details(step messaging.Step, result messaging.StepResult) []attribute.KeyValue {
	attributes := make([]attribute.KeyValue, 0, 6)
	add := func(kv attribute.KeyValue, isKnown bool) {
		if isKnown {
			attributes = append(attributes, kv)
		}
	}
	add(status(result.StatusCode), result.StatusCode != 0)
	add(requestIDKey.String(result.RequestID), result.RequestID != "")
	add(semconv.MessagingMessageID(result.MessageID), result.MessageID != "")
	add(attemptsKey.Int(result.Attempts), result.Attempts != 0)
	add(partsKey.Int(result.Parts), result.Parts != 0)
	kv := verdictOf(step, result)
	add(kv, kv.Valid())
	return attributes
}

// names returns the name of the operation and of the channel of a step.
func names(step messaging.Step) (operation, channel string) {
	channel, operation, _ = strings.Cut(step.Operation, ".")
	switch step.Kind {
	case messaging.StepLookup:
		operation = "lookup"
	case messaging.StepSettle:
		operation = "settle"
	default:
	}
	return operation, channel
}

// call returns the attributes of a step that is an operation. Only a send has a type: the conventions use "receive" and "settle" for
// something else.
func call(step messaging.Step) []attribute.KeyValue {
	var kind attribute.KeyValue
	if isSend(step) {
		kind = semconv.MessagingOperationTypeSend
	}
	name, destination := names(step)
	return append(operation(name, destination, kind), server(step.Server)...)
}

// request returns the attributes of an attempt.
func request(step messaging.Step) []attribute.KeyValue {
	return append(server(step.Server), semconv.HTTPRequestMethodKey.String(step.Method))
}

// failureOf returns the attribute error.type. It is not valid if the step did not fail.
func failureOf(step messaging.Step, result messaging.StepResult) attribute.KeyValue {
	switch {
	case result.Reason == "":
		return attribute.KeyValue{}
	case step.Kind == messaging.StepAttempt && result.StatusCode >= 400:
		return semconv.ErrorTypeKey.String(strconv.Itoa(result.StatusCode))
	default:
		verdict := verdictOf(step, result).Value.AsString()
		return semconv.ErrorTypeKey.String(cmp.Or(result.Class, verdict, semconv.ErrorTypeOther.Value.AsString()))
	}
}

// isSend reports whether a step is a send with all its attempts.
func isSend(step messaging.Step) bool { return step.Kind == messaging.StepCall && !step.Read }

// verdictOf returns the attribute of a verdict. It is not valid if the step has no verdict.
func verdictOf(step messaging.Step, result messaging.StepResult) attribute.KeyValue {
	if step.Kind == messaging.StepSettle || isSend(step) {
		return VerdictKey.String(result.Verdict.String())
	}
	return attribute.KeyValue{}
}

// status returns the attribute of an HTTP status. It is not valid if there was no response.
func status(code int) attribute.KeyValue {
	if code == 0 {
		return attribute.KeyValue{}
	}
	return semconv.HTTPResponseStatusCode(code)
}

// set returns a set of attributes, with the valid ones of more.
func set(attributes []attribute.KeyValue, more ...attribute.KeyValue) attribute.Set {
	for _, kv := range more {
		if kv.Valid() {
			attributes = append(attributes, kv)
		}
	}
	return attribute.NewSet(attributes...)
}
