package messagingriver

import (
	"context"
	"crypto/rand"
	"errors"
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
	// rules are those of the database. They decide whether the request may begin.
	rules doubtRules

	// mark and progress are two states: an attempt can be abandoned while its mark is written, and on SQLite it enters unmarked.
	mark     markState
	progress progress
}

func (o *Outbox[TTx]) newAttempt(c channel, job *river.Job[messageArgs], m *metadata) *attempt {
	return &attempt{
		channel:   c,
		job:       job,
		metadata:  m,
		claimedAt: uptime() - claimAge(job),
		token:     rand.Text(),
		rules:     o.doubt,
	}
}

// claimAge returns the time since River fetched a job. It is zero if the clock of the database is ahead.
func claimAge(job *river.Job[messageArgs]) time.Duration { return max(0, time.Since(*job.AttemptedAt)) }

// progress is how far an attempt is. It changes once, from waiting to entered or to abandoned: an abandoned attempt begins no request, and an
// attempt that may have begun one cannot be abandoned.
type progress struct{ state atomic.Int32 }

// The states of progress.
const (
	progressWaiting   int32 = iota
	progressEntered         // a request may have begun
	progressAbandoned       // no request begins
)

// enter records that a request begins. It reports false if the attempt was abandoned.
func (p *progress) enter() bool {
	p.state.CompareAndSwap(progressWaiting, progressEntered)
	return p.state.Load() == progressEntered
}

// abandon keeps the attempt from beginning a request. It reports false if a request may have begun already.
func (p *progress) abandon() bool {
	p.state.CompareAndSwap(progressWaiting, progressAbandoned)
	return p.state.Load() == progressAbandoned
}

// hasEntered reports whether a request may have begun.
func (p *progress) hasEntered() bool { return p.state.Load() == progressEntered }

// ErrExpired is matched by Outcome.Err and Record.Err if the message was not sent because it was too late; see InsertOptions.Expire.
var ErrExpired = errors.New("the message has expired")

// The other reasons for which the outbox lets no request begin. After the first three, another attempt may have the job.
var (
	errClaimOld  = errors.New("the claim is too old")
	errAbandoned = errors.New("the attempt was abandoned before its request")
	errJobLost   = errors.New("the job was given to another worker, its queue was paused, or the message was resolved as sent")
	errHalted    = errors.New("the channel was just paused")
	// errUnconfirmed is matched if the database could not be asked.
	errUnconfirmed = errors.New("the database did not confirm that the request may begin")
)

// maxClaimAge is how long after a job was fetched a request may begin. River rescues the job later than that and SendTimeout.
const maxClaimAge = 10 * time.Second

// isClaimOld reports whether River may soon give the job to another attempt, or may have done so.
func (a *attempt) isClaimOld() bool { return uptime()-a.claimedAt >= maxClaimAge }

func (a *attempt) hasExpired() bool {
	expires := a.metadata.Expires
	return !expires.IsZero() && !time.Now().Before(expires)
}

// check returns an error if it is too late for the request to begin.
func (a *attempt) check() error {
	if a.hasExpired() {
		return ErrExpired
	}
	if !isProbe(a.job) && a.channel.halt.isOn() {
		return errHalted
	}
	if a.isClaimOld() {
		return errClaimOld
	}
	return nil
}

// enter returns nil if the request may begin. The client calls it directly before the request, after its limits of concurrency and rate.
//
// If the service rejects the token of the request, the client repeats the request with a fresh token, and calls enter a second time. Then enter
// may return nil again, because the service did not process the first request.
func (a *attempt) enter(ctx context.Context) error {
	if err := a.check(); err != nil {
		return err
	}
	if err := a.rules.allowRequest(ctx, a); err != nil {
		return err
	}
	if err := a.check(); err != nil { // the process may have been frozen meanwhile
		return err
	}
	if !a.progress.enter() {
		return errAbandoned
	}
	return nil
}

// mayHaveLostJob reports whether an attempt that sent nothing may have lost its job to another attempt. It must then record nothing: River
// would write its result over the result of the other attempt.
func (a *attempt) mayHaveLostJob(err error) bool {
	if a.mark == markWritten || a.progress.hasEntered() {
		return false
	}
	isLost := errors.Is(err, errJobLost) || errors.Is(err, errAbandoned)
	return isLost || a.isClaimOld()
}
