package doctor

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
)

// The bounds of what is looked at. What is beyond them is passed over.
const (
	maxPath    = 256 // bytes of a path, as a contract allows
	maxColumns = 400 // members of the rows of a page
	maxRows    = 200 // rows of a page
)

// find returns the values of a concept in documents that are alike, one of each document that has any, and the first path at which
// there is one.
func find(docs []document.Node, paths []string) (path string, values []document.Node) {
	for _, doc := range docs {
		for _, p := range paths {
			if n := doc.At(p); says(n) {
				path, values = cmp.Or(path, p), append(values, n)
				break
			}
		}
	}
	return path, values
}

// says reports whether a value is a text that is not blank, a number, or a boolean.
func says(n document.Node) bool { return strings.TrimSpace(n.Text()) != "" }

// column is what stands at one path of all rows, or of one document.
type column struct {
	path   string
	values []document.Node // those that say something
}

// columns returns the members of documents that are alike, and how many members have names that a report does not show. What is
// below skip is left out.
func columns(docs []document.Node, skip string) (found []column, unnameable int) {
	values := map[string][]document.Node{}
	var walk func(n document.Node, path string)
	walk = func(n document.Node, path string) {
		members := n.Object()
		switch {
		case path != "" && path == skip, len(path) > maxPath:
		case len(members) > 0:
			for _, name := range slices.Sorted(maps.Keys(members)) {
				if isPlainName(name) || name == "*" {
					walk(n.At(name), join(path, name))
				} else {
					unnameable++
				}
			}
		case n.IsList():
			for i, element := range n.List()[:min(len(n.List()), 2)] {
				walk(element, join(path, strconv.Itoa(i)))
			}
		case path != "" && (len(values) < maxColumns || values[path] != nil):
			values[path] = append(values[path], n)
		}
	}
	for _, doc := range docs[:min(len(docs), maxRows)] {
		walk(doc, "")
	}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		found = append(found, column{path, slices.DeleteFunc(values[path], func(n document.Node) bool { return !says(n) })})
	}
	return found, unnameable
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// unclaimed returns the columns that no path of some sections names.
func unclaimed(all []column, sections ...map[string][]string) []column {
	claimed := map[string]bool{}
	for _, section := range sections {
		for _, paths := range section {
			maps.Copy(claimed, set(paths))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c column) bool { return claimed[c.path] })
}

var isName = regexp.MustCompile(`^[A-Za-z0-9_@:-]+$`)

// isPlainName reports whether a name is one that a programmer would give, which a path can hold and a report can show: a name may
// also be a number or a text.
func isPlainName(name string) bool {
	const longest, mostDigits = 40, 4
	digits := 0
	for _, r := range name[:min(len(name), longest)] {
		if '0' <= r && r <= '9' {
			digits++
		}
	}
	return len(name) <= longest && digits <= mostDigits && (digits < len(name) || len(name) == 1) && isName.MatchString(name)
}

// lists returns the paths of the lists in a document that are empty or hold objects.
func lists(n document.Node, path string) (found []string) {
	const deepest = 6
	if strings.Count(path, ".") >= deepest {
		return nil
	}
	if elements := n.List(); n.IsList() {
		switch {
		case len(elements) == 0:
			return []string{path}
		case elements[0].Object() != nil:
			return append([]string{path}, lists(elements[0], join(path, "0"))...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Object())) {
		if isPlainName(name) {
			found = append(found, lists(n.At(name), join(path, name))...)
		}
	}
	return found
}

// rowsIn returns the path of the list in a document whose elements look most like what a section describes, or of the only list if it
// is empty, and whether there is one that surely is.
func rowsIn(doc document.Node, section map[string][]string, containers string) (path string, ok bool) {
	const enough, most = 2, 50
	all, best := lists(doc, ""), 0
	for _, candidate := range all[:min(len(all), most)] {
		rows := doc.At(candidate).List()
		if len(rows) == 0 && len(all) == 1 {
			return candidate, true
		}
		switch known := len(concepts(rows, section, containers)); {
		case known > best:
			best, path, ok = known, candidate, known >= enough
		case known == best:
			ok = false
		}
	}
	if !ok {
		return onlyRows(doc, all)
	}
	return path, ok
}

// onlyRows returns the only list of at least two objects with the same members, if there is one.
func onlyRows(doc document.Node, all []string) (path string, ok bool) {
	for _, candidate := range all {
		rows := doc.At(candidate).List()
		isOther := func(row document.Node) bool {
			return len(row.Object()) < 2 || len(row.Object()) != len(rows[0].Object())
		}
		if len(rows) < 2 || slices.ContainsFunc(rows, isOther) {
			continue
		}
		if ok {
			return "", false
		}
		path, ok = candidate, true
	}
	return path, ok
}

// concepts returns the concepts of a section that documents hold, under a name of the contract or one that is surely meant, by path.
func concepts(docs []document.Node, section map[string][]string, containers string) map[string]string {
	all, _ := columns(docs, "")
	found := newGuesser(section, containers, all).guess(unclaimed(all, section), slices.Collect(maps.Keys(section)))
	for concept, paths := range section {
		if path, _ := find(docs, paths); path != "" {
			found[concept] = path
		}
	}
	return found
}
