package sms

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"log/slog"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// ListOptions says which transactions are listed and how. The zero value lists all, in the service's own order and page
// size; whether a service allows that is not known.
//
// The specification says that the listing has pages, sorting and filters, and shows no names: every parameter's name is a
// default of the contract (sms.list.params). Using one that the contract does not name is a *messaging.ValidationError.
type ListOptions struct {
	// CreatedAfter and CreatedBefore bound when the service took the message. Zero: no bound; with both, CreatedBefore must
	// be the later one. They are sent in the form of
	// the contract, by default with milliseconds; whether the bounds themselves belong to it is the service's matter.
	CreatedAfter  time.Time
	CreatedBefore time.Time
	// ID, ReferenceID, RequestID and CategoryID select by these, exactly.
	ID          string
	ReferenceID string
	RequestID   string
	CategoryID  string
	// From and To select by sender and recipient.
	From string
	To   string
	// Status selects by status, in the service's words. No default name is known for it: the contract must give one.
	Status string
	// Page is where to begin, as the service counts; 0 begins at the first page. Only where the contract pages by number.
	Page int
	// PageSize is how many rows a page has; 0 is the service's own size. No bounds are known; large pages are much faster.
	PageSize int
	// PagesAhead is how many pages are fetched at once beyond the one that is being read; 0 fetches none before it is
	// needed, 64 is the most. Only where the contract pages by number.
	PagesAhead int
	// SortBy is the column to sort by, in the service's words; Descending turns the order around.
	SortBy     string
	Descending bool
	// Extra holds parameters that this library does not know, by their wire names. A name that the contract uses is refused.
	Extra url.Values
}

// Format prints how many options are set, in every verb; never a number or a reference.
func (o ListOptions) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.summary()) }

// LogValue logs what Format prints.
func (o ListOptions) LogValue() slog.Value { return slog.StringValue(o.summary()) }

func (o ListOptions) summary() string {
	set := 0
	for _, value := range reflect.ValueOf(o).Fields() {
		if !value.IsZero() {
			set++
		}
	}
	return fmt.Sprintf("sms.ListOptions{%d options}", set)
}

// filter is what go-querystring writes, by the contract's concepts. The field names are those of ListOptions: errors name
// them.
type filter struct {
	CreatedAfter  time.Time `layout:"2006-01-02T15:04:05.999999999Z07:00" url:"createdAfter,omitempty"`
	CreatedBefore time.Time `layout:"2006-01-02T15:04:05.999999999Z07:00" url:"createdBefore,omitempty"`
	ID            string    `url:"id,omitempty"`
	ReferenceID   string    `url:"reference,omitempty"`
	RequestID     string    `url:"request,omitempty"`
	CategoryID    string    `url:"category,omitempty"`
	From          string    `url:"from,omitempty"`
	To            string    `url:"to,omitempty"`
	Status        string    `url:"status,omitempty"`
	PageSize      int       `url:"pageSize,omitempty"`
	SortBy        string    `url:"sortBy,omitempty"`
	Descending    string    `url:"order,omitempty"`
}

func (o ListOptions) query(doer wire.Doer) wire.Query {
	f := &filter{
		CreatedAfter: o.CreatedAfter.UTC(), CreatedBefore: o.CreatedBefore.UTC(), ID: o.ID, ReferenceID: o.ReferenceID,
		RequestID: o.RequestID, CategoryID: o.CategoryID, From: o.From, To: o.To, Status: o.Status,
		PageSize: o.PageSize, SortBy: o.SortBy,
	}
	switch {
	case o.Descending:
		f.Descending = "descending"
	case o.SortBy != "":
		f.Descending = "ascending"
	}
	q := wire.Query{Op: wire.SMSList, Filter: f, Extra: cloneValues(o.Extra), Problems: o.validate()}
	if o.Page > 0 {
		q.At = wire.Position{Set: true, Number: o.Page}
	}
	if _, numbered := doer.Ahead(wire.SMSList, q.At); !numbered {
		const reason = "must be 0: the contract does not page by number (sms.list.paging.by)"
		if o.Page > 0 {
			q.Problems = append(q.Problems, wire.Problem{Field: "Page", Reason: reason})
		}
		if o.PagesAhead > 0 {
			q.Problems = append(q.Problems, wire.Problem{Field: "PagesAhead", Reason: reason})
		}
	}
	return q
}

