package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// Authenticator puts credentials into the request of an attempt.
type Authenticator interface {
	// authenticate changes r, whose body is body. It uses ctx for requests of its own: the context of r is for r. forget drops the
	// credentials, if others can replace them.
	authenticate(ctx context.Context, observe Observe, r *http.Request, body []byte) (forget func(), err error)
}

// header sets fixed headers. It is a function so that package fmt cannot print their values.
type header func(http.Header)

// Header returns an Authenticator that sets headers, given as pairs of name and value.
func Header(pairs ...string) Authenticator {
	fixed := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fixed.Set(pairs[i], pairs[i+1])
	}
	return header(func(h http.Header) {
		for name, values := range fixed {
			h[name] = slices.Clone(values) // a round tripper may mask them in place
		}
	})
}

func (set header) authenticate(_ context.Context, _ Observe, r *http.Request, _ []byte) (forget func(), err error) {
	set(r.Header)
	return nil, nil
}

var (
	errMoved         = &namedError{text: "authentication changed the method or the host; credentials go to the base URL only"}
	errInvalidHeader = &namedError{text: "authentication set a header that HTTP does not allow"}
)

// authError says that there are no credentials. Its text leaves out that of err, which may hold a secret.
func authError(err error) error {
	return &namedError{"authentication failed before anything was sent", err}
}

// Custom is a user's function that authenticates the finished request. It may change everything except the method and
// the host.
type Custom func(*http.Request) error

func (f Custom) authenticate(ctx context.Context, _ Observe, r *http.Request, body []byte) (forget func(), err error) {
	shown, scheme := r.WithContext(ctx), r.URL.Scheme
	shown.Header = r.Header.Clone() // its values are shared
	if r.Body != nil {
		// For a signature over the body. net/http must not find it.
		shown.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	if err := f(shown); err != nil {
		return nil, authError(err)
	}
	shown.GetBody = nil
	if shown.Header == nil {
		shown.Header = http.Header{}
	}
	for name, values := range shown.Header {
		if !ValidHeader(name, values...) {
			return nil, errInvalidHeader
		}
	}
	if shown.URL == nil || shown.URL.Opaque != "" || shown.URL.Host != r.Host || shown.URL.Scheme != scheme ||
		shown.Host != r.Host || shown.Method != r.Method {
		return nil, errMoved
	}
	if r.Body != nil {
		// The function may have read the body, or replaced it.
		switch {
		case shown.Body == nil:
			body = nil
		case shown.Body != r.Body:
			var err error
			body, err = io.ReadAll(shown.Body)
			_ = shown.Body.Close()
			if err != nil {
				return nil, authError(err)
			}
		}
		shown.Body, shown.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	*r = *shown.WithContext(r.Context()) //nolint:contextcheck // the request keeps its own
	return nil, nil
}

// ValidHeader reports whether HTTP allows the header. net/http refuses one that is not, without a trace of evidence.
func ValidHeader(name string, values ...string) bool {
	if !table.IsToken(name) {
		return false
	}
	for _, value := range values {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return false
		}
	}
	return true
}
