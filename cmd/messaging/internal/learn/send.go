package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// fieldConcepts are the fields of an SMS. The text comes first, because a short sender may be a part of it.
func fieldConcepts() []string { return []string{"text", "callback", "reference", "to", "from"} }

// sendRequest learns the request of a send from its example.
type sendRequest struct {
	example     *Example
	request     *request
	overlay     *overlay
	credentials credentials
	leaves      []leaf   // its values
	ignored     []string // paths of its values that the overlay leaves out on purpose
}

// learnRequest learns the request of a send: its path, encoding, headers, credentials, fields and constants.
func learnRequest(example *Example, o *overlay) (*sendRequest, error) {
	r, err := example.parseSend()
	if err != nil {
		return nil, err
	}
	s := &sendRequest{example: example, request: r, overlay: o, credentials: credentials{example: example, overlay: o}}
	steps := []func() error{s.learnPath, s.learnEncoding, s.learnHeaders, s.checkCredentials, s.learnFields, s.learnConstants}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
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
func (s *sendRequest) learnPath() error {
	path := s.request.path
	if line := s.example.values["path"]; line != "" {
		path = variables(line)
	}
	if path == "" {
		return s.example.errorf("want the line path: and where the request goes, such as /v1/messages")
	}
	if concept := s.example.fieldIn(path); concept != "" {
		return s.example.errorf("the path has the value of %s, which a contract cannot write there", concept)
	}
	s.overlay.Send.Path = path
	s.overlay.notePath(sectionSend, path)
	return nil
}

// learnEncoding learns the encoding and the values of the request. If it has a body, its query can have only credentials.
func (s *sendRequest) learnEncoding() error {
	r := s.request
	switch {
	case r.isJSON:
		s.leaves = leavesOf(r.body)
	case r.isForm:
		s.overlay.Send.Encoding = "form"
		s.leaves = formLeaves(r.body)
	default:
		s.overlay.Send.Encoding = "query"
		s.leaves = formLeaves(r.query)
	}
	if err := s.checkRepeated(); err != nil {
		return err
	}
	if r.bodyOrQuery() == "query" {
		return nil
	}
	return s.learnQuery()
}

// checkRepeated returns an error if a parameter of the request comes twice.
func (s *sendRequest) checkRepeated() error {
	isKnown := map[string]bool{}
	for _, at := range s.leaves {
		if isKnown[at.path] {
			return s.example.errorf("the request has the parameter %q twice; a contract can write it only once", at.path)
		}
		isKnown[at.path] = true
	}
	return nil
}

// learnQuery learns the query of a request with a body.
func (s *sendRequest) learnQuery() error {
	for _, parameter := range formLeaves(s.request.query) {
		if !s.example.hasValue(parameter.word, "token", "key", "secret") && !isCredential(parameter.name, parameter.word) {
			return s.example.errorf("the request has the parameter %q in its query as well as a body; a contract can write only one", parameter.name)
		}
		if err := s.credentials.learn(parameter, "query"); err != nil {
			return err
		}
	}
	return nil
}

// learnHeaders learns the headers of the request, which may have its credentials.
func (s *sendRequest) learnHeaders() error {
	return headers{s.request, s.overlay, s.credentials}.learn()
}

// checkCredentials returns an error for a credential of the example that is not in its request.
func (s *sendRequest) checkCredentials() error {
	var places []string
	for _, values := range s.request.header {
		places = append(places, values...)
	}
	user, password, _ := s.request.basic()
	places = append(places, user, password)
	for _, at := range append(formLeaves(s.request.query), s.leaves...) {
		places = append(places, at.word)
	}
	for _, key := range []string{"token", "key", "secret"} {
		value := s.example.values[key]
		hasValue := func(place string) bool { return strings.Contains(place, value) }
		if value != "" && !slices.ContainsFunc(places, hasValue) {
			return s.example.errorf("nothing in the example has the value of %s", key)
		}
	}
	return nil
}

// learnFields finds the values of the message in the request.
func (s *sendRequest) learnFields() error {
	open := slices.Clone(s.leaves) // values that are no field yet
	for _, concept := range fieldConcepts() {
		value := s.example.values[concept]
		if value == "" {
			s.overlay.Send.Fields[concept] = ""
			s.overlay.note("the example does not show it", sectionSend, "fields", concept)
			continue
		}
		found, err := locate(open, concept, value)
		if err != nil {
			return s.example.errorf("%w", err)
		}
		open = without(open, found.path)
		s.overlay.Send.Fields[concept] = found.path
		if _, isText := found.value.(string); !isText || found.word != value {
			s.overlay.note("the example writes it as "+document.Encode(found.value)+", and it is sent as a message has it", sectionSend, "fields", concept)
			s.ignored = append(s.ignored, found.path)
		}
	}
	return nil
}

// learnConstants learns the rest of the request: credentials and constants.
func (s *sendRequest) learnConstants() error {
	for _, value := range s.leaves {
		if slices.Contains(s.fieldPaths(), value.path) {
			continue
		}
		if err := s.learnConstant(value); err != nil {
			return s.example.errorf("%w", err)
		}
	}
	return nil
}

// learnConstant learns a value that is no field: a credential or a constant. A constant that belongs to the callback goes under with.
func (s *sendRequest) learnConstant(constant leaf) error {
	switch {
	case s.example.hasValue(constant.word, "key", "secret"):
		return s.credentials.learn(constant, s.request.bodyOrQuery())
	case isCredential(constant.name, constant.word):
		s.ignored = append(s.ignored, constant.path)
		s.overlay.leaveOut(sectionSend, "constants", constant.path)
		return nil
	case constant.value == nil:
		s.ignored = append(s.ignored, constant.path)
		return nil
	}
	if err := s.checkConstant(constant); err != nil {
		return err
	}
	if s.isOfCallback(constant) {
		s.overlay.Send.With.Callback[constant.path] = constant.value
	} else {
		s.overlay.Send.Constants[constant.path] = constant.value
	}
	return nil
}

// fieldPaths returns the paths of the fields that were learned.
func (s *sendRequest) fieldPaths() []string {
	var paths []string
	for _, concept := range fieldConcepts() {
		if path := s.overlay.Send.Fields[concept]; path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// checkConstant returns an error for a constant with a value of the example's message.
func (s *sendRequest) checkConstant(constant leaf) error {
	if concept := s.example.fieldIn(constant.word); concept != "" {
		field := s.overlay.Send.Fields[concept]
		return fmt.Errorf("the value of %s, %q, is at %s and in %s; a contract writes it once. If one of them is something else, change it in the example",
			concept, s.example.values[concept], field, constant.path)
	}
	if s.request.isJSON && strings.Contains(constant.path, ".") && !constant.isPlain(s.request.body) {
		return fmt.Errorf("the name %q has a dot, which a contract cannot write", constant.name)
	}
	return nil
}

// isOfCallback reports whether a constant belongs to the callback: by its name, or because it is in an object with the callback and no other
// field.
func (s *sendRequest) isOfCallback(constant leaf) bool {
	callback := s.overlay.Send.Fields["callback"]
	if callback == "" {
		return false
	}
	if reportName.match(constant.name) {
		return true
	}
	parts := strings.Split(callback, ".")
	for n := len(parts) - 1; n > 0; n-- {
		object := strings.Join(parts[:n], ".") + "."
		isOther := func(path string) bool { return path != callback && strings.HasPrefix(path, object) }
		if strings.HasPrefix(constant.path, object) && !slices.ContainsFunc(s.fieldPaths(), isOther) {
			return true
		}
	}
	return false
}
