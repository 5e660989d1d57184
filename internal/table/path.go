package table

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// variable is a part of an operation's path that differs from account to account, such as {account}.
var variable = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// Variables returns the names of the variables in the paths of operations, in their order.
func (t *Table) Variables() []string {
	names := map[string]bool{}
	for _, op := range t.operations() {
		for _, match := range variable.FindAllStringSubmatch(op.Path, -1) {
			names[match[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// WithVariables returns the table with the values of variables in its paths, each as one segment or a part of it.
func (t *Table) WithVariables(values map[string]string) *Table {
	filled := *t
	for _, op := range filled.operations() {
		op.Path = variable.ReplaceAllStringFunc(op.Path, func(name string) string { return url.PathEscape(values[name[1:len(name)-1]]) })
	}
	return &filled
}

// Matches reports whether the path of a request, as it is escaped, is that of the operation. A variable is any segment.
func (o *Operation) Matches(path string) bool {
	literals := variable.Split(o.Path, -1)
	for i := range literals {
		literals[i] = regexp.QuoteMeta(literals[i])
	}
	matches, _ := regexp.MatchString("^"+strings.Join(literals, "[^/]+")+"$", path)
	return matches
}

// VariableFault returns what is wrong with the value of a variable.
func VariableFault(value string) string {
	if value == "" || strings.Trim(value, ".") == "" {
		return "must be a segment of a path, or a part of one, and not empty or dots alone"
	}
	return pathFault("/" + url.PathEscape(value))
}

// pathFault returns what is wrong with the path of an operation. It must not change the host, because requests carry credentials.
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
		return "has a % that is not part of an escape such as %20"
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
