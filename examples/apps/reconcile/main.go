// Command reconcile lists the SMS of a day, prints what the accepted ones cost, and compares the listing with your records of what was sent.
//
//	go run ./examples/apps/reconcile                                          a day of a test server
//	go run ./examples/apps/reconcile -zone Asia/Manila -records sent.csv      yesterday, of your account
//	go run ./examples/apps/reconcile -zone Asia/Manila -day 2026-11-23        that day, without a comparison
//
// The environment has the account (see messaging.NewClientFromEnv). The sums are CSV on standard output, by sender, status and currency. The records are CSV, too, with the columns reference, verdict (accepted,
// refused, not sent or unknown), began and ended (of the attempt, such as 2026-11-23T08:00:00+08:00). They should include an hour before and
// after the day, because a message that was sent around midnight may be listed on either day. What differs is written to differences.csv.
//
// The program stores the rows in SQLite with the position of the listing. If it is interrupted and started again, it continues after the last
// page, and counts each SMS once. Once the day is complete, it lists it again, for rows that came late and statuses that have changed.
package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata" // zones for machines that have none

	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const (
	lag  = time.Hour // after the end of a day, until all its rows are listed
	rate = 20        // pages per second

	columns = "reference,verdict,began,ended" // of the records
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 1 {
		err = demo(ctx)
	} else {
		err = start(ctx)
	}
	stop()
	if err != nil {
		log.Fatalln("reconcile:", err)
	}
}

// demo reconciles a day of a test server with records of which some differ.
func demo(ctx context.Context) error {
	midnight := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	service := messagingtest.Start()
	defer service.Close()
	var records bytes.Buffer
	fmt.Fprintln(&records, columns)
	for i := range 2000 { // spread over the day
		at := midnight.Add(time.Duration(i) * 24 * time.Hour / 2000)
		reference := fmt.Sprint("order-", i)
		if i != 17 { // it is not listed
			service.Seed(messagingtest.Sent{From: fmt.Sprint("SHOP", i%3), To: "+639171234567", ReferenceID: reference, At: at})
		}
		if i != 18 { // there is no record of it
			fmt.Fprintf(&records, "%s,accepted,%s,%[2]s\n", reference, at.Format(time.RFC3339))
		}
	}
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRateLimit(rate, 1))
	if err != nil {
		return err
	}
	db, err := openDatabase(ctx, ":memory:")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it is in memory
	d := newDay(db, client, midnight)
	if err = d.reconcile(ctx, os.Stdout); err != nil {
		return err
	}
	return d.compare(ctx, &records, os.Stdout)
}

// start reconciles a day of the account of the environment.
func start(ctx context.Context) error {
	zone := flag.String("zone", "", "the time zone of the account, such as UTC or Asia/Manila")
	date := flag.String("day", "", "the day, such as 2026-11-23 (default yesterday)")
	records := flag.String("records", "", "a CSV file with your records")
	differences := flag.String("differences", "differences.csv", "the file for what differs from your records")
	path := flag.String("database", "reconcile.db", "the file for the rows, one for each account")
	flag.Parse()
	midnight, err := startOfDay(*date, *zone, time.Now())
	if err != nil {
		return err
	}
	client, err := messaging.NewClientFromEnv(messaging.WithRateLimit(rate, 1))
	if err != nil {
		return err
	}
	db, err := openDatabase(ctx, *path)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // everything is committed
	d := newDay(db, client, midnight)
	if err = d.reconcile(ctx, os.Stdout); err != nil || *records == "" {
		return err
	}
	file, err := os.Open(*records)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	var out bytes.Buffer
	if err = d.compare(ctx, file, &out); err != nil {
		return fmt.Errorf("%s: %w", *records, err)
	}
	return os.WriteFile(*differences, out.Bytes(), 0o600)
}

// startOfDay returns the midnight that begins a day in a time zone. It refuses a day of which rows may not be listed yet.
func startOfDay(date, zoneName string, now time.Time) (time.Time, error) {
	if zoneName == "" { // a guess would move messages to other days
		return time.Time{}, errors.New("-zone is not set: it is the time zone of the account, such as UTC or Asia/Manila")
	}
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return time.Time{}, err
	}
	if date == "" {
		date = now.In(zone).AddDate(0, 0, -1).Format(time.DateOnly)
	}
	midnight, err := time.ParseInLocation(time.DateOnly, date, zone)
	if err != nil {
		return time.Time{}, err
	}
	if ready := midnight.AddDate(0, 0, 1).Add(lag); now.Before(ready) {
		return time.Time{}, fmt.Errorf("rows of %s may not be listed yet: start at %s or later", date, ready.Format(time.RFC3339))
	}
	return midnight, nil
}

