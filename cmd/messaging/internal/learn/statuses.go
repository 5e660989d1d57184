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
		if hasWord(words[meaning], word) {
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

// learn adds the status of an example to the words of its meaning, and removes it from other meanings. The default words stay.
func (s statuses) learn(example *Example) {
	word := example.values["status"]
	meaning := example.values["means"]
	if hasWord(s.overlay.statusWords(meaning), word) {
		return
	}
	for _, other := range meanings() {
		before := s.overlay.statusWords(other)
		words := s.withoutWrong(before, word)
		if other == meaning {
			words = append(words, word)
		}
		if !slices.Equal(words, before) {
			s.overlay.Delivery.Statuses[other] = words
		}
	}
	s.overlay.note("the examples show few words: look up the others", sectionDelivery, "statuses")
	s.overlay.note(keptStatuses, sectionDelivery, "statuses")
}

// keptStatuses says why the default words of delivery stay in force.
const keptStatuses = "the rest are defaults, which stay: without those of failed and rejected, a row with such a send status would count as accepted"

// withoutWrong returns words of a meaning without those that the status of an example shows to be wrong: the status itself, and if it is a number,
// numbers that no example has. The numbers of the default contract are a guess.
func (s statuses) withoutWrong(words []string, status string) []string {
	isWrong := func(word string) bool {
		isGuess := isNumeric(status) && isNumeric(word) && !s.hasExample(word)
		return isGuess || strings.EqualFold(word, status)
	}
	return slices.DeleteFunc(slices.Clone(words), isWrong)
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
