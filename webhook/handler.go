package webhook

import (
	"context"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"
)

// handler is the http.Handler of a callback.
type handler struct {
	callback    *callback
	handleEvent func(context.Context, event) error
}

// event is a pointer to an SMSMessage, a ChatMessage, a DeliveryReport, a Preference or an Other.
type event interface {
	DuplicateKey() (key string, lasting bool)
	about() (kind, id string)
}

// wrapFunction returns a function for events that calls handle with an event of type E.
func wrapFunction[E any](handle func(context.Context, E) error) func(context.Context, event) error {
	return func(ctx context.Context, e event) error {
		one, _ := any(e).(*E)
		return handle(ctx, *one)
	}
}

// ServeHTTP responds to a request. The body is empty unless the contract has a reply: some gateways send it back to the sender as a
// message.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resp := h.serve(r) //nolint:contextcheck // a call has the values of the request's context, and ends otherwise
	header := w.Header()
	header["Cache-Control"] = h.callback.receiver.noStore
	body := ""
	switch resp.status {
	case http.StatusOK:
		body = h.callback.reply.Body
		if body != "" {
			header.Set("Content-Type", h.callback.reply.Type)
		}
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.callback.takesPOST {
			allow += ", POST"
		}
		header.Set("Allow", allow)
	case http.StatusNotFound:
		header.Set("Connection", "close") // otherwise net/http waits for a body before it responds
	case http.StatusServiceUnavailable:
		seconds := max(1, int64(math.Ceil(resp.retryAfter.Seconds())))
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.WriteHeader(resp.status) // also for 200: some routers record it
	if body != "" {
		_, _ = io.WriteString(w, body)
	}
}

// response is the response that an event asks for, or that a request gets.
type response struct {
	status     int
	retryAfter time.Duration
}

// serve handles the events of a request. The status of the response is the highest of all, so that the service calls again if
// any was not handled. A panic does not escape.
func (h *handler) serve(r *http.Request) (resp response) {
	resp.status = http.StatusOK
	c := beginCall(h.callback, r)
	defer func() {
		if value := recover(); value != nil {
			resp.status = c.fail(newPanicError(h.callback.name, value))
		}
	}()
	var single [1]event // most requests have one event, which then needs no list
	events, err := h.callback.read(r, single[:0])
	switch {
	case err != nil:
		resp.status = c.fail(err)
	case len(events) == 0:
		c.end(DispositionHandled, nil, http.StatusOK)
	}
	for i, e := range events {
		isBegun := i == 0 && err == nil // the call that began before the request was read is that of the first event, or of the error
		if !isBegun {
			c = beginCall(h.callback, r)
		}
		one := c.handle(e, i, h.functionFor(e))
		resp.status = max(resp.status, one.status)
		resp.retryAfter = max(resp.retryAfter, one.retryAfter)
	}
	return resp
}

// functionFor returns the function for an event, or nil if no option sets one.
func (h *handler) functionFor(e event) func(context.Context, event) error {
	switch e.(type) {
	case *DeliveryReport:
		if h.callback.isChat() {
			return h.callback.receiver.handleStatus
		}
	case *Other:
		return h.callback.receiver.handleOther
	case *Preference:
		return h.callback.receiver.handlePreference
	}
	return h.handleEvent
}
