// Command reconcile sums up what the SMS of one day cost, by sender and currency, and prints CSV. It keeps the sums in a file after each
// page: killed and started again, it goes on after that page, and counts each SMS once. It reads MESSAGING_BASE_URL and credentials (see
// messaging.NewClientFromEnv). Without them it sums up 30,000 SMS of a test server.
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
	flag.Parse()
	day, dayErr := time.Parse(time.DateOnly, *date)
	client, err := messaging.NewClientFromEnv(messaging.WithRateLimit(20, 1))
	if os.Getenv("MESSAGING_BASE_URL") == "" {
		service := messagingtest.Start()
		for i := range 30_000 { // spread over the day
			at := day.Add(time.Duration(i) * 24 * time.Hour / 30_000)
			service.Seed(messagingtest.Sent{From: fmt.Sprint("SHOP", i%3), To: "+639171234567", Parts: 1 + i%2, At: at})
		}
		client, err = messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRateLimit(20, 1))
	}
	if err = errors.Join(dayErr, err); err == nil {
		err = reconcile(context.Background(), client, day, os.TempDir()+"/reconcile-"+*date+".json", os.Stdout)
	}
	if err != nil {
		log.Fatal("reconcile: ", err)
	}
}

// reconcile prints the sums of a day, and keeps them in a file until then.
func reconcile(ctx context.Context, client *messaging.Client, day time.Time, file string, out io.Writer) error {
	r := report{Totals: map[string]*total{}}
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
	if err = r.writeCSV(out); err == nil {
		err = os.RemoveAll(file) // which is not there if there was one page
	}
	return err
}

// report is what is known of the day so far.
type report struct {
	Next     string // where the listing goes on; "" at its beginning
	Messages int
	Totals   map[string]*total // what one sender spent in one currency
}

type total struct {
	From, Currency            string
	Messages, Parts, Unpriced int
	Cost                      big.Rat // exact; a float64 would not be
}

// sumUp lists the day from where the report stands, and keeps the report in a file after each page.
func (r *report) sumUp(ctx context.Context, client *messaging.Client, day time.Time, file string) error {
	options := sms.ListOptions{CreatedAfter: day, CreatedBefore: day.AddDate(0, 0, 1), PageSize: 500, SortBy: sms.ByCreated, After: r.Next}
	for page, err := range client.SMS.Pages(ctx, options) {
		if errors.Is(err, messaging.ErrUnreadableRow) {
			log.Println("reconcile:", err) // odd rows; the listing goes on
		} else if err != nil {
			return err
		}
		for i := range page.Transactions {
			r.add(&page.Transactions[i])
		}
		if r.Next = page.Next; r.Next == "" {
			break
		}
		if text, err := json.Marshal(r); err != nil {
			return err
		} else if err = os.WriteFile(file+".new", text, 0o600); err != nil {
			return err
		} else if err = os.Rename(file+".new", file); err != nil { // a crash leaves the old report or the new one
			return err
		}
	}
	return nil
}

func (r *report) add(tx *sms.Transaction) {
	key := fmt.Sprintf("%q %s", tx.From, tx.Currency)
	t := cmp.Or(r.Totals[key], &total{From: tx.From, Currency: tx.Currency})
	r.Totals[key] = t
	r.Messages++
	t.Messages++
	t.Parts += tx.Parts
	if price, ok := new(big.Rat).SetString(tx.Price); ok {
		t.Cost.Add(&t.Cost, price)
	} else {
		t.Unpriced++
	}
}

func (r *report) writeCSV(to io.Writer) error {
	rows := [][]string{{"sender", "currency", "messages", "parts", "cost", "unpriced"}}
	for _, key := range slices.Sorted(maps.Keys(r.Totals)) {
		t := r.Totals[key]
		digits, _ := t.Cost.FloatPrec() // sums of decimals are decimals
		cost := t.Cost.FloatString(max(2, digits))
		rows = append(rows, []string{t.From, t.Currency, strconv.Itoa(t.Messages), strconv.Itoa(t.Parts), cost, strconv.Itoa(t.Unpriced)})
	}
	return csv.NewWriter(to).WriteAll(rows)
}
