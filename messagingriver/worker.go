package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/errgroup"

	messaging "github.com/messaging-service/messaging-go"
)

// messages is what River's jobs are for: to send some messages. One job for several costs less than a job for each.
type messages struct {
	Messages []Key `json:"messages"`
}

func (messages) Kind() string { return "messaging_send" }

// jobsOf returns jobs for messages. A job is small enough that one of a higher priority soon finds a free worker.
func jobsOf(keys []Key, options river.InsertOpts) []river.InsertManyParams {
	const each = 25
	var jobs []river.InsertManyParams
	for some := range slices.Chunk(keys, each) {
		jobs = append(jobs, river.InsertManyParams{Args: messages{some}, InsertOpts: &options})
	}
	return jobs
}

// sender works River's jobs. A job only says that messages may wait: their rows decide, so that a job that runs twice, or too
// late, sends nothing.
type sender[TTx any] struct {
	river.WorkerDefaults[messages]

	outbox *Outbox[TTx]
}

// Timeout ends a job whose messages wait for their turn too long. It then runs again.
func (s *sender[TTx]) Timeout(*river.Job[messages]) time.Duration { return s.outbox.overdue() }

// Work sends those of the messages that wait. If one of them still waits then, the reason is likely to hold for the others, which
// are left to the next run of the job.
func (s *sender[TTx]) Work(ctx context.Context, job *river.Job[messages]) error {
	sends, failed := errgroup.WithContext(ctx)
	for _, key := range job.Args.Messages {
		s.outbox.places <- struct{}{} // for at most the time of a send
		if failed.Err() != nil {
			<-s.outbox.places
			break
		}
		sends.Go(func() error {
			defer func() { <-s.outbox.places }()
			return s.outbox.deliver(ctx, job.JobRow, key)
		})
	}
	err := sends.Wait()
	if ctx.Err() != nil {
		return river.JobSnooze(0)
	}
	return err
}

// deliver sends one message if it waits. An error means that it still does.
func (o *Outbox[TTx]) deliver(ctx context.Context, job *rivertype.JobRow, key Key) error {
	a, err := o.claims.do(key)
	if err != nil || a == nil {
		return err
	}
	r, err := o.send(ctx, a)
	probe := job.Queue == o.tendQueue()
	if r.State == Waiting && !r.account && ctx.Err() == nil && job.Attempt >= job.MaxAttempts {
		r.State = Parked // River would not run the job again
	}
	if r.State == Waiting {
		r.due(o.overdue() + backoff(job.Attempt))
	}
	if recordErr := o.recordUntil(a.deadline.Add(o.options.SendTimeout), r); recordErr != nil {
		return fmt.Errorf("messagingriver: the outcome could not be recorded: %w", recordErr)
	}
	switch {
	case r.account:
		if pauseErr := o.pause(ctx, r); pauseErr != nil || probe {
			return pauseErr
		}
		return river.JobSnooze(time.Second)
	case probe && r.final():
		return o.resume(ctx)
	case r.State == Waiting:
		return err
	default:
		return nil
	}
}

// backoff is a little more than River waits by default after the n-th attempt.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}

// lease is how long an attempt may take: half of it for sending, half for recording the outcome.
func (o *Outbox[TTx]) lease() time.Duration { return 2 * o.options.SendTimeout }

// overdue is how long a message waits beyond its time before the outbox gives it another job.
func (o *Outbox[TTx]) overdue() time.Duration { return 5 * o.options.SendTimeout }

// attempt is the right to send a message once. It is recorded before anything is sent, and only its own outcome, or a person,
// lets another attempt begin.
type attempt struct {
	Key

	number   int
	stored   string
	began    int64
	deadline time.Time // nothing is sent after it
}

func (a *attempt) columns() []any {
	return []any{&a.Channel, &a.Reference, &a.number, &a.stored, &a.began}
}

const attemptColumns = "channel, reference, attempt, message, began_at"

