package wire

import "time"

// Tail is what every chat-app message ends with, whatever it says.
type Tail struct {
	TTL         time.Duration
	Fallback    *Fallback
	CallbackURL string
	ReferenceID string
}

// Fallback is an sms.Fallback.
type Fallback struct{ From, Text string }

// AppendTo appends the fields of the tail.
func (t Tail) AppendTo(fields []Field) []Field {
	var from, text string
	if t.Fallback != nil {
		from, text = t.Fallback.From, t.Fallback.Text
	}
	return append(
		fields,
		Field{Concept: "ttl", Name: "TTL", Value: t.TTL},
		Field{Concept: "fallbackFrom", Name: "Fallback.From", Text: from, Required: t.Fallback != nil, Reason: CheckNotBlank(from)},
		Field{Concept: "fallbackText", Name: "Fallback.Text", Text: text, Required: t.Fallback != nil},
		Field{Concept: "callback", Name: "CallbackURL", Text: t.CallbackURL, Reason: CheckCallbackURL(t.CallbackURL)},
		Field{Concept: "reference", Name: "ReferenceID", Text: t.ReferenceID},
	)
}
