package webhook

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// facts is what the parameters of one event say, by concept, and the object of the platform that counts beside them.
type facts struct {
	*callback
	arrival

	values    [numConcepts]string // the first value to arrive, other than those that stand for none
	ambiguous bool                // an identifying parameter arrived twice with different values, or JSON contradicts another
	envelope  envelope
}

// understand assigns each parameter to the concepts that it stands for, and chooses the object of the platform that counts.
func (c *callback) understand(a *arrival, found *objects) facts {
	f := facts{callback: c, arrival: *a, ambiguous: a.repeats || a.open}
	senderInBody := found.body.isCertain() // a message of the platform may name its sender twice, by number and by user ID
	for i := a.own; i < len(a.params); i++ {
		p := &a.params[i]
		for _, of := range c.concepts[p.Name] {
			switch {
			case of == conceptFrom && senderInBody && i >= a.inQuery:
			case a.origins[i].nested && of != conceptJSON: // JSON is no text, and no ID
			case (of.identifies() || of == conceptKind || of == conceptJSON) && a.origins[i].typed: // it never speaks for the service
			default:
				f.set(of, p.Value)
			}
		}
	}
	for _, p := range a.params[:a.own] { // they can only contradict the event
		for _, of := range c.concepts[p.Name] {
			if f.values[of] != "" {
				f.set(of, p.Value)
			}
		}
	}
	f.envelope = f.choose(found)
	switch {
	case f.envelope.tooLarge: // nothing of it is read
	case c.isChat():
		f.reconcile()
	case c.name == CallbackDelivery:
		f.dropForeign()
	}
	return f
}

// choose returns the object of the platform that counts: that of a parameter, or the body. JSON in a text comes last, since a person may
// have typed it: it counts only where no parameter names the sender, the ID or the kind, and never as a status.
func (f *facts) choose(found *objects) envelope {
	body := &found.body
	switch {
	case found.given.raw != nil:
		return found.given
	case body.raw != nil && (!body.single || body.isCertain() || body.messages[0].word("type") != ""):
		return *body
	case found.typed.raw != nil && f.values[conceptKind]+f.values[conceptFrom]+f.values[conceptID] == "":
		return found.typed
	default:
		return envelope{index: -1}
	}
}

// reconcile reduces JSON in a parameter of a chat app to what it may say beside other parameters: one message that agrees with
// them. What contradicts them makes the event ambiguous, and counts only where they say nothing.
func (f *facts) reconcile() {
	e := &f.envelope
	id, from := f.values[conceptID], f.values[conceptFrom]
	text, hasText := f.text(e.index)
	if e.index < 0 || e.typed || from == "" && isBlank(text) || e.isForeign() && e.other != "" {
		return
	}
	agrees := len(e.messages) == 1 && len(e.statuses) == 0 && e.broken == 0
	e.typed, e.statuses = true, nil
	if agrees {
		one := e.messages[0]
		kind := strings.ToLower(one.word("type"))
		agrees = !differ(id, one.id()) && !differ(from, one.from())
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
		*e = envelope{raw: e.raw, index: e.index, typed: true, single: true, messages: []item{{raw: e.raw}}, other: e.other}
	}
}

// dropForeign drops JSON in a parameter where others are a report by themselves: then the JSON is a parameter like any other, such as
// the text of the message.
func (f *facts) dropForeign() {
	e := f.envelope
	id, status := f.values[conceptID], f.values[conceptStatus]
	isReport := id+f.values[conceptReference] != "" && status != ""
	isOther := id != "" && (len(e.statuses) != 1 || differ(id, e.statuses[0].id()))
	if e.index < 0 || !isReport && !isOther {
		return
	}
	for _, one := range e.statuses {
		same := status == "" || f.sameStatus(status, one.word("status"))
		f.ambiguous = f.ambiguous || differ(id, one.id()) || !same
	}
	f.envelope = envelope{index: -1}
}

type concept int

const (
	conceptID concept = iota
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
	conceptJSON // a message or status in the shape of the platform
	numConcepts
)

// conceptKeys returns the names of the concepts in the contract, in the order of the constants.
func conceptKeys() []string {
	return strings.Fields("id from to text time reference operator keyword name kind " +
		"mediaURL mediaID mimeType caption fileName latitude longitude status json")
}

func (c concept) identifies() bool {
	return c == conceptID || c == conceptFrom || c == conceptTo || c == conceptReference || c == conceptStatus
}

// set sets the value of a concept, unless an earlier parameter did. A placeholder sets none but a status, and that one only
// for want of a better.
func (f *facts) set(c concept, value string) {
	first := &f.values[c]
	switch {
	case isBlank(value), value == f.placeholders[c]:
	case !c.identifies():
		if *first == "" {
			*first = value
		}
	case c != conceptStatus && table.IsPlaceholder(value):
	case *first == "", c == conceptStatus && !isStatus(f.status(*first), *first):
		*first = value
	case c == conceptStatus && !isStatus(f.status(value), value):
	case c == conceptStatus && f.sameStatus(*first, value):
	case differ(*first, value):
		f.ambiguous = true
	}
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

// text returns the text, which may be white space: the first to arrive that is not blank, or the first. It passes over the
// parameter with index except. The second result is false if there is none.
func (f *facts) text(except int) (text string, found bool) {
	if except < 0 && f.values[conceptText] != "" {
		return f.values[conceptText], true
	}
	for i, p := range f.params {
		isText := i >= f.own && i != except && slices.Contains(f.concepts[p.Name], conceptText) && !f.origins[i].nested
		if isText && (!found || isBlank(text) && !isBlank(p.Value)) {
			text, found = p.Value, true
		}
	}
	return text, found
}