// openDatabase opens a database, and creates its tables: the rows of each day, where its listing continues, and your records. If your records
// are in a database, create the first two there, and join them with yours.
func openDatabase(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	const tables = `
CREATE TABLE IF NOT EXISTS progress (day TEXT PRIMARY KEY, next TEXT);
CREATE TABLE IF NOT EXISTS listed (day TEXT, reference TEXT, verdict TEXT, sender TEXT, status TEXT, currency TEXT, parts INT, price TEXT);
CREATE INDEX IF NOT EXISTS listed_by_day ON listed (day, reference);
CREATE TABLE IF NOT EXISTS record (reference TEXT PRIMARY KEY, verdict TEXT, began BIGINT, ended BIGINT)`
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
}

func newDay(db *sql.DB, client *messaging.Client, midnight time.Time) *day {
	// With the offset, so that the days of two zones are two.
	return &day{db: db, client: client, begin: midnight, end: midnight.AddDate(0, 0, 1), key: midnight.Format(time.RFC3339)}
}

// reconcile lists what is left of the day, and writes the sums.
func (d *day) reconcile(ctx context.Context, out io.Writer) error {
	if err := d.list(ctx); err != nil {
		return fmt.Errorf("stopped; start again to go on: %w", err)
	}
	return d.writeSums(ctx, out)
}

// list stores the rows of the day, from where an earlier process was interrupted.
func (d *day) list(ctx context.Context) error {
	var position string
	err := d.db.QueryRowContext(ctx, "SELECT next FROM progress WHERE day = $1", d.key).Scan(&position)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	options := sms.ListOptions{CreatedAfter: d.begin, CreatedBefore: d.end, SortBy: sms.ByCreated, PageSize: 500, After: position}
	err = d.listFrom(ctx, options)
	if concerns(err, "SortBy") { // the contract has no parameter for it
		options.SortBy = ""
		err = d.listFrom(ctx, options)
	}
	if position != "" && errors.Is(err, messaging.ErrInvalid) { // the options differ, or the service no longer knows the position
		log.Println("reconcile: begins the day again:", err)
		if _, err = d.db.ExecContext(ctx, "UPDATE progress SET next = '' WHERE day = $1", d.key); err != nil {
			return err
		}
		options.After = ""
		err = d.listFrom(ctx, options)
	}
	return err
}

// concerns reports whether an option of a listing is invalid.
func concerns(err error, option string) bool {
	invalid, ok := errors.AsType[*messaging.ValidationError](err)
	return ok && slices.ContainsFunc(invalid.Problems, func(p messaging.Problem) bool { return p.Field == option })
}

func (d *day) listFrom(ctx context.Context, options sms.ListOptions) error {
	position := options.After
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
	}
	return nil
}

// store stores the page at a position of the listing, and where the listing continues, in one transaction. The first page replaces the day.
func (d *day) store(ctx context.Context, page sms.Page, position string) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	const advance = "INSERT INTO progress VALUES ($1, $2) ON CONFLICT (day) DO UPDATE SET next = $2 WHERE progress.next = $3"
	result, err := tx.ExecContext(ctx, advance, d.key, page.Next, position)
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
		if _, err = tx.ExecContext(ctx, "DELETE FROM listed WHERE day = $1", d.key); err != nil {
			return err
		}
	}
	for _, row := range page.Transactions {
		verdict := d.client.SMS.Verdict(row).String()
		_, err = tx.ExecContext(ctx, "INSERT INTO listed VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
			d.key, row.ReferenceID, verdict, row.From, row.Status.String(), row.Currency, row.Parts, row.Price)
		if err != nil {
			return err
		}
	}
	return tx.Commit()
}

// total is what SMS with one sender, status and currency cost.
type total struct {
	sender, status, currency  string
	messages, parts, unpriced int
	cost                      big.Rat // exact, unlike a float64
}

