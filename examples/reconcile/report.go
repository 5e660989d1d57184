package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/sms"
)

// report is what is known of a day so far.
type report struct {
	Day      time.Time
	Next     string // where the listing goes on; "" at its beginning
	Messages int
	Totals   map[string]*total // by sender and currency
}

// total is what one sender spent in one currency.
type total struct {
	From, Currency  string
	Messages, Parts int
	Cost            *big.Rat // exact; a float64 would not be
	Unpriced        int      // SMS without a price
}

func (r *report) add(tx *sms.Transaction) {
	key := strconv.Quote(tx.From) + tx.Currency
	t := r.Totals[key]
	if t == nil {
		t = &total{From: tx.From, Currency: tx.Currency, Cost: new(big.Rat)}
		r.Totals[key] = t
	}
	r.Messages++
	t.Messages++
	t.Parts += tx.Parts
	if price, ok := new(big.Rat).SetString(tx.Price); ok {
		t.Cost.Add(t.Cost, price)
	} else {
		t.Unpriced++
	}
}

func (r *report) writeCSV(to io.Writer) error {
	rows := [][]string{{"sender", "currency", "messages", "parts", "cost", "unpriced"}}
	for _, key := range slices.Sorted(maps.Keys(r.Totals)) {
		t := r.Totals[key]
		digits, _ := t.Cost.FloatPrec() // sums of decimals are decimals
		rows = append(rows, []string{
			t.From, t.Currency, strconv.Itoa(t.Messages), strconv.Itoa(t.Parts), t.Cost.FloatString(max(2, digits)),
			strconv.Itoa(t.Unpriced),
		})
	}
	return csv.NewWriter(to).WriteAll(rows)
}

// load returns the report in a file, or a new one if there is none.
func load(file string, day time.Time) (*report, error) {
	r := &report{Day: day, Totals: map[string]*total{}}
	text, err := os.ReadFile(file) //nolint:gosec // the user names the file
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w; remove it to begin again", file, err)
	}
	if !r.Day.Equal(day) {
		kept, want := r.Day.Format(time.DateOnly), day.Format(time.DateOnly)
		return nil, fmt.Errorf("%s is of %s, not of %s; choose another file with -state", file, kept, want)
	}
	return r, nil
}

// save replaces the file as a whole, so that a crash leaves the old report or the new one.
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
