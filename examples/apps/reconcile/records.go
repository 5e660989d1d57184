package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

const columns = "reference,recipient,verdict,began,ended,status,price" // of the records

// record is an attempt to send a message.
type record struct {
	reference string
	recipient string
	verdict   messaging.Verdict
	began     time.Time
	ended     time.Time // zero if the process was killed
	status    string    // of its delivery, or "" if it is not recorded
	price     string    // or ""
}

// readRecords reads a file of records. Its errors show no value, which may be personal if the columns are wrong.
func readRecords(path string) ([]record, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	records, err := parseRecords(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return records, nil
}

func parseRecords(file io.Reader) ([]record, error) {
	reader := csv.NewReader(file)
	header, err := reader.Read()
	if err != nil {
		return nil, err
	}
	if strings.TrimPrefix(strings.Join(header, ","), "\ufeff") != columns { // spreadsheets write a byte order mark
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
	r := record{reference: row[0], recipient: row[1], status: row[5], price: row[6]}
	if r.reference == "" { // it could not be compared with a row of the listing
		return r, errors.New("reference: it is empty")
	}
	if r.recipient == "" { // the message could not be looked up
		return r, errors.New("recipient: it is empty")
	}
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
