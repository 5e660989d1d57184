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

// Parameters of a list request. Those of the default contract bear its names; offset and cursor are the stand-in's.
const (
	paramAfter       = "filter[dateCreatedGt]"
	paramBefore      = "filter[dateCreatedLt]"
	paramTransaction = "filter[transactionId]"
	paramReference   = "filter[referenceId]"
	paramRequest     = "filter[requestId]"
	paramCategory    = "filter[categoryId]"
	paramFrom        = "filter[from]"
	paramTo          = "filter[to]"
	paramColumn      = "sort[column]"
	paramDirection   = "sort[direction]"
	paramSize        = "pageSize"
	paramNumber      = "pageNumber"
	paramOffset      = "offset"
	paramCursor      = "cursor"
)

const (
	columnCreated   = "dateCreated"
	columnReference = "referenceId"
	ascending       = "asc"
	descending      = "desc"
	defaultSize     = 100
	maxSize         = 1000
	illFormed       = "the query is not well-formed, or not in UTF-8"
)

// listRequest is one page of a listing.
type listRequest struct {
	listing
	direction string // empty: none was given
	paging    Paging
	size      int    // rows on a page
	number    int    // of the page, from 1
	offset    int    // of the first row
	cursor    string // empty: the first page
}

func (s *Server) listSMS(requestID string, r *http.Request, body []byte) answer {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if problem := s.credentials.problem(r.Header, pairOfQuery(query)); problem != "" {
		return refuse(requestID, http.StatusUnauthorized, codeUnauthorized, problem)
	}
	if len(body) > 0 {
		return refuse(requestID, http.StatusBadRequest, codeBody, "a request that lists has no body")
	}
	if err != nil {
		return refuse(requestID, http.StatusBadRequest, codeQuery, illFormed)
	}
	q, code, problem := readListRequest(query, s.pagingKind())
	if problem != "" {
		return refuse(requestID, http.StatusBadRequest, code, problem)
	}
	p, ok := s.page(q)
	if !ok {
		return refuse(requestID, http.StatusBadRequest, codeCursor, "the cursor was not given for these filters and this sorting")
	}
	return answer{status: http.StatusOK, body: encode(p.answer(q.paging))}
}

// readListRequest returns the request, or the code and the description of the first thing that is wrong with it.
// A description names parameters and never repeats a value.
func readListRequest(query url.Values, paging Paging) (q listRequest, code, problem string) {
	q = listRequest{paging: paging, size: defaultSize, number: 1}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if name == fieldAPIKey || name == fieldAPISecret {
			continue
		}
		values := query[name]
		switch {
		case !paging.knows(name):
			return q, codeQuery, strconv.QuoteToASCII(name) + " is no parameter of a listing " + paging.String()
		case len(values) > 1:
			return q, codeQuery, name + " comes more than once"
		case values[0] == "":
			return q, codeQuery, name + " is empty"
		case !utf8.ValidString(values[0]):
			return q, codeQuery, illFormed
		}
		if code, problem = q.set(name, values[0]); problem != "" {
			return q, code, problem
		}
	}
	q.descending = q.direction == descending
	if q.column == "" {
		q.column = columnCreated
		q.descending = q.direction != ascending
	}
	return q, "", ""
}

// knows says whether a listing that is paged so has the parameter.
func (p Paging) knows(param string) bool {
	switch param {
	case paramAfter, paramBefore, paramTransaction, paramReference, paramRequest, paramCategory, paramFrom, paramTo, paramColumn, paramDirection:
		return true
	case paramSize:
		return p != Unpaged
	case paramNumber:
		return p == ByPage
	case paramOffset:
		return p == ByOffset
	case paramCursor:
		return p == ByCursor
	default:
		return false
	}
}

func (q *listRequest) set(param, value string) (code, problem string) {
	ok := true
	switch param {
	case paramAfter:
		q.after, ok = readBound(value)
	case paramBefore:
		q.before, ok = readBound(value)
	case paramTransaction:
		q.transaction = value
	case paramReference:
		q.reference = value
	case paramRequest:
		q.request = value
	case paramCategory:
		q.category = value
	case paramFrom:
		q.from = value
	case paramTo:
		q.to = value
	case paramCursor:
		q.cursor = value
	case paramColumn:
		if q.column = value; compareBy(value) == nil {
			return codeSort, param + " is no column of a record"
		}
	case paramDirection:
		if q.direction = value; value != ascending && value != descending {
			return codeSort, param + " is neither asc nor desc"
		}
	case paramSize:
		if q.size, ok = readNumber(value); !ok || q.size < 1 || q.size > maxSize {
			return codeNumber, param + " is not a number from 1 to 1000"
		}
	case paramNumber:
		if q.number, ok = readNumber(value); !ok || q.number < 1 {
			return codeNumber, param + " is not a number from 1 on"
		}
	case paramOffset:
		if q.offset, ok = readNumber(value); !ok {
			return codeNumber, param + " is not a number from 0 on"
		}
	}
	if !ok {
		return codeTime, param + " is not a time of RFC 3339"
	}
	return "", ""
}

// readNumber takes digits only, of a number that any int can hold.
func readNumber(value string) (int, bool) {
	n, err := strconv.ParseUint(value, 10, 31)
	return int(n), err == nil
}

// readBound takes a T and a Z of either case, as RFC 3339 has it.
func readBound(value string) (bound, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(value))
	return bound{t.UTC(), true}, err == nil
}
