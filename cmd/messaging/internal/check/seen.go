package check

import (
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// seenRows is what the rows of all listings of this run show together.
type seenRows struct {
	latest     time.Time         // of the times of all rows
	statuses   map[rowKey]string // the send status of each row, in the latest listing that has it
	unreadable []unreadableRow   // all rows that could not be read in full, each once
	reported   int               // how many of these the line about the first page counts
	isKnown    map[unreadableRow]bool
}

func newSeenRows() seenRows {
	return seenRows{statuses: map[rowKey]string{}, isKnown: map[unreadableRow]bool{}}
}

// A rowKey tells rows apart. It has no place, so that a row that comes on several pages is the same one.
type rowKey struct {
	id, reference, to, text string
	created                 time.Time
}

func newRowKey(tx sms.Transaction) rowKey {
	return rowKey{id: tx.ID, reference: tx.ReferenceID, to: tx.To, text: tx.Text, created: tx.CreatedAt.UTC()}
}

// seenResponses is what all responses with a list of rows show together.
type seenResponses struct {
	bodies        []document.Node
	hasSecondPage bool // one of them is a second page with other rows
}

// unreadableRow is a row that could not be read in full. It has no place, so that a row that comes on several pages is the same one.
type unreadableRow struct {
	id, reference, to string
	created           time.Time
	reason            string
}

func newUnreadableRow(tx sms.Transaction) unreadableRow {
	return unreadableRow{id: tx.ID, reference: tx.ReferenceID, to: tx.To, created: tx.CreatedAt.UTC(), reason: readReason(tx.ReadError)}
}

// readReason returns why a row could not be read in full, without its place in a page.
func readReason(err error) string {
	if problem, isProblem := errors.AsType[codec.UnreadableError](err); isProblem {
		return problem.Error()
	}
	return describe(err)
}

// describe returns why the row could not be read, and its ID unless that may be a phone number.
func (r unreadableRow) describe() string {
	if table.IsWord(r.id) {
		return r.reason + ", ID " + r.id
	}
	return r.reason
}

// add adds the rows of a page.
func (s *seenRows) add(rows []sms.Transaction) {
	for _, tx := range rows {
		s.statuses[newRowKey(tx)] = tx.SendStatus
		if tx.ReadError != nil {
			s.addUnreadable(newUnreadableRow(tx))
		}
		if tx.CreatedAt.After(s.latest) {
			s.latest = tx.CreatedAt
		}
	}
}

func (s *seenRows) addUnreadable(row unreadableRow) {
	if s.isKnown[row] {
		return
	}
	s.isKnown[row] = true
	s.unreadable = append(s.unreadable, row)
}

// checkUnreadable counts the rows that could not be read in full on other pages than the first, such as a page sorted by time.
func (c *checker) checkUnreadable() {
	if more := c.lister.seen.unreadable[c.lister.seen.reported:]; len(more) > 0 {
		why := countRows(len(more)) + " of other pages cannot be read in full; the first: " + more[0].describe()
		c.report.add("other pages", "sms.list.record", finding{wrong, why})
	}
}

// checkClock compares the latest time of a row with the clock: a message cannot be listed before it was created. A time before now may be right,
// so a person has to judge it. The times of messages that were sent show more, if there are any.
func (c *checker) checkClock() {
	const path = "sms.list.record.created"
	latest := c.lister.seen.latest
	if latest.IsZero() || c.report.has(path, wrong) {
		return
	}
	ahead := time.Until(latest)
	if off := describeOffset(ahead); off != "" && ahead > 0 {
		c.report.dropPlausible(path)
		c.report.add("created", path, finding{wrong, "a row was created " + off + " the clock of this computer: see sms.list.zone"})
		return
	}
	if !c.report.has(path, proven) {
		const why = "the newest row has %s, and now it is %s: if the service means another time, see sms.list.zone"
		c.report.add("time of a row", "sms.list.zone", finding{plausible, fmt.Sprintf(why, c.names.formatTime(latest), c.names.formatTime(time.Now()))})
	}
}
