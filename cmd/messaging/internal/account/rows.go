package account

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// A row is a listed transaction with the verdict on its message.
type row struct {
	sms.Transaction

	verdict messaging.Verdict
}

// judge returns a transaction with its verdict.
func judge(client *messaging.Client, tx sms.Transaction) row {
	return row{Transaction: tx, verdict: client.SMS.Verdict(tx)}
}

// A rowWriter writes rows in one format. Rows are complete after Flush.
type rowWriter interface {
	Write(row) error
	Flush() error
}

// newWriter returns the writer of a format: table, csv, jsonl or record. header reports whether to write a header. CSV for a terminal has no
// control characters; the other formats never have any.
func newWriter(format string, to io.Writer, header, isTerminal bool) rowWriter {
	switch format {
	case "csv":
		return &csvRows{csv.NewWriter(to), header, isTerminal}
	case "jsonl":
		return jsonRows{to}
	case "record":
		return recordRows{to}
	default:
		const gap = 2
		return &tableRows{tabwriter.NewWriter(to, 0, 0, gap, ' ', 0), header}
	}
}

// beginsListing reports whether a line can be the first of a file in a format, csv or jsonl: the header, or a row as an object.
func beginsListing(format string, line []byte) bool {
	names, _ := columns(row{})
	if format == "csv" {
		return strings.TrimSpace(string(line)) == strings.Join(names, ",")
	}
	var object map[string]any
	err := json.Unmarshal(line, &object)
	return err == nil && object["verdict"] != nil
}

// columns returns the names and values of the columns of a row.
func columns(tx row) (names, values []string) {
	for _, c := range []struct{ name, value string }{
		{"id", tx.ID},
		{"referenceID", tx.ReferenceID},
		{"requestID", tx.RequestID},
		{"categoryID", tx.CategoryID},
		{"created", formatTime(tx.CreatedAt)},
		{"sent", formatTime(tx.SentAt)},
		{"from", tx.From},
		{"to", tx.To},
		{"sendStatus", tx.SendStatus},
		{"deliveryStatus", tx.DeliveryStatus},
		{"status", tx.Status.String()},
		{"parts", strconv.Itoa(tx.Parts)},
		{"price", tx.Price},
		{"currency", tx.Currency},
		{"operator", tx.Operator},
		{"country", tx.Country},
		{"description", tx.Description},
		{"text", tx.Text},
		{"verdict", tx.verdict.String()},
		{"errorCode", tx.ErrorCode},
	} {
		names = append(names, c.name)
		values = append(values, c.value)
	}
	return names, values
}

// formatTime returns a time in RFC 3339, with its fraction of a second if it has one, or "" for the zero time.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

type csvRows struct {
	*csv.Writer

	header     bool
	isTerminal bool
}

func (w *csvRows) Write(tx row) error {
	_, values := columns(tx)
	for i, value := range values {
		value = withoutFormula(value)
		if w.isTerminal {
			value = printable(value)
		}
		values[i] = value
	}
	return errors.Join(w.writeHeader(), w.Writer.Write(values))
}

// number matches cells that a spreadsheet reads as numbers, such as phone numbers and amounts.
var number = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?$`)

// withoutFormula returns a cell that no spreadsheet reads as a formula. An apostrophe makes it a text.
func withoutFormula(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	mayBeFormula := strings.ContainsRune("=+-@＝＋－＠\t\r\n", first)
	if mayBeFormula && !number.MatchString(cell) {
		return "'" + cell
	}
	return cell
}

// Flush completes the rows. A file without rows has the header.
func (w *csvRows) Flush() error {
	err := w.writeHeader()
	w.Writer.Flush()
	return errors.Join(err, w.Error())
}

func (w *csvRows) writeHeader() error {
	if !w.header {
		return nil
	}
	w.header = false
	names, _ := columns(row{})
	return w.Writer.Write(names)
}

type jsonRows struct{ io.Writer }

func (w jsonRows) Write(tx row) error {
	object := map[string]any{}
	names, values := columns(tx)
	for i, name := range names {
		if values[i] != "" {
			object[name] = values[i]
		}
	}
	object["parts"] = tx.Parts
	if tx.ReadError != nil {
		object["readError"] = tx.ReadError.Error()
	}
	if len(tx.Extra) > 0 {
		object["extra"] = tx.Extra
	}
	return writeJSON(w.Writer, object)
}

func (w jsonRows) Flush() error { return nil }

// tableRows writes a table with the columns that fit a terminal. Flush aligns the rows since the last Flush.
type tableRows struct {
	*tabwriter.Writer

	header bool
}

func (w *tableRows) Write(tx row) error {
	if w.header {
		w.header = false
		if _, err := fmt.Fprintln(w.Writer, "CREATED\tID\tREFERENCE\tFROM\tTO\tVERDICT\tSTATUS\tPRICE\tTEXT"); err != nil {
			return err
		}
	}
	const maxText = 40
	text := []rune(tx.Text)
	if len(text) > maxText {
		text = append(text[:maxText-1], '…')
	}
	status := tx.Status.String()
	if tx.DeliveryStatus == "" {
		status = tx.SendStatus
	}
	cells := []string{
		formatTime(tx.CreatedAt.Truncate(time.Second)), tx.ID, tx.ReferenceID, tx.From, tx.To, tx.verdict.String(), status, tx.Price, string(text),
	}
	for i, cell := range cells {
		cells[i] = printable(cell)
	}
	_, err := fmt.Fprintln(w.Writer, strings.Join(cells, "\t"))
	return err
}

// recordRows writes a row as lines of name and value.
type recordRows struct{ io.Writer }

func (w recordRows) Write(tx row) error {
	names, values := columns(tx)
	for i, name := range names {
		if values[i] == "" {
			continue
		}
		if err := w.line(name, values[i]); err != nil {
			return err
		}
	}
	if tx.ReadError != nil {
		return w.line("readError", tx.ReadError.Error())
	}
	return nil
}

func (w recordRows) line(name, value string) error {
	_, err := fmt.Fprintf(w.Writer, "%-16s %s\n", name, printable(value))
	return err
}

func (w recordRows) Flush() error { return nil }

// printable is [cli.Printable].
func printable(text string) string { return cli.Printable(text) }
