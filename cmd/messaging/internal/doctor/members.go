package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// The bounds of what is looked at. What is beyond them is passed over.
const (
	maxPath    = 256    // bytes of a path, as a contract allows
	maxMembers = 10_000 // of a document
	maxColumns = 400    // of a page
	maxRows    = 500    // that are compared
	sweepSize  = 50     // rows of a page
)

// unnamed stands in a path for a name that is not shown: a name may be a number or a text.
const unnamed = "?"

// walk visits the values of a document that are neither objects nor lists, with their paths.
func walk(doc document.Node, visit func(path string, value document.Node)) {
	left := maxMembers
	var into func(n document.Node, path string)
	into = func(n document.Node, path string) {
		if left--; left < 0 || len(path) > maxPath {
			return
		}
		members := n.Object()
		for _, name := range slices.Sorted(maps.Keys(members)) {
			shown := name
			if !isPlainName(name) {
				shown = unnamed
			}
			into(document.Node{Value: members[name]}, join(path, shown))
		}
		for i, element := range n.List() {
			into(element, join(path, strconv.Itoa(i)))
		}
		if members == nil && !n.IsList() {
			visit(path, n)
		}
	}
	into(doc, "")
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

func leaf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// same reports whether two values are the same. A phone number may be written in several ways.
func same(a, b string) bool {
	plain := func(s string) string {
		return strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "", ".", "").Replace(table.Number(s))
	}
	number := plain(a)
	return a != "" && a == b || len(number) >= 6 && isDigits.MatchString(number) && number == plain(b)
}

// holding returns the paths at which a document has a value.
func holding(doc document.Node, value string) (paths []string) {
	walk(doc, func(path string, n document.Node) {
		if same(n.Text(), value) {
			paths = append(paths, path)
		}
	})
	return paths
}

// pair is a document, and a value that it may have.
type pair struct {
	doc   document.Node
	value string
}

// only returns the one path at which each document has its value, or "".
func only(pairs []pair) (path string) {
	for i, p := range pairs {
		paths := holding(p.doc, p.value)
		if len(paths) != 1 || i > 0 && paths[0] != path || !isPlainPath(paths[0]) {
			return ""
		}
		path = paths[0]
	}
	return path
}

func isPlainPath(path string) bool {
	return path != "" && !slices.Contains(strings.Split(path, "."), unnamed)
}

// says reports whether a value is a text that is not blank, a number, or a boolean.
func says(n document.Node) bool { return strings.TrimSpace(n.Text()) != "" }

// column is what stands at one path of all rows, or of one document.
type column struct {
	path   string
	values []document.Node // those that say something
}

// columnsOf returns the members of documents that are alike, without those below skip.
func columnsOf(docs []document.Node, skip string) (found []column) {
	values := map[string][]document.Node{}
	for _, doc := range docs[:min(len(docs), maxRows)] {
		walk(doc, func(path string, value document.Node) {
			isBelow := skip != "" && strings.HasPrefix(path+".", skip+".")
			if !isBelow && isPlainPath(path) && (len(values) < maxColumns || values[path] != nil) {
				values[path] = append(values[path], value)
			}
		})
	}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		found = append(found, column{path, slices.DeleteFunc(values[path], func(n document.Node) bool { return !says(n) })})
	}
	return found
}

// find returns what stands at the first of some paths that says something, one value of each document, and the first such path.
func find(docs []document.Node, paths []string) (path string, values []document.Node) {
	for _, doc := range docs {
		for _, p := range paths {
			if n := doc.At(table.WithoutEvery(p)); says(n) {
				path, values = cmp.Or(path, p), append(values, n)
				break
			}
		}
	}
	return path, values
}

var isName, notDigit = regexp.MustCompile(`^@?[A-Za-z0-9_:-]{1,40}$`), regexp.MustCompile(`[^0-9]`)

// isPlainName reports whether a name is one that a programmer would give, which a path can hold and a report can show.
func isPlainName(name string) bool {
	digits := len(notDigit.ReplaceAllString(name, ""))
	return digits <= 4 && digits < len(name) && isName.MatchString(name)
}

// listsIn returns the paths of the lists in a document that are empty or hold objects.
func listsIn(n document.Node, path string) (found []string) {
	if elements := n.List(); n.IsList() && (len(elements) == 0 || elements[0].Object() != nil) {
		found = append(found, path)
		n = n.At("0")
		path = join(path, "0")
	}
	members := n.Object()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if isPlainName(name) && len(found) < 50 && strings.Count(path, ".") < 6 {
			found = append(found, listsIn(document.Node{Value: members[name]}, join(path, name))...)
		}
	}
	return found
}

// rowsAt returns the rows at a path, and whether there is a list of objects.
func rowsAt(doc document.Node, path string) (rows []document.Node, ok bool) {
	n := doc.At(path)
	isOther := func(row document.Node) bool { return row.Object() == nil }
	return n.List(), n.IsList() && !slices.ContainsFunc(n.List(), isOther)
}

