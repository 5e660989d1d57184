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

var positions = []string{"page", "offset", "cursor"} //nolint:gochecknoglobals // never written

// listing is a request for one page: which rows are listed, in which order, and where the page is.
type listing struct {
	key        string // equal for equal filters and orders
	filters    []func(*row) bool
	reference  string // that is filtered by, if any
	sortBy     string // a concept of a row
	descending bool

	size   int    // rows on a page
	number int    // of the page, as the contract counts
	offset int    // of the first row
	cursor string // empty: the first page
}

func (s *Server) lists(t table.List) operation {
	t.Read.Params = maps.Clone(t.Params)
	maps.DeleteFunc(t.Read.Params, func(concept, _ string) bool { // what is for other kinds of paging
		return slices.Contains(positions, concept) && concept != t.Paging.By || concept == "pageSize" && t.Paging.By == "none"
	})
	return s.reads(t.Read, func(f fields) (any, *problem) {
		q, p := readListing(t, f)
		if p != nil {
			return nil, p
		}
		page, ok := s.page(q)
		return page, refuseIf(!ok, "cursor", "the cursor does not belong to these filters and this order")
	})
}

// reads returns an operation that reads. Its handle holds the lock.
func (s *Server) reads(t table.Read, handle func(f fields) (any, *problem)) operation {
	op := s.newOperation(t.Method, table.Send{Operation: t.Operation, Fields: t.Params})
	op.handle = func(_ string, f fields) (result any, p *problem) {
		s.set(func() { result, p = handle(f) })
		return result, p
	}
	return op
}

// readListing returns the listing that a request asks for, or the first problem of its parameters.
func readListing(t table.List, f fields) (listing, *problem) {
	q := listing{sortBy: "created", descending: true, size: defaultPageSize, number: t.Paging.First}
	for name := range f.extra {
		return q, &problem{"query", strconv.QuoteToASCII(name) + " is no parameter of this listing"}
	}
	key := url.Values{}
	for _, concept := range slices.Sorted(maps.Keys(f.Fields)) {
		if !f.has(concept) {
			continue
		}
		name, value := f.name(concept), fmt.Sprint(f.values[f.name(concept)])
		if p := cmp.Or(refuseIf(value == "", "query", name+" is empty"), q.set(t, f, concept, value)); p != nil {
			return q, p
		}
		if !slices.Contains(positions, concept) && concept != "pageSize" {
			key.Set(concept, value)
		}
	}
	if f.has("order") || f.has("sortBy") {
		q.descending = key.Get("order") == t.Orders["descending"]
	}
	q.key = key.Encode()
	return q, nil
}

func (q *listing) set(t table.List, f fields, concept, value string) *problem {
	name := f.name(concept)
	switch concept {
	case "createdAfter", "createdBefore":
		limit, _ := f.times.parse(value)
		q.filters = append(q.filters, func(r *row) bool {
			if concept == "createdAfter" {
				return r.created.After(limit)
			}
			return r.created.Before(limit)
		})
		return f.checkWord(name, value, "time")
	case "pageSize":
		return readNumber(name, value, 1, maxPageSize, &q.size)
	case "page":
		return readNumber(name, value, t.Paging.First, math.MaxInt32, &q.number)
	case "offset":
		return readNumber(name, value, 0, math.MaxInt32, &q.offset)
	case "cursor":
		q.cursor = value
	case "sortBy":
		q.sortBy = columnAt(t, value)
		return refuseIf(q.sortBy == "", "sort", name+" is no member of a row")
	case "order":
		up, down := t.Orders["ascending"], t.Orders["descending"]
		return refuseIf(value != up && value != down, "sort", name+" is neither "+up+" nor "+down)
	default:
		column := columns()[cmp.Or(map[string]string{"status": "deliveryStatus"}[concept], concept)]
		q.filters = append(q.filters, func(r *row) bool { return column(r) == any(value) })
		if concept == "reference" {
			q.reference = value
		}
	}
	return nil
}

// columnAt returns the concept of a column, or of a member of a row.
func columnAt(t table.List, path string) string {
	for concept, column := range t.Sorts {
		if column == path && path != "" {
			return concept
		}
	}
	for _, concept := range slices.Sorted(maps.Keys(t.Record)) { // id before reference, where both stand in one place
		if paths := t.Record[concept]; len(paths) > 0 && paths[0] == path {
			return concept
		}
	}
	return ""
}

