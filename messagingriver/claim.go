package messagingriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"golang.org/x/sync/errgroup"
)

// A worker claims messages in the table itself, by priority and age, and no more than can begin soon. River's jobs only wake
// workers: a job that runs twice, or too late, finds nothing. Each job claims for a second, and the next one is for any worker.

// wake is River's job for the messages of a channel.
type wake struct {
	atOnce

	Channel string `json:"channel"`
}

func (wake) Kind() string { return "messaging_send" }

// atOnce has jobs begin at once, whatever the clock of the process that inserts them says. River's driver asks it otherwise.
type atOnce struct{}

func (atOnce) Hooks() []rivertype.Hook {
	return []rivertype.Hook{river.HookInsertBeginFunc(func(_ context.Context, job *rivertype.JobInsertParams) error {
		job.ScheduledAt = new(time.Unix(0, 0))
		return nil
	})}
}

func (atOnce) InsertOpts() river.InsertOpts { return river.InsertOpts{Queue: queue, MaxAttempts: 1} }

// jobsFor returns a job for each channel of messages.
func jobsFor(keys ...Key) (jobs []river.InsertManyParams) {
	channels := map[string]bool{}
	for _, key := range keys {
		channels[key.Channel] = true
	}
	for name := range channels {
		jobs = append(jobs, river.InsertManyParams{Args: wake{Channel: name}})
	}
	return jobs
}

// liveness is when this worker last showed that it lives, and when it last ticked, in nanoseconds of uptime.
type liveness struct {
	mu     sync.Mutex
	at     atomic.Int64
	ticked atomic.Int64
}

const (
	// beatEvery is how often a worker shows that it lives, and lifetime when others take it for dead.
	beatEvery, lifetime = 3 * time.Second, 20 * time.Second
	// claimAge is for how long a claim, and a proof of life, let a message begin. With the five seconds for which a guard's yes
	// holds, it is less than lifetime.
	claimAge = 10 * time.Second
)

// Alive reports whether this process works the outbox: whether its River client has lately looked for jobs, with a database that
// responds.
func (o *Outbox[TTx]) Alive() bool {
	last := o.live.at.Load()
	return last > 0 && uptime()-time.Duration(last) < lifetime
}

// beat shows that this worker lives, if it has not lately.
func (o *Outbox[TTx]) beat(ctx context.Context) error {
	o.live.mu.Lock()
	defer o.live.mu.Unlock()
	now := uptime()
	if last := o.live.at.Load(); last > 0 && now-time.Duration(last) < beatEvery {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimAge)
	defer cancel()
	err := o.database.exec(ctx, `
		INSERT INTO messaging_live (worker, seen_at, rate) VALUES ($1, CLOCK, CAST($2 AS DOUBLE PRECISION))
		ON CONFLICT (worker) DO UPDATE SET seen_at = excluded.seen_at`, o.worker, o.options.Rate)
	if err == nil {
		o.live.at.Store(int64(now))
	}
	return err
}

// tick runs in every worker each time River has looked for jobs, once a second at least: the worker lives, and messages whose
// time has come wake one. What fails is done by the next tick.
func (o *Outbox[TTx]) tick(ctx context.Context, params *rivertype.HookMetricEmitParams) {
	of, ok := params.Metric.(*rivertype.JobGetAvailableCountMetric)
	now := int64(uptime())
	if last := o.live.ticked.Load(); !ok || of.Queue != queue || now-last < int64(time.Second*9/10) || !o.live.ticked.CompareAndSwap(last, now) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, beatEvery)
	defer cancel()
	if o.beat(ctx) == nil {
		_ = o.wakeDue(ctx)
	}
}

