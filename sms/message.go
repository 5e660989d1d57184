package sms

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Message is one SMS to one recipient. From, To and Text are required, as the specification says; the rest is optional,
// and the zero value of a field means that it is absent and is not sent.
//
// A Message is plain data: Send never changes it, and the same one may be sent from many goroutines at once as long as
// nobody writes to it. Printed with package fmt or logged with log/slog it shows measures, not the number or the text; not so
// inside another value that slog's JSON handler encodes, or in an unexported field, where package fmt asks no method.
//
// The wire names behind the fields are defaults of the contract (see package contract), not facts of the specification.
type Message struct {
	// From is the sender ID: a name or a number that the account may send from. Required. No bounds are known.
	From string
	// To is the recipient: one mobile number of 5 to 15 digits with an optional leading "+", nothing else. Required.
	// It is sent as given. One request reaches one number, as the specification says; for many, see the README.
	To string
	// Text is the message, in any script, valid UTF-8. Required. The service cuts a long text into parts and charges each;
	// Count estimates how many.
	Text string
	// CallbackURL is where the service reports delivery: an absolute http or https URL. It may hold placeholders such
	// as %s anywhere after the host, and is passed on byte for byte.
	CallbackURL string
	// ReferenceID is the caller's own name for the message, such as an order number. It comes back in the Receipt and on
	// errors, and is what an unknown outcome is settled by: give each message one of its own. No bounds are known.
	ReferenceID string
	// Extra holds fields that this library does not know, by their wire names, for what an account needs beyond the
	// contract. Values are whatever encoding/json takes; with the encodings form and query, strings, numbers and
	// booleans. A name that the contract uses is refused, since it would overwrite a field.
	Extra map[string]any
}

// body is a Message under the names of the default contract. The field names are the Message's: errors name them.
type body struct {
	From        string `json:"from,omitzero"        url:"from,omitempty"`
	To          string `json:"to,omitzero"          url:"to,omitempty"`
	Text        string `json:"text,omitzero"        url:"text,omitempty"`
	CallbackURL string `json:"dlrCallback,omitzero" url:"dlrCallback,omitempty"`
	DLRReport   int    `json:"dlrReport,omitzero"   url:"dlrReport,omitempty"`
	ReferenceID string `json:"referenceId,omitzero" url:"referenceId,omitempty"`
}

func (m Message) body() *body {
	b := &body{From: m.From, To: m.To, Text: m.Text, CallbackURL: m.CallbackURL, ReferenceID: m.ReferenceID}
	if b.CallbackURL != "" {
		b.DLRReport = 1
	}
	return b
}

// validate finds everything that is wrong with the message, so that a caller mends it in one go.
func (m Message) validate() []wire.Problem {
	var c wire.Checks
	switch {
	case strings.TrimSpace(m.From) == "" && m.From != "":
		c.Found("From", "a sender ID is required, got white space only")
	case m.From == "":
		c.Absent("From")
	default:
		c.Found("From", wire.CheckUTF8(m.From))
	}
	if m.To == "" {
		c.Absent("To")
	} else {
		c.Found("To", wire.CheckRecipient(m.To))
	}
	if m.Text == "" {
		c.Absent("Text")
	} else {
		c.Found("Text", wire.CheckUTF8(m.Text))
	}
	c.Found("CallbackURL", wire.CheckCallbackURL(m.CallbackURL))
	c.Found("ReferenceID", wire.CheckUTF8(m.ReferenceID))
	return c
}

// Format prints which fields are set and how long they are, in every verb; never a number, a text or a query.
func (m Message) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "sms.Message{"+m.measures()+"}")
}

// LogValue logs what Format prints.
func (m Message) LogValue() slog.Value { return slog.StringValue("sms.Message{" + m.measures() + "}") }

func (m Message) measures() string {
	var set []string
	for _, field := range []struct{ name, value string }{
		{"From", m.From}, {"To", m.To}, {"Text", m.Text}, {"CallbackURL", m.CallbackURL}, {"ReferenceID", m.ReferenceID},
	} {
		if field.value != "" {
			set = append(set, fmt.Sprintf("%s: %d characters", field.name, utf8.RuneCountInString(field.value)))
		}
	}
	if len(m.Extra) > 0 {
		set = append(set, fmt.Sprintf("Extra: %d fields", len(m.Extra)))
	}
	return strings.Join(set, ", ")
}