func readNumber(name, value string, least, most int, target *int) *problem {
	n, err := strconv.ParseUint(value, 10, 31)
	*target = int(n)
	isWrong := err != nil || int(n) < least || int(n) > most
	return refuseIf(isWrong, "number", fmt.Sprintf("%s is not a number from %d to %d", name, least, most))
}

func (l *ledger) shown(value any, t table.List) any {
	switch v := value.(type) {
	case amount:
		return v.beside(t.Record["currency"], t.Scale)
	case time.Time:
		text := l.times.text(v)
		if strings.HasPrefix(l.times.form, "unix") {
			return numberOrText(text)
		}
		return orNull(text)
	default:
		return value
	}
}

func (l *ledger) show(r *row, t table.List, all map[string]func(*row) any) any {
	row, values := document{}, document{}
	for concept, value := range all {
		values[concept] = l.shown(value(r), t)
	}
	placeAll(row, t.Record, values)
	for name, value := range r.Extra {
		if _, taken := row[name]; !taken {
			row[name] = value
		}
	}
	for path, words := range t.Only {
		placeFirst(row, []string{path}, firstWord(words))
	}
	return row
}

func (q listing) matches(r *row) bool {
	isMissed := func(filter func(*row) bool) bool { return !filter(r) }
	return r.Channel == ChannelSMS && !slices.ContainsFunc(q.filters, isMissed)
}

// compare returns the order of the listing. No two rows are equal in it, so that its pages agree with each other.
func (q listing) compare() func(a, b *row) int {
	value, sign := columns()[q.sortBy], 1
	if q.descending {
		sign = -1
	}
	return func(a, b *row) int {
		return sign * cmp.Or(compareValues(value(a), value(b)), cmp.Compare(a.order, b.order))
	}
}

