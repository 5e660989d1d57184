package webhook

import (
	"cmp"
	"context"
	"errors"
	"math"
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
	read     func(*http.Request) ([]E, error)
	handle   func(context.Context, E) error
}

// event is what handlers need to know of an event.
type event interface {
	DuplicateKey() (key string, lasting bool)
	about() (kind Callback, id string)
}

// response is what a request is answered with. The body is always empty, because some gateways send it back to the sender as a
// message.
type response struct {
	status     int
	retryAfter time.Duration // for 503
}

// ServeHTTP answers a request.
func (h *handler[E]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response := h.serve(r)
	header := w.Header()
	header["Cache-Control"] = h.noStore
	switch response.status {
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.post {
			allow += ", POST"
		}
		header.Set("Allow", allow)
	case http.StatusNotFound:
		header.Set("Connection", "close") // otherwise net/http waits for a body before it answers
	case http.StatusServiceUnavailable:
		seconds := max(1, int64(math.Ceil(response.retryAfter.Seconds())))
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.WriteHeader(response.status) // also for 200: some routers record it
}

// serve handles the events of a request. The status of the response is the highest of all, so that the service calls again if
// any was not handled. It lets no panic out.
func (h *handler[E]) serve(r *http.Request) (all response) {
	all.status = http.StatusOK
	w := h.watch(r)
	defer func() {
		if value := recover(); value != nil {
			all.status = h.reject(w, newPanicError(h.callback, value))
		}
	}()
	events, err := h.read(r)
	if err != nil {
		all.status = h.reject(w, err)
	}
	for i := range events {
		if i > 0 || err != nil {
			w = h.watch(r)
		}
		one := h.handleOne(w, &events[i], i)
		all.status = max(all.status, one.status)
		all.retryAfter = max(all.retryAfter, one.retryAfter)
	}
	return all
}

// handleOne handles the event with index i of a request, unless that was done or is being done.
func (h *handler[E]) handleOne(w watched, e *E, i int) response {
	c := &handling[E]{handler: h, event: e}
	c.request, c.deadline = w.ctx, time.Now().Add(h.timeout)
	defer c.end()
	w.kind, w.id = (*e).about()
	var storeErr error
	if key := h.storeKey(e, i); key == "" {
		_ = c.call(c)
	} else {
		storeErr = c.once(key)
	}
	if panicked, ok := errors.AsType[*PanicError](cmp.Or(c.err, storeErr)); ok {
		return response{status: h.reject(w, panicked)}
	}
	outcome := c.outcome(storeErr)
	h.end(w, outcome, nil, outcome.status())
	later, _ := errors.AsType[*retryLater](c.err)
	return response{outcome.status(), later.delay()}
}

// storeKey returns the key of an event in the store, or "" if there is no store or the event cannot be told from others. Two
// equal events in one body are two, so the position of one that does not identify itself is part of its key.
func (h *handler[E]) storeKey(e *E, position int) string {
	if h.store == nil {
		return ""
	}
	key, lasting := (*e).DuplicateKey()
	switch {
	case lasting:
		return key
	case h.window == 0:
		return ""
	case position > 0:
		key += "." + strconv.Itoa(position)
	}
	return key + "." + strconv.FormatInt(time.Now().UnixNano()/int64(h.window), 10)
}

// handling is one event while it is handled, and the context of that.
type handling[E event] struct {
	handlerContext

	handler *handler[E]
	event   *E
	called  bool  // the handle function was called
	err     error // and returned this
}

// outcome returns what became of an event, other than a panic.
func (c *handling[E]) outcome(storeErr error) Outcome {
	switch {
	case errors.Is(c.err, ErrRetryLater):
		return OutcomeRetryLater
	case c.err != nil:
		return OutcomeFailed
	case errors.Is(storeErr, ErrInProgress):
		return OutcomeInProgress
	case storeErr != nil:
		return OutcomeStoreFailed
	case !c.called:
		return OutcomeDuplicate
	default:
		return OutcomeHandled
	}
}

// once calls the handle function through the store, and returns the error of the store.
func (c *handling[E]) once(key string) error {
	return protect(c.handler.callback, func() error { return c.handler.store.Once(c, key, c.call) })
}

// call calls the handle function.
func (c *handling[E]) call(ctx context.Context) error {
	c.called = true
	c.err = protect(c.handler.callback, func() error { return c.handler.handle(ctx, *c.event) })
	return c.err
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
func (h *handler[E]) reject(w watched, err error) int {
	status, outcome, reason := http.StatusInternalServerError, OutcomePanicked, error(nil)
	if rejected, ok := errors.AsType[*RejectError](err); ok {
		status, outcome, reason = rejected.Status, OutcomeRejected, rejected.Reason
	}
	if h.onReject != nil && !w.isHEAD(reason) {
		failed := protect(h.callback, func() error {
			h.onReject(w.request, err)
			return nil
		})
		if failed != nil {
			status = http.StatusInternalServerError
		}
	}
	h.end(w, outcome, reason, status)
	return status
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
