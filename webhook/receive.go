package webhook

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// reading is one request on its way to an event: its parameters, and which of them stand for what.
type reading struct {
	settings *settings
	event    string
	names    names
	params   Params
	chosen   [concepts]choice
	count    int // of all parameters, kept or not

	rawQuery string // the query as it came, or what is left of it without secrets
	proof    proof
	body     string // that of a POST, if it is a JSON object
}

// choice is the parameter that stands for a concept.
type choice struct {
	at   int    // 1 + its index; 0 for none
	rank uint32 // how far down in the list of names it stands
}

// blankRank is added to the rank of a blank value: any other wins over it.
const blankRank = 1 << 31

// add keeps a parameter, and lets it stand for what its name says. Of those that stand for the same the one whose name comes
// first in the contract's list wins, then the first that came. A nested value is the JSON of a member of a body.
func (q *reading) add(name, value string, found place, nested bool) {
	if q.count++; q.count > q.settings.maxParams {
		return // a matter of memory: the request is refused once its proof was looked at
	}
	q.params = append(q.params, Param{Name: name, Value: value})
	if found == 0 {
		return
	}
	var blank uint32
	if isBlank(value) {
		blank = blankRank
	}
	if !nested && found.concept() != ofNothing {
		q.offer(found.concept(), found.rank()|blank)
	}
	if found >= 1<<32 {
		q.addRare(name, found, blank, nested)
	}
}

// addRare does what few names need: those that may hold JSON, and those that stand for several concepts.
func (q *reading) addRare(name string, found place, blank uint32, nested bool) {
	others := q.names.other[name]
	if json := found.json(); json > 0 {
		isText := func(p place) bool { return p.concept() == ofText }
		c := ofJSON
		if !nested && (isText(found) || slices.ContainsFunc(others, isText)) {
			c = ofTypedJSON
		}
		q.offer(c, json|blank)
	}
	if !nested {
		for _, p := range others {
			q.offer(p.concept(), p.rank()|blank)
		}
	}
}

// offer lets the last parameter stand for a concept if no better one does.
func (q *reading) offer(c concept, rank uint32) {
	if have := &q.chosen[c]; have.at == 0 || rank < have.rank {
		have.at, have.rank = len(q.params), rank
	}
}

// value gives what stands for a concept, "" where nothing does or all of it is blank.
func (q *reading) value(c concept) string {
	if have := q.chosen[c]; have.at > 0 && have.rank < blankRank {
		return q.params[have.at-1].Value
	}
	return ""
}

// text gives the text, which may be white space.
func (q *reading) text() string {
	if have := q.chosen[ofText]; have.at > 0 {
		return q.params[have.at-1].Value
	}
	return ""
}

// receive checks a request and reads its parameters. The order of the checks is part of what this package promises; only
// whether there is a sender is left to the caller.
func (q *reading) receive(r *http.Request) error {
	s := q.settings
	post := r.Method == http.MethodPost && s.post
	switch {
	case r.Method == http.MethodGet, post, r.Method == "": // a request that was made by hand may have no method
	case r.Method == http.MethodHead:
		return &RejectError{Event: q.event, Status: http.StatusOK, Reason: ErrProbe}
	default:
		return q.reject(ErrMethod)
	}
	if isPrefetch(r.Header) {
		return q.reject(ErrProbe)
	}
	if r.URL != nil {
		q.rawQuery = r.URL.RawQuery
	}
	if len(q.rawQuery) > s.maxBytes {
		return q.reject(ErrTooLong)
	}
	var content body
	var bodyErr error // told after the proof, unless the body is too large
	if post {
		if content, bodyErr = q.readBody(r); errors.Is(bodyErr, ErrTooLarge) {
			return bodyErr
		}
	}
	if n := min(strings.Count(q.rawQuery, "&")+1, s.maxParams); q.rawQuery != "" {
		q.params = make(Params, 0, n)
	}
	q.query(q.rawQuery)
	q.rawQuery = q.withoutSecrets(q.rawQuery)
	unread := q.bodyParams(content)
	if err := q.prove(r, content.text); err != nil {
		return err
	}
	if q.count > s.maxParams {
		return q.reject(ErrTooManyParams)
	}
	if bodyErr != nil {
		return bodyErr
	}
	return unread
}

// isPrefetch tells whether a browser fetches ahead of its user, who may never ask for it.
func isPrefetch(h http.Header) bool {
	return len(h) > 0 && (isAhead(h["Sec-Purpose"]) || isAhead(h["Purpose"]) || isAhead(h["X-Purpose"]) || isAhead(h["X-Moz"]))
}

func isAhead(purposes []string) bool {
	for _, purpose := range purposes {
		purpose = strings.ToLower(purpose)
		if strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "prerender") || strings.Contains(purpose, "preview") {
			return true
		}
	}
	return false
}

// reject makes the error of a refused request.
func (q *reading) reject(reason error) error {
	return &RejectError{Event: q.event, Status: statusOf(reason), Reason: reason}
}
