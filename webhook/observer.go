package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"
)

// Observer watches what a Receiver does, for traces and metrics; see [WithObserver]. It is used from many goroutines at once, and
// before the response, so its methods should return at once. A panic in one of them is ignored.
//
// Nothing that it is told holds a number, a text, an ID or a secret.
type Observer interface {
	// StartEvent is called before a request is read, and again for each further event that it holds. The context that it returns
	// is passed to EndEvent, and its values to the handle function. It must derive from ctx.
	StartEvent(ctx context.Context, event Event) context.Context
	// EndEvent is called once for each StartEvent, in the same goroutine.
	EndEvent(ctx context.Context, event Event, result EventResult)
}

// Event is what an Observer is told of an event before it is read.
type Event struct {
	// Callback is the callback whose handler was called.
	Callback Callback
}

// EventResult says what became of an event or, if it could not be read, of a request.
type EventResult struct {
	// Kind is the kind of the event: CallbackDelivery for a status that came to the handler of a chat app, otherwise the callback.
	Kind Callback
	// Outcome is what became of the event.
	Outcome Outcome
	// Reason is why a request was refused: the text of the Reason of a [RejectError], such as "no sender". It is empty for other
	// outcomes.
	Reason string
	// StatusCode is the HTTP status that the event asks for. The response has the highest of its events.
	StatusCode int
	// Duration is the time since StartEvent.
	Duration time.Duration
}

// observing is an Observer. Functions hold it, so that no verb of package fmt prints it.
type observing struct {
	start func(context.Context, Event) context.Context
	end   func(context.Context, Event, EventResult)
}

// Outcome is what became of an event.
type Outcome string

// The outcomes.
const (
	// OutcomeHandled: the function returned nil.
	OutcomeHandled Outcome = "handled"
	// OutcomeDuplicate: the event was handled before.
	OutcomeDuplicate Outcome = "duplicate"
	// OutcomeInProgress: another call is handling the event. 503.
	OutcomeInProgress Outcome = "in progress"
	// OutcomeRetryLater: the function returned ErrRetryLater. 503.
	OutcomeRetryLater Outcome = "retry later"
	// OutcomeRejected: the request, or a part of it, was not read as an event. See [RejectError].
	OutcomeRejected Outcome = "refused"
	// OutcomeFailed: the function returned another error. 500.
	OutcomeFailed Outcome = "failed"
	// OutcomePanicked: the function, a verifier or the store panicked. 500.
	OutcomePanicked Outcome = "panicked"
	// OutcomeStoreFailed: the store returned an error of its own. 503.
	OutcomeStoreFailed Outcome = "store failed"
)

// outcomeOf returns what became of an event: whether the function was called, its error, and the error of the store.
func outcomeOf(called bool, err, storeErr error) Outcome {
	switch {
	case errors.Is(err, ErrRetryLater):
		return OutcomeRetryLater
	case err != nil:
		return OutcomeFailed
	case errors.Is(storeErr, ErrInProgress):
		return OutcomeInProgress
	case storeErr != nil:
		return OutcomeStoreFailed
	case !called:
		return OutcomeDuplicate
	default:
		return OutcomeHandled
	}
}

// rule returns the status of the response for an event, other than one that was refused, and the level at which it is logged.
func (o Outcome) rule() (status int, level slog.Level) {
	switch o {
	case OutcomeHandled:
		return http.StatusOK, slog.LevelInfo
	case OutcomeDuplicate:
		return http.StatusOK, slog.LevelDebug
	case OutcomeInProgress:
		return http.StatusServiceUnavailable, slog.LevelDebug
	case OutcomeRetryLater:
		return http.StatusServiceUnavailable, slog.LevelInfo
	case OutcomeStoreFailed:
		return http.StatusServiceUnavailable, slog.LevelError
	case OutcomeRejected:
		return http.StatusBadRequest, slog.LevelWarn
	case OutcomeFailed, OutcomePanicked:
	}
	return http.StatusInternalServerError, slog.LevelError
}

// watched is an event that is logged and observed.
type watched struct {
	request *http.Request
	ctx     context.Context //nolint:containedctx // that of the request, or of the observers
	began   time.Time       // zero if nobody asks
	kind    Callback
	id      string
}

// isHEAD reports whether a request was refused only because it must have no effect, which is no news.
func (w watched) isHEAD(reason error) bool {
	return w.request.Method == http.MethodHead && errors.Is(reason, ErrProbe)
}

// watch begins an event.
func (h *handler) watch(r *http.Request) watched {
	w := watched{request: r, ctx: r.Context(), kind: h.callback.name}
	if h.logger == nil && h.observers == nil {
		return w
	}
	w.began = time.Now()
	for _, observer := range h.observers {
		_ = protect(h.callback, func() error {
			if ctx := observer.start(w.ctx, Event{Callback: h.callback.name}); ctx != nil {
				w.ctx = ctx //nolint:fatcontext // one for each observer
			}
			return nil
		})
	}
	return w
}

// end observes and logs what became of an event. A logger or observer that panics changes nothing of it.
func (h *handler) end(w watched, outcome Outcome, reason error, status int) {
	if h.logger == nil && h.observers == nil {
		return
	}
	_, level := outcome.rule()
	result := EventResult{Kind: w.kind, Outcome: outcome, StatusCode: status, Duration: time.Since(w.began)}
	verdict := string(outcome)
	if reason != nil {
		result.Reason = reason.Error()
		verdict += ": " + result.Reason
	}
	for _, observer := range slices.Backward(h.observers) {
		_ = protect(h.callback, func() error {
			observer.end(w.ctx, Event{Callback: h.callback.name}, result)
			return nil
		})
	}
	if h.logger != nil && !w.isHEAD(reason) {
		_ = protect(h.callback, func() error {
			h.logger.LogAttrs(w.ctx, level, "webhook", slog.String("callback", string(h.callback.name)),
				slog.String("id", cut(w.id)), slog.String("verdict", verdict), slog.Duration("duration", result.Duration))
			return nil
		})
	}
}
