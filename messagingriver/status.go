package messagingriver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river/rivertype"
)

// Status is the state of an outbox at a time.
type Status struct {
	// Channels has every channel, sorted by name.
	Channels []ChannelStatus `json:"channels"`
}

// ChannelStatus is the state of a channel.
type ChannelStatus struct {
	Channel string `json:"channel"`
	// States has how many messages are in each of River's states.
	States map[rivertype.JobState]int `json:"states"`
	// LookedUp is how many of them have an unknown outcome and are looked up.
	LookedUp int `json:"lookedUp"`
	// Oldest is for how long the oldest message that could be sent has waited since then.
	Oldest time.Duration `json:"oldest"`
	// Paused reports whether the queue is paused. Cause is why the outbox did so, or "" if a person did.
	Paused bool   `json:"paused"`
	Cause  string `json:"cause,omitempty"`
}

// Status returns the state of the outbox. It reads all messages.
func (o *Outbox[TTx]) Status(ctx context.Context) (Status, error) { return o.status(ctx, "true") }

// isOpen is the condition that a job is not completed or cancelled.
const isOpen = "state IN ('available', 'scheduled', 'retryable', 'running', 'pending', 'discarded')"

// status is Status for the messages that meet a condition.
func (o *Outbox[TTx]) status(ctx context.Context, which string) (Status, error) {
	var counts []struct {
		Channel  string
		State    rivertype.JobState
		Messages int
		LookedUp int
		Oldest   float64
	}
	err := o.readJSON(ctx, &counts, `
		SELECT LIST(OBJECT('channel', channel, 'state', state, 'messages', messages, 'lookedup', looked_up, 'oldest', oldest)) FROM (
			SELECT args->>'channel' AS channel, state, COUNT(*) AS messages,
				SUM(CASE WHEN queue = 'messaging_lookups' THEN 1 ELSE 0 END) AS looked_up,
				COALESCE(MAX(CASE WHEN state = 'available' AND queue <> 'messaging_lookups' AND scheduled_at <= NOW
					THEN AGE(CASE WHEN scheduled_at > created_at THEN scheduled_at ELSE created_at END) END), 0) AS oldest
			FROM JOBS WHERE kind = 'messaging' AND `+which+" GROUP BY 1, 2) AS counted")
	if err != nil {
		return Status{}, err
	}
	var queues []struct {
		Name, Cause string
		Paused      int
	}
	err = o.readJSON(ctx, &queues, `SELECT LIST(OBJECT('name', name, 'paused', CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END,
		'cause', CASE WHEN `+isHeld+` THEN metadata->'pause'->>'cause' ELSE '' END)) FROM QUEUES`)
	if err != nil {
		return Status{}, err
	}
	var status Status
	for _, name := range o.channelNames() {
		channel := ChannelStatus{Channel: name, States: map[rivertype.JobState]int{}}
		for _, count := range counts {
			if count.Channel != name {
				continue
			}
			channel.States[count.State] = count.Messages
			channel.LookedUp += count.LookedUp
			channel.Oldest = max(channel.Oldest, time.Duration(count.Oldest*float64(time.Second)))
		}
		for _, queue := range queues {
			if queue.Name == queueOf(name) {
				channel.Paused, channel.Cause = queue.Paused == 1, queue.Cause
			}
		}
		status.Channels = append(status.Channels, channel)
	}
	return status, nil
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
