package messaging

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// List lists transactions (GET /api/sms), one after the other over all pages.
//
//	for tx, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: yesterday, PageSize: 500}) {
//		if errors.Is(err, messaging.ErrRow) {
//			log.Print(err) // one odd row; tx has what could be read
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(tx.ID, tx.DeliveryStatus)
//	}
//
// Nothing is requested before its rows are needed (see PagesAhead), and nothing runs after the loop. Ranging again lists again. A failed
// page is retried within the client's RetryPolicy.
//
// If a row cannot be read in full, the error is a *RowError, the Transaction has what could be read, and the loop may go on. Any
// other error ends the listing, which is complete or ends with an error.
//
// A service may ignore a filter, so rows that contradict To, From, ID, ReferenceID, RequestID or Status are not yielded. If no row is left,
// the listing ends with an error that matches ErrFilterIgnored.
//
// While messages are being sent, rows move between pages. One that moves to the next page is yielded once. One that moves to a page that
// was read already is missed: sort by a column that does not change, ascending, or set CreatedBefore.
func (s *SMSService) List(ctx context.Context, options sms.ListOptions) iter.Seq2[sms.Transaction, error] {
	pages := s.pages(ctx, options, true)
	return func(yield func(sms.Transaction, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(sms.Transaction{}, err)
				return
			}
			unreadable := page.Unreadable
			for i := range page.Transactions {
				var err error
				if len(unreadable) > 0 && unreadable[0].Index == i {
					err = page.rowError(unreadable[0])
					unreadable = unreadable[1:]
				}
				if page.skips(i) {
					continue
				}
				if !yield(page.Transactions[i], err) {
					return
				}
			}
		}
	}
}

// Pages lists like List, a page at a time, with what the service says about the listing. The last page may be empty.
//
// If rows cannot be read in full, Pages yields the page, with what could be read of them, and a joined error of *RowErrors: the
// first 20, and how many more there are.
func (s *SMSService) Pages(ctx context.Context, options sms.ListOptions) iter.Seq2[sms.Page, error] {
	pages := s.pages(ctx, options, true)
	return func(yield func(sms.Page, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(sms.Page{}, err)
				return
			}
			p := sms.Page{
				Number: page.Number, Size: page.Size, Total: page.Total, TotalPages: page.TotalPages,
				Transactions: make([]sms.Transaction, 0, len(page.Transactions)),
			}
			for i := range page.Transactions {
				if !page.skips(i) {
					p.Transactions = append(p.Transactions, page.Transactions[i])
				}
			}
			if !page.Last {
				p.Next = s.core.smsList().codec.FormatPosition(page.Next, options.PageSize, page.tracker.recent())
			}
			if !yield(p, page.rowErrors()) {
				return
			}
		}
	}
}

// Find looks a message up by its reference ID, on up to 100 pages of the listing, and returns the first row that has it. If a page
// has several, the message was sent more than once or the reference ID was used before: a warning is logged, and StepResult.Rows is
// their number.
//
// Without a row the error matches ErrNotListed; the message may still be listed later. If there are only rows of other messages, it matches
// ErrFilterIgnored. If the service claims rows and lists none, if a cache responds in its
// place, or if the response cannot be understood, it matches neither, and nothing is known.
func (s *SMSService) Find(ctx context.Context, referenceID string) (sms.Transaction, error) {
	found, err := s.find(ctx, referenceID)
	if err != nil {
		return sms.Transaction{}, err
	}
	return found[0].Transaction, nil
}

type listedRow struct {
	sms.Transaction

	isDoubtful bool // whether it cannot be read whose message it is
}

// find returns the rows with a reference ID on the first page that has any. There is at least one if there is no error.
func (s *SMSService) find(ctx context.Context, referenceID string) ([]listedRow, error) {
	o := s.core.observation(ctx, &s.core.smsList().endpoint)
	ctx, end := o.begin(ctx, StepLookup, 0)
	found, err := s.search(ctx, referenceID)
	result := o.failure(err)
	result.Rows = len(found)
	end(result)
	if len(found) > 1 {
		s.core.warnOfRows(ctx, referenceID, len(found))
	}
	return found, err
}

