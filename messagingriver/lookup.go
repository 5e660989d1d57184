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

// firstLookup is how long after an unknown outcome an SMS is looked up first, and laterLookups how long at most between two lookups.
const (
	firstLookup  = 2 * time.Second
	laterLookups = 10 * time.Minute
)

// becomeUnknown has an SMS that may have been sent looked up, apart from the messages that wait, and a chat-app message discarded.
func (o *Outbox[TTx]) becomeUnknown(ctx context.Context, job *river.Job[messageArgs], reason string) error {
	set(ctx, "verdict", unknown)
	set(ctx, "reason", reason)
	set(ctx, "unknown_since", time.Now())
	if job.Args.Channel != messaging.ChannelSMS.String() {
		return o.ended(ctx, job, rivertype.JobStateDiscarded, reason)
	}
	o.moveTo(ctx, job, lookups)
	return river.JobSnooze(firstLookup)
}

// lookUp finds out about a message that may have been sent. It sends nothing.
func (o *Outbox[TTx]) lookUp(ctx context.Context, job *river.Job[messageArgs], n *note) error {
	// The verdict is not set before one is found: the process that sent the message may still record one.
	if n.UnknownSince.IsZero() {
		n.UnknownSince = time.Now()
		set(ctx, "unknown_since", n.UnknownSince)
	}
	if job.Args.Channel != messaging.ChannelSMS.String() {
		return o.awaitLateOutcome(ctx, job, n)
	}
	var message sms.Message
	if json.Unmarshal(job.Args.Message, &message) != nil {
		return o.giveUp(ctx, job, "the outcome is unknown, and the job holds no message that this version can read")
	}
	looking, cancel := context.WithTimeout(ctx, o.options.SendTimeout)
	defer cancel()
	// A window that ended long ago makes one lookup decide: River waits for the next one, and not this worker.
	receipt, err := o.client.SMS.Settle(looking, message, time.UnixMilli(0))
	if err == nil {
		set(ctx, "verdict", accepted)
		recordReceipt(ctx, receipt)
		return o.ended(ctx, job, rivertype.JobStateCompleted, "")
	}
	reason := withoutZeroBytes(err.Error())
	if messaging.VerdictOf(err) == messaging.Refused {
		set(ctx, "verdict", refused)
		return o.ended(ctx, job, rivertype.JobStateCancelled, reason)
	}
	age := time.Since(n.UnknownSince)
	limit := o.options.SettleFor
	if hasFailed := !errors.Is(err, messaging.ErrNotListed) && !errors.Is(err, messaging.ErrFilterIgnored); hasFailed {
		limit += 24 * time.Hour
	}
	if age >= limit {
		return o.giveUp(ctx, job, reason)
	}
	o.moveTo(ctx, job, lookups)
	return wait(ctx, min(max(age/2, firstLookup), laterLookups), reason)
}

// awaitLateOutcome gives a process that was frozen time to record the outcome of a message that cannot be looked up.
func (o *Outbox[TTx]) awaitLateOutcome(ctx context.Context, job *river.Job[messageArgs], n *note) error {
	const reason = "the outcome is unknown: the process that sent it recorded none, and the channel has no listing"
	if n.Verdict != unknown && time.Since(n.UnknownSince) < o.options.SendTimeout {
		o.moveTo(ctx, job, lookups)
		return wait(ctx, o.options.SendTimeout, reason)
	}
	return o.giveUp(ctx, job, reason)
}

// giveUp leaves a message whose outcome nobody can know to a person.
func (o *Outbox[TTx]) giveUp(ctx context.Context, job *river.Job[messageArgs], reason string) error {
	return o.ended(ctx, job, rivertype.JobStateDiscarded, reason)
}
