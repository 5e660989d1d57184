package check

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/sms"
)

// recorder is a transport that keeps the responses of the service, because the client leaves out rows that contradict a filter.
type recorder struct {
	base http.RoundTripper

	mu        sync.Mutex
	responses []response
}

type response struct {
	status int
	body   document.Node // the zero Node if it is not JSON
}

// RoundTrip implements [http.RoundTripper].
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	const maxBody = 16 << 20
	received, err := r.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(received.Body, maxBody))
	if err = errors.Join(err, received.Body.Close()); err != nil {
		return nil, err
	}
	received.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.responses = append(r.responses, response{status: received.StatusCode, body: document.Parse(body)})
	return received, nil
}

// take returns the responses since the last call.
func (r *recorder) take() []response {
	r.mu.Lock()
	defer r.mu.Unlock()
	responses := r.responses
	r.responses = nil
	return responses
}

// page is the result of a listing.
type page struct {
	err    error
	isPage bool            // the last response is a success and has a list of rows
	rows   []document.Node // all that came

	transactions []sms.Transaction // the rows as the client reads them
	firstPage    int               // how many of them are on the first page
	isWhole      bool              // no page follows
	total        int               // of the rows of all pages, or 0 if no page says it
	keys         []map[string]bool // of the rows of each page, with those that the client leaves out because they came before
}

// list asks for rows by the contract, for at most maxPages pages.
func (c *checker) list(ctx context.Context, options sms.ListOptions, maxPages int) page {
	c.recorder.take()
	p := c.readPages(ctx, options, maxPages)
	c.addResponses(&p)
	p.rows = distinct(p.rows)
	return p
}

// readPages reads a listing with the client.
func (c *checker) readPages(ctx context.Context, options sms.ListOptions, maxPages int) page {
	var p page
	pages := 0
	for read, err := range c.client.SMS.Pages(ctx, options) {
		p.err = err
		p.transactions = append(p.transactions, read.Transactions...)
		c.seen.add(read.Transactions)
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
func (c *checker) addResponses(p *page) {
	for _, r := range c.recorder.take() {
		rows, hasList := c.rowsIn(r.body)
		p.isPage = hasList && r.status/100 == 2
		if p.isPage {
			c.responses.bodies = append(c.responses.bodies, r.body)
			p.keys = append(p.keys, c.keysOf(rows))
		}
		p.rows = append(p.rows, rows...)
	}
}

// isRead reports whether the service responded with a page, even if some of its rows cannot be read in full.
func (p page) isRead() bool { return p.err == nil || errors.Is(p.err, messaging.ErrUnreadableRow) }

// keysOf returns what tells rows apart: their IDs, or all their members if they have none.
func (c *checker) keysOf(rows []document.Node) map[string]bool {
	keys := map[string]bool{}
	for _, row := range rows {
		key := c.value(row, "id")
		if key == "" {
			key = document.Encode(row.Value)
		}
		keys[key] = true
	}
	return keys
}

// rowsIn returns the rows of a response, and reports whether the contract finds a list of them.
func (c *checker) rowsIn(body document.Node) (rows []document.Node, hasList bool) {
	for _, path := range c.table.SMSList.Items {
		if list := body.At(path); list.IsList() {
			return list.List(), true
		}
	}
	return nil, false
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
