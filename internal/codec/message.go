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
	hasIDValue bool // something is at a path of an ID
}

// readMessage reads what a response says about one message. Of each list it reads the first element.
func (f *messageFormat) readMessage(d *document) message {
	failure, uncertainCode := f.failure(d)
	id := f.findID(d)
	m := message{status: f.readStatus(d), hasIDValue: d.hasAny(f.fields.id)}
	m.Failure = failure
	m.Status = m.status.text
	m.isAccepted = f.hasNoIDs() && m.status.anyAccepts
	if d.notJSON == nil {
		f.readFields(&m.Response, d, id)
	}
	m.FromService = m.FromService || !table.IsPlaceholder(m.RequestID)
	contradiction := id.contradiction
	if d.hasDuplicate {
		contradiction = duplicateMember
	}
	m.Claim, m.Reason = f.claim(&m, contradiction, uncertainCode)
	if m.Claim == Refuses {
		f.useStatusAsCode(&m)
	}
	return m
}

// claim returns what a response says became of the message, and why if it neither accepts nor refuses. The strongest evidence comes first: a
// contradiction proves nothing. An error code of a known class and a word of refused refuse the message. After that, everything unknown or
// missing leaves the outcome unclear. The rest accepts the message, unless decode then finds anything else that reports a failure.
func (f *messageFormat) claim(m *message, contradiction, uncertainCode string) (claim Claim, reason string) {
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
	case f.hasNoIDs() && !status.accepts:
		return Unclear, noStatus
	case !f.hasNoIDs() && m.ID == "":
		return NamesNone, noID
	default:
		return Accepts, ""
	}
}

// useStatusAsCode sets the code of a refusal without an error code.
func (f *messageFormat) useStatusAsCode(m *message) {
	if f.isErrorCode(m.Code) {
		return
	}
	m.Code = m.status.text
	m.Class, _ = table.Meaning(f.errors.Classes, m.Code, false)
}

// readFields reads the fields of a message, whether the response accepts it or not.
func (f *messageFormat) readFields(r *Response, d *document, id foundID) {
	r.ID = id.id
	parts, _ := wholeInt(d.first(f.fields.parts))
	r.Parts = max(parts, 0)
	r.RequestID = cmp.Or(d.first(f.fields.request), r.Failure.RequestID)
	r.ReferenceID = d.first(f.fields.reference)
	r.Operator = d.first(f.fields.operator)
	f.readMoney(r, d)
	r.addReferences(d, f.fields.reference)
	r.addRecipients(d, f.fields.recipient)
	if id.path >= 0 {
		r.addReferences(d, f.adjacent[id.path].references)
		r.addRecipients(d, f.adjacent[id.path].recipients)
	}
}

// readMoney reads the amounts of money. A text that is not an amount is left out.
func (f *messageFormat) readMoney(r *Response, d *document) {
	unitCost, unitCurrency, _ := amountOf(d.first(f.fields.unitCost), f.op.Scale)
	cost, currency, _ := amountOf(d.first(f.fields.cost), f.op.Scale)
	balance, _, _ := amountOf(d.first(f.fields.balance), f.op.Scale)
	r.UnitCost = unitCost
	r.Cost = cost
	r.Balance = balance
	r.Currency = cmp.Or(d.first(f.fields.currency), currency, unitCurrency)
}

func (f *messageFormat) hasNoIDs() bool { return len(f.fields.id) == 0 }

// foundID is the ID of the message in a response.
type foundID struct {
	id string
	// path is the index of the contract's path at which the ID is or, if the contract has no IDs, the status. It is -1 if neither is there.
	path int
	// contradiction is set if an ID is invalid, or if two IDs differ.
	contradiction string
}

// findID finds the ID at the paths of the contract. It skips values that are no ID, such as a state.
func (f *messageFormat) findID(d *document) foundID {
	if f.hasNoIDs() {
		return foundID{path: slices.IndexFunc(f.fields.status, d.has)}
	}
	found := foundID{path: -1}
	for i, slot := range f.fields.id {
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
		case !f.vocabulary.isID(v, word):
		case found.path < 0:
			found.path = i
			found.id = word
		case word != found.id:
			found.contradiction = f.differentIDs(found.path, i)
			return found
		}
	}
	return found
}

// differentIDs says that the IDs at two paths differ.
func (f *messageFormat) differentIDs(first, second int) string {
	ids := f.op.Response["id"]
	return fmt.Sprintf("the response has different IDs at %s and %s; say which names the message, such as %q: "+
		`{"response": {"id": [%q]}}`, ids[first], ids[second], f.section, ids[first])
}

// status is what a response says at the paths of the status. The first word counts, and a later one may contradict it.
type status struct {
	statusWord // the first one; zero unless isPresent

	isPresent    bool
	othersRefuse bool // a later word refuses the message
	anyAccepts   bool // the first word or a later one accepts the message
}

// statusWord is a value at a path of the status. It accepts or refuses the message if it is a word of the contract's lists. An object or a
// list is not a word, and does neither.
type statusWord struct {
	text    string
	path    string
	accepts bool
	refuses bool
}

// readStatus reads the words at the paths of the status.
func (f *messageFormat) readStatus(d *document) (found status) {
	for i, slot := range f.fields.status {
		isWord := d.values[slot].IsScalar()
		isWholeDocument := slot == root && !isWord
		if !d.has(slot) || isWholeDocument {
			continue
		}
		word := statusWord{text: strings.TrimSpace(d.word(slot)), path: f.op.Response["status"][i]}
		if isWord {
			accepted := table.Match(f.op.Accepted, word.text, true)
			refused := table.Match(f.op.Refused, word.text, true)
			word.accepts = accepted > refused
			word.refuses = refused > accepted
		}
		found.anyAccepts = found.anyAccepts || word.accepts
		if !found.isPresent {
			found.isPresent = true
			found.statusWord = word
			continue
		}
		isRefusal := isWord && f.vocabulary.refuses(word.text)
		found.othersRefuse = found.othersRefuse || isRefusal
	}
	return found
}
