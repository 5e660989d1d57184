package codec

import (
	"cmp"
	"slices"
	"strconv"
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

// Why a response without a code of a known class is not a success.
const (
	invalidCode = "the response holds something that is not a code at the place of an error code (errors.code)"
	missingCode = "the response holds an error without a code (errors.code)"
	UnknownCode = "the response holds a code that the contract does not know (errors.success, errors.classes)"
)

// responses finds what a response says, by concept, and reads what it says about a failure.
type responses struct {
	paths

	errors     *table.Errors
	vocabulary *vocabulary
	codes      []code
	message    []int
	request    []int

	hints     [][]failureHint     // for each place that was given to compileResponses
	nameKinds map[string]nameKind // of the names of the contract
	claimed   map[string]bool     // see claimedPaths
}

// code is a place of an error code: its slot, and the slot of the object that reports an error if it is not empty. If there is no such
// object, that is the slot of the code itself.
type code struct {
	slot, object int
}

// compileResponses compiles lists of paths by concept, the places of a failure, the paths of rows, and the hints around places.
func compileResponses(lists map[string][]string, rows, places []string, known *vocabulary, errors *table.Errors) responses {
	r := responses{paths: compilePaths(lists), errors: errors, vocabulary: known}
	for _, path := range errors.Code {
		object := cmp.Or(errorObject(path, lists, rows), path)
		r.codes = append(r.codes, code{slot: r.Add(path)[0], object: r.Add(object)[0]})
	}
	r.message = r.Add(errors.Message...)
	r.request = r.Add(errors.Request...)
	r.hints = r.compileHints(places, lists)
	r.nameKinds = kindsOfNames(lists, errors)
	r.claimed = claimedPaths(lists)
	for i, path := range rows {
		r.AddList(path, i)
	}
	return r
}

// errorObject returns the object of the code at a path, such as error of error.code. It returns "" if that is the document, or if the
// operation reads something else from the object, such as rows.
func errorObject(path string, lists map[string][]string, rows []string) string {
	object := parentOf(path)
	inObject := func(other string) bool { return strings.HasPrefix(other+".", object+".") }
	isShared := slices.ContainsFunc(rows, inObject)
	for _, list := range lists {
		isShared = isShared || slices.ContainsFunc(list, inObject)
	}
	if isShared {
		return ""
	}
	return object
}

// failure returns what a response says about a failure. The first error code counts, or the first success code if there is no error code.
// uncertain says why the response is not a success although its code has no class, or is "".
func (r *responses) failure(d *document) (f Failure, uncertain string) {
	text, isError := r.firstCode(d)
	f.Code = text
	if isError {
		f.Class, _ = r.meaning(text)
	}
	switch {
	case !isError:
		uncertain = r.errorWithoutCode(d)
	case f.Class == "":
		uncertain = UnknownCode
	}
	f.Message = d.first(r.message)
	f.RequestID = d.first(r.request)
	hasOwnCode := isError && !table.IsPlaceholder(text) && !isHTTPStatus(text)
	f.FromService = f.Class != "" || hasOwnCode || !table.IsPlaceholder(f.RequestID)
	return f, uncertain
}

// firstCode returns the first error code of a response or, without an error code, the first success code.
func (r *responses) firstCode(d *document) (text string, isError bool) {
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

// errorWithoutCode returns why a response without an error code may report an error all the same, or "".
func (r *responses) errorWithoutCode(d *document) string {
	for _, c := range r.codes {
		switch {
		case r.reportsWithoutCode(d, c):
			return missingCode
		case d.hasInvalidCode(c.slot):
			return invalidCode
		}
	}
	return ""
}

// reportsWithoutCode reports whether the object around the place of a code reports an error and has no code.
func (r *responses) reportsWithoutCode(d *document, c code) bool {
	hasObject := c.object != c.slot
	return hasObject && d.hasNoCode(c.slot) && r.holdsError(d, c.object)
}

// errorText returns the text of the first error without a code, or "" if the error is no text.
func (r *responses) errorText(d *document) string {
	for _, c := range r.codes {
		kind := d.values[c.object].Kind
		isText := kind == jsonscan.String || kind == jsonscan.Escaped
		if c.object != c.slot && isText && r.holdsError(d, c.object) {
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
func (r *responses) meaning(text string) (class string, isSuccess bool) {
	if text == "" {
		return "", false
	}
	class, match := table.Meaning(r.errors.Classes, text, false)
	if table.Match(r.errors.Success, text, true) > match {
		return "", true
	}
	return class, false
}

// isErrorCode reports whether a code is none of success, whether its class is known or not.
func (r *responses) isErrorCode(text string) bool {
	_, isSuccess := r.meaning(text)
	return text != "" && !isSuccess
}

// isHTTPStatus reports whether a code is only an HTTP status, such as 403, "403 Forbidden" or "Forbidden", which a proxy may write.
func isHTTPStatus(text string) bool {
	texts := []string{"forbidden", "not found", "method not allowed", "gone"}
	if slices.Contains(texts, strings.ToLower(text)) {
		return true
	}
	number, _, _ := strings.Cut(text, " ")
	status, err := strconv.Atoi(number)
	return err == nil && status >= 100 && status < 600
}
