package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// chatMessage returns the chat message of a code.
func (o *otp) chatMessage(c code) chatapp2.Message {
	return chatapp2.Message{
		To:          c.number,
		ReferenceID: c.reference,
		CallbackURL: o.callback,
		Content: chatapp2.Template{Name: "login_code", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body(c.digits),
			chatapp2.URLButton{Suffix: c.digits, OneTimeCode: true},
		}},
	}
}

// smsOf returns the SMS of a code.
func (o *otp) smsOf(c code) sms.Message {
	return sms.Message{
		From:        o.sender,
		To:          c.number,
		Text:        fmt.Sprintf("Your code is %s. It is valid for %d minutes.", c.digits, validFor/time.Minute),
		ReferenceID: c.reference + suffixSMS,
		CallbackURL: o.callback,
	}
}

// suffixSMS follows the reference ID of a code in that of its SMS.
const suffixSMS = "-sms"

// enqueue enqueues a message with a code, which is not sent once the code has expired. It also goes to people who opted out.
func (o *otp) enqueue(ctx context.Context, tx *sql.Tx, message messaging.Message, expires int64) error {
	left := time.Until(time.UnixMilli(expires))
	options := messagingriver.InsertOptions{
		Priority:  messagingriver.Urgent,
		Unguarded: true,
		Expire:    max(left, time.Second), // 0 is no limit
	}
	_, err := o.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options)
	return err
}

// drop drops the messages of a code that wait. One that is being sent goes out.
func (o *otp) drop(ctx context.Context, tx *sql.Tx, reference string) error {
	_, err := o.outbox.ResolveTx(ctx, tx, messagingriver.Drop,
		messagingriver.Key{Channel: "chatapp2", Reference: reference},
		messagingriver.Key{Channel: "sms", Reference: reference + suffixSMS})
	return err
}

// enqueueDue enqueues all SMS that are due. All processes call it every second. While chat app 2 is held back, all are due.
func (o *otp) enqueueDue(ctx context.Context) error {
	paused, err := o.outbox.PausedChannels(ctx)
	if err != nil {
		return err
	}
	at := time.Now()
	if slices.ContainsFunc(paused, holdsBackChat) {
		at = at.Add(o.smsAfter)
	}
	for {
		isEnqueued, err := o.enqueueNext(ctx, at)
		if err != nil || !isEnqueued {
			return err
		}
	}
}

// holdsBackChat reports whether a pause holds back the messages of chat app 2. Before the next request it no longer does, because a pause of the
// outbox ends only if a chat message is sent: if its SMS arrived first, it would be dropped.
func holdsBackChat(channel messagingriver.ChannelStatus) bool {
	const soon = 3 * time.Second
	isByPerson := channel.Cause == ""
	return channel.Channel == "chatapp2" && (isByPerson || time.Until(channel.NextRequest) > soon)
}

// enqueueNext enqueues an SMS that is due at a time, and notes it in the same transaction, so that a code has one SMS. It reports false if none is
// due.
func (o *otp) enqueueNext(ctx context.Context, at time.Time) (bool, error) {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	// The time is compared again, because another process may have taken the code meanwhile.
	const take = `UPDATE code SET sms_due = NULL
		WHERE reference = (SELECT reference FROM code WHERE sms_due <= $1 AND expires > $2 LIMIT 1) AND sms_due <= $1
		RETURNING reference, number, digits, expires`
	var c code
	row := tx.QueryRowContext(ctx, take, at.UnixMilli(), time.Now().UnixMilli())
	err = row.Scan(&c.reference, &c.number, &c.digits, &c.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err = o.enqueue(ctx, tx, o.smsOf(c), c.expires); err != nil {
		return false, err
	}
	return true, tx.Commit()
}
