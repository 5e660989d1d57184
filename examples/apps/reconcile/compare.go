package main

import (
	"context"
	"database/sql"
)

// difference is a message about which your records and the listing differ.
type difference struct {
	reference string
	recorded  string // the verdict of your record, or what it lacks
	listed    string // the verdict of the listing, or why it has none
}

// compare returns what differs between the table sms, which has your records, and the rows of a day in the table listed. begin and end are the
// bounds of the day as the database stores times. docs/listing.md says what to do about each difference.
//
// A row listed on two days is one message. A message that did not go out may be listed as refused.
func compare(ctx context.Context, tx *sql.Tx, day string, begin, end any) ([]difference, error) {
	const query = `
WITH candidate AS (
	SELECT reference FROM listed WHERE day = $1
	UNION
	SELECT reference FROM sms WHERE COALESCE(ended, began) >= $2 AND COALESCE(ended, began) < $3
), pair AS (
	SELECT c.reference, COALESCE(s.verdict, 'no record') AS recorded, CASE
		WHEN COUNT(l.id) = 0 THEN 'not listed'
		WHEN COUNT(DISTINCT l.id) > 1 THEN COUNT(DISTINCT l.id) || ' rows'
		WHEN COUNT(CASE WHEN s.recipient NOT LIKE '%' || ltrim(l.recipient, '+0') THEN 1 END) > 0 THEN 'another recipient'
		ELSE MIN(l.verdict)
	END AS listed
	FROM candidate c LEFT JOIN sms s ON s.reference = c.reference LEFT JOIN listed l ON l.reference = c.reference
	WHERE c.reference <> ''
	GROUP BY c.reference, s.verdict
)
SELECT reference, recorded, listed FROM pair
WHERE recorded = 'unknown' OR (recorded <> listed AND NOT (recorded IN ('refused', 'not sent') AND listed IN ('refused', 'not listed')))
UNION ALL
SELECT '', 'no record', COUNT(*) || ' rows without a reference' FROM listed WHERE day = $1 AND reference = '' HAVING COUNT(*) > 0
UNION ALL
SELECT reference, 'unreadable row', problem FROM listed WHERE day = $1 AND problem <> ''
ORDER BY 1
`
	rows, err := tx.QueryContext(ctx, query, day, begin, end)
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
