package messagingriver

// statements are the SQL statements that differ between PostgreSQL and SQLite. postgres.go and sqlite.go have them in the same order. The comments
// here name the parameters in order. The statements name River's tables without a schema, which database.qualify adds.
type statements struct {
	clock string // returns the time of the database in seconds since 1970

	messageStatements
	campaignStatements
	queueStatements
	probeStatements
}

// messageStatements are about messages. A message in doubt was rescued from a process that may have sent it.
type messageStatements struct {
	resolveSent      string // channel, reference; returns the ID of the job
	resolveResend    string // channel, reference; returns the ID of the job
	resolveNotSent   string // channel, reference; returns the ID of the job
	resolveDrop      string // channel, reference; returns the ID of the job
	moveInDoubt      string // queue of lookups; moves messages in doubt there
	reviveCancelled  string // queue of lookups; moves cancelled messages there that may have been sent
	moveExpired      string // queue of expired messages, queue of a channel or of its probes
	completeLate     string // job; completes a message that was recorded as accepted late; returns 1
	deleteContent    string // deletes the content of 1,000 messages that were accepted
	withReference    string // a condition of River's list, with the parameter @reference
	writeMarks       string // on PostgreSQL alone: IDs, times and tokens of attempts; returns the tokens that were written, and the paused queues
	messageCount     string // returns a JSON array of messageCount
	openMessageCount string // like messageCount, without completed and cancelled messages
}

// campaignStatements are about campaigns.
type campaignStatements struct {
	allCampaigns     string // returns a JSON array of campaignCount
	oneCampaign      string // campaign; returns a JSON array of campaignCount
	isCampaignPaused string // campaign; returns whether one of its messages is pending
	pauseCampaign    string // campaign; see changeMany
	wakeCampaign     string // campaign; makes messages that a guard postponed due, paused or not; see changeMany
	resumeCampaign   string // campaign; makes paused messages wait again; see changeMany
	cancelCampaign   string // campaign; see changeMany
}

// queueStatements are about queues. A pause by the outbox has its time in the metadata of the queue, in the form of the column paused_at.
type queueStatements struct {
	pauseQueue   string // queue, cause, time of the next probe; returns 1
	forgetPause  string // queue; removes the pause of the outbox from the metadata, so that no probe ends it; returns 1
	lockPause    string // queue; returns the number of probes and the time of the next
	queuesOnHold string // returns a JSON array of the names of queues that the outbox paused
	queueStatus  string // returns a JSON array of queueStatus
}

// probeStatements are about the probes of channels that the outbox paused.
type probeStatements struct {
	countProbe       string // queue, number of probes, time of the next probe, cause
	chooseProbe      string // queue, queue of its probes, seconds until the probe is due, seconds that a halted message may still wait; returns 1
	pauseProbes      string // queue, queue of its probes; moves probes of paused campaigns to the queue, as pauseCampaign does
	releaseProbes    string // queue, queue of its probes; moves the probes to the queue, where they are due at once
	releaseForgotten string // like releaseProbes, if the queue is not paused: a person resumed it in River UI
	returnPostponed  string // queue, queue of its probes, seconds; moves probes that are due later than that to the queue
}

// The statements that are the same on both databases. SQLite takes $1, too, if the parameters appear in the order of their numbers.
const (
	anyJob            = `SELECT EXISTS (SELECT 1 FROM river_job)`
	moveJob           = `UPDATE river_job SET queue = $1 WHERE id = $2`                // queue, job
	moveProbe         = `UPDATE river_job SET queue = $1 WHERE id = $2 AND queue = $3` // queue, job, queue of its probes
	findResolved      = `SELECT id FROM river_job WHERE id = $1 AND metadata->'resolved_sent' IS NOT NULL`
	countUnreported   = `SELECT COUNT(*) FROM river_job WHERE queue = 'messaging_outcomes' AND ` + isWaitingOrRunning + ` AND metadata->'failures' IS NOT NULL`
	deleteOutcomeJobs = `DELETE FROM river_job WHERE kind = 'messaging_outcome' AND state = 'completed'`
	indexContent      = `CREATE INDEX IF NOT EXISTS messaging_content ON river_job (id) WHERE ` + hasContent
	indexLate         = `CREATE INDEX IF NOT EXISTS messaging_late ON river_job (id) WHERE ` + isLate
	indexReference    = `CREATE INDEX IF NOT EXISTS messaging_reference ON river_job (args->>'reference')` // River has one on PostgreSQL
)

// The conditions that are the same on both databases.
const (
	// isAny holds for a message.
	isAny = `kind = 'messaging'`
	// isOpen holds for a message that is neither completed nor cancelled.
	isOpen = `kind = 'messaging' AND state IN ('available', 'scheduled', 'retryable', 'running', 'pending', 'discarded')`
	// isWaiting holds for a job that waits for a worker, or for its time. A pending job waits for its campaign.
	isWaiting = `state IN ('available', 'scheduled', 'retryable')`
	// isWaitingOrRunning holds for a job that waits, or that a worker has.
	isWaitingOrRunning = `state IN ('available', 'scheduled', 'retryable', 'running')`
	// hasContent holds for a message that was accepted and still has its content.
	hasContent = `kind = 'messaging' AND state = 'completed' AND args->'message' IS NOT NULL`
	// isLate holds for a message that ended unsent before its outcome was recorded as accepted, or before it was resolved as Sent.
	isLate = `kind = 'messaging' AND state IN ('discarded', 'cancelled') AND ` + wasSent
	// wasSent holds for a message that was recorded as accepted, or resolved as Sent.
	wasSent = `(COALESCE(metadata->>'verdict', '') = 'accepted' OR metadata->'resolved_sent' IS NOT NULL)`
	// isNotGivenUp holds unless a person resolved the message as NotSent. Its program may have sent a fallback, so it is never sent again.
	isNotGivenUp = `metadata->'resolved_not_sent' IS NULL`
	// isDecidable holds for a message that a person may drop or have sent again.
	isDecidable = `state NOT IN ('running', 'completed') AND NOT ` + wasSent
	// isKnown holds unless the outcome is unknown. A message with an unknown outcome may not be in the queue of lookups yet.
	isKnown = `queue <> 'messaging_lookups' AND COALESCE(metadata->>'verdict', '') <> 'unknown'`
	// hasNoOutcome holds unless the message has its outcome, and its job waits only until the call of OnOutcome can be enqueued.
	hasNoOutcome = `COALESCE(metadata->>'ends_as', '') = ''`
)

// attemptsOfResend is how many more attempts River grants a message that is resent: the most that Insert grants a new one, which are mostAttempts
// and spareAttempts.
const attemptsOfResend = `1100`

// The reasons of messages that a person decided about keep the reason before.
const (
	reasonOfDrop = `
		CASE
			WHEN COALESCE(metadata->>'reason', '') = '' THEN 'dropped'
			ELSE 'dropped: ' || (metadata->>'reason')
		END`
	reasonOfNotSent = `
		CASE
			WHEN COALESCE(metadata->>'reason', '') = '' THEN 'resolved as not sent'
			ELSE 'resolved as not sent: ' || (metadata->>'reason')
		END`
)