func (s *SMSService) search(ctx context.Context, referenceID string) ([]listedRow, error) {
	if referenceID == "" {
		return nil, invalid(s.core.smsList().name, []wire.Problem{{Field: "referenceID", Reason: "required, but empty"}})
	}
	others, isFresh, missing := false, true, ""
	var rowError error
	const most = 100 // pages; a filter leaves one
	pages := 0
	for page, err := range s.pages(ctx, sms.ListOptions{ReferenceID: referenceID}, false) {
		if err != nil {
			return nil, err
		}
		if rows := page.rowsOf(referenceID); len(rows) > 0 {
			return rows, nil // even if a field of theirs could not be read
		}
		isFresh = isFresh && page.isFresh
		missing = cmp.Or(missing, page.Missing)
		others = others || len(page.Transactions) > len(page.Unreadable)
		for _, row := range page.Unreadable {
			rowError = page.rowError(row)
		}
		if pages++; pages == most {
			break
		}
	}
	switch {
	case others:
		const reason = "the service listed other messages than the one looked for: it does not filter as the contract says " +
			"(sms.list.params.reference, sms.list.record.reference)"
		return nil, s.listError(reason, ErrFilterIgnored)
	case rowError != nil:
		return nil, rowError
	case missing != "":
		return nil, s.listError(missing)
	case !isFresh:
		return nil, s.listError("no message with this reference ID is listed in a response that a cache kept (Age)")
	default:
		return nil, s.listError("no message with this reference ID is listed", ErrNotListed, ErrNotFound)
	}
}

// listError returns the error of a listing whose responses are fine one by one.
func (s *SMSService) listError(reason string, classes ...error) error {
	return &Error{Operation: s.core.smsList().name, Attempts: 1, read: true, reason: reason, classes: classes}
}

type listPage struct {
	codec.Page

	place    int    // for a RowError
	isFresh  bool   // no cache kept the response
	repeated []bool // the rows that were on the two pages before; nil if there were none
	options  *sms.ListOptions
	meaning  sms.Status // of the status in the options
	tracker  *pageTracker
}

// skips reports whether a row is not of this listing, was on the pages before, is beyond the bounds, or contradicts the filters.
func (p *listPage) skips(row int) bool {
	at, after, before := p.Transactions[row].CreatedAt, p.options.CreatedAfter, p.options.CreatedBefore
	outside := !at.IsZero() && (at.Before(after) || !before.IsZero() && !at.Before(before))
	return outside || p.Others[row] || p.repeated != nil && p.repeated[row] || p.contradicts(row)
}

// tally counts the rows that are yielded, and those that contradict the filters.
func (p *listPage) tally(kept, dropped *int) {
	for i := range p.Transactions {
		switch {
		case p.Others[i]:
		case p.contradicts(i):
			*dropped++
		case !p.skips(i):
			*kept++
		}
	}
}

// contradicts reports whether a row is not what was asked for. A member that the row does not have, or that cannot be compared, is no
// contradiction.
func (p *listPage) contradicts(row int) bool {
	tx, o := &p.Transactions[row], p.options
	other := func(got, want string) bool { return want != "" && got != "" && got != want }
	isName := func(text string) bool { return text != "" && !strings.ContainsAny(text, "0123456789*") }
	status := tx.Status
	if p.meaning == sms.StatusDelivered && (status == sms.StatusRead || status == sms.StatusPlayed) {
		status = sms.StatusDelivered // the recipient has it
	}
	return contradicts(tx.To, o.To) || contradicts(tx.From, o.From) ||
		isName(tx.From) && isName(o.From) && !strings.EqualFold(tx.From, o.From) ||
		other(tx.ID, o.ID) || other(tx.RequestID, o.RequestID) || o.ReferenceID != "" && !sameReference(tx.ReferenceID, o.ReferenceID) ||
		p.meaning != sms.StatusUnknown && status != sms.StatusUnknown && status != p.meaning
}

