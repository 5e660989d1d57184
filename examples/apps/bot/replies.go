package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
)

// The replies. A delivery report may lack the reference ID or the person, and the outbox deletes the person of an accepted message.
const replyTable = `
CREATE TABLE IF NOT EXISTS bot_reply (
	reference  TEXT PRIMARY KEY,
	channel    TEXT NOT NULL,
	person     TEXT NOT NULL,
	status     TEXT NOT NULL,  -- as last reported, and '' before
	message_id TEXT,           -- the service's ID: NULL until the outcome is noted, and '' if the outcome has none
	enqueued   BIGINT NOT NULL -- in seconds since 1970
);
CREATE INDEX IF NOT EXISTS bot_reply_message ON bot_reply (message_id);
CREATE INDEX IF NOT EXISTS bot_reply_person ON bot_reply (person, enqueued);`

// reply is a row of the table.
type reply struct {
	reference string
	channel   string
	person    string
	status    webhook.Status
}

// addReply adds a reply that is enqueued in the same transaction.
func addReply(ctx context.Context, tx *sql.Tx, key messagingriver.Key, person string) error {
	const insert = "INSERT INTO bot_reply (reference, channel, person, status, enqueued) VALUES ($1, $2, $3, '', $4)"
	_, err := tx.ExecContext(ctx, insert, key.Reference, key.Channel, person, time.Now().Unix())
	return err
}

// countReplies returns how many replies to a person were enqueued after a time.
func countReplies(ctx context.Context, tx *sql.Tx, person string, after time.Time) (count int, err error) {
	const query = "SELECT COUNT(*) FROM bot_reply WHERE person = $1 AND enqueued > $2"
	err = tx.QueryRowContext(ctx, query, person, after.Unix()).Scan(&count)
	return count, err
}

// noteMessageID notes the service's ID of a reply, or that its outcome has none. It does nothing for other messages.
func noteMessageID(ctx context.Context, db *sql.DB, reference, id string) error {
	const update = "UPDATE bot_reply SET message_id = $1 WHERE reference = $2 AND COALESCE(message_id, '') = ''"
	_, err := db.ExecContext(ctx, update, id, reference)
	return err
}

// setStatus notes the status of a reply. It does nothing for other messages.
func setStatus(ctx context.Context, tx *sql.Tx, reference string, status webhook.Status) error {
	_, err := tx.ExecContext(ctx, "UPDATE bot_reply SET status = $1 WHERE reference = $2", string(status), reference)
	return err
}

// lockReply returns the reply that a delivery report is about, and locks it until the transaction ends. It also notes the message ID of the report.
func lockReply(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (locked reply, isFound bool, err error) {
	const lock = `UPDATE bot_reply SET message_id = COALESCE(NULLIF(message_id, ''), NULLIF($1, ''), message_id)
		WHERE reference = $2 OR (message_id = $1 AND message_id <> '')
		RETURNING reference, channel, person, status`
	row := tx.QueryRowContext(ctx, lock, report.ID, report.ReferenceID)
	err = row.Scan(&locked.reference, &locked.channel, &locked.person, &locked.status)
	if errors.Is(err, sql.ErrNoRows) {
		return reply{}, false, nil
	}
	return locked, err == nil, err
}

// mayBeEarly reports whether the reply of a report may have a message ID that is not noted yet. Noting it takes a second, or some minutes after a
// kill. So a report of the last hour, or without a time, may be early as long as the message ID of any reply is still to come. That of a reply that a
// person resolved never comes, so replies of more than a day ago do not count: they expired long before.
func mayBeEarly(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (isEarly bool, err error) {
	isOld := !report.StatusAt.IsZero() && time.Since(report.StatusAt) > time.Hour
	if report.ReferenceID != "" || isOld || !report.Status.Final() {
		return false, nil
	}
	const query = "SELECT EXISTS (SELECT 1 FROM bot_reply WHERE message_id IS NULL AND enqueued > $1)"
	err = tx.QueryRowContext(ctx, query, time.Now().Add(-24*time.Hour).Unix()).Scan(&isEarly)
	return isEarly, err
}

// pruneReplies deletes replies that were enqueued before a time.
func pruneReplies(ctx context.Context, db *sql.DB, before time.Time) error {
	_, err := db.ExecContext(ctx, "DELETE FROM bot_reply WHERE enqueued < $1", before.Unix())
	return err
}
