package messagingtest

import (
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
	malformedQuery  = "the query is malformed, or not in UTF-8"
)

// listing is which rows are listed, in which order.
type listing struct {
	key           string // equal for equal listings
	filters       table  // values by concept
	after, before *time.Time
	sortBy        string // a concept of a row
	descending    bool
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

func (s *Server) listSMS(requestID string, r *http.Request, body []byte) response {
	query, err := url.ParseQuery(r.URL.RawQuery)
	key, secret := s.names.auth["key"], s.names.auth["secret"]
	if text := s.authorize(r.Header, query[key], query[secret]); text != "" {
		return s.refuse(requestID, http.StatusUnauthorized, codeUnauthorized, text)
	}
	if len(body) > 0 {
		return s.reject(requestID, &problem{codeBody, "a request that lists has no body"})
	}
	if err != nil {
		return s.reject(requestID, &problem{codeQuery, malformedQuery})
	}
	query.Del(key)
	query.Del(secret)
	q, p := s.names.list.read(query, s.paging())
	if p != nil {
		return s.reject(requestID, p)
	}
	page, ok := s.page(q)
	if !ok {
		return s.reject(requestID, &problem{codeCursor, "the cursor does not belong to these filters and this order"})
	}
	return respond(page.document(s.names.list, q.paging))
}

// read returns the request that a query makes, or its first problem.
func (n listNames) read(query url.Values, paging Paging) (listRequest, *problem) {
	q := listRequest{
		listing: listing{key: listingKey(query, n), filters: table{}},
		paging:  paging,
		size:    defaultPageSize,
		number:  1,
	}
	concepts := table{}
	for concept, name := range n.params {
		concepts[name] = concept
	}
	order := ""
	for _, name := range slices.Sorted(maps.Keys(query)) {
		concept, values := concepts[name], query[name]
		switch {
		case !paging.hasParam(concept):
			return q, &problem{codeQuery, strconv.QuoteToASCII(name) + " is no parameter of this listing"}
		case len(values) > 1:
			return q, &problem{codeQuery, name + " comes more than once"}
		case values[0] == "":
			return q, &problem{codeQuery, name + " is empty"}
		case !utf8.ValidString(values[0]):
			return q, &problem{codeQuery, malformedQuery}
		case concept == "order":
			order = values[0]
		}
		if p := q.set(n, concept, values[0]); p != nil {
			return q, p
		}
	}
	q.descending = order == n.orders["descending"]
	if q.sortBy == "" {
		q.sortBy = "created"
		q.descending = order != n.orders["ascending"]
	}
	return q, nil
}

// listingKey returns the part of a query that all pages of a listing have in common.
func listingKey(query url.Values, n listNames) string {
	common := maps.Clone(query)
	for _, concept := range []string{"page", "pageSize", "offset", "cursor"} {
		common.Del(n.params[concept])
	}
	return common.Encode()
}

// hasParam reports whether a listing with this paging has the parameter.
func (p Paging) hasParam(concept string) bool {
	switch concept {
	case "":
		return false
	case "pageSize":
		return p != Unpaged
	case "page":
		return p == ByPage
	case "offset":
		return p == ByOffset
	case "cursor":
		return p == ByCursor
	default:
		return true
	}
}

func (q *listRequest) set(n listNames, concept, value string) *problem {
	name := n.params[concept]
	var err error
	switch concept {
	case "createdAfter":
		q.after, err = readTime(value)
	case "createdBefore":
		q.before, err = readTime(value)
	case "cursor":
		q.cursor = value
	case "sortBy":
		if q.sortBy = n.sortConcept(value); q.sortBy == "" {
			return &problem{codeSort, name + " is no member of a row"}
		}
	case "order":
		if value != n.orders["ascending"] && value != n.orders["descending"] {
			return &problem{codeSort, name + " is neither " + n.orders["ascending"] + " nor " + n.orders["descending"]}
		}
	case "pageSize":
		return readNumber(name, value, 1, maxPageSize, &q.size)
	case "page":
		return readNumber(name, value, 1, maxNumber, &q.number)
	case "offset":
		return readNumber(name, value, 0, maxNumber, &q.offset)
	default:
		q.filters[concept] = value
	}
	if err != nil {
		return &problem{codeTime, name + " is not a time of RFC 3339"}
	}
	return nil
}

// sortConcept returns the concept of a member of a row, or "".
func (n listNames) sortConcept(member string) string {
	for concept, name := range n.record {
		if name == member {
			return concept
		}
	}
	return ""
}

// maxNumber is what any int can hold.
const maxNumber = 1<<31 - 1

func readNumber(name, value string, least, most int, target *int) *problem {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil || int(n) < least || int(n) > most {
		return &problem{codeNumber, name + " is not a number from " + strconv.Itoa(least) + " to " + strconv.Itoa(most)}
	}
	*target = int(n)
	return nil
}

// readTime takes a T and a Z of either case, as RFC 3339 has it.
func readTime(value string) (*time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(value))
	return &t, err
}
