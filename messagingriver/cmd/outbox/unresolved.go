package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// unresolved is a message that a decision did not apply to.
type unresolved struct {
	Reference string `json:"referenceID"`
	Reason    string `json:"reason"`
}

// noteUnresolved notes a message that the decision did not apply to.
func (r *resolution) noteUnresolved(ctx context.Context, db database, key messagingriver.Key) error {
	reason, err := whyUnresolved(ctx, db, r.Done, key)
	if err != nil {
		return err
	}
	r.Unresolved = append(r.Unresolved, unresolved{key.Reference, reason})
	return nil
}

// whyUnresolved returns why a decision did not apply to a message.
func whyUnresolved(ctx context.Context, db database, decision messagingriver.Decision, key messagingriver.Key) (string, error) {
	records, err := db.Get(ctx, key.Reference)
	if errors.Is(err, messaging.ErrNotFound) {
		return "no such message", nil
	}
	if err != nil {
		return "", err
	}
	var channels []string
	for _, record := range records {
		if record.Key == key {
			return whyUnchanged(decision, record), nil
		}
		channels = append(channels, record.Channel)
	}
	slices.Sort(channels)
	if key.Channel == "" {
		return fmt.Sprintf("several channels have it (%s); choose with --channel", strings.Join(channels, ", ")), nil
	}
	return fmt.Sprintf("no such %s; there is a %s message, use --channel %s", key.Channel, channels[0], channels[0]), nil
}

// whyUnchanged returns why a decision did not change the message of a record.
func whyUnchanged(decision messagingriver.Decision, record messagingriver.Record) string {
	switch {
	case record.State == rivertype.JobStateRunning:
		return fmt.Sprintf("a worker has it; try again when its attempt has ended, or up to %.0f seconds after SendTimeout if the worker was killed",
			rescueDelay.Seconds())
	case record.State == rivertype.JobStateCompleted:
		return "it is completed"
	case record.Verdict == messaging.Accepted:
		return "it was accepted, and will be completed"
	case decision == messagingriver.NotSent && record.ResolvedNotSent:
		return "it was resolved as not sent before"
	case decision == messagingriver.NotSent:
		return fmt.Sprintf("it is %s; notsent is for a message that is discarded with an unknown outcome", record.State)
	case decision != messagingriver.Resend: // it changed a moment ago
		return fmt.Sprintf("it is %s", record.State)
	case record.State == rivertype.JobStateDiscarded, record.State == rivertype.JobStateCancelled:
		return whyFinalUnchanged(record)
	default:
		return whyWaitingUnchanged(record)
	}
}

// whyFinalUnchanged returns why a message that is discarded or cancelled was not sent again.
func whyFinalUnchanged(record messagingriver.Record) string {
	switch {
	case hasExpired(record):
		return expiredText(record)
	case record.Message == nil:
		return fmt.Sprintf("it is %s, and its content is deleted", record.State)
	default: // it was resolved as not sent, or changed a moment ago
		return fmt.Sprintf("it is %s: %s", record.State, safe(record.Reason))
	}
}

// whyWaitingUnchanged returns why a message that waits was not sent again.
func whyWaitingUnchanged(record messagingriver.Record) string {
	isUnknown := verdictWord(record) == messaging.Unknown.String()
	switch {
	case record.ResolvedNotSent:
		return "it was resolved as not sent, which is final"
	case record.EndsAs != "":
		return fmt.Sprintf("it becomes %s once OnOutcome can be called; try again then", record.EndsAs)
	case hasExpired(record) && !isUnknown:
		return expiredText(record)
	case record.State == rivertype.JobStatePending:
		return "its campaign is paused; outbox campaign resume " + safe(record.Campaign)
	case isUnknown:
		return "it may have been sent, and will be looked up; try again when its lookup has begun"
	default:
		return fmt.Sprintf("it is %s, and needs no decision", record.State)
	}
}

func expiredText(record messagingriver.Record) string {
	return "it expired at " + record.Expires.UTC().Format(time.RFC3339)
}
