// Command reconcile sums up what the SMS of one day cost, by sender and currency, and writes CSV.
//
//	reconcile -o costs.csv                              yesterday, in UTC
//	reconcile -day 2026-11-21 -o costs.csv              that day
//	reconcile -day 2026-11-21 -o costs.csv -rate 2      at most two requests a second
//
// It keeps what it has summed up in the file of -state after each page. Interrupted and started again with the same flags, it
// goes on after the last page that it kept, and counts each SMS once.
//
// It reads MESSAGING_BASE_URL and credentials (see messaging.NewClientFromEnv). Without them it sums up 30,000 SMS of a test
// server.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	day := flag.String("day", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), "the day to sum up, in UTC")
	output := flag.String("o", "", "the CSV file to write; standard output if absent")
	state := flag.String("state", "", "the file that keeps the sums in between; one among the temporary files if absent")
	rate := flag.Float64("rate", 20, "requests a second, at most")
	flag.Parse()
	if err := start(*day, *output, *state, *rate); err != nil {
		fmt.Fprintln(os.Stderr, "reconcile:", err)
		os.Exit(1)
	}
}

func start(day, output, state string, rate float64) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	from, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return fmt.Errorf("-day: got %q; want a day such as 2026-11-21", day)
	}
	client, end, err := connect(from, messaging.WithRateLimit(rate, 1))
	if err != nil {
		return err
	}
	defer end()
	state = cmp.Or(state, os.TempDir()+"/reconcile-"+day+".json")
	r, err := load(state, from)
	if err != nil {
		return err
	}
	if err := r.sumUp(ctx, client, state); err != nil {
		return fmt.Errorf("stopped after %d SMS; start again to go on: %w", r.Messages, err)
	}
	if err := write(output, r); err != nil {
		return err
	}
	return os.Remove(state)
}

func write(output string, r *report) error {
	if output == "" {
		return r.writeCSV(os.Stdout)
	}
	file, err := os.Create(output) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	return errors.Join(r.writeCSV(file), file.Close())
}

// sumUp lists the day from where the report stands, and keeps the report in a file after each page.
func (r *report) sumUp(ctx context.Context, client *messaging.Client, state string) error {
	options := sms.ListOptions{
		CreatedAfter: r.Day, CreatedBefore: r.Day.AddDate(0, 0, 1), // from midnight to midnight: each SMS belongs to one day
		PageSize: 500, SortBy: "dateCreated", After: r.Next,
	}
	lineEnd, every := "\n", 10*time.Second
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		lineEnd, every = "\r", 0 // on a terminal, one line that each page renews
	}
	reported := time.Now()
	for page, err := range client.SMS.Pages(ctx, options) {
		if errors.Is(err, messaging.ErrRow) {
			fmt.Fprintln(os.Stderr, "reconcile:", err) // odd rows; the listing goes on
		} else if err != nil {
			return err
		}
		for i := range page.Transactions {
			r.add(&page.Transactions[i])
		}
		if r.Next = page.Next; r.Next == "" {
			break
		}
		if err := r.save(state); err != nil {
			return err
		}
		if time.Since(reported) >= every {
			reported = time.Now()
			fmt.Fprintf(os.Stderr, "%d of %d SMS%s", r.Messages, page.Total, lineEnd)
		}
	}
	fmt.Fprintf(os.Stderr, "%d SMS of %s\n", r.Messages, r.Day.Format(time.DateOnly))
	return nil
}

// connect returns a client for the service of the environment, or for a test server.
func connect(day time.Time, options ...messaging.Option) (client *messaging.Client, end func(), err error) {
	if os.Getenv("MESSAGING_BASE_URL") != "" {
		client, err = messaging.NewClientFromEnv(options...)
		return client, func() {}, err
	}
	service := messagingtest.Start()
	fmt.Fprintln(os.Stderr, "No MESSAGING_BASE_URL: using a test server.")
	service.Seed(seeds(day, 30_000)...)
	client, err = messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	return client, service.Close, err
}

// seeds returns n SMS of three senders, spread over a day from its midnight on.
func seeds(day time.Time, n int) []messagingtest.Sent {
	all := make([]messagingtest.Sent, n)
	for i := range all {
		all[i] = messagingtest.Sent{
			From: fmt.Sprintf("SHOP%d", i%3), To: "+639171234567", Text: "Your order is ready", Parts: 1 + i%2,
			At: day.Add(time.Duration(i) * 24 * time.Hour / time.Duration(n)),
		}
	}
	return all
}
