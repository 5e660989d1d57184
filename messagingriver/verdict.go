package messagingriver

import (
	"cmp"
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// action is what a verdict has the outbox do with a message.
type action int

const (
	complete action = iota
	cancel          // for good
	retry           // the failure is the message's own and counts as an attempt
	snooze          // the message waits, which costs no attempt
	lookUp          // the message may have been sent
)

// channelEffect is what an attempt shows about its channel.
type channelEffect int

const (
	untouched channelEffect = iota // nothing
	works                          // the service accepted the message, or refused it alone
	suspected                      // the service may be in trouble: the channel pauses, and another message probes it
	heldBack                       // the service, the account or a rate limit holds back every message: the channel pauses, and this one probes it
)

// verdict is what the error of an attempt means, or its success.
type verdict struct {
	action   action
	recorded string // the verdict in the metadata
	reason   string
	classes  []string // the sentinel errors that the error matched
	channel  channelEffect
	// messageWait is how long the message waits at least before it is retried, or how long it is snoozed.
	messageWait time.Duration
	// channelWait is how long the next request of the channel waits at least, if the channel is paused.
	channelWait time.Duration
}

const (
	// undecidedWait is how long a message waits if a guard could not decide.
	undecidedWait = 10 * time.Second
	// maxWait bounds the wait of a channel that a service may ask for, and maxMessageWait that of one message.
	maxWait        = time.Hour
	maxMessageWait = 24 * time.Hour
)

// concernsRecipient reports whether chat app 2's platform refuses a message for its recipient alone, for a time: by 131056 because of too many
// messages to the recipient, and by 131049 and 130472 because it holds marketing back from them. Messages to others can be sent.
func concernsRecipient(code string) bool {
	return code == "131056" || code == "131049" || code == "130472"
}

// classify returns what the error of an attempt means. breakerOpen reports whether the breaker of the channel is open after it.
func (a *attempt) classify(err error, breakerOpen bool) verdict {
	if err == nil {
		return verdict{action: complete, recorded: accepted, channel: works}
	}
	var v verdict
	if a.progress.hasEntered() {
		v = classifyEntered(err, breakerOpen)
	} else {
		v = classifyUnsent(err, breakerOpen)
	}
	if v.reason == "" {
		v.reason = reasonOf(err)
	}
	v.classes = classesOf(err)
	return v
}

// reasonOf returns the text of an error to store, without a wait: it would be read later, and the job has the time.
func reasonOf(err error) string {
	if failure, isError := errors.AsType[*messaging.Error](err); isError {
		withoutWait := *failure
		withoutWait.RetryAfter = 0
		err = &withoutWait
	}
	return withoutZeroBytes(err.Error())
}

// holdBack returns the verdict on a message that was not sent and waits with all others of its channel.
func holdBack(recorded string, wait time.Duration) verdict {
	wait = min(wait, maxWait)
	return verdict{action: snooze, recorded: recorded, channel: heldBack, messageWait: wait, channelWait: wait}
}

// classifyEntered classifies an attempt whose request may have begun, by the verdict of the client.
func classifyEntered(err error, breakerOpen bool) verdict {
	switch messaging.VerdictOf(err) {
	case messaging.NotSent:
		after, _ := messaging.Retryable(err)
		if breakerOpen {
			return holdBack(notSent, after)
		}
		return verdict{action: retry, recorded: notSent, messageWait: min(after, maxMessageWait), channelWait: min(after, maxWait)}
	case messaging.Refused:
		return classifyRefused(err, breakerOpen)
	default:
		v := verdict{action: lookUp, recorded: unknown}
		if breakerOpen {
			v.channel = suspected
		}
		return v
	}
}

// classifyRefused classifies a refusal by the service. The first case that applies decides.
func classifyRefused(err error, breakerOpen bool) verdict {
	after, isRetryable := messaging.Retryable(err)
	messageWait := min(after, maxMessageWait)
	channelWait := min(after, maxWait)
	isAmbiguous := false // the service may have the message although it refused it
	isForRecipient := false
	if failure, isError := errors.AsType[*messaging.Error](err); isError {
		isAmbiguous = failure.Ambiguous()
		isForRecipient = concernsRecipient(failure.Code)
	}
	isAccount := isAccountFailure(err)
	isAccountAlone := isAccount && !isAmbiguous
	isChannelLimited := errors.Is(err, messaging.ErrRateLimited) && !isForRecipient
	concernsChannel := breakerOpen || isAccount || isChannelLimited
	switch {
	case errors.Is(err, messaging.ErrDuplicate): // the service has the message already
		return verdict{action: lookUp, recorded: unknown, channelWait: channelWait}
	case isAccountAlone, isRetryable && concernsChannel:
		return holdBack(refused, after)
	case isRetryable && isForRecipient:
		return verdict{action: retry, recorded: refused, channel: works, messageWait: messageWait}
	case isRetryable: // this message may be accepted later
		return verdict{action: retry, recorded: refused, messageWait: messageWait, channelWait: channelWait}
	case breakerOpen && !isAmbiguous: // a status such as 403 may be about the message or about the account
		return verdict{action: snooze, recorded: refused, channel: suspected, messageWait: time.Second}
	case isAccount: // the account is refused, but the service may have the message
		return verdict{action: cancel, recorded: refused, channel: suspected}
	default: // the service works, and refuses this message for good
		return verdict{action: cancel, recorded: refused, channel: works}
	}
}

// classifyUnsent classifies an attempt whose request never began, so that the message was not sent, regardless of the error. The first case
// that applies decides.
func classifyUnsent(err error, breakerOpen bool) verdict {
	after, isRetryable := messaging.Retryable(err)
	wait := min(max(after, time.Second), maxWait)
	failure, isError := errors.AsType[*messaging.Error](err)
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	isPostponed := isError && errors.Is(err, messaging.ErrPostponed)
	isHeldBack := breakerOpen || errors.Is(err, messaging.ErrBreakerOpen) || isAccountFailure(err)
	switch {
	case errors.Is(err, errExpired):
		return verdict{action: cancel, recorded: notSent, reason: errExpired.Error()}
	case errors.Is(err, errOutdated): // another attempt may have the job
		return verdict{action: snooze, recorded: notSent, reason: errOutdated.Error()}
	case errors.Is(err, errHalted): // this process paused the channel while the attempt was under way
		return verdict{action: snooze, recorded: notSent, reason: errHalted.Error(), messageWait: haltLength}
	case errors.Is(err, errUnconfirmed):
		return verdict{action: snooze, recorded: notSent, reason: errUnconfirmed.Error(), messageWait: wait}
	case isInvalid, errors.Is(err, messaging.ErrDenied):
		return verdict{action: cancel, recorded: notSent}
	case isPostponed: // a guard wants the message later, or could not decide
		return verdict{action: snooze, recorded: notSent, messageWait: cmp.Or(failure.RetryAfter, undecidedWait)}
	case isHeldBack:
		return holdBack(notSent, wait)
	case errors.Is(err, context.Canceled): // the process stops, or the turn at the rate limit came too late
		return verdict{action: snooze, recorded: notSent}
	case isRetryable, errors.Is(err, context.DeadlineExceeded): // the attempt took too long, or failed in a way that may pass
		return verdict{action: snooze, recorded: notSent, messageWait: wait}
	case isError && failure.Verdict == messaging.NotSent: // no credentials for the channel, or a certificate that the client refuses
		return holdBack(notSent, wait)
	default: // a function of the program panicked, or returned an error that says nothing
		return verdict{action: retry, recorded: notSent, messageWait: wait}
	}
}

// isAccountFailure reports whether the service would refuse every message: the credentials are wrong, or there is no credit.
func isAccountFailure(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance)
}
