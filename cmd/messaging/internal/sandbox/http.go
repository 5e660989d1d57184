package sandbox

import (
	"bytes"
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Root is where the page and the API are. Everything else is the service.
const Root = "/_sandbox/"

// maxRequest is how long a request to the API may be: the longest text, and what is around it.
const maxRequest = 2 << 20

// tokenHeader carries the page's token in requests that change something.
const tokenHeader = "X-Sandbox-Token"

// isForeign reports whether a browser makes a request for a page of another site, or of another port. A link on one may lead to a
// page of the sandbox, which no other site can frame or read.
func isForeign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return http.NewCrossOriginProtection().Check(r) != nil // by the header Origin, of what is not read
	}
	isLink := r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
	return !isLink || r.URL.Path != "/" && !strings.HasPrefix(r.URL.Path, Root)
}

// isHost reports whether a Host header names the listening address.
func isHost(host, listen string, addr net.Addr) bool {
	asked := url.URL{Host: host}
	own, _, _ := net.SplitHostPort(listen)
	name := strings.ToLower(strings.TrimSuffix(asked.Hostname(), "."))
	ip := net.ParseIP(name)
	bound, isTCP := addr.(*net.TCPAddr)
	switch {
	case !isTCP:
		return false
	case bound.IP.IsLoopback():
		return cmp.Or(asked.Port(), "80") == itoa(bound.Port) && (name == "localhost" || ip != nil && ip.IsLoopback() || name == strings.ToLower(own))
	case ip != nil:
		return true // an address is no name that somebody else could lead here
	case !bound.IP.IsUnspecified() && own != "" && name == strings.ToLower(own):
		return true
	}
	machine, err := os.Hostname()
	return name == "localhost" || err == nil && name == strings.ToLower(machine)
}

// secure sets what every response of the page and the API has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
		"img-src 'self' http: https:; media-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// A request to the API. What is wrong with a parameter is its error, until it is asked for.
type request struct {
	*http.Request

	w      http.ResponseWriter
	body   []byte
	values url.Values
	known  []string
	err    error
}

// param returns a parameter of the query.
func (r *request) param(name string) string {
	r.known = append(r.known, name)
	return r.values.Get(name)
}

// oneOf is like param, for one of these words.
func oneOf[T ~string](r *request, name string, err error, words []T) T {
	word := T(r.param(name))
	if word != "" && !slices.Contains(words, word) {
		r.err = cmp.Or(r.err, err)
	}
	return word
}

// number returns a number of the query that is not below least, or the other if there is none.
func (r *request) number(name string, least, other int) int {
	text := r.param(name)
	if text == "" {
		return other
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		r.err = cmp.Or(r.err, fmt.Errorf("%s must be a number from %d", name, least))
	}
	return n
}

// limit returns how much of a list is wanted.
func (r *request) limit() int {
	const usual, most = 100, 1000
	n := r.number("limit", 1, usual)
	if n > most {
		r.err = cmp.Or(r.err, fmt.Errorf("limit must be from 1 to %d", most))
	}
	return n
}

// wait returns for how long a program waits.
func (r *request) wait() time.Duration {
	d, err := parseDuration("wait", r.param("wait"), time.Minute)
	r.err = cmp.Or(r.err, err)
	return d
}

// check returns what is wrong with the query.
func (r *request) check() error {
	for name := range r.values {
		if !slices.Contains(r.known, name) {
			return fmt.Errorf("there is no parameter %q: known are %s", clip(name, 40), strings.Join(r.known, ", "))
		}
	}
	return r.err
}

// readBody reads the body of a request.
func (r *request) readBody() (err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.ContentLength != 0 && (err != nil || kind != "application/json") {
		return &refusal{http.StatusUnsupportedMediaType, "the content type must be application/json", nil}
	}
	r.body, err = io.ReadAll(http.MaxBytesReader(r.w, r.Body, maxRequest))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &refusal{http.StatusRequestEntityTooLarge, tooLarge.Error(), nil}
	}
	return err
}

// decode decodes the body of a request. An empty one is {}.
func (r *request) decode(to any) error {
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil && !errors.Is(err, io.EOF) {
		return errors.New("the body is not JSON as documented: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// respond writes a value as JSON.
func respond(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may have gone
}

// A refusal is an error with a status of its own. Others have 400.
type refusal struct {
	status int
	text   string
	came   []string // in place of what a program waited for; nil if it did not wait
}

func (r *refusal) Error() string { return r.text }

var (
	errNoSuchMessage = &refusal{http.StatusNotFound, "there is no such message; the sandbox may have dropped it", nil}
	errNoSuchFault   = &refusal{http.StatusNotFound, "there is no such fault", nil}
	errKeep          = &refusal{http.StatusInternalServerError, "the file of --keep cannot be emptied", nil}
	errBusy          = &refusal{http.StatusServiceUnavailable, "too many pages are open or programs wait: come back in a second", nil}
)

// tooLate returns the error of a program that waited for something, with what there is in its place.
func tooLate(what string, wait time.Duration, label string, came []string) error {
	text := what + " within " + wait.String()
	if len(came) > 0 {
		text += "; " + label + " " + strings.Join(came, ", ")
	}
	return &refusal{http.StatusRequestTimeout, text, append([]string{}, came...)}
}

// failed writes an error.
func failed(w http.ResponseWriter, err error) {
	status, body := http.StatusBadRequest, map[string]any{"error": err.Error()}
	if r, ok := errors.AsType[*refusal](err); ok {
		if status = r.status; r.came != nil {
			body["came"] = r.came
		}
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", retryAfter)
	}
	respond(w, status, body)
}
