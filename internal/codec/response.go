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
	UnitCost, Cost, Balance, Operator string
	Failure

	// Refused reports whether the response holds an error code of a known class.
	Refused bool
	// Doubt is why a 2xx that is not Refused may not be taken for an acceptance; "" if it may.
	Doubt string
}

// NamesMessage reports whether the response names a message, and no error code of a known class says that it was refused.
func (r *Response) NamesMessage() bool { return r.ID != "" && r.Class == "" }

// The concepts of a failure, beside those of an operation.
const (
	errorCode    = "errors.code"
	errorObject  = "the object of an error code"
	errorMessage = "errors.message"
	errorRequest = "errors.request"
)

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
	scanner := newScanner(body)
	if err := s.paths.find(scanner, found); err != nil {
		return Response{}, err
	}
	doc := string(scanner.doc) // one copy, shared by all strings of the response
	word := func(concept string) string { return first(&s.paths, doc, found, concept) }
	failure, doubt := failure(&s.paths, doc, found, s.errs)
	_, id := pick(&s.paths, doc, found, "id", isID)
	parts, _ := wholeNumber(word("parts"))
	response := Response{
		ID:          id,
		RequestID:   cmp.Or(word("request"), failure.RequestID),
		ReferenceID: word("reference"),
		Parts:       max(parts, 0),
		UnitCost:    word("unitCost"),
		Cost:        word("cost"),
		Balance:     word("balance"),
		Operator:    word("operator"),
		Failure:     failure,
		Refused:     failure.Class != "",
	}
	response.Own = failure.Own || !table.IsPlaceholder(response.RequestID)
	status, statusWord := pick(&s.paths, doc, found, "status", func(v value, _ string) bool { return v.kind > null })
	switch {
	case response.Refused:
	case doubt != "":
		response.Doubt = doubt
	case status.kind != absent && !(status.scalar() && holds(s.op.Accepted, statusWord)):
		response.Doubt = "the response has a status that is no word of the contract (accepted)"
	case response.ID == "":
		response.Doubt = "the response names no message at any path of the contract (response.id)"
	}
	return response, nil
}

// isID reports whether a value can be the ID of a message.
func isID(v value, word string) bool {
	return v.scalar() && v.kind != boolean && !table.IsPlaceholder(word)
}

// holds reports whether a list of the contract holds a word, in any case.
func holds(list []string, word string) bool {
	word = strings.TrimSpace(word)
	return slices.ContainsFunc(list, func(known string) bool { return strings.EqualFold(known, word) })
}
