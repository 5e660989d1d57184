package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingriver/internal/reference"
	"github.com/messaging-service/messaging-go/sms"
)

// fileLine is a line of a file.
type fileLine struct {
	number  int
	key     messagingriver.Key
	message messaging.Message
	options lineOptions
	// saysMarketing reports whether the line says that the message is marketing or that it is not.
	saysMarketing bool
}

// lineReader reads the lines of a file.
type lineReader interface {
	// next returns the next line, or io.EOF. After another error the line has its number. If the error matches messaging.ErrInvalid, next can be
	// called again.
	next() (fileLine, error)
}

// newLines returns the reader of a file: of CSV if its name ends in .csv, otherwise of JSON.
func newLines(db database, name string, in io.Reader) (lineReader, error) {
	if strings.HasSuffix(strings.ToLower(name), ".csv") {
		return newCSVLines(in)
	}
	return newJSONLines(db, in), nil
}

// wrongLineError is the error of a line whose message or options are invalid. The lines after it can be read.
type wrongLineError struct{ reason string }

func (e wrongLineError) Error() string { return e.reason }

// Is reports whether target is messaging.ErrInvalid.
func (e wrongLineError) Is(target error) bool { return target == messaging.ErrInvalid }

// jsonLines reads a JSON object from each line.
type jsonLines struct {
	db      database
	scanner *bufio.Scanner
	number  int
}

func newJSONLines(db database, in io.Reader) *jsonLines {
	const maxLine = 1 << 20
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	return &jsonLines{db: db, scanner: scanner}
}

func (l *jsonLines) next() (fileLine, error) {
	for l.scanner.Scan() {
		l.number++
		if strings.TrimSpace(l.scanner.Text()) == "" {
			continue
		}
		decoded, err := decodeJSON(l.db, l.scanner.Bytes())
		decoded.number = l.number
		return decoded, err
	}
	if err := l.scanner.Err(); err != nil {
		return fileLine{number: l.number + 1}, err
	}
	return fileLine{}, io.EOF
}

// encodedLine is a line of JSON.
type encodedLine struct {
	lineOptions

	Channel string          `json:"channel"`
	Message json.RawMessage `json:"message"`
}

// decodeJSON decodes a line without its number.
func decodeJSON(db database, data []byte) (fileLine, error) {
	if err := checkMembers(data); err != nil {
		return fileLine{}, err
	}
	var encoded encodedLine
	if err := json.Unmarshal(data, &encoded); err != nil {
		return fileLine{}, explainJSON(err)
	}
	message, err := db.Decode(encoded.Channel, encoded.Message)
	if err != nil {
		return fileLine{}, err
	}
	if chat, isChat := message.(chatapp2.Message); isChat && isWithoutContent(chat) {
		return fileLine{}, wrongLineError{`the message has no content; want "text": {"body": "Hi"}, or another type and the member of its name, such as template`}
	}
	return fileLine{
		key:     messagingriver.Key{Channel: encoded.Channel, Reference: reference.Of(message)},
		message: message,
		options: encoded.lineOptions,

		saysMarketing: saysMarketing(message, encoded.Message),
	}, nil
}

// checkMembers returns an error unless a line is one object without unknown members: an older command would ignore those of a newer one.
func checkMembers(data []byte) error {
	var members map[string]json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&members); err != nil {
		return errNoObject
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is something after the object; want one object in each line")
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !isMember(name) {
			return fmt.Errorf("there is no member %q; want channel, message, campaign, priority, at or expire", name)
		}
	}
	return nil
}

// isMember reports whether a line may have a member. Like package json, it ignores case.
func isMember(name string) bool {
	switch strings.ToLower(name) {
	case "channel", "message", "campaign", "priority", "at", "expire":
		return true
	default:
		return false
	}
}

var errNoObject = errors.New(`want an object such as {"channel": "sms", "message": {…}}`)

// explainJSON returns the error of a line that cannot be decoded, without its content, which the error of package json may repeat.
func explainJSON(err error) error {
	if wrong, isType := errors.AsType[*json.UnmarshalTypeError](err); isType && wrong.Field != "" {
		name := wrong.Field[strings.LastIndexByte(wrong.Field, '.')+1:] // behind the structs that it is in
		return fmt.Errorf("%q must hold a string", name)
	}
	return errNoObject
}

