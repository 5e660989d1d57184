package messagingriver

import (
	"context"
	"fmt"
)

// countRules are the rules on SQLite, where a single process sends. Attempts write no marks. Instead, the outbox counts how often River gave the
// job to a worker, and how many of these attempts recorded an outcome. An attempt that recorded none may have sent the message.
type countRules struct{ db *database }

func (countRules) hasRecordedDoubt(m *metadata) bool {
	return m.Verdict == verdictUnknown || m.hasOpenRescue()
}

func (r countRules) isInDoubt(m *metadata, fetches int) bool {
	return r.hasRecordedDoubt(m) || m.hasOpenFetch(fetches)
}

// provesUnsent returns false, because the counts do not show whether an attempt that recorded no outcome has begun a request.
func (countRules) provesUnsent(*metadata) bool { return false }

// keepDoubt records the doubt, because River may forget the fetch that left it: a lookup is a fetch, too.
func (countRules) keepDoubt(f facts) { f[keyInDoubt] = true }

func (countRules) endDoubt(f facts, m *metadata) {
	f[keyDecidedRescues] = m.Rescues
	f[keyInDoubt] = false
}

func (countRules) coverRescues(f facts, m *metadata) { f[keyDecidedRescues] = m.Rescues }

func (countRules) coverFetches(f facts, fetches int) { f[keyDecidedFetches] = fetches }

// allowRequest returns an error if the message of an attempt was resolved as Sent.
func (r countRules) allowRequest(ctx context.Context, a *attempt) error {
	isResolved, err := r.db.isResolvedSent(ctx, a.job.ID)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnconfirmed, err)
	}
	if isResolved {
		return errJobLost
	}
	return nil
}

// attemptCounts tell on SQLite whether an attempt recorded no outcome.
type attemptCounts struct {
	// Rescues is how often River rescued the job. River writes it.
	Rescues int `json:"river:rescue_count,omitempty"`
	// DecidedRescues is how many of the rescues leave no doubt: a lookup or a person has decided about the attempts before them.
	DecidedRescues int `json:"decided_rescues,omitempty"`
	// DecidedFetches is how many fetches of the job leave no doubt: an outcome of each was recorded, or a person has decided about it.
	DecidedFetches int `json:"decided_fetches,omitempty"`
	// InDoubt is set by lookups until one finds out what the attempts before it did.
	InDoubt bool `json:"in_doubt,omitempty"`
}

// hasOpenRescue reports whether the job was rescued from an attempt, or is looked up, and no decision has ended the doubt.
func (c *attemptCounts) hasOpenRescue() bool { return c.InDoubt || c.Rescues > c.DecidedRescues }

// hasOpenFetch reports whether a fetch before the current one recorded no outcome. fetches is how many fetches River remembers. If they are
// maxFetches, there may have been more, and they say nothing.
func (c *attemptCounts) hasOpenFetch(fetches int) bool {
	earlier := fetches - 1
	return fetches < maxFetches && earlier != c.DecidedFetches
}

// maxFetches is how many fetches of a job River remembers.
const maxFetches = 100
