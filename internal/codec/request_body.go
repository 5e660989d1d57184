package codec

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// member is a member of a JSON object, or a parameter of a form.
type member struct {
	name   string
	isPath bool   // in JSON, each dot in the name leads into an object or a list
	text   string // the value, if raw is nil
	raw    []byte // the value as JSON
}

// appendMembers appends the members of a message in the shape of another platform.
func appendMembers(members []member, all []wire.Member) []member {
	for _, m := range all {
		members = append(members, member{name: m.Name, raw: m.Value})
	}
	return members
}

// isNested reports whether a JSON object has the member within another object or a list.
func (m *member) isNested() bool { return m.isPath && strings.Contains(m.name, ".") }

// appendObject writes members as a JSON object, in their order. Most objects have no nested member, and need no tree.
func appendObject(out []byte, members []member) []byte {
	for i := range members {
		if members[i].isNested() {
			return treeOf(members).appendObject(out)
		}
	}
	out = append(out, '{')
	for i := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendKey(out, members[i].name)
		out = members[i].appendValue(out)
	}
	return append(out, '}')
}

func appendKey(out []byte, key string) []byte {
	out = appendText(out, key)
	return append(out, ':')
}

// appendValue writes the value of a member as JSON.
func (m *member) appendValue(out []byte) []byte {
	if m.raw != nil {
		return append(out, m.raw...)
	}
	return appendText(out, m.text)
}

// sizeOf returns about how many bytes members take as a JSON object.
func sizeOf(members []member) int {
	const punctuation = 8
	size := len("{}")
	for i := range members {
		m := &members[i]
		size += len(m.name) + len(m.text) + len(m.raw) + punctuation
	}
	return size
}

// appendText writes a text, which is valid UTF-8, as JSON. Unlike encoding/json, it does not escape characters for HTML.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if jsonscan.IsPlain(c) || c >= utf8.RuneSelf {
			continue
		}
		out = append(out, text[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	out = append(out, text[start:]...)
	return append(out, '"')
}

// appendForm writes members as parameters of a form or a query, in their order. Their names are written as they are, with their dots.
func appendForm(out []byte, members []member) []byte {
	for i := range members {
		m := &members[i]
		if len(out) > 0 {
			out = append(out, '&')
		}
		out = append(out, url.QueryEscape(m.name)...)
		out = append(out, '=')
		out = append(out, url.QueryEscape(m.parameter())...)
	}
	return out
}

// parameter returns the value as a form holds it: a string without its quotes, anything else as JSON.
func (m *member) parameter() string {
	switch {
	case m.raw == nil:
		return m.text
	case m.raw[0] == '"':
		text, _ := jsonscan.Word(m.raw)
		return text
	default:
		return string(m.raw)
	}
}
