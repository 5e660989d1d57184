package messagingriver

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"

	messaging "github.com/messaging-service/messaging-go"
)

// messages is what River's jobs are for: to send some messages of a channel. One job for several costs less than a job for each.
type messages struct {
	Messages []Key `json:"messages"`
}

func (messages) Kind() string { return "messaging_send" }

// perJob is how many messages a job is for: so few that one of a higher priority soon finds a free worker.
const perJob = 25

// jobsOf returns jobs for messages, each for some of one channel.
func jobsOf(keys []Key, options river.InsertOpts) []river.InsertManyParams {
	options.UniqueOpts, options.Pending = river.UniqueOpts{}, false
	var jobs []river.InsertManyParams
	groups := map[string][]Key{} // by channel
	for _, key := range keys {
		groups[key.Channel] = append(groups[key.Channel], key)
	}
	for channel, keys := range groups {
		options.Queue = queueOf(channel)
		for some := range slices.Chunk(keys, perJob) {
			jobs = append(jobs, river.InsertManyParams{Args: messages{some}, InsertOpts: new(options)})
		}
	}
	return jobs
}

// sender works River's jobs. A job only says that messages may wait: their rows decide, so that a job that runs twice, or too
// late, or too early, sends nothing. It is done when the rows know what comes next: the next round makes jobs for those that
// are to be sent again. River's own retries are for when the database could not be reached.
type sender[TTx any] struct {
	river.WorkerDefaults[messages]

	outbox *Outbox[TTx]
}

// Timeout ends a job whose messages wait for their turn too long. The next round makes another.
func (s *sender[TTx]) Timeout(*river.Job[messages]) time.Duration { return s.outbox.overdue() }

// Work sends those of the messages that wait.
func (s *sender[TTx]) Work(ctx context.Context, job *river.Job[messages]) error {
	o := s.outbox
	keys := job.Args.Messages
	for len(keys) > 0 && ctx.Err() == nil {
		n := min(len(keys), o.options.Workers, o.rate.atOnce())
		if err := o.deliver(ctx, keys[:n], job.MaxAttempts); err != nil {
			return err
		}
		keys = keys[n:]
	}
	switch {
	case len(keys) == 0:
		return nil
	case errors.Is(context.Cause(ctx), river.ErrJobCancelledRemotely): // by a person, in River's page
		_, err := o.resolve(context.WithoutCancel(ctx), Dropped, "its job was cancelled in River", "'waiting'", keys)
		return errors.Join(context.Cause(ctx), err)
	default:
		return o.handBack(ctx, keys, 0)
	}
}

// backoff is how long a message waits after its n-th failure: a little more than River's jobs do.
func backoff(n int) time.Duration {
	n = min(n, 25)
	return time.Duration(n*n*n*n) * 1200 * time.Millisecond
}

// overdue is how long a message waits beyond its time before it gets another job.
func (o *Outbox[TTx]) overdue() time.Duration { return 5 * o.options.SendTimeout }

// deliver sends those of some messages of a channel that wait, all at once. An error means that the database could not be
// reached.
func (o *Outbox[TTx]) deliver(ctx context.Context, keys []Key, most int) error {
	known, ok := o.channels[keys[0].Channel]
	if !ok {
		return nil // a process of a version that knows it sends it
	}
	n := int64(len(keys))
	if known.places.Acquire(ctx, n) != nil {
		return o.handBack(ctx, keys, 0)
	}
	defer known.places.Release(n)
	keys, err := o.thatWait(ctx, keys)
	if err != nil {
		return err
	}
	for len(keys) > 0 {
		allowed, release := o.passes(ctx, known, len(keys))
		if allowed == 0 {
			return o.handBack(ctx, keys, o.round())
		}
		left, err := o.deliverNow(ctx, known, keys, allowed, most)
		release()
		if err != nil {
			return err
		}
		keys = left
	}
	return nil
}

// thatWait returns the messages that wait. The others, of a job that comes late or twice, would waste turns.
func (o *Outbox[TTx]) thatWait(ctx context.Context, keys []Key) ([]Key, error) {
	waiting, err := o.database.keys(context.WithoutCancel(ctx), `SELECT o.channel, o.reference FROM ROWS JOIN messaging_outbox o
		ON o.channel = value->>'channel' AND o.reference = value->>'reference' AND o.state || '' = 'waiting'`, list[Key](keys))
	return slices.DeleteFunc(slices.Clone(keys), func(key Key) bool { return !slices.Contains(waiting, key) }), err
}

