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
	// Insert writes these members, and they never change.
	Campaign    string    `json:"campaign,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	MaxAttempts int       `json:"max_attempts,omitempty"`
	Unguarded   bool      `json:"unguarded,omitempty"`

	// Verdict is the verdict of the last attempt that ended, and Reason says why the message was not accepted. Attempts, lookups and persons
	// write them.
	Verdict string `json:"verdict,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Classes names the sentinel errors that the error of the last attempt or lookup matched.
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

	// Whether the message is in doubt follows from the tokens on PostgreSQL, and from the counts on SQLite.
	attemptTokens
	attemptCounts

	// Receipt is River's output of the job.
	Receipt *messaging.Receipt `json:"output,omitempty"`
}

// attemptTokens tell on PostgreSQL whether an attempt began a request and recorded no outcome. Each attempt has a token of its own.
type attemptTokens struct {
	// BegunToken is of the attempt that wrote its mark last, directly before its request, and BegunAt is when it did. The statement writeMarks
	// writes them.
	BegunToken string    `json:"begun,omitempty"`
	BegunAt    time.Time `json:"begun_at,omitzero"`
	// EndedToken is of the attempt that recorded a known outcome last. A lookup and a person who decide about the message copy BegunToken to it.
	EndedToken string `json:"ended,omitempty"`
	// UnsentToken is of the last attempt that made no request although its mark may have been written.
	UnsentToken string `json:"unsent,omitempty"`
}

// haveOpenMark reports whether the last mark has no outcome.
func (t *attemptTokens) haveOpenMark() bool {
	return t.BegunToken != "" && t.BegunToken != t.EndedToken && t.BegunToken != t.UnsentToken
}

// attemptCounts tell on SQLite, where attempts write no marks, whether an attempt recorded no outcome.
type attemptCounts struct {
	// Rescues is how often River rescued the job. River writes it.
	Rescues int `json:"river:rescue_count,omitempty"`
	// Answered is how many of the rescues a person or a lookup has decided about.
	Answered int `json:"answered,omitempty"`
	// Outcomes is how often the job had been fetched when an outcome or the decision of a person was recorded last.
	Outcomes int `json:"outcomes,omitempty"`
	// InDoubt is set by the first lookup, because a lookup is a fetch, too. Without it the second one would not know of the doubt.
	InDoubt bool `json:"in_doubt,omitempty"`
}

// haveOpenRescue reports whether the job was rescued from an attempt, or is looked up, and no decision has ended the doubt.
func (c *attemptCounts) haveOpenRescue() bool { return c.InDoubt || c.Rescues > c.Answered }

// haveOpenFetch reports whether a fetch before the current one recorded no outcome. fetches is how many fetches River remembers. If they are
// maxFetches, there may have been more, and they say nothing.
func (c *attemptCounts) haveOpenFetch(fetches int) bool {
	earlier := fetches - 1
	return fetches < maxFetches && earlier != c.Outcomes
}

// maxFetches is how many fetches of a job River remembers.
const maxFetches = 100

// The keys that attempts and lookups set. Statements set these and others: begun, begun_at, resolved_sent and cancelled.
const (
	keyVerdict      = "verdict"
	keyReason       = "reason"
	keyClasses      = "classes"
	keyFailures     = "failures"
	keyUnknownSince = "unknown_since"
	keyEndsAs       = "ends_as"
	keyEnded        = "ended"
	keyUnsent       = "unsent"
	keyAnswered     = "answered"
	keyOutcomes     = "outcomes"
	keyInDoubt      = "in_doubt"
)

// The verdicts in metadata. A message that expired or was denied was not sent.
const (
	accepted = "accepted"
	refused  = "refused"
	notSent  = "not sent"
	unknown  = "unknown"
)

// isInDoubt reports whether the worker that got a job must not send its message, because an attempt without a recorded outcome may have sent it.
// It asks more than hasRecordedDoubt: on SQLite a fetch without an outcome is a doubt, too.
func (m *metadata) isInDoubt(job *river.Job[messageArgs], isPostgres bool) bool {
	if m.hasRecordedDoubt(isPostgres) {
		return true
	}
	return !isPostgres && m.haveOpenFetch(len(job.AttemptedBy))
}

// hasRecordedDoubt reports whether the metadata alone leaves the message in doubt, whether or not a worker has the job. It does not rely on
// Verdict alone: an earlier attempt may have recorded it, or an attempt of a process that was frozen.
func (m *metadata) hasRecordedDoubt(isPostgres bool) bool {
	if m.Verdict == unknown {
		return true
	}
	if isPostgres {
		return m.haveOpenMark()
	}
	return m.haveOpenRescue()
}

// endDoubt records that a lookup found out what the attempts before it did.
func (m *metadata) endDoubt(ctx context.Context) {
	setMetadata(ctx, keyEnded, m.BegunToken)
	setMetadata(ctx, keyAnswered, m.Rescues)
	setMetadata(ctx, keyInDoubt, false)
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
