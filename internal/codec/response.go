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
	hasStatus  bool
}

// NamesMessage reports whether the response names a message, or says by a word that it was accepted if the contract has no IDs. To send
// the message again could then send it twice, whatever else the response says.
func (r *Response) NamesMessage() bool { return r.ID != "" || r.isAccepted }

const (
	repeated  = "the response has a member of the contract twice"
	several   = "the response lists several messages of which one failed or has no ID, where one was sent (response.id, response.status)"
	invalidID = "the response has an ID of more than 256 characters, or with control characters or invalid UTF-8 (response.id)"
)

// Decode reads a response. The error says why it is not in the form of the contract, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) {
	left := 16<<20 + len(body)
	r, _, err := s.decodeAll(body, nil, &left)
	return r, err
}

// decodeAll reads a response, and each element of a list by itself: elements that agree are the parts of a long text. left is how many
// bytes may be read. It reports whether an element of a list has anything that the contract reads.
func (s *Send) decodeAll(body []byte, of *list, left *int) (r Response, says bool, err error) {
	if *left -= len(body); *left < 0 {
		return Response{Contradiction: several, Doubt: several}, true, nil
	}
	r, lists, says, err := s.decode(body, of)
	if len(lists) > 0 {
		err = s.decodeElements(&r, body, lists, left)
	}
	return r, says, err
}

// decodeElements reads each element of the lists in a response, which r is what was read of as a whole.
func (s *Send) decodeElements(r *Response, body []byte, lists []list, left *int) (err error) {
	const mostParts = 255
	for _, l := range lists {
		most := min(mostParts, *left/len(body))
		elements, isAny := splitList(withoutMark(body), l.path, most+1), false
		all := make([]Response, len(elements))
		for i := range all {
			var inThis bool
			if all[i], inThis, err = s.decodeAll(elements[i], &l, left); err != nil {
				return err
			}
			isAny = isAny || inThis
		}
		isAccepted := func(one Response) bool {
			return one.NamesMessage() && !one.Refused && one.Doubt == "" && one.hasStatus == r.hasStatus
		}
		isRefused := func(one Response) bool { return one.Refused && one.Contradiction == "" }
		switch {
		case !isAny:
			continue // it lists something else
		case len(elements) <= most && isAll(all, isAccepted):
		case len(elements) <= most && l.isEvery && isAll(all, isRefused):
		default:
			r.Contradiction, r.Doubt, r.Refused = several, several, false
		}
		for _, one := range all {
			r.OtherReferences = append(append(r.OtherReferences, one.ReferenceID), one.OtherReferences...)
			r.Recipients = append(r.Recipients, one.Recipients...)
		}
	}
	return nil
}

func isAll(all []Response, is func(Response) bool) bool {
	return !slices.ContainsFunc(all, func(one Response) bool { return !is(one) })
}

// splitList returns a document once for each of the first elements of the list at a path, with that element alone in the list. In a list
// on the way it goes into the first element.
func splitList(doc []byte, path []string, most int) (docs [][]byte) {
	elements := slices.Collect(jsonscan.Elements(doc))
	switch {
	case len(path) == 0:
		for _, element := range elements[:min(len(elements), most)] {
			docs = append(docs, slices.Concat([]byte("["), element, []byte("]")))
		}
		return docs
	case len(elements) > 0 && table.IsPosition(path[0]):
		for _, element := range splitList(elements[0], path[1:], most) {
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
	for _, value := range splitList(members[at].Value, path[1:], most) {
		for i, m := range members {
			all[i] = member{name: m.Name, raw: m.Value}
		}
		all[at].raw = value
		docs = append(docs, appendObject(nil, all))
	}
	return docs
}

// decode is Decode for a response with one message. It returns the lists that have several elements, and reports whether an element of a
// list has anything that the contract reads.
func (s *Send) decode(body []byte, of *list) (r Response, lists []list, says bool, err error) {
	var few [88]value
	text, found, repeats, notJSON, err := s.responses.read(body, few[:0])
	if err != nil {
		return Response{}, nil, false, err
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
			return Response{}, nil, false, notJSON
		}
	}
	for _, l := range s.lists {
		if found[l.second].Kind != jsonscan.Absent {
			lists = append(lists, l)
		}
	}
	isThere := func(slot int) bool { return found[slot].Kind > jsonscan.Null }
	return r, lists, of != nil && slices.ContainsFunc(of.within, isThere), nil
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
	amount := func(slots []int) (number, currency string) {
		number, currency, _ = amountOf(said(slots), s.op.Scale)
		return number, currency
	}
	at := &s.at
	if place >= 0 && len(at.id) > 0 {
		r.ID = strings.TrimSpace(found[at.id[place]].Word(text))
	}
	parts, _ := wholeInt(said(at.parts))
	r.RequestID, r.ReferenceID, r.Parts = cmp.Or(said(at.request), r.Failure.RequestID), said(at.reference), max(parts, 0)
	unitCost, unitCurrency := amount(at.unitCost)
	cost, currency := amount(at.cost)
	r.UnitCost, r.Cost, r.Currency = unitCost, cost, cmp.Or(said(at.currency), currency, unitCurrency)
	r.Balance, _ = amount(at.balance)
	r.Operator = said(at.operator)
	add := func(to *[]string, slots []int, known string) {
		for _, slot := range slots {
			if word := found[slot].Word(text); word != "" && word != known {
				*to = append(*to, word)
			}
		}
	}
	add(&r.OtherReferences, at.reference, r.ReferenceID)
	add(&r.Recipients, at.recipient, "")
	if place >= 0 {
		add(&r.OtherReferences, s.responses.enclosing[place].references, r.ReferenceID)
		add(&r.Recipients, s.responses.enclosing[place].recipients, "")
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
	r.hasStatus = status.Kind != jsonscan.Absent
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
	case r.hasStatus && accepted < 0:
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
