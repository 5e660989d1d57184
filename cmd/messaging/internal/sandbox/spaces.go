package sandbox

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Spaces manages the default sandbox and named spaces for tests, each with its own ledger, faults and clock. A request selects a space
// with a suffix of the token, with a header, or by the path of its page. All methods are safe for concurrent use.
type Spaces struct {
	config Config

	mu     sync.Mutex          // guards the fields below, and Sandbox.used
	spaces map[string]*Sandbox // by name; the default sandbox has the empty name
	closed bool
}

// A header or a path names a space.
const (
	spaceHeader = "X-Sandbox-Space"
	spacesPath  = Root + "spaces/"
)

const (
	maxSpaces = 50
	spaceIdle = time.Minute // an unused space makes room for another after this time
)

var (
	errNoSuchSpace = &httpError{status: http.StatusNotFound, text: "there is no such space: a request with the token creates it"}
	errSpaceName   = errors.New("the name of a space has 1 to 64 letters, digits, hyphens and underscores")
	errSpaces      = &httpError{
		status: http.StatusServiceUnavailable,
		text:   "too many spaces (" + itoa(maxSpaces) + "): delete one with DELETE spaces/NAME",
	}
)

var spaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New starts a sandbox, which the caller closes.
func New(config Config) *Spaces {
	config.Token = cmp.Or(config.Token, rand.Text())
	s := &Spaces{config: config, spaces: map[string]*Sandbox{}}
	key := rand.Text()
	if hasKeyPair(config.Contract) {
		key = config.Token
	}
	s.spaces[""] = startSandbox(s, options{
		root:      Root,
		key:       key,
		secret:    rand.Text(),
		pageToken: rand.Text(),
		bounds:    defaultBounds(),
	})
	return s
}

// Close ends calls of webhooks and closes all services.
func (s *Spaces) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, space := range s.spaces {
		space.close()
	}
}

// Sandbox returns the default sandbox.
func (s *Spaces) Sandbox() *Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spaces[""]
}

// get returns a space, and creates it if mayCreate. The empty name is the default sandbox.
func (s *Spaces) get(name string, mayCreate bool) (*Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != "" && !spaceName.MatchString(name) {
		return nil, errSpaceName
	}
	if known := s.spaces[name]; known != nil {
		known.used = time.Now()
		return known, nil
	}
	if !mayCreate || s.closed {
		return nil, errNoSuchSpace
	}
	if len(s.spaces) > maxSpaces && !s.makeRoom() {
		return nil, errSpaces
	}
	first := s.spaces[""]
	space := startSandbox(s, options{
		space:     name,
		root:      spacesPath + name + "/",
		key:       first.key,
		secret:    first.secret,
		pageToken: rand.Text(),
		bounds:    spaceBounds(),
	})
	s.spaces[name] = space
	return space, nil
}

// makeRoom removes the space that was idle for the longest time. It reports false if none was. The caller holds mu.
func (s *Spaces) makeRoom() bool {
	oldest := ""
	for name, space := range s.spaces {
		isIdle := name != "" && time.Since(space.used) > spaceIdle && !space.live.isWatched()
		if isIdle && (oldest == "" || space.used.Before(s.spaces[oldest].used)) {
			oldest = name
		}
	}
	return s.remove(oldest)
}

// reset empties a sandbox. With all it restarts the sandbox with the same credentials and the settings of its first start.
func (s *Spaces) reset(old *Sandbox, all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.spaces[old.space] != old {
		return errNoSuchSpace // removed or restarted meanwhile
	}
	if !all {
		old.reset()
		return nil
	}
	old.close()
	s.spaces[old.space] = startSandbox(s, old.options)
	return nil
}

// remove closes a space and reports whether it existed. The caller holds mu.
func (s *Spaces) remove(name string) bool {
	space := s.spaces[name]
	if space == nil || name == "" {
		return false
	}
	space.close()
	delete(s.spaces, name)
	return true
}

// Space is a space in the API.
type Space struct {
	Name     string `json:"name"`
	URL      string `json:"url"` // of its page
	Messages int    `json:"messages"`
}

// list returns the spaces by name.
func (s *Spaces) list() []Space {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Space{}
	for name, space := range s.spaces {
		if name != "" {
			all = append(all, Space{Name: name, URL: space.root, Messages: space.size()})
		}
	}
	slices.SortFunc(all, func(a, b Space) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Handler serves the service, the page and the API. listen is the address as the user wrote it, and addr the resulting one: requests for
// other hosts are refused, and so are requests that a browser sends for another site.
func (s *Spaces) Handler(listen string, addr net.Addr) http.Handler {
	return s.protect(http.HandlerFunc(s.route), listen, addr)
}

// isHome reports whether a request is for the root of the address, which leads to the page unless the contract has an operation there.
func (s *Spaces) isHome(r *http.Request) bool {
	return r.URL.Path == "/" && r.Method == http.MethodGet && !isServicePath(table.Of(s.config.Contract), "/")
}

// isUnknown reports whether a browser requests a path that the service does not have.
func (s *Spaces) isUnknown(r *http.Request) bool {
	return isByBrowser(r) && !isServicePath(table.Of(s.config.Contract), r.URL.Path)
}

// route passes a request to its space.
func (s *Spaces) route(w http.ResponseWriter, r *http.Request) {
	name, r := s.withoutSpace(r)
	mayCreate := s.Sandbox().mayChange(r)
	space, err := s.get(name, mayCreate)
	if err != nil {
		writeError(w, err)
		return
	}
	switch {
	case strings.HasPrefix(r.URL.Path, Root):
		space.routes.ServeHTTP(w, r)
	case s.isHome(r):
		http.Redirect(w, r, space.root, http.StatusSeeOther)
	case r.Method == http.MethodGet && r.URL.Path == "/favicon.ico":
		http.Redirect(w, r, Root+"static/icon.svg", http.StatusSeeOther)
	case s.isUnknown(r):
		space.pageMissing(w, r)
	default:
		space.serve(w, r)
	}
}

// withoutSpace returns the name of the space in a request, and the request as the default sandbox would get it: with the plain token, and
// without the space in its path.
func (s *Spaces) withoutSpace(r *http.Request) (name string, plain *http.Request) {
	plain = r.Clone(r.Context())
	token := s.findToken(r)
	if token.isPresent {
		plain.Header.Set(token.header, token.value)
	}
	name, rest, isInPath := spaceInPath(r.URL)
	switch {
	case isInPath:
		plain.URL = rest
		return name, plain
	case strings.HasPrefix(r.URL.EscapedPath(), spacesPath): // DELETE spaces/NAME is a request to the default sandbox
		return "", plain
	default:
		return cmp.Or(r.Header.Get(spaceHeader), token.space), plain
	}
}

// spaceInPath returns the name in /_sandbox/spaces/NAME/…, and the URL without it.
func spaceInPath(u *url.URL) (name string, rest *url.URL, ok bool) {
	below, isBelow := strings.CutPrefix(u.EscapedPath(), spacesPath)
	name, path, isWithin := strings.Cut(below, "/")
	if !isBelow || !isWithin {
		return "", nil, false
	}
	without := *u
	without.RawPath = Root + path
	without.Path = Root + strings.TrimPrefix(u.Path, spacesPath+name+"/")
	return name, &without, true
}

func (s *Sandbox) deleteSpace(r *request) (any, error) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if !s.owner.remove(r.PathValue("name")) {
		return nil, errNoSuchSpace
	}
	return empty(), nil
}
