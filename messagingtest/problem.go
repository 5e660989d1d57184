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
	own := problemCode(name)
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

// acceptedWord returns the word of an accepted message: the first one that the contract adds to those of the default contract, whose words are
// guesses, or the first one of all.
func acceptedWord(t table.Send) string {
	var added []string
	for _, word := range t.Accepted {
		if !isDefaultWord(word) {
			added = append(added, word)
		}
	}
	if len(added) > 0 {
		return firstWord(added)
	}
	return firstWord(t.Accepted)
}

// isDefaultWord reports whether a word means accepted in the default contract, for any channel.
func isDefaultWord(word string) bool {
	for _, channel := range table.Channels() {
		if slices.Contains(channel.Send(table.Default()).Accepted, word) {
			return true
		}
	}
	return false
}

// firstWord returns a word that the first entry of a list stands for, or "" if the list is empty.
func firstWord(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.TrimSuffix(list[0], "*")
}
