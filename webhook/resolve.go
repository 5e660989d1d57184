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

// A decision says what counts of several sources.
type decision struct {
	envelope    envelope // the JSON that counts, or what is left of it
	isAmbiguous bool     // the sources, or parameters, contradict each other
}

// resolve applies the rules. Events are made of the fields and the decision.
func (f *fields) resolve() decision {
	d := f.decide(f.candidate())
	d.isAmbiguous = d.isAmbiguous || f.hasConflict
	return d
}

// candidate returns the JSON that counts if the parameters next to it agree: rules 1 and 2.
func (f *fields) candidate() envelope {
	bodyShape := shapeOf(f.bodyJSON)
	isBodyOfPlatform := bodyShape != shapeNone && bodyShape != shapeOther // a kind suffices, because a person cannot type a body
	isNamed := f.value(conceptKind) != "" || f.value(conceptFrom) != "" || f.id() != ""
	switch {
	case f.paramJSON != nil:
		return *f.paramJSON
	case isBodyOfPlatform:
		return *f.bodyJSON
	case f.textJSON != nil && !isNamed:
		return *f.textJSON
	default:
		return envelope{}
	}
}

// decide decides how much of the JSON counts. Only JSON in a parameter has to agree with other parameters. SMS has no parameter for JSON.
func (f *fields) decide(e envelope) decision {
	isNextToParams := e.origin == originParam && !e.isTooLarge
	switch {
	case !isNextToParams:
		return decision{envelope: e}
	case f.callback.isChat():
		return f.decideMessage(e)
	default:
		return f.decideReport(e)
	}
}

// decideMessage decides about JSON next to the parameters of a chat app: rules 3 and 4.
func (f *fields) decideMessage(e envelope) decision {
	hasFrom := f.has(conceptFrom)
	hasText := !isBlank(f.value(conceptText))
	isAlone := !hasFrom && !hasText
	if isAlone { // the JSON says everything
		return decision{envelope: e}
	}
	isNotice := e.isEmpty() && !hasText
	if isNotice { // the parameters say which account it is about
		e.isDistrusted = true
		return decision{envelope: e}
	}
	agreement := f.agreementWith(&e)
	isOtherMessage := agreement == disagrees && hasFrom
	if isOtherMessage { // the parameters are the message; the JSON is kept whole, and none of its fields count
		return decision{envelope: e.asRawMessage(), isAmbiguous: true}
	}
	return decision{envelope: e.asDistrusted(), isAmbiguous: agreement != agrees}
}

// decideReport decides about JSON next to the parameters of a delivery report. If they are the report, the JSON is a parameter like any
// other, such as the text of the message.
func (f *fields) decideReport(e envelope) decision {
	if f.isReportWithout(&e) {
		return decision{isAmbiguous: f.contradictsStatusOf(&e)}
	}
	return decision{envelope: e}
}

// asRawMessage returns the envelope of one message of which only the JSON is known.
func (e *envelope) asRawMessage() envelope {
	return envelope{
		raw:          e.raw,
		origin:       originParam,
		isDistrusted: true,
		shape:        shapeOther,
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
// caption of a medium, or be the same as the text of the JSON. A message of any other kind has no text. A blank text may still agree, because the
// text of a person may have ended where the JSON begins.
func (f *fields) agreementWith(e *envelope) agreement {
	if len(e.messages) != 1 || e.size() != 1 {
		return disagrees
	}
	message := e.messages[0]
	if conflicts(f.id(), message.id) || conflicts(f.value(conceptFrom), message.from) {
		return disagrees
	}
	text := f.value(conceptText)
	kind := strings.ToLower(message.kind)
	switch {
	case !f.has(conceptText), kind == "", isMedia(kind):
		return agrees
	case kind == "text":
		body, _ := message.members.object("text").text("body")
		hasOtherText := !isBlank(text) && !isBlank(body) && body != text
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
	id := f.id()
	namesMessage := id != "" || f.value(conceptReference) != ""
	if namesMessage && f.value(conceptStatus) != "" {
		return true
	}
	return id != "" && (len(e.statuses) != 1 || conflicts(id, e.statuses[0].id))
}

// contradictsStatusOf reports whether the other parameters have another ID or status than one of the statuses in the JSON.
func (f *fields) contradictsStatusOf(e *envelope) bool {
	id := f.id()
	status := f.value(conceptStatus)
	differs := func(one item) bool {
		hasOtherStatus := status != "" && !f.callback.receiver.sameStatus(status, one.members.word("status"))
		return hasOtherStatus || conflicts(id, one.id)
	}
	return slices.ContainsFunc(e.statuses, differs)
}
