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

	op                *table.Send
	section           string              // of the contract
	fields            map[string]field    // by concept, of those that the service has
	constants         []member            // of every request
	encodingConstants map[string][]member // of a text that takes an encoding
	wrap              string              // the name of a message in the shape of another platform; "" is the top level

	responses responses
	slots     responseSlots
	lists     []*list    // the outermost lists that hold an ID or a status
	adjacent  []adjacent // for each path of the ID or, if the contract has no IDs, of the status
	buffers   *sync.Pool // of the values in a response
	idFinder  *idFinder  // nil unless IDs may be found by their names
}

// responseSlots are the slots of what a response to a send says.
type responseSlots struct {
	id, request, reference, recipient, status, parts, operator []int
	unitCost, cost, balance, currency                          []int
}

// adjacent holds the slots of references and recipients in the object that names the message, where the contract does not look for them.
type adjacent struct{ references, recipients []int }

// field is a field of a request.
type field struct {
	name      string
	top       string // the member or parameter that holds it
	dotted    bool
	constants []member

	givesWay         bool // see table.Send.GivesWay
	constantsGiveWay bool // see table.Send.ConstantsGiveWay
}

// CompileSend compiles an operation of a valid table that sends to a URL. The pair is nil if requests carry no key pair.
func CompileSend(t *table.Table, op *table.Send, target *url.URL, pair KeyPair) *Send {
	s := &Send{
		encoding: newEncoding(t, &op.Operation, "POST", target, pair),
		op:       op,
		buffers:  new(sync.Pool),
	}
	s.ttl = op.TTL
	for _, channel := range table.Channels() {
		if channel.Send(t) == op {
			s.section = channel.SendSection()
		}
	}
	if op.Wrap != nil {
		s.wrap = *op.Wrap
	}
	s.compileFields()
	s.compileConstants()
	s.compileResponses(t)
	s.lists = s.compileLists()
	return s
}

func (s *Send) compileFields() {
	s.fields = make(map[string]field, len(s.op.Fields))
	for concept, name := range s.op.Fields {
		if name == "" {
			continue
		}
		f := field{
			name: name, top: s.top(name), dotted: strings.Contains(name, "."),
			constants:        s.compileMembers(s.op.FieldConstants[concept]),
			givesWay:         s.op.GivesWay(concept),
			constantsGiveWay: s.op.ConstantsGiveWay(concept),
		}
		if !f.constantsGiveWay {
			s.reserve(f.constants)
		}
		s.fields[concept] = f
	}
}

func (s *Send) compileConstants() {
	s.constants = s.compileMembers(s.op.Constants)
	s.reserve(s.constants)
	s.encodingConstants = map[string][]member{}
	for _, encoding := range []string{table.GSM, table.Unicode} {
		constants := s.compileMembers(s.op.FieldConstants[encoding])
		s.encodingConstants[encoding] = constants
		s.reserve(constants)
	}
}

// compileResponses compiles the paths of a response.
func (s *Send) compileResponses(t *table.Table) {
	lists := s.op.Paths()
	lists["to"] = recipientNames(s.op.Fields["to"], t.SMSList.Record["to"])
	known := compileVocabulary(t, s.op.Accepted, s.op.Refused)
	s.responses = compileResponses(lists, nil, nil, known, &t.Errors)
	slots := s.responses.slots
	s.slots = responseSlots{
		id:        slots["id"],
		request:   slots["request"],
		reference: slots["reference"],
		recipient: slots["to"],
		status:    slots["status"],
		parts:     slots["parts"],
		operator:  slots["operator"],
		unitCost:  slots["unitCost"],
		cost:      slots["cost"],
		balance:   slots["balance"],
		currency:  slots["currency"],
	}
	reserved := map[string]bool{}
	for _, paths := range lists {
		addAll(reserved, paths)
	}
	addAll(reserved, t.Errors.Code)
	places := lists["id"]
	if len(places) == 0 {
		places = lists["status"]
	}
	for _, place := range places {
		s.adjacent = append(s.adjacent, adjacent{
			references: s.responses.Add(adjacentPaths(place, lists["reference"], reserved)...),
			recipients: s.responses.Add(adjacentPaths(place, lists["to"], reserved)...),
		})
	}
}

// list is a list in a response that holds an ID or a status. If it has several elements, each is read by itself.
type list struct {
	path    string
	slot    int
	element *jsonscan.Node // of the first element
	second  int            // the slot of the second element
	slots   []int          // of all elements
	says    []int          // slots of what the contract reads in an element about a message: an ID, a status, a code
	isEvery bool           // the contract has a * for its elements, so that all of them may refuse
	inner   []*list        // lists in an element
}

