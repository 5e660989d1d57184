package table

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// variable is a part of a path that differs from account to account.
var variable = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// Variables returns the names of the variables in the paths of operations, in their order.
func (t *Table) Variables() []string {
	names := map[string]bool{}
	for _, op := range t.operations() {
		for _, found := range variable.FindAllStringSubmatch(op.Path, -1) {
			names[found[1]] = true
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

// VariableFault returns what is wrong with the value of a variable, or "".
func VariableFault(value string) string {
	if value == "" || strings.Trim(value, ".") == "" {
		return "must be a segment of a path, or a part of one, and not empty or dots alone"
	}
	return pathFault("/" + url.PathEscape(value))
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
