package messagingriver

// The conditions about doubt on PostgreSQL.
const (
	// isRescuedInDoubtOnPostgres holds for a message that a rescued attempt may have sent: its job was rescued, and its last mark has no outcome.
	// It is for jobs that no worker has. It differs from markRules.hasRecordedDoubt in two cases:
	//
	//   - A mark without an outcome, and no rescue. A worker has the job, and its request may be under way: River writes the end of an attempt and
	//     its facts together.
	//   - An unknown verdict. isUnknownOnPostgres and isUnsentOnPostgres ask about it, too.
	isRescuedInDoubtOnPostgres = `(metadata ? 'river:rescue_count'
			AND COALESCE(metadata->>'begun', '') NOT IN ('', COALESCE(metadata->>'ended', ''), COALESCE(metadata->>'unsent', '')))`
	// isUnknownOnPostgres holds for a message that an attempt may have sent, if no worker has it.
	isUnknownOnPostgres = `(metadata @> '{"verdict": "unknown"}' OR ` + isRescuedInDoubtOnPostgres + `)`
	// isUnsentOnPostgres holds for a message that no attempt may have sent, if it waits.
	isUnsentOnPostgres = `(` + isKnown + ` AND NOT ` + isRescuedInDoubtOnPostgres + `)`
)

// endDoubtOnPostgres are the members of the metadata by which a decision covers every attempt before it, as arguments of jsonb_build_object.
const endDoubtOnPostgres = `'ended', COALESCE(metadata->>'begun', ''), 'requested', TRUE`

// postgresStatements returns the statements for PostgreSQL. Conditions with @> and ? use River's indexes of arguments and metadata.
func postgresStatements() statements {
	return statements{
		clock: `SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS FLOAT8)`,

		messageStatements:  postgresMessages(),
		campaignStatements: postgresCampaigns(),
		queueStatements:    postgresQueues(),
		probeStatements:    postgresProbes(),
	}
}

