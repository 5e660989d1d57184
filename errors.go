package messaging

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/redact"
	"github.com/messaging-service/messaging-go/internal/stored"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/transport"
)

// Sentinels for errors.Is. An *Error matches the sentinel of its verdict and the sentinel of its class. The class comes from
// the service's error code if the contract has a class for it, and from the HTTP status otherwise. So HTTP 400 with a code of
// the class insufficientBalance matches ErrInsufficientBalance and not ErrInvalid.
var (
	// ErrOutcomeUnknown matches a send with the verdict Unknown. A failed read never matches it.
	ErrOutcomeUnknown = errors.New("messaging: outcome unknown")
	// ErrNotSent matches a send with the verdict NotSent, and a *ValidationError.
	ErrNotSent = errors.New("messaging: not sent")
	// ErrInvalid: the request is wrong. HTTP 400, 413, 414, 415 or 422, a code of that class, or a *ValidationError. An error of SMS.Settle also
	// matches it if no lookup was possible, for example without a reference ID.
	ErrInvalid = errors.New("messaging: invalid")
	// ErrUnauthorized: the credentials are wrong. HTTP 401, or a code of that class.
	ErrUnauthorized = errors.New("messaging: unauthorized")
	// ErrForbidden: the credentials do not allow this. HTTP 403.
	ErrForbidden = errors.New("messaging: forbidden")
	// ErrNotFound: HTTP 404 or 410, a code of that class, or SMS.Find found no row.
	ErrNotFound = errors.New("messaging: not found")
	// ErrNotListed: the service responded to SMS.Find that no message is listed; the error matches ErrNotFound too. Errors of SMS.SendOnce,
	// SMS.Settle and SMS.SendAll match it if that was so after the window of the SettlePolicy. The message may still have been sent.
	ErrNotListed = errors.New("messaging: not listed")
	// ErrFilterIgnored: SMS.Find got only rows of other messages, so nothing is known about the message; or all rows of a listing contradict
	// its options.
	ErrFilterIgnored = errors.New("messaging: filter ignored")
	// ErrRateLimited: too many requests. HTTP 429, or a code of that class. See Error.RetryAfter.
	ErrRateLimited = errors.New("messaging: rate limited")
	// ErrInsufficientBalance: the account has no credit. HTTP 402, or a code of that class.
	ErrInsufficientBalance = errors.New("messaging: insufficient balance")
	// ErrDuplicate: the service has this message already. A code of that class.
	ErrDuplicate = errors.New("messaging: duplicate")
	// ErrWindowClosed: the recipient has not written for 24 hours, so chat app 2 accepts templates only. A code of that class, or an error of a
	// guard.
	ErrWindowClosed = errors.New("messaging: the 24-hour window is closed")
	// ErrOptedOut: the recipient does not want this message. A code of that class, an error of a guard (see WithGuard), or on chat app 2 the
	// platform's code 131050, for a recipient who has stopped marketing. By default, no code of the contract has this class.
	ErrOptedOut = errors.New("messaging: opted out")
	// ErrUnreachable: the recipient cannot be reached over this channel. A code of that class, or on chat app 2 the platform's code 131026. By
	// default, no code of the contract has this class: an SMS to a number that the service refuses matches ErrInvalid, as other mistakes do.
	ErrUnreachable = errors.New("messaging: unreachable")
	// ErrUnavailable: the service is in trouble. HTTP 500, 502, 503 or 504, or a code of that class.
	ErrUnavailable = errors.New("messaging: unavailable")
	// ErrBreakerOpen: a circuit breaker of the channel is open, so no further request was made; see WithBreaker. A message was not sent. The error
	// also matches the class of the trouble, such as ErrUnavailable, and has RetryAfter.
	ErrBreakerOpen = errors.New("messaging: circuit breaker open")
	// ErrDenied: a guard denied the message, and nothing was sent; see WithGuard. The error also matches the error of the guard.
	ErrDenied = errors.New("messaging: denied")
	// ErrPostponed: a guard postponed the message or could not decide, and nothing was sent; see WithGuard. Retryable returns the wait and true.
	ErrPostponed = errors.New("messaging: postponed")
	// ErrUnreadableRow: a row of a listing could not be read in full. The text has its page, its row, its ID and its field. The listing goes on.
	ErrUnreadableRow = errors.New("messaging: unreadable row")
	// ErrUnknownKey: JSON of a stored message has a key that this version of the library does not know. A later version may have written it.
	ErrUnknownKey = stored.ErrUnknownKey
)

