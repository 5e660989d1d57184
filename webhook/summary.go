package webhook

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// summary collects what may be shown of a value: measures in place of numbers, texts and queries.
type summary struct{ fields []string }

// shown bounds, in bytes, how much of an ID is printed: it came from outside.
const shown = 128

func newSummary(name string) *summary { return &summary{fields: []string{"webhook." + name + "{"}} }

// word prints a word of the service, such as an ID, as it is.
func (s *summary) word(field, value string) *summary {
	if value != "" {
		s.fields = append(s.fields, field+": "+strconv.Quote(cut(value)))
	}
	return s
}

// measure prints how long a value is.
func (s *summary) measure(field, value string) *summary {
	if value != "" {
		s.fields = append(s.fields, fmt.Sprintf("%s: %d characters", field, utf8.RuneCountInString(value)))
	}
	return s
}

// count prints how many values there are.
func (s *summary) count(field string, n int) *summary {
	if n > 0 {
		s.fields = append(s.fields, fmt.Sprintf("%s: %d", field, n))
	}
	return s
}

func (s *summary) bytes(field string, n int) *summary {
	if n > 0 {
		s.fields = append(s.fields, fmt.Sprintf("%s: %d bytes", field, n))
	}
	return s
}

func (s *summary) flag(field string, set bool) *summary {
	if set {
		s.fields = append(s.fields, field+": true")
	}
	return s
}

func (s *summary) time(field string, at time.Time) *summary {
	if !at.IsZero() {
		s.fields = append(s.fields, field+": "+at.Format(time.RFC3339))
	}
	return s
}

// part prints a content, which has a summary of its own.
func (s *summary) part(field string, content Content) *summary {
	if content != nil {
		s.fields = append(s.fields, field+": "+content.summary())
	}
	return s
}

func (s *summary) String() string { return s.fields[0] + strings.Join(s.fields[1:], ", ") + "}" }

// cut bounds a word that is printed or logged.
func cut(word string) string {
	if len(word) <= shown {
		return word
	}
	end := shown
	for !utf8.RuneStart(word[end]) {
		end--
	}
	return word[:end] + "…"
}
