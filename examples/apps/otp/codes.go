package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"math/big"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
	"github.com/messaging-service/messaging-go/webhook"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

const (
	validFor = 5 * time.Minute
	maxTries = 5
	maxCodes = 3 // of one number within validFor, also of those that did not arrive: strangers can ask for codes, and guess them
)

// codeTable has the codes of the last minutes. Times are in milliseconds since 1970. The digits are stored as they are, as in the messages of the
// outbox: the SMS needs them again.
const codeTable = `
CREATE TABLE IF NOT EXISTS code (
	reference    TEXT PRIMARY KEY,                 -- reference ID of the chat message; that of the SMS ends in -sms
	challenge    TEXT NOT NULL UNIQUE,             -- only the page that asked has it
	request      TEXT NOT NULL,                    -- random ID that the page made up
	number       TEXT NOT NULL,
	slot         INT NOT NULL,                     -- a number has as many codes as slots
	digits       TEXT NOT NULL,
	tries        INT NOT NULL DEFAULT 0,           -- as many as allowed once the code was used
	expires      BIGINT NOT NULL,
	sms_due      BIGINT,                           -- when the SMS is enqueued; NULL from then on, or if none is needed
	status       TEXT NOT NULL DEFAULT 'waiting',  -- then sent; then failed, or refused if the number may be wrong; then delivered
	chat_message TEXT NOT NULL DEFAULT '',         -- the service's IDs of the messages: a report may have no reference ID
	sms_message  TEXT NOT NULL DEFAULT '',
	UNIQUE (number, slot),
	UNIQUE (number, request)
);
CREATE INDEX IF NOT EXISTS code_expires ON code (expires);
CREATE INDEX IF NOT EXISTS code_sms_due ON code (sms_due) WHERE sms_due IS NOT NULL;
CREATE INDEX IF NOT EXISTS code_chat_message ON code (chat_message);
CREATE INDEX IF NOT EXISTS code_sms_message ON code (sms_message);`

// createTables creates the tables that do not exist, and updates those of the outbox. Only one process may call it at a time.
func (o *otp) createTables(ctx context.Context) error {
	if err := o.outbox.Migrate(ctx); err != nil {
		return err
	}
	_, err := o.db.ExecContext(ctx, codeTable)
	return err
}

// suffixSMS follows the reference ID of a code in that of its SMS.
const suffixSMS = "-sms"

type code struct {
	reference string
	challenge string
	number    string
	digits    string
	expires   int64
}

// send adds a code and enqueues its chat message in one transaction, and returns the challenge. If the page repeats a request, it gets the
// challenge of the first one.
func (o *otp) send(ctx context.Context, number, request string) (challenge string, err error) {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback()                                       //nolint:errcheck // nothing after the commit
	digits, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	added := code{
		reference: "code" + rand.Text(),
		challenge: rand.Text(),
		number:    number,
		digits:    fmt.Sprintf("%06d", digits),
		expires:   time.Now().Add(validFor).UnixMilli(),
	}
	isAdded, err := o.add(ctx, tx, added, request)
	if err != nil {
		return "", err
	}
	if !isAdded {
		return challengeOf(ctx, tx, number, request)
	}
	message := chatapp2.Message{
		To: number, ReferenceID: added.reference, CallbackURL: o.callback,
		Content: chatapp2.Template{Name: "login_code", Language: "en_US", Components: []chatapp2.Component{
			chatapp2.Body(added.digits),
			chatapp2.URLButton{Suffix: added.digits, OneTimeCode: true},
		}},
	}
	if err = o.enqueue(ctx, tx, message, added.expires); err != nil {
		return "", err
	}
	return added.challenge, tx.Commit()
}

