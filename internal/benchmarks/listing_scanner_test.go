package main

import (
	"strings"
	"unicode/utf8"
)

// A scanner reads ordinary JSON in one pass. Anything else, such as an escape in a string, sets unusual, and encoding/json has to read the
// document.
type scanner struct {
	doc     string
	at      int
	unusual bool
}

// next skips white space and returns the byte after it, or 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.doc) {
		switch c := s.doc[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take skips a byte. Another byte than the wanted one is unusual.
func (s *scanner) take(want byte) {
	if s.unusual || s.next() != want {
		s.unusual = true
		return
	}
	s.at++
}

// more reports whether another element follows: the first, or one after a comma.
func (s *scanner) more(first bool, end byte) bool {
	switch c := s.next(); {
	case s.unusual:
		return false
	case c == end:
		s.at++
		return false
	case !first:
		s.take(',')
	}
	return !s.unusual
}

// object calls member with the name of each member. member must read the value.
func (s *scanner) object(member func(name string)) {
	s.take('{')
	for first := true; s.more(first, '}'); first = false {
		name := s.text()
		s.take(':')
		if s.unusual {
			return
		}
		member(name)
	}
}

// array calls element before each element. element must read it.
func (s *scanner) array(element func()) {
	s.take('[')
	for first := true; s.more(first, ']'); first = false {
		element()
	}
}

// text reads a string.
func (s *scanner) text() string {
	s.take('"')
	if s.unusual {
		return ""
	}
	for i := s.at; i < len(s.doc); i++ {
		switch c := s.doc[i]; {
		case c == '"':
			value := s.doc[s.at:i]
			s.at = i + 1
			return value
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf: // an escape, a control character, or UTF-8 to validate
			s.unusual = true
			return ""
		}
	}
	s.unusual = true
	return ""
}

// word reads a number, true, false or null.
func (s *scanner) word() string {
	s.next()
	start := s.at
	for s.at < len(s.doc) && strings.IndexByte(",]} \t\r\n", s.doc[s.at]) < 0 {
		s.at++
	}
	word := s.doc[start:s.at]
	s.unusual = s.unusual || word != "true" && word != "false" && word != "null" && !isNumber(word)
	return word
}

// isNumber reports whether a word has the characters of a number.
func isNumber(word string) bool { return word != "" && strings.Trim(word, "0123456789+-.eE") == "" }

// skip skips a value.
func (s *scanner) skip() {
	switch s.next() {
	case '"':
		s.text()
	case '{':
		s.object(func(string) { s.skip() })
	case '[':
		s.array(s.skip)
	default:
		s.word()
	}
}
