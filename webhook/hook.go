package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A Hook observes what a Receiver does with each event, for logs, metrics and traces; see [WithHook]. Either function may be nil. Both are
// called from many goroutines, before the response, so they should return at once. A panic in a hook is ignored.
type Hook struct {
	// Begin is called before a request is read, and again for each further event that it holds. The handle function and End get the
	// context that it returns, which must derive from ctx. A tracer starts its span here.
	Begin func(ctx context.Context, callback Callback) context.Context
	// End is called once for each event, and once for a request that was refused or held no event, in the same goroutine as Begin.
	End func(ctx context.Context, result Result)
}

// Result says what became of an event or, if it could not be read, of a request. Except for Err it holds no number, text or secret.
type Result struct {
	// Callback is the callback whose handler was called.
	Callback Callback
	// Kind is the kind of the event: sms, chatapp1, chatapp2, delivery, preference or other. It is the callback's name for a request
	// that was not read as an event.
	Kind string
	// ID is the ID of the event. It is empty if the event has none, or one that may be a number or a sentence.
	ID string
	// Field is the field of the platform's envelope for an Other. Like ID, it is empty if it may be a number or a sentence.
	Field string
	// Disposition is what became of the event.
	Disposition Disposition
	// StatusCode is the HTTP status that the event asks for. The response has the highest of its events.
	StatusCode int
	// Err is why the event was not handled: a *RejectError, the error of the store, or the error that the handle function returned,
	// which may hold anything. After a panic it wraps the argument of panic if that is an error. It is nil for an event that was
	// handled, now or before.
	Err error
	// Began is when the Receiver began with the event, and for the first event of a request when it began to read the request.
	Began time.Time
	// Duration is the time from Began until the event was handled or refused, with that in the store and in the function.
	Duration time.Duration
}

// Reason returns why a request was refused, such as "no sender". It is empty for other outcomes. It is one of a few texts, so it may be
// a label of a metric.
func (r Result) Reason() string {
	if rejected, ok := errors.AsType[*RejectError](r.Err); ok && r.Disposition == DispositionRefused {
		return rejected.Reason.Error()
	}
	return ""
}

// The kinds of events that do not have the name of a callback.
const (
	kindOther      = "other"
	kindPreference = "preference"
)

// Disposition is what became of an event.
type Disposition string

// The outcomes.
const (
	// DispositionHandled: the function returned nil, or the request held an empty list of events.
	DispositionHandled Disposition = "handled"
	// DispositionDuplicate: the event was handled before.
	DispositionDuplicate Disposition = "duplicate"
	// DispositionInProgress: another call is handling the event. 503.
	DispositionInProgress Disposition = "in progress"
	// DispositionRetryLater: the function returned ErrRetryLater. 503.
	DispositionRetryLater Disposition = "retry later"
	// DispositionRefused: the request, or a part of it, was not read as an event, or no option sets a function for it. See RejectError.
	DispositionRefused Disposition = "refused"
	// DispositionFailed: the function returned another error. 500, or 503 for an Other or a Preference.
	DispositionFailed Disposition = "failed"
	// DispositionPanicked: the function, a verifier or the store panicked. 500.
	DispositionPanicked Disposition = "panicked"
	// DispositionStoreFailed: the store returned an error of its own. 503.
	DispositionStoreFailed Disposition = "store failed"
)

// LogHook returns a hook that writes a log record for each event and for each refused request: the callback, the kind if it is not the
// callback's name, the ID, the field, the outcome (the Disposition) with its reason, and the duration. After a panic the record also has the
// stack. Numbers, texts, queries, secrets and the errors of functions are not logged.
//
// Duplicates and events in progress are logged at Debug, handled and postponed events at Info, refusals at Warn, and failures at Error. A HEAD
// request has no effect and is not logged. A nil logger makes an empty hook, for which [NewReceiver] returns an error that names LogHook(nil).
func LogHook(logger *slog.Logger) Hook {
	if logger == nil {
		return Hook{}
	}
	return Hook{End: func(ctx context.Context, r Result) {
		isHEAD := r.StatusCode == http.StatusOK && errors.Is(r.Err, ErrPrefetch)
		if isHEAD {
			return
		}
		outcome := string(r.Disposition)
		if reason := r.Reason(); reason != "" {
			outcome += ": " + reason
		}
		attrs := []slog.Attr{
			slog.String("callback", string(r.Callback)),
		}
		if r.Kind != string(r.Callback) {
			attrs = append(attrs, slog.String("kind", r.Kind))
		}
		attrs = append(attrs,
			slog.String("id", r.ID),
			slog.String("outcome", outcome),
			slog.Duration("duration", r.Duration),
		)
		if r.Field != "" {
			attrs = append(attrs, slog.String("field", r.Field))
		}
		if panicked, ok := errors.AsType[*panicError](r.Err); ok {
			attrs = append(attrs, slog.String("stack", string(panicked.stack)))
		}
		logger.LogAttrs(ctx, r.Disposition.level(), "webhook", attrs...)
	}}
}

// level returns the level at which a disposition is logged.
func (d Disposition) level() slog.Level {
	switch d {
	case DispositionDuplicate, DispositionInProgress:
		return slog.LevelDebug
	case DispositionHandled, DispositionRetryLater:
		return slog.LevelInfo
	case DispositionRefused:
		return slog.LevelWarn
	case DispositionFailed, DispositionPanicked, DispositionStoreFailed:
		return slog.LevelError
	default:
		return slog.LevelError
	}
}

// loggable returns an ID, which comes from outside, or "" if it may hold a number or a sentence. IDs of chat app 2 may end with the padding of
// base64.
func loggable(id string) string {
	unpadded := strings.TrimSuffix(strings.TrimSuffix(id, "="), "=")
	if !table.IsWord(unpadded) {
		return ""
	}
	return id
}
