package transport

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
)

// Authenticator puts credentials into the request of an attempt.
type Authenticator interface {
	// authenticate changes r, whose body is body. If the credentials can be replaced by others, it returns a function
	// that drops them.
	authenticate(r *http.Request, body []byte) (forget func(), err error)
}

// header sets fixed headers. It is a function so that package fmt cannot print their values.
type header func(http.Header)

// Header returns an Authenticator that sets headers, given as pairs of name and value.
func Header(pairs ...string) Authenticator {
	pairs = slices.Clone(pairs)
	return header(func(h http.Header) {
		for i := 0; i+1 < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
	})
}

func (set header) authenticate(r *http.Request, _ []byte) (func(), error) {
	set(r.Header)
	return nil, nil
}

var (
	errMoved         = &namedError{text: "authentication changed the method or the host of the request; credentials go to the base URL only"}
	errInvalidHeader = &namedError{text: "authentication set a header that HTTP does not allow"}
)

// authError says that there are no credentials. Its text leaves out that of err, which may hold a secret.
func authError(err error) error {
	return &namedError{"authentication failed before anything was sent", err}
}

// Custom is a user's function that authenticates the finished request. It may change everything except the method and
// the host.
type Custom func(*http.Request) error

func (f Custom) authenticate(r *http.Request, body []byte) (func(), error) {
	method, host, scheme, sent := r.Method, r.URL.Host, r.URL.Scheme, r.Body
	if sent != nil {
		// For a signature over the body. net/http must not find it.
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	err := f(r)
	r.GetBody = nil
	if r.Header == nil {
		r.Header = http.Header{}
	}
	switch {
	case err != nil:
		return nil, authError(err)
	case r.URL == nil || r.URL.Opaque != "" || r.Method != method || r.URL.Host != host || r.URL.Scheme != scheme || r.Host != host:
		return nil, errMoved
	case sent != nil:
		if err := restoreBody(r, sent, body); err != nil {
			return nil, err
		}
	}
	for name, values := range r.Header {
		if !ValidHeader(name, values...) {
			return nil, errInvalidHeader
		}
	}
	return nil, nil
}

// restoreBody makes the body whole again if the function has read it, and measures it if the function replaced it.
func restoreBody(r *http.Request, sent io.ReadCloser, body []byte) error {
	if r.Body == nil {
		body = nil
	} else if r.Body != sent {
		var err error
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return authError(err)
		}
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// ValidHeader reports whether HTTP allows the header. net/http refuses one that is not, without a trace of evidence.
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

// isToken reports whether RFC 9110 allows r in a token.
func isToken(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r != 0 && strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
