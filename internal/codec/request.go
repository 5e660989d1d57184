package codec

import (
	"bytes"
	"cmp"
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
	"time"
	"unicode/utf8"

	"github.com/google/go-querystring/query"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Table is the part of a contract that describes the requests of one send.
type Table struct {
	contract.Send
	Fields any              // a struct of names by concept, such as contract.SMSSendFields
	TTL    contract.TTLUnit // of the concept ttl, where there is one
	Wrap   string           // the name under which a call's Message goes; "" is beside the fields
}

// Request writes the requests of one send. It never changes after CompileRequest and is safe for concurrent use.
type Request struct {
	table    Table
	names    map[string]string   // concept to name; "" where the service has no such field
	concepts map[string]string   // default name to concept
	owned    map[string]bool     // names that the default contract adds by itself, and a rewritten request adds anew
	taken    map[string]bool     // names that Extra must not use, whatever the message
	named    map[string][]string // names of fields, as Extra could use them, to their default names
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
		concepts: map[string]string{}, owned: map[string]bool{}, taken: map[string]bool{}, named: map[string][]string{},
		buffers: &sync.Pool{New: func() any {
			b := new(buffer)
			b.encoder = json.NewEncoder(b)
			b.encoder.SetEscapeHTML(false)
			return b
		}},
	}
	for concept, name := range namesOf(standard.Fields) {
		r.concepts[name] = concept
		top := r.top(r.names[concept])
		r.named[top] = append(r.named[top], name)
	}
	for _, added := range added(standard.Send) {
		r.owned[added] = true
	}
	delete(r.named, "")
	for _, name := range slices.Concat(added(table.Send), r.pairNames(r.besideMessage)) {
		r.taken[r.top(name)] = true
	}
	beside := r.pairNames(func(place contract.KeyPairPlace) bool { return place == contract.KeyPairInBody })
	nested := slices.ContainsFunc(beside, func(name string) bool { return strings.Contains(name, ".") })
	r.same = table.Encoding == contract.EncodingJSON && !nested && reflect.DeepEqual(table.Fields, standard.Fields) &&
		reflect.DeepEqual(table.Constants, standard.Constants) && reflect.DeepEqual(table.With, standard.With) &&
		table.TTL == standard.TTL && table.Wrap == standard.Wrap
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

// top is the member of the request in which a name of the contract stands.
func (r *Request) top(name string) string {
	if r.table.Encoding == contract.EncodingJSON {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

// Lacks tells whether the service has no parameter for a field of body, by the name that a user knows.
func (r *Request) Lacks(body any, field string) bool {
	known, ok := bodyField(body, func(known reflect.StructField) bool { return userName(known) == field })
	concept, isField := r.concepts[jsonName(known)]
	return ok && isField && r.names[concept] == ""
}

// has tells whether body has a field under the default name.
func has(body any, name string) bool {
	_, ok := bodyField(body, func(known reflect.StructField) bool { return jsonName(known) == name })
	return ok
}

// Encode writes a call, whose Body points to a struct with the default names as tags. Problems say what the contract does not
// allow; then there is no request.
func (r *Request) Encode(call wire.Call) (Encoded, []wire.Problem) {
	problems := r.check(call)
	if r.table.Encoding != contract.EncodingJSON {
		return r.encodeForm(call, problems)
	}
	encoded := Encoded{ContentType: "application/json"}
	b := r.buffers.Get().(*buffer) //nolint:forcetypeassert // the pool holds nothing else
	defer r.buffers.Put(b)
	b.Reset()
	if err := b.encoder.Encode(call.Body); err != nil {
		return Encoded{}, []wire.Problem{{Field: "Message", Reason: "cannot be encoded: " + typeOf(err)}}
	}
	own := bytes.TrimSpace(b.Bytes())
	switch {
	case !r.same:
		rewritten, found := r.rewrite(call, own)
		own, problems = rewritten, append(found, problems...)
	case call.Message != nil:
		own = join(call.Message, own)
	}
	if len(problems) > 0 {
		return Encoded{}, problems
	}
	more := r.more(r.beside(call), &encoded)
	encoded.Body = splice(own, more)
	return encoded, nil
}

// beside gives the extra fields that stand beside those of the contract: all, unless they belong to a message that stands
// under a key of its own.
func (r *Request) beside(call wire.Call) map[string]any {
	if r.wraps(call) {
		return nil
	}
	return call.Extra
}

func (r *Request) wraps(call wire.Call) bool { return call.Message != nil && r.table.Wrap != "" }

// wrapped is a message that stands under a key of its own.
func wrapped(call wire.Call) []byte {
	var more []byte
	for _, name := range names(call.Extra) {
		more = appendMember(more, name, call.Extra[name])
	}
	return splice(call.Message, more)
}

// names are the keys of extra fields in order. Most messages have none, which costs nothing then.
func names(extra map[string]any) []string {
	if len(extra) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(extra))
}

// join makes one object of two.
func join(a, b []byte) []byte {
	switch {
	case len(b) == len("{}"):
		return a
	case len(a) == len("{}"):
		return b
	}
	whole := make([]byte, 0, len(a)+len(b)-1)
	whole = append(append(whole, a[:len(a)-1]...), ',')
	return append(whole, b[1:]...)
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
		more = appendMember(more, name, extra[name])
	}
	return more
}

// appendMember writes a member that was checked, and a comma.
func appendMember(out []byte, name string, value any) []byte {
	raw, _ := wire.Encode(value)
	out = append(append(append(out, quote(name)...), ':'), raw...)
	return append(out, ',')
}

// each gives the members of a JSON object. It reports false where the object is none.
func each(object []byte, do func(name, raw string)) bool {
	s := scanner{doc: string(object), pos: 1}
	done, err := s.empty('}')
	for more := !done; more && err == nil; {
		var name string
		if name, err = s.member(); err != nil {
			break
		}
		start := s.pos
		if err = s.skip(1); err != nil {
			break
		}
		do(name, s.doc[start:s.pos])
		more, err = s.next('}')
	}
	return err == nil
}

// rewrite turns an object under the default names into one under the contract's, with the call's message.
func (r *Request) rewrite(call wire.Call, object []byte) ([]byte, []wire.Problem) {
	var problems []wire.Problem
	out := new(tree)
	used := map[string]bool{}
	ok := each(object, func(name, raw string) {
		switch concept, known := r.concepts[name]; {
		case known && r.names[concept] == "":
			if raw != `""` {
				problems = append(problems, dropped(call.Body, name, concept))
			}
		case known:
			used[concept] = true
			if concept == conceptTTL {
				raw = r.ttl(call.TTL)
			}
			out.set(r.names[concept], raw)
		case !r.owned[name]:
			out.put(name, raw)
		}
	})
	switch {
	case r.wraps(call):
		out.set(r.table.Wrap, string(wrapped(call)))
	case call.Message != nil:
		ok = each(call.Message, out.put) && ok
	}
	if !ok {
		return nil, []wire.Problem{{Field: "Message", Reason: "cannot be encoded: it is no JSON object"}}
	}
	for name, value := range r.always(used) {
		raw, err := wire.Encode(value)
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

// encodeForm writes the encodings form and query. What is no string, number or boolean stands in them as JSON.
func (r *Request) encodeForm(call wire.Call, wrong []wire.Problem) (Encoded, []wire.Problem) {
	own, err := query.Values(call.Body)
	if err != nil {
		return Encoded{}, []wire.Problem{{Field: "Message", Reason: "cannot be encoded: " + typeOf(err)}}
	}
	var problems []wire.Problem
	values, inQuery, used := url.Values{}, url.Values{}, map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		switch concept, known := r.concepts[name]; {
		case known && r.names[concept] == "":
			if own.Get(name) != "" {
				problems = append(problems, dropped(call.Body, name, concept))
			}
		case known && concept == conceptTTL:
			used[concept] = true
			values.Set(r.names[concept], r.ttl(call.TTL))
		case known:
			used[concept] = true
			values[r.names[concept]] = own[name]
		case !r.owned[name]:
			values[name] = own[name]
		}
	}
	switch {
	case r.wraps(call):
		values.Set(r.table.Wrap, string(wrapped(call)))
	case call.Message != nil:
		each(call.Message, func(name, raw string) { values.Set(name, parameter(raw)) })
	}
	for name, value := range r.always(used) {
		word, _ := plain(value)
		values.Set(name, word)
	}
	extra := r.beside(call)
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

// parameter gives a JSON value as a form holds it: a string without its quotes, everything else as it is.
func parameter(raw string) string {
	var text string
	if raw[0] == '"' && json.Unmarshal([]byte(raw), &text) == nil {
		return text
	}
	return raw
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

// check finds what the contract does not allow of a call.
func (r *Request) check(call wire.Call) []wire.Problem {
	var problems []wire.Problem
	if unit, name := unitOf(r.table.TTL); call.TTL > 0 && unit > 0 && call.TTL%unit != 0 {
		problems = append(problems, wire.Problem{
			Field: "TTL", Reason: "must be a whole number of " + name + ", the unit of the contract, got " + call.TTL.String(),
		})
	}
	for _, name := range names(call.Extra) {
		if reason := r.checkExtraField(call, name); reason != "" {
			problems = append(problems, wire.Problem{Field: extraField(cmp.Or(call.ExtraName, "Extra"), name), Reason: reason})
		}
	}
	if call.Message == nil || r.wraps(call) {
		return problems
	}
	each(call.Message, func(name, _ string) {
		if r.isTaken(call.Body, name) {
			problems = append(problems, wire.Problem{Field: "Message", Reason: "its key " + strconv.Quote(name) + " is a name of the contract, and neither may " +
				"overwrite the other; change that name, or set wrap to put the message under a key of its own"})
		}
	})
	return problems
}

// isTaken tells whether a member that the contract does not know would overwrite one that it does.
func (r *Request) isTaken(body any, name string) bool {
	return r.taken[name] || slices.ContainsFunc(r.named[name], func(field string) bool { return has(body, field) })
}

func (r *Request) checkExtraField(call wire.Call, name string) string {
	value := call.Extra[name]
	word, isPlain := plain(value)
	wraps := r.wraps(call)
	switch {
	case name == "":
		return "a field needs a name"
	case !utf8.ValidString(name):
		return "a name must be valid UTF-8"
	case !wraps && r.isTaken(call.Body, name):
		return "the contract uses this name; set the field of the message instead, or change the contract"
	case isPlain && !utf8.ValidString(word):
		return "must be valid UTF-8"
	case r.table.Encoding != contract.EncodingJSON && !isPlain && !wraps:
		return "must be a string, a number or a boolean with the encoding " + string(r.table.Encoding)
	case r.table.Encoding == contract.EncodingJSON || wraps:
		if _, err := wire.Encode(value); err != nil {
			return "cannot be encoded as JSON: " + typeOf(err)
		}
	}
	return ""
}

// conceptTTL is the field that the contract measures in a unit of its own.
const conceptTTL = "ttl"

// unitOf gives the length of a unit, and what a reader calls it; 0 where the contract has none.
func unitOf(ttl contract.TTLUnit) (length time.Duration, name string) {
	switch ttl {
	case contract.TTLMilliseconds:
		return time.Millisecond, "milliseconds"
	case contract.TTLSeconds:
		return time.Second, "seconds"
	case contract.TTLMinutes:
		return time.Minute, "minutes"
	default:
		return 0, ""
	}
}

// ttl gives a duration that was checked, in the contract's unit.
func (r *Request) ttl(d time.Duration) string {
	unit, _ := unitOf(r.table.TTL)
	return strconv.FormatInt(int64(d/unit), 10)
}

func dropped(body any, name, concept string) wire.Problem {
	field := concept
	if known, ok := bodyField(body, func(known reflect.StructField) bool { return jsonName(known) == name }); ok {
		field = userName(known)
	}
	return wire.Problem{Field: field, Reason: `must be absent: the contract says that the service has no such field (fields.` + concept + ` is "")`}
}

// bodyField finds a field of the struct to which body points, or of one that is embedded in it.
func bodyField(body any, is func(reflect.StructField) bool) (reflect.StructField, bool) {
	return structField(reflect.TypeOf(body).Elem(), is)
}

func structField(t reflect.Type, is func(reflect.StructField) bool) (reflect.StructField, bool) {
	for field := range t.Fields() {
		if field.Anonymous {
			if inner, ok := structField(field.Type, is); ok {
				return inner, true
			}
		} else if is(field) {
			return field, true
		}
	}
	return reflect.StructField{}, false
}

// userName is what a user calls a field.
func userName(field reflect.StructField) string {
	if name := field.Tag.Get("field"); name != "" {
		return name
	}
	return field.Name
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func extraField(field, name string) string { return field + "[" + strconv.Quote(name) + "]" }

// typeOf names what went wrong without repeating a value, as the errors of encoding/json may.
func typeOf(err error) string { return fmt.Sprintf("%T", err) }

func quote(s string) []byte {
	raw, _ := wire.Encode(s) // a string always encodes
	return raw
}