// add adds a code in a free slot of its number. It reports false if no slot is free, or a code of the same request is there.
func (o *otp) add(ctx context.Context, tx *sql.Tx, added code, request string) (bool, error) {
	now := time.Now()
	if _, err := tx.ExecContext(ctx, "DELETE FROM code WHERE number = $1 AND expires <= $2", added.number, now.UnixMilli()); err != nil {
		return false, err
	}
	const insert = `INSERT INTO code (reference, challenge, request, number, slot, digits, expires, sms_due)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`
	smsDue := now.Add(o.smsAfter).UnixMilli()
	for slot := range maxCodes { // concurrent requests cannot take the same one
		result, err := tx.ExecContext(ctx, insert, added.reference, added.challenge, request, added.number, slot, added.digits, added.expires, smsDue)
		if err != nil {
			return false, err
		}
		n, err := result.RowsAffected()
		if err != nil || n == 1 {
			return n == 1, err
		}
	}
	return false, nil
}

// challengeOf returns the challenge of an earlier request, or errTooMany if there was none.
func challengeOf(ctx context.Context, tx *sql.Tx, number, request string) (challenge string, err error) {
	const query = "SELECT challenge FROM code WHERE number = $1 AND request = $2"
	err = tx.QueryRowContext(ctx, query, number, request).Scan(&challenge)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errTooMany
	}
	return challenge, err
}

// enqueue enqueues a message with a code, which is not sent once the code has expired. It also goes to people who opted out.
func (o *otp) enqueue(ctx context.Context, tx *sql.Tx, message messaging.Message, expires int64) error {
	left := time.Until(time.UnixMilli(expires))
	options := messagingriver.InsertOptions{Priority: messagingriver.Urgent, Unguarded: true, Expire: max(left, time.Second)} // 0 is no limit
	_, err := o.outbox.InsertMany(ctx, tx, []messaging.Message{message}, options)
	return err
}

// enqueueDue enqueues all SMS that are due. All processes call it every second.
func (o *otp) enqueueDue(ctx context.Context) error {
	for {
		isEnqueued, err := o.enqueueNext(ctx)
		if err != nil || !isEnqueued {
			return err
		}
	}
}

// enqueueNext enqueues an SMS that is due, in the transaction that notes it: so a code has one SMS. It reports false if there is none.
func (o *otp) enqueueNext(ctx context.Context) (bool, error) {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const take = `UPDATE code SET sms_due = NULL
		WHERE reference = (SELECT reference FROM code WHERE sms_due <= $1 AND expires > $1 LIMIT 1) AND sms_due <= $1
		RETURNING reference, number, digits, expires`
	var due code
	row := tx.QueryRowContext(ctx, take, time.Now().UnixMilli())
	err = row.Scan(&due.reference, &due.number, &due.digits, &due.expires)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	message := sms.Message{
		From:        o.sender,
		To:          due.number,
		Text:        "Your code is " + due.digits + ". It is valid for 5 minutes.",
		ReferenceID: due.reference + suffixSMS,
		CallbackURL: o.callback,
	}
	if err = o.enqueue(ctx, tx, message, due.expires); err != nil {
		return false, err
	}
	return true, tx.Commit()
}

// The statements that change the code with a reference ID when something happened to a message of it. Each may come again, early or late.
const (
	setSent    = "UPDATE code SET status = 'sent' WHERE reference = $1 AND status = 'waiting'"
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
	var err error
	switch {
	case outcome.Verdict == messaging.Unknown: // it may arrive
	case isSMS && isAboutNumber(outcome.Err):
		_, err = o.db.ExecContext(ctx, setRefused, reference)
	case isSMS:
		_, err = o.db.ExecContext(ctx, setFailed, reference)
	default:
		_, err = o.db.ExecContext(ctx, hastenSMS, reference)
	}
	if err != nil {
		return err
	}
	_, err = o.outbox.Resolve(ctx, messagingriver.Drop, outcome.Key) // so that no person has to decide about an old code
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
		if _, err = tx.ExecContext(ctx, setDelivered, reference); err == nil {
			err = o.drop(ctx, tx, reference)
		}
	case report.Status.Failed() && isSMS:
		_, err = tx.ExecContext(ctx, setFailed, reference)
	case report.Status.Failed():
		_, err = tx.ExecContext(ctx, hastenSMS, reference)
	}
	return err
}

