package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// request is a request while it is read, or one event of its list.
type request struct {
	*callback

	params    Params
	count     int                 // of all parameters, kept or not
	inQuery   int                 // how many of params came in the query
	own       int                 // index of the first of params that says what the event is; the query does not for one of a list
	nested    map[int]bool        // indices of params whose values were objects or lists in a JSON body
	values    [numConcepts]string // by concept, the first value to arrive, other than those that stand for none
	ambiguous bool                // an identifying parameter arrived twice with different values
	proofs    []proof             // of Receiver.secrets
	rawQuery  string              // without secrets

	object string // a body that is JSON, without secrets
	body   envelope
	list   []json.RawMessage // the events, if the body holds a list of them; otherwise nil
}

// read appends the events of a request. What could be read is returned beside an error for the rest.
func (c *callback) read(r *http.Request, events []event) (all []event, problem error) {
	q := request{callback: c}
	if err := q.receive(r); err != nil {
		return nil, err
	}
	if q.list == nil {
		q.interpret()
		return q.appendEvents(events)
	}
	for _, raw := range q.list {
		one, err := q.element(raw)
		if err == nil {
			events, err = one.appendEvents(events)
		}
		if len(events) > maxEvents || errors.Is(err, ErrTooLarge) {
			return nil, q.reject(ErrTooLarge)
		}
		problem = cmp.Or(problem, err)
	}
	return events, problem
}

// appendEvents appends the events of a request, or of an element of its list.
func (q *request) appendEvents(events []event) ([]event, error) {
	switch {
	case q.isChat():
		return q.appendChat(events)
	case q.name == CallbackDelivery:
		return q.appendReports(events)
	default:
		return q.appendSMS(events)
	}
}

// only returns the events of one type, or nil if there are none.
func only[E any](events []event) (found []E) {
	for _, e := range events {
		if one, ok := any(e).(*E); ok {
			found = append(found, *one)
		}
	}
	return found
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
		return q.reject(ErrProbe).as(http.StatusOK)
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
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](bodyErr); tooLarge { // our limit, or one of the server
		return q.reject(ErrTooLarge)
	}
	if len(q.secrets) > 0 {
		q.proofs = make([]proof, len(q.secrets))
	}
	q.params = make(Params, 0, min(strings.Count(query, "&")+1, q.maxParams))
	q.rawQuery = q.readForm(query)
	q.inQuery = len(q.params)
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
		return q.reject(ErrUnreadable).with(bodyErr)
	case formErr != nil:
		return formErr
	}
	q.emptyCopies()
	return q.findEvents()
}

// add keeps a parameter, unless there are too many.
func (q *request) add(name, value string) {
	if q.count++; q.count <= q.maxParams {
		q.params = append(q.params, Param{Name: name, Value: value})
	}
}

// interpret reads the JSON of a body, and assigns each parameter to the concepts that it stands for.
func (q *request) interpret() {
	senderInBody := false // a message of the platform may name its sender twice, by number and by user ID
	if q.object != "" && q.name != CallbackSMS {
		q.body = readEnvelope(q.object)
		senderInBody = q.body.isCertain()
	}
	for i := q.own; i < len(q.params); i++ {
		p := &q.params[i]
		for _, c := range q.concepts[p.Name] {
			switch {
			case c == conceptFrom && senderInBody && i >= q.inQuery:
			case q.nested[i] && c != conceptJSON: // JSON is no text, and no ID
			default:
				q.set(c, p.Value)
			}
		}
	}
	for _, p := range q.params[:q.own] { // they can only contradict the event
		for _, c := range q.concepts[p.Name] {
			if q.values[c] != "" {
				q.set(c, p.Value)
			}
		}
	}
}

// set sets the value of a concept, unless an earlier parameter did. A placeholder sets none but a status, and that one only
// for want of a better.
func (q *request) set(c concept, value string) {
	first := &q.values[c]
	switch {
	case isBlank(value), value == q.placeholders[c]:
	case !c.identifies():
		if *first == "" {
			*first = value
		}
	case c != conceptStatus && table.IsPlaceholder(value):
	case *first == "", c == conceptStatus && !isStatus(q.status(*first), *first):
		*first = value
	case c == conceptStatus && !isStatus(q.status(value), value):
	case c == conceptStatus && q.sameStatus(*first, value):
	case differ(*first, value):
		q.ambiguous = true
	}
}

