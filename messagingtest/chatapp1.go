package messagingtest

import (
	"cmp"
	"slices"
)

// payload is one kind of chat-app-1 message.
type payload struct {
	Kind   string
	Marks  []string // concepts, each of which says that the message is of this kind
	Fields shape
}

func readChatApp1(f fields) (submission, *problem) {
	kind, p := f.readPayload()
	p = cmp.Or(f.check(f.rules.ChatApp1), p, f.checkChatApp())
	m := f.message()
	m.Kind = kind
	return submission{Sent: m}, p
}

// readPayload returns the kind of a message that has exactly one payload.
func (f fields) readPayload() (kind string, p *problem) {
	all := f.rules.Payloads
	i := slices.IndexFunc(all, func(p payload) bool { return slices.ContainsFunc(p.Marks, f.has) })
	if i < 0 {
		return "", &problem{codePayload, "there is no payload"}
	}
	for _, other := range all {
		for _, concept := range other.Marks {
			_, needed := all[i].Fields[concept]
			_, allowed := all[i].Fields[concept+"?"]
			if f.has(concept) && !needed && !allowed {
				return "", &problem{codePayload, f.name(concept) + " does not belong to a payload of the kind " + all[i].Kind}
			}
		}
	}
	return all[i].Kind, f.check(all[i].Fields)
}
