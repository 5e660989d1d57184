package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// What a response to a send may say.
const (
	messageID = iota
	requestID
	referenceID
	parts
	unitCost
	cost
	balance
	operator
	status
	errorCode
	errorMessage
	errorRequest
	responseConcepts
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

// responses reads the responses to a send.
type responses struct {
	paths    paths
	accepted []string
	codes    codes
}

func compileResponses(op *table.Send, errs *table.Errors) responses {
	lists := [responseConcepts][]string{
		messageID: op.Response["id"], requestID: op.Response["request"], referenceID: op.Response["reference"],
		parts: op.Response["parts"], unitCost: op.Response["unitCost"], cost: op.Response["cost"],
		balance: op.Response["balance"], operator: op.Response["operator"], status: op.Response["status"],
		errorCode: errs.Code, errorMessage: errs.Message, errorRequest: errs.Request,
	}
	return responses{paths: compilePaths(lists[:], nil), accepted: op.Accepted, codes: compileCodes(errs)}
}

// Decode reads a response. The error says why it is not JSON, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) { return s.responses.decode(body) }

func (r *responses) decode(body []byte) (Response, error) {
	var few [48]value
	found := slices.Grow(few[:0], r.paths.slots)[:r.paths.slots]
	scanner := newScanner(body)
	if err := r.paths.find(scanner, found); err != nil {
		return Response{}, err
	}
	doc := string(scanner.doc) // shared by all strings of the response
	var words [responseConcepts]string
	var has [responseConcepts]bool
	var code codeResult
	accepted := true
	for _, w := range r.paths.wanted {
		v := found[w.slot]
		word := textOf(doc, v)
		switch {
		case w.concept == errorCode:
			code.add(&r.codes, v, word)
		case has[w.concept]:
		case w.concept == status:
			if has[status] = v.kind > null; has[status] {
				accepted = v.scalar() && r.accepts(word)
			}
		case w.concept == messageID && isID(v, word), w.concept != messageID && word != "":
			words[w.concept], has[w.concept] = word, true
		}
	}
	response := Response{
		ID: words[messageID], RequestID: cmp.Or(words[requestID], words[errorRequest]), ReferenceID: words[referenceID],
		UnitCost: words[unitCost], Cost: words[cost], Balance: words[balance], Operator: words[operator],
		Failure: Failure{Code: code.code, Message: words[errorMessage], RequestID: words[errorRequest], Class: code.class},
		Refused: code.class != "",
	}
	response.Own = response.Code != "" || response.RequestID != ""
	if n, ok := wholeNumber(words[parts]); ok && n > 0 {
		response.Parts = n
	}
	switch {
	case response.Refused:
	case code.doubt != "":
		response.Doubt = code.doubt
	case !accepted:
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

func (r *responses) accepts(status string) bool {
	status = strings.TrimSpace(status)
	return slices.ContainsFunc(r.accepted, func(word string) bool { return strings.EqualFold(word, status) })
}
