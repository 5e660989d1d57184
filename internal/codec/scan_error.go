package codec

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// Within an error, such as {"error": {"reason": "credit"}}, other rules hold than outside: any value reports the error, whatever its name, unless
// it says that there is no error.

// errorContent is what a value within an error holds.
type errorContent struct {
	hasContent bool // it reports an error
	hasID      bool
}

func (e *errorContent) add(other errorContent) {
	e.hasContent = e.hasContent || other.hasContent
	e.hasID = e.hasID || other.hasID
}

// holdsError reports whether the value at the place of an error reports one.
func (r *responseFormat) holdsError(d *document, slot int) bool {
	v := d.values[slot]
	if !d.has(slot) {
		return false
	}
	if v.IsScalar() {
		return !r.saysNoError(strings.TrimSpace(d.word(slot)))
	}
	text := d.text[v.Start:v.End]
	s := r.newScan([]byte(text), text)
	return s.errorValue().hasContent
}

// errorValue reads an error, or a value within one. Null, false, zero, a success word, and lists or objects of only these report no error.
// Neither does an object with a success code.
func (s *scan) errorValue() (e errorContent) {
	switch c := s.scanner.Peek(); c {
	case '{':
		return s.errorObject()
	case '[':
		for more := s.scanner.Open(']'); more; more = s.scanner.Next(']') {
			e.add(s.errorValue())
		}
	default:
		v := s.scanner.Scalar(c)
		e.hasContent = v.Kind > jsonscan.Null && !s.saysNoError(strings.TrimSpace(v.Word(s.text)))
	}
	return e
}

func (s *scan) errorObject() (e errorContent) {
	hasSuccessCode := false
	for more := s.scanner.Open('}'); more; more = s.scanner.Next('}') {
		kind := s.kindOf(s.scanner.Name())
		if kind&kindCode != 0 && s.isSuccessCodeNext() {
			hasSuccessCode = true
		}
		member := s.errorValue()
		if member.hasContent && kind&kindAnyID != 0 {
			member.hasID = true
		}
		e.add(member)
	}
	if hasSuccessCode {
		e.hasContent = false
	}
	return e
}

// isSuccessCodeNext reports whether the next value is a success code. It does not read the value.
func (s *scan) isSuccessCodeNext() bool {
	ahead := jsonscan.Scanner{Doc: s.scanner.Doc, Pos: s.scanner.Pos}
	c := ahead.Peek()
	if c == '{' || c == '[' {
		return false
	}
	_, isSuccess := s.meaning(strings.TrimSpace(ahead.Scalar(c).Word(s.text)))
	return isSuccess
}

// saysNoError reports whether the word at the place of an error says that there is no error.
func (r *responseFormat) saysNoError(word string) bool {
	_, isSuccess := r.meaning(word)
	switch {
	case isSuccess, strings.Trim(word, "0.") == "", strings.EqualFold(word, "false"):
		return true
	case isNumber(word), isTrue(word), commonlyRefuses(word), strings.EqualFold(word, "unknown"):
		return false
	default:
		noError := []string{"no error", "no_error", "no-error", "noerror"}
		isNoError := table.Match(noError, word, true) >= 0 || table.Match(r.vocabulary.accepted, word, true) >= 0
		return isNoError || table.IsPlaceholder(word)
	}
}
