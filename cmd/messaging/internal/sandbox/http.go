package sandbox

import (
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"os"
	"strings"
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
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.Trim(host, "[]"), "80"
	}
	_, ownPort, _ := net.SplitHostPort(addr.String())
	own, _, _ := net.SplitHostPort(listen)
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	ip := net.ParseIP(name)
	bound, _ := addr.(*net.TCPAddr)
	switch {
	case bound == nil:
		return false
	case bound.IP.IsLoopback():
		return port == ownPort && (name == "localhost" || ip != nil && ip.IsLoopback() || name == strings.ToLower(own))
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

// changing returns a handler that changes something: f gets the body of a request that may, and returns the response.
func changing[T any](s *Sandbox, f func(r *http.Request, body T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		if !s.mayChange(r) {
			fail(w, http.StatusForbidden, errors.New("the header Authorization with Bearer and the token of the service is missing or wrong"))
		} else if readJSON(w, r, &body) {
			if response, err := f(r, body); err != nil {
				failed(w, err)
			} else {
				respond(w, http.StatusOK, response)
			}
		}
	}
}

// readJSON reads the body of a request, or responds and reports false. An empty body is {}.
func readJSON(w http.ResponseWriter, r *http.Request, to any) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if r.ContentLength != 0 && (err != nil || kind != "application/json") {
		fail(w, http.StatusUnsupportedMediaType, errors.New("the content type must be application/json"))
		return false
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil && !errors.Is(err, io.EOF) {
		if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
			fail(w, http.StatusRequestEntityTooLarge, tooLarge)
			return false
		}
		fail(w, http.StatusBadRequest, errors.New("the body is not JSON as documented: "+strings.TrimPrefix(err.Error(), "json: ")))
		return false
	}
	return true
}

// respond writes a value as JSON.
func respond(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may have gone
}

// fail writes an error as JSON.
func fail(w http.ResponseWriter, status int, err error) {
	respond(w, status, map[string]string{"error": err.Error()})
}

var (
	errNoSuchMessage = errors.New("there is no such message; the sandbox may have dropped it")
	errNoSuchFault   = errors.New("there is no such fault")
	errKeep          = errors.New("the file of -keep cannot be emptied")
	errNotReached    = errors.New("the message has not reached the state")
)

// failed writes an error of the sandbox: one of the request, unless it says otherwise.
func failed(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	switch {
	case errors.Is(err, errNoSuchMessage), errors.Is(err, errNoSuchSpace), errors.Is(err, errNoSuchFault):
		status = http.StatusNotFound
	case errors.Is(err, errNotReached):
		status = http.StatusConflict
	case errors.Is(err, errKeep):
		status = http.StatusInternalServerError
	case errors.Is(err, errBusy), errors.Is(err, errSpaces):
		w.Header().Set("Retry-After", retryAfter)
		status = http.StatusServiceUnavailable
	}
	fail(w, status, err)
}

// emptyFile empties the file of -keep; without a name it does nothing.
func emptyFile(name string) error {
	if name == "" {
		return nil
	}
	return os.Truncate(name, 0)
}
