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

// message is what a response says about one message: the Response, and what else this package asks about it.
type message struct {
	Response

	status     status
	hasIDPlace bool // something is at a path of an ID
}

// readMessage reads what a response says about one message. Of each list it reads the first element.
func (s *Send) readMessage(d *document) message {
	failure, uncertainCode := s.responses.failure(d)
	id := s.findID(d)
	m := message{status: s.readStatus(d), hasIDPlace: d.hasAny(s.slots.id)}
	m.Failure = failure
	m.Status = m.status.text
	m.isAccepted = s.hasNoIDs() && m.status.anyAccepts
	if d.notJSON == nil {
		s.readFields(&m.Response, d, id)
	}
	m.FromService = m.FromService || !table.IsPlaceholder(m.RequestID)
	contradiction := id.contradiction
	if d.hasDuplicate {
		contradiction = duplicateMember
	}
	m.Claim, m.Reason = s.judge(&m, contradiction, uncertainCode)
	if m.Claim == Refuses {
		s.useStatusAsCode(&m)
	}
	return m
}

// judge returns what a response says became of the message, and why it says neither. The strongest evidence comes first. A contradiction
// proves nothing. An error code of a known class and a word of refused refuse the message. After that, everything unknown or missing
// leaves the outcome unclear. The rest accepts the message, unless anything else in the response reports a failure (see scanForFailure).
func (s *Send) judge(m *message, contradiction, uncertainCode string) (claim Claim, reason string) {
	status := &m.status
	switch {
	case contradiction != "":
		return Contradictory, contradiction
	case m.Class != "":
		return Refuses, ""
	case status.refuses:
		return Refuses, ""
	case uncertainCode != "":
		return Unclear, uncertainCode
	case status.accepts && status.othersRefuse:
		return Unclear, twoStatuses
	case status.isPresent && !status.accepts:
		return UnknownStatus, unknownStatus + ": " + strconv.Quote(status.path)
	case s.hasNoIDs() && !status.accepts:
		return Unclear, noStatus
	case !s.hasNoIDs() && m.ID == "":
		return NamesNone, noID
	default:
		return Accepts, ""
	}
}

// useStatusAsCode sets the code of a refusal without an error code.
func (s *Send) useStatusAsCode(m *message) {
	if s.responses.isErrorCode(m.Code) {
		return
	}
	m.Code = m.status.text
	m.Class, _ = table.Meaning(s.responses.errors.Classes, m.Code, false)
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

// findID finds the ID at the paths of the contract. It skips values that are no ID, such as a state.
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
		isInvalid := v.Kind != jsonscan.Boolean && !isPrintable(word)
		switch {
		case isInvalid:
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

// status is what a response says at the paths of the status. The first word counts, and a later one may contradict it.
type status struct {
	statusWord // the first one; zero unless isPresent

	isPresent    bool
	othersRefuse bool // a later word refuses the message
	anyAccepts   bool // the first word or a later one accepts the message
}

// statusWord is a value at a path of the status. It accepts or refuses the message if it is a word of the contract's lists. An object or a
// list is no word, and does neither.
type statusWord struct {
	text    string
	path    string
	accepts bool
	refuses bool
}

func (s *Send) readStatus(d *document) (found status) {
	for i, slot := range s.slots.status {
		isWord := d.values[slot].IsScalar()
		isWholeDocument := slot == root && !isWord
		if !d.has(slot) || isWholeDocument {
			continue
		}
		word := statusWord{text: strings.TrimSpace(d.word(slot)), path: s.op.Response["status"][i]}
		if isWord {
			accepted := table.Match(s.op.Accepted, word.text, true)
			refused := table.Match(s.op.Refused, word.text, true)
			word.accepts = accepted > refused
			word.refuses = refused > accepted
		}
		found.anyAccepts = found.anyAccepts || word.accepts
		if !found.isPresent {
			found.isPresent = true
			found.statusWord = word
			continue
		}
		isRefusal := isWord && s.responses.vocabulary.refuses(word.text)
		found.othersRefuse = found.othersRefuse || isRefusal
	}
	return found
}
