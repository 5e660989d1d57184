package learn

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// leaf is one value of an example: a member of a JSON document that is neither an object nor a list, a parameter of a form, or the whole of a
// text.
type leaf struct {
	path  string // as a contract writes it
	name  string // of the member
	value any    // as document.Node holds it
	word  string // the value as a text
}

func newLeaf(path, name string, value any) leaf {
	return leaf{path: path, name: name, value: value, word: strings.TrimSpace(document.Node{Value: value}.Text())}
}

// The bounds of a document.
const (
	maxLeaves = 2000
	maxDepth  = 32
)

// leavesOf returns the values of a body. A body that is neither JSON nor a form is one text at the path "".
func leavesOf(body string) []leaf {
	body = strings.TrimSpace(body)
	if body == "" {
		return nil
	}
	if n := document.Parse([]byte(body)); n.Object() != nil || n.IsList() {
		return appendLeaves(nil, n.Value, "", "", 0)
	}
	return []leaf{newLeaf("", "", body)}
}

// appendLeaves walks through a JSON value in the order of its names. Empty lists and objects are values themselves.
func appendLeaves(leaves []leaf, value any, path, name string, depth int) []leaf {
	if len(leaves) >= maxLeaves || depth > maxDepth {
		return leaves
	}
	n := document.Node{Value: value}
	members := n.Object()
	switch {
	case len(members) > 0:
		for _, member := range slices.Sorted(maps.Keys(members)) {
			leaves = appendLeaves(leaves, members[member], join(path, member), member, depth+1)
		}
	case len(n.List()) > 0:
		for i, element := range n.List() {
			leaves = appendLeaves(leaves, element.Value, join(path, strconv.Itoa(i)), name, depth+1)
		}
	default:
		leaves = append(leaves, newLeaf(path, name, value))
	}
	return leaves
}

// pair is a parameter of a form.
type pair struct{ name, value string }

// splitForm reads a form or a query. Text that is not escaped properly stays unchanged.
func splitForm(form string) []pair {
	var pairs []pair
	for part := range strings.SplitSeq(form, "&") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		pairs = append(pairs, pair{name: unescape(name), value: unescape(value)})
	}
	return pairs
}

func unescape(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}

func formLeaves(form string) []leaf {
	var leaves []leaf
	for _, p := range splitForm(form) {
		leaves = append(leaves, newLeaf(p.name, p.name, p.value))
	}
	return leaves
}

func isObject(body string) bool { return document.Parse([]byte(body)).Object() != nil }

func isList(body string) bool { return document.Parse([]byte(body)).IsList() }

// isPlain reports whether a path can be written in a contract: no member on the way has a dot in its name.
func (l leaf) isPlain(body string) bool {
	return document.Parse([]byte(body)).At(l.path).Value != nil || l.value == nil
}

// matches reports whether a value of an example is a known value. A number may be written with or without its +, and as a tel: URI.
func matches(word, known string) bool {
	if known == "" {
		return false
	}
	if word == known {
		return true
	}
	number := strings.TrimPrefix(known, "+")
	return isNumber.MatchString(number) && strings.TrimPrefix(table.Number(word), "+") == number
}

// isNumber matches phone numbers, but not shorter numbers.
var isNumber = regexp.MustCompile(`^[0-9]{5,15}$`)

// locate is like find, and returns an error that says why there is no leaf.
func locate(leaves []leaf, concept, value string) (leaf, error) {
	if found, isFound := find(leaves, concept, value); isFound {
		return found, nil
	}
	places := placesOf(leaves, concept, value)
	if len(places) == 0 {
		return leaf{}, fmt.Errorf("nothing in the example has the value of %s, %q%s", concept, value, writtenAs(leaves, concept, value))
	}
	return leaf{}, fmt.Errorf("the value of %s, %q, is at %s: change the others in the example", concept, value, pathsOf(places))
}

// find returns the leaf that has the known value of a concept. Of several places, it chooses the least deep. It reports false if no leaf has the
// value, or if several have it and the value is too short to choose one.
func find(leaves []leaf, concept, value string) (found leaf, isFound bool) {
	const distinctive = 4
	places := placesOf(leaves, concept, value)
	isAmbiguous := len(places) > 1 && len(value) < distinctive
	if len(places) == 0 || isAmbiguous {
		return leaf{}, false
	}
	return slices.MinFunc(places, compareDepth), true
}

// placesOf returns the leaves that have the known value of a concept. Of the elements of a list, it returns the first. If some of these leaves have
// a name of the concept, it returns them alone.
func placesOf(leaves []leaf, concept, value string) []leaf {
	var places []leaf
	for _, l := range leaves {
		isSamePlace := func(other leaf) bool { return everyElement(other.path) == everyElement(l.path) }
		if matches(l.word, value) && !slices.ContainsFunc(places, isSamePlace) {
			places = append(places, l)
		}
	}
	isOther := func(l leaf) bool { return !isNameOf(concept, l.name) }
	named := slices.DeleteFunc(slices.Clone(places), isOther)
	if len(named) > 0 {
		return named
	}
	return places
}

// compareDepth compares how deep two leaves are in their document.
func compareDepth(a, b leaf) int { return strings.Count(a.path, ".") - strings.Count(b.path, ".") }

// without removes the values at a path from a list, which it changes.
func without(leaves []leaf, path string) []leaf {
	return slices.DeleteFunc(leaves, func(at leaf) bool { return at.path == path })
}

// first returns the first value of a kind.
func first(leaves []leaf, isKind func(leaf) bool) (found leaf, ok bool) {
	i := slices.IndexFunc(leaves, isKind)
	if i < 0 {
		return leaf{}, false
	}
	return leaves[i], true
}

// pathOf returns the path of the first value of a kind, or "".
func pathOf(leaves []leaf, isKind func(leaf) bool) string {
	found, _ := first(leaves, isKind)
	return found.path
}

// wordAt returns the word at a path of a body, or "".
func wordAt(body, path string) string {
	for _, l := range leavesOf(body) {
		if l.path == path {
			return l.word
		}
	}
	return ""
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func pathsOf(leaves []leaf) string {
	var paths []string
	for _, l := range leaves {
		paths = append(paths, l.path)
	}
	return strings.Join(paths, " and ")
}
