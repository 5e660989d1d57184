package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Authenticator puts credentials into the request of an attempt.
type Authenticator interface {
	// authenticate changes r, whose body is body. Its own requests use ctx; the context of r is only for r. If the credentials can be
	// replaced, forget drops them.
	authenticate(ctx context.Context, observe Observe, r *http.Request, body []byte) (forget func(), err error)
}

// headerFunc sets fixed headers. It is a function so that package fmt cannot print their values.
type headerFunc func(http.Header)

// Header returns an Authenticator that sets headers, given as pairs of name and value.
func Header(pairs ...string) Authenticator {
	fixed := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fixed.Set(pairs[i], pairs[i+1])
	}
	return headerFunc(func(h http.Header) {
		for name, values := range fixed {
			h[name] = slices.Clone(values) // a round tripper may mask them in place
		}
	})
}

func (f headerFunc) authenticate(_ context.Context, _ Observe, r *http.Request, _ []byte) (forget func(), err error) {
	f(r.Header)
	return nil, nil
}

var (
	errMoved         = &safeError{text: "authentication changed the method or the host; credentials go to the base URL only"}
	errInvalidHeader = &safeError{text: "authentication set a header that HTTP does not allow"}
)

// authError returns the error of missing credentials. Its text leaves out that of err, which may hold a secret.
func authError(err error) error {
	return &safeError{"authentication failed before anything was sent", err}
}

// Custom is a user's function that authenticates the finished request. It may change everything except the method and
// the host.
type Custom func(*http.Request) error

func (f Custom) authenticate(ctx context.Context, _ Observe, r *http.Request, body []byte) (forget func(), err error) {
	changed := r.WithContext(ctx)
	originalURL := *r.URL // which the function may change
	changed.Header = r.Header.Clone()
	if r.Body != nil {
		// For a signature over the body. net/http must not find it.
		changed.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	if err := f(changed); err != nil {
		return nil, authError(err)
	}
	changed.GetBody = nil
	if changed.Header == nil {
		changed.Header = http.Header{}
	}
	for name, values := range changed.Header {
		if !ValidHeader(name, values...) {
			return nil, errInvalidHeader
		}
	}
	if changed.Method != r.Method || changed.Host != r.Host || !isSameServer(changed.URL, &originalURL) {
		return nil, errMoved
	}
	if r.Body != nil {
		after, err := bodyAfter(r, changed, body)
		if err != nil {
			return nil, authError(err)
		}
		changed.Body = io.NopCloser(bytes.NewReader(after))
		changed.ContentLength = int64(len(after))
	}
	*r = *changed.WithContext(r.Context()) //nolint:contextcheck // the request keeps its own
	return nil, nil
}

// isSameServer reports whether a URL, which may be nil, leads to the server of another.
func isSameServer(u, original *url.URL) bool {
	return u != nil && u.Opaque == "" && u.Scheme == original.Scheme && u.Host == original.Host
}

// bodyAfter returns the body of a request after a user's function, which may have read or replaced it.
func bodyAfter(original, changed *http.Request, body []byte) ([]byte, error) {
	switch changed.Body {
	case nil:
		return nil, nil
	case original.Body:
		return body, nil
	default:
		defer changed.Body.Close() //nolint:errcheck // nothing can be done about it
		return io.ReadAll(changed.Body)
	}
}

// ValidHeader reports whether HTTP allows the header. net/http refuses an invalid one without running a hook, so that there is no evidence.
func ValidHeader(name string, values ...string) bool {
	if !table.IsToken(name) {
		return false
	}
	for _, value := range values {
		if strings.ContainsFunc(value, isControl) {
			return false
		}
	}
	return true
}

func isControl(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