func cloneValues(values url.Values) url.Values {
	clone := maps.Clone(values)
	for name, list := range clone {
		clone[name] = slices.Clone(list)
	}
	return clone
}

func (o ListOptions) validate() []wire.Problem {
	var problems []wire.Problem
	for _, number := range []struct {
		field string
		value int
	}{{"Page", o.Page}, {"PageSize", o.PageSize}, {"PagesAhead", o.PagesAhead}} {
		if number.value < 0 {
			problems = append(problems, wire.Problem{Field: number.field, Reason: fmt.Sprintf("must not be negative, got %d", number.value)})
		}
	}
	const most = 64
	if o.PagesAhead > most {
		problems = append(problems, wire.Problem{Field: "PagesAhead", Reason: fmt.Sprintf("must be at most %d, got %d", most, o.PagesAhead)})
	}
	for _, bound := range []struct {
		field string
		at    time.Time
	}{{"CreatedAfter", o.CreatedAfter}, {"CreatedBefore", o.CreatedBefore}} {
		if year := bound.at.UTC().Year(); year < 1 || year > 9999 {
			problems = append(problems, wire.Problem{Field: bound.field, Reason: "must be in the years 1 to 9999"})
		}
	}
	if !o.CreatedAfter.IsZero() && !o.CreatedBefore.IsZero() && !o.CreatedAfter.Before(o.CreatedBefore) {
		problems = append(problems, wire.Problem{Field: "CreatedBefore", Reason: "must be later than CreatedAfter"})
	}
	return problems
}

// List lists transactions (GET /api/sms, as the specification says), one after the other over all pages.
//
//	for tx, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: yesterday, PageSize: 500}) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(tx.ID, tx.DeliveryStatus)
//	}
//
// Nothing is asked before the loop begins, no page before its rows are needed (see PagesAhead), and nothing is left running
// after it. Ranging again lists again; the options are copied. A page is asked for again after a failure, within the
// client's RetryPolicy, since reading changes nothing.
//
// An error ends the listing, with one exception: a row that cannot be read is an error that says which, beside the
// Transaction as far as it could be read, and a loop that goes on gets the rows behind it.
//
// While messages are being sent, rows move between pages. One that moves to the next page is seen once: the rows of the
// last two pages are remembered. One that moves backwards to a page that was read is missed: sort by a column that does
// not change, ascending, or bound the listing by CreatedBefore. A listing that brings only rows that were seen, twice in a
// row, or that comes back to an earlier page, is an error that names the contract's paging, not an endless loop.
func (s *Service) List(ctx context.Context, options ListOptions) iter.Seq2[Transaction, error] {
	pages := s.pages(ctx, options)
	return func(yield func(Transaction, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(Transaction{}, err)
				return
			}
			unread := page.Unread
			for i := range page.Records {
				var err error
				if len(unread) > 0 && unread[0].Index == i {
					err = s.unread(page, unread[0])
					unread = unread[1:]
				}
				if page.seen(i) {
					continue
				}
				if !yield(Transaction(page.Records[i]), err) {
					return
				}
			}
		}
	}
}

// Pages lists like List, a page at a time, with what the service says of the listing. The last page may be empty.
//
// Rows that cannot be read come as an error beside the page, which holds them as far as they could be read; a loop that
// goes on gets the pages behind it. Any other error ends the listing, beside an empty Page.
func (s *Service) Pages(ctx context.Context, options ListOptions) iter.Seq2[Page, error] {
	pages := s.pages(ctx, options)
	return func(yield func(Page, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(Page{}, err)
				return
			}
			p := Page{
				Number: page.Number, Size: page.Size, Total: page.Total, TotalPages: page.TotalPages, HasNext: !page.Last,
				Transactions: make([]Transaction, 0, len(page.Records)),
			}
			for i := range page.Records {
				if !page.seen(i) {
					p.Transactions = append(p.Transactions, Transaction(page.Records[i]))
				}
			}
			var wrong []error
			for _, unread := range page.Unread {
				wrong = append(wrong, s.unread(page, unread))
			}
			if !yield(p, errors.Join(wrong...)) {
				return
			}
		}
	}
}

