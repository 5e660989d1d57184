package main

import (
	"context"
	"database/sql"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// noteOutcome stores the verdict on the message of an order, and the message ID, by which report finds the order. If a chat-app message provably did
// not go out, noteOutcome replaces it by an SMS. It does so after 131050, too: the customer has stopped marketing, but wants to know of the order.
// The outcome of a message that was replaced changes nothing, because no order has its reference ID.
func (s *shop) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	message, isChat := outcome.Message.(chatapp2.Message)
	isWindowClosed := errors.Is(outcome.Err, messaging.ErrWindowClosed)
	isDenied := errors.Is(outcome.Err, messaging.ErrDenied) && !isWindowClosed // by a guard, which would deny the SMS, too
	if isChat && !outcome.MayHaveBeenSent() && !isDenied {
		err := s.replaceUnsent(ctx, outcome.Key, message.To)
		if !errors.Is(err, messaging.ErrInvalid) { // such as a user ID, which gets no SMS
			return err
		}
	}
	// A report may have proved meanwhile that the message was accepted.
	const note = `UPDATE shop_order SET verdict = $1, message_id = COALESCE(NULLIF($2, ''), message_id)
		WHERE reference = $3 AND (verdict <> 'accepted' OR $1 = 'accepted')`
	_, err := s.db.ExecContext(ctx, note, outcome.Verdict.String(), outcome.Receipt.ID, outcome.Reference)
	return err
}

// replaceUnsent enqueues an SMS in place of a chat-app message that did not go out. In the same transaction it drops the chat-app message, so
// that a person can no longer resend it. If replaceUnsent is called again, the message is gone, and no second SMS is sent.
func (s *shop) replaceUnsent(ctx context.Context, key messagingriver.Key, phone string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	dropped, err := s.outbox.ResolveTx(ctx, tx, messagingriver.Drop, key)
	if err != nil || dropped == 0 { // a person has resent it
		return err
	}
	if err = s.enqueueSMS(ctx, tx, key.Reference, phone); err != nil {
		return err
	}
	return tx.Commit()
}

// enqueueSMS enqueues an SMS in place of the chat-app message of an order. From then on the order is about the SMS.
func (s *shop) enqueueSMS(ctx context.Context, tx *sql.Tx, id, phone string) error {
	message := sms.Message{
		From:        s.sender,
		To:          phone,
		Text:        "Thank you for " + id,
		ReferenceID: id + suffixSMS,
		CallbackURL: s.callback,
	}
	options := messagingriver.InsertOptions{Expire: 24 * time.Hour, Campaign: confirmations} // a later one would confuse the customer
	if _, err := s.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options); err != nil {
		return err
	}
	const update = "UPDATE shop_order SET reference = $1, message_id = '', verdict = '', delivery = '', error_code = '', enqueued = $2 WHERE reference = $3"
	_, err := tx.ExecContext(ctx, update, message.ReferenceID, time.Now().Unix(), id)
	return err
}
