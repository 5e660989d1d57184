package messagingriver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/fence"
)

// note is what the metadata of a message's job holds. River writes what an attempt sets in it together with the job's next state, and does
// so even if the job is no longer running: the outcome of a process that was frozen arrives late, and is not lost.
type note struct {
	Campaign    string    `json:"campaign,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	MaxAttempts int       `json:"max_attempts,omitempty"`
	Unguarded   bool      `json:"unguarded,omitempty"`

	// Verdict is that of the last attempt that ended, and Reason why it was not accepted.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Failures is how many attempts count toward MaxAttempts.
	Failures int `json:"failures,omitempty"`
	// EndsAs is the state in which the job ends as soon as OnOutcome can be called for it.
	EndsAs rivertype.JobState `json:"ends_as,omitempty"`
	// UnknownSince is when the outcome became unknown.
	UnknownSince time.Time `json:"unknown_since,omitzero"`

	// Begun is the mark of the attempt whose request began last, and Ended that of the attempt whose outcome was recorded last. They are
	// set on PostgreSQL.
	Begun string `json:"begun,omitempty"`
	Ended string `json:"ended,omitempty"`

	// Rescues is River's count of its rescues, and Answered how many of them a person answered for. Outcomes is how often the job had been
	// fetched when an outcome was recorded last. They decide on SQLite.
	Rescues  int `json:"river:rescue_count,omitempty"`
	Answered int `json:"answered,omitempty"`
	Outcomes int `json:"outcomes,omitempty"`
	// InDoubt is set on SQLite by the first lookup: a lookup is a fetch, too.
	InDoubt bool `json:"in_doubt,omitempty"`

	// Receipt is River's output of the job.
	Receipt *messaging.Receipt `json:"output,omitempty"`
}

// The verdicts of a note. A message that expired or was denied was not sent.
const (
	accepted = "accepted"
	refused  = "refused"
	notSent  = "not sent"
	unknown  = "unknown"
)

// mostFetches is how many fetches of a job River remembers.
const mostFetches = 100

// isInDoubt reports whether the message may have been sent by an attempt whose outcome was not recorded. It must then not be sent.
func (n *note) isInDoubt(job *river.Job[messageArgs], hasFence bool) bool {
	if n.Verdict == unknown {
		return true
	}
	if hasFence {
		return n.Begun != "" && n.Begun != n.Ended
	}
	fetches := len(job.AttemptedBy)
	isRescued := n.Rescues > n.Answered
	isUnrecorded := fetches < mostFetches && fetches-1 != n.Outcomes
	return n.InDoubt || isRescued || isUnrecorded
}

// messageWorker works the jobs of messages.
type messageWorker[TTx any] struct {
	river.WorkerDefaults[messageArgs]

	outbox *Outbox[TTx]
}

// Timeout implements river.Worker. An attempt ends before it.
func (w *messageWorker[TTx]) Timeout(*river.Job[messageArgs]) time.Duration {
	return w.outbox.options.SendTimeout + attemptSlack
}

// attemptSlack is how much longer than SendTimeout River lets a job run, and rescueSlack how much longer until it rescues it.
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
	o := w.outbox
	var n note
	if err := json.Unmarshal(job.Metadata, &n); err != nil {
		return discard(job, errors.New("the metadata of the job cannot be read"))
	}
	if n.EndsAs != "" {
		return o.ended(ctx, job, n.EndsAs, n.Reason)
	}
	if n.Verdict == accepted { // it was recorded late
		return o.ended(ctx, job, rivertype.JobStateCompleted, "")
	}
	if n.isInDoubt(job, o.database.isPostgres) {
		set(ctx, "in_doubt", !o.database.isPostgres)
		return o.lookUp(ctx, job, &n)
	}
	set(ctx, "outcomes", len(job.AttemptedBy))
	if job.Queue == lookups { // a late outcome proved that it was not sent
		o.moveTo(ctx, job, queueOf(job.Args.Channel))
		return river.JobSnooze(0)
	}
	c, isKnown := o.channels[job.Args.Channel]
	if !isKnown {
		return wait(ctx, time.Minute, "a worker of another version knows the channel")
	}
	message, err := c.decode(job.Args.Message)
	if err != nil && strings.Contains(err.Error(), "unknown key ") { // it names the key and no content
		return wait(ctx, time.Minute, "a worker of another version can read the message: "+err.Error())
	}
	if err != nil { // the error may repeat content
		return o.ended(ctx, job, rivertype.JobStateDiscarded, "the job holds no message that this version can read")
	}
	return o.attempt(ctx, c, job, &n, message)
}

// attempt sends a message and returns what becomes of its job.
func (o *Outbox[TTx]) attempt(ctx context.Context, c channel, job *river.Job[messageArgs], n *note, message messaging.Message) error {
	a := o.newAttempt(job, n)
	if err := a.check(); err != nil { // before a guard is asked
		return o.conclude(ctx, c, job, n, a, messaging.Receipt{}, err)
	}
	// A request that has begun is not interrupted when the process stops: its outcome would be unknown.
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	giveUp := func() {
		if a.giveUp() {
			cancel()
		}
	}
	defer context.AfterFunc(ctx, giveUp)()
	defer context.AfterFunc(o.process.stopping(), giveUp)() //nolint:contextcheck // another one
	defer time.AfterFunc(maxClaimAge, giveUp).Stop()
	receipt, err := c.send(fence.With(sending, a.enter), message, !n.Unguarded)
	return o.conclude(ctx, c, job, n, a, receipt, err)
}

// conclude records the outcome of an attempt and returns what River does with the job.
func (o *Outbox[TTx]) conclude(
	ctx context.Context, c channel, job *river.Job[messageArgs], n *note, a *attempt, receipt messaging.Receipt, err error,
) error {
	if a.isMarked {
		set(ctx, "ended", a.token)
	}
	breaker := o.client.Breaker(c.channel)
	v := a.judge(err, breaker.Open)
	isProbe := job.Queue == probesOf(job.Args.Channel)
	if isProbe && v.isResponse {
		o.release(ctx, job.Args.Channel)
	}
	pause := max(v.retryAfter, time.Until(breaker.Until))
	if v.pauses && !isProbe {
		o.hold(ctx, job.Args.Channel, v.reason, pause)
	}
	result := o.result(ctx, job, n, v, receipt, pause, isProbe)
	if isProbe && !v.isResponse {
		o.nextProbe(ctx, job.Args.Channel, pause)
	}
	return result
}

// result records a verdict and returns what River does with the job.
func (o *Outbox[TTx]) result(
	ctx context.Context, job *river.Job[messageArgs], n *note, v verdict, receipt messaging.Receipt, pause time.Duration, isProbe bool,
) error {
	if v.action == lookUp {
		return o.becomeUnknown(ctx, job, v.reason)
	}
	set(ctx, "verdict", v.recorded)
	if v.action == complete {
		recordReceipt(ctx, receipt)
		return o.ended(ctx, job, rivertype.JobStateCompleted, "")
	}
	set(ctx, "reason", v.reason)
	switch v.action {
	case cancel:
		return o.ended(ctx, job, rivertype.JobStateCancelled, v.reason)
	case snooze:
		return river.JobSnooze(v.retryAfter)
	case pauseChannel:
		if isProbe {
			return river.JobSnooze(max(pause, time.Second))
		}
		return river.JobSnooze(max(v.retryAfter, 0)) // it waits in the paused queue
	default: // retry
		failures := n.Failures + 1
		set(ctx, "failures", failures)
		if isProbe { // another message probes meanwhile
			o.moveTo(ctx, job, queueOf(job.Args.Channel))
		}
		if failures >= cmp.Or(n.MaxAttempts, 1) {
			return o.ended(ctx, job, rivertype.JobStateDiscarded, v.reason)
		}
		job.Args.retryAfter = max(v.retryAfter, backoff(failures))
		return errors.New(v.reason)
	}
}

// backoff is how long a message waits after its n-th failure: about as long as River's jobs do.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}

// set sets a member of the job's metadata, which River writes with the job's next state.
func set(ctx context.Context, key string, value any) {
	if text, isText := value.(string); isText {
		value = withoutZeroBytes(text)
	}
	_ = river.MetadataSet(ctx, key, value) // which fails outside of a worker only
}

// wait has a job worked again after a time. Nothing was tried.
func wait(ctx context.Context, after time.Duration, reason string) error {
	set(ctx, "reason", reason)
	return river.JobSnooze(after)
}

// discard has River discard a job: a person decides about it. River compares the row that it gave to the worker.
func discard(job *river.Job[messageArgs], err error) error {
	job.JobRow.MaxAttempts = job.JobRow.Attempt
	return err
}

// withoutZeroBytes returns a text that PostgreSQL can store.
func withoutZeroBytes(text string) string { return strings.ReplaceAll(text, "\x00", "") }

// recordReceipt makes a receipt the output of the job.
func recordReceipt(ctx context.Context, receipt messaging.Receipt) {
	receipt.Raw = nil // it may repeat the number or the text
	encoded, err := json.Marshal(receipt)
	if err != nil {
		return
	}
	var value any
	if json.Unmarshal(encoded, &value) != nil {
		return
	}
	_ = river.RecordOutput(ctx, cleaned(value)) // which fails outside of a worker only
}

// cleaned returns a JSON value whose texts have no zero bytes.
func cleaned(value any) any {
	switch value := value.(type) {
	case string:
		return withoutZeroBytes(value)
	case []any:
		for i := range value {
			value[i] = cleaned(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = cleaned(value[name])
		}
	}
	return value
}

// moveTo has a job continue in another queue. If that fails, it continues in its own.
func (o *Outbox[TTx]) moveTo(ctx context.Context, job *river.Job[messageArgs], queue string) {
	if job.Queue == queue {
		return
	}
	if err := o.database.exec(ctx, "UPDATE JOBS SET queue = $2 WHERE id = $1", job.ID, queue); err != nil {
		o.options.Logger.WarnContext(ctx, "messagingriver: a job cannot be moved", "queue", queue, "error", err)
	}
}

func (o *Outbox[TTx]) newAttempt(job *river.Job[messageArgs], n *note) *attempt {
	// What passed since River fetched the job counts. If the clock of the database is ahead, nothing passed.
	age := max(0, time.Since(*job.AttemptedAt))
	return &attempt{
		id:          job.ID,
		attemptedAt: *job.AttemptedAt,
		claimedAt:   uptime() - age,
		expires:     n.Expires,
		token:       rand.Text(),
		markNow:     o.mark,
	}
}