// compileLists returns the outermost lists that hold IDs and statuses.
func (s *Send) compileLists() (outermost []*list) {
	all := s.listsOnPaths()
	for _, l := range all {
		s.compileList(l)
	}
	for i, l := range all {
		outer := innermostAround(l.path, all[:i])
		if outer == nil {
			outermost = append(outermost, l)
		} else {
			outer.inner = append(outer.inner, l)
		}
	}
	return outermost
}

// listsOnPaths returns the lists on the paths of IDs and statuses, each after the lists around it, and adds their first two elements to
// the paths of a response.
func (s *Send) listsOnPaths() (all []*list) {
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
	return all
}

// innermostAround returns the innermost of some lists, sorted by depth, whose first element holds a path, or nil.
func innermostAround(path string, lists []*list) *list {
	for _, l := range slices.Backward(lists) {
		if strings.HasPrefix(path+".", join(l.path, "0")+".") {
			return l
		}
	}
	return nil
}

// compileList compiles a list. All paths must have been added.
func (s *Send) compileList(l *list) {
	first := join(l.path, "0")
	node := s.responses.At(l.path)
	l.slot = node.Slot
	l.element = s.responses.At(first)
	l.second = s.responses.At(join(l.path, "1")).Slot
	for i := range node.Children {
		l.slots = append(l.slots, node.Children[i].Slots()...)
	}
	paths := s.op.Paths()
	for _, path := range slices.Concat(paths["id"], paths["status"], s.responses.errors.Code) {
		if strings.HasPrefix(path+".", first+".") {
			l.says = append(l.says, s.responses.At(path).Slot)
		}
	}
}

