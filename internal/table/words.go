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

// wordFault returns what is wrong with a word or a code, which may end in a star, or "".
func wordFault(word string) string {
	star := strings.IndexByte(word, '*')
	switch {
	case star >= 0 && star < len(word)-1:
		return "holds a * that is not at its end"
	case strings.TrimSpace(word) != word:
		return "has white space around it, so that nothing in a response equals it"
	}
	return nameFault(word, false)
}

// checkApart reports the words that are in two lists: they would mean two things. The keys are the paths of the lists in the table, and the
// reason says what to write.
func checkApart(found *Problems, lists map[string][]string, fold bool, reason string) {
	checkApartFor(found, lists, fold, func(_, _ string) string { return reason })
}

// checkApartFor is checkApart with a reason for each pair of lists.
func checkApartFor(found *Problems, lists map[string][]string, fold bool, reason func(place, other string) string) {
	seen := map[string]entry{}
	for place, list := range sorted(lists) {
		for i, word := range list {
			same := normal(word, fold)
			e := entry{place, i, word}
			if other, ok := seen[same]; ok && other.list != place {
				found.clash(e, other, reason(e.list, other.list))
			}
			seen[same] = e
		}
	}
}

const oneMeaning = "it has one meaning; leave it where it is right, and write the other list without it"

func checkNotAll(found *Problems, place string, list []string, reason string) {
	if i := slices.Index(list, "*"); i >= 0 {
		found.add(elementPath(place, i), "means every word; "+reason)
	}
}

// IsWord reports whether a text from outside is short and plain enough to be a code or an ID, and holds no run of digits that may be
// a phone number. Only such a text may be logged.
func IsWord(text string) bool {
	const longest, phoneNumber = 64, 9
	const plain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:"
	digits := 0 // in a row
	for i := range min(len(text), longest) {
		isDigit := '0' <= text[i] && text[i] <= '9'
		if isDigit {
			digits++
		} else {
			digits = 0
		}
		if digits >= phoneNumber {
			return false
		}
	}
	return text != "" && len(text) <= longest && consistsOf(text, plain)
}
