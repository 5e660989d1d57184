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
	undelivered       []string        // the words of the delivery statuses failed, expired and rejected
	states            map[string]bool // which are no IDs: states in lower case, and error codes as they are written
	statePrefixes     []string
}

func compileVocabulary(t *table.Table, accepted, refused []string) vocabulary {
	v := vocabulary{accepted: accepted, refused: refused, states: map[string]bool{}}
	for status, words := range t.WebhookDelivery.Statuses {
		words = withLetters(words)
		if contract.Status(status).Failed() {
			v.undelivered = append(v.undelivered, words...)
		}
		v.addStates(words, true)
	}
	for _, codes := range t.Errors.Classes {
		v.addStates(withLetters(codes), false)
	}
	v.addStates(refused, true)
	// A prefix that accepts is no state: if the ID itself is what accepts, as by https://*, the prefix is how IDs begin.
	for _, word := range accepted {
		v.states[strings.ToLower(word)] = true
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

// addStates adds words to the states, in lower case if fold is true.
func (v *vocabulary) addStates(words []string, fold bool) {
	for _, word := range words {
		if fold {
			word = strings.ToLower(word)
		}
		state, isPrefix := strings.CutSuffix(word, "*")
		switch {
		case !isPrefix:
			v.states[state] = true
		case state != "":
			v.statePrefixes = append(v.statePrefixes, state)
		}
	}
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

// isState reports whether a word is that of a state, in any case, or an error code as it is written: e30b may be an ID where E3* is a code. A code
// in lower case counts in any case.
func (v *vocabulary) isState(word string) bool {
	for _, form := range []string{word, strings.ToLower(word)} {
		isPrefix := func(prefix string) bool { return strings.HasPrefix(form, prefix) }
		if v.states[form] || slices.ContainsFunc(v.statePrefixes, isPrefix) {
			return true
		}
	}
	return false
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