// saysMarketing reports whether the JSON of a message says that it is marketing or that it is not.
func saysMarketing(message messaging.Message, encoded json.RawMessage) bool {
	if chat, isChat := message.(chatapp2.Message); isChat && chat.MarketingOptions != (chatapp2.MarketingOptions{}) { // they imply it
		return true
	}
	var members struct {
		Marketing *bool `json:"marketing"`
	}
	_ = json.Unmarshal(encoded, &members) // it was decoded before
	return members.Marketing != nil
}

// isWithoutContent reports whether the JSON of a message had no content. Its type may name a member that was absent. Insert would reject the
// message, too, but with the names of Go, such as Content and Raw.
func isWithoutContent(message chatapp2.Message) bool {
	raw, isRaw := message.Content.(chatapp2.Raw)
	return message.Content == nil || isRaw && len(raw.JSON) == 0
}

// csvLines reads an SMS from each record of a CSV file.
type csvLines struct {
	records    *csv.Reader
	header     []string
	nextNumber int // of the line after the last record
}

// newCSVLines reads the first line, which names the columns.
func newCSVLines(in io.Reader) (*csvLines, error) {
	records := csv.NewReader(withoutByteOrderMark(in))
	header, err := records.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty; want the names of the columns in line 1")
	}
	if err != nil {
		return nil, fmt.Errorf("line 1: the names of the columns: %w", err)
	}
	columns := []string{"from", "to", "text", "referenceID", "callback", "marketing", "campaign", "priority", "at", "expire"}
	for i, name := range header {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("line 1: there is no column %q; want %s, separated by commas", name, strings.Join(columns, ", "))
		}
		if slices.Contains(header[:i], name) {
			return nil, fmt.Errorf("line 1: the column %q comes twice", name)
		}
	}
	lines := &csvLines{records: records, header: header}
	lines.countRead(header)
	return lines, nil
}

// withoutByteOrderMark skips the mark with which spreadsheets begin a file. Before a quoted name, package csv would reject it.
func withoutByteOrderMark(in io.Reader) io.Reader {
	const mark = "\ufeff"
	buffered := bufio.NewReader(in)
	first, _ := buffered.Peek(len(mark)) // the next read returns the error
	if string(first) == mark {
		_, _ = buffered.Discard(len(mark))
	}
	return buffered
}

// countRead sets the number of the line after a record that was just read. The last field may have several lines.
func (l *csvLines) countRead(record []string) {
	last := len(record) - 1
	line, _ := l.records.FieldPos(last)
	l.nextNumber = line + strings.Count(record[last], "\n") + 1
}

func (l *csvLines) next() (fileLine, error) {
	record, err := l.records.Read()
	if err != nil {
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			return fileLine{number: wrong.Line}, wrong.Err
		}
		return fileLine{number: l.nextNumber}, err
	}
	l.countRead(record)
	number, _ := l.records.FieldPos(0)
	message, err := l.message(record)
	if err != nil {
		return fileLine{number: number}, err
	}
	return fileLine{
		number:  number,
		key:     messagingriver.Key{Channel: messaging.ChannelSMS.String(), Reference: message.ReferenceID},
		message: message,
		options: l.options(record),

		saysMarketing: l.value(record, "marketing") != "",
	}, nil
}

// message returns the SMS of a record.
func (l *csvLines) message(record []string) (sms.Message, error) {
	message := sms.Message{
		From:        l.value(record, "from"),
		To:          l.value(record, "to"),
		Text:        l.value(record, "text"),
		ReferenceID: l.value(record, "referenceID"),
		CallbackURL: l.value(record, "callback"),
	}
	switch marketing := l.value(record, "marketing"); marketing {
	case "", "false":
		return message, nil
	case "true":
		message.Marketing = true
		return message, nil
	default:
		return message, wrongLineError{fmt.Sprintf("marketing is %q; want true or false", marketing)}
	}
}

// options returns the options of a record.
func (l *csvLines) options(record []string) lineOptions {
	return lineOptions{
		Campaign: l.value(record, "campaign"),
		Priority: l.value(record, "priority"),
		At:       l.value(record, "at"),
		Expire:   l.value(record, "expire"),
	}
}

// value returns the field of a record in a column, or "" if the file does not have the column.
func (l *csvLines) value(record []string, column string) string {
	i := slices.Index(l.header, column)
	if i < 0 {
		return ""
	}
	return record[i]
}
