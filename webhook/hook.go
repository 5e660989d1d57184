package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"
)

// A Hook is told what a Receiver does with each event, for logs, metrics and traces; see [WithHook]. Either function may be nil. Both are
// called from many goroutines, before the response, so they should return at once. A panic in one of them is ignored.
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
	// Field is the field of the platform's envelope for an [Other], under the same condition as ID.
	Field string
	// Outcome is what became of the event.
	Outcome Outcome
	// StatusCode is the HTTP status that the event asks for. The response has the highest of its events.
	StatusCode int
	// Err is why the event was not handled: a [*RejectError], a [*PanicError], the error of the store, or the error that the handle
	// function returned, which may hold anything. It is nil for an event that was handled, now or before.
	Err error
	// Began is when reading began, and Duration the time since then.
	Began    time.Time
	Duration time.Duration
}

// Reason returns why a request was refused, such as "no sender". It is empty for other outcomes. It is one of a few texts, so it may be
// a label of a metric.
func (r Result) Reason() string {
	if rejected, ok := errors.AsType[*RejectError](r.Err); ok && r.Outcome == OutcomeRejected {
		return rejected.Reason.Error()
	}
	return ""
}

// The kinds of events that do not have the name of a callback.
const (
	kindOther      = "other"
	kindPreference = "preference"
)

// Outcome is what became of an event.
type Outcome string

// The outcomes.
const (
	// OutcomeHandled: the function returned nil, or the request held an empty list of events.
	OutcomeHandled Outcome = "handled"
	// OutcomeDuplicate: the event was handled before.
	OutcomeDuplicate Outcome = "duplicate"
	// OutcomeInProgress: another call is handling the event. 503.
	OutcomeInProgress Outcome = "in progress"
	// OutcomeRetryLater: the function returned ErrRetryLater. 503.
	OutcomeRetryLater Outcome = "retry later"
	// OutcomeRejected: the request, or a part of it, was not read as an event. See [RejectError].
	OutcomeRejected Outcome = "refused"
	// OutcomeFailed: the function returned another error. 500, or 503 for an [Other] or a [Preference].
	OutcomeFailed Outcome = "failed"
	// OutcomePanicked: the function, a verifier or the store panicked. 500.
	OutcomePanicked Outcome = "panicked"
	// OutcomeStoreFailed: the store returned an error of its own. 503.
	OutcomeStoreFailed Outcome = "store failed"
)

// outcome returns what became of an event that was read, and the status of the response for it.
func (c *call) outcome(storeErr error) (Outcome, int) {
	switch {
	case errors.Is(c.err, ErrRetryLater):
		return OutcomeRetryLater, http.StatusServiceUnavailable
	case c.err != nil:
		return OutcomeFailed, c.failureStatus()
	case errors.Is(storeErr, ErrInProgress):
		return OutcomeInProgress, http.StatusServiceUnavailable
	case storeErr != nil:
		return OutcomeStoreFailed, http.StatusServiceUnavailable
	case !c.called:
		return OutcomeDuplicate, http.StatusOK
	default:
		return OutcomeHandled, http.StatusOK
	}
}

// failureStatus returns the status for an event whose function returned an error. A platform gives up a callback that is answered with
// another 500 sooner than one that is told to come again.
func (c *call) failureStatus() int {
	switch c.event.(type) {
	case *Other, *Preference:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// begin tells the hooks that a request, or a further event of it, is to be read.
func (h *handler) begin(r *http.Request) *call {
	c := &call{handler: h, parent: r.Context()}
	if len(h.hooks) == 0 {
		return c
	}
	c.began = time.Now()
	for _, hook := range h.hooks {
		if hook.Begin == nil {
			continue
		}
		_ = protect(h.name, func() error {
			if ctx := hook.Begin(c.parent, h.name); ctx != nil {
				c.parent = ctx
			}
			return nil
		})
	}
	return c
}

// end tells the hooks what became of an event, in the opposite order.
func (c *call) end(outcome Outcome, err error, status int) {
	if len(c.hooks) == 0 {
		return
	}
	result := Result{
		Callback: c.name, Kind: string(c.name), Outcome: outcome, StatusCode: status, Err: err,
		Began: c.began, Duration: time.Since(c.began),
	}
	if c.event != nil {
		kind, id := c.event.about()
		result.Kind, result.ID = kind, loggable(id)
	}
	if other, ok := c.event.(*Other); ok {
		result.Field = loggable(other.Field)
	}
	for _, hook := range slices.Backward(c.hooks) {
		if hook.End == nil {
			continue
		}
		_ = protect(c.name, func() error {
			hook.End(c.parent, result)
			return nil
		})
	}
}

// LogHook returns a hook that writes a record for each event, and for each request that was refused: the callback, the kind, the ID, the
// field, the outcome with its reason, and the duration. Numbers, texts, queries, secrets and the errors of functions are not logged.
// Duplicates are logged at Debug, what was handled or put off at Info, what was refused at Warn, what failed at Error. A HEAD request,
// which has no effect, is not logged. Without a logger the hook is empty, which [WithHook] refuses.
func LogHook(logger *slog.Logger) Hook {
	if logger == nil {
		return Hook{}
	}
	return Hook{End: func(ctx context.Context, r Result) {
		rejected, _ := errors.AsType[*RejectError](r.Err)
		if rejected != nil && rejected.Status == http.StatusOK && errors.Is(rejected, ErrProbe) {
			return
		}
		outcome := string(r.Outcome)
		if reason := r.Reason(); reason != "" {
			outcome += ": " + reason
		}
		attrs := []slog.Attr{
			slog.String("callback", string(r.Callback)), slog.String("kind", r.Kind), slog.String("id", r.ID),
			slog.String("outcome", outcome), slog.Duration("duration", r.Duration),
		}
		if r.Field != "" {
			attrs = append(attrs, slog.String("field", r.Field))
		}
		logger.LogAttrs(ctx, r.Outcome.level(), "webhook", attrs...)
	}}
}

// level returns the level at which an outcome is logged.
func (o Outcome) level() slog.Level {
	switch o {
	case OutcomeDuplicate, OutcomeInProgress:
		return slog.LevelDebug
	case OutcomeHandled, OutcomeRetryLater:
		return slog.LevelInfo
	case OutcomeRejected:
		return slog.LevelWarn
	case OutcomeFailed, OutcomePanicked, OutcomeStoreFailed:
		return slog.LevelError
	default:
		return slog.LevelError
	}
}
