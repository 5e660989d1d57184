package codec

import (
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
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// Send is one operation that sends a message. It is safe for concurrent use.
type Send struct {
	encoding

	op        *table.Send
	fields    map[string]field    // by concept, those that the service has
	always    []member            // constants
	ofText    map[string][]member // those of the encodings of a text
	wrap      string              // of a message in the shape of another platform; "" at the top level
	responses responses
	buffers   *sync.Pool // of values that were found in a response
	section   string     // of the contract
	lists     []*list    // the outermost in which an ID or a status stands
	beside    []beside   // what stands beside each place of identifying

	byName *byName  // nil unless IDs may be found by their names
	at     struct { // the slots of a response
		id, request, reference, recipient, parts, unitCost, cost, balance, currency, operator, status []int
	}
}

// beside are the slots of references and recipients in the object in which a message is named, where the contract does not look for them.
type beside struct{ references, recipients []int }

type field struct {
	name      string
	top       string // the member or parameter in which it stands
	dotted    bool
	constants []member

	givesWay         bool // see table.Send.GivesWay
	constantsGiveWay bool // see table.Send.ConstantsGiveWay
}

// CompileSend compiles an operation of a valid table that sends to a URL. The pair is nil if a request carries none.
func CompileSend(t *table.Table, op *table.Send, target *url.URL, pair KeyPair) *Send {
	response := op.Paths()
	response["to"] = recipientNames(op.Fields["to"], t.SMSList.Record["to"])
	errs := &t.Errors
	s := &Send{
		encoding: newEncoding(t, &op.Operation, "POST", target, pair),
		op:       op, fields: make(map[string]field, len(op.Fields)),
		buffers:   new(sync.Pool),
		responses: compileResponses(response, nil, nil, compileWords(t, errs, op.Accepted, op.Refused), errs),
	}
	for _, channel := range table.Channels() {
		if channel.Send(t) == op {
			s.section = channel.SendSection()
		}
	}
	s.ttl = op.TTL
	for concept, name := range op.Fields {
		if name == "" {
			continue
		}
		f := field{name: name, top: s.top(name), dotted: strings.Contains(name, "."), givesWay: op.GivesWay(concept)}
		f.constants, f.constantsGiveWay = s.constants(op.FieldConstants[concept]), op.ConstantsGiveWay(concept)
		if !f.constantsGiveWay {
			s.take(f.constants)
		}
		s.fields[concept] = f
	}
	s.always = s.constants(op.Constants)
	s.take(s.always)
	s.ofText = map[string][]member{}
	for _, encoding := range []string{table.GSM, table.Unicode} {
		s.ofText[encoding] = s.constants(op.FieldConstants[encoding])
		s.take(s.ofText[encoding])
	}
	if op.Wrap != nil {
		s.wrap = *op.Wrap
	}
	at, slots := &s.at, s.responses.slots
	at.id, at.request, at.reference, at.parts = slots["id"], slots["request"], slots["reference"], slots["parts"]
	at.unitCost, at.cost, at.balance, at.currency = slots["unitCost"], slots["cost"], slots["balance"], slots["currency"]
	at.operator, at.status, at.recipient = slots["operator"], slots["status"], slots["to"]
	taken := map[string]bool{}
	for _, paths := range response {
		for _, path := range paths {
			taken[path] = true
		}
	}
	for _, code := range errs.Code {
		taken[code] = true
	}
	for _, place := range identifying(op) {
		s.beside = append(s.beside, beside{
			references: s.responses.Add(pathsBeside(place, response["reference"], taken)...),
			recipients: s.responses.Add(pathsBeside(place, response["to"], taken)...),
		})
	}
	s.lists = s.compileLists()
	return s
}

// byName is an operation compiled for paths of IDs that were found by their names.
type byName struct {
	compile func(path string) *Send
	mu      sync.Mutex
	sends   map[string]*Send
}

// SeekIDs makes Recognize find IDs by their names. It must be called before the first use, and only if no overlay names response.id.
func (s *Send) SeekIDs(t *table.Table, pair KeyPair) {
	s.byName = &byName{sends: map[string]*Send{}, compile: func(path string) *Send {
		op := *s.op
		op.Response = maps.Clone(op.Response)
		op.Response["id"] = []string{path}
		other := CompileSend(t, &op, s.url, pair)
		other.section = s.section
		return other
	}}
}

// at returns the operation for a path, or nil if there is no path or responses have named too many.
func (b *byName) at(path string) *Send {
	const most = 16
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.sends[path] == nil && path != "" && len(b.sends) < most {
		b.sends[path] = b.compile(path)
	}
	return b.sends[path]
}

// list is a list in a response in which an ID or a status stands. If it has several elements, each is judged by itself.
type list struct {
	path    string
	slot    int
	element *jsonscan.Node // the place of the first element
	second  int            // the slot of the second element
	slots   []int          // of all elements
	says    []int          // slots of what the contract reads in an element: an ID, a status, a code
	isEvery bool           // the contract has a * for its elements, so that all of them may refuse
	inner   []*list        // lists in an element
}

// compileLists returns the outermost lists in which IDs and statuses stand.
func (s *Send) compileLists() []*list {
	var all, outermost []*list
	for _, path := range slices.Concat(s.op.Response["id"], s.op.Response["status"]) {
		names := strings.Split(path, ".")
		for i, name := range names {
			isEvery := name != table.WithoutEvery(name)
			if !isEvery && !table.IsPosition(name) {
				continue
			}
			before := table.WithoutEvery(strings.Join(names[:i], "."))
			at := slices.IndexFunc(all, func(l *list) bool { return l.path == before })
			if at < 0 {
				at = len(all)
				all = append(all, &list{path: before})
				s.responses.Add(join(before, "0"), join(before, "1"))
			}
			all[at].isEvery = all[at].isEvery || isEvery
		}
	}
	slices.SortStableFunc(all, func(a, b *list) int { return strings.Count(a.path, ".") - strings.Count(b.path, ".") })
	for i, l := range all {
		s.compileList(l)
		isOuter := func(outer *list) bool { return strings.HasPrefix(l.path+".", join(outer.path, "0")+".") }
		outer := -1
		for j := range all[:i] {
			if isOuter(all[j]) {
				outer = j // the innermost comes last
			}
		}
		if outer < 0 {
			outermost = append(outermost, l)
			continue
		}
		all[outer].inner = append(all[outer].inner, l)
	}
	return outermost
}

// compileList compiles a list after all paths were added.
func (s *Send) compileList(l *list) {
	first := join(l.path, "0")
	l.slot = s.responses.At(l.path).Slot
	l.element = s.responses.At(first)
	l.second = s.responses.At(join(l.path, "1")).Slot
	for i := range s.responses.At(l.path).Children {
		l.slots = append(l.slots, s.responses.At(l.path).Children[i].Slots()...)
	}
	paths := s.op.Paths()
	for _, path := range slices.Concat(paths["id"], paths["status"], s.responses.errs.Code) {
		if strings.HasPrefix(path+".", first+".") {
			l.says = append(l.says, s.responses.At(path).Slot)
		}
	}
}

// recipientNames returns the names under which a response may repeat the recipient: those of the request and of a listed row.
func recipientNames(field string, listed []string) (names []string) {
	for _, path := range append([]string{field}, listed...) {
		parts := slices.DeleteFunc(strings.Split(path, "."), table.IsPosition)
		if len(parts) > 0 && parts[len(parts)-1] != "" && !slices.Contains(names, parts[len(parts)-1]) {
			names = append(names, parts[len(parts)-1])
		}
	}
	return names
}

// identifying returns where a response names the message or, if the contract says that it names none, where it accepts it.
func identifying(op *table.Send) []string {
	paths := op.Paths()
	if ids := paths["id"]; len(ids) > 0 {
		return ids
	}
	return paths["status"]
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
		members = append(members, member{name: s.wrap, dotted: true, raw: appendObject(nil, append(message, extra...))})
		extra = nil
	default:
		s.checkMembers(&call, &collisions)
		members = appendMembers(members, call.Members)
	}
	members = s.appendFields(members, &call, &problems)
	if all := inOrder(&call, lenient, problems, collisions); len(all) > 0 {
		return Request{}, all
	}
	members = append(members, s.always...)
	if len(s.op.FieldConstants[table.GSM])+len(s.op.FieldConstants[table.Unicode]) > 0 {
		members = append(members, s.ofText[encodingOf(&call)]...)
	}
	beside, inQuery := s.credentials()
	members = append(append(members, beside...), extra...)
	return s.request(s.url, members, inQuery), nil
}

