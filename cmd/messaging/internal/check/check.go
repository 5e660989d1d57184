package check

import (
	"context"
	"errors"
	"fmt"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// checker is the state of one check.
type checker struct {
	settings *settings
	client   *messaging.Client
	names    wireNames
	lister   *lister
	overrun  time.Duration // how long a lookup of a sent message may go on after --wait
	report   report

	// What steps find for later steps.
	canList    bool       // the listing can be read
	missesRows bool       // the first page may begin after the first row
	sent       []*message // messages that the service may have sent

	// listed is the listing to whose rows the later steps compare values, filters and order. checkListing sets it to the first page. Each lookup
	// of checkSends replaces it by the newest rows (keep). checkRows appends rows that only the filter by reference found (addFiltered).
	listed page
}

// missedRows says why a row may be on no page, if [checker.missesRows] is set.
const missedRows = "the number of the first page may skip rows: see sms.list.paging"

// check takes the steps of a check. Each uses what those before it found, and the last four need all listings of the run.
func (c *checker) check(ctx context.Context) {
	c.checkListing(ctx)
	if len(c.listed.rows) > 0 && !c.report.hasWrong() { // rows that cannot be read are reported once
		c.checkPaging(ctx)
	}
	if c.settings.send {
		c.checkSends(ctx)
		c.checkRows()
	}
	if c.canList {
		c.checkValues()
		c.checkFilters(ctx)
		c.checkOrder(ctx)
		c.checkSendStatus()
		c.checkPageNames()
		c.checkUnreadable()
		c.checkClock()
	}
	if ctx.Err() != nil {
		c.report.add("check", "", finding{plausible, "interrupted: the rest was not checked"})
	}
}

// say prints what the check does.
func (c *checker) say(what string) {
	_, _ = fmt.Fprintf(c.settings.console.Err, "messaging check: %s\n", what)
}

// checkListing asks for the first page.
func (c *checker) checkListing(ctx context.Context) {
	c.say("reading the listing")
	p := c.lister.list(ctx, sms.ListOptions{}, 1)
	c.report.add("listing", "sms.list", judgeListing(p))
	if !p.isRead() {
		return
	}
	c.canList = true
	c.listed = p
	c.lister.seen.reported = len(c.lister.seen.unreadable)
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
