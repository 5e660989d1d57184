package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/messaging-service/messaging-go/sms"
)

// recipientLines are the lines of a file of recipients.
type recipientLines struct {
	messages []sms.Message
	invalid  []invalidLine

	references map[string]bool // of messages
	numbers    map[string]int  // the line of each recipient
}

// invalidLine is a line that cannot be sent.
type invalidLine struct {
	id     string // or ""
	line   int
	reason error
}

// The kinds of invalid lines that results.csv tells apart.
var (
	errRepeated    = errors.New("repeated line")
	errWrongNumber = errors.New("wrong number")
)

// summary returns what is wrong with the line, in two words.
func (l invalidLine) summary() string {
	for _, kind := range []error{errRepeated, errWrongNumber} {
		if errors.Is(l.reason, kind) {
			return kind.Error()
		}
	}
	return "invalid line"
}

// readLines reads the file of recipients.
func (c *campaign) readLines() (recipientLines, error) {
	path := filepath.Join(c.folder, "recipients.csv")
	file, err := os.Open(path) //nolint:gosec // the user names the folder
	if err != nil {
		return recipientLines{}, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1 // a text with a comma and no quotes concerns its own line
	if err = readColumns(reader); err != nil {
		return recipientLines{}, fmt.Errorf("%s: %w", path, err)
	}
	return c.readRows(reader)
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

// readRows reads the lines after the first. It returns an error if a quoted text has a single quote in it or does not end: the next line could begin
// anywhere.
func (c *campaign) readRows(reader *csv.Reader) (recipientLines, error) {
	all := recipientLines{references: map[string]bool{}, numbers: map[string]int{}}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if fault, ok := errors.AsType[*csv.ParseError](err); ok && errors.Is(err, csv.ErrBareQuote) { // such as 5" pizza
			all.reject(row, fault.StartLine, fault.Err)
			continue
		}
		if err != nil {
			return all, err
		}
		line, _ := reader.FieldPos(0)
		message, err := c.messageOf(row)
		if err == nil {
			err = all.add(message, line)
		}
		if err != nil {
			all.reject(row, line, err)
		}
	}
}

// add adds the message of a line. It refuses an ID of an earlier line, which the outbox would skip, and a number of an earlier line, which would get
// two messages.
func (l *recipientLines) add(message sms.Message, line int) error {
	if l.references[message.ReferenceID] {
		return fmt.Errorf("%w: an earlier one has the same id", errRepeated)
	}
	if earlier, isRepeated := l.numbers[message.To]; isRepeated {
		return fmt.Errorf("%w: same number as line %d", errRepeated, earlier)
	}
	l.references[message.ReferenceID] = true
	l.numbers[message.To] = line
	l.messages = append(l.messages, message)
	return nil
}

// reject adds a line that cannot be sent. Its row may have only the columns before the fault.
func (l *recipientLines) reject(row []string, line int, reason error) {
	id := ""
	if len(row) > 0 {
		id = row[0]
	}
	l.invalid = append(l.invalid, invalidLine{id: id, line: line, reason: reason})
}

// international matches a number in the one form in which equal numbers are equal texts.
var international = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

// messageOf returns the message of a row.
func (c *campaign) messageOf(row []string) (sms.Message, error) {
	if len(row) != 3 {
		return sms.Message{}, fmt.Errorf("want 3 columns, got %d", len(row))
	}
	id := row[0]
	if id == "" {
		return sms.Message{}, errors.New("the id is absent")
	}
	message := sms.Message{
		From:        c.sender,
		To:          row[1],
		Text:        row[2],
		ReferenceID: c.reference(id),
		CallbackURL: c.callback,
		Marketing:   true,
	}
	if !international.MatchString(message.To) {
		return sms.Message{}, fmt.Errorf("%w: want + and the country code, without spaces, such as +639171234567", errWrongNumber)
	}
	if len(message.ReferenceID) > 255 { // the outbox would refuse the whole file
		return sms.Message{}, errors.New("the id is too long")
	}
	return message, c.client.SMS.Validate(message)
}
