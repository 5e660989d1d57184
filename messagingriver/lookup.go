package messagingriver

import (
	"context"
	"errors"
	"fmt"
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

// canBeLookedUp reports whether the channel of a message has a listing.
func canBeLookedUp(job *river.Job[messageArgs]) bool {
	return job.Args.Channel == messaging.ChannelSMS.String()
}

// doubt is the doubt about a message whose outcome is unknown.
type doubt struct {
	since  time.Time // when the outcome became unknown
	reason string    // why, or "" if no process recorded it
	isNew  bool      // the metadata has neither yet
	// isOfOnlyRequest reports whether the message has had a single request, so that a row that is refused is of that request. The service may also
	// list a request that it throttled. It is false if a process died and recorded nothing, even if the message has had a single request.
	isOfOnlyRequest bool
}

// doubtOf returns the doubt about a message. It is new if the process that left it died and recorded nothing. Then a reason in the metadata is that
// of an earlier doubt, before a person had the message sent again.
func doubtOf(m *metadata) doubt {
	if m.UnknownSince.IsZero() {
		return doubt{since: time.Now(), isNew: true}
	}
	return doubt{since: m.UnknownSince, reason: m.UnknownReason, isOfOnlyRequest: m.OnlyRequest}
}

// lookUp finds out whether a message in doubt was sent. It sends nothing.
func (o *Outbox[TTx]) lookUp(ctx context.Context, job *river.Job[messageArgs], m *metadata) result {
	d := doubtOf(m)
	r := o.makeLookup(ctx, job, m, d)
	if d.isNew {
		r.facts[keyUnknownSince] = d.since
		r.facts[keyUnknownReason] = d.reason
		r.facts[keyRequested] = true
		r.facts[keyOnlyRequest] = d.isOfOnlyRequest
	}
	hasFoundOut := r.state == rivertype.JobStateCompleted || r.state == rivertype.JobStateCancelled
	if hasFoundOut {
		o.doubt.endDoubt(r.facts, m)
	} else {
		o.doubt.keepDoubt(r.facts)
	}
	return r
}

// makeLookup makes one lookup, if the message can be looked up. The result has a verdict only if it is known: the process that sent the message
// may still record one.
func (o *Outbox[TTx]) makeLookup(ctx context.Context, job *river.Job[messageArgs], m *metadata, d doubt) result {
	if !canBeLookedUp(job) {
		return o.awaitLateOutcome(m, d)
	}
	message, err := o.channels[job.Args.Channel].decode(job.Args.Message)
	if errors.Is(err, messaging.ErrUnknownKey) {
		return o.resultOfLookup(d, fmt.Errorf("the outcome is unknown, and %s%w", reasonUnknownKey, err))
	}
	if err != nil {
		const reason = "the outcome is unknown, and the job holds no message that this version can read"
		return finalResult(rivertype.JobStateDiscarded, reason)
	}
	receipt, err := o.settleOnce(ctx, message.(sms.Message))
	if err == nil {
		return acceptedResult(receipt)
	}
	if o.isResolvedSent(ctx, job) {
		return resolvedResult()
	}
	r := o.resultOfLookup(d, err)
	r.facts[keyClasses] = classesOf(err)
	return r
}

// resultOfLookup returns what follows from a lookup that did not find an accepted message: another lookup, unless the only request was refused, or
// enough were made.
func (o *Outbox[TTx]) resultOfLookup(d doubt, err error) result {
	reason := reasonOf(err)
	isRefused := messaging.VerdictOf(err) == messaging.Refused
	if isRefused && d.isOfOnlyRequest {
		r := finalResult(rivertype.JobStateCancelled, reason)
		r.facts[keyVerdict] = verdictRefused
		return r
	}
	switch {
	case d.reason != "":
		reason = d.reason + "; then " + reasonAfterAttempt(err)
	case isRefused: // the text of the error would say that the message was not sent
		reason = "the outcome is unknown; " + reasonAfterAttempt(err)
	}
	limit := o.options.SettleFor
	if !isRefused && !isAbsence(err) {
		limit += unreachableFor
	}
	age := time.Since(d.since)
	if age >= limit {
		return finalResult(rivertype.JobStateDiscarded, reason)
	}
	interval := min(max(age/2, firstLookup), maxLookupInterval)
	interval = min(interval, limit-age) // the last lookup is at the limit
	r := lookupResult(interval, reason)
	r.facts[keyUnknownUntil] = d.since.Add(limit)
	return r
}

// reasonAfterAttempt returns what a lookup adds to the reason of the attempt, which says already that the outcome is unknown.
func reasonAfterAttempt(err error) string {
	switch {
	case errors.Is(err, messaging.ErrNotListed):
		return "no message with this reference ID is listed"
	case errors.Is(err, messaging.ErrFilterIgnored):
		return "only other messages are listed"
	case messaging.VerdictOf(err) == messaging.Refused:
		return "a request is listed as refused, which may be an earlier one"
	default:
		return reasonOf(err)
	}
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
func (o *Outbox[TTx]) awaitLateOutcome(m *metadata, d doubt) result {
	const reason = "the outcome is unknown: the process that sent it recorded none, and the channel has no listing"
	isRecent := time.Since(d.since) < o.options.SendTimeout
	var r result
	if m.Verdict != verdictUnknown && isRecent {
		r = lookupResult(o.options.SendTimeout, reason)
		r.facts[keyUnknownUntil] = time.Now().Add(o.options.SendTimeout)
	} else {
		r = finalResult(rivertype.JobStateDiscarded, reason)
	}
	r.facts[keyClasses] = nil // of an earlier attempt
	return r
}
