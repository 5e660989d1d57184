package codec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Response is what a response to a send says. Empty and zero mean that it does not say.
type Response struct {
	ID, RequestID, ReferenceID        string
	Parts                             int
	UnitCost, Cost, Balance, Currency string // of money, decimal numbers in the scale of the contract, or "" if there is no number to scale
	Operator                          string
	Failure

	// Refused reports whether the response holds an error code of a known class, or a status that refuses.
	Refused bool
	// Doubt is why a 2xx that is not Refused may not be taken for an acceptance; "" if it may.
	Doubt string
}

// NamesMessage reports whether the response names a message, and nothing in it says that it was refused.
func (r *Response) NamesMessage() bool { return r.ID != "" && !r.Refused }

// The concepts of a failure, beside those of an operation.
const (
	errorCode    = "errors.code"
	errorObject  = "the object of an error code"
	errorMessage = "errors.message"
	errorRequest = "errors.request"
)

// compileFailures compiles the places of a failure in paths that withErrors has made.
func compileFailures(p *paths, errs *table.Errors) failures {
	return failures{
		errs: errs,
		code: p.places[errorCode], object: p.places[errorObject], message: p.places[errorMessage], request: p.places[errorRequest],
	}
}

// withErrors adds the places of a failure to the places by concept. The object of the code at error.code is error, unless the
// operation reads something else from it, such as items; a code that is in no such object has its own place in the list of
// objects.
func withErrors(lists map[string][]string, errs *table.Errors, items ...string) map[string][]string {
	objects := slices.Clone(errs.Code)
	for i, path := range errs.Code {
		object := path[:max(0, strings.LastIndexByte(path, '.'))]
		inObject := func(other string) bool { return strings.HasPrefix(other+".", object+".") }
		shared := slices.ContainsFunc(items, inObject)
		for _, others := range lists {
			shared = shared || slices.ContainsFunc(others, inObject)
		}
		if object != "" && !shared {
			objects[i] = object
		}
	}
	all := make(map[string][]string, len(lists)+4)
	maps.Copy(all, lists)
	all[errorCode], all[errorObject], all[errorMessage], all[errorRequest] = errs.Code, objects, errs.Message, errs.Request
	return all
}

// Decode reads a response. The error says why it is not JSON, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) {
	var few [48]value
	found := slices.Grow(few[:0], s.paths.slots)[:s.paths.slots]
	scan := newScanner(body)
	if err := s.paths.find(&scan, found); err != nil {
		return Response{}, err
	}
	doc := string(scan.doc) // one copy, shared by all strings of the response
	at := &s.places
	failure, doubt := readFailure(&s.failures, doc, found)
	_, id := pick(doc, found, at.id, isID)
	parts, _ := wholeNumber(first(doc, found, at.parts))
	r := Response{
		ID:          id,
		RequestID:   cmp.Or(first(doc, found, at.request), failure.RequestID),
		ReferenceID: first(doc, found, at.reference),
		Parts:       max(parts, 0),
		Currency:    first(doc, found, at.currency),
		Operator:    first(doc, found, at.operator),
		Failure:     failure,
		Refused:     failure.Class != "",
		Doubt:       doubt,
	}
	r.UnitCost, _ = scaled(first(doc, found, at.unitCost), s.op.Money)
	r.Cost, _ = scaled(first(doc, found, at.cost), s.op.Money)
	r.Balance, _ = scaled(first(doc, found, at.balance), s.op.Money)
	r.Own = failure.Own || !table.IsPlaceholder(r.RequestID)
	s.judge(&r, doc, found)
	return r, nil
}

// judge adds what the status says, and that a message without an ID is in doubt.
func (s *Send) judge(r *Response, doc string, found []value) {
	status, word := pick(doc, found, s.places.status, func(v value, _ string) bool { return v.kind > null })
	accepted, refused := -1, -1
	if status.scalar() {
		accepted, refused = table.Match(s.op.Accepted, word, true), table.Match(s.op.Refused, word, true)
	}
	switch {
	case r.Refused:
	case refused > accepted:
		r.Refused = true
		if _, isSuccess := s.failures.meaning(r.Code); r.Code == "" || isSuccess {
			r.Code = strings.TrimSpace(word)
			r.Class, _ = table.Meaning(s.failures.errs.Classes, r.Code, false)
		}
	case r.Doubt != "":
	case accepted >= 0 && s.refusesElsewhere(doc, found):
		r.Doubt = "the response has two statuses, of which one refuses the message (accepted, refused)"
	case status.kind != absent && accepted < 0:
		r.Doubt = "the response has a status that is no word of the contract (accepted, refused)"
	case r.ID == "":
		r.Doubt = "the response names no message at any path of the contract (response.id)"
	}
	if r.Refused {
		r.Doubt = ""
	}
}

// refusesElsewhere reports whether any status, not only the first, is a word that refuses.
func (s *Send) refusesElsewhere(doc string, found []value) bool {
	_, word := pick(doc, found, s.places.status, func(v value, word string) bool {
		return v.scalar() && table.Match(s.op.Refused, word, true) > table.Match(s.op.Accepted, word, true)
	})
	return word != ""
}

// isID reports whether a value can be the ID of a message.
func isID(v value, word string) bool {
	return v.scalar() && v.kind != boolean && !table.IsPlaceholder(word)
}
