package codec

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// Why a link to the next page is not followed.
const (
	errElsewhere = pageError("the response links to a next page that is not at the base URL")
	errOtherPath = pageError("the response links to a next page at another path, where a POST could do more than list")
	errQuery     = pageError("the response links to a next page with a query that cannot be parsed")
	errLongLink  = pageError("the response links to a next page with a link of more than 16 KiB")
)

const (
	// longestLink is more than most servers accept. A link is parsed and decoded only up to this length.
	longestLink = 16 << 10
	// maxDecodings is how often a path is decoded. Each proxy and server on the way decodes it once.
	maxDecodings = 4
)

// cursorPosition returns the position of a cursor, which may be a link. A link must stay where the credentials may go.
func (l *List) cursorPosition(cursor string) (wire.Position, error) {
	isURL := strings.Contains(cursor, "://") || strings.HasPrefix(cursor, "?")
	leadsOn := strings.Contains(cursor, "?") || strings.HasPrefix(cursor, l.url.Path+"/")
	isPath := strings.HasPrefix(cursor, "/") && leadsOn
	switch {
	case !isURL && !isPath:
		return wire.Position{Set: true, Cursor: cursor}, nil
	case len(cursor) > longestLink:
		return wire.Position{}, errLongLink
	default:
		return l.linkPosition(cursor)
	}
}

// linkPosition returns the position of a link, or why it is not followed.
func (l *List) linkPosition(text string) (wire.Position, error) {
	link, err := l.url.Parse(text)
	if err != nil || !sameOrigin(link, l.url) || link.User != nil {
		return wire.Position{}, errElsewhere
	}
	if !l.isBelowBase(link) {
		return wire.Position{}, errElsewhere
	}
	if l.method == "POST" && link.EscapedPath() != l.url.EscapedPath() {
		return wire.Position{}, errOtherPath
	}
	if _, err := url.ParseQuery(link.RawQuery); err != nil {
		return wire.Position{}, errQuery
	}
	return wire.Position{Set: true, Link: link.RequestURI()}, nil
}

// isBelowBase reports whether a link stays below the path of the base URL, at which another service may be, however a server or a proxy
// reads the path.
func (l *List) isBelowBase(link *url.URL) bool {
	operation, _ := url.PathUnescape(l.op.Path)
	base, isBaseDecoded := decodePath(strings.TrimSuffix(l.url.Path, operation))
	linked, isLinkDecoded := decodePath(link.Path)
	if !isBaseDecoded || !isLinkDecoded {
		return false
	}
	return strings.HasPrefix(cleanPath(linked), strings.TrimSuffix(cleanPath(base), "/")+"/")
}

// decodePath decodes a path until nothing changes. It reports false if the path is encoded too often, or if a % is not part of an escape: some
// servers then decode the rest of the path, and others do not.
func decodePath(text string) (decoded string, ok bool) {
	for range maxDecodings {
		next, err := url.PathUnescape(text)
		if err != nil {
			return "", false
		}
		if next == text {
			return text, true
		}
		text = next
	}
	return "", false
}

// cleanPath returns a decoded path as the most generous server reads it: without parameters of its segments, with backslashes as slashes, and
// without dot segments.
func cleanPath(decoded string) string {
	segments := strings.Split(strings.ReplaceAll(decoded, `\`, "/"), "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	return path.Clean("/" + strings.Join(segments, "/"))
}

func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if u.Scheme == "https" {
			return cmp.Or(u.Port(), "443")
		}
		return cmp.Or(u.Port(), "80")
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}
