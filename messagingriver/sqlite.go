package messagingriver

import (
	"database/sql"
	"fmt"
	"strings"
)

// checkSQLite returns an error if connections of a pool could fail while others write. Package sqlstore makes the same check.
func checkSQLite(db *sql.DB) error {
	if db.Stats().MaxOpenConnections == 1 {
		return nil
	}
	if err := db.Ping(); err != nil { //nolint:noctx // a local file
		return fmt.Errorf("messagingriver: cannot reach the database: %w", err)
	}
	var mode string
	if err := db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil { //nolint:noctx // a local file
		return fmt.Errorf("messagingriver: the journal mode cannot be read: %w", err)
	}
	var wait int
	if err := db.QueryRow("PRAGMA busy_timeout").Scan(&wait); err != nil { //nolint:noctx // a local file
		return fmt.Errorf("messagingriver: the busy timeout cannot be read: %w", err)
	}
	if !strings.EqualFold(mode, "wal") || wait <= 0 {
		return fmt.Errorf("messagingriver: SQLite with several connections needs journal_mode(wal) and a busy_timeout, "+
			"but has %s and %d ms; set them in the name of the data source, or call db.SetMaxOpenConns(1)", mode, wait)
	}
	return nil
}

// The conditions about doubt on SQLite.
const (
	// isRescuedInDoubtOnSQLite holds for a message that a rescued attempt may have sent: no decision covers the last rescue of its job. It leaves
	// out two cases of countRules.hasRecordedDoubt:
	//
	//   - A lookup that left the message in doubt. The job was rescued, or its verdict is unknown, and it waits in the queue of lookups.
	//   - An unknown verdict. isUnknownOnSQLite and isUnsentOnSQLite ask about it, too.
	isRescuedInDoubtOnSQLite = `(COALESCE(metadata->>'river:rescue_count', 0) > COALESCE(metadata->>'decided_rescues', 0))`
	// isUnknownOnSQLite holds for a message that an attempt may have sent, if no worker has it.
	isUnknownOnSQLite = `(metadata->>'verdict' = 'unknown' OR ` + isRescuedInDoubtOnSQLite + `)`
	// isUnsentOnSQLite holds for a message that no attempt may have sent, if it waits.
	isUnsentOnSQLite = `(` + isKnown + ` AND NOT ` + isRescuedInDoubtOnSQLite + `)`
)

// endDoubtOnSQLite are the members of the metadata by which a decision covers every attempt and rescue before it, as arguments of json_object.
const endDoubtOnSQLite = `
	'in_doubt', NULL,
	'requested', json('true'),
	'decided_rescues', COALESCE(metadata->>'river:rescue_count', 0),
	'decided_fetches', json_array_length(COALESCE(attempted_by, '[]'))`

// sqliteStatements returns the statements for SQLite, where River stores JSON as JSONB, and times as datetime writes them.
func sqliteStatements() statements {
	return statements{
		clock: `SELECT unixepoch('subsec')`,

		messageStatements:  sqliteMessages(),
		campaignStatements: sqliteCampaigns(),
		queueStatements:    sqliteQueues(),
		probeStatements:    sqliteProbes(),
	}
}

