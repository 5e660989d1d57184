package webhook

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// fields holds the parameters of one event. A field is set when its parameter is read; resolve.go then decides between parameters and JSON in
// the shape of the platform.
type fields struct {
	*callback

	params    Params // of the query, then of the body
	outer     int    // how many of params surround a list of events, and so belong to no event of it
	count     int    // of all parameters, including those beyond the limit
	query     string // byte for byte, without secrets
	ambiguous bool

	values   [numConcepts]field
	flatText field // the text without the parameter that holds textJSON

	bodyJSON  *envelope // the body, or one event of its list
	paramJSON *envelope // the first parameter for JSON that holds an object
	textJSON  *envelope // the first text that holds a message of the platform, which a person may have typed
	rawJSON   *rawJSON  // of the form that is being read
	envelope  envelope  // the one of these that counts
}

// has reports whether a parameter has set the field of a concept.
func (f *fields) has(c concept) bool { return f.values[c].preference > 0 }

// field is the value of a concept.
type field struct {
	value      string
	preference int // of the parameter's name; 0 if there is no value
}

// rawJSON is JSON in a query or form that the sender did not escape. A person may have typed the parameters that follow it: an & in a
// text ends the JSON, and quotes and brackets in a text can end it before.
type rawJSON struct {
	envelope *envelope // what it says; nil for nothing
	isCut    bool      // it is incomplete
	isText   bool      // it may be a text that a person typed
}

// readForm reads the parameters of a query or form.
//
// Unlike net/url it tolerates senders that do not escape: a semicolon is data, a % that escapes nothing stays, and each byte that is not
// part of valid UTF-8 is read as Windows-1252. Nothing is decoded twice.
func (f *fields) readForm(form string) {
	f.rawJSON = nil // raw JSON in the query says nothing about the body
	for pair := range strings.SplitSeq(form, "&") {
		if f.count > f.maxParams {
			return
		}
		if pair == "" {
			continue
		}
		name, escaped, _ := strings.Cut(pair, "=")
		name = decode(name)
		if f.isSecret(name) {
			f.count++
			continue
		}
		f.addParam(name, escaped)
	}
}

// addParam adds a parameter of a query or form.
func (f *fields) addParam(name, escaped string) {
	value := decode(escaped)
	if !f.keep(name, value) {
		return
	}
	bindings := f.bindings[name]
	if len(bindings) == 0 {
		return
	}
	f.setAll(bindings, value, false)
	if bindings[0].concept == conceptJSON && beginsObject(value) && !isEscaped(escaped) {
		f.noteRawJSON(value, isText(bindings))
	}
}

// keep keeps a parameter, unless there are too many.
func (f *fields) keep(name, value string) bool {
	f.count++
	if f.count > f.maxParams {
		return false
	}
	f.params = append(f.params, Param{Name: name, Value: value})
	return true
}

// noteRawJSON notes JSON that was not escaped. A text that is complete JSON but no message is an ordinary text.
func (f *fields) noteRawJSON(value string, isText bool) {
	isCut := jsonscan.Check([]byte(value)) != nil
	switch {
	case isCut:
		f.rawJSON = &rawJSON{isCut: true}
		f.ambiguous = true
	case f.rawJSON != nil: // the first counts
	case !isText:
		f.rawJSON = &rawJSON{envelope: f.paramJSON}
	case f.textJSON != nil:
		f.rawJSON = &rawJSON{envelope: f.textJSON, isText: true}
	}
}

// mayPrecede reports whether a parameter after raw JSON may set the field of a concept. It cannot replace what the JSON says, unless the
// JSON may itself be a text that a person typed.
func (r *rawJSON) mayPrecede(c concept) bool {
	switch {
	case c == conceptJSON:
		return false
	case !c.identifies() && c != conceptKind:
		return true
	case r.isCut:
		return false
	default:
		return r.isText || r.envelope.says(c) == ""
	}
}

// markFollower marks the event as ambiguous because of a parameter after raw JSON, unless the JSON says the same.
func (f *fields) markFollower(c concept, value string) {
	switch {
	case c == conceptJSON && beginsObject(value):
		f.ambiguous = true
		f.textJSON = nil // either may be typed
	case c == conceptKind, c.identifies():
		text := f.rawJSON.envelope.says(c)
		if text == "" || conflicts(text, value) {
			f.ambiguous = true
		}
	}
}

// beginsObject reports whether a text begins like a JSON object with members, or like a list of such objects. People rarely type that: a
// quoted name needs a colon after it.
func beginsObject(text string) bool {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimPrefix(text, "["))
	text, isObject := strings.CutPrefix(text, "{")
	text, isQuoted := strings.CutPrefix(strings.TrimSpace(text), `"`)
	if !isObject || !isQuoted {
		return false
	}
	_, rest, hasEnd := strings.Cut(text, `"`)
	return !hasEnd || strings.HasPrefix(strings.TrimSpace(rest), ":")
}

// isEscaped reports whether a value was escaped as a whole: no byte in it has a meaning in JSON.
func isEscaped(value string) bool { return !strings.ContainsAny(value, "{}[]:,\"\\ ") }

// readObject reads the members of a JSON object as parameters, and what the object holds at the paths of the contract.
func (f *fields) readObject(raw []byte, members object) {
	f.rawJSON = nil
	if f.name != CallbackSMS {
		f.bodyJSON = readEnvelope(raw, members)
	}
	for _, m := range members {
		f.addMember(string(m.name), m.value)
		if f.count > f.maxParams {
			return
		}
	}
	found, repeats := f.paths.in(raw)
	if repeats {
		f.ambiguous = true
	}
	for i, value := range found {
		if value != nil {
			f.addMember(f.paths.texts[i], value)
		}
	}
}

