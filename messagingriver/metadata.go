package messagingriver

import (
	"context"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	messaging "github.com/messaging-service/messaging-go"
)

// metadata is what the outbox keeps in the metadata of a message's job. River writes what an attempt sets in it together with the next
// state of the job, even if the job is no longer running: the outcome of a process that was frozen arrives late, but is not lost.
type metadata struct {
	// Insert writes these members, and they never change. MaxAttempts is at least 1. Only a job that another program wrote lacks it.
	Campaign    string    `json:"campaign,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	MaxAttempts int       `json:"max_attempts,omitempty"`
	Unguarded   bool      `json:"unguarded,omitempty"`

	// Verdict is the verdict of the last attempt that ended, and Reason says why the message was not accepted. Attempts, lookups and people
	// write them.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Classes names the sentinel errors that the error of the last attempt or lookup matched.
	Classes []string `json:"classes,omitempty"`
	// Failures is how many attempts count toward MaxAttempts.
	Failures int `json:"failures,omitempty"`
	// UnknownSince is when the outcome became unknown.
	UnknownSince time.Time `json:"unknown_since,omitzero"`
	// UnknownUntil is when the message is discarded if its outcome is still unknown. It counts while UnknownSince is set.
	UnknownUntil time.Time `json:"unknown_until,omitzero"`
	// UnknownReason is why the outcome became unknown. It is empty if a process recorded none.
	UnknownReason string `json:"unknown_reason,omitempty"`
	// Requested is set once a request of the message may have begun: by the attempt that made it, or, if its process died, by a lookup, or by a
	// person with Resend.
	Requested bool `json:"requested,omitempty"`
	// OnlyRequest is set if the request whose outcome became unknown was the only one of the message. It counts while UnknownSince is set.
	OnlyRequest bool `json:"only_request,omitempty"`

	// EndsAs is the state in which the job ends once the job that calls OnOutcome could be inserted.
	EndsAs rivertype.JobState `json:"ends_as,omitempty"`
	// ResolvedSent is set if a message was resolved as Sent. If a worker has the message, it is completed, whatever the attempt or lookup finds.
	ResolvedSent bool `json:"resolved_sent,omitempty"`
	// ResolvedNotSent is set if a message was resolved as NotSent. It is cancelled, and never sent, even if its job is retried in River UI.
	ResolvedNotSent bool `json:"resolved_not_sent,omitempty"`
	// Cancelled is set if a person cancelled the job while the message may have been sent. It is looked up, and never sent.
	Cancelled bool `json:"cancelled,omitempty"`

	// From these, doubtRules tell whether an attempt may have sent the message. Jobs on PostgreSQL have the tokens and, of the counts, only the
	// rescues. Jobs on SQLite have only the counts.
	attemptTokens
	attemptCounts

	// Receipt is River's output of the job.
	Receipt *messaging.Receipt `json:"output,omitempty"`
}

// decidedState returns the state in which a job that waits or runs ends without a further request or lookup, or "" if its outcome is not final.
func (m *metadata) decidedState() rivertype.JobState {
	switch {
	case m.ResolvedSent:
		return rivertype.JobStateCompleted
	case m.ResolvedNotSent:
		return rivertype.JobStateCancelled
	default:
		return m.EndsAs
	}
}

// The keys that results change. Statements set these and others: begun, begun_at, resolved_sent, resolved_not_sent and cancelled.
const (
	keyVerdict        = "verdict"
	keyReason         = "reason"
	keyClasses        = "classes"
	keyFailures       = "failures"
	keyUnknownSince   = "unknown_since"
	keyUnknownUntil   = "unknown_until"
	keyUnknownReason  = "unknown_reason"
	keyRequested      = "requested"
	keyOnlyRequest    = "only_request"
	keyEndsAs         = "ends_as"
	keyEnded          = "ended"
	keyUnsent         = "unsent"
	keyDecidedRescues = "decided_rescues"
	keyDecidedFetches = "decided_fetches"
	keyInDoubt        = "in_doubt"
)

// The members of the metadata that the decisions Resend and NotSent set, as arguments of the functions that make an object on both databases. The
// decisions also end the doubt about every attempt before them.
const (
	setByBoth   = `'verdict', 'not sent', 'classes', NULL, 'unknown_since', NULL`
	setByResend = setByBoth + `, 'reason', '', 'ends_as', '', 'failures', 0, 'cancelled', NULL`
	// The next worker ends the job, and has OnOutcome called.
	setByNotSent = setByBoth + `, 'reason', ` + reasonOfNotSent + `, 'ends_as', 'cancelled'`
)

// The verdicts in metadata. A message that expired or was denied was not sent.
const (
	verdictAccepted = "accepted"
	verdictRefused  = "refused"
	verdictNotSent  = "not sent"
	verdictUnknown  = "unknown"
)

// recordNotSent records that a message without a verdict was not sent. It keeps the verdict of an earlier attempt: even a refusal may leave it open
// whether the service has the message.
func (m *metadata) recordNotSent(f facts) {
	if m.Verdict == "" {
		f[keyVerdict] = verdictNotSent
	}
}

// setMetadata sets a member of the job's metadata, which River writes with the job's next state.
func setMetadata(ctx context.Context, key string, value any) {
	if text, isText := value.(string); isText {
		value = withoutZeroBytes(text)
	}
	_ = river.MetadataSet(ctx, key, value) // it fails only outside of a worker
}

// withoutZeroBytes returns a text that PostgreSQL can store.
func withoutZeroBytes(text string) string { return strings.ReplaceAll(text, "\x00", "") }
