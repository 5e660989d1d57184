package codec

import (
	"encoding/json"
	"net/url"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// member is a member of a JSON object or a parameter of a form that is about to be written.
type member struct {
	name name   // a name of the contract; nil for any other
	key  string // any other name, in which a dot is a dot
	text string // the value, if it is a text
	raw  []byte // the value as JSON, if it is not
	done bool   // it was written
}

func appendMembers(members []member, all []wire.Member) []member {
	for _, m := range all {
		members = append(members, member{key: m.Name, raw: m.Value})
	}
	return members
}

// sizeOf returns how many bytes of JSON the members take, unless many characters need an escape.
func sizeOf(members []member) int {
	size := 2
	for i := range members {
		m := &members[i]
		size += len(m.key) + len(m.text) + len(m.raw) + 8
		for _, key := range m.name {
			size += len(key) + 2
		}
	}
	return size
}

// appendJSON writes members as an object. Depth is how many keys of the names of the contract were written before.
func appendJSON(out []byte, members []member, depth int) []byte {
	out = append(out, '{')
	for i := range members {
		m := &members[i]
		if m.done {
			continue
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		switch {
		case m.name == nil:
			out = append(appendText(out, m.key), ':')
			out = m.appendValue(out)
		case len(m.name) == depth+1:
			out = append(out, m.name[depth]...)
			out = m.appendValue(out)
		default:
			out = append(out, m.name[depth]...)
			out = appendJSON(out, takeNested(members[i:], depth), depth+1)
		}
	}
	return append(out, '}')
}

// takeNested returns the members that stand in the same object as the first, and marks them as done.
func takeNested(members []member, depth int) []member {
	var nested []member
	key := members[0].name[depth]
	for i := range members {
		m := &members[i]
		if !m.done && len(m.name) > depth+1 && m.name[depth] == key {
			nested = append(nested, *m)
			m.done = true
		}
	}
	return nested
}

func (m *member) appendValue(out []byte) []byte {
	if m.raw != nil {
		return append(out, m.raw...)
	}
	return appendText(out, m.text)
}

// appendText writes a text, which is valid UTF-8, as JSON. Encoding/json would escape what HTML does not like.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
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
	return append(append(out, text[start:]...), '"')
}

// appendForm writes members as a form. An object or a list is written as JSON.
func appendForm(out []byte, members []member) []byte {
	for i := range members {
		m := &members[i]
		if len(out) > 0 {
			out = append(out, '&')
		}
		if m.name == nil {
			out = append(append(out, url.QueryEscape(m.key)...), '=')
		} else {
			out = append(out, m.name[0]...)
		}
		out = append(out, url.QueryEscape(m.parameter())...)
	}
	return out
}

// parameter returns the value as a form holds it: a string without its quotes, anything else as JSON.
func (m *member) parameter() string {
	if m.raw == nil {
		return m.text
	}
	var text string
	if m.raw[0] == '"' && json.Unmarshal(m.raw, &text) == nil {
		return text
	}
	return string(m.raw)
}
