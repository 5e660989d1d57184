package learn

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/internal/table"
)

// sentinels are the errors of the classes of a refusal.
func sentinels() map[string]error {
	return map[string]error{
		"unauthorized":        messaging.ErrUnauthorized,
		"forbidden":           messaging.ErrForbidden,
		"rateLimited":         messaging.ErrRateLimited,
		"insufficientBalance": messaging.ErrInsufficientBalance,
		"duplicate":           messaging.ErrDuplicate,
		"windowClosed":        messaging.ErrWindowClosed,
		"optedOut":            messaging.ErrOptedOut,
		"unreachable":         messaging.ErrUnreachable,
		"notFound":            messaging.ErrNotFound,
		"unavailable":         messaging.ErrUnavailable,
		"invalid":             messaging.ErrInvalid,
	}
}

// windowClosed is the class of messages that the platform of chat app 2 refuses. Its default code is the platform's, and so the same at every
// provider.
const windowClosed = "windowClosed"

// refusals learns the codes of refusals and their classes, with the codes of success.
type refusals struct {
	examples *Examples
	codes    codes
	overlay  *overlay

	codePaths    []string // where responses have their codes
	messagePaths []string // where they have a sentence
	requestPaths []string // where they have the ID of the request
	classes      words    // the codes of each class
	success      []string // the codes of success
	withoutCode  []string // the lines of the examples whose code was not found
}

func newRefusals(examples *Examples, o *overlay) *refusals {
	return &refusals{examples: examples, codes: codes{examples, o}, overlay: o, classes: words{}}
}

// learn reads each example, and then writes what they show into the overlay. Examples with the line code: come first, because their path serves
// the others.
func (r *refusals) learn() error {
	for _, example := range knownCodesFirst(r.examples.refused) {
		if err := r.add(example); err != nil {
			return err
		}
	}
	r.addSuccess()
	r.write()
	return nil
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

// add adds what one refusal shows.
func (r *refusals) add(example *Example) error {
	if err := r.checkClass(example); err != nil {
		return err
	}
	at, err := r.codes.find(example, r.codePaths)
	if err != nil {
		return err
	}
	if at.word != "" {
		r.codePaths = appendNew(r.codePaths, at.path)
	}
	r.addCode(example, cmp.Or(at.word, r.codes.ofStatus(example)))
	if path := messagePath(example); path != "" {
		r.messagePaths = appendNew(r.messagePaths, path)
	}
	return r.addRequest(example)
}

// checkClass returns an error for the class forbidden, which has no codes, if the HTTP status is another.
func (r *refusals) checkClass(example *Example) error {
	class := example.values["class"]
	if r.hasCodes(class) || example.status == http.StatusForbidden {
		return nil
	}
	return example.errorf("class %s is known by HTTP %d alone, and not by a code: remove this example",
		class, http.StatusForbidden)
}

// hasCodes reports whether a class has codes. The class forbidden has none.
func (r *refusals) hasCodes(class string) bool {
	return r.overlay.defaults.Errors.Classes[class] != nil
}

// addCode adds the code of a refusal to those of its class, or keeps the line of an example without one.
func (r *refusals) addCode(example *Example, code string) {
	class := example.values["class"]
	switch {
	case code != "" && r.hasCodes(class):
		r.classes.add(class, code)
	case code == "" && r.codes.mayHave(example):
		r.withoutCode = append(r.withoutCode, example.heading.String())
	}
}

// messagePath returns where a refusal has a sentence, or "".
func messagePath(example *Example) string {
	return pathOf(leavesOf(example.text), func(candidate leaf) bool {
		return candidate.path != "" && strings.Contains(candidate.word, " ") && messageName.match(candidate.name)
	})
}

// addRequest adds where a refusal has the ID of the request, if the example names it.
func (r *refusals) addRequest(example *Example) error {
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

// addSuccess adds the codes of accepted responses to the codes of success, and their paths to the paths of codes.
func (r *refusals) addSuccess() {
	r.success = slices.Clone(r.overlay.defaults.Errors.Success)
	for _, example := range r.examples.accepted {
		for _, at := range leavesOf(example.text) {
			if !r.codes.isSuccess(example, at, r.codePaths) {
				continue
			}
			r.addCodePath(at.path)
			if table.Match(r.success, at.word, true) < 0 {
				r.success = append(r.success, at.word)
			}
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

// allClasses returns the codes of all classes. A class without a code here is empty, so that no code of the default contract is taken for one of
// this service. The platform's code stays in force, unless the examples give it another class.
func (r *refusals) allClasses() words {
	all := words{}
	for class, defaults := range r.overlay.defaults.Errors.Classes {
		codes := r.codesOf(class)
		isPlatform := class == windowClosed && !slices.ContainsFunc(defaults, r.classes.has)
		hasNoDefault := len(defaults) == 0 // to remove
		if len(codes) == 0 && (isPlatform || hasNoDefault) {
			continue
		}
		all[class] = codes
	}
	return all
}

// codesOf returns the codes of a class, sorted, without those that another class has too: the HTTP status then says which it is.
func (r *refusals) codesOf(class string) []string {
	found := []string{}
	for _, code := range r.classes[class] {
		if !r.hasOtherClass(class, code) {
			found = append(found, code)
		}
	}
	slices.Sort(found)
	return found
}

// hasOtherClass reports whether another class has the code too.
func (r *refusals) hasOtherClass(class, code string) bool {
	for other, codes := range r.classes {
		if other != class && slices.Contains(codes, code) {
			return true
		}
	}
	return false
}

// noteMissingCodes adds a comment about the examples whose code was not found.
func (r *refusals) noteMissingCodes() {
	const remedy = ": add code: and its value, if "
	switch len(r.withoutCode) {
	case 0:
	case 1:
		r.overlay.note("no code was found in the example of line "+r.withoutCode[0]+remedy+"the response has one", sectionErrors, "code")
	default:
		all := strings.Join(r.withoutCode, ", ")
		r.overlay.note("no code was found in the examples of lines "+all+remedy+"a response has one", sectionErrors, "code")
	}
}

// noteMessages adds a comment about a refusal whose text is at no path of the new contract.
func (o *overlay) noteMessages(refused []*Example) {
	paths := o.Errors.Message
	if paths == nil {
		paths = o.defaults.Errors.Message
	}
	isRead := func(at leaf) bool { return slices.Contains(paths, at.path) }
	isSentence := func(at leaf) bool { return at.path != "" && strings.Contains(at.word, " ") }
	for _, example := range refused {
		leaves := leavesOf(example.text)
		sentence, hasSentence := first(leaves, isSentence)
		if !hasSentence || slices.ContainsFunc(leaves, isRead) {
			continue
		}
		o.warn("not learned: if "+sentence.path+" says why, write "+contractLine("message", sentence.path), sectionErrors, "message")
		return
	}
}
