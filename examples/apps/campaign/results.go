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
	"github.com/messaging-service/messaging-go/webhook"
)

func (c *campaign) resultsPath() string { return filepath.Join(c.folder, "results.csv") }

// result is a row of results.csv.
type result struct {
	reference string
	summary   string // what became of the message, in a word
	verdict   string
	messageID string
	reason    string
	cost      string
	currency  string
	recipient string
	delivery  webhook.Status
}

// header returns the names of the columns of results.csv.
func header() []string {
	return []string{"reference", "result", "verdict", "message", "reason", "cost", "currency", "recipient", "delivery"}
}

// fields returns the columns of a row.
func (r result) fields() []string {
	return []string{r.reference, r.summary, r.verdict, r.messageID, r.reason, r.cost, r.currency, r.recipient, string(r.delivery)}
}

// parseResult returns the result with the given columns.
func parseResult(row []string) result {
	return result{
		reference: row[0],
		summary:   row[1],
		verdict:   row[2],
		messageID: row[3],
		reason:    row[4],
		cost:      row[5],
		currency:  row[6],
		recipient: row[7],
		delivery:  webhook.Status(row[8]),
	}
}

// writeResults writes what is known of each line. A message that a person or a report resolved as sent may have no message ID and no cost.
func (c *campaign) writeResults(ctx context.Context, lines recipientLines) error {
	found, err := c.messages(ctx)
	if err != nil {
		return err
	}
	recipients, err := c.recipients(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{header()}
	for _, reference := range slices.Sorted(maps.Keys(recipients)) {
		r, isFound := found[reference]
		if !isFound {
			r = result{reference: reference, summary: "unknown", verdict: "deleted", reason: "it became final long ago"}
		}
		r.add(recipients[reference])
		rows = append(rows, r.fields())
	}
	for _, invalid := range lines.invalid {
		r := result{reference: c.reference(invalid.id), summary: invalid.summary(), verdict: "invalid"}
		r.reason = fmt.Sprintf("line %d: %v", invalid.line, invalid.reason)
		rows = append(rows, r.fields())
	}
	return replaceFile(c.resultsPath(), rows)
}

// add adds what reports and the listing said.
func (r *result) add(to recipient) {
	r.recipient = to.number
	r.delivery = to.delivery
	if to.cost != "" {
		r.cost = to.cost
		r.currency = to.currency
	}
	switch to.delivery {
	case webhook.StatusDelivered, webhook.StatusRead, webhook.StatusPlayed:
		r.summary = "delivered"
	case webhook.StatusExpired:
		r.summary = "expired"
	case webhook.StatusFailed, webhook.StatusRejected:
		r.summary = "failed"
	default: // as the outbox has it
	}
}

// messages returns the result of each message by its reference ID. A message that the outbox has deleted, because it became final long ago, keeps the
// row that results.csv has.
func (c *campaign) messages(ctx context.Context) (map[string]result, error) {
	found, err := readResults(c.resultsPath())
	if err != nil {
		return nil, err
	}
	for record, err := range c.outbox.List(ctx) {
		if err != nil {
			return nil, err
		}
		if record.Campaign == c.name {
			found[record.Reference] = resultOf(record)
		}
	}
	return found, nil
}

func resultOf(record messagingriver.Record) result {
	r := result{reference: record.Reference, summary: summaryOf(record), verdict: record.Verdict.String(), reason: record.Reason}
	if !isFinal(record) {
		r.verdict = "waits"
	}
	if record.Receipt != nil {
		r.messageID = record.Receipt.ID
		r.cost = record.Receipt.Cost
		r.currency = record.Receipt.Currency
	}
	return r
}

func isFinal(record messagingriver.Record) bool {
	return record.Verdict == messaging.Accepted || !record.Finalized.IsZero()
}

// summaryOf returns what became of a message that no report is about. It calls a number wrong only if the contract gives the code of the service the
// class unreachable: a message that is invalid may have a wrong sender.
func summaryOf(record messagingriver.Record) string {
	switch {
	case !isFinal(record):
		return "waits"
	case record.Verdict == messaging.Accepted:
		return "sent"
	case record.MayHaveBeenSent():
		return "unknown"
	case errors.Is(record.Err, messaging.ErrOptedOut):
		return "opted out"
	case errors.Is(record.Err, messagingriver.ErrExpired):
		return "too late"
	case errors.Is(record.Err, messaging.ErrUnreachable):
		return "wrong number"
	default:
		return "failed"
	}
}

// readResults returns the rows of final messages that were written before.
func readResults(path string) (map[string]result, error) {
	found := map[string]result{}
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
		r := parseResult(row)
		if r.verdict != "invalid" && r.verdict != "waits" {
			found[r.reference] = r
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
