// Package codec is a compiled contract. It writes a message or a query as a request under the names of the contract, and
// reads what comes back from wherever the contract says that things stand, each in one pass.
package codec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// KeyPair returns a key and its secret, and whether they go in the "body" or the "query". It is a function so that no verb of
// package fmt prints the secret, and nil if a request carries none.
type KeyPair func() (in string, members [2]Param)

// Param is a name and a value.
type Param struct{ Name, Value string }

// Failure is what a response says of a failure.
type Failure struct {
	Code, Message string
	RequestID     string // of errors.request
	Class         string // of Code, a key of errors.classes, or ""
	// Own reports whether the response is the service's own, and not that of a proxy: it holds an error code or a request ID.
	Own bool
}

// codes knows what an error code means.
type codes struct {
	success []string
	classes []codeClass
}

// codeClass is a code, or the prefix of codes, and its class.
type codeClass struct {
	text, class string
	isPrefix    bool
}

func compileCodes(errs *table.Errors) codes {
	count := 0
	for _, list := range errs.Classes {
		count += len(list)
	}
	c := codes{success: errs.Success, classes: make([]codeClass, 0, count)}
	for class, list := range errs.Classes {
		for _, code := range list {
			text, isPrefix := strings.CutSuffix(code, "*")
			c.classes = append(c.classes, codeClass{text, class, isPrefix})
		}
	}
	return c
}

// class returns the class of a code, or "". An exact code wins, then the longest prefix.
func (c *codes) class(code string) string {
	found, length := "", -1
	for _, known := range c.classes {
		switch {
		case !known.isPrefix && known.text == code:
			return known.class
		case known.isPrefix && strings.HasPrefix(code, known.text) && len(known.text) > length:
			found, length = known.class, len(known.text)
		}
	}
	return found
}

func (c *codes) isSuccess(code string) bool {
	return slices.ContainsFunc(c.success, func(known string) bool { return strings.EqualFold(known, code) })
}

// codeResult is what the values at the places of an error code amount to.
type codeResult struct {
	code  string
	class string
	doubt string // why the response may not be taken for a success although the code has no class; "" if it may
}

const (
	noCode      = "the response holds something that is not a code at the place of an error code (errors.code)"
	unknownCode = "the response holds a code that the contract does not know (errors.success, errors.classes)"
)

// add takes a further value, and what it says, into account. A code of a class wins over one of none, which wins over a code of success; of
// equals the first wins.
func (r *codeResult) add(c *codes, v value, code string) {
	if r.class != "" || v.kind == absent || v.kind == null {
		return
	}
	code = strings.TrimSpace(code)
	switch {
	case v.kind == boolean && code == "false" || v.scalar() && code == "":
	case v.kind == boolean || !v.scalar():
		if r.doubt == "" {
			r.doubt = noCode
		}
	case c.isSuccess(code):
		if r.code == "" {
			r.code = code
		}
	default:
		class := c.class(code)
		switch {
		case class != "":
			*r = codeResult{code: code, class: class}
		case r.doubt != unknownCode:
			r.code, r.doubt = code, unknownCode
		}
	}
}

// wholeNumber reads an integer, possibly with a fraction of zeros. Blank is 0.
func wholeNumber(word string) (int, bool) {
	word = strings.TrimSpace(word)
	if word == "" {
		return 0, true
	}
	if n, err := strconv.Atoi(word); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}
