package webhook

import (
	"cmp"
	"context"
	"errors"
	"math"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// handler serves one callback.
type handler struct {
	*Receiver

	callback *callback
	handle   func(context.Context, event) error
}

// event is a pointer to an SMSMessage, a ChatMessage or a DeliveryReport.
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
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := h.serve(r) //nolint:contextcheck // a call has the values of the request's context, and ends otherwise
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
func (h *handler) serve(r *http.Request) (all response) {
	all.status = http.StatusOK
	w := h.watch(r)
	defer func() {
		if value := recover(); value != nil {
			all.status = h.reject(w, newPanicError(h.callback, value))
		}
	}()
	var first [1]event // most requests have one, which then needs no list
	events, err := h.read(r, h.callback, first[:0])
	if h.callback.isChat() && h.handleStatus == nil {
		events, err = h.withoutReports(events, err)
	}
	if err != nil {
		all.status = h.reject(w, err)
	}
	for i, e := range events {
		if i > 0 || err != nil {
			w = h.watch(r)
		}
		one := h.handleOne(w, e, i)
		all.status = max(all.status, one.status)
		all.retryAfter = max(all.retryAfter, one.retryAfter)
	}
	return all
}

// withoutReports drops the statuses of a chat app, for which there is no function.
func (h *handler) withoutReports(events []event, err error) ([]event, error) {
	size := len(events)
	events = slices.DeleteFunc(events, func(e event) bool {
		_, isReport := e.(*DeliveryReport)
		return isReport
	})
	if len(events) < size && err == nil {
		return events, h.callback.reject(ErrMisdirected).as(http.StatusOK)
	}
	return events, err
}

// handleOne handles the event at a position of a request, unless that was done or is being done.
func (h *handler) handleOne(w watched, e event, position int) response {
	c := &call{handler: h, event: e, handlerContext: handlerContext{request: w.ctx, deadline: time.Now().Add(h.timeout)}}
	defer c.end()
	w.kind, w.id = e.about()
	var storeErr error
	if key := h.storeKey(e, position); key == "" {
		_ = c.run(&c.handlerContext)
	} else {
		storeErr = protect(h.callback, func() error { return h.store.Once(&c.handlerContext, key, c.run) })
	}
	if panicked, ok := errors.AsType[*PanicError](cmp.Or(c.err, storeErr)); ok {
		return response{status: h.reject(w, panicked)}
	}
	outcome := outcomeOf(c.called, c.err, storeErr)
	status, _ := outcome.rule()
	h.end(w, outcome, nil, status)
	later, _ := errors.AsType[*retryLaterError](c.err)
	return response{status, later.delay()}
}

// call is a call of the handle function, or of a store that may call it, and the context of that.
type call struct {
	handlerContext

	handler *handler
	event   event
	called  bool // the handle function was called
	err     error
}

func (c *call) run(ctx context.Context) error {
	c.called = true
	c.err = protect(c.handler.callback, func() error { return c.handler.handle(ctx, c.event) })
	return c.err
}

// storeKey returns the key of an event in the store, or "" if there is no store or the event cannot be told from others. Two
// equal events in one body are two, so the position of one that does not identify itself is part of its key.
func (h *handler) storeKey(e event, position int) string {
	if h.store == nil {
		return ""
	}
	key, lasting := e.DuplicateKey()
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
func (h *handler) reject(w watched, err error) int {
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
	return strings.ToValidUTF8(id[:longest], "") + "…" // without a half of a character
}

// handlerContext is the context of a handle function. It has the values of the request's context. It ends with the handler
// timeout, with the server's base context and with a deadline of the request, but not when the caller hangs up.
//
// It starts its timer only if the function asks for the end, as one that calls a database does: starting one takes as long
// as reading a short message.
type handlerContext struct {
	request  context.Context //nolint:containedctx // it is the parent
	deadline time.Time

	mu    sync.Mutex
	timer context.Context //nolint:containedctx // nil until it is asked for
	stop  func()
	ended bool
}

func (c *handlerContext) Deadline() (time.Time, bool) { return c.deadline, true }
func (c *handlerContext) Done() <-chan struct{}       { return c.start().Done() }
func (c *handlerContext) Err() error                  { return c.start().Err() }
func (c *handlerContext) Value(key any) any           { return context.WithoutCancel(c.request).Value(key) }

func (c *handlerContext) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		return c.timer
	}
	timer, cancel := context.WithDeadline(context.Background(), c.deadline)
	// A caller that hangs up cancels the context of the request without a cause. All other ends have one.
	unlink := context.AfterFunc(c.request, func() {
		if !errors.Is(context.Cause(c.request), context.Canceled) {
			cancel()
		}
	})
	c.timer, c.stop = timer, func() {
		unlink()
		cancel()
	}
	if c.ended {
		c.stop()
	}
	return timer
}

// end ends the context.
func (c *handlerContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended = true; c.stop != nil {
		c.stop()
	}
}
