package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Observer watches what a Receiver does, for traces and metrics; see [WithObserver]. It is used from many goroutines at once, and
// before the response, so its methods should return at once. A panic in one of them is ignored. It is told no number, text, ID or secret.
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
	// OutcomeFailed: the function returned another error. 500.
	OutcomeFailed Outcome = "failed"
	// OutcomePanicked: the function, a verifier or the store panicked. 500.
	OutcomePanicked Outcome = "panicked"
	// OutcomeStoreFailed: the store returned an error of its own. 503.
	OutcomeStoreFailed Outcome = "store failed"
)

// outcome returns what became of an event, the status of the response for it, and the level at which it is logged.
func (c *call) outcome(storeErr error) (Outcome, int, slog.Level) {
	switch {
	case errors.Is(c.err, ErrRetryLater):
		return OutcomeRetryLater, http.StatusServiceUnavailable, slog.LevelInfo
	case c.err != nil:
		return OutcomeFailed, http.StatusInternalServerError, slog.LevelError
	case errors.Is(storeErr, ErrInProgress):
		return OutcomeInProgress, http.StatusServiceUnavailable, slog.LevelDebug
	case storeErr != nil:
		return OutcomeStoreFailed, http.StatusServiceUnavailable, slog.LevelError
	case !c.called:
		return OutcomeDuplicate, http.StatusOK, slog.LevelDebug
	default:
		return OutcomeHandled, http.StatusOK, slog.LevelInfo
	}
}

func (h *handler) watch(r *http.Request) *call {
	c := &call{handler: h, parent: r.Context(), request: r}
	if h.logger == nil && h.observers == nil {
		return c
	}
	c.began = time.Now()
	for _, observer := range h.observers {
		_ = protect(h.name, func() error {
			if ctx := observer().StartEvent(c.parent, Event{Callback: h.name}); ctx != nil {
				c.parent = ctx
			}
			return nil
		})
	}
	return c
}

// end observes and logs what became of an event. A logger or observer that panics changes nothing of it.
func (c *call) end(outcome Outcome, reason error, status int, level slog.Level) {
	if c.logger == nil && c.observers == nil {
		return
	}
	kind, id := c.name, ""
	if c.event != nil {
		kind, id = c.event.about()
	}
	result := EventResult{Kind: kind, Outcome: outcome, StatusCode: status, Duration: time.Since(c.began)}
	verdict := string(outcome)
	if reason != nil {
		result.Reason = reason.Error()
		verdict += ": " + result.Reason
	}
	for _, observer := range slices.Backward(c.observers) {
		_ = protect(c.name, func() error {
			observer().EndEvent(c.parent, Event{Callback: c.name}, result)
			return nil
		})
	}
	if c.logger != nil && !c.isHEAD(reason) {
		attrs := []slog.Attr{
			slog.String("callback", string(c.name)), slog.String("id", loggable(id)),
			slog.String("verdict", verdict), slog.Duration("duration", result.Duration),
		}
		if c.field != "" {
			attrs = append(attrs, slog.String("field", loggable(c.field)))
		}
		_ = protect(c.name, func() error {
			c.logger.LogAttrs(c.parent, level, "webhook", attrs...)
			return nil
		})
	}
}

// otherFields are the fields that were logged at Warn, as long as they are few: they come from outside.
type otherFields struct {
	mu    sync.Mutex
	names []string
}

func (o *otherFields) isNew(field string) bool {
	const most = 32
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.names) == most || slices.Contains(o.names, field) {
		return false
	}
	o.names = append(o.names, field)
	return true
}

// isHEAD reports whether a request was refused only because it must have no effect, which is no news.
func (c *call) isHEAD(reason error) bool {
	return c.request.Method == http.MethodHead && errors.Is(reason, ErrProbe)
}
