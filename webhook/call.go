package webhook

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// call is the handling of one event. It begins before the event is read.
type call struct {
	callback *callback
	parent   context.Context //nolint:containedctx // the request's context, or the one that the hooks made of it
	began    time.Time       // zero if there are no hooks
	event    event           // nil until it is read

	function    func(context.Context, event) error
	isCalled    bool  // the function was called
	functionErr error // what it returned
}

// beginCall tells the hooks that a request, or another event of it, is about to be read.
func beginCall(callback *callback, r *http.Request) *call {
	c := &call{callback: callback, parent: r.Context()}
	hooks := callback.receiver.hooks
	if len(hooks) == 0 {
		return c
	}
	c.began = time.Now()
	for _, hook := range hooks {
		if hook.Begin == nil {
			continue
		}
		_ = protect(callback.name, func() error {
			if ctx := hook.Begin(c.parent, callback.name); ctx != nil {
				c.parent = ctx
			}
			return nil
		})
	}
	return c
}

// handle calls the function for the event at a position of the request, unless the event was handled before or is being handled. It refuses an
// event without a function.
func (c *call) handle(e event, position int, function func(context.Context, event) error) response {
	c.event = e
	c.function = function
	if function == nil {
		return response{status: c.fail(c.unhandled())}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.parent), c.callback.receiver.timeout)
	defer cancel()
	stop := context.AfterFunc(c.parent, func() {
		if hasCause(c.parent) {
			cancel()
		}
	})
	defer stop()
	disposition, err := c.run(ctx, position)
	resp := response{status: c.status(disposition)}
	if later, ok := errors.AsType[*retryLaterError](err); ok {
		resp.retryAfter = later.after
	}
	c.end(disposition, err, resp.status)
	return resp
}

// hasCause reports whether a context ended with a cause: by a deadline, or with the base context of the server. A caller that hangs up cancels the
// context of the request without a cause, which is then context.Canceled itself. A cause can also match context.Canceled: that of
// signal.NotifyContext does or does not, depending on the release of Go.
func hasCause(ended context.Context) bool {
	return context.Cause(ended) != context.Canceled //nolint:errorlint // see above
}

// unhandled returns the refusal of an event for which no option sets a function.
func (c *call) unhandled() error {
	if other, ok := c.event.(*Other); ok {
		return c.callback.name.refuseChange(other.Field)
	}
	return c.callback.refuse(ErrUnhandled)
}

// run calls the function, through the store if there is one, and returns the disposition of the event.
func (c *call) run(ctx context.Context, position int) (Disposition, error) {
	var storeErr error
	if c.callback.receiver.store == nil {
		_ = c.callFunction(ctx)
	} else {
		storeErr = protect(c.callback.name, func() error { return c.callOnce(ctx, position) })
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
	c.functionErr = protect(c.callback.name, func() error { return c.function(ctx, c.event) })
	return c.functionErr
}

// duplicateWindow is how long, at most, a message with neither an ID nor a time in seconds counts as the same when it arrives again with the
// same parameters; it counts for half as long at least. This covers a service that calls twice at once, and hardly a person who sends "yes"
// twice.
const duplicateWindow = 5 * time.Second

// callOnce calls the function, unless the store knows the event. An event that does not identify itself is known in the present half of a
// duplicateWindow and in the one before. Two equal events in one body are two events, so its key includes its position.
func (c *call) callOnce(ctx context.Context, position int) error {
	store := c.callback.receiver.store
	key, isLasting := c.event.DuplicateKey()
	if isLasting {
		return store.Once(ctx, key, c.callFunction)
	}
	if position > 0 {
		key += "." + strconv.Itoa(position)
	}
	half := time.Now().UnixNano() / int64(duplicateWindow/2)
	isHandled, err := wasHandled(ctx, store, key+"."+strconv.FormatInt(half-1, 10))
	if err != nil || isHandled {
		return err
	}
	return store.Once(ctx, key+"."+strconv.FormatInt(half, 10), c.callFunction)
}

var errNotHandled = errors.New("webhook: the event was not handled")

// wasHandled reports whether a store knows that an event was handled.
func wasHandled(ctx context.Context, store Store, key string) (bool, error) {
	err := store.Once(ctx, key, func(context.Context) error { return errNotHandled })
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

// fail tells the hooks of a refusal or a panic, and returns the status of the response.
func (c *call) fail(err error) int {
	if rejected, ok := errors.AsType[*RejectError](err); ok {
		c.end(DispositionRefused, err, rejected.Status)
		return rejected.Status
	}
	c.end(DispositionPanicked, err, http.StatusInternalServerError)
	return http.StatusInternalServerError
}

// end tells the hooks what became of an event, in the opposite order.
func (c *call) end(disposition Disposition, err error, status int) {
	hooks := c.callback.receiver.hooks
	if len(hooks) == 0 {
		return
	}
	result := Result{
		Callback:    c.callback.name,
		Kind:        string(c.callback.name),
		Disposition: disposition,
		StatusCode:  status,
		Err:         err,
		Began:       c.began,
		Duration:    time.Since(c.began),
	}
	if c.event != nil {
		kind, id := c.event.about()
		result.Kind = kind
		result.ID = loggable(id)
	}
	if other, ok := c.event.(*Other); ok {
		result.Field = loggable(other.Field)
	}
	for _, hook := range slices.Backward(hooks) {
		if hook.End == nil {
			continue
		}
		_ = protect(c.callback.name, func() error {
			hook.End(c.parent, result)
			return nil
		})
	}
}
