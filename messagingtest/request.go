package messagingtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
)

// An operation is what the service does with one kind of request.
type operation struct {
	contract   table.Send // how the request is written; of an operation that reads, only what both kinds have
	channel    string     // empty for an operation that reads
	isPlatform bool       // its messages are the third-party platform's
	method     string
	times      timeFormat // of fields that are times

	// handle returns the body of a success, or why the request is refused.
	handle func(requestID string, f fields) (any, *problem)
}

func newOperation(method string, t table.Send) operation {
	if t.Wrap == nil {
		t.Wrap = new(string)
	}
	return operation{contract: t, method: method, times: newTimeFormat(t.Time, t.Zone)}
}

// fields are what a request of an operation holds. Their methods take concepts.
type fields struct {
	op     operation
	values document // by the contract's names, such as "to" or "messages.0.to"
	extra  document // members that the contract does not name
	body   []byte   // nil unless it is JSON without credentials
}

// read reads a request under the names of an operation. Wrong credentials are reported before any other problem, so all is read first: the
// credentials may be among the fields.
func (s *Server) read(op operation, r *http.Request, body []byte) (fields, *problem) {
	f := fields{op: op, values: document{}, extra: document{}}
	names := f.names()
	pair := s.names.Auth.KeyPair
	isPairInFields := pair.In == "body" || pair.In == "query" && op.contract.Encoding == "query"
	if isPairInFields {
		names = append(names, pair.Key, pair.Secret)
	}
	parseProblem := f.parse(r, body, names)

	c := s.credentialsOf(r)
	if isPairInFields {
		c.keys = f.take(pair.Key)
		c.secrets = f.take(pair.Secret)
	}
	if p := s.authorize(c); p != nil {
		return f, p
	}
	if p := f.checkContentType(r.Header, len(body)); p != nil {
		return f, p
	}
	if parseProblem != nil {
		return f, parseProblem
	}
	return f, f.checkConstants(s.names.Headers, r.Header)
}

// parse reads the parameters or the body of a request.
func (f *fields) parse(r *http.Request, body []byte, names []string) *problem {
	switch f.op.contract.Encoding {
	case "json":
		f.body = body
		if _, err := url.ParseQuery(r.URL.RawQuery); err != nil {
			return &problem{"query", "the query is malformed"}
		}
		return f.readJSON(body, names)
	case "form":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return &problem{"body", "the body is not a form"}
		}
		return f.readForm(form, names)
	default:
		query, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			return &problem{"query", "the query is malformed"}
		}
		return f.readForm(query, names)
	}
}

// checkContentType checks the type of the body.
func (f fields) checkContentType(header http.Header, size int) *problem {
	want := map[string]string{"json": "application/json", "form": "application/x-www-form-urlencoded"}[f.op.contract.Encoding]
	if want == "" {
		if size > 0 {
			return &problem{"body", "this request has no body"}
		}
		return nil
	}
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset := cmp.Or(params["charset"], "utf-8")
	if err != nil || kind != want || !strings.EqualFold(charset, "utf-8") {
		return &problem{"contentType", "the content type is not " + want + " in UTF-8"}
	}
	return nil
}

// names returns all names that the contract has for the operation.
func (f fields) names() []string {
	t := f.op.contract
	names := slices.AppendSeq([]string{*t.Wrap}, maps.Values(t.Fields))
	names = slices.AppendSeq(names, maps.Keys(t.Constants))
	for _, constants := range t.FieldConstants {
		names = slices.AppendSeq(names, maps.Keys(constants))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// readForm reads the parameters of a form or a query, whose values are texts.
func (f fields) readForm(form url.Values, names []string) *problem {
	kind := "query"
	if f.op.contract.Encoding == "form" {
		kind = "body"
	}
	var first *problem
	for _, name := range slices.Sorted(maps.Keys(form)) {
		text := strings.Join(form[name], "\n")
		if slices.Contains(names, name) {
			f.values[name] = text
		} else {
			f.extra[name] = text
		}
		if first == nil {
			first = checkParameter(kind, name, form[name])
		}
	}
	return first
}

// checkParameter checks that a parameter comes once, in UTF-8.
func checkParameter(kind, name string, values []string) *problem {
	switch {
	case len(values) > 1:
		return &problem{kind, strconv.QuoteToASCII(name) + " comes more than once"}
	case !utf8.ValidString(values[0]):
		return &problem{kind, strconv.QuoteToASCII(name) + " is not in UTF-8"}
	default:
		return nil
	}
}

// readJSON reads a body, in which the dots of a name nest.
func (f fields) readJSON(body []byte, names []string) *problem {
	value, ok := readJSON(body)
	members, isObject := value.(document)
	if !ok || !isObject {
		return &problem{"body", "the body is not one JSON object in UTF-8 with distinct names"}
	}
	return f.readMembers("", members, names)
}

// readMembers reads the members of an object whose path is prefix.
func (f fields) readMembers(prefix string, members document, names []string) *problem {
	for _, member := range slices.Sorted(maps.Keys(members)) {
		value := members[member]
		path := prefix + member
		if strings.Contains(member, ".") { // a name with a dot of its own is not a path
			f.extra[path] = value
			continue
		}
		if slices.Contains(names, path) {
			f.values[path] = value
			continue
		}
		longer := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, path+".") })
		if longer < 0 {
			f.extra[path] = value
			continue
		}
		inner, ok := innerMembers(value, strings.TrimPrefix(names[longer], path+"."))
		if !ok {
			return &problem{"kind", path + " is not the object or list that the contract has there"}
		}
		if p := f.readMembers(path+".", inner, names); p != nil {
			return p
		}
	}
	return nil
}

// innerMembers returns the members of an object or, if the rest of a path begins with a position, the elements of a list.
func innerMembers(value any, rest string) (document, bool) {
	next, _, _ := strings.Cut(rest, ".")
	if !table.IsPosition(next) {
		members, ok := value.(document)
		return members, ok
	}
	list, ok := value.([]any)
	elements := document{}
	for i, element := range list {
		if element != nil { // a null fills the place of an absent element
			elements[strconv.Itoa(i)] = element
		}
	}
	return elements, ok
}

// take removes a value and returns it as a list: empty if it is absent, and "" if it is not a string.
func (f *fields) take(name string) []string {
	if _, ok := f.values[name]; !ok {
		return nil
	}
	text := textIn(f.values, name)
	delete(f.values, name)
	f.body = nil
	return []string{text}
}

func (f fields) isForm() bool { return f.op.contract.Encoding != "json" }

// name returns the name of a concept, or "" if the contract does not have it.
func (f fields) name(concept string) string { return f.op.contract.Fields[concept] }

func (f fields) has(concept string) bool {
	_, ok := f.values[f.name(concept)]
	return ok
}

// text returns "" for a field that is absent.
func (f fields) text(concept string) string { return textIn(f.values, f.name(concept)) }

// unquote reads the text of a form as JSON: a form holds numbers and objects as text.
func (f fields) unquote(concept string) {
	if !f.isForm() {
		return
	}
	value, ok := readJSON([]byte(f.text(concept)))
	if ok {
		f.values[f.name(concept)] = value
	}
}

// content returns the request as JSON, without credentials.
func (f fields) content() json.RawMessage {
	if f.body != nil {
		return f.body
	}
	all := maps.Clone(f.extra)
	maps.Copy(all, f.values)
	if f.isForm() {
		return encode(all)
	}
	var tree any = document{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tree, _ = place(tree, name, all[name])
	}
	return encode(tree)
}
