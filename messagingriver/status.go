package messagingriver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"
)

// ChannelStatus is the state of a channel.
type ChannelStatus struct {
	Channel string `json:"channel"`
	// States has the number of messages in each of River's states.
	States map[rivertype.JobState]int `json:"states"`
	// LookedUp is how many of them have an unknown outcome and are looked up.
	LookedUp int `json:"lookedUp"`
	// Oldest is how long the oldest message that is due has waited.
	Oldest time.Duration `json:"oldest"`
	// Paused reports whether the queue is paused.
	Paused bool `json:"paused"`
	// Cause is why the outbox paused the queue, or "" if a person did.
	Cause string `json:"cause,omitempty"`
}

// Status returns the state of every channel, sorted by name. It reads all messages.
func (o *Outbox[TTx]) Status(ctx context.Context) ([]ChannelStatus, error) {
	return o.status(ctx, "")
}

// openStatus is Status without completed and cancelled messages.
func (o *Outbox[TTx]) openStatus(ctx context.Context) ([]ChannelStatus, error) {
	return o.status(ctx, "AND state IN ('available', 'scheduled', 'retryable', 'running', 'pending', 'discarded')")
}

// messageCount is how many messages of a channel are in a state.
type messageCount struct {
	Channel  string
	State    rivertype.JobState
	Messages int
	LookedUp int
	Oldest   float64 // in seconds
}

// queueStatus is the pause of a queue.
type queueStatus struct {
	Name   string
	Cause  string
	Paused int
}

// status returns the state of every channel, of the messages that meet a condition.
func (o *Outbox[TTx]) status(ctx context.Context, condition string) ([]ChannelStatus, error) {
	var counts []messageCount
	err := o.readJSON(ctx, &counts, `
		SELECT LIST(OBJECT('channel', channel, 'state', state, 'messages', messages, 'lookedup', looked_up, 'oldest', oldest)) FROM (
			SELECT args->>'channel' AS channel, state, COUNT(*) AS messages,
				SUM(CASE WHEN queue = 'messaging_lookups' AND finalized_at IS NULL THEN 1 ELSE 0 END) AS looked_up,
				COALESCE(MAX(CASE WHEN state = 'available' AND queue <> 'messaging_lookups' AND scheduled_at <= NOW
					THEN AGE(CASE WHEN scheduled_at > created_at THEN scheduled_at ELSE created_at END) END), 0) AS oldest
			FROM JOBS WHERE kind = 'messaging' `+condition+" GROUP BY 1, 2) AS counted")
	if err != nil {
		return nil, err
	}
	var queues []queueStatus
	err = o.readJSON(ctx, &queues, `SELECT LIST(OBJECT('name', name, 'paused', CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END,
		'cause', CASE WHEN `+pausedByOutbox+` THEN metadata->'pause'->>'cause' ELSE '' END)) FROM QUEUES`)
	if err != nil {
		return nil, err
	}
	var channels []ChannelStatus
	for _, name := range o.channelNames() {
		channels = append(channels, channelStatus(name, counts, queues))
	}
	return channels, nil
}

// channelStatus returns the state of one channel.
func channelStatus(name string, counts []messageCount, queues []queueStatus) ChannelStatus {
	channel := ChannelStatus{Channel: name, States: map[rivertype.JobState]int{}}
	for _, count := range counts {
		if count.Channel != name {
			continue
		}
		channel.States[count.State] = count.Messages
		channel.LookedUp += count.LookedUp
		waited := time.Duration(count.Oldest * float64(time.Second))
		channel.Oldest = max(channel.Oldest, waited)
	}
	for _, queue := range queues {
		if queue.Name == queueOf(name) {
			channel.Paused = queue.Paused == 1
			channel.Cause = queue.Cause
		}
	}
	return channel
}

// readJSON runs a statement that returns one JSON value or NULL.
func (o *Outbox[TTx]) readJSON(ctx context.Context, target any, statement string, args ...any) error {
	var encoded []byte
	if _, err := o.database.scan(ctx, o.database.executor, []any{&encoded}, statement, args...); err != nil {
		return err
	}
	if len(encoded) == 0 {
		return nil
	}
	if err := json.Unmarshal(encoded, target); err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	return nil
}
