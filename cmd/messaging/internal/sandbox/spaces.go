package sandbox

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Spaces are a sandbox and the spaces that tests have for themselves, each with its own ledger, faults and clock. Requests name
// the space by a suffix of the token, by a header, or by the path of its page. All methods are safe for concurrent use.
type Spaces struct {
	config Config

	mu     sync.Mutex
	spaces map[string]*Sandbox // by name; the sandbox that is always there has none
	closed bool
}

// spaceHeader names the space that a request is for.
const spaceHeader = "X-Sandbox-Space"

const (
	maxSpaces  = 50
	spaceQuiet = time.Minute // after which a space makes room for another
)

var (
	errNoSuchSpace = &refusal{http.StatusNotFound, "there is no such space: a request with the token makes it", nil}
	errSpaceName   = errors.New("the name of a space has 1 to 64 letters, digits, hyphens and underscores")
	errSpaces      = &refusal{http.StatusServiceUnavailable, "there are " + itoa(maxSpaces) + " spaces in use: DELETE spaces/NAME ends one", nil}
)

var spaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New starts a sandbox. The caller closes it. The error is of the file to keep messages in.
func New(config Config) (*Spaces, error) {
	config.Token = cmp.Or(config.Token, keptToken(config.Keep), rand.Text())
	s := &Spaces{config: config, spaces: map[string]*Sandbox{}}
	_, err := newSandbox(s, identity{
		root: Root, keep: config.Keep, key: rand.Text(), secret: rand.Text(), page: rand.Text(), bounds: defaultBounds(),
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends calls of webhooks, and closes all services and the file.
func (s *Spaces) Close() (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, each := range s.spaces {
		err = errors.Join(err, each.close())
	}
	return err
}

// Sandbox returns the one that is always there.
func (s *Spaces) Sandbox() *Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spaces[""]
}

// named returns a space, and makes it if mayMake. The empty name is the sandbox that is always there.
func (s *Spaces) named(name string, mayMake bool) (*Sandbox, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != "" && !spaceName.MatchString(name) {
		return nil, errSpaceName
	}
	if known := s.spaces[name]; known != nil {
		known.used = time.Now()
		return known, nil
	}
	if !mayMake || s.closed {
		return nil, errNoSuchSpace
	}
	if len(s.spaces) > maxSpaces && !s.makeRoom() {
		return nil, errSpaces
	}
	main := s.spaces[""]
	return newSandbox(s, identity{
		space: name, root: Root + "spaces/" + name + "/", key: main.key, secret: main.secret, page: rand.Text(), bounds: spaceBounds(),
	})
}

// makeRoom ends the space that was not used for the longest time, and reports false if all are in use. The caller holds mu.
func (s *Spaces) makeRoom() bool {
	oldest := ""
	for name, each := range s.spaces {
		isIdle := name != "" && time.Since(each.used) > spaceQuiet && !each.live.isWatched()
		if isIdle && (oldest == "" || each.used.Before(s.spaces[oldest].used)) {
			oldest = name
		}
	}
	return s.end(oldest)
}

// renew empties a sandbox, or starts one anew with the same credentials, as it was when it started.
func (s *Spaces) renew(old *Sandbox, all bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.spaces[old.space] != old {
		return errNoSuchSpace // it has ended, or somebody else renewed it
	}
	if !all {
		return old.reset()
	}
	if old.close() != nil || old.keep != "" && os.Truncate(old.keep, 0) != nil {
		return errKeep
	}
	if _, err := newSandbox(s, old.identity); err != nil {
		return errKeep
	}
	return nil
}

// end ends a space and reports whether there was one. The caller holds mu.
func (s *Spaces) end(name string) bool {
	each := s.spaces[name]
	if each == nil || name == "" {
		return false
	}
	_ = each.close() // it has no file
	delete(s.spaces, name)
	return true
}

// Space is a space as the API shows it.
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
	for name, each := range s.spaces {
		if name != "" {
			each.mu.Lock()
			all = append(all, Space{name, each.root, len(each.book.entries)})
			each.mu.Unlock()
		}
	}
	slices.SortFunc(all, func(a, b Space) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Handler serves the service, the page and the API, to requests for the address that it listens on: listen is the address as the
// user gave it, and addr where it listens. Other hosts are refused, so that no page of another site reaches the sandbox by a
// name of its own that leads here, and so is what a browser sends for a page of another site.
func (s *Spaces) Handler(listen string, addr net.Addr) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		space := s.Sandbox().spaceOf(r)
		isPage := strings.HasPrefix(r.URL.Path, Root) || s.isHome(r)
		if isPage {
			secure(w.Header())
		}
		switch {
		case !isHost(r.Host, listen, addr):
			failed(w, &refusal{http.StatusMisdirectedRequest, "the sandbox answers to the address that it listens on, and to no other host", nil})
		case isForeign(r):
			failed(w, &refusal{http.StatusForbidden, "a page of another site reads and sends nothing here", nil})
		case isPage && !s.mayEnter(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="sandbox", charset="UTF-8"`)
			failed(w, &refusal{http.StatusUnauthorized, "the password that was printed at the start is asked for", nil})
		default:
			s.route(w, r, space)
		}
	})
}

// isHome reports whether a request is for the root of the address, which leads to the page unless the contract has an operation there.
func (s *Spaces) isHome(r *http.Request) bool {
	return r.URL.Path == "/" && r.Method == http.MethodGet && operationAt(table.Of(s.config.Contract), "/") == ""
}

// route passes a request to a space.
func (s *Spaces) route(w http.ResponseWriter, r *http.Request, space string) {
	target, err := s.named(space, s.Sandbox().mayChange(r))
	switch {
	case err != nil:
		failed(w, err)
	case strings.HasPrefix(r.URL.Path, Root):
		target.routes.ServeHTTP(w, r)
	case s.isHome(r):
		http.Redirect(w, r, target.root, http.StatusSeeOther)
	case r.Method == http.MethodGet && r.URL.Path == "/favicon.ico":
		http.Redirect(w, r, Root+"static/icon.svg", http.StatusSeeOther)
	case isByPerson(r) && operationAt(target.table, r.URL.Path) == "":
		secure(w.Header())
		target.pageMissing(w, r)
	default:
		target.serve(w, r)
	}
}

// spaceOf returns the space that a request names. What names it is taken out of the request.
func (s *Sandbox) spaceOf(r *http.Request) string {
	name, _ := s.tokenIn(r)
	rest, isPath := strings.CutPrefix(r.URL.EscapedPath(), Root+"spaces/")
	if !isPath {
		return cmp.Or(r.Header.Get(spaceHeader), name)
	}
	name, rest, isWithin := strings.Cut(rest, "/")
	if !isWithin { // the space itself
		return ""
	}
	r.URL.RawPath = Root + rest
	r.URL.Path = Root + strings.TrimPrefix(r.URL.Path, Root+"spaces/"+name+"/")
	return name
}

// tokenIn reports whether a request has the token of the service. It takes off the name of the space that the token ends with, if any.
func (s *Sandbox) tokenIn(r *http.Request) (space string, ok bool) {
	for _, place := range []struct{ header, scheme string }{{"Authorization", "Bearer"}, {s.table.Auth.Token.Header, s.table.Auth.Token.Scheme}} {
		own := strings.TrimPrefix(place.scheme+" ", " ") + s.service.Token
		value, suffix := r.Header.Get(place.header), ""
		if len(value) > len(own) && value[len(own)] == '.' {
			value, suffix = value[:len(own)], value[len(own)+1:]
		}
		if equal(value, own) {
			r.Header.Set(place.header, own)
			space, ok = cmp.Or(suffix, space), true
		}
	}
	return space, ok
}

func (s *Sandbox) deleteSpace(r *request) (any, error) {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	if !s.owner.end(r.PathValue("name")) {
		return nil, errNoSuchSpace
	}
	return done(nil)
}

// mayEnter reports whether a request has the password, or the service's token, or whether none is asked for.
func (s *Spaces) mayEnter(r *http.Request) bool {
	_, hasToken := s.Sandbox().tokenIn(r)
	_, password, ok := r.BasicAuth()
	return s.config.Password == "" || hasToken || ok && equal(password, s.config.Password)
}

// mayChange reports whether a request that changes something comes from the page or has the service's token.
func (s *Sandbox) mayChange(r *http.Request) bool {
	_, hasToken := s.tokenIn(r)
	return hasToken || equal(r.Header.Get(tokenHeader), s.page)
}
