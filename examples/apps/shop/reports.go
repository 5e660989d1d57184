package main

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// report changes an order, in the transaction that notes the report as handled. If its chat-app message failed, report replaces it by an SMS.
// Reports can arrive out of order, and two at once.
func (s *shop) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous { // it may be about another message
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	reference, err := referenceOf(ctx, tx, report)
	if err != nil || reference == "" { // of another message
		return err
	}
	if err = s.accept(ctx, tx, reference, report.ID); err != nil {
		return err
	}
	if !report.Status.Final() {
		return nil
	}
	return s.changeDelivery(ctx, tx, reference, report)
}

// accept stores that the service has accepted a message, even if its response was lost. It locks the order until the transaction ends.
func (s *shop) accept(ctx context.Context, tx *sql.Tx, reference, messageID string) error {
	_, err := s.outbox.ResolveTx(ctx, tx, messagingriver.Sent, // keys without a message are ignored
		messagingriver.Key{Channel: "chatapp2", Reference: reference},
		messagingriver.Key{Channel: "sms", Reference: reference})
	if err != nil {
		return err
	}
	// If the response was lost, no receipt has the message ID.
	const update = "UPDATE shop_order SET verdict = 'accepted', message_id = COALESCE(NULLIF(message_id, ''), $1) WHERE reference = $2"
	_, err = tx.ExecContext(ctx, update, messageID, reference)
	return err
}

// changeDelivery stores the final status of a message in its order, and replaces a chat-app message that failed by an SMS. Some services report that a
// message failed, and deliver it later. Then the customer gets both.
func (s *shop) changeDelivery(ctx context.Context, tx *sql.Tx, reference string, report webhook.DeliveryReport) error {
	var id, phone string
	var before webhook.Status
	err := tx.QueryRowContext(ctx, "SELECT id, phone, delivery FROM shop_order WHERE reference = $1", reference).Scan(&id, &phone, &before)
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return nil
	}
	if err != nil || !report.Status.Supersedes(before) {
		return err
	}
	errorCode := strings.ReplaceAll(report.ErrorCode, "\x00", "") // PostgreSQL refuses a zero byte
	const update = "UPDATE shop_order SET delivery = $1, error_code = $2, reports = reports + 1 WHERE reference = $3"
	_, err = tx.ExecContext(ctx, update, report.Status, errorCode, reference)
	if err != nil {
		return err
	}
	isOfChat := reference == id // not of its SMS
	if !isOfChat || !report.Status.Failed() {
		return nil
	}
	err = s.enqueueSMS(ctx, tx, id, phone)
	if errors.Is(err, messaging.ErrInvalid) { // such as a user ID, which gets no SMS
		return nil
	}
	return err
}

// referenceOf returns the reference ID of the message of a report, which it looks up by the message ID if the report has no reference ID.
func referenceOf(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (string, error) {
	if report.ReferenceID != "" {
		return report.ReferenceID, nil
	}
	if report.ID == "" { // it is '' in an order whose message ID is not known
		return "", nil
	}
	isEarly, err := mayBeEarly(ctx, tx, report) // asked first: noteOutcome may store the ID at any moment
	if err != nil {
		return "", err
	}
	var reference string
	err = tx.QueryRowContext(ctx, "SELECT reference FROM shop_order WHERE message_id = $1", report.ID).Scan(&reference)
	if errors.Is(err, sql.ErrNoRows) && isEarly {
		return "", webhook.RetryLater(10 * time.Second)
	}
	if errors.Is(err, sql.ErrNoRows) { // of another message
		return "", nil
	}
	return reference, err
}

// mayBeEarly reports whether noteOutcome may not have stored the message ID of a report yet. Storing it takes a second, or some minutes after a kill.
func mayBeEarly(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (isEarly bool, err error) {
	age := time.Since(report.StatusAt)
	hasTime := !report.StatusAt.IsZero()
	isOld := hasTime && age > time.Hour
	if isOld || !report.Status.Final() { // a status that is not final changes nothing
		return false, nil
	}
	if hasTime && age < time.Minute {
		return true, nil
	}
	// Older orders do not count: a message expires within a day and is looked up for at most another, and one that a person resolved gets no ID.
	since := time.Now().Add(-2 * 24 * time.Hour)
	const query = "SELECT EXISTS (SELECT 1 FROM shop_order WHERE message_id = '' AND verdict IN ('', 'unknown') AND enqueued > $1)" // as in the index
	err = tx.QueryRowContext(ctx, query, since.Unix()).Scan(&isEarly)
	return isEarly, err
}
