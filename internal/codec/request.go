package codec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// Send is one operation that sends a message. It never changes once it is compiled and is safe for concurrent use.
type Send struct {
	op        *table.Send
	errs      *table.Errors
	fields    map[string]field // by concept, those that the service has
	constants []member
	wrap      string          // of a message in the shape of another platform; "" at the top level
	taken     map[string]bool // top-level names that Extra and Members cannot have
	pair      KeyPair
	paths     paths // of what a response says
}

// field is where a field goes, and what goes with it.
type field struct {
	name string
	with []member
}

// Request is a request as it is sent.
type Request struct {
	Body        []byte
	ContentType string
	Query       string
}

// CompileSend compiles an operation of a valid table. The pair is nil if a request carries none.
func CompileSend(op *table.Send, errs *table.Errors, pair KeyPair) *Send {
	s := &Send{
		op: op, errs: errs, fields: make(map[string]field, len(op.Fields)), taken: map[string]bool{}, pair: pair,
		paths: compilePaths(withErrors(op.Response, errs), nil),
	}
	for concept, name := range op.Fields {
		if name != "" {
			s.fields[concept] = field{name, s.compileConstants(op.With[concept])}
		}
	}
	s.constants = s.compileConstants(op.Constants)
	if op.Wrap != nil {
		s.wrap = *op.Wrap
	}
	if pair != nil {
		if in, members := pair(); s.besideFields(in) {
			s.taken[s.top(members[0].Name)], s.taken[s.top(members[1].Name)] = true, true
		}
	}
	return s
}

func (s *Send) isJSON() bool { return s.op.Encoding == "json" }

// besideFields reports whether the key pair stands among the fields of a request.
func (s *Send) besideFields(in string) bool { return in == "body" || s.op.Encoding == "query" }

// top returns the member or parameter in which a name of the contract stands.
func (s *Send) top(name string) string {
	if s.isJSON() {
		name, _, _ = strings.Cut(name, ".")
	}
	return name
}

func (s *Send) compileConstants(constants map[string]any) []member {
	var compiled []member
	for _, name := range sortedKeys(constants) {
		m := member{name: name, dotted: true}
		if s.isJSON() {
			m.raw, _ = wire.Encode(constants[name]) // it came from JSON
		} else {
			m.text, _ = plain(constants[name]) // a valid table holds nothing else
		}
		compiled = append(compiled, m)
		s.taken[s.top(name)] = true
	}
	return compiled
}

func unitOf(ttl string) (time.Duration, string) {
	switch ttl {
	case "ms":
		return time.Millisecond, "milliseconds, the unit of the contract"
	case "m":
		return time.Minute, "minutes, the unit of the contract"
	default:
		return time.Second, "seconds, the unit of the contract"
	}
}

// Encode writes a message as a request, or returns everything that is wrong with it: its own problems, except for those of
// documented limits if lenient, and what the contract does not allow.
func (s *Send) Encode(call wire.Call, lenient bool) (Request, []wire.Problem) {
	var few [24]member
	members := few[:0]
	var problems, collisions wire.Checks
	extra := s.extraMembers(&call, &collisions)
	switch {
	case call.Members == nil:
	case s.wrap != "":
		message := appendMembers(nil, call.Members)
		members = append(members, member{name: s.wrap, dotted: true, raw: appendJSON(nil, append(message, extra...))})
		extra = nil
	default:
		s.checkMembers(&call, &collisions)
		members = appendMembers(members, call.Members)
	}
	members = s.appendFields(members, &call, &problems)
	if all := inOrder(&call, lenient, problems, collisions); len(all) > 0 {
		return Request{}, all
	}
	members = append(members, s.constants...)
	var request Request
	if s.pair != nil {
		in, pair := s.pair()
		var credentials [len(pair)]member
		for i, m := range pair {
			credentials[i] = member{name: m.Name, text: m.Value, dotted: true}
		}
		switch {
		case s.besideFields(in):
			members = append(members, credentials[:]...)
		case in == "query":
			request.Query = string(appendForm(nil, credentials[:]))
		}
	}
	members = append(members, extra...)
	switch s.op.Encoding {
	case "query":
		request.Query = string(appendForm(nil, members))
	case "form":
		request.Body, request.ContentType = appendForm(nil, members), "application/x-www-form-urlencoded"
	default:
		request.Body, request.ContentType = appendJSON(make([]byte, 0, sizeOf(members)), members), "application/json"
	}
	return request, nil
}

// inOrder returns all problems in the order in which a user reads the message: a message of another platform comes before the
// fields beside it. A member of Extra that the message itself rejects is not reported again.
func inOrder(call *wire.Call, lenient bool, fields, collisions []wire.Problem) []wire.Problem {
	if len(call.Problems)+len(fields)+len(collisions) == 0 {
		return nil
	}
	own := slices.DeleteFunc(slices.Clone(call.Problems), func(p wire.Problem) bool { return p.Limit && lenient })
	all := slices.Concat(fields, own)
	if call.Members != nil {
		all = slices.Concat(own, fields)
	}
	for _, collision := range collisions {
		if !slices.ContainsFunc(own, func(p wire.Problem) bool { return p.Field == collision.Field }) {
			all = append(all, collision)
		}
	}
	return all
}

