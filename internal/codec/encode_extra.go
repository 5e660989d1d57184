package codec

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/messaging-service/messaging-go/internal/wire"
)

// extraMembers returns the extra fields of a message in the order of their names, and adds their problems.
func (s *Send) extraMembers(call *wire.Call, problems *wire.Checks) (members []member) {
	if len(call.Extra) == 0 {
		return nil // the usual case; sorting would allocate
	}
	fieldNames := s.namesOf(call)
	for _, name := range slices.Sorted(maps.Keys(call.Extra)) {
		m, reason := s.extraMember(call, name)
		nameReason := s.checkExtraName(call, name, fieldNames)
		problems.Add(extraField(call, name), cmp.Or(nameReason, reason))
		members = append(members, m)
	}
	if names := s.payloads(call); len(names) > 1 {
		problems.Add(call.ExtraField, "has several payloads ("+strings.Join(names, ", ")+"); one message has one")
	}
	return members
}

// checkExtraName returns why a message cannot have an extra field with a name, or "".
func (s *Send) checkExtraName(call *wire.Call, name string, fieldNames []string) (reason string) {
	isReserved := s.reserved[name] || slices.Contains(fieldNames, name)
	switch {
	case name == "":
		return "a field needs a name"
	case !utf8.ValidString(name):
		return "a name must be valid UTF-8"
	case isReserved && !s.isWrapped(call):
		return "the contract uses this name; set the field of the message instead, or change the contract"
	case isMember(call, name):
		return "the message has a member of this name"
	default:
		return ""
	}
}

// extraMember returns an extra field as it is written, and why its value is invalid, or "".
func (s *Send) extraMember(call *wire.Call, name string) (m member, reason string) {
	value := call.Extra[name]
	if s.isJSON() || s.isWrapped(call) {
		m, reason = jsonMember(value)
		m.name = name
		return m, reason
	}
	text, ok := plainText(value)
	if !ok {
		return member{name: name}, "must be a string, a number or a boolean with the encoding " + s.encoding
	}
	return member{name: name, text: text}, wire.CheckText(text)
}

// extraField returns how a problem names an extra field: by the field of the message that the user set.
func extraField(call *wire.Call, name string) string {
	field := cmp.Or(call.ExtraField, "Extra")
	if _, isUserExtra := call.UserExtra[name]; isUserExtra {
		field = "Extra"
	}
	return field + "[" + strconv.Quote(name) + "]"
}

// payloads returns the names of the payloads in Extra and in the fields of a message. It returns nil if they make one payload together: an
// image and a text are an image with a caption. An image and a video are two payloads.
func (s *Send) payloads(call *wire.Call) (names []string) {
	var present []wire.Payload
	for _, payload := range call.Payloads {
		name := s.op.Fields[payload.Essential]
		if name != "" && hasValue(call, payload.Essential, name) {
			present = append(present, payload)
			names = append(names, name)
		}
	}
	for _, payload := range present {
		isOther := func(part wire.Payload) bool { return !payload.Has(part.Essential) }
		if !slices.ContainsFunc(present, isOther) {
			return nil
		}
	}
	return names
}

// hasValue reports whether a message has a text for a concept, or an extra field with its name.
func hasValue(call *wire.Call, concept, name string) bool {
	_, isExtra := call.Extra[name]
	return isExtra || slices.ContainsFunc(call.Fields, func(f wire.Field) bool { return f.Concept == concept && f.Text != "" })
}

// checkMembers reports the members at the top level that have a name of the contract.
func (s *Send) checkMembers(call *wire.Call, problems *wire.Checks) {
	if len(call.Members) == 0 {
		return
	}
	fieldNames := s.namesOf(call)
	for _, m := range call.Members {
		if s.reserved[m.Name] || slices.Contains(fieldNames, m.Name) {
			problems.Add("Message", "its key "+strconv.Quote(m.Name)+" is a name of the contract, and "+
				"neither may overwrite the other; change that name, or set wrap to put the message under a key of its own")
		}
	}
}

// namesOf returns the top-level names of the fields that a message has, and of its empty fields that do not give way. The names of constants
// and of the key pair are not among them; they are in reserved.
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
