// Package check compares a contract with a real account. It asks the service through the public client, and reads the rows of its
// responses by itself, because the client leaves out rows that contradict what was asked for.
//
// Proven is only what a value of this run shows: of two messages that were sent, their rows, and filters that find them and nothing else.
// No credential, number, text or other value is printed; of an error the report has what the library prints of it.
package check

import (
	"context"
	"errors"
	"fmt"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// checker is one check.
type checker struct {
	settings *settings
	client   *messaging.Client
	table    *table.Table // of the contract
	report   report
	say      func(what string) // about the progress
	recorder recorder          // of the responses

	rows []document.Node // of the newest sweep
	sent []*message      // those that may be on their way

	isListed bool // the listing was read
	isFound  bool // the rows of both messages were found
}

// check asks for the listing, sends, and tries the filters.
func (c *checker) check(ctx context.Context) {
	c.checkListing(ctx)
	if c.settings.send {
		c.checkSends(ctx)
		c.checkRows()
	}
	if c.isListed {
		c.checkFilters(ctx)
	}
	if ctx.Err() != nil {
		c.report.add("check", "", plausible, "interrupted: what was not looked at by then is not here")
	}
}

// checkListing asks for the first page.
func (c *checker) checkListing(ctx context.Context) {
	operation := c.table.SMSList.Method + " " + c.table.SMSList.Path
	p := c.page(ctx, sms.ListOptions{})
	switch {
	case p.err != nil && !errors.Is(p.err, messaging.ErrUnreadableRow):
		c.report.add("listing", operation, wrong, "%s; see MESSAGING_BASE_URL, the credentials and sms.list of the contract", describe(p.err))
		return
	case p.err != nil:
		c.report.add("listing", operation, wrong, "%d rows, of which some cannot be read: %s", len(p.rows), describe(p.err))
	case len(p.rows) == 0:
		c.report.add("listing", operation, plausible, "it is read, and has no rows; use --send, or an account that has sent")
	default:
		c.report.add("listing", operation, proven, "%d rows are read", len(p.rows))
	}
	c.isListed = true
	c.rows = p.rows
}

// describe returns the text of an error in one line. The library masks what a service said of a message.
func describe(err error) string {
	if err == nil {
		return "there was no error"
	}
	text := strings.TrimPrefix(err.Error(), "messaging: ")
	return strings.ReplaceAll(text, "\n", "; ")
}

// value returns what a row has for a concept of the contract, or "".
func (c *checker) value(row document.Node, concept string) string {
	for _, path := range c.table.SMSList.Record[concept] {
		if text := strings.TrimSpace(row.At(path).Text()); text != "" {
			return text
		}
	}
	return ""
}

// same reports whether a row has a value for a concept. A recipient may be written with or without its +, and as a tel: URI.
func (c *checker) same(row document.Node, concept, value string) bool {
	got := c.value(row, concept)
	if concept == "to" {
		got = strings.TrimPrefix(table.Number(got), "+")
		value = strings.TrimPrefix(value, "+")
	}
	return value != "" && got == value
}

// count writes a number of rows.
func count(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