// deliverNow is deliver for the first messages, as many as the breaker and the rates allow now. It returns those that are left.
// No message is claimed before its turn: a process that dies leaves none in doubt that only waited.
func (o *Outbox[TTx]) deliverNow(ctx context.Context, known channel, keys []Key, allowed, most int) (left []Key, err error) {
	sending, given, err := o.rate.wait(ctx, allowed)
	if err != nil {
		return nil, o.handBack(ctx, keys, o.round())
	}
	if allowed > 1 && o.inTrouble(known.channel) { // meanwhile
		return keys, nil
	}
	keys, left = keys[:given.n], keys[given.n:]
	claimed, err := o.claim(ctx, known.channel.String(), keys, false)
	if err != nil {
		return nil, err
	}
	if err = o.attempt(sending, claimed, given, most); err != nil || len(claimed) == len(keys) {
		return left, err
	}
	missed := slices.DeleteFunc(slices.Clone(keys), func(key Key) bool {
		return slices.ContainsFunc(claimed, func(a attempt) bool { return a.Key == key })
	})
	if o.options.InOrder && len(claimed) > 0 { // one before them in order is done
		return append(missed, left...), nil
	}
	// They are done, or their time has not come, or a pause has begun, or one before them in order is under way.
	return left, o.handBack(ctx, missed, o.round())
}

// attempt makes attempts that were claimed, and records what they find.
func (o *Outbox[TTx]) attempt(ctx context.Context, claimed []attempt, turns turns, most int) (err error) {
	found := make(chan result, len(claimed))
	for i := range claimed {
		go func() { found <- o.send(ctx, &claimed[i], turns.of(i), most) }()
	}
	var account error
	for left := len(claimed); left > 0; {
		results := []result{<-found}
		for len(found) > 0 { // those that came while others were recorded
			results = append(results, <-found)
		}
		left -= len(results)
		err = errors.Join(err, o.recordUntil(ctx, time.Now().Add(o.options.SendTimeout), results))
		for _, r := range results {
			account = cmp.Or(r.account, account)
		}
	}
	if account != nil {
		err = errors.Join(err, o.pauseForAccount(ctx, claimed[0].Channel, account))
	}
	if o.options.InOrder {
		err = errors.Join(err, o.follow(ctx, claimed))
	}
	return err
}

// send makes an attempt and returns what it found.
func (o *Outbox[TTx]) send(ctx context.Context, a *attempt, turn time.Time, most int) result {
	channel := o.channels[a.Channel]
	message, err := channel.decode([]byte(a.stored.String))
	if !a.stored.Valid || err != nil { // the error may repeat content
		return result{Key: a.Key, Attempt: a.number, State: Parked, Problem: "the row holds no message that this version can read"}
	}
	// A request that has begun is not interrupted when the process stops: its outcome would be unknown. One that has not is.
	var begun atomic.Bool
	sending, cancel := context.WithDeadline(context.WithoutCancel(ctx), a.started.Add(o.options.SendTimeout))
	defer cancel()
	sending = httptrace.WithClientTrace(sending, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { begun.Store(true) }})
	defer context.AfterFunc(ctx, func() {
		if !begun.Load() {
			cancel()
		}
	})()
	if err = o.rate.keep(sending, turn); err == nil && a.isOver(o.options.SendTimeout) {
		err = errors.New("messagingriver: the process was held up, and the time of the attempt was over before it began")
	}
	if err != nil {
		return o.waits(a, err, 0, false, most)
	}
	receipt, err := channel.send(sending, message)
	r := o.judge(a, receipt, err)
	if r.State == Waiting {
		blame := ctx.Err() == nil && wasTried(err) && !isAccount(err) && !o.inTrouble(channel.channel)
		r = o.waits(a, err, retryAfter(err), blame, most)
	}
	if isAccount(err) && (r.State == Waiting || r.State == Refused) {
		r.account = err
	}
	return r
}

// waits returns the result of an attempt that sent nothing. It is made again after a time, unless the message is to blame and
// has no attempts left.
func (o *Outbox[TTx]) waits(a *attempt, err error, after time.Duration, blame bool, most int) result {
	r := result{Key: a.Key, Attempt: a.number, State: Waiting, Problem: problemOf(err)}
	after = min(after, time.Hour) // a service may ask for years
	if blame {
		failures := a.failures + 1
		after = max(after, backoff(failures))
		r.Failed = 1
		if failures >= min(most, a.most) {
			r.State = Parked
		}
	}
	r.wait(after)
	return r
}

