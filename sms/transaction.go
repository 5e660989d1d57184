package sms

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Transaction is one SMS as the service lists it. The specification shows none of its fields: what they are called is a
// default of the contract (sms.list.record). A field that a row does not hold is empty or zero.
//
// Printed with package fmt or logged with log/slog it leaves out From, To, Text and Extra.
type Transaction struct {
	// ID is the service's name for the message.
	ID string
	// RequestID is the service's name for the request that sent it.
	RequestID string
	// ReferenceID is the sender's own name for it.
	ReferenceID string
	// CategoryID is the service's category.
	CategoryID string
	// From and To are sender and recipient.
	From string
	To   string
	// Text is what was sent.
	Text string
	// Parts is how many SMS it was cut into.
	Parts int
	// Price is a decimal string, exactly as the service sent it.
	Price string
	// CreatedAt is when the service took the message, SentAt when it went out; the zero time where a row does not say.
	CreatedAt time.Time
	SentAt    time.Time
	// SendStatus and DeliveryStatus are the service's words or numbers, as text.
	SendStatus     string
	DeliveryStatus string
	// Operator and Country are the recipient's.
	Operator string
	Country  string
	// Description says more about the status.
	Description string
	// Extra holds every member of the row that the contract does not know, by name, as JSON; nil where there is none. A
	// member that is known by two names and came under both stands here under the second, and so does one that is in no
	// form that is known, and an object of which the contract knows a part.
	Extra map[string]json.RawMessage
}

// Format prints what identifies nobody, in every verb.
func (t Transaction) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.summary()) }

// LogValue logs what Format prints.
func (t Transaction) LogValue() slog.Value { return slog.StringValue(t.summary()) }

func (t Transaction) summary() string {
	return fmt.Sprintf("sms.Transaction{ID: %q, RequestID: %q, ReferenceID: %q, Parts: %d, Price: %q, CreatedAt: %s, SentAt: %s, SendStatus: %q, DeliveryStatus: %q, Operator: %q, Country: %q, Extra: %d fields}",
		t.ID, t.RequestID, t.ReferenceID, t.Parts, t.Price, shortTime(t.CreatedAt), shortTime(t.SentAt), t.SendStatus, t.DeliveryStatus, t.Operator, t.Country, len(t.Extra))
}

func shortTime(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return at.Format(time.RFC3339)
}

// receipt makes a Receipt of a row, for a message that was found by a look-up.
func (t Transaction) receipt() Receipt {
	return Receipt{
		ID: t.ID, RequestID: t.RequestID, ReferenceID: t.ReferenceID, Parts: t.Parts, Cost: t.Price, Operator: t.Operator,
	}
}

// Page is one page of a listing. What a page tells of itself is a default of the contract (sms.list.page); a number that
// the answer does not hold is 0.
type Page struct {
	// Transactions are the rows of this page that were not on the two pages before it.
	Transactions []Transaction
	// Number and Size are the page's, as the service counts.
	Number int
	Size   int
	// Total and TotalPages are those of the whole listing.
	Total      int
	TotalPages int
	// HasNext says that another page is asked for if the loop goes on.
	HasNext bool
}

// Format prints what identifies nobody, in every verb.
func (p Page) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.summary()) }

// LogValue logs what Format prints.
func (p Page) LogValue() slog.Value { return slog.StringValue(p.summary()) }

func (p Page) summary() string {
	return fmt.Sprintf("sms.Page{Transactions: %d, Number: %d, Size: %d, Total: %d, TotalPages: %d, HasNext: %t}",
		len(p.Transactions), p.Number, p.Size, p.Total, p.TotalPages, p.HasNext)
}