// claim begins an attempt of each message that waits. The result of another is nil.
func (o *Outbox[TTx]) claim(keys []Key) ([]*attempt, error) {
	ctx, cancel := context.WithTimeout(context.Background(), o.options.SendTimeout)
	defer cancel()
	rows, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	found, err := o.database.query(ctx, `
		UPDATE messaging_outbox SET state = 'sending', attempt = attempt + 1, began_at = $2, due_at = $3, problem = '' FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' = 'waiting'
		RETURNING `+attemptColumns, string(rows), now.UnixMilli(), now.Add(o.lease()).UnixMilli())
	claimed, err := collect(found, err, (*attempt).columns)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: claim: %w", err)
	}
	byKey := make(map[Key]*attempt, len(claimed))
	for i := range claimed {
		claimed[i].deadline = now.Add(o.options.SendTimeout)
		byKey[claimed[i].Key] = &claimed[i]
	}
	attempts := make([]*attempt, len(keys))
	for i, key := range keys {
		attempts[i] = byKey[key]
		delete(byKey, key) // of two jobs of one message, only one sends
	}
	return attempts, nil
}

// result is what an attempt or a lookup found, as record's statement reads it.
type result struct {
	Key

	Attempt int                `json:"attempt"`
	State   State              `json:"state"`
	Receipt *messaging.Receipt `json:"receipt"`
	Problem string             `json:"problem"`
	Due     *int64             `json:"due"`

	account    bool          // the service refused the account rather than the message
	retryAfter time.Duration // how long it asked to wait
}

func (r *result) due(wait time.Duration) { r.Due = new(time.Now().Add(wait).UnixMilli()) }

func (r *result) final() bool { return r.State == Accepted || r.State == Refused }

// send makes the attempt and returns what it found, and the client's error.
func (o *Outbox[TTx]) send(ctx context.Context, a *attempt) (result, error) {
	message, err := o.channels[a.Channel].decode(a.stored)
	if err != nil { // another version of this library wrote it
		return result{Key: a.Key, Attempt: a.number, State: Parked, Problem: err.Error()}, err
	}
	ctx, cancel := context.WithDeadline(ctx, a.deadline)
	defer cancel()
	receipt, err := o.channels[a.Channel].send(ctx, message)
	return o.judge(a, receipt, err), err
}

// judge returns the result of an attempt by what the client returned.
func (o *Outbox[TTx]) judge(a *attempt, receipt messaging.Receipt, err error) result {
	r := result{Key: a.Key, Attempt: a.number}
	if err == nil {
		receipt.Raw = nil // it may repeat the number or the text
		r.State, r.Receipt = Accepted, &receipt
		r.due(o.options.Keep)
		return r
	}
	r.Problem = err.Error()
	_, invalid := errors.AsType[*messaging.ValidationError](err)
	verdict := messaging.VerdictOf(err)
	switch {
	case verdict == messaging.NotSent && !invalid:
		r.State = Waiting
	case verdict == messaging.Refused && isAccount(err):
		r.State, r.account = Waiting, true
		if e, ok := errors.AsType[*messaging.Error](err); ok {
			r.retryAfter = e.RetryAfter
		}
	case invalid, verdict == messaging.Refused && !errors.Is(err, messaging.ErrDuplicate):
		r.State = Refused
		r.due(o.options.Keep)
	case a.Channel == messaging.ChannelSMS.String():
		r.State = Unknown // or the service has the message already
		r.due(o.options.SendTimeout / 4)
	default:
		r.State = Parked // nothing lists the messages of the chat apps
	}
	return r
}

// isAccount reports whether the service would refuse every other message too: wrong credentials, no credit, too many requests.
func isAccount(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance) ||
		errors.Is(err, messaging.ErrRateLimited)
}

// recordUntil records a result, and tries again until the given time if the database is away.
func (o *Outbox[TTx]) recordUntil(end time.Time, r result) error {
	for {
		_, err := o.results.do(r)
		if err == nil || time.Now().After(end) {
			return err
		}
		<-time.After(o.options.SendTimeout / 20)
	}
}

// record records results. One counts if its attempt is the last and nothing is final: a late response is worth more than
// "unknown", and less than what a person decided.
func (o *Outbox[TTx]) record(results []result) ([]struct{}, error) {
	ctx, cancel := context.WithTimeout(context.Background(), o.options.SendTimeout)
	defer cancel()
	rows, err := json.Marshal(results)
	if err != nil {
		return nil, err
	}
	return make([]struct{}, len(results)), o.database.exec(ctx, `
		UPDATE messaging_outbox
		SET state = value->>'state', receipt = value->>'receipt', problem = value->>'problem',
			due_at = CAST(value->>'due' AS BIGINT),
			message = CASE WHEN value->>'state' IN ('accepted', 'refused') THEN NULL ELSE message END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference'
			AND attempt = CAST(value->>'attempt' AS BIGINT) AND state || '' IN ('waiting', 'sending', 'unknown', 'parked')`,
		string(rows))
}
