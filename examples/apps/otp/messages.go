package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
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
		TTL:         chatTTL,
		Content: chatapp2.Template{Name: "login_code", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body(c.digits),
			chatapp2.URLButton{Suffix: c.digits, OneTimeCode: true},
		}},
	}
}

// smsOf returns the SMS of a code. It can go out long after the request, so its text counts the time from the request.
func (o *otp) smsOf(c code) sms.Message {
	return sms.Message{
		From:        o.sender,
		To:          c.number,
		Text:        fmt.Sprintf("Your code is %s. It expires %d minutes after you asked for it.", c.digits, validFor/time.Minute),
		ReferenceID: c.reference + suffixSMS,
		CallbackURL: o.callback,
	}
}

// suffixSMS follows the reference ID of a code in that of its SMS.
const suffixSMS = "-sms"

// enqueue enqueues a message with a code, which is not sent later than at a time. It also goes to people who opted out.
func (o *otp) enqueue(ctx context.Context, tx *sql.Tx, message messaging.Message, last time.Time) error {
	options := messagingriver.InsertOptions{
		Priority:  messagingriver.Urgent,
		Unguarded: true,
		Expire:    max(time.Until(last), time.Second), // 0 is no limit
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
	held, err := o.heldBack(ctx)
	if err != nil {
		return err
	}
	at := time.Now()
	if slices.Contains(held, "chatapp2") {
		at = at.Add(o.smsAfter)
	}
	for {
		isEnqueued, err := o.enqueueNext(ctx, at)
		if err != nil || !isEnqueued {
			return err
		}
	}
}

// heldBack returns the channels whose messages a pause holds back.
func (o *otp) heldBack(ctx context.Context) (channels []string, err error) {
	paused, err := o.outbox.PausedChannels(ctx)
	for _, channel := range paused {
		if holdsBack(channel) {
			channels = append(channels, channel.Channel)
		}
	}
	return channels, err
}

// holdsBack reports whether a paused channel holds back messages. Before the next request it no longer does, because a pause of the outbox ends only
// if a message is sent: a chat message would be dropped if its SMS arrived first.
func holdsBack(channel messagingriver.ChannelStatus) bool {
	const soon = 3 * time.Second
	isByPerson := channel.Cause == ""
	return isByPerson || time.Until(channel.NextRequest) > soon
}

// enqueueNext enqueues an SMS that is due at a time, and notes it in the same transaction, so that a code has one SMS. It reports false if none is
// due. An SMS that is not valid, such as one to a number of the wrong length, holds up no other.
func (o *otp) enqueueNext(ctx context.Context, at time.Time) (bool, error) {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	// The time is compared again, because another process may have taken the code meanwhile.
	const take = `UPDATE otp_code SET sms_due = NULL
		WHERE reference = (SELECT reference FROM otp_code WHERE sms_due <= $1 AND expires > $2 LIMIT 1) AND sms_due <= $1
		RETURNING reference, number, digits, expires`
	var c code
	row := tx.QueryRowContext(ctx, take, at.UnixMilli(), time.Now().Add(typingTime).UnixMilli())
	err = row.Scan(&c.reference, &c.number, &c.digits, &c.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = o.enqueue(ctx, tx, o.smsOf(c), c.lastSend())
	if errors.Is(err, messaging.ErrInvalid) {
		log.Printf("otp: message %s is invalid: %v", c.reference+suffixSMS, err) // the error has no number and no code
		_, err = tx.ExecContext(ctx, setSMSRefused, c.reference)
	}
	if err != nil {
		return false, err
	}
	return true, tx.Commit()
}