// wakeDue inserts a job for each channel that has messages whose time has come, unless one waits already.
func (o *Outbox[TTx]) wakeDue(ctx context.Context) error {
	var idle list[Key]
	for name, c := range o.channels {
		if c.claiming.TryLock() { // nobody claims
			c.claiming.Unlock()
			idle = append(idle, Key{Channel: name})
		}
	}
	due, err := o.database.keys(ctx, `
		SELECT value->>'channel', '' FROM ROWS
		WHERE EXISTS (SELECT 1 FROM messaging_outbox o WHERE o.state = 'waiting' AND o.channel = value->>'channel'
				AND o.priority IN (1, 2, 3, 4) AND o.due_at <= CLOCK)
			AND NOT EXISTS (SELECT 1 FROM messaging_pause WHERE kind = 'channel' AND name = value->>'channel')
			AND NOT EXISTS (SELECT 1 FROM messaging_breaker b WHERE b.channel = value->>'channel' AND b.probe_at > CLOCK)
			AND NOT EXISTS (SELECT 1 FROM river_job j WHERE j.kind = 'messaging_send' AND j.state = 'available'
				AND j.args->>'channel' = value->>'channel')`, idle)
	if err != nil || len(due) == 0 {
		return err
	}
	_, err = o.river.InsertManyFast(ctx, jobsFor(due...))
	return err
}

// worker works River's jobs of a kind.
type worker[T river.JobArgs] struct {
	river.WorkerDefaults[T]

	work    func(context.Context, *river.Job[T]) error
	timeout time.Duration // longer than the attempts of a job, or a round, take
}

func (w *worker[T]) Timeout(*river.Job[T]) time.Duration               { return w.timeout }
func (w *worker[T]) Work(ctx context.Context, job *river.Job[T]) error { return w.work(ctx, job) }

// sendSome claims messages of a channel for a second, and returns when all of them have ended.
func (o *Outbox[TTx]) sendSome(ctx context.Context, job *river.Job[wake]) error {
	c, ok := o.channels[job.Args.Channel]
	if !ok || !c.claiming.TryLock() { // another version knows it, or another job of this process claims
		return nil
	}
	var under errgroup.Group
	claimed, more, err := o.claimAll(ctx, c, &under)
	c.claiming.Unlock()
	if more && err == nil && ctx.Err() == nil {
		_, err = o.river.InsertManyFast(ctx, jobsFor(Key{Channel: job.Args.Channel}))
	}
	ended := make(chan error, 1)
	go func() { ended <- under.Wait() }()
	for {
		select {
		case failed := <-ended:
			if o.options.InOrder && claimed > 0 && ctx.Err() == nil { // the next messages of the same recipients
				failed = errors.Join(failed, o.wakeDue(ctx))
			}
			return errors.Join(err, failed)
		case <-time.After(beatEvery):
			_ = o.beat(ctx) // the next one tries again, and a worker that does not live begins nothing
		}
	}
}

// claimAll claims and begins messages for a second. It returns how many, and whether more may wait.
func (o *Outbox[TTx]) claimAll(ctx context.Context, c channel, under *errgroup.Group) (n int64, more bool, _ error) {
	second, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	var begun atomic.Int64
	var none atomic.Bool
	var claims errgroup.Group
	claims.SetLimit(2) // one is executed while another is committed
	for second.Err() == nil {
		places := c.take(second)
		if places == 0 {
			continue
		}
		claims.Go(func() error {
			claimed, given, err := o.claim(ctx, c, places, false)
			probe := false
			if err == nil && len(claimed) == 0 {
				if probe, err = o.takeProbe(ctx, c); probe {
					claimed, given, err = o.claim(ctx, c, 1, true)
				}
			}
			c.flow.hold(len(claimed) - places)
			c.places.Release(int64(places - len(claimed)))
			if err != nil || len(claimed) == 0 {
				none.Store(true)
				cancel()
				return err
			}
			begun.Add(int64(len(claimed)))
			for i := range claimed {
				under.Go(func() error {
					defer c.places.Release(1)
					r := o.send(ctx, c, &claimed[i], given[i])
					err := o.recordUntil(ctx, time.Now().Add(o.options.SendTimeout), r)
					return errors.Join(err, o.heed(ctx, c, r, probe))
				})
			}
			return nil
		})
	}
	err := claims.Wait()
	return begun.Load(), !none.Load(), err
}

