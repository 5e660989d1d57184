package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

const (
	validFor = 5 * time.Minute
	maxTries = 5

	// chatTTL is how long the service tries to deliver the chat message. The message leaves so early that it cannot arrive after the code expired.
	chatTTL = 3 * time.Minute
	// typingTime is how long before the code expires the last message may leave, so that the person can still enter the code.
	typingTime = 30 * time.Second

	// How many codes a number gets, even if they did not arrive: strangers can ask for codes, at your cost, and guess them.
	maxCodes       = 3 // within validFor
	maxCodesPerDay = 10
)

// codeTable has the codes of the last minutes. Times are in milliseconds since 1970. The digits are stored as they are, as in the messages of the
// outbox: the SMS needs them again. otp_message has the service's IDs of the messages of the last minutes, because a report may have no reference ID,
// and may come before its message ID is known. otp_count has how many codes a number got on a day.
const codeTable = `
CREATE TABLE IF NOT EXISTS otp_code (
	reference   TEXT PRIMARY KEY,                 -- reference ID of the chat message; that of the SMS ends in -sms
	challenge   TEXT NOT NULL UNIQUE,             -- only the page that asked has it
	request     TEXT NOT NULL,                    -- random ID that the page made up
	number      TEXT NOT NULL,
	slot        INT NOT NULL,                     -- a number has as many codes as slots
	digits      TEXT NOT NULL,
	tries       INT NOT NULL DEFAULT 0,           -- as many as allowed once the code was used
	expires     BIGINT NOT NULL,
	sms_due     BIGINT,                           -- when the SMS is enqueued; NULL from then on, or if none is needed
	chat_status TEXT NOT NULL DEFAULT 'waiting',  -- see otp.status
	sms_status  TEXT NOT NULL DEFAULT 'waiting',
	UNIQUE (number, slot),
	UNIQUE (number, request)
);
CREATE INDEX IF NOT EXISTS otp_code_expires ON otp_code (expires);
CREATE INDEX IF NOT EXISTS otp_code_sms_due ON otp_code (sms_due) WHERE sms_due IS NOT NULL;
CREATE TABLE IF NOT EXISTS otp_message (
	id        TEXT PRIMARY KEY,                   -- the service's
	reference TEXT NOT NULL DEFAULT '',           -- '' until the outbox knows the ID
	report    TEXT NOT NULL DEFAULT '',           -- the status of a report that came before
	noted     BIGINT NOT NULL                     -- when
);
CREATE INDEX IF NOT EXISTS otp_message_noted ON otp_message (noted);
CREATE TABLE IF NOT EXISTS otp_count (
	number TEXT NOT NULL,
	day    TEXT NOT NULL,                          -- in UTC
	codes  INT NOT NULL,
	PRIMARY KEY (number, day)
);`

// A code is a row of the table.
type code struct {
	reference string
	challenge string
	number    string
	digits    string
	expires   int64 // in milliseconds since 1970
}

// lastSend returns when it is too late to send the code.
func (c code) lastSend() time.Time { return time.UnixMilli(c.expires).Add(-typingTime) }

// send adds a code and enqueues its chat message in one transaction, and returns the challenge. If the page repeats a request, it gets the
// challenge of the first one. While pauses hold back both channels, it adds no code.
func (o *otp) send(ctx context.Context, number, request string) (challenge string, err error) {
	held, err := o.heldBack(ctx)
	if err != nil {
		return "", err
	}
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return "", err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	c := newCode(number)
	isAdded, err := o.add(ctx, tx, c, request)
	if err != nil {
		return "", err
	}
	if !isAdded {
		return challengeOf(ctx, tx, number, request)
	}
	if slices.Contains(held, "chatapp2") && slices.Contains(held, "sms") {
		return "", errPaused
	}
	if err = countCode(ctx, tx, number); err != nil {
		return "", err
	}
	if err = o.enqueue(ctx, tx, o.chatMessage(c), c.lastSend().Add(-chatTTL)); err != nil {
		return "", err
	}
	return c.challenge, tx.Commit()
}

// newCode returns a code with six random digits.
func newCode(number string) code {
	digits, _ := rand.Int(rand.Reader, big.NewInt(1_000_000)) // crypto/rand.Reader never fails
	return code{
		reference: "code" + rand.Text(),
		challenge: rand.Text(),
		number:    number,
		digits:    fmt.Sprintf("%06d", digits),
		expires:   time.Now().Add(validFor).UnixMilli(),
	}
}

