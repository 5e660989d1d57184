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
	errEmpty  = errors.New("empty")
	errCut    = errors.New("JSON that is cut short")
	errDepth  = errors.New("JSON that nests too deep")
)

// scanner walks over one JSON document without building it. It accepts exactly what encoding/json accepts. It is used in
// place of encoding/json because a listing is read three times as fast.
//
// The first fault ends the walk: it is kept in err, and the rest of the document is passed over.
type scanner struct {
	doc  []byte
	pos  int // of the next byte
	err  error
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
	used       bool // of a row: it fills a field, or is null
	start, end int
}

// scalar reports whether the value can serve as a word or a number.
func (v value) scalar() bool { return v.kind >= boolean && v.kind <= escapedText }

// word returns what a scalar says in the text that it is in, and "" for any other value.
func (v value) word(text string) string {
	switch {
	case !v.scalar():
		return ""
	case v.kind == escapedText:
		return unquote(text[v.start:v.end])
	default:
		return text[v.start:v.end]
	}
}

// unquote returns the value of a string with escapes or invalid UTF-8, as encoding/json reads it.
func unquote(quoted string) (value string) {
	_ = json.Unmarshal([]byte(quoted), &value) // the scanner has accepted it
	return value
}

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.pos = len(s.doc)
}

// unexpected fails because of the next byte, or because there is none.
func (s *scanner) unexpected() {
	switch {
	case s.pos < len(s.doc):
		s.fail(errSyntax)
	case len(bytes.TrimSpace(s.doc)) == 0:
		s.fail(errEmpty)
	default:
		s.fail(errCut)
	}
}

// peek returns the next byte that is not white space, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.pos < len(s.doc); s.pos++ {
		if c := s.doc[s.pos]; c > ' ' || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// accept passes over the next byte if it is c, and reports whether it is.
func (s *scanner) accept(c byte) bool {
	if s.pos >= len(s.doc) || s.doc[s.pos] != c {
		return false
	}
	s.pos++
	return true
}

// scalar reads a value that is neither an object nor an array.
func (s *scanner) scalar(first byte) value {
	v := value{start: s.pos}
	switch first {
	case '"':
		return s.string()
	case 't':
		v.kind = boolean
		s.word("true")
	case 'f':
		v.kind = boolean
		s.word("false")
	case 'n':
		v.kind = null
		s.word("null")
	default:
		v.kind = number
		s.number()
	}
	v.end = s.pos
	return v
}

func (s *scanner) word(word string) {
	for i := range len(word) {
		if !s.accept(word[i]) {
			s.unexpected()
			return
		}
	}
}

// isPlain are the bytes that mean nothing but themselves in a string: ASCII without control characters, quote and backslash.
var isPlain = func() (plain [256]bool) { //nolint:gochecknoglobals // never written
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// string reads a string whose opening quote is next.
func (s *scanner) string() value {
	start := s.pos + 1
	form, ascii := text, true
	doc := s.doc
	for i := start; i < len(doc); i++ {
		for i < len(doc)-1 && isPlain[doc[i]] {
			i++
		}
		switch c := doc[i]; {
		case isPlain[c]:
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '"':
			s.pos = i + 1
			quoted := doc[start-1 : s.pos]
			switch {
			case form == escapedText && !json.Valid(quoted):
				s.fail(errSyntax)
			case form == escapedText || !ascii && !utf8.Valid(quoted):
				return value{kind: escapedText, start: start - 1, end: s.pos}
			}
			return value{kind: text, start: start, end: i}
		case c == '\\':
			form = escapedText
			i++ // what it escapes is checked at the end
		default:
			s.fail(errSyntax)
			return value{}
		}
	}
	s.fail(errCut)
	return value{}
}

func (s *scanner) number() {
	s.accept('-')
	if !s.accept('0') {
		s.digits()
	}
	if s.accept('.') {
		s.digits()
	}
	if s.accept('e') || s.accept('E') {
		if !s.accept('+') {
			s.accept('-')
		}
		s.digits()
	}
}

// digits passes over one digit or more.
func (s *scanner) digits() {
	start := s.pos
	for s.pos < len(s.doc) && s.doc[s.pos] >= '0' && s.doc[s.pos] <= '9' {
		s.pos++
	}
	if s.pos == start {
		s.unexpected()
	}
}

// member reads the name of a member and the colon behind it.
func (s *scanner) member() (name []byte) {
	if s.peek() != '"' {
		s.unexpected()
		return nil
	}
	v := s.string()
	name = s.doc[v.start:v.end]
	if v.kind == escapedText {
		name = []byte(unquote(string(name)))
	}
	if s.peek() != ':' {
		s.unexpected()
		return nil
	}
	s.pos++
	return name
}

// open reads the opening bracket of an object or an array. It reports whether a value follows, and not the end.
func (s *scanner) open(end byte, depth int) bool {
	if depth >= maxDepth {
		s.fail(errDepth)
		return false
	}
	s.pos++
	if s.peek() == end {
		s.pos++
		return false
	}
	return true
}

// next reads what follows a value in an object or an array. It reports whether another value follows, and not the end.
func (s *scanner) next(end byte) bool {
	c := s.peek()
	if c != ',' && c != end {
		s.unexpected()
		return false
	}
	s.pos++
	return c == ','
}
