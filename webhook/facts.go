package webhook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// facts is what the parameters of one event say, by concept. A concept is set when its parameter arrives.
type facts struct {
	*callback

	params    Params // those of the query, then those of the body
	around    int    // how many of params come before a list of events: they can only contradict an event of it
	count     int    // of all parameters, kept or not
	query     string // byte for byte, without secrets
	ambiguous bool   // an identifying parameter arrived twice with different values, or JSON contradicts another
	isCut     bool   // JSON in this query or form was not escaped, so a person may have typed the parameters after it

	values    [numConcepts]fact
	plainText fact // the text, of parameters other than the one that typed was in

	body     *envelope // the body, or one event of its list
	given    *envelope // of the first parameter for JSON that holds an object
	typed    *envelope // of the first text that holds a message, which a person may have typed
	envelope envelope  // the one that counts
}

// fact is the value of a concept.
type fact struct {
	value string
	rank  int // of the parameter's name in the contract, counted from 1; 0 if there is no value
}

// use is what a parameter stands for.
type use struct {
	concept concept
	rank    int // of its name in the list of the contract, counted from 1
}

type concept int

const (
	conceptJSON concept = iota // a message or status in the shape of the platform; it comes before the text, so that setText knows whether the text is JSON
	conceptID
	conceptFrom
	conceptTo
	conceptText
	conceptTime
	conceptReference
	conceptOperator
	conceptKeyword
	conceptName
	conceptKind
	conceptMediaURL
	conceptMediaID
	conceptMIMEType
	conceptCaption
	conceptFileName
	conceptLatitude
	conceptLongitude
	conceptStatus
	conceptErrorCode
	conceptErrorText
	conceptCost
	conceptCurrency
	conceptCategory
	conceptBillable
	conceptBareID // a parameter with the name id, which may be that of the event or of the message
	numConcepts
)

// conceptKeys returns the names of the concepts in the contract, in the order of the constants.
func conceptKeys() []string {
	return strings.Fields("json id from to text time reference operator keyword name kind " +
		"mediaURL mediaID mimeType caption fileName latitude longitude status " +
		"errorCode errorText cost currency category billable")
}

func (c concept) identifies() bool {
	switch c {
	case conceptID, conceptBareID, conceptFrom, conceptTo, conceptReference, conceptStatus:
		return true
	default:
		return false
	}
}

// readForm reads the parameters of a query or form, and returns it without those that hold secrets, otherwise byte for byte.
// It is what net/url does, but for senders that do not escape: a semicolon is data, a % that escapes nothing stays, and
// each byte that is not part of valid UTF-8 is read as Windows-1252. Nothing is decoded twice.
func (f *facts) readForm(form string) string {
	var kept []string // what holds no secret, if anything does
	begin := 0        // of what may still be kept
	f.isCut = false   // what a person may have typed into the query says nothing about the body
	for at := 0; at < len(form) && f.count <= f.maxParams; {
		end := len(form)
		if i := strings.IndexByte(form[at:], '&'); i >= 0 {
			end = at + i
		}
		name, escaped, _ := strings.Cut(form[at:end], "=")
		name = decode(name)
		switch {
		case at == end:
		case f.isSecret(name):
			f.count++
			if begin < at {
				kept = append(kept, form[begin:at-1])
			}
			begin = end + 1
		default:
			f.add(name, escaped)
		}
		at = end + 1
	}
	if begin == 0 {
		return form
	}
	if begin < len(form) {
		kept = append(kept, form[begin:])
	}
	return strings.Join(kept, "&")
}

// add adds a parameter of a query or form.
func (f *facts) add(name, escaped string) {
	value := decode(escaped)
	if !f.keep(name, value) {
		return
	}
	uses := f.concepts[name]
	for _, u := range uses {
		speaksForService := u.concept.identifies() || u.concept == conceptKind || u.concept == conceptJSON
		if f.isCut && speaksForService {
			continue
		}
		if u.concept == conceptJSON {
			f.addEnvelope(value, isText(uses))
		}
		f.set(u, value)
	}
	if len(uses) > 0 && uses[0].concept == conceptJSON && isCut(uses, escaped, value) {
		f.isCut = true
		f.ambiguous = true
	}
}

// keep keeps a parameter, unless there are too many.
func (f *facts) keep(name, value string) bool {
	if f.count++; f.count > f.maxParams {
		return false
	}
	f.params = append(f.params, Param{Name: name, Value: value})
	return true
}

// isCut reports whether a parameter for JSON begins like an object that was not escaped and has no end, because the first & in it ended
// the parameter.
func isCut(uses []use, escaped, value string) bool {
	mayBeCut := !isText(uses) || !isEscaped(escaped)
	return mayBeCut && beginsObject(value) && jsonscan.Check([]byte(value)) != nil
}