// encodingOf returns which encoding the text of an SMS takes.
func encodingOf(call *wire.Call) string {
	isText := func(f wire.Field) bool { return f.Concept == "text" }
	if i := slices.IndexFunc(call.Fields, isText); i >= 0 && sms.Count(call.Fields[i].Text).Encoding == sms.UCS2 {
		return table.Unicode
	}
	return table.GSM
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
			reason = s.noField(f.Concept)
		case f.Reason != "":
			reason = f.Reason
		}
		problems.Found(f.Name, reason)
		m.name, m.dotted = known.name, known.dotted
		members = append(members, m)
		for _, constant := range known.constants {
			if !known.constantsGiveWay || !s.isUsers(call, s.top(constant.name)) {
				members = append(members, constant)
			}
		}
	}
	return members
}

// noField returns why a field cannot be sent.
func (s *Send) noField(concept string) string {
	if name := s.op.Displaced(concept); name != "" {
		return "must be absent: the contract uses its default name, " + strconv.Quote(name) + ", for something else, or has no object for it; " +
			"name the field there (fields." + concept + ")"
	}
	return "must be absent: the contract says that the service has no such field (fields." + concept + ` is "")`
}

// isUsers reports whether a top-level name is that of an extra field, or of a member of a message in the shape of another platform.
func (s *Send) isUsers(call *wire.Call, name string) bool {
	if s.wrap != "" && call.Members != nil {
		return false // they go under a name of their own
	}
	_, isExtra := call.Extra[name]
	return isExtra || slices.ContainsFunc(call.Members, func(m wire.Member) bool { return m.Name == name })
}

