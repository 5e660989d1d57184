// Command reconcile sums up what the SMS of one day cost, by sender, status and currency, and prints CSV. Only rows whose message was accepted
// are in the sums; it counts the others. It keeps the sums in a file after each page. If it is killed and started again, it continues after
// that page, and counts each SMS once. It reads MESSAGING_BASE_URL and credentials (see messaging.NewClientFromEnv). Without them it sums up
// 30,000 SMS of a test server.
package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

func main() {
	date := flag.String("day", time.Now().UTC().AddDate(0, 0, -1).Format(time.DateOnly), "the day to sum up, in UTC")
	file := flag.String("file", "", "where to keep the sums until the day is complete: name one for each account (default reconcile-DAY.json in "+os.TempDir()+")")
	flag.Parse()
	if err := run(*date, cmp.Or(*file, os.TempDir()+"/reconcile-"+*date+".json")); err != nil {
		log.Fatal("reconcile: ", err)
	}
}

func run(date, file string) error {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return err
	}
	rateLimit := messaging.WithRateLimit(20, 1)
	if os.Getenv("MESSAGING_BASE_URL") == "" {
		return demo(day, file, rateLimit)
	}
	client, err := messaging.NewClientFromEnv(rateLimit)
	if err != nil {
		return err
	}
	return reconcile(context.Background(), client, day, file, os.Stdout)
}

// demo sums up a day of a test server.
func demo(day time.Time, file string, options ...messaging.Option) error {
	service := messagingtest.Start()
	for i := range 30_000 { // spread over the day
		at := day.Add(time.Duration(i) * 24 * time.Hour / 30_000)
		service.Seed(messagingtest.Sent{From: fmt.Sprint("SHOP", i%3), To: "+639171234567", Parts: 1 + i%2, At: at})
	}
	service.Seed(messagingtest.Sent{SendStatus: "rejected", At: day}) // a row of a refused message
	client, err := messaging.NewClient(service.URL, append(options, messaging.WithToken(service.Token))...)
	if err != nil {
		return err
	}
	return reconcile(context.Background(), client, day, file, os.Stdout)
}

// reconcile prints the sums of a day, and keeps them in a file until then.
func reconcile(ctx context.Context, client *messaging.Client, day time.Time, file string, out io.Writer) error {
	r := report{Totals: map[string]*total{}, Others: map[string]int{}}
	text, err := os.ReadFile(file) //nolint:gosec // it is this program's
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w; remove %s to begin again", err, file)
	}
	if err = r.sumUp(ctx, client, day, file); err != nil {
		return fmt.Errorf("stopped after %d SMS; start again to go on: %w", r.Messages, err)
	}
	if err = r.writeCSV(out); err != nil {
		return err
	}
	for _, verdict := range slices.Sorted(maps.Keys(r.Others)) {
		log.Printf("reconcile: not in the sums: %d SMS whose verdict is %s", r.Others[verdict], verdict)
	}
	return os.RemoveAll(file) // it does not exist if there was only one page
}

// report has the sums of the day so far.
type report struct {
	Next     string // where the listing continues; "" at its beginning
	Messages int
	Totals   map[string]*total // of accepted SMS, by sender, status and currency
	Others   map[string]int    // number of SMS that are refused or unknown, by verdict
}

// total is what one sender spent on SMS with one status in one currency.
type total struct {
	From, Status, Currency string
	Messages               int
	Parts                  int
	Unpriced               int
	Cost                   big.Rat // exact, unlike a float64
}

// sumUp lists the rest of the day, and writes the report to a file after each page.
func (r *report) sumUp(ctx context.Context, client *messaging.Client, day time.Time, file string) error {
	options := sms.ListOptions{CreatedAfter: day, CreatedBefore: day.AddDate(0, 0, 1), PageSize: 500, SortBy: sms.ByCreated, After: r.Next}
	for page, err := range client.SMS.Pages(ctx, options) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			log.Println("reconcile:", err) // rows that cannot be read; the listing continues
		} else if err != nil {
			return err
		}
		for _, tx := range page.Transactions {
			r.add(&tx, client.SMS.Verdict(tx))
		}
		if r.Next = page.Next; r.Next == "" {
			break
		}
		if err := r.save(file); err != nil {
			return err
		}
	}
	return nil
}

// save writes the report to a file. A crash leaves the old report or the new one.
func (r *report) save(file string) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

func (r *report) add(tx *sms.Transaction, verdict messaging.Verdict) {
	r.Messages++
	if verdict != messaging.Accepted {
		r.Others[verdict.String()]++
		return
	}
	status := tx.Status.String()
	key := fmt.Sprintf("%q %s %s", tx.From, status, tx.Currency)
	t := cmp.Or(r.Totals[key], &total{From: tx.From, Status: status, Currency: tx.Currency})
	r.Totals[key] = t
	t.Messages++
	t.Parts += tx.Parts
	if price, ok := new(big.Rat).SetString(tx.Price); ok {
		t.Cost.Add(&t.Cost, price)
	} else {
		t.Unpriced++
	}
}

func (r *report) writeCSV(to io.Writer) error {
	rows := [][]string{{"sender", "status", "currency", "messages", "parts", "cost", "unpriced"}}
	for _, key := range slices.Sorted(maps.Keys(r.Totals)) {
		t := r.Totals[key]
		digits, _ := t.Cost.FloatPrec() // sums of decimals are decimals
		cost := t.Cost.FloatString(max(2, digits))
		rows = append(rows, []string{t.From, t.Status, t.Currency, strconv.Itoa(t.Messages), strconv.Itoa(t.Parts), cost, strconv.Itoa(t.Unpriced)})
	}
	return csv.NewWriter(to).WriteAll(rows)
}
