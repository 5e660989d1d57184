package messagingriver

import (
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// action is what a ruling has the outbox do with a message.
type action int

const (
	actionComplete action = iota
	actionCancel          // for good
	actionRetry           // the failure is the message's own and counts as an attempt
	actionSnooze          // the message waits, which costs no attempt
	actionLookUp          // the message may have been sent
)

// channelEffect is what an attempt shows about its channel.
type channelEffect int

const (
	effectNone      channelEffect = iota // it shows nothing
	effectWorks                          // the service accepted the message, or refused it alone
	effectSuspected                      // the service may be in trouble: the channel pauses, and another message probes it
	effectHeldBack                       // the service, the account or a rate limit holds back every message: the channel pauses, and this one probes it
)

// ruling is what the error of an attempt means, or its success: what happens to the message, what the attempt shows about the channel, and what
// is recorded.
type ruling struct {
	action action
	// messageWait is how long the message waits at least before it is retried, or how long it is snoozed.
	messageWait time.Duration

	channel channelEffect
	// channelWait is how long the next request of the channel waits at least, if the channel is paused.
	channelWait time.Duration

	recordedVerdict string // the verdict in the metadata
	reason          string
	classes         []string // the sentinel errors that the error matched
	isOnlyRequest   bool     // the message has had a single request
}

// classify returns what the error of an attempt means. breakerOpen reports whether the breaker of the channel is open after it.
func (a *attempt) classify(err error, breakerOpen bool) ruling {
	if err == nil {
		return ruling{action: actionComplete, channel: effectWorks, recordedVerdict: verdictAccepted}
	}
	f := newFailure(err, a.progress.hasEntered(), breakerOpen)
	rule := f.rule()
	rule.channelWait = f.wait
	rule.recordedVerdict = f.recordedVerdict(rule.action)
	rule.reason = f.reason()
	rule.classes = f.classes()
	e, isError := errors.AsType[*messaging.Error](err)
	rule.isOnlyRequest = !a.metadata.Requested && isError && e.Attempts == 1
	return rule
}

// rule returns what a failed attempt means for its message and its channel. It has a function for each phase in which an attempt can fail; in each of
// these, the first case that applies decides.
func (f *failure) rule() ruling {
	switch {
	case f.stop != nil:
		return f.ruleOnStop()
	case !f.hasEntered:
		return f.ruleBeforeRequest()
	case f.verdict == messaging.Refused:
		return f.ruleOnRefusal()
	default:
		return f.ruleAfterRequest()
	}
}

// holdBack has the message wait with all other messages of the channel, and probe it.
func (f *failure) holdBack() ruling {
	return ruling{action: actionSnooze, messageWait: f.wait, channel: effectHeldBack}
}

// retry counts the failure, because it may be the message's own.
func (f *failure) retry(effect channelEffect) ruling {
	return ruling{action: actionRetry, messageWait: f.retryWait, channel: effect}
}

// snooze has this message alone wait. The failure shows nothing about the channel.
func snooze(wait time.Duration) ruling {
	return ruling{action: actionSnooze, messageWait: wait, channel: effectNone}
}

// ruleOnStop is for a request that the outbox did not let begin, even if the service had refused the token of a request before it.
func (f *failure) ruleOnStop() ruling {
	switch f.stop {
	case ErrExpired: //nolint:errorlint // stopOf returns the errors themselves
		return ruling{action: actionCancel, channel: effectNone}
	case errClaimOld, errAbandoned, errJobLost: // another attempt may have the job
		return snooze(0)
	case errHalted: // the channel was paused while the attempt was under way
		return snooze(haltLength)
	default: // errUnconfirmed: the database may be back soon
		return snooze(f.wait)
	}
}

// ruleBeforeRequest is for a request that never began for another reason, so that the message was not sent, regardless of the error.
func (f *failure) ruleBeforeRequest() ruling {
	switch {
	case f.isDenied: // by a guard, or because it is invalid
		return ruling{action: actionCancel, channel: effectNone}
	case f.isPostponed: // by a guard
		return snooze(f.guardWait)
	case f.breakerOpen, f.is(messaging.ErrBreakerOpen): // earlier messages failed
		return f.holdBack()
	case f.concernsAccount: // no token can be had
		return f.holdBack()
	case f.is(context.Canceled): // the process stops, or the turn at the rate limit came too late
		return snooze(0)
	case f.is(context.DeadlineExceeded): // the attempt took too long
		return snooze(f.wait)
	case f.clientCannotSend: // no other message can be sent either
		return f.holdBack()
	case f.isRetryable: // the attempt failed in a way that may pass
		return snooze(f.wait)
	default: // a function of the program panicked, or returned an error that says nothing
		return f.retry(effectNone)
	}
}

// ruleOnRefusal is for a message that the service refused.
func (f *failure) ruleOnRefusal() ruling {
	switch {
	case f.is(messaging.ErrDuplicate): // the service has the message already
		return ruling{action: actionLookUp, channel: effectNone}
	case f.concernsAccount && f.isAmbiguous: // the service may have this message, so another probes
		return ruling{action: actionCancel, channel: effectSuspected}
	case f.concernsAccount: // the service would refuse every message
		return f.holdBack()
	case f.isRetryable && f.breakerOpen: // the service refuses one message after the other
		return f.holdBack()
	case f.isRetryable && f.concernsRecipient: // messages to others can be sent
		return f.retry(effectWorks)
	case f.isRetryable && f.is(messaging.ErrRateLimited): // the limit is for all messages
		return f.holdBack()
	case f.isRetryable: // the service may refuse this message alone
		return f.retry(effectNone)
	case f.mayConcernAccount(): // another message probes, and then this one is sent again
		return ruling{action: actionSnooze, messageWait: time.Second, channel: effectSuspected}
	default: // the service works, and refuses this message for good
		return ruling{action: actionCancel, channel: effectWorks}
	}
}

// ruleAfterRequest is for a request that may have begun, and that the service did not refuse: the message was not sent, or its outcome is unknown.
func (f *failure) ruleAfterRequest() ruling {
	isUnsent := f.verdict == messaging.NotSent
	switch {
	case isUnsent && f.breakerOpen: // the message can be sent again, so it can probe
		return f.holdBack()
	case isUnsent: // a single failure may be by chance
		return f.retry(effectNone)
	case f.breakerOpen: // the message must be looked up, so another probes
		return ruling{action: actionLookUp, channel: effectSuspected}
	default:
		return ruling{action: actionLookUp, channel: effectNone}
	}
}

// recordedVerdict returns the verdict in the metadata.
func (f *failure) recordedVerdict(messageAction action) string {
	isAnswered := f.hasEntered && f.stop == nil // a refused token says nothing about the message
	switch {
	case messageAction == actionLookUp:
		return verdictUnknown
	case isAnswered && f.verdict == messaging.Refused:
		return verdictRefused
	default:
		return verdictNotSent
	}
}
