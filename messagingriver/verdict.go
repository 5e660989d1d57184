package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// action is what a verdict has the outbox do with a message.
type action int

const (
	complete     action = iota
	cancel              // for good
	retry               // the failure is the message's own and counts as an attempt
	snooze              // the message waits, which costs no attempt
	pauseChannel        // like snooze, for all messages of the channel
	lookUp              // the message may have been sent
)

// verdict is what the error of an attempt means, or its success. resultOf turns it into a result.
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
	// probesAgain reports whether the message stays the one that probes the paused channel.
	probesAgain bool
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
		v.action = retry
		if breakerOpen {
			v.haltChannel()
		}
	case messaging.Refused:
		v.classifyRefused(err, breakerOpen)
	default:
		v.action = lookUp
		v.recorded = unknown
		v.pauses = breakerOpen
	}
	return v
}

// refusalCause is why the service refused a message.
type refusalCause int

const (
	messageRefused   refusalCause = iota // the service works, and refuses this message for good
	messageKnown                         // the service has the message already
	messageDelayed                       // this message alone may be accepted later
	channelHalted                        // the account, a rate limit or trouble of the service concerns all messages
	channelSuspected                     // a status such as 403 may be about the message or about the account
	accountAmbiguous                     // the account is refused, but the service may have the message
)

// refusalCauseOf returns why the service refused a message. The first cause that applies decides.
func refusalCauseOf(err error, breakerOpen bool) refusalCause {
	_, isRetryable := messaging.Retryable(err)
	isAccount := isAccountFailure(err)
	isAmbiguous := false // the service may have the message although it refused it
	isForRecipient := false
	if failure, isError := errors.AsType[*messaging.Error](err); isError {
		isAmbiguous = failure.Ambiguous()
		isForRecipient = failure.Code == tooManyToRecipient
	}
	isChannelLimited := errors.Is(err, messaging.ErrRateLimited) && !isForRecipient
	concernsChannel := breakerOpen || isAccount || isChannelLimited
	switch {
	case errors.Is(err, messaging.ErrDuplicate):
		return messageKnown
	case isAccount && !isAmbiguous:
		return channelHalted
	case isRetryable && concernsChannel:
		return channelHalted
	case isRetryable:
		return messageDelayed
	case breakerOpen && !isAmbiguous:
		return channelSuspected
	case isAccount:
		return accountAmbiguous
	default:
		return messageRefused
	}
}

// classifyRefused classifies a refusal by the service.
func (v *verdict) classifyRefused(err error, breakerOpen bool) {
	v.recorded = refused
	switch refusalCauseOf(err, breakerOpen) {
	case messageKnown:
		v.action = lookUp
		v.recorded = unknown
	case messageDelayed:
		v.action = retry
	case channelHalted:
		v.haltChannel()
	case channelSuspected: // another message probes
		v.action = snooze
		v.pauses = true
		v.retryAfter = time.Second
	case accountAmbiguous:
		v.action = cancel
		v.pauses = true
	default: // messageRefused
		v.action = cancel
		v.serviceWorks = true
	}
}

// haltChannel has all messages of the channel wait.
func (v *verdict) haltChannel() {
	v.action = pauseChannel
	v.pauses = true
	v.retryAfter = min(v.retryAfter, maxWait)
}

// unsentCause is why the request of an attempt never began.
type unsentCause int

const (
	programFailed   unsentCause = iota // a function of the program panicked, or returned an error that says nothing
	messageExpired                     // it is too late for the message
	claimTooOld                        // another attempt may have the job
	channelPaused                      // this process paused the channel while the attempt was under way
	markUncertain                      // the database did not confirm the mark
	messageRejected                    // the message is invalid, or a guard denied it
	guardPostponed                     // a guard wants the message later, or could not decide
	channelHeldBack                    // the circuit breaker is open, the service refused the account, or there are no credentials
	attemptStopped                     // the process stops, or the turn at the rate limit came too late
	outOfTime                          // the attempt took too long, or failed in a way that may pass
)

// unsentCauseOf returns why the request of an attempt never began. The first cause that applies decides.
func unsentCauseOf(err error, breakerOpen bool) unsentCause {
	_, isInvalid := errors.AsType[*messaging.ValidationError](err)
	_, isRetryable := messaging.Retryable(err)
	failure, isError := errors.AsType[*messaging.Error](err)
	isHeldBack := breakerOpen || errors.Is(err, messaging.ErrBreakerOpen) || isAccountFailure(err)
	switch {
	case errors.Is(err, errExpired):
		return messageExpired
	case errors.Is(err, errOutdated):
		return claimTooOld
	case errors.Is(err, errHalted):
		return channelPaused
	case errors.Is(err, errUnmarked):
		return markUncertain
	case isInvalid, errors.Is(err, messaging.ErrDenied):
		return messageRejected
	case isError && errors.Is(err, messaging.ErrPostponed):
		return guardPostponed
	case isHeldBack:
		return channelHeldBack
	case errors.Is(err, context.Canceled):
		return attemptStopped
	case isRetryable, errors.Is(err, context.DeadlineExceeded):
		return outOfTime
	case isError && failure.Verdict == messaging.NotSent: // the client has no credentials for the channel
		return channelHeldBack
	default:
		return programFailed
	}
}

// classifyUnsent classifies an attempt whose request never began, so that the message was not sent, regardless of the error.
func classifyUnsent(err error, breakerOpen bool) verdict {
	after, _ := messaging.Retryable(err)
	wait := min(max(after, time.Second), maxWait)
	switch unsentCauseOf(err, breakerOpen) {
	case messageExpired:
		return verdict{action: cancel, recorded: notSent, reason: errExpired.Error()}
	case claimTooOld:
		return verdict{action: snooze, recorded: notSent, reason: errOutdated.Error()}
	case channelPaused:
		return verdict{action: snooze, recorded: notSent, reason: errHalted.Error(), retryAfter: haltLength}
	case markUncertain:
		return verdict{action: snooze, recorded: notSent, reason: errUnmarked.Error(), retryAfter: wait}
	case messageRejected:
		return verdict{action: cancel, recorded: notSent}
	case guardPostponed:
		return verdict{action: snooze, recorded: notSent, retryAfter: postponement(err)}
	case channelHeldBack:
		return verdict{action: pauseChannel, recorded: notSent, pauses: true, retryAfter: wait}
	case attemptStopped:
		return verdict{action: snooze, recorded: notSent}
	case outOfTime:
		return verdict{action: snooze, recorded: notSent, retryAfter: wait}
	default: // programFailed
		return verdict{action: retry, recorded: notSent, retryAfter: wait}
	}
}

// postponement returns how long a message waits because of a guard: as long as the guard says, or undecidedWait if it could not decide.
func postponement(err error) time.Duration {
	failure, isError := errors.AsType[*messaging.Error](err)
	if !isError || failure.RetryAfter == 0 {
		return undecidedWait
	}
	return failure.RetryAfter
}

// isAccountFailure reports whether the service would refuse every message: the credentials are wrong, or there is no credit.
func isAccountFailure(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance)
}
