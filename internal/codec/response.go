package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
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
	// Contradiction is why the response proves nothing, whatever its status: a member of the contract came twice. It is "" otherwise.
	Contradiction string
}

// NamesMessage reports whether the response names a message, so that to send it again could send it twice.
func (r *Response) NamesMessage() bool { return r.ID != "" }

const repeated = "the response has a member of the contract twice"

// Decode reads a response. The error says why it is not JSON, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) {
	var few [64]value
	text, found, repeats, err := s.responses.find(body, nil, few[:0])
	if err != nil {
		return Response{}, err
	}
	said := func(slots []int) string { return first(text, found, slots) }
	amount := func(slots []int, money table.Money) (number, currency string) {
		number, currency, _ = amountOf(said(slots), money)
		return number, currency
	}
	at := &s.at
	unitCost, unitCurrency := amount(at.unitCost, s.op.Money)
	cost, currency := amount(at.cost, s.op.Money)
	balance, _ := amount(at.balance, table.Money{Scale: s.op.Scale}) // what is left is no charge, so its sign is its own
	id, place := s.messageID(text, found)
	parts, _ := wholeNumber(said(at.parts))
	failure, doubt := s.responses.failure(text, found)
	r := Response{
		ID: id, RequestID: cmp.Or(said(at.request), failure.RequestID), ReferenceID: said(at.reference), Parts: max(parts, 0),
		UnitCost: unitCost, Cost: cost, Balance: balance, Currency: cmp.Or(said(at.currency), currency, unitCurrency),
		Operator: said(at.operator), Failure: failure, Refused: failure.Class != "", Doubt: doubt,
	}
	r.Own = failure.Own || !table.IsPlaceholder(r.RequestID)
	if repeats {
		r.Contradiction = repeated
	}
	s.judge(&r, text, found, place)
	return r, nil
}

// messageID returns the ID of the message, and which of the places of the contract it stands at; -1 if there is none.
func (s *Send) messageID(text string, found []value) (id string, place int) {
	for place, slot := range s.at.id {
		if v := found[slot]; v.Kind > jsonscan.Null {
			if word := v.Word(text); s.responses.words.isID(v, word) {
				return word, place
			}
		}
	}
	return "", -1
}

// judge adds what the status says, what says otherwise beside the ID, and that a message without an ID is in doubt.
func (s *Send) judge(r *Response, text string, found []value, place int) {
	status, word := pick(text, found, s.at.status, func(v value, _ string) bool { return v.Kind > jsonscan.Null })
	accepted, refused := -1, -1
	if status.IsScalar() {
		accepted, refused = table.Match(s.op.Accepted, word, true), table.Match(s.op.Refused, word, true)
	}
	refuses := func(slot int) bool {
		return found[slot].IsScalar() && found[slot] != status && s.responses.words.refuses(found[slot].Word(text))
	}
	switch {
	case r.Contradiction != "":
		r.Refused, r.Doubt = false, r.Contradiction
	case r.Refused:
		r.Doubt = ""
	case refused > accepted:
		r.Refused, r.Doubt = true, ""
		if _, isSuccess := s.responses.meaning(r.Code); r.Code == "" || isSuccess {
			r.Code = strings.TrimSpace(word)
			r.Class, _ = table.Meaning(s.responses.errs.Classes, r.Code, false)
		}
	case r.Doubt != "":
	case accepted >= 0 && slices.ContainsFunc(s.at.status, refuses):
		r.Doubt = "the response has two statuses, of which one refuses the message (accepted, refused)"
	case status.Kind != jsonscan.Absent && accepted < 0:
		r.Doubt = "the response has a status that is no word of the contract (accepted, refused)"
	case r.ID == "":
		r.Doubt = "the response names no message at any path of the contract (response.id)"
	default:
		r.Doubt = s.responses.trouble(text, found, s.responses.around[place])
	}
}
