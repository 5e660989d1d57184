package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	// firstLookup is how long after an unknown outcome an SMS is looked up first.
	firstLookup = 2 * time.Second
	// maxLookupInterval bounds the time between two lookups.
	maxLookupInterval = 10 * time.Minute
	// unreachableFor is how much longer than SettleFor an SMS is looked up if the lookups themselves fail.
	unreachableFor = 24 * time.Hour
)

// startLookup queues an SMS that may have been sent for a lookup, and discards a chat-app message.
func (o *Outbox[TTx]) startLookup(ctx context.Context, job *river.Job[messageArgs], reason string) error {
	setMetadata(ctx, keyVerdict, unknown)
	setMetadata(ctx, keyReason, reason)
	setMetadata(ctx, keyUnknownSince, time.Now())
	if !canBeLookedUp(job) {
		return o.finish(ctx, job, rivertype.JobStateDiscarded, reason)
	}
	o.moveTo(ctx, job, lookups)
	return river.JobSnooze(firstLookup)
}

// canBeLookedUp reports whether the channel of a message has a listing.
func canBeLookedUp(job *river.Job[messageArgs]) bool {
	return job.Args.Channel == messaging.ChannelSMS.String()
}

// lookUp finds out whether a message in doubt was sent. It sends nothing.
func (o *Outbox[TTx]) lookUp(ctx context.Context, job *river.Job[messageArgs], m *metadata) error {
	// The verdict is set only when it is known: the process that sent the message may still record one.
	if m.UnknownSince.IsZero() {
		m.UnknownSince = time.Now()
		setMetadata(ctx, keyUnknownSince, m.UnknownSince)
	}
	if !canBeLookedUp(job) {
		return o.awaitLateOutcome(ctx, job, m)
	}
	var message sms.Message
	if json.Unmarshal(job.Args.Message, &message) != nil {
		const reason = "the outcome is unknown, and the job holds no message that this version can read"
		return o.finish(ctx, job, rivertype.JobStateDiscarded, reason)
	}
	receipt, err := o.settleOnce(ctx, message)
	if err == nil {
		setMetadata(ctx, keyVerdict, accepted)
		o.setReceipt(ctx, job, receipt)
		return o.finish(ctx, job, rivertype.JobStateCompleted, "")
	}
	if o.isResolvedSent(ctx, job) {
		return o.finishResolved(ctx, job)
	}
	return o.lookUpAgain(ctx, job, m, err)
}

// lookUpAgain schedules another lookup after one that did not find the message, unless the message was refused, or enough were made.
func (o *Outbox[TTx]) lookUpAgain(ctx context.Context, job *river.Job[messageArgs], m *metadata, err error) error {
	reason := reasonOf(err)
	setMetadata(ctx, keyClasses, classesOf(err))
	if messaging.VerdictOf(err) == messaging.Refused {
		m.endDoubt(ctx)
		setMetadata(ctx, keyVerdict, refused)
		return o.finish(ctx, job, rivertype.JobStateCancelled, reason)
	}
	limit := o.options.SettleFor
	if !isAbsence(err) {
		limit += unreachableFor
	}
	age := time.Since(m.UnknownSince)
	if age >= limit {
		return o.finish(ctx, job, rivertype.JobStateDiscarded, reason)
	}
	o.moveTo(ctx, job, lookups)
	interval := min(max(age/2, firstLookup), maxLookupInterval)
	return snoozeWith(ctx, interval, reason)
}

// settleOnce makes one lookup: River schedules the next.
func (o *Outbox[TTx]) settleOnce(ctx context.Context, message sms.Message) (messaging.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, o.options.SendTimeout)
	defer cancel()
	sentLongAgo := time.UnixMilli(0) // the window in which Settle repeats its lookup has ended
	return o.client.SMS.Settle(ctx, message, sentLongAgo)
}

// isAbsence reports whether a lookup worked and did not find the message.
func isAbsence(err error) bool {
	return errors.Is(err, messaging.ErrNotListed) || errors.Is(err, messaging.ErrFilterIgnored)
}

// awaitLateOutcome gives a process that was frozen time to record the outcome of a message that cannot be looked up. Then the message is
// discarded.
func (o *Outbox[TTx]) awaitLateOutcome(ctx context.Context, job *river.Job[messageArgs], m *metadata) error {
	const reason = "the outcome is unknown: the process that sent it recorded none, and the channel has no listing"
	setMetadata(ctx, keyClasses, nil) // of an earlier attempt
	isRecent := time.Since(m.UnknownSince) < o.options.SendTimeout
	if m.Verdict != unknown && isRecent {
		o.moveTo(ctx, job, lookups)
		return snoozeWith(ctx, o.options.SendTimeout, reason)
	}
	return o.finish(ctx, job, rivertype.JobStateDiscarded, reason)
}
