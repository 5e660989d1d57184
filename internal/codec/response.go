package codec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// Response is a decoded response to a send. Empty and zero fields are absent from the response.
type Response struct {
	ID          string
	RequestID   string
	ReferenceID string
	Operator    string
	Status      string // the word of the status, such as accepted
	Parts       int

	// Amounts of money are decimal numbers in the scale of the contract.
	UnitCost, Cost, Balance, Currency string

	OtherReferences []string // reference IDs other than ReferenceID
	Recipients      []string // of the messages that the response names
	Failure

	// Refused reports whether the response holds an error code of a known class, or a status that refuses.
	Refused bool
	// Uncertain says why a 2xx response proves neither acceptance nor refusal. It is "" if the response accepts the message.
	Uncertain string
	// Contradiction is why the response proves nothing, even if its HTTP status is a failure: a member of the contract came twice, or the
	// IDs name no message, or several. It is "" otherwise.
	Contradiction string

	// IsText reports whether the response is plain text, and not JSON; IsStructured whether it is a JSON object or list.
	IsText, IsStructured bool

	// FoundAt is the path at which Recognize found the ID by its name, or "" if the ID is where the contract says.
	FoundAt string

	isAccepted bool // the contract has no IDs, and a status accepts the message
	hasStatus  bool
	isKnown    bool // the contract knows the word of the status or the code
	hasIDPlace bool // something is at a path of an ID
}

// NamesMessage reports whether the response names a message or, if the contract has no IDs, accepts it by a status. Sending the message
// again could then send it twice, even if the response also reports a failure.
func (r *Response) NamesMessage() bool { return r.ID != "" || r.isAccepted }

// Why a response proves nothing, or does not accept the message.
const (
	duplicateMember = "the response has a member of the contract twice"
	mixedMessages   = "the response lists several messages of which one failed or has no ID, where one was sent (response.id, response.status)"
	invalidID       = "the response has an ID of more than 256 characters, or with control characters or invalid UTF-8 (response.id)"
	twoStatuses     = "the response has two statuses, of which one refuses the message (accepted, refused)"
	noStatus        = "the response has no status that accepts the message, and the contract says that it has no ID (accepted, response.id)"
	noID            = "the response names no message at any path of the contract (response.id)"

	// UnknownStatus begins an Uncertain, which ends with the path of the status.
	UnknownStatus = "the response has a status that is no word of the contract (accepted, refused)"
)

// Decode reads a response. The error says why it is not in the form of the contract, and repeats nothing of it.
func (s *Send) Decode(body []byte) (Response, error) {
	buffer, _ := s.buffers.Get().(*[]value)
	if buffer == nil {
		buffer = new([]value)
	}
	defer s.buffers.Put(buffer)
	d, err := s.responses.parse(body, *buffer)
	*buffer = d.values
	if err != nil {
		return Response{}, err
	}
	r := s.readMessage(&d)
	if d.notJSON != nil {
		return r.asText(d.notJSON)
	}
	r.IsStructured = d.has(root) && !d.values[root].IsScalar()
	s.readLists(&r, &d, s.lists)
	if r.Uncertain == "" && !r.Refused {
		r.Uncertain = s.responses.scanForFailure(&d)
	}
	r.detach(len(body))
	return r, nil
}

// asText returns a response that is plain text, or an error if the contract does not know the text. A text names no message.
func (r *Response) asText(notJSON error) (Response, error) {
	r.IsText = true
	r.FromService = r.Class != "" || r.isKnown
	if !r.FromService {
		return Response{}, notJSON
	}
	return *r, nil
}

// readMessage reads what a response says about one message, and judges it.
func (s *Send) readMessage(d *document) Response {
	failure, uncertainCode := s.responses.failure(d)
	id := s.findID(d)
	status := s.readStatus(d)
	r := Response{Failure: failure, Contradiction: id.contradiction, Status: status.word, hasStatus: status.isPresent}
	r.isAccepted = s.hasNoIDs() && status.anyAccepts
	r.hasIDPlace = d.hasAny(s.slots.id)
	if d.hasDuplicate {
		r.Contradiction = duplicateMember
	}
	if d.notJSON == nil {
		s.readFields(&r, d, id)
	}
	r.FromService = r.FromService || !table.IsPlaceholder(r.RequestID)
	_, isSuccess := s.responses.meaning(r.Code)
	r.isKnown = status.accepts || status.refuses || isSuccess
	s.judge(&r, status, uncertainCode)
	return r
}

// judge decides what a response says about the message, from the strongest evidence to the weakest. A contradiction proves nothing. An
// error code of a known class and a word of refused refuse the message. After that, everything unknown or missing leaves the outcome
// uncertain. The rest accepts the message, unless anything else in the response reports a failure (see scanForFailure).
func (s *Send) judge(r *Response, status status, uncertainCode string) {
	switch {
	case r.Contradiction != "":
		r.Uncertain = r.Contradiction
	case r.Class != "":
		r.Refused = true
	case status.refuses:
		r.Refused = true
		s.useStatusAsCode(r, status.word)
	case uncertainCode != "":
		r.Uncertain = uncertainCode
	case status.accepts && status.othersRefuse:
		r.Uncertain = twoStatuses
	case status.isPresent && !status.accepts:
		r.Uncertain = UnknownStatus + ": " + strconv.Quote(status.path)
	case s.hasNoIDs() && !status.accepts:
		r.Uncertain = noStatus
	case !s.hasNoIDs() && r.ID == "":
		r.Uncertain = noID
	}
}

