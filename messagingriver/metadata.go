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
	Campaign    string    `json:"campaign,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	MaxAttempts int       `json:"max_attempts,omitempty"`
	Unguarded   bool      `json:"unguarded,omitempty"`

	// Verdict is the verdict of the last attempt that ended, and Reason says why the message was not accepted.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Classes names the sentinel errors that the error of the last attempt matched.
	Classes []string `json:"classes,omitempty"`
	// Failures is how many attempts count toward MaxAttempts.
	Failures int `json:"failures,omitempty"`
	// UnknownSince is when the outcome became unknown.
	UnknownSince time.Time `json:"unknown_since,omitzero"`

	// EndsAs is the state in which the job ends once the job that calls OnOutcome could be inserted.
	EndsAs rivertype.JobState `json:"ends_as,omitempty"`
	// ResolvedSent is set if a message was resolved as Sent while a worker had it. It is completed, whatever the attempt or lookup found.
	ResolvedSent bool `json:"resolved_sent,omitempty"`
	// Cancelled is set if a person cancelled the job while the message may have been sent. It is looked up, and never sent.
	Cancelled bool `json:"cancelled,omitempty"`

	// On PostgreSQL, tokens of attempts decide whether the message is in doubt. BegunToken is of the attempt that wrote its mark last, EndedToken
	// of the attempt that recorded a known outcome last, and UnsentToken of the last attempt that made no request although its mark may have
	// been written. BegunAt is when the mark was written.
	BegunToken  string    `json:"begun,omitempty"`
	BegunAt     time.Time `json:"begun_at,omitzero"`
	EndedToken  string    `json:"ended,omitempty"`
	UnsentToken string    `json:"unsent,omitempty"`

	// On SQLite, numbers decide. Rescues is River's count of its rescues, and Answered how many of them a person or a lookup has decided about.
	// Outcomes is how often the job had been fetched when an outcome was recorded last.
	Rescues  int `json:"river:rescue_count,omitempty"`
	Answered int `json:"answered,omitempty"`
	Outcomes int `json:"outcomes,omitempty"`
	// InDoubt is set on SQLite by the first lookup, because a lookup is a fetch, too.
	InDoubt bool `json:"in_doubt,omitempty"`

	// Receipt is River's output of the job.
	Receipt *messaging.Receipt `json:"output,omitempty"`
}

// The verdicts in metadata. A message that expired or was denied was not sent.
const (
	accepted = "accepted"
	refused  = "refused"
	notSent  = "not sent"
	unknown  = "unknown"
)

// maxFetches is how many fetches of a job River remembers.
const maxFetches = 100

// isInDoubt reports whether an attempt without a recorded outcome may have sent the message of a job that a worker got. It must then not be
// sent again.
func (m *metadata) isInDoubt(job *river.Job[messageArgs], isPostgres bool) bool {
	if m.isUnknown(isPostgres) {
		return true
	}
	if isPostgres {
		return false
	}
	earlierFetches := len(job.AttemptedBy) - 1
	isCounted := len(job.AttemptedBy) < maxFetches
	return isCounted && earlierFetches != m.Outcomes
}

// isUnknown reports whether the metadata alone leaves the message in doubt. It does not rely on Verdict alone: an earlier attempt may have
// recorded it, or an attempt of a process that was frozen.
func (m *metadata) isUnknown(isPostgres bool) bool {
	if m.Verdict == unknown {
		return true
	}
	if isPostgres {
		return m.BegunToken != "" && m.BegunToken != m.EndedToken && m.BegunToken != m.UnsentToken
	}
	return m.InDoubt || m.Rescues > m.Answered
}

// endDoubt records that a lookup found out what the attempts before it did.
func (m *metadata) endDoubt(ctx context.Context) {
	setMetadata(ctx, "ended", m.BegunToken)
	setMetadata(ctx, "answered", m.Rescues)
	setMetadata(ctx, "in_doubt", false)
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
