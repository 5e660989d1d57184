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

// Error codes. The default contract gives the first six a class of their own. The others are of the class invalid, and
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

func (p problem) status() int {
	statuses := map[string]int{
		codeUnauthorized: http.StatusUnauthorized,
		codeNoSuchPath:   http.StatusNotFound,
		codeMethod:       http.StatusMethodNotAllowed,
		codeDuplicate:    http.StatusConflict,
		codeTooLarge:     http.StatusRequestEntityTooLarge,
	}
	return cmp.Or(statuses[p.code], http.StatusBadRequest)
}

// class returns the concept of the contract's classes that the problem belongs to.
func (p problem) class() string {
	classes := map[string]string{
		codeUnauthorized: "unauthorized", codeRateLimited: "rateLimited", codeNoSuchPath: "notFound",
		codeUnavailable: "unavailable", codeInsufficientBalance: "insufficientBalance", codeDuplicate: "duplicate",
	}
	return cmp.Or(classes[p.code], "invalid")
}

// codeIn returns the problem's own code if the contract has it in the class of the problem, else another code of the class:
// one that is listed, or that a prefix makes of its own. It returns "" if the contract has none.
func (p problem) codeIn(errs table.Errors) string {
	if p.code == "" {
		return ""
	}
	class := p.class()
	candidates := []string{p.code}
	for _, known := range errs.Classes[class] {
		prefix, isPrefix := strings.CutSuffix(known, "*")
		if isPrefix {
			known = prefix + p.code
		}
		candidates = append(candidates, known)
	}
	i := slices.IndexFunc(candidates, func(code string) bool {
		meaning, _ := table.Meaning(errs.Classes, code, false)
		return meaning == class && !hasWord(errs.Success, code)
	})
	if i < 0 {
		return ""
	}
	return candidates[i]
}

// hasWord reports whether a list of the contract has a word, or a prefix of it.
func hasWord(list []string, word string) bool { return table.Match(list, word, true) >= 0 }

// failure returns an error response, without a code if the problem has none.
func (s *Server) failure(requestID string, status int, p problem) response {
	code := p.codeIn(s.names.Errors)
	return response{status: status, body: encode(placeFirst(s.explain(requestID, p), s.names.Errors.Code, code))}
}

// refusal is like failure, with a word in the status of the message in place of a code.
func (s *Server) refusal(requestID string, status int, p problem, op operation) response {
	return response{status: status, body: encode(placeFirst(s.explain(requestID, p), op.status, firstWord(op.refused)))}
}

// explain returns what an error response says beside its code.
func (s *Server) explain(requestID string, p problem) any {
	body := placeFirst(document{}, s.names.Errors.Message, p.text)
	return placeFirst(body, s.names.Errors.Request, requestID)
}

// exactly returns a word that an entry of a list of words stands for.
func exactly(entry string) string { return strings.TrimSuffix(entry, "*") }

// firstWord returns the first word of a list as JSON has it, or "" if there is none. A whole number has no quotes, so that a
// client shows whether it reads both.
func firstWord(list []string) any {
	if len(list) == 0 {
		return ""
	}
	return numberOrText(exactly(list[0]))
}
