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
func isTrue(word string) bool { return isOne(word, "true", "1", "yes") }

func isFalse(word string) bool { return isOne(word, "false", "0", "no") }

func isOne(word string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.TrimSpace(word)))
}

// words are those which say that a message was not taken, or not delivered.
type words struct {
	accepted, refused []string
	undelivered       []string        // words of the delivery statuses failed, expired and rejected
	noIDs             map[string]bool // in lower case, what is no ID, and not a prefix
	noIDPrefixes      []string
}

func compileWords(t *table.Table, errs *table.Errors, accepted, refused []string) words {
	w := words{accepted: accepted, refused: refused, noIDs: map[string]bool{}}
	hasLetter := func(word string) bool { return strings.ContainsFunc(word, unicode.IsLetter) }
	add := func(word string) {
		if prefix, isPrefix := strings.CutSuffix(strings.ToLower(word), "*"); !isPrefix {
			w.noIDs[prefix] = true
		} else if prefix != "" {
			w.noIDPrefixes = append(w.noIDPrefixes, prefix)
		}
	}
	for status, all := range t.WebhookDelivery.Statuses {
		// A number may be a state of any kind.
		all = slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !hasLetter(word) })
		if slices.Contains([]string{"failed", "expired", "rejected"}, status) {
			w.undelivered = append(w.undelivered, all...)
		}
		for _, word := range all {
			add(word)
		}
	}
	for _, word := range refused {
		add(word)
	}
	for _, word := range accepted {
		w.noIDs[strings.ToLower(word)] = true
	}
	for _, codes := range errs.Classes {
		for _, code := range codes {
			if hasLetter(code) {
				add(code)
			}
		}
	}
	return w
}

// refuses reports whether a word says that a message was not taken, or not delivered.
func (w *words) refuses(word string) bool {
	known := max(table.Match(w.accepted, word, true), 0)
	refused := max(table.Match(w.refused, word, true), table.Match(w.undelivered, word, true))
	return refused > known || known == 0 && strings.EqualFold(word, "false")
}

// isID reports whether a value can be the ID of a message.
func (w *words) isID(v value, word string) bool {
	word = strings.TrimSpace(word)
	switch {
	case !v.IsScalar() || v.Kind == jsonscan.Boolean || !isName(word):
		return false
	case table.IsCode(word):
	case table.IsPlaceholder(word) || strings.ContainsFunc(word, unicode.IsSpace):
		return false
	}
	word = strings.ToLower(word)
	isPrefix := func(prefix string) bool { return strings.HasPrefix(word, prefix) }
	return !w.noIDs[word] && !slices.ContainsFunc(w.noIDPrefixes, isPrefix)
}

// isName reports whether a text can name a message: at most 256 characters, none of them a control character, in valid UTF-8.
func isName(word string) bool {
	const longest = 256
	n := 0
	for _, r := range word {
		if n++; n > longest || unicode.IsControl(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}
