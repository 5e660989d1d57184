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
	table.Send // of an operation that lists: the parts that both kinds have

	channel    string // empty for an operation that lists
	isPlatform bool   // whether its messages are the third-party platform's
	method     string
	times      timeFormat // of fields that are times

	// handle returns the body of a success, or why the request is refused.
	handle func(requestID string, f fields) (any, *problem)
}

func newOperation(method string, t table.Send) operation {
	if t.Wrap == nil {
		t.Wrap = new(string)
	}
	return operation{Send: t, method: method, times: newTimeFormat(t.Time, t.Zone)}
}

// fields are what a request holds. Their methods take concepts.
type fields struct {
	operation

	values document // by the contract's names, such as "to" or "messages.0.to"
	extra  document // members that the contract does not name
	body   []byte   // nil unless it is JSON without credentials
}

// read reads a request under the names of an operation. Wrong credentials are reported before any other problem.
func (s *Server) read(op operation, r *http.Request, body []byte) (fields, *problem) {
	f := fields{operation: op, values: document{}, extra: document{}}
	pair := s.names.Auth.KeyPair
	isPairInFields := pair.In == "body" || pair.In == "query" && op.Encoding == "query"
	names := f.names()
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
	switch f.Encoding {
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
	want := map[string]string{"json": "application/json", "form": "application/x-www-form-urlencoded"}[f.Encoding]
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
	names := slices.AppendSeq([]string{*f.Wrap}, maps.Values(f.Fields))
	names = slices.AppendSeq(names, maps.Keys(f.Constants))
	for _, constants := range f.FieldConstants {
		names = slices.AppendSeq(names, maps.Keys(constants))
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// readForm reads the parameters of a form or a query, whose values are texts.
func (f fields) readForm(form url.Values, names []string) *problem {
	kind := "query"
	if f.Encoding == "form" {
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
		switch {
		case first != nil:
		case len(form[name]) > 1:
			first = &problem{kind, strconv.QuoteToASCII(name) + " comes more than once"}
		case !utf8.ValidString(text):
			first = &problem{kind, strconv.QuoteToASCII(name) + " is not in UTF-8"}
		}
	}
	return first
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
		i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, path+".") })
		if i < 0 {
			f.extra[path] = value
			continue
		}
		inner, ok := innerMembers(value, names[i][len(path)+1:])
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

// credentials are what a request presents.
type credentials struct {
	tokens, keys, secrets []string
}

// credentialsOf returns the credentials in the header and the query of a request.
func (s *Server) credentialsOf(r *http.Request) credentials {
	header := s.names.Auth.Token.Header
	pair := s.names.Auth.KeyPair
	c := credentials{tokens: r.Header.Values(header)}
	switch pair.In {
	case "query":
		query := r.URL.Query()
		c.keys = query[pair.Key]
		c.secrets = query[pair.Secret]
	case "header":
		c.keys = r.Header.Values(pair.Key)
		c.secrets = r.Header.Values(pair.Secret)
		isSameHeader := strings.EqualFold(pair.Key, header)
		if isSameHeader && slices.Equal(c.keys, []string{s.key}) {
			c.tokens = nil // the header holds the key, not a token
		}
	case "basic":
		key, secret, ok := r.BasicAuth() // of the first Authorization header
		if !ok {
			break
		}
		c.keys = []string{key}
		c.secrets = []string{secret}
		if strings.EqualFold(header, "Authorization") {
			c.tokens = c.tokens[1:] // the first is no token, but the pair
		}
	}
	return c
}

// authorize returns what is wrong with credentials, or nil. All of them have to be right: a client that sends a wrong key with
// the right token has a mistake that should show.
func (s *Server) authorize(c credentials) *problem {
	token := s.names.Auth.Token
	pair := s.names.Auth.KeyPair
	hasPair := len(c.keys)+len(c.secrets) > 0
	switch {
	case len(c.tokens) == 0 && !hasPair:
		return &problem{"unauthorized", "no credentials: want the header " + token.Header + " or " + placeOfPair(pair.In)}
	case len(c.tokens) > 0 && !s.isToken(c.tokens):
		return &problem{"unauthorized", token.Header + " is not, once, " + strings.TrimSpace(token.Scheme+" and the token of this server")}
	case hasPair && !s.isPair(c.keys, c.secrets):
		return &problem{"unauthorized", "the key pair is not that of this server"}
	}
	return nil
}

// placeOfPair returns where the contract has a key pair.
func placeOfPair(in string) string {
	if in == "basic" {
		return "basic authentication"
	}
	return "a key pair in the " + in
}

// isToken reports whether the values of a header are the token, after a scheme in any case.
func (s *Server) isToken(values []string) bool {
	if len(values) != 1 {
		return false
	}
	scheme := s.names.Auth.Token.Scheme
	if scheme == "" {
		return values[0] == s.token
	}
	first, rest, _ := strings.Cut(values[0], " ")
	return strings.EqualFold(first, scheme) && rest == s.token
}

// isPair reports whether the values are the key and the secret, each once. If the contract has only a key, a secret must be absent or empty.
func (s *Server) isPair(keys, secrets []string) bool {
	if !slices.Equal(keys, []string{s.key}) {
		return false
	}
	if s.names.Auth.KeyPair.Secret == "" {
		return strings.Join(secrets, "") == "" // basic authentication always sends one
	}
	return slices.Equal(secrets, []string{s.secret})
}

// checkConstants checks the constants of every request, and those that go with a field, and only with it.
func (f fields) checkConstants(common table.Headers, header http.Header) *problem {
	want := common.With(f.Headers)
	for _, headers := range []table.Headers{common, f.Headers} {
		for _, name := range slices.Sorted(maps.Keys(headers)) { // a name that is not in want must be absent
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
	for _, concept := range slices.Sorted(maps.Keys(f.FieldConstants)) {
		check := f.checkFieldConstant
		if concept == table.GSM || concept == table.Unicode {
			check = f.checkAlphabetConstant
		}
		constants := f.FieldConstants[concept]
		for _, name := range slices.Sorted(maps.Keys(constants)) {
			if p := check(concept, name, constants[name]); p != nil {
				return p
			}
		}
	}
	return nil
}

// checkFieldConstant checks a constant that goes with a field.
func (f fields) checkFieldConstant(concept, name string, constant any) *problem {
	if !f.hasGoodValue(concept, name, constant) {
		return wrongConstant(name, constant)
	}
	if !f.goesWith(concept, name, f.has(concept)) {
		kind := "constant"
		if concept == "callback" {
			kind = "callback"
		}
		return &problem{kind, f.name(concept) + " and " + name + " go together"}
	}
	return nil
}

// checkAlphabetConstant checks a constant that goes with texts in one of the two alphabets.
func (f fields) checkAlphabetConstant(alphabet, name string, constant any) *problem {
	alphabetOfText := table.GSM
	if !isGSM(f.text("text")) {
		alphabetOfText = table.Unicode
	}
	isOfText := alphabet == alphabetOfText
	_, hasOther := f.FieldConstants[alphabetOfText][name]
	switch {
	case !isOfText && hasOther: // this text has another constant of the same name
		return nil
	case !f.hasGoodValue(alphabet, name, constant):
		return wrongConstant(name, constant)
	case !f.goesWith(alphabet, name, isOfText):
		return &problem{"constant", "a text in " + alphabet + " and " + name + " go together"}
	default:
		return nil
	}
}

func wrongConstant(name string, constant any) *problem {
	return &problem{"kind", name + " is not " + string(encode(constant))}
}

// hasGoodValue reports whether a constant is absent or has its value.
func (f fields) hasGoodValue(concept, name string, constant any) bool {
	_, isPresent := f.values[name]
	return !isPresent || f.ConstantsGiveWay(concept) || f.isConstant(name, constant)
}

// goesWith reports whether a constant is present if it is wanted, and only then. An extra field may replace a constant of the default contract.
func (f fields) goesWith(concept, name string, isWanted bool) bool {
	_, isPresent := f.values[name]
	isExtra := isPresent && f.ConstantsGiveWay(concept)
	return isExtra || isPresent == isWanted
}

// isConstant reports whether a value is that of the contract. A form holds it as text.
func (f fields) isConstant(name string, want any) bool {
	if f.isForm() {
		want = fmt.Sprint(want)
	}
	return reflect.DeepEqual(f.values[name], want)
}

func (f fields) isForm() bool { return f.Encoding != "json" }

// name returns the name of a concept, or "" if the contract does not have it.
func (f fields) name(concept string) string { return f.Fields[concept] }

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
