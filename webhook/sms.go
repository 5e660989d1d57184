package webhook

import (
	"log/slog"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// SMSMessage is an inbound SMS. From is never empty. Any other field is empty or zero if the callback does not carry it.
type SMSMessage struct {
	// ID is the message ID of the service.
	ID string `json:"id,omitzero"`
	// From is the number of the sender, without white space around it. A + that arrived as a space, because it was not escaped, is restored.
	From string `json:"from,omitzero"`
	// To is the access code or virtual number that received the message.
	To string `json:"to,omitzero"`
	// Text is the text in valid UTF-8, decoded once. It may be empty, may be white space, and may hold control characters, even zero bytes,
	// which PostgreSQL cannot store.
	Text string `json:"text,omitzero"`
	// ReferenceID is the reference ID that the callback carries, if the service sends one.
	ReferenceID string `json:"referenceID,omitzero"`
	// Operator is the mobile operator of the sender.
	Operator string `json:"operator,omitzero"`
	// Keyword is the keyword that the service recognized.
	Keyword string `json:"keyword,omitzero"`
	// ReceivedAt is when the service received the message. It is zero if the callback has no time, or one in an unknown form.
	ReceivedAt time.Time `json:"received,omitzero"`
	// RawTime is the time as it arrived.
	RawTime string `json:"rawTime,omitzero"`
	// Ambiguous reports whether an ID, a sender, a recipient or a reference arrived twice with different values. The value whose name comes
	// first in the contract is used. A parameter with the name id may be the ID of the callback, so it may differ from the message ID.
	//
	// A text that was not escaped can hold parameters of its own: the sender may have typed them. Treat an ambiguous event as a text from an
	// unknown sender: change no account because of it, and do not reply, because From may be someone else.
	Ambiguous bool `json:"ambiguous,omitzero"`
	// Params are all parameters, including those of the fields above.
	Params Params `json:"params,omitzero"`
	// RawQuery is the query byte for byte, without secrets.
	RawQuery string `json:"-"`
}

func (f *fields) appendSMS(d *decision, events []event) ([]event, error) {
	m := &SMSMessage{
		ID:          f.id(),
		From:        number(f.value(conceptFrom)),
		To:          number(f.value(conceptTo)),
		Text:        f.value(conceptText),
		ReferenceID: f.value(conceptReference),
		Operator:    f.value(conceptOperator),
		Keyword:     f.value(conceptKeyword),
		ReceivedAt:  f.callback.moment(f.value(conceptTime)),
		RawTime:     f.value(conceptTime),
		Ambiguous:   d.isAmbiguous,
		Params:      f.params,
		RawQuery:    f.query,
	}
	if m.From == "" {
		return events, f.callback.refuse(ErrNoSender)
	}
	return append(events, m), nil
}

// DuplicateKey returns the key by which a [Store] knows the message, for programs that remember messages themselves. It covers the fields of the
// message, such as its ID, its time and its text, and, if the message has no ID or is Ambiguous, all parameters.
//
// If lasting is false, the message has neither an ID that identifies it nor a time with seconds. The same key may then come from a second
// genuine message, so use it for a short time only.
func (m SMSMessage) DuplicateKey() (key string, lasting bool) {
	hasID := table.Identifies(m.ID)
	key = duplicateKey(CallbackSMS, hasID && !m.Ambiguous, nil, m.Params,
		m.ID, m.ReferenceID, m.From, m.To, m.Text, m.Operator, m.Keyword, m.RawTime)
	return key, hasID || isPrecise(m.ReceivedAt)
}

func (m *SMSMessage) about() (kind, id string) { return string(CallbackSMS), m.ID }

// LogValue returns the message without personal data: its ID, when it was received, and whether it is ambiguous.
func (m SMSMessage) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("id", loggable(m.ID)),
		slog.Time("received_at", m.ReceivedAt),
		slog.Bool("ambiguous", m.Ambiguous),
	)
}
