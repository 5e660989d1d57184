package sandbox

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxRequest is the size limit for the body of an API request: the longest text, and the JSON around it.
const maxRequest = 2 << 20

// request is an API request. The first invalid parameter is kept in err, which check returns.
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

// oneOf is like param. Any value but the allowed ones causes invalid.
func oneOf[T ~string](r *request, name string, invalid error, allowed []T) T {
	value := T(r.param(name))
	if value != "" && !slices.Contains(allowed, value) {
		r.err = cmp.Or(r.err, invalid)
	}
	return value
}

// number returns a number of the query that is at least minimum, or 0 if it is absent.
func (r *request) number(name string, minimum int) int {
	text := r.param(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < minimum {
		r.err = cmp.Or(r.err, fmt.Errorf("%s must be a number from %d", name, minimum))
	}
	return n
}

// A listPart says which part of a list a request asks for: at most limit elements, the first or the last ones.
type listPart struct {
	isFirst bool
	limit   int
}

// window returns a part of a list.
func window[T any](list []T, part listPart) []T {
	if !part.isFirst {
		list = list[max(0, len(list)-part.limit):]
	}
	return list[:min(len(list), part.limit)]
}

// part returns the parameters start and limit. After a cursor, the part always has the first elements.
func (r *request) part(hasCursor bool) listPart {
	start := oneOf(r, "start", errStart, []string{"oldest", "newest"})
	return listPart{isFirst: hasCursor || start == "oldest", limit: r.limit()}
}

var errStart = errors.New("start must be oldest or newest")

// limit returns the parameter limit.
func (r *request) limit() int {
	const defaultLimit, maxLimit = 100, 1000
	n := r.number("limit", 1)
	if n > maxLimit {
		r.err = cmp.Or(r.err, fmt.Errorf("limit must be from 1 to %d", maxLimit))
	}
	return cmp.Or(n, defaultLimit)
}

// wait returns how long the program waits for a result.
func (r *request) wait() time.Duration {
	d, err := parseDuration("wait", r.param("wait"), time.Minute)
	r.err = cmp.Or(r.err, err)
	return d
}

// check returns an error if the query has an unknown or invalid parameter.
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
		return &httpError{status: http.StatusUnsupportedMediaType, text: "the content type must be application/json: with curl, add -H 'Content-Type: application/json'"}
	}
	r.body, err = io.ReadAll(http.MaxBytesReader(r.w, r.Body, maxRequest))
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &httpError{status: http.StatusRequestEntityTooLarge, text: tooLarge.Error()}
	}
	return err
}

// decode decodes the body of a request. An empty body means {}.
func (r *request) decode(to any) error {
	decoder := json.NewDecoder(bytes.NewReader(r.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil && !errors.Is(err, io.EOF) {
		return explainBody(err)
	}
	return nil
}

// explainBody returns an error of decoding the body of a request. An error of one member says where it is, and another that it is of the body.
func explainBody(err error) error {
	if _, isMember := errors.AsType[*json.UnmarshalTypeError](err); isMember {
		return explainJSON(err)
	}
	return fmt.Errorf("the body is not JSON as documented: %w", explainJSON(err))
}

// explainJSON returns an error of decoding JSON in the words of JSON, not of Go.
func explainJSON(err error) error {
	mistyped, isMember := errors.AsType[*json.UnmarshalTypeError](err)
	if !isMember {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return fmt.Errorf("%s must be %s, not %s", cmp.Or(mistyped.Field, "the body"), kindOfJSON(mistyped.Type), describeJSON(mistyped.Value))
}

// kindOfJSON returns what a value of a Go type is in JSON.
func kindOfJSON(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// describeJSON returns the value of a json.UnmarshalTypeError with its article, but a number as it is: "number 1.5".
func describeJSON(value string) string {
	switch value {
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string", "number":
		return "a " + value
	default:
		return value
	}
}

// httpError is an error with a status of its own. Other errors have status 400.
type httpError struct {
	status int
	text   string
	came   []string // what happened while a program waited; nil if it did not wait
}

func (e *httpError) Error() string { return e.text }

var (
	errNoSuchMessage = &httpError{status: http.StatusNotFound, text: "there is no such message; the sandbox may have dropped it"}
	errNoSuchFault   = &httpError{status: http.StatusNotFound, text: "there is no such fault"}
	errBusy          = &httpError{status: http.StatusServiceUnavailable, text: "too many pages are open or programs wait: try again in a second"}
)

// timeoutError returns the error of a wait that timed out. came describes what happened instead, and label introduces it.
func timeoutError(what string, wait time.Duration, label string, came []string) error {
	text := what + " within " + wait.String()
	if len(came) > 0 {
		text += "; " + label + " " + strings.Join(came, ", ")
	}
	return &httpError{status: http.StatusRequestTimeout, text: text, came: append([]string{}, came...)}
}

// writeJSON writes a response.
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}

// writeError writes an error as the response.
func writeError(w http.ResponseWriter, err error) {
	status := http.StatusBadRequest
	body := map[string]any{"error": err.Error()}
	if failed, ok := errors.AsType[*httpError](err); ok {
		status = failed.status
		if failed.came != nil {
			body["came"] = failed.came
		}
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, body)
}

// empty returns the response of an operation that has no result.
func empty() any { return struct{}{} }