// extraMembers returns the extra members of a message in the order of their names, and adds what is wrong with them.
func (s *Send) extraMembers(call *wire.Call, problems *wire.Checks) (members []member) {
	if len(call.Extra) == 0 {
		return nil // the usual case, in which sorting would allocate
	}
	taken := s.namesOf(call)
	inMessage := call.Members != nil && s.wrap != "" // together with the members, under a key of their own
	for _, key := range slices.Sorted(maps.Keys(call.Extra)) {
		m, reason := s.extra(call.Extra[key], s.isJSON() || inMessage)
		switch {
		case key == "":
			reason = "a field needs a name"
		case !utf8.ValidString(key):
			reason = "a name must be valid UTF-8"
		case !inMessage && (s.taken[key] || slices.Contains(taken, key)):
			reason = "the contract uses this name; set the field of the message instead, or change the contract"
		case slices.ContainsFunc(call.Members, func(m wire.Member) bool { return m.Name == key }):
			reason = "the message has a member of this name"
		}
		problems.Found(cmp.Or(call.ExtraField, "Extra")+"["+strconv.Quote(key)+"]", reason)
		m.name = key
		members = append(members, m)
	}
	if names := s.payloads(call); len(names) > 1 {
		problems.Found(call.ExtraField, "has several payloads ("+strings.Join(names, ", ")+"); one message has one")
	}
	return members
}

// payloads returns the names by which Extra and the fields of a message make payloads, or none if they make one payload together.
func (s *Send) payloads(call *wire.Call) (names []string) {
	var found []string
	for _, payload := range call.Payloads {
		name := s.op.Fields[payload[0]]
		_, isExtra := call.Extra[name]
		isField := slices.ContainsFunc(call.Fields, func(f wire.Field) bool { return f.Concept == payload[0] && f.Text != "" })
		if name != "" && (isExtra || isField) {
			found = append(found, payload[0])
			names = append(names, name)
		}
	}
	for _, payload := range call.Payloads {
		others := slices.ContainsFunc(found, func(concept string) bool { return !slices.Contains(payload, concept) })
		if slices.Contains(found, payload[0]) && !others {
			return nil
		}
	}
	return names
}

// extra returns an extra value as it is written, and what is wrong with it.
func (s *Send) extra(value any, asJSON bool) (m member, reason string) {
	if asJSON {
		return encoded(value)
	}
	text, ok := plain(value)
	if !ok {
		return m, "must be a string, a number or a boolean with the encoding " + s.kind
	}
	return member{text: text}, wire.CheckText(text)
}

func encoded(value any) (m member, reason string) {
	raw, err := wire.EncodeText(value)
	if err != nil {
		return m, fmt.Sprintf("cannot be encoded as JSON: %T", err)
	}
	return member{raw: raw}, wire.CheckJSON(raw)
}

// checkMembers finds the members at the top level that would overwrite a name of the contract.
func (s *Send) checkMembers(call *wire.Call, problems *wire.Checks) {
	taken := s.namesOf(call)
	for _, m := range call.Members {
		if s.taken[m.Name] || slices.Contains(taken, m.Name) {
			problems.Found("Message", "its key "+strconv.Quote(m.Name)+" is a name of the contract, and "+
				"neither may overwrite the other; change that name, or set wrap to put the message under a key of its own")
		}
	}
}

// namesOf returns the top-level names of the fields that a message has, and of empty ones that do not give way. Constants and the key pair
// have taken others.
func (s *Send) namesOf(call *wire.Call) []string {
	names := make([]string, 0, 8)
	for i := range call.Fields {
		known, ok := s.fields[call.Fields[i].Concept]
		if _, present, _ := s.value(&call.Fields[i]); ok && (present || !known.givesWay) {
			names = append(names, known.top)
		}
	}
	return names
}

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
