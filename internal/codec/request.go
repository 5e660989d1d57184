package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/go-querystring/query"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Table is the part of a contract that describes the requests of one send.
type Table struct {
	contract.Send
	Fields any // a struct of names by concept, such as contract.SMSSendFields
}

// Request writes the requests of one send. It never changes after CompileRequest and is safe for concurrent use.
type Request struct {
	table    Table
	names    map[string]string // concept to name; "" where the service has no such field
	concepts map[string]string // default name to concept
	owned    map[string]bool   // names that the default contract adds by itself, and a rewritten request adds anew
	taken    map[string]bool   // names that Extra must not use
	pair     KeyPair
	same     bool // nothing but the credentials differs from the default
	buffers  *sync.Pool
}

// KeyPair is a key and its secret where they travel as members of each request. It is a function, so that no verb of
// package fmt prints it; nil where there is none.
type KeyPair func() (place contract.KeyPairPlace, members [2]Member)

// Member is a name and a value.
type Member struct{ Name, Value string }

// Encoded is a request as it is sent.
type Encoded struct {
	Body        []byte
	ContentType string
	Query       string
}

type buffer struct {
	bytes.Buffer

	encoder *json.Encoder
}

// CompileRequest prepares the requests of a send: table is the user's, standard the default contract's.
func CompileRequest(table, standard Table, pair KeyPair) (*Request, error) {
	r := &Request{
		table: table, names: namesOf(table.Fields), pair: pair,
		concepts: map[string]string{}, owned: map[string]bool{}, taken: map[string]bool{},
		buffers: &sync.Pool{New: func() any {
			b := new(buffer)
			b.encoder = json.NewEncoder(b)
			b.encoder.SetEscapeHTML(false)
			return b
		}},
	}
	for concept, name := range namesOf(standard.Fields) {
		r.concepts[name] = concept
	}
	for _, added := range added(standard.Send) {
		r.owned[added] = true
	}
	for _, name := range slices.Concat(slices.Collect(maps.Values(r.names)), added(table.Send), r.pairNames(r.besideMessage)) {
		if table.Encoding == contract.EncodingJSON {
			name, _, _ = strings.Cut(name, ".")
		}
		r.taken[name] = true
	}
	delete(r.taken, "")
	beside := r.pairNames(func(place contract.KeyPairPlace) bool { return place == contract.KeyPairInBody })
	nested := slices.ContainsFunc(beside, func(name string) bool { return strings.Contains(name, ".") })
	r.same = table.Encoding == contract.EncodingJSON && !nested && reflect.DeepEqual(table.Fields, standard.Fields) &&
		reflect.DeepEqual(table.Constants, standard.Constants) && reflect.DeepEqual(table.With, standard.With)
	if table.Encoding == contract.EncodingJSON {
		return r, nil
	}
	for place, constants := range r.constants() {
		for name, value := range constants {
			if _, ok := plain(value); !ok {
				return nil, fmt.Errorf("contract: %s.%s: must be a string, a number or a boolean with the encoding %s", place, name, table.Encoding)
			}
		}
	}
	return r, nil
}

func namesOf(fields any) map[string]string {
	names := map[string]string{}
	v := reflect.ValueOf(fields)
	for i := range v.NumField() {
		names[v.Type().Field(i).Tag.Get("json")] = v.Field(i).String()
	}
	return names
}

// added lists the names that a contract sends by itself.
func added(send contract.Send) []string {
	names := slices.Collect(maps.Keys(send.Constants))
	for _, with := range send.With {
		names = slices.AppendSeq(names, maps.Keys(with))
	}
	return names
}

// constants gives every table of constants by its place in the contract.
func (r *Request) constants() map[string]map[string]any {
	all := map[string]map[string]any{"constants": r.table.Constants}
	for concept, with := range r.table.With {
		all["with."+concept] = with
	}
	return all
}

// besideMessage tells whether what stands at the place stands among the fields of the message.
func (r *Request) besideMessage(place contract.KeyPairPlace) bool {
	return place == contract.KeyPairInBody || r.table.Encoding == contract.EncodingQuery
}

// pairNames gives the names of the key pair, where there is one and it stands at such a place.
func (r *Request) pairNames(at func(contract.KeyPairPlace) bool) []string {
	if r.pair == nil {
		return nil
	}
	place, members := r.pair()
	if !at(place) {
		return nil
	}
	return []string{members[0].Name, members[1].Name}
}

