package messaging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"net/url"
	"slices"

	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// List lists transactions (GET /api/sms), one after the other over all pages.
//
//	for tx, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: yesterday, PageSize: 500}) {
//		if errors.Is(err, messaging.ErrUnreadableRow) {
//			log.Print(err) // tx has the readable fields of the row
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(tx.ID, tx.DeliveryStatus)
//	}
//
// A page is requested when its first row is needed. A failed page is retried within the client's RetryPolicy. Ranging again lists from the
// beginning. Verdict says whether the message of a row was accepted.
//
// If a row cannot be read in full, the error matches ErrUnreadableRow, the Transaction has what could be read, and the loop may go on. Any
// other error ends the listing. Retryable then says whether and when to list again; to continue after the last page, use Pages. A listing that
// ends without an error is complete, except for rows that moved while it was read, and rows that the service left out of a page, which only
// Page.Total of Pages shows.
//
// A service may ignore a filter, so rows of another ID, ReferenceID or To are not yielded, and neither are rows outside of CreatedAfter and
// CreatedBefore. If there are such rows and none that matches, or only rows without a time, the listing ends with an error that matches
// ErrFilterIgnored. A listing ends without this error if it begins after a position (After), or if all of its rows are within the bounds of
// the request, which can be wider than CreatedAfter and CreatedBefore. All other options are up to the service.
//
// While messages are being sent or deleted, rows move between pages. A row that moves to the next page is yielded once. A row that moves further
// is yielded twice, and a row that moves to a page that was read already is missed, without an error. To prevent this, sort in ascending order by
// a column that does not change, or set CreatedBefore. If rows were deleted, Page.Total of Pages falls: list again. A page that repeats the one
// before it, and a cursor that comes again, end the listing with an error.
func (s *SMSService) List(ctx context.Context, options sms.ListOptions) iter.Seq2[sms.Transaction, error] {
	options.Extra = cloneValues(options.Extra) // the caller may change its own
	pages := s.pages(ctx, options)
	return func(yield func(sms.Transaction, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(sms.Transaction{}, err)
				return
			}
			for i := range page.Transactions {
				if page.isDropped[i] {
					continue
				}
				tx := page.Transactions[i]
				if !yield(tx, tx.ReadError) {
					return
				}
			}
		}
	}
}

// Pages lists like List, page by page, with the totals that the service reports. The last page may be empty.
//
// If rows cannot be read in full, Pages yields the page, with what could be read of them, and an error that matches ErrUnreadableRow and
// joins the first 20 of these rows. Each has its own ReadError. The listing goes on, and Next continues after them.
//
// To continue after a crash, store Page.Next in one transaction with the results of its page, and pass it as ListOptions.After with the same
// options. A crash between two pages then loses no page and counts none twice. After the last page Next is "", and the listing can still end with
// an error. Store that it is complete when the loop has ended without one, because an After of "" lists from the beginning.
//
// A listing shows the rows of the time at which each page is requested. It does not show a row that the service lists later, nor a later
// status or price of a row that it has shown. To sum up a day, begin some time after its end, with CreatedAfter, CreatedBefore and
// SortBy: sms.ByCreated, and list the whole day again for final statuses.
func (s *SMSService) Pages(ctx context.Context, options sms.ListOptions) iter.Seq2[sms.Page, error] {
	options.Extra = cloneValues(options.Extra) // the caller may change its own
	pages := s.pages(ctx, options)
	return func(yield func(sms.Page, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(sms.Page{}, err)
				return
			}
			p := sms.Page{
				Omitted:      page.omitted,
				Total:        page.Total,
				TotalPages:   page.TotalPages,
				Transactions: make([]sms.Transaction, 0, len(page.Transactions)),
			}
			for i := range page.Transactions {
				if !page.isDropped[i] {
					p.Transactions = append(p.Transactions, page.Transactions[i])
				}
			}
			if !page.Last {
				p.Next = s.core.smsList().codec.FormatPosition(page.Next, options, page.lastRow)
			}
			if !yield(p, page.rowErrors()) {
				return
			}
		}
	}
}

// Find looks a message up by its reference ID, on up to 100 pages of the listing, and returns the first row that has it. If a page has several,
// the message was sent more than once or the reference ID was used before: a warning is logged, and StepResult.Rows is their number.
//
// If the message is not listed, the error matches ErrNotListed; the message may still be listed later. If only other messages are listed, the
// error matches ErrFilterIgnored. Any other error says nothing about the message: more than 100 pages follow, the service claims rows and lists
// none, a cache responded in its place, or the lookup failed. Retryable then says whether and when to look again. An empty reference ID is a
// *ValidationError.
func (s *SMSService) Find(ctx context.Context, referenceID string) (sms.Transaction, error) {
	found, err := s.find(ctx, referenceID)
	if err != nil {
		return sms.Transaction{}, err
	}
	return found[0], nil
}

