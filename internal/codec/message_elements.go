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

// maxReread is how many bytes of a response are read again for the elements of its lists, with each of which the values outside are read. It is
// enough for 255 parts of 1 KiB each. Without it, a long response would keep a send busy for a minute.
const maxReread = 64 << 20

// element is what the response says with one element of a list.
type element struct {
	message

	hasOutcome bool // an ID, a status or an error code of its own, and not only from outside the list
}

// readLists adds to m what the elements of lists say. So far m is what the response says with the first element of each list.
func (f *messageFormat) readLists(m *message, d *document, lists []*messageList) {
	for _, l := range lists {
		kind := d.values[f.At(l.path).Slot].Kind
		hasSeveral := d.values[l.second].Kind != jsonscan.Absent
		switch {
		case !hasSeveral:
			f.readLists(m, d, l.inner)
		case kind == jsonscan.List:
			f.readList(m, d, l)
		default: // an object with numbers as names, whose members are not read one by one
			m.setMixed()
		}
	}
}

// readList adds to m what the elements of a list say. Unless they are the parts of one message, the response proves nothing.
func (f *messageFormat) readList(m *message, d *document, l *messageList) {
	elements, isComplete := f.readElements(d, l)
	if !isComplete {
		m.Claim = Contradictory
		m.Reason = tooLongList
		return
	}
	haveOutcome := false
	for i := range elements {
		m.addNames(&elements[i].Response)
		haveOutcome = haveOutcome || elements[i].hasOutcome
	}
	if haveOutcome && !areParts(elements, l.hasWildcard, m.status.isPresent) {
		m.setMixed()
	}
}

// setMixed notes that the response is about several messages, or may be, so that it proves nothing about one.
func (r *Response) setMixed() {
	r.Claim = Contradictory
	r.Reason = mixedMessages
}

// addNames adds the reference IDs and the recipients that the response has with one element of a list.
func (r *Response) addNames(with *Response) {
	r.addReference(with.ReferenceID)
	for _, reference := range with.OtherReferences {
		r.addReference(reference)
	}
	r.Recipients = append(r.Recipients, with.Recipients...)
}

// readElements reads the elements of a list, up to maxParts+1 of them. It reports false if that would read more again than maxReread.
func (f *messageFormat) readElements(d *document, l *messageList) (elements []element, isComplete bool) {
	list := f.At(l.path)
	first := f.At(join(l.path, firstElement))
	outcomes := f.outcomesIn(first)
	below := list.Slots()[1:] // without the list itself

	alone := *d // the response as if the list held one element alone
	alone.values = slices.Clone(d.values)
	w := jsonscan.NewWalker(d.raw)
	w.Pos = d.values[list.Slot].Start
	for more := w.Open(']'); more && len(elements) <= maxParts; more = w.Next(']') {
		alone.reread += len(d.raw)
		if alone.reread > maxReread {
			break
		}
		alone.readElement(w, first, below)
		e := element{message: f.readMessage(&alone), hasOutcome: alone.hasAny(outcomes)}
		f.readLists(&e.message, &alone, l.inner)
		elements = append(elements, e)
	}
	d.reread = alone.reread
	return elements, d.reread <= maxReread
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
func (f *messageFormat) outcomesIn(n *jsonscan.Node) []int {
	outcomes := slices.Concat(f.fields.id, f.fields.status)
	for _, code := range f.codes {
		outcomes = append(outcomes, code.slot)
	}
	inNode := n.Slots()
	isOutside := func(slot int) bool { return !slices.Contains(inNode, slot) }
	return slices.DeleteFunc(outcomes, isOutside)
}

// areParts reports whether the elements of a list are the parts of one message: there are at most maxParts, and all accept the message and have
// a status, or none has. All may refuse it if the contract has a * for them: then it says itself that each element counts.
func areParts(elements []element, hasWildcard, haveStatus bool) bool {
	if len(elements) > maxParts {
		return false
	}
	allAccept := true
	allRefuse := true
	for i := range elements {
		e := &elements[i]
		isAccepted := e.Claim == Accepts && e.status.isPresent == haveStatus
		allAccept = allAccept && isAccepted
		allRefuse = allRefuse && e.Claim == Refuses
	}
	return allAccept || hasWildcard && allRefuse
}
