package codec

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// maxDepth is how deep a document may nest: encoding/json's own bound.
const maxDepth = 10000

var (
	errSyntax = errors.New("not JSON")
	errCut    = errors.New("JSON that is cut short")
	errDepth  = errors.New("JSON that nests too deep")
)

// scanner walks over one JSON document without building it. It accepts what encoding/json accepts and nothing else;
// pos is where the next byte is read.
type scanner struct {
	doc  string
	pos  int
	rows *rowReader // of a list; nil for other answers
}

// kind is the first letter of a value's type.
type kind byte

const (
	absent  kind = iota
	nothing      // null
	boolean
	number
	text        // a string whose raw form, without the quotes, is its value
	escapedText // a string that must be unquoted
	object
	array
)

func (s *scanner) space() {
	for s.pos < len(s.doc) {
		switch s.doc[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek gives the next byte that is no white space.
func (s *scanner) peek() (byte, error) {
	if s.pos < len(s.doc) && s.doc[s.pos] > ' ' {
		return s.doc[s.pos], nil
	}
	return s.peekBeyond()
}

func (s *scanner) peekBeyond() (byte, error) {
	s.space()
	if s.pos >= len(s.doc) {
		return 0, errCut
	}
	return s.doc[s.pos], nil
}

// scalar reads a value that is no object and no array, and gives it as it stands in the document.
func (s *scanner) scalar(first byte) (kind, string, error) {
	switch first {
	case '"':
		return s.string()
	case 't':
		return boolean, "true", s.word("true")
	case 'f':
		return boolean, "false", s.word("false")
	case 'n':
		return nothing, "null", s.word("null")
	default:
		return s.number()
	}
}

func (s *scanner) word(word string) error {
	rest := s.doc[s.pos:]
	if len(rest) >= len(word) && rest[:len(word)] == word {
		s.pos += len(word)
		return nil
	}
	if len(rest) < len(word) && rest == word[:len(rest)] {
		return errCut
	}
	return errSyntax
}

// string reads a string whose opening quote is next. What needs no unquoting is given without its quotes, else whole.
func (s *scanner) string() (kind, string, error) {
	start := s.pos
	plain := true
	doc := unsafe.Slice(unsafe.StringData(s.doc), len(s.doc)) //nolint:gosec // to read eight bytes at once; never written
	for i := start + 1; i < len(doc); i++ {
		for len(doc)-i >= 8 {
			mark := special(binary.LittleEndian.Uint64(doc[i:]))
			if mark != 0 {
				i += bits.TrailingZeros64(mark) / 8
				break
			}
			i += 8
		}
		if i >= len(doc) {
			break
		}
		switch c := doc[i]; {
		case c == '"':
			s.pos = i + 1
			if plain {
				return text, s.doc[start+1 : i], nil
			}
			return escapedText, s.doc[start : i+1], nil
		case c < ' ':
			return absent, "", errSyntax
		case c == '\\':
			plain = false
			size, err := escape(s.doc[i:])
			if err != nil {
				return absent, "", err
			}
			i += size - 1
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s.doc[i:])
			if r == utf8.RuneError && size == 1 {
				plain = false // encoding/json replaces it
			}
			i += size - 1
		}
	}
	return absent, "", errCut
}

// special marks, by its top bit, the first of eight bytes that is a quote, a backslash, a control character or no ASCII; the
// bits above it mean nothing, and 0 says that there is none. Strings are most of a document, so they are read by eights.
func special(eight uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quotes, backslashes := eight^(ones*'"'), eight^(ones*'\\')
	return (eight | (eight - ones*' ') | (quotes - ones) | (backslashes - ones)) & tops
}

// escape gives the length of the escape sequence that s begins with.
func escape(s string) (int, error) {
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

func (s *scanner) number() (kind, string, error) {
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	switch {
	case s.at('0'):
		s.pos++
	case s.digits() == 0:
		return absent, "", s.broken()
	}
	if s.at('.') {
		s.pos++
		if s.digits() == 0 {
			return absent, "", s.broken()
		}
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		if s.digits() == 0 {
			return absent, "", s.broken()
		}
	}
	return number, s.doc[start:s.pos], nil
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.doc) && s.doc[s.pos] == c }

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

// member reads a member's name and the colon behind it, where the opening quote is next.
func (s *scanner) member() (string, error) {
	if c, err := s.peek(); err != nil {
		return "", err
	} else if c != '"' {
		return "", errSyntax
	}
	k, name, err := s.string()
	if err != nil {
		return "", err
	}
	if k == escapedText {
		name = unquote(name)
	}
	return name, s.colon()
}

// colon reads the colon behind a member's name.
func (s *scanner) colon() error {
	c, err := s.peek()
	if err == nil && c != ':' {
		err = errSyntax
	}
	s.pos++
	return err
}

// next stands behind a value in an object or an array: true where another value follows, false where end came.
func (s *scanner) next(end byte) (bool, error) {
	c, err := s.peek()
	switch {
	case err != nil:
		return false, err
	case c == ',':
		s.pos++
		return true, nil
	case c == end:
		s.pos++
		return false, nil
	default:
		return false, errSyntax
	}
}

// empty stands behind the opening bracket of an object or an array: true where it closes at once.
func (s *scanner) empty(end byte) (bool, error) {
	c, err := s.peek()
	if err != nil {
		return false, err
	}
	if c == end {
		s.pos++
		return true, nil
	}
	return false, nil
}

// skip passes over one value whole, checking it.
func (s *scanner) skip(depth int) error {
	c, err := s.peek()
	if err != nil {
		return err
	}
	switch c {
	case '{', '[':
		if depth >= maxDepth {
			return errDepth
		}
		s.pos++
		end := c + 2 // '}' follows '{' and ']' follows '[' by two in ASCII
		done, err := s.empty(end)
		for more := !done; more && err == nil; {
			if c == '{' {
				if _, err = s.member(); err != nil {
					return err
				}
			}
			if err = s.skip(depth + 1); err != nil {
				return err
			}
			more, err = s.next(end)
		}
		return err
	default:
		_, _, err := s.scalar(c)
		return err
	}
}

// unquote is for the rare string with an escape or with bytes that are no UTF-8; encoding/json decides what it means.
func unquote(quoted string) string {
	var value string
	if err := json.Unmarshal([]byte(quoted), &value); err != nil {
		return quoted // never for what string accepted
	}
	return value
}
