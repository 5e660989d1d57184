package learn

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// refusals are what the examples of refusals show, and those of accepted messages about codes.
type refusals struct {
	codePaths    []string // where responses have their codes
	messagePaths []string // where they have a sentence
	requestPaths []string // where they have the ID of the request
	classes      words    // the codes of each class
	success      []string // the codes of success
	withoutCode  []string // the lines of the examples whose code was not found
}

// learnRefused learns the codes of refusals and their classes. Examples with the line code: come first, because their path serves the others.
func (l *learner) learnRefused() error {
	found := refusals{classes: words{}}
	for _, example := range knownCodesFirst(l.examples.refused) {
		if err := l.learnRefusal(example, &found); err != nil {
			return err
		}
	}
	found.codePaths, found.success = l.findSuccess(found.codePaths)
	l.addRefusals(found)
	return nil
}

// learnRefusal adds what one refusal shows.
func (l *learner) learnRefusal(example *Example, found *refusals) error {
	if err := l.checkClass(example); err != nil {
		return err
	}
	at, err := l.findCode(example, found.codePaths)
	if err != nil {
		return err
	}
	if at.word != "" {
		found.codePaths = appendNew(found.codePaths, at.path)
	}
	l.addCode(example, cmp.Or(at.word, l.statusCode(example)), found)
	if path := l.findMessage(example); path != "" {
		found.messagePaths = appendNew(found.messagePaths, path)
	}
	return found.addRequest(example)
}

// addCode adds the code of a refusal to those of its class, or keeps the line of an example without one.
func (l *learner) addCode(example *Example, code string, found *refusals) {
	class := example.values["class"]
	hasCodes := l.defaults.Errors.Classes[class] != nil // forbidden has none
	switch {
	case code != "" && hasCodes:
		found.classes.add(class, code)
	case code == "" && l.mayHaveCode(example):
		found.withoutCode = append(found.withoutCode, example.number(example.line))
	}
}

// addRequest adds where a refusal has the ID of the request, if the example names it.
func (found *refusals) addRequest(example *Example) error {
	id := example.values["request"]
	if id == "" {
		return nil
	}
	at, err := locate(leavesOf(example.text), "request", id)
	if err != nil {
		return example.errorf("%w", err)
	}
	found.requestPaths = appendNew(found.requestPaths, at.path)
	return nil
}

// checkClass returns an error for the class forbidden, which has no codes, if the HTTP status is another.
func (l *learner) checkClass(example *Example) error {
	class := example.values["class"]
	if l.defaults.Errors.Classes[class] != nil || example.status == http.StatusForbidden {
		return nil
	}
	return example.errorf("class %s is known by HTTP %d alone, and not by a code: remove this example",
		class, http.StatusForbidden)
}

// addRefusals adds what the examples show to the overlay.
func (l *learner) addRefusals(found refusals) {
	l.overlay.Errors.Code = found.codePaths
	l.overlay.Errors.Message = unlessDefault(found.messagePaths, l.defaults.Errors.Message)
	l.overlay.Errors.Request = unlessDefault(found.requestPaths, l.defaults.Errors.Request)
	if len(found.success) > len(l.defaults.Errors.Success) {
		l.overlay.Errors.Success = found.success
	}
	if len(found.classes) > 0 {
		l.overlay.Errors.Classes = l.allClasses(found.classes)
		l.overlay.note("the examples show these codes alone: look up the others", sectionErrors, "classes")
	}
	l.noteMissingCodes(found.withoutCode)
}

// unlessDefault returns the learned paths, which replace the default ones, or nil if the default contract has all of them.
func unlessDefault(learned, defaults []string) []string {
	isUnusual := func(path string) bool { return !slices.Contains(defaults, path) }
	if !slices.ContainsFunc(learned, isUnusual) {
		return nil
	}
	return learned
}

// knownCodesFirst returns refusals with those that have the line code: first.
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

// mayHaveCode reports whether a value of a refusal could be its code: one word, which an accepted response does not have there.
func (l *learner) mayHaveCode(example *Example) bool {
	couldBeCode := func(candidate leaf) bool {
		isWord := !strings.ContainsAny(candidate.word, " \n") && !strings.Contains(candidate.word, "://")
		return candidate.path != "" && isWord && l.canBeCode(example, candidate)
	}
	return slices.ContainsFunc(leavesOf(example.text), couldBeCode)
}

// noteMissingCodes adds a comment about the examples on some lines.
func (l *learner) noteMissingCodes(lines []string) {
	const remedy = ": add code: and its value, if "
	switch len(lines) {
	case 0:
	case 1:
		l.overlay.note("no code was found in the example of line "+lines[0]+remedy+"the response has one", sectionErrors, "code")
	default:
		all := strings.Join(lines, ", ")
		l.overlay.note("no code was found in the examples of lines "+all+remedy+"a response has one", sectionErrors, "code")
	}
}

// windowClosed is the class of messages that the platform of chat app 2 refuses. Its default code is the platform's, and so the same at every
// provider.
const windowClosed = "windowClosed"

// allClasses returns the codes of all classes. A class without a code here is empty, so that no code of the default contract is taken for one of
// this service. The platform's code stays in force, unless the examples give it another class.
func (l *learner) allClasses(found words) words {
	all := words{}
	for class, defaults := range l.defaults.Errors.Classes {
		codes := []string{}
		for _, code := range found[class] {
			if !hasOtherClass(found, class, code) {
				codes = append(codes, code)
			}
		}
		slices.Sort(codes)
		if len(codes) == 0 && len(defaults) == 0 {
			continue // there is no default to remove
		}
		isPlatform := class == windowClosed && !slices.ContainsFunc(defaults, found.has)
		if len(codes) == 0 && isPlatform {
			continue
		}
		all[class] = codes
	}
	return all
}

