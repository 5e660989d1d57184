package webhook

import (
	"errors"
	"net/http"
)

// The reasons why a request is refused, for errors.Is with a [RejectError]. Each says which status the handlers answer with.
var (
	// ErrMethod: the method is neither GET nor, with WithPOST, POST. 405 with the header Allow.
	ErrMethod = errors.New("method not allowed")
	// ErrProbe: a request that must have no effect. HEAD is answered with 200 and is not reported. A browser or link preview
	// that fetches ahead of its user is answered with 503, because a callback is not a page.
	ErrProbe = errors.New("a request that must have no effect")
	// ErrTooLong: the query has more bytes than WithLimits allows. 414.
	ErrTooLong = errors.New("query too long")
	// ErrTooLarge: the body has more bytes than WithLimits allows, or an envelope more than 1,000 events. 413.
	ErrTooLarge = errors.New("body too large")
	// ErrProof: a proof of origin is missing or wrong. 403, or 404 with WithPathSecret.
	ErrProof = errors.New("wrong proof of origin")
	// ErrTooManyParams: there are more parameters than WithLimits allows. 414.
	ErrTooManyParams = errors.New("too many parameters")
	// ErrUnreadable: the body is neither a form nor a JSON object, or ended early. 400, or 415 if its Content-Type is
	// known to be something else.
	ErrUnreadable = errors.New("unreadable body")
	// ErrNoSender: an inbound message has no sender. 400.
	ErrNoSender = errors.New("no sender")
	// ErrNoMessage: a delivery report has neither a message ID nor a reference ID. 400.
	ErrNoMessage = errors.New("neither message ID nor reference ID")
	// ErrMisdirected: an envelope of the platform holds events of another kind. Messages that arrive at a Delivery handler are
	// answered with 400; statuses that arrive at a chat-app handler without WithStatuses with 200.
	ErrMisdirected = errors.New("events of another kind")
)

func statusOf(reason error) int {
	switch {
	case errors.Is(reason, ErrMethod):
		return http.StatusMethodNotAllowed
	case errors.Is(reason, ErrProbe):
		return http.StatusServiceUnavailable
	case errors.Is(reason, ErrTooLong), errors.Is(reason, ErrTooManyParams):
		return http.StatusRequestURITooLong
	case errors.Is(reason, ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(reason, ErrProof):
		return http.StatusForbidden
	default:
		return http.StatusBadRequest
	}
}

// RejectError says why a request, or a part of it, was not read as an event. Its text holds nothing of the request.
type RejectError struct {
	// Callback is the callback that was expected.
	Callback Callback
	// Status is the HTTP status that the handlers answer with.
	Status int
	// Reason is one of the errors of this package, such as ErrNoSender.
	Reason error
	// Cause is the error of the function of WithVerifier, or of reading the body; nil if there is none.
	Cause error
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

// PanicError is a panic of the handle function, a verifier or a store. The request was answered with 500.
type PanicError struct {
	// Callback is the callback that was handled.
	Callback Callback
	// Value is the argument of panic. It may hold anything, so the text of the error leaves it out.
	Value any
	// Stack is where it panicked, as debug.Stack formats it.
	Stack []byte
}

// Error returns the callback.
func (e *PanicError) Error() string {
	return "webhook: " + string(e.Callback) + ": a function panicked"
}

// Unwrap returns Value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
