// Package jsonscan scans JSON in place, without decoding it. It reads the responses of the service and callbacks.
//
// It accepts exactly what encoding/json accepts, nested at most MaxDepth deep, and allocates only for strings with escapes. It exists because
// encoding/json takes three times as long for a listing and keeps only the last of several members with one name. Once the oldest supported
// Go release has encoding/json/jsontext, its Decoder can replace Scanner: Peek is its PeekKind; Open, Next, Name and Scalar are its
// ReadToken; Skip is its SkipValue.
//
// An object may have several members with one name. This package does not choose between them: Members marks them, and a caller that reads
// token by token sees every name.
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

// A Scanner reads one document, token by token. After the first fault Err returns it, and every loop over members and elements ends.
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

// End returns the fault of the document, or nil. Anything other than white space after the document is a fault.
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

// unexpected fails because of the next byte, or because the document ends.
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
		if c := s.Doc[s.Pos]; !isSpace(c) {
			return c
		}
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// accept reads the next byte if it is c.
func (s *Scanner) accept(c byte) bool {
	if s.Pos >= len(s.Doc) || s.Doc[s.Pos] != c {
		return false
	}
	s.Pos++
	return true
}

// Open reads the opening bracket, which Peek has found, of an object or a list that end closes. It reports whether the object or the list
// has an element.
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

// Next reads the comma or the bracket after an element of an object or a list. It reports whether another element follows.
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

// Name reads the name of a member and the colon after it.
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

// Skip reads and checks a value.
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

// Scalar reads a value that is neither an object nor a list. Peek has found its first byte.
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

// IsPlain reports whether a byte in a string means itself: ASCII without control characters, quotes and backslashes.
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
	return s.escapedString(start)
}

// escapedString reads a string from its start that may have escapes or characters beyond ASCII.
func (s *Scanner) escapedString(start int) Value {
	hasEscape := false
	isASCII := true
	for i := start; i < len(s.Doc); i++ {
		switch c := s.Doc[i]; {
		case isPlain[c]:
		case c >= utf8.RuneSelf:
			isASCII = false
		case c == '"':
			return s.endString(start, i, hasEscape, isASCII)
		case c == '\\':
			hasEscape = true
			i++ // the end of the string checks the escape
		default:
			s.Fail(ErrSyntax)
			return Value{}
		}
	}
	s.Fail(ErrCut)
	return Value{}
}

// endString returns the string between a start and its closing quote.
func (s *Scanner) endString(start, end int, hasEscape, isASCII bool) Value {
	s.Pos = end + 1
	quoted := s.Doc[start-1 : s.Pos]
	isInvalid := hasEscape && !json.Valid(quoted)
	isUnicode := isASCII || utf8.Valid(quoted)
	switch {
	case isInvalid:
		s.Fail(ErrSyntax)
	case hasEscape || !isUnicode:
		return Value{Kind: Escaped, Start: start - 1, End: s.Pos}
	}
	return Value{Kind: String, Start: start, End: end}
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
