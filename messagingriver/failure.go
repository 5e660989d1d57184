package messagingriver

import (
	"cmp"
	"errors"
	"net"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

const (
	// undecidedWait is how long a message waits if a guard could not decide.
	undecidedWait = 10 * time.Second
	// maxWait is how long a service can make a channel wait, and maxMessageWait how long it can make one message wait.
	maxWait        = time.Hour
	maxMessageWait = 24 * time.Hour
)

// failure holds the facts about a failed attempt from which its ruling follows.
type failure struct {
	err         error
	verdict     messaging.Verdict // of the client
	hasEntered  bool              // a request may have begun; if not, the message was not sent, regardless of the verdict
	breakerOpen bool              // the breaker of the channel is open after the attempt

	isRetryable bool          // the client says that the message may be sent again
	wait        time.Duration // how long the next request waits at least, up to maxWait
	retryWait   time.Duration // how long this message waits at least if no other does, up to maxMessageWait

	// Before a request, or before its repetition with a fresh token.
	stop error // why the outbox let no request begin: an error of stopOf, or nil

	// Before a request.
	isDenied         bool          // the message is invalid, or a guard denied it
	isPostponed      bool          // a guard wants the message later, or could not decide
	guardWait        time.Duration // how long a postponed message waits
	clientCannotSend bool          // the client has no credentials for the channel, or refuses the certificate of the service

	// After a refusal by the service.
	concernsAccount   bool // it would refuse every message: the credentials are wrong, or there is no credit
	concernsRecipient bool // it refuses messages to this recipient, for a time
	isAmbiguous       bool // it may have the message although it refused it
}

func newFailure(err error, hasEntered, breakerOpen bool) failure {
	wait, isRetryable := messaging.Retryable(err)
	verdict := messaging.VerdictOf(err)
	var stop error
	if !hasEntered || verdict == messaging.Refused { // by the status 401: the client wanted to repeat the request with a fresh token
		stop = stopOf(err)
	}
	if !hasEntered || stop != nil {
		wait = max(wait, time.Second) // even if the failure names no wait
	}
	f := failure{
		err:             err,
		verdict:         verdict,
		hasEntered:      hasEntered,
		breakerOpen:     breakerOpen,
		isRetryable:     isRetryable,
		stop:            stop,
		wait:            min(wait, maxWait),
		retryWait:       min(wait, maxMessageWait),
		concernsAccount: errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance),
	}
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	f.isDenied = isInvalid || errors.Is(err, messaging.ErrDenied)
	f.clientCannotSend = f.verdict == messaging.NotSent && !isRetryable && !f.isDenied
	if e, isError := errors.AsType[*messaging.Error](err); isError {
		f.isPostponed = errors.Is(err, messaging.ErrPostponed)
		f.guardWait = cmp.Or(e.RetryAfter, undecidedWait)
		f.concernsRecipient = concernsRecipient(e.Code)
		f.isAmbiguous = e.Ambiguous()
	}
	return f
}

// stopOf returns the error by which the outbox let no request begin, or nil if the attempt failed in another way.
func stopOf(err error) error {
	for _, stop := range []error{ErrExpired, errClaimOld, errAbandoned, errJobLost, errHalted, errUnconfirmed} {
		if errors.Is(err, stop) {
			return stop
		}
	}
	return nil
}

// concernsRecipient reports whether chat app 2's platform refuses a message for its recipient alone, for a time: by 131056 because of too many
// messages to the recipient, and by 131049 and 130472 because it holds marketing back from them. Messages to others can be sent.
func concernsRecipient(code string) bool {
	return code == "131056" || code == "131049" || code == "130472"
}

func (f *failure) is(target error) bool { return errors.Is(f.err, target) }

// mayConcernAccount reports whether a permanent refusal, such as by the status 403, may be about the account, because the breaker is open.
// A message that the service may have is never sent again to find out.
func (f *failure) mayConcernAccount() bool { return f.breakerOpen && !f.isAmbiguous }

// classes returns the classes of the failure to store.
func (f *failure) classes() []string {
	classes := classesOf(f.err)
	if f.verdict == messaging.Refused && f.isAmbiguous {
		classes = append(classes, classAmbiguous)
	}
	return classes
}

// reason returns the reason to store.
func (f *failure) reason() string {
	if f.stop != nil {
		return f.stop.Error()
	}
	return reasonOf(f.err)
}

// reasonOf returns the text of an error to store. It leaves out a wait, because it is read later, and the job has the time. It also leaves out
// the address of this process, whose port differs in each attempt, so that equal failures have one reason.
func reasonOf(err error) string {
	if e, isError := errors.AsType[*messaging.Error](err); isError {
		withoutWait := *e
		withoutWait.RetryAfter = 0
		err = &withoutWait
	}
	reason := err.Error()
	if failed, isNetwork := errors.AsType[*net.OpError](err); isNetwork && failed.Source != nil {
		reason = strings.ReplaceAll(reason, failed.Source.String()+"->", "")
	}
	return withoutZeroBytes(reason)
}