// postgresMessages returns the statements about messages.
func postgresMessages() messageStatements {
	const isMessage = `kind = 'messaging' AND args @> jsonb_build_object('channel', CAST($1 AS TEXT), 'reference', CAST($2 AS TEXT))`
	return messageStatements{
		// A running job is only marked, and its worker completes it.
		resolveSent: `
			UPDATE river_job SET
				state = CASE WHEN state = 'running' THEN state ELSE CAST('completed' AS river_job_state) END,
				finalized_at = CASE WHEN state = 'running' THEN NULL ELSE now() END,
				metadata = metadata || '{"verdict": "accepted", "resolved_sent": true}'
			WHERE ` + isMessage + ` AND state <> 'completed'
			RETURNING id`,
		// River would cancel a job with cancel_attempted_at again.
		resolveResend: `
			UPDATE river_job SET
				queue = 'messaging_' || CAST($1 AS TEXT),
				max_attempts = LEAST(32767, attempt + ` + attemptsOfResend + `),
				metadata = (metadata - 'cancel_attempted_at') || jsonb_build_object(` + setByResend + `,` + endDoubtOnPostgres + `)
			WHERE ` + isMessage + ` AND ` + isDecidable + ` AND ` + isNotGivenUp + ` AND args->'message' IS NOT NULL
				AND (state IN ('discarded', 'cancelled') OR queue = 'messaging_lookups')
				AND (metadata->>'expires' IS NULL OR CAST(metadata->>'expires' AS TIMESTAMPTZ) > now() OR ` + isUnknownOnPostgres + `)
			RETURNING id`,
		// In the queue of expired messages a worker ends the job even if the channel is paused.
		resolveNotSent: `
			UPDATE river_job SET
				queue = 'messaging_expired',
				metadata = (metadata - 'cancel_attempted_at') || jsonb_build_object(` + setByNotSent + `,
					'resolved_not_sent', TRUE,` + endDoubtOnPostgres + `)
			WHERE ` + isMessage + ` AND state = 'discarded' AND ` + isDecidable + ` AND ` + isUnknownOnPostgres + `
			RETURNING id`,
		resolveDrop: `
			UPDATE river_job SET
				state = 'cancelled',
				finalized_at = now(),
				args = args - 'message',
				metadata = metadata || jsonb_build_object('classes', NULL, 'reason', ` + reasonOfDrop + `)
			WHERE ` + isMessage + ` AND ` + isDecidable + ` AND (state <> 'cancelled' OR args->'message' IS NOT NULL)
			RETURNING id`,
		moveInDoubt: `
			UPDATE river_job SET queue = $1
			WHERE kind = 'messaging' AND queue <> $1 AND ` + isWaiting + ` AND ` + isRescuedInDoubtOnPostgres,
		reviveCancelled: `
			UPDATE river_job SET
				queue = $1,
				state = 'available',
				finalized_at = NULL,
				scheduled_at = now(),
				metadata = (metadata - 'cancel_attempted_at') || '{"cancelled": true}'
			WHERE kind = 'messaging' AND state = 'cancelled' AND ` + isNotGivenUp + ` AND args->'message' IS NOT NULL AND ` + isUnknownOnPostgres,
		moveExpired: `
			UPDATE river_job SET queue = $1, state = 'available', scheduled_at = now()
			WHERE id IN (
				SELECT id FROM river_job
				WHERE kind = 'messaging' AND queue = $2 AND ` + isWaiting + `
					AND CAST(metadata->>'expires' AS TIMESTAMPTZ) <= now() AND NOT ` + isRescuedInDoubtOnPostgres + `
				LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
		completeLate: `
			UPDATE river_job SET state = 'completed', finalized_at = now()
			WHERE id = $1 AND state IN ('discarded', 'cancelled') AND ` + wasSent + `
			RETURNING 1`,
		deleteContent: `
			UPDATE river_job SET args = args - 'message'
			WHERE id IN (SELECT id FROM river_job WHERE ` + hasContent + ` LIMIT 1000)`,
		withReference: `args @> jsonb_build_object('reference', CAST(@reference AS TEXT))`,
		// It begins no request of a paused queue. An attempt that has begun one may repeat it.
		writeMarks: `
			WITH attempt AS (
				SELECT unnest(CAST($1 AS BIGINT[])) AS id, unnest(CAST($2 AS TIMESTAMPTZ[])) AS at, unnest(CAST($3 AS TEXT[])) AS token
			), marked AS (
				UPDATE river_job AS job SET
					metadata = metadata || jsonb_build_object('begun', attempt.token, 'begun_at', clock_timestamp())
				FROM attempt
				WHERE job.id = attempt.id AND state = 'running' AND attempted_at = attempt.at AND metadata->'resolved_sent' IS NULL
					AND (metadata->>'begun' = attempt.token
						OR NOT EXISTS (SELECT 1 FROM river_queue WHERE name = job.queue AND paused_at IS NOT NULL))
				RETURNING attempt.token
			)
			SELECT
				(SELECT COALESCE(array_agg(token), '{}') FROM marked),
				(SELECT COALESCE(array_agg(name), '{}') FROM river_queue WHERE paused_at IS NOT NULL)`,
		messageCount:     countPostgresMessages(isAny),
		openMessageCount: countPostgresMessages(isOpen),
	}
}

// postgresCampaigns returns the statements about campaigns.
func postgresCampaigns() campaignStatements {
	const (
		isOfOne = `kind = 'messaging' AND metadata @> jsonb_build_object('campaign', CAST($1 AS TEXT))`
		// isPostponed holds for a message that a guard postponed. It leaves out probes: their channel decides when they are due.
		isPostponed = `state IN ('scheduled', 'pending') AND queue = 'messaging_' || (args->>'channel')
			AND COALESCE(metadata->'classes' @> '["postponed"]', FALSE) AND ` + isUnsentOnPostgres
	)
	return campaignStatements{
		allCampaigns:     countPostgresCampaigns(`kind = 'messaging' AND metadata->>'campaign' IS NOT NULL`),
		oneCampaign:      countPostgresCampaigns(isOfOne),
		isCampaignPaused: `SELECT EXISTS (SELECT 1 FROM river_job WHERE ` + isOfOne + ` AND state = 'pending')`,
		pauseCampaign: `
			WITH changed AS (
				UPDATE river_job SET state = 'pending', queue = 'messaging_' || (args->>'channel')
				WHERE ` + isOfOne + ` AND ` + isWaiting + ` AND ` + isUnsentOnPostgres + ` AND ` + hasNoOutcome + `
				RETURNING 1)
			SELECT COUNT(*) FROM changed`,
		// It skips the messages that River's scheduler has locked, in another order, because they are due.
		wakeCampaign: `
			WITH changed AS (
				UPDATE river_job SET state = 'available', scheduled_at = LEAST(scheduled_at, now())
				WHERE id IN (SELECT id FROM river_job WHERE ` + isOfOne + ` AND ` + isPostponed + ` FOR UPDATE SKIP LOCKED)
				RETURNING 1)
			SELECT COUNT(*) FROM changed`,
		resumeCampaign: `
			WITH changed AS (
				UPDATE river_job SET state = CAST(CASE WHEN scheduled_at > now() THEN 'scheduled' ELSE 'available' END AS river_job_state)
				WHERE ` + isOfOne + ` AND state = 'pending'
				RETURNING 1)
			SELECT COUNT(*) FROM changed`,
		cancelCampaign: `
			WITH changed AS (
				UPDATE river_job SET
					state = 'cancelled',
					finalized_at = now(),
					args = args - 'message',
					metadata = metadata || '{"reason": "its campaign was cancelled", "classes": null}'
				WHERE ` + isOfOne + ` AND (` + isWaiting + ` OR state = 'pending') AND ` + isUnsentOnPostgres + ` AND ` + hasNoOutcome + `
				RETURNING 1)
			SELECT COUNT(*) FROM changed`,
	}
}

// postgresQueues returns the statements about queues and their pauses.
func postgresQueues() queueStatements {
	// isOnHold holds for a queue that the outbox paused: its pause is as old as the column paused_at says.
	const isOnHold = `metadata->'pause'->>'at' = CAST(EXTRACT(EPOCH FROM paused_at) AS TEXT)`
	return queueStatements{
		pauseQueue: `
			UPDATE river_queue SET
				paused_at = now(),
				updated_at = now(),
				metadata = metadata || jsonb_build_object('pause', jsonb_build_object(
					'at', CAST(EXTRACT(EPOCH FROM now()) AS TEXT), 'cause', CAST($2 AS TEXT), 'probes', 0, 'next', CAST($3 AS TEXT)))
			WHERE name = $1 AND paused_at IS NULL
			RETURNING 1`,
		forgetPause: `
			UPDATE river_queue SET metadata = metadata - 'pause'
			WHERE name = $1 AND ` + isOnHold + `
			RETURNING 1`,
		lockPause: `
			UPDATE river_queue SET updated_at = now()
			WHERE name = $1 AND ` + isOnHold + `
			RETURNING COALESCE(CAST(metadata->'pause'->>'probes' AS INTEGER), 0), COALESCE(metadata->'pause'->>'next', '')`,
		queuesOnHold: `SELECT jsonb_agg(name) FROM river_queue WHERE ` + isOnHold,
		queueStatus: `
			SELECT jsonb_agg(jsonb_build_object(
				'name', name,
				'paused', CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END,
				'cause', CASE WHEN ` + isOnHold + ` THEN metadata->'pause'->>'cause' ELSE '' END,
				'next', CASE WHEN ` + isOnHold + ` THEN metadata->'pause'->>'next' ELSE '' END))
			FROM river_queue`,
	}
}

// postgresProbes returns the statements about the probes of paused channels.
func postgresProbes() probeStatements {
	return probeStatements{
		countProbe: `
			UPDATE river_queue SET metadata = jsonb_set(metadata, '{pause}',
				metadata->'pause' || jsonb_build_object('probes', CAST($2 AS INTEGER), 'next', CAST($3 AS TEXT), 'cause', CAST($4 AS TEXT)))
			WHERE name = $1`,
		chooseProbe: `
			UPDATE river_job SET queue = $2, scheduled_at = GREATEST(scheduled_at, now() + make_interval(secs => CAST($3 AS FLOAT8)))
			WHERE id = (
					SELECT id FROM river_job
					WHERE queue = $1 AND state = 'available' AND scheduled_at <= now() + make_interval(secs => CAST($4 AS FLOAT8))
					ORDER BY priority, scheduled_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
				AND NOT EXISTS (SELECT 1 FROM river_job WHERE queue = $2 AND ` + isWaitingOrRunning + `)
			RETURNING 1`,
		pauseProbes: `
			UPDATE river_job SET state = 'pending', queue = $1
			WHERE id IN (
				SELECT id FROM river_job AS probe
				WHERE queue = $2 AND ` + isWaiting + ` AND ` + isUnsentOnPostgres + ` AND metadata->>'campaign' IS NOT NULL
					AND EXISTS (
						SELECT 1 FROM river_job WHERE kind = 'messaging' AND state = 'pending'
							AND metadata @> jsonb_build_object('campaign', probe.metadata->>'campaign'))
				FOR UPDATE SKIP LOCKED)`,
		releaseProbes:    releasePostgresProbes,
		releaseForgotten: releasePostgresProbes + ` AND EXISTS (SELECT 1 FROM river_queue WHERE name = $1 AND paused_at IS NULL)`,
		returnPostponed: `
			UPDATE river_job SET queue = $1
			WHERE queue = $2 AND state IN ('retryable', 'scheduled') AND scheduled_at > now() + make_interval(secs => CAST($3 AS FLOAT8))`,
	}
}

// countPostgresMessages returns a statement that counts the messages for which a condition holds, by channel and state.
func countPostgresMessages(condition string) string {
	return `
		SELECT jsonb_agg(jsonb_build_object(
			'channel', channel, 'state', state, 'messages', messages, 'lookedup', looked_up, 'oldest', oldest))
		FROM (
			SELECT args->>'channel' AS channel, state, COUNT(*) AS messages,
				COUNT(*) FILTER (WHERE queue = 'messaging_lookups' AND finalized_at IS NULL) AS looked_up,
				COALESCE(EXTRACT(EPOCH FROM now() - MIN(GREATEST(scheduled_at, created_at)) FILTER (
					WHERE state = 'available' AND queue <> 'messaging_lookups' AND scheduled_at <= now())), 0) AS oldest
			FROM river_job WHERE ` + condition + `
			GROUP BY 1, 2) AS counted`
}

// countPostgresCampaigns returns a statement that counts the messages for which a condition holds, by campaign and state.
func countPostgresCampaigns(condition string) string {
	return `
		SELECT jsonb_agg(jsonb_build_object('name', name, 'state', state, 'messages', messages))
		FROM (
			SELECT metadata->>'campaign' AS name, state, COUNT(*) AS messages FROM river_job WHERE ` + condition + `
			GROUP BY 1, 2 ORDER BY 1) AS counted`
}

// releasePostgresProbes moves the probes of a channel to its queue. They were due with the next probe, which may be an hour later.
const releasePostgresProbes = `
	UPDATE river_job SET queue = $1, scheduled_at = CASE WHEN state = 'running' THEN scheduled_at ELSE now() END
	WHERE queue = $2 AND ` + isWaitingOrRunning
