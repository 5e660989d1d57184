package messaging

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/transport"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Sentinels for errors.Is. An *Error matches the sentinel of its verdict, the class of its HTTP status and the class of
// the code in its body, which may be three different ones: HTTP 503 with a "duplicate" code matches ErrOutcomeUnknown,
// ErrUnavailable and ErrDuplicate. Which code means which class is a default of the contract.
var (
	// ErrOutcomeUnknown: a send has the verdict Unknown. A failed read never matches it.
	ErrOutcomeUnknown = wire.ErrOutcomeUnknown
	// ErrNotSent: a send has the verdict NotSent. A *ValidationError matches it too.
	ErrNotSent = errors.New("messaging: not sent")
	// ErrInvalid: the request is wrong; a *ValidationError, HTTP 400, 413, 414, 415 or 422, or a code of that class.
	ErrInvalid = errors.New("messaging: invalid")
	// ErrUnauthorized: the credentials are wrong; HTTP 401, or a code of that class.
	ErrUnauthorized = errors.New("messaging: unauthorized")
	// ErrForbidden: the credentials do not permit this; HTTP 403.
	ErrForbidden = errors.New("messaging: forbidden")
	// ErrNotFound: HTTP 404 or 410, a code of that class, or no row for SMS.Find.
	ErrNotFound = wire.ErrNotFound
	// ErrNotListed: SMS.Find was answered, and no row came. It is an ErrNotFound too, as is an HTTP 404 from a wrong address;
	// ErrNotListed alone says something of the message: that the service does not list it, yet.
	ErrNotListed = wire.ErrNotListed
	// ErrFilterIgnored: SMS.Find was answered with other messages alone, so nothing is known of the one that was asked for.
	ErrFilterIgnored = wire.ErrFilterIgnored
	// ErrRateLimited: too many requests; HTTP 429, or a code of that class. Error.RetryAfter says when, if the service did.
	ErrRateLimited = errors.New("messaging: rate limited")
	// ErrInsufficientBalance: the account has no credit; HTTP 402, or a code of that class.
	ErrInsufficientBalance = errors.New("messaging: insufficient balance")
	// ErrDuplicate: the service has seen this message before; a code of that class.
	ErrDuplicate = wire.ErrDuplicate
	// ErrUnavailable: the service is in trouble; HTTP 500, 502, 503, 504, or a code of that class.
	ErrUnavailable = errors.New("messaging: unavailable")
)

// Error is what became of a call after it was found valid, whether an answer came (StatusCode) or not (StatusCode 0).
// Unwrap gives the cause, such as a *net.OpError or the context's error, where there is one beyond the answer.
//
// Its text, and what package fmt, encoding/json and log/slog print of it in any form, leave out Message and Body, which may
// repeat a number or a text; both are there by their fields. An Error belongs to the caller that got it.
type Error struct {
	// Operation is the contract's name of the call, such as "sms.send".
	Operation string
	// Verdict is what is known of the message. For a read: Refused where the service answered a 4xx or an error code,
	// NotSent where nothing was written, else Unknown; a read matches neither ErrNotSent nor ErrOutcomeUnknown.
	Verdict Verdict
	// StatusCode is the HTTP status of the last answer, or 0 where none came.
	StatusCode int
	// Code is the service's error code, or empty.
	Code string
	// Message is what the service wrote. It may repeat the recipient or the text.
	Message string
	// RequestID is the service's name for the request, or empty: from the body, else from an X-Request-Id header.
	RequestID string
	// ReferenceID is the message's own, to settle an unknown outcome by, or empty.
	ReferenceID string
	// RetryAfter is how long the service asked to wait, or 0. A wait longer than the RetryPolicy or the context allow is
	// not begun.
	RetryAfter time.Duration
	// Attempts is how many requests were begun: 0 where none could be, such as under a context that had ended.
	Attempts int
	// Body is the beginning of the answer, at most 64 KiB.
	Body []byte

	read   bool    // a read has no outcome that could be settled
	reason string  // of this library, where the status alone does not say it
	class  []error // sentinels of status and code
	kind   error   // what a channel found, for the channel
	cause  error
}

// newError is the error of a call that ended like this.
func newError(op wire.Operation, out transport.Outcome) *Error {
	e := &Error{
		Operation: op.String(), StatusCode: out.StatusCode, RetryAfter: out.RetryAfter, Attempts: out.Attempts, cause: out.Err,
	}
	if out.Interrupted != nil {
		e.cause, e.reason = errors.Join(out.Interrupted, out.Err), "another attempt could not begin"
	}
	return e
}

// explain fills in what the service said of a failure, and the classes of status and code.
func (e *Error) explain(code, message, requestID string, class codec.Class, notJSON error) {
	e.Code, e.Message = code, message
	if notJSON != nil { // the beginning of a page is better than nothing
		const kept = 512
		e.Message = strings.TrimSpace(strings.ToValidUTF8(string(e.Body[:min(len(e.Body), kept)]), "\ufffd"))
	}
	e.RequestID = firstNonEmpty(requestID, e.RequestID)
	for _, sentinel := range []error{statusClass(e.StatusCode), codeClass(class)} {
		if sentinel != nil && !slices.Contains(e.class, sentinel) {
			e.class = append(e.class, sentinel)
		}
	}
}

// requestID gives the header by which many services name a request. The contract names places in the body alone.
func requestID(h http.Header) string {
	if ids := h["X-Request-Id"]; len(ids) > 0 {
		return ids[0]
	}
	return ""
}

func firstNonEmpty(values ...string) string {
	for _, value := range values {
		if value != "" {
			return value
		}
	}
	return ""
}

