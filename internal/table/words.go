package table

import (
	"math"
	"slices"
	"strings"
)

// Match returns how well a list holds a word: -1 if it does not, the length of the longest prefix that fits, or math.MaxInt if
// the word itself stands there. In the list, a word that ends in "*" is a prefix. If fold is true, case does not count. White
// space around the word never does.
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

// Meaning returns the key of the list that holds a word best, and how well, as Match says; "" and -1 if none does.
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

// wordFault returns what is wrong with a word or a code, of which the last byte may be a star, or "".
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

// checkApart refuses a word that stands in two lists: it would mean two things. The lists come with their places in the table, and
// the reason says what to write.
func checkApart(found *Problems, lists map[string][]string, fold bool, reason string) {
	checkApartFor(found, lists, fold, func(_, _ string) string { return reason })
}

// checkApartFor has a reason for each two lists.
func checkApartFor(found *Problems, lists map[string][]string, fold bool, reason func(place, other string) string) {
	seen := map[string]entry{}
	for place, list := range sorted(lists) {
		for i, word := range list {
			same, e := normal(word, fold), entry{place, i, word}
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
		found.add(elementPath(place, i), "stands for every word; "+reason)
	}
}

// IsWord reports whether a text from outside is short and plain enough to be a code or an ID, and holds no run of digits that may be
// a phone number. Only such a text may be logged.
func IsWord(text string) bool {
	const longest, phoneNumber = 64, 9
	const plain = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:"
	digits := 0
	for i := range min(len(text), longest) {
		if digits++; text[i] < '0' || text[i] > '9' {
			digits = 0
		}
		if digits >= phoneNumber {
			return false
		}
	}
	return text != "" && len(text) <= longest && consistsOf(text, plain)
}
