package messagingtest

import (
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A problem is why a request is refused: one of the rules, by its name. Its text names fields and never repeats a value.
type problem struct{ name, text string }

// refuseIf returns a problem if there is one, or nil.
func refuseIf(isProblem bool, name, text string) *problem {
	if !isProblem {
		return nil
	}
	return &problem{name, text}
}

// codeOf returns the code of a problem, if the contract has it in the class of the problem, else another code of the class: one
// that is listed, or that a prefix makes of it. It returns "" if the contract has none.
func (s *Server) codeOf(name string) string {
	errs, own := s.names.Errors, s.rules.Problems[name].Code
	class := "invalid"
	if _, ok := errs.Classes[name]; ok {
		class = name
	}
	for _, known := range append([]string{own}, errs.Classes[class]...) {
		code, isPrefix := strings.CutSuffix(known, "*")
		if isPrefix {
			code += own
		}
		if meaning, _ := table.Meaning(errs.Classes, code, false); own != "" && meaning == class && !hasWord(errs.Success, code) {
			return code
		}
	}
	return ""
}

// hasWord reports whether a list of the contract has a word, or a prefix of it.
func hasWord(list []string, word string) bool { return table.Match(list, word, true) >= 0 }

// failure returns the body of an error response, with a word or a code at the first of the paths that is free.
func (s *Server) failure(requestID, text string, paths []string, code any) []byte {
	body := placeFirst(document{}, s.names.Errors.Message, text)
	body = placeFirst(body, s.names.Errors.Request, requestID)
	return encode(placeFirst(body, paths, code))
}

// firstWord returns a word that the first entry of a list stands for, or "" if there is none.
func firstWord(list []string) string {
	return strings.TrimSuffix(slices.Concat(list, []string{""})[0], "*")
}
