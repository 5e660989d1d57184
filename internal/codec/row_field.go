package codec

import (
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// fillFields sets the fields of the transaction.
func (r *currentRow) fillFields() {
	for i := range r.format.columns {
		r.fillField(&r.format.columns[i], r.fields[i])
	}
}

// fillField sets the field of a column to the first of its usable values. Values that say no more than an absent one are marked as used:
// nulls, and blank values before the usable one.
func (r *currentRow) fillField(c *column, field any) {
	r.useNulls(c)
	usable := slices.IndexFunc(c.slots, func(slot int) bool { return r.isUsable(c, slot) })
	if usable < 0 {
		r.fillWithoutUsable(c, field)
		return
	}
	r.useBlanks(c, c.slots[:usable])
	r.fillFrom(c, usable, field)
}

// fillWithoutUsable sets the field of a column to its first blank value, or leaves it as it is. If a value of another kind is in the way,
// or a row has no ID, the field cannot be read.
func (r *currentRow) fillWithoutUsable(c *column, field any) {
	r.useBlanks(c, c.slots)
	if reason := r.unusableReason(c); reason != "" {
		isInTheWay := func(slot int) bool { return r.has(slot) && !r.used[slot] }
		r.reportField(c, slices.IndexFunc(c.slots, isInTheWay), reason)
		return
	}
	if blank := slices.IndexFunc(c.slots, r.isBlank); blank >= 0 {
		r.fillFrom(c, blank, field)
	}
}

// fillFrom sets the field of a column to its value at an index, and marks the value as used. A value that the field cannot have is reported,
// and loses the mark, even if it fills another field, so that it is in Extra.
func (r *currentRow) fillFrom(c *column, index int, field any) {
	slot := c.slots[index]
	reason := r.setField(c.concept, field, r.word(slot))
	r.used[slot] = reason == ""
	if reason != "" {
		r.reportField(c, index, reason)
	}
}

// reportField records why the field of a column cannot be read. The value in question is at an index, or is missing if that is -1.
func (r *currentRow) reportField(c *column, index int, reason string) {
	place := &Place{Field: c.name}
	if index >= 0 {
		place.Path = c.paths[index]
	}
	r.report(UnreadableError{Place: place, Reason: reason})
}

// useNulls marks the null values of a column as used: they say no more than the zero value of the field.
func (r *currentRow) useNulls(c *column) {
	for _, slot := range c.slots {
		if r.values[slot].Kind == jsonscan.Null {
			r.used[slot] = true
		}
	}
}

// useBlanks marks the blank values at some slots of a column as used: they say no more than null. An ID must not be blank.
func (r *currentRow) useBlanks(c *column, slots []int) {
	if c.isID {
		return
	}
	for _, slot := range slots {
		if r.isBlank(slot) {
			r.used[slot] = true
		}
	}
}

// isUsable reports whether a value of a column is of the right kind and not blank.
func (r *currentRow) isUsable(c *column, slot int) bool {
	if c.isID {
		return r.format.vocabulary.isID(r.values[slot], r.word(slot))
	}
	return r.isText(slot) && !r.isBlank(slot)
}

// isText reports whether a value is a text or a number.
func (r *currentRow) isText(slot int) bool {
	v := r.values[slot]
	return v.IsScalar() && v.Kind != jsonscan.Boolean
}

// isBlank reports whether a value is a text of white space or an empty one.
func (r *currentRow) isBlank(slot int) bool {
	return r.isText(slot) && strings.TrimSpace(r.word(slot)) == ""
}

// unusableReason returns why no value of a column is usable, or "" if the field may be absent or blank.
func (r *currentRow) unusableReason(c *column) string {
	if c.isID {
		return r.idProblem(c)
	}
	return r.textProblem(c)
}

// idProblem returns why no value of a column of IDs is an ID. A column without a name in the contract has no problem.
func (r *currentRow) idProblem(c *column) string {
	isState := func(slot int) bool {
		return r.isText(slot) && r.format.vocabulary.isState(strings.TrimSpace(r.word(slot)))
	}
	switch {
	case len(c.slots) == 0:
		return ""
	case slices.ContainsFunc(c.slots, isState):
		return "is not an ID, but a status or an error code of the contract"
	case r.hasAny(c.slots):
		return "is not an ID"
	default:
		return "is missing"
	}
}

// textProblem returns why no value of another column is usable: one is an object, a list or a boolean.
func (r *currentRow) textProblem(c *column) string {
	isForeign := func(slot int) bool { return r.has(slot) && !r.isText(slot) }
	if slices.ContainsFunc(c.slots, isForeign) {
		return "is neither a text nor a number"
	}
	return ""
}

// setField sets a field of the transaction to a word. It returns why the word is no value of the field, or "".
func (r *currentRow) setField(concept string, field any, word string) (reason string) {
	const unknown = "is in no known form"
	switch field := field.(type) {
	case *string:
		return r.setText(concept, field, word)
	case *int:
		n, ok := wholeInt(word)
		if !ok || n < 0 {
			return unknown
		}
		*field = n
	case *time.Time:
		at, ok := table.ParseTime(word, r.format.zone, r.format.op.Layouts...)
		if !ok {
			return unknown
		}
		*field = at
	}
	return ""
}

func (r *currentRow) setText(concept string, field *string, word string) (reason string) {
	switch concept {
	case "price":
		amount, currency, ok := amountOf(word, r.format.op.Scale)
		if !ok {
			return "is no decimal number"
		}
		r.transaction.Currency = currency
		word = amount
	case "currency":
		if strings.TrimSpace(word) == "" {
			return "" // the currency in the price stays, which is read first
		}
	case "from", "to":
		word = table.Number(word)
	case "id":
		word = strings.TrimSpace(word)
	}
	*field = word
	return ""
}
