package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
)

// recipient is a row of campaign_recipient. The table has the recipient of each message, which the outbox deletes, and no texts.
type recipient struct {
	number   string
	textHash string
	delivery webhook.Status
	cost     string // of the listing, or ""
	currency string
}

func recipientOf(message sms.Message) recipient {
	hash := sha256.Sum256([]byte(message.Text))
	return recipient{number: message.To, textHash: hex.EncodeToString(hash[:])}
}

// enqueue enqueues the messages that are new and returns how many there are. If a message that was enqueued before had another number or text,
// nothing is enqueued: the result of the earlier message would be taken for that of the new one.
func (c *campaign) enqueue(ctx context.Context, messages []sms.Message) (added int, err error) {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	newMessages, err := c.addRecipients(ctx, tx, messages)
	if err != nil {
		return 0, err
	}
	options := messagingriver.InsertOptions{Campaign: c.name, Priority: messagingriver.Bulk, Expire: expireAfter}
	added, err = c.outbox.InsertMany(ctx, tx, newMessages, options)
	if err != nil {
		return 0, err
	}
	return added, tx.Commit()
}

// addRecipients adds the recipients of new messages to their table, and returns these messages. The table also has the messages that the outbox has
// deleted since, which it would send again.
func (c *campaign) addRecipients(ctx context.Context, tx *sql.Tx, messages []sms.Message) ([]messaging.Message, error) {
	known, err := c.recipients(ctx, tx)
	if err != nil {
		return nil, err
	}
	const insert = "INSERT INTO campaign_recipient (reference, campaign, number, text_hash, enqueued) VALUES ($1, $2, $3, $4, $5)"
	now := time.Now().Unix()
	var added []messaging.Message
	for _, message := range messages {
		wanted := recipientOf(message)
		earlier, isKnown := known[message.ReferenceID]
		if isKnown && (earlier.number != wanted.number || earlier.textHash != wanted.textHash) {
			return nil, fmt.Errorf("%s was enqueued with another number or text: give the line a new id, or the campaign a folder with a new name",
				message.ReferenceID)
		}
		if isKnown {
			continue
		}
		if _, err := tx.ExecContext(ctx, insert, message.ReferenceID, c.name, wanted.number, wanted.textHash, now); err != nil {
			return nil, err
		}
		added = append(added, message)
	}
	return added, nil
}

// queryer is a *sql.DB or a *sql.Tx.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// recipients returns the recipients of the campaign by the reference IDs of their messages.
func (c *campaign) recipients(ctx context.Context, db queryer) (map[string]recipient, error) {
	const query = "SELECT reference, number, text_hash, delivery, cost, currency FROM campaign_recipient WHERE campaign = $1"
	rows, err := db.QueryContext(ctx, query, c.name)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err has its error
	found := map[string]recipient{}
	for rows.Next() {
		var reference string
		var row recipient
		if err := rows.Scan(&reference, &row.number, &row.textHash, &row.delivery, &row.cost, &row.currency); err != nil {
			return nil, err
		}
		found[reference] = row
	}
	return found, rows.Err()
}
