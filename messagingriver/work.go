package messagingriver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/fence"
)

// messageWorker works the jobs of messages.
type messageWorker[TTx any] struct {
	river.WorkerDefaults[messageArgs]

	outbox *Outbox[TTx]
}

// Timeout implements river.Worker. An attempt ends before it.
func (w *messageWorker[TTx]) Timeout(*river.Job[messageArgs]) time.Duration {
	return w.outbox.options.SendTimeout + attemptSlack
}

// River lets a job run for attemptSlack longer than SendTimeout, and rescues it rescueSlack after SendTimeout.
const (
	attemptSlack = 10 * time.Second
	rescueSlack  = 15 * time.Second
)

// NextRetry implements river.Worker. A rescued job is worked again at once.
func (w *messageWorker[TTx]) NextRetry(job *river.Job[messageArgs]) time.Time {
	return time.Now().Add(job.Args.retryAfter)
}

// Work implements river.Worker.
func (w *messageWorker[TTx]) Work(ctx context.Context, job *river.Job[messageArgs]) error {
	r := w.outbox.work(ctx, job)
	return w.outbox.apply(ctx, job, r)
}

// work works a job and returns what follows for it.
func (o *Outbox[TTx]) work(ctx context.Context, job *river.Job[messageArgs]) result {
	var m metadata
	if err := json.Unmarshal(job.Metadata, &m); err != nil {
		return finalResult(rivertype.JobStateDiscarded, "the metadata of the job cannot be read")
	}
	if m.ResolvedSent {
		return resolvedResult()
	}
	if state := m.decidedState(); state != "" {
		return o.decidedResult(&m, state)
	}
	if m.Verdict == verdictAccepted { // the outcome was recorded late
		return finalResult(rivertype.JobStateCompleted, "")
	}
	fetches := len(job.AttemptedBy)
	if o.doubt.isInDoubt(&m, fetches) {
		return o.lookUp(ctx, job, &m)
	}
	r := o.workUnsent(ctx, job, &m)
	o.doubt.coverFetches(r.facts, fetches)
	return r
}

// workUnsent works a job whose message no earlier attempt may have sent.
func (o *Outbox[TTx]) workUnsent(ctx context.Context, job *river.Job[messageArgs], m *metadata) result {
	if m.Cancelled {
		return finalResult(rivertype.JobStateCancelled, "it was cancelled by a person")
	}
	if job.Queue == queueLookups { // a late outcome proved that the message was not sent
		r := result{state: rivertype.JobStateScheduled, wait: time.Second, queue: queueOf(job.Args.Channel), facts: facts{}}
		r.facts[keyUnknownSince] = nil // a later doubt begins anew
		r.facts[keyUnknownReason] = ""
		return r
	}
	// PauseCampaign may have come during an earlier attempt, even if its process was killed. The maintenance pauses probes.
	mayBePaused := len(job.AttemptedBy) > 1 && !isProbe(job)
	if mayBePaused {
		isPaused, err := o.isCampaignPaused(ctx, o.database.executor, m.Campaign)
		if err != nil {
			r := waitResult(time.Second, "the database did not say whether its campaign is paused: "+err.Error())
			return unsentResult(job, m, r)
		}
		if isPaused {
			return unsentResult(job, m, waitResult(campaignInterval, "its campaign is paused"))
		}
	}
	return o.sendJob(ctx, job, m)
}

// reasonUnknownKey is the reason, followed by an error that names the key, of a message that a later version has enqueued.
const reasonUnknownKey = "a worker of another version can read the message: "

