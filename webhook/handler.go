package webhook

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
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

// ServeHTTP responds to a request. The body is empty unless the contract has a reply: some gateways send it back to the sender as a
// message.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	result := h.serve(r) //nolint:contextcheck // a call has the values of the request's context, and ends otherwise
	header := w.Header()
	header["Cache-Control"] = h.noStore
	body := ""
	switch result.status {
	case http.StatusOK:
		body = h.reply.Body
		if body != "" {
			header.Set("Content-Type", h.reply.Type)
		}
	case http.StatusMethodNotAllowed:
		allow := "GET, HEAD"
		if h.takesPOST {
			allow += ", POST"
		}
		header.Set("Allow", allow)
	case http.StatusNotFound:
		header.Set("Connection", "close") // otherwise net/http waits for a body before it responds
	case http.StatusServiceUnavailable:
		seconds := max(1, int64(math.Ceil(result.retryAfter.Seconds())))
		header.Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	w.WriteHeader(result.status) // also for 200: some routers record it
	if body != "" {
		_, _ = io.WriteString(w, body)
	}
}

// response is how a request is answered.
type response struct {
	status     int
	retryAfter time.Duration
}

// serve handles the events of a request. The status of the response is the highest of all, so that the service calls again if
// any was not handled. A panic does not escape.
func (h *handler) serve(r *http.Request) (all response) {
	all.status = http.StatusOK
	c := h.begin(r)
	defer func() {
		if value := recover(); value != nil {
			all.status = c.fail(newPanicError(h.name, value))
		}
	}()
	var single [1]event // most requests have one event, which then needs no list
	events, err := h.read(r, single[:0])
	switch {
	case err != nil:
		all.status = c.fail(err)
	case len(events) == 0:
		c.end(DispositionHandled, nil, http.StatusOK)
	}
	for i, e := range events {
		isFirst := i == 0 && err == nil
		if !isFirst { // the call that began before the request was read is that of the first event, or of the error
			c = h.begin(r)
		}
		one := c.handle(e, i)
		all.status = max(all.status, one.status)
		all.retryAfter = max(all.retryAfter, one.retryAfter)
	}
	return all
}

// call is the handling of one event. It begins before the event is read.
type call struct {
	*handler

	parent context.Context //nolint:containedctx // the request's context, or the one that the hooks made of it
	began  time.Time       // zero if there are no hooks
	event  event           // nil until it is read

	function    func(context.Context, event) error
	isCalled    bool  // the function was called
	functionErr error // what it returned
}

// handle handles the event at a position of the request unless it was handled before or is being handled.
func (c *call) handle(e event, position int) response {
	c.event = e
	c.function = c.functionFor(e)
	if c.function == nil {
		return response{status: c.fail(c.unhandled(e))}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.parent), c.timeout)
	defer cancel()
	stop := context.AfterFunc(c.parent, func() {
		if hasCause(c.parent) {
			cancel()
		}
	})
	defer stop()
	disposition, err := c.run(ctx, position)
	result := response{status: c.status(disposition)}
	if later, ok := errors.AsType[*retryLaterError](err); ok {
		result.retryAfter = later.after
	}
	c.end(disposition, err, result.status)
	return result
}

// hasCause reports whether a context ended with a cause: by a deadline, or with the base context of the server. A caller that hangs up cancels the
// context of the request without a cause, which is then context.Canceled itself. A cause can also match context.Canceled: that of
// signal.NotifyContext does or does not, depending on the release of Go.
func hasCause(ended context.Context) bool {
	return context.Cause(ended) != context.Canceled //nolint:errorlint // see above
}

