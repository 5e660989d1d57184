package learn

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// learnAccepted finds the known values of accepted responses in them.
func (l *learner) learnAccepted() error {
	for _, example := range l.examples.accepted {
		leaves := leavesOf(example.text)
		learn := l.learnAcceptedMembers
		if len(leaves) == 1 && leaves[0].path == "" {
			learn = l.learnAcceptedText
		}
		if err := learn(example); err != nil {
			return err
		}
	}
	response := l.overlay.Send.Response
	if response["id"] == nil {
		response["id"] = []string{} // the default paths may hold something else
	}
	return nil
}

// learnAcceptedMembers learns a response with members.
func (l *learner) learnAcceptedMembers(example *Example) error {
	leaves := leavesOf(example.text)
	if to := example.values["to"]; to != "" {
		if _, err := locate(leaves, "to", to); err != nil {
			return example.errorf("%w", err)
		}
	}
	reference := l.examples.request.values["reference"]
	if id := example.values["id"]; id != "" && id == reference {
		example.values["reference"] = id
	}
	found, err := example.locate(leaves, responseConcepts())
	if err != nil {
		return err
	}
	for concept, at := range found {
		l.overlay.Send.Response.add(concept, at.path)
	}
	l.learnReference(example, leaves, reference)
	return nil
}

// learnReference finds the reference of the message in the response. A response without an ID that repeats the reference names the message
// by it. If the response does not repeat it, but has something else at a default path of references, no path is read.
func (l *learner) learnReference(example *Example, leaves []leaf, reference string) {
	response := l.overlay.Send.Response
	found, err := locate(leaves, "reference", reference)
	isRepeated := reference != "" && err == nil
	switch {
	case isRepeated:
		response.add("reference", found.path)
		if example.values["id"] == "" {
			response.add("id", found.path)
		}
	case example.values["reference"] == "" && slices.ContainsFunc(leaves, l.isDefaultReference):
		response["reference"] = []string{}
	}
}

// isDefaultReference reports whether the default contract takes a value for the reference.
func (l *learner) isDefaultReference(at leaf) bool {
	return at.word != "" && slices.Contains(l.defaults.SMSSend.Response["reference"], at.path)
}

// learnAcceptedText learns a response that is a single text. The text before the ID means accepted.
func (l *learner) learnAcceptedText(example *Example) error {
	if err := example.checkText(); err != nil {
		return err
	}
	word := strings.TrimSpace(example.text)
	if id := example.values["id"]; id != "" {
		before, _, _ := strings.Cut(word, id)
		word = before + "*"
		l.overlay.note("the ID is within a text, where a contract cannot read it", sectionSend, "response", "id")
	}
	l.overlay.Send.Response.add("status", "")
	l.acceptWord(word)
	return nil
}

// checkText returns an error for a value that is not in the text, and for one that a contract cannot read there.
func (e *Example) checkText() error {
	for _, concept := range append([]string{"status", "to"}, responseConcepts()...) {
		value := e.values[concept]
		isRead := slices.Contains([]string{"id", "status", "to"}, concept)
		switch {
		case value == "":
		case !strings.Contains(e.text, value):
			return e.errorf("nothing in the example has the value of %s, %q", concept, value)
		case !isRead:
			return e.errorf("%s: %q is within a text, where a contract cannot read it: remove the line", concept, value)
		}
	}
	return nil
}

// acceptWord adds a word that means accepted to those of the default contract.
func (l *learner) acceptWord(word string) {
	send := &l.overlay.Send
	if send.Accepted == nil {
		send.Accepted = slices.Clone(l.defaults.SMSSend.Accepted)
	}
	if table.Match(send.Accepted, word, true) < 0 {
		send.Accepted = append(send.Accepted, word)
	}
}

// refuseWord adds a word that means refused, and removes it from the words that mean accepted.
func (l *learner) refuseWord(word string) {
	send := &l.overlay.Send
	send.Refused = appendNew(send.Refused, word)
	isWord := func(other string) bool { return strings.EqualFold(other, word) }
	send.Accepted = slices.DeleteFunc(send.Accepted, isWord)
}