// MayHaveBeenSent reports whether a message may have gone out. err is the error of its send, or of SMS.Settle. The result is true if
//
//   - err is nil: the message was accepted
//   - the verdict is Unknown
//   - err matches ErrDuplicate: the service has the message already
//   - the response names a message; see Error.Ambiguous
//
// Do not send such a message again before you know what became of it: look it up by its reference ID, or wait for its delivery report. If the
// result is false, the message was not sent, and Retryable and IsAccountProblem say whether it can be sent again.
//
// The result says nothing about any other call: it is true for the error of a read, and for every error that is neither an *Error nor a
// *ValidationError, such as one of your database before the send.
func MayHaveBeenSent(err error) bool {
	verdict := VerdictOf(err)
	if verdict == Accepted || verdict == Unknown {
		return true
	}
	if errors.Is(err, ErrDuplicate) || errors.Is(err, ErrOutcomeUnknown) { // err may join the errors of several sends
		return true
	}
	return anyError(err, (*Error).Ambiguous)
}

// anyError reports whether an *Error for which matches returns true is in the tree of err.
func anyError(err error, matches func(*Error) bool) bool {
	switch e := err.(type) { //nolint:errorlint // it looks into the tree itself
	case *Error:
		return matches(e)
	case interface{ Unwrap() error }:
		return anyError(e.Unwrap(), matches)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), func(joined error) bool { return anyError(joined, matches) })
	default:
		return false
	}
}

// Retryable reports whether a call that failed can be repeated and may then succeed. If so, after is how long to wait first: at least a second.
// err is the error of a send or of a read. The client has already retried within its RetryPolicy. Bound your own attempts: some trouble, such as
// revoked credentials whose token source fails, lasts.
//
// A message can be sent again after
//
//   - NotSent, except for ErrDenied, and except where another attempt would fail in the same way: a *ValidationError, a certificate that was
//     refused, a server without TLS, a proxy that wants credentials, and a client without credentials for the channel. After Postpone, the wait is
//     the one that the guard gave.
//   - ErrRateLimited, and any other refusal whose status proves that nothing was processed (errors.notProcessed of the contract), unless
//     the response names a message (see Error.Ambiguous). After the platform's code 131056 on chat app 2, the wait is at least 6 seconds.
//   - HTTP 401, if the client wanted to try a fresh token and could not begin, such as when the context ended or the token source failed.
//   - the platform's codes 131049 and 130472 on chat app 2, with a wait of a day: the platform holds marketing back from this recipient.
//
// A lookup or a listing (SMS.Find, SMS.List and SMS.Pages) can be repeated after
//
//   - a failure without a response, such as a timeout, a broken connection or an open circuit breaker. The exceptions are a certificate that was
//     refused, a server without TLS, a proxy that wants credentials, and a client without credentials for the channel.
//   - HTTP 408, 500, 502, 503 or 504, a status of errors.notProcessed (429 by default), ErrRateLimited, and ErrUnavailable.
//   - HTTP 401, as for a message.
//   - a response that was cut short or is not JSON.
//
// The result is also true if the context ended before a message was written, or during a read: in a loop, check the context before another
// attempt.
//
// It is false for a refusal of the account, such as for a lack of credit (see IsAccountProblem), for a send with an unknown outcome, for nil, and
// for any other error. After ErrNotListed and ErrFilterIgnored it is false because the service did respond; a message that is not listed may be
// listed later. If err joins the error of a read with that of a send, the read never makes the result true.
func Retryable(err error) (after time.Duration, ok bool) {
	e, isError := errors.AsType[*Error](err)
	switch {
	case !isError || e.hasClass(ErrDenied):
		return 0, false
	case e.read:
		isTemporary := e.repeatable || e.hasClass(ErrRateLimited) || e.hasClass(ErrUnavailable)
		ok = isTemporary && !anyError(err, (*Error).isSend)
	case e.guardReason != "": // it postponed the message, or could not decide
		ok = true
	case e.Verdict == NotSent:
		ok = !e.noCredentials && !transport.IsPermanent(e.cause)
	case e.Verdict == Refused:
		isTemporary := e.repeatable || e.platform == platformNotNow || errors.Is(e, ErrRateLimited)
		ok = isTemporary && !e.Ambiguous()
	}
	if !ok {
		return 0, false
	}
	return max(e.RetryAfter, time.Second), true
}

