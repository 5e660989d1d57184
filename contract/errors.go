package contract

import "strings"

// Errors says how an answer tells that a request failed, and what that failure means. All of it is a default.
// Code, Message and Request are lists of paths into the answer (see the package comment): the first that is present and not
// null wins, and an empty list means that the answer does not hold the fact.
type Errors struct {
	// Code is where the service's own error code stands. A 2xx that holds one is a failure.
	Code []string `json:"code"`
	// Message is where the text for people stands.
	Message []string `json:"message"`
	// Request is where the ID of the failed request stands.
	Request []string `json:"request"`
	// Classes sorts the codes of Code by what a caller can do about them.
	Classes Classes `json:"classes"`
	// NotProcessed lists the HTTP statuses, from 300 to 599, which prove that a send was not processed, so that it may be
	// sent again. A status that stands here by mistake makes messages go out twice.
	NotProcessed []int `json:"notProcessed"`
}

// Classes sorts error codes. An entry is a code, or the beginning of codes with a * at its end; an exact code wins over a
// beginning. The same entry cannot stand in two classes. All codes are defaults.
type Classes struct {
	// Unauthorized: the credentials are missing, wrong or not allowed to do this.
	Unauthorized []string `json:"unauthorized"`
	// RateLimited: too many requests.
	RateLimited []string `json:"rateLimited"`
	// InsufficientBalance: the account cannot pay for the message.
	InsufficientBalance []string `json:"insufficientBalance"`
	// Duplicate: the service has this message already.
	Duplicate []string `json:"duplicate"`
	// NotFound: what the request names does not exist.
	NotFound []string `json:"notFound"`
	// Unavailable: the service cannot answer now.
	Unavailable []string `json:"unavailable"`
	// Invalid: the request itself is wrong.
	Invalid []string `json:"invalid"`
}

func (e Errors) validate(found *problems) {
	checkPath(found, "errors.code", e.Code)
	checkPath(found, "errors.message", e.Message)
	checkPath(found, "errors.request", e.Request)
	checkLists(found, "errors.classes", e.Classes)
	checkOnlyOnce(found, "errors.classes", e.Classes, func(code string) string { return code })
	for key, codes := range fields[[]string](e.Classes) {
		for i, code := range codes {
			if star := strings.IndexByte(code, '*'); star >= 0 && star < len(code)-1 {
				found.add(at(join("errors.classes", key), i), "holds a * that is not at its end")
			}
		}
	}
	for i, status := range e.NotProcessed {
		if status < 300 || status > 599 {
			found.add(at("errors.notProcessed", i), "is not an HTTP status from 300 to 599")
		}
	}
}
