package messagingriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// claimKey is the key of the attempt in the context of its call.
type claimKey struct{}

// errExpired and errHeldUp stop a message that must not begin.
var (
	errExpired = errors.New("messagingriver: the message has expired")
	errHeldUp  = errors.New("messagingriver: the worker was held up, and its claim is too old")
)

// guard stops a message whose claim is too old or that has expired. The client asks it before each request, and again after a
// wait.
func (o *Outbox[TTx]) guard(ctx context.Context, _ messaging.Outgoing) error {
	a := ctx.Value(claimKey{}).(*attempt) //nolint:forcetypeassert // send sets it
	now := uptime()
	switch age := now - a.claimed; {
	case a.expires.Valid && age >= time.Duration(a.expires.Int64)*time.Millisecond:
		return errExpired
	case age >= claimAge || now-time.Duration(o.live.at.Load()) >= claimAge:
		return errors.Join(errHeldUp, messaging.RetryLater(0))
	}
	return nil
}

// send makes an attempt and returns what it found.
func (o *Outbox[TTx]) send(ctx context.Context, c channel, a *attempt, turn time.Time) result {
	begins := sync.OnceFunc(c.flow.begins)
	defer begins()
	message, err := c.decode([]byte(a.stored.String))
	switch {
	case a.stored.Valid && err != nil && strings.Contains(err.Error(), "unknown key "): // it names the key and no content
		return o.waits(a, err, time.Minute, false)
	case !a.stored.Valid || err != nil: // the error may repeat content
		return result{Key: a.Key, Attempt: a.number, State: Parked, Problem: "the row holds no message that this version can read"}
	}
	// A request that has begun is not interrupted when the process stops: its outcome would be unknown. One that has not is.
	var begun atomic.Bool
	sending, cancel := context.WithTimeout(context.WithValue(context.WithoutCancel(ctx), claimKey{}, a), o.options.SendTimeout)
	defer cancel()
	sending = httptrace.WithClientTrace(sending, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		begun.Store(true)
		begins()
	}})
	giveUp := func() {
		if !begun.Load() {
			cancel()
		}
	}
	defer context.AfterFunc(ctx, giveUp)()
	defer time.AfterFunc(claimAge, giveUp).Stop()
	if err = o.keep(sending, turn); err != nil {
		return o.waits(a, err, 0, false)
	}
	receipt, err := c.send(sending, message)
	if errors.Is(err, errHeldUp) {
		return o.waits(a, errHeldUp, 0, false)
	}
	r := o.judge(a, receipt, err)
	if r.State == Waiting {
		blame := ctx.Err() == nil && wasTried(err) && !isAccount(err) && !o.client.Breaker(c.channel).Open
		r = o.waits(a, err, retryAfter(err), blame)
	}
	if isAccount(err) && (r.State == Waiting || r.State == Refused) {
		r.account = err
	}
	if begun.Load() || wasTried(err) {
		r.note(err)
	}
	return r
}

// waits returns the result of an attempt that sent nothing. It is made again after a time, unless the message is to blame and
// has no attempts left.
func (o *Outbox[TTx]) waits(a *attempt, err error, after time.Duration, blame bool) result {
	r := result{Key: a.Key, Attempt: a.number, State: Waiting, Problem: problemOf(err)}
	if blame {
		failures := a.failures + 1
		after = max(after, backoff(failures))
		r.Failed = 1
		if failures >= a.most {
			r.State = Parked
		}
	}
	r.Wait = after.Milliseconds()
	return r
}

// backoff is how long a message waits after its n-th failure: a little more than River's jobs do.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}

// result is what an attempt or a lookup found, as recordUntil's statement reads it.
type result struct {
	Key

	Attempt int                `json:"attempt"`
	State   State              `json:"state"`
	Receipt *messaging.Receipt `json:"receipt"`
	Problem string             `json:"problem"`
	Wait    int64              `json:"wait"` // in milliseconds, until the row is due
	Failed  int                `json:"failed"`
	History string             `json:"history"` // members of a JSON object, or ""

	account error // why the service refused, if that is because of the account
}

// note adds a verdict to the history of the message, which has JSON objects. The database adds the times.
func (r *result) note(err error) {
	verdict, _ := json.Marshal(messaging.VerdictOf(err).String())
	problem, _ := json.Marshal(r.Problem)
	r.History = fmt.Sprintf(`"verdict":%s,"problem":%s`, verdict, problem)
}

