// Package jsonscan reads JSON where it stands, without building it. It is the only reader of JSON that comes from outside: of the
// service's responses, of callbacks, of contracts and of stored messages.
//
// It accepts exactly what encoding/json accepts, nested at most MaxDepth deep, and needs no memory but for strings with escapes. It
// exists because encoding/json takes three times as long for a listing and keeps only the last of several members with one name. A
// Scanner does what this library needs of a Decoder of encoding/json/jsontext, which can take its place when the oldest supported Go
// has it: Peek is its PeekKind, Open, Next, Name and Scalar are its ReadToken, Skip is its SkipValue.
//
// An object may have several members with one name. Nothing here chooses between them: Object marks them, and a caller that reads
// token by token sees every name. What that means is for the caller to decide.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// MaxDepth is how deep a document may nest, as in encoding/json.
const MaxDepth = 10000

// The faults of a document.
var (
	ErrSyntax = errors.New("not JSON")
	ErrEmpty  = errors.New("empty")
	ErrCut    = errors.New("JSON that is cut short")
	ErrDepth  = errors.New("JSON that nests too deep")
)

// A Scanner reads one document, token by token. The first fault ends it: Err returns it, the rest of the document is passed over,
// and every loop over members and elements ends.
type Scanner struct {
	Doc []byte
	Pos int // of the next byte

	depth int
	err   error
}

// Check returns what is wrong with a document, or nil.
func Check(doc []byte) error {
	s := Scanner{Doc: doc}
	s.Skip()
	return s.End()
}

// End returns the fault of the document, which may be that more follows than white space, or nil.
func (s *Scanner) End() error {
	if s.Peek(); s.Pos < len(s.Doc) {
		s.Fail(ErrSyntax)
	}
	return s.err
}

// Err returns the first fault, or nil.
func (s *Scanner) Err() error { return s.err }

// Fail ends the document with a fault, unless it has one.
func (s *Scanner) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
	s.Pos = len(s.Doc)
}

// unexpected fails because of the next byte, or because there is none.
func (s *Scanner) unexpected() {
	switch {
	case s.Pos < len(s.Doc):
		s.Fail(ErrSyntax)
	case len(bytes.TrimSpace(s.Doc)) == 0:
		s.Fail(ErrEmpty)
	default:
		s.Fail(ErrCut)
	}
}

// Peek returns the next byte that is not white space, or 0 at the end.
func (s *Scanner) Peek() byte {
	for ; s.Pos < len(s.Doc); s.Pos++ {
		if c := s.Doc[s.Pos]; c > ' ' || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

func (s *Scanner) accept(c byte) bool {
	if s.Pos >= len(s.Doc) || s.Doc[s.Pos] != c {
		return false
	}
	s.Pos++
	return true
}

// Open reads the opening bracket of an object or a list, which Peek has found, and which end closes. It reports whether a value
// follows, and not the end.
func (s *Scanner) Open(end byte) bool {
	if s.depth >= MaxDepth {
		s.Fail(ErrDepth)
		return false
	}
	s.Pos++
	if s.Peek() == end {
		s.Pos++
		return false
	}
	s.depth++
	return true
}

// Next reads what follows a value in an object or a list. It reports whether another value follows, and not the end.
func (s *Scanner) Next(end byte) bool {
	switch c := s.Peek(); c {
	case ',':
		s.Pos++
		return true
	case end:
		s.Pos++
		s.depth--
	default:
		s.unexpected()
	}
	return false
}

// Name reads the name of a member and the colon behind it.
func (s *Scanner) Name() (name []byte) {
	if s.Peek() != '"' {
		s.unexpected()
		return nil
	}
	v := s.string()
	name = s.Doc[v.Start:v.End]
	if v.Kind == Escaped {
		name = []byte(unquote(string(name)))
	}
	if s.Peek() != ':' {
		s.unexpected()
		return nil
	}
	s.Pos++
	return name
}

// Skip passes over a value, and checks it.
func (s *Scanner) Skip() {
	switch c := s.Peek(); c {
	case '{':
		for more := s.Open('}'); more; more = s.Next('}') {
			s.Name()
			s.Skip()
		}
	case '[':
		for more := s.Open(']'); more; more = s.Next(']') {
			s.Skip()
		}
	default:
		s.Scalar(c)
	}
}

// Scalar reads a value that is neither an object nor a list, of which Peek has found the first byte.
func (s *Scanner) Scalar(first byte) Value {
	v := Value{Start: s.Pos}
	switch first {
	case '"':
		return s.string()
	case 't':
		v.Kind = Boolean
		s.word("true")
	case 'f':
		v.Kind = Boolean
		s.word("false")
	case 'n':
		v.Kind = Null
		s.word("null")
	default:
		v.Kind = Number
		s.number()
	}
	v.End = s.Pos
	return v
}

func (s *Scanner) word(word string) {
	for i := range len(word) {
		if !s.accept(word[i]) {
			s.unexpected()
			return
		}
	}
}

// IsPlain reports whether a byte means nothing but itself in a string: ASCII without control characters, quote and backslash.
func IsPlain(c byte) bool { return isPlain[c] }

var isPlain = func() (plain [256]bool) { //nolint:gochecknoglobals // never written
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

func (s *Scanner) string() Value {
	start := s.Pos + 1
	for i, c := range s.Doc[start:] {
		if isPlain[c] {
			continue
		}
		if c != '"' {
			break
		}
		s.Pos = start + i + 1
		return Value{Kind: String, Start: start, End: start + i}
	}
	return s.unusual(start)
}

// unusual reads a string from its start, of which not everything is plain.
func (s *Scanner) unusual(start int) Value {
	form, ascii := String, true
	doc := s.Doc
	for i := start; i < len(doc); i++ {
		switch c := doc[i]; {
		case isPlain[c]:
		case c >= utf8.RuneSelf:
			ascii = false
		case c == '"':
			s.Pos = i + 1
			quoted := doc[start-1 : s.Pos]
			switch {
			case form == Escaped && !json.Valid(quoted):
				s.Fail(ErrSyntax)
			case form == Escaped || !ascii && !utf8.Valid(quoted):
				return Value{Kind: Escaped, Start: start - 1, End: s.Pos}
			}
			return Value{Kind: String, Start: start, End: i}
		case c == '\\':
			form = Escaped
			i++ // what it escapes is checked at the end
		default:
			s.Fail(ErrSyntax)
			return Value{}
		}
	}
	s.Fail(ErrCut)
	return Value{}
}

func (s *Scanner) number() {
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

func (s *Scanner) digits() {
	start := s.Pos
	for s.Pos < len(s.Doc) && s.Doc[s.Pos] >= '0' && s.Doc[s.Pos] <= '9' {
		s.Pos++
	}
	if s.Pos == start {
		s.unexpected()
	}
}
