package webhook

import (
	"slices"
	"strings"
)

// Which source counts if several say something about one event:
//
//  1. JSON in a parameter that the contract names for it, before JSON in the body.
//  2. JSON in a text, which a person may have typed, only if no other parameter names the sender, the ID or the kind. It is never a
//     status or a notice of the platform.
//  3. Parameters before JSON, field by field. If they contradict each other, the event is ambiguous.
//  4. JSON in a parameter next to parameters that name the sender or hold a text counts only if it is one message that agrees with them.

// resolve decides what counts.
func (f *fields) resolve() {
	if f.values[conceptID].preference == 0 {
		f.values[conceptID] = f.values[conceptBareID]
	}
	f.chooseEnvelope()
	e := &f.envelope
	if e.origin != originParam || e.tooLarge {
		return
	}
	if f.isChat() {
		f.reconcile()
	}
	if f.name == CallbackDelivery && f.isReportWithout(e) {
		if f.contradictsStatusOf(e) {
			f.ambiguous = true
		}
		f.envelope = envelope{} // a parameter like any other, such as the text of the message
	}
}

// chooseEnvelope chooses the JSON that counts.
func (f *fields) chooseEnvelope() {
	named := f.values[conceptKind].value + f.values[conceptFrom].value + f.values[conceptID].value
	switch {
	case f.paramJSON != nil:
		f.envelope = *f.paramJSON
	case f.bodyJSON.isOfPlatform():
		f.envelope = *f.bodyJSON
	case f.textJSON != nil && named == "":
		f.envelope = *f.textJSON
	}
}

// reconcile keeps of JSON in a parameter only what agrees with the other parameters of a chat app.
func (f *fields) reconcile() {
	from := f.values[conceptFrom].value
	text, _ := f.text()
	isAlone := from == "" && isBlank(text)
	if isAlone {
		return // the JSON says everything
	}
	isAboutAccount := f.envelope.isEmpty() && isBlank(text)
	if isAboutAccount { // the parameters next to it say which
		f.envelope.isDistrusted = true
		return
	}
	agreement := f.agreementWith(&f.envelope)
	f.envelope.distrust()
	if agreement == agrees {
		return
	}
	f.ambiguous = true
	if agreement == disagrees && from != "" {
		f.envelope = f.envelope.asRawMessage()
	}
}

// asRawMessage returns the envelope of one message of which only the JSON is known.
func (e *envelope) asRawMessage() envelope {
	return envelope{
		raw:          e.raw,
		origin:       originParam,
		isDistrusted: true,
		isSingle:     true,
		messages:     []item{{raw: e.raw}},
	}
}

// An agreement says whether JSON in a parameter and the other parameters can be about one message.
type agreement int

const (
	disagrees agreement = iota
	mayAgree
	agrees
)

// agreementWith compares JSON with the other parameters. It agrees if it is one message that they do not contradict. A text may be the
// caption of a medium, or be the same as the text of the JSON. Next to any other kind it may have ended where the JSON begins.
func (f *fields) agreementWith(e *envelope) agreement {
	if len(e.messages) != 1 || e.size() != 1 {
		return disagrees
	}
	message := e.messages[0]
	if conflicts(f.values[conceptID].value, message.id) || conflicts(f.values[conceptFrom].value, message.from) {
		return disagrees
	}
	text, hasText := f.text()
	kind := strings.ToLower(message.kind)
	switch {
	case !hasText, kind == "", isMedia(kind):
		return agrees
	case kind == "text":
		body := message.object.object("text").word("body")
		hasOtherText := !isBlank(text) && body != "" && body != text
		if hasOtherText {
			return mayAgree
		}
		return agrees
	case isBlank(text):
		return mayAgree
	default:
		return disagrees
	}
}

// isReportWithout reports whether the other parameters are a report without the JSON, or one about another message.
func (f *fields) isReportWithout(e *envelope) bool {
	id := f.values[conceptID].value
	namesMessage := id != "" || f.values[conceptReference].value != ""
	if namesMessage && f.values[conceptStatus].value != "" {
		return true
	}
	return id != "" && (len(e.statuses) != 1 || conflicts(id, e.statuses[0].id))
}

// contradictsStatusOf reports whether the other parameters have another ID or status than one of the statuses in the JSON.
func (f *fields) contradictsStatusOf(e *envelope) bool {
	id := f.values[conceptID].value
	status := f.values[conceptStatus].value
	differs := func(one item) bool {
		hasOtherStatus := status != "" && !f.sameStatus(status, one.word("status"))
		return hasOtherStatus || conflicts(id, one.id)
	}
	return slices.ContainsFunc(e.statuses, differs)
}
