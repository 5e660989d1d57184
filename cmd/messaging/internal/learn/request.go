package learn

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// request is an example request.
type request struct {
	method   string
	path     string // "" if the example does not show it
	query    string
	header   http.Header
	user     string // of curl's -u, with the password
	body     string
	isForm   bool // the body is a form
	isJSON   bool // the body is JSON
	hasNoURL bool // the example is only a body
}

// parseRequest reads a curl command, an HTTP request, or the JSON or the form of a body. It does not check the body.
func parseRequest(text string) (*request, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case isCurl(text):
		return parseCurl(text)
	case requestLine.MatchString(text):
		return parseHTTP(text), nil
	default:
		return &request{body: text, hasNoURL: true, header: http.Header{}}, nil
	}
}

// complete sets the method and the kind of the body of a send. It returns an error if a contract cannot make the request.
func (r *request) complete() error {
	if r.method == "" {
		r.method = http.MethodPost
	}
	if r.method != http.MethodPost {
		return fmt.Errorf("the request is a %s, and a contract sends by POST", r.method)
	}
	contentType := strings.ToLower(r.header.Get("Content-Type"))
	switch {
	case strings.Contains(contentType, "multipart/"):
		return errors.New("the request is a multipart form, which a contract cannot write")
	case strings.Contains(contentType, "xml") || strings.HasPrefix(r.body, "<"):
		return errors.New("the request is XML, which a contract cannot write")
	case isObject(r.body):
		r.isJSON = true
	case isList(r.body):
		return errors.New("the request is a list, and a contract writes an object")
	case r.body != "":
		r.isForm = true
	}
	if !r.isJSON && !strings.Contains(r.body+r.query, "=") {
		return errors.New("want a curl command, an HTTP request, a JSON object or a form")
	}
	return nil
}

// bodyOrQuery returns where a send has its values.
func (r *request) bodyOrQuery() string {
	if r.isJSON || r.isForm {
		return "body"
	}
	return "query"
}

// canList reports whether a listing can be asked for like this: by POST with a body, or by GET without one.
func (r *request) canList() bool {
	switch r.method {
	case "", http.MethodPost: // curl sends a body by POST
		return r.body != ""
	case http.MethodGet:
		return r.body == ""
	}
	return false
}

// scheme matches the scheme of a URL, which documentation may leave out.
var scheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// setURL takes path and query from a URL, with or without its scheme, or from a path that begins with a slash.
func (r *request) setURL(text string) {
	text, _, _ = strings.Cut(text, "#")
	text = scheme.ReplaceAllString(text, "")
	hostEnd := strings.IndexAny(text, "/?")
	if hostEnd < 0 {
		hostEnd = len(text)
	}
	path, query, _ := strings.Cut(text[hostEnd:], "?")
	r.path = variables(cmp.Or(path, "/"))
	r.query = query
}

// setTarget takes path and query from the target of an HTTP request. Unlike a URL, a target of one segment is a path: send.php?x=1.
func (r *request) setTarget(text string) {
	path, _, _ := strings.Cut(text, "?")
	if !strings.Contains(path, "/") {
		text = "/" + text
	}
	r.setURL(text)
}

// placeholder matches a segment of a path that stands for a value of the reader.
var placeholder = regexp.MustCompile(`^(?:\{\{?([^{}]+)\}\}?|<([^<>]+)>|:([A-Za-z]\w*)|\$\{?([A-Za-z]\w*)\}?)$`)

var notVariable = regexp.MustCompile(`[^a-z0-9_]+`)

// variables writes the placeholders of a path as the variables of a contract: {account}.
func variables(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if decoded, err := url.PathUnescape(segment); err == nil {
			segment = decoded
		}
		if found := placeholder.FindStringSubmatch(segment); found != nil {
			name := strings.ToLower(found[1] + found[2] + found[3] + found[4])
			segments[i] = "{" + strings.Trim(notVariable.ReplaceAllString(name, "_"), "_") + "}"
		}
	}
	return strings.Join(segments, "/")
}

// requestLine matches the first line of an HTTP request.
var requestLine = regexp.MustCompile(`^(GET|HEAD|POST|PUT|PATCH|DELETE) +(\S+)( +HTTP/[0-9.]+)?[ \t]*(\n|$)`)

// parseHTTP reads an HTTP request. The body begins at the first line that is not a header.
func parseHTTP(text string) *request {
	found := requestLine.FindStringSubmatch(text)
	r := &request{method: found[1], header: http.Header{}}
	r.setTarget(found[2])
	rest := text[len(found[0]):]
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		if strings.TrimSpace(line) == "" {
			rest = after
			break
		}
		if !r.addHeader(line) {
			break
		}
		rest = after
	}
	r.body = strings.TrimSpace(rest)
	return r
}

var headerLine = regexp.MustCompile(`^([A-Za-z0-9-]+):\s*(.*?)\s*$`)

// addHeader adds a header, and reports whether the line has one.
func (r *request) addHeader(line string) bool {
	found := headerLine.FindStringSubmatch(line)
	if found == nil {
		return false
	}
	r.header.Add(found[1], found[2])
	return true
}

// basic returns the user and the password of the request, if it has them.
func (r *request) basic() (user, password string, ok bool) {
	if r.user != "" {
		user, password, _ = strings.Cut(r.user, ":")
		return user, password, true
	}
	scheme, encoded, _ := strings.Cut(r.header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return "", "", false
	}
	decoded, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	user, password, _ = strings.Cut(string(decoded), ":")
	return user, password, true
}

// isRoutine reports whether a header is unrelated to the account.
func isRoutine(header string) bool {
	return slices.Contains([]string{
		"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Cookie", "Date", "Expect",
		"Host", "Origin", "Postman-Token", "User-Agent",
	}, http.CanonicalHeaderKey(header))
}
