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
	var problems []table.Problem
	pair := func() (key, secret string) { return "auth.keyPair.key", "auth.keyPair.secret" }
	for _, channel := range table.Channels() {
		s := CompileSend(t, channel.Send(t), new(url.URL), pair)
		problems = append(problems, s.checkNames()...)
	}
	problems = append(problems, CompileList(t, new(url.URL), pair).checkNames()...)
	if left := len(problems) - mostProblems; left > 0 {
		problems = append(problems[:mostProblems], table.Problem{Path: "contract", Reason: strconv.Itoa(left) + " more problems"})
	}
	return problems
}

// mostProblems is how many names are reported one by one.
const mostProblems = 20

func (s *Send) checkNames() []table.Problem {
	members := marked(s.section+".fields", s.op.Fields)
	if s.wrap != "" {
		members = append(members, member{name: s.wrap, dotted: true, text: s.section + ".wrap"})
	}
	members = append(members, markedConstants(s.section+".constants", s.op.Constants)...)
	for _, concept := range slices.Sorted(maps.Keys(s.op.FieldConstants)) {
		if concept != table.GSM && concept != table.Unicode {
			members = append(members, markedConstants(s.section+".with."+concept, s.op.FieldConstants[concept])...)
		}
	}
	problems := s.readBack(members)
	for _, encoding := range []string{table.GSM, table.Unicode} { // a text has one of the two
		constants := markedConstants(s.section+".with."+encoding, s.op.FieldConstants[encoding])
		if len(problems) == 0 && len(constants) > 0 {
			problems = s.readBack(append(slices.Clone(members), constants...))
		}
	}
	return problems
}

func (l *List) checkNames() []table.Problem {
	return l.readBack(append(marked("sms.list.params", l.op.Params), markedConstants("sms.list.constants", l.op.Constants)...))
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
	backwards := slices.Clone(members)
	slices.Reverse(backwards)
	request := e.request(e.url, backwards, nil)
	find := func(m member) string { return missingParameter(request.URL.Query(), m) }
	switch e.kind {
	case "form":
		form, _ := url.ParseQuery(string(request.Body))
		find = func(m member) string { return missingParameter(form, m) }
	case "json":
		var body any
		_ = json.Unmarshal(request.Body, &body)
		find = func(m member) string { return missingMember(body, strings.Split(m.name, "."), m.text) }
	}
	for _, m := range members {
		switch reason := find(m); reason {
		case "":
		case gap:
			problems = append(problems, table.Problem{Path: m.text, Reason: gap})
		default:
			problems = append(problems, table.Problem{Path: m.text, Reason: reason + "; give one of them another name, or leave it out"})
		}
	}
	return problems
}

// missingParameter returns why a parameter cannot be read from a form, or "".
func missingParameter(form url.Values, m member) string {
	values := form[m.name]
	if last := values[len(values)-1]; last != m.text {
		return sameName + last
	}
	return ""
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