// writeSums writes the sums of the accepted SMS as CSV, and logs how many there are of others.
func (d *day) writeSums(ctx context.Context, out io.Writer) error {
	const query = `SELECT verdict, sender, status, currency, price, COUNT(*), SUM(parts) FROM listed WHERE day = $1
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4`
	rows, err := d.db.QueryContext(ctx, query, d.key)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	var totals []*total
	others := map[string]int{}
	for rows.Next() {
		var verdict, price string
		var row total
		if err = rows.Scan(&verdict, &row.sender, &row.status, &row.currency, &price, &row.messages, &row.parts); err != nil {
			return err
		}
		if verdict != messaging.Accepted.String() {
			others[verdict] += row.messages
			continue
		}
		totals = add(totals, &row, price)
	}
	if err = rows.Err(); err != nil {
		return err
	}
	for verdict, messages := range others {
		log.Printf("reconcile: not in the sums: %d SMS whose verdict is %s", messages, verdict)
	}
	table := [][]string{{"sender", "status", "currency", "messages", "parts", "cost", "unpriced"}}
	for _, t := range totals {
		digits, _ := t.cost.FloatPrec() // sums of decimals are decimals
		cost := t.cost.FloatString(max(2, digits))
		table = append(table, []string{
			t.sender, t.status, t.currency, strconv.Itoa(t.messages), strconv.Itoa(t.parts), cost, strconv.Itoa(t.unpriced),
		})
	}
	return csv.NewWriter(out).WriteAll(table)
}

// add adds SMS with one price to the last total, or as a new one if their sender, status or currency differs.
func add(totals []*total, row *total, price string) []*total {
	if each, isPrice := new(big.Rat).SetString(price); isPrice {
		row.cost.Mul(each, big.NewRat(int64(row.messages), 1))
	} else {
		row.unpriced = row.messages
	}
	if len(totals) == 0 {
		return append(totals, row)
	}
	last := totals[len(totals)-1]
	if last.sender != row.sender || last.status != row.status || last.currency != row.currency {
		return append(totals, row)
	}
	last.messages += row.messages
	last.parts += row.parts
	last.unpriced += row.unpriced
	last.cost.Add(&last.cost, &row.cost)
	return totals
}

// compare writes what differs between your records and the listing as CSV. docs/listing.md says what to do about it.
func (d *day) compare(ctx context.Context, records io.Reader, out io.Writer) error {
	if err := d.readRecords(ctx, records); err != nil {
		return err
	}
	// A record is "not listed" only if its attempt began and ended within the day. A message that did not go out may be listed as refused.
	const query = `
SELECT COALESCE(l.reference, r.reference), COALESCE(r.verdict, 'no record'),
	CASE WHEN l.messages IS NULL THEN 'not listed' WHEN l.messages > 1 THEN l.messages || ' rows' ELSE l.verdict END
FROM (SELECT reference, MIN(verdict) AS verdict, COUNT(*) AS messages FROM listed WHERE day = $1 GROUP BY reference) AS l
FULL JOIN record AS r ON r.reference = l.reference
WHERE CASE
	WHEN r.reference IS NULL OR l.messages > 1 THEN TRUE
	WHEN l.messages IS NULL THEN r.verdict IN ('accepted', 'unknown') AND r.began >= $2 AND r.ended < $3
	WHEN r.verdict = 'not sent' THEN l.verdict <> 'refused'
	ELSE r.verdict = 'unknown' OR r.verdict <> l.verdict
END
ORDER BY 1`
	rows, err := d.db.QueryContext(ctx, query, d.key, d.begin.Unix(), d.end.Unix())
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	table := [][]string{{"reference", "recorded", "listed"}}
	for rows.Next() {
		var reference, recorded, listed string
		if err = rows.Scan(&reference, &recorded, &listed); err != nil {
			return err
		}
		table = append(table, []string{reference, recorded, listed})
	}
	if err = rows.Err(); err != nil {
		return err
	}
	log.Printf("reconcile: %d references differ from your records", len(table)-1)
	return csv.NewWriter(out).WriteAll(table)
}

// readRecords replaces the table of records with those of a CSV file.
func (d *day) readRecords(ctx context.Context, file io.Reader) error {
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return err
	}
	if strings.Join(header, ",") != columns {
		return errors.New("want the columns " + columns)
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	if _, err = tx.ExecContext(ctx, "DELETE FROM record"); err != nil {
		return err
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return tx.Commit()
		}
		if err != nil {
			return err
		}
		if err = insertRecord(ctx, tx, row); err != nil {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// insertRecord inserts a record. Its errors show no value, which may be personal if the columns are wrong.
func insertRecord(ctx context.Context, tx *sql.Tx, row []string) error {
	var verdict messaging.Verdict
	if verdict.UnmarshalText([]byte(row[1])) != nil {
		return errors.New("verdict: want accepted, refused, not sent or unknown")
	}
	began, err := time.Parse(time.RFC3339, row[2])
	if err != nil {
		return errors.New("began: want a time such as 2026-11-23T08:00:00+08:00")
	}
	ended, err := time.Parse(time.RFC3339, row[3])
	if err != nil {
		return errors.New("ended: want a time such as 2026-11-23T08:00:00+08:00")
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO record VALUES ($1, $2, $3, $4)", row[0], verdict.String(), began.Unix(), ended.Unix())
	return err
}
