package check

import (
	"errors"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// page is the result of a listing of one page or several. It has the listed rows in three forms: rows as the service sent them, transactions as
// the client read them, and keys that tell the rows of each page apart. Rows that the client leaves out, because they contradict a filter or came
// before, have no transaction.
type page struct {
	err          error
	isPage       bool              // the last response is a success and has a list of rows
	rows         []document.Node   // of all pages, without repeated rows
	transactions []sms.Transaction // of all pages
	keys         []map[string]bool // of each page, with repeated rows

	firstPage int  // how many transactions are on the first page
	isWhole   bool // no page follows
	total     int  // of the rows of all pages, or 0 if no page says it
}

// isRead reports whether the service responded with a page, even if some of its rows cannot be read in full.
func (p page) isRead() bool { return p.err == nil || errors.Is(p.err, messaging.ErrUnreadableRow) }

// hasNewRows reports whether a page after the first has a row with an ID that no row of the first has.
func (p page) hasNewRows() bool {
	first := p.transactions[:p.firstPage]
	later := p.transactions[p.firstPage:]
	isNew := func(tx sms.Transaction) bool {
		isSame := func(other sms.Transaction) bool { return other.ID == tx.ID }
		return tx.ID != "" && !slices.ContainsFunc(first, isSame)
	}
	return slices.ContainsFunc(later, isNew)
}
