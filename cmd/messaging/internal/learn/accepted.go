package learn

import (
	"slices"
	"strings"
)

// acceptedResponses learns where accepted responses have the ID of the message and other values.
type acceptedResponses struct {
	examples *Examples
	overlay  *overlay
}

// learn finds the known values of accepted responses in them.
func (a acceptedResponses) learn() error {
	for _, example := range a.examples.accepted {
		leaves := leavesOf(example.text)
		isText := len(leaves) == 1 && leaves[0].path == ""
		var err error
		if isText {
			err = a.learnText(example)
		} else {
			err = a.learnMembers(example, leaves)
		}
		if err != nil {
			return err
		}
	}
	response := a.overlay.Send.Response
	if response["id"] == nil {
		response["id"] = []string{} // the default paths may hold something else
	}
	return nil
}

// learnMembers learns a response with members.
func (a acceptedResponses) learnMembers(example *Example, leaves []leaf) error {
	if to := example.values["to"]; to != "" {
		if _, err := locate(leaves, "to", to); err != nil {
			return example.errorf("%w", err)
		}
	}
	reference := a.examples.request.values["reference"]
	if id := example.values["id"]; id != "" && id == reference {
		example.values["reference"] = id
	}
	found, err := example.locate(leaves, responseConcepts())
	if err != nil {
		return err
	}
	for concept, at := range found {
		a.overlay.Send.Response.add(concept, at.path)
	}
	a.learnReference(example, leaves, reference)
	return nil
}

// learnReference finds the reference of the message in the response. A response without an ID that repeats the reference names the message
// by it. If the response does not repeat it, but has something else at a default path of references, no path is read.
func (a acceptedResponses) learnReference(example *Example, leaves []leaf, reference string) {
	response := a.overlay.Send.Response
	found, isRepeated := find(leaves, "reference", reference)
	switch {
	case isRepeated:
		response.add("reference", found.path)
		if example.values["id"] == "" {
			response.add("id", found.path)
		}
	case example.values["reference"] == "" && slices.ContainsFunc(leaves, a.isDefaultReference):
		response["reference"] = []string{}
	}
}

// isDefaultReference reports whether the default contract takes a value for the reference.
func (a acceptedResponses) isDefaultReference(at leaf) bool {
	return at.word != "" && slices.Contains(a.overlay.defaults.SMSSend.Response["reference"], at.path)
}

// learnText learns a response that is a single text. The text before the ID means accepted.
func (a acceptedResponses) learnText(example *Example) error {
	if err := example.checkText(); err != nil {
		return err
	}
	word := strings.TrimSpace(example.text)
	if id := example.values["id"]; id != "" {
		before, _, _ := strings.Cut(word, id)
		word = before + "*"
		a.overlay.note("the ID is within a text, where a contract cannot read it", sectionSend, "response", "id")
	}
	a.overlay.Send.Response.add("status", "")
	a.overlay.acceptWord(word)
	a.overlay.note(keptAccepted, sectionSend, "accepted")
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
