package codec

import (
	"cmp"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
)

// Failure is what a response says about a failure.
type Failure struct {
	Code, Message string
	RequestID     string // at errors.request
	Class         string // of Code, a key of errors.classes, or ""
	// FromService reports whether the service wrote the response, and not a proxy: it has a request ID, or an error code other than an
	// HTTP status.
	FromService bool
}

// detached returns a copy whose strings do not keep a long body in memory.
func (f Failure) detached(length int) Failure {
	if length > copyLimit {
		f.Code = strings.Clone(f.Code)
		f.Message = strings.Clone(f.Message)
		f.RequestID = strings.Clone(f.RequestID)
	}
	return f
}

// UnknownCode is why a response with a code of no known class is not a success.
const UnknownCode = "the response holds a code that the contract does not know (errors.success, errors.classes)"

// failure returns what a response says about a failure. The first error code counts, or the first success code if there is no error code.
// uncertain says why the response is not a success although its code has no class, or is "".
func (r *responseFormat) failure(d *document) (f Failure, uncertain string) {
	code, isError := r.firstCode(d)
	f.Code = code
	if isError {
		f.Class, _ = r.meaning(code)
	}
	switch {
	case !isError:
		uncertain = r.codeFault(d)
	case f.Class == "":
		uncertain = UnknownCode
	}
	f.Message = d.first(r.messages)
	f.RequestID = d.first(r.requests)
	hasOwnCode := isError && !table.IsPlaceholder(code) && !isHTTPStatus(code)
	f.FromService = f.Class != "" || hasOwnCode || !table.IsPlaceholder(f.RequestID)
	return f, uncertain
}

// firstCode returns the first error code of a response or, without an error code, the first success code.
func (r *responseFormat) firstCode(d *document) (text string, isError bool) {
	for _, c := range r.codes {
		word := strings.TrimSpace(d.word(c.slot))
		if word == "" || d.values[c.slot].Kind == jsonscan.Boolean {
			continue
		}
		class, isSuccess := r.meaning(word)
		mayBeStatus := c.slot == root && class == "" // a text at the root may be the word of a status
		switch {
		case isSuccess:
			text = cmp.Or(text, word)
		case !mayBeStatus:
			return word, true
		}
	}
	return text, false
}

// Why a response without an error code may report an error all the same.
const (
	codeMissing = "the response holds an error without a code (errors.code)"
	codeInvalid = "the response holds something that is not a code at the place of an error code (errors.code)"
)

// codeFault returns the first fault at the places of error codes: codeMissing, codeInvalid, or "" without a fault.
func (r *responseFormat) codeFault(d *document) string {
	for _, c := range r.codes {
		switch {
		case r.reportsWithoutCode(d, c):
			return codeMissing
		case d.hasInvalidCode(c.slot):
			return codeInvalid
		}
	}
	return ""
}

// reportsWithoutCode reports whether the object around the place of a code reports an error and has no code.
func (r *responseFormat) reportsWithoutCode(d *document, c codePlace) bool {
	return d.hasNoCode(c.slot) && r.reportsAround(d, c)
}

// reportsAround reports whether there is an object around the place of a code, and it reports an error.
func (r *responseFormat) reportsAround(d *document, c codePlace) bool {
	return c.object != c.slot && r.holdsError(d, c.object)
}

// reportsInObject reports whether an object around the place of a code reports an error, with or without a code.
func (r *responseFormat) reportsInObject(d *document) bool {
	return slices.ContainsFunc(r.codes, func(c codePlace) bool { return r.reportsAround(d, c) })
}

// errorText returns the text of the first error without a code, or "" if the error is not a text.
func (r *responseFormat) errorText(d *document) string {
	for _, c := range r.codes {
		kind := d.values[c.object].Kind
		isText := kind == jsonscan.String || kind == jsonscan.Escaped
		if isText && r.reportsAround(d, c) {
			return strings.TrimSpace(d.word(c.object))
		}
	}
	return ""
}

// hasNoCode reports whether the value at the place of a code says that there is no code: it is absent, null, blank or false.
func (d *document) hasNoCode(slot int) bool {
	v := d.values[slot]
	word := strings.TrimSpace(d.word(slot))
	switch {
	case v.Kind <= jsonscan.Null:
		return true
	case v.Kind == jsonscan.Boolean:
		return word == "false"
	default:
		return v.IsScalar() && word == ""
	}
}

// hasInvalidCode reports whether the value at the place of a code is present and cannot be a code. At the root, an object or a list is the
// document, and valid.
func (d *document) hasInvalidCode(slot int) bool {
	v := d.values[slot]
	isDocument := slot == root && !v.IsScalar()
	isCode := v.IsScalar() && v.Kind != jsonscan.Boolean
	return !isDocument && !isCode && !d.hasNoCode(slot)
}

// meaning returns the class of a code, or "", and whether it is a success code. The better match in the contract decides.
func (r *responseFormat) meaning(code string) (class string, isSuccess bool) {
	if code == "" {
		return "", false
	}
	class, match := table.Meaning(r.errors.Classes, code, false)
	if table.Match(r.errors.Success, code, true) > match {
		return "", true
	}
	return class, false
}

// isErrorCode reports whether a code is that of an error, of a known class or not.
func (r *responseFormat) isErrorCode(code string) bool {
	_, isSuccess := r.meaning(code)
	return code != "" && !isSuccess
}
