package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// maxDepth is how deep a document may nest, as in encoding/json.
const maxDepth = 10000

var (
	errSyntax = errors.New("not JSON")
	errCut    = errors.New("JSON that is cut short")
	errDepth  = errors.New("JSON that nests too deep")
)

// scanner walks over one JSON document without building it. It accepts exactly what encoding/json accepts. It is used in
// place of encoding/json because a listing is read three times as fast.
type scanner struct {
	doc  []byte
	pos  int        // of the next byte
	rows *rowReader // of a listing; nil for other responses
}

type kind byte

const (
	absent kind = iota
	null
	boolean
	number
	text        // a string whose raw form, without the quotes, is its value
	escapedText // a string that must be unquoted
	object
	array
)

// value is a value as it stands in the document from start to end. A text is without its quotes.
type value struct {
	kind       kind
	start, end int
}

// scalar reports whether the value can serve as a word or a number.
func (v value) scalar() bool { return v.kind >= boolean && v.kind <= escapedText }

// textOf returns what a scalar of the document says, and "" for any other value.
func textOf[Document string | []byte](doc Document, v value) string {
	switch {
	case v.kind == escapedText:
		return unquote(string(doc[v.start:v.end]))
	case v.scalar():
		return string(doc[v.start:v.end])
	default:
		return ""
	}
}

// newScanner returns a scanner for a document, which may begin with a byte order mark.
func newScanner(doc []byte) *scanner { return &scanner{doc: bytes.TrimPrefix(doc, []byte("\ufeff"))} }

// peek returns the next byte that is not white space.
func (s *scanner) peek() (byte, error) {
	for ; s.pos < len(s.doc); s.pos++ {
		switch c := s.doc[s.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c, nil
		}
	}
	return 0, errCut
}

// scalar reads a value that is neither an object nor an array.
func (s *scanner) scalar(first byte) (v value, err error) {
	v.start = s.pos
	switch first {
	case '"':
		return s.string()
	case 't':
		v.kind, err = boolean, s.word("true")
	case 'f':
		v.kind, err = boolean, s.word("false")
	case 'n':
		v.kind, err = null, s.word("null")
	default:
		v.kind, err = number, s.number()
	}
	v.end = s.pos
	return v, err
}

func (s *scanner) word(word string) error {
	rest := s.doc[s.pos:]
	switch n := min(len(rest), len(word)); {
	case string(rest[:n]) != word[:n]:
		return errSyntax
	case n < len(word):
		return errCut
	}
	s.pos += len(word)
	return nil
}

// string reads a string whose opening quote is next.
func (s *scanner) string() (value, error) {
	start := s.pos + 1
	plain := len(s.doc) // the end of what is ASCII without escapes
	for i, c := range s.doc[start:] {
		if c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			plain = start + i
			break
		}
	}
	if plain < len(s.doc) && s.doc[plain] == '"' {
		s.pos = plain + 1
		return value{text, start, plain}, nil
	}
	valid := true // UTF-8 without escapes
	for i := plain; i < len(s.doc); i++ {
		switch c := s.doc[i]; {
		case c == '"':
			s.pos = i + 1
			if valid {
				return value{text, start, i}, nil
			}
			return value{escapedText, start - 1, s.pos}, nil
		case c < ' ':
			return value{}, errSyntax
		case c == '\\':
			valid = false
			size, err := escape(s.doc[i:])
			if err != nil {
				return value{}, err
			}
			i += size - 1
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(s.doc[i:])
			if r == utf8.RuneError && size == 1 {
				valid = false // encoding/json replaces it
			}
			i += size - 1
		}
	}
	return value{}, errCut
}

// escape returns the length of the escape sequence that s begins with.
func escape(s []byte) (int, error) {
	if len(s) < 2 {
		return 0, errCut
	}
	switch s[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, nil
	case 'u':
		for i := 2; i < 6; i++ {
			if i >= len(s) {
				return 0, errCut
			}
			if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return 0, errSyntax
			}
		}
		return 6, nil
	default:
		return 0, errSyntax
	}
}

func (s *scanner) number() error {
	if s.at('-') {
		s.pos++
	}
	switch {
	case s.at('0'):
		s.pos++
	case s.digits() == 0:
		return s.broken()
	}
	if s.at('.') {
		s.pos++
		if s.digits() == 0 {
			return s.broken()
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if s.digits() == 0 {
			return s.broken()
		}
	}
	return nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.doc) && s.doc[s.pos] == c }

// digits passes over digits and returns how many there are.
func (s *scanner) digits() int {
	start := s.pos
	for s.pos < len(s.doc) && s.doc[s.pos] >= '0' && s.doc[s.pos] <= '9' {
		s.pos++
	}
	return s.pos - start
}

func (s *scanner) broken() error {
	if s.pos >= len(s.doc) {
		return errCut
	}
	return errSyntax
}

// member reads the name of a member and the colon behind it. Quoted is the name as it stands in the document, or nil if it
// has escapes.
func (s *scanner) member() (name, quoted []byte, err error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return nil, nil, err
	case c != '"':
		return nil, nil, errSyntax
	}
	start := s.pos
	v, err := s.string()
	if err != nil {
		return nil, nil, err
	}
	name, quoted = s.doc[v.start:v.end], s.doc[start:s.pos]
	if v.kind == escapedText {
		name, quoted = []byte(unquote(string(quoted))), nil
	}
	return name, quoted, s.colon()
}

// colon reads the colon behind the name of a member.
func (s *scanner) colon() error {
	c, err := s.peek()
	switch {
	case err != nil:
		return err
	case c != ':':
		return errSyntax
	}
	s.pos++
	return nil
}

// next reads what follows a value in an object or an array. It reports whether another value follows, and not the end.
func (s *scanner) next(end byte) (bool, error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, err
	case c != ',' && c != end:
		return false, errSyntax
	}
	s.pos++
	return c == ',', nil
}

// open reads the opening bracket of an object or an array. It reports whether a value follows, and not the end.
func (s *scanner) open(end byte, depth int) (bool, error) {
	if depth >= maxDepth {
		return false, errDepth
	}
	s.pos++
	c, err := s.peek()
	if err != nil {
		return false, err
	}
	if c == end {
		s.pos++
		return false, nil
	}
	return true, nil
}

// skip passes over a value, checking it.
func (s *scanner) skip(depth int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	if c != '{' && c != '[' {
		_, err := s.scalar(c)
		return err
	}
	end := byte(']')
	if c == '{' {
		end = '}'
	}
	more, err := s.open(end, depth)
	for more && err == nil {
		if c == '{' {
			if _, _, err = s.member(); err != nil {
				return err
			}
		}
		if err = s.skip(depth + 1); err != nil {
			return err
		}
		more, err = s.next(end)
	}
	return err
}

// unquote returns the value of a string with escapes or invalid UTF-8, as encoding/json reads it.
func unquote(quoted string) string {
	var value string
	if err := json.Unmarshal([]byte(quoted), &value); err != nil {
		return quoted // never for what the scanner accepted
	}
	return value
}
