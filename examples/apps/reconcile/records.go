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

const columns = "reference,verdict,began,ended" // of the records

// compare writes what differs between your records and the listing as CSV. docs/listing.md says what to do about it.
func (d *day) compare(ctx context.Context, out io.Writer) error {
	// A record is "not listed" only if its attempt began and ended within the day. A message that did not go out may be listed as refused.
	const query = `
SELECT COALESCE(l.reference, r.reference), COALESCE(r.verdict, 'no record'),
	CASE WHEN l.messages IS NULL THEN 'not listed' WHEN l.messages > 1 THEN l.messages || ' rows' ELSE l.verdict END
FROM (SELECT reference, MIN(verdict) AS verdict, COUNT(*) AS messages FROM listed WHERE day = $1 GROUP BY reference) AS l
FULL JOIN record AS r ON r.reference = l.reference
WHERE CASE
	WHEN r.reference IS NULL OR l.messages > 1 THEN TRUE
	WHEN l.messages IS NULL THEN r.verdict IN ('accepted', 'unknown') AND r.began >= $2 AND r.ended < $3
	WHEN r.verdict = 'not sent' THEN l.verdict <> 'refused'
	ELSE r.verdict = 'unknown' OR r.verdict <> l.verdict
END
ORDER BY 1`
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
	log.Printf("reconcile: %d references differ from your records", len(table)-1)
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
	if _, err = tx.ExecContext(ctx, "DELETE FROM record"); err != nil {
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
	if verdict.UnmarshalText([]byte(row[1])) != nil {
		return errors.New("verdict: want accepted, refused, not sent or unknown")
	}
	began, err := time.Parse(time.RFC3339, row[2])
	if err != nil {
		return errors.New("began: want a time such as 2026-11-23T08:00:00+08:00")
	}
	ended, err := time.Parse(time.RFC3339, row[3])
	if err != nil {
		return errors.New("ended: want a time such as 2026-11-23T08:00:00+08:00")
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO record VALUES ($1, $2, $3, $4)", row[0], verdict.String(), began.Unix(), ended.Unix())
	return err
}
