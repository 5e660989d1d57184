package codec

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// list is a list in a response that holds an ID or a status. If it has several elements, each is read by itself.
type list struct {
	path          string
	slot          int
	firstElement  *jsonscan.Node
	secondElement int     // its slot
	slots         []int   // of all elements
	outcomes      []int   // the slots of the IDs, statuses and codes in an element
	hasWildcard   bool    // the contract has a * for its elements, so that all of them may refuse
	inner         []*list // lists in an element
}

// compileLists returns the outermost lists that hold IDs and statuses.
func (s *Send) compileLists() (outermost []*list) {
	all := s.listsOnPaths()
	for _, l := range all {
		s.compileList(l)
	}
	for i, l := range all {
		outer := innermostAround(l.path, all[:i])
		if outer == nil {
			outermost = append(outermost, l)
		} else {
			outer.inner = append(outer.inner, l)
		}
	}
	return outermost
}

// listsOnPaths returns the lists on the paths of IDs and statuses, each after the lists around it, and adds their first two elements to
// the paths of a response.
func (s *Send) listsOnPaths() (all []*list) {
	for _, path := range slices.Concat(s.op.Response["id"], s.op.Response["status"]) {
		names := strings.Split(path, ".")
		for i, name := range names {
			isWildcard := name != table.WithoutEvery(name)
			if !isWildcard && !table.IsPosition(name) {
				continue
			}
			before := table.WithoutEvery(strings.Join(names[:i], "."))
			at := slices.IndexFunc(all, func(l *list) bool { return l.path == before })
			if at < 0 {
				at = len(all)
				all = append(all, &list{path: before})
				s.responses.Add(join(before, "0"), join(before, "1"))
			}
			all[at].hasWildcard = all[at].hasWildcard || isWildcard
		}
	}
	slices.SortStableFunc(all, func(a, b *list) int { return strings.Count(a.path, ".") - strings.Count(b.path, ".") })
	return all
}

// innermostAround returns the innermost of some lists, sorted by depth, whose first element holds a path, or nil.
func innermostAround(path string, lists []*list) *list {
	for _, l := range slices.Backward(lists) {
		if strings.HasPrefix(path+".", join(l.path, "0")+".") {
			return l
		}
	}
	return nil
}

// compileList compiles a list. All paths must have been added.
func (s *Send) compileList(l *list) {
	first := join(l.path, "0")
	node := s.responses.At(l.path)
	l.slot = node.Slot
	l.firstElement = s.responses.At(first)
	l.secondElement = s.responses.At(join(l.path, "1")).Slot
	for i := range node.Children {
		l.slots = append(l.slots, node.Children[i].Slots()...)
	}
	paths := s.op.Paths()
	for _, path := range slices.Concat(paths["id"], paths["status"], s.responses.errors.Code) {
		if strings.HasPrefix(path+".", first+".") {
			l.outcomes = append(l.outcomes, s.responses.At(path).Slot)
		}
	}
}

// maxParts is how many elements a list of the parts of one message may have.
const maxParts = 255

// readLists reads all elements of the lists that have several. So far r is what the response says with the first elements. Elements that
// agree are the parts of a long text.
func (s *Send) readLists(r *Response, d *document, lists []*list) {
	for _, l := range lists {
		if d.values[l.secondElement].Kind == jsonscan.Absent {
			s.readLists(r, d, l.inner)
			continue
		}
		elements, describeMessages := s.readElements(d, l)
		for i := range elements {
			r.addReference(elements[i].ReferenceID)
			for _, reference := range elements[i].OtherReferences {
				r.addReference(reference)
			}
			r.Recipients = append(r.Recipients, elements[i].Recipients...)
		}
		if describeMessages && !l.isOneMessage(elements, r.hasStatus) {
			r.Contradiction = mixedMessages
			r.Uncertain = mixedMessages
			r.Refused = false
		}
	}
}

// isOneMessage reports whether elements are the parts of one message: there are at most maxParts, and all accept it. All may refuse it only
// if the contract has a * for them.
func (l *list) isOneMessage(elements []Response, haveStatus bool) bool {
	if len(elements) > maxParts {
		return false
	}
	if l.hasWildcard && areRefused(elements) {
		return true
	}
	return areAccepted(elements, haveStatus)
}

// readElements reads what a response says with each element of a list in place of the first one, up to one more than maxParts. It also
// reports whether the elements describe messages, and nothing else.
func (s *Send) readElements(d *document, l *list) (elements []Response, describeMessages bool) {
	element := *d
	element.values = slices.Clone(d.values)
	w := jsonscan.NewWalker(d.raw)
	w.Pos = d.values[l.slot].Start
	for more := w.Open(']'); more && len(elements) <= maxParts; more = w.Next(']') {
		for _, slot := range l.slots {
			element.values[slot] = value{}
		}
		w.Repeats = false
		w.Element(l.firstElement, element.values)
		element.hasDuplicate = w.Repeats
		r := s.readMessage(&element)
		s.readLists(&r, &element, l.inner)
		elements = append(elements, r)
		describeMessages = describeMessages || element.hasAny(l.outcomes)
	}
	return elements, describeMessages
}

// areAccepted reports whether each element accepts a message. All have a status, or none.
func areAccepted(elements []Response, haveStatus bool) bool {
	return !slices.ContainsFunc(elements, func(r Response) bool {
		isAccepted := r.NamesMessage() && !r.Refused && r.Uncertain == ""
		return !isAccepted || r.hasStatus != haveStatus
	})
}

// areRefused reports whether each element refuses a message.
func areRefused(elements []Response) bool {
	return !slices.ContainsFunc(elements, func(r Response) bool { return !r.Refused || r.Contradiction != "" })
}
