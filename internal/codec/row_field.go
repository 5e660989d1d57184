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

// fillField sets the field of a column to the first of its values that is usable or, if none is, to the first blank one. If no value is usable,
// it reports a missing ID and a value of another kind.
func (r *currentRow) fillField(c *column, field any) {
	isUsable := func(slot int) bool { return r.isUsable(c, slot) }
	usable := slices.IndexFunc(c.slots, isUsable)
	r.skipEmpty(c, usable)
	if usable >= 0 {
		r.fillFrom(c, usable, field)
		return
	}
	if culprit, reason := r.unusable(c); reason != "" {
		r.reportField(c, culprit, reason)
		return
	}
	if blank := slices.IndexFunc(c.slots, r.isBlank); blank >= 0 {
		r.fillFrom(c, blank, field)
	}
}

// fillFrom sets the field of a column to its value at an index, which Extra then skips. A value that the field cannot have is reported, and stays
// in Extra, even if it fills another field.
func (r *currentRow) fillFrom(c *column, index int, field any) {
	slot := c.slots[index]
	reason := r.setField(c.concept, field, r.word(slot))
	r.extraSkips[slot] = reason == ""
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

// skipEmpty makes Extra skip the values of a column that say no more than an absent one: nulls, and blank values before the first usable one,
// whose index is -1 if there is none. A blank ID is kept.
func (r *currentRow) skipEmpty(c *column, usable int) {
	for i, slot := range c.slots {
		isNull := r.values[slot].Kind == jsonscan.Null
		isBefore := usable < 0 || i < usable
		isEmpty := isBefore && !c.isID && r.isBlank(slot)
		if isNull || isEmpty {
			r.extraSkips[slot] = true
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

// unusable returns why a column has no usable value, and the index of the value to blame, or -1 if the value is missing. The reason is "" if the
// field may be absent or blank.
func (r *currentRow) unusable(c *column) (culprit int, reason string) {
	if c.isID {
		return slices.IndexFunc(c.slots, r.has), r.idProblem(c)
	}
	isForeign := func(slot int) bool { return r.has(slot) && !r.isText(slot) } // an object, a list or a boolean
	culprit = slices.IndexFunc(c.slots, isForeign)
	if culprit >= 0 {
		reason = "is neither a text nor a number"
	}
	return culprit, reason
}

// idProblem returns why no value of the column of the ID is an ID. Without a name in the contract the column has no problem.
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

// setField sets a field of the transaction to a word. It returns why the word is not a value of the field, or "".
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
			return "is not a decimal number"
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
