package learn

import (
	"cmp"
	"slices"
	"strings"
)

// sendStatus learns where responses to a send have their status, and its words.
type sendStatus struct {
	examples *Examples
	overlay  *overlay
	finder   statusFinder
}

func newSendStatus(examples *Examples, o *overlay) sendStatus {
	finder := statusFinder{examples: examples, response: o.Send.Response, codes: codes{examples: examples, overlay: o}}
	return sendStatus{examples: examples, overlay: o, finder: finder}
}

// learn finds the status of an accepted response, and learns the words that accept and refuse a message.
func (s sendStatus) learn() error {
	if err := s.checkRefused(); err != nil {
		return err
	}
	if s.overlay.Send.Response["status"] != nil { // a text
		return s.refuseTexts()
	}
	best, isFound := s.finder.find()
	if !isFound {
		return s.explainNone()
	}
	s.overlay.Send.Response["status"] = []string{best.path}
	for _, word := range best.words {
		s.overlay.acceptWord(word)
	}
	for _, word := range best.refusals {
		s.overlay.refuseWord(word)
	}
	s.refuseWords(best.path)
	s.overlay.note("the examples show "+strings.Join(best.words, ", ")+": look up the other words of "+best.path, sectionSend, "accepted")
	s.overlay.note(keptAccepted, sectionSend, "accepted")
	return nil
}

// keptAccepted says why the default words of a send stay in force.
const keptAccepted = "the rest are defaults, which stay: an unknown word leaves the outcome of a send unknown"

// checkRefused returns an error for a refusal without the status that it names.
func (s sendStatus) checkRefused() error {
	for _, example := range s.examples.refused {
		status := example.values["status"]
		if status == "" {
			continue
		}
		if _, err := locate(leavesOf(example.text), "status", status); err != nil {
			return example.errorf("%w", err)
		}
	}
	return nil
}

// refuseTexts learns the texts that refusals name as their status. The status of a service that accepts by a text is the whole text.
func (s sendStatus) refuseTexts() error {
	for _, example := range s.examples.refused {
		status := example.values["status"]
		if status == "" {
			continue
		}
		if wordAt(example.text, "") != status {
			return example.errorf("the status %q is a member here, but an accepted response is a text", status)
		}
		s.overlay.refuseWord(status)
	}
	return nil
}

// refuseWords learns the words that refusals have at the path of the status. The HTTP status of a refusal may be enough for the response, but a
// row of the listing has only the word.
func (s sendStatus) refuseWords(path string) {
	for _, example := range s.examples.refused {
		word := wordAt(example.text, path)
		isNamed := example.values["status"] != ""
		if isNamed || s.meansRefused(word, example) {
			s.overlay.refuseWord(word)
		}
	}
}

// meansRefused reports whether the word of the status in a refusal with HTTP 4xx says that the message was refused. The HTTP status, another
// number and a word that accepts messages do not. For a refusal with HTTP 2xx, see readWords.
func (s sendStatus) meansRefused(word string, example *Example) bool {
	isClientError := example.status/100 == 4
	isWord := strings.ContainsFunc(word, isLetter)
	accepted, _ := s.overlay.sendWords()
	isAccepted := hasWord(accepted, word)
	return isClientError && isWord && !isAccepted
}

// explainNone returns an error if the examples name a status, and nil otherwise.
func (s sendStatus) explainNone() error {
	example := cmp.Or(withStatus(s.examples.accepted), withStatus(s.examples.refused))
	if example == nil {
		return nil
	}
	found, err := locate(leavesOf(example.text), "status", example.values["status"])
	if err != nil {
		return example.errorf("%w", err)
	}
	reason := "it is the value of another line, another accepted response has another value there, or a refusal has the same one"
	if example.kind == kindRefused {
		reason = "an accepted response has the same value there or none, or it is the value of another line"
	}
	return example.errorf("the status %q, at %s, is not that of the response: %s", found.word, found.path, reason)
}

// withStatus returns the first example with a known status, or nil.
func withStatus(examples []*Example) *Example {
	for _, example := range examples {
		if example.values["status"] != "" {
			return example
		}
	}
	return nil
}

// noteRefusedWords adds a comment if the refusals in the examples have no word of the status. It is printed if rows have a send status.
func (s sendStatus) noteRefusedWords() {
	paths := s.overlay.Send.Response["status"]
	isLearned := s.overlay.Send.Refused != nil
	if len(paths) == 0 || len(s.examples.refused) == 0 || isLearned {
		return
	}
	path := paths[0]
	hasWord := func(example *Example) bool { return strings.ContainsFunc(wordAt(example.text, path), isLetter) }
	isText := path == ""
	if isText || !slices.ContainsFunc(s.examples.accepted, hasWord) {
		return
	}
	note := s.overlay.note
	if len(s.overlay.List.Record["sendStatus"]) > 0 {
		note = s.overlay.warn
	}
	note("no refusal in the examples has a word at "+path+": look up which words there mean refused; without them a refused row of the listing "+
		"counts as accepted", sectionSend, "refused")
}
