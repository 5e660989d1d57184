// Command reconcile lists the SMS of a day, prints what the accepted ones cost, and compares the listing with your records of what was sent.
//
//	go run ./examples/apps/reconcile                                          a day of a test server
//	go run ./examples/apps/reconcile -zone Asia/Manila -records sent.csv      yesterday, of your account
//	go run ./examples/apps/reconcile -zone Asia/Manila -day 2026-11-23        that day, without a comparison
//
// The environment has the account (see messaging.NewClientFromEnv) and DATABASE_URL, a PostgreSQL URL such as postgres://user@localhost/shop, or
// the path of an SQLite file (default reconcile.db). Each account needs a database, or a schema, of its own. The sums are CSV on standard output,
// by sender, status and currency.
//
// # Records
//
// The records are CSV, too, with the columns reference, recipient, verdict (accepted, refused, not sent or unknown), began and ended (of the
// attempt, such as 2026-11-23T08:00:00+08:00; ended is empty if the process was killed), status (such as delivered) and price, which may be empty. A
// record belongs to the day of its end, or of its beginning if it has no end. It is searched in all days that were listed, because a message that was
// sent around midnight may be listed on either day. So include an hour before and after the day.
//
// What differs is written to differences.csv, with the columns reference, recorded, listed and settled. Unknown records are looked up: settled is the
// verdict of a message that was found, and empty if it is not listed. It is "undecided" if the lookup failed, or a row does not decide, as the log
// says. After a lookup that failed, the program ends with an error; start it again with -day. If you stop it during the lookups, it writes nothing.
// The statuses and prices of accepted messages are compared where both are known. Store these verdicts, and act on the other differences (see
// docs/listing.md). If a record was "not listed", start the program again with -day. Once the next day is listed, too, a message of midnight is
// found.
//
// # Interruptions
//
// If the service is down, the program waits and goes on, for up to six hours in all.
//
// The program stores the rows with the position of the listing. If it is interrupted and started again, it continues after the last page, and
// counts each SMS once. The log names the days that are unfinished: start it again with -day. Once the day is complete, the program lists it again,
// for rows that came late and statuses that have changed. Until that listing ends, the rows of the one before count. If the service counts other
// rows than it listed, the program ends with an error, after its output.
//
// The database holds phone numbers. In the CSV files, text that a spreadsheet would read as a formula begins with an apostrophe.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // zones for machines that have none

	messaging "github.com/messaging-service/messaging-go"
)

const (
	lag        = time.Hour        // after the end of a day, until all its rows are listed
	rate       = 20               // pages per second
	patience   = 6 * time.Hour    // how long an outage of the service may take
	firstPause = 30 * time.Second // before the first new attempt; then it doubles
	maxPause   = 15 * time.Minute
	daysKept   = 90 // how many days before the listed one stay in the database
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var err error
	if len(os.Args) == 1 {
		err = demo(ctx)
	} else {
		err = run(ctx)
	}
	stop()
	if err != nil {
		log.Fatalln("reconcile:", err)
	}
}

// run reconciles a day of the account of the environment.
func run(ctx context.Context) error {
	in, err := argumentsOf(os.Args[1:])
	if err != nil {
		return err
	}
	var records []record
	if in.recordsPath != "" { // first, because the listing may take an hour
		if records, err = readRecords(in.recordsPath); err != nil {
			return err
		}
	}
	client, err := messaging.NewClientFromEnv(messaging.WithRateLimit(rate, 1))
	if err != nil {
		return err
	}
	db, err := openDatabase(ctx, cmp.Or(os.Getenv("DATABASE_URL"), "reconcile.db"))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // everything is committed
	d := newDay(db, client, in.midnight)
	d.patience = patience
	d.pause = firstPause
	if err = d.reconcile(ctx, os.Stdout); err != nil {
		return err
	}
	if err = logUnfinishedDays(ctx, db); err != nil {
		return err
	}
	if in.recordsPath != "" {
		if err = d.saveDifferences(ctx, in.differencesPath, records); err != nil {
			return err
		}
	}
	return d.checkTotal(ctx) // last, so that a total that counts others, too, hides nothing
}

// arguments are the arguments of the command.
type arguments struct {
	midnight        time.Time
	recordsPath     string // or ""
	differencesPath string
}

func argumentsOf(args []string) (arguments, error) {
	var in arguments
	flags := flag.NewFlagSet("reconcile", flag.ExitOnError)
	zone := flags.String("zone", "", "the time zone of the account, such as UTC or Asia/Manila")
	date := flags.String("day", "", "the day, such as 2026-11-23 (default yesterday)")
	flags.StringVar(&in.recordsPath, "records", "", "a CSV file with your records")
	flags.StringVar(&in.differencesPath, "differences", "differences.csv", "the file for what differs from your records")
	if err := flags.Parse(args); err != nil {
		return in, err
	}
	if flags.NArg() > 0 { // such as records without -records: they would not be compared
		return in, errors.New("usage: reconcile -zone ZONE [-day DAY] [-records FILE] [-differences FILE]")
	}
	var err error
	in.midnight, err = startOfDay(*date, *zone, time.Now())
	return in, err
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

// logUnfinishedDays logs the days whose listing was interrupted and not continued.
func logUnfinishedDays(ctx context.Context, db *database) error {
	days, err := unfinishedDays(ctx, db)
	if err != nil {
		return err
	}
	for _, key := range days {
		log.Printf("reconcile: the listing of %s is unfinished: start again with -day", key) //nolint:gosec // a day that this program stored
	}
	return nil
}
