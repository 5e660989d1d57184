package learn

import (
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// writtenAs says how to write an amount or a time that is not in the example as a line has it, or returns "" for other values.
func writtenAs(leaves []leaf, concept, value string) string {
	var isSame func(leaf) bool
	var settledBy string
	switch concept {
	case "price", "cost", "unitCost", "balance":
		isSame = func(l leaf) bool { return digitsOf(l.word) != "" && digitsOf(l.word) == digitsOf(value) }
		settledBy = "scale"
	case "created", "sent", "time":
		isSame = func(l leaf) bool { return mayBeSameTime(l.word, value) }
		settledBy = "zone"
	default:
		return ""
	}
	example := ""
	if i := slices.IndexFunc(leaves, isSame); i >= 0 {
		example = ", such as " + leaves[i].word
	}
	return ": write it as the example does" + example + "; " + settledBy + " in the contract does the rest"
}

// digitsOf returns the digits of an amount without the zeros around them, which a scale adds and removes, or "" if the text is no amount.
func digitsOf(amount string) string {
	if !isAmount.MatchString(amount) {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(amount, ".", ""), "0")
}

// mayBeSameTime reports whether two texts are times that only a zone makes different.
func mayBeSameTime(text, other string) bool {
	const mostZones = 26 * time.Hour // from UTC-12 to UTC+14
	const zoneStep = 15 * time.Minute
	at, isTime := table.ParseTime(text, nil)
	otherAt, isOtherTime := table.ParseTime(other, nil)
	if !isTime || !isOtherTime || at.IsZero() || otherAt.IsZero() {
		return false
	}
	off := at.Sub(otherAt)
	return off.Abs() <= mostZones && off%zoneStep == 0
}
