package codec

import (
	"cmp"
	"fmt"
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
	OtherReferences                   []string // beside ReferenceID, those that differ from it
	Recipients                        []string // the recipients that it names
	Failure

	// Refused reports whether the response holds an error code of a known class, or a status that refuses.
	Refused bool
	// Doubt is why a 2xx that is not Refused may not be taken for an acceptance; "" if it may.
	Doubt string
	// Contradiction is why the response proves nothing, whatever its status: a member of the contract came twice, or it names several
	// messages. It is "" otherwise.
	Contradiction string

	// IsText reports whether the response is one text, and not JSON.
	IsText bool

	isAccepted bool // the contract has no IDs, and a status accepts the message
}

// NamesMessage reports whether the response names a message, or says by a word that it was accepted if the contract has no IDs. To send
// the message again could then send it twice, whatever else the response says.
func (r *Response) NamesMessage() bool { return r.ID != "" || r.isAccepted }

const (
	repeated  = "the response has a member of the contract twice"
	several   = "the response lists several messages of which one failed or has no ID, where one was sent (response.id)"
	invalidID = "the response has an ID of more than 256 characters, or with control characters or invalid UTF-8 (response.id)"
)

// Decode reads a response. The error says why it is not in the form of the contract, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) {
	r, isList, err := s.decode(body)
	if err != nil || !isList {
		return r, err
	}
	// Several elements that agree are the parts of a long text.
	for _, list := range s.lists {
		const mostParts = 255
		elements := splitList(withoutMark(body), list)
		all := make([]Response, min(len(elements), mostParts))
		for i := range all {
			if all[i], _, err = s.decode(elements[i]); err != nil {
				return r, err
			}
		}
		if !slices.ContainsFunc(all, func(one Response) bool { return one.NamesMessage() }) {
			continue // it lists something else
		}
		isWrong := func(one Response) bool {
			return !one.NamesMessage() || one.Refused || cmp.Or(one.Doubt, one.Contradiction) != ""
		}
		if len(elements) > mostParts || slices.ContainsFunc(all, isWrong) {
			r.Contradiction, r.Doubt, r.Refused = several, several, false
		}
		for _, one := range all {
			r.OtherReferences = append(append(r.OtherReferences, one.ReferenceID), one.OtherReferences...)
			r.Recipients = append(r.Recipients, one.Recipients...)
		}
	}
	return r, nil
}

// splitList returns a document once for each element of the list at a path, with that element alone in the list.
func splitList(doc []byte, path []string) (docs [][]byte) {
	if len(path) == 0 {
		for element := range jsonscan.Elements(doc) {
			docs = append(docs, slices.Concat([]byte("["), element, []byte("]")))
		}
		return docs
	}
	members := jsonscan.Members(doc)
	at := slices.IndexFunc(members, func(m jsonscan.Member) bool { return m.Name == path[0] })
	if at < 0 {
		return nil
	}
	all := make([]member, len(members))
	for _, value := range splitList(members[at].Value, path[1:]) {
		for i, m := range members {
			all[i] = member{name: m.Name, raw: m.Value}
		}
		all[at].raw = value
		docs = append(docs, appendObject(nil, all))
	}
	return docs
}

// decode is Decode for a response with one message. It reports whether one of the lists in which an ID stands has several elements.
func (s *Send) decode(body []byte) (r Response, isList bool, err error) {
	var few [88]value
	text, found, repeats, notJSON, err := s.responses.read(body, few[:0])
	if err != nil {
		return Response{}, false, err
	}
	failure, doubt := s.responses.failure(text, found)
	r = Response{Failure: failure, Refused: failure.Class != "", Doubt: doubt, IsText: notJSON != nil}
	place := s.place(text, found)
	if !r.IsText { // a text says none of it
		s.read(&r, text, found, place)
	}
	r.Own = r.Own || !table.IsPlaceholder(r.RequestID)
	r.Contradiction = s.contradiction(text, found)
	if repeats {
		r.Contradiction = repeated
	}
	isKnown := s.judge(&r, text, found, place)
	if notJSON != nil {
		_, isSuccess := s.responses.meaning(r.Code)
		if r.Own = isKnown || isSuccess || r.Class != ""; !r.Own {
			return Response{}, false, notJSON
		}
	}
	isList = slices.ContainsFunc(s.seconds, func(slot int) bool { return found[slot].Kind != jsonscan.Absent })
	return r, isList, nil
}

// place returns which of the places that name a message does or, if the contract has no IDs, which has a status. It is -1 if none does.
func (s *Send) place(text string, found []value) int {
	if len(s.at.id) == 0 {
		return slices.IndexFunc(s.at.status, func(slot int) bool { return found[slot].Kind > jsonscan.Null })
	}
	return slices.IndexFunc(s.at.id, func(slot int) bool { return s.responses.words.isID(found[slot], found[slot].Word(text)) })
}