// useStatusAsCode sets the code of a refusal without an error code.
func (s *Send) useStatusAsCode(r *Response, word string) {
	_, isSuccess := s.responses.meaning(r.Code)
	if r.Code != "" && !isSuccess {
		return
	}
	r.Code = word
	r.Class, _ = table.Meaning(s.responses.errors.Classes, word, false)
}

func (s *Send) hasNoIDs() bool { return len(s.slots.id) == 0 }

// foundID is the ID of the message in a response.
type foundID struct {
	id string
	// place is the index of the path at which the message is named or, if the contract has no IDs, at which it has a status; -1 if there is
	// none.
	place int
	// contradiction is set if an ID is invalid, or if two IDs differ.
	contradiction string
}

// findID finds the ID at the paths of the contract.
func (s *Send) findID(d *document) foundID {
	if s.hasNoIDs() {
		return foundID{place: slices.IndexFunc(s.slots.status, d.has)}
	}
	found := foundID{place: -1}
	for i, slot := range s.slots.id {
		if !d.has(slot) {
			continue
		}
		v := d.values[slot]
		word := strings.TrimSpace(d.word(slot))
		isBoolean := v.Kind == jsonscan.Boolean
		switch {
		case !isBoolean && !isPrintable(word):
			found.contradiction = invalidID
			return found
		case !s.responses.vocabulary.isID(v, word):
		case found.place < 0:
			found.place = i
			found.id = word
		case word != found.id:
			found.contradiction = s.differentIDs(found.place, i)
			return found
		}
	}
	return found
}

// differentIDs says that the IDs at two paths differ.
func (s *Send) differentIDs(first, second int) string {
	ids := s.op.Response["id"]
	return fmt.Sprintf("the response has different IDs at %s and %s; say which names the message, such as %q: "+
		`{"response": {"id": [%q]}}`, ids[first], ids[second], s.section, ids[first])
}

// status is what a response says at the paths of the status. The first value counts, and another may contradict it.
type status struct {
	isPresent        bool
	word             string // the first one
	path             string // of the first one
	accepts, refuses bool   // the word is in the contract's lists
	othersRefuse     bool
	anyAccepts       bool
}

func (s *Send) readStatus(d *document) (found status) {
	for i, slot := range s.slots.status {
		isWord := d.values[slot].IsScalar()
		isWholeDocument := slot == root && !isWord
		if !d.has(slot) || isWholeDocument {
			continue
		}
		word := strings.TrimSpace(d.word(slot))
		accepted, refused := -1, -1
		if isWord {
			accepted = table.Match(s.op.Accepted, word, true)
			refused = table.Match(s.op.Refused, word, true)
		}
		found.anyAccepts = found.anyAccepts || accepted > refused
		if found.isPresent {
			othersRefuse := isWord && s.responses.vocabulary.refuses(word)
			found.othersRefuse = found.othersRefuse || othersRefuse
			continue
		}
		found.isPresent = true
		found.word = word
		found.path = s.op.Response["status"][i]
		found.accepts = accepted > refused
		found.refuses = refused > accepted
	}
	return found
}

// readFields reads the fields of a message, whether the response accepts it or not.
func (s *Send) readFields(r *Response, d *document, id foundID) {
	slots := &s.slots
	r.ID = id.id
	parts, _ := wholeInt(d.first(slots.parts))
	r.Parts = max(parts, 0)
	r.RequestID = cmp.Or(d.first(slots.request), r.Failure.RequestID)
	r.ReferenceID = d.first(slots.reference)
	r.Operator = d.first(slots.operator)
	s.readMoney(r, d)
	r.addReferences(d, slots.reference)
	r.addRecipients(d, slots.recipient)
	if id.place >= 0 {
		r.addReferences(d, s.adjacent[id.place].references)
		r.addRecipients(d, s.adjacent[id.place].recipients)
	}
}

// readMoney reads the amounts of money. A text that is no amount is left out.
func (s *Send) readMoney(r *Response, d *document) {
	unitCost, unitCurrency, _ := amountOf(d.first(s.slots.unitCost), s.op.Scale)
	cost, currency, _ := amountOf(d.first(s.slots.cost), s.op.Scale)
	balance, _, _ := amountOf(d.first(s.slots.balance), s.op.Scale)
	r.UnitCost = unitCost
	r.Cost = cost
	r.Balance = balance
	r.Currency = cmp.Or(d.first(s.slots.currency), currency, unitCurrency)
}

func (r *Response) addReferences(d *document, slots []int) {
	for _, slot := range slots {
		r.addReference(d.word(slot))
	}
}

// addReference adds a reference ID to OtherReferences, unless it is "" or the one in ReferenceID.
func (r *Response) addReference(reference string) {
	if reference != "" && reference != r.ReferenceID {
		r.OtherReferences = append(r.OtherReferences, reference)
	}
}

func (r *Response) addRecipients(d *document, slots []int) {
	for _, slot := range slots {
		if word := d.word(slot); word != "" {
			r.Recipients = append(r.Recipients, word)
		}
	}
}

// detach copies the strings of a long response, so that they do not keep all of it in memory.
func (r *Response) detach(length int) {
	if length <= copyLimit {
		return
	}
	r.Failure = r.Failure.detached(length)
	for _, text := range []*string{
		&r.ID, &r.RequestID, &r.ReferenceID, &r.UnitCost, &r.Cost, &r.Balance, &r.Currency, &r.Operator, &r.Status,
	} {
		*text = strings.Clone(*text)
	}
	for _, texts := range [][]string{r.OtherReferences, r.Recipients} {
		for i := range texts {
			texts[i] = strings.Clone(texts[i])
		}
	}
}
