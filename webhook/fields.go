package webhook

import (
	"encoding/json"
	"strings"
)

// fields holds the parameters of one event, and their values by concept. They do not change once they are read: resolve.go decides between
// parameters and JSON in the shape of the platform, and returns what counts.
type fields struct {
	callback *callback // says what a parameter means

	params      Params // of the query, then of the body
	outer       int    // how many of params are outside the JSON object: if it is of a list, they belong to no event of the list
	count       int    // of all parameters, including those beyond the limit
	query       string // byte for byte, without secrets
	hasConflict bool   // two parameters contradict each other, or a person may have typed one

	byConcept [numConcepts]field
	otherText field // the text without the parameter that holds textJSON

	bodyJSON  *envelope // the body, or one event of its list
	paramJSON *envelope // the first parameter for JSON that holds an object
	textJSON  *envelope // the first text that holds a message of the platform, which a person may have typed
	rawJSON   *rawJSON  // of the form that is being read; nil for none
}

// readForm reads the parameters of a query or form.
//
// Unlike net/url it tolerates senders that do not escape: a semicolon is data, a % that escapes nothing stays, and each byte that is not
// part of valid UTF-8 is read as Windows-1252. Nothing is decoded twice.
func (f *fields) readForm(form string) {
	f.rawJSON = nil // raw JSON in the query says nothing about the body
	if form == "" {
		return
	}
	f.makeRoom(strings.Count(form, "&") + 1)
	for pair := range strings.SplitSeq(form, "&") {
		if f.count > f.callback.receiver.maxParams {
			return
		}
		if pair == "" {
			continue
		}
		name, escaped, _ := strings.Cut(pair, "=")
		name = decode(name)
		if f.callback.receiver.isSecret(name) {
			f.count++
			continue
		}
		f.addParam(name, escaped)
	}
}

// addParam adds a parameter of a query or form. After raw JSON not every binding is credible, and the parameter may be raw JSON itself (see
// rawJSON).
func (f *fields) addParam(name, escaped string) {
	value := decode(escaped)
	if !f.keep(name, value) {
		return
	}
	bindings := f.callback.bindings[name]
	credible := bindings
	if f.rawJSON != nil {
		credible = f.judgeParam(bindings, value)
	}
	f.setAll(credible, value, false)
	f.noteRawJSON(bindings, escaped, value)
}

// makeRoom makes room for more parameters, up to the limit.
func (f *fields) makeRoom(count int) {
	room := min(count, f.callback.receiver.maxParams)
	params := make(Params, len(f.params), len(f.params)+room)
	copy(params, f.params)
	f.params = params
}

// keep keeps a parameter, unless there are too many.
func (f *fields) keep(name, value string) bool {
	f.count++
	if f.count > f.callback.receiver.maxParams {
		return false
	}
	f.params = append(f.params, Param{Name: name, Value: value})
	return true
}

// readObject reads a JSON object: as JSON in the shape of the platform, its members as parameters, and the parameters that the contract has at
// paths within it.
func (f *fields) readObject(raw []byte, members object) {
	f.rawJSON = nil
	f.outer = len(f.params)
	if f.callback.name != CallbackSMS {
		f.bodyJSON = readEnvelope(raw, members)
	}
	f.makeRoom(len(members))
	for _, m := range members {
		f.addMember(string(m.name), m.value)
		if f.count > f.callback.receiver.maxParams {
			return
		}
	}
	values, repeats := f.callback.paramPaths.find(raw)
	if repeats {
		f.hasConflict = true
	}
	for i, value := range values {
		if value != nil {
			f.addMember(f.callback.paramPaths.texts[i], value)
		}
	}
}

// addMember adds a member of a JSON object.
func (f *fields) addMember(name string, raw json.RawMessage) {
	value, isNested := scalar(raw)
	if f.keep(name, value) {
		f.setAll(f.callback.bindings[name], value, isNested)
	}
}

// setAll sets the fields to which a parameter is bound. The JSON in its value is noted first: a text that holds a message is set in another way.
func (f *fields) setAll(bindings []binding, value string, isNested bool) {
	isMessage := f.noteJSON(bindings, value, isNested)
	for _, b := range bindings {
		if f.maySet(b.concept, isNested) {
			f.set(b, value, isMessage)
		}
	}
}

// noteJSON notes the JSON in the value of a parameter that may hold JSON. It reports whether the value is a text that holds textJSON.
func (f *fields) noteJSON(bindings []binding, value string, isNested bool) (isMessage bool) {
	mayBeText := !isNested && binds(bindings, conceptText)
	switch {
	case !binds(bindings, conceptJSON):
		return false
	case mayBeText:
		return f.setTextJSON(value)
	default:
		f.setJSON(value)
		return false
	}
}

// maySet reports whether a parameter may set the field of a concept. An object or a list sets nothing but JSON. A message of the platform names
// its sender itself, and perhaps twice: by number and by user ID.
func (f *fields) maySet(c concept, isNested bool) bool {
	switch c {
	case conceptJSON:
		return true
	case conceptFrom:
		return !isNested && !f.bodyJSON.holdsItems()
	default:
		return !isNested
	}
}

// set sets the field of one concept, by the rule of the concept for values that arrive twice.
func (f *fields) set(b binding, value string, isMessage bool) {
	switch b.concept {
	case conceptText:
		f.setText(b, value, isMessage)
	case conceptStatus:
		f.setStatus(b, value)
	default:
		f.setValue(b, value)
	}
}