var (
	isBool    = regexp.MustCompile(`^(true|false)$`)
	isDigit   = regexp.MustCompile(`[0-9]`)
	isLetter  = regexp.MustCompile(`[^0-9TZ +/.:,-]`)
	isDigits  = regexp.MustCompile(`^[0-9]+$`)
	isDecimal = regexp.MustCompile(`^[+-]?[0-9]{0,15}\.?[0-9]{1,15}$`)
	isAmount  = regexp.MustCompile(`^([A-Za-z]{3} )?-?[0-9]{0,9}\.?[0-9]{1,6}( [A-Za-z]{3})?$`)
	isWord    = regexp.MustCompile(`^[A-Za-z0-9_.:+/=-]+$`)
	isURL     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	isPhone   = regexp.MustCompile(`^\+?[0-9][0-9 ().-]{5,18}[0-9]$`)
	isDate    = regexp.MustCompile(`^[0-9]{1,4}[-/.][0-9A-Za-z]{1,3}[-/.][0-9]{1,4}([ T,].*)?$`)
)

// forms are the shapes of texts that are no times: the first that fits counts.
var forms = []struct { //nolint:gochecknoglobals // never written
	name string
	form *regexp.Regexp
}{
	{"digits", isDigits},
	{"+digits", regexp.MustCompile(`^\+[0-9]+$`)},
	{"decimal", isDecimal},
	{"letters", regexp.MustCompile(`^[A-Za-z]+$`)},
	{"uuid", regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)},
	{"url", isURL},
	{"word", isWord},
}

// shape describes a value without showing it. A time is shown by its form, with each digit as 0 and each letter as a.
func shape(n document.Node) string {
	s := strings.TrimSpace(n.Text())
	switch {
	case isBool.MatchString(s):
		return "true or false"
	case isTimeText(s):
		return "time " + isDigit.ReplaceAllString(isLetter.ReplaceAllString(s, "a"), "0")
	}
	kind := "text"
	for _, f := range slices.Backward(forms) {
		if f.form.MatchString(s) {
			kind = f.name
		}
	}
	kind = fmt.Sprintf("%s(%d)", kind, utf8.RuneCountInString(strings.TrimPrefix(s, "+")))
	if _, isText := n.Value.(string); !isText {
		kind = "number " + kind
	}
	return kind
}

// shapes describes values by the shapes that they have, at most three.
func shapes(values []document.Node) string {
	var all []string
	for _, v := range values {
		if s := shape(v); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if len(all) > 3 {
		all = append(all[:3], "others")
	}
	return cmp.Or(strings.Join(all, " or "), "nothing")
}

// isTimeText reports whether a text is a time, and no number that may be one.
func isTimeText(s string) bool {
	return len(s) <= 40 && !isDecimal.MatchString(s) && (isDate.MatchString(s) || isTime(s))
}

// isTime reports whether the library reads a text as a time of our days.
func isTime(s string) bool {
	at, ok := table.ParseTime(s, time.UTC)
	return ok && at.Year() > 2000 && at.Year() < 2100
}

func isToken(s string) bool {
	return isWord.MatchString(s) && !isURL.MatchString(s) && !isTimeText(s) && !isBool.MatchString(s)
}

// looks are what the values of concepts look like. None proves anything.
var looks = []struct { //nolint:gochecknoglobals // never written
	concepts string
	is       func(s string) bool
}{
	{"to", func(s string) bool { return isPhone.MatchString(table.Number(s)) }},
	{"text message", func(s string) bool { return !isWord.MatchString(s) && !isTimeText(s) && !isURL.MatchString(s) }},
	{"hasNext", isBool.MatchString},
	{"parts", regexp.MustCompile(`^[0-9]{1,2}$`).MatchString},
	{"price unitCost cost balance", isAmount.MatchString},
	{"currency", regexp.MustCompile(`^[A-Za-z]{3}$`).MatchString},
	{"created sent", func(s string) bool { return isTimeText(s) || isTime(s) }},
	{"operator country description", func(s string) bool { return !isDecimal.MatchString(s) && (isToken(s) || strings.Contains(s, " ")) }},
	{"total pages number size", isDigits.MatchString},
	{"next", func(s string) bool { return isToken(s) || isURL.MatchString(s) }},
	{"id request reference category from code", func(s string) bool { return isToken(s) && !strings.Contains(s, ".") }},
	{"status deliveryStatus sendStatus", regexp.MustCompile(`^([0-9]{1,3}|[A-Za-z][A-Za-z_ -]*)$`).MatchString},
}

// fits reports whether all values of a column look like those of a concept.
func fits(concept string, c column) bool {
	for _, look := range looks {
		if slices.Contains(strings.Fields(look.concepts), concept) {
			seen := map[string]bool{}
			isOther := func(n document.Node) bool {
				value := strings.TrimSpace(n.Text())
				isAgain := seen[value]
				seen[value] = true
				return !look.is(value) || concept == "id" && isAgain // no two rows have the same
			}
			return len(c.values) > 0 && !slices.ContainsFunc(c.values, isOther)
		}
	}
	return false
}
