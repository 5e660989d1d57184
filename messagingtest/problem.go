package messagingtest

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A problem is why a request is refused.
type problem struct {
	name string // see problemNamed
	text string // names fields and never repeats a value
}

// A problemKind says how the server responds to the problems of one name.
type problemKind struct {
	code   string // under the default contract
	status int
}

// problemNamed returns the kind of a problem. A problem with the name of a class of the contract is of that class; the others are invalid requests.
func problemNamed(name string) problemKind {
	const bad = http.StatusBadRequest
	kind, isKnown := map[string]problemKind{
		"unauthorized":        {"40001", http.StatusUnauthorized},
		"rateLimited":         {"40002", bad},
		"invalid":             {"40003", bad},
		"method":              {"40004", http.StatusMethodNotAllowed},
		"notFound":            {"40005", http.StatusNotFound},
		"unavailable":         {"50000", bad},
		"windowClosed":        {"131047", bad},
		"insufficientBalance": {"200101", bad},
		"body":                {"200201", bad},
		"contentType":         {"200202", bad},
		"kind":                {"200203", bad},
		"missing":             {"200204", bad},
		"recipient":           {"200205", bad},
		"duplicate":           {"200206", http.StatusConflict},
		"callback":            {"200207", bad},
		"tooLarge":            {"200208", http.StatusRequestEntityTooLarge},
		"query":               {"200209", bad},
		"number":              {"200210", bad},
		"time":                {"200211", bad},
		"sort":                {"200212", bad},
		"cursor":              {"200213", bad},
		"payload":             {"200214", bad},
		"lifetime":            {"200215", bad},
		"fallback":            {"200216", bad},
		"url":                 {"200217", bad},
		"value":               {"200218", bad},
		"constant":            {"200220", bad},
	}[name]
	panicUnless(isKnown, "there is no problem %q", name)
	return kind
}

// codeOf returns the code of a problem under the contract: its own code, if the contract has that in the class of the problem, or
// another code of the class, or "" if the contract has none. A closed window is the platform's problem: if the contract has no code
// for it, the platform's own is returned, unless that has another meaning.
func (s *Server) codeOf(name string) string {
	if name == "" {
		return ""
	}
	own := problemNamed(name).code
	class := s.classOf(name)
	if s.isFailureCode(own, class) {
		return own
	}
	for _, entry := range s.names.Errors.Classes[class] {
		code := codeLike(entry, own)
		if s.isFailureCode(code, class) {
			return code
		}
	}
	const noClass = ""
	if name == "windowClosed" && s.isFailureCode(own, noClass) {
		return own
	}
	return ""
}

// classOf returns the class of a problem: the one of its name or, if the contract has no such class, that of invalid requests.
func (s *Server) classOf(name string) string {
	if _, isClass := s.names.Errors.Classes[name]; isClass {
		return name
	}
	return "invalid"
}

// codeLike returns a code that an entry of a class matches: the entry itself or, if it is a prefix such as "20*", the prefix with own after it.
func codeLike(entry, own string) string {
	prefix, isPrefix := strings.CutSuffix(entry, "*")
	if isPrefix {
		return prefix + own
	}
	return entry
}

// isFailureCode reports whether a code means a failure of this class, or, if class is "", a failure without a class.
func (s *Server) isFailureCode(code, class string) bool {
	meaning, _ := table.Meaning(s.names.Errors.Classes, code, false)
	isSuccess := table.Match(s.names.Errors.Success, code, true) >= 0
	return meaning == class && !isSuccess
}

// failure returns the body of an error response, with a word or a code at the first of the paths that is free. If that is the body
// itself, the code is all of it.
func (s *Server) failure(requestID, text string, paths []string, code any) []byte {
	if len(paths) > 0 && paths[0] == "" && code != "" {
		return encode(plainText(fmt.Sprint(code)))
	}
	body := placeFirst(document{}, s.names.Errors.Message, text)
	body = placeFirst(body, s.names.Errors.Request, requestID)
	return encode(placeFirst(body, paths, code))
}
