package codec

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// CheckNames finds the names of a table that one request cannot hold together. For each operation it writes a request with every field,
// constant and credential, whose values are their paths in the table, and reads each name back.
func CheckNames(t *table.Table) []table.Problem {
	pair := func() (key, secret string) { return "auth.keyPair.key", "auth.keyPair.secret" }
	var problems []table.Problem
	for _, channel := range table.Channels() {
		op := channel.Send(t)
		e := newEncoding(t, &op.Operation, "POST", new(url.URL), pair)
		problems = append(problems, e.checkSend(channel.SendSection(), op)...)
	}
	list := newEncoding(t, &t.SMSList.Operation, t.SMSList.Method, new(url.URL), pair)
	params := append(marked("sms.list.params", t.SMSList.Params), markedConstants("sms.list.constants", t.SMSList.Constants)...)
	problems = append(problems, list.readBack(params)...)
	if left := len(problems) - mostProblems; left > 0 {
		problems = append(problems[:mostProblems], table.Problem{Path: "contract", Reason: strconv.Itoa(left) + " more problems"})
	}
	return problems
}

// mostProblems is how many names are reported one by one.
const mostProblems = 20

// checkSend checks the names of an operation that sends.
func (e *encoding) checkSend(section string, op *table.Send) []table.Problem {
	members := marked(section+".fields", op.Fields)
	if op.Wrap != nil && *op.Wrap != "" {
		members = append(members, member{name: *op.Wrap, isPath: true, text: section + ".wrap"})
	}
	members = append(members, markedConstants(section+".constants", op.Constants)...)
	for _, concept := range slices.Sorted(maps.Keys(op.FieldConstants)) {
		if concept != table.GSM && concept != table.Unicode {
			members = append(members, markedConstants(section+".with."+concept, op.FieldConstants[concept])...)
		}
	}
	problems := e.readBack(members)
	for _, encoding := range []string{table.GSM, table.Unicode} { // a text has one of the two
		constants := markedConstants(section+".with."+encoding, op.FieldConstants[encoding])
		if len(problems) == 0 && len(constants) > 0 {
			problems = e.readBack(append(slices.Clone(members), constants...))
		}
	}
	return problems
}

// marked returns members by concept, each with its path in the table as its value.
func marked(section string, names map[string]string) (members []member) {
	for _, concept := range slices.Sorted(maps.Keys(names)) {
		if names[concept] != "" {
			members = append(members, member{name: names[concept], isPath: true, text: section + "." + concept})
		}
	}
	return members
}

func markedConstants(section string, constants map[string]any) (members []member) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		members = append(members, member{name: name, isPath: true, text: section + "." + name})
	}
	return members
}

// readBack writes members together with the key pair, and reports the members that it cannot read back. It writes them in reverse order:
// of two members with one name a reader takes the last, so the later one is reported.
func (e *encoding) readBack(members []member) (problems []table.Problem) {
	inFields, _ := e.credentials()
	members = slices.Concat(inFields, members)
	names := len(members)
	isTooFar := func(m member) bool { return e.isJSON() && leadsBeyond(m.name, names) }
	for _, m := range members {
		if isTooFar(m) {
			problems = append(problems, table.Problem{Path: m.text, Reason: gapReason})
		}
	}
	members = slices.DeleteFunc(members, isTooFar)

	reversed := slices.Clone(members)
	slices.Reverse(reversed)
	textAt := e.textsOf(e.request(e.url, reversed, nil))
	for _, m := range members {
		text, hasGap := textAt(m)
		switch {
		case hasGap:
			problems = append(problems, table.Problem{Path: m.text, Reason: gapReason})
		case text != m.text:
			problems = append(problems, table.Problem{
				Path: m.text, Reason: "cannot be written together with " + text + "; give one of them another name, or leave it out",
			})
		}
	}
	return problems
}

const gapReason = "is in a list at a position with no position before it; positions begin at 0, without a gap"

// leadsBeyond reports whether a name has a position that a list of so many names cannot reach without a gap.
func leadsBeyond(name string, names int) bool {
	for part := range strings.SplitSeq(name, ".") {
		if position, _ := strconv.Atoi(part); table.IsPosition(part) && position >= names {
			return true
		}
	}
	return false
}

// textsOf returns a function that returns the text at the name of a member in a request, or another text that is there instead. hasGap
// reports whether the name is in a list at a position with no position before it.
func (e *encoding) textsOf(request Request) func(member) (text string, hasGap bool) {
	if e.isJSON() {
		var body any
		_ = json.Unmarshal(request.Body, &body) // nothing is found in invalid JSON
		return func(m member) (text string, hasGap bool) { return findMember(body, strings.Split(m.name, "."), m.text) }
	}
	form := request.URL.Query()
	if e.kind == "form" {
		form, _ = url.ParseQuery(string(request.Body))
	}
	return func(m member) (text string, hasGap bool) {
		values := form[m.name]
		if len(values) == 0 {
			return "", false
		}
		return values[len(values)-1], false
	}
}

// findMember returns the text at a path of a document. If the path does not lead to the wanted text, it returns the first other text on the
// way. hasGap reports whether the path leads over a position of a list with no position before it.
func findMember(document any, path []string, want string) (text string, hasGap bool) {
	for _, name := range path {
		isPosition := table.IsPosition(name)
		switch value := document.(type) {
		case string:
			return value, false
		case []any:
			index, _ := strconv.Atoi(name)
			switch {
			case !isPosition || index >= len(value):
				return firstText(value, want), false
			case index > 0 && value[index-1] == nil:
				return "", true
			}
			document = value[index]
		case map[string]any:
			if isPosition {
				return firstText(value, want), false
			}
			document = value[name]
		}
	}
	if text, isText := document.(string); isText {
		return text, false
	}
	return firstText(document, want), false
}

// firstText returns the first text in a document, in the order of its names, other than one text.
func firstText(document any, except string) string {
	var elements []any
	switch value := document.(type) {
	case string:
		if value != except {
			return value
		}
	case []any:
		elements = value
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			elements = append(elements, value[name])
		}
	}
	for _, element := range elements {
		if text := firstText(element, except); text != "" {
			return text
		}
	}
	return ""
}
