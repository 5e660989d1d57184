package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/webhook"
)

// A row is a question and the reply to it, or a STOP or START and its confirmation. A delivery report may lack the reference ID or the person, and
// the outbox deletes the person and the text of an accepted message.
const replyTable = `
CREATE TABLE IF NOT EXISTS bot_reply (
	reference  TEXT PRIMARY KEY, -- of the reply or, in its place, of the template after the window or of the answer of a colleague
	channel    TEXT NOT NULL,
	person     TEXT NOT NULL,
	question   TEXT NOT NULL,
	answer     TEXT NOT NULL,    -- the text of the reply, or '' if the question gets no reply
	status     TEXT NOT NULL,    -- as last reported, and '' before
	message_id TEXT,             -- the service's ID; see isPending and hasNoID
	asked      BIGINT NOT NULL   -- when the person asked or, later, a colleague answered, in seconds since 1970
);
CREATE INDEX IF NOT EXISTS bot_reply_message ON bot_reply (message_id);
CREATE INDEX IF NOT EXISTS bot_reply_person ON bot_reply (person, asked);`

// The conditions for a row without an ID of the service. hasNoID must not be NULL, because pruneReplies negates it through isOpen.
const (
	isPending = "message_id IS NULL"                           // the outcome of the message is not noted yet
	hasNoID   = "(message_id IS NOT NULL AND message_id = '')" // there is no message, or its outcome has no ID
)

// replyRow is a row of the table.
type replyRow struct {
	reference string
	channel   string
	person    string
	question  string
	answer    string
	status    webhook.Status
}

// addReply adds the row of a reply or confirmation that is enqueued in the same transaction, or of a question that gets no reply.
func addReply(ctx context.Context, tx *sql.Tx, row replyRow) error {
	const insert = `INSERT INTO bot_reply (reference, channel, person, question, answer, status, message_id, asked)
		VALUES ($1, $2, $3, $4, $5, '', $6, $7)`
	question := strings.ReplaceAll(row.question, "\x00", "") // PostgreSQL stores no zero byte
	messageID := sql.NullString{Valid: row.answer == ""}     // '' without a reply
	_, err := tx.ExecContext(ctx, insert, row.reference, row.channel, row.person, question, row.answer, messageID, time.Now().Unix())
	return err
}

// countReplies returns how many replies to a person were enqueued after a time. It needs no lock: Book.Note has locked the conversation with the person
// until the transaction ends, so their messages on a channel are counted one after the other. At the same moment, messages on two channels may get
// one reply too many, which does not matter: the limit only has to end a loop of two bots.
func countReplies(ctx context.Context, tx *sql.Tx, person string, after time.Time) (count int, err error) {
	const query = "SELECT COUNT(*) FROM bot_reply WHERE person = $1 AND asked > $2 AND answer <> '' AND reference NOT LIKE '" + prefixConfirmation + "%'"
	err = tx.QueryRowContext(ctx, query, person, after.Unix()).Scan(&count)
	return count, err
}

// countConfirmations returns how many confirmations to a person were enqueued after a time.
func countConfirmations(ctx context.Context, tx *sql.Tx, person string, after time.Time) (count int, err error) {
	const query = "SELECT COUNT(*) FROM bot_reply WHERE person = $1 AND asked > $2 AND reference LIKE '" + prefixConfirmation + "%'"
	err = tx.QueryRowContext(ctx, query, person, after.Unix()).Scan(&count)
	return count, err
}

// countOpen returns how many open questions a person has.
func countOpen(ctx context.Context, tx *sql.Tx, person string) (count int, err error) {
	const query = "SELECT COUNT(*) FROM bot_reply WHERE person = $1 AND " + isOpen
	err = tx.QueryRowContext(ctx, query, person).Scan(&count)
	return count, err
}

// noteMessageID notes the service's ID of a reply, confirmation or template, or that its outcome has none.
func noteMessageID(ctx context.Context, db *sql.DB, reference, id string) error {
	const update = "UPDATE bot_reply SET message_id = $1 WHERE reference = $2 AND (" + isPending + " OR " + hasNoID + ")"
	_, err := db.ExecContext(ctx, update, id, reference)
	return err
}

// setStatus sets the status of a reply.
func setStatus(ctx context.Context, tx *sql.Tx, reference string, status webhook.Status) error {
	_, err := tx.ExecContext(ctx, "UPDATE bot_reply SET status = $1 WHERE reference = $2", string(status), reference)
	return err
}

// setReference makes the row of a reply the row of the template in its place.
func setReference(ctx context.Context, tx *sql.Tx, reference, template string) error {
	const update = "UPDATE bot_reply SET reference = $1, status = '', message_id = NULL WHERE reference = $2"
	_, err := tx.ExecContext(ctx, update, template, reference)
	return err
}

// setAnswer makes the row of an open question the row of a colleague's answer, and locks it until the transaction ends. It returns sql.ErrNoRows if no
// open question has the reference ID.
func setAnswer(ctx context.Context, tx *sql.Tx, reference, text string) (row replyRow, err error) {
	const update = `UPDATE bot_reply SET reference = $1, answer = $2, status = '', message_id = NULL, asked = $3
		WHERE reference = $4 AND ` + isOpen + ` RETURNING reference, channel, person`
	updated := tx.QueryRowContext(ctx, update, prefixAnswer+reference, text, time.Now().Unix(), reference)
	err = updated.Scan(&row.reference, &row.channel, &row.person)
	return row, err
}

// lockReply returns the row of the reply with a message ID or a reference ID, of which one may be empty, and locks it until the transaction ends. It
// also notes the message ID.
func lockReply(ctx context.Context, tx *sql.Tx, id, reference string) (row replyRow, isFound bool, err error) {
	const lock = `UPDATE bot_reply SET message_id = COALESCE(NULLIF(message_id, ''), NULLIF($1, ''), message_id)
		WHERE reference = $2 OR (message_id = $1 AND message_id <> '')
		RETURNING reference, channel, person, answer, status`
	found := tx.QueryRowContext(ctx, lock, id, reference)
	err = found.Scan(&row.reference, &row.channel, &row.person, &row.answer, &row.status)
	if errors.Is(err, sql.ErrNoRows) {
		return replyRow{}, false, nil
	}
	return row, err == nil, err
}

// mayBeEarly reports whether a report may be about a reply whose message ID is not noted yet. That takes a second, or some minutes after a kill, so a
// report that is over an hour old is not early. A reply that waits for longer than a day was resolved by a person, and gets no message ID.
func mayBeEarly(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (isEarly bool, err error) {
	isOld := !report.StatusAt.IsZero() && time.Since(report.StatusAt) > time.Hour
	if report.ReferenceID != "" || isOld || !report.Status.Final() {
		return false, nil
	}
	const query = "SELECT EXISTS (SELECT 1 FROM bot_reply WHERE " + isPending + " AND asked > $1)"
	err = tx.QueryRowContext(ctx, query, time.Now().Add(-24*time.Hour).Unix()).Scan(&isEarly)
	return isEarly, err
}

// pruneReplies deletes the rows of questions that were asked before a time, except for open questions.
func pruneReplies(ctx context.Context, db *sql.DB, before time.Time) error {
	_, err := db.ExecContext(ctx, "DELETE FROM bot_reply WHERE asked < $1 AND NOT "+isOpen, before.Unix())
	return err
}
