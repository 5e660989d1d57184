package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// An Observer watches a Receiver, for traces and metrics (see [WithObserver]). Its methods are called from many goroutines, and
// before the response, so they should return at once. A panic in one of them is ignored.
//
// Nothing that it is told holds a number, a text, an ID or a secret.
type Observer interface {
	// StartEvent is called before a request is read, and again for each further event that it holds. The handle function gets a
	// context with the values of the one returned. A nil context is ignored.
	StartEvent(ctx context.Context, start EventStart) context.Context
	// EndEvent is called once for each StartEvent, with the context that it returned.
	EndEvent(ctx context.Context, end EventEnd)
}

// EventStart is what is known before an event is read.
type EventStart struct {
	// Callback is the callback whose handler was called.
	Callback Callback
}

// EventEnd is what became of an event or, if it could not be read, of a request.
type EventEnd struct {
	// Callback is the callback. It is CallbackDelivery for a status that came to the handler of a chat app.
	Callback Callback
	Outcome  Outcome
	// Reason is why a request was refused: one of the errors of this package, such as ErrProof. It is nil for other outcomes.
	Reason error
	// Status is the HTTP status that the event asks for. The response has the highest of its events.
	Status int
	// Duration is the time since StartEvent.
	Duration time.Duration
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
	}
	return slog.LevelError
}

// watched is an event that is logged and observed.
type watched struct {
	request  *http.Request
	ctx      context.Context //nolint:containedctx // that of the request, or of the observer
	began    time.Time       // zero if nobody asks
	callback Callback
	id       string
}

// isHEAD reports whether a request was refused only because it must have no effect, which is no news.
func (w watched) isHEAD(reason error) bool {
	return w.request.Method == http.MethodHead && errors.Is(reason, ErrProbe)
}

// watch begins an event.
func (h *handler[E]) watch(r *http.Request) watched {
	w := watched{request: r, ctx: r.Context(), callback: h.callback.name}
	if h.logger == nil && h.observer == nil {
		return w
	}
	w.began = time.Now()
	if h.observer != nil {
		_ = protect(h.callback, func() error {
			if ctx := h.observer.StartEvent(w.ctx, EventStart{Callback: w.callback}); ctx != nil {
				w.ctx = ctx
			}
			return nil
		})
	}
	return w
}

// end observes and logs what became of an event. A logger or observer that panics changes nothing of it.
func (h *handler[E]) end(w watched, outcome Outcome, reason error, status int) {
	if h.logger == nil && h.observer == nil {
		return
	}
	took := time.Since(w.began)
	if h.observer != nil {
		_ = protect(h.callback, func() error {
			h.observer.EndEvent(w.ctx, EventEnd{Callback: w.callback, Outcome: outcome, Reason: reason, Status: status, Duration: took})
			return nil
		})
	}
	if h.logger != nil && !w.isHEAD(reason) {
		verdict := string(outcome)
		if reason != nil {
			verdict += ": " + reason.Error()
		}
		_ = protect(h.callback, func() error {
			h.logger.LogAttrs(w.ctx, outcome.level(), "webhook", slog.String("callback", string(w.callback)),
				slog.String("id", cut(w.id)), slog.String("verdict", verdict), slog.Duration("duration", took))
			return nil
		})
	}
}