func (e *Error) isSend() bool { return !e.read }

// IsAccountProblem reports whether a message was not sent because of the account: its credentials are wrong or missing, it has no credit, or it
// lacks the permission (ErrUnauthorized, ErrInsufficientBalance, ErrForbidden). Retryable is false for such a refusal, because the next attempt
// would be refused as well. Keep the message, and send it again once the account is fixed.
//
// It is false for nil, if the message may have been sent (see MayHaveBeenSent), and after an HTTP 401 that is Retryable. It is also false for the
// error of a read, which matches these errors by errors.Is.
func IsAccountProblem(err error) bool {
	e, isError := errors.AsType[*Error](err)
	if !isError || e.read || e.Ambiguous() {
		return false
	}
	if e.Verdict != Refused && e.Verdict != NotSent {
		return false
	}
	isUnauthorized := e.hasClass(ErrUnauthorized) && !e.repeatable // it is repeatable until a fresh token was refused, too
	return e.noCredentials || isUnauthorized || e.hasClass(ErrInsufficientBalance) || e.hasClass(ErrForbidden)
}

// An Error is the error of a call that failed after its arguments were found valid. Unwrap returns the cause, such as a *net.OpError or the
// context's error, if there is one in addition to the response. The Error belongs to the caller.
//
// Its text, also as printed by package fmt, encoding/json and log/slog, leaves out Body and shows the beginning of Message. It has *** in place
// of credentials, the sender, the recipient, quotations from the text of the message, its codes of four digits or more, and runs of seven digits
// or more. Code and RequestID are left out if they hold any of these, except that runs of seven or eight digits are shown.
type Error struct {
	// Operation is the contract's name of the operation, such as "sms.send".
	Operation string
	// Verdict says whether the message was sent. A read has none: the field is then zero and appears in no text.
	Verdict Verdict
	// StatusCode is the HTTP status of the last response, or 0 if there was none.
	StatusCode int
	// Code is the service's error code, at a path of the contract (errors.code) or under a usual name, such as errorCode.
	Code string
	// Message is the service's explanation: the text at a path of the contract (errors.message) or under a usual name, such as error, detail
	// or title, and otherwise the beginning of the response. It may repeat the recipient or the text.
	Message string
	// RequestID is the service's ID of the request, from the body or, if it has none, from the header X-Request-Id.
	RequestID string
	// MessageID is the service's ID of a message, if the response has one and yet does not prove that the message was accepted; see Ambiguous.
	MessageID string
	// ReferenceID is the reference ID of the message, to settle an unknown outcome by.
	ReferenceID string
	// RetryAfter is how long to wait before another attempt, or 0 if nothing is known. It is the longer of two waits: the one that the service
	// (Retry-After) or a guard (Postpone) asked for, and the one for the circuit breaker, the rate limit or a back-off that the RetryPolicy or
	// the context did not allow. For some codes of chat app 2's platform, the library sets it; see Retryable.
	RetryAfter time.Duration
	// Attempts is the number of requests that the call began. It is 0 if SMS.Settle found the message listed as refused. For a listing and a
	// lookup it counts those for the page that failed, and is 1 if no page did.
	Attempts int
	// Body is the beginning of the response, at most 64 KiB.
	Body []byte

	// What errors.Is and errors.As find.
	cause    error
	classes  []error       // the sentinels that it matches, besides those of the verdict
	byCode   bool          // the class comes from a code of the contract
	platform platformClass // of the code of a message of chat app 2, or zero

	// The call.
	read          bool // a read has no verdict
	settled       bool // it is the error of Settle
	unlisted      bool // the channel has no listing that could settle an unknown outcome
	noCredentials bool // the client has none for the channel

	// The outcome.
	repeatable bool // nothing was processed, or it is a read that may end better
	hasMessage bool // see Ambiguous
	isPage     bool // the response is neither in the form of the contract nor empty

	// The text.
	reason      string // what this library found, where status and cause do not say it
	guardReason string // why a guard stopped the message, or ""
	safeMessage string // what may be shown of Message
	hidesIDs    bool   // Code and RequestID must not be shown
	localWait   bool   // the service did not ask for RetryAfter: it is a wait of the library, of a guard or of a class of codes
}

