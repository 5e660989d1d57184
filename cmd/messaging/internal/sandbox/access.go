package sandbox

import (
	"cmp"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// tokenHeader carries the token of the page in requests that change something.
const tokenHeader = "X-Sandbox-Token"

// protect refuses requests with another host in their Host header, requests that a browser sends for another site, and requests
// for the page or the API without the password.
func (s *Spaces) protect(next http.Handler, listen string, addr net.Addr) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isPage := s.isPage(r)
		if isPage {
			setSecurityHeaders(w.Header())
		}
		if !isHost(r.Host, listen, addr) { // DNS rebinding: a foreign name that resolves to this machine
			writeError(w, &httpError{status: http.StatusMisdirectedRequest, text: "the sandbox serves the address that it listens on, and no other host"})
			return
		}
		if http.NewCrossOriginProtection().Check(r) != nil {
			writeError(w, &httpError{status: http.StatusForbidden, text: "cross-site requests are not allowed"})
			return
		}
		if isPage && !s.mayEnter(r) {
			w.Header().Set("WWW-Authenticate", `Basic realm="sandbox", charset="UTF-8"`)
			writeError(w, &httpError{status: http.StatusUnauthorized, text: "enter the password printed at startup"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isPage reports whether a request is for the page or the API. A browser also gets a page at an unknown path.
func (s *Spaces) isPage(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, Root) || s.isHome(r) || s.isUnknown(r)
}

// isHost reports whether a Host header names the address on which the sandbox listens: listen is the address as the user wrote it,
// and addr the resulting one.
func isHost(host, listen string, addr net.Addr) bool {
	bound, isTCP := addr.(*net.TCPAddr)
	if !isTCP {
		return false
	}
	asked := url.URL{Host: host}
	name := strings.ToLower(strings.TrimSuffix(asked.Hostname(), "."))
	ip := net.ParseIP(name)
	listenHost, _, _ := net.SplitHostPort(listen)
	isListenHost := listenHost != "" && name == strings.ToLower(listenHost)
	if bound.IP.IsLoopback() {
		isLocal := name == "localhost" || isListenHost || (ip != nil && ip.IsLoopback())
		return isLocal && cmp.Or(asked.Port(), "80") == itoa(bound.Port)
	}
	if ip != nil {
		return true // DNS cannot redirect an IP address
	}
	if isListenHost && !bound.IP.IsUnspecified() {
		return true
	}
	machine, err := os.Hostname()
	return name == "localhost" || (err == nil && name == strings.ToLower(machine))
}

// setSecurityHeaders sets the header of every response of the page and the API.
func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' http: https:; media-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// mayEnter reports whether a request may see the page: it has the password or the token of the service, or no password is set.
func (s *Spaces) mayEnter(r *http.Request) bool {
	if s.config.Password == "" || s.findToken(r).isPresent {
		return true
	}
	_, password, ok := r.BasicAuth()
	return ok && equal(password, s.config.Password)
}

// mayChange reports whether a request may change something: it comes from the page, or has the token of the service.
func (s *Sandbox) mayChange(r *http.Request) bool {
	return s.owner.findToken(r).isPresent || equal(r.Header.Get(tokenHeader), s.pageToken)
}

// foundToken describes the token of the service in a request.
type foundToken struct {
	isPresent bool
	space     string // the name after the dot, if any
	header    string // the name of the header that has the token
	value     string // the header without the name of the space
}

// findToken looks for the token of the service, which may end with a dot and the name of a space.
func (s *Spaces) findToken(r *http.Request) foundToken {
	auth := table.Of(s.config.Contract).Auth
	type candidate struct{ header, scheme string }
	candidates := []candidate{{"Authorization", "Bearer"}, {auth.Token.Header, auth.Token.Scheme}}
	if auth.KeyPair.In == "header" {
		candidates = append(candidates, candidate{header: auth.KeyPair.Key})
	}
	for _, candidate := range candidates {
		value := r.Header.Get(candidate.header)
		token := s.config.Token
		if candidate.scheme != "" {
			token = candidate.scheme + " " + token
		}
		if equal(value, token) {
			return foundToken{isPresent: true, header: candidate.header, value: token}
		}
		if len(value) > len(token) && value[len(token)] == '.' && equal(value[:len(token)], token) {
			return foundToken{isPresent: true, space: value[len(token)+1:], header: candidate.header, value: token}
		}
	}
	return foundToken{}
}
