package messagingtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
)

// An operation is what the service does with one kind of request, and how the contract has that request written.
type operation struct {
	table.Send // of an operation that lists: what both kinds have

	channel    Channel // empty: it lists
	isPlatform bool    // whether its messages are the third-party platform's
	method     string
	times      timeFormat // of fields that are times
	rules      rules

	// handle returns the body of a success, or why the request is refused.
	handle func(requestID string, f fields) (any, *problem)
}

func (s *Server) newOperation(method string, t table.Send) operation {
	t.Wrap = cmp.Or(t.Wrap, new(string))
	return operation{Send: t, method: method, times: newTimeFormat(t.Time, t.Zone), rules: s.rules}
}

// fields are what a request holds. Their methods take concepts.
type fields struct {
	operation

	values document // by the contract's names, such as "to" or "messages.0.to"
	extra  document // what the contract does not name
	body   []byte   // nil unless it is JSON without credentials
	fault  Fault    // that the request takes
}

// read reads a request under the names of an operation. Credentials are checked first.
func (s *Server) read(op operation, r *http.Request, body []byte) (fields, *problem) {
	f := fields{operation: op, values: document{}, extra: document{}}
	pair, names := s.names.Auth.KeyPair, f.names()
	hasPair := pair.In == "body" || pair.In == "query" && op.Encoding == "query"
	if hasPair {
		names = append(names, pair.Key, pair.Secret)
	}
	params, err := url.ParseQuery(r.URL.RawQuery)
	kind, wrong := "", refuseIf(err != nil, "query", "the query is malformed")
	switch op.Encoding {
	case "json":
		kind, f.body = "application/json", body
		wrong = f.readJSON(body, names)
	case "form":
		kind = "application/x-www-form-urlencoded"
		params, err = url.ParseQuery(string(body))
		wrong = refuseIf(err != nil, "body", "the body is no form")
	}
	if f.isForm() {
		wrong = cmp.Or(f.readForm(params, names), wrong)
	}
	var keys, secrets []string
	if hasPair {
		keys, secrets = f.take(pair.Key), f.take(pair.Secret)
	}
	return f, cmp.Or(
		s.authorize(r, keys, secrets),
		refuseIf(kind == "" && len(body) > 0, "body", "this request has no body"),
		refuseIf(kind != "" && !isOfType(r.Header, kind), "contentType", "the content type is not "+kind+" in UTF-8"),
		wrong,
		f.checkConstants(s.names.Headers, r.Header),
	)
}

func isOfType(header http.Header, want string) bool {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && kind == want && (!given || strings.EqualFold(charset, "utf-8"))
}

// names returns all names that the contract has for the operation.
func (f fields) names() []string {
	names := slices.AppendSeq([]string{*f.Wrap}, maps.Values(f.Fields))
	names = slices.AppendSeq(names, maps.Keys(f.Constants))
	for _, constants := range f.FieldConstants {
		names = slices.AppendSeq(names, maps.Keys(constants))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// readForm reads parameters, whose values are texts.
func (f fields) readForm(form url.Values, names []string) (wrong *problem) {
	for _, name := range slices.Sorted(maps.Keys(form)) {
		to := f.extra
		if slices.Contains(names, name) {
			to = f.values
		}
		text, several := strings.Join(form[name], "\n"), len(form[name]) > 1
		to[name] = text
		wrong = cmp.Or(wrong,
			refuseIf(several, "query", strconv.QuoteToASCII(name)+" comes more than once"),
			refuseIf(!utf8.ValidString(text), "query", strconv.QuoteToASCII(name)+" is not in UTF-8"),
		)
	}
	return wrong
}

// readJSON reads a body, in which the dots of a name nest.
func (f fields) readJSON(body []byte, names []string) *problem {
	value, ok := readJSON(body)
	members, isRight := value.(document)
	if !ok || !isRight {
		return &problem{"body", "the body is not one JSON object in UTF-8 with distinct names"}
	}
	return f.readMembers("", members, names)
}

func (f fields) readMembers(within string, members document, names []string) *problem {
	for _, member := range slices.Sorted(maps.Keys(members)) {
		value, path := members[member], within+member
		i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, path+".") })
		switch {
		case slices.Contains(names, path) && !strings.Contains(member, "."):
			f.values[path] = value
		case i < 0 || strings.Contains(member, "."): // a name with a dot of its own is no path
			f.extra[path] = value
		default:
			next, _, _ := strings.Cut(names[i][len(path)+1:], ".")
			inner, ok := value.(document)
			if table.IsPosition(next) {
				inner, ok = elementsOf(value)
			}
			if !ok {
				return &problem{"kind", path + " is neither an object nor a list, or not the one that the contract has there"}
			}
			if p := f.readMembers(path+".", inner, names); p != nil {
				return p
			}
		}
	}
	return nil
}

