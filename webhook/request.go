package webhook

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// request holds the bytes of a request, and what verify and classify find out about it.
type request struct {
	query       string
	body        []byte // byte for byte
	bodyErr     error  // of reading the body, which is then incomplete
	contentType string
	isPOST      bool
	isBodyAlone bool // the query holds no data, only secrets

	// By verifyQuery.
	hasWrongSecret bool
	missing        []*secret // the query does not have them, so the body must

	// By classify. At most one of form and json is set.
	form    string // a body that is a form
	json    []byte // a body that is a JSON object or list, in valid UTF-8
	members object // of a body that is a JSON object
	fault   error  // why the body does not count
}

// receive checks the secrets in the query, and reads the bytes of a request. It fails if nothing of the request counts. The body of a request
// with a wrong secret is read only for verifiers, which are called regardless of it.
func (c *callback) receive(r *http.Request) (req request, err error) {
	isGET := r.Method == http.MethodGet || r.Method == "" // a request made by hand may have no method
	isPOST := r.Method == http.MethodPost && c.takesPOST
	switch {
	case isGET, isPOST:
	case r.Method == http.MethodHead:
		return req, c.refuse(ErrPrefetch).withStatus(http.StatusOK)
	default:
		return req, c.refuse(ErrMethod)
	}
	if r.URL != nil {
		req.query = r.URL.RawQuery
	}
	if len(req.query) > c.receiver.maxQuery {
		return req, c.refuse(ErrTooLong)
	}
	c.verifyQuery(&req)
	hasVerifier := len(c.receiver.verifiers) > 0
	if req.hasWrongSecret && !hasVerifier {
		return req, c.proofError(false, nil)
	}
	if isGET && !hasVerifier {
		return req, nil
	}
	req.body, req.bodyErr = readBody(r, c.receiver.maxBody)
	if _, tooLarge := errors.AsType[*http.MaxBytesError](req.bodyErr); tooLarge { // our limit, or one of the server
		return req, c.refuse(ErrTooLarge)
	}
	req.contentType = r.Header.Get("Content-Type")
	req.isPOST = isPOST
	req.isBodyAlone = isPOST && hasVerifier
	return req, nil
}

// readBody reads a body of at most limit bytes. A stranger can announce any length, so a long body gets its room when its beginning has arrived.
func readBody(r *http.Request, limit int) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	reader := http.MaxBytesReader(nil, r.Body, int64(limit))
	var body bytes.Buffer
	const beginning = 32 << 10
	isKnown := r.ContentLength > 0 && r.ContentLength <= int64(limit)
	if isKnown && r.ContentLength > beginning {
		n, err := body.ReadFrom(io.LimitReader(reader, beginning))
		if err != nil || n < beginning {
			return body.Bytes(), err
		}
	}
	if isKnown {
		body.Grow(int(r.ContentLength) - body.Len() + bytes.MinRead)
	}
	_, err := body.ReadFrom(reader)
	return body.Bytes(), err
}

// classify decides what the body is, and whether it counts. It repairs and parses the body, which takes longer than to check a proof.
func (c *callback) classify(req *request) {
	switch {
	case req.isPOST:
		req.fault = c.classifyBody(req)
	case len(req.body) > 0: // a verifier may have checked the body alone, and not the query
		req.fault = c.refuse(errQueryNotRead)
	}
	if req.bodyErr != nil {
		req.fault = c.refuse(ErrUnreadable).withCause(req.bodyErr)
	}
}

// classifyBody decides what a body is by its content: a JSON object is JSON regardless of the Content-Type, and anything else is a form,
// unless the Content-Type says that it is not.
func (c *callback) classifyBody(req *request) (fault error) {
	const byteOrderMark = "\ufeff"
	body := bytes.TrimSpace(bytes.TrimPrefix(req.body, []byte(byteOrderMark)))
	if len(body) == 0 {
		return nil
	}
	mayBeJSON := isObject(body) || c.takesList && isList(body)
	if mayBeJSON {
		req.json = validJSON(body)
		req.members = objectOf(req.json)
	}
	isLikeJSON := isObject(body) || isList(body)
	switch {
	case req.json != nil:
		return nil
	case req.isBodyAlone && isLikeJSON: // a signature does not cover the Content-Type either, so it cannot make a form of it
		return c.refuse(ErrUnreadable)
	}
	mediaType, _, _ := strings.Cut(req.contentType, ";")
	switch strings.ToLower(strings.TrimSpace(mediaType)) {
	case "", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream":
		req.form = string(body)
		return nil
	case "application/json", "text/json":
		return c.refuse(ErrUnreadable)
	default:
		return c.refuse(ErrUnreadable).withStatus(http.StatusUnsupportedMediaType)
	}
}

// validJSON returns a JSON document in valid UTF-8, or nil if the body is no JSON.
func validJSON(body []byte) []byte {
	if !utf8.Valid(body) {
		body = []byte(repair(string(body)))
	}
	if jsonscan.Check(body) != nil {
		return nil
	}
	return body
}

// isPrefetch reports whether a browser or a link preview fetches ahead of its user, who may never ask for the page.
func isPrefetch(h http.Header) bool {
	for _, name := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		for _, purpose := range h[name] {
			purpose = strings.ToLower(purpose)
			for _, ahead := range [...]string{"prefetch", "prerender", "preview"} {
				if strings.Contains(purpose, ahead) {
					return true
				}
			}
		}
	}
	return false
}
