package codec

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// isTrue and isFalse report whether a word says so, as services write it.
func isTrue(word string) bool { return isOneOf(word, "true", "1", "yes") }

func isFalse(word string) bool { return isOneOf(word, "false", "0", "no") }

func isOneOf(word string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(word)))
}

// vocabulary holds the words by which a service accepts and refuses messages.
type vocabulary struct {
	accepted, refused []string
	undelivered       []string // the words of the delivery statuses failed, expired and rejected
	states            []string // words that are no IDs, in lower case
	codes             []string // error codes, which are no IDs, as they are written: e30b may be an ID where E3* is a code
}

func compileVocabulary(t *table.Table, accepted, refused []string) *vocabulary {
	v := &vocabulary{accepted: accepted, refused: refused}
	states := slices.Clone(refused)
	// A prefix that accepts is no state: if the ID itself is what accepts, as by https://*, the prefix is how IDs begin.
	for _, word := range accepted {
		if !strings.HasSuffix(word, "*") {
			states = append(states, word)
		}
	}
	for status, words := range t.WebhookDelivery.Statuses {
		words = withLetters(words)
		if contract.Status(status).Failed() {
			v.undelivered = append(v.undelivered, words...)
		}
		states = append(states, words...)
	}
	for _, word := range states {
		if word != "*" { // the prefix of every word
			v.states = append(v.states, strings.ToLower(word))
		}
	}
	for _, codes := range t.Errors.Classes {
		v.codes = append(v.codes, withLetters(codes)...)
	}
	return v
}

// withLetters returns the words that have a letter. A number may be a state of any kind.
func withLetters(words []string) (all []string) {
	for _, word := range words {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			all = append(all, word)
		}
	}
	return all
}

// refuses reports whether a word says that a message was not taken, or not delivered.
func (v *vocabulary) refuses(word string) bool {
	accepted := max(table.Match(v.accepted, word, true), 0)
	refused := max(table.Match(v.refused, word, true), table.Match(v.undelivered, word, true))
	isFalse := accepted == 0 && strings.EqualFold(word, "false")
	return refused > accepted || isFalse
}

// isID reports whether a value can be the ID of a message. A state and an error code are none: a response may have them in the place of an ID.
func (v *vocabulary) isID(found value, word string) bool {
	word = strings.TrimSpace(word)
	isText := found.IsScalar() && found.Kind != jsonscan.Boolean
	switch {
	case !isText, !isPrintable(word):
		return false
	case table.IsCode(word):
	case table.IsPlaceholder(word), strings.ContainsFunc(word, unicode.IsSpace):
		return false
	}
	return !v.isState(word)
}

// isState reports whether a word is that of a state, in any case, or an error code.
func (v *vocabulary) isState(word string) bool {
	return table.Match(v.states, strings.ToLower(word), false) >= 0 || table.Match(v.codes, word, false) >= 0
}

// isPrintable reports whether a text can be an ID: valid UTF-8, at most 256 characters, and no control characters.
func isPrintable(word string) bool {
	const longest = 256
	n := 0
	for _, r := range word {
		n++
		if n > longest || unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}
