package codec

import (
	"slices"
	"strings"
	"sync"

	"github.com/messaging-service/messaging-go/internal/table"
)

// messageFormat is what the contract says about the responses of an operation that sends a message.
type messageFormat struct {
	responseFormat

	fields   messageSlots
	op       *table.Send
	section  string          // of the contract
	lists    []*messageList  // the outermost ones
	adjacent []adjacentSlots // for each path of the ID or, if the contract has no IDs, of the status
	buffers  sync.Pool       // of the values in a response
}

// messageSlots are the slots of each concept of a sent message, in the order of preference. Each response asks for all of them, so that they are
// looked up once.
type messageSlots struct {
	id, status, request, reference, recipient, operator, parts []int

	unitCost, cost, balance, currency []int
}

// slotsOfMessage looks up the slots of each concept.
func slotsOfMessage(byConcept map[string][]int) messageSlots {
	return messageSlots{
		id:        byConcept["id"],
		status:    byConcept["status"],
		request:   byConcept["request"],
		reference: byConcept["reference"],
		recipient: byConcept["to"],
		operator:  byConcept["operator"],
		parts:     byConcept["parts"],
		unitCost:  byConcept["unitCost"],
		cost:      byConcept["cost"],
		balance:   byConcept["balance"],
		currency:  byConcept["currency"],
	}
}

// adjacentSlots are the slots of references and recipients in the object that names the message, where the contract does not look for them.
type adjacentSlots struct{ references, recipients []int }

func compileMessageFormat(t *table.Table, op *table.Send, section string) *messageFormat {
	byConcept := op.Paths()
	byConcept["to"] = recipientNames(op.Fields["to"], t.SMSList.Record["to"])
	known := compileVocabulary(t, op.Accepted, op.Refused)
	f := &messageFormat{
		responseFormat: compileResponseFormat(byConcept, nil, nil, known, &t.Errors),
		op:             op,
		section:        section,
	}
	f.fields = slotsOfMessage(f.slots)
	f.compileAdjacent(byConcept)
	f.compileLists()
	return f
}

// recipientNames returns the names under which a response may repeat the recipient: those of the request and of a listed row.
func recipientNames(field string, listed []string) (names []string) {
	for _, path := range append([]string{field}, listed...) {
		parts := slices.DeleteFunc(strings.Split(path, "."), table.IsPosition)
		if len(parts) == 0 {
			continue
		}
		name := parts[len(parts)-1]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// compileAdjacent adds the names of references and recipients in each object that names the message.
func (f *messageFormat) compileAdjacent(byConcept map[string][]string) {
	isRead := map[string]bool{}
	for _, paths := range byConcept {
		addAll(isRead, paths)
	}
	addAll(isRead, f.errors.Code)
	idPaths := byConcept["id"]
	if len(idPaths) == 0 {
		idPaths = byConcept["status"]
	}
	for _, path := range idPaths {
		f.adjacent = append(f.adjacent, adjacentSlots{
			references: f.Add(adjacentPaths(path, byConcept["reference"], isRead)...),
			recipients: f.Add(adjacentPaths(path, byConcept["to"], isRead)...),
		})
	}
}

// messageList is a list in a response that describes messages: a path of the ID or the status leads into it, such as messages.0.id or
// messages.*.id. Both compile to messages.0.id, a path into the first element. The file message_elements.go reads the other elements.
type messageList struct {
	path        string
	hasWildcard bool           // the contract has a * for the elements, so that all of them may refuse
	second      int            // the slot of the second element
	inner       []*messageList // in the first element
}

// compileLists finds the lists on the paths of the ID and the status.
func (f *messageFormat) compileLists() {
	for _, path := range slices.Concat(f.op.Response["id"], f.op.Response["status"]) {
		f.addLists(path)
	}
}

// addLists adds the lists on a path, from the outermost one on.
func (f *messageFormat) addLists(path string) {
	lists := &f.lists // first in the document, then in the first element of a list
	names := strings.Split(path, ".")
	for i, name := range names {
		isWildcard := name == table.Every
		if !isWildcard && !table.IsPosition(name) {
			continue
		}
		before := table.WithoutEvery(strings.Join(names[:i], "."))
		l := f.addList(lists, before)
		l.hasWildcard = l.hasWildcard || isWildcard
		if isWildcard || name == firstElement {
			lists = &l.inner
		}
	}
}

// addList returns the list at a path among some lists. It adds the list if it is missing.
func (f *messageFormat) addList(lists *[]*messageList, path string) *messageList {
	for _, l := range *lists {
		if l.path == path {
			return l
		}
	}
	slots := f.Add(join(path, firstElement), join(path, secondElement))
	l := &messageList{path: path, second: slots[1]}
	*lists = append(*lists, l)
	return l
}

// The positions of elements in paths.
const (
	firstElement  = "0"
	secondElement = "1"
)
