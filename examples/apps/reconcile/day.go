package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// database has the rows of each day, and where its listing continues.
type database struct {
	*sql.DB

	isSQLite bool
}

// openDatabase opens a database, by a PostgreSQL URL or the path of an SQLite file, and creates its tables. The rows of a listing arrive in a table
// of their own, and replace those of the day when it has ended. A row that comes twice, because others entered the listing before it in the
// meantime, is stored once.
func openDatabase(ctx context.Context, databaseURL string) (*database, error) {
	const columns = `day TEXT, id TEXT, reference TEXT, recipient TEXT, verdict TEXT, sender TEXT, status TEXT, currency TEXT,
	parts INT, price TEXT, is_timed BOOL, problem TEXT`
	const tables = `
CREATE TABLE IF NOT EXISTS progress (day TEXT PRIMARY KEY, next TEXT, omitted INT);
CREATE TABLE IF NOT EXISTS arriving (` + columns + `);
CREATE UNIQUE INDEX IF NOT EXISTS arriving_once ON arriving (day, id, reference, recipient) WHERE id <> '';
CREATE TABLE IF NOT EXISTS listed (` + columns + `);
CREATE INDEX IF NOT EXISTS listed_by_day ON listed (day, reference);
CREATE INDEX IF NOT EXISTS listed_by_reference ON listed (reference)`
	db, err := connect(databaseURL)
	if err != nil {
		return nil, err
	}
	if _, err = db.ExecContext(ctx, tables); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func connect(databaseURL string) (*database, error) {
	if strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://") {
		db, err := sql.Open("pgx", databaseURL)
		return &database{DB: db}, err
	}
	db, err := sql.Open("sqlite", "file:"+databaseURL+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &database{DB: db, isSQLite: true}, nil
}

// stamp returns a time as the database compares it. SQLite has no type for times: there, it is the text that datetime('now') has.
func (d *database) stamp(at time.Time) any {
	if d.isSQLite {
		return at.UTC().Format(time.DateTime)
	}
	return at
}

// day is a day of an account.
type day struct {
	db     *database
	client *messaging.Client
	begin  time.Time
	end    time.Time
	key    string // in the tables
	total  int    // of the service, as of the last page; 0 if it has none
}

func newDay(db *database, client *messaging.Client, midnight time.Time) *day {
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
	switch {
	case errors.Is(err, messaging.ErrFilterIgnored): // a listing that continued would not say it
		return errors.Join(err, d.beginAgain(ctx))
	case !isRefused:
		return err
	}
	log.Println("reconcile: begins the day again:", err) // the options differ, or the service no longer knows the position
	if err = d.beginAgain(ctx); err != nil {
		return err
	}
	return d.listFrom(ctx, "")
}

// beginAgain drops the position of the listing.
func (d *day) beginAgain(ctx context.Context) error {
	_, err := d.db.ExecContext(ctx, "UPDATE progress SET next = '' WHERE day = $1", d.key)
	return err
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
	var last sms.Page
	for page, err := range d.client.SMS.Pages(ctx, options) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			log.Println("reconcile:", err) // the page has what could be read
		} else if err != nil {
			return err
		}
		if page.Next == "" {
			last = page // stored below: the listing may still end with an error
			continue
		}
		if err := d.store(ctx, page, position); err != nil {
			return err
		}
		position = page.Next
	}
	d.total = last.Total
	return d.store(ctx, last, position)
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

// store stores the page at a position of the listing, and where the listing continues, in one transaction. The rows count after the last page: then
// they replace the day.
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
		_, err = tx.ExecContext(ctx, "INSERT INTO arriving VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
			d.key, row.ID, row.ReferenceID, row.To, verdict, row.From, row.Status.String(), row.Currency, row.Parts, row.Price, isTimed, problem)
		if err != nil {
			return err
		}
	}
	if page.Next == "" {
		if err = d.replace(ctx, tx); err != nil {
			return err
		}
	}
	return tx.Commit()
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

// forget deletes the rows of a listing of the day that did not end, and days that are 90 days older: the tables would grow forever. Positions go
// with their rows: a listing must not go on without them.
func (d *day) forget(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM arriving WHERE day = $1", d.key); err != nil {
		return err
	}
	oldest := d.begin.AddDate(0, 0, -90).Format(time.RFC3339)
	for _, statement := range []string{
		"DELETE FROM arriving WHERE day < $1", "DELETE FROM listed WHERE day < $1", "DELETE FROM progress WHERE day < $1",
	} {
		if _, err := tx.ExecContext(ctx, statement, oldest); err != nil {
			return err
		}
	}
	return nil
}

// unfinishedDays returns the days whose listing was interrupted and not continued.
func unfinishedDays(ctx context.Context, db *database) (days []string, err error) {
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
