package jsonscan

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
)

// Value is a value of a document, from Start to End. A String is without its quotes. The zero value means no value.
type Value struct {
	Kind       Kind
	Start, End int
}

// Kind is what a value is.
type Kind byte

// The kinds of a value.
const (
	Absent Kind = iota
	Null
	Boolean
	Number
	String  // whose raw form, without the quotes, is its value
	Escaped // a string with escapes or invalid UTF-8, in its quotes
	Object
	List
)

// IsScalar reports whether the value can serve as a word or a number.
func (v Value) IsScalar() bool { return v.Kind >= Boolean && v.Kind <= Escaped }

// Word returns the text of a scalar in a document: the content of a string, or a number, true or false as written. It returns "" for any
// other value.
func (v Value) Word(text string) string {
	switch {
	case !v.IsScalar():
		return ""
	case v.Kind == Escaped:
		return unquote(text[v.Start:v.End])
	default:
		return text[v.Start:v.End]
	}
}

// Raw returns a value as it is written in a document, or nil if it is absent.
func (v Value) Raw(doc []byte) []byte {
	switch v.Kind {
	case Absent:
		return nil
	case String:
		return doc[v.Start-1 : v.End+1 : v.End+1]
	default:
		return doc[v.Start:v.End:v.End]
	}
}

// unquote returns the value of a string with escapes or invalid UTF-8, as encoding/json reads it.
func unquote(quoted string) (value string) {
	_ = json.Unmarshal([]byte(quoted), &value) // the scanner has accepted it
	return value
}

// Word returns the text of a document that is a single scalar, like [Value.Word]. It reports false for any other document, and for one that
// is not JSON.
func Word(doc []byte) (word string, ok bool) {
	s := Scanner{Doc: doc}
	c := s.Peek()
	if c == '{' || c == '[' {
		return "", false
	}
	v := s.Scalar(c)
	if s.End() != nil || !v.IsScalar() {
		return "", false
	}
	return v.Word(string(doc)), true
}

// Member is a member of an object.
type Member struct {
	Name    string
	Value   []byte // as it is written in the object, without white space around it
	Again   bool   // a member before it has the same name
	Differs bool   // the first of them has another value
}

// Members returns the members of an object in their order. It returns nil for any other document, and the members before a fault.
func Members(doc []byte) (all []Member) {
	s := Scanner{Doc: doc}
	if s.Peek() != '{' {
		return nil
	}
	all = []Member{}
	var names nameIndex
	for more := s.Open('}'); more; more = s.Next('}') {
		m := Member{Name: string(s.Name()), Value: s.skipped()}
		if s.err != nil {
			break
		}
		if first := names.firstNamed(all, m.Name); first >= 0 {
			m.Again = true
			m.Differs = !bytes.Equal(all[first].Value, m.Value)
		} else {
			names.add(m.Name, len(all))
		}
		if len(all) == cap(all) {
			all = slices.Grow(all, max(4, len(all))) // twice as many, where append adds a quarter to a long list
		}
		all = append(all, m)
	}
	return all
}

// nameIndex finds the first member with a name. The zero value is ready for an object without members.
type nameIndex struct {
	rest map[string]int // the members after the first few, by name
}

// few is the number of members among which a search is faster than a map.
const few = 16

// add adds the first member with a name, which is at an index.
func (x *nameIndex) add(name string, index int) {
	if index < few {
		return
	}
	if x.rest == nil {
		x.rest = map[string]int{}
	}
	x.rest[name] = index
}

// firstNamed returns the index of the first member with a name, or -1.
func (x *nameIndex) firstNamed(all []Member, name string) int {
	hasName := func(m Member) bool { return m.Name == name }
	if first := slices.IndexFunc(all[:min(few, len(all))], hasName); first >= 0 {
		return first
	}
	if first, isKnown := x.rest[name]; isKnown {
		return first
	}
	return -1
}

// Elements yields the elements of a list, without white space around them. It yields nothing for any other document, and the elements
// before a fault.
func Elements(doc []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		s := Scanner{Doc: doc}
		if s.Peek() != '[' {
			return
		}
		for more := s.Open(']'); more; more = s.Next(']') {
			value := s.skipped()
			if s.err != nil || !yield(value) {
				return
			}
		}
	}
}

func (s *Scanner) skipped() []byte {
	s.Peek()
	start := s.Pos
	s.Skip()
	return s.Doc[start:s.Pos:s.Pos]
}