// attempt is the right to send a message once. It is recorded before anything is sent, and only its own outcome, or a person,
// lets another attempt begin.
type attempt struct {
	Key

	number    int
	stored    sql.NullString
	age       int64 // since it began, in milliseconds of the database's clock
	failures  int
	most      int // failures
	recipient string
	started   time.Time // before it was recorded, by this process's clock
}

// isOver reports whether the time for the attempt is over. A process can be frozen, and its machine too: then only one of its
// two clocks went on.
func (a *attempt) isOver(timeout time.Duration) bool {
	now := time.Now()
	return max(now.Sub(a.started), now.Round(0).Sub(a.started.Round(0))) >= timeout
}

// claim begins an attempt of each message that may be sent now. It ignores the end of ctx, because a caller that left would not
// know what was written. Behind a pause only a probe begins: the row is asked, since River may lose a notification.
func (o *Outbox[TTx]) claim(ctx context.Context, channel string, keys []Key, probe bool) ([]attempt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	paused := ` AND NOT EXISTS (SELECT 1 FROM messaging_pause WHERE queue = $3)
		AND NOT EXISTS (SELECT 1 FROM river_queue WHERE name = $3 AND paused_at IS NOT NULL)`
	if probe {
		paused = " AND $3 <> ''"
	}
	started := time.Now()
	claimed, err := o.database.attempts(ctx, `
		UPDATE messaging_outbox
		SET state = 'sending', attempt = attempt + 1, began_at = CLOCK, due_at = CLOCK + CAST($2 AS BIGINT), problem = '' FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' = 'waiting' AND not_before <= CLOCK`+paused+o.itsTurn(),
		list[Key](keys), (2 * o.options.SendTimeout).Milliseconds(), queueOf(channel))
	for i := range claimed {
		claimed[i].started = started
	}
	return claimed, err
}

// itsTurn is the condition that no message to the same recipient comes before, if they are sent in order. One that waits for its
// next attempt does. One that was scheduled does from its time on.
func (o *Outbox[TTx]) itsTurn() string {
	if !o.options.InOrder {
		return ""
	}
	return ` AND NOT EXISTS (SELECT 1 FROM messaging_outbox o WHERE o.channel = messaging_outbox.channel
		AND o.recipient = messaging_outbox.recipient AND o.reference <> messaging_outbox.reference
		AND (o.state IN ('sending', 'unknown')
			OR o.state = 'waiting' AND o.seq < messaging_outbox.seq AND (o.attempt > 0 OR o.not_before <= CLOCK)))`
}

// handBack has messages that still wait looked after by a round, after a time.
func (o *Outbox[TTx]) handBack(ctx context.Context, keys []Key, after time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.options.SendTimeout)
	defer cancel()
	return o.database.exec(ctx, putOff, list[Key](keys), after.Milliseconds())
}

// putOff has a round look after messages that still wait, after a time.
const putOff = `
	UPDATE messaging_outbox SET due_at = LATER(not_before, CLOCK + CAST($2 AS BIGINT)) FROM ROWS
	WHERE channel = value->>'channel' AND reference = value->>'reference' AND state || '' = 'waiting'`

// follow makes jobs for the messages whose turn has come in the order of a recipient.
func (o *Outbox[TTx]) follow(ctx context.Context, done []attempt) error {
	type lane struct {
		Channel   string `json:"channel"`
		Recipient string `json:"recipient"`
	}
	var lanes list[lane]
	for _, a := range done {
		if l := (lane{a.Channel, a.recipient}); a.recipient != "" && !slices.Contains(lanes, l) {
			lanes = append(lanes, l)
		}
	}
	if len(lanes) == 0 {
		return nil
	}
	next, err := o.database.keys(context.WithoutCancel(ctx), `
		SELECT o.channel, o.reference FROM ROWS JOIN messaging_outbox o
		ON o.channel = value->>'channel' AND o.recipient = value->>'recipient' AND o.state = 'waiting' AND o.not_before <= CLOCK
		AND o.seq = (SELECT MIN(m.seq) FROM messaging_outbox m
			WHERE m.channel = o.channel AND m.recipient = o.recipient AND m.state = 'waiting' AND m.not_before <= CLOCK)`, lanes)
	if err == nil && len(next) > 0 {
		_, err = o.river.InsertManyFast(context.WithoutCancel(ctx), jobsOf(next, river.InsertOpts{}))
	}
	return err
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

	account error // why the service refused, if that is because of the account
}

