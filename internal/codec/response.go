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
	Status                            string   // the word of the status, such as accepted
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

	// IsText reports whether the response is one text, and not JSON; IsStructured whether it is a JSON object or list.
	IsText, IsStructured bool

	// FoundAt is the path at which Recognize found the ID by its name, or "" if the ID is where the contract says.
	FoundAt string

	isAccepted bool // the contract has no IDs, and a status accepts the message
	hasStatus  bool
	isKnown    bool // the contract knows the word of the status or the code
	hasIDPlace bool // something is at a path of an ID
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
	buffer, _ := s.buffers.Get().(*[]value)
	if buffer == nil {
		buffer = new([]value)
	}
	defer s.buffers.Put(buffer)
	read, err := s.responses.read(body, *buffer)
	*buffer = read.found
	if err != nil {
		return Response{}, err
	}
	r := s.interpret(&read)
	if read.notJSON != nil {
		return r.asText(read.notJSON)
	}
	r.IsStructured = !read.found[root].IsScalar() && read.found[root].Kind > jsonscan.Null
	s.readLists(&r, &read, s.lists)
	if r.Doubt == "" && !r.Refused {
		r.Doubt = s.responses.failureIn(read.doc, read.text)
	}
	r.detach(len(body))
	return r, nil
}

// Recognize is Decode for a response whose status says that it is a success. If the contract has only its default paths of an ID and
// nothing stands there, an ID is found by its name, and the contract then decides as if it named that path.
func (s *Send) Recognize(body []byte, to string) (Response, error) {
	r, err := s.Decode(body)
	if err != nil || s.byName == nil || r.Doubt != noID || r.hasIDPlace {
		return r, err
	}
	path := s.pathOfID(body, to)
	other := s.byName.at(path)
	if other == nil {
		return r, nil
	}
	recognized, err := other.Decode(body)
	recognized.FoundAt = path
	return recognized, err
}

// pathOfID returns the path at which a response names a message by the name of a member: the only one, or one of several with the same ID.
// It is "" otherwise.
func (s *Send) pathOfID(body []byte, to string) string {
	doc := withoutMark(body)
	named, _ := s.responses.idsIn(doc, string(doc), to)
	if len(named) == 0 {
		return ""
	}
	for _, one := range named[1:] {
		if one != named[0] && one.id != named[0].id && one.path != named[0].path {
			return ""
		}
	}
	return named[0].path
}

// Names reports whether a response names a message by a member that is a message ID by its name, and whether it holds the ID of anything
// but a request. An ID within an error is the error's, and counts as any ID.
func (s *Send) Names(body []byte, to string) (message, anything bool) {
	doc := withoutMark(body)
	if jsonscan.Check(doc) != nil {
		return false, false
	}
	named, hasAnyID := s.responses.idsIn(doc, string(doc), to)
	return len(named) > 0, hasAnyID
}

// asText returns a response that is one text, or an error if the contract does not know the text. A text names nothing.
func (r *Response) asText(notJSON error) (Response, error) {
	r.IsText = true
	r.Own = r.Class != "" || r.isKnown
	if !r.Own {
		return Response{}, notJSON
	}
	return *r, nil
}

// detach copies what was found in a long response, so that it does not keep the whole alive.
func (r *Response) detach(length int) {
	if length <= shortest {
		return
	}
	r.Failure = r.Failure.detached(length)
	for _, text := range []*string{&r.ID, &r.ReferenceID, &r.UnitCost, &r.Cost, &r.Balance, &r.Currency, &r.Operator, &r.Status} {
		*text = strings.Clone(*text)
	}
	r.RequestID = strings.Clone(r.RequestID)
	for i := range r.OtherReferences {
		r.OtherReferences[i] = strings.Clone(r.OtherReferences[i])
	}
	for i := range r.Recipients {
		r.Recipients[i] = strings.Clone(r.Recipients[i])
	}
}