// differ reports whether two values of an identifying parameter, neither of which is blank, are different. A number may come
// with and without a +, and with characters between its digits.
func differ(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	a, b = strings.TrimLeft(number(a), "+"), strings.TrimLeft(number(b), "+")
	if looksLikePhoneNumber(a) && looksLikePhoneNumber(b) {
		a, b = digits(a), digits(b)
	}
	return a != b
}

// isFor reports whether the contract uses the parameter with this index for a concept.
func (q *request) isFor(index int, c concept) bool {
	return index >= q.own && slices.Contains(q.concepts[q.params[index].Name], c)
}

// text returns the text, which may be white space: the first to arrive that is not blank, or the first. It passes over the
// parameter with index except. The second result is false if there is none.
func (q *request) text(except int) (text string, found bool) {
	if except < 0 && q.values[conceptText] != "" {
		return q.values[conceptText], true
	}
	for i, p := range q.params {
		isText := i != except && q.isFor(i, conceptText) && !q.nested[i]
		if isText && (!found || isBlank(text) && !isBlank(p.Value)) {
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

// readBody reads the body of a request up to the limit.
func readBody(r *http.Request, limit int) (string, error) {
	if r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, int64(limit)))
	return string(body), err
}

// restoreBody lets a body that was read be read again.
func restoreBody(r *http.Request, body string) {
	if r.Method == http.MethodPost {
		r.Body = io.NopCloser(strings.NewReader(body))
	}
}

// readBodyParams reads the parameters of a body. Its content decides how: a JSON object is one whatever the Content-Type
// says, and anything else is a form, unless the Content-Type says that it is not.
func (q *request) readBodyParams(r *http.Request, body string) error {
	const byteOrderMark = "\ufeff"
	body = strings.TrimSpace(strings.TrimPrefix(body, byteOrderMark))
	if body == "" {
		return nil
	}
	if body[0] == '{' || body[0] == '[' && q.holdsList() {
		if text := repair(body); json.Valid([]byte(text)) {
			q.readObject(text)
			return nil
		}
	}
	contentType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch strings.ToLower(strings.TrimSpace(contentType)) {
	case "", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream":
		q.readForm(body)
		return nil
	case "application/json", "text/json":
		return q.reject(ErrUnreadable)
	default:
		return q.reject(ErrUnreadable).as(http.StatusUnsupportedMediaType)
	}
}

// readObject reads the members of a valid JSON object as parameters, and the values at the paths that the contract names. It
// keeps the object without the members that hold secrets.
func (q *request) readObject(text string) {
	q.object = text
	var kept []string                      // all members but secrets, if secrets are asked for
	all := objectOf(json.RawMessage(text)) // nil for a list
	for _, m := range all {
		if i := q.secretOf(m.name); i >= 0 {
			value, _ := scalar(m.raw)
			q.prove(i, value)
			continue
		}
		if q.addJSON(m.name, m.raw); q.count > q.maxParams {
			return
		}
		if len(q.secrets) > 0 {
			name, _ := json.Marshal(m.name)
			kept = append(kept, string(name)+":"+string(m.raw))
		}
	}
	if len(q.secrets) > 0 && len(kept) < len(all) {
		q.object = "{" + strings.Join(kept, ",") + "}"
	}
	for _, path := range q.paths {
		found, repeats := path.in(json.RawMessage(text))
		if found != nil {
			q.addJSON(path.text, found)
		}
		q.ambiguous = q.ambiguous || repeats
	}
}

// addJSON keeps a parameter that arrived as JSON.
func (q *request) addJSON(name string, raw json.RawMessage) {
	value, nested := scalar(raw)
	q.add(name, value)
	if nested {
		if q.nested == nil {
			q.nested = map[int]bool{}
		}
		q.nested[len(q.params)-1] = true
	}
}

// scalar returns the text of a valid JSON value: the content of a string, a number, true or false as written, "" for null. An
// object or a list is nested, and its text is its JSON.
func scalar(raw json.RawMessage) (text string, nested bool) {
	text = string(bytes.TrimSpace(raw))
	switch {
	case text == "", text == "null":
		return "", false
	case text[0] == '{', text[0] == '[':
		return text, true
	case strings.Contains(text, `\`):
		var word string
		_ = json.Unmarshal(raw, &word) // it is valid
		return word, false
	case text[0] == '"':
		return text[1 : len(text)-1], false
	default:
		return text, false
	}
}
