package chatapp2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// checks collects what is wrong with a message. A path is the Go expression for a field, from the Message on.
type checks struct {
	problems wire.Checks
}

// found reports a fault of structure: what no option lets pass. An empty reason is none.
func (c *checks) found(path, reason string) { c.problems.Found(path, reason) }

// limit reports that a documented limit is passed.
func (c *checks) limit(path, reason string) { c.problems.Limit(path, reason) }

// asLimits checks what stayed raw as far as it is known. What is known may have moved, so all that is found passes a limit.
func (c *checks) asLimits(check func(*checks)) {
	known := new(checks)
	check(known)
	for _, problem := range known.problems {
		c.limit(problem.Field, problem.Reason)
	}
}

// unlikeDocumented reports what stayed raw though its type is known, where nothing more precise can be said.
func (c *checks) unlikeDocumented(path string) {
	c.limit(path, "is not what the platform documents for its type: a member is missing, is of another kind, or does not go with another")
}

// required checks a text that must be there, of at most so many characters; 0 is no limit.
func (c *checks) required(path, value string, most int) {
	switch {
	case value == "":
		c.found(path, "required, but absent")
	case strings.TrimSpace(value) == "":
		c.found(path, "required, got white space only")
	}
	c.text(path, value, most)
}

// text checks a text that may be absent.
func (c *checks) text(path, value string, most int) {
	if n := utf8.RuneCountInString(value); most > 0 && n > most {
		c.limit(path, fmt.Sprintf("want at most %d characters, got %d", most, n))
	}
	c.found(path, wire.CheckUTF8(value))
}

// id checks an ID that may be absent.
func (c *checks) id(path, value string) {
	if value != "" && strings.TrimSpace(value) == "" {
		c.found(path, "must not be white space alone")
	}
	c.text(path, value, 0)
}

// url checks a URL that must be there.
func (c *checks) url(path, value string) {
	if value == "" {
		c.found(path, "required, but absent")
		return
	}
	c.found(path, wire.CheckURL(value))
}

// count checks a number of things: none or too few is a fault, too many passes a limit.
func (c *checks) count(path, things string, n, least, most int) {
	reason := fmt.Sprintf("want %d to %d %s, got %d", least, most, things, n)
	switch {
	case n < least:
		c.found(path, reason)
	case n > most:
		c.limit(path, reason)
	}
}

// between checks a number that is there.
func (c *checks) between(path string, n, least, most int) {
	if n < least || n > most {
		c.limit(path, fmt.Sprintf("want %d to %d", least, most))
	}
}

// oneOf checks a word that is there against those that are documented.
func (c *checks) oneOf(path, word string, known ...string) {
	if word != "" && !slices.Contains(known, word) {
		want := "want "
		if len(known) > 1 {
			want = "want one of "
		}
		c.limit(path, want+strings.Join(quoted(known), ", "))
		c.found(path, wire.CheckUTF8(word))
	}
}

func quoted(words []string) []string {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = strconv.Quote(word)
	}
	return all
}

// unique reports the second of two equal values, by its index.
func unique[T any](c *checks, all []T, value func(T) string, path func(int) string) {
	seen := map[string]int{}
	for i, one := range all {
		v := value(one)
		if first, ok := seen[v]; ok && v != "" {
			c.found(path(i), fmt.Sprintf("must differ from the others, and is that of index %d", first))
			continue
		}
		seen[v] = i
	}
}

// as gives a value of a sealed interface as one of its types, also where it is a pointer to it.
func as[T any](value any) (T, bool) {
	switch v := value.(type) {
	case T:
		return v, true
	case *T:
		if v != nil {
			return *v, true
		}
	}
	var none T
	return none, false
}

func at(path string, index int) string { return fmt.Sprintf("%s[%d]", path, index) }

// word checks a name of lower-case letters, digits and underscores.
func (c *checks) word(path, value string) {
	if strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		c.limit(path, "want lower-case letters, digits and underscores alone")
	}
}
