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

// compare writes what differs between your records and the listing as CSV. docs/listing.md says what to do about it.
func (d *day) compare(ctx context.Context, out io.Writer) error {
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
	rows, err := d.db.QueryContext(ctx, query, d.key, d.begin.Unix(), d.end.Unix())
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

func (d *day) readFile(ctx context.Context, path string) error {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	if err = d.readRecords(ctx, file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// readRecords replaces the table of records by a CSV file.
func (d *day) readRecords(ctx context.Context, file io.Reader) error {
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return err
	}
	if strings.Join(header, ",") != columns {
		return errors.New("want the columns " + columns)
	}
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	if _, err = tx.ExecContext(ctx, "DELETE FROM sms"); err != nil {
		return err
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return tx.Commit()
		}
		if err != nil {
			return err
		}
		if err = insertRecord(ctx, tx, row); err != nil {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// insertRecord inserts a record. Its errors show no value, which may be personal if the columns are wrong.
func insertRecord(ctx context.Context, tx *sql.Tx, row []string) error {
	var verdict messaging.Verdict
	if verdict.UnmarshalText([]byte(row[2])) != nil {
		return errors.New("verdict: want accepted, refused, not sent or unknown")
	}
	began, err := time.Parse(time.RFC3339, row[3])
	if err != nil {
		return errors.New("began: want a time such as 2026-11-23T08:00:00+08:00")
	}
	var ended sql.NullInt64 // null if the process was killed
	if row[4] != "" {
		end, endErr := time.Parse(time.RFC3339, row[4])
		if endErr != nil {
			return errors.New("ended: want a time such as 2026-11-23T08:00:00+08:00, or nothing if the process was killed")
		}
		ended = sql.NullInt64{Int64: end.Unix(), Valid: true}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO sms VALUES ($1, $2, $3, $4, $5)", row[0], row[1], verdict.String(), began.Unix(), ended)
	return err
}
