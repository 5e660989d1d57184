package wire

import "time"

// Tail is what every chat-app message ends with, whatever it says.
type Tail struct {
	TTL          time.Duration
	HasFallback  bool
	FallbackFrom string
	FallbackText string
	CallbackURL  string
	ReferenceID  string
}

// AppendTo appends the fields of the tail.
func (t Tail) AppendTo(fields []Field) []Field {
	return append(
		fields,
		Field{Concept: "ttl", Name: "TTL", Value: t.TTL},
		Field{
			Concept: "fallbackFrom", Name: "Fallback.From", Text: t.FallbackFrom, Required: t.HasFallback,
			Reason: CheckNotBlank(t.FallbackFrom),
		},
		Field{Concept: "fallbackText", Name: "Fallback.Text", Text: t.FallbackText, Required: t.HasFallback},
		Field{Concept: "callback", Name: "CallbackURL", Text: t.CallbackURL, Reason: CheckCallbackURL(t.CallbackURL)},
		Field{Concept: "reference", Name: "ReferenceID", Text: t.ReferenceID},
	)
}
