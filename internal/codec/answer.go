package codec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/contract"
)

// concept is what an answer to a send may tell.
type concept uint8

const (
	messageID concept = iota
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
	concepts
)

// Answers reads the answers to one send: where they name what, and what a word or a code means. It never changes after
// CompileAnswers and is safe for concurrent use.
type Answers struct {
	paths    paths
	accepted []string
	classes  []class
}

// Answer is what an answer told. Empty and zero mean that it did not say.
type Answer struct {
	ID, RequestID, ReferenceID        string
	Parts                             int
	UnitCost, Cost, Balance, Operator string
	Code, Message, ErrorRequestID     string
	// Refused says that the answer holds an error code.
	Refused bool
	// Doubt is why a 2xx without an error code may not be taken for a success, or "".
	Doubt string
}

// CompileAnswers prepares the reading of answers.
func CompileAnswers(send contract.Send, errors contract.Errors) *Answers {
	a := &Answers{accepted: slices.Clone(send.Accepted), classes: classesOf(errors.Classes)}
	lists := [concepts][]string{
		messageID: send.Answer.ID, requestID: send.Answer.Request, referenceID: send.Answer.Reference,
		parts: send.Answer.Parts, unitCost: send.Answer.UnitCost, cost: send.Answer.Cost, balance: send.Answer.Balance,
		operator: send.Answer.Operator, status: send.Answer.Status,
		errorCode: errors.Code, errorMessage: errors.Message, errorRequest: errors.Request,
	}
	for c, list := range lists {
		a.paths.want(concept(c), list)
	}
	return a
}

// Read reads an answer. The error says that it is no JSON; it never repeats what the answer says.
func (a *Answers) Read(body []byte) (Answer, error) {
	var few [48]value
	found := few[:]
	if n := len(a.paths.leaves); n > len(few) {
		found = make([]value, n)
	}
	if err := a.paths.find(string(body), found[:len(a.paths.leaves)]); err != nil {
		return Answer{}, err
	}
	var first [concepts]value
	var code errorCodes
	for i, leaf := range a.paths.leaves {
		switch v := found[i]; {
		case leaf.concept == errorCode:
			code.see(v)
		case first[leaf.concept].kind == absent && usable(leaf.concept, v):
			first[leaf.concept] = v
		}
	}
	answer := Answer{
		ID: first[messageID].String(), RequestID: first[requestID].String(), ReferenceID: first[referenceID].String(),
		UnitCost: first[unitCost].String(), Cost: first[cost].String(), Balance: first[balance].String(),
		Operator: first[operator].String(), Code: code.code, Message: first[errorMessage].String(),
		ErrorRequestID: first[errorRequest].String(),
	}
	switch {
	case code.code == "" || code.doubt != "":
	case answer.ID != "" && a.Class(code.code) == NoClass:
		code.doubt = "the answer names a message, and holds a code that the contract does not know (errors.classes)"
	default:
		answer.Refused = true
	}
	if n, ok := wholeNumber(first[parts].String()); ok && n > 0 {
		answer.Parts = n
	}
	answer.Doubt = a.doubt(first[status], answer, code.doubt)
	return answer, nil
}

// usable tells whether a value can serve for the concept; where it cannot, the next path is looked at. A word of status
// that is no word must not be passed over: it is one that nobody knows.
func usable(c concept, v value) bool {
	switch c {
	case status:
		return v.kind != absent && v.kind != nothing
	case messageID:
		return v.scalar() && v.kind != boolean && strings.TrimSpace(v.String()) != ""
	default:
		return v.scalar() && v.String() != ""
	}
}

// errorCodes looks at every place of an error code. A code is evidence that the service refused; a zero, or something that
// is no code at all, is evidence of nothing, and leaves a doubt.
type errorCodes struct{ code, doubt string }

func (e *errorCodes) see(v value) {
	word := strings.TrimSpace(v.String())
	switch {
	case e.code != "" && e.doubt == "":
		// the first code wins
	case v.kind == absent || v.kind == nothing || v.kind == boolean && word == "false" || v.scalar() && word == "":
		// no code
	case !v.scalar() || v.kind == boolean:
		e.doubt = "the answer holds something that is no code at the place of an error code"
	case isZero(word):
		e.code, e.doubt = word, "the answer holds the code 0, which may mean that nothing is wrong, or not"
	default:
		e.code, e.doubt = word, ""
	}
}

func isZero(word string) bool {
	n, err := strconv.ParseFloat(word, 64)
	return err == nil && n == 0
}

func (a *Answers) doubt(status value, answer Answer, code string) string {
	switch {
	case code != "":
		return code
	case status.kind != absent && !a.accepts(status):
		return "the answer's status is no word that the contract knows (accepted)"
	case answer.ID == "":
		return "the answer names no message at any path that the contract knows (answer.id)"
	default:
		return ""
	}
}

func (a *Answers) accepts(status value) bool {
	word := strings.TrimSpace(status.String())
	return status.scalar() && slices.ContainsFunc(a.accepted, func(known string) bool { return strings.EqualFold(known, word) })
}

// class is a code, or the beginning of codes, and its name.
type class struct {
	code   string
	prefix bool
	name   Class
}

// Class is what an error code means.
type Class uint8

// The classes of the contract.
const (
	NoClass Class = iota
	Unauthorized
	RateLimited
	InsufficientBalance
	Duplicate
	NotFound
	Unavailable
	Invalid
)

func classesOf(c contract.Classes) []class {
	var all []class
	for name, codes := range map[Class][]string{
		Unauthorized: c.Unauthorized, RateLimited: c.RateLimited, InsufficientBalance: c.InsufficientBalance,
		Duplicate: c.Duplicate, NotFound: c.NotFound, Unavailable: c.Unavailable, Invalid: c.Invalid,
	} {
		for _, code := range codes {
			exact, prefix := strings.CutSuffix(code, "*")
			all = append(all, class{exact, prefix, name})
		}
	}
	return all
}

// Class gives the class of a code: an exact one wins, and of two beginnings the longer one.
func (a *Answers) Class(code string) Class {
	found := class{}
	for _, c := range a.classes {
		switch {
		case code == "":
		case !c.prefix && c.code == code:
			return c.name
		case c.prefix && strings.HasPrefix(code, c.code) && (found.name == NoClass || len(c.code) > len(found.code)):
			found = c
		}
	}
	return found.name
}
