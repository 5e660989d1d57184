package outbox

import (
	"encoding/json"
	"strings"
	"time"
)

// State is the state of a message.
type State string

// The states. Accepted, Refused and Parked are final for every process. An operator can still resolve Refused and Parked.
const (
	// Queued: the message waits to be sent, for the first time or again.
	Queued State = "queued"
	// Sending: a worker may be sending the message.
	Sending State = "sending"
	// Unknown: the message may have been sent, and no worker is sending it now. It must be looked up first.
	Unknown State = "unknown"
	// Accepted: the service accepted the message.
	Accepted State = "accepted"
	// Refused: the service refused the message, the library rejected it, it expired, or an operator dropped it.
	Refused State = "refused"
	// Parked: only an operator can find out what became of the message, or what to do with it.
	Parked State = "parked"
)

// States returns the states in the order in which a message passes through them.
func States() []State { return []State{Queued, Sending, Unknown, Accepted, Refused, Parked} }

// IsFinal reports whether processes have nothing left to do for a message in state s.
func (s State) IsFinal() bool { return s == Accepted || s == Refused || s == Parked }

// Record holds what became of a message, and the message itself until the service has accepted it.
type Record struct {
	State State `json:"state"`
	// Attempt counts the attempts that were started.
	Attempt int `json:"attempt,omitempty"`
	// Worker identifies the last attempt and the worker that made it.
	Worker string `json:"worker,omitempty"`
	// SentAt is when the last attempt began, by the engine's clock.
	SentAt time.Time `json:"sentAt,omitzero"`
	// Lane and Token say which token in the stream stands for the message.
	Lane  string `json:"lane"`
	Token int    `json:"token,omitempty"`
	// Hash is the hash of the line that was loaded. It exposes another message under the same reference ID. It is empty if the record
	// was lost.
	Hash string `json:"hash"`
	// Reference is the reference ID.
	Reference string `json:"reference"`
	// MessageID is the service's ID of an accepted message.
	MessageID string `json:"messageId,omitempty"`
	// Overtaken lists the attempts that were still unknown when the message was queued again, and those that ended after a later one
	// had started. If there are any, the message may have been sent more than once.
	Overtaken []Overtaken `json:"overtaken,omitempty"`
	// Reason says why the message is in this state. It holds nothing of the message.
	Reason string `json:"reason,omitempty"`
	// Line is the message as it was loaded. An accepted message has none.
	Line json.RawMessage `json:"line,omitempty"`
}

// Overtaken is an attempt that another one followed before it had a verdict.
type Overtaken struct {
	Attempt int `json:"attempt"`
	// State is how it ended: Accepted, Refused, Queued if nothing was processed, or Unknown.
	State State `json:"state"`
	// MessageID is the service's ID if it was accepted.
	MessageID string `json:"messageId,omitempty"`
}

// settleLane is the lane of messages with an unknown outcome.
const settleLane = "settle"

// withState returns the record in another state. A message that was accepted is dropped from it.
func (r Record) withState(state State, reason string) Record {
	r.State, r.Reason = state, reason
	if state == Accepted {
		r.Line = nil
	}
	return r
}

// onLane returns the record with a new token on a lane.
func (r Record) onLane(lane string) Record {
	r.Lane = lane
	r.Token++
	return r
}

// Entry is a record as it was read or written.
type Entry struct {
	Key     string
	Channel Channel
	// Since is when the record was written, by the engine's clock.
	Since time.Time
	Record

	revision uint64 // 0 if there is no record
	value    []byte // as it was read
}

func channelOf(key string) Channel {
	channel, _, _ := strings.Cut(key, ".")
	return Channel(channel)
}
