package learn

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// fieldConcepts are the fields of an SMS. The text comes first, because a short sender may be a part of it.
func fieldConcepts() []string { return []string{"text", "callback", "reference", "to", "from"} }

// learnRequest learns the request of a send: its path, encoding, credentials, headers, fields and constants.
func (l *learner) learnRequest() error {
	example := l.examples.request
	r, err := parseRequest(example.text)
	if err != nil {
		return example.errorf("%w", err)
	}
	l.request = r
	if path := example.values["path"]; path != "" {
		r.path = variables(path)
	}
	if r.path == "" {
		return example.errorf("want the line path: and where the request goes, such as /v1/messages")
	}
	if concept := l.valueIn(r.path); concept != "" {
		return example.errorf("the path has the value of %s, which a contract cannot write there", concept)
	}
	l.overlay.Send.Path = r.path
	if err := l.learnEncoding(); err != nil {
		return err
	}
	if err := l.learnHeaders(); err != nil {
		return err
	}
	if err := l.checkCredentials(); err != nil {
		return err
	}
	if err := l.learnFields(); err != nil {
		return err
	}
	return l.learnConstants()
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
		if !l.isKnown(parameter.word, "token", "key", "secret") && !isCredentialName(parameter.name) {
			return l.examples.request.errorf("the request has the parameter %q in its query as well as a body; a contract can write only one", parameter.name)
		}
		l.learnCredential(parameter, "query")
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

// learnHeaders learns the headers with credentials and the constant headers.
func (l *learner) learnHeaders() error {
	r := l.request
	if _, _, ok := r.basic(); ok {
		l.overlay.Auth.KeyPair.In = "basic"
	} else if value := r.header.Get("Authorization"); value != "" {
		l.learnAuthorization(value)
	}
	for _, name := range slices.Sorted(maps.Keys(r.header)) {
		value := r.header[name][0]
		switch {
		case isRoutine(name) || name == "Authorization":
		case l.isKnown(value, "token", "key", "secret") || isCredentialName(name):
			l.learnCredential(leaf{path: name, name: name, word: value}, "header")
		case l.valueIn(value) != "":
			return l.examples.request.errorf("the header %s has a value of the message, which a contract cannot write", name)
		default:
			l.overlay.Headers[name] = value
		}
	}
	return nil
}

// isKnown reports whether the request has a value under one of these keys.
func (l *learner) isKnown(value string, keys ...string) bool {
	return slices.ContainsFunc(keys, func(key string) bool { return same(value, l.examples.request.values[key]) })
}

// checkCredentials returns an error for a credential of the example that is not in its request.
func (l *learner) checkCredentials() error {
	var places []string
	for _, values := range l.request.header {
		places = append(places, values...)
	}
	user, password, _ := l.request.basic()
	places = append(places, user, password)
	for _, at := range append(formLeaves(l.request.query), l.leaves...) {
		places = append(places, at.word)
	}
	for _, key := range []string{"token", "key", "secret"} {
		value := l.examples.request.values[key]
		hasValue := func(place string) bool { return strings.Contains(place, value) }
		if value != "" && !slices.ContainsFunc(places, hasValue) {
			return l.examples.request.errorf("nothing in the example has the value of %s", key)
		}
	}
	return nil
}

// learnAuthorization learns the scheme before the token.
func (l *learner) learnAuthorization(value string) {
	scheme, _, ok := strings.Cut(value, " ")
	if !ok {
		scheme = ""
	}
	if scheme != l.defaults.Auth.Token.Scheme {
		l.overlay.Auth.Token.Scheme = &scheme
	}
}

// learnCredential learns the name of the token's header, or of the key or its secret. Without a known value, only headers and parameters of
// the query with the name of a credential are credentials.
func (l *learner) learnCredential(credential leaf, in string) {
	hasSecret := l.examples.request.values["secret"] != ""
	isSecret := l.isKnown(credential.word, "secret") || !hasSecret && secretName.MatchString(credential.name)
	if l.isKnown(credential.word, "token") && in == "header" {
		l.overlay.Auth.Token = token{Header: credential.path, Scheme: new("")}
		return
	}
	pair := &l.overlay.Auth.KeyPair
	pair.In = in
	if isSecret {
		pair.Secret = &credential.path
		return
	}
	pair.Key = credential.path
	pair.Secret = cmp.Or(pair.Secret, new(""))
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
	for _, rest := range l.leaves {
		if slices.Contains(l.fieldPaths(), rest.path) {
			continue
		}
		if err := l.learnConstant(rest); err != nil {
			return l.examples.request.errorf("%w", err)
		}
	}
	return nil
}

// learnConstant learns a value that is no field: a credential or a constant. A constant that belongs to the callback goes under with.
func (l *learner) learnConstant(rest leaf) error {
	switch {
	case l.isKnown(rest.word, "key", "secret"):
		l.learnCredential(rest, bodyOrQuery(l.request))
		return nil
	case isCredentialName(rest.name):
		l.ignored = append(l.ignored, rest.path)
		l.overlay.note("looks like a credential and is left out: write it here if it is not, or add key: or secret: to the example",
			sectionSend, "constants", rest.path)
		return nil
	case rest.value == nil:
		l.ignored = append(l.ignored, rest.path)
		return nil
	}
	if err := l.checkConstant(rest); err != nil {
		return err
	}
	callback := l.overlay.Send.Fields["callback"]
	if callback != "" && l.goesWith(rest, callback) {
		l.overlay.Send.With.Callback[rest.path] = rest.value
	} else {
		l.overlay.Send.Constants[rest.path] = rest.value
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
		if same(text, value) || isPart {
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
	if reportName.MatchString(constant.name) {
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
