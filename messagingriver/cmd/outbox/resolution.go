package main

import (
	"fmt"
	"strings"

	"github.com/messaging-service/messaging-go/messagingriver"
)

// resolution is the result of resolve, as JSON.
type resolution struct {
	Done       messagingriver.Decision `json:"done"`
	Messages   int                     `json:"messages"`
	Unresolved []unresolved            `json:"unresolved,omitempty"`
	Expired    []string                `json:"expired,omitempty"`  // reference IDs of messages to which resend applied, but which are not sent
	Unpaused   []string                `json:"unpaused,omitempty"` // campaigns that were paused until the last pending message was resolved
	// MayHaveFallback are the reference IDs of messages that were resolved as sent, although OnOutcome may have sent a fallback for them.
	MayHaveFallback []string `json:"mayHaveFallback,omitempty"`
}

func (r resolution) text() string {
	var text strings.Builder
	for _, message := range r.Unresolved {
		fmt.Fprintf(&text, "%s: %s\n", safe(message.Reference), message.Reason)
	}
	for _, reference := range r.Expired {
		fmt.Fprintf(&text, "%s: it has expired, so it is not sent but cancelled; OnOutcome is called\n", safe(reference))
	}
	for _, reference := range r.MayHaveFallback {
		fmt.Fprintf(&text, "%s: it was cancelled or discarded as not sent: if the program has sent a fallback, the recipient gets both\n", safe(reference))
	}
	for _, campaign := range r.Unpaused {
		fmt.Fprintf(&text, "campaign %s is no longer paused, because none of its messages is pending: messages that are enqueued later are sent\n", safe(campaign))
	}
	fmt.Fprintf(&text, "%s: %d of %d\n", r.Done, r.Messages, r.Messages+len(r.Unresolved))
	return text.String()
}

// progress says which of the keys were resolved before an error.
func (r *resolution) progress(keys []messagingriver.Key) string {
	resolved := r.Messages + len(r.Unresolved)
	if resolved == 0 {
		return fmt.Sprintf("%s: 0 of %d", r.Done, len(keys))
	}
	last := safe(keys[resolved-1].Reference)
	return fmt.Sprintf("%s: %d of %d, and %d unchanged; the last was %s; run it again for the others",
		r.Done, r.Messages, len(keys), len(r.Unresolved), last)
}
