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
	errNoSuchSpace = &refusal{http.StatusNotFound, "there is no such space: a request with the token makes it, or POST spaces", nil}
	errSpaceName   = errors.New("the name of a space has 1 to 64 letters, digits, hyphens and underscores")
	errSpaces      = &refusal{http.StatusServiceUnavailable, "there are " + itoa(maxSpaces) + " spaces in use: DELETE spaces/NAME ends one", nil}
)

var spaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// New starts a sandbox. The caller closes it. The error is of the file to keep messages in.
func New(config Config) (*Spaces, error) {
	config.Token = cmp.Or(config.Token, keptToken(config.Keep), rand.Text())
	s := &Spaces{config: config, spaces: map[string]*Sandbox{}}
	_, err := s.start(identity{root: Root, key: rand.Text(), secret: rand.Text(), page: rand.Text(), bounds: defaultBounds()})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// start starts a sandbox. The caller holds mu, if somebody else can.
func (s *Spaces) start(who identity) (*Sandbox, error) {
	config := s.config
	if who.space != "" {
		config.Keep = ""
	}
	opened, err := newSandbox(config, who, s)
	if err != nil {
		return nil, err
	}
	s.spaces[who.space] = opened
	return opened, nil
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

// Messages returns how many messages programs have sent, in the sandbox and in the spaces that there are.
func (s *Spaces) Messages() (sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, each := range s.spaces {
		each.mu.Lock()
		sent += each.book.sent
		each.mu.Unlock()
	}
	return sent
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
	return s.start(identity{
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
	if old.close() != nil || old.config.Keep != "" && os.Truncate(old.config.Keep, 0) != nil {
		return errKeep
	}
	if _, err := s.start(old.identity); err != nil {
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
		isPage := strings.HasPrefix(r.URL.Path, Root) || s.isHome(r)
		if isPage {
			secure(w.Header())
		}
		switch {
		case !isHost(r.Host, listen, addr):
			failed(w, &refusal{http.StatusMisdirectedRequest, "the sandbox answers to the address that it listens on, and to no other host", nil})
			return
		case isForeign(r):
			failed(w, &refusal{http.StatusForbidden, "a page of another site reads and sends nothing here", nil})
			return
		case isPage && !s.mayEnter(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="sandbox", charset="UTF-8"`)
			failed(w, &refusal{http.StatusUnauthorized, "the password that was printed at the start is asked for", nil})
			return
		}
		s.route(w, r)
	})
}

// isHome reports whether a request is for the root of the address, which leads to the page unless the contract has an operation there.
func (s *Spaces) isHome(r *http.Request) bool {
	return r.URL.Path == "/" && r.Method == http.MethodGet && operationAt(s.config.Contract.Table(), "/") == ""
}

// route passes a request to the space that it names.
func (s *Spaces) route(w http.ResponseWriter, r *http.Request) {
	main := s.Sandbox()
	isPage := strings.HasPrefix(r.URL.Path, Root)
	name, hasToken := main.spaceOf(r)
	target, err := s.named(name, hasToken)
	switch {
	case err != nil:
		failed(w, err)
	case isPage:
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

// spaceOf returns the space that a request names, and whether it has the token. What named it is taken out of the request.
func (s *Sandbox) spaceOf(r *http.Request) (name string, hasToken bool) {
	if rest, ok := strings.CutPrefix(r.URL.EscapedPath(), Root+"spaces/"); ok {
		var isWithin bool
		if name, rest, isWithin = strings.Cut(rest, "/"); !isWithin { // the space itself
			return "", false
		}
		r.URL.RawPath = Root + rest
		r.URL.Path = Root + strings.TrimPrefix(r.URL.Path, Root+"spaces/"+name+"/")
		hasToken = s.hasToken(r) || equal(r.Header.Get(tokenHeader), s.page)
		return name, hasToken
	}
	for _, place := range []struct{ header, scheme string }{{"Authorization", "Bearer"}, {s.table.Auth.Token.Header, s.table.Auth.Token.Scheme}} {
		before := strings.TrimPrefix(place.scheme+" ", " ")
		token, ok := strings.CutPrefix(r.Header.Get(place.header), before)
		if suffix, has := s.tokenSuffix(token); ok && has {
			r.Header.Set(place.header, before+s.service.Token)
			name, hasToken = cmp.Or(suffix, name), true
		}
	}
	return cmp.Or(r.Header.Get(spaceHeader), name), hasToken || equal(r.Header.Get(tokenHeader), s.page)
}

type spaceBody struct {
	Name string `json:"name"`
}

func (s *Sandbox) postSpace(_ *request, body spaceBody) (any, error) {
	if body.Name == "" {
		return nil, errSpaceName
	}
	made, err := s.owner.named(body.Name, true)
	if err != nil {
		return nil, err
	}
	return Space{Name: made.space, URL: made.root}, nil
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
	if s.config.Password == "" || s.Sandbox().hasToken(r) {
		return true
	}
	_, password, ok := r.BasicAuth()
	return ok && equal(password, s.config.Password)
}

// hasToken reports whether a request has the token of the service, with the suffix of a space or without.
func (s *Sandbox) hasToken(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	_, has := s.tokenSuffix(token)
	return ok && has
}

// tokenSuffix returns the space that a token ends with, if any, and reports whether the token is the service's.
func (s *Sandbox) tokenSuffix(token string) (space string, ok bool) {
	own := s.service.Token
	if len(token) > len(own) && token[len(own)] == '.' {
		token, space = token[:len(own)], token[len(own)+1:]
	}
	return space, equal(token, own)
}

// mayChange reports whether a request that changes something comes from the page or has the service's token.
func (s *Sandbox) mayChange(r *http.Request) bool {
	return s.hasToken(r) || equal(r.Header.Get(tokenHeader), s.page)
}