// add adds a code in a free slot of its number. It reports false if no slot is free, or if there is a code of the same request.
func (o *otp) add(ctx context.Context, tx *sql.Tx, c code, request string) (bool, error) {
	now := time.Now()
	if _, err := tx.ExecContext(ctx, "DELETE FROM otp_code WHERE number = $1 AND expires <= $2", c.number, now.UnixMilli()); err != nil {
		return false, err
	}
	const insert = `INSERT INTO otp_code (reference, challenge, request, number, slot, digits, expires, sms_due)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`
	smsDue := now.Add(o.smsAfter).UnixMilli()
	for slot := range maxCodes { // concurrent requests cannot take the same one
		result, err := tx.ExecContext(ctx, insert, c.reference, c.challenge, request, c.number, slot, c.digits, c.expires, smsDue)
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

// countCode counts a code of a number, or returns errTooManyToday.
func countCode(ctx context.Context, tx *sql.Tx, number string) error {
	const upsert = `INSERT INTO otp_count (number, day, codes) VALUES ($1, $2, 1)
		ON CONFLICT (number, day) DO UPDATE SET codes = otp_count.codes + 1 WHERE otp_count.codes < $3`
	result, err := tx.ExecContext(ctx, upsert, number, today(), maxCodesPerDay)
	if err != nil {
		return err
	}
	counted, err := result.RowsAffected()
	if err == nil && counted == 0 {
		return errTooManyToday
	}
	return err
}

func today() string { return time.Now().UTC().Format(time.DateOnly) }

// challengeOf returns the challenge of an earlier request, or errTooMany if there was none.
func challengeOf(ctx context.Context, tx *sql.Tx, number, request string) (challenge string, err error) {
	const query = "SELECT challenge FROM otp_code WHERE number = $1 AND request = $2"
	err = tx.QueryRowContext(ctx, query, number, request).Scan(&challenge)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errTooMany
	}
	return challenge, err
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
	const try = `UPDATE otp_code SET tries = tries + 1 WHERE challenge = $1 AND tries < $2 AND expires > $3
		RETURNING reference, number, digits, tries`
	var c code
	var tries int
	row := tx.QueryRowContext(ctx, try, challenge, maxTries, time.Now().UnixMilli())
	err = row.Scan(&c.reference, &c.number, &c.digits, &tries)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errInvalid
	}
	if err != nil {
		return "", err
	}
	isRight := subtle.ConstantTimeCompare([]byte(c.digits), []byte(digits)) == 1
	if isRight || tries == maxTries {
		if err = o.useUp(ctx, tx, c.reference); err != nil {
			return "", err
		}
	}
	if !isRight {
		return "", cmp.Or(tx.Commit(), errWrong)
	}
	return c.number, tx.Commit()
}

// useUp makes a code invalid, and drops its messages.
func (o *otp) useUp(ctx context.Context, tx *sql.Tx, reference string) error {
	if _, err := tx.ExecContext(ctx, setUsed, maxTries, reference); err != nil {
		return err
	}
	return o.drop(ctx, tx, reference)
}

// status returns the status of the code of a challenge, or errInvalid if the code is no longer valid. The status is the better one of the chat message
// and the SMS. If both failed, refused means that the number may be wrong. An SMS has failed, too, if it is too late to enqueue it.
func (o *otp) status(ctx context.Context, challenge string) (status string, err error) {
	if !randomID.MatchString(challenge) {
		return "", errInvalid
	}
	const query = `SELECT chat_status, CASE WHEN sms_due IS NOT NULL AND expires <= $4 THEN 'failed' ELSE sms_status END
		FROM otp_code WHERE challenge = $1 AND tries < $2 AND expires > $3`
	var chat, text string
	now := time.Now()
	row := o.db.QueryRowContext(ctx, query, challenge, maxTries, now.UnixMilli(), now.Add(typingTime).UnixMilli())
	err = row.Scan(&chat, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", errInvalid
	}
	if err != nil {
		return "", err
	}
	bestFirst := []string{"delivered", "sent", "waiting", "unknown", "refused", "failed"}
	better := min(slices.Index(bestFirst, chat), slices.Index(bestFirst, text))
	return bestFirst[better], nil
}