func (p *listPage) rowsOf(referenceID string) (rows []listedRow) {
	for i := range p.Transactions {
		if p.Transactions[i].ReferenceID != referenceID || p.Others[i] {
			continue
		}
		row := listedRow{Transaction: p.Transactions[i]}
		for _, unreadable := range p.Unreadable {
			if unreadable.Index == i {
				row.isDoubtful = unreadable.IsDoubtful()
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (p listPage) rowError(row codec.Unreadable) error {
	return &RowError{Page: p.place, Row: row.Index + 1, Field: row.Field, Reason: row.Reason}
}

// rowErrors joins the errors of the rows, at most 20, and the number of the rest.
func (p listPage) rowErrors() error {
	const most = 20
	var all []error
	for i, row := range p.Unreadable {
		if i == most {
			all = append(all, fmt.Errorf("messaging: sms.list: %d more rows of page %d cannot be read", len(p.Unreadable)-most, p.place))
			break
		}
		all = append(all, p.rowError(row))
	}
	return errors.Join(all...)
}

// pages walks over the pages of a listing and sees to it that the walk ends. A filter is the service's word: with isList, a listing whose
// rows all contradict it ends with an error, so that nobody takes it for an empty one. One that continues another may have had rows there.
func (s *SMSService) pages(ctx context.Context, options sms.ListOptions, isList bool) iter.Seq2[listPage, error] {
	query, seen := s.firstPage(options)
	meaning := s.core.smsList().codec.Status(options.Status)
	return func(yield func(listPage, error) bool) {
		tracker := newPageTracker(seen)
		kept, dropped := 0, 0
		for page, err := range s.fetch(ctx, query, options.PageSize, options.PagesAhead) {
			if err != nil {
				yield(listPage{}, err)
				return
			}
			page.options, page.meaning, page.tracker = &options, meaning, tracker
			if fault := tracker.follow(&page); fault != "" {
				const paging = ": the service does not page as the contract says (sms.list.paging, sms.list.params)"
				yield(listPage{}, s.listError(fault+paging))
				return
			}
			page.tally(&kept, &dropped)
			if !yield(page, nil) {
				return
			}
			if page.Full != "" {
				yield(listPage{}, s.listError(page.Full))
				return
			}
			if page.Last {
				break
			}
		}
		if isList && dropped > 0 && kept == 0 && options.After == "" {
			const reason = "the service listed only rows that contradict the options: it does not filter as the contract says " +
				"(sms.list.params)"
			yield(listPage{}, s.listError(reason, ErrFilterIgnored))
		}
	}
}

// firstPage returns the query of the page that a listing begins with, and the rows that came before it.
func (s *SMSService) firstPage(options sms.ListOptions) (query wire.Query, seen []uint64) {
	list := s.core.smsList()
	query = options.Query()
	query.Extra = http.Header(query.Extra).Clone() // the caller may change its own
	list.codec.Widen(&query)
	found := wire.Checks(query.Problems)
	if options.After != "" {
		var reason string
		query.At, seen, reason = list.codec.ParsePosition(options.After, options.PageSize)
		found.Found("After", reason)
	}
	if _, numbered := list.codec.After(query.At); !numbered {
		const reason = "must be 0: the contract does not page by number (sms.list.paging.by)"
		if options.Page > 0 {
			found.Found("Page", reason)
		}
		if options.PagesAhead > 0 {
			found.Found("PagesAhead", reason)
		}
	}
	query.Problems = found
	return query, seen
}

// fetch requests page after page, up to ahead of them concurrently beyond the first, and yields them in order. It ends with the
// last page or the first error, and leaves nothing running.
func (s *SMSService) fetch(ctx context.Context, query wire.Query, pageSize, ahead int) iter.Seq2[listPage, error] {
	if ahead > 0 && len(query.Problems) == 0 && ctx != nil {
		return s.fetchAhead(ctx, query, pageSize, ahead)
	}
	return func(yield func(listPage, error) bool) {
		var reuse []sms.Transaction
		for place := 1; ; place++ {
			page, err := s.fetchOne(ctx, query, pageSize, place, reuse)
			if !yield(page, err) || err != nil || page.Last {
				return
			}
			query.At, reuse = page.Next, page.Transactions
		}
	}
}

// mostRows bounds the rows of all pages that are fetched at once. A single page may have ten times its page size.
const mostRows = 100_000

func (s *SMSService) fetchAhead(ctx context.Context, query wire.Query, pageSize, ahead int) iter.Seq2[listPage, error] {
	list := s.core.smsList()
	type result struct {
		page listPage
		err  error
	}
	return func(yield func(listPage, error) bool) {
		pageSize = min(cmp.Or(pageSize, mostRows), max((pageSize+9)/10, mostRows/10/(ahead+1)))
		within, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		var pending []chan result // in page order
		begun := 0                // how many pages of the listing, from its first
		second, _ := list.codec.After(wire.Position{})
		begin := func() {
			next, _ := list.codec.After(query.At)
			begun = next.Number - second.Number + 1
			done := make(chan result, 1)
			pending = append(pending, done)
			q := query
			running.Go(func() {
				page, err := s.fetchOne(within, q, pageSize, 0, nil)
				done <- result{page, err}
			})
			query.At = next
		}
		total := 0 // pages of the listing, once a page said so
		for {
			for len(pending) <= ahead && (total == 0 || begun < total || len(pending) == 0) {
				begin()
			}
			r := <-pending[0]
			pending = pending[1:]
			if !yield(r.page, r.err) || r.err != nil || r.page.Last {
				return
			}
			total = max(total, r.page.TotalPages)
		}
	}
}

// fetchOne requests one page. Its records may take the place of those in reuse.
func (s *SMSService) fetchOne(ctx context.Context, query wire.Query, pageSize, place int, reuse []sms.Transaction) (listPage, error) {
	list := s.core.smsList()
	request, problems := list.codec.Encode(query)
	page, isFresh, err := read(ctx, s.core, list, query.Params, request, problems, func(body []byte) (codec.Page, codec.Failure, error) {
		return list.codec.Decode(body, query.At, pageSize, reuse)
	})
	if err != nil {
		return listPage{}, err
	}
	if next, numbered := list.codec.After(query.At); numbered {
		place = next.Number - 1
	}
	return listPage{Page: page, place: place, isFresh: isFresh}, nil
}

// pageTracker remembers the rows of the last two pages, and what shows that a listing runs in a circle of any length.
type pageTracker struct {
	last  [2]trackedPage
	pages int
	// The page at place 1, 2, 4, 8, … is marked: a circle brings the marked page again before the mark moves on.
	current, marked uint64
	markedAt        int
	stale, empty    int // pages in a row without a new row, and without any
	text            []byte
}

type trackedPage struct {
	keys []uint64
	set  map[uint64]struct{}
}

func (p *trackedPage) replace(keys []uint64) {
	p.keys = keys
	if p.set == nil {
		p.set = make(map[uint64]struct{}, len(keys))
	}
	clear(p.set)
	for _, key := range keys {
		p.set[key] = struct{}{}
	}
}

// newPageTracker returns a tracker for a listing that goes on after the given rows, if there are any.
func newPageTracker(seen []uint64) *pageTracker {
	t := &pageTracker{}
	if seen != nil {
		t.last[1].replace(seen)
		t.pages = 2
	}
	return t
}

// follow remembers a page, and which of its rows were on the pages before. It returns why the listing would not end, or "".
func (t *pageTracker) follow(page *listPage) (fault string) {
	const mostEmpty = 1000 // pages in a row, of a service that filters after it has cut its pages
	if t.empty++; len(page.Transactions) > 0 {
		t.empty = 0
	}
	fresh := 0
	if !page.Last || t.pages > 0 {
		page.repeated, fresh = t.add(page.Transactions)
	}
	switch {
	case fresh > 0:
		t.stale = 0
	case len(page.Transactions) > 0 && t.pages > 0:
		t.stale++
	}
	switch {
	case fresh > 0 && t.cycle():
		return "a page came again after others"
	case t.empty > mostEmpty:
		return "a thousand pages in a row have no rows"
	case t.stale > 1:
		return "two pages in a row have only rows that were on the pages before"
	}
	return ""
}

// add remembers the rows of a page. It returns which of them were on the last two pages, or nil if none was, and how many were
// not.
func (t *pageTracker) add(rows []sms.Transaction) (repeated []bool, fresh int) {
	keys := make([]uint64, len(rows))
	whole := fnv.New64a()
	for i := range rows {
		keys[i] = t.key(&rows[i])
		t.text = binary.BigEndian.AppendUint64(t.text[:0], keys[i])
		_, _ = whole.Write(t.text)
		_, onLast := t.last[0].set[keys[i]]
		_, onOther := t.last[1].set[keys[i]]
		if !onLast && !onOther {
			fresh++
			continue
		}
		if repeated == nil {
			repeated = make([]bool, len(rows))
		}
		repeated[i] = true
	}
	t.last[t.pages%2].replace(keys)
	t.current = whole.Sum64()
	t.pages++
	return repeated, fresh
}

func (t *pageTracker) recent() []uint64 {
	return slices.Concat(t.last[t.pages%2].keys, t.last[(t.pages+1)%2].keys)
}

// cycle reports whether the page that was added last is the marked one, and moves the mark.
func (t *pageTracker) cycle() bool {
	again := t.markedAt > 0 && t.current == t.marked
	if t.pages > t.markedAt {
		t.marked, t.markedAt = t.current, max(1, 2*t.markedAt)
	}
	return again
}

// key identifies a row, also in another process: by its ID, or by everything it holds if it has none.
func (t *pageTracker) key(r *sms.Transaction) uint64 {
	if t.text = append(t.text[:0], r.ID...); r.ID == "" {
		t.text = fmt.Appendf(t.text, "%#v", *r)
	}
	h := fnv.New64a()
	_, _ = h.Write(t.text)
	return h.Sum64()
}
