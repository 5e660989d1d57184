package messagingtest

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// A listing is a request for one page: which rows are listed, in which order, and where the page is.
type listing struct {
	contract table.List

	key        string // equal for equal filters and orders
	filters    []func(*row) bool
	reference  string // filters by this reference ID, unless it is empty
	sortBy     string // a concept of a row
	descending bool

	size   int    // rows on a page
	number int    // of the page, as the contract counts
	offset int    // of the first row
	cursor string // empty for the first page
}

// listOperation returns the operation that lists SMS.
func (s *Server) listOperation(t table.List) operation {
	t.Read.Params = maps.Clone(t.Params)
	maps.DeleteFunc(t.Read.Params, func(concept, _ string) bool { return belongsToOtherPaging(concept, t.Paging.By) })
	return s.readOperation(t.Read, func(f fields) (any, *problem) {
		q, p := readListing(t, f)
		if p != nil {
			return nil, p
		}
		return s.page(q)
	})
}

// belongsToOtherPaging reports whether a parameter is for another kind of paging.
func belongsToOtherPaging(concept, paging string) bool {
	switch concept {
	case "page", "offset", "cursor":
		return concept != paging
	case "pageSize":
		return paging == "none"
	default:
		return false
	}
}

// readOperation returns an operation that reads. The server holds its lock while handle runs.
func (s *Server) readOperation(t table.Read, handle func(f fields) (any, *problem)) operation {
	op := newOperation(t.Method, table.Send{Operation: t.Operation, Fields: t.Params})
	op.handle = func(_ string, f fields) (any, *problem) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return handle(f)
	}
	return op
}

// readListing returns the listing that a request asks for, or the first problem of its parameters.
func readListing(t table.List, f fields) (listing, *problem) {
	q := listing{contract: t, sortBy: "created", descending: true, size: defaultPageSize, number: t.Paging.First}
	if len(f.extra) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(f.extra)))
		return q, &problem{"query", strconv.QuoteToASCII(name) + " is not a parameter of this listing"}
	}
	key := url.Values{}
	for _, concept := range slices.Sorted(maps.Keys(f.op.contract.Fields)) {
		if !f.has(concept) {
			continue
		}
		name := f.name(concept)
		value := fmt.Sprint(f.values[name])
		if value == "" {
			return q, &problem{"query", name + " is empty"}
		}
		isPosition, p := q.setPosition(concept, name, value)
		if p != nil {
			return q, p
		}
		if isPosition {
			continue
		}
		if p = q.setFilter(f, concept, value); p != nil {
			return q, p
		}
		key.Set(concept, value)
	}
	if f.has("order") || f.has("sortBy") {
		q.descending = key.Get("order") == t.Orders["descending"]
	}
	q.key = key.Encode()
	return q, nil
}

// setPosition sets where the page is, and reports whether the parameter says that.
func (q *listing) setPosition(concept, name, value string) (bool, *problem) {
	switch concept {
	case "pageSize":
		return true, readNumber(name, value, 1, maxPageSize, &q.size)
	case "page":
		return true, readNumber(name, value, q.contract.Paging.First, math.MaxInt32, &q.number)
	case "offset":
		return true, readNumber(name, value, 0, math.MaxInt32, &q.offset)
	case "cursor":
		q.cursor = value
		return true, nil
	default:
		return false, nil
	}
}

func readNumber(name, value string, least, most int, target *int) *problem {
	n, err := strconv.ParseUint(value, 10, 31)
	*target = int(n)
	if err != nil || *target < least || *target > most {
		return &problem{"number", fmt.Sprintf("%s is not a number from %d to %d", name, least, most)}
	}
	return nil
}

