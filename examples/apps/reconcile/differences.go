package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"io"
	"log"
	"os"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

func (d *day) saveDifferences(ctx context.Context, path string, records []record) error {
	var out bytes.Buffer
	if err := d.writeDifferences(ctx, &out, records); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
}

// writeDifferences writes what differs between records and the listing of the day as CSV, with the verdicts of the unknown records that were found.
func (d *day) writeDifferences(ctx context.Context, out io.Writer, records []record) error {
	found, err := d.differences(ctx, records)
	if err != nil {
		return err
	}
	settled, err := d.settle(ctx, records)
	if err != nil {
		return err
	}
	log.Printf("reconcile: %d differences from your records", len(found)) //nolint:gosec // a number
	table := [][]string{{"reference", "recorded", "listed", "settled"}}
	for _, difference := range found {
		verdict := "" // the record is not unknown, or was not found
		if v, isSettled := settled[difference.reference]; isSettled {
			verdict = v.String()
		}
		table = append(table, []string{difference.reference, difference.recorded, difference.listed, verdict})
	}
	return csv.NewWriter(out).WriteAll(table)
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

// settle looks up the unknown records that began before the end of the day, which has passed, so that it does not wait. It returns the verdicts that
// it found, by reference. A message that is not listed has none: it may be listed later.
func (d *day) settle(ctx context.Context, records []record) (map[string]messaging.Verdict, error) {
	settled := map[string]messaging.Verdict{}
	for _, r := range records {
		if r.verdict != messaging.Unknown || !r.began.Before(d.end) {
			continue
		}
		_, err := d.client.SMS.Settle(ctx, sms.Message{ReferenceID: r.reference, To: r.recipient}, d.end)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		verdict := messaging.VerdictOf(err)
		switch {
		case verdict != messaging.Unknown:
			settled[r.reference] = verdict
		case !errors.Is(err, messaging.ErrNotListed): // such as a row of another number
			log.Println("reconcile: a record stays unknown:", err)
		}
	}
	return settled, nil
}