// elementsOf returns the elements of a list by their positions. A null is in place of what is absent in front of something
// present.
func elementsOf(value any) (document, bool) {
	list, isList := value.([]any)
	elements := document{}
	for i, element := range list {
		if element != nil {
			elements[strconv.Itoa(i)] = element
		}
	}
	return elements, isList
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

// authorize returns what is wrong with the credentials of a request, or nil. Everything that it presents has to be right: a
// client that sends a wrong key beside the right token has a mistake that should show.
func (s *Server) authorize(r *http.Request, keys, secrets []string) *problem {
	header, scheme, pair := s.names.Auth.Token.Header, s.names.Auth.Token.Scheme, s.names.Auth.KeyPair
	tokens, wantSecrets := r.Header.Values(header), []string{s.secret}
	switch pair.In {
	case "query":
		query := r.URL.Query()
		keys, secrets = query[pair.Key], query[pair.Secret]
	case "header":
		keys, secrets = r.Header.Values(pair.Key), r.Header.Values(pair.Secret)
		if slices.Equal(keys, []string{s.key}) && strings.EqualFold(pair.Key, header) {
			tokens = nil
		}
	case "basic":
		if key, secret, ok := r.BasicAuth(); ok {
			keys, secrets = []string{key}, []string{secret}
			if strings.EqualFold(header, "Authorization") {
				tokens = tokens[1:]
			}
		}
	}
	if pair.Secret == "" {
		wantSecrets = make([]string, len(secrets)) // none, or an empty one of basic authentication
	}
	isToken := len(tokens) == 1 && isTokenOf(tokens[0], scheme, s.token)
	isPair := slices.Equal(keys, []string{s.key}) && slices.Equal(secrets, wantSecrets)
	hasPair := len(keys)+len(secrets) > 0
	return cmp.Or(
		refuseIf(len(tokens) == 0 && !hasPair, "unauthorized",
			"no credentials: neither the header "+header+" nor a key pair where the contract has it: "+pair.In),
		refuseIf(len(tokens) > 0 && !isToken, "unauthorized",
			header+" is not, once, "+strings.TrimSpace(scheme+" and the token of this server")),
		refuseIf(hasPair && !isPair, "unauthorized", "the key pair is not that of this server"),
	)
}

// isTokenOf reports whether a header holds a token, behind a scheme in any case.
func isTokenOf(header, scheme, token string) bool {
	if scheme == "" {
		return header == token
	}
	word, rest, _ := strings.Cut(header, " ")
	return strings.EqualFold(word, scheme) && rest == token
}

// checkConstants checks what goes with every request, and what goes with a field, and only with it.
func (f fields) checkConstants(common table.Headers, header http.Header) *problem {
	want := common.With(f.Headers)
	for _, headers := range []table.Headers{common, f.Headers} {
		for name := range headers { // one that is not in want is one that the operation goes without
			if strings.Join(header.Values(name), "\n") != want[strings.ToLower(name)] {
				return &problem{"constant", "the header " + name + " is not that of the contract"}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Constants)) {
		if !f.isConstant(name, f.Constants[name]) {
			return &problem{"constant", name + " is absent, or not that of the contract"}
		}
	}
	ofText, other := table.GSM, table.Unicode
	if !isGSM(f.text("text")) {
		ofText, other = other, ofText
	}
	for _, concept := range slices.Sorted(maps.Keys(f.FieldConstants)) {
		for name, want := range f.FieldConstants[concept] {
			if _, isBoth := f.FieldConstants[ofText][name]; isBoth && concept == other {
				continue // the other encoding has it too
			}
			_, isPresent := f.values[name]
			switch isUsers := isPresent && f.ConstantsGiveWay(concept); {
			case isUsers: // an extra field may take the place of the default's constants
			case isPresent && !f.isConstant(name, want):
				return &problem{"kind", name + " is not " + string(encode(want))}
			case isPresent != (f.has(concept) || concept == ofText):
				return &problem{"callback", cmp.Or(f.name(concept), "a text in "+concept) + " and " + name + " go together"}
			}
		}
	}
	return nil
}

// isConstant reports whether a value is that of the contract. A form holds it as text.
func (f fields) isConstant(name string, want any) bool {
	if f.isForm() {
		want = fmt.Sprint(want)
	}
	return reflect.DeepEqual(f.values[name], want)
}

func (f fields) isForm() bool { return f.Encoding != "json" }

// name returns "" if the service has no such field.
func (f fields) name(concept string) string { return f.Fields[concept] }

func (f fields) has(concept string) bool {
	_, ok := f.values[f.name(concept)]
	return ok
}

// text returns "" for a field that is absent.
func (f fields) text(concept string) string { return textIn(f.values, f.name(concept)) }

// check checks fields by a shape that names them by concept.
func (f fields) check(s shape) *problem {
	f.unquote(f.values, s, f.name)
	return f.checkMembers("", f.values, s, f.name)
}

// unquote reads texts of a form that can only be right as JSON: it holds numbers, lists and objects as text.
func (f fields) unquote(members document, s shape, name func(member string) string) {
	for key, rule := range s {
		member := name(strings.TrimSuffix(key, "?"))
		text, isText := members[member].(string)
		value, isJSON := readJSON([]byte(text))
		if f.isForm() && isText && isJSON && f.checkValue("", text, rule) != nil && f.checkValue("", value, rule) == nil {
			members[member] = value
		}
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
