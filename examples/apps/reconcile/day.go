package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// openDatabase opens a database, and creates its tables: the rows of each day, where its listing continues, and your records. If your records
// are in a database, create the first two there, and join them with yours. A row that comes twice, because others entered the listing before
// it in the meantime, is stored once.
func openDatabase(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	const tables = `
CREATE TABLE IF NOT EXISTS progress (day TEXT PRIMARY KEY, next TEXT, omitted INT);
CREATE TABLE IF NOT EXISTS listed (day TEXT, id TEXT, reference TEXT, recipient TEXT, verdict TEXT, sender TEXT, status TEXT, currency TEXT,
	parts INT, price TEXT, is_timed BOOL, problem TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS listed_once ON listed (day, id, reference, recipient) WHERE id <> '';
CREATE INDEX IF NOT EXISTS listed_by_day ON listed (day, reference);
CREATE INDEX IF NOT EXISTS listed_by_reference ON listed (reference);
CREATE TABLE IF NOT EXISTS sms (reference TEXT PRIMARY KEY, recipient TEXT, verdict TEXT, began BIGINT, ended BIGINT)`
	if _, err = db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// day is a day of an account.
type day struct {
	db     *sql.DB
	client *messaging.Client
	begin  time.Time
	end    time.Time
	key    string // in the tables
	total  int    // of the service, as of the last page; 0 if it has none
}

func newDay(db *sql.DB, client *messaging.Client, midnight time.Time) *day {
	// With the offset, so that the days of two zones are two.
	return &day{db: db, client: client, begin: midnight, end: midnight.AddDate(0, 0, 1), key: midnight.Format(time.RFC3339)}
}

// reconcile lists the rest of the day, and writes the sums.
func (d *day) reconcile(ctx context.Context, out io.Writer) error {
	if err := d.list(ctx); err != nil {
		if lasts(err) {
			return err
		}
		return fmt.Errorf("stopped; start again to go on: %w", err)
	}
	return d.writeSums(ctx, out)
}

// lasts reports whether the same error comes again until somebody changes the options, the contract or the account.
func lasts(err error) bool {
	isKind := func(kind error) bool { return errors.Is(err, kind) }
	return slices.ContainsFunc([]error{
		messaging.ErrInvalid, messaging.ErrFilterIgnored, messaging.ErrUnauthorized, messaging.ErrForbidden, messaging.ErrNotFound,
	}, isKind)
}

// list stores the rows of the day, from where an earlier process was interrupted.
func (d *day) list(ctx context.Context) error {
	var position string
	err := d.db.QueryRowContext(ctx, "SELECT next FROM progress WHERE day = $1", d.key).Scan(&position)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = d.listFrom(ctx, position)
	isRefused := position != "" && errors.Is(err, messaging.ErrInvalid)
	if !isRefused {
		return err
	}
	log.Println("reconcile: begins the day again:", err) // the options differ, or the service no longer knows the position
	if _, err = d.db.ExecContext(ctx, "UPDATE progress SET next = '' WHERE day = $1", d.key); err != nil {
		return err
	}
	return d.listFrom(ctx, "")
}

// listFrom stores the rows of the day from a position on, in the order of their times if the contract can sort.
func (d *day) listFrom(ctx context.Context, position string) error {
	options := sms.ListOptions{CreatedAfter: d.begin, CreatedBefore: d.end, SortBy: sms.ByCreated, PageSize: 500, After: position}
	err := d.storePages(ctx, options)
	if concerns(err, "SortBy") { // the contract has no parameter for it
		options.SortBy = ""
		err = d.storePages(ctx, options)
	}
	return err
}

// concerns reports whether an option of a listing is invalid.
func concerns(err error, option string) bool {
	invalid, ok := errors.AsType[*messaging.ValidationError](err)
	return ok && slices.ContainsFunc(invalid.Problems, func(p messaging.Problem) bool { return p.Field == option })
}

// storePages stores the pages of a listing.
func (d *day) storePages(ctx context.Context, options sms.ListOptions) error {
	position := options.After
	total := 0
	for page, err := range d.client.SMS.Pages(ctx, options) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			log.Println("reconcile:", err) // the page has what could be read
		} else if err != nil {
			return err
		}
		if err := d.store(ctx, page, position); err != nil {
			return err
		}
		position = page.Next
		total = page.Total
	}
	d.total = total
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

// store stores the page at a position of the listing, and where the listing continues, in one transaction. The first page replaces the day.
func (d *day) store(ctx context.Context, page sms.Page, position string) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const advance = `
		INSERT INTO progress VALUES ($1, $2, $4) ON CONFLICT (day) DO UPDATE SET next = $2,
			omitted = CASE WHEN $3 = '' THEN $4 ELSE progress.omitted + $4 END
		WHERE progress.next = $3`
	result, err := tx.ExecContext(ctx, advance, d.key, page.Next, position, page.Omitted)
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
	if position == "" {
		if err = d.forget(ctx, tx); err != nil {
			return err
		}
	}
	for _, row := range page.Transactions {
		verdict := d.client.SMS.Verdict(row).String()
		problem := "" // it has no values of the row
		if row.ReadError != nil {
			problem = row.ReadError.Error()
		}
		isTimed := !row.CreatedAt.IsZero()
		_, err = tx.ExecContext(ctx, "INSERT INTO listed VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
			d.key, row.ID, row.ReferenceID, row.To, verdict, row.From, row.Status.String(), row.Currency, row.Parts, row.Price, isTimed, problem)
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// forget deletes the rows of an earlier listing of the day, and days that are 90 days older: the tables would grow forever.
func (d *day) forget(ctx context.Context, tx *sql.Tx) error {
	oldest := d.begin.AddDate(0, 0, -90).Format(time.RFC3339)
	if _, err := tx.ExecContext(ctx, "DELETE FROM listed WHERE day = $1 OR day < $2", d.key, oldest); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM progress WHERE day < $1", oldest) // with its rows: it must not go on without them
	return err
}

// unfinishedDays returns the days whose listing was interrupted and not continued.
func unfinishedDays(ctx context.Context, db *sql.DB) (days []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT day FROM progress WHERE next <> '' ORDER BY day")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	for rows.Next() {
		var key string
		if err = rows.Scan(&key); err != nil {
			return nil, err
		}
		days = append(days, key)
	}
	return days, rows.Err()
}
