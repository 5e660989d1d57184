package messagingtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// row is a message in the ledger; an SMS is listed. It never changes once it is there.
type row struct {
	Sent
	created time.Time // At as the listing shows it: what a client reads, filters and sorts must agree on
	order   int       // breaks ties in every sorting
	foreign bool      // nobody sent it to this server: see ShiftRows

	delivery *delivery // nil for an SMS, and for what was seeded
}

func newRow(m Sent, order int) *row {
	return &row{Sent: m, created: m.At.UTC().Truncate(time.Millisecond), order: order}
}

// record is a row on the wire, under the names of the default contract. The specification shows none of them.
type record struct {
	TransactionID string  `json:"transactionId"`
	RequestID     string  `json:"requestId"`
	ReferenceID   *string `json:"referenceId"`
	CategoryID    *string `json:"categoryId"`
	From          string  `json:"from"`
	To            string  `json:"to"`
	Text          string  `json:"text"`
	MessageParts  int     `json:"messageParts"`
	Price         string  `json:"price"`
	DateCreated   string  `json:"dateCreated"`
	DateSent      *string `json:"dateSent"`
	SendStatus    int     `json:"sendStatus"`
	DLRStatus     *string `json:"dlrStatus"`
	Operator      string  `json:"operator"`
	Country       string  `json:"country"`
	Description   string  `json:"description"`
}

// What is the same in every row.
const (
	sendStatus  = 1
	operator    = "OP_1"
	country     = "ZZ"
	description = "accepted"
)

func (r *row) encode() json.RawMessage {
	text := encode(record{
		TransactionID: r.ID,
		RequestID:     r.RequestID,
		ReferenceID:   orNull(r.ReferenceID),
		CategoryID:    orNull(r.CategoryID),
		From:          r.From,
		To:            r.To,
		Text:          r.Text,
		MessageParts:  r.Parts,
		Price:         priceOf(r.Parts).String(),
		DateCreated:   formatTime(r.created),
		DateSent:      orNull(formatTime(r.SentAt)),
		SendStatus:    sendStatus,
		DLRStatus:     orNull(r.DeliveryStatus),
		Operator:      operator,
		Country:       country,
		Description:   description,
	})
	var more bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(r.Extra)) {
		if compareBy(name) == nil { // a record has each name once
			more.WriteByte(',')
			more.Write(encode(name))
			more.WriteByte(':')
			more.Write(encode(r.Extra[name]))
		}
	}
	if more.Len() == 0 {
		return text
	}
	return append(append(text[:len(text)-1], more.Bytes()...), '}')
}

// orNull is for what a message need not have.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// compareBy is the order of rows in a column, which is any name of a record, or nil if there is no such column.
func compareBy(column string) func(a, b *row) int {
	switch column {
	case "transactionId":
		return func(a, b *row) int { return strings.Compare(a.ID, b.ID) }
	case "requestId":
		return func(a, b *row) int { return strings.Compare(a.RequestID, b.RequestID) }
	case columnReference:
		return func(a, b *row) int { return strings.Compare(a.ReferenceID, b.ReferenceID) }
	case "categoryId":
		return func(a, b *row) int { return strings.Compare(a.CategoryID, b.CategoryID) }
	case "from":
		return func(a, b *row) int { return strings.Compare(a.From, b.From) }
	case "to":
		return func(a, b *row) int { return strings.Compare(a.To, b.To) }
	case "text":
		return func(a, b *row) int { return strings.Compare(a.Text, b.Text) }
	case "messageParts", "price": // each part costs the same
		return func(a, b *row) int { return cmp.Compare(a.Parts, b.Parts) }
	case columnCreated:
		return func(a, b *row) int { return a.created.Compare(b.created) }
	case "dateSent":
		return func(a, b *row) int { return a.SentAt.Compare(b.SentAt) }
	case "dlrStatus":
		return func(a, b *row) int { return strings.Compare(a.DeliveryStatus, b.DeliveryStatus) }
	case "sendStatus", "operator", "country", "description": // the same in every row
		return func(*row, *row) int { return 0 }
	default:
		return nil
	}
}
