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
// The records are CSV, too, with the columns reference, recipient, verdict (accepted, refused, not sent or unknown), began and ended (of the
// attempt, such as 2026-11-23T08:00:00+08:00; ended is empty if the process was killed). A record belongs to the day of its end, or of its beginning
// if it has no end. It is searched in all days that were listed, because a message that was sent around midnight may be listed on either day. So
// include an hour before and after the day. What differs is written to differences.csv.
//
// The program stores the rows with the position of the listing. If it is interrupted and started again, it continues after the last page, and
// counts each SMS once. Once the day is complete, it lists it again, for rows that came late and statuses that have changed. Until that listing
// ends, the rows of the one before count. If the service counts other rows than it listed, the program ends with an error, after its output.
//
// Left to you: settle the unknown records (see docs/listing.md), and start the program again with -day for a day before that the log calls unfinished
// or whose records were "not listed". Once the next day is listed, too, a message of midnight is found. The database holds phone numbers.
package main

import (
	"bytes"
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
	"github.com/messaging-service/messaging-go/messagingtest"
)

const (
	lag  = time.Hour // after the end of a day, until all its rows are listed
	rate = 20        // pages per second
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
			fmt.Fprintf(&records, "%s,+639171234567,accepted,%s,%[2]s\n", reference, at.Format(time.RFC3339))
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
	sent, err := readRecords(&records)
	if err != nil {
		return err
	}
	if err = d.compare(ctx, os.Stdout, sent); err != nil {
		return err
	}
	return d.checkTotal(ctx)
}

// start reconciles a day of the account of the environment.
func start(ctx context.Context) error {
	zone := flag.String("zone", "", "the time zone of the account, such as UTC or Asia/Manila")
	date := flag.String("day", "", "the day, such as 2026-11-23 (default yesterday)")
	recordsPath := flag.String("records", "", "a CSV file with your records")
	differences := flag.String("differences", "differences.csv", "the file for what differs from your records")
	flag.Parse()
	if flag.NArg() > 0 { // such as records without -records: they would not be compared
		return errors.New("usage: reconcile -zone ZONE [-day DAY] [-records FILE] [-differences FILE]")
	}
	midnight, err := startOfDay(*date, *zone, time.Now())
	if err != nil {
		return err
	}
	var records []record
	if *recordsPath != "" { // first, because the listing may take an hour
		if records, err = readFile(*recordsPath); err != nil {
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
	d := newDay(db, client, midnight)
	if err = d.reconcile(ctx, os.Stdout); err != nil {
		return err
	}
	unfinished, err := unfinishedDays(ctx, db)
	if err != nil {
		return err
	}
	for _, other := range unfinished {
		log.Printf("reconcile: the listing of %s is unfinished: start again with -day", other) //nolint:gosec // a day that this program stored
	}
	if *recordsPath != "" {
		if err = d.writeDifferences(ctx, *differences, records); err != nil {
			return err
		}
	}
	return d.checkTotal(ctx) // last, so that a total that counts others, too, hides nothing
}

func (d *day) writeDifferences(ctx context.Context, path string, records []record) error {
	var out bytes.Buffer
	if err := d.compare(ctx, &out, records); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o600)
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
