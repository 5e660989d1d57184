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
	"net/url"
	"time"
)

// Operation names one endpoint of the service. Method, path and whether a request may be repeated follow from it.
type Operation uint8

// The operations. Their text is their key in the contract.
const (
	SMSSend Operation = iota
	SMSList
	ChatApp1Send
	ChatApp2Send
)

// String gives the operation's key in the contract.
func (o Operation) String() string {
	switch o {
	case SMSSend:
		return "sms.send"
	case SMSList:
		return "sms.list"
	case ChatApp1Send:
		return "chatapp1.send"
	case ChatApp2Send:
		return "chatapp2.send"
	default:
		return fmt.Sprintf("operation %d", uint8(o))
	}
}

// Sentinels that a channel must know; the root package gives them their public names.
var (
	ErrOutcomeUnknown = errors.New("messaging: outcome unknown")
	ErrNotFound       = errors.New("messaging: not found")
	ErrDuplicate      = errors.New("messaging: duplicate")
	// ErrNotListed: a look-up was answered, and brought no row. Only this permits to send again; it is an ErrNotFound too,
	// as is an HTTP 404, which permits nothing.
	ErrNotListed = errors.New("messaging: not listed")
	// ErrFilterIgnored: a look-up brought other messages.
	ErrFilterIgnored = errors.New("messaging: filter ignored")
)

// Call describes one request. It names nothing of HTTP.
//
// Body points to a struct whose json and url tags carry the default contract's names; its Go field names are those
// that a user knows, or are named by a field tag. Extra holds further members under their wire names. Problems are what
// the channel found wrong: where one remains, nothing is sent.
type Call struct {
	Op   Operation
	Body any
	// Message, where it is not nil, is a message in the shape of another platform: a JSON object, without white space, whose
	// members stand beside Body's, or under a key of their own where the contract says so. Extra then belongs to it, and the
	// channel has made sure that it has no member of a name in Extra.
	Message []byte
	Extra   map[string]any
	// ExtraName is what a user calls Extra, if not that.
	ExtraName string
	// TTL is what Body holds as Seconds, for a contract with another unit.
	TTL       time.Duration
	Reference string
	Problems  []Problem
}

// Query describes a page of a listing.
//
// Filter points to a struct whose url tags are the contract's concepts and whose Go field names are those that a user
// knows; Extra holds further parameters under their wire names. The zero Position is the first page.
type Query struct {
	Op       Operation
	Filter   any
	Extra    url.Values
	At       Position
	Problems []Problem
	// Reuse is memory for the page's Records, from a page that nobody reads any more.
	Reuse []Record
}

// Position is where a page of a listing begins. Which of its fields counts is a matter of the contract.
type Position struct {
	Set    bool   // whether Number counts; where not, the page is the contract's first
	Number int    // of the page
	Rows   int    // before the page
	Mark   string // a cursor
	Link   string // path and query of a link that the service gave
}

// Format prints the operation alone, in every verb: body, extra fields and reference belong to the caller.
func (c Call) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "wire.Call("+c.Op.String()+")") }

// LogValue logs the operation alone.
func (c Call) LogValue() slog.Value { return slog.StringValue(c.Op.String()) }

// MarshalJSON encodes the operation alone.
func (c Call) MarshalJSON() ([]byte, error) { return json.Marshal(c.Op.String()) }

// Format prints the operation alone, in every verb.
func (q Query) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "wire.Query("+q.Op.String()+")") }

// LogValue logs the operation alone.
func (q Query) LogValue() slog.Value { return slog.StringValue(q.Op.String()) }

// MarshalJSON encodes the operation alone.
func (q Query) MarshalJSON() ([]byte, error) { return json.Marshal(q.Op.String()) }

// Problem is one thing wrong with a message, found before anything is sent. Reason gives measures and what is allowed,
// never the value.
//
// Absent says that a required field is empty: no problem where the contract says that the service has no such field.
// Limit says that a documented limit is passed, which may have moved: no problem where the user wants lenient limits.
type Problem struct {
	Field  string
	Reason string
	Absent bool
	Limit  bool
}

// Checks collects what is wrong with a message.
type Checks []Problem

// Found adds a problem; an empty reason is none.
func (c *Checks) Found(field, reason string) {
	if reason != "" {
		*c = append(*c, Problem{Field: field, Reason: reason})
	}
}

// Absent adds that a required field is empty.
func (c *Checks) Absent(field string) {
	*c = append(*c, Problem{Field: field, Reason: "required, but absent", Absent: true})
}

// Limit adds that a documented limit is passed.
func (c *Checks) Limit(field, reason string) {
	*c = append(*c, Problem{Field: field, Reason: reason, Limit: true})
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

// Record is one row of a listing. Its fields are documented where users see them.
type Record struct {
	ID             string
	RequestID      string
	ReferenceID    string
	CategoryID     string
	From           string
	To             string
	Text           string
	Parts          int
	Price          string
	CreatedAt      time.Time
	SentAt         time.Time
	SendStatus     string
	DeliveryStatus string
	Operator       string
	Country        string
	Description    string
	Extra          map[string]json.RawMessage
}

// Page is one page of a listing.
type Page struct {
	Records []Record
	// Unread says of rows that could not be read which they are and why. They stand in Records too, as far as they
	// could be read, so that indices agree.
	Unread []Unread
	// Number, Size, Total and TotalPages are 0 where the answer does not say.
	Number, Size, Total, TotalPages int
	// Last says that no page follows, as far as the answer tells.
	Last bool
	// Next is where the next page begins.
	Next Position
}

// Unread is a row that could not be read: its index in the page, and why, without what it holds.
type Unread struct {
	Index  int
	Reason string
}

// SettlePolicy says how an unknown outcome is settled. It is documented in the root package.
type SettlePolicy struct {
	Window, Interval time.Duration
	Resend           bool
}

// Doer performs calls. Its errors are those of the root package.
type Doer interface {
	// Send performs a call that makes the service send a message. It is never repeated once it may have been processed.
	Send(ctx context.Context, call Call) (Receipt, error)
	// List reads one page.
	List(ctx context.Context, query Query) (Page, error)
	// Ahead tells where the page after at begins, where that is known before the page at has been read.
	Ahead(op Operation, at Position) (Position, bool)
	// Refuse makes the error of a call with problems, for what is found before there is a request.
	Refuse(op Operation, problems []Problem) error
	// Fail makes the error of a read that only the channel can see to have failed.
	Fail(op Operation, reason string, kind error) error
	// Settle is the client's policy, and whether the user has set one.
	Settle() (SettlePolicy, bool)
}
