package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/sms"
)

// position returns where the listing of the day continues, and "" at its beginning. It sets the total.
func (d *day) position(ctx context.Context) (string, error) {
	d.total = 0
	var position string
	err := d.db.QueryRowContext(ctx, "SELECT next, total FROM progress WHERE day = $1 AND next <> ''", d.key).Scan(&position, &d.total)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return position, err
}

// beginAgain drops the position of the listing.
func (d *day) beginAgain(ctx context.Context) error {
	d.total = 0
	_, err := d.db.ExecContext(ctx, "UPDATE progress SET next = '' WHERE day = $1", d.key)
	return err
}

// store stores the page at a position of the listing, and where the listing continues, in one transaction. The rows count after the last page: then
// they replace the day.
func (d *day) store(ctx context.Context, page sms.Page, position string) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	if err = d.advance(ctx, tx, page, position); err != nil {
		return err
	}
	if position == "" {
		if err = d.forget(ctx, tx); err != nil {
			return err
		}
	}
	for _, row := range page.Transactions {
		if err = d.insert(ctx, tx, row); err != nil {
			return err
		}
	}
	if page.Next == "" {
		if err = d.replace(ctx, tx); err != nil {
			return err
		}
	}
	if err = tx.Commit(); err != nil {
		return err
	}
	d.total = page.Total
	return nil
}

// advance moves the position of the listing to the page after a page.
func (d *day) advance(ctx context.Context, tx *sql.Tx, page sms.Page, position string) error {
	const upsert = `
		INSERT INTO progress VALUES ($1, $2, $4, $5) ON CONFLICT (day) DO UPDATE SET next = $2, total = $5,
			omitted = CASE WHEN $3 = '' THEN $4 ELSE progress.omitted + $4 END
		WHERE progress.next = $3`
	result, err := tx.ExecContext(ctx, upsert, d.key, page.Next, position, page.Omitted, page.Total)
	if err != nil {
		return err
	}
	advanced, err := result.RowsAffected()
	if err != nil {
		return err
	}
	if advanced == 0 { // otherwise rows would count twice
		return errors.New("another process lists the same day")
	}
	return nil
}

// insert inserts a row that arrives. A row that has arrived before is skipped.
func (d *day) insert(ctx context.Context, tx *sql.Tx, row sms.Transaction) error {
	const insert = "INSERT INTO arriving VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING"
	verdict := d.client.SMS.Verdict(row).String()
	isTimed := !row.CreatedAt.IsZero()
	problem := "" // it has no values of the row
	if row.ReadError != nil {
		problem = row.ReadError.Error()
	}
	_, err := tx.ExecContext(ctx, insert,
		d.key, row.ID, row.ReferenceID, row.To, verdict, row.From, row.Status.String(), row.Currency, row.Parts, row.Price, isTimed, problem)
	return err
}

// replace replaces the rows of the day by those that have arrived.
func (d *day) replace(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range []string{
		"DELETE FROM listed WHERE day = $1",
		"INSERT INTO listed SELECT * FROM arriving WHERE day = $1",
		"DELETE FROM arriving WHERE day = $1",
	} {
		if _, err := tx.ExecContext(ctx, statement, d.key); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the rows of a listing of the day that did not end, and the days long before it: the tables would grow forever. Positions go with
// their rows: a listing must not go on without them.
func (d *day) forget(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM arriving WHERE day = $1", d.key); err != nil {
		return err
	}
	oldest := d.begin.AddDate(0, 0, -daysKept).Format(time.RFC3339)
	for _, statement := range []string{
		"DELETE FROM arriving WHERE day < $1", "DELETE FROM listed WHERE day < $1", "DELETE FROM progress WHERE day < $1",
	} {
		if _, err := tx.ExecContext(ctx, statement, oldest); err != nil {
			return err
		}
	}
	return nil
}

// checkTotal compares the rows of the day with the total of the service, which is 0 if it has none. A program that runs each night should fail
// if rows are missing, so that somebody sees it.
func (d *day) checkTotal(ctx context.Context) error {
	var rows int
	const count = `SELECT (SELECT COUNT(*) FROM listed WHERE day = $1) + (SELECT omitted FROM progress WHERE day = $1)`
	err := d.db.QueryRowContext(ctx, count, d.key).Scan(&rows)
	if err == nil && d.total > 0 && d.total != rows {
		return fmt.Errorf("the service counts %d rows and listed %d: rows are missing, or its total counts others, too: "+
			`then write "page": {"total": []} into sms.list of the contract`, d.total, rows)
	}
	return err
}
