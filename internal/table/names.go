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

// names holds the names that are taken in one request.
type names struct {
	dotted bool // dots in a name nest, and a number between them is a position in a list
	taken  map[string]claim
}

// claim is who has a name.
type claim struct {
	place  string // in the table
	around bool   // the name is only the beginning of the one at that place
	list   bool   // what is around stands in a list
}

func newNames(dotted bool) *names { return &names{dotted: dotted, taken: map[string]claim{}} }

// claim takes name for place. It returns what is wrong with that, or "".
func (n *names) claim(place, name string) string {
	if fault := nameFault(name, n.dotted); fault != "" {
		return fault
	}
	if fault := n.pathFault(name); fault != "" {
		return fault
	}
	switch other, ok := n.taken[name]; {
	case ok && other.around:
		return "would hold both a value of its own and " + other.place
	case ok:
		return "has the same name as " + other.place
	}
	var around []string
	for i := range len(name) {
		if n.dotted && name[i] == '.' {
			around = append(around, name[:i])
		}
	}
	isList := func(beginning string) bool {
		part, _, _ := strings.Cut(name[len(beginning)+1:], ".")
		return IsPosition(part)
	}
	for _, beginning := range around {
		other, ok := n.taken[beginning]
		switch {
		case ok && !other.around:
			return "would stand within the value of " + other.place
		case ok && other.list != isList(beginning):
			return "stands where a list would have to be an object too, because of " + other.place
		}
	}
	for _, beginning := range around {
		if _, ok := n.taken[beginning]; !ok {
			n.taken[beginning] = claim{place, true, isList(beginning)}
		}
	}
	n.taken[name] = claim{place: place}
	return ""
}

// pathFault returns what is wrong with the path of a name in a request, or "".
func (n *names) pathFault(name string) string {
	parts := strings.Split(name, ".")
	switch {
	case !n.dotted && slices.ContainsFunc(parts[1:], IsPosition):
		return "leads into a list, which only a JSON body has; write the parameter's name, such as to[0], or set encoding to json"
	case !n.dotted:
		return ""
	case IsPosition(parts[0]):
		return "begins with a position, and the body is an object; write the member that holds the list, such as messages.0.to"
	}
	return foreignFault(name)
}

// checkPositions refuses lists that do not begin at 0, or have a hole.
func (n *names) checkPositions(found *Problems) {
	for name, claim := range sorted(n.taken) {
		i := strings.LastIndexByte(name, '.')
		if !n.dotted || i < 0 || !IsPosition(name[i+1:]) {
			continue
		}
		position, _ := strconv.Atoi(name[i+1:])
		if _, ok := n.taken[name[:i+1]+strconv.Itoa(position-1)]; position > 0 && !ok {
			found.add(claim.place, "stands in a list at a position with none before it; positions begin at 0, without a gap")
		}
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
	}
	return ""
}

var bracketed = regexp.MustCompile(`\[[0-9]*\*?\]`)

// maxName is how many bytes a name may have.
const maxName = 256

// nameFault returns what is wrong with the name of a parameter, or "".
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

// pathFault returns what is wrong with the path of an operation, or "". Credentials go where it leads, so it must stay on the
// host.
func pathFault(path string) string {
	switch {
	case !strings.HasPrefix(path, "/"):
		return "must begin with a single /, without scheme and host"
	case !utf8.ValidString(path):
		return "is not valid UTF-8"
	case strings.ContainsAny(path, "{}<>") || strings.Contains(path, "/:"):
		return "holds a placeholder; write what your account has in its place, such as /accounts/AC123/messages"
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