// recipientNames returns the names under which a response may repeat the recipient: those of the request and of a listed row.
func recipientNames(field string, listed []string) (names []string) {
	for _, path := range append([]string{field}, listed...) {
		parts := slices.DeleteFunc(strings.Split(path, "."), table.IsPosition)
		if len(parts) == 0 {
			continue
		}
		name := parts[len(parts)-1]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Encode writes a message as a request, or returns everything that is wrong with it: what the message and the contract do not allow. If
// lenient is true, it does not return problems with documented limits.
func (s *Send) Encode(call wire.Call, lenient bool) (Request, []wire.Problem) {
	var buffer [24]member
	members := buffer[:0]
	var problems, collisions wire.Checks
	extra := s.extraMembers(&call, &collisions)
	switch {
	case call.Members == nil:
	case s.isWrapped(&call):
		message := appendMembers(nil, call.Members)
		message = append(message, extra...)
		extra = nil
		members = append(members, member{name: s.wrap, dotted: true, raw: appendObject(nil, message)})
	default:
		s.checkMembers(&call, &collisions)
		members = appendMembers(members, call.Members)
	}
	members = s.appendFields(members, &call, &problems)
	if all := inOrder(&call, lenient, problems, collisions); len(all) > 0 {
		return Request{}, all
	}
	members = append(members, s.constants...)
	members = append(members, s.constantsOfText(&call)...)
	inFields, inQuery := s.credentials()
	members = append(members, inFields...)
	members = append(members, extra...)
	return s.request(s.url, members, inQuery), nil
}

// isWrapped reports whether a message in the shape of another platform, and its extra fields, go under a name of their own.
func (s *Send) isWrapped(call *wire.Call) bool { return call.Members != nil && s.wrap != "" }

// constantsOfText returns the constants of the encoding that the text of an SMS takes.
func (s *Send) constantsOfText(call *wire.Call) []member {
	gsm := s.encodingConstants[table.GSM]
	unicode := s.encodingConstants[table.Unicode]
	if len(gsm)+len(unicode) == 0 {
		return nil // the usual case, in which the text is not counted
	}
	isText := func(f wire.Field) bool { return f.Concept == "text" }
	i := slices.IndexFunc(call.Fields, isText)
	if i >= 0 && sms.Count(call.Fields[i].Text).Encoding == sms.UCS2 {
		return unicode
	}
	return gsm
}

// inOrder returns all problems in the order in which a user reads the message: those of a message in the shape of another platform come
// before those of the fields next to it. A member of Extra that the message itself rejects is not reported again.
func inOrder(call *wire.Call, lenient bool, fields, collisions []wire.Problem) []wire.Problem {
	if len(call.Problems)+len(fields)+len(collisions) == 0 {
		return nil
	}
	isLifted := func(p wire.Problem) bool { return p.Limit && lenient }
	message := slices.DeleteFunc(slices.Clone(call.Problems), isLifted)
	all := slices.Concat(fields, message)
	if call.Members != nil {
		all = slices.Concat(message, fields)
	}
	for _, collision := range collisions {
		isSame := func(p wire.Problem) bool { return p.Field == collision.Field }
		if !slices.ContainsFunc(message, isSame) {
			all = append(all, collision)
		}
	}
	return all
}

// appendFields appends the fields that a message has, each with its constants.
func (s *Send) appendFields(members []member, call *wire.Call, problems *wire.Checks) []member {
	for i := range call.Fields {
		f := &call.Fields[i]
		known, isKnown := s.fields[f.Concept]
		m, isPresent, reason := s.value(f)
		isMissing := !isPresent && f.Required && isKnown
		switch {
		case isMissing:
			reason = "required, but absent"
		case !isPresent:
			continue
		case !isKnown:
			reason = s.noField(f.Concept)
		case f.Reason != "":
			reason = f.Reason
		}
		problems.Found(f.Name, reason)
		m.name = known.name
		m.dotted = known.dotted
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

// isUsers reports whether the user has set a top-level name, as an extra field or as a member of a message in the shape of another
// platform.
func (s *Send) isUsers(call *wire.Call, name string) bool {
	if s.isWrapped(call) {
		return false
	}
	_, isExtra := call.Extra[name]
	return isExtra || isMember(call, name)
}

func isMember(call *wire.Call, name string) bool {
	return slices.ContainsFunc(call.Members, func(m wire.Member) bool { return m.Name == name })
}

// extraMembers returns the extra fields of a message in the order of their names, and adds what is wrong with them.
func (s *Send) extraMembers(call *wire.Call, problems *wire.Checks) (members []member) {
	if len(call.Extra) == 0 {
		return nil // the usual case, in which sorting would allocate
	}
	fieldNames := s.namesOf(call)
	isWrapped := s.isWrapped(call)
	for _, name := range slices.Sorted(maps.Keys(call.Extra)) {
		m, reason := s.extra(call.Extra[name], s.isJSON() || isWrapped)
		isReserved := s.reserved[name] || slices.Contains(fieldNames, name)
		switch {
		case name == "":
			reason = "a field needs a name"
		case !utf8.ValidString(name):
			reason = "a name must be valid UTF-8"
		case isReserved && !isWrapped:
			reason = "the contract uses this name; set the field of the message instead, or change the contract"
		case isMember(call, name):
			reason = "the message has a member of this name"
		}
		problems.Found(extraField(call, name), reason)
		m.name = name
		members = append(members, m)
	}
	if names := s.payloads(call); len(names) > 1 {
		problems.Found(call.ExtraField, "has several payloads ("+strings.Join(names, ", ")+"); one message has one")
	}
	return members
}

// extraField returns what the user calls a member of Extra.
func extraField(call *wire.Call, name string) string {
	field := cmp.Or(call.ExtraField, "Extra")
	if _, isUserExtra := call.UserExtra[name]; isUserExtra {
		field = "Extra"
	}
	return field + "[" + strconv.Quote(name) + "]"
}

// payloads returns the names by which Extra and the fields of a message make payloads, or none if they make one payload together.
func (s *Send) payloads(call *wire.Call) (names []string) {
	var concepts []string
	for _, payload := range call.Payloads {
		concept := payload.Essential
		if name := s.op.Fields[concept]; name != "" && hasValue(call, concept, name) {
			concepts = append(concepts, concept)
			names = append(names, name)
		}
	}
	for _, payload := range call.Payloads {
		isElsewhere := func(concept string) bool { return !payload.Has(concept) }
		if slices.Contains(concepts, payload.Essential) && !slices.ContainsFunc(concepts, isElsewhere) {
			return nil
		}
	}
	return names
}

// hasValue reports whether a message has a text under a concept, or an extra field under its name.
func hasValue(call *wire.Call, concept, name string) bool {
	_, isExtra := call.Extra[name]
	return isExtra || slices.ContainsFunc(call.Fields, func(f wire.Field) bool { return f.Concept == concept && f.Text != "" })
}

// extra returns the value of an extra field as it is written, and what is wrong with it.
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
	fieldNames := s.namesOf(call)
	for _, m := range call.Members {
		if s.reserved[m.Name] || slices.Contains(fieldNames, m.Name) {
			problems.Found("Message", "its key "+strconv.Quote(m.Name)+" is a name of the contract, and "+
				"neither may overwrite the other; change that name, or set wrap to put the message under a key of its own")
		}
	}
}

// namesOf returns the top-level names of the fields that a message has, and of the empty ones that do not give way. Those of constants and
// of the key pair are reserved.
func (s *Send) namesOf(call *wire.Call) []string {
	names := make([]string, 0, 8)
	for i := range call.Fields {
		known, isKnown := s.fields[call.Fields[i].Concept]
		_, isPresent, _ := s.value(&call.Fields[i])
		if isKnown && (isPresent || !known.givesWay) {
			names = append(names, known.top)
		}
	}
	return names
}

// plain returns a string, a number or a boolean as text. It reports false for any other value.
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
		isFinite := !math.IsNaN(f) && !math.IsInf(f, 0)
		return strconv.FormatFloat(f, 'f', -1, v.Type().Bits()), isFinite
	default:
		return "", false
	}
}