// readLists judges each element of lists that have several, in place of the first one: elements that agree are the parts of a long text.
// r is what the response says with the first elements.
func (s *Send) readLists(r *Response, read *reading, lists []*list) {
	for _, l := range lists {
		if read.found[l.second].Kind == jsonscan.Absent {
			s.readLists(r, read, l.inner)
			continue
		}
		s.readElements(r, read, l)
	}
}

// readElements judges each element of a list.
func (s *Send) readElements(r *Response, read *reading, l *list) {
	const mostParts = 255
	element := *read
	element.found = slices.Clone(read.found)
	areAccepted, areRefused, says, parts := true, l.isEvery, false, 0
	w := jsonscan.NewWalker(read.doc)
	w.Pos = read.found[l.slot].Start
	for more := w.Open(']'); more; more = w.Next(']') {
		for _, slot := range l.slots {
			element.found[slot] = value{}
		}
		w.Repeats = false
		w.Element(l.element, element.found)
		element.repeats = w.Repeats
		one := s.interpret(&element)
		s.readLists(&one, &element, l.inner)
		isThere := func(slot int) bool { return element.found[slot].Kind > jsonscan.Null }
		says = says || slices.ContainsFunc(l.says, isThere)
		areAccepted = areAccepted && one.NamesMessage() && !one.Refused && one.Doubt == "" && one.hasStatus == r.hasStatus
		areRefused = areRefused && one.Refused && one.Contradiction == ""
		r.OtherReferences = append(append(r.OtherReferences, one.ReferenceID), one.OtherReferences...)
		r.Recipients = append(r.Recipients, one.Recipients...)
		if parts++; parts > mostParts {
			areAccepted, areRefused = false, false
			break
		}
	}
	if says && !areAccepted && !areRefused { // otherwise it lists something else
		r.Contradiction, r.Doubt, r.Refused = several, several, false
	}
}

// interpret reads what a response with one message says, and judges it.
func (s *Send) interpret(read *reading) Response {
	text, found := read.text, read.found
	failure, codeDoubt := s.responses.failure(text, found)
	r := Response{Failure: failure}
	place, contradiction := s.identify(text, found)
	r.Contradiction = contradiction
	if read.notJSON == nil {
		s.readFields(&r, text, found, place)
	}
	r.Own = r.Own || !table.IsPlaceholder(r.RequestID)
	if read.repeats {
		r.Contradiction = repeated
	}
	isThere := func(slot int) bool { return found[slot].Kind > jsonscan.Null }
	r.hasIDPlace = slices.ContainsFunc(s.at.id, isThere)
	status := s.status(text, found)
	_, isSuccess := s.responses.meaning(r.Code)
	r.hasStatus = status.isThere
	r.Status = status.word
	r.isAccepted = s.hasNoIDs() && status.anyAccepts
	r.isKnown = status.accepts || status.refuses || isSuccess
	s.judge(&r, status, codeDoubt)
	return r
}

func (s *Send) hasNoIDs() bool { return len(s.at.id) == 0 }

// readFields reads what a response says of an accepted message.
func (s *Send) readFields(r *Response, text string, found []value, place int) {
	said := func(slots []int) string { return first(text, found, slots) }
	amount := func(slots []int) (number, currency string) {
		number, currency, _ = amountOf(said(slots), s.op.Scale)
		return number, currency
	}
	at := &s.at
	if place >= 0 && !s.hasNoIDs() {
		r.ID = strings.TrimSpace(found[at.id[place]].Word(text))
	}
	parts, _ := wholeInt(said(at.parts))
	r.Parts = max(parts, 0)
	r.RequestID = cmp.Or(said(at.request), r.Failure.RequestID)
	r.ReferenceID = said(at.reference)
	r.Operator = said(at.operator)
	unitCost, unitCurrency := amount(at.unitCost)
	cost, currency := amount(at.cost)
	r.UnitCost = unitCost
	r.Cost = cost
	r.Currency = cmp.Or(said(at.currency), currency, unitCurrency)
	r.Balance, _ = amount(at.balance)
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
		add(&r.OtherReferences, s.beside[place].references, r.ReferenceID)
		add(&r.Recipients, s.beside[place].recipients, "")
	}
}

