package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
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

// linesPerTransaction bounds how long a transaction holds up a STOP or a report, above all on SQLite.
const linesPerTransaction = 1000

// enqueue enqueues the messages that are new and returns how many there are. If a message that was enqueued before had another number or text,
// nothing is enqueued: the result of the earlier message would be taken for that of the new one. After a kill, the next call goes on with the messages
// that were not enqueued.
func (c *campaign) enqueue(ctx context.Context, messages []sms.Message) (added int, err error) {
	newMessages, err := c.newOf(ctx, messages)
	if err != nil {
		return 0, err
	}
	for some := range slices.Chunk(newMessages, linesPerTransaction) {
		n, err := c.enqueueSome(ctx, some)
		if err != nil {
			return added, err
		}
		added += n
	}
	return added, nil
}

// newOf returns the messages that were not enqueued before. It asks the table of recipients, which also has the messages that the outbox has
// deleted since and would send again.
func (c *campaign) newOf(ctx context.Context, messages []sms.Message) ([]messaging.Message, error) {
	known, err := c.recipients(ctx)
	if err != nil {
		return nil, err
	}
	var newMessages []messaging.Message
	for _, message := range messages {
		wanted := recipientOf(message)
		earlier, isKnown := known[message.ReferenceID]
		if isKnown && (earlier.number != wanted.number || earlier.textHash != wanted.textHash) {
			return nil, fmt.Errorf("%s was enqueued with another number or text: give the line a new id, or the campaign a folder with a new name",
				message.ReferenceID)
		}
		if !isKnown {
			newMessages = append(newMessages, message)
		}
	}
	return newMessages, nil
}

// enqueueSome enqueues new messages and adds their recipients to the table in one transaction, so that a kill leaves both or neither. It returns how
// many of the messages the outbox did not have.
func (c *campaign) enqueueSome(ctx context.Context, messages []messaging.Message) (added int, err error) {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const insert = "INSERT INTO campaign_recipient (reference, campaign, number, text_hash, enqueued) VALUES ($1, $2, $3, $4, $5)"
	now := time.Now().Unix()
	for _, message := range messages {
		text := message.(sms.Message)
		to := recipientOf(text)
		if _, err = tx.ExecContext(ctx, insert, text.ReferenceID, c.name, to.number, to.textHash, now); err != nil {
			return 0, err
		}
	}
	options := messagingriver.InsertOptions{Campaign: c.name, Priority: messagingriver.Bulk, Expire: expireAfter}
	added, err = c.outbox.InsertMany(ctx, tx, messages, options)
	if err != nil {
		return 0, err
	}
	return added, tx.Commit()
}

// recipients returns the recipients of the campaign by the reference IDs of their messages.
func (c *campaign) recipients(ctx context.Context) (map[string]recipient, error) {
	const query = "SELECT reference, number, text_hash, delivery, cost, currency FROM campaign_recipient WHERE campaign = $1"
	rows, err := c.db.QueryContext(ctx, query, c.name)
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
