package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Delivery is what a chat-app message says about its delivery, under the names of the default contract. The chat apps embed
// it in the bodies of their calls. The fields of a fallback are nil where there is none.
type Delivery struct {
	TTL          Seconds `json:"ttl,omitzero"         url:"ttl,omitempty"`
	FallbackFrom *string `json:"sms_from,omitzero"    url:"sms_from,omitempty"    field:"Fallback.From"`
	FallbackText *string `json:"sms_text,omitzero"    url:"sms_text,omitempty"    field:"Fallback.Text"`
	CallbackURL  string  `json:"dlrCallback,omitzero" url:"dlrCallback,omitempty"`
	DLRReport    int     `json:"dlrReport,omitzero"   url:"dlrReport,omitempty"`
	ReferenceID  string  `json:"referenceId,omitzero" url:"referenceId,omitempty"`
}

// NewDelivery fills a Delivery. The constant that goes with a callback is added.
func NewDelivery(ttl time.Duration, callback, reference string) Delivery {
	d := Delivery{TTL: Seconds(ttl), CallbackURL: callback, ReferenceID: reference}
	if callback != "" {
		d.DLRReport = 1
	}
	return d
}

// WithFallback gives a copy with a fallback.
func (d Delivery) WithFallback(from, text string) Delivery {
	d.FallbackFrom, d.FallbackText = &from, &text
	return d
}

// Fallback gives the fallback, where there is one. A field that is missing is empty.
func (d Delivery) Fallback() (from, text string, ok bool) {
	if d.FallbackFrom != nil {
		from = *d.FallbackFrom
	}
	if d.FallbackText != nil {
		text = *d.FallbackText
	}
	return from, text, d.FallbackFrom != nil || d.FallbackText != nil
}

// Check finds what is wrong with the fields. That a TTL is a whole number of units
// is checked where the contract is known.
func (d Delivery) Check() []Problem {
	var c Checks
	if d.TTL < 0 {
		c.Found("TTL", "must not be negative, got "+d.TTL.Duration().String())
	}
	if from, text, ok := d.Fallback(); ok {
		for _, field := range []struct{ name, value string }{{"Fallback.From", from}, {"Fallback.Text", text}} {
			switch {
			case field.value == "":
				c.Absent(field.name)
			case strings.TrimSpace(field.value) == "" && field.name == "Fallback.From":
				c.Found(field.name, "a sender ID is required, got white space only")
			default:
				c.Found(field.name, CheckUTF8(field.value))
			}
		}
	}
	c.Found("CallbackURL", CheckCallbackURL(d.CallbackURL))
	c.Found("ReferenceID", CheckUTF8(d.ReferenceID))
	return c
}

// Take fills the Delivery from the members of a message, and removes those from members.
func (d *Delivery) Take(members map[string]json.RawMessage) error {
	for _, field := range []struct {
		name string
		to   any
	}{
		{"ttl", &d.TTL},
		{"sms_from", &d.FallbackFrom},
		{"sms_text", &d.FallbackText},
		{"dlrCallback", &d.CallbackURL},
		{"dlrReport", new(json.RawMessage)},
		{"referenceId", &d.ReferenceID},
	} {
		if err := Take(members, field.name, field.to); err != nil {
			return err
		}
	}
	if d.CallbackURL != "" {
		d.DLRReport = 1
	}
	return nil
}

// Take reads a member and removes it. One that is absent or null leaves the target as it is, or nil. The error names the member and
// repeats nothing of it.
func Take(members map[string]json.RawMessage, name string, to any) error {
	raw, ok := members[name]
	delete(members, name)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, to); err != nil {
		want := "a string"
		if _, isTTL := to.(*Seconds); isTTL {
			want = "a number of seconds"
		}
		return fmt.Errorf("%q must be %s", name, want)
	}
	return nil
}
