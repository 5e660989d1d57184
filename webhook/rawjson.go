package webhook

import (
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// rawJSON is JSON in a query or form that the sender did not escape:
//
//	payload={"type":"text","from":"1111","text":{"body":"Hi"}}&id=m-1
//
// The text of a person is part of it, so a person can type parameters. With the text
//
//	Hi&from=2222
//
// the JSON ends at the &, and from=2222 arrives as a parameter of its own. If the service does not escape quotes either, the text
//
//	Hi"}}&from=2222&x={"
//
// leaves complete JSON in front of it. So a parameter that follows raw JSON is treated as typed:
//
//  1. Further JSON never counts.
//  2. A parameter for the ID, the sender, the status or the kind of an event makes the event ambiguous, unless the JSON has the same value.
//     The parameter counts only if the JSON is complete and lacks the value, or is complete and may have been typed by a person as well.
//  3. Any other parameter counts.
type rawJSON struct {
	envelope *envelope // what the JSON says; nil for nothing
	isCut    bool      // the JSON is incomplete
	isText   bool      // a person may have typed the JSON itself, as a text
}

// A credibility says whether one meaning of a parameter that follows raw JSON can be believed.
type credibility struct {
	counts       bool // the parameter may set the field
	isSuspicious bool // a person may have typed the parameter, and the event is ambiguous
}

// judge decides about a parameter that follows the JSON and sets the field of a concept.
func (r *rawJSON) judge(c concept, value string) credibility {
	isIdentity := c.identifies() || c == conceptKind
	switch {
	case c == conceptJSON: // rule 1
		return credibility{counts: false, isSuspicious: beginsObject(value)}
	case isIdentity: // rule 2
		said := r.envelope.says(c)
		isSilent := said == ""
		return credibility{
			counts:       !r.isCut && (isSilent || r.isText),
			isSuspicious: isSilent || conflicts(said, value),
		}
	default: // rule 3
		return credibility{counts: true}
	}
}

// judgeParam decides about a parameter that follows raw JSON, and returns the bindings that count. The event is ambiguous if a person may have
// typed the parameter.
func (f *fields) judgeParam(bindings []binding, value string) (credible []binding) {
	for _, b := range bindings {
		c := f.rawJSON.judge(b.concept, value)
		if c.counts {
			credible = append(credible, b)
		}
		if !c.isSuspicious {
			continue
		}
		f.hasConflict = true
		if b.concept == conceptJSON { // a person may have typed either JSON, so neither is a message
			f.textJSON = nil
		}
	}
	return credible
}

// noteRawJSON notes that a parameter of a form is raw JSON, after the parameter has set its fields. Of complete JSON the first counts. Incomplete
// JSON makes the event ambiguous, and counts instead of any before it.
func (f *fields) noteRawJSON(bindings []binding, escaped, value string) {
	raw := f.rawJSONIn(bindings, escaped, value)
	switch {
	case raw == nil:
	case raw.isCut:
		f.rawJSON = raw
		f.hasConflict = true
	case f.rawJSON == nil:
		f.rawJSON = raw
	}
}

// rawJSONIn returns the raw JSON in a parameter of a form, or nil. Complete JSON in a text is an ordinary text unless it is a message.
func (f *fields) rawJSONIn(bindings []binding, escaped, value string) *rawJSON {
	isRaw := binds(bindings, conceptJSON) && beginsObject(value) && !isEscaped(escaped)
	if !isRaw {
		return nil
	}
	isCut := jsonscan.Check([]byte(value)) != nil
	mayBeText := binds(bindings, conceptText)
	switch {
	case isCut:
		return &rawJSON{isCut: true}
	case !mayBeText:
		return &rawJSON{envelope: f.paramJSON}
	case f.textJSON != nil:
		return &rawJSON{envelope: f.textJSON, isText: true}
	default:
		return nil
	}
}

// beginsObject reports whether a text begins like a JSON object with members, or like a list of such objects. People rarely type that: a
// quoted name needs a colon after it.
func beginsObject(text string) bool {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimPrefix(text, "["))
	text, hasBrace := strings.CutPrefix(text, "{")
	text, hasQuote := strings.CutPrefix(strings.TrimSpace(text), `"`)
	if !hasBrace || !hasQuote {
		return false
	}
	_, rest, hasEnd := strings.Cut(text, `"`)
	return !hasEnd || strings.HasPrefix(strings.TrimSpace(rest), ":")
}

// isEscaped reports whether a value was escaped as a whole: no byte in it has a meaning in JSON.
func isEscaped(value string) bool { return !strings.ContainsAny(value, "{}[]:,\"\\ ") }
