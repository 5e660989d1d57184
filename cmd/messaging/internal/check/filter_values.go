package check

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
)

// isID reports whether a concept is an ID of a message or of its request. Other values may belong to several messages.
func isID(concept string) bool {
	return slices.Contains([]string{"id", "reference", "request"}, concept)
}

// sentID returns the value that the message has for a concept that is an ID, or "".
func (t filterTrial) sentID(concept string) string {
	if t.sent == nil || !isID(concept) {
		return ""
	}
	return t.sent.values[concept]
}

// listedID returns the first row's value for a concept that is an ID, or "". With --send only the messages of the check prove a filter.
func (t filterTrial) listedID(concept string) string {
	if t.withSend || !isID(concept) {
		return ""
	}
	return t.listedValue(concept)
}

// listedValue returns the first value that a row has for a concept, or "".
func (t filterTrial) listedValue(concept string) string {
	for _, row := range t.listed.rows {
		if value := t.names.value(row, concept); value != "" {
			return value
		}
	}
	return ""
}

// absentValue returns a random value in the form of a given one, or in the form of the values of the rows.
func (t filterTrial) absentValue(concept, like string) string {
	const minLength = 6 // a shorter random value may exist
	like = cmp.Or(like, t.listedValue(concept))
	if len(like) < minLength {
		like = "none-00000000"
	}
	return strings.Map(randomLike, like)
}

// randomLike returns a random digit for a digit, and a letter for a letter. Hexadecimal digits stay hexadecimal digits.
func randomLike(r rune) rune {
	for _, alphabet := range []string{"0123456789", "abcdef", "ABCDEF", "ghijklmnopqrstuvwxyz", "GHIJKLMNOPQRSTUVWXYZ"} {
		if strings.ContainsRune(alphabet, r) {
			return rune(alphabet[rand.IntN(len(alphabet))]) //nolint:gosec // no secret
		}
	}
	return r
}