// take waits until messages may be claimed, and takes places for them. It returns how many, or 0 if ctx ends.
func (c *channel) take(ctx context.Context) int {
	for c.flow.room() < 1 {
		if sleep(ctx, 10*time.Millisecond) != nil {
			return 0
		}
	}
	if c.places.Acquire(ctx, 1) != nil {
		return 0
	}
	places, most := 1, min(c.flow.room(), c.batch)
	gather, cancel := context.WithTimeout(ctx, 5*time.Millisecond) // what ends soon is claimed with it: fewer statements
	defer cancel()
	if most > 1 && c.places.Acquire(gather, int64(most-1)) == nil {
		places = most
	}
	for places < most && c.places.TryAcquire(1) {
		places++
	}
	c.flow.hold(places)
	return places
}

// claim begins an attempt of up to n messages that may be sent now, when their turns under the rate come. It returns both.
func (o *Outbox[TTx]) claim(ctx context.Context, c channel, n int, probe bool) ([]attempt, []time.Time, error) {
	if err := o.beat(ctx); err != nil {
		return nil, nil, err
	}
	given, err := o.turns(ctx, c, n, probe)
	if err != nil || len(given) == 0 {
		return nil, nil, err
	}
	// A caller that left would not know what was claimed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimAge)
	defer cancel()
	began := uptime()
	claimed, err := o.database.attempts(ctx, `
		WITH batch AS MATERIALIZED (`+o.next("UNLOCKED", probe)+`)
		UPDATE messaging_outbox
		SET state = 'sending', attempt = attempt + 1, began_at = CLOCK, due_at = CLOCK + CAST($3 AS BIGINT), problem = '', worker = $4
		WHERE state = 'waiting' AND `+inBatch,
		len(given), c.channel.String(), (lifetime + o.options.SendTimeout).Milliseconds(), o.worker)
	for i := range claimed {
		claimed[i].claimed = began
	}
	return claimed, given, err
}

// next selects up to $1 messages of the channel $2 that may be sent now, by priority and age. Behind an open breaker there are
// none but for a probe.
func (o *Outbox[TTx]) next(lock string, probe bool) string {
	may := " AND (expires_at IS NULL OR expires_at > CLOCK) AND (campaign IS NULL OR campaign NOT IN (SELECT name FROM messaging_pause WHERE kind = 'campaign'))"
	if o.options.InOrder { // no message to the same recipient comes before; one that waits for its next attempt does
		may += ` AND (recipient IS NULL OR NOT EXISTS (SELECT 1 FROM messaging_outbox o WHERE o.channel = messaging_outbox.channel
			AND o.recipient = messaging_outbox.recipient AND o.reference <> messaging_outbox.reference
			AND (o.state IN ('sending', 'unknown') OR o.state = 'waiting' AND o.seq < messaging_outbox.seq
				AND o.due_at IS NOT NULL AND (o.attempt > 0 OR o.not_before <= CLOCK))))`
	}
	var each []string
	for priority := Urgent; priority <= Bulk; priority++ {
		each = append(each, fmt.Sprintf(`SELECT * FROM (SELECT channel, reference FROM messaging_outbox
			WHERE state = 'waiting' AND channel = $2 AND priority = %d AND due_at <= CLOCK%s ORDER BY due_at LIMIT $1 %s) AS p%d`,
			priority, may, lock, priority))
	}
	return fmt.Sprintf(`SELECT channel, reference FROM (%s) AS best
		WHERE NOT EXISTS (SELECT 1 FROM messaging_pause WHERE kind = 'channel' AND name = $2)
			AND (%t OR NOT EXISTS (SELECT 1 FROM messaging_breaker WHERE channel = $2)) LIMIT $1`, strings.Join(each, " UNION ALL "), probe)
}

// attempt is the right to send a message once. It is recorded before anything is sent, and only its own outcome, or a person,
// lets another attempt begin.
type attempt struct {
	Key

	number   int
	stored   sql.NullString
	age      int64 // since it began, in milliseconds of the database's clock
	failures int
	most     int           // failures
	expires  sql.NullInt64 // in how many milliseconds
	claimed  time.Duration // before it was recorded, as uptime
}
