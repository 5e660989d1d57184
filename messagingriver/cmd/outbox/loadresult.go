package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// loadResult is what load did, as JSON.
type loadResult struct {
	New   int `json:"new"`
	Known int `json:"known"`
	// Different are the lines whose reference ID the outbox has for another message. They are not enqueued.
	Different []differentLine `json:"different,omitempty"`
	// SameRecipient are the lines of a campaign whose recipient an earlier line of the campaign has. Both lines are New or Known.
	SameRecipient []repeatedLine `json:"sameRecipient,omitempty"`
	// NotMarketing is how many lines of a campaign do not say whether they are marketing, and so are not. They are New or Known.
	NotMarketing int `json:"notMarketing,omitempty"`
	// Repeated are the lines whose reference ID an earlier line of the file has. They are not enqueued.
	Repeated []repeatedLine `json:"repeated,omitempty"`
	// Invalid are the lines whose messages are invalid, with --skip-invalid. They are not enqueued.
	Invalid []invalidLine `json:"invalid,omitempty"`
}

type repeatedLine struct {
	Line  int `json:"line"`
	First int `json:"first"` // the earlier line
}

type differentLine struct {
	Line int `json:"line"`
	// Known says which message the outbox has: one in another campaign, or for another recipient.
	Known string `json:"known"`
}

type invalidLine struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// sort sorts the invalid lines. Those with wrong options are found before earlier ones with invalid messages, which wait in a batch.
func (r *loadResult) sort() {
	slices.SortFunc(r.Invalid, func(a, b invalidLine) int { return cmp.Compare(a.Line, b.Line) })
}

func (r *loadResult) text() string {
	return r.leftOut() + fmt.Sprintf("enqueued: %d; known: %d\n", r.New, r.Known)
}

// hasLeftOut reports whether a line is not enqueued, although the outbox does not have its message.
func (r *loadResult) hasLeftOut() bool {
	return len(r.Invalid) > 0 || len(r.Repeated) > 0 || len(r.Different) > 0
}

// leftOut returns a text line for each line that is left out.
func (r *loadResult) leftOut() string {
	var text strings.Builder
	for _, invalid := range r.Invalid {
		fmt.Fprintf(&text, "line %d is not enqueued: %s\n", invalid.Line, invalid.Reason)
	}
	for _, repeated := range r.Repeated {
		fmt.Fprintf(&text, "line %d repeats the reference ID of line %d, and is not enqueued\n", repeated.Line, repeated.First)
	}
	for _, different := range r.Different {
		fmt.Fprintf(&text, "line %d is not enqueued: its reference ID is known %s\n", different.Line, different.Known)
	}
	return text.String()
}

// sameRecipientText returns a warning about lines of a campaign with the same recipient, or "".
func (r *loadResult) sameRecipientText() string {
	if len(r.SameRecipient) == 0 {
		return ""
	}
	example := r.SameRecipient[0]
	return fmt.Sprintf("outbox: lines whose recipient an earlier line of the campaign has: %d, such as line %d (line %d); "+
		"they are enqueued, because only reference IDs are compared\n", len(r.SameRecipient), example.Line, example.First)
}

// notMarketingText returns a warning about lines of a campaign that do not say whether they are marketing, or "".
func (r *loadResult) notMarketingText() string {
	if r.NotMarketing == 0 {
		return ""
	}
	return fmt.Sprintf("outbox: lines of a campaign that do not say whether they are marketing: %d; they are enqueued as not marketing, "+
		"so guards may let them pass in quiet hours and after an opt-out of marketing\n", r.NotMarketing)
}