// find returns the rows with a reference ID on the first page that has any. There is at least one if there is no error.
func (s *SMSService) find(ctx context.Context, referenceID string) ([]sms.Transaction, error) {
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

// warnOfRows logs that a page of a lookup has several rows.
func (c *core) warnOfRows(ctx context.Context, referenceID string, rows int) {
	if c.settings.logger == nil {
		return
	}
	attrs := []slog.Attr{slog.Int("rows", rows)}
	if table.IsWord(referenceID) {
		attrs = append(attrs, slog.String("reference_id", referenceID))
	}
	c.settings.logger.LogAttrs(ctx, slog.LevelWarn, "messaging: several messages have one reference ID", attrs...)
}

// maxLookupPages is how many pages a lookup reads. A service that filters by reference ID has one.
const maxLookupPages = 100

// A lookup records what the pages of a listing say that have no row with the reference ID.
type lookup struct {
	pages        int
	isCut        bool   // more pages follow than a lookup reads
	others       bool   // there are rows of other messages
	isStale      bool   // a cache kept a page
	hiddenReason string // why a page without rows does not prove that there are none, or ""
	rowError     error  // of a row that could not be read
}

// search returns the rows with a reference ID on the first page that has any.
func (s *SMSService) search(ctx context.Context, referenceID string) ([]sms.Transaction, error) {
	if referenceID == "" {
		return nil, invalid(s.core.smsList().name, []wire.Problem{{Field: "referenceID", Reason: "required, but empty"}})
	}
	options := sms.ListOptions{ReferenceID: referenceID}
	var l lookup
	for page, err := range s.newListing(options).walk(ctx) {
		if err != nil {
			return nil, err
		}
		if rows := page.rowsOf(referenceID); len(rows) > 0 {
			return rows, nil // even if a field of theirs could not be read
		}
		l.add(page)
		if l.isCut {
			break
		}
	}
	return nil, s.notFound(&l)
}

// add adds a page. Rows that sms.list.only excludes say nothing about the filter: the service may list received messages as well.
func (l *lookup) add(page *listPage) {
	l.pages++
	l.isCut = l.pages == maxLookupPages && !page.Last
	l.isStale = l.isStale || !page.isFresh
	l.hiddenReason = cmp.Or(l.hiddenReason, page.HiddenReason)
	readable := len(page.Transactions) - len(page.Excluded)
	for _, row := range page.Unreadable {
		readable--
		l.rowError = page.rowError(row)
	}
	l.others = l.others || readable > 0
}

// notFound returns the error of a lookup that found no row.
func (s *SMSService) notFound(l *lookup) error {
	switch {
	case l.others:
		const reason = "the service listed other messages than the one looked for: it does not filter as the contract says " +
			"(sms.list.params.reference, sms.list.record.reference)"
		return s.listError(reason, ErrFilterIgnored)
	case l.rowError != nil:
		return l.rowError
	case l.hiddenReason != "":
		return s.listError(l.hiddenReason)
	case l.isCut:
		return s.listError(fmt.Sprintf("the lookup was cut off after %d pages without a message that has this reference ID", maxLookupPages))
	case l.isStale:
		return s.listError("no message with this reference ID is listed in a response from a cache (Age)")
	default:
		return s.listError("no message with this reference ID is listed", ErrNotListed, ErrNotFound)
	}
}

// listError returns the error of a listing whose responses are fine one by one.
func (s *SMSService) listError(reason string, classes ...error) error {
	return &Error{Operation: s.core.smsList().name, Attempts: 1, read: true, reason: reason, classes: classes}
}

// listPage is a page of a listing, and what becomes of its rows.
type listPage struct {
	codec.Page

	number    int    // for the error of a row
	isFresh   bool   // no cache kept the response
	isDropped []bool // by row: it is not yielded
	omitted   int    // rows that are not yielded because the options do not ask for them
	lastRow   string // ID of the last row up to here
}

func (p *listPage) rowsOf(referenceID string) (rows []sms.Transaction) {
	for i := range p.Transactions {
		if p.Transactions[i].ReferenceID != referenceID || p.Excluded[i] {
			continue
		}
		rows = append(rows, p.Transactions[i])
	}
	return rows
}

// setReadErrors sets the ReadError of each row that could not be read in full.
func (p *listPage) setReadErrors() {
	for _, row := range p.Unreadable {
		p.Transactions[row.Index].ReadError = p.rowError(row)
	}
}

func (p *listPage) rowError(row codec.UnreadableError) error {
	err := &rowError{page: p.number, problem: row}
	if id := p.Transactions[row.Index].ID; table.IsWord(id) {
		err.id = id
	}
	return err
}

// rowErrors joins the errors of the rows that are yielded, at most 20, and the number of the rest.
func (p *listPage) rowErrors() error {
	const most = 20
	var all []error
	more := 0
	for _, row := range p.Unreadable {
		switch {
		case p.isDropped[row.Index]:
		case len(all) < most:
			all = append(all, p.rowError(row))
		default:
			more++
		}
	}
	if more > 0 {
		all = append(all, fmt.Errorf("messaging: sms.list: %d more rows of page %d cannot be read", more, p.number))
	}
	return errors.Join(all...)
}

// rowError is a row of a listing that could not be read in full.
type rowError struct {
	page    int    // as it was requested, or its place in a listing without page numbers, from 1
	id      string // of the message, or "" if it could not be read or may be a phone number
	problem codec.UnreadableError
}

func (e *rowError) Error() string { return "messaging: sms.list: " + e.text() }

// text returns the place of the row, the ID of its message, and what is wrong with it.
func (e *rowError) text() string {
	place := fmt.Sprintf("row %d of page %d", e.problem.Index+1, e.page)
	if e.id != "" {
		place += " (ID " + e.id + ")"
	}
	return place + " cannot be read: " + e.problem.Error()
}

// Unwrap returns the problem, which the command outbox reads.
func (e *rowError) Unwrap() error { return e.problem }

// Is reports whether target is ErrUnreadableRow.
func (e *rowError) Is(target error) bool { return target == ErrUnreadableRow }

// listing is a walk over the pages of a listing.
type listing struct {
	service *SMSService
	options sms.ListOptions
	query   wire.Query // of the page that is requested next, with the bounds that are sent

	previous   map[string]struct{} // keys of the rows of the page before
	firstRow   string              // key of its first row
	lastRow    string              // ID of the last row so far
	isResumed  bool                // lastRow is that of the position, and no page has been read
	cursors    map[string]struct{} // all so far
	emptyPages int                 // in a row

	matching      int // rows so far that are what the options ask for
	contradicting int // rows so far
}

// newListing returns a listing that has requested nothing. Problems with its options are in its query.
func (s *SMSService) newListing(options sms.ListOptions) *listing {
	list := s.core.smsList().codec
	l := &listing{service: s, options: options, query: describe.SMSList(options), cursors: map[string]struct{}{}}
	list.Widen(&l.query)
	found := wire.Checks(l.query.Problems)
	if options.After != "" {
		var reason string
		l.query.At, l.lastRow, reason = list.ParsePosition(options.After, options)
		l.isResumed = true
		found.Add("After", reason)
	}
	if _, isNumbered := list.PageNumber(l.query.At); !isNumbered && options.Page > 0 {
		found.Add("Page", "must be 0: the contract does not page by number (sms.list.paging.by)")
	}
	l.query.Problems = found
	return l
}

// pages walks over the pages of a listing, whose options must not change. A listing whose rows all contradict the options ends with an error.
func (s *SMSService) pages(ctx context.Context, options sms.ListOptions) iter.Seq2[*listPage, error] {
	return func(yield func(*listPage, error) bool) {
		l := s.newListing(options)
		for page, err := range l.walk(ctx) {
			wantsMore := yield(page, err)
			if err != nil || !wantsMore {
				return
			}
		}
		if err := l.ignoredFilter(); err != nil {
			yield(nil, err)
		}
	}
}

// walk walks over the pages. Each is requested when it is needed. An error ends the walk.
func (l *listing) walk(ctx context.Context) iter.Seq2[*listPage, error] {
	return func(yield func(*listPage, error) bool) {
		var reuse []sms.Transaction
		for {
			page, err := l.request(ctx, reuse)
			if err == nil {
				err = l.sift(page)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			page.setReadErrors() // after sift, which compares rows
			if !yield(page, nil) {
				return
			}
			if page.CutReason != "" {
				yield(nil, l.service.listError(page.CutReason))
				return
			}
			if page.Last {
				return
			}
			if err := l.advance(page); err != nil {
				yield(nil, err)
				return
			}
			reuse = page.Transactions
		}
	}
}

// request requests one page. Its records may take the place of those in reuse.
func (l *listing) request(ctx context.Context, reuse []sms.Transaction) (*listPage, error) {
	list := l.service.core.smsList()
	request, problems := list.codec.Encode(l.query)
	decode := func(body []byte) (codec.Page, codec.Failure, error) {
		return list.codec.Decode(body, l.query.At, l.options.PageSize, reuse)
	}
	r := &reading[codec.Page, *codec.List]{
		core:     l.service.core,
		endpoint: list,
		params:   l.query.Params,
		request:  request,
		problems: problems,
		decode:   decode,
	}
	if err := r.perform(ctx); err != nil {
		return nil, err
	}
	number, isNumbered := list.codec.PageNumber(l.query.At)
	if !isNumbered {
		number = l.query.At.Pages + 1
		r.value.Next.Pages = number
	}
	return &listPage{Page: r.value, number: number, isFresh: r.isFresh}, nil
}

// cloneValues returns a deep copy of values.
func cloneValues(values url.Values) url.Values {
	clone := maps.Clone(values)
	for name := range clone {
		clone[name] = slices.Clone(clone[name])
	}
	return clone
}

// advance moves to the page after a page. It returns an error if the listing was there before.
func (l *listing) advance(page *listPage) error {
	l.query.At = page.Next
	cursor := page.Next.Cursor + page.Next.Link
	if cursor == "" {
		return nil
	}
	if _, isKnown := l.cursors[cursor]; isKnown {
		return l.pagingError("a cursor came again")
	}
	l.cursors[cursor] = struct{}{}
	return nil
}

func (l *listing) pagingError(fault string) error {
	return l.service.listError(fault + ": the service does not page as the contract says (sms.list.paging, sms.list.params)")
}
