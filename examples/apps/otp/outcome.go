package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// The statements that change the code with a reference ID after an event. The same event may come again, early or late.
const (
	setSent    = "UPDATE code SET status = 'sent' WHERE reference = $1 AND status IN ('waiting', 'unknown')"
	setUnknown = "UPDATE code SET status = 'unknown' WHERE reference = $1 AND status = 'waiting'"
	setFailed  = "UPDATE code SET status = 'failed' WHERE reference = $1 AND status <> 'delivered'"
	setRefused = "UPDATE code SET status = 'refused' WHERE reference = $1 AND status <> 'delivered'"
	// hastenSMS changes nothing once the SMS was enqueued, the chat message was delivered, or the code was used.
	hastenSMS    = "UPDATE code SET sms_due = 0 WHERE reference = $1 AND sms_due IS NOT NULL"
	setDelivered = "UPDATE code SET status = 'delivered', sms_due = NULL WHERE reference = $1"
	setUsed      = "UPDATE code SET tries = $1, sms_due = NULL WHERE reference = $2"
)

// noteOutcome notes whether a message was accepted. If a chat message provably was not, the SMS becomes due.
func (o *otp) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	reference, isSMS := strings.CutSuffix(outcome.Reference, suffixSMS)
	if outcome.Verdict == messaging.Accepted {
		return o.noteAccepted(ctx, reference, isSMS, outcome.Receipt.ID)
	}
	log.Printf("otp: message %s is %s: %v", outcome.Reference, outcome.Verdict, outcome.Err) // the error has no number and no code
	if err := o.noteFailure(ctx, reference, isSMS, outcome); err != nil {
		return err
	}
	_, err := o.outbox.Resolve(ctx, messagingriver.Drop, outcome.Key) // no person should have to decide about an old code
	return err
}

// noteFailure notes that a message was not accepted, or may not have been.
func (o *otp) noteFailure(ctx context.Context, reference string, isSMS bool, outcome messagingriver.Outcome) error {
	var statement string
	switch {
	case outcome.MayHaveBeenSent() && !isSMS:
		return nil // the SMS becomes due by itself
	case outcome.MayHaveBeenSent():
		statement = setUnknown
	case isSMS && isAboutNumber(outcome.Err):
		statement = setRefused
	case isSMS:
		statement = setFailed
	default:
		statement = hastenSMS
	}
	_, err := o.db.ExecContext(ctx, statement, reference)
	return err
}

// isAboutNumber reports whether an SMS may have been refused because of its number.
func isAboutNumber(err error) bool {
	return errors.Is(err, messaging.ErrInvalid) || errors.Is(err, messaging.ErrUnreachable) || errors.Is(err, messaging.ErrOptedOut)
}

// noteAccepted notes the service's ID of a message. A report may have come before.
func (o *otp) noteAccepted(ctx context.Context, reference string, isSMS bool, id string) error {
	setID := "UPDATE code SET chat_message = $1 WHERE reference = $2"
	if isSMS {
		setID = "UPDATE code SET sms_message = $1 WHERE reference = $2"
	}
	if _, err := o.db.ExecContext(ctx, setID, id, reference); err != nil {
		return err
	}
	_, err := o.db.ExecContext(ctx, setSent, reference)
	return err
}

// report notes a delivery report, in the transaction that notes it as handled. If a chat message failed, the SMS becomes due.
func (o *otp) report(ctx context.Context, report webhook.DeliveryReport) error {
	if report.Ambiguous {
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	message, err := referenceOf(ctx, tx, report)
	if err != nil {
		return err
	}
	reference, isSMS := strings.CutSuffix(message, suffixSMS)
	isDelivered := report.Status == webhook.StatusDelivered || report.Status.Supersedes(webhook.StatusDelivered) // such as read
	switch {
	case isDelivered:
		err = o.noteDelivered(ctx, tx, reference)
	case report.Status.Failed() && isSMS:
		_, err = tx.ExecContext(ctx, setFailed, reference)
	case report.Status.Failed():
		_, err = tx.ExecContext(ctx, hastenSMS, reference)
	}
	return err
}

// noteDelivered notes that a message of a code arrived, and drops the other one if it waits.
func (o *otp) noteDelivered(ctx context.Context, tx *sql.Tx, reference string) error {
	if _, err := tx.ExecContext(ctx, setDelivered, reference); err != nil {
		return err
	}
	return o.drop(ctx, tx, reference)
}

// referenceOf returns the reference ID of the message that a report is about, or "" for a message of a code that was deleted.
func referenceOf(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (string, error) {
	if report.ReferenceID != "" {
		return report.ReferenceID, nil
	}
	if report.ID == "" { // it is '' in a code whose message ID is not known
		return "", nil
	}
	mayCome, err := lacksID(ctx, tx) // asked first: noteAccepted may note an ID at any moment
	if err != nil {
		return "", err
	}
	const query = `SELECT CASE WHEN chat_message = $1 THEN reference ELSE reference || '` + suffixSMS + `' END
		FROM code WHERE chat_message = $1 OR sms_message = $1`
	var reference string
	err = tx.QueryRowContext(ctx, query, report.ID).Scan(&reference)
	isOld := !report.StatusAt.IsZero() && time.Since(report.StatusAt) > time.Minute
	if errors.Is(err, sql.ErrNoRows) && mayCome && !isOld {
		return "", webhook.RetryLater(5 * time.Second)
	}
	if errors.Is(err, sql.ErrNoRows) { // of a code that was deleted
		return "", nil
	}
	return reference, err
}

// lacksID reports whether the service's ID of any message is still to come. If it is not, a report without a time is about a code that was
// deleted, and must not come again forever.
func lacksID(ctx context.Context, tx *sql.Tx) (lacks bool, err error) {
	const query = "SELECT EXISTS (SELECT 1 FROM code WHERE chat_message = '' OR (sms_due IS NULL AND sms_message = ''))"
	err = tx.QueryRowContext(ctx, query).Scan(&lacks)
	return lacks, err
}
