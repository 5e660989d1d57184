package webhook

import (
	"bytes"
	"strings"
)

// A field is the value of a concept. A parameter sets it by one of the methods below, which differ in what counts if several parameters mean
// the same.
type field struct {
	value      string
	preference int // of the parameter's name; 0 if there is no value
}

// has reports whether a parameter has set the field of a concept.
func (f *fields) has(c concept) bool { return f.byConcept[c].preference > 0 }

// value returns the value of a concept, or "".
func (f *fields) value(c concept) string { return f.byConcept[c].value }

// id returns the ID of the event, or "". The name id counts only if no other name has one.
func (f *fields) id() string {
	if f.has(conceptID) {
		return f.value(conceptID)
	}
	return f.value(conceptBareID)
}

// setValue sets a field. Of several names the first in the contract's list counts, and of several parameters with one name the first to
// arrive. A placeholder counts as absent.
func (f *fields) setValue(b binding, value string) {
	if isBlank(value) || value == f.callback.placeholders[b.concept] {
		return
	}
	present := &f.byConcept[b.concept]
	if b.concept.identifies() {
		if !isName(value) {
			return
		}
		if conflicts(present.value, value) {
			f.hasConflict = true
		}
	}
	present.replace(b, value)
}

// replace replaces a field that has no value, or one under a name with less preference.
func (v *field) replace(b binding, value string) {
	if v.preference == 0 || b.preference < v.preference {
		*v = field{value, b.preference}
	}
}

// setText sets the text. isMessage says that the value is JSON which may count as the message itself.
func (f *fields) setText(b binding, value string, isMessage bool) {
	f.byConcept[conceptText].replaceText(b, value)
	if !isMessage {
		f.otherText.replaceText(b, value)
	}
}

// replaceText is like replace, but white space counts only if there is no other text.
func (v *field) replaceText(b binding, value string) {
	hadText := !isBlank(v.value)
	hasText := !isBlank(value)
	switch {
	case v.preference == 0, hadText == hasText:
		v.replace(b, value)
	case hasText:
		*v = field{value, b.preference}
	}
}

// setStatus sets the status. The event is ambiguous if two statuses arrived, unless the contract prefers the one that it knows.
func (f *fields) setStatus(b binding, value string) {
	if isBlank(value) || hasZeroByte(value) || value == f.callback.placeholders[conceptStatus] {
		return
	}
	arrived := field{value, b.preference}
	if !f.has(conceptStatus) {
		f.byConcept[conceptStatus] = arrived
		return
	}
	winner := f.rankStatus(f.byConcept[conceptStatus])
	loser := f.rankStatus(arrived)
	if loser.outranks(winner) {
		winner, loser = loser, winner
	}
	f.byConcept[conceptStatus] = winner.field
	if f.contradictsStatus(winner, loser) {
		f.hasConflict = true
	}
}

// A rankedStatus is a status that arrived, with what decides between two of them.
type rankedStatus struct {
	field

	isWord  bool // it is a status, known or not, and no placeholder
	isKnown bool // the contract knows it
}

func (f *fields) rankStatus(v field) rankedStatus {
	status := f.callback.receiver.status(v.value)
	return rankedStatus{field: v, isWord: isStatus(status, v.value), isKnown: status != StatusUnknown}
}

// outranks reports whether a status counts instead of one that arrived before. A placeholder such as "null" counts only if there is no status.
func (s rankedStatus) outranks(earlier rankedStatus) bool {
	if s.isWord != earlier.isWord {
		return s.isWord
	}
	return s.preference < earlier.preference
}

// contradictsStatus reports whether the loser of two statuses contradicts the winner. A word that the contract does not know is ignored if a
// preferred name has a word that it knows.
func (f *fields) contradictsStatus(winner, loser rankedStatus) bool {
	areWords := winner.isWord && loser.isWord
	isPreferred := winner.preference < loser.preference
	isIgnored := isPreferred && winner.isKnown && !loser.isKnown
	return areWords && !isIgnored && !f.callback.receiver.sameStatus(winner.value, loser.value)
}

// setJSON notes the platform's JSON in a parameter for it. Only the first object counts. If there is another, the event is ambiguous.
func (f *fields) setJSON(value string) {
	e := envelopeIn(value)
	if e == nil {
		return
	}
	if f.paramJSON != nil {
		if !bytes.Equal(e.raw, f.paramJSON.raw) {
			f.hasConflict = true
		}
		return
	}
	e.origin = originParam
	f.paramJSON = e
}

// setTextJSON notes the platform's JSON in a text, and reports whether the text holds a message. Only the first counts.
func (f *fields) setTextJSON(value string) bool {
	if f.paramJSON != nil || f.textJSON != nil {
		return false
	}
	e := envelopeIn(value)
	holdsMessage := e.holdsItems() && len(e.messages) > 0
	if !holdsMessage {
		return false
	}
	*e = e.asDistrusted()
	e.origin = originText
	f.textJSON = e
	return true
}

// text returns the text next to the JSON that counts, which may be white space, and reports whether there is a text.
func (f *fields) text(e *envelope) (text string, found bool) {
	v := f.byConcept[conceptText]
	if e.origin == originText { // the parameter that was read as JSON is not a text
		v = f.otherText
	}
	return v.value, v.preference > 0
}

// conflicts reports whether two values of an identifying parameter are both present and different. A number may come with and without a
// +, and with characters between its digits.
func conflicts(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	a = strings.TrimLeft(number(a), "+")
	b = strings.TrimLeft(number(b), "+")
	if looksLikePhoneNumber(a) && looksLikePhoneNumber(b) {
		return digits(a) != digits(b)
	}
	return a != b
}
