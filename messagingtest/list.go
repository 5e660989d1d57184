package messagingtest

import (
	"fmt"
	"maps"
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
	maxNumber       = 1<<31 - 1 // any int can hold it
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
	if len(body) > 0 {
		return nil, &problem{codeBody, "a request that lists has no body"}
	}
	if err != nil {
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
	if !ok {
		return nil, &problem{codeCursor, "the cursor does not belong to these filters and this order"}
	}
	return page, nil
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
		return readNumber(name, value, 1, maxNumber, &q.number)
	case "offset":
		return readNumber(name, value, 0, maxNumber, &q.offset)
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
