package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// undecided is in the column settled if a record was not looked up, or a row does not decide.
const undecided = "undecided"

// saveDifferences writes a file, which is complete except for undecided records if a lookup failed. If the program is stopped during the lookups, the
// file of an earlier run stays.
func (d *day) saveDifferences(ctx context.Context, path string, records []record) error {
	var out bytes.Buffer
	err := d.writeDifferences(ctx, &out, records)
	isStopped := err != nil && ctx.Err() != nil
	if out.Len() == 0 || isStopped {
		return err
	}
	return errors.Join(err, os.WriteFile(path, out.Bytes(), 0o600))
}

// writeDifferences writes what differs between records and the listing of the day as CSV, with the verdicts of the unknown records that were found.
// If a lookup failed, it returns the error after it has written.
func (d *day) writeDifferences(ctx context.Context, out io.Writer, records []record) error {
	found, err := d.differences(ctx, records)
	if err != nil {
		return err
	}
	settled, lookupErr := d.settle(ctx, records)
	log.Printf("reconcile: %d differences from your records", len(found)) //nolint:gosec // a number
	table := [][]string{{"reference", "recorded", "listed", "settled"}}
	for _, f := range found {
		table = append(table, []string{withoutFormula(f.reference), withoutFormula(f.recorded), withoutFormula(f.listed), settled[f.reference]})
	}
	return errors.Join(csv.NewWriter(out).WriteAll(table), lookupErr)
}

// differences compares records with the listing of the day.
func (d *day) differences(ctx context.Context, records []record) ([]difference, error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // with the table of the records
	if err = d.insertRecords(ctx, tx, records); err != nil {
		return nil, err
	}
	return compare(ctx, tx, d.key, d.db.stamp(d.begin), d.db.stamp(d.end))
}

// insertRecords inserts records into a table that ends with the transaction. Do without it if your records are in the same database.
func (d *day) insertRecords(ctx context.Context, tx *sql.Tx, records []record) error {
	const table = `CREATE TEMPORARY TABLE sms (reference text PRIMARY KEY, recipient text, verdict text, began timestamptz, ended timestamptz,
		status text, price text)`
	if _, err := tx.ExecContext(ctx, table); err != nil {
		return err
	}
	for _, r := range records {
		var ended any // null
		if !r.ended.IsZero() {
			ended = d.db.stamp(r.ended)
		}
		const insert = "INSERT INTO sms VALUES ($1, $2, $3, $4, $5, $6, $7)"
		_, err := tx.ExecContext(ctx, insert, r.reference, r.recipient, r.verdict.String(), d.db.stamp(r.began), ended, r.status, r.price)
		if err != nil {
			return err
		}
	}
	return nil
}

// settle looks up the unknown records that began before the end of the day. It returns the column settled by reference. If a lookup fails, its record
// is undecided. The records after it are undecided, too, unless the service or the client refused the lookup as invalid: others may be valid.
func (d *day) settle(ctx context.Context, records []record) (map[string]string, error) {
	settled := map[string]string{}
	var failure error // the last one
	isOver := false
	for _, r := range records {
		if r.verdict != messaging.Unknown || !r.began.Before(d.end) {
			continue
		}
		settled[r.reference] = undecided
		if isOver {
			continue
		}
		err := d.patiently(ctx, func() error {
			verdict, err := d.lookUp(ctx, r)
			if err == nil {
				settled[r.reference] = verdict
			}
			return err
		}, isOutage)
		if err == nil {
			continue
		}
		failure = err
		isOver = !errors.Is(err, messaging.ErrInvalid)
		if !isOver {
			log.Println("reconcile: a record is undecided:", err)
		}
	}
	if failure != nil {
		return settled, fmt.Errorf("unknown records are undecided: %w", failure)
	}
	return settled, nil
}

// lookUp looks up an unknown record, once, because the day has passed. It returns the verdict, undecided if a row does not decide, or "" if the
// message is not listed: it may be listed later.
func (d *day) lookUp(ctx context.Context, r record) (string, error) {
	_, err := d.client.SMS.Settle(ctx, sms.Message{ReferenceID: r.reference, To: r.recipient}, d.end)
	verdict := messaging.VerdictOf(err)
	switch {
	case verdict != messaging.Unknown:
		return verdict.String(), nil
	case errors.Is(err, messaging.ErrNotListed):
		return "", nil
	case hasFailed(err):
		return "", err
	default: // such as a row of another number
		log.Println("reconcile: a record stays unknown:", err)
		return undecided, nil
	}
}

// hasFailed reports whether an error of Settle is that of a lookup that failed. An error about a listed row has neither a status nor a cause.
func hasFailed(err error) bool {
	if errors.Is(err, messaging.ErrUnreadableRow) {
		return false
	}
	failed, ok := errors.AsType[*messaging.Error](err)
	isAboutRow := ok && failed.StatusCode == 0 && failed.Unwrap() == nil
	return !isAboutRow || errors.Is(err, messaging.ErrInvalid) || errors.Is(err, messaging.ErrFilterIgnored)
}

// isOutage reports whether a lookup failed because the service is down or throttles. Retryable does not say so: the error is about a message whose
// outcome is unknown.
func isOutage(err error) bool {
	if errors.Is(err, messaging.ErrRateLimited) || errors.Is(err, messaging.ErrUnavailable) {
		return true
	}
	failed, ok := errors.AsType[*messaging.Error](err)
	return ok && failed.StatusCode == 0 && failed.Unwrap() != nil // no response
}
