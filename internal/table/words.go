package table

import (
	"math"
	"slices"
	"strings"
)

// Match returns how well a word matches a list: math.MaxInt if the list has the word, or the length of its longest prefix in the list, or
// -1. In the list, a word that ends in "*" is a prefix. If fold is true, case is ignored. White space around the word always is.
func Match(list []string, word string, fold bool) int {
	word = normal(strings.TrimSpace(word), fold)
	best := -1
	for _, known := range list {
		known = normal(known, fold)
		prefix, isPrefix := strings.CutSuffix(known, "*")
		switch {
		case !isPrefix && known == word:
			return math.MaxInt
		case isPrefix && strings.HasPrefix(word, prefix):
			best = max(best, len(prefix))
		}
	}
	return best
}

// Meaning returns the key of the list that a word matches best, and how well; "" and -1 if it matches none. See Match.
func Meaning(lists map[string][]string, word string, fold bool) (meaning string, best int) {
	best = -1
	for key, list := range lists {
		if n := Match(list, word, fold); n > best {
			meaning, best = key, n
		}
	}
	return meaning, best
}

func normal(word string, fold bool) string {
	if fold {
		return strings.ToLower(word)
	}
	return word
}

// wordFault returns what is wrong with a word or a code, which may end in a star.
func wordFault(word string) string {
	star := strings.IndexByte(word, '*')
	switch {
	case star >= 0 && star < len(word)-1:
		return "holds a * that is not at its end"
	case strings.TrimSpace(word) != word:
		return "has white space around it, so that nothing in a response equals it"
	}
	return plainNameFault(word)
}

const oneMeaning = "it has one meaning; leave it where it is right, and write the other list without it"

// checkDisjoint reports the words that are in two lists, and so would mean two things. The keys are the paths of the lists in the table.
func checkDisjoint(problems *Problems, lists map[string][]string, fold bool) {
	checkDisjointFor(problems, lists, fold, func(_, _ string) string { return oneMeaning })
}

// checkDisjointFor is checkDisjoint with a reason for each pair of paths, which says what to write.
func checkDisjointFor(problems *Problems, lists map[string][]string, fold bool, reason func(path, other string) string) {
	seen := map[string]entry{}
	for path, list := range sorted(lists) {
		for i, word := range list {
			key := normal(word, fold)
			e := entry{path, i, word}
			if other, ok := seen[key]; ok && other.list != path {
				problems.clash(e, other, reason(path, other.list))
			}
			seen[key] = e
		}
	}
}

// checkNoCatchAll reports a prefix of every word.
func checkNoCatchAll(problems *Problems, path string, list []string, reason string) {
	if i := slices.Index(list, "*"); i >= 0 {
		problems.add(elementPath(path, i), "means every word; "+reason)
	}
}
