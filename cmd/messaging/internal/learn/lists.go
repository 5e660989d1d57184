package learn

import (
	"maps"
	"slices"

	"github.com/messaging-service/messaging-go/internal/table"
)

// lists are lists of texts by key: the paths or the names of each concept, the codes of each class, or the words of each meaning.
type lists map[string][]string

// add adds a text to the list of a key, unless the list has it.
func (l lists) add(key, text string) { l[key] = appendNew(l[key], text) }

// appendNew appends a text to a list, unless the list has it.
func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(slices.Clone(list), text)
}

// has reports whether a list has a text.
func (l lists) has(text string) bool {
	for _, list := range l {
		if slices.Contains(list, text) {
			return true
		}
	}
	return false
}

// orDefault returns the list of a key, or the default list if the key was not learned.
func (l lists) orDefault(key string, defaults map[string][]string) []string {
	if list, isLearned := l[key]; isLearned {
		return list
	}
	return defaults[key]
}

// overrideTaken overrides each default list of paths that contains a path learned for another concept, and keeps the rest of the default.
func (l lists) overrideTaken(defaults map[string][]string) {
	learned := maps.Clone(l)
	for concept, paths := range defaults {
		_, isLearned := learned[concept]
		if !isLearned && slices.ContainsFunc(paths, learned.has) {
			l[concept] = slices.DeleteFunc(slices.Clone(paths), learned.has)
		}
	}
}

// hasWord reports whether a list of the contract has a word, in any case, or a prefix of the word that ends in a star.
func hasWord(list []string, word string) bool { return table.Match(list, word, true) >= 0 }