// setFilter sets which rows are listed, and in which order.
func (q *listing) setFilter(f fields, concept, value string) *problem {
	name := f.name(concept)
	switch concept {
	case "createdAfter", "createdBefore":
		limit, ok := f.op.times.parse(value)
		if !ok {
			return &problem{"time", name + " is not a time in the form of the contract"}
		}
		q.filters = append(q.filters, func(r *row) bool {
			if concept == "createdAfter" {
				return r.created.After(limit)
			}
			return r.created.Before(limit)
		})
	case "sortBy":
		q.sortBy = columnAt(q.contract, value)
		if q.sortBy == "" {
			return &problem{"sort", name + " is not a member of a row"}
		}
	case "order":
		up, down := q.contract.Orders["ascending"], q.contract.Orders["descending"]
		if value != up && value != down {
			return &problem{"sort", name + " is neither " + up + " nor " + down}
		}
	default:
		q.filters = append(q.filters, equals(concept, value))
		if concept == "reference" {
			q.reference = value
		}
	}
	return nil
}

// equals returns a filter for rows that have a value in the column of a parameter.
func equals(concept, value string) func(*row) bool {
	if concept == "status" {
		concept = "deliveryStatus"
	}
	valueOf := columns()[concept]
	return func(r *row) bool { return valueOf(r) == any(value) }
}

// columnAt returns the concept of a column, by its name in a request to sort or its path in a row.
func columnAt(t table.List, path string) string {
	for concept, name := range t.Sorts {
		if name == path && path != "" {
			return concept
		}
	}
	for _, concept := range slices.Sorted(maps.Keys(t.Record)) { // id before reference, if both have the same path
		if paths := t.Record[concept]; len(paths) > 0 && paths[0] == path {
			return concept
		}
	}
	return ""
}

// formatColumn returns the value of a row in a column as the contract has it.
func (l *ledger) formatColumn(r *row, valueOf column, t table.List) any {
	switch v := valueOf(r).(type) {
	case amount:
		return v.withCurrency(r.listedCurrency(), t.Record["currency"], t.Scale)
	case time.Time:
		text := l.times.text(v)
		if strings.HasPrefix(l.times.form, "unix") {
			return numberOrText(text)
		}
		return nilIfEmpty(text)
	default:
		return v
	}
}

// formatRow returns a row as JSON.
func (l *ledger) formatRow(r *row, t table.List, all map[string]column) any {
	values := document{}
	for concept, valueOf := range all {
		values[concept] = l.formatColumn(r, valueOf, t)
	}
	item := document{}
	placeAll(item, t.Record, values)
	for name, value := range r.Extra {
		if _, isTaken := item[name]; !isTaken {
			item[name] = value
		}
	}
	for path, words := range t.Only {
		placeFirst(item, []string{path}, firstWord(words))
	}
	for name, value := range r.Row {
		item[name] = value
	}
	return item
}

func (q listing) matches(r *row) bool {
	for _, filter := range q.filters {
		if !filter(r) {
			return false
		}
	}
	return r.Channel == channelSMS
}

// compare returns the order of the listing. No two rows are equal in it, so that its pages agree with each other.
func (q listing) compare() func(a, b *row) int {
	valueOf := columns()[q.sortBy]
	return func(a, b *row) int {
		order := cmp.Or(compareValues(valueOf(a), valueOf(b)), cmp.Compare(a.order, b.order))
		if q.descending {
			return -order
		}
		return order
	}
}

// compareValues compares two values of a column. Nil is less than any text.
func compareValues(a, b any) int {
	switch a := a.(type) {
	case int, amount:
		return cmp.Compare(reflect.ValueOf(a).Int(), reflect.ValueOf(b).Int())
	case time.Time:
		return a.Compare(b.(time.Time))
	default:
		return cmp.Compare(textOf(a), textOf(b))
	}
}

func textOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// list returns all rows of a listing, in order.
func (l *ledger) list(q listing) []*row {
	if rows, ok := l.sorted[q.key]; ok {
		return rows
	}
	// A client that settles many messages looks up each one. Without the index, each lookup would go through the whole ledger.
	candidates := l.rows
	if q.reference != "" {
		candidates = l.byReference[q.reference]
	}
	var rows []*row
	now := l.now()
	for _, r := range candidates {
		isListed := l.lag <= 0 || now.Sub(r.At) >= l.lag
		if isListed && q.matches(r) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, q.compare())
	if q.reference == "" && l.lag <= 0 { // with a lag, the rows depend on the time
		l.sorted = map[string][]*row{q.key: rows}
	}
	return rows
}

