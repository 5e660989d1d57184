package sms

import (
	"fmt"
	"io"
	"log/slog"
	"unicode/utf8"
)

// Fallback is the SMS that goes out in place of a chat-app message that does not reach its recipient. The service sends it;
// both fields are required. It is plain data, and printed or logged it shows measures, not the text.
type Fallback struct {
	// From is the sender ID of the SMS.
	From string
	// Text is its text, as in a Message: in any script, valid UTF-8. Count estimates how many parts it is charged as.
	Text string
}

// Format prints how long the fields are, in every verb.
func (b Fallback) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, b.summary()) }

// LogValue logs what Format prints.
func (b Fallback) LogValue() slog.Value { return slog.StringValue(b.summary()) }

func (b Fallback) summary() string {
	return fmt.Sprintf("sms.Fallback{From: %d characters, Text: %d characters}", utf8.RuneCountInString(b.From), utf8.RuneCountInString(b.Text))
}
