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
)

// follow returns the position of a cursor, which may be a link. A link must stay where the credentials may go.
func (l *List) follow(cursor string) (wire.Position, error) {
	isURL := strings.Contains(cursor, "://") || strings.HasPrefix(cursor, "?")
	leadsOn := strings.Contains(cursor, "?") || strings.HasPrefix(cursor, l.url.Path+"/")
	isPath := strings.HasPrefix(cursor, "/") && leadsOn
	if isURL || isPath {
		return l.followLink(cursor)
	}
	return wire.Position{Set: true, Cursor: cursor}, nil
}

func (l *List) followLink(text string) (wire.Position, error) {
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
	base := cleanPath(strings.TrimSuffix(l.url.Path, operation))
	return strings.HasPrefix(cleanPath(link.Path), strings.TrimSuffix(base, "/")+"/")
}

// cleanPath returns a path as the most generous server reads it: decoded until nothing changes, without parameters of its segments, with
// backslashes as slashes, and without dot segments.
func cleanPath(text string) string {
	for {
		decoded, err := url.PathUnescape(text)
		if err != nil || decoded == text {
			break
		}
		text = decoded
	}
	segments := strings.Split(strings.ReplaceAll(text, `\`, "/"), "/")
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