// Lacks tells whether the service has no parameter for a field of body, by the field's Go name.
func (r *Request) Lacks(body any, field string) bool {
	known, ok := reflect.TypeOf(body).Elem().FieldByName(field)
	if !ok {
		return false
	}
	concept, ok := r.concepts[jsonName(known)]
	return ok && r.names[concept] == ""
}

// Encode writes body, a pointer to a struct with the default names as tags, and extra. Problems say what the contract
// does not allow; then there is no request.
func (r *Request) Encode(body any, extra map[string]any) (Encoded, []wire.Problem) {
	problems := r.checkExtra(extra)
	if r.table.Encoding != contract.EncodingJSON {
		return r.encodeForm(body, extra, problems)
	}
	encoded := Encoded{ContentType: "application/json"}
	b := r.buffers.Get().(*buffer) //nolint:forcetypeassert // the pool holds nothing else
	defer r.buffers.Put(b)
	b.Reset()
	if err := b.encoder.Encode(body); err != nil {
		return Encoded{}, []wire.Problem{{Field: "Message", Reason: "cannot be encoded: " + typeOf(err)}}
	}
	own := bytes.TrimSpace(b.Bytes())
	if !r.same {
		rewritten, found := r.rewrite(body, own)
		own, problems = rewritten, append(found, problems...)
	}
	if len(problems) > 0 {
		return Encoded{}, problems
	}
	more := r.more(extra, &encoded)
	encoded.Body = splice(own, more)
	return encoded, nil
}

// splice makes one object of an object and of further members, each ending in a comma.
func splice(object, members []byte) []byte {
	whole := make([]byte, 0, len(object)+len(members))
	whole = append(append(whole, '{'), members...)
	if len(object) == len("{}") && len(members) > 0 {
		whole = whole[:len(whole)-1] // no member follows the last comma
	}
	return append(whole, object[1:]...)
}

// more writes what stands beside the message: the key pair, where it is not nested, and extra, which was checked.
func (r *Request) more(extra map[string]any, encoded *Encoded) []byte {
	if r.pair == nil && len(extra) == 0 {
		return nil
	}
	var more []byte
	if r.pair != nil {
		place, members := r.pair()
		if place == contract.KeyPairInQuery {
			encoded.Query = url.Values{members[0].Name: {members[0].Value}, members[1].Name: {members[1].Value}}.Encode()
		} else if r.same {
			for _, m := range members {
				more = append(append(append(more, quote(m.Name)...), ':'), quote(m.Value)...)
				more = append(more, ',')
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value, _ := marshal(extra[name])
		more = append(append(append(more, quote(name)...), ':'), value...)
		more = append(more, ',')
	}
	return more
}

// rewrite turns an object under the default names into one under the contract's.
func (r *Request) rewrite(body any, object []byte) ([]byte, []wire.Problem) {
	var problems []wire.Problem
	out := new(tree)
	s := scanner{doc: string(object), pos: 1}
	used := map[string]bool{}
	done, err := s.empty('}')
	for more := !done; more && err == nil; {
		var name, raw string
		if name, err = s.member(); err != nil {
			break
		}
		start := s.pos
		if err = s.skip(1); err != nil {
			break
		}
		raw = s.doc[start:s.pos]
		switch concept, known := r.concepts[name]; {
		case known && r.names[concept] == "":
			problems = append(problems, r.dropped(body, name, concept))
		case known:
			used[concept] = true
			out.set(r.names[concept], raw)
		case !r.owned[name]:
			out.put(name, raw)
		}
		more, err = s.next('}')
	}
	if err != nil {
		return nil, []wire.Problem{{Field: "Message", Reason: "cannot be encoded: it is no JSON object"}}
	}
	for name, value := range r.always(used) {
		raw, err := marshal(value)
		if err != nil {
			problems = append(problems, wire.Problem{Field: "contract", Reason: "holds the constant " + name + ", which cannot be encoded as JSON"})
		}
		out.set(name, string(raw))
	}
	if r.pair != nil {
		if place, members := r.pair(); place == contract.KeyPairInBody {
			out.set(members[0].Name, string(quote(members[0].Value)))
			out.set(members[1].Name, string(quote(members[1].Value)))
		}
	}
	return out.append(nil), problems
}

// always gives the constants and what goes with the fields that are used, in a fixed order.
func (r *Request) always(used map[string]bool) func(func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for _, name := range slices.Sorted(maps.Keys(r.table.Constants)) {
			if !yield(name, r.table.Constants[name]) {
				return
			}
		}
		for _, concept := range slices.Sorted(maps.Keys(r.table.With)) {
			for _, name := range slices.Sorted(maps.Keys(r.table.With[concept])) {
				if used[concept] && !yield(name, r.table.With[concept][name]) {
					return
				}
			}
		}
	}
}

// encodeForm writes the encodings form and query.
func (r *Request) encodeForm(body any, extra map[string]any, wrong []wire.Problem) (Encoded, []wire.Problem) {
	own, err := query.Values(body)
	if err != nil {
		return Encoded{}, []wire.Problem{{Field: "Message", Reason: "cannot be encoded: " + typeOf(err)}}
	}
	var problems []wire.Problem
	values, inQuery, used := url.Values{}, url.Values{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		switch concept, known := r.concepts[name]; {
		case known && r.names[concept] == "":
			problems = append(problems, r.dropped(body, name, concept))
		case known:
			used[concept] = true
			values[r.names[concept]] = own[name]
		case !r.owned[name]:
			values[name] = own[name]
		}
	}
	for name, value := range r.always(used) {
		word, _ := plain(value)
		values.Set(name, word)
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		word, _ := plain(extra[name])
		values.Set(name, word)
	}
	if problems = append(problems, wrong...); len(problems) > 0 {
		return Encoded{}, problems
	}
	if r.pair != nil {
		place, members := r.pair()
		in := values
		if place == contract.KeyPairInQuery {
			in = inQuery
		}
		in.Set(members[0].Name, members[0].Value)
		in.Set(members[1].Name, members[1].Value)
	}
	if r.table.Encoding == contract.EncodingForm {
		return Encoded{Body: []byte(values.Encode()), ContentType: "application/x-www-form-urlencoded", Query: inQuery.Encode()}, nil
	}
	maps.Copy(values, inQuery)
	return Encoded{Query: values.Encode()}, nil
}

// plain gives a value as a form holds it.
func plain(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), json.Valid([]byte(v))
	case bool:
		return strconv.FormatBool(v), true
	}
	switch v := reflect.ValueOf(value); v.Kind() {
	case reflect.String:
		return v.String(), true
	case reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return strconv.FormatUint(v.Uint(), 10), true
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		return strconv.FormatFloat(f, 'f', -1, v.Type().Bits()), !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		return "", false
	}
}

