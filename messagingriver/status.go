package messagingriver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Status is the state of an outbox at a time.
type Status struct {
	// Channels has every channel, and others of which there are messages, sorted by name.
	Channels []ChannelStatus `json:"channels"`
	// Rate is the rate of all processes in messages a second, as SetRate has it, or the highest Options.Rate of the workers; 0 is
	// no limit.
	Rate float64 `json:"rate"`
	// Workers is how many workers live, and LastMinute how many messages were accepted in the last minute.
	Workers    int `json:"workers"`
	LastMinute int `json:"lastMinute"`
}

// ChannelStatus is the state of a channel.
type ChannelStatus struct {
	Channel string `json:"channel"`
	// States has the states of which there are messages.
	States []StateCount `json:"states"`
	// Paused reports whether nothing is sent, because of a person or the account. Problem is what the service says of the account,
	// or "".
	Paused  bool   `json:"paused"`
	Problem string `json:"problem,omitempty"`
	// Breaker is why the shared circuit breaker is open, or "".
	Breaker string `json:"breaker,omitempty"`
	// ProbeAt is when the next message probes, if there is a Problem or a Breaker; after Resume the zero time, for at once.
	ProbeAt time.Time `json:"probeAt,omitzero"`
}

// StateCount is the number of messages in a state.
type StateCount struct {
	State    State `json:"state"`
	Messages int   `json:"messages"`
	// Due is how many of those that wait could be sent now: no worker holds them.
	Due int `json:"due,omitempty"`
	// Oldest is for how long the oldest of them has been in the outbox, or could have been sent if it was scheduled. A message
	// that is scheduled for later has no age.
	Oldest time.Duration `json:"oldest"`
}

// Status returns the state of the outbox. Beyond a million rows, PostgreSQL estimates how many of them are final, by the statistics
// of its last ANALYZE.
func (o *Outbox[TTx]) Status(ctx context.Context) (Status, error) {
	final, err := fetch(ctx, o.database, countColumns, o.database.estimate)
	if err != nil {
		return Status{}, err
	}
	if len(final) > 0 {
		return o.status(ctx, openStates, final)
	}
	return o.status(ctx, "true", nil)
}

// openStates has each index of states serve a part.
const openStates = "(state = 'waiting' OR state <> 'waiting' AND state IN ('sending', 'unknown', 'parked'))"

// count is how many messages of a channel are in a state.
type count struct {
	StateCount

	channel string
}

func countColumns(c *count) []any { return []any{&c.channel, &c.State, &c.Messages, &c.Due, &c.Oldest} }

// status is Status for the rows that meet a condition, and others that were counted before.
func (o *Outbox[TTx]) status(ctx context.Context, where string, counts []count) (Status, error) {
	open, err := fetchMany(ctx, o, countColumns, `
		SELECT channel, state, COUNT(*), SUM(CASE WHEN state = 'waiting' AND due_at <= CLOCK THEN 1 ELSE 0 END),
			COALESCE(LATER(0, 1000000 * (CLOCK - MIN(CASE WHEN not_before <= CLOCK THEN LATER(created_at, not_before) END))), 0)
		FROM messaging_outbox WHERE `+where+" GROUP BY channel, state")
	if err != nil {
		return Status{}, err
	}
	counts = append(counts, open...)
	slices.SortFunc(counts, func(a, b count) int { return slices.Index(States(), a.State) - slices.Index(States(), b.State) })
	channels := map[string]ChannelStatus{}
	for _, name := range o.names() {
		channels[name] = ChannelStatus{}
	}
	for _, c := range counts {
		channels[c.channel] = ChannelStatus{States: append(channels[c.channel].States, c.StateCount)}
	}
	type trouble struct {
		channel, cause string
		account        bool
		probeAt        int64
	}
	troubles, err := fetch(ctx, o.database, func(t *trouble) []any { return []any{&t.channel, &t.cause, &t.account, &t.probeAt} }, `
		SELECT channel, cause, account = 1, probe_at FROM messaging_breaker
		UNION ALL SELECT name, '', false, 0 FROM messaging_pause WHERE kind = 'channel'`)
	if err != nil {
		return Status{}, err
	}
	var status Status
	for _, name := range slices.Sorted(maps.Keys(channels)) {
		channel := channels[name]
		channel.Channel = name
		for _, t := range troubles {
			switch {
			case t.channel != name:
			case t.cause == "": // of a person
				channel.Paused = true
			case t.account:
				channel.Paused, channel.Problem, channel.ProbeAt = true, t.cause, timeOf(t.probeAt)
			default:
				channel.Breaker, channel.ProbeAt = t.cause, timeOf(t.probeAt)
			}
		}
		status.Channels = append(status.Channels, channel)
	}
	_, err = fetch(ctx, o.database, func(*struct{}) []any { return []any{&status.Rate, &status.Workers, &status.LastMinute} }, `
		SELECT COALESCE(rate, (SELECT MAX(rate) FROM messaging_live WHERE seen_at > CLOCK - CAST($2 AS BIGINT)), CAST($1 AS DOUBLE PRECISION)),
			(SELECT COUNT(*) FROM messaging_live WHERE seen_at > CLOCK - CAST($2 AS BIGINT)),
			(SELECT COUNT(*) FROM messaging_outbox WHERE state = 'accepted' AND due_at > CLOCK - 60000)
		FROM messaging_rate WHERE name = 'account'`, o.options.Rate, lifetime.Milliseconds())
	return status, err
}

// Pause stops the messages of some channels, or of all if none is given, until Resume. Messages under way end.
func (o *Outbox[TTx]) Pause(ctx context.Context, channels ...string) error {
	return o.eachChannel(ctx, channels, "INSERT INTO messaging_pause (kind, name) VALUES ('channel', $1) ON CONFLICT DO NOTHING")
}

// Resume ends what Pause began, and has channels that the outbox itself paused be tried at once.
func (o *Outbox[TTx]) Resume(ctx context.Context, channels ...string) error {
	return errors.Join(o.eachChannel(ctx, channels, "DELETE FROM messaging_pause WHERE kind = 'channel' AND name = $1"),
		o.eachChannel(ctx, channels, "UPDATE messaging_breaker SET probe_at = 0 WHERE channel = $1"))
}

func (o *Outbox[TTx]) eachChannel(ctx context.Context, channels []string, statement string) error {
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
		err = errors.Join(err, o.database.exec(ctx, statement, name))
	}
	return err
}