// appendFields adds the fields that are present, each followed by what goes with it.
func (s *Send) appendFields(members []member, call *wire.Call, problems *wire.Checks) []member {
	for i := range call.Fields {
		f := &call.Fields[i]
		known, isKnown := s.fields[f.Concept]
		m, present, reason := s.value(f)
		switch {
		case !present && f.Required && isKnown:
			reason = "required, but absent"
		case !present:
			continue
		case !isKnown:
			reason = "must be absent: the contract says that the service has no such field (fields." + f.Concept + ` is "")`
		case f.Reason != "":
			reason = f.Reason
		}
		problems.Found(f.Name, reason)
		m.name, m.dotted = known.name, true
		members = append(append(members, m), known.with...)
	}
	return members
}

// value returns what a field sends, whether it is present, and what is wrong with it.
func (s *Send) value(f *wire.Field) (m member, present bool, reason string) {
	switch v := f.Value.(type) {
	case nil:
		return member{text: f.Text}, f.Text != "", wire.CheckUTF8(f.Text)
	case int64:
		return member{raw: strconv.AppendInt(nil, v, 10)}, v != 0, ""
	case time.Duration:
		unit, name := time.Second, "seconds"
		if f.Concept == "ttl" {
			unit, name = unitOf(s.op.TTL)
		}
		switch {
		case v < 0:
			reason = "must not be negative, got " + v.String()
		case v%unit != 0:
			reason = "must be a whole number of " + name + ", got " + v.String()
		}
		return member{raw: strconv.AppendInt(nil, int64(v/unit), 10)}, v != 0, reason
	default:
		m, reason = encoded(v)
		params, isMap := v.(map[string]string)
		return m, !isMap || len(params) > 0, reason
	}
}

// extraMembers returns the extra members of a message in the order of their names, and adds what is wrong with them.
func (s *Send) extraMembers(call *wire.Call, problems *wire.Checks) (members []member) {
	inMessage := call.Members != nil && s.wrap != "" // together with the members, under a key of their own
	for _, key := range sortedKeys(call.Extra) {
		m, reason := s.extra(call.Extra[key], s.isJSON() || inMessage)
		switch {
		case key == "":
			reason = "a field needs a name"
		case !utf8.ValidString(key):
			reason = "a name must be valid UTF-8"
		case !inMessage && s.isTaken(call, key):
			reason = "the contract uses this name; set the field of the message instead, or change the contract"
		case slices.ContainsFunc(call.Members, func(m wire.Member) bool { return m.Name == key }):
			reason = "the message has a member of this name"
		}
		problems.Found(cmp.Or(call.ExtraField, "Extra")+"["+strconv.Quote(key)+"]", reason)
		m.name = key
		members = append(members, m)
	}
	return members
}

// extra returns an extra value as it is written, and what is wrong with it.
func (s *Send) extra(value any, asJSON bool) (m member, reason string) {
	if asJSON {
		return encoded(value)
	}
	text, ok := plain(value)
	if !ok {
		return m, "must be a string, a number or a boolean with the encoding " + s.op.Encoding
	}
	return member{text: text}, wire.CheckUTF8(text)
}

// encoded returns a value as JSON, and what is wrong with it, without the value, which errors of encoding/json may repeat.
func encoded(value any) (m member, reason string) {
	raw, err := wire.EncodeText(value)
	if err != nil {
		return m, fmt.Sprintf("cannot be encoded as JSON: %T", err)
	}
	return member{raw: raw}, ""
}

// checkMembers finds the members at the top level that would overwrite a name of the contract.
func (s *Send) checkMembers(call *wire.Call, problems *wire.Checks) {
	for _, m := range call.Members {
		if s.isTaken(call, m.Name) {
			problems.Found("Message", "its key "+strconv.Quote(m.Name)+" is a name of the contract, and "+
				"neither may overwrite the other; change that name, or set wrap to put the message under a key of its own")
		}
	}
}

// isTaken reports whether a top-level name belongs to the contract: a constant, the key pair, or a field that messages of
// this kind have.
func (s *Send) isTaken(call *wire.Call, key string) bool {
	return s.taken[key] || slices.ContainsFunc(call.Fields, func(f wire.Field) bool {
		known, ok := s.fields[f.Concept]
		return ok && s.top(known.name) == key
	})
}

// plain returns a value as a form holds it, and whether a form can.
func plain(value any) (string, bool) {
	if n, ok := value.(json.Number); ok {
		return n.String(), json.Valid([]byte(n))
	}
	switch v := reflect.ValueOf(value); {
	case v.Kind() == reflect.String:
		return v.String(), true
	case v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool()), true
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), true
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), true
	case v.CanFloat():
		f := v.Float()
		return strconv.FormatFloat(f, 'f', -1, v.Type().Bits()), !math.IsNaN(f) && !math.IsInf(f, 0)
	default:
		return "", false
	}
}
