package messagingriver

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// markRules are the rules on PostgreSQL: an attempt that may have begun its request has written a mark.
type markRules struct {
	db    *database
	marks *batcher[*mark] // writes the marks of several attempts at once
}

func (markRules) hasRecordedDoubt(m *metadata) bool {
	return m.Verdict == verdictUnknown || m.hasOpenMark()
}

func (r markRules) isInDoubt(m *metadata, _ int) bool { return r.hasRecordedDoubt(m) }

// provesUnsent reports whether no attempt has written a mark or a verdict. Without a mark no request begins.
func (markRules) provesUnsent(m *metadata) bool { return m.BegunToken == "" && m.Verdict == "" }

// keepDoubt records nothing, because the mark stays open.
func (markRules) keepDoubt(facts) {}

func (markRules) endDoubt(f facts, m *metadata) { f[keyEnded] = m.BegunToken }

// coverRescues and coverFetches record nothing, because only an open mark leaves doubt.
func (markRules) coverRescues(facts, *metadata) {}

func (markRules) coverFetches(facts, int) {}

// attemptTokens tell on PostgreSQL whether an attempt began a request and recorded no outcome. Each attempt has a token of its own.
//
// An attempt does not end the doubt about another, even if River writes its facts after the other has begun: they name only its own token and, if its
// mark is uncertain, that of an earlier attempt that is not in doubt.
type attemptTokens struct {
	// BegunToken is of the attempt that wrote its mark last, directly before its request, and BegunAt is when it did. The statement writeMarks
	// writes them.
	BegunToken string    `json:"begun,omitempty"`
	BegunAt    time.Time `json:"begun_at,omitzero"`
	// EndedToken is of the attempt that recorded a known outcome last. A lookup and a person who decide about the message copy BegunToken to it.
	EndedToken string `json:"ended,omitempty"`
	// UnsentToken is of the last attempt that made no request although its mark may have been written.
	UnsentToken string `json:"unsent,omitempty"`
}

// hasOpenMark reports whether the last mark has no outcome.
func (t *attemptTokens) hasOpenMark() bool {
	return t.BegunToken != "" && t.BegunToken != t.EndedToken && t.BegunToken != t.UnsentToken
}

// markState is what an attempt knows about its mark in the database. markRules.allowRequest alone changes it.
type markState int

const (
	markNone      markState = iota // no mark was written, or the job is no longer the attempt's
	markUncertain                  // a statement failed: the database may have written the mark nevertheless
	markWritten
)

// allowRequest writes into the job that the request of an attempt begins, provided that no other attempt has the job, the message was not
// resolved as Sent and its queue is not paused. The database commits the mark before the request, so a rescued job without a mark was not sent.
func (r markRules) allowRequest(ctx context.Context, a *attempt) error {
	m := &mark{job: a.job.ID, attemptedAt: *a.job.AttemptedAt, queue: queueOf(a.job.Args.Channel), token: a.token}
	if err := r.marks.do(ctx, m, r.write); err != nil {
		if a.mark == markNone {
			a.mark = markUncertain
		}
		return fmt.Errorf("%w: %w", errUnconfirmed, err)
	}
	if !m.isWritten {
		if m.isPaused { // and River has not told this process yet
			a.channel.halt.begin()
		}
		if a.mark == markWritten { // by an earlier statement, for a request that the client repeats
			a.mark = markNone
		}
		return errJobLost
	}
	a.mark = markWritten
	return nil
}

// mark is what an attempt writes into its job before a request begins.
type mark struct {
	job         int64
	attemptedAt time.Time // tells the attempt from other attempts on the job
	queue       string    // of the channel
	token       string
	isWritten   bool // the database has written the mark
	isPaused    bool // the queue is paused
}

// write writes marks in one statement. It leaves out the marks of attempts that have lost their jobs, or whose queue is paused: River may hear of a
// pause a minute late, if its connection breaks.
func (r markRules) write(ctx context.Context, marks []*mark) error {
	jobs := make([]int64, len(marks))
	times := make([]time.Time, len(marks))
	tokens := make([]string, len(marks))
	for i, m := range marks {
		jobs[i] = m.job
		times[i] = m.attemptedAt
		tokens[i] = m.token
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxClaimAge/2)
	defer cancel()
	var written []string // the tokens
	var paused []string  // queues
	if _, err := r.db.scan(ctx, r.db.executor, []any{&written, &paused}, r.db.statements.writeMarks, jobs, times, tokens); err != nil {
		return err
	}
	for _, m := range marks {
		m.isWritten = slices.Contains(written, m.token)
		m.isPaused = slices.Contains(paused, m.queue)
	}
	return nil
}

// settleMark records in the metadata that the outcome of the attempt is known, so that its mark leaves no doubt.
func (a *attempt) settleMark(f facts) {
	hasEntered := a.progress.hasEntered()
	switch {
	case a.mark == markWritten && hasEntered:
		a.recordEnded(f)
	case a.mark != markNone && !hasEntered:
		a.recordUnsent(f)
	}
}

// recordEnded records that the outcome of the attempt's request is known.
func (a *attempt) recordEnded(f facts) { f[keyEnded] = a.token }

// recordUnsent records that the attempt made no request, although its mark was written, or may have been.
func (a *attempt) recordUnsent(f facts) {
	ended := a.token
	if a.mark == markUncertain { // the mark in the database may still be that of the earlier attempt
		ended = a.metadata.BegunToken
	}
	f[keyUnsent] = a.token
	f[keyEnded] = ended
}