// referenceOf returns the reference ID of the message that a report is about, or "" for a message of a code that was deleted.
func referenceOf(ctx context.Context, tx *sql.Tx, report webhook.DeliveryReport) (string, error) {
	if report.ReferenceID != "" {
		return report.ReferenceID, nil
	}
	// First, because noteAccepted may note an ID after the query.
	mayCome, err := lacksID(ctx, tx)
	if err != nil {
		return "", err
	}
	const query = "SELECT CASE WHEN chat_message = $1 THEN reference ELSE reference || '" + suffixSMS + "' END " +
		"FROM code WHERE chat_message = $1 OR sms_message = $1"
	var reference string
	err = tx.QueryRowContext(ctx, query, report.ID).Scan(&reference)
	if !errors.Is(err, sql.ErrNoRows) {
		return reference, err
	}
	isOld := !report.StatusAt.IsZero() && time.Since(report.StatusAt) > time.Minute
	if isOld || !mayCome {
		return "", nil
	}
	return "", webhook.RetryLater(5 * time.Second)
}

// lacksID reports whether the service's ID of a message is still to come. A report may have no time, and be about a code that was deleted: it
// must not come again for ever.
func lacksID(ctx context.Context, tx *sql.Tx) (lacks bool, err error) {
	const query = "SELECT EXISTS (SELECT 1 FROM code WHERE chat_message = '' OR (sms_due IS NULL AND sms_message = ''))"
	err = tx.QueryRowContext(ctx, query).Scan(&lacks)
	return lacks, err
}

// drop drops the messages of a code that wait. One that is being sent goes out.
func (o *otp) drop(ctx context.Context, tx *sql.Tx, reference string) error {
	_, err := o.outbox.ResolveTx(ctx, tx, messagingriver.Drop,
		messagingriver.Key{Channel: "chatapp2", Reference: reference},
		messagingriver.Key{Channel: "sms", Reference: reference + suffixSMS})
	return err
}

// status returns the status of the code of a challenge, or errInvalid if the code is no longer valid.
func (o *otp) status(ctx context.Context, challenge string) (status string, err error) {
	if !randomID.MatchString(challenge) { // PostgreSQL refuses some texts
		return "", errInvalid
	}
	const query = "SELECT status FROM code WHERE challenge = $1 AND tries < $2 AND expires > $3"
	err = o.db.QueryRowContext(ctx, query, challenge, maxTries, time.Now().UnixMilli()).Scan(&status)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errInvalid
	}
	return status, err
}

// verify returns the number of the code of a challenge, and uses the code up, if the digits are right. Write the session of the person in this
// transaction.
func (o *otp) verify(ctx context.Context, challenge, digits string) (number string, err error) {
	if !randomID.MatchString(challenge) {
		return "", errInvalid
	}
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const try = `UPDATE code SET tries = tries + 1 WHERE challenge = $1 AND tries < $2 AND expires > $3
		RETURNING reference, number, digits`
	var tried code
	row := tx.QueryRowContext(ctx, try, challenge, maxTries, time.Now().UnixMilli())
	err = row.Scan(&tried.reference, &tried.number, &tried.digits)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errInvalid
	}
	if err != nil {
		return "", err
	}
	if subtle.ConstantTimeCompare([]byte(tried.digits), []byte(digits)) == 0 {
		return "", cmp.Or(tx.Commit(), errWrong)
	}
	if _, err = tx.ExecContext(ctx, setUsed, maxTries, tried.reference); err != nil {
		return "", err
	}
	if err = o.drop(ctx, tx, tried.reference); err != nil {
		return "", err
	}
	return tried.number, tx.Commit()
}

// prune deletes codes that have expired, with their digits and numbers, and old reports.
func (o *otp) prune(ctx context.Context) error {
	expired := "SELECT reference FROM code WHERE expires <= $1"
	if o.pool != nil { // a request may delete the same rows in another order: a deadlock
		expired += " FOR UPDATE SKIP LOCKED"
	}
	_, codesErr := o.db.ExecContext(ctx, "DELETE FROM code WHERE reference IN ("+expired+")", time.Now().UnixMilli())
	_, reportsErr := o.store.Prune(ctx, 7*24*time.Hour)
	return errors.Join(codesErr, reportsErr)
}
