package check

import (
	"context"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// lister lists rows by the contract, and keeps what all its listings show together.
type lister struct {
	client    *messaging.Client
	names     wireNames
	recorder  *recorder
	seen      seenRows
	responses seenResponses
}

// list asks for rows, for at most maxPages pages.
func (l *lister) list(ctx context.Context, options sms.ListOptions, maxPages int) page {
	l.recorder.take()
	p := l.readPages(ctx, options, maxPages)
	l.addResponses(&p)
	p.rows = distinct(p.rows)
	return p
}

// readPages reads a listing with the client.
func (l *lister) readPages(ctx context.Context, options sms.ListOptions, maxPages int) page {
	var p page
	pages := 0
	for read, err := range l.client.SMS.Pages(ctx, options) {
		p.err = err
		p.transactions = append(p.transactions, read.Transactions...)
		l.seen.add(read.Transactions)
		p.isWhole = p.isRead() && read.Next == ""
		p.total = max(p.total, read.Total)
		pages++
		if pages == 1 {
			p.firstPage = len(p.transactions)
		}
		if err != nil || pages == maxPages {
			break
		}
	}
	return p
}

// addResponses adds the rows in the responses to a listing.
func (l *lister) addResponses(p *page) {
	for _, r := range l.recorder.take() {
		rows, hasList := l.names.rowsIn(r.body)
		p.isPage = hasList && r.status/100 == 2
		if p.isPage {
			l.responses.bodies = append(l.responses.bodies, r.body)
			p.keys = append(p.keys, l.names.keysOf(rows))
		}
		p.rows = append(p.rows, rows...)
	}
}

// distinct removes rows that came twice, because new messages moved them to the next page.
func distinct(rows []document.Node) []document.Node {
	seen := map[string]bool{}
	return slices.DeleteFunc(rows, func(row document.Node) bool {
		text := document.Encode(row.Value)
		isKnown := seen[text]
		seen[text] = true
		return isKnown
	})
}

// byValue asks for the first page of the rows that have a value for a concept.
func (l *lister) byValue(ctx context.Context, concept, value string) page {
	var o sms.ListOptions
	switch concept {
	case "reference":
		o.ReferenceID = value
	case "id":
		o.ID = value
	case "request":
		o.RequestID = value
	case "category":
		o.CategoryID = value
	case "from":
		o.From = value
	case "to":
		o.To = value
	case "status":
		o.Status = value
	}
	return l.list(ctx, o, 1)
}

// byTime asks for the first page of the rows that meet a bound of time.
func (l *lister) byTime(ctx context.Context, concept string, bound time.Time) page {
	if concept == "createdAfter" {
		return l.list(ctx, sms.ListOptions{CreatedAfter: bound}, 1)
	}
	return l.list(ctx, sms.ListOptions{CreatedBefore: bound}, 1)
}

// newest lists the newest rows first, if the contract and the service can, and otherwise in the order of the service.
func (l *lister) newest(ctx context.Context, maxPages int) page {
	const pageSize = 50
	var options sms.ListOptions
	if l.names.SMSList.Params["pageSize"] != "" {
		options.PageSize = pageSize
	}
	if l.names.canSort() {
		sorted := options
		sorted.SortBy = sms.ByCreated
		sorted.Descending = true
		if p := l.list(ctx, sorted, maxPages); p.isRead() && len(p.rows) > 0 {
			return p
		}
	}
	return l.list(ctx, options, maxPages)
}
