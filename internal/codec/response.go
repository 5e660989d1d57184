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
	r := responses{accepted: op.Accepted, codes: compileCodes(errs.Success, errs.Classes)}
	for concept, list := range [responseConcepts][]string{
		messageID: op.Response["id"], requestID: op.Response["request"], referenceID: op.Response["reference"],
		parts: op.Response["parts"], unitCost: op.Response["unitCost"], cost: op.Response["cost"],
		balance: op.Response["balance"], operator: op.Response["operator"], status: op.Response["status"],
		errorCode: errs.Code, errorMessage: errs.Message, errorRequest: errs.Request,
	} {
		r.paths.want(concept, list)
	}
	return r
}

// Decode reads a response. The error says why it is not JSON, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) { return s.responses.decode(body) }

func (r *responses) decode(body []byte) (Response, error) {
	var few [48]value
	found := slices.Grow(few[:0], r.paths.slots)[:r.paths.slots]
	if err := r.paths.find(&scanner{doc: body}, found); err != nil {
		return Response{}, err
	}
	var first [responseConcepts]value
	var code codeResult
	for _, w := range r.paths.wanted {
		v := found[w.slot]
		if w.concept == errorCode {
			code.add(&r.codes, v)
		} else if first[w.concept].kind == absent && usable(w.concept, v) {
			first[w.concept] = v
		}
	}
	failureID := first[errorRequest].text()
	response := Response{
		ID: first[messageID].text(), RequestID: cmp.Or(first[requestID].text(), failureID), ReferenceID: first[referenceID].text(),
		UnitCost: first[unitCost].text(), Cost: first[cost].text(), Balance: first[balance].text(), Operator: first[operator].text(),
		Failure: Failure{Code: code.code, Message: first[errorMessage].text(), RequestID: failureID, Class: code.class},
		Refused: code.class != "",
	}
	response.Own = response.Code != "" || response.RequestID != ""
	if n, ok := wholeNumber(first[parts].text()); ok && n > 0 {
		response.Parts = n
	}
	switch {
	case response.Refused:
	case code.doubt != "":
		response.Doubt = code.doubt
	case first[status].kind != absent && !r.accepts(first[status]):
		response.Doubt = "the response has a status that is no word of the contract (accepted)"
	case response.ID == "":
		response.Doubt = "the response names no message at any path of the contract (response.id)"
	}
	return response, nil
}

// usable reports whether a value can serve for a concept; if not, the next path counts. A status that is not a word must not
// be passed over, because it may say that the message was not accepted.
func usable(concept int, v value) bool {
	switch concept {
	case status:
		return v.kind != absent && v.kind != null
	case messageID:
		return isID(v)
	default:
		return v.scalar() && v.text() != ""
	}
}

// isID reports whether a value can be the ID of a message.
func isID(v value) bool { return v.scalar() && v.kind != boolean && !table.IsPlaceholder(v.text()) }

func (r *responses) accepts(status value) bool {
	word := strings.TrimSpace(status.text())
	return status.scalar() && slices.ContainsFunc(r.accepted, func(known string) bool { return strings.EqualFold(known, word) })
}
