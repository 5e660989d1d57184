package messagingriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
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
	// Paused reports whether nothing is sent, because of a person or the account. Problem is what the service says of the account,
	// or "".
	Paused  bool   `json:"paused"`
	Problem string `json:"problem,omitempty"`
	// Breaker is why the shared circuit breaker is open, or "".
	Breaker string `json:"breaker,omitempty"`
	// ProbeAt is when the next message probes, if there is a Problem or a Breaker.
	ProbeAt time.Time `json:"probeAt,omitzero"`
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
	for name, channel := range byName {
		for _, t := range troubles {
			switch {
			case t.channel != name:
			case t.probeAt == 0:
				channel.Paused = true
			case t.account:
				channel.Paused, channel.Problem, channel.ProbeAt = true, t.cause, time.UnixMilli(t.probeAt)
			default:
				channel.Breaker, channel.ProbeAt = t.cause, time.UnixMilli(t.probeAt)
			}
		}
		slices.SortFunc(channel.States, func(a, b StateCount) int {
			return slices.Index(States(), a.State) - slices.Index(States(), b.State)
		})
		status.Channels = append(status.Channels, *channel)
	}
	slices.SortFunc(status.Channels, func(a, b ChannelStatus) int { return strings.Compare(a.Channel, b.Channel) })
	rate, err := fetch(ctx, o.database, func(f *float64) []any { return []any{f} },
		`SELECT COALESCE(rate, (SELECT MAX(rate) FROM messaging_live WHERE seen_at > CLOCK - CAST($2 AS BIGINT)), CAST($1 AS DOUBLE PRECISION))
		FROM messaging_rate WHERE name = 'account'`, o.options.Rate, lifetime.Milliseconds())
	if len(rate) > 0 {
		status.Rate = rate[0]
	}
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