// functionFor returns the function for an event, or nil if no option sets one.
func (h *handler) functionFor(e event) func(context.Context, event) error {
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

// wrapFunction returns a function for events that calls handle with an event of type E.
func wrapFunction[E any](handle func(context.Context, E) error) func(context.Context, event) error {
	return func(ctx context.Context, e event) error {
		one, _ := any(e).(*E)
		return handle(ctx, *one)
	}
}

// unhandled returns the refusal of an event for which no option sets a function.
func (h *handler) unhandled(e event) error {
	if other, ok := e.(*Other); ok {
		return h.name.refuseChange(other.Field)
	}
	return h.name.refuse(ErrUnhandled)
}

// run calls the function, through the store if there is one, and returns the disposition of the event.
func (c *call) run(ctx context.Context, position int) (Disposition, error) {
	var storeErr error
	if c.store == nil {
		_ = c.callFunction(ctx)
	} else {
		storeErr = protect(c.name, func() error { return c.callOnce(ctx, position) })
	}
	err := cmp.Or(c.functionErr, storeErr)
	_, isPanic := errors.AsType[*panicError](err)
	switch {
	case isPanic:
		return DispositionPanicked, err
	case errors.Is(c.functionErr, ErrRetryLater):
		return DispositionRetryLater, err
	case c.functionErr != nil:
		return DispositionFailed, err
	case errors.Is(storeErr, ErrInProgress):
		return DispositionInProgress, err
	case storeErr != nil:
		return DispositionStoreFailed, err
	case !c.isCalled:
		return DispositionDuplicate, nil
	default:
		return DispositionHandled, nil
	}
}

func (c *call) callFunction(ctx context.Context) error {
	c.isCalled = true
	c.functionErr = protect(c.name, func() error { return c.function(ctx, c.event) })
	return c.functionErr
}

// status returns the status of the response for an event that was read. The platform repeats a change that got a 503 for longer than one
// that got a 500.
func (c *call) status(disposition Disposition) int {
	switch disposition {
	case DispositionHandled, DispositionDuplicate:
		return http.StatusOK
	case DispositionRetryLater, DispositionInProgress, DispositionStoreFailed:
		return http.StatusServiceUnavailable
	case DispositionPanicked, DispositionRefused:
		return http.StatusInternalServerError
	case DispositionFailed:
	}
	switch c.event.(type) {
	case *Other, *Preference:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}

// duplicateWindow is how long, at most, a message with neither an ID nor a time in seconds counts as the same when it arrives again with the
// same parameters; it counts for half as long at least. This covers a service that calls twice at once, and hardly a person who sends "yes"
// twice.
const duplicateWindow = 5 * time.Second

// callOnce calls the function, unless the store knows the event. An event that does not identify itself is known in the present half of a
// duplicateWindow and in the one before. Two equal events in one body are two events, so its key includes its position.
func (c *call) callOnce(ctx context.Context, position int) error {
	key, isLasting := c.event.DuplicateKey()
	if isLasting {
		return c.store.Once(ctx, key, c.callFunction)
	}
	if position > 0 {
		key += "." + strconv.Itoa(position)
	}
	half := time.Now().UnixNano() / int64(duplicateWindow/2)
	wasHandled, err := c.wasHandled(ctx, key+"."+strconv.FormatInt(half-1, 10))
	if err != nil || wasHandled {
		return err
	}
	return c.store.Once(ctx, key+"."+strconv.FormatInt(half, 10), c.callFunction)
}

var errNotHandled = errors.New("webhook: the event was not handled")

// wasHandled reports whether the store knows that an event was handled.
func (c *call) wasHandled(ctx context.Context, key string) (bool, error) {
	err := c.store.Once(ctx, key, func(context.Context) error { return errNotHandled })
	if errors.Is(err, errNotHandled) {
		return false, nil
	}
	return err == nil, err
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

// fail tells the hooks of a refusal or a panic, and returns the status of the response.
func (c *call) fail(err error) int {
	if rejected, ok := errors.AsType[*RejectError](err); ok {
		c.end(DispositionRefused, err, rejected.Status)
		return rejected.Status
	}
	c.end(DispositionPanicked, err, http.StatusInternalServerError)
	return http.StatusInternalServerError
}

// loggable returns an ID, which comes from outside, or "" if it may hold a number or a sentence. IDs of chat app 2 may end with the padding of
// base64.
func loggable(id string) string {
	unpadded := strings.TrimSuffix(strings.TrimSuffix(id, "="), "=")
	if !table.IsWord(unpadded) {
		return ""
	}
	return id
}