// checkExtra finds the names that would overwrite a field of the contract, and the values that cannot be sent.
func (r *Request) checkExtra(extra map[string]any) []wire.Problem {
	if len(extra) == 0 {
		return nil
	}
	var problems []wire.Problem
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if reason := r.checkExtraField(name, extra[name]); reason != "" {
			problems = append(problems, wire.Problem{Field: extraField(name), Reason: reason})
		}
	}
	return problems
}

func (r *Request) checkExtraField(name string, value any) string {
	word, isPlain := plain(value)
	switch {
	case name == "":
		return "a field needs a name"
	case !utf8.ValidString(name):
		return "a name must be valid UTF-8"
	case r.taken[name]:
		return "the contract uses this name; set the field of the message instead, or change the contract"
	case isPlain && !utf8.ValidString(word):
		return "must be valid UTF-8"
	case r.table.Encoding != contract.EncodingJSON && !isPlain:
		return "must be a string, a number or a boolean with the encoding " + string(r.table.Encoding)
	case r.table.Encoding == contract.EncodingJSON:
		if _, err := marshal(value); err != nil {
			return "cannot be encoded as JSON: " + typeOf(err)
		}
	}
	return ""
}

func (r *Request) dropped(body any, name, concept string) wire.Problem {
	field := concept
	t := reflect.TypeOf(body).Elem()
	for known := range t.Fields() {
		if jsonName(known) == name {
			field = known.Name
		}
	}
	return wire.Problem{Field: field, Reason: `must be absent: the contract says that the service has no such field (fields.` + concept + ` is "")`}
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func extraField(name string) string { return "Extra[" + strconv.Quote(name) + "]" }

// typeOf names what went wrong without repeating a value, as the errors of encoding/json may.
func typeOf(err error) string { return fmt.Sprintf("%T", err) }

func quote(s string) []byte {
	raw, _ := marshal(s) // a string always encodes
	return raw
}

// marshal is json.Marshal without the escapes that HTML needs.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
