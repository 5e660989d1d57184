package table

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// names holds the names that are taken in one request.
type names struct {
	dotted bool // dots in a name nest
	taken  map[string]claim
}

// claim is who has a name.
type claim struct {
	place  string // in the table
	around bool   // the name is only the beginning of the one at that place
}

func newNames(dotted bool) *names { return &names{dotted: dotted, taken: map[string]claim{}} }

// claim takes name for place. It returns what is wrong with that, or "".
func (n *names) claim(place, name string) string {
	if fault := nameFault(name, n.dotted); fault != "" {
		return fault
	}
	switch other, ok := n.taken[name]; {
	case ok && other.around:
		return "would hold both a value of its own and " + other.place
	case ok:
		return "has the same name as " + other.place
	}
	var beginnings []string
	for i := range len(name) {
		if n.dotted && name[i] == '.' {
			beginnings = append(beginnings, name[:i])
		}
	}
	for _, beginning := range beginnings {
		if other, ok := n.taken[beginning]; ok && !other.around {
			return "would stand within the value of " + other.place
		}
	}
	for _, beginning := range beginnings {
		n.taken[beginning] = claim{place, true}
	}
	n.taken[name] = claim{place: place}
	return ""
}

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

// headerFault returns what is wrong with the name of a header that carries credentials, or "".
func headerFault(name string) string {
	if !isToken(name) {
		return "is not the name of a header"
	}
	switch strings.ToLower(name) {
	case "accept", "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect", "host",
		"keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "user-agent":
		return "names a header that the client or net/http writes itself"
	case "idempotency-key", "x-idempotency-key":
		return "names a header that makes net/http retry a POST by itself"
	}
	return ""
}

// isToken reports whether text is a token of RFC 9110, section 5.6.2.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}
