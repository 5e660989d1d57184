package table

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameFault returns what is wrong with the name of a field, a parameter or a constant in a request of an encoding, or "".
func (o *Operation) nameFault(name string) string {
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
			"or a RoundTripper (" + page + ")"
	default:
		return foreignFault(name)
	}
}

// IsPosition reports whether a part of a path is a position in a list: a number of at most four digits, without leading zeros.
func IsPosition(part string) bool {
	position, err := strconv.Atoi(part)
	return err == nil && position >= 0 && len(part) <= 4 && strconv.Itoa(position) == part
}

// foreignFault returns what is wrong with a path that is written in another notation, or "".
func foreignFault(path string) string {
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

var bracketed = regexp.MustCompile(`\[[0-9]*\*?\]`)

const maxName = 256

func nameFault(name string, dotted bool) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return "is longer than 256 bytes"
	case !utf8.ValidString(name):
		return "is not valid UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "holds a control character"
	case dotted && strings.Contains("."+name+".", ".."):
		return "has an empty part between its dots"
	}
	return ""
}

// pathFault returns what is wrong with the path of an operation, or "". It must not change the host, because requests carry credentials.
func pathFault(path string) string {
	path = variable.ReplaceAllString(path, "x")
	switch {
	case !strings.HasPrefix(path, "/"):
		return "must begin with a single /, without scheme and host"
	case !utf8.ValidString(path):
		return "is not valid UTF-8"
	case strings.ContainsAny(path, "{}<>") || strings.Contains(path, "/:"):
		return "holds a placeholder; write what your account has in its place, such as /accounts/AC123/messages, or a variable, such as " +
			"{account}: lower-case letters, digits and _ in braces"
	case strings.ContainsAny(path, "?#"):
		return "must have no query and no fragment; constants hold what goes with every request"
	case strings.ContainsFunc(path, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }):
		return "holds a space or a control character"
	}
	plain, err := url.PathUnescape(path)
	switch {
	case err != nil:
		return "holds a % that begins no escape"
	case strings.HasPrefix(plain, "//") || strings.Contains(plain, `\`):
		return "must begin with a single /, and hold no backslash: it could be taken for a host"
	case strings.ContainsFunc(plain, unicode.IsControl):
		return "holds an escaped control character"
	}
	for segment := range strings.SplitSeq(plain, "/") {
		if segment == "." || segment == ".." {
			return "holds a . or .. segment"
		}
	}
	return ""
}
