package codec

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// messageList is a list in a response that describes messages: a path of the ID or the status leads into it, such as messages.0.id or
// messages.*.id. Both compile to messages.0.id, a path into the first element. The file response_elements.go reads the other elements.
type messageList struct {
	path        string
	hasWildcard bool           // the contract has a * for the elements, so that all of them may refuse
	second      int            // the slot of the second element
	inner       []*messageList // in the first element
}

// compileLists finds the lists on the paths of the ID and the status.
func (s *Send) compileLists() {
	for _, path := range slices.Concat(s.op.Response["id"], s.op.Response["status"]) {
		s.addLists(path)
	}
}

// addLists adds the lists on a path, from the outermost one on.
func (s *Send) addLists(path string) {
	lists := &s.lists // first in the document, then in the first element of a list
	names := strings.Split(path, ".")
	for i, name := range names {
		isWildcard := name == table.Every
		if !isWildcard && !table.IsPosition(name) {
			continue
		}
		before := table.WithoutEvery(strings.Join(names[:i], "."))
		l := s.addList(lists, before)
		l.hasWildcard = l.hasWildcard || isWildcard
		if isWildcard || name == firstElement {
			lists = &l.inner
		}
	}
}

// addList returns the list at a path among some lists. It adds the list if it is missing.
func (s *Send) addList(lists *[]*messageList, path string) *messageList {
	for _, l := range *lists {
		if l.path == path {
			return l
		}
	}
	slots := s.responses.Add(join(path, firstElement), join(path, secondElement))
	l := &messageList{path: path, second: slots[1]}
	*lists = append(*lists, l)
	return l
}

// The positions of elements in paths.
const (
	firstElement  = "0"
	secondElement = "1"
)