func (r *result) wait(d time.Duration) { r.Wait = d.Milliseconds() }

// judge returns the result of an attempt by what the client returned.
func (o *Outbox[TTx]) judge(a *attempt, receipt messaging.Receipt, err error) result {
	r := result{Key: a.Key, Attempt: a.number}
	r.wait(o.options.Keep) // if it is final
	if err == nil {
		receipt.Raw = nil // it may repeat the number or the text
		r.State, r.Receipt = Accepted, &receipt
		return r
	}
	r.Problem = problemOf(err)
	_, invalid := errors.AsType[*messaging.ValidationError](err)
	verdict := messaging.VerdictOf(err)
	_, retryable := messaging.Retryable(err)
	switch {
	case retryable, verdict == messaging.NotSent && !invalid, verdict == messaging.Refused && isAccount(err) && !namesMessage(err):
		r.State = Waiting
	case invalid, verdict == messaging.Refused && !errors.Is(err, messaging.ErrDuplicate):
		r.State = Refused
		r.wait(o.options.KeepRefused)
	case a.Channel == messaging.ChannelSMS.String():
		r.State = Unknown // or the service has the message already
		r.wait(o.round())
	default:
		r.State = Parked // nothing lists the messages of the chat apps
	}
	return r
}

// problemOf returns the text of an error for a row. PostgreSQL has no text with a zero byte.
func problemOf(err error) string { return strings.ReplaceAll(err.Error(), "\x00", "") }

// wasTried reports whether something was tried for a message that was not sent. It was not if the client waited all the time, for
// its rate limit, its circuit breaker or a context. That costs the message no attempt.
func wasTried(err error) bool {
	if errors.Is(err, messaging.ErrBreakerOpen) {
		return false
	}
	e, ok := errors.AsType[*messaging.Error](err)
	return ok && e.Attempts > 0 || !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// isAccount reports whether the service would refuse every other message too: wrong credentials, or no credit.
func isAccount(err error) bool {
	return errors.Is(err, messaging.ErrUnauthorized) || errors.Is(err, messaging.ErrInsufficientBalance)
}

// namesMessage reports whether a response that refuses a message names one: the service may have it.
func namesMessage(err error) bool {
	e, ok := errors.AsType[*messaging.Error](err)
	return ok && e.NamesMessage()
}

// recordUntil records results, also if ctx has ended, and tries again until a time if the database is away.
func (o *Outbox[TTx]) recordUntil(ctx context.Context, end time.Time, results []result) error {
	for {
		err := o.recorder.add(results, func(all []result) error { return o.record(ctx, all) })
		if err == nil || time.Now().After(end) {
			return err
		}
		<-time.After(o.options.SendTimeout / 20)
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
			not_before = CASE WHEN value->>'state' = 'waiting' THEN CLOCK + CAST(value->>'wait' AS BIGINT) ELSE not_before END,
			failures = failures + CAST(value->>'failed' AS BIGINT),
			message = CASE WHEN value->>'state' = 'accepted' THEN NULL ELSE message END,
			recipient = CASE WHEN value->>'state' IN ('accepted', 'refused') THEN NULL ELSE recipient END
		FROM ROWS
		WHERE channel = value->>'channel' AND reference = value->>'reference'
			AND attempt = CAST(value->>'attempt' AS BIGINT) AND state || '' IN ('waiting', 'sending', 'unknown', 'parked')
			AND NOT (state || '' = 'waiting' AND value->>'state' IN ('unknown', 'parked'))`,
		list[result](results))
}

// recorder joins the results of the jobs of a process: what comes while some are written goes into the next statement.
type recorder struct {
	mu      sync.Mutex
	writing sync.Mutex // held while a statement runs
	next    *results   // is not written yet, or nil
}

// results are written together.
type results struct {
	all  []result
	done chan struct{} // closed when err is known
	err  error
}

// add returns when some results have been written, by its caller or by another one.
func (r *recorder) add(some []result, write func([]result) error) error {
	r.mu.Lock()
	first := r.next == nil
	if first {
		r.next = &results{done: make(chan struct{})}
	}
	mine := r.next
	mine.all = append(mine.all, some...)
	r.mu.Unlock()
	if !first {
		<-mine.done
		return mine.err
	}
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	r.next = nil
	r.mu.Unlock()
	mine.err = write(mine.all)
	close(mine.done)
	return mine.err
}
