package messagingriver

import (
	"cmp"
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// action is what becomes of the job of a message.
type action int

const (
	complete     action = iota
	cancel              // for good
	retry               // the message is to blame: it has so many attempts
	snooze              // it waits, and costs no attempt
	pauseChannel        // the same, and so do all other messages of the channel
	lookUp              // it may have been sent
)

// verdict is what an attempt found.
type verdict struct {
	action   action
	recorded string // the verdict in the note
	reason   string
	// retryAfter is how long the message waits at least.
	retryAfter time.Duration
	// pauses reports whether the service, the account or a rate holds back every message of the channel.
	pauses bool
	// isResponse reports whether the service took the message, or refused this one only. It is then not in trouble.
	isResponse bool
}

// undecidedWait is how long a message waits whose guard could not decide.
const undecidedWait = 10 * time.Second

// judge returns what the error of an attempt means. isOpen reports whether the breaker of the channel is open after it.
func (a *attempt) judge(err error, isOpen bool) verdict {
	if err == nil {
		return verdict{action: complete, recorded: accepted, isResponse: true}
	}
	v := verdict{recorded: notSent, reason: withoutZeroBytes(err.Error())}
	if !a.hasEntered() {
		a.judgeUnsent(&v, err, isOpen)
		return v
	}
	failure, isError := errors.AsType[*messaging.Error](err)
	isNamed := isError && failure.Ambiguous() // the service may have the message although it refused it
	after, isRetryable := messaging.Retryable(err)
	isAccounts := isAccount(err) && !isNamed
	isLimited := errors.Is(err, messaging.ErrRateLimited) && isRetryable
	v.retryAfter = min(after, longestWait)
	switch messaging.VerdictOf(err) {
	case messaging.NotSent:
		v.blame(isOpen)
	case messaging.Refused:
		v.recorded = refused
		switch {
		case errors.Is(err, messaging.ErrDuplicate):
			v.action, v.recorded = lookUp, unknown
		case isAccounts, isLimited, isRetryable:
			v.blame(isOpen || isAccounts || isLimited)
		default: // one that names a message is final even if the account is in trouble
			v.action, v.pauses, v.isResponse = cancel, isAccount(err), !isAccount(err)
		}
	default:
		v.action, v.recorded, v.pauses = lookUp, unknown, isOpen
	}
	return v
}

// longestWait bounds what a service may ask for.
const longestWait = time.Hour

// blame decides between the message and the channel for something that was not processed.
func (v *verdict) blame(isChannel bool) {
	if isChannel {
		v.action, v.pauses = pauseChannel, true
		return
	}
	v.action = retry
}

// judgeUnsent judges an attempt whose request was never begun, whatever its error says.
func (a *attempt) judgeUnsent(v *verdict, err error, isOpen bool) {
	after, isRetryable := messaging.Retryable(err)
	v.retryAfter = min(max(after, time.Second), longestWait)
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	failure, isError := errors.AsType[*messaging.Error](err)
	switch {
	case errors.Is(err, errExpired):
		v.action, v.reason = cancel, errExpired.Error()
	case errors.Is(err, errOutdated):
		v.action, v.retryAfter, v.reason = snooze, 0, errOutdated.Error()
	case errors.Is(err, errUnmarked):
		v.action, v.reason = snooze, errUnmarked.Error()
	case isInvalid, errors.Is(err, messaging.ErrDenied):
		v.action = cancel
	case errors.Is(err, messaging.ErrPostponed) && isError:
		v.action, v.retryAfter = snooze, cmp.Or(failure.RetryAfter, undecidedWait)
	case isOpen, errors.Is(err, messaging.ErrBreakerOpen), isAccount(err):
		v.action, v.pauses = pauseChannel, true
	case errors.Is(err, context.Canceled):
		v.action, v.retryAfter = snooze, 0 // the process stops, or a turn was too far away
	case errors.Is(err, context.DeadlineExceeded), isRetryable:
		v.action = snooze
	case isError && messaging.VerdictOf(err) == messaging.NotSent: // the client has no credentials for the channel
		v.action, v.pauses = pauseChannel, true
	default: // a panic of a function of the program
		v.action = retry
	}
}

// isAccount reports whether the service would refuse every other message too: wrong credentials, or no credit.
func isAccount(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance)
}
