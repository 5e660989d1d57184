package messagingriver

import "context"

// doubtRules tell on one database whether an attempt that recorded no outcome may have sent a message.
type doubtRules interface {
	// hasRecordedDoubt reports whether the metadata alone leaves a message in doubt, whether or not a worker has its job. It does not rely on
	// Verdict alone: an earlier attempt may have recorded it, or an attempt of a process that was frozen.
	hasRecordedDoubt(m *metadata) bool
	// isInDoubt reports whether the worker that got the job of a message must not send it. fetches is how many fetches of the job River
	// remembers, with that of the worker.
	isInDoubt(m *metadata, fetches int) bool
	// provesUnsent reports whether the metadata of a job that was attempted, but that no worker has, proves that no request began although no
	// attempt has recorded a verdict.
	provesUnsent(m *metadata) bool
	// keepDoubt records that a lookup has left a message in doubt.
	keepDoubt(f facts)
	// endDoubt records that a lookup found out what the attempts before it did. m is the metadata at the lookup.
	endDoubt(f facts, m *metadata)
	// coverRescues records that the rescues of a job until now leave no doubt, because the message has its outcome.
	coverRescues(f facts, m *metadata)
	// coverFetches records that the fetches of a job until now leave no doubt. If the outcome of the last one is unknown, the verdict says so.
	coverFetches(f facts, fetches int)
	// allowRequest returns nil if the request of an attempt may begin. The error matches errJobLost if it must not, and errUnconfirmed if the
	// database could not be asked.
	allowRequest(ctx context.Context, a *attempt) error
}

// newDoubtRules returns the rules of a database.
func newDoubtRules(d *database) doubtRules {
	if d.isPostgres {
		return markRules{db: d, marks: new(batcher[*mark])}
	}
	return countRules{db: d}
}
