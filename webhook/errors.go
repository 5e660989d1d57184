package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"
)

// The reasons why a request is refused, for errors.Is with a [RejectError]. Each names the status with which the handlers
// respond.
var (
	// ErrMethod: the method is neither GET nor, with WithPOST or by the contract, POST. 405 with the header Allow.
	ErrMethod = errors.New("method not allowed")
	// ErrPrefetch: a request that must have no effect. HEAD gets a 200 response and is not logged. A browser or link preview
	// that fetches ahead of its user gets a 503 response, because a callback is not a page.
	ErrPrefetch = errors.New("HEAD request or prefetch")
	// ErrTooLong: the query has more bytes, or the request or an event of a list more parameters, than WithLimits allows. 414.
	ErrTooLong = errors.New("query too long, or too many parameters")
	// ErrTooLarge: the body has more bytes than WithLimits allows, or it holds more than 1,000 events. 413.
	ErrTooLarge = errors.New("body too large")
	// ErrProof: a proof of origin is missing or wrong. 403, or 404 with WithPathSecret.
	ErrProof = errors.New("wrong proof of origin")
	// ErrUnreadable: the body, or an event of a list in it, is neither a form nor a JSON object, or ended early, or the event may be in a
	// query that is not read (see WithVerifier). 400, or 415 if its Content-Type is known to be something else.
	ErrUnreadable = errors.New("unreadable body")
	// ErrNoSender: an inbound message has no sender. 400; 200 from ParseSMS for an empty list, which a handler accepts.
	ErrNoSender = errors.New("no sender")
	// ErrNoMessage: a delivery report has neither a message ID nor a reference ID. 400.
	ErrNoMessage = errors.New("neither message ID nor reference ID")
	// ErrUnhandled: an envelope of the platform holds an event for which no option sets a function: a status at a chat-app handler
	// without WithStatuses, or a change such as standby, history or account_update without WithOther or WithPreferences.
	// 200, because the platform would call again for 36 hours. For messages at a Delivery handler 400, so that the platform calls again
	// until you correct the URL.
	ErrUnhandled = errors.New("no function for the event")
)

// errSeveral is why ParseSMS refuses a request with several messages. The service should call again.
var errSeveral = errors.New("several messages: call ParseSMSMessages")

// errQueryNotRead is the reason to refuse a request that a verifier accepted, and whose event may be in the query. See WithVerifier.
var errQueryNotRead = fmt.Errorf("%w, and the query is not read, because a signature of the body does not cover it", ErrUnreadable)

// usualStatus returns the status with which the handlers respond to a request that is refused for a reason.
func usualStatus(reason error) int {
	is := func(target error) bool { return errors.Is(reason, target) }
	switch {
	case is(ErrMethod):
		return http.StatusMethodNotAllowed
	case is(ErrPrefetch):
		return http.StatusServiceUnavailable
	case is(ErrTooLong):
		return http.StatusRequestURITooLong
	case is(ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case is(ErrProof):
		return http.StatusForbidden
	case is(ErrUnhandled):
		return http.StatusOK
	case is(errSeveral):
		return http.StatusInternalServerError
	default: // ErrUnreadable, ErrNoSender, ErrNoMessage and errQueryNotRead
		return http.StatusBadRequest
	}
}

// RejectError says why a request, or a part of it, was not read as an event. Its text holds nothing of the request.
type RejectError struct {
	// Callback is the callback that was expected.
	Callback Callback
	// Status is the HTTP status with which the handlers respond. It may be 200, as for ErrUnhandled. If you call a method
	// such as ParseSMS, respond with it.
	Status int
	// Reason is one of the errors of this package, such as ErrNoSender, or wraps one. ParseSMS has one more, for a request with several
	// messages.
	Reason error
	// Field is the field of the envelope for an ErrUnhandled change, otherwise empty. It comes from outside.
	Field string
	// Cause is the error of the function of WithVerifier, or of reading the body. It may be nil.
	Cause error
}

// refuse returns a refusal for one of the reasons above, with its usual status.
func (c Callback) refuse(err error) *RejectError {
	return &RejectError{Callback: c, Status: usualStatus(err), Reason: err}
}

// refuseChange returns the refusal of a change that no option asks for.
func (c Callback) refuseChange(field string) *RejectError {
	e := c.refuse(ErrUnhandled)
	e.Field = field
	return e
}

func (e *RejectError) withStatus(status int) *RejectError {
	e.Status = status
	return e
}

func (e *RejectError) withCause(cause error) *RejectError {
	e.Cause = cause
	return e
}

// Error returns the callback and the reason.
func (e *RejectError) Error() string {
	return "webhook: " + string(e.Callback) + ": " + e.Reason.Error()
}

// Unwrap returns Reason and Cause.
func (e *RejectError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// panicError is a panic of a handle function, a verifier or a store.
type panicError struct {
	callback Callback
	value    any    // the argument of panic, which may hold anything, so the text of the error leaves it out
	stack    []byte // as debug.Stack formats it
}

func newPanicError(callback Callback, value any) *panicError {
	return &panicError{callback, value, debug.Stack()}
}

func (e *panicError) Error() string {
	return "webhook: " + string(e.callback) + ": a function panicked"
}

// Unwrap returns the argument of panic if it is an error.
func (e *panicError) Unwrap() error {
	err, _ := e.value.(error)
	return err
}

// ErrRetryLater is returned by a handle function for an event that it cannot handle now, for example because a database is down. The
// response is 503 with Retry-After, and a store forgets the event. Wrap it, or return [RetryLater] to say when to call again.
var ErrRetryLater = errors.New("webhook: retry later")

// RetryLater returns an error that is ErrRetryLater and asks the service to call again after a time, which is rounded up to
// whole seconds, at least one. Services may ignore it. Of several events in a request the longest time counts.
func RetryLater(after time.Duration) error { return &retryLaterError{after} }

type retryLaterError struct{ after time.Duration }

func (e *retryLaterError) Error() string {
	return ErrRetryLater.Error() + " (" + e.after.String() + ")"
}

func (e *retryLaterError) Is(target error) bool { return target == ErrRetryLater }
