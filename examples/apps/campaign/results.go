package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

func (c *campaign) resultsPath() string { return filepath.Join(c.folder, "results.csv") }

// header returns the names of the columns of results.csv.
func header() []string {
	return []string{"reference", "verdict", "message", "reason", "cost", "currency", "recipient", "delivery"}
}

// writeResults writes what is known of each line. A message that a person or a report resolved as sent may have no message ID and no cost.
func (c *campaign) writeResults(ctx context.Context, lines recipientLines) error {
	found, err := c.messages(ctx)
	if err != nil {
		return err
	}
	recipients, err := c.recipients(ctx, c.db)
	if err != nil {
		return err
	}
	rows := [][]string{header()}
	for _, reference := range slices.Sorted(maps.Keys(recipients)) {
		row, isFound := found[reference]
		if !isFound {
			row = []string{reference, "deleted", "", "it became final long ago", "", ""}
		}
		to := recipients[reference]
		rows = append(rows, append(row, to.number, string(to.delivery)))
	}
	for _, invalid := range lines.invalid {
		reason := fmt.Sprintf("line %d: %v", invalid.line, invalid.reason)
		rows = append(rows, []string{c.reference(invalid.id), "invalid", "", reason, "", "", "", ""})
	}
	return replaceFile(c.resultsPath(), rows)
}

// messages returns the row of each message by its reference ID, without the recipient and the delivery. A message that the outbox has deleted,
// because it became final long ago, keeps the row that results.csv has.
func (c *campaign) messages(ctx context.Context) (map[string][]string, error) {
	found, err := readResults(c.resultsPath())
	if err != nil {
		return nil, err
	}
	for record, err := range c.outbox.List(ctx) {
		if err != nil {
			return nil, err
		}
		if record.Campaign == c.name {
			found[record.Reference] = rowOf(record)
		}
	}
	return found, nil
}

func rowOf(record messagingriver.Record) []string {
	verdict := record.Verdict.String()
	isFinal := record.Verdict == messaging.Accepted || !record.Finalized.IsZero()
	if !isFinal {
		verdict = "waits"
	}
	var receipt messaging.Receipt
	if record.Receipt != nil {
		receipt = *record.Receipt
	}
	return []string{record.Reference, verdict, receipt.ID, record.Reason, receipt.Cost, receipt.Currency}
}

// readResults returns the rows of final messages that were written before.
func readResults(path string) (map[string][]string, error) {
	found := map[string][]string{}
	file, err := os.Open(path) //nolint:gosec // the user names the folder
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = len(header())
	rows, err := reader.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, row := range rows {
		if row[1] != "invalid" && row[1] != "waits" {
			found[row[0]] = row[:6]
		}
	}
	return found, nil
}

// replaceFile writes rows to a CSV file. A kill or a power failure may leave half of the temporary file, but not half of the other.
func replaceFile(path string, rows [][]string) error {
	temporary := path + ".tmp"
	if err := writeFile(temporary, rows); err != nil {
		return err
	}
	return os.Rename(temporary, path) //nolint:gosec // the user names the folder
}

// writeFile writes rows to a CSV file, and returns once they are on the disk.
func writeFile(path string, rows [][]string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the user names the folder
	if err != nil {
		return err
	}
	err = csv.NewWriter(file).WriteAll(rows)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
