package learn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// meanings are the possible meanings of a status.
func meanings() []string {
	return []string{"delivered", "read", "queued", "sent", "failed", "expired", "rejected"}
}

// usualMeaning returns the meaning of a status in the default contract, or "".
func usualMeaning(word string) string {
	words := table.Default().WebhookDelivery.Statuses
	for _, meaning := range meanings() {
		if table.Match(words[meaning], word, true) >= 0 {
			return meaning
		}
	}
	return ""
}

// statuses learns the meanings of the statuses of delivery, which rows and reports share.
type statuses struct {
	examples *Examples
	overlay  *overlay
}

// learn adds the status of an example to the words of the default contract, and removes it from other meanings. If the service has numbers, it
// also removes the numbers of the default contract, which are a guess.
func (s statuses) learn(example *Example) {
	word := example.values["status"]
	meaning := example.values["means"]
	if table.Match(s.overlay.statusWords(meaning), word, true) >= 0 {
		return
	}
	isWrong := func(known string) bool {
		isGuess := isNumeric(word) && isNumeric(known) && !s.hasExample(known)
		return isGuess || strings.EqualFold(known, word)
	}
	for _, other := range meanings() {
		before := s.overlay.statusWords(other)
		words := slices.DeleteFunc(slices.Clone(before), isWrong)
		if other == meaning {
			words = append(words, word)
		}
		if !slices.Equal(words, before) {
			s.overlay.Delivery.Statuses[other] = words
		}
	}
	s.overlay.note("the examples show few words: look up the others", sectionDelivery, "statuses")
}

func isNumeric(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// hasExample reports whether an example has a status.
func (s statuses) hasExample(word string) bool {
	hasStatus := func(example *Example) bool { return example.values["status"] == word }
	row := s.examples.row
	return slices.ContainsFunc(s.examples.delivery, hasStatus) || row != nil && hasStatus(row)
}
