package codec

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	states            map[string]bool // in lower case, words of a state or a code, which are no IDs
	statePrefixes     []string
}

func compileVocabulary(t *table.Table, accepted, refused []string) vocabulary {
	v := vocabulary{accepted: accepted, refused: refused, states: map[string]bool{}}
	for status, words := range t.WebhookDelivery.Statuses {
		words = withLetters(words)
		if slices.Contains([]string{"failed", "expired", "rejected"}, status) {
			v.undelivered = append(v.undelivered, words...)
		}
		v.addStates(words)
	}
	for _, codes := range t.Errors.Classes {
		v.addStates(withLetters(codes))
	}
	v.addStates(refused)
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

func (v *vocabulary) addStates(words []string) {
	for _, word := range words {
		state, isPrefix := strings.CutSuffix(strings.ToLower(word), "*")
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

// isID reports whether a value can be the ID of a message.
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
	return !v.isState(strings.ToLower(word))
}

// isState reports whether a word in lower case is that of a state or a code.
func (v *vocabulary) isState(word string) bool {
	isPrefix := func(prefix string) bool { return strings.HasPrefix(word, prefix) }
	return v.states[word] || slices.ContainsFunc(v.statePrefixes, isPrefix)
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
