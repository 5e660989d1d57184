package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/sms"
)

// lines are the lines of a file of recipients.
type lines struct {
	messages []sms.Message
	invalid  [][]string // the row in the results of each line that cannot be sent
}

// readRecipients reads a file of recipients.
func (c *campaign) readRecipients(path string) (lines, error) {
	file, err := os.Open(path) //nolint:gosec // the user names it
	if err != nil {
		return lines{}, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1 // a text with a comma and no quotes concerns its own line
	if err = readColumns(reader); err != nil {
		return lines{}, fmt.Errorf("%s: %w", path, err)
	}
	return c.readLines(reader)
}

// readColumns reads the first line. It may begin with a byte order mark, which spreadsheets write.
func readColumns(reader *csv.Reader) error {
	columns, err := reader.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimPrefix(strings.Join(columns, ","), "\ufeff") != "id,number,text" {
		return errors.New("want the columns id,number,text in the first line")
	}
	return nil
}

// readLines reads the lines after the first.
func (c *campaign) readLines(reader *csv.Reader) (lines, error) {
	var all lines
	earlier := earlierLines{ids: map[string]bool{}, numbers: map[string]int{}}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if parseErr, ok := errors.AsType[*csv.ParseError](err); ok && errors.Is(err, csv.ErrBareQuote) { // such as 5" pizza
			all.invalid = append(all.invalid, c.invalidLine(row, parseErr.StartLine, parseErr.Err))
			continue
		}
		if err != nil { // where the next line begins is not certain
			return all, err
		}
		line, _ := reader.FieldPos(0)
		message, err := c.readRow(row, earlier)
		if err != nil {
			all.invalid = append(all.invalid, c.invalidLine(row, line, err))
			continue
		}
		earlier.ids[row[0]] = true
		earlier.numbers[message.To] = line
		all.messages = append(all.messages, message)
	}
}

// invalidLine returns the row of the results for a line that cannot be sent. Its own row may have only the columns before the fault.
func (c *campaign) invalidLine(row []string, line int, reason error) []string {
	id := ""
	if len(row) > 0 {
		id = row[0]
	}
	return []string{c.reference(id), "invalid", "", fmt.Sprintf("line %d: %v", line, reason), "", "", "", ""}
}

// reference returns the reference ID of the message of a line. The name of a folder has no slash, so no two campaigns have the same.
func (c *campaign) reference(id string) string { return c.name + "/" + id }

// earlierLines has the IDs and the numbers of the valid lines before a line.
type earlierLines struct {
	ids     map[string]bool
	numbers map[string]int // the line of each number
}

// international matches a number in the one form in which equal numbers are equal texts.
var international = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// readRow returns the message of a line. The ID and the number must not be those of an earlier line: the outbox would skip the ID without a
// word, and the number would get two messages.
func (c *campaign) readRow(row []string, earlier earlierLines) (sms.Message, error) {
	if len(row) != 3 {
		return sms.Message{}, fmt.Errorf("want 3 columns, got %d", len(row))
	}
	id := row[0]
	number := row[1]
	text := row[2]
	if id == "" || earlier.ids[id] {
		return sms.Message{}, errors.New("the id is absent, or that of another line")
	}
	if !international.MatchString(number) {
		return sms.Message{}, errors.New("want a number with + and the country code, without spaces, such as +639171234567")
	}
	if line, isRepeated := earlier.numbers[number]; isRepeated {
		return sms.Message{}, fmt.Errorf("same number as line %d", line)
	}
	message := sms.Message{
		From: c.sender, To: number, Text: text, ReferenceID: c.reference(id), CallbackURL: c.callback, Marketing: true,
	}
	if len(message.ReferenceID) > 255 { // the outbox would refuse the whole file
		return sms.Message{}, errors.New("the id is too long")
	}
	return message, c.client.SMS.Validate(message)
}

// header returns the names of the columns of results.csv.
func header() []string {
	return []string{"reference", "verdict", "message", "reason", "cost", "currency", "recipient", "delivery"}
}

// writeResults writes what became of each line to a file. A message that a person or a report resolved as sent may have no message ID and no cost. A
// message that the outbox has deleted, because it became final long ago, keeps its row.
func (c *campaign) writeResults(ctx context.Context, path string, lines lines) error {
	found, err := readResults(path)
	if err != nil {
		return err
	}
	for record, err := range c.outbox.List(ctx) {
		if err != nil {
			return err
		}
		if record.Campaign == c.name {
			found[record.Reference] = resultOf(record)
		}
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
	return replaceFile(path, append(rows, lines.invalid...))
}

// resultOf returns the row of a message, without the recipient and the delivery.
func resultOf(record messagingriver.Record) []string {
	verdict := record.Verdict.String()
	if record.Finalized.IsZero() { // a person has resent it
		verdict = "waits"
	}
	var receipt messaging.Receipt
	if record.Receipt != nil {
		receipt = *record.Receipt
	}
	return []string{record.Reference, verdict, receipt.ID, record.Reason, receipt.Cost, receipt.Currency}
}

// readResults returns the final results that an earlier start wrote, without those of invalid lines. The rows end before the recipient.
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
	return os.Rename(temporary, path)
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
