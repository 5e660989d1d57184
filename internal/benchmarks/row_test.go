package main

import "strings"

// scanner reads JSON of a kind that needs no second look: it is the core of the decoders by hand. What it does not
// expect, such as an escape in a string, sets unusual, and is then for encoding/json.
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

// take passes over one byte, which must be the one that is expected.
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

// object calls member with the name of each member, in front of its value. It must read the value.
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

// array calls element in front of each element. It must read it.
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
	length := strings.IndexByte(s.doc[s.at:], '"')
	if length < 0 {
		s.unusual = true
		return ""
	}
	value := s.doc[s.at : s.at+length]
	if strings.IndexByte(value, '\\') >= 0 {
		s.unusual = true
		return ""
	}
	s.at += length + 1
	return value
}

// word reads a number, true, false or null.
func (s *scanner) word() string {
	s.next()
	start := s.at
	for s.at < len(s.doc) && strings.IndexByte(",]} \t\r\n", s.doc[s.at]) < 0 {
		s.at++
	}
	if start == s.at {
		s.unusual = true
	}
	return s.doc[start:s.at]
}

// skip passes over a value.
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