// addMember adds a member of a JSON object.
func (f *fields) addMember(name string, raw json.RawMessage) {
	value, isNested := scalar(raw)
	if f.keep(name, value) {
		f.setAll(f.bindings[name], value, isNested)
	}
}

// setAll sets the fields to which a parameter is bound.
func (f *fields) setAll(bindings []binding, value string, isNested bool) {
	isMessage := false // it is the text that holds textJSON
	for _, b := range bindings {
		if !f.maySet(b.concept, isNested) {
			continue
		}
		if f.rawJSON != nil {
			f.markFollower(b.concept, value)
			if !f.rawJSON.mayPrecede(b.concept) {
				continue
			}
		}
		switch b.concept {
		case conceptJSON:
			isTyped := !isNested && isText(bindings)
			if isTyped {
				isMessage = f.setTextJSON(value)
			} else {
				f.setJSON(value)
			}
			f.set(b, value)
		case conceptText:
			f.setText(b, value, isMessage)
		case conceptStatus:
			f.setStatus(b, value)
		default:
			f.set(b, value)
		}
	}
}

// maySet reports whether a parameter may set the field of a concept. An object or a list sets nothing but JSON. A message of the platform names
// its sender itself, and perhaps twice: by number and by user ID.
func (f *fields) maySet(c concept, isNested bool) bool {
	switch c {
	case conceptJSON:
		return true
	case conceptFrom:
		return !isNested && !f.bodyJSON.isCertain()
	default:
		return !isNested
	}
}

// set sets a field. Of several names the first in the contract's list counts, and of several parameters with one name the first to
// arrive. A placeholder counts as absent.
func (f *fields) set(b binding, value string) {
	if isBlank(value) || value == f.placeholders[b.concept] {
		return
	}
	present := &f.values[b.concept]
	if b.concept.identifies() {
		if table.IsPlaceholder(value) {
			return
		}
		if conflicts(present.value, value) {
			f.ambiguous = true
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
	f.values[conceptText].replaceText(b, value)
	if !isMessage {
		f.flatText.replaceText(b, value)
	}
}

// replaceText is like replace, but white space counts only if there is no other text.
func (v *field) replaceText(b binding, value string) {
	wasBlank, isBlank := isBlank(v.value), isBlank(value)
	switch {
	case v.preference == 0, wasBlank == isBlank:
		v.replace(b, value)
	case wasBlank:
		*v = field{value, b.preference}
	}
}

// setStatus sets the status. The event is ambiguous if two statuses arrived, unless the contract prefers the one that it knows.
func (f *fields) setStatus(b binding, value string) {
	if isBlank(value) || value == f.placeholders[conceptStatus] {
		return
	}
	preferred, other := f.values[conceptStatus], field{value, b.preference}
	if f.replacesStatus(preferred, other) {
		preferred, other = other, preferred
	}
	f.values[conceptStatus] = preferred
	if f.contradictsStatus(preferred, other) {
		f.ambiguous = true
	}
}

// replacesStatus reports whether a further status counts instead of the present one. A word such as "null" counts only if there is no other.
func (f *fields) replacesStatus(present, further field) bool {
	wasWord, isWord := f.isStatusWord(present.value), f.isStatusWord(further.value)
	switch {
	case present.preference == 0:
		return true
	case wasWord != isWord:
		return isWord
	default:
		return further.preference < present.preference
	}
}

// contradictsStatus reports whether another status contradicts the preferred one. A word that the contract does not know is ignored if a
// preferred name has a word that it knows.
func (f *fields) contradictsStatus(preferred, other field) bool {
	if other.preference == 0 || !f.isStatusWord(preferred.value) || !f.isStatusWord(other.value) {
		return false
	}
	isIgnored := preferred.preference < other.preference && f.isKnownStatus(preferred.value) && !f.isKnownStatus(other.value)
	return !isIgnored && !f.sameStatus(preferred.value, other.value)
}

// isStatusWord reports whether a value is a status, known or not, and no placeholder.
func (f *fields) isStatusWord(value string) bool { return isStatus(f.status(value), value) }

func (f *fields) isKnownStatus(value string) bool { return f.status(value) != StatusUnknown }

// setJSON notes the platform's JSON in a parameter for it. Only the first object counts. If there is another, the event is ambiguous.
func (f *fields) setJSON(value string) {
	e := envelopeIn(value)
	if e == nil {
		return
	}
	if f.paramJSON != nil {
		if !bytes.Equal(e.raw, f.paramJSON.raw) {
			f.ambiguous = true
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
	if !e.isCertain() || len(e.messages) == 0 {
		return false
	}
	*e = e.asDistrusted()
	e.origin = originText
	f.textJSON = e
	return true
}

// text returns the text, which may be white space, and reports whether there is a text.
func (f *fields) text() (text string, found bool) {
	v := f.values[conceptText]
	if f.envelope.origin == originText { // the parameter that was read as JSON is no text
		v = f.flatText
	}
	return v.value, v.preference > 0
}

// compareOuter compares the parameters around a list of events with one of them. They set no field, but can contradict the event.
func (f *fields) compareOuter() {
	for _, p := range f.params[:f.outer] {
		for _, b := range f.bindings[p.Name] {
			value := f.values[b.concept].value
			isSilent := value == "" || isBlank(p.Value) || table.IsPlaceholder(p.Value)
			switch {
			case isSilent || !b.concept.identifies():
			case b.concept == conceptStatus:
				f.ambiguous = f.ambiguous || !f.sameStatus(value, p.Value)
			default:
				f.ambiguous = f.ambiguous || conflicts(value, p.Value)
			}
		}
	}
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
