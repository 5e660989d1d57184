package messagingtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A problem is why a request is refused. Its name is one of problemCode. Its text names fields and never repeats a value.
type problem struct{ name, text string }

// problemCode returns the code of a problem under the default contract. A problem with the name of a class of the contract is of
// that class; the others are invalid requests.
func problemCode(name string) string {
	code, known := map[string]string{
		"unauthorized":        "40001",
		"rateLimited":         "40002",
		"invalid":             "40003",
		"method":              "40004",
		"notFound":            "40005",
		"unavailable":         "50000",
		"windowClosed":        "131047",
		"insufficientBalance": "200101",
		"body":                "200201",
		"contentType":         "200202",
		"kind":                "200203",
		"missing":             "200204",
		"recipient":           "200205",
		"duplicate":           "200206",
		"callback":            "200207",
		"tooLarge":            "200208",
		"query":               "200209",
		"number":              "200210",
		"time":                "200211",
		"sort":                "200212",
		"cursor":              "200213",
		"payload":             "200214",
		"lifetime":            "200215",
		"fallback":            "200216",
		"url":                 "200217",
		"value":               "200218",
		"constant":            "200220",
	}[name]
	panicUnless(known, "there is no problem %q", name)
	return code
}

// problemStatus returns the HTTP status of a problem.
func problemStatus(name string) int {
	switch name {
	case "unauthorized":
		return http.StatusUnauthorized
	case "notFound":
		return http.StatusNotFound
	case "method":
		return http.StatusMethodNotAllowed
	case "duplicate":
		return http.StatusConflict
	case "tooLarge":
		return http.StatusRequestEntityTooLarge
	default:
		return http.StatusBadRequest
	}
}

// problemForStatus returns the problem that goes with the HTTP status of a fault, or "" if none does.
func problemForStatus(status int) string {
	switch {
	case status == http.StatusBadRequest, status >= 200 && status < 300:
		return "invalid"
	case status == http.StatusUnauthorized:
		return "unauthorized"
	case status == http.StatusPaymentRequired:
		return "insufficientBalance"
	case status == http.StatusNotFound:
		return "notFound"
	case status == http.StatusTooManyRequests:
		return "rateLimited"
	case status >= http.StatusInternalServerError:
		return "unavailable"
	default:
		return ""
	}
}

// codeOf returns the code of a problem under the contract: its own code, if the contract has that in the class of the problem, or
// another code of the class, or "" if the contract has none. A closed window is the platform's problem: if the contract has no code
// for it, the platform's own is returned, unless that has another meaning.
func (s *Server) codeOf(name string) string {
	if name == "" {
		return ""
	}
	classes := s.names.Errors.Classes
	class := name
	if _, ok := classes[name]; !ok {
		class = "invalid"
	}
	code := problemCode(name)
	candidates := []string{code}
	for _, known := range classes[class] {
		if prefix, isPrefix := strings.CutSuffix(known, "*"); isPrefix {
			known = prefix + code // any text with this prefix will do
		}
		candidates = append(candidates, known)
	}
	for _, candidate := range candidates {
		if s.isFailureCode(candidate, class) {
			return candidate
		}
	}
	const noClass = ""
	if name == "windowClosed" && s.isFailureCode(code, noClass) {
		return code
	}
	return ""
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

// acceptedWord returns the word of an accepted message: the first one that the contract adds to those of the default contract, whose words are
// guesses, or the first one of all.
func acceptedWord(t table.Send) string {
	isGuess := func(word string) bool {
		hasWord := func(c table.Channel) bool { return slices.Contains(c.Send(table.Default()).Accepted, word) }
		return slices.ContainsFunc(table.Channels(), hasWord)
	}
	own := slices.DeleteFunc(slices.Clone(t.Accepted), isGuess)
	if len(own) > 0 {
		return firstWord(own)
	}
	return firstWord(t.Accepted)
}

// firstWord returns a word that the first entry of a list stands for, or "" if the list is empty.
func firstWord(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.TrimSuffix(list[0], "*")
}
