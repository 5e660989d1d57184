package codec

import (
	"iter"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// list is a list in a response that holds an ID or a status. If it has several elements, each is read by itself.
type list struct {
	listPlace

	slot          int
	firstElement  *jsonscan.Node
	secondElement int     // its slot
	slots         []int   // of all elements
	outcomes      []int   // the slots of the IDs, statuses and codes in the first element
	inner         []*list // lists in an element
}

// listPlace is where a response has a list.
type listPlace struct {
	path        string
	hasWildcard bool // the contract has a * for its elements, so that all of them may refuse
}

// compileLists returns the outermost lists that hold IDs and statuses.
func (s *Send) compileLists() (outermost []*list) {
	places := listsOnPaths(slices.Concat(s.op.Response["id"], s.op.Response["status"]))
	for _, place := range places {
		s.responses.Add(join(place.path, "0"), join(place.path, "1"))
	}
	var all []*list
	for _, place := range places { // all paths are added, so that no node moves any more
		l := s.compileList(place)
		outer := innermostAround(place.path, all)
		if outer == nil {
			outermost = append(outermost, l)
		} else {
			outer.inner = append(outer.inner, l)
		}
		all = append(all, l)
	}
	return outermost
}

// listsOnPaths returns the lists on some paths, each after the lists around it.
func listsOnPaths(paths []string) (places []listPlace) {
	for _, path := range paths {
		for _, place := range listsOnPath(path) {
			isSame := func(other listPlace) bool { return other.path == place.path }
			known := slices.IndexFunc(places, isSame)
			switch {
			case known < 0:
				places = insertByDepth(places, place)
			case place.hasWildcard:
				places[known].hasWildcard = true
			}
		}
	}
	return places
}

// insertByDepth inserts a place before the places that are deeper.
func insertByDepth(places []listPlace, place listPlace) []listPlace {
	depth := strings.Count(place.path, ".")
	places = append(places, place)
	i := len(places) - 1
	for i > 0 && strings.Count(places[i-1].path, ".") > depth {
		places[i] = places[i-1]
		i--
	}
	places[i] = place
	return places
}

// listsOnPath returns the lists on a path, from the outermost one on.
func listsOnPath(path string) (places []listPlace) {
	names := strings.Split(path, ".")
	for i, name := range names {
		isWildcard := name != table.WithoutEvery(name)
		if isWildcard || table.IsPosition(name) {
			before := table.WithoutEvery(strings.Join(names[:i], "."))
			places = append(places, listPlace{path: before, hasWildcard: isWildcard})
		}
	}
	return places
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
func (s *Send) compileList(place listPlace) *list {
	first := join(place.path, "0")
	second := join(place.path, "1")
	node := s.responses.At(place.path)
	l := &list{
		listPlace:     place,
		slot:          node.Slot,
		firstElement:  s.responses.At(first),
		secondElement: s.responses.At(second).Slot,
	}
	for i := range node.Children {
		l.slots = append(l.slots, node.Children[i].Slots()...)
	}
	paths := s.op.Paths()
	for _, path := range slices.Concat(paths["id"], paths["status"], s.responses.errors.Code) {
		if strings.HasPrefix(path+".", first+".") {
			l.outcomes = append(l.outcomes, s.responses.At(path).Slot)
		}
	}
	return l
}

// maxParts is how many elements a list of the parts of one message may have.
const maxParts = 255

// readLists adds to r what the lists that have several elements say. So far r is what the response says with the first elements.
func (s *Send) readLists(r *Response, d *document, lists []*list) {
	for _, l := range lists {
		if d.values[l.secondElement].Kind == jsonscan.Absent {
			s.readLists(r, d, l.inner)
		} else {
			s.readList(r, d, l)
		}
	}
}

// readList adds to r what each element of a list says. Elements that agree are the parts of a long text.
func (s *Send) readList(r *Response, d *document, l *list) {
	var elements []Response
	haveOutcome := false
	for element := range d.elements(l) {
		e := s.readMessage(element)
		s.readLists(&e, element, l.inner)
		elements = append(elements, e)
		haveOutcome = haveOutcome || element.hasAny(l.outcomes)
		if len(elements) > maxParts {
			break
		}
	}
	for i := range elements {
		r.addNames(&elements[i])
	}
	if haveOutcome && !l.isOneMessage(elements, r.hasStatus) {
		r.Contradiction = mixedMessages
		r.Uncertain = mixedMessages
		r.Refused = false
	}
}

// elements yields, for each element of a list, the response as it would be if the list held that element alone. The contract's paths lead to
// the first element, so each element takes its place: the values in the element fill the slots of the first one, and the slots of all other
// elements are empty. The values outside the list stay. A document is valid until the next one.
func (d *document) elements(l *list) iter.Seq[*document] {
	return func(yield func(*document) bool) {
		alone := *d
		alone.values = slices.Clone(d.values)
		w := jsonscan.NewWalker(d.raw)
		w.Pos = d.values[l.slot].Start
		for more := w.Open(']'); more; more = w.Next(']') {
			for _, slot := range l.slots {
				alone.values[slot] = value{}
			}
			w.Repeats = false
			w.Element(l.firstElement, alone.values)
			alone.hasDuplicate = w.Repeats // within the element
			if !yield(&alone) {
				return
			}
		}
	}
}

// addNames adds the reference IDs and the recipients that the response has with another element of a list.
func (r *Response) addNames(element *Response) {
	r.addReference(element.ReferenceID)
	for _, reference := range element.OtherReferences {
		r.addReference(reference)
	}
	r.Recipients = append(r.Recipients, element.Recipients...)
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
