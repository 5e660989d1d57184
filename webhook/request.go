package webhook

import (
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// request is a request while it is read.
type request struct {
	*Receiver

	callback  *callback
	params    Params
	count     int                 // of all parameters, kept or not
	values    [numConcepts]string // by concept, the first value to arrive, other than those that stand for none
	ambiguous bool                // an identifying parameter arrived twice with different values
	proofs    []proof             // of Receiver.secrets
	rawQuery  string              // without secrets
	nested    []int               // indices of params whose values were objects or lists in a JSON body

	body         envelope // a body that is a JSON object, without secrets
	senderInBody bool     // the body is a message of the platform, which may name its sender twice, by number and by user ID
}

// receive checks a request and reads its parameters. The order of the checks is promised in the package documentation.
func (q *request) receive(r *http.Request) error {
	if err := q.checkPath(r); err != nil {
		return err
	}
	isPOST := r.Method == http.MethodPost && q.post
	switch {
	case r.Method == http.MethodGet, r.Method == "", isPOST: // a request made by hand may have no method
	case r.Method == http.MethodHead:
		rejected := q.reject(ErrProbe)
		rejected.Status = http.StatusOK
		return rejected
	default:
		return q.reject(ErrMethod)
	}
	query, body, bodyErr := "", "", error(nil)
	if r.URL != nil {
		query = r.URL.RawQuery
	}
	if len(query) > q.maxBytes {
		return q.reject(ErrTooLong)
	}
	if isPOST {
		body, bodyErr = readBody(r, q.maxBytes)
		if isTooLarge(bodyErr) {
			return q.reject(ErrTooLarge)
		}
	}
	if len(q.secrets) > 0 {
		q.proofs = make([]proof, len(q.secrets))
	}
	q.params = make(Params, 0, min(strings.Count(query, "&")+1, q.maxParams))
	q.rawQuery = q.readForm(query)
	formErr := q.readBodyParams(r, body)
	if err := q.checkOrigin(r, body); err != nil {
		return err
	}
	switch {
	case isPrefetch(r.Header):
		return q.reject(ErrProbe)
	case q.count > q.maxParams:
		return q.reject(ErrTooManyParams)
	case bodyErr != nil:
		rejected := q.reject(ErrUnreadable)
		rejected.Cause = bodyErr
		return rejected
	}
	return formErr
}

func (q *request) reject(reason error) *RejectError {
	status := statusOf(reason)
	if status == http.StatusForbidden && len(q.pathSecrets) > 0 {
		status = http.StatusNotFound
	}
	return &RejectError{Callback: q.callback.name, Status: status, Reason: reason}
}

// add keeps a parameter, and its value as that of each concept that it stands for. A nested value, the JSON of a member of a
// body, stands for none.
func (q *request) add(name, value string, nested bool) {
	if q.count++; q.count > q.maxParams {
		return // the request is refused once its proof of origin was checked
	}
	if nested {
		q.nested = append(q.nested, len(q.params))
	}
	q.params = append(q.params, Param{Name: name, Value: value})
	for _, c := range q.callback.concepts[name] {
		switch first := &q.values[c]; {
		case nested, q.isNone(c, value), c == conceptFrom && q.senderInBody:
		case *first == "":
			*first = value
		case c.identifies() && differ(*first, value):
			q.ambiguous = true
		}
	}
}

// isNone reports whether a value of a concept stands for none.
func (q *request) isNone(c concept, value string) bool {
	isID := c == conceptID || c == conceptReference
	return isBlank(value) || value == q.callback.placeholders[c] || isID && table.IsPlaceholder(value)
}

// differ reports whether two values of an identifying parameter, neither of which is blank, are different. A sender may
// come with and without a +.
func differ(a, b string) bool {
	return a != "" && b != "" && a != b && strings.TrimLeft(number(a), "+") != strings.TrimLeft(number(b), "+")
}

// isFor reports whether the contract uses the parameter with this index for a concept.
func (q *request) isFor(index int, c concept) bool {
	return slices.Contains(q.callback.concepts[q.params[index].Name], c)
}

// text returns the text, which may be white space: the first to arrive that is not blank, or the first. It passes over the
// parameter with index except. The second result is false if there is none.
func (q *request) text(except int) (string, bool) {
	if text := q.values[conceptText]; text != "" && except < 0 {
		return text, true
	}
	text, found := "", false
	for i, p := range q.params {
		if i == except || !q.isFor(i, conceptText) || slices.Contains(q.nested, i) {
			continue
		}
		if !isBlank(p.Value) {
			return p.Value, true
		}
		if !found {
			text, found = p.Value, true
		}
	}
	return text, found
}

// isPrefetch reports whether a browser or a link preview fetches ahead of its user, who may never ask for the page.
func isPrefetch(h http.Header) bool {
	for _, name := range [...]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"} {
		for _, purpose := range h[name] {
			purpose = strings.ToLower(purpose)
			if strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "prerender") || strings.Contains(purpose, "preview") {
				return true
			}
		}
	}
	return false
}
