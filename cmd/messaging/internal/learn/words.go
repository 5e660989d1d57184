package learn

import (
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/internal/table"
)

// words are lists of paths, names or codes, by the concept or the class that they belong to.
type words map[string][]string

// add adds a word to a list, unless the list has it.
func (w words) add(key, word string) { w[key] = appendNew(w[key], word) }

// appendNew appends a text to a list, unless the list has it.
func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(slices.Clone(list), text)
}

// has reports whether one of the lists has a word.
func (w words) has(word string) bool {
	for _, list := range w {
		if slices.Contains(list, word) {
			return true
		}
	}
	return false
}

// orDefault returns the list of a key, or the default one if the key was not learned.
func (w words) orDefault(key string, defaults map[string][]string) []string {
	if list, isLearned := w[key]; isLearned {
		return list
	}
	return defaults[key]
}

// removeTaken adds the default paths of concepts that were not learned and have a learned path among them, without the learned ones.
func (w words) removeTaken(defaults map[string][]string) {
	known := maps.Clone(w)
	for concept, paths := range defaults {
		_, isLearned := known[concept]
		if !isLearned && slices.ContainsFunc(paths, known.has) {
			w[concept] = slices.DeleteFunc(slices.Clone(paths), known.has)
		}
	}
}

// hasWord reports whether a list of the contract has a word, in any case, or a prefix of it that ends in a star.
func hasWord(list []string, word string) bool { return table.Match(list, word, true) >= 0 }