// sqliteMessages returns the statements about messages.
func sqliteMessages() messageStatements {
	const (
		isMessage = `kind = 'messaging' AND args->>'channel' = ?1 AND args->>'reference' = ?2`
		// isLeftInDoubt holds for a message that may have been sent, even if a lookup that left it in doubt is the only trace.
		isLeftInDoubt = `(` + isUnknownOnSQLite + ` OR COALESCE(metadata->>'in_doubt', 0))`
	)
	return messageStatements{
		// A running job is only marked, and its worker completes it.
		resolveSent: `
			UPDATE river_job SET
				state = CASE WHEN state = 'running' THEN state ELSE 'completed' END,
				finalized_at = CASE WHEN state = 'running' THEN NULL ELSE datetime('now', 'subsec') END,
				metadata = jsonb_patch(metadata, '{"verdict": "accepted", "resolved_sent": true}')
			WHERE ` + isMessage + ` AND state <> 'completed'
			RETURNING id`,
		// River would cancel a job with cancel_attempted_at again.
		resolveResend: `
			UPDATE river_job SET
				queue = 'messaging_' || ?1,
				max_attempts = MIN(32767, attempt + ` + attemptsOfResend + `),
				metadata = jsonb_patch(metadata, json_object('cancel_attempted_at', NULL, ` + setByResend + `,` + endDoubtOnSQLite + `))
			WHERE ` + isMessage + ` AND ` + isDecidable + ` AND ` + isNotGivenUp + ` AND args->'message' IS NOT NULL
				AND (state IN ('discarded', 'cancelled') OR queue = 'messaging_lookups')
				AND (metadata->>'expires' IS NULL OR julianday(metadata->>'expires') > julianday('now') OR ` + isLeftInDoubt + `)
			RETURNING id`,
		// In the queue of expired messages a worker ends the job even if the channel is paused.
		resolveNotSent: `
			UPDATE river_job SET
				queue = 'messaging_expired',
				metadata = jsonb_patch(metadata, json_object('cancel_attempted_at', NULL, ` + setByNotSent + `,
					'resolved_not_sent', json('true'),` + endDoubtOnSQLite + `))
			WHERE ` + isMessage + ` AND state = 'discarded' AND ` + isDecidable + ` AND ` + isLeftInDoubt + `
			RETURNING id`,
		resolveDrop: `
			UPDATE river_job SET
				state = 'cancelled',
				finalized_at = datetime('now', 'subsec'),
				args = jsonb_remove(args, '$.message'),
				metadata = jsonb_patch(metadata, json_object('classes', NULL, 'reason', ` + reasonOfDrop + `))
			WHERE ` + isMessage + ` AND ` + isDecidable + ` AND (state <> 'cancelled' OR args->'message' IS NOT NULL)
			RETURNING id`,
		moveInDoubt: `
			UPDATE river_job SET queue = ?1
			WHERE kind = 'messaging' AND queue <> ?1 AND ` + isWaiting + ` AND ` + isRescuedInDoubtOnSQLite,
		reviveCancelled: `
			UPDATE river_job SET
				queue = ?1,
				state = 'available',
				finalized_at = NULL,
				scheduled_at = datetime('now', 'subsec'),
				metadata = jsonb_patch(metadata, '{"cancelled": true, "cancel_attempted_at": null}')
			WHERE kind = 'messaging' AND state = 'cancelled' AND ` + isNotGivenUp + ` AND args->'message' IS NOT NULL AND ` + isUnknownOnSQLite,
		moveExpired: `
			UPDATE river_job SET queue = ?1, state = 'available', scheduled_at = datetime('now', 'subsec')
			WHERE id IN (
				SELECT id FROM river_job
				WHERE kind = 'messaging' AND queue = ?2 AND ` + isWaiting + `
					AND julianday(metadata->>'expires') <= julianday('now') AND NOT ` + isRescuedInDoubtOnSQLite + `
				LIMIT 1000)`,
		completeLate: `
			UPDATE river_job SET state = 'completed', finalized_at = datetime('now', 'subsec')
			WHERE id = ?1 AND state IN ('discarded', 'cancelled') AND ` + wasSent + `
			RETURNING 1`,
		deleteContent: `
			UPDATE river_job SET args = jsonb_remove(args, '$.message')
			WHERE id IN (SELECT id FROM river_job WHERE ` + hasContent + ` LIMIT 1000)`,
		withReference:    `args->>'reference' = @reference`,
		messageCount:     countSQLiteMessages(isAny),
		openMessageCount: countSQLiteMessages(isOpen),
	}
}

// sqliteCampaigns returns the statements about campaigns.
func sqliteCampaigns() campaignStatements {
	const (
		isOfOne = `kind = 'messaging' AND metadata->>'campaign' = ?1`
		// isPostponed holds for a message that a guard postponed. It leaves out probes: their channel decides when they are due.
		isPostponed = `state IN ('scheduled', 'pending') AND queue = 'messaging_' || (args->>'channel')
			AND EXISTS (SELECT 1 FROM json_each(metadata, '$.classes') WHERE value = 'postponed') AND ` + isUnsentOnSQLite
	)
	return campaignStatements{
		allCampaigns:     countSQLiteCampaigns(`kind = 'messaging' AND metadata->>'campaign' IS NOT NULL`),
		oneCampaign:      countSQLiteCampaigns(isOfOne),
		isCampaignPaused: `SELECT EXISTS (SELECT 1 FROM river_job WHERE ` + isOfOne + ` AND state = 'pending')`,
		pauseCampaign: `
			UPDATE river_job SET state = 'pending', queue = 'messaging_' || (args->>'channel')
			WHERE ` + isOfOne + ` AND ` + isWaiting + ` AND ` + isUnsentOnSQLite + ` AND ` + hasNoOutcome,
		wakeCampaign: `
			UPDATE river_job SET state = 'available', scheduled_at = MIN(scheduled_at, datetime('now', 'subsec'))
			WHERE ` + isOfOne + ` AND ` + isPostponed,
		resumeCampaign: `
			UPDATE river_job SET state = CASE WHEN scheduled_at > datetime('now', 'subsec') THEN 'scheduled' ELSE 'available' END
			WHERE ` + isOfOne + ` AND state = 'pending'`,
		cancelCampaign: `
			UPDATE river_job SET
				state = 'cancelled',
				finalized_at = datetime('now', 'subsec'),
				args = jsonb_remove(args, '$.message'),
				metadata = jsonb_patch(metadata, '{"reason": "its campaign was cancelled", "classes": null}')
			WHERE ` + isOfOne + ` AND (` + isWaiting + ` OR state = 'pending') AND ` + isUnsentOnSQLite + ` AND ` + hasNoOutcome,
	}
}

