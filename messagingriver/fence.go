package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// attempt is an attempt to send a message.
type attempt struct {
	id          int64
	attemptedAt time.Time // when River fetched the job, which tells this attempt from others
	claimedAt   time.Duration
	expires     time.Time
	token       string
	markNow     func(ctx context.Context, a *attempt) error

	isMarked bool         // whether the mark was written
	progress atomic.Int32 // waiting, entered or givenUp
}

// The progress of an attempt. One that has entered is not given up, and one that was given up does not enter.
const (
	waiting int32 = iota
	entered       // a request may have begun
	givenUp       // none begins
)

// hasEntered reports whether a request may have begun.
func (a *attempt) hasEntered() bool { return a.progress.Load() == entered }

// giveUp reports whether no request has begun; none begins then.
func (a *attempt) giveUp() bool {
	return a.progress.CompareAndSwap(waiting, givenUp) || a.progress.Load() == givenUp
}

var (
	errExpired  = errors.New("the message has expired")
	errOutdated = errors.New("the claim is too old, or the job was given to another worker")
	errUnmarked = errors.New("the attempt cannot be marked in the database")
)

// maxClaimAge is for how long a claim lets a request begin. River rescues the job later than that and SendTimeout.
const maxClaimAge = 10 * time.Second

// check returns an error if the request must not begin any more.
func (a *attempt) check() error {
	if !a.expires.IsZero() && !time.Now().Before(a.expires) {
		return errExpired
	}
	if uptime()-a.claimedAt >= maxClaimAge {
		return errOutdated
	}
	return nil
}

// enter returns nil if the request may begin. The client asks it directly before, when it has a place and a turn.
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

// mark writes the mark of an attempt: its request begins. It does so only if the job is still this attempt's. The database commits the mark
// before the request, so a rescued job without one was not sent.
func (o *Outbox[TTx]) mark(ctx context.Context, a *attempt) error {
	if !o.database.isPostgres {
		return nil
	}
	if err := o.marks.do(ctx, a, o.writeMarks); err != nil {
		return fmt.Errorf("%w: %w", errUnmarked, err)
	}
	if !a.isMarked {
		return errOutdated
	}
	return nil
}

// writeMarks writes the marks of attempts and finds out whose jobs are still theirs.
func (o *Outbox[TTx]) writeMarks(ctx context.Context, attempts []*attempt) error {
	ids := make([]int64, len(attempts))
	times := make([]time.Time, len(attempts))
	tokens := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i], times[i], tokens[i] = a.id, a.attemptedAt, a.token
	}
	var marked []int64
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxClaimAge/2)
	defer cancel()
	_, err := o.database.scan(ctx, o.database.executor, []any{&marked}, `
		WITH attempt AS (
			SELECT unnest(CAST($1 AS BIGINT[])) AS id, unnest(CAST($2 AS TIMESTAMPTZ[])) AS at, unnest(CAST($3 AS TEXT[])) AS token
		), marked AS (
			UPDATE JOBS SET metadata = MERGE(OBJECT('begun', attempt.token)) FROM attempt
			WHERE JOBS.id = attempt.id AND state = 'running' AND attempted_at = attempt.at RETURNING JOBS.id
		)
		SELECT COALESCE(array_agg(id), '{}') FROM marked`, ids, times, tokens)
	if err != nil {
		return err
	}
	isMarked := make(map[int64]bool, len(marked))
	for _, id := range marked {
		isMarked[id] = true
	}
	for _, a := range attempts {
		a.isMarked = isMarked[a.id]
	}
	return nil
}