// identify returns which of the places that name a message does or, if the contract has no IDs, which has a status; -1 if none does. A
// contradiction is why the IDs name no message, whatever else the response says, or "": one is none that names a message, or two differ.
func (s *Send) identify(text string, found []value) (place int, contradiction string) {
	if s.hasNoIDs() {
		isThere := func(slot int) bool { return found[slot].Kind > jsonscan.Null }
		return slices.IndexFunc(s.at.status, isThere), ""
	}
	place = -1
	id := ""
	for i, slot := range s.at.id {
		if found[slot].Kind <= jsonscan.Null {
			continue
		}
		word := strings.TrimSpace(found[slot].Word(text))
		switch {
		case found[slot].Kind >= jsonscan.Number && !isName(word):
			return place, invalidID
		case !s.responses.words.isID(found[slot], word):
		case place < 0:
			place, id = i, word
		case word != id:
			paths := s.op.Response["id"]
			return place, fmt.Sprintf("the response has different IDs at %s and %s; say which names the message, such as %q: "+
				`{"response": {"id": [%q]}}`, paths[place], paths[i], s.section, paths[place])
		}
	}
	return place, ""
}

// status is what a response says at the paths of the status. The first value that is there counts, and another may contradict it.
type status struct {
	isThere          bool
	word             string // of the first
	accepts, refuses bool   // it is a word of the contract's lists
	othersRefuse     bool
	anyAccepts       bool
}

func (s *Send) status(text string, found []value) (said status) {
	for _, slot := range s.at.status {
		v := found[slot]
		if v.Kind <= jsonscan.Null || slot == root && !v.IsScalar() {
			continue
		}
		word := v.Word(text)
		accepted, refused := -1, -1
		if v.IsScalar() {
			accepted, refused = table.Match(s.op.Accepted, word, true), table.Match(s.op.Refused, word, true)
		}
		said.anyAccepts = said.anyAccepts || accepted > refused
		if said.isThere {
			said.othersRefuse = said.othersRefuse || v.IsScalar() && s.responses.words.refuses(word)
			continue
		}
		said.isThere = true
		if v.IsScalar() {
			said.word = strings.TrimSpace(word)
		}
		said.accepts = accepted > refused
		said.refuses = refused > accepted
	}
	return said
}

const (
	twoStatuses   = "the response has two statuses, of which one refuses the message (accepted, refused)"
	unknownStatus = "the response has a status that is no word of the contract (accepted, refused)"
	noStatus      = "the response has no status that accepts the message, and the contract says that it has no ID (accepted, response.id)"
	noID          = "the response names no message at any path of the contract (response.id)"
)

// judge decides what the code, the status and the ID of a response say of the message. The strongest evidence comes first: what
// contradicts itself proves nothing; a code of a known class and a word of refused refuse; then everything that is unknown or missing
// leaves the outcome in doubt. What remains is accepted, unless anything else in the response says failure (see survey).
func (s *Send) judge(r *Response, said status, codeDoubt string) {
	switch {
	case r.Contradiction != "":
		r.Doubt = r.Contradiction
	case r.Class != "":
		r.Refused = true
	case said.refuses:
		r.Refused = true
		s.explain(r, said.word)
	case codeDoubt != "":
		r.Doubt = codeDoubt
	case said.accepts && said.othersRefuse:
		r.Doubt = twoStatuses
	case said.isThere && !said.accepts:
		r.Doubt = unknownStatus
	case s.hasNoIDs() && !said.accepts:
		r.Doubt = noStatus
	case !s.hasNoIDs() && r.ID == "":
		r.Doubt = noID
	}
}

// explain makes the word of a status the code of a refusal that has none but one of success.
func (s *Send) explain(r *Response, word string) {
	if _, isSuccess := s.responses.meaning(r.Code); r.Code == "" || isSuccess {
		r.Code = strings.TrimSpace(word)
		r.Class, _ = table.Meaning(s.responses.errs.Classes, r.Code, false)
	}
}
