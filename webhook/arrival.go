package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
)

// arrival is what arrived with a request, or with one event of its list, in order and with its origin. Nothing of it is
// understood yet, and no secret is in it but those that were shown.
type arrival struct {
	params  Params         // those of the query, then those of the body
	count   int            // of all parameters, kept or not
	inQuery int            // how many of params came in the query
	own     int            // index of the first of params that says what the event is; the query does not for one of a list
	origins map[int]origin // by the indices of params; most have none
	open    bool           // JSON that nobody escaped has no end
	repeats bool           // a member on a path of the contract came twice with different values
	query   string         // byte for byte
	object  string         // a body that is JSON
	body    string         // byte for byte, with secrets
	proofs  []proof        // what was shown of Receiver.secrets
	shown   shown          // once the origin is proven
	problem error          // why the body cannot be read
}

// origin is what is special about the origin of a parameter.
type origin struct {
	nested bool // the value was an object or a list in a JSON body
	typed  bool // a person may have typed it, as a part of a text that nobody escaped: it follows JSON without an end
}

type intake struct {
	*callback
	arrival
}

// receive reads what arrived. It fails where nothing of a request counts.
func (c *callback) receive(r *http.Request) (arrival, error) {
	isPOST := r.Method == http.MethodPost && c.post
	switch {
	case r.Method == http.MethodGet, r.Method == "", isPOST: // a request made by hand may have no method
	case r.Method == http.MethodHead:
		return arrival{}, c.name.refuse(ErrProbe).as(http.StatusOK)
	default:
		return arrival{}, c.name.refuse(ErrMethod)
	}
	query, body, bodyErr := "", "", error(nil)
	if r.URL != nil {
		query = r.URL.RawQuery
	}
	if len(query) > c.maxBytes {
		return arrival{}, c.name.refuse(ErrTooLong)
	}
	if isPOST {
		body, bodyErr = readBody(r, c.maxBytes)
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](bodyErr); tooLarge { // our limit, or one of the server
		return arrival{}, c.name.refuse(ErrTooLarge)
	}
	in := intake{callback: c, arrival: arrival{body: body}}
	if len(c.secrets) > 0 {
		in.proofs = make([]proof, len(c.secrets))
	}
	in.params = make(Params, 0, min(strings.Count(query, "&")+1, c.maxParams))
	in.query = in.readForm(query)
	in.inQuery = len(in.params)
	in.problem = in.readBodyParams(r.Header.Get("Content-Type"))
	if bodyErr != nil {
		in.problem = c.name.refuse(ErrUnreadable).with(bodyErr)
	}
	return in.arrival, nil
}

// element returns what arrived with one event of a list. The parameters around the list remain, but say nothing about it.
func (c *callback) element(whole *arrival, one *listed) (arrival, error) {
	if !isNested(one.raw, '{') {
		return arrival{}, c.name.refuse(ErrUnreadable)
	}
	in := intake{callback: c, arrival: arrival{
		proofs: slices.Clone(whole.proofs), shown: whole.shown, query: whole.query, open: whole.open,
		count: whole.inQuery, inQuery: whole.inQuery, own: whole.inQuery, repeats: one.repeats,
	}}
	in.params = append(make(Params, 0, whole.inQuery+len(one.outer)+8), whole.params[:whole.inQuery]...)
	for _, m := range one.outer {
		in.addJSON(m.Name, m.Value)
	}
	if in.readObject(string(one.raw)); in.count > c.maxParams {
		return arrival{}, c.name.refuse(ErrTooManyParams)
	}
	return in.arrival, nil
}

// add keeps a parameter, unless there are too many.
func (in *intake) add(name, value string, from origin) {
	if in.count++; in.count > in.maxParams {
		return
	}
	if from != (origin{}) {
		if in.origins == nil {
			in.origins = map[int]origin{}
		}
		in.origins[len(in.params)] = from
	}
	in.params = append(in.params, Param{Name: name, Value: value})
}

func readBody(r *http.Request, limit int) (string, error) {
	if r.Body == nil {
		return "", nil
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, int64(limit)))
	return string(body), err
}

func restoreBody(r *http.Request, body string) {
	if r.Method == http.MethodPost {
		r.Body = io.NopCloser(strings.NewReader(body))
	}
}

// readBodyParams reads the parameters of a body. Its content decides how: a JSON object is one whatever the Content-Type
// says, and anything else is a form, unless the Content-Type says that it is not.
func (in *intake) readBodyParams(contentType string) error {
	const byteOrderMark = "\ufeff"
	body := strings.TrimSpace(strings.TrimPrefix(in.body, byteOrderMark))
	if body == "" {
		return nil
	}
	mayBeList := slices.ContainsFunc(in.events, func(p eventsPath) bool { return p.parameter() == "" })
	if body[0] == '{' || body[0] == '[' && mayBeList {
		if text := repair(body); jsonscan.Check([]byte(text)) == nil {
			in.readObject(text)
			return nil
		}
	}
	contentType, _, _ = strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(contentType)) {
	case "", "application/x-www-form-urlencoded", "text/plain", "application/octet-stream":
		in.readForm(body)
		return nil
	case "application/json", "text/json":
		return in.name.refuse(ErrUnreadable)
	default:
		return in.name.refuse(ErrUnreadable).as(http.StatusUnsupportedMediaType)
	}
}

// readObject reads the members of a valid JSON object as parameters, and the values at the paths that the contract names. It
// keeps the object without the members that hold secrets.
func (in *intake) readObject(text string) {
	in.object = text
	var kept []string                      // all members but secrets, if secrets are asked for
	all := objectOf(json.RawMessage(text)) // nil for a list
	for _, m := range all {
		if i := in.secretOf(m.Name); i >= 0 {
			value, _ := scalar(m.Value)
			in.prove(i, value)
			continue
		}
		if in.addJSON(m.Name, m.Value); in.count > in.maxParams {
			return
		}
		if len(in.secrets) > 0 {
			name, _ := json.Marshal(m.Name)
			kept = append(kept, string(name)+":"+string(m.Value))
		}
	}
	if len(in.secrets) > 0 && len(kept) < len(all) {
		in.object = "{" + strings.Join(kept, ",") + "}"
	}
	found, repeats := in.paths.in(json.RawMessage(text))
	in.repeats = in.repeats || repeats
	for i, value := range found {
		path := in.paths.texts[i]
		if value != nil {
			in.addJSON(path, value)
		}
		isReport := in.name == CallbackDelivery && slices.ContainsFunc(in.concepts[path], concept.identifies)
		in.repeats = in.repeats || isReport && isOneOf(path, json.RawMessage(text), value)
	}
}

func (in *intake) addJSON(name string, raw json.RawMessage) {
	value, nested := scalar(raw)
	in.add(name, value, origin{nested: nested})
}
