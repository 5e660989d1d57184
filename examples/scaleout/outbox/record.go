package outbox

import "encoding/json"

// State is the state of a message.
type State string

// The states. Accepted, Refused and Parked are final for every process. An operator can still resolve Refused and Parked.
const (
	// Loading: a loader is taking the message in. It may not be in the stream yet.
	Loading State = "loading"
	// Queued: the message waits to be sent, for the first time or again.
	Queued State = "queued"
	// Sending: a worker may be sending the message.
	Sending State = "sending"
	// Unknown: the message may have been sent, and no worker is sending it now. It must be looked up first.
	Unknown State = "unknown"
	// Accepted: the service accepted the message.
	Accepted State = "accepted"
	// Refused: the service refused the message, the library rejected it, or an operator dropped it.
	Refused State = "refused"
	// Parked: the message may have been sent, and only an operator can find out.
	Parked State = "parked"
)

// States returns the states in the order in which a message passes through them.
func States() []State {
	return []State{Loading, Queued, Sending, Unknown, Accepted, Refused, Parked}
}

// IsFinal reports whether processes have nothing left to do for a message in state s.
func (s State) IsFinal() bool { return s == Accepted || s == Refused || s == Parked }

// Record holds what became of a message. It holds the message itself only while an operator may want to send it again.
type Record struct {
	State State `json:"state"`
	// Attempt counts the attempts that were started.
	Attempt int `json:"attempt,omitempty"`
	// Worker identifies the last attempt and the worker that made it.
	Worker string `json:"worker,omitempty"`
	// Hash is the hash of the message. It exposes another message under the same reference ID.
	Hash string `json:"hash"`
	// Reference is the reference ID.
	Reference string `json:"reference"`
	// MessageID is the service's ID of an accepted message.
	MessageID string `json:"messageId,omitempty"`
	// OtherIDs are the service's IDs from attempts that were accepted after a later attempt had started. If there are any, the
	// message may have been sent more than once.
	OtherIDs []string `json:"otherIds,omitempty"`
	// Reason says why the message is in this state. It holds nothing of the message.
	Reason string `json:"reason,omitempty"`
	// Line is the message, if it is refused, parked, or being taken in again.
	Line json.RawMessage `json:"line,omitempty"`
}

// withState returns the record in another state, without the line of its former state.
func (r Record) withState(state State, reason string) Record {
	r.State, r.Reason, r.Line = state, reason, nil
	return r
}

// withLine returns the record with the message in it, so that an operator can send it again.
func (r Record) withLine(line []byte) Record {
	r.Line = line
	return r
}
