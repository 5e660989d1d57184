package table

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// requestNameFault returns what is wrong with the name of a field, a parameter or a constant in a request of the operation.
func (o *Operation) requestNameFault(name string) string {
	isJSON := o.Encoding == "json"
	if fault := nameFault(name, isJSON); fault != "" {
		return fault
	}
	parts := strings.Split(name, ".")
	switch {
	case !isJSON && slices.ContainsFunc(parts[1:], IsPosition):
		return "leads into a list, which only a JSON body has; write the parameter's name, such as to[0], or set encoding to json"
	case !isJSON:
		return ""
	case IsPosition(parts[0]):
		return "begins with a position, and the body is an object; write the member that holds the list, such as messages.0.to, " +
			"or a RoundTripper (" + guide + ")"
	default:
		return notationFault(name)
	}
}

// memberFault returns what is wrong with the path of a member of a response.
func memberFault(path string) string { return cmp.Or(nameFault(path, true), notationFault(path)) }

// plainNameFault returns what is wrong with a name in which a dot has no meaning.
func plainNameFault(name string) string { return nameFault(name, false) }

// MaxName is how many bytes a name or a path may have.
const MaxName = 256

func nameFault(name string, isPath bool) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxName:
		return "is longer than 256 bytes"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	case isPath && strings.Contains("."+name+".", ".."):
		return "has an empty part between its dots"
	}
	return ""
}

var bracketed = regexp.MustCompile(`\[[0-9]*\*?\]`)

// notationFault returns what is wrong with a path that is written as in JSONPath or JSON Pointer.
func notationFault(path string) string {
	switch {
	case strings.HasPrefix(path, "$"):
		return "begins with $; write the members alone, with dots between them, such as data.id"
	case strings.HasPrefix(path, "/"):
		return "begins with a slash; write members with dots between them, such as data.id"
	case bracketed.MatchString(path):
		return "holds a position in brackets; write it between dots, such as messages.0.id"
	case slices.Contains(strings.Split(path, "."), Every):
		return "holds a *, which only id and status of a response have; write a position, such as messages.0.id"
	}
	return ""
}

// IsPosition reports whether a part of a path is a position in a list: a number of at most four digits, without leading zeros.
func IsPosition(part string) bool {
	position, err := strconv.Atoi(part)
	return err == nil && position >= 0 && len(part) <= 4 && strconv.Itoa(position) == part
}

// isWithinElement reports whether a path leads into an element of the list at another path.
func isWithinElement(path, list string) bool {
	rest, isWithin := strings.CutPrefix(path, list+".")
	position, _, _ := strings.Cut(rest, ".")
	return list != "" && isWithin && IsPosition(position)
}

// Every is the part of a path of a response that means each element of a list.
const Every = "*"

// WithoutEvery returns a path with the first element of a list in place of each *.
func WithoutEvery(path string) string {
	names := strings.Split(path, ".")
	for i, name := range names {
		if name == Every {
			names[i] = "0"
		}
	}
	return strings.Join(names, ".")
}
