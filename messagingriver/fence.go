package messagingriver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
)

// attempt is an attempt to send the message of a job.
type attempt struct {
	channel  channel
	job      *river.Job[messageArgs]
	metadata *metadata
	// claimedAt is when River fetched the job, as uptime.
	claimedAt time.Duration
	// token identifies the attempt in the metadata of the job.
	token string
	// markNow writes the mark of the attempt on PostgreSQL. It returns an error if the request must not begin.
	markNow func(ctx context.Context, a *attempt) error

	isMarked   bool         // whether the mark was written
	markFailed bool         // whether the statement of a mark failed: the database may have written the mark nevertheless
	progress   atomic.Int32 // waiting, entered or abandoned
}

func (o *Outbox[TTx]) newAttempt(c channel, job *river.Job[messageArgs], m *metadata) *attempt {
	// The time since River fetched the job counts. It is negative if the clock of the database is ahead.
	age := max(0, time.Since(*job.AttemptedAt))
	markNow := o.mark
	if !o.database.isPostgres { // a single process sends
		markNow = o.checkUnresolved
	}
	return &attempt{
		channel:   c,
		job:       job,
		metadata:  m,
		claimedAt: uptime() - age,
		token:     rand.Text(),
		markNow:   markNow,
	}
}

// The progress of an attempt. An attempt that has entered cannot be abandoned, and an abandoned attempt cannot enter.
const (
	waiting   int32 = iota
	entered         // a request may have begun
	abandoned       // no request begins
)

// hasEntered reports whether a request may have begun.
func (a *attempt) hasEntered() bool { return a.progress.Load() == entered }

// abandon keeps the attempt from beginning a request. It reports false if a request may have begun already.
func (a *attempt) abandon() bool {
	return a.progress.CompareAndSwap(waiting, abandoned) || a.progress.Load() == abandoned
}

var (
	errExpired  = errors.New("the message has expired")
	errOutdated = errors.New("the claim is too old, or the job was given to another worker")
	errUnmarked = errors.New("the attempt cannot be marked in the database")
	errHalted   = errors.New("the channel was just paused")
)

// maxClaimAge is how long after a job was fetched a request may begin. River rescues the job later than that and SendTimeout.
const maxClaimAge = 10 * time.Second

// isClaimOld reports whether River may soon give the job to another attempt, or may have done so.
func (a *attempt) isClaimOld() bool { return uptime()-a.claimedAt >= maxClaimAge }

// mayHaveLostJob reports whether an attempt that sent nothing may have lost its job to another attempt. It must then record nothing: River
// would write its result over the result of the other attempt.
func (a *attempt) mayHaveLostJob(err error) bool {
	if a.isMarked || a.hasEntered() {
		return false
	}
	return errors.Is(err, errOutdated) || a.isClaimOld()
}

// recordUnsent records that the attempt made no request, in case the database wrote its mark although the statement failed. It names only
// tokens of this attempt and of an earlier one that is not in doubt. So it cannot end the doubt about another attempt, even if River writes it
// after that attempt has begun.
func (a *attempt) recordUnsent(f facts) {
	if !a.markFailed || a.hasEntered() {
		return
	}
	f[keyUnsent] = a.token
	f[keyEnded] = a.metadata.BegunToken // the mark in the database may still be that of the earlier attempt
}

func (a *attempt) hasExpired() bool {
	expires := a.metadata.Expires
	return !expires.IsZero() && !time.Now().Before(expires)
}

// check returns an error if it is too late for the request to begin.
func (a *attempt) check() error {
	if a.hasExpired() {
		return errExpired
	}
	if !isProbe(a.job) && a.channel.halt.isOn() {
		return errHalted
	}
	if a.isClaimOld() {
		return errOutdated
	}
	return nil
}

// enter returns nil if the request may begin. The client calls it directly before the request, after its limits of concurrency and rate.
func (a *attempt) enter(ctx context.Context) error {
	if err := a.check(); err != nil {
		return err
	}
	if err := a.markNow(ctx, a); err != nil {
		return err
	}
	if err := a.check(); err != nil { // the process may have been frozen meanwhile
		return err
	}
	if !a.progress.CompareAndSwap(waiting, entered) && !a.hasEntered() {
		return errOutdated
	}
	return nil
}

// checkUnresolved returns an error if the message of an attempt was resolved as Sent. It is for SQLite, where attempts write no marks.
func (o *Outbox[TTx]) checkUnresolved(ctx context.Context, a *attempt) error {
	if o.isResolvedSent(ctx, a.job) {
		return errOutdated
	}
	return nil
}

// mark writes into the job that the request of an attempt begins, provided that no other attempt has the job and the message was not
// resolved as Sent. The database commits the mark before the request, so a rescued job without a mark was not sent.
func (o *Outbox[TTx]) mark(ctx context.Context, a *attempt) error {
	if err := o.marks.do(ctx, a, o.writeMarks); err != nil {
		a.markFailed = true
		return fmt.Errorf("%w: %w", errUnmarked, err)
	}
	if !a.isMarked {
		return errOutdated
	}
	return nil
}

// writeMarks writes the marks of attempts in one statement, and sets isMarked for those that still have their jobs.
func (o *Outbox[TTx]) writeMarks(ctx context.Context, attempts []*attempt) error {
	ids := make([]int64, len(attempts))
	times := make([]time.Time, len(attempts))
	tokens := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.job.ID
		times[i] = *a.job.AttemptedAt // it tells this attempt from others
		tokens[i] = a.token
	}
	var marked []int64
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxClaimAge/2)
	defer cancel()
	_, err := o.database.scan(ctx, o.database.executor, []any{&marked}, o.database.statements.writeMarks, ids, times, tokens)
	if err != nil {
		return err
	}
	isMarked := make(map[int64]bool, len(marked))
	for _, id := range marked {
		isMarked[id] = true
	}
	for _, a := range attempts {
		a.isMarked = isMarked[a.job.ID]
	}
	return nil
}