// cursorAfter returns a function that returns the cursor of the page after a row. If the contract has no cursor in the row, it
// holds the listing that it belongs to. Its first character has a meaning in a query: a client has to escape it.
func (q listing) cursorAfter(l *ledger) func(last *row) string {
	if _, inRow := q.contract.CursorInLastRow(); len(inRow) > 0 {
		valueOf := columns()[columnAt(q.contract, inRow[0])]
		return func(last *row) string { return fmt.Sprint(l.formatColumn(last, valueOf, q.contract)) }
	}
	return func(last *row) string {
		return "&cursor=" + base64.StdEncoding.EncodeToString([]byte(q.key+"\n"+last.ID))
	}
}

// start returns the index of the first row of the page, or reports false if its cursor is wrong.
func (q listing) start(l *ledger, rows []*row) (int, bool) {
	if q.cursor == "" {
		pages := int64(q.number - q.contract.Paging.First)
		skipped := int64(q.offset) + pages*int64(q.size)
		return int(min(skipped, int64(len(rows)))), true
	}
	cursor := q.cursorAfter(l)
	for i, r := range slices.Backward(rows) {
		if cursor(r) == q.cursor {
			return i + 1, true
		}
	}
	return 0, false
}

// page returns the response to a listing.
func (s *Server) page(q listing) (any, *problem) {
	applied := q
	if s.ignoreFilter {
		applied.key = fmt.Sprint("all rows ", q.sortBy, q.descending)
		applied.filters = nil
		applied.reference = ""
	}
	rows := s.ledger.list(applied)
	start, ok := q.start(&s.ledger, rows)
	if !ok {
		return nil, &problem{"cursor", "the cursor does not belong to these filters and this order"}
	}
	return q.format(&s.ledger, rows, start), nil
}

// format returns the page that begins at start as a response.
func (q listing) format(l *ledger, rows []*row, start int) any {
	size := q.size
	if q.contract.Paging.By == "none" {
		size = cmp.Or(q.contract.Paging.Most, len(rows))
	}
	end := min(start+size, len(rows))
	items := []any{}
	all := columns()
	for _, r := range rows[start:end] {
		items = append(items, l.formatRow(r, q.contract, all))
	}
	page, _ := place(nil, q.contract.Items[0], items)
	paths, _ := q.contract.CursorInLastRow()
	return placeAll(page, paths, q.pagingValues(l, rows, end))
}

// pagingValues returns what a response says about its place among the pages. Concepts of other kinds of paging are left out: a
// client could take a null for the end.
func (q listing) pagingValues(l *ledger, rows []*row, end int) map[string]any {
	hasNext := end < len(rows)
	values := map[string]any{"total": len(rows)}
	if q.contract.Paging.By != "none" {
		values["size"] = q.size
		values["hasNext"] = hasNext
	}
	switch q.contract.Paging.By {
	case "page":
		values["pages"] = (len(rows) + q.size - 1) / q.size
		values["number"] = q.number
		values["next"] = nil
		if hasNext {
			values["next"] = q.number + 1
		}
	case "cursor":
		values["next"] = nil
		if hasNext {
			values["next"] = q.cursorAfter(l)(rows[end-1])
		}
	}
	return values
}

// IgnoreFilter sets whether the server lists all rows, regardless of the filters of the request. The filters are still read,
// and refused if they are invalid. Order and paging stay.
func (s *Server) IgnoreFilter(on bool) { s.set(func() { s.ignoreFilter = on }) }

// SetLag delays the listing of messages until d has passed since [Sent.At], for messages in the ledger too. Both real time
// and the time of [Server.Advance] count.
func (s *Server) SetLag(d time.Duration) {
	s.set(func() {
		s.ledger.lag = d
		s.ledger.sorted = nil
	})
}
