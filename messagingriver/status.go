package messagingriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
)

// Status is the state of an outbox at a time.
type Status struct {
	// Channels has every channel, and others of which there are messages, sorted by name.
	Channels []ChannelStatus `json:"channels"`
	// Rate is the rate of all processes in messages a second, as SetRate has it, or Options.Rate of the worker that did the last
	// round; 0 is no limit.
	Rate float64 `json:"rate"`
}

// ChannelStatus is the state of a channel.
type ChannelStatus struct {
	Channel string `json:"channel"`
	// States has the states of which there are messages.
	States []StateCount `json:"states"`
	// Paused reports whether the channel's queue is paused. Problem is why the outbox paused it, and ProbeAt when it tries again.
	// If a person paused it, both are zero.
	Paused  bool      `json:"paused"`
	Problem string    `json:"problem,omitempty"`
	ProbeAt time.Time `json:"probeAt,omitzero"`
	// Breaker is why the circuit breaker of some process was open within the last ten seconds, or "".
	Breaker string `json:"breaker,omitempty"`
}

// StateCount is the number of messages in a state.
type StateCount struct {
	State    State `json:"state"`
	Messages int   `json:"messages"`
	// Oldest is for how long the oldest of them has been in the outbox, or could have been sent if it was scheduled. A message
	// that is scheduled for later has no age.
	Oldest time.Duration `json:"oldest"`
}

// Status returns the state of the outbox. It counts all messages, which takes a while if there are millions.
func (o *Outbox[TTx]) Status(ctx context.Context) (Status, error) { return o.status(ctx, "") }

// status is Status for the rows that meet a condition.
func (o *Outbox[TTx]) status(ctx context.Context, where string) (Status, error) {
	type row struct {
		channel string
		state   State
		n       int
		oldest  sql.NullInt64
	}
	counts, err := fetch(ctx, o.database, func(r *row) []any { return []any{&r.channel, &r.state, &r.n, &r.oldest} }, `
		SELECT channel, state, COUNT(*), CLOCK - MIN(CASE WHEN not_before <= CLOCK THEN LATER(created_at, not_before) END)
		FROM messaging_outbox `+where+` GROUP BY channel, state`)
	if err != nil {
		return Status{}, err
	}
	byName := map[string]*ChannelStatus{}
	for _, name := range o.names() {
		byName[name] = &ChannelStatus{Channel: name}
	}
	for _, r := range counts {
		if byName[r.channel] == nil {
			byName[r.channel] = &ChannelStatus{Channel: r.channel}
		}
		oldest := time.Duration(max(0, r.oldest.Int64)) * time.Millisecond
		byName[r.channel].States = append(byName[r.channel].States, StateCount{r.state, r.n, oldest})
	}
	type pause struct {
		queue, problem string
		probeAt        int64
	}
	pauses, err := fetch(ctx, o.database, func(p *pause) []any { return []any{&p.queue, &p.problem, &p.probeAt} }, `
		SELECT queue, problem, probe_at FROM messaging_pause
		UNION ALL SELECT name, '', 0 FROM river_queue WHERE paused_at IS NOT NULL AND name NOT IN (SELECT queue FROM messaging_pause)`)
	if err != nil {
		return Status{}, err
	}
	type open struct{ channel, cause string }
	breakers, err := fetch(ctx, o.database, func(b *open) []any { return []any{&b.channel, &b.cause} },
		"SELECT channel, cause FROM messaging_breaker WHERE seen_at > CLOCK - CAST($1 AS BIGINT)", (2 * holdUp).Milliseconds())
	if err != nil {
		return Status{}, err
	}
	var status Status
	for name, channel := range byName {
		for _, p := range pauses {
			if p.queue == queueOf(name) {
				channel.Paused, channel.Problem = true, p.problem
				if p.probeAt > 0 {
					channel.ProbeAt = time.UnixMilli(p.probeAt)
				}
			}
		}
		for _, b := range breakers {
			if b.channel == name {
				channel.Breaker = b.cause
			}
		}
		slices.SortFunc(channel.States, func(a, b StateCount) int {
			return slices.Index(States(), a.State) - slices.Index(States(), b.State)
		})
		status.Channels = append(status.Channels, *channel)
	}
	slices.SortFunc(status.Channels, func(a, b ChannelStatus) int { return strings.Compare(a.Channel, b.Channel) })
	rate, err := fetch(ctx, o.database, func(f *float64) []any { return []any{f} },
		`SELECT COALESCE(rate, (SELECT rate FROM messaging_rate WHERE name = 'workers'), CAST($1 AS DOUBLE PRECISION))
		FROM messaging_rate WHERE name = 'account'`, o.options.Rate)
	if len(rate) > 0 {
		status.Rate = rate[0]
	}
	return status, err
}

// Pause pauses the queues of some channels, or of all if none is given, until Resume. Messages under way end. It is River's
// pause, so River's page shows it, too. The outbox itself never resumes a queue that a person paused.
func (o *Outbox[TTx]) Pause(ctx context.Context, channels ...string) error {
	return o.eachQueue(ctx, channels, o.river.QueuePause)
}

// Resume resumes the queues of some channels, or of all if none is given, whoever paused them.
func (o *Outbox[TTx]) Resume(ctx context.Context, channels ...string) error {
	return o.eachQueue(ctx, channels, o.river.QueueResume)
}

func (o *Outbox[TTx]) eachQueue(
	ctx context.Context, channels []string, do func(context.Context, string, *river.QueuePauseOpts) error,
) error {
	for _, name := range channels {
		if _, ok := o.channels[name]; !ok {
			return fmt.Errorf("messagingriver: there is no channel %q; want one of %v", name, o.names())
		}
	}
	if len(channels) == 0 {
		channels = o.names()
	}
	var err error
	for _, name := range channels {
		err = errors.Join(err, o.changeQueue(ctx, queueOf(name), do))
	}
	return err
}

func (o *Outbox[TTx]) changeQueue(ctx context.Context, queue string, do func(context.Context, string, *river.QueuePauseOpts) error) error {
	// River knows a queue when a process has worked it. One that was never worked can be paused, too.
	if _, err := o.database.driver.GetExecutor().QueueCreateOrSetUpdatedAt(ctx,
		&riverdriver.QueueCreateOrSetUpdatedAtParams{Metadata: []byte("{}"), Name: queue}); err != nil {
		return err
	}
	if err := o.database.exec(ctx, "DELETE FROM messaging_pause WHERE queue = $1", queue); err != nil {
		return err
	}
	return do(ctx, queue, nil)
}
