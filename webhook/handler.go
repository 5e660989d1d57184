package webhook

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"
	"unicode/utf8"
)

// handler serves one callback.
type handler[E event] struct {
	*Receiver

	callback *callback
	readOne  func(*http.Request) (E, error) // or nil
	readAll  func(*http.Request) ([]E, error)
	handle   func(context.Context, E) error
}

// event is what handlers need to know of an event.
type event interface {
	DuplicateKey() (key string, lasting bool)
	id() string
}

// ServeHTTP answers a request. The body is always empty, because some gateways send it back to the sender as a message.
func (h *handler[E]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status := h.serve(r)
	header := w.Header()
	header["Cache-Control"] = h.noStore
	switch status {
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.post {
			allow += ", POST"
		}
		header.Set("Allow", allow)
	case http.StatusNotFound:
		header.Set("Connection", "close") // otherwise net/http waits for a body before it answers
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", "1")
	}
	w.WriteHeader(status) // also for 200: some routers record it
}

// serve handles the events of a request and returns the status of the response: the highest of all events, so that the
// service calls again if any was not handled. It lets no panic out.
func (h *handler[E]) serve(r *http.Request) (status int) {
	began := h.now()
	defer func() {
		if value := recover(); value != nil {
			status = h.reject(r, "", newPanicError(h.callback, value), began)
		}
	}()
	if h.readOne != nil {
		e, err := h.readOne(r)
		if err != nil {
			return h.reject(r, "", err, began)
		}
		return h.handleOne(r, e, began)
	}
	events, err := h.readAll(r)
	status = http.StatusOK
	if err != nil {
		status = h.reject(r, "", err, began)
	}
	for i := range events {
		if i > 0 {
			began = h.now()
		}
		status = max(status, h.handleOne(r, events[i], began))
	}
	return status
}

// now returns the time if there is a logger to log it.
func (h *handler[E]) now() time.Time {
	if h.logger == nil {
		return time.Time{}
	}
	return time.Now()
}

// handleOne handles one event, unless that was done or is being done, and returns the status of the response.
func (h *handler[E]) handleOne(r *http.Request, e E, began time.Time) int {
	ctx := &handlerContext{request: r.Context(), deadline: time.Now().Add(h.timeout)}
	defer ctx.end()
	id, called := e.id(), true
	var err, storeErr error
	if key := h.storeKey(e); key == "" {
		err = h.call(ctx, e)
	} else {
		called, err, storeErr = h.once(ctx, key, e)
	}
	if panicked, ok := errors.AsType[*PanicError](cmp.Or(err, storeErr)); ok {
		return h.reject(r, id, panicked, began)
	}
	switch {
	case err != nil:
		h.log(r, slog.LevelError, id, "failed", began)
		return http.StatusInternalServerError
	case errors.Is(storeErr, ErrInProgress):
		h.log(r, slog.LevelInfo, id, "in progress", began)
		return http.StatusServiceUnavailable
	case storeErr != nil:
		h.log(r, slog.LevelError, id, "store failed", began)
		return http.StatusServiceUnavailable
	case !called:
		h.log(r, slog.LevelInfo, id, "duplicate", began)
	default:
		h.log(r, slog.LevelInfo, id, "handled", began)
	}
	return http.StatusOK
}

// storeKey returns the key of an event in the store, or "" if there is no store or the event cannot be told from others.
func (h *handler[E]) storeKey(e E) string {
	if h.store == nil {
		return ""
	}
	key, lasting := e.DuplicateKey()
	switch {
	case lasting:
		return key
	case h.window == 0:
		return ""
	default:
		return key + "." + strconv.FormatInt(time.Now().UnixNano()/int64(h.window), 10)
	}
}

// once calls the handle function through the store. It reports whether the function was called, and returns its error apart
// from that of the store.
func (h *handler[E]) once(ctx context.Context, key string, e E) (called bool, err, storeErr error) {
	var result struct {
		called bool
		err    error
	}
	storeErr = protect(h.callback, func() error {
		return h.store.Once(ctx, key, func(ctx context.Context) error {
			result.called = true
			result.err = h.call(ctx, e)
			return result.err
		})
	})
	return result.called, result.err, storeErr
}

// call calls the handle function.
func (h *handler[E]) call(ctx context.Context, e E) error {
	return protect(h.callback, func() error { return h.handle(ctx, e) })
}

// protect calls a function of the user and turns a panic into a [*PanicError].
func protect(c *callback, call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = newPanicError(c, value)
		}
	}()
	return call()
}

func newPanicError(c *callback, value any) *PanicError {
	return &PanicError{Callback: c.name, Value: value, Stack: debug.Stack()}
}

// reject reports a refusal or a panic and returns the status of the response.
func (h *handler[E]) reject(r *http.Request, id string, err error, began time.Time) int {
	status, verdict, level := http.StatusInternalServerError, "panicked", slog.LevelError
	if rejected, ok := errors.AsType[*RejectError](err); ok {
		if r.Method == http.MethodHead && errors.Is(err, ErrProbe) {
			return rejected.Status
		}
		status, verdict, level = rejected.Status, "refused: "+rejected.Reason.Error(), slog.LevelWarn
	}
	h.log(r, level, id, verdict, began)
	if h.onReject != nil {
		failed := protect(h.callback, func() error {
			h.onReject(r, err)
			return nil
		})
		if failed != nil {
			return http.StatusInternalServerError
		}
	}
	return status
}

// log logs what became of an event or a request. A log that panics changes nothing of it.
func (h *handler[E]) log(r *http.Request, level slog.Level, id, verdict string, began time.Time) {
	if h.logger == nil {
		return
	}
	_ = protect(h.callback, func() error {
		h.logger.LogAttrs(r.Context(), level, "webhook", slog.String("callback", string(h.callback.name)),
			slog.String("id", cut(id)), slog.String("verdict", verdict), slog.Duration("duration", time.Since(began)))
		return nil
	})
}

// cut bounds an ID that is logged, since it comes from outside.
func cut(id string) string {
	const longest = 128
	if len(id) <= longest {
		return id
	}
	end := longest
	for !utf8.RuneStart(id[end]) {
		end--
	}
	return id[:end] + "…"
}
