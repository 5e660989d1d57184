package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// Message is a message or an answer in the API.
type Message struct {
	ID          string          `json:"id"`
	Direction   string          `json:"direction"` // "sent" by a program, or "answer" of a recipient
	Channel     string          `json:"channel"`
	Kind        string          `json:"kind"`
	From        string          `json:"from"`
	To          string          `json:"to"`
	Text        string          `json:"text"`
	Code        string          `json:"code,omitempty"`
	State       contract.Status `json:"state,omitempty"`
	At          time.Time       `json:"at"` // when it was accepted or answered, on the clock of the sandbox
	ReferenceID string          `json:"referenceID,omitempty"`
	RequestID   string          `json:"requestID,omitempty"`
	Parts       int             `json:"parts,omitempty"`
	Cost        string          `json:"cost,omitempty"`
	Template    string          `json:"template,omitempty"`
	TTLSeconds  float64         `json:"ttlSeconds,omitempty"`
	FallbackOf  string          `json:"fallbackOf,omitempty"` // the message that this SMS replaces
	Fallback    string          `json:"fallback,omitempty"`   // the SMS that replaced this message
	Body        json.RawMessage `json:"body,omitempty"`
	States      []Reached       `json:"states"`
	Fault       string          `json:"fault,omitempty"`    // that the request met
	Exchange    int             `json:"exchange,omitempty"` // the request, in traffic
	Calls       []*Call         `json:"calls"`
	Pending     bool            `json:"pending"` // a webhook is being called
}

// messageOf returns the fields of a program's message that do not change.
func messageOf(m *messagingtest.Sent) Message {
	return Message{
		ID:          m.ID,
		Direction:   "sent",
		Channel:     m.Channel,
		Kind:        m.Kind,
		From:        m.From,
		To:          m.To,
		Text:        m.Text,
		At:          m.At,
		ReferenceID: m.ReferenceID,
		RequestID:   m.RequestID,
		Parts:       m.Parts,
		Cost:        cmp.Or(m.Price, cost(m.Parts)),
		Template:    m.Template,
		TTLSeconds:  m.TTL.Seconds(),
		FallbackOf:  m.FallbackOf,
	}
}

// cost returns the price of a message.
func cost(parts int) string { return fmt.Sprintf("%.2f", 0.5*float64(parts)) } // as in package messagingtest

// answerMessage returns the fields of an answer that do not change.
func answerMessage(id string, a *Answer, at time.Time) Message {
	return Message{
		ID:        id,
		Direction: "answer",
		Channel:   a.Channel,
		Kind:      string(a.Kind),
		From:      a.From,
		To:        a.To,
		Text:      a.Text,
		At:        at,
	}
}

// message returns an entry for the API.
func (st *sandboxState) message(e *entry) Message {
	m := e.Message
	m.Pending = e.open > 0
	m.Calls = append([]*Call{}, e.Calls...)
	m.States = append([]Reached{}, e.States...)
	if st.traffic.byID[m.Exchange] == nil {
		m.Exchange = 0
	}
	if st.book.byID[e.replacer] != nil {
		m.Fallback = e.replacer
	}
	if e.Sent != nil {
		m.Code = e.code()
		m.State = e.Sent.Status
		m.Body = e.Sent.Body
	}
	if len(m.Body) > 0 && !json.Valid(m.Body) {
		m.Body, _ = json.Marshal(string(m.Body)) // a string
	}
	return m
}

// Out reports whether a program sent it.
func (m Message) Out() bool { return m.Direction == "sent" }

// LastCall returns the latest call of the webhook, or nil.
func (m Message) LastCall() *Call {
	if len(m.Calls) == 0 {
		return nil
	}
	return m.Calls[len(m.Calls)-1]
}

// states returns the states of a message.
func states() []contract.Status {
	return []contract.Status{
		contract.StatusQueued, contract.StatusSent, contract.StatusDelivered, contract.StatusRead, contract.StatusFailed,
		contract.StatusExpired,
	}
}

var errState = errors.New("state must be queued, sent, delivered, read, failed or expired")
