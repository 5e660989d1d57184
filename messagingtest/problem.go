package messagingtest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A problem is why a request is refused. Its text names fields and never repeats a value.
type problem struct{ code, text string }

// Error codes. In the default contract the first six have a class of their own. The others are of the class invalid, and
// which of them stands for what is this package's choice. Under a contract that has them in another class, or in none, the
// server takes a code of that contract: see codeIn.
const (
	codeUnauthorized        = "40001"
	codeRateLimited         = "40002"
	codeNoSuchPath          = "40005"
	codeUnavailable         = "50000"
	codeInsufficientBalance = "200101"
	codeDuplicate           = "200206"

	codeInvalid     = "40003"
	codeMethod      = "40004"
	codeBody        = "200201"
	codeContentType = "200202"
	codeKind        = "200203"
	codeMissing     = "200204"
	codeRecipient   = "200205"
	codeCallback    = "200207"
	codeTooLarge    = "200208"
	codeQuery       = "200209"
	codeNumber      = "200210"
	codeTime        = "200211"
	codeSort        = "200212"
	codeCursor      = "200213"
	codePayload     = "200214"
	codeLifetime    = "200215"
	codeFallback    = "200216"
	codeURL         = "200217"
	codeValue       = "200218"
	codeRoute       = "200219"
	codeConstant    = "200220"
)

// refuseIf returns a problem if there is one, or nil.
func refuseIf(isProblem bool, code, text string) *problem {
	if !isProblem {
		return nil
	}
	return &problem{code, text}
}

// kind returns the concept of the contract's classes that the problem belongs to, and the HTTP status that goes with it.
func (p problem) kind() (class string, status int) {
	statuses := map[string]int{
		codeUnauthorized: http.StatusUnauthorized,
		codeNoSuchPath:   http.StatusNotFound,
		codeMethod:       http.StatusMethodNotAllowed,
		codeDuplicate:    http.StatusConflict,
		codeTooLarge:     http.StatusRequestEntityTooLarge,
	}
	classes := map[string]string{
		codeUnauthorized: "unauthorized", codeRateLimited: "rateLimited", codeNoSuchPath: "notFound",
		codeUnavailable: "unavailable", codeInsufficientBalance: "insufficientBalance", codeDuplicate: "duplicate",
	}
	return cmp.Or(classes[p.code], "invalid"), cmp.Or(statuses[p.code], http.StatusBadRequest)
}

// codeIn returns the problem's own code if the contract has it in the class of the problem, else another code of the class:
// one that is listed, or that a prefix makes of its own. It returns "" if the contract has none.
func (p problem) codeIn(errs table.Errors) string {
	if p.code == "" {
		return ""
	}
	class, _ := p.kind()
	for _, known := range append([]string{p.code}, errs.Classes[class]...) {
		code, isPrefix := strings.CutSuffix(known, "*")
		if isPrefix {
			code += p.code
		}
		if meaning, _ := table.Meaning(errs.Classes, code, false); meaning == class && !hasWord(errs.Success, code) {
			return code
		}
	}
	return ""
}

// hasWord reports whether a list of the contract has a word, or a prefix of it.
func hasWord(list []string, word string) bool { return table.Match(list, word, true) >= 0 }

// failure returns the body of an error response, with a word or a code at the first of the paths that is free.
func (s *Server) failure(requestID string, p problem, paths []string, code any) []byte {
	body := placeFirst(document{}, s.names.Errors.Message, p.text)
	body = placeFirst(body, s.names.Errors.Request, requestID)
	return encode(placeFirst(body, paths, code))
}

// firstWord returns a word that the first entry of a list stands for, or "" if there is none.
func firstWord(list []string) string {
	return strings.TrimSuffix(slices.Concat(list, []string{""})[0], "*")
}