// sendJob sends the message of a job, if this version can read it.
func (o *Outbox[TTx]) sendJob(ctx context.Context, job *river.Job[messageArgs], m *metadata) result {
	c, isKnown := o.channels[job.Args.Channel]
	if !isKnown {
		return unsentResult(job, m, waitResult(time.Minute, "a worker of another version knows the channel"))
	}
	a := o.newAttempt(c, job, m)
	hasExpired := job.Queue == queueExpired || a.hasExpired() // by the clock of the database, or of this process
	if hasExpired {                                           // whether or not this version can read it
		return o.judge(ctx, a, messaging.Receipt{}, ErrExpired)
	}
	message, err := c.decode(job.Args.Message)
	// The errors of decode name keys, but contain no content.
	if errors.Is(err, messaging.ErrUnknownKey) {
		return unsentResult(job, m, waitResult(time.Minute, reasonUnknownKey+err.Error()))
	}
	if err != nil {
		r := finalResult(rivertype.JobStateDiscarded, "the job holds no message that this version can read: "+err.Error())
		return unsentResult(job, m, r)
	}
	return o.send(ctx, a, message)
}

// send makes an attempt to send a message.
func (o *Outbox[TTx]) send(ctx context.Context, a *attempt, message messaging.Message) result {
	if err := a.check(); err != nil { // before a guard is asked
		return o.judge(ctx, a, messaging.Receipt{}, err)
	}
	// A request that has begun is not interrupted when the process stops: its outcome would be unknown.
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	abandon := func() {
		if a.progress.abandon() {
			cancel()
		}
	}
	defer context.AfterFunc(ctx, abandon)()
	defer context.AfterFunc(o.process.untilStop(), abandon)() //nolint:contextcheck // it ends when the outbox stops
	defer time.AfterFunc(maxClaimAge, abandon).Stop()
	isGuarded := !a.metadata.Unguarded
	receipt, err := a.channel.send(fence.With(sendCtx, a.enter), message, isGuarded)
	return o.judge(ctx, a, receipt, err)
}

// judge returns what follows from an attempt.
func (o *Outbox[TTx]) judge(ctx context.Context, a *attempt, receipt messaging.Receipt, err error) result {
	if a.mayHaveLostJob(err) {
		return o.giveBack(ctx, a)
	}
	breaker := o.client.Breaker(a.channel.channel)
	rule := a.classify(err, breaker.Open)
	rule.channelWait = max(rule.channelWait, time.Until(breaker.Until))
	rule = o.settleChannel(ctx, a, rule)
	return o.resultAfter(ctx, a, rule, receipt)
}

// settleChannel begins, prolongs or ends the pause of the channel after an attempt. It returns the ruling with the wait of a message that probes
// again.
func (o *Outbox[TTx]) settleChannel(ctx context.Context, a *attempt, rule ruling) ruling {
	o.updatePause(ctx, a, rule)
	if !a.isFailedProbe(rule) {
		return rule
	}
	nextProbe := o.pauseOf(a.job.Args.Channel).fail(ctx, rule.reason, rule.channelWait)
	if rule.channel == effectHeldBack { // the same message probes again
		rule.messageWait = nextProbe
	}
	return rule
}

// updatePause begins or ends the pause of the channel after an attempt.
func (o *Outbox[TTx]) updatePause(ctx context.Context, a *attempt, rule ruling) {
	pause := o.pauseOf(a.job.Args.Channel)
	isProbing := isProbe(a.job) // the channel is paused already
	needsPause := rule.channel == effectSuspected || rule.channel == effectHeldBack
	switch {
	case !isProbing && needsPause:
		a.channel.halt.begin()
		pause.begin(ctx, rule.reason, rule.channelWait)
	case isProbing && rule.channel == effectWorks:
		a.channel.halt.end()
		pause.end(ctx)
	}
}

// isFailedProbe reports whether an attempt probed its channel, which stays paused: it is held back, or the request did not show that the service
// works.
func (a *attempt) isFailedProbe(rule ruling) bool {
	if !isProbe(a.job) || rule.channel == effectWorks {
		return false
	}
	return rule.channel == effectHeldBack || a.progress.hasEntered()
}

