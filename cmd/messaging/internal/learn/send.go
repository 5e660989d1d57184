package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// fieldConcepts are the fields of an SMS. The text comes first, because a short sender may be a part of it.
func fieldConcepts() []string { return []string{"text", "callback", "reference", "to", "from"} }

// learnRequest learns the request of a send: its path, encoding, credentials, headers, fields and constants.
func (l *learner) learnRequest() error {
	r, err := l.examples.request.parseSend()
	if err != nil {
		return err
	}
	l.request = r
	for _, learn := range []func() error{
		l.learnPath, l.learnEncoding, l.learnHeaders, l.checkCredentials, l.learnFields, l.learnConstants,
	} {
		if err := learn(); err != nil {
			return err
		}
	}
	return nil
}

// parseSend returns the request of an example of a send.
func (e *Example) parseSend() (*request, error) {
	r, err := parseRequest(e.text)
	if err != nil {
		return nil, e.errorf("%w", err)
	}
	if err = e.checkJSON("the body of the request", r.body); err != nil {
		return nil, err
	}
	if err = r.complete(); err != nil {
		return nil, e.errorf("%w", err)
	}
	return r, nil
}

// learnPath learns the path, from the line path: if there is one.
func (l *learner) learnPath() error {
	example := l.examples.request
	path := l.request.path
	if line := example.values["path"]; line != "" {
		path = variables(line)
	}
	if path == "" {
		return example.errorf("want the line path: and where the request goes, such as /v1/messages")
	}
	if concept := l.valueIn(path); concept != "" {
		return example.errorf("the path has the value of %s, which a contract cannot write there", concept)
	}
	l.request.path = path
	l.overlay.Send.Path = path
	l.notePath(sectionSend, path)
	return nil
}

// learnEncoding learns the encoding and the values of the request. If it has a body, its query can have only credentials.
func (l *learner) learnEncoding() error {
	r := l.request
	switch {
	case r.isJSON:
		l.leaves = leavesOf(r.body)
	case r.isForm:
		l.overlay.Send.Encoding = "form"
		l.leaves = formLeaves(r.body)
	default:
		l.overlay.Send.Encoding = "query"
		l.leaves = formLeaves(r.query)
	}
	if err := l.checkRepeated(); err != nil {
		return err
	}
	if bodyOrQuery(r) == "query" {
		return nil
	}
	for _, parameter := range formLeaves(r.query) {
		if !l.isKnown(parameter.word, "token", "key", "secret") && !isCredential(parameter.name, parameter.word) {
			return l.examples.request.errorf("the request has the parameter %q in its query as well as a body; a contract can write only one", parameter.name)
		}
		if err := l.learnCredential(parameter, "query"); err != nil {
			return err
		}
	}
	return nil
}

// checkRepeated returns an error if a parameter of the request comes twice.
func (l *learner) checkRepeated() error {
	isKnown := map[string]bool{}
	for _, at := range l.leaves {
		if isKnown[at.path] {
			return l.examples.request.errorf("the request has the parameter %q twice; a contract can write it only once", at.path)
		}
		isKnown[at.path] = true
	}
	return nil
}

// learnFields finds the values of the message in the request.
func (l *learner) learnFields() error {
	example := l.examples.request
	taken := map[string]string{}
	for _, concept := range fieldConcepts() {
		value := example.values[concept]
		if value == "" {
			l.overlay.Send.Fields[concept] = ""
			l.overlay.note("the example does not show it", sectionSend, "fields", concept)
			continue
		}
		open := slices.DeleteFunc(slices.Clone(l.leaves), func(f leaf) bool { return taken[f.path] != "" })
		found, err := locate(open, concept, value)
		if err != nil {
			return example.errorf("%w", err)
		}
		taken[found.path] = concept
		l.overlay.Send.Fields[concept] = found.path
		if _, isText := found.value.(string); !isText || found.word != value {
			l.overlay.note("the example writes it as "+document.Encode(found.value)+", and it is sent as a message has it", sectionSend, "fields", concept)
			l.ignored = append(l.ignored, found.path)
		}
	}
	return nil
}

// learnConstants learns the rest of the request as constants.
func (l *learner) learnConstants() error {
	for _, constant := range l.leaves {
		if slices.Contains(l.fieldPaths(), constant.path) {
			continue
		}
		if err := l.learnConstant(constant); err != nil {
			return l.examples.request.errorf("%w", err)
		}
	}
	return nil
}

// learnConstant learns a value that is no field: a credential or a constant. A constant that belongs to the callback goes under with.
func (l *learner) learnConstant(constant leaf) error {
	switch {
	case l.isKnown(constant.word, "key", "secret"):
		return l.learnCredential(constant, bodyOrQuery(l.request))
	case isCredential(constant.name, constant.word):
		l.ignored = append(l.ignored, constant.path)
		l.leaveOut(sectionSend, "constants", constant.path)
		return nil
	case constant.value == nil:
		l.ignored = append(l.ignored, constant.path)
		return nil
	}
	if err := l.checkConstant(constant); err != nil {
		return err
	}
	callback := l.overlay.Send.Fields["callback"]
	if callback != "" && l.goesWith(constant, callback) {
		l.overlay.Send.With.Callback[constant.path] = constant.value
	} else {
		l.overlay.Send.Constants[constant.path] = constant.value
	}
	return nil
}

func bodyOrQuery(r *request) string {
	if r.isJSON || r.isForm {
		return "body"
	}
	return "query"
}

// fieldPaths returns the names of the fields that were learned.
func (l *learner) fieldPaths() []string {
	var paths []string
	for _, concept := range fieldConcepts() {
		if path := l.overlay.Send.Fields[concept]; path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// valueIn returns the concept of the message whose value a text equals or contains, or "".
func (l *learner) valueIn(text string) string {
	const distinctive = 5
	for _, concept := range fieldConcepts() {
		value := l.examples.request.values[concept]
		isPart := len(value) >= distinctive && strings.Contains(text, strings.TrimPrefix(value, "+"))
		if matches(text, value) || isPart {
			return concept
		}
	}
	return ""
}

// checkConstant returns an error for a constant with a value of the example's message.
func (l *learner) checkConstant(constant leaf) error {
	if concept := l.valueIn(constant.word); concept != "" {
		field := l.overlay.Send.Fields[concept]
		return fmt.Errorf("the value of %s, %q, is at %s and in %s; a contract writes it once. If one of them is something else, change it in the example",
			concept, l.examples.request.values[concept], field, constant.path)
	}
	if l.request.isJSON && strings.Count(constant.path, ".") != 0 && !constant.isPlain(l.request.body) {
		return fmt.Errorf("the name %q has a dot, which a contract cannot write", constant.name)
	}
	return nil
}

// goesWith reports whether a constant belongs to the callback: by its name, or because it is in an object with the callback and no other
// field.
func (l *learner) goesWith(constant leaf, callback string) bool {
	if reportName.match(constant.name) {
		return true
	}
	parts := strings.Split(callback, ".")
	for n := len(parts) - 1; n > 0; n-- {
		object := strings.Join(parts[:n], ".") + "."
		isInside := func(path string) bool { return path != callback && strings.HasPrefix(path, object) }
		if strings.HasPrefix(constant.path, object) && !slices.ContainsFunc(l.fieldPaths(), isInside) {
			return true
		}
	}
	return false
}
