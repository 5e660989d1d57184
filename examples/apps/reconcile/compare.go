package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/big"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
)

// difference is a message about which your records and the listing differ.
type difference struct {
	reference string
	recorded  string // what your record says, or what it lacks
	listed    string // what the listing says
}

// state is what a record or the listing says about a message.
type state struct {
	verdict string
	status  string // of its delivery
	price   string
}

// pair is what your record and the listing say about the message with a reference.
type pair struct {
	reference       string
	recorded        state
	timesListed     int // a row listed on two days counts once
	otherRecipients int // rows with another recipient
	listed          state
}

// compare returns what differs between the table sms, which has your records, and the rows of a day in the table listed. begin and end are the
// bounds of the day as the database stores times. docs/listing.md says what to do about each difference.
func compare(ctx context.Context, tx *sql.Tx, day string, begin, end any) ([]difference, error) {
	found, err := wrongRows(ctx, tx, day)
	if err != nil {
		return nil, err
	}
	pairs, err := pairsOf(ctx, tx, day, begin, end)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		found = append(found, p.differences()...)
	}
	slices.SortStableFunc(found, func(a, b difference) int { return cmp.Compare(a.reference, b.reference) })
	return found, nil
}

// pairsOf returns the messages of a day, each as it was recorded and as it is listed.
func pairsOf(ctx context.Context, tx *sql.Tx, day string, begin, end any) ([]pair, error) {
	const query = `
WITH candidate AS (
	SELECT reference FROM listed WHERE day = $1
	UNION
	SELECT reference FROM sms WHERE COALESCE(ended, began) >= $2 AND COALESCE(ended, began) < $3
)
SELECT c.reference, COALESCE(s.verdict, 'no record'), COALESCE(s.status, ''), COALESCE(s.price, ''),
	COUNT(DISTINCT l.id) AS times_listed,
	COUNT(CASE WHEN s.recipient NOT LIKE '%' || ltrim(l.recipient, '+0') THEN 1 END) AS other_recipients,
	COALESCE(MIN(l.verdict), ''), COALESCE(MIN(l.status), ''), COALESCE(MIN(l.price), '')
FROM candidate c LEFT JOIN sms s ON s.reference = c.reference LEFT JOIN listed l ON l.reference = c.reference
WHERE c.reference <> ''
GROUP BY c.reference, s.verdict, s.status, s.price
`
	rows, err := tx.QueryContext(ctx, query, day, begin, end)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	var pairs []pair
	for rows.Next() {
		var p pair
		if err = rows.Scan(&p.reference, &p.recorded.verdict, &p.recorded.status, &p.recorded.price,
			&p.timesListed, &p.otherRecipients, &p.listed.verdict, &p.listed.status, &p.listed.price); err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, rows.Err()
}

// wrongRows returns the rows of a day that have no reference, as one difference, and the rows that could not be read.
func wrongRows(ctx context.Context, tx *sql.Tx, day string) ([]difference, error) {
	const query = `
SELECT '', 'no record', COUNT(*) || ' rows without a reference' FROM listed WHERE day = $1 AND reference = '' HAVING COUNT(*) > 0
UNION ALL
SELECT reference, 'unreadable row', problem FROM listed WHERE day = $1 AND problem <> ''
`
	rows, err := tx.QueryContext(ctx, query, day)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err has its error
	var found []difference
	for rows.Next() {
		var d difference
		if err = rows.Scan(&d.reference, &d.recorded, &d.listed); err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, rows.Err()
}

// differences returns what differs between the record of a message and its row: the verdict or, if the message was accepted, its status and price.
func (p pair) differences() []difference {
	listed := p.listedVerdict()
	if verdictDiffers(p.recorded.verdict, listed) {
		return []difference{{p.reference, p.recorded.verdict, listed}}
	}
	if listed != messaging.Accepted.String() {
		return nil
	}
	var found []difference
	if statusDiffers(p.recorded.status, p.listed.status) {
		found = append(found, difference{p.reference, "status " + p.recorded.status, "status " + p.listed.status})
	}
	if priceDiffers(p.recorded.price, p.listed.price) {
		found = append(found, difference{p.reference, "price " + p.recorded.price, "price " + p.listed.price})
	}
	return found
}

// listedVerdict returns the verdict of the row, or why there is none.
func (p pair) listedVerdict() string {
	switch {
	case p.timesListed == 0:
		return "not listed"
	case p.timesListed > 1:
		return fmt.Sprintf("%d rows", p.timesListed)
	case p.otherRecipients > 0:
		return "another recipient"
	default:
		return p.listed.verdict
	}
}

// verdictDiffers reports whether the verdict of a record and that of the listing need a decision. A message that did not go out may be listed as
// refused.
func verdictDiffers(recorded, listed string) bool {
	switch recorded {
	case messaging.Unknown.String():
		return true // it is settled, or listed later
	case messaging.Refused.String(), messaging.NotSent.String():
		return listed != messaging.Refused.String() && listed != "not listed"
	default:
		return recorded != listed
	}
}

// statusDiffers reports whether two statuses are known and differ.
func statusDiffers(recorded, listed string) bool {
	isKnown := func(status string) bool { return status != "" && status != contract.StatusUnknown.String() }
	return isKnown(recorded) && isKnown(listed) && recorded != listed
}

// priceDiffers reports whether two prices are known and differ: 0.5 is 0.50.
func priceDiffers(recorded, listed string) bool {
	recordedPrice, isRecorded := new(big.Rat).SetString(recorded)
	listedPrice, isListed := new(big.Rat).SetString(listed)
	return isRecorded && isListed && recordedPrice.Cmp(listedPrice) != 0
}