// Ambiguous reports whether the response contradicts itself: it does not prove that the message was accepted, and yet it names a message,
// such as by an ID in a refusal, or by a word for accepted where the contract has no IDs. Whatever the verdict, do not send the message
// again without a lookup.
func (e *Error) Ambiguous() bool { return e.MessageID != "" || e.hasMessage }

func newError(e *endpoint, out transport.Outcome) *Error {
	failed := &Error{
		Operation:  e.name,
		StatusCode: out.StatusCode,
		RetryAfter: out.RetryAfter,
		Attempts:   out.Attempts,
		read:       e.read,
		unlisted:   e.channel != ChannelSMS,
		cause:      out.Err,
	}
	if out.Wait > out.RetryAfter {
		failed.RetryAfter = out.Wait
		failed.localWait = true
	}
	if out.Interrupted != nil {
		failed.addInterruption(out.Interrupted)
	}
	return failed
}

// addInterruption adds why there was no other attempt, which would have been safe.
func (e *Error) addInterruption(why error) {
	e.cause = errors.Join(why, e.cause)
	e.reason = "another attempt could not begin"
	e.repeatable = true
}

// explain adds the response to the error: what it says about the failure, and the class. notJSON says why it is not JSON, or is nil.
func (e *Error) explain(failure codec.Failure, notJSON error, out transport.Outcome, secrets redact.Secrets) {
	e.Body = bytes.Clone(out.Body[:min(len(out.Body), transport.MaxErrorBody)]) // out.Body may be overwritten
	hasText := len(bytes.TrimSpace(e.Body)) > 0
	e.isPage = e.isPage || notJSON != nil && hasText
	e.RequestID = cmp.Or(failure.RequestID, headerRequestID(out.Header))
	hasRows := e.read && isSuccess(e.StatusCode) // of any messages, whose texts no error may show
	e.quote(failure, out.Body, hasRows, notJSON != nil)
	e.classify(failure.Class)
	e.hidesIDs = secrets.InWord(e.Code) || secrets.InWord(e.RequestID)
	isShown := !hasRows || notJSON == nil
	if isShown {
		e.safeMessage = e.mask(secrets)
	}
}

// quote sets the code and the message. What is not at a place of the contract is read where services usually have it, and a response that
// says neither is quoted from its beginning.
func (e *Error) quote(failure codec.Failure, body []byte, hasRows, isText bool) {
	e.Code = failure.Code
	e.Message = failure.Message
	if !hasRows {
		code, message := codec.Explanation(body)
		e.Code = cmp.Or(e.Code, code)
		e.Message = cmp.Or(e.Message, message)
	}
	isUnexplained := e.Code == "" && e.Message == ""
	isQuotable := isText || !hasRows
	if isUnexplained && isQuotable {
		e.Message = beginningOf(e.Body)
	}
}

// classify sets the class. The code decides if it has one, and otherwise the HTTP status.
func (e *Error) classify(class string) {
	byCode := codeClass(class)
	e.byCode = byCode != nil
	if sentinel := cmp.Or(byCode, statusClass(e.StatusCode)); sentinel != nil {
		e.classes = []error{sentinel}
	}
}

// mask returns what may be shown of the message. A listing may be about any message, whose words are unknown here: a text that has anything to
// mask is not shown at all.
func (e *Error) mask(secrets redact.Secrets) string {
	masked := secrets.Mask(e.Message)
	if e.read && masked != strings.TrimSpace(e.Message) {
		return ""
	}
	return masked
}

// beginningOf returns the beginning of a body as text.
func beginningOf(body []byte) string {
	const longest = 512
	text := string(body[:min(len(body), longest)])
	return strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
}

// headerRequestID returns the header in which many services name a request. A contract names places in the body only.
func headerRequestID(h http.Header) string {
	if ids := h["X-Request-Id"]; len(ids) > 0 {
		return ids[0]
	}
	return ""
}

