package messagingriver

import (
	"context"
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
}

// classify returns what the error of an attempt means. breakerOpen reports whether the breaker of the channel is open after it.
func (a *attempt) classify(err error, breakerOpen bool) ruling {
	if err == nil {
		return ruling{action: actionComplete, channel: effectWorks, recordedVerdict: verdictAccepted}
	}
	f := newFailure(err, a.progress.hasEntered(), breakerOpen)
	effect := f.channelEffect()
	messageAction, messageWait := f.messageAction(effect)
	return ruling{
		action:          messageAction,
		messageWait:     messageWait,
		channel:         effect,
		channelWait:     f.wait,
		recordedVerdict: f.recordedVerdict(messageAction),
		reason:          f.reason(),
		classes:         f.classes(),
	}
}

// channelEffect returns what a failed attempt shows about its channel. In this and the functions below, the first case that applies decides.
func (f *failure) channelEffect() channelEffect {
	switch {
	case !f.hasEntered:
		return f.unsentEffect()
	case f.verdict == messaging.Refused:
		return f.refusedEffect()
	case !f.breakerOpen: // a single failure may be by chance
		return effectNone
	case f.verdict == messaging.NotSent: // the message can be sent again, so it can probe
		return effectHeldBack
	default: // the message must be looked up, so another probes
		return effectSuspected
	}
}

// unsentEffect is channelEffect for an attempt whose request never began.
func (f *failure) unsentEffect() channelEffect {
	switch {
	case f.stop != nil, f.isDenied, f.isPostponed: // the outbox, the client or a guard decided about this message alone
		return effectNone
	case f.breakerOpen, f.is(messaging.ErrBreakerOpen): // earlier messages failed
		return effectHeldBack
	case f.concernsAccount: // no token can be had
		return effectHeldBack
	case f.is(context.Canceled), f.is(context.DeadlineExceeded): // the attempt was ended from outside
		return effectNone
	case f.clientCannotSend: // no other message can be sent either
		return effectHeldBack
	default: // the failure may pass, or a function of the program failed
		return effectNone
	}
}

// refusedEffect is channelEffect for a message that the service refused.
func (f *failure) refusedEffect() channelEffect {
	switch {
	case f.is(messaging.ErrDuplicate): // the message is looked up
		return effectNone
	case f.concernsAccount && f.isAmbiguous: // the service may have this message, so another probes
		return effectSuspected
	case f.concernsAccount: // the service would refuse every message
		return effectHeldBack
	case f.isRetryable && f.breakerOpen: // the service refuses one message after the other
		return effectHeldBack
	case f.isRetryable && f.concernsRecipient: // messages to others can be sent
		return effectWorks
	case f.isRetryable && f.is(messaging.ErrRateLimited): // the limit is for all messages
		return effectHeldBack
	case f.isRetryable: // the service may refuse this message alone
		return effectNone
	case f.mayConcernAccount(): // another message shows whether the service works
		return effectSuspected
	default: // the service works, and refuses this message for good
		return effectWorks
	}
}

// messageAction returns what happens to the message of a failed attempt, and how long it waits, if it does.
func (f *failure) messageAction(effect channelEffect) (action, time.Duration) {
	switch {
	case effect == effectHeldBack: // it waits with all other messages of the channel
		return actionSnooze, f.wait
	case !f.hasEntered:
		return f.unsentAction()
	case f.verdict == messaging.Refused:
		return f.refusedAction()
	case f.verdict == messaging.NotSent: // the failure counts, because it may be the message's own
		return actionRetry, f.retryWait
	default: // the outcome is unknown
		return actionLookUp, 0
	}
}

// unsentAction is messageAction for an attempt whose request never began, so that the message was not sent, regardless of the error.
func (f *failure) unsentAction() (action, time.Duration) {
	switch {
	case f.stop != nil:
		return f.stopAction()
	case f.isDenied: // by a guard, or because it is invalid
		return actionCancel, 0
	case f.isPostponed: // by a guard
		return actionSnooze, f.guardWait
	case f.is(context.Canceled): // the process stops, or the turn at the rate limit came too late
		return actionSnooze, 0
	case f.isRetryable, f.is(context.DeadlineExceeded): // the attempt failed in a way that may pass, or took too long
		return actionSnooze, f.wait
	default: // a function of the program panicked, or returned an error that says nothing
		return actionRetry, f.retryWait
	}
}

// stopAction is messageAction for an attempt whose request the outbox did not let begin.
func (f *failure) stopAction() (action, time.Duration) {
	switch f.stop {
	case ErrExpired: //nolint:errorlint // stopOf returns the errors themselves
		return actionCancel, 0
	case errOutdated: // another attempt may have the job
		return actionSnooze, 0
	case errHalted: // this process paused the channel while the attempt was under way
		return actionSnooze, haltLength
	default: // errUnconfirmed: the database may be back soon
		return actionSnooze, f.wait
	}
}

// refusedAction is messageAction for a message that the service refused.
func (f *failure) refusedAction() (action, time.Duration) {
	switch {
	case f.is(messaging.ErrDuplicate): // the service has the message already
		return actionLookUp, 0
	case f.isRetryable: // this message may be accepted later
		return actionRetry, f.retryWait
	case f.mayConcernAccount(): // another message probes, and then this one is sent again
		return actionSnooze, time.Second
	default: // the service refuses this message for good
		return actionCancel, 0
	}
}

// recordedVerdict returns the verdict in the metadata.
func (f *failure) recordedVerdict(messageAction action) string {
	switch {
	case messageAction == actionLookUp:
		return verdictUnknown
	case f.hasEntered && f.verdict == messaging.Refused:
		return verdictRefused
	default:
		return verdictNotSent
	}
}
