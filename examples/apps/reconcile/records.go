package main

import (
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

const columns = "reference,recipient,verdict,began,ended" // of the records

// record is an attempt to send a message.
type record struct {
	reference, recipient string
	verdict              messaging.Verdict
	began                time.Time
	ended                time.Time // zero if the process was killed
}

// compare writes what differs between your records and the listing as CSV. docs/listing.md says what to do about it.
func (d *day) compare(ctx context.Context, out io.Writer, records []record) error {
	// A row listed on two days is one message. A message that did not go out may be listed as refused.
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
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // with the table of the records
	if err = d.insertRecords(ctx, tx, records); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, query, d.key, d.db.stamp(d.begin), d.db.stamp(d.end))
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
	log.Printf("reconcile: %d differences from your records", len(table)-1)
	return csv.NewWriter(out).WriteAll(table)
}

// insertRecords inserts records into a table that ends with the transaction. Do without it if your records are in the same database.
func (d *day) insertRecords(ctx context.Context, tx *sql.Tx, records []record) error {
	const table = `CREATE TEMPORARY TABLE sms (reference text PRIMARY KEY, recipient text, verdict text, began timestamptz, ended timestamptz)`
	if _, err := tx.ExecContext(ctx, table); err != nil {
		return err
	}
	for _, r := range records {
		var ended any // null
		if !r.ended.IsZero() {
			ended = d.db.stamp(r.ended)
		}
		const insert = "INSERT INTO sms VALUES ($1, $2, $3, $4, $5)"
		if _, err := tx.ExecContext(ctx, insert, r.reference, r.recipient, r.verdict.String(), d.db.stamp(r.began), ended); err != nil {
			return err
		}
	}
	return nil
}

func readFile(path string) ([]record, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	records, err := readRecords(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return records, nil
}

// readRecords reads records as CSV. Its errors show no value, which may be personal if the columns are wrong.
func readRecords(file io.Reader) ([]record, error) {
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return nil, err
	}
	if strings.Join(header, ",") != columns {
		return nil, errors.New("want the columns " + columns)
	}
	var records []record
	isKnown := map[string]bool{}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		r, err := parseRecord(row)
		if err == nil && isKnown[r.reference] {
			err = errors.New("reference: an earlier line has the same")
		}
		if err != nil {
			line, _ := reader.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		isKnown[r.reference] = true
		records = append(records, r)
	}
}

func parseRecord(row []string) (record, error) {
	r := record{reference: row[0], recipient: row[1]}
	if r.verdict.UnmarshalText([]byte(row[2])) != nil {
		return r, errors.New("verdict: want accepted, refused, not sent or unknown")
	}
	var err error
	if r.began, err = time.Parse(time.RFC3339, row[3]); err != nil {
		return r, errors.New("began: want a time such as 2026-11-23T08:00:00+08:00")
	}
	if row[4] == "" {
		return r, nil
	}
	if r.ended, err = time.Parse(time.RFC3339, row[4]); err != nil {
		return r, errors.New("ended: want a time such as 2026-11-23T08:00:00+08:00, or nothing if the process was killed")
	}
	return r, nil
}
