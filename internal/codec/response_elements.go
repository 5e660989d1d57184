package codec

import (
	"slices"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// A service that splits a long text may list its parts in the response. The contract's paths lead to the first element of a list. So each
// element is read as if the list held that element alone: its values take the slots of the first element, and all other slots below the list
// are empty. The values outside the list are read with every element: an element may hold the ID while the status or an error code is
// outside, and a path that leads outside may come before one that leads into the list. Paths relative to an element could not say that.

// maxParts is how many parts of one message a list may have.
const maxParts = 255

// readLists adds to r what the elements of lists say. So far r is what the response says with the first element of each list.
func (s *Send) readLists(r *Response, d *document, lists []*messageList) {
	for _, l := range lists {
		kind := d.values[s.responses.At(l.path).Slot].Kind
		hasSeveral := d.values[l.second].Kind != jsonscan.Absent
		switch {
		case !hasSeveral:
			s.readLists(r, d, l.inner)
		case kind == jsonscan.List:
			s.readList(r, d, l)
		default: // an object with numbers as names, whose members are not read one by one
			r.setMixed()
		}
	}
}

// readList adds to r what the elements of a list say. Unless they are the parts of one message, the response proves nothing.
func (s *Send) readList(r *Response, d *document, l *messageList) {
	elements, haveOutcome := s.readElements(d, l)
	for i := range elements {
		r.addNames(&elements[i])
	}
	if haveOutcome && !isOneMessage(elements, l.hasWildcard, r.hasStatus) {
		r.setMixed()
	}
}

// setMixed notes that the response is about several messages, or may be, so that it proves nothing about one.
func (r *Response) setMixed() {
	r.Contradiction = mixedMessages
	r.Uncertain = mixedMessages
	r.Refused = false
}

// readElements returns what the response says with each element of a list, up to maxParts+1 of them. haveOutcome reports whether any has an
// ID, a status or an error code of its own.
func (s *Send) readElements(d *document, l *messageList) (elements []Response, haveOutcome bool) {
	list := s.responses.At(l.path)
	first := s.responses.At(join(l.path, firstElement))
	outcomes := s.outcomesIn(first)
	below := list.Slots()[1:] // without the list itself

	alone := *d // the response as if the list held one element alone
	alone.values = slices.Clone(d.values)
	w := jsonscan.NewWalker(d.raw)
	w.Pos = d.values[list.Slot].Start
	for more := w.Open(']'); more && len(elements) <= maxParts; more = w.Next(']') {
		alone.readElement(w, first, below)
		element := s.readMessage(&alone)
		s.readLists(&element, &alone, l.inner)
		elements = append(elements, element)
		haveOutcome = haveOutcome || alone.hasAny(outcomes)
	}
	return elements, haveOutcome
}

// readElement reads the next element of a list into the slots of the first one, and empties all other slots below the list.
func (d *document) readElement(w *jsonscan.Walker, first *jsonscan.Node, below []int) {
	for _, slot := range below {
		d.values[slot] = value{}
	}
	w.Repeats = false
	w.Element(first, d.values)
	d.hasDuplicate = w.Repeats // in this element
}

// outcomesIn returns the slots of the IDs, statuses and error codes at a node and below it.
func (s *Send) outcomesIn(n *jsonscan.Node) []int {
	outcomes := slices.Concat(s.slots.id, s.slots.status)
	for _, code := range s.responses.codes {
		outcomes = append(outcomes, code.slot)
	}
	inNode := n.Slots()
	isOutside := func(slot int) bool { return !slices.Contains(inNode, slot) }
	return slices.DeleteFunc(outcomes, isOutside)
}

// addNames adds the reference IDs and the recipients that the response has with one element of a list.
func (r *Response) addNames(element *Response) {
	r.addReference(element.ReferenceID)
	for _, reference := range element.OtherReferences {
		r.addReference(reference)
	}
	r.Recipients = append(r.Recipients, element.Recipients...)
}

// isOneMessage reports whether the elements of a list are the parts of one message: there are at most maxParts, and all accept the message.
// All may refuse it if the contract has a * for them: then it says itself that each element counts.
func isOneMessage(elements []Response, hasWildcard, haveStatus bool) bool {
	switch {
	case len(elements) > maxParts:
		return false
	case hasWildcard && areRefused(elements):
		return true
	default:
		return areAccepted(elements, haveStatus)
	}
}

// areRefused reports whether each element refuses the message.
func areRefused(elements []Response) bool {
	for i := range elements {
		e := &elements[i]
		if !e.Refused || e.Contradiction != "" {
			return false
		}
	}
	return true
}

// areAccepted reports whether each element accepts the message. All have a status, or none has.
func areAccepted(elements []Response, haveStatus bool) bool {
	for i := range elements {
		e := &elements[i]
		accepts := e.NamesMessage() && !e.Refused && e.Uncertain == ""
		if !accepts || e.hasStatus != haveStatus {
			return false
		}
	}
	return true
}