// read reads what a document says of an accepted message.
func (s *Send) read(r *Response, text string, found []value, place int) {
	said := func(slots []int) string { return first(text, found, slots) }
	amount := func(slots []int, money table.Money) (number, currency string) {
		number, currency, _ = amountOf(said(slots), money)
		return number, currency
	}
	at := &s.at
	if place >= 0 && len(at.id) > 0 {
		r.ID = strings.TrimSpace(found[at.id[place]].Word(text))
	}
	parts, _ := wholeInt(said(at.parts))
	r.RequestID, r.ReferenceID, r.Parts = cmp.Or(said(at.request), r.Failure.RequestID), said(at.reference), max(parts, 0)
	unitCost, unitCurrency := amount(at.unitCost, s.op.Money)
	cost, currency := amount(at.cost, s.op.Money)
	r.UnitCost, r.Cost, r.Currency = unitCost, cost, cmp.Or(said(at.currency), currency, unitCurrency)
	r.Balance, _ = amount(at.balance, table.Money{Scale: s.op.Scale}) // what is left is no charge, so its sign is its own
	r.Operator = said(at.operator)
	s.addReferences(r, text, found, at.reference)
	s.addRecipients(r, text, found, at.recipient)
	if place >= 0 {
		s.addReferences(r, text, found, s.responses.enclosing[place].references)
		s.addRecipients(r, text, found, s.responses.enclosing[place].recipients)
	}
}

func (s *Send) addRecipients(r *Response, text string, found []value, slots []int) {
	for _, slot := range slots {
		if word := found[slot].Word(text); word != "" {
			r.Recipients = append(r.Recipients, word)
		}
	}
}

// contradiction returns why the IDs of a response name no message, whatever else it says, or "": one is none that names a message, or two
// differ.
func (s *Send) contradiction(text string, found []value) string {
	id, path := "", ""
	for i, slot := range s.at.id {
		word := strings.TrimSpace(found[slot].Word(text))
		switch {
		case found[slot].Kind >= jsonscan.Number && !isName(word):
			return invalidID
		case !s.responses.words.isID(found[slot], word):
		case id == "":
			id, path = word, s.op.Response["id"][i]
		case word != id:
			return fmt.Sprintf("the response has different IDs at %s and %s; say which names the message, such as %q: "+
				`{"response": {"id": [%q]}}`, path, s.op.Response["id"][i], s.section, path)
		}
	}
	return ""
}

// addReferences adds the references at the slots that differ from the one of the response.
func (s *Send) addReferences(r *Response, text string, found []value, slots []int) {
	for _, slot := range slots {
		if word := found[slot].Word(text); word != "" && word != r.ReferenceID {
			r.OtherReferences = append(r.OtherReferences, word)
		}
	}
}

// judge adds what the status says, and what is in doubt: a message without an ID, and one beside whose ID something says that it
// failed. It reports whether the contract knows the word of the status.
func (s *Send) judge(r *Response, text string, found []value, place int) (isKnown bool) {
	hasStatus := func(slot int) bool {
		return found[slot].Kind > jsonscan.Null && (slot != document || found[slot].IsScalar())
	}
	status, accepted, refused := value{}, -1, -1
	if i := slices.IndexFunc(s.at.status, hasStatus); i >= 0 {
		status = found[s.at.status[i]]
	}
	word := status.Word(text)
	if status.IsScalar() {
		accepted, refused = table.Match(s.op.Accepted, word, true), table.Match(s.op.Refused, word, true)
	}
	refuses := func(slot int) bool {
		return found[slot].IsScalar() && found[slot] != status && s.responses.words.refuses(found[slot].Word(text))
	}
	accepts := func(slot int) bool {
		said := found[slot].Word(text)
		return found[slot].IsScalar() && table.Match(s.op.Accepted, said, true) > table.Match(s.op.Refused, said, true)
	}
	hasNoIDs := len(s.at.id) == 0
	r.isAccepted = hasNoIDs && slices.ContainsFunc(s.at.status, accepts)
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
	case hasNoIDs && accepted < 0:
		r.Doubt = "the response has no status that accepts the message, and the contract says that it has no ID (accepted, response.id)"
	case !hasNoIDs && r.ID == "":
		r.Doubt = "the response names no message at any path of the contract (response.id)"
	default:
		r.Doubt = s.responses.trouble(text, found, &s.responses.enclosing[place])
	}
	return accepted >= 0 || refused >= 0
}