// compareValues compares two values of a column. Nil is less than any text.
func compareValues(a, b any) int {
	switch a := a.(type) {
	case int, amount:
		return cmp.Compare(reflect.ValueOf(a).Int(), reflect.ValueOf(b).Int())
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	text := func(v any) string { return strings.TrimPrefix(fmt.Sprint(v), "<nil>") }
	return cmp.Compare(text(a), text(b))
}

func (l *ledger) list(q listing) []*row {
	if rows, ok := l.sorted[q.key]; ok {
		return rows
	}
	// A client that settles many messages looks up each: without the index, that would go through the ledger for each.
	candidates := l.rows
	if q.reference != "" {
		candidates = l.byReference[q.reference]
	}
	var rows []*row
	now := l.now()
	for _, r := range candidates {
		if q.matches(r) && (r.foreign || l.lag <= 0 || now.Sub(r.At) >= l.lag) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, q.compare())
	if q.reference == "" && l.lag <= 0 { // with a lag, the rows depend on the time
		l.sorted = map[string][]*row{q.key: rows}
	}
	return rows
}

// cursors returns the cursors of the pages behind rows. One that is not in the row holds the listing that it belongs to, and
// begins with a character that means something else in a query, if it is not escaped.
func (q listing) cursors(l *ledger, t table.List) func(last *row) string {
	if _, inRow := t.CursorInLastRow(); len(inRow) > 0 {
		column := columns()[columnAt(t, inRow[0])]
		return func(last *row) string { return fmt.Sprint(l.shown(column(last), t)) }
	}
	return func(last *row) string {
		return "&cursor=" + base64.StdEncoding.EncodeToString([]byte(q.key+"\n"+last.ID))
	}
}

// start returns the index of the first row of the page, or reports false if its cursor is wrong.
func (q listing) start(l *ledger, t table.List, rows []*row) (int, bool) {
	if q.cursor == "" {
		skipped := int64(q.offset) + int64(q.number-t.Paging.First)*int64(q.size)
		return int(min(skipped, int64(len(rows)))), true
	}
	cursor := q.cursors(l, t)
	for i, r := range slices.Backward(rows) {
		if cursor(r) == q.cursor {
			return i + 1, true
		}
	}
	return 0, false
}

// cut returns the page that begins at start as a response, and reports whether another follows. What a kind of paging does not
// have is left out: a client could take a null for the end.
func (q listing) cut(l *ledger, t table.List, rows []*row, start int) (page any, hasNext bool) {
	if t.Paging.By == "none" {
		q.size = cmp.Or(t.Paging.Most, len(rows))
	}
	end := min(start+q.size, len(rows))
	hasNext = end < len(rows)
	items, all := []any{}, columns()
	for _, r := range rows[start:end] {
		items = append(items, l.show(r, t, all))
	}
	values := map[string]any{"total": len(rows), "size": q.size, "hasNext": hasNext}
	switch t.Paging.By {
	case "page":
		values["pages"], values["number"], values["next"] = (len(rows)+q.size-1)/q.size, q.number, nil
		if hasNext {
			values["next"] = q.number + 1
		}
	case "cursor":
		values["next"] = nil
		if hasNext {
			values["next"] = q.cursors(l, t)(rows[end-1])
		}
	case "none":
		values = map[string]any{"total": len(rows)}
	}
	page, _ = place(nil, t.Items[0], items)
	paths, _ := t.CursorInLastRow()
	return placeAll(page, paths, values), hasNext
}

// ShiftRows makes n transactions arrive in front of all rows after each response that is not the last of its listing, so that
// the last n rows of a page are on the next page again. 0 ends it, as does [Server.Reset].
//
// Each arriving row is a copy of the first one, a millisecond newer (older if the oldest come first), with an ID of its own and
// no reference ID, unless the listing filters or sorts by it. It stays in listings, but is not in [Server.Sent]. If n is at
// least the page size, a listing does not end. ShiftRows panics if n is negative.
func (s *Server) ShiftRows(n int) {
	must(n >= 0, "ShiftRows(%d): the number of rows is negative", n)
	s.set(func() { s.ledger.shift = n })
}

// RepeatPage makes the given number of list responses repeat the one before them, as a stale cache does. The first page of a
// listing is never a repetition, and is not counted. RepeatPage panics if times is negative; 0 ends it.
func (s *Server) RepeatPage(times int) {
	must(times >= 0, "RepeatPage(%d): the number of responses is negative", times)
	s.set(func() { s.ledger.repeats = times })
}

// IgnoreFilter sets whether the server lists all rows, regardless of the filters of the request. The filters are still read,
// and refused if they are invalid. Order and paging stay.
func (s *Server) IgnoreFilter(on bool) { s.set(func() { s.ignoreFilter = on }) }

// SetLag delays the listing of messages until d has passed since [Sent.At], for messages in the ledger too. Both the time that
// really passes and the time of [Server.Advance] count.
func (s *Server) SetLag(d time.Duration) {
	s.set(func() { s.ledger.lag, s.ledger.sorted = d, nil })
}

func (s *Server) page(q listing) (any, bool) {
	applied := q
	if s.ignoreFilter {
		applied.key, applied.filters, applied.reference = fmt.Sprint("all rows ", q.sortBy, q.descending), nil, ""
	}
	rows := s.ledger.list(applied)
	start, ok := q.start(&s.ledger, s.names.SMSList, rows)
	if !ok {
		return nil, false
	}
	key := fmt.Sprint(q.size, " ", q.key)
	page, hasNext := s.ledger.previous[key]
	if start > 0 && hasNext && s.ledger.repeats > 0 {
		s.ledger.repeats--
	} else {
		page, hasNext = q.cut(&s.ledger, s.names.SMSList, rows, start)
	}
	if hasNext {
		s.ledger.previous[key] = page
		s.shiftRows(applied, rows[0])
	}
	return page, true
}

func (s *Server) shiftRows(l listing, first *row) {
	for range s.ledger.shift {
		m := first.Sent
		m.ID = s.ledger.newID(ChannelSMS)
		if l.reference == "" && l.sortBy != "reference" {
			m.ReferenceID = ""
		}
		sign := 1
		if !l.descending {
			sign = -1
		}
		if m.At = first.created; l.sortBy == "created" {
			m.At = m.At.Add(time.Duration(sign) * time.Millisecond)
		}
		first = s.ledger.newRow(m)
		first.foreign, first.order = true, sign*first.order
		if !l.matches(first) {
			return
		}
		s.ledger.enter(first)
	}
}
