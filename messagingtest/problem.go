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
		return classOf(errs, code) == class && !hasWord(errs.Success, code)
	})
	if i < 0 {
		return ""
	}
	return candidates[i]
}

// classOf returns the class of a code, or "". An exact code wins over prefixes, and the longest prefix over others.
func classOf(errs table.Errors, code string) string {
	best, found := -1, ""
	for class, codes := range errs.Classes {
		for _, known := range codes {
			weight := len(known)
			if known == code {
				weight = len(code) + 2
			} else if prefix, ok := strings.CutSuffix(known, "*"); !ok || !strings.HasPrefix(code, prefix) {
				continue
			}
			if weight > best {
				best, found = weight, class
			}
		}
	}
	return found
}

// hasWord reports whether a list of the contract has a word, in any case, or a prefix of it that ends in *.
func hasWord(list []string, word string) bool {
	return slices.ContainsFunc(list, func(known string) bool {
		prefix, isPrefix := strings.CutSuffix(strings.ToLower(known), "*")
		return isPrefix && strings.HasPrefix(strings.ToLower(word), prefix) || strings.EqualFold(known, word)
	})
}

// failure returns an error response, without a code if the problem has none.
func (s *Server) failure(requestID string, status int, p problem) response {
	var body any
	errs := s.names.Errors
	body = placeFirst(body, errs.Code, p.codeIn(errs))
	body = placeFirst(body, errs.Message, p.text)
	body = placeFirst(body, errs.Request, requestID)
	if body == nil {
		body = document{}
	}
	return response{status: status, body: encode(body)}
}

// exactly returns a word that an entry of a list of words stands for.
func exactly(entry string) string { return strings.TrimSuffix(entry, "*") }
