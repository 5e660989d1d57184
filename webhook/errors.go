package webhook

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
)

// Why a request is refused: what a [RejectError] wraps, for errors.Is. Behind each stands what the handlers answer.
var (
	// ErrMethod: the method is neither GET nor, with WithPOST, POST. 405 with the header Allow.
	ErrMethod = errors.New("method not allowed")
	// ErrProbe: a HEAD request, or a browser that fetches ahead of its user. Such a request must have no effect. To the
	// handlers that is no refusal: they answer a HEAD with 200 and the other with 204, and tell nobody.
	ErrProbe = errors.New("a request that must have no effect")
	// ErrTooLong: the query has more bytes than WithLimits allows. 414.
	ErrTooLong = errors.New("query too long")
	// ErrTooLarge: the body of a POST has more bytes than WithLimits allows. 413.
	ErrTooLarge = errors.New("body too large")
	// ErrProof: one of the proofs of origin that the options ask for is missing or wrong. 403, or 404 with WithPathSecret.
	ErrProof = errors.New("wrong proof of origin")
	// ErrTooManyParams: there are more parameters than WithLimits allows. 414.
	ErrTooManyParams = errors.New("too many parameters")
	// ErrUnreadable: the body of a POST is neither a form nor a JSON object, or ended early. 400, or 415 where its
	// Content-Type is known to be something else.
	ErrUnreadable = errors.New("unreadable body")
	// ErrNoSender: an inbound message whose sender is missing. 400.
	ErrNoSender = errors.New("no sender")
	// ErrNoMessage: a delivery report with neither a message ID nor a reference ID. 400.
	ErrNoMessage = errors.New("neither message ID nor reference ID")
)

// RejectError is why a request was not read as an event. The Parse functions return it, and WithOnReject gets it.
//
// No form of it holds a part of the request: neither query nor number, text or secret. What a verifier's own error says is
// in Cause alone, and is not printed.
type RejectError struct {
	// Event is the kind of callback that was expected: "sms", "chatapp1", "chatapp2" or "delivery".
	Event string
	// Status is the HTTP status that the handlers answer with. 405 goes with the header Allow.
	Status int
	// Reason is one of the sentinels of this package, such as ErrNoSender.
	Reason error
	// Cause is the error of the function of WithVerifier, or of reading the body; nil where there is none.
	Cause error `json:"-"`
}

// Error says what kind of callback was refused, and why.
func (e *RejectError) Error() string {
	return fmt.Sprintf("webhook: %s: %v", e.Event, e.Reason)
}

// Unwrap gives Reason and Cause.
func (e *RejectError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// Format prints what Error says, in every verb.
func (e *RejectError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Error()) }

// LogValue logs what Error says.
func (e *RejectError) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// PanicError is what WithOnReject gets when a function of the user's panicked: the handle function, a verifier or a
// store. The request was answered with 500.
type PanicError struct {
	// Event is the kind of callback: "sms", "chatapp1", "chatapp2" or "delivery".
	Event string
	// Value is what panic was called with. It may hold anything, so it is printed by no form of the error.
	Value any `json:"-"`
	// Stack is where it panicked, as debug.Stack formats it.
	Stack []byte `json:"-"`
}

// Error says that a function panicked, not with what.
func (e *PanicError) Error() string { return "webhook: " + e.Event + ": a function panicked" }

// Unwrap gives Value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Format prints what Error says, in every verb.
func (e *PanicError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Error()) }

// LogValue logs what Error says.
func (e *PanicError) LogValue() slog.Value { return slog.StringValue(e.Error()) }

// statusOf gives the usual status of a refusal.
func statusOf(reason error) int {
	switch {
	case errors.Is(reason, ErrMethod):
		return http.StatusMethodNotAllowed
	case errors.Is(reason, ErrProbe):
		return http.StatusNoContent
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
