// Package wire is what a channel may say and hear: a Call that describes a request, the Doer that performs it, and the
// Receipt that comes back. It holds data only. Channels import it and nothing that knows HTTP; the root package
// implements Doer and makes every error.
package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
)

// Operation names one endpoint of the service. Method, path and whether a request may be repeated follow from it.
type Operation uint8

// The operations. Their text is their key in the contract.
const (
	SMSSend Operation = iota
)

// String gives the operation's key in the contract.
func (o Operation) String() string {
	switch o {
	case SMSSend:
		return "sms.send"
	default:
		return fmt.Sprintf("operation %d", uint8(o))
	}
}

// Sentinels that a channel must know; the root package gives them their public names.
var (
	ErrOutcomeUnknown = errors.New("messaging: outcome unknown")
	ErrNotFound       = errors.New("messaging: not found")
)

// Call describes one request. It names nothing of HTTP.
//
// Body points to a struct whose json and url tags carry the default contract's names; its Go field names are those
// that a user knows. Extra holds further members under their wire names. Problems are what the channel found wrong:
// where one remains, nothing is sent.
type Call struct {
	Op        Operation
	Body      any
	Extra     map[string]any
	Reference string
	Problems  []Problem
}

// Format prints the operation alone, in every verb: body, extra fields and reference belong to the caller.
func (c Call) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "wire.Call("+c.Op.String()+")") }

// LogValue logs the operation alone.
func (c Call) LogValue() slog.Value { return slog.StringValue(c.Op.String()) }

// MarshalJSON encodes the operation alone.
func (c Call) MarshalJSON() ([]byte, error) { return json.Marshal(c.Op.String()) }

// Problem is one thing wrong with a message, found before anything is sent. Reason gives measures and what is allowed,
// never the value.
//
// Limit says that it breaks a limit of a platform, which may move, and not the structure of a message. Absent says that
// a required field is empty: no problem where the contract says that the service has no such field.
type Problem struct {
	Field  string
	Reason string
	Limit  bool
	Absent bool
}

// Receipt is what the service said of an accepted message. Money is a decimal string, as sent.
type Receipt struct {
	ID          string
	RequestID   string
	ReferenceID string
	Parts       int
	UnitCost    string
	Cost        string
	Balance     string
	Operator    string
	StatusCode  int
	Raw         json.RawMessage
}

// Doer performs calls. Its errors are those of the root package.
type Doer interface {
	// Send performs a call that makes the service send a message. It is never repeated once it may have been processed.
	Send(ctx context.Context, call Call) (Receipt, error)
}