// giveBack returns what follows for a job after an attempt that sent nothing and may have lost the job to another attempt.
func (o *Outbox[TTx]) giveBack(ctx context.Context, a *attempt) result {
	age := uptime() - a.claimedAt
	// Another attempt has the job: then this snooze changes no fact. Or the queue is paused: allowRequest has begun a halt, and if River hands the
	// job out again before it learns of the pause, the next attempt ends with errHalted and waits for haltLength.
	if age < maxClaimAge {
		return lostResult(0)
	}
	reason := fmt.Sprintf("no request could begin within %v: a guard, the rate limit or the process took longer", maxClaimAge)
	o.options.Logger.WarnContext(ctx, "messagingriver: the message waits", "job", a.job.ID, "reason", reason, "took", age.Round(time.Second))
	if age >= o.options.SendTimeout+rescueSlack-maxClockDifference { // River may have given the job to another attempt
		return lostResult(time.Second)
	}
	r := waitResult(time.Second, reason)
	a.settleMark(r.facts)
	a.metadata.recordNotSent(r.facts)
	return r
}

// resultAfter returns what follows for a job from the ruling on an attempt. A message that was resolved as Sent meanwhile is completed.
func (o *Outbox[TTx]) resultAfter(ctx context.Context, a *attempt, rule ruling, receipt messaging.Receipt) result {
	var r result
	if rule.action == actionComplete {
		r = acceptedResult(receipt)
	} else {
		r = a.resultOf(rule, o.options.SettleFor)
		isLast := a.progress.hasEntered() || r.isFinal() // another attempt would notice that the message was resolved
		if isLast && o.isResolvedSent(ctx, a.job) {      // such as by a delivery report that came before the response
			r = resolvedResult()
		}
	}
	if a.progress.hasEntered() {
		r.facts[keyRequested] = true
	}
	if rule.action != actionLookUp { // otherwise the mark keeps the message in doubt
		a.settleMark(r.facts)
	}
	return r
}

// resultOf returns what follows from the ruling on an attempt whose message was not accepted.
func (a *attempt) resultOf(rule ruling, settleFor time.Duration) result {
	var r result
	switch rule.action {
	case actionLookUp:
		r = a.resultOfUnknown(rule, settleFor)
	case actionCancel:
		r = finalResult(rivertype.JobStateCancelled, rule.reason)
	case actionRetry:
		r = a.resultOfCountedFailure(rule)
	default: // actionSnooze
		r = waitResult(rule.messageWait, rule.reason)
		r.keepsProbing = isProbe(a.job) && rule.channel == effectHeldBack
	}
	r.facts[keyVerdict] = rule.recordedVerdict
	r.facts[keyClasses] = rule.classes
	return r
}

// resultOfUnknown has an SMS that may have been sent looked up, for settleFor, and discards a chat-app message.
func (a *attempt) resultOfUnknown(rule ruling, settleFor time.Duration) result {
	var r result
	if canBeLookedUp(a.job) {
		r = lookupResult(firstLookup, rule.reason)
	} else {
		r = finalResult(rivertype.JobStateDiscarded, rule.reason)
	}
	now := time.Now()
	r.facts[keyUnknownSince] = now
	r.facts[keyUnknownUntil] = now.Add(settleFor)
	r.facts[keyUnknownReason] = rule.reason
	r.facts[keyOnlyRequest] = rule.isOnlyRequest
	return r
}

// resultOfCountedFailure has another attempt made, or discards the message after too many failures.
func (a *attempt) resultOfCountedFailure(rule ruling) result {
	failures := a.metadata.Failures + 1
	var r result
	if failures < cmp.Or(a.metadata.MaxAttempts, 1) {
		r = retryResult(max(rule.messageWait, backoff(failures)), rule.reason)
	} else {
		r = finalResult(rivertype.JobStateDiscarded, rule.reason)
	}
	r.facts[keyFailures] = failures
	return r
}

// backoff is how long a message waits after its n-th failure. It is about as long as for River's jobs.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}
