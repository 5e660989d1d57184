package messagingriver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// action is what happens to the job of a message.
type action int

const (
	complete     action = iota
	cancel              // for good
	retry               // the failure is the message's own and counts as an attempt
	snooze              // the message waits, which costs no attempt
	pauseChannel        // like snooze, for all messages of the channel
	lookUp              // the message may have been sent
)

// verdict is the result of an attempt.
type verdict struct {
	action   action
	recorded string // the verdict in the metadata
	reason   string
	classes  []string // the sentinel errors that the error matched
	// retryAfter is how long the message waits at least.
	retryAfter time.Duration
	// pauses reports whether the service, the account or a rate limit holds back every message of the channel.
	pauses bool
	// serviceWorks reports whether the service accepted the message or refused it alone, which proves that the service works.
	serviceWorks bool
}

const (
	// undecidedWait is how long a message waits if a guard could not decide.
	undecidedWait = 10 * time.Second
	// maxWait bounds the wait of a channel that a service may ask for, and maxMessageWait that of one message.
	maxWait        = time.Hour
	maxMessageWait = 24 * time.Hour
	// tooManyToRecipient is the code of chat app 2's platform for too many messages to one recipient. The others can be sent.
	tooManyToRecipient = "131056"
)

// classify returns what the error of an attempt means. breakerOpen reports whether the breaker of the channel is open after it.
func (a *attempt) classify(err error, breakerOpen bool) verdict {
	if err == nil {
		return verdict{action: complete, recorded: accepted, serviceWorks: true}
	}
	var v verdict
	if a.hasEntered() {
		v = classifyEntered(err, breakerOpen)
	} else {
		v = classifyUnsent(err, breakerOpen)
		v.recorded = notSent
	}
	if v.reason == "" {
		v.reason = reasonOf(err)
	}
	v.classes = classesOf(err)
	return v
}

// reasonOf returns the text of an error to store, without a wait of the library or of a guard: it would be read later, and the job has the
// time.
func reasonOf(err error) string {
	text := withoutZeroBytes(err.Error())
	failure, isError := errors.AsType[*messaging.Error](err)
	if !isError {
		return text
	}
	wait := fmt.Sprintf(", try again in %v", failure.RetryAfter.Round(time.Millisecond))
	return strings.Replace(text, wait, "", 1)
}

// classifyEntered classifies an attempt whose request may have begun, by the verdict of the client.
func classifyEntered(err error, breakerOpen bool) verdict {
	after, _ := messaging.Retryable(err)
	v := verdict{retryAfter: min(after, maxMessageWait)}
	switch messaging.VerdictOf(err) {
	case messaging.NotSent:
		v.recorded = notSent
		v.retryLater(breakerOpen)
	case messaging.Refused:
		v.classifyRefused(err, breakerOpen)
	default:
		v.action = lookUp
		v.recorded = unknown
		v.pauses = breakerOpen
	}
	return v
}

// classifyRefused classifies a refusal by the service.
func (v *verdict) classifyRefused(err error, breakerOpen bool) {
	if errors.Is(err, messaging.ErrDuplicate) { // the service has the message already
		v.action = lookUp
		v.recorded = unknown
		return
	}
	v.recorded = refused
	failure, isError := errors.AsType[*messaging.Error](err)
	namesMessage := isError && failure.Ambiguous() // the service may have the message although it refused it
	isAccount := isAccountFailure(err)
	isRefusedForAccount := isAccount && !namesMessage
	isForRecipient := isError && failure.Code == tooManyToRecipient
	_, isRetryable := messaging.Retryable(err)
	if isRetryable || isRefusedForAccount {
		isRateLimited := errors.Is(err, messaging.ErrRateLimited) && !isForRecipient
		v.retryLater(breakerOpen || isAccount || isRateLimited)
		return
	}
	if breakerOpen && !namesMessage { // a status such as 403, which may be about the account: another message probes
		v.action = snooze
		v.pauses = true
		v.retryAfter = time.Second
		return
	}
	v.action = cancel
	v.pauses = isAccount
	v.serviceWorks = !isAccount
}

// retryLater retries a message that was not processed. If the whole channel is affected, it pauses the channel.
func (v *verdict) retryLater(channelToBlame bool) {
	if channelToBlame {
		v.retryAfter = min(v.retryAfter, maxWait)
		v.action = pauseChannel
		v.pauses = true
		return
	}
	v.action = retry
}

// classifyUnsent classifies an attempt whose request never began, so that the message was not sent, regardless of the error.
func classifyUnsent(err error, breakerOpen bool) verdict {
	after, isRetryable := messaging.Retryable(err)
	wait := min(max(after, time.Second), maxWait)
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	failure, isError := errors.AsType[*messaging.Error](err)
	channelToBlame := breakerOpen || errors.Is(err, messaging.ErrBreakerOpen) || isAccountFailure(err)
	switch {
	case errors.Is(err, errExpired):
		return verdict{action: cancel, reason: errExpired.Error()}
	case errors.Is(err, errOutdated):
		return verdict{action: snooze, reason: errOutdated.Error()}
	case errors.Is(err, errUnmarked):
		return verdict{action: snooze, reason: errUnmarked.Error(), retryAfter: wait}
	case isInvalid, errors.Is(err, messaging.ErrDenied):
		return verdict{action: cancel}
	case errors.Is(err, messaging.ErrPostponed) && isError:
		return verdict{action: snooze, retryAfter: cmp.Or(failure.RetryAfter, undecidedWait)}
	case channelToBlame:
		return verdict{action: pauseChannel, pauses: true, retryAfter: wait}
	case errors.Is(err, context.Canceled): // the process stops, or the turn at the rate limit came too late
		return verdict{action: snooze}
	case isRetryable, errors.Is(err, context.DeadlineExceeded):
		return verdict{action: snooze, retryAfter: wait}
	case isError && failure.Verdict == messaging.NotSent: // the client has no credentials for the channel
		return verdict{action: pauseChannel, pauses: true, retryAfter: wait}
	default: // a panic of a function of the program
		return verdict{action: retry, retryAfter: wait}
	}
}

// isAccountFailure reports whether the service would refuse every message: the credentials are wrong, or there is no credit.
func isAccountFailure(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance)
}
