package main

import (
	"context"
	"encoding/csv"
	"io"
	"log"
	"math/big"
	"strconv"

	messaging "github.com/messaging-service/messaging-go"
)

// total is what SMS with one sender, status and currency cost.
type total struct {
	sender   string
	status   string
	currency string
	messages int
	parts    int
	unpriced int     // messages without a price
	cost     big.Rat // exact, unlike a float64
}

// writeSums writes the sums of the accepted SMS as CSV.
func (d *day) writeSums(ctx context.Context, out io.Writer) error {
	totals, err := d.totals(ctx)
	if err != nil {
		return err
	}
	table := [][]string{{"sender", "status", "currency", "messages", "parts", "cost", "unpriced"}}
	for _, t := range totals {
		digits, _ := t.cost.FloatPrec() // sums of decimals are decimals
		cost := t.cost.FloatString(max(2, digits))
		table = append(table, []string{
			withoutFormula(t.sender), t.status, withoutFormula(t.currency), strconv.Itoa(t.messages), strconv.Itoa(t.parts), cost, strconv.Itoa(t.unpriced),
		})
	}
	return csv.NewWriter(out).WriteAll(table)
}

// totals adds up the accepted SMS, and logs how many there are of others. Rows without a readable time are in the listing of every day, so they are
// not in the sums of any.
func (d *day) totals(ctx context.Context) ([]*total, error) {
	const query = `SELECT verdict, sender, status, currency, price, is_timed, COUNT(*), SUM(parts) FROM listed WHERE day = $1
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4`
	rows, err := d.db.QueryContext(ctx, query, d.key)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	var totals []*total
	others := map[string]int{}
	untimed := 0
	for rows.Next() {
		var verdict, price string
		var isTimed bool
		var row total
		if err = rows.Scan(&verdict, &row.sender, &row.status, &row.currency, &price, &isTimed, &row.messages, &row.parts); err != nil {
			return nil, err
		}
		switch {
		case verdict != messaging.Accepted.String():
			others[verdict] += row.messages
		case !isTimed:
			untimed += row.messages
		default:
			totals = add(totals, &row, price)
		}
	}
	if err = rows.Err(); err != nil {
		return nil, err
	}
	for verdict, messages := range others {
		log.Printf("reconcile: not in the sums: %d SMS whose verdict is %s", messages, verdict)
	}
	if untimed > 0 {
		log.Printf("reconcile: not in the sums: %d accepted SMS without a readable time, which are in the listing of every day", untimed)
	}
	return totals, nil
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
