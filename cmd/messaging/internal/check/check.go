// Package check compares a contract with a real account. It asks the service with the public client, and reads the rows of the responses by
// itself, because the client leaves out rows that contradict a filter.
//
// A line of the report says proven only if a value of this run shows it: the rows of two messages that were sent, filters that find those rows
// and nothing else, and rows in the order that was asked for. The report has no credentials, numbers or texts. Of other values it shows a price,
// by which a person sees a wrong scale, the time of the newest row, by which they see a wrong zone, and what the errors of the library show.
package check

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// checker is the state of one check.
type checker struct {
	settings *settings
	client   *messaging.Client
	table    *table.Table // of the contract
	recorder *recorder
	overrun  time.Duration // how long a look-up for a sent message may go on after --wait
	report   report

	rows     []document.Node // of the latest listing
	pages    []document.Node // all responses with a list of rows
	sent     []*message      // messages that the service may have sent
	isListed bool            // the listing can be read
	isFound  bool            // the rows of all messages were found

	hasSecondPage bool // a second page with other rows was read

	transactions []sms.Transaction // rows, as the client reads them

	latest       time.Time         // of the times of all rows that were read
	unreadable   []sms.Transaction // all rows that could not be read in full, each once
	isRemembered map[string]bool   // by the key of such a row
	reported     int               // how many of these the first line counts
}

func (c *checker) check(ctx context.Context) {
	c.checkListing(ctx)
	if len(c.rows) > 0 && !c.report.hasWrong() { // rows that cannot be read are reported once
		c.checkPaging(ctx)
	}
	if c.settings.send {
		c.checkSends(ctx)
		c.checkRows()
	}
	if c.isListed {
		c.checkValues()
		c.checkFilters(ctx)
		c.checkOrder(ctx)
		c.checkPageNames()
		c.checkUnreadable()
		c.checkClock()
	}
	if ctx.Err() != nil {
		c.report.add("check", "", finding{plausible, "interrupted: the rest was not checked"})
	}
}

// checkListing asks for the first page.
func (c *checker) checkListing(ctx context.Context) {
	c.say("reading the listing")
	p := c.list(ctx, sms.ListOptions{}, 1)
	c.report.add("listing", "sms.list", judgeListing(p))
	if p.err != nil && !errors.Is(p.err, messaging.ErrUnreadableRow) {
		return
	}
	c.isListed = true
	c.rows = p.rows
	c.transactions = p.transactions
	c.reported = len(c.unreadable)
}

// judgeListing judges the first page of the listing.
func judgeListing(p page) finding {
	switch {
	case errors.Is(p.err, messaging.ErrUnreadableRow):
		unreadable := countUnreadable(p.transactions)
		return finding{wrong, fmt.Sprintf("%d of %s cannot be read in full; the first: %s", unreadable, countRows(len(p.rows)), describe(p.err))}
	case p.err != nil:
		return finding{wrong, describe(p.err) + "; see MESSAGING_BASE_URL, the credentials and sms.list of the contract"}
	case len(p.rows) == 0:
		return finding{plausible, "it can be read, but has no rows; use --send, or an account that has sent"}
	}
	return finding{proven, countRows(len(p.rows)) + " can be read"}
}

// say prints what the check does.
func (c *checker) say(what string) {
	_, _ = fmt.Fprintf(c.settings.console.Err, "messaging check: %s\n", what)
}

// describe returns the text of an error, or of the first of joined errors, in one line. The library has masked values of messages in it.
func describe(err error) string {
	if err == nil {
		return "there was no error"
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(first, "messaging: ")
}

// countUnreadable returns how many rows could not be read in full.
func countUnreadable(rows []sms.Transaction) int {
	n := 0
	for _, tx := range rows {
		if tx.ReadError != nil {
			n++
		}
	}
	return n
}

// remember keeps what all lists of this run show together: the rows that could not be read in full, and the latest time.
func (c *checker) remember(rows []sms.Transaction) {
	for _, tx := range rows {
		if key := unreadableKey(tx); tx.ReadError != nil && !c.isRemembered[key] {
			c.isRemembered[key] = true
			c.unreadable = append(c.unreadable, tx)
		}
		if tx.CreatedAt.After(c.latest) {
			c.latest = tx.CreatedAt
		}
	}
}

// unreadableKey tells rows that could not be read in full apart. The error alone would not: it has the position of the row in its page.
func unreadableKey(tx sms.Transaction) string {
	if tx.ReadError == nil {
		return ""
	}
	_, why, _ := strings.Cut(tx.ReadError.Error(), "cannot be read: ")
	return strings.Join([]string{tx.ID, tx.ReferenceID, tx.To, tx.CreatedAt.String(), why}, "\x00")
}

// placeOfRow matches the place of a row in the error of the library, which means nothing without the request of its page.
var placeOfRow = regexp.MustCompile(`row \d+ of page \d+`)

// checkUnreadable counts the rows that could not be read in full on other pages than the first, such as a page sorted by time.
func (c *checker) checkUnreadable() {
	if more := c.unreadable[c.reported:]; len(more) > 0 {
		first := placeOfRow.ReplaceAllString(describe(more[0].ReadError), "a row")
		why := countRows(len(more)) + " of other pages cannot be read in full; the first: " + first
		c.report.add("other pages", "sms.list.record", finding{wrong, why})
	}
}

// checkClock compares the latest time of a row with the clock: a message cannot be listed before it was created. A time before now may be right,
// so a person has to judge it. The times of messages that were sent show more, if there are any.
func (c *checker) checkClock() {
	const path = "sms.list.record.created"
	isKnown := func(l line) bool { return l.path == path && l.grade == wrong }
	if slices.ContainsFunc(c.report, isKnown) || c.latest.IsZero() {
		return
	}
	ahead := time.Until(c.latest)
	if off := describeOffset(ahead); off != "" && ahead > 0 {
		c.report.dropPlausible(path)
		c.report.add("created", path, finding{wrong, "a row was created " + off + " the clock of this computer: see sms.list.zone"})
		return
	}
	isProven := func(l line) bool { return l.path == path && l.grade == proven }
	if !slices.ContainsFunc(c.report, isProven) {
		const why = "the newest row has %s, and now it is %s: if the service means another time, see sms.list.zone"
		c.report.add("time of a row", "sms.list.zone", finding{plausible, fmt.Sprintf(why, c.formatTime(c.latest), c.formatTime(time.Now()))})
	}
}

// formatTime returns a time in the zone of the contract.
func (c *checker) formatTime(at time.Time) string {
	const layout = "2006-01-02T15:04Z07:00"
	zone, err := time.LoadLocation(c.table.SMSList.Zone)
	if err != nil { // never: the contract was checked
		zone = time.UTC
	}
	return at.In(zone).Format(layout)
}

// value returns the value of a row for a concept of the contract, or "".
func (c *checker) value(row document.Node, concept string) string {
	for _, path := range c.table.SMSList.Record[concept] {
		if text := strings.TrimSpace(row.At(path).Text()); text != "" {
			return text
		}
	}
	return ""
}

// hasValue reports whether a row has a value for a concept. A recipient may be written without its + or as a tel: URI.
func (c *checker) hasValue(row document.Node, concept, value string) bool {
	got := c.value(row, concept)
	if concept == "to" {
		got = strings.TrimPrefix(table.Number(got), "+")
		value = strings.TrimPrefix(value, "+")
	}
	return value != "" && got == value
}

// countRows returns a number of rows as text.
func countRows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
