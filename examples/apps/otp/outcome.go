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
	setChatSent    = "UPDATE otp_code SET chat_status = 'sent' WHERE reference = $1 AND chat_status IN ('waiting', 'unknown')"
	setChatUnknown = "UPDATE otp_code SET chat_status = 'unknown' WHERE reference = $1 AND chat_status = 'waiting'"
	// setChatFailed makes the SMS due, unless it was enqueued, or the code was used.
	setChatFailed = `UPDATE otp_code SET chat_status = 'failed', sms_due = CASE WHEN sms_due IS NOT NULL THEN 0 END
		WHERE reference = $1 AND chat_status <> 'delivered'`
	setChatDelivered = "UPDATE otp_code SET chat_status = 'delivered', sms_due = NULL WHERE reference = $1"

	setSMSSent      = "UPDATE otp_code SET sms_status = 'sent' WHERE reference = $1 AND sms_status IN ('waiting', 'unknown')"
	setSMSUnknown   = "UPDATE otp_code SET sms_status = 'unknown' WHERE reference = $1 AND sms_status = 'waiting'"
	setSMSFailed    = "UPDATE otp_code SET sms_status = 'failed' WHERE reference = $1 AND sms_status <> 'delivered'"
	setSMSRefused   = "UPDATE otp_code SET sms_status = 'refused' WHERE reference = $1 AND sms_status <> 'delivered'"
	setSMSDelivered = "UPDATE otp_code SET sms_status = 'delivered' WHERE reference = $1"

	setUsed = "UPDATE otp_code SET tries = $1, sms_due = NULL WHERE reference = $2"
)

// noteOutcome notes whether a message was accepted. If a chat message provably was not, the SMS becomes due.
func (o *otp) noteOutcome(ctx context.Context, outcome messagingriver.Outcome) error {
	if outcome.Verdict == messaging.Accepted {
		return o.noteAccepted(ctx, outcome.Reference, outcome.Receipt.ID)
	}
	log.Printf("otp: message %s is %s: %v", outcome.Reference, outcome.Verdict, outcome.Err) // the error has no number and no code
	if err := o.noteFailure(ctx, outcome); err != nil {
		return err
	}
	_, err := o.outbox.Resolve(ctx, messagingriver.Drop, outcome.Key) // no person should have to decide about an old code
	return err
}

// noteFailure notes that a message was not accepted, or may not have been.
func (o *otp) noteFailure(ctx context.Context, outcome messagingriver.Outcome) error {
	reference, isSMS := strings.CutSuffix(outcome.Reference, suffixSMS)
	var statement string
	switch {
	case outcome.MayHaveBeenSent() && !isSMS:
		statement = setChatUnknown // the SMS becomes due by itself
	case outcome.MayHaveBeenSent():
		statement = setSMSUnknown
	case isSMS && isAboutNumber(outcome.Err):
		statement = setSMSRefused
	case isSMS:
		statement = setSMSFailed
	default:
		statement = setChatFailed
	}
	_, err := o.db.ExecContext(ctx, statement, reference)
	return err
}

// isAboutNumber reports whether an SMS may have been refused because of its number.
func isAboutNumber(err error) bool {
	return errors.Is(err, messaging.ErrInvalid) || errors.Is(err, messaging.ErrUnreachable) || errors.Is(err, messaging.ErrOptedOut)
}

// noteAccepted notes that a message was accepted, and the service's ID of it, with which a report may have come before.
func (o *otp) noteAccepted(ctx context.Context, message, id string) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const upsert = `INSERT INTO otp_message (id, reference, noted) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET reference = $2, noted = $3 RETURNING report`
	var early webhook.Status
	if err = tx.QueryRowContext(ctx, upsert, id, message, time.Now().UnixMilli()).Scan(&early); err != nil {
		return err
	}
	reference, isSMS := strings.CutSuffix(message, suffixSMS)
	statement := setChatSent
	if isSMS {
		statement = setSMSSent
	}
	if _, err = tx.ExecContext(ctx, statement, reference); err != nil {
		return err
	}
	if early != "" {
		err = o.noteReport(ctx, tx, message, early)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// report notes a delivery report, in the transaction that notes it as handled.
func (o *otp) report(ctx context.Context, report webhook.DeliveryReport) error {
	isFinal := isDelivered(report.Status) || report.Status.Failed()
	if report.Ambiguous || !isFinal {
		return nil
	}
	tx, err := sqlstore.Tx(ctx)
	if err != nil {
		return err
	}
	message, err := referenceOf(ctx, tx, report)
	if err != nil || message == "" {
		return err
	}
	return o.noteReport(ctx, tx, message, report.Status)
}

// isDelivered reports whether a message arrived, and was perhaps read, too.
func isDelivered(status webhook.Status) bool {
	return status == webhook.StatusDelivered || status.Supersedes(webhook.StatusDelivered)
}

// noteReport notes that a message arrived, and drops the other one of its code if it waits, or that the message failed. If it is a chat message, the
// SMS then becomes due.
func (o *otp) noteReport(ctx context.Context, tx *sql.Tx, message string, status webhook.Status) error {
	reference, isSMS := strings.CutSuffix(message, suffixSMS)
	var statement string
	switch {
	case isDelivered(status) && isSMS:
		statement = setSMSDelivered
	case isDelivered(status):
		statement = setChatDelivered
	case isSMS:
		statement = setSMSFailed
	default:
		statement = setChatFailed
	}
	_, err := tx.ExecContext(ctx, statement, reference)
	if err != nil || !isDelivered(status) {
		return err
	}
	return o.drop(ctx, tx, reference)
}

// referenceOf returns the reference ID of the message that a report is about. If the report has only the service's ID, and its message is not known
// yet, referenceOf keeps the report for noteAccepted, and returns "". Most reports that it keeps are about codes that were deleted, or about messages
// of other programs: prune deletes them.
func referenceOf(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (reference string, err error) {
	const maxID = 2000 // an index of PostgreSQL refuses longer texts
	if report.ReferenceID != "" || report.ID == "" || len(report.ID) > maxID {
		return report.ReferenceID, nil
	}
	// Both this statement and that of noteAccepted lock the row, so that one of them has the result of the other. A delivery replaces a failure.
	const upsert = `INSERT INTO otp_message (id, report, noted) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE SET report = CASE WHEN $4 OR otp_message.report = '' THEN $2 ELSE otp_message.report END
		RETURNING reference`
	row := tx.QueryRowContext(ctx, upsert, report.ID, report.Status, time.Now().UnixMilli(), isDelivered(report.Status))
	err = row.Scan(&reference)
	return reference, err
}