// judge returns the result of an attempt by what the client returned.
func (o *Outbox[TTx]) judge(a *attempt, receipt messaging.Receipt, err error) result {
	r := result{Key: a.Key, Attempt: a.number}
	if err == nil {
		receipt.Raw = nil // it may repeat the number or the text
		r.State, r.Receipt = Accepted, &receipt
		return r
	}
	r.Problem = problemOf(err)
	_, invalid := errors.AsType[*messaging.ValidationError](err)
	e, ok := errors.AsType[*messaging.Error](err)
	named := ok && e.NamesMessage() // so that the service may have it although it refuses it
	verdict := messaging.VerdictOf(err)
	_, retryable := messaging.Retryable(err)
	switch {
	case errors.Is(err, errExpired):
		r.State, r.Problem = Expired, errExpired.Error()
	case retryable, verdict == messaging.NotSent && !invalid && !errors.Is(err, messaging.ErrGuarded), verdict == messaging.Refused && isAccount(err) && !named:
		r.State = Waiting
	case invalid, errors.Is(err, messaging.ErrGuarded), verdict == messaging.Refused && !errors.Is(err, messaging.ErrDuplicate):
		r.State = Refused
	case a.Channel == messaging.ChannelSMS.String():
		r.State = Unknown                       // or the service has the message already
		r.Wait = (o.round() / 2).Milliseconds() // one that is listed is settled after a round and a half at the latest
	default:
		r.State = Parked // nothing lists the messages of the chat apps
	}
	return r
}

// problemOf returns the text of an error for a row. PostgreSQL has no text with a zero byte.
func problemOf(err error) string { return strings.ReplaceAll(err.Error(), "\x00", "") }

// wasTried reports whether something was tried for a message that was not sent. It was not if a guard stopped it, or if the client
// made no request because of its rate limit, its circuit breaker or a context. That costs the message no attempt.
func wasTried(err error) bool {
	if errors.Is(err, messaging.ErrBreakerOpen) || errors.Is(err, messaging.ErrGuarded) {
		return false
	}
	if e, ok := errors.AsType[*messaging.Error](err); ok {
		if e.Attempts > 0 {
			return true
		}
		if e.RetryAfter > 0 { // a wait of the client's that is too long
			return false
		}
	}
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// isAccount reports whether the service would refuse every other message too: wrong credentials, or no credit.
func isAccount(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance)
}

// recordUntil records a result, also if ctx has ended, and tries again until a time if the database is away.
func (o *Outbox[TTx]) recordUntil(ctx context.Context, end time.Time, r result) error {
	for {
		err := o.recorder.add(r, func(all []result) error { return o.record(ctx, all) })
		if err == nil || time.Now().After(end) {
			return err
		}
		<-time.After(min(o.options.SendTimeout/20, time.Second))
	}
}

// record records results once. One counts if its attempt is the last and nothing is final: a late response is worth more than
// "unknown", and less than what a person decided. Somebody who had a message sent again is not overruled by a lookup that knows
// nothing.
func (o *Outbox[TTx]) record(ctx context.Context, results []result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	return o.database.exec(ctx, `
		UPDATE messaging_outbox
		SET state = value->>'state', receipt = value->>'receipt', problem = value->>'problem',
			due_at = CLOCK + CAST(value->>'wait' AS BIGINT),
			history = CASE WHEN value->>'history' = '' OR LENGTH(history) > 8000 THEN history
				ELSE history || ',{"began":' || began_at || ',"ended":' || CLOCK || ',' || (value->>'history') || '}' END,
			failures = failures + CAST(value->>'failed' AS BIGINT),
			message = CASE WHEN value->>'state' = 'accepted' THEN NULL ELSE message END,
			recipient = CASE WHEN value->>'state' IN ('accepted', 'refused', 'expired') THEN NULL ELSE recipient END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference'
			AND attempt = CAST(value->>'attempt' AS BIGINT) AND state || '' IN ('waiting', 'sending', 'unknown', 'parked')
			AND NOT (state || '' = 'waiting' AND value->>'state' IN ('unknown', 'parked'))`,
		list[result](results))
}

// recorder joins the results of a process: what comes while some are written goes into the next statement.
type recorder struct {
	mu      sync.Mutex
	writing chan struct{} // has an element for each statement that runs: one is executed while another is committed
	next    *results      // is not written yet, or nil
}

// results are written together.
type results struct {
	all  []result
	done chan struct{} // closed when err is known
	err  error
}

// add returns when a result has been written, by its caller or by another one.
func (r *recorder) add(one result, write func([]result) error) error {
	r.mu.Lock()
	first := r.next == nil
	if first {
		r.next = &results{done: make(chan struct{})}
	}
	mine := r.next
	mine.all = append(mine.all, one)
	r.mu.Unlock()
	if !first {
		<-mine.done
		return mine.err
	}
	r.writing <- struct{}{}
	defer func() { <-r.writing }()
	r.mu.Lock()
	r.next = nil
	r.mu.Unlock()
	mine.err = write(mine.all)
	close(mine.done)
	return mine.err
}
