package messagingriver

import (
	"context"
	"time"

	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// ChannelStatus is the state of a channel.
type ChannelStatus struct {
	Channel string `json:"channel"`
	// States has the number of messages in each of River's states, such as States["discarded"].
	States map[rivertype.JobState]int `json:"states"`
	// LookedUp is how many of them have an unknown outcome and are looked up. It is 0 for chat apps, because the service does not list their messages.
	LookedUp int `json:"lookedUp"`
	// Oldest is how long the oldest message that is due has waited. In JSON it is a number of nanoseconds.
	Oldest time.Duration `json:"oldest"`
	// Paused reports whether the queue is paused.
	Paused bool `json:"paused"`
	// Cause is why the outbox pauses the queue: the failure that began the pause or, after a probe failed, that of the last probe. It is "" if a
	// person paused the queue.
	Cause string `json:"cause,omitempty"`
	// NextRequest is when the next request may begin while the outbox pauses the queue, or zero. It is in the past if no message waits.
	NextRequest time.Time `json:"nextRequest,omitzero"`
}

// Status returns the state of every channel, sorted by name. It reads all messages, completed ones too. PausedChannels is faster.
func (o *Outbox[TTx]) Status(ctx context.Context) ([]ChannelStatus, error) {
	return o.status(ctx, o.database.statements.messageCount)
}

// PausedChannels returns the state of the channels that are paused, by the outbox or by a person, sorted by name. It reads no messages, so
// States, LookedUp and Oldest are zero. A program can call it for each request, such as to send a one-time code over another channel. But only a
// message ends a pause of the outbox: once NextRequest has passed, enqueue messages of the channel again.
func (o *Outbox[TTx]) PausedChannels(ctx context.Context) ([]ChannelStatus, error) {
	queues, err := o.queueStatus(ctx)
	if err != nil {
		return nil, err
	}
	var paused []ChannelStatus
	for _, name := range o.channelNames() {
		channel := ChannelStatus{Channel: name}
		channel.setPause(queues)
		if channel.Paused {
			paused = append(paused, channel)
		}
	}
	return paused, nil
}

// openStatus is Status without completed and cancelled messages.
func (o *Outbox[TTx]) openStatus(ctx context.Context) ([]ChannelStatus, error) {
	return o.status(ctx, o.database.statements.openMessageCount)
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
	Next   string // when the next request may begin, or "" if the outbox did not pause the queue
	Paused int
}

// status returns the state of every channel, with the messages that a statement counts.
func (o *Outbox[TTx]) status(ctx context.Context, statement string) ([]ChannelStatus, error) {
	var counts []messageCount
	if err := o.database.readJSON(ctx, &counts, statement); err != nil {
		return nil, err
	}
	queues, err := o.queueStatus(ctx)
	if err != nil {
		return nil, err
	}
	var channels []ChannelStatus
	for _, name := range o.channelNames() {
		channels = append(channels, channelStatus(name, counts, queues))
	}
	return channels, nil
}

// queueStatus returns the pauses of all queues.
func (o *Outbox[TTx]) queueStatus(ctx context.Context) ([]queueStatus, error) {
	var queues []queueStatus
	err := o.database.readJSON(ctx, &queues, o.database.statements.queueStatus)
	return queues, err
}

// channelStatus returns the state of one channel.
func channelStatus(name string, counts []messageCount, queues []queueStatus) ChannelStatus {
	channel := ChannelStatus{Channel: name, States: map[rivertype.JobState]int{}}
	for _, count := range counts {
		if count.Channel != name {
			continue
		}
		channel.States[count.State] = count.Messages
		if name == messaging.ChannelSMS.String() { // a chat-app message is in the queue of lookups only to be discarded
			channel.LookedUp += count.LookedUp
		}
		waited := time.Duration(count.Oldest * float64(time.Second))
		channel.Oldest = max(channel.Oldest, waited)
	}
	channel.setPause(queues)
	return channel
}

// setPause sets Paused, Cause and NextRequest to those of the channel's queue.
func (s *ChannelStatus) setPause(queues []queueStatus) {
	for _, queue := range queues {
		if queue.Name == queueOf(s.Channel) {
			s.Paused = queue.Paused == 1
			s.Cause = queue.Cause
			s.NextRequest, _ = time.Parse(time.RFC3339Nano, queue.Next)
		}
	}
}