// statusClass gives the sentinel that an HTTP status matches, or nil.
func statusClass(code int) error {
	switch code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong,
		http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return ErrInvalid
	case http.StatusUnauthorized:
		return ErrUnauthorized
	case http.StatusPaymentRequired:
		return ErrInsufficientBalance
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusNotFound, http.StatusGone:
		return ErrNotFound
	case http.StatusTooManyRequests:
		return ErrRateLimited
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return ErrUnavailable
	default:
		return nil
	}
}

// codeClass gives the sentinel of a class of the contract, or nil.
func codeClass(class codec.Class) error {
	switch class {
	case codec.Unauthorized:
		return ErrUnauthorized
	case codec.RateLimited:
		return ErrRateLimited
	case codec.InsufficientBalance:
		return ErrInsufficientBalance
	case codec.Duplicate:
		return ErrDuplicate
	case codec.NotFound:
		return ErrNotFound
	case codec.Unavailable:
		return ErrUnavailable
	case codec.Invalid:
		return ErrInvalid
	case codec.NoClass:
		return nil
	default:
		return nil
	}
}

// Error says what is known, in one line, without anything that belongs to the message.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("messaging: " + e.Operation)
	switch {
	case e.read:
		b.WriteString(" failed")
	case e.Verdict == Unknown:
		b.WriteString(" has an unknown outcome")
		if e.Operation == wire.ChatApp1Send.String() || e.Operation == wire.ChatApp2Send.String() {
			b.WriteString(" that no listing can settle")
		}
	default:
		b.WriteString(" " + e.Verdict.String())
	}
	separator := ": "
	say := func(format string, args ...any) {
		fmt.Fprintf(&b, separator+format, args...)
		separator = ", "
	}
	if e.StatusCode != 0 {
		say("HTTP %d", e.StatusCode)
	}
	if e.reason != "" {
		say("%s", e.reason)
	}
	if e.cause != nil {
		say("%s", transport.Describe(e.cause))
	}
	if isWord(e.Code) {
		say("code %s", e.Code)
	}
	for _, class := range e.class {
		say("%s", strings.TrimPrefix(class.Error(), "messaging: "))
	}
	if isWord(e.RequestID) {
		say("request %s", e.RequestID)
	}
	if e.RetryAfter > 0 {
		say("asked to wait %v", e.RetryAfter)
	}
	if e.Attempts > 1 {
		say("%d attempts", e.Attempts)
	}
	return b.String()
}

// isWord tells whether what the service wrote is short and plain enough to be a code, and not a sentence or a number
// that may be somebody's.
func isWord(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '-' && r != '_' && r != '.' && r != ':'
	}) && !isNumber(s)
}

// isNumber tells of digits alone, as many as somebody's number has.
func isNumber(s string) bool {
	return len(s) >= 9 && strings.Trim(s, "0123456789") == ""
}

// Is tells whether target is the sentinel of the verdict or of a class.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrOutcomeUnknown:
		return e.Verdict == Unknown && !e.read
	case ErrNotSent:
		return e.Verdict == NotSent && !e.read
	default:
		return slices.Contains(e.class, target) || e.kind != nil && target == e.kind
	}
}

// Unwrap gives the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Format prints the line of Error in every verb.
func (e Error) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Error()) }

// LogValue logs the fields that identify nobody.
func (e Error) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("operation", e.Operation),
		slog.String("verdict", e.Verdict.String()),
		slog.Int("status", e.StatusCode),
		slog.String("error", e.Error()),
		slog.Int("attempts", e.Attempts),
	)
}

// MarshalJSON encodes the fields that identify nobody.
func (e Error) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Operation string `json:"operation"`
		Verdict   string `json:"verdict"`
		Status    int    `json:"status"`
		Error     string `json:"error"`
		Attempts  int    `json:"attempts"`
	}{e.Operation, e.Verdict.String(), e.StatusCode, e.Error(), e.Attempts})
}

// Problem is one thing that was wrong with an argument.
type Problem struct {
	// Field names it as in Go: "To", "Extra[\"to\"]", "Content.Action.Sections[1].Rows[3].Title", "WithTimeout".
	Field string
	// Reason says what is wrong and what is allowed, with measures; it never repeats the value.
	Reason string
	// Limit says that a limit is passed which the platform behind a channel documents, such as the length of a title. Those
	// move: WithLenientLimits lets them pass. False is what no option lets pass.
	Limit bool
}

// ValidationError says that a message or an option was refused by this library, and that nothing was sent. It names
// every problem that was found. It holds measures and no values, and matches ErrInvalid and ErrNotSent.
type ValidationError struct {
	// Operation is the contract's name of the call, or "" where a client could not be made.
	Operation string
	// Field and Reason are those of the first problem.
	Field  string
	Reason string
	// Problems holds all of them, at least one, in the order of the fields.
	Problems []Problem
}

func invalid(operation string, problems []wire.Problem) *ValidationError {
	e := &ValidationError{Operation: operation, Field: problems[0].Field, Reason: problems[0].Reason}
	for _, p := range problems {
		e.Problems = append(e.Problems, Problem{Field: p.Field, Reason: p.Reason, Limit: p.Limit})
	}
	return e
}

// Error names each field with what is wrong and what is allowed.
func (e *ValidationError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.Field + ": " + p.Reason
	}
	if e.Operation == "" {
		return "messaging: " + strings.Join(parts, "; ")
	}
	return "messaging: " + e.Operation + " not sent: " + strings.Join(parts, "; ")
}

// Is matches ErrInvalid and ErrNotSent.
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid || target == ErrNotSent }
