package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Authenticator puts credentials into the request of one attempt.
type Authenticator interface {
	authenticate(ctx context.Context, e *exchange, r *http.Request) error
}

// header sets fixed headers. It is a function so that no verb of package fmt can print what it sets.
type header func(http.Header)

// Header returns an Authenticator that sets the headers in pairs of name and value.
func Header(pairs ...string) Authenticator {
	set := slices.Clone(pairs)
	for i := 0; i+1 < len(set); i += 2 {
		set[i] = http.CanonicalHeaderKey(set[i])
	}
	return header(func(h http.Header) {
		for i := 0; i+1 < len(set); i += 2 {
			h[set[i]] = []string{set[i+1]} // new: a round tripper that masks it in place must not mask it for good
		}
	})
}

func (set header) authenticate(_ context.Context, _ *exchange, r *http.Request) error {
	set(r.Header)
	return nil
}

// Custom is a user's function that sees the finished request.
type Custom func(*http.Request) error

// errMoved says that a user's function would send credentials somewhere else.
var errMoved = errors.New("authentication changed the method or the host of the request; credentials go to the base URL only")

// errHeader says that net/http would refuse the request after all.
var errHeader = errors.New("authentication set a header with a name or a value that HTTP does not allow")

func (f Custom) authenticate(_ context.Context, e *exchange, r *http.Request) error {
	method, host, scheme, sent := r.Method, r.URL.Host, r.URL.Scheme, r.Body
	if sent != nil {
		// For a signature over the body. It is taken away again before net/http could repeat the request with it.
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(e.request.Body)), nil }
	}
	err := f(r)
	r.GetBody = nil
	if r.Header == nil {
		r.Header = http.Header{}
	}
	switch {
	case err != nil:
		err = AuthError{err}
	case r.URL == nil || r.URL.Opaque != "" || r.Method != method || r.URL.Host != host || r.URL.Scheme != scheme || r.Host != host:
		err = errMoved
	case !validHeaders(r.Header):
		err = errHeader
	default:
		return rewind(e, r, sent)
	}
	if r.Body != nil && r.Body != sent {
		_ = r.Body.Close()
	}
	return err
}

func validHeaders(h http.Header) bool {
	for name, values := range h {
		if !ValidHeader(name, values...) {
			return false
		}
	}
	return true
}

// rewind makes the body whole again where the function has read it, and measures it where it was replaced.
func rewind(e *exchange, r *http.Request, sent io.ReadCloser) error {
	if sent == nil {
		return nil
	}
	body := e.request.Body
	if r.Body != sent {
		body = nil
		if r.Body != nil {
			var err error
			body, err = io.ReadAll(r.Body)
			_ = r.Body.Close()
			if err != nil {
				return AuthError{err}
			}
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// AuthError says that credentials could not be had. Its text leaves out what the user's function said, which may hold
// a secret; Unwrap has it.
type AuthError struct{ Err error }

func (AuthError) Error() string { return "authentication failed before anything was sent" }

// Unwrap gives what the user's function returned.
func (e AuthError) Unwrap() error { return e.Err }

// ValidHeader tells whether HTTP allows the header; net/http would refuse it without a trace of evidence.
func ValidHeader(name string, values ...string) bool {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isToken(r) }) {
		return false
	}
	for _, value := range values {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return false
		}
	}
	return true
}

// isToken tells whether RFC 9110 allows the character in a token.
func isToken(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r != 0 && strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

// withoutQuery takes the query and the user out of the URL of an error that repeats one.
func withoutQuery(err error) error {
	u, ok := err.(*url.Error) //nolint:errorlint // one that is wrapped cannot be rebuilt
	if !ok {
		return err
	}
	shown := ""
	if parsed, err := url.Parse(u.URL); err == nil {
		shown = (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
	}
	return &url.Error{Op: u.Op, URL: shown, Err: withoutQuery(u.Err)}
}