func (s *Service) unread(p page, row wire.Unread) error {
	reason := fmt.Sprintf("row %d of the page cannot be read: %s", row.Index, row.Reason)
	if p.asked > 0 {
		reason = fmt.Sprintf("row %d of page %d cannot be read: %s", row.Index, p.asked, row.Reason)
	}
	return s.doer.Fail(wire.SMSList, reason, nil)
}

// page is a page with what is known of its rows.
type page struct {
	wire.Page

	asked int    // its number, where it has one
	old   []bool // rows that were on the two pages before; nil where none was
}

func (p page) seen(i int) bool { return p.old != nil && p.old[i] }

// pages walks over the pages, and takes care that the walk ends.
func (s *Service) pages(ctx context.Context, options ListOptions) iter.Seq2[page, error] {
	query := options.query(s.doer)
	return func(yield func(page, error) bool) {
		memory := newMemory()
		stale := 0
		for result := range s.fetch(ctx, query, options.PagesAhead) {
			if result.err != nil {
				yield(page{}, result.err)
				return
			}
			p := page{Page: result.page, asked: result.at.Number}
			if !p.Last || memory.pages > 0 {
				var fresh int
				p.old, fresh = memory.compare(p.Records)
				if fresh > 0 {
					stale = 0
				} else if len(p.Records) > 0 {
					stale++
				}
				if fresh > 0 && memory.circle() {
					yield(page{}, s.doer.Fail(wire.SMSList, "a page came again after others: the service does not page as the contract says (sms.list.paging, sms.list.params)", nil))
					return
				}
			}
			if stale > 1 {
				yield(page{}, s.doer.Fail(wire.SMSList, "two pages in a row bring only rows that were seen: the service does not page as the contract says (sms.list.paging, sms.list.params)", nil))
				return
			}
			if !yield(p, nil) || p.Last {
				return
			}
		}
	}
}

// memory holds the rows of the last two pages, and what is needed to see a circle of any length.
type memory struct {
	seed  maphash.Seed
	last  [2]map[uint64]struct{}
	pages int
	// A mark is left at pages 1, 2, 4, 8, …: a circle brings the marked page again before the mark moves out of it.
	print, mark uint64
	next        int
}

func newMemory() *memory { return &memory{seed: maphash.MakeSeed()} }

// compare tells which rows were on the last two pages, how many were not, and remembers them all.
func (m *memory) compare(rows []wire.Record) (old []bool, fresh int) {
	current := m.last[m.pages%2]
	keys := make([]uint64, len(rows))
	for i := range rows {
		keys[i] = m.key(&rows[i])
		_, before := m.last[0][keys[i]]
		_, beforeThat := m.last[1][keys[i]]
		if !before && !beforeThat {
			fresh++
			continue
		}
		if old == nil {
			old = make([]bool, len(rows))
		}
		old[i] = true
	}
	if current == nil {
		current = make(map[uint64]struct{}, len(rows))
	}
	clear(current)
	var h maphash.Hash
	h.SetSeed(m.seed)
	for _, key := range keys {
		current[key] = struct{}{}
		maphash.WriteComparable(&h, key)
	}
	m.print = h.Sum64()
	m.last[m.pages%2] = current
	m.pages++
	return old, fresh
}

// circle tells whether the page that was compared last is the one at the mark, and moves the mark along.
func (m *memory) circle() bool {
	again := m.next > 0 && m.print == m.mark
	if m.pages > m.next {
		m.mark, m.next = m.print, max(1, 2*m.next)
	}
	return again
}

// key tells rows apart: by ID, and where a row has none by all that it holds.
func (m *memory) key(r *wire.Record) uint64 {
	if r.ID != "" {
		return maphash.String(m.seed, r.ID)
	}
	var h maphash.Hash
	h.SetSeed(m.seed)
	for _, field := range []string{
		r.RequestID, r.ReferenceID, r.CategoryID, r.From, r.To, r.Text, r.Price, r.CreatedAt.String(), r.SentAt.String(),
		r.SendStatus, r.DeliveryStatus, r.Operator, r.Country, r.Description,
	} {
		maphash.WriteComparable(&h, field)
	}
	maphash.WriteComparable(&h, r.Parts)
	for _, name := range sortedKeys(r.Extra) {
		maphash.WriteComparable(&h, name)
		maphash.WriteComparable(&h, string(r.Extra[name]))
	}
	return h.Sum64()
}
