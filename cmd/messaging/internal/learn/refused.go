package learn

import (
	"slices"
	"strings"
)

// refusals learns the errors of a service: where refusals have a code, a sentence and the ID of the request, and the codes of each class.
// Accepted responses show the codes of success.
type refusals struct {
	examples *Examples
	overlay  *overlay
	codes    codes

	codePaths    []string // where responses have their codes
	messagePaths []string // where they have a sentence
	requestPaths []string // where they have the ID of the request
	classes      lists    // the codes of each class
	success      []string // the codes of success
	withoutCode  []string // the lines of the examples whose code was not found
}

func newRefusals(examples *Examples, o *overlay) *refusals {
	return &refusals{
		examples: examples,
		overlay:  o,
		codes:    codes{examples: examples, overlay: o},
		classes:  lists{},
		success:  slices.Clone(o.defaults.Errors.Success),
	}
}

// learn reads each example, and then writes what they show into the overlay.
func (r *refusals) learn() error {
	for _, example := range knownCodesFirst(r.examples.refused) {
		if err := r.read(example); err != nil {
			return err
		}
	}
	for _, example := range r.examples.accepted {
		r.readSuccess(example)
	}
	r.write()
	return nil
}

// knownCodesFirst returns the refusals that have the line code: first, because their paths serve the others.
func knownCodesFirst(refused []*Example) []*Example {
	var known, others []*Example
	for _, example := range refused {
		if example.values["code"] != "" {
			known = append(known, example)
		} else {
			others = append(others, example)
		}
	}
	return append(known, others...)
}

// read reads one refusal.
func (r *refusals) read(example *Example) error {
	if err := r.checkClass(example); err != nil {
		return err
	}
	if err := r.readCode(example); err != nil {
		return err
	}
	r.readMessage(example)
	return r.readRequestID(example)
}

// readCode reads the code of a refusal, which is one of its class. A refusal without a code may have one in the word of its status.
func (r *refusals) readCode(example *Example) error {
	at, err := r.codes.find(example, r.codePaths)
	if err != nil {
		return err
	}
	code := at.word
	if code == "" {
		code = r.codes.ofStatus(example)
	} else {
		r.codePaths = appendNew(r.codePaths, at.path)
	}
	class := example.values["class"]
	switch {
	case code != "" && r.hasCodes(class):
		r.classes.add(class, code)
	case code == "" && r.codes.mayHave(example):
		r.withoutCode = append(r.withoutCode, example.heading.String())
	}
	return nil
}

// readMessage reads where a refusal has a sentence.
func (r *refusals) readMessage(example *Example) {
	isMessage := func(candidate leaf) bool {
		isSentence := strings.Contains(candidate.word, " ")
		return candidate.path != "" && isSentence && messageName.match(candidate.name)
	}
	if message, hasMessage := first(leavesOf(example.text), isMessage); hasMessage {
		r.messagePaths = appendNew(r.messagePaths, message.path)
	}
}

// readRequestID reads where a refusal has the ID of the request, if the example names it.
func (r *refusals) readRequestID(example *Example) error {
	id := example.values["request"]
	if id == "" {
		return nil
	}
	at, err := locate(leavesOf(example.text), "request", id)
	if err != nil {
		return example.errorf("%w", err)
	}
	r.requestPaths = appendNew(r.requestPaths, at.path)
	return nil
}

// readSuccess reads the codes of success in an accepted response, and where they are.
func (r *refusals) readSuccess(example *Example) {
	for _, at := range leavesOf(example.text) {
		if !r.codes.isSuccess(example, at, r.codePaths) {
			continue
		}
		r.addCodePath(at.path)
		if !hasWord(r.success, at.word) {
			r.success = append(r.success, at.word)
		}
	}
}

// addCodePath adds a path to the learned paths of codes. If nothing was learned, the default paths stay, with this one if they lack it.
func (r *refusals) addCodePath(path string) {
	defaults := r.overlay.defaults.Errors.Code
	switch {
	case r.codePaths != nil:
		r.codePaths = appendNew(r.codePaths, path)
	case !slices.Contains(defaults, path):
		r.codePaths = appendNew(defaults, path)
	}
}

// write writes what the examples show into the overlay.
func (r *refusals) write() {
	learned := &r.overlay.Errors
	defaults := r.overlay.defaults.Errors
	learned.Code = r.codePaths
	learned.Message = unlessDefault(r.messagePaths, defaults.Message)
	learned.Request = unlessDefault(r.requestPaths, defaults.Request)
	if len(r.success) > len(defaults.Success) {
		learned.Success = r.success
	}
	if len(r.classes) > 0 {
		learned.Classes = r.allClasses()
		r.overlay.note("the examples show these codes alone: look up the others", sectionErrors, "classes")
	}
	r.noteMissingCodes()
}

// unlessDefault returns the learned paths, which replace the default ones, or nil if the default contract has all of them.
func unlessDefault(learned, defaults []string) []string {
	isUnusual := func(path string) bool { return !slices.Contains(defaults, path) }
	if !slices.ContainsFunc(learned, isUnusual) {
		return nil
	}
	return learned
}

// noteMissingCodes adds a comment about the examples whose code was not found.
func (r *refusals) noteMissingCodes() {
	if len(r.withoutCode) == 0 {
		return
	}
	text := "no code was found in the example of line " + r.withoutCode[0] + ": add code: and its value, if the response has one"
	if len(r.withoutCode) > 1 {
		lines := strings.Join(r.withoutCode, ", ")
		text = "no code was found in the examples of lines " + lines + ": add code: and its value, if a response has one"
	}
	r.overlay.note(text, sectionErrors, "code")
}
