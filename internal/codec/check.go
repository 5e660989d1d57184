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

// CheckNames finds the names of a table that one request cannot hold together. It writes a request of each operation with every field,
// constant and credential, whose value is its place in the table, and reads each name back.
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
		members = append(members, member{name: *op.Wrap, dotted: true, text: section + ".wrap"})
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

// marked returns members by concept, each with its place as its value.
func marked(section string, names map[string]string) (members []member) {
	for _, concept := range slices.Sorted(maps.Keys(names)) {
		if names[concept] != "" {
			members = append(members, member{name: names[concept], dotted: true, text: section + "." + concept})
		}
	}
	return members
}

func markedConstants(section string, constants map[string]any) (members []member) {
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		members = append(members, member{name: name, dotted: true, text: section + "." + name})
	}
	return members
}

// readBack writes members together with the key pair, and returns those that cannot be read again. They are written backwards, so that
// of two with one name the later is reported: a reader takes the last.
func (e *encoding) readBack(members []member) (problems []table.Problem) {
	beside, _ := e.credentials()
	members = slices.Concat(beside, members)
	isTooFar := func(m member) bool { return e.isJSON() && leadsBeyond(m.name, len(members)) }
	for _, m := range members {
		if isTooFar(m) {
			problems = append(problems, table.Problem{Path: m.text, Reason: gap})
		}
	}
	members = slices.DeleteFunc(members, isTooFar)

	backwards := slices.Clone(members)
	slices.Reverse(backwards)
	missing := e.missing(e.request(e.url, backwards, nil))
	for _, m := range members {
		reason := missing(m)
		if reason == "" {
			continue
		}
		if reason != gap {
			reason += "; give one of them another name, or leave it out"
		}
		problems = append(problems, table.Problem{Path: m.text, Reason: reason})
	}
	return problems
}

// missing returns a function that says why a member cannot be read from a request, or "".
func (e *encoding) missing(request Request) func(member) string {
	switch e.kind {
	case "json":
		var body any
		_ = json.Unmarshal(request.Body, &body) // that it is JSON is shown elsewhere; what is not is missing
		return func(m member) string { return missingMember(body, strings.Split(m.name, "."), m.text) }
	case "form":
		form, _ := url.ParseQuery(string(request.Body))
		return func(m member) string { return missingParameter(form, m) }
	default:
		query := request.URL.Query()
		return func(m member) string { return missingParameter(query, m) }
	}
}

// leadsBeyond reports whether a name has a position that a list of so many names cannot reach without a gap.
func leadsBeyond(name string, names int) bool {
	for part := range strings.SplitSeq(name, ".") {
		if position, _ := strconv.Atoi(part); table.IsPosition(part) && position >= names {
			return true
		}
	}
	return false
}

// missingParameter returns why a parameter cannot be read from a form, or "".
func missingParameter(form url.Values, m member) string {
	last := ""
	if values := form[m.name]; len(values) > 0 {
		last = values[len(values)-1]
	}
	if last == m.text {
		return ""
	}
	return sameName + last
}

const (
	sameName = "has the same name as "
	noObject = "stands where a list would have to be an object too, because of "
	gap      = "stands in a list at a position with none before it; positions begin at 0, without a gap"
)

// missingMember returns why a member cannot be read at a path of a document, or "".
func missingMember(document any, path []string, place string) string {
	for _, name := range path {
		index, err := strconv.Atoi(name)
		isPosition := err == nil && table.IsPosition(name)
		switch value := document.(type) {
		case string:
			return "would stand within the value of " + value
		case []any:
			switch {
			case !isPosition || index >= len(value):
				return noObject + otherIn(value, place)
			case index > 0 && value[index-1] == nil:
				return gap
			}
			document = value[index]
		case map[string]any:
			if isPosition {
				return noObject + otherIn(value, place)
			}
			document = value[name]
		}
	}
	switch value := document.(type) {
	case string:
		if value == place {
			return ""
		}
		return sameName + value
	default:
		return "would hold both a value of its own and " + otherIn(value, place)
	}
}

// otherIn returns the first text in a document that is another than place, in the order of the names, or "".
func otherIn(document any, place string) string {
	switch value := document.(type) {
	case string:
		if value != place {
			return value
		}
	case []any:
		for _, element := range value {
			if text := otherIn(element, place); text != "" {
				return text
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if text := otherIn(value[name], place); text != "" {
				return text
			}
		}
	}
	return ""
}
