// Package wire defines the data that message packages pass to the client: the fields of a message by concept, and its problems. It knows
// neither HTTP nor the names of a contract.
package wire

import (
	"encoding/json"
	"net/url"
	"slices"
	"time"
)

// Call describes one message to send. Its fields are written in order.
type Call struct {
	// Fields are the fields that the contract names.
	Fields []Field
	// Members are the members of a message in the shape of another platform (chat app 2), under their own names. The
	// contract puts them next to Fields, or under a key of their own.
	Members []Member
	// Extra holds further members by wire name, and ExtraField what a user calls them if not "Extra". UserExtra has those that the user
	// nevertheless set in a field Extra.
	Extra      map[string]any
	ExtraField string
	UserExtra  map[string]any
	// Payloads are the payloads that the members of Extra can make. Extra and Fields together may make only one.
	Payloads []Payload
	// ReferenceID is the caller's own name for the message, for receipts and errors.
	ReferenceID string
	// Marketing reports whether the message says that it is marketing, for guards.
	Marketing bool
	// Problems are the problems found that belong to no single Field.
	Problems []Problem
}

// Payload lists the concepts of one kind of payload.
type Payload struct {
	Essential string   // a message without this concept does not have the payload
	Optional  []string // further concepts that the payload may have
}

// Has reports whether a concept belongs to the payload.
func (p Payload) Has(concept string) bool {
	return concept == p.Essential || slices.Contains(p.Optional, concept)
}

// Field is one field of a message.
type Field struct {
	// Concept is its key in the contract, such as "reference"; Name is what a user calls it, such as "ReferenceID".
	Concept string
	Name    string
	// Text is the value of a text. Value, if not nil, is the value instead: an int64, a time.Time or a time.Duration, which
	// the contract says how to write, or a map[string]string. An empty Text with a nil Value, and a zero Value, are absent.
	Text  string
	Value any
	// Required reports whether the message cannot be sent without the field, unless the contract has no such field.
	Required bool
	// Reason says what is wrong with the value and what is allowed, without the value; "" if nothing is.
	Reason string
}

// Member is a member of an object: its name and its value as JSON without insignificant white space.
type Member struct {
	Name  string
	Value json.RawMessage
}

// Problem is one thing wrong with a message or an option, found before anything is sent. Reason says what is wrong and what
// is allowed, never the value. Limit marks a documented limit, which WithLenientLimits lets pass.
type Problem struct {
	Field  string
	Reason string
	Limit  bool
}

// Query describes a page of a listing. Params holds the options by concept, other than the bounds.
type Query struct {
	CreatedAfter, CreatedBefore time.Time
	Params                      url.Values
	Extra                       map[string][]string
	At                          Position
	Problems                    []Problem
}

// Position is where a page of a listing begins. Which of its fields counts depends on the contract. The zero value is the
// first page.
type Position struct {
	Set    bool   // whether Number counts
	Number int    // of the page
	Rows   int    // before the page
	Cursor string // as the service gave it
	Link   string // path and query of a link that the service gave
	Pages  int    // before this one, in a listing without page numbers
}

// DeliveryOptions has the last fields of every chat-app message.
type DeliveryOptions struct {
	TTL         time.Duration
	Fallback    *Fallback
	CallbackURL string
	ReferenceID string
}

// Fallback is an sms.Fallback.
type Fallback struct{ From, Text string }

// Fields returns the options as fields of a message.
func (o DeliveryOptions) Fields() []Field {
	hasFallback := o.Fallback != nil
	var fallback Fallback
	if hasFallback {
		fallback = *o.Fallback
	}
	return []Field{
		{Concept: "ttl", Name: "TTL", Value: o.TTL},
		{
			Concept:  "fallbackFrom",
			Name:     "Fallback.From",
			Text:     fallback.From,
			Required: hasFallback,
			Reason:   CheckSender(fallback.From),
		},
		{Concept: "fallbackText", Name: "Fallback.Text", Text: fallback.Text, Required: hasFallback},
		{Concept: "callback", Name: "CallbackURL", Text: o.CallbackURL, Reason: CheckCallbackURL(o.CallbackURL)},
		{Concept: "reference", Name: "ReferenceID", Text: o.ReferenceID},
	}
}
