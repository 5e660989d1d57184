package messagingriver

import (
	"context"
	"time"
)

// doubtRules tell on one database whether an attempt that recorded no outcome may have sent a message.
type doubtRules interface {
	// hasRecordedDoubt reports whether the metadata alone leaves a message in doubt, whether or not a worker has its job. It does not rely on
	// Verdict alone: an earlier attempt may have recorded it, or an attempt of a process that was frozen.
	hasRecordedDoubt(m *metadata) bool
	// isInDoubt reports whether the worker that got the job of a message must not send it. fetches is how many fetches of the job River
	// remembers, with that of the worker.
	isInDoubt(m *metadata, fetches int) bool
	// keepDoubt records that a lookup has left a message in doubt.
	keepDoubt(f facts)
	// allowRequest returns nil if the request of an attempt may begin. The error matches errOutdated if it must not, and errUnconfirmed if the
	// database could not be asked.
	allowRequest(ctx context.Context, d *database, a *attempt) error
}

// markRules are the rules on PostgreSQL: an attempt that may have begun its request has written a mark.
type markRules struct {
	marks *batcher[*attempt] // writes the marks of several attempts at once
}

func (markRules) hasRecordedDoubt(m *metadata) bool { return m.Verdict == unknown || m.haveOpenMark() }

func (r markRules) isInDoubt(m *metadata, _ int) bool { return r.hasRecordedDoubt(m) }

// keepDoubt records nothing, because the mark stays open.
func (markRules) keepDoubt(facts) {}

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

// countRules are the rules on SQLite, where a single process sends. Attempts write no marks: each fetch of the job that recorded no outcome may
// have sent the message.
type countRules struct{}

func (countRules) hasRecordedDoubt(m *metadata) bool {
	return m.Verdict == unknown || m.haveOpenRescue()
}

func (r countRules) isInDoubt(m *metadata, fetches int) bool {
	return r.hasRecordedDoubt(m) || m.haveOpenFetch(fetches)
}

// keepDoubt records the doubt, because River may forget the fetch that left it: a lookup is a fetch, too.
func (countRules) keepDoubt(f facts) { f[keyInDoubt] = true }

// attemptCounts tell on SQLite whether an attempt recorded no outcome.
type attemptCounts struct {
	// Rescues is how often River rescued the job. River writes it.
	Rescues int `json:"river:rescue_count,omitempty"`
	// DecidedRescues is how many of the rescues leave no doubt: a lookup or a person has decided about the attempts before them.
	DecidedRescues int `json:"answered,omitempty"`
	// DecidedFetches is how many fetches of the job leave no doubt: an outcome of each was recorded, or a person has decided about it.
	DecidedFetches int `json:"outcomes,omitempty"`
	// InDoubt is set by lookups until one finds out what the attempts before it did.
	InDoubt bool `json:"in_doubt,omitempty"`
}

// haveOpenRescue reports whether the job was rescued from an attempt, or is looked up, and no decision has ended the doubt.
func (c *attemptCounts) haveOpenRescue() bool { return c.InDoubt || c.Rescues > c.DecidedRescues }

// haveOpenFetch reports whether a fetch before the current one recorded no outcome. fetches is how many fetches River remembers. If they are
// maxFetches, there may have been more, and they say nothing.
func (c *attemptCounts) haveOpenFetch(fetches int) bool {
	earlier := fetches - 1
	return fetches < maxFetches && earlier != c.DecidedFetches
}

// maxFetches is how many fetches of a job River remembers.
const maxFetches = 100

// endDoubt records that a lookup found out what the attempts before it did.
func (m *metadata) endDoubt(f facts) {
	f[keyEnded] = m.BegunToken
	f[keyDecidedRescues] = m.Rescues
	f[keyInDoubt] = false
}
