package messagingtest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	defaultPageSize = 100
	maxPageSize     = 1000
)

// listing is which rows are listed, in which order.
type listing struct {
	key        string // equal for equal listings
	filters    []func(*row) bool
	reference  string // that is filtered by, if any
	sortBy     string // a concept of a row
	descending bool
}

// listRequest is a request for one page of a listing.
type listRequest struct {
	listing
	paging Paging
	size   int    // rows on a page
	number int    // of the page, from 1
	offset int    // of the first row
	cursor string // empty: the first page
}

func (s *Server) listSMS(_ string, r *http.Request, body []byte) (any, *problem) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	key, secret := s.names.auth["key"], s.names.auth["secret"]
	if p := s.authorize(r.Header, query[key], query[secret]); p != nil {
		return nil, p
	}
	switch {
	case len(body) > 0:
		return nil, &problem{codeBody, "a request that lists has no body"}
	case err != nil:
		return nil, &problem{codeQuery, "the query is malformed"}
	}
	query.Del(key)
	query.Del(secret)
	s.mu.Lock()
	defer s.mu.Unlock()
	q, p := s.names.list.read(query, s.paging)
	if p != nil {
		return nil, p
	}
	page, ok := s.page(q)
	return page, refuseIf(!ok, codeCursor, "the cursor does not belong to these filters and this order")
}

// read returns the request that a query makes, or its first problem.
func (n listNames) read(query url.Values, paging Paging) (listRequest, *problem) {
	concepts := n.params.inverted()
	newestFirst := listing{sortBy: "created", descending: true}
	q := listRequest{listing: newestFirst, paging: paging, size: defaultPageSize, number: 1}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		concept, values := concepts[name], query[name]
		switch {
		case concept == "" || !paging.hasParam(concept):
			return q, &problem{codeQuery, strconv.QuoteToASCII(name) + " is no parameter of this listing"}
		case len(values) > 1:
			return q, &problem{codeQuery, name + " comes more than once"}
		case values[0] == "" || !utf8.ValidString(values[0]):
			return q, &problem{codeQuery, name + " is empty, or not in UTF-8"}
		}
		if p := q.set(n, concept, values[0]); p != nil {
			return q, p
		}
	}
	if order := query.Get(n.params["order"]); order != "" || query.Has(n.params["sortBy"]) {
		q.descending = order == n.orders["descending"]
	}
	for _, concept := range []string{"page", "pageSize", "offset", "cursor"} {
		query.Del(n.params[concept])
	}
	q.key = query.Encode()
	return q, nil
}

// hasParam reports whether a listing with this paging has the parameter.
func (p Paging) hasParam(concept string) bool {
	switch concept {
	case "page", "offset", "cursor":
		return concept == string(p)
	case "pageSize":
		return p != Unpaged
	default:
		return true
	}
}

func (q *listRequest) set(n listNames, concept, value string) *problem {
	name := n.params[concept]
	switch concept {
	case "createdAfter", "createdBefore":
		limit, err := time.Parse(time.RFC3339Nano, strings.ToUpper(value)) // RFC 3339 has a T and a Z of either case
		q.filters = append(q.filters, func(r *row) bool {
			if concept == "createdBefore" {
				return r.created.Before(limit)
			}
			return r.created.After(limit)
		})
		return refuseIf(err != nil, codeTime, name+" is not a time of RFC 3339")
	case "pageSize":
		return readNumber(name, value, 1, maxPageSize, &q.size)
	case "page":
		return readNumber(name, value, 1, math.MaxInt32, &q.number)
	case "offset":
		return readNumber(name, value, 0, math.MaxInt32, &q.offset)
	case "cursor":
		q.cursor = value
	case "sortBy":
		q.sortBy = n.record.inverted()[value]
		return refuseIf(q.sortBy == "", codeSort, name+" is no member of a row")
	case "order":
		up, down := n.orders["ascending"], n.orders["descending"]
		return refuseIf(value != up && value != down, codeSort, name+" is neither "+up+" nor "+down)
	default:
		column := columns()[concept]
		q.filters = append(q.filters, func(r *row) bool { return column(r) == any(value) })
		if concept == "reference" {
			q.reference = value
		}
	}
	return nil
}

func readNumber(name, value string, least, most int, target *int) *problem {
	n, err := strconv.ParseUint(value, 10, 31)
	*target = int(n)
	isWrong := err != nil || int(n) < least || int(n) > most
	return refuseIf(isWrong, codeNumber, fmt.Sprintf("%s is not a number from %d to %d", name, least, most))
}

// operator is the same for all messages.
const operator = "OP_1"

// columns returns what listings show of a row, by concept: a string, a number, or nil for what the message does not have.
func columns() map[string]func(*row) any {
	return map[string]func(*row) any{
		"id":             func(r *row) any { return r.ID },
		"request":        func(r *row) any { return r.RequestID },
		"reference":      func(r *row) any { return orNull(r.ReferenceID) },
		"category":       func(r *row) any { return orNull(r.CategoryID) },
		"from":           func(r *row) any { return r.From },
		"to":             func(r *row) any { return r.To },
		"text":           func(r *row) any { return r.Text },
		"parts":          func(r *row) any { return r.Parts },
		"price":          func(r *row) any { return priceOf(r.Parts).String() },
		"created":        func(r *row) any { return r.shown },
		"sent":           func(r *row) any { return orNull(formatTime(r.SentAt, inMilliseconds)) },
		"deliveryStatus": func(r *row) any { return orNull(r.DeliveryStatus) },
		"sendStatus":     func(*row) any { return 1 },
		"operator":       func(*row) any { return operator },
		"country":        func(*row) any { return "ZZ" },
		"description":    func(*row) any { return "accepted" },
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// inMilliseconds is the layout of the times in a listing.
const inMilliseconds = "2006-01-02T15:04:05.000Z07:00"

// formatTime returns the time in UTC, or "" for the zero time.
func formatTime(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// document returns a row as listings show it.
func (r *row) document(names table, all map[string]func(*row) any) document {
	d := make(document, len(names)+len(r.Extra))
	for name, value := range r.Extra {
		d[name] = value
	}
	for concept, value := range all {
		d.set(names[concept], value(r))
	}
	return d
}

// matches reports whether a row is in the listing.
func (l listing) matches(r *row) bool {
	isMissed := func(filter func(*row) bool) bool { return !filter(r) }
	return r.Channel == ChannelSMS && !slices.ContainsFunc(l.filters, isMissed)
}

// compare returns the order of the listing. No two rows are equal in it, so that its pages agree with each other.
func (l listing) compare() func(a, b *row) int {
	value := columns()[l.sortBy]
	if l.sortBy == "price" { // each part costs the same, and prices are text
		value = columns()["parts"]
	}
	sign := 1
	if l.descending {
		sign = -1
	}
	return func(a, b *row) int {
		return sign * cmp.Or(compareValues(value(a), value(b)), cmp.Compare(a.order, b.order))
	}
}

// compareValues compares two values of a column. Nil is less than any text.
func compareValues(a, b any) int {
	if n, ok := a.(int); ok {
		return cmp.Compare(n, b.(int))
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