// beginsObject reports whether a text begins like a JSON object with members, or like a list of such, as no person would type it: a
// name that has an end has a colon after it.
func beginsObject(text string) bool {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimPrefix(text, "["))
	text, isObject := strings.CutPrefix(text, "{")
	text, hasName := strings.CutPrefix(strings.TrimSpace(text), `"`)
	_, rest, hasEnd := strings.Cut(text, `"`)
	return isObject && hasName && (!hasEnd || strings.HasPrefix(strings.TrimSpace(rest), ":"))
}

// isEscaped reports whether a value was escaped as a whole: no byte in it means anything in JSON.
func isEscaped(value string) bool { return !strings.ContainsAny(value, "{}[]:,\"\\ ") }

// readObject reads the members of a JSON object as parameters, and what it holds at the paths that the contract names.
func (f *facts) readObject(raw []byte, members object) {
	if f.name != CallbackSMS {
		f.body = readEnvelope(raw, members)
	}
	for _, m := range members {
		if f.addJSON(string(m.name), m.value); f.count > f.maxParams {
			return
		}
	}
	found, repeats := f.paths.in(raw)
	f.ambiguous = f.ambiguous || repeats
	for i, value := range found {
		if value != nil {
			f.addJSON(f.paths.texts[i], value)
		}
	}
	for i := range f.positions {
		f.ambiguous = f.ambiguous || f.positions[i].isOneOf(raw)
	}
}

// addJSON adds a member of a JSON object. An object or a list is no text and no ID.
func (f *facts) addJSON(name string, raw json.RawMessage) {
	value, nested := scalar(raw)
	if !f.keep(name, value) {
		return
	}
	for _, u := range f.concepts[name] {
		switch {
		case nested && u.concept != conceptJSON:
		case u.concept == conceptFrom && f.body.isCertain(): // a message of the platform may name its sender twice, by number and by user ID
		default:
			if u.concept == conceptJSON {
				f.addEnvelope(value, isText(f.concepts[name]) && !nested)
			}
			f.set(u, value)
		}
	}
}

// isText reports whether a parameter may be the text.
func isText(uses []use) bool {
	return slices.ContainsFunc(uses, func(u use) bool { return u.concept == conceptText })
}

// set sets a concept to the value of a parameter, unless there is a better one: of several names the first in the list of the contract
// counts, and of several parameters with one name the first to arrive. A placeholder counts as absent.
func (f *facts) set(u use, value string) {
	switch {
	case u.concept == conceptText:
		f.setText(u, value)
		return
	case u.concept == conceptStatus:
		f.setStatus(u, value)
		return
	case isBlank(value), value == f.placeholders[u.concept]:
		return
	case u.concept.identifies() && table.IsPlaceholder(value):
		return
	case u.concept.identifies() && differ(f.values[u.concept].value, value):
		f.ambiguous = true
	}
	f.values[u.concept].improve(u, value)
}

// improve takes a value if it is the first, or if its name comes first in the contract.
func (one *fact) improve(u use, value string) {
	if one.rank == 0 || u.rank < one.rank {
		*one = fact{value, u.rank}
	}
}

// setText sets the text. One of white space counts only if there is no other.
func (f *facts) setText(u use, value string) {
	improve := func(text *fact) {
		isBetter := isBlank(text.value) && !isBlank(value)
		isWorse := !isBlank(text.value) && isBlank(value)
		switch {
		case text.rank == 0, isBetter:
			*text = fact{value, u.rank}
		case !isWorse:
			text.improve(u, value)
		}
	}
	improve(&f.values[conceptText])
	isTyped := f.typed != nil && f.typed.param == len(f.params)
	if !isTyped {
		improve(&f.plainText)
	}
}

// setStatus sets the status. A placeholder counts only if there is no other, and of two names an unknown word of the later one does not
// count.
func (f *facts) setStatus(u use, value string) {
	if isBlank(value) || value == f.placeholders[conceptStatus] {
		return
	}
	first := &f.values[conceptStatus]
	before, meaning := f.status(first.value), f.status(value)
	hadStatus, hasStatus := isStatus(before, first.value), isStatus(meaning, value)
	switch {
	case first.rank == 0, hasStatus && !hadStatus:
		*first = fact{value, u.rank}
	case hadStatus && !hasStatus:
	case u.rank > first.rank && meaning == StatusUnknown && before != StatusUnknown:
	case u.rank < first.rank && meaning != StatusUnknown && before == StatusUnknown:
		*first = fact{value, u.rank}
	default:
		f.ambiguous = f.ambiguous || hasStatus && !f.sameStatus(first.value, value)
		first.improve(u, value)
	}
}