func statusClass(code int) error {
	switch code {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
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

func codeClass(class string) error {
	switch class {
	case "unauthorized":
		return ErrUnauthorized
	case "rateLimited":
		return ErrRateLimited
	case "insufficientBalance":
		return ErrInsufficientBalance
	case "duplicate":
		return ErrDuplicate
	case "windowClosed":
		return ErrWindowClosed
	case "optedOut":
		return ErrOptedOut
	case "unreachable":
		return ErrUnreachable
	case "notFound":
		return ErrNotFound
	case "unavailable":
		return ErrUnavailable
	case "invalid":
		return ErrInvalid
	default:
		return nil
	}
}

// Error returns what is known, in one line.
func (e *Error) Error() string {
	text := "messaging: " + e.headline()
	if details := e.details(); len(details) > 0 {
		text += ": " + strings.Join(details, ", ")
	}
	return text
}

// headline returns the operation and how it ended.
func (e *Error) headline() string {
	operation := e.Operation
	if e.settled {
		operation = "Settle: " + operation
	}
	switch {
	case e.read:
		return operation + " failed"
	case e.Verdict != Unknown:
		return operation + " " + e.Verdict.String()
	case e.unlisted:
		return operation + " has an unknown outcome that no listing can settle"
	default:
		return operation + " has an unknown outcome"
	}
}

// details returns what is known about the failure.
func (e *Error) details() []string {
	var details []string
	add := func(prefix, text string) {
		if text != "" {
			details = append(details, prefix+text)
		}
	}
	if e.StatusCode != 0 {
		add("HTTP ", strconv.Itoa(e.StatusCode))
	}
	add("", e.reason)
	if e.guardReason != "" {
		add("", e.guardReason)
	} else if e.cause != nil {
		add("", transport.Describe(e.cause))
	}
	if table.IsWord(e.Code) && !e.hidesIDs {
		add("code ", e.Code)
	}
	isExplained := e.guardReason != "" || e.StatusCode == 0 && e.reason != ""
	if !isExplained {
		for _, class := range e.classes {
			add("", className(class))
		}
	}
	if e.safeMessage != "" {
		add("", strconv.Quote(e.safeMessage))
	}
	if table.IsWord(e.RequestID) && !e.hidesIDs {
		add("request ", e.RequestID)
	}
	add("", e.waitDetail())
	if e.Attempts > 1 {
		details = append(details, fmt.Sprintf("%d attempts", e.Attempts))
	}
	return details
}

// waitDetail returns how long to wait before another attempt, or "".
func (e *Error) waitDetail() string {
	switch {
	case e.RetryAfter <= 0:
		return ""
	case e.localWait:
		return fmt.Sprintf("try again in %v", e.RetryAfter.Round(time.Millisecond))
	default:
		return fmt.Sprintf("asked to wait %v", e.RetryAfter)
	}
}

// Is reports whether target is the sentinel of the verdict or of the class.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrOutcomeUnknown:
		return e.Verdict == Unknown && !e.read
	case ErrNotSent:
		return e.Verdict == NotSent && !e.read
	case ErrBreakerOpen:
		_, ok := errors.AsType[*transport.OpenError](e.cause)
		return ok && (e.read || e.Verdict == NotSent)
	default:
		return slices.Contains(e.classes, target)
	}
}

// hasClass reports whether the error has a class.
func (e *Error) hasClass(class error) bool { return slices.Contains(e.classes, class) }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Format prints the line of Error in every verb.
func (e Error) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Error()) }

// LogValue logs the operation, the verdict and the reference ID of a send, the status, the line of Error as the message, and the attempts.
func (e Error) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("operation", e.Operation)}
	if !e.read {
		attrs = append(attrs, slog.String("verdict", e.Verdict.String()))
	}
	if e.ReferenceID != "" {
		attrs = append(attrs, slog.String("reference_id", e.ReferenceID))
	}
	return slog.GroupValue(append(
		attrs, slog.Int("status", e.StatusCode), slog.String("message", e.Error()), slog.Int("attempts", e.Attempts),
	)...)
}

// MarshalJSON encodes what LogValue logs.
func (e Error) MarshalJSON() ([]byte, error) {
	shown := map[string]any{}
	for _, attr := range e.LogValue().Group() {
		shown[attr.Key] = attr.Value.Any()
	}
	return json.Marshal(shown)
}
