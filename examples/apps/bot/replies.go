package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/webhook"
)

// The replies on chat app 2. A delivery report may lack the reference ID or the person, and the outbox deletes the person of an accepted message.
const replyTable = `
CREATE TABLE IF NOT EXISTS bot_reply (
	reference  TEXT PRIMARY KEY,
	person     TEXT NOT NULL,
	message_id TEXT,           -- the service's ID: NULL until the outcome is noted, and '' if the outcome has none
	enqueued   BIGINT NOT NULL -- in seconds since 1970
);
CREATE INDEX IF NOT EXISTS bot_reply_message ON bot_reply (message_id);`

// addReply adds a reply that is enqueued in the same transaction, unless it is one on chat app 1.
func addReply(ctx context.Context, tx *sql.Tx, message messaging.Message) error {
	reply, isChatApp2 := message.(chatapp2.Message)
	if !isChatApp2 {
		return nil
	}
	const insert = "INSERT INTO bot_reply (reference, person, enqueued) VALUES ($1, $2, $3)"
	_, err := tx.ExecContext(ctx, insert, reply.ReferenceID, reply.To, time.Now().Unix())
	return err
}

// executor is a *sql.DB or a *sql.Tx.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// noteMessageID notes the service's ID of a reply, or that its outcome has none. It does nothing for other messages.
func noteMessageID(ctx context.Context, db executor, reference, id string) error {
	const update = "UPDATE bot_reply SET message_id = $1 WHERE reference = $2 AND COALESCE(message_id, '') = ''"
	_, err := db.ExecContext(ctx, update, id, reference)
	return err
}

// findReply returns the reference ID and the person of the reply that a delivery report is about, or "" for another message. If the message ID of
// the reply may still be unknown, the error is webhook.ErrRetryLater.
func findReply(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (reference, person string, err error) {
	// Before the search, so that an ID that is noted meanwhile is found.
	var lacksID bool
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM bot_reply WHERE message_id IS NULL)").Scan(&lacksID)
	if err != nil {
		return "", "", err
	}
	const search = "SELECT reference, person FROM bot_reply WHERE reference = $1 OR (message_id = $2 AND message_id <> '')"
	err = tx.QueryRowContext(ctx, search, report.ReferenceID, report.ID).Scan(&reference, &person)
	if !errors.Is(err, sql.ErrNoRows) {
		return reference, person, err
	}
	if lacksID && report.ReferenceID == "" {
		return "", "", webhook.RetryLater(time.Second)
	}
	return "", "", nil
}

// pruneReplies deletes replies that were enqueued before a time.
func pruneReplies(ctx context.Context, db *sql.DB, before time.Time) error {
	_, err := db.ExecContext(ctx, "DELETE FROM bot_reply WHERE enqueued < $1", before.Unix())
	return err
}