// addEnvelope notes the object of the platform in the parameter that was kept last, which may be a text. Only the first of its kind
// counts.
func (f *facts) addEnvelope(value string, isText bool) {
	if f.given != nil || isText && f.typed != nil {
		return
	}
	e := envelopeIn(value)
	switch {
	case e == nil:
	case !isText:
		e.inParam = true
		f.given = e
	case e.isCertain() && len(e.messages) > 0:
		e.inParam = true
		e.param = len(f.params)
		e.distrust()
		f.typed = e
	}
}

// text returns the text, which may be white space. The second result is false if there is none.
func (f *facts) text() (text string, found bool) {
	one := f.values[conceptText]
	if f.envelope.param > 0 { // the parameter that was read as JSON is no text
		one = f.plainText
	}
	return one.value, one.rank > 0
}

// contradict compares the parameters around a list of events with one of them.
func (f *facts) contradict() {
	for _, p := range f.params[:f.around] {
		for _, u := range f.concepts[p.Name] {
			value := f.values[u.concept].value
			switch {
			case value == "" || isBlank(p.Value) || !u.concept.identifies() || table.IsPlaceholder(p.Value):
			case u.concept == conceptStatus:
				f.ambiguous = f.ambiguous || !f.sameStatus(value, p.Value)
			default:
				f.ambiguous = f.ambiguous || differ(value, p.Value)
			}
		}
	}
}

// conclude settles what the parameters say together. A bare id yields to any other name of the message ID.
func (f *facts) conclude() {
	if f.values[conceptID].rank == 0 {
		f.values[conceptID] = f.values[conceptBareID]
	}
	f.choose()
	e := &f.envelope
	switch {
	case e.tooLarge, !e.inParam, e.param > 0: // nothing of it is read, or no other parameter contradicts it
	case f.isChat():
		f.reconcile()
	case f.name == CallbackDelivery:
		f.dropForeign()
	}
}

// choose chooses the object of the platform that counts: that of a parameter, or the body. JSON in a text comes last, since a person may
// have typed it: it counts only where no parameter names the sender, the ID or the kind, and never as a status.
func (f *facts) choose() {
	isAnonymous := f.values[conceptKind].value+f.values[conceptFrom].value+f.values[conceptID].value == ""
	switch body := f.body; {
	case f.given != nil:
		f.envelope = *f.given
	case body != nil && (!body.single || body.isCertain() || body.messages[0].kind != ""):
		f.envelope = *body
	case f.typed != nil && isAnonymous:
		f.envelope = *f.typed
	}
}

// reconcile reduces JSON in a parameter of a chat app to what it may say beside other parameters: one message that agrees with
// them. What contradicts them makes the event ambiguous, and counts only where they say nothing.
func (f *facts) reconcile() {
	e := &f.envelope
	id, from := f.values[conceptID].value, f.values[conceptFrom].value
	text, hasText := f.text()
	if from == "" && isBlank(text) {
		return
	}
	if e.isEmpty() && isBlank(text) { // the parameters say what the envelope is about
		e.isDistrusted = true
		return
	}
	agrees := len(e.messages) == 1 && len(e.statuses)+len(e.others)+e.broken == 0
	e.distrust()
	if agrees {
		one := e.messages[0]
		kind := strings.ToLower(one.kind)
		agrees = !differ(id, one.id) && !differ(from, one.from)
		switch {
		case !hasText, kind == "", isMedia(kind):
		case kind == "text":
			body := one.object.object("text").word("body")
			f.ambiguous = f.ambiguous || !isBlank(text) && body != "" && body != text
		default: // the text may have ended where the JSON begins
			f.ambiguous = true
			agrees = agrees && isBlank(text)
		}
	}
	f.ambiguous = f.ambiguous || !agrees
	if !agrees && from != "" {
		*e = envelope{raw: e.raw, inParam: true, isDistrusted: true, single: true, messages: []item{{raw: e.raw}}}
	}
}

// dropForeign drops JSON in a parameter where others are a report by themselves: then the JSON is a parameter like any other, such as
// the text of the message.
func (f *facts) dropForeign() {
	e := f.envelope
	id, status := f.values[conceptID].value, f.values[conceptStatus].value
	isReport := id+f.values[conceptReference].value != "" && status != ""
	isOther := id != "" && (len(e.statuses) != 1 || differ(id, e.statuses[0].id))
	if !isReport && !isOther {
		return
	}
	for _, one := range e.statuses {
		same := status == "" || f.sameStatus(status, one.word("status"))
		f.ambiguous = f.ambiguous || differ(id, one.id) || !same
	}
	f.envelope = envelope{}
}

// differ reports whether two values of an identifying parameter, neither of which is blank, are different. A number may come
// with and without a +, and with characters between its digits.
func differ(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	a, b = strings.TrimLeft(number(a), "+"), strings.TrimLeft(number(b), "+")
	if looksLikePhoneNumber(a) && looksLikePhoneNumber(b) {
		a, b = digits(a), digits(b)
	}
	return a != b
}
