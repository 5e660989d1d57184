package chatapp1

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Receipt is what the service said when it accepted a message. A field that the answer does not name is empty or zero.
// Where in the answer each one is found is a default of the contract.
//
// Printed with package fmt or logged with log/slog it leaves Raw out, since an answer may repeat the number and the text.
type Receipt struct {
	// ID is the service's name for the message. Never empty in a Receipt that came without an error.
	ID string
	// RequestID is the service's name for the request, for its support.
	RequestID string
	// ReferenceID is the one in the answer, else the one that was sent.
	ReferenceID string
	// Parts is how many parts the service charges, where the answer says; 0 where it does not.
	Parts int
	// UnitCost, Cost and Balance are money as decimal strings, exactly as the service sent them: the price of one part,
	// of the message, and what is left on the account. The currency is the account's.
	UnitCost string
	Cost     string
	Balance  string
	// Operator is the code of the recipient's network.
	Operator string
	// StatusCode is the HTTP status of the answer.
	StatusCode int
	// Raw is the whole answer. It belongs to the caller.
	Raw json.RawMessage
}

// Format prints the receipt without Raw, in every verb.
func (r Receipt) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, r.summary()) }

// LogValue logs what Format prints.
func (r Receipt) LogValue() slog.Value { return slog.StringValue(r.summary()) }

func (r Receipt) summary() string {
	return fmt.Sprintf("chatapp1.Receipt{ID: %q, RequestID: %q, ReferenceID: %q, Parts: %d, UnitCost: %q, Cost: %q, Balance: %q, Operator: %q, StatusCode: %d, Raw: %d bytes}",
		r.ID, r.RequestID, r.ReferenceID, r.Parts, r.UnitCost, r.Cost, r.Balance, r.Operator, r.StatusCode, len(r.Raw))
}
