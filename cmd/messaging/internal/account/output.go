package account

import (
	"fmt"
	"os"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/cli"
	"github.com/messaging-service/messaging-go/sms"
)

// output writes the pages of a listing to standard output or into a file.
type output struct {
	client   *messaging.Client
	console  cli.Console
	limit    int // of rows; 0 for no limit
	rows     rowWriter
	progress *cli.Progress
	state    *resumeState // counts the rows

	file        *os.File // nil for standard output
	name        string   // of the file
	isResumable bool     // the state is stored after each page
}

// writePage writes the rows of a page that the limit leaves. Rows that could not be read in full are written as far as possible, and their
// errors are printed.
func (o *output) writePage(page sms.Page) error {
	rows := o.withinLimit(page.Transactions)
	unreadable := readErrors(rows)
	complain(o.console, unreadable)
	for _, tx := range rows {
		if err := o.rows.Write(judge(o.client, tx)); err != nil {
			return err
		}
	}
	if err := o.rows.Flush(); err != nil {
		return err
	}
	o.state.Unreadable += len(unreadable)
	o.state.Rows += len(rows)
	o.progress.Set(o.state.Rows, page.Total)
	isLast := page.Next == ""
	if !o.isResumable || isLast {
		return nil
	}
	return o.state.save(o.name, o.file, page.Next)
}

// withinLimit returns the rows of a page that the limit leaves.
func (o *output) withinLimit(rows []sms.Transaction) []sms.Transaction {
	if o.limit == 0 {
		return rows
	}
	return rows[:min(len(rows), o.limit-o.state.Rows)]
}

// isFull reports whether the limit is reached.
func (o *output) isFull() bool { return o.limit > 0 && o.state.Rows == o.limit }

// sync syncs the complete file, and completes its state if there is one.
func (o *output) sync() error {
	if o.isResumable {
		return o.state.complete(o.name, o.file)
	}
	return o.file.Sync()
}

// rowsIn describes how many rows a file has.
func rowsIn(file string, rows int) string {
	if rows == 1 {
		return "1 row is in " + file
	}
	return fmt.Sprintf("%d rows are in %s", rows, file)
}
