package webhook

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"
)

// handler answers the calls of one kind of event.
type handler[T identified] struct {
	settings settings
	event    string
	read     func(*http.Request, *settings) (T, error)
	handle   func(context.Context, T) error
	memory   *MemoryStore // the store, if it is one
	noStore  []string     // the value of a header field, the same in every answer
}

func newHandler[T identified](
	kind string, namesOf func(*settings) names, read func(*http.Request, *settings) (T, error),
	handle func(context.Context, T) error, options []Option,
) http.Handler {
	if handle == nil {
		panic("webhook: the handle function is nil")
	}
	s := newSettings(options)
	s.check(namesOf(&s))
	h := &handler[T]{settings: s, event: kind, read: read, handle: handle}
	h.memory, _ = s.store.(*MemoryStore)
	h.noStore = []string{"no-store"}
	return http.HandlerFunc(h.serve)
}

// answer is what a request is answered with, and what is logged of it.
type answer struct {
	status  int
	verdict string
	level   slog.Level
	id      string
	err     error // for WithOnReject
}

// serve answers a request. A body never holds anything: some gateways send it back to the sender as a message.
func (h *handler[T]) serve(w http.ResponseWriter, r *http.Request) {
	var began time.Time
	if h.settings.logger != nil {
		began = time.Now()
	}
	a := h.process(r)
	if a.err != nil && h.settings.onReject != nil {
		h.tell(r, &a)
	}
	header := w.Header()
	header["Cache-Control"] = h.noStore
	switch a.status {
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.settings.post {
			allow = "GET, HEAD, POST"
		}
		header["Allow"] = []string{allow}
	case http.StatusServiceUnavailable:
		header["Retry-After"] = []string{"1"}
	}
	w.WriteHeader(a.status) // also 200: routers and what records the status of an answer wait for it
	if h.settings.logger != nil && a.verdict != "" {
		h.log(r.Context(), a, time.Since(began))
	}
}

// log logs what became of a request. A log that panics changes nothing of it.
func (h *handler[T]) log(ctx context.Context, a answer, took time.Duration) {
	defer func() { _ = recover() }()
	h.settings.logger.LogAttrs(ctx, a.level, "webhook",
		slog.String("kind", h.event), slog.String("id", cut(a.id)), slog.String("verdict", a.verdict), slog.Duration("duration", took))
}

// tell tells the user's function what was refused. Its own panic is a failure like any other.
func (h *handler[T]) tell(r *http.Request, a *answer) {
	told := false
	defer func() {
		if !told && recover() != nil {
			*a = answer{status: http.StatusInternalServerError, verdict: "panicked", level: slog.LevelError, id: a.id}
		}
	}()
	h.settings.onReject(r, a.err)
	told = true
}

// process does everything but answer. It lets no panic out.
func (h *handler[T]) process(r *http.Request) (a answer) {
	finished := false
	defer func() {
		if finished {
			return
		}
		if value := recover(); value != nil {
			a.status, a.verdict, a.level = http.StatusInternalServerError, "panicked", slog.LevelError
			a.err = &PanicError{Event: h.event, Value: value, Stack: debug.Stack()}
		}
	}()
	event, err := h.read(r, &h.settings)
	who := event.identity()
	a.id = who.id
	switch {
	case err != nil:
		a.refused(err)
	case h.settings.store == nil:
		a.handled(h.handle(r.Context(), event))
	default:
		h.once(r.Context(), &a, event, &who)
	}
	finished = true
	return a
}

// once handles an event unless that was done, or is being done.
func (h *handler[T]) once(ctx context.Context, a *answer, event T, who *identity) {
	c := claims{store: h.settings.store, memory: h.memory}
	state, err := h.claim(ctx, &c, who)
	switch {
	case err != nil || state < Claimed || state > Done:
		a.status, a.verdict, a.level = http.StatusServiceUnavailable, "not claimed", slog.LevelError
		return
	case state == InProgress:
		a.status, a.verdict, a.level = http.StatusServiceUnavailable, "in progress", slog.LevelInfo
		return
	case state == Done:
		a.status, a.verdict, a.level = http.StatusOK, "duplicate", slog.LevelInfo
		return
	}
	handled := false
	defer func() { // also where the function panics, or ends its goroutine
		if !handled && c.release(ctx) != nil {
			a.verdict += ", not released"
		}
	}()
	err = h.handle(ctx, event)
	a.handled(err)
	if handled = err == nil; !handled {
		return
	}
	if h.completes(ctx, &c, who) {
		return
	}
	a.verdict, a.level = "handled, not recorded", slog.LevelError
}

// claim claims an event. A store that panics has failed, and what it had given is given back.
func (h *handler[T]) claim(ctx context.Context, c *claims, who *identity) (state ClaimState, err error) {
	defer func() {
		if value := recover(); value != nil {
			_ = c.release(ctx)
			state, err = 0, errStorePanicked
		}
	}()
	return c.claim(ctx, h.event, who, h.settings.window)
}

// completes tells whether the store took down that an event was handled. What went wrong with that is no reason to tell
// the service anything else, a panic of the store neither.
func (h *handler[T]) completes(ctx context.Context, c *claims, who *identity) (ok bool) {
	defer func() {
		if !ok {
			_ = recover()
		}
	}()
	return c.complete(ctx, h.event, who) == nil
}

func (a *answer) handled(err error) {
	if err != nil {
		a.status, a.verdict, a.level = http.StatusInternalServerError, "failed", slog.LevelError
		return
	}
	a.status, a.verdict, a.level = http.StatusOK, "handled", slog.LevelInfo
}

func (a *answer) refused(err error) {
	refusal, ok := errors.AsType[*RejectError](err)
	switch {
	case !ok: // reading returns no other
		a.status, a.verdict, a.level, a.err = http.StatusBadRequest, "refused", slog.LevelWarn, err
	case errors.Is(refusal.Reason, ErrProbe): // nobody asked for anything
		a.status = refusal.Status
	default:
		a.status, a.verdict, a.level, a.err = refusal.Status, "refused: "+refusal.Reason.Error(), slog.LevelWarn, err
	}
}
