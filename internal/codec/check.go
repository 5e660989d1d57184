package codec

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// CheckNames finds the names of a table that one request cannot hold together. For each operation it compares the names of all fields,
// constants and credentials.
func CheckNames(t *table.Table) []table.Problem {
	var problems []table.Problem
	for _, channel := range table.Channels() {
		problems = append(problems, checkSend(t, channel.SendSection(), channel.Send(t))...)
	}
	for _, read := range t.Reads() {
		problems = append(problems, checkRead(t, read.Section, read.Read)...)
	}
	if left := len(problems) - mostProblems; left > 0 {
		problems = append(problems[:mostProblems], table.Problem{Path: "contract", Reason: strconv.Itoa(left) + " more problems"})
	}
	return problems
}

// mostProblems is how many names are reported one by one.
const mostProblems = 20

// wireName is a name that a request holds, and the path in the table that sets it.
type wireName struct{ name, path string }

// checkSend checks the names of an operation that sends.
func checkSend(t *table.Table, section string, op *table.Send) []table.Problem {
	names := pairNames(t, op.Encoding)
	names = appendConcepts(names, section+".fields", op.Fields)
	if op.Wrap != nil && *op.Wrap != "" {
		names = append(names, wireName{*op.Wrap, section + ".wrap"})
	}
	names = appendConstants(names, section+".constants", op.Constants)
	for _, concept := range slices.Sorted(maps.Keys(op.FieldConstants)) {
		if concept != table.GSM && concept != table.Unicode {
			names = appendConstants(names, section+".with."+concept, op.FieldConstants[concept])
		}
	}
	problems := compareNames(names, op.Encoding)
	for _, encoding := range []string{table.GSM, table.Unicode} { // a text has one of the two
		if len(problems) == 0 {
			constants := appendConstants(nil, section+".with."+encoding, op.FieldConstants[encoding])
			problems = compareNames(slices.Concat(names, constants), op.Encoding)
		}
	}
	return problems
}

// checkRead checks the names of an operation that reads.
func checkRead(t *table.Table, section string, op *table.Read) []table.Problem {
	names := pairNames(t, op.Encoding)
	names = appendConcepts(names, section+".params", op.Params)
	names = appendConstants(names, section+".constants", op.Constants)
	return compareNames(names, op.Encoding)
}

// pairNames returns the names of the key pair, if requests in an encoding hold it among their fields or parameters.
func pairNames(t *table.Table, encoding string) []wireName {
	pair := t.Auth.KeyPair
	if !pair.IsInFields(encoding) {
		return nil
	}
	names := []wireName{{pair.Key, "auth.keyPair.key"}}
	if pair.Secret != "" {
		names = append(names, wireName{pair.Secret, "auth.keyPair.secret"})
	}
	return names
}

// appendConcepts appends names by concept.
func appendConcepts(names []wireName, section string, byConcept map[string]string) []wireName {
	for _, concept := range slices.Sorted(maps.Keys(byConcept)) {
		if byConcept[concept] != "" {
			names = append(names, wireName{byConcept[concept], section + "." + concept})
		}
	}
	return names
}

func appendConstants(names []wireName, section string, constants map[string]any) []wireName {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		names = append(names, wireName{name, section + "." + name})
	}
	return names
}

// compareNames reports each name that a request cannot hold together with an earlier one, and each position in a list that has no position
// before it.
func compareNames(names []wireName, encoding string) (problems []table.Problem) {
	request := &requestPlace{children: map[string]*requestPlace{}}
	var taken []wireName
	for _, n := range names {
		other := request.take(n.parts(encoding), n.path)
		if other == "" {
			taken = append(taken, n)
			continue
		}
		problems = append(problems, table.Problem{
			Path:   n.path,
			Reason: "cannot be written together with " + other + "; give one of them another name, or leave it out",
		})
	}
	for _, n := range taken {
		if request.hasGap(n.parts(encoding)) {
			problems = append(problems, table.Problem{Path: n.path, Reason: gapReason})
		}
	}
	return problems
}

const gapReason = "is in a list at a position with no position before it; positions begin at 0, without a gap"

// parts returns the places that a name leads through. Only in JSON does a dot lead into an object or a list.
func (n wireName) parts(encoding string) []string {
	if encoding == "json" {
		return strings.Split(n.name, ".")
	}
	return []string{n.name}
}

// requestPlace is a place in a request: a value, or an object or a list with places in it.
type requestPlace struct {
	takenBy  string                   // the path in the table of the first name that led here; "" for the whole request
	children map[string]*requestPlace // nil for a value
	isList   bool                     // the first child has a position
}

// newPlace returns the place from which parts lead on to a value.
func newPlace(parts []string, path string) *requestPlace {
	p := &requestPlace{takenBy: path}
	if len(parts) > 0 {
		p.isList = table.IsPosition(parts[0])
		p.children = map[string]*requestPlace{parts[0]: newPlace(parts[1:], path)}
	}
	return p
}

// take takes the place to which parts lead from p, for the name that a path of the table sets. If an earlier name is in the way, take returns
// the path that sets that one, and otherwise "".
func (p *requestPlace) take(parts []string, path string) (other string) {
	for i, part := range parts {
		child, isTaken := p.children[part]
		switch {
		case !isTaken && i > 0 && table.IsPosition(part) != p.isList:
			return p.takenBy // which made it a list, or an object
		case !isTaken:
			p.children[part] = newPlace(parts[i+1:], path)
			return ""
		case child.children == nil:
			return child.takenBy
		}
		p = child
	}
	return p.takenBy
}

// hasGap reports whether parts, which lead to a value, lead over a position in a list with no position before it.
func (p *requestPlace) hasGap(parts []string) bool {
	for _, part := range parts {
		position, _ := strconv.Atoi(part)
		if p.isList && position > 0 && p.children[strconv.Itoa(position-1)] == nil {
			return true
		}
		p = p.children[part]
	}
	return false
}
