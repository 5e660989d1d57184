package outbox

import "encoding/json"

// State is how far a message has come.
type State string

// The states. Accepted, Refused and Parked are final for every process; a person can still decide on the last two.
const (
	// Loading: it was begun to take the message in; it may not be in the stream.
	Loading State = "loading"
	// Queued: the message waits to be sent, for the first time or again.
	Queued State = "queued"
	// Sending: a worker may be sending the message.
	Sending State = "sending"
	// Unknown: the message may have been sent, and nobody is at it. It is looked up before anything else.
	Unknown State = "unknown"
	// Accepted: the service took the message.
	Accepted State = "accepted"
	// Refused: the service or the library did not take the message, or a person dropped it.
	Refused State = "refused"
	// Parked: the message may have been sent, and nothing but a person can find out.
	Parked State = "parked"
)

// States lists the states in the order in which a message passes through them.
func States() []State {
	return []State{Loading, Queued, Sending, Unknown, Accepted, Refused, Parked}
}

// IsFinal tells whether no process has anything left to do with the message.
func (s State) IsFinal() bool { return s == Accepted || s == Refused || s == Parked }

// Record says what became of a message. It holds the content of the message only while a person may want to send it again.
type Record struct {
	State State `json:"state"`
	// Attempt counts the sends that were begun.
	Attempt int `json:"attempt,omitempty"`
	// Worker names who began the last attempt, each attempt differently.
	Worker string `json:"worker,omitempty"`
	// Hash is that of the message, so that another message under the same reference ID is noticed.
	Hash string `json:"hash"`
	// Reference is the reference ID.
	Reference string `json:"reference"`
	// MessageID is the service's name for a message that it accepted.
	MessageID string `json:"messageId,omitempty"`
	// OtherIDs are the service's names for it from attempts that turned out to be accepted when another had begun: the message may
	// have gone out more than once.
	OtherIDs []string `json:"otherIds,omitempty"`
	// Reason says why the message is in this state, without anything that belongs to it.
	Reason string `json:"reason,omitempty"`
	// Line is the message itself, of a message that is refused or parked, or is being taken in again.
	Line json.RawMessage `json:"line,omitempty"`
}

// becomes gives the record as it goes on. What was true of the state before goes with it.
func (r Record) becomes(state State, reason string) Record {
	r.State, r.Reason, r.Line = state, reason, nil
	return r
}

// keeping gives the record with the message in it, for a person who wants to send it again.
func (r Record) keeping(line []byte) Record {
	r.Line = line
	return r
}
