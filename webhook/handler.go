package webhook

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

type handler struct {
	*callback

	handleEvent func(context.Context, event) error
}

// event is a pointer to an SMSMessage, a ChatMessage, a DeliveryReport, a Preference or an Other.
type event interface {
	DuplicateKey() (key string, lasting bool)
	about() (kind, id string)
}

// ServeHTTP answers a request. The body is empty unless the contract has a reply: some gateways send it back to the sender as a message.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, retryAfter := h.serve(r) //nolint:contextcheck // a call has the values of the request's context, and ends otherwise
	header := w.Header()
	header["Cache-Control"] = h.noStore
	body := ""
	switch status {
	case http.StatusOK:
		if body = h.reply.Body; body != "" {
			header.Set("Content-Type", h.reply.Type)
		}
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.post {
			allow += ", POST"
		}
		header.Set("Allow", allow)
	case http.StatusNotFound:
		header.Set("Connection", "close") // otherwise net/http waits for a body before it answers
	case http.StatusServiceUnavailable:
		seconds := max(1, int64(math.Ceil(retryAfter.Seconds())))
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.WriteHeader(status) // also for 200: some routers record it
	if body != "" {
		_, _ = io.WriteString(w, body)
	}
}

// serve handles the events of a request. The status of the response is the highest of all, so that the service calls again if
// any was not handled. It lets no panic out.
func (h *handler) serve(r *http.Request) (status int, retryAfter time.Duration) {
	status = http.StatusOK
	c := h.begin(r)
	defer func() {
		if value := recover(); value != nil {
			status = c.refused(newPanicError(h.name, value))
		}
	}()
	var first [1]event // most requests have one, which then needs no list
	events, err := h.read(r, first[:0])
	switch {
	case err != nil:
		status = c.refused(err)
	case len(events) == 0:
		c.end(DispositionHandled, nil, status)
	}
	for i, e := range events {
		if i > 0 || err != nil {
			c = h.begin(r)
		}
		one, after := c.handle(e, i)
		status = max(status, one)
		retryAfter = max(retryAfter, after)
	}
	return status, retryAfter
}

// call is an event on its way through a handler, from before it is read.
type call struct {
	*handler

	parent   context.Context //nolint:containedctx // that of the request, or of the hooks
	began    time.Time       // zero if there are no hooks
	event    event           // nil until it is read
	function func(context.Context, event) error
	called   bool // the function was called
	err      error
}

// handle handles the event at a position of the request, unless that was done or is being done.
func (c *call) handle(e event, position int) (status int, retryAfter time.Duration) {
	c.event = e
	if c.function = c.functionOf(e); c.function == nil {
		return c.refused(c.refuseUnasked(e)), 0
	}
	// The context lasts beyond a caller that hangs up, which cancels that of the request without a cause. All other ends have one.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.parent), c.timeout)
	defer cancel()
	defer context.AfterFunc(c.parent, func() {
		if !errors.Is(context.Cause(c.parent), context.Canceled) {
			cancel()
		}
	})()
	var storeErr error
	if key := c.storeKey(position); key == "" {
		_ = c.run(ctx)
	} else {
		storeErr = protect(c.name, func() error { return c.store.Once(ctx, key, c.run) })
	}
	if panicked, ok := errors.AsType[*panicError](cmp.Or(c.err, storeErr)); ok {
		return c.refused(panicked), 0
	}
	disposition, status := c.disposition(storeErr)
	c.end(disposition, cmp.Or(c.err, storeErr), status)
	if later, ok := errors.AsType[*retryLaterError](c.err); ok {
		retryAfter = later.after
	}
	return status, retryAfter
}

// functionOf returns the function for an event, or nil if no option sets one.
func (h *handler) functionOf(e event) func(context.Context, event) error {
	switch e.(type) {
	case *DeliveryReport:
		if h.isChat() {
			return h.handleStatus
		}
	case *Other:
		return h.handleOther
	case *Preference:
		return h.handlePreference
	}
	return h.handleEvent
}

// of returns a function for events that calls handle with one of type E.
func of[E any](handle func(context.Context, E) error) func(context.Context, event) error {
	return func(ctx context.Context, e event) error {
		one, _ := any(e).(*E)
		return handle(ctx, *one)
	}
}

// refuseUnasked returns the refusal of an event for which no option sets a function. The service need not call again with it.
func (h *handler) refuseUnasked(e event) error {
	if other, ok := e.(*Other); ok {
		return h.name.refuseOther(other.Field)
	}
	return h.name.refuse(ErrMisdirected).as(http.StatusOK)
}

func (c *call) run(ctx context.Context) error {
	c.called = true
	c.err = protect(c.name, func() error { return c.function(ctx, c.event) })
	return c.err
}

// duplicateWindow is how long a message with neither an ID nor a time in seconds counts as the same when it arrives again with the same
// parameters. It covers a service that calls twice at once or again at once, and hardly a person who sends "yes" twice. It is a span of
// the clock: two equal messages a second apart are both handled if a new span begins between them.
const duplicateWindow = 5 * time.Second

// storeKey returns the key of an event in the store, or "" if there is no store. Two equal events in one body are two, so the position of
// one that does not identify itself is part of its key.
func (c *call) storeKey(position int) string {
	if c.store == nil {
		return ""
	}
	key, lasting := c.event.DuplicateKey()
	switch {
	case lasting:
		return key
	case position > 0:
		key += "." + strconv.Itoa(position)
	}
	return key + "." + strconv.FormatInt(time.Now().UnixNano()/int64(duplicateWindow), 10)
}

// protect calls a function of the user and turns a panic into a *panicError.
func protect(name Callback, call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = newPanicError(name, value)
		}
	}()
	return call()
}

// refused tells the hooks of a refusal or a panic and returns the status of the response.
func (c *call) refused(err error) int {
	status, disposition := http.StatusInternalServerError, DispositionPanicked
	if rejected, ok := errors.AsType[*RejectError](err); ok {
		status, disposition = rejected.Status, DispositionRejected
	}
	c.end(disposition, err, status)
	return status
}

// loggable returns an ID, which comes from outside, or "" if it may hold a number or a sentence.
func loggable(id string) string {
	if !table.IsWord(id) {
		return ""
	}
	return id
}