// sqliteQueues returns the statements about queues and their pauses.
func sqliteQueues() queueStatements {
	// isOnHold holds for a queue that the outbox paused: its pause is as old as the column paused_at says.
	const isOnHold = `metadata->'pause'->>'at' = paused_at`
	return queueStatements{
		pauseQueue: `
			UPDATE river_queue SET
				paused_at = datetime('now', 'subsec'),
				updated_at = datetime('now', 'subsec'),
				metadata = jsonb_patch(metadata, json_object('pause', json_object(
					'at', datetime('now', 'subsec'), 'cause', ?2, 'probes', 0, 'next', ?3)))
			WHERE name = ?1 AND paused_at IS NULL
			RETURNING 1`,
		forgetPause: `
			UPDATE river_queue SET metadata = jsonb_remove(metadata, '$.pause')
			WHERE name = ?1 AND ` + isOnHold + `
			RETURNING 1`,
		lockPause: `
			UPDATE river_queue SET updated_at = datetime('now', 'subsec')
			WHERE name = ?1 AND ` + isOnHold + `
			RETURNING COALESCE(metadata->'pause'->>'probes', 0), COALESCE(metadata->'pause'->>'next', '')`,
		queuesOnHold: `SELECT json_group_array(name) FROM river_queue WHERE ` + isOnHold,
		queueStatus: `
			SELECT json_group_array(json_object(
				'name', name,
				'paused', CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END,
				'cause', CASE WHEN ` + isOnHold + ` THEN metadata->'pause'->>'cause' ELSE '' END,
				'next', CASE WHEN ` + isOnHold + ` THEN metadata->'pause'->>'next' ELSE '' END))
			FROM river_queue`,
	}
}

// sqliteProbes returns the statements about the probes of paused channels.
func sqliteProbes() probeStatements {
	return probeStatements{
		countProbe: `
			UPDATE river_queue SET metadata = jsonb_set(metadata, '$.pause.probes', ?2, '$.pause.next', ?3, '$.pause.cause', ?4)
			WHERE name = ?1`,
		chooseProbe: `
			UPDATE river_job SET queue = ?2, scheduled_at = MAX(scheduled_at, datetime('now', 'subsec', format('+%.3f seconds', ?3)))
			WHERE id = (
					SELECT id FROM river_job
					WHERE queue = ?1 AND state = 'available' AND scheduled_at <= datetime('now', 'subsec', format('+%.3f seconds', ?4))
					ORDER BY priority, scheduled_at, id LIMIT 1)
				AND NOT EXISTS (SELECT 1 FROM river_job WHERE queue = ?2 AND ` + isWaitingOrRunning + `)
			RETURNING 1`,
		pauseProbes: `
			UPDATE river_job AS probe SET state = 'pending', queue = ?1
			WHERE queue = ?2 AND ` + isWaiting + ` AND ` + isUnsentOnSQLite + `
				AND EXISTS (
					SELECT 1 FROM river_job WHERE kind = 'messaging' AND state = 'pending'
						AND metadata->>'campaign' = probe.metadata->>'campaign')`,
		releaseProbes:    releaseSQLiteProbes,
		releaseForgotten: releaseSQLiteProbes + ` AND EXISTS (SELECT 1 FROM river_queue WHERE name = ?1 AND paused_at IS NULL)`,
		returnPostponed: `
			UPDATE river_job SET queue = ?1
			WHERE queue = ?2 AND state IN ('retryable', 'scheduled')
				AND scheduled_at > datetime('now', 'subsec', format('+%.3f seconds', ?3))`,
	}
}

// countSQLiteMessages returns a statement that counts the messages for which a condition holds, by channel and state.
func countSQLiteMessages(condition string) string {
	return `
		SELECT json_group_array(json_object(
			'channel', channel, 'state', state, 'messages', messages, 'lookedup', looked_up, 'oldest', oldest))
		FROM (
			SELECT args->>'channel' AS channel, state, COUNT(*) AS messages,
				COUNT(*) FILTER (WHERE queue = 'messaging_lookups' AND finalized_at IS NULL) AS looked_up,
				COALESCE(unixepoch('subsec') - unixepoch(MIN(MAX(scheduled_at, created_at)) FILTER (
					WHERE state = 'available' AND queue <> 'messaging_lookups' AND scheduled_at <= datetime('now', 'subsec'))), 0) AS oldest
			FROM river_job WHERE ` + condition + `
			GROUP BY 1, 2) AS counted`
}

// countSQLiteCampaigns returns a statement that counts the messages for which a condition holds, by campaign and state.
func countSQLiteCampaigns(condition string) string {
	return `
		SELECT json_group_array(json_object('name', name, 'state', state, 'messages', messages))
		FROM (
			SELECT metadata->>'campaign' AS name, state, COUNT(*) AS messages FROM river_job WHERE ` + condition + `
			GROUP BY 1, 2 ORDER BY 1) AS counted`
}

// releaseSQLiteProbes moves the probes of a channel to its queue. They were due with the next probe, which may be an hour later.
const releaseSQLiteProbes = `
	UPDATE river_job SET queue = ?1, scheduled_at = CASE WHEN state = 'running' THEN scheduled_at ELSE datetime('now', 'subsec') END
	WHERE queue = ?2 AND ` + isWaitingOrRunning
