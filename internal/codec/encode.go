package codec

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// Encode writes a message as a request, or returns all its problems: what the message and the contract do not allow. If
// lenient is true, it does not return problems with documented limits.
func (s *Send) Encode(call wire.Call, lenient bool) (Request, []wire.Problem) {
	var buffer [24]member
	members := buffer[:0]
	var problems, collisions wire.Checks
	extra := s.extraMembers(&call, &collisions)
	isWrapped := s.isWrapped(&call)
	if isWrapped {
		members = append(members, s.wrapped(call.Members, extra))
	} else {
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
	if !isWrapped {
		members = append(members, extra...)
	}
	return s.newRequest(s.url, members, inQuery), nil
}

// isWrapped reports whether a message in the shape of another platform, and its extra fields, go under a name of their own.
func (s *Send) isWrapped(call *wire.Call) bool { return call.Members != nil && s.wrap != "" }

// wrapped returns the member that holds a message in the shape of another platform, with its extra fields.
func (s *Send) wrapped(message []wire.Member, extra []member) member {
	members := appendMembers(nil, message)
	members = append(members, extra...)
	return member{name: s.wrap, isPath: true, raw: appendObject(nil, members)}
}

// appendFields appends the fields that a message has, each with its constants, and adds their problems.
func (s *Send) appendFields(members []member, call *wire.Call, problems *wire.Checks) []member {
	for i := range call.Fields {
		f := &call.Fields[i]
		known, isKnown := s.fields[f.Concept]
		m, isPresent, reason := s.value(f)
		if !isPresent {
			if f.Required && isKnown {
				problems.Add(f.Name, "required, but absent")
			}
			continue
		}
		if !isKnown {
			problems.Add(f.Name, s.noField(f.Concept))
			continue
		}
		problems.Add(f.Name, cmp.Or(f.Reason, reason))
		m.name = known.name
		m.isPath = known.isPath
		members = append(members, m)
		members = s.appendFieldConstants(members, call, &known)
	}
	return members
}

// appendFieldConstants appends the constants that go with a field, unless the user sets one that gives way.
func (s *Send) appendFieldConstants(members []member, call *wire.Call, f *field) []member {
	for _, constant := range f.constants {
		givesWay := f.constantsGiveWay && s.isSetByUser(call, s.top(constant.name))
		if !givesWay {
			members = append(members, constant)
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

// isSetByUser reports whether the user has set a top-level name, as an extra field or as a member of a message in the shape of another
// platform.
func (s *Send) isSetByUser(call *wire.Call, name string) bool {
	if s.isWrapped(call) {
		return false
	}
	_, isExtra := call.Extra[name]
	return isExtra || isMember(call, name)
}

func isMember(call *wire.Call, name string) bool {
	return slices.ContainsFunc(call.Members, func(m wire.Member) bool { return m.Name == name })
}

// constantsOfText returns the constants of the encoding that the text of an SMS takes.
func (s *Send) constantsOfText(call *wire.Call) []member {
	gsm := s.textConstants[table.GSM]
	unicode := s.textConstants[table.Unicode]
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
	var message []wire.Problem
	for _, p := range call.Problems {
		isLifted := p.Limit && lenient
		if !isLifted {
			message = append(message, p)
		}
	}
	var all []wire.Problem
	if call.Members != nil {
		all = slices.Concat(message, fields)
	} else {
		all = slices.Concat(fields, message)
	}
	for _, collision := range collisions {
		isSame := func(p wire.Problem) bool { return p.Field == collision.Field }
		if !slices.ContainsFunc(message, isSame) {
			all = append(all, collision)
		}
	}
	return all
}