// hasOtherClass reports whether another class has the code too. The HTTP status then says which it is.
func hasOtherClass(classes words, class, code string) bool {
	for other, codes := range classes {
		if other != class && slices.Contains(codes, code) {
			return true
		}
	}
	return false
}

// statusCode returns the word of the status as the code of a refusal, or "" if it cannot be one.
func (l *learner) statusCode(example *Example) string {
	word := l.statusWord(example)
	if !l.isCode(word) {
		return ""
	}
	return word
}

// isCode reports whether the word of a status can be the code of a class. A word that means success elsewhere cannot.
func (l *learner) isCode(word string) bool {
	isBool := word == "true" || word == "false"
	return word != "" && !isBool && table.Match(l.defaults.Errors.Success, word, true) < 0
}

// statusWord returns the word by which the status of a response with a status of success refuses, or "".
func (l *learner) statusWord(example *Example) string {
	if example.status/100 != 2 {
		return ""
	}
	for _, path := range l.overlay.Send.Response["status"] {
		if word := wordAt(example.text, path); slices.Contains(l.overlay.Send.Refused, word) {
			return word
		}
	}
	return ""
}

// findCode returns the code of a refusal: the known one, or else a value with the name of a code. It returns the zero leaf if there is none.
// codePaths are where other refusals have their codes.
func (l *learner) findCode(example *Example, codePaths []string) (leaf, error) {
	leaves := leavesOf(example.text)
	if known := example.values["code"]; known != "" {
		found, err := locate(leaves, "code", known)
		if err != nil {
			return leaf{}, example.errorf("%w", err)
		}
		return found, nil
	}
	if len(leaves) == 1 && leaves[0].path == "" {
		return textCode(leaves[0]), nil
	}
	for _, meetsRule := range l.codeRules(example, codePaths) {
		for _, candidate := range leaves {
			if meetsRule(candidate) && l.canBeCode(example, candidate) {
				return candidate, nil
			}
		}
	}
	return leaf{}, nil
}

// codeRules are what tells the code of a refusal that has no line code:, from the surest rule to the weakest. The first value that meets the
// first possible rule is the code.
func (l *learner) codeRules(example *Example, codePaths []string) []func(candidate leaf) bool {
	hasPath := func(candidate leaf) bool { return slices.Contains(codePaths, candidate.path) }
	hasName := func(candidate leaf) bool { return codeName.match(candidate.name) }
	isErrorWord := func(candidate leaf) bool {
		return typeName.match(candidate.name) && errorWord.MatchString(candidate.word)
	}
	if l.statusWord(example) != "" { // the word of the status is the code
		return []func(leaf) bool{hasPath, hasName}
	}
	return []func(leaf) bool{hasPath, hasName, isErrorWord}
}

// textCode takes a short text for its own code. A page has no code.
func textCode(text leaf) leaf {
	const longest = 100
	isPage := strings.HasPrefix(text.word, "<") || strings.Contains(text.word, "\n") || len(text.word) > longest
	if isPage {
		return leaf{}
	}
	return text
}

// canBeCode reports whether a value is a code of an error: not the HTTP status, nor what an accepted response has at the place.
func (l *learner) canBeCode(example *Example, candidate leaf) bool {
	switch {
	case candidate.word == "" || candidate.word == strconv.Itoa(example.status):
		return false
	case candidate.word == "true" || candidate.word == "false":
		return false
	case l.overlay.Send.Response.has(candidate.path):
		return false
	}
	isAccepted := func(accepted *Example) bool { return wordAt(accepted.text, candidate.path) == candidate.word }
	return !slices.ContainsFunc(l.examples.accepted, isAccepted)
}

// findMessage returns where a refusal has a sentence, or "".
func (l *learner) findMessage(example *Example) string {
	leaves := leavesOf(example.text)
	isSentence := func(candidate leaf) bool {
		return candidate.path != "" && strings.Contains(candidate.word, " ") && messageName.match(candidate.name)
	}
	i := slices.IndexFunc(leaves, isSentence)
	if i < 0 {
		return ""
	}
	return leaves[i].path
}

// findSuccess returns the codes of success, with those of accepted responses, and the paths of all codes.
func (l *learner) findSuccess(codePaths []string) (paths, success []string) {
	paths = codePaths
	success = slices.Clone(l.defaults.Errors.Success)
	for _, example := range l.examples.accepted {
		for _, at := range leavesOf(example.text) {
			if !l.isSuccessCode(example, at, paths) {
				continue
			}
			paths = l.withCodePath(paths, at.path)
			if table.Match(success, at.word, true) < 0 {
				success = append(success, at.word)
			}
		}
	}
	return paths, success
}

// isSuccessCode reports whether a value of an accepted response is a code of success: it is where refusals have their codes, or has the name
// of such a code.
func (l *learner) isSuccessCode(example *Example, at leaf, codePaths []string) bool {
	if at.path == "" || at.word == "" {
		return false
	}
	if slices.Contains(codePaths, at.path) {
		return true
	}
	isHTTPStatus := at.word == strconv.Itoa(example.status)
	return successName.match(at.name) && !isHTTPStatus && !l.overlay.Send.Response.has(at.path)
}

// withCodePath returns the learned paths of codes with another one. If there are none, those of the default contract stay, and nothing changes
// if they have it.
func (l *learner) withCodePath(learned []string, path string) []string {
	if learned != nil {
		return appendNew(learned, path)
	}
	if slices.Contains(l.defaults.Errors.Code, path) {
		return nil
	}
	return append(slices.Clone(l.defaults.Errors.Code), path)
}
