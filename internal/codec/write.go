package codec

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// member is a member of a JSON object or a parameter of a form that is about to be written.
type member struct {
	name   string
	dotted bool   // the name is a name of the contract, in which a dot nests in JSON
	text   string // the value, if it is a text
	raw    []byte // the value as JSON, if it is not
	done   bool   // it was written
}

func appendMembers(members []member, all []wire.Member) []member {
	for _, m := range all {
		members = append(members, member{name: m.Name, raw: m.Value})
	}
	return members
}

func sizeOf(members []member) int {
	size := 2
	for i := range members {
		m := &members[i]
		size += len(m.name) + len(m.text) + len(m.raw) + 8
	}
	return size
}

func appendObject(out []byte, members []member) []byte {
	out = append(out, '{')
	for i := range members {
		if members[i].done {
			continue
		}
		if out[len(out)-1] != '{' {
			out = append(out, ',')
		}
		key, _, _ := members[i].cut()
		out = append(appendText(out, key), ':')
		out = appendValue(out, members[i:])
	}
	return append(out, '}')
}

// appendList writes members, whose names begin with positions, as a list. A position that no member has is null.
func appendList(out []byte, members []member) []byte {
	last := 0
	for i := range members {
		key, _, _ := members[i].cut()
		position, _ := strconv.Atoi(key)
		last = max(last, position)
	}
	out = append(out, '[')
	for position := range last + 1 {
		if position > 0 {
			out = append(out, ',')
		}
		i := slices.IndexFunc(members, func(m member) bool {
			key, _, _ := m.cut()
			return !m.done && key == strconv.Itoa(position)
		})
		if i < 0 {
			out = append(out, "null"...)
		} else {
			out = appendValue(out, members[i:])
		}
	}
	return append(out, ']')
}

// appendValue writes the value of the first member, together with the members that are in the same object or list.
func appendValue(out []byte, members []member) []byte {
	m := &members[0]
	key, rest, nests := m.cut()
	m.done = !nests
	switch {
	case nests:
		nested := takeNested(members, key)
		if position, _, _ := strings.Cut(rest, "."); table.IsPosition(position) {
			return appendList(out, nested)
		}
		return appendObject(out, nested)
	case m.raw != nil:
		return append(out, m.raw...)
	default:
		return appendText(out, m.text)
	}
}

// cut returns the key of a member and, if it nests, its name within that key.
func (m *member) cut() (key, rest string, nests bool) {
	if !m.dotted {
		return m.name, "", false
	}
	return strings.Cut(m.name, ".")
}

// takeNested returns the members within a key, and marks them as done.
func takeNested(members []member, within string) (nested []member) {
	for i := range members {
		m := &members[i]
		if key, rest, nests := m.cut(); nests && key == within && !m.done {
			nested = append(nested, *m)
			nested[len(nested)-1].name = rest
			nested[len(nested)-1].dotted = true
			m.done = true
		}
	}
	return nested
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
	return append(append(out, text[start:]...), '"')
}

func appendForm(out []byte, members []member) []byte {
	for i := range members {
		m := &members[i]
		if len(out) > 0 {
			out = append(out, '&')
		}
		out = append(append(out, url.QueryEscape(m.name)...), '=')
		out = append(out, url.QueryEscape(m.parameter())...)
	}
	return out
}

// parameter returns the value as a form holds it: a string without its quotes, anything else as JSON.
func (m *member) parameter() string {
	switch text, _ := jsonscan.Word(m.raw); {
	case m.raw == nil:
		return m.text
	case m.raw[0] == '"':
		return text
	default:
		return string(m.raw)
	}
}
