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
	// markNow has the database mark the attempt, if it marks attempts. It returns an error if the request must not begin; see doubtRules.
	markNow func(ctx context.Context, a *attempt) error

	// mark and progress are two states: an attempt can be abandoned while its mark is written, and on SQLite it enters unmarked.
	mark     markState
	progress atomic.Int32 // waiting, entered or abandoned
}

// markState is what an attempt knows about its mark in the database.
type markState int

const (
	unmarked    markState = iota
	maybeMarked           // the statement failed: the database may have written the mark nevertheless
	marked
)

func (o *Outbox[TTx]) newAttempt(c channel, job *river.Job[messageArgs], m *metadata) *attempt {
	// The time since River fetched the job counts. It is negative if the clock of the database is ahead.
	age := max(0, time.Since(*job.AttemptedAt))
	return &attempt{
		channel:   c,
		job:       job,
		metadata:  m,
		claimedAt: uptime() - age,
		token:     rand.Text(),
		markNow:   o.database.allowRequest,
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
	errHalted   = errors.New("the channel was just paused")
	// errUnconfirmed is matched if the database could not be asked.
	errUnconfirmed = errors.New("the database did not confirm that the request may begin")
)

// maxClaimAge is how long after a job was fetched a request may begin. River rescues the job later than that and SendTimeout.
const maxClaimAge = 10 * time.Second

// isClaimOld reports whether River may soon give the job to another attempt, or may have done so.
func (a *attempt) isClaimOld() bool { return uptime()-a.claimedAt >= maxClaimAge }

// mayHaveLostJob reports whether an attempt that sent nothing may have lost its job to another attempt. It must then record nothing: River
// would write its result over the result of the other attempt.
func (a *attempt) mayHaveLostJob(err error) bool {
	if a.mark == marked || a.hasEntered() {
		return false
	}
	return errors.Is(err, errOutdated) || a.isClaimOld()
}

// settleMark records in the metadata that the outcome of the attempt is known, so that its mark leaves no doubt.
func (a *attempt) settleMark(f facts) {
	switch {
	case a.mark == marked:
		f[keyEnded] = a.token
		if !a.hasEntered() { // the record shows no request
			f[keyUnsent] = a.token
		}
	case a.mark == maybeMarked && !a.hasEntered():
		// The attempt made no request. The facts name only tokens of this attempt and of an earlier one that is not in doubt. So they cannot
		// end the doubt about another attempt, even if River writes them after that attempt has begun.
		f[keyUnsent] = a.token
		f[keyEnded] = a.metadata.BegunToken // the mark in the database may still be that of the earlier attempt
	}
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

// enter returns nil if the request may begin. The client calls it directly before the request, after its limits of concurrency and rate. It
// calls it again if the service rejects the token of the request, and the client repeats the request with a fresh token. So an attempt that has
// entered enters again: the service did not process the request before.
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

// allowRequest writes into the job that the request of an attempt begins, provided that no other attempt has the job and the message was not
// resolved as Sent. The database commits the mark before the request, so a rescued job without a mark was not sent.
func (r markRules) allowRequest(ctx context.Context, d *database, a *attempt) error {
	if err := r.marks.do(ctx, a, d.markAttempts); err != nil {
		if a.mark == unmarked {
			a.mark = maybeMarked
		}
		return fmt.Errorf("%w: %w", errUnconfirmed, err)
	}
	if a.mark != marked {
		return errOutdated
	}
	return nil
}

// markAttempts writes the marks of attempts in one statement. An attempt that has lost its job gets none, and no longer counts as marked.
func (d *database) markAttempts(ctx context.Context, attempts []*attempt) error {
	ids := make([]int64, len(attempts))
	times := make([]time.Time, len(attempts))
	tokens := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.job.ID
		times[i] = *a.job.AttemptedAt // it tells this attempt from others
		tokens[i] = a.token
	}
	var markedIDs []int64
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxClaimAge/2)
	defer cancel()
	_, err := d.scan(ctx, d.executor, []any{&markedIDs}, d.statements.writeMarks, ids, times, tokens)
	if err != nil {
		return err
	}
	isMarked := make(map[int64]bool, len(markedIDs))
	for _, id := range markedIDs {
		isMarked[id] = true
	}
	for _, a := range attempts {
		switch {
		case isMarked[a.job.ID]:
			a.mark = marked
		case a.mark == marked:
			a.mark = unmarked
		}
	}
	return nil
}

// allowRequest returns an error if the message of an attempt was resolved as Sent.
func (countRules) allowRequest(ctx context.Context, d *database, a *attempt) error {
	isResolved, err := d.isResolvedSent(ctx, a.job.ID)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnconfirmed, err)
	}
	if isResolved {
		return errOutdated
	}
	return nil
}
