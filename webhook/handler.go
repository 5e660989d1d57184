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
	read     func(*http.Request) (batch[E], error)
	handle   func(context.Context, E) error
}

// event is what handlers need to know of an event.
type event interface {
	DuplicateKey() (key string, lasting bool)
	about() (kind Callback, id string)
}

// batch is the events of a request. Most have one, which then needs no list.
type batch[E any] struct {
	first E
	rest  []E
	size  int
}

func (b *batch[E]) add(e E) {
	if b.size++; b.size == 1 {
		b.first = e
	} else {
		b.rest = append(b.rest, e)
	}
}

func (b *batch[E]) at(i int) *E {
	if i == 0 {
		return &b.first
	}
	return &b.rest[i-1]
}

// list returns the events, or nil if there are none.
func (b *batch[E]) list() []E {
	if b.size == 0 {
		return nil
	}
	return append([]E{b.first}, b.rest...)
}

// response is what a request is answered with. The body is always empty, because some gateways send it back to the sender as a
// message.
type response struct {
	status     int
	retryAfter time.Duration // for 503
}

// ServeHTTP answers a request.
func (h *handler[E]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := h.serve(r)
	header := w.Header()
	header["Cache-Control"] = h.noStore
	switch all.status {
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.post {
			allow += ", POST"
		}
		header.Set("Allow", allow)
	case http.StatusNotFound:
		header.Set("Connection", "close") // otherwise net/http waits for a body before it answers
	case http.StatusServiceUnavailable:
		seconds := max(1, int64(math.Ceil(all.retryAfter.Seconds())))
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.WriteHeader(all.status) // also for 200: some routers record it
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
	for i := range events.size {
		if i > 0 || err != nil {
			w = h.watch(r)
		}
		one := h.handleOne(w, events.at(i), i)
		all.status = max(all.status, one.status)
		all.retryAfter = max(all.retryAfter, one.retryAfter)
	}
	return all
}

// handleOne handles the event with index i of a request, unless that was done or is being done.
func (h *handler[E]) handleOne(w watched, e *E, i int) response {
	ctx := &handlerContext{request: w.ctx, deadline: time.Now().Add(h.timeout)}
	defer ctx.end()
	w.kind, w.id = (*e).about()
	called := true
	var err, storeErr error
	if key := h.storeKey(e, i); key == "" {
		err = h.call(ctx, e)
	} else {
		called, err, storeErr = h.once(ctx, key, e)
	}
	if panicked, ok := errors.AsType[*PanicError](cmp.Or(err, storeErr)); ok {
		return response{status: h.reject(w, panicked)}
	}
	outcome := outcomeOf(called, err, storeErr)
	status, _ := outcome.rule()
	h.end(w, outcome, nil, status)
	later, _ := errors.AsType[*retryLaterError](err)
	return response{status, later.delay()}
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

// once calls the handle function through the store. It reports whether the function was called, and returns its error apart
// from that of the store.
func (h *handler[E]) once(ctx context.Context, key string, e *E) (called bool, err, storeErr error) {
	one := &attempt[E]{handler: h, event: *e}
	storeErr = protect(h.callback, func() error { return h.store.Once(ctx, key, one.run) })
	return one.called, one.err, storeErr
}

// attempt is a call of the handle function by a store.
type attempt[E event] struct {
	handler *handler[E]
	event   E
	called  bool
	err     error
}

func (a *attempt[E]) run(ctx context.Context) error {
	a.called = true
	a.err = a.handler.call(ctx, &a.event)
	return a.err
}

// call calls the handle function.
func (h *handler[E]) call(ctx context.Context, e *E) error {
	return protect(h.callback, func() error { return h.handle(ctx, *e) })
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
