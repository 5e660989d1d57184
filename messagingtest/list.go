package messagingtest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
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

// lists returns the operation that lists.
func (s *Server) lists(t table.List) operation {
	params := maps.Clone(t.Params)
	maps.DeleteFunc(params, func(concept, _ string) bool { // what is for other kinds of paging
		return isPosition(concept) && concept != t.Paging.By || concept == "pageSize" && t.Paging.By == "none"
	})
	op := s.newOperation(t.Method, table.Send{
		Path: t.Path, Headers: t.Headers, Encoding: t.Encoding, Fields: params, Constants: t.Constants, Time: t.Time, Zone: t.Zone,
	})
	op.handle = func(_ string, f fields) (any, *problem) {
		s.mu.Lock()
		defer s.mu.Unlock()
		q, p := readListing(t, f)
		if p != nil {
			return nil, p
		}
		page, ok := s.page(q)
		return page, refuseIf(!ok, codeCursor, "the cursor does not belong to these filters and this order")
	}
	return op
}

func isPosition(concept string) bool {
	return slices.Contains([]string{"page", "offset", "cursor"}, concept)
}

// readListing returns the listing that a request asks for, or the first problem of its parameters.
func readListing(t table.List, f fields) (listing, *problem) {
	q := listing{sortBy: "created", descending: true, size: defaultPageSize, number: t.Paging.First}
	for name := range f.extra {
		return q, &problem{codeQuery, strconv.QuoteToASCII(name) + " is no parameter of this listing"}
	}
	key := url.Values{}
	for _, concept := range slices.Sorted(maps.Keys(f.Fields)) {
		if !f.has(concept) {
			continue
		}
		name, value := f.name(concept), plainOf(f.values[f.name(concept)])
		if p := cmp.Or(refuseIf(value == "", codeQuery, name+" is empty"), q.set(t, f, concept, value)); p != nil {
			return q, p
		}
		if !isPosition(concept) && concept != "pageSize" {
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
		limit, ok := f.times.parse(value)
		q.filters = append(q.filters, func(r *row) bool {
			if concept == "createdBefore" {
				return r.created.Before(limit)
			}
			return r.created.After(limit)
		})
		return refuseIf(!ok, codeTime, name+" is not a time of the contract's form")
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
		return refuseIf(q.sortBy == "", codeSort, name+" is no member of a row")
	case "order":
		up, down := t.Orders["ascending"], t.Orders["descending"]
		return refuseIf(value != up && value != down, codeSort, name+" is neither "+up+" nor "+down)
	default:
		column := columns()[cmp.Or(map[string]string{"status": "deliveryStatus"}[concept], concept)]
		q.filters = append(q.filters, func(r *row) bool { return column(r) == any(value) })
		if concept == "reference" {
			q.reference = value
		}
	}
	return nil
}

// columnAt returns the concept that rows have at a path, or "".
func columnAt(t table.List, path string) string {
	for concept, paths := range t.Record {
		if len(paths) > 0 && paths[0] == path {
			return concept
		}
	}
	return ""
}

func readNumber(name, value string, least, most int, target *int) *problem {
	n, err := strconv.ParseUint(value, 10, 31)
	*target = int(n)
	isWrong := err != nil || int(n) < least || int(n) > most
	return refuseIf(isWrong, codeNumber, fmt.Sprintf("%s is not a number from %d to %d", name, least, most))
}

// shown returns a value of a column as a listing has it.
func (l *ledger) shown(value any, t table.List) any {
	switch v := value.(type) {
	case amount:
		return v.text(t.Money)
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

// show returns a row as listings have it.
func (l *ledger) show(r *row, t table.List, all map[string]func(*row) any) any {
	var row any = make(document, len(all)+len(r.Extra))
	for _, concept := range slices.Sorted(maps.Keys(t.Record)) {
		if value := all[concept]; value != nil {
			row = placeFirst(row, t.Record[concept], l.shown(value(r), t))
		}
	}
	if members, ok := row.(document); ok {
		for name, value := range r.Extra {
			if _, taken := members[name]; !taken {
				members[name] = value
			}
		}
	}
	return row
}

// matches reports whether a row is in the listing.
func (l listing) matches(r *row) bool {
	isMissed := func(filter func(*row) bool) bool { return !filter(r) }
	return r.Channel == ChannelSMS && !slices.ContainsFunc(l.filters, isMissed)
}

// compare returns the order of the listing. No two rows are equal in it, so that its pages agree with each other.
func (l listing) compare() func(a, b *row) int {
	value, sign := columns()[l.sortBy], 1
	if l.descending {
		sign = -1
	}
	return func(a, b *row) int {
		return sign * cmp.Or(compareValues(value(a), value(b)), cmp.Compare(a.order, b.order))
	}
}

// compareValues compares two values of a column. Nil is less than any text.
func compareValues(a, b any) int {
	switch a := a.(type) {
	case int:
		return cmp.Compare(a, b.(int))
	case amount:
		return cmp.Compare(a, b.(amount))
	case time.Time:
		return a.Compare(b.(time.Time))
	}
	s, _ := a.(string)
	t, _ := b.(string)
	return cmp.Compare(s, t)
}

// list returns the rows that are listed by now.
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
