package messagingtest

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/internal/table"
)

// A Channel is one by which the service sends.
type Channel string

// The channels of the service.
const (
	ChannelSMS      Channel = "sms"
	ChannelChatApp1 Channel = "chatapp1"
	ChannelChatApp2 Channel = "chatapp2"
)

// submission is a message that is valid, but not accepted yet.
type submission struct {
	Sent
	strict bool   // chat app 2: by the marketing-messages interface, or not at all
	toUser bool   // chat app 2: To is a user ID, not a number
	left   amount // of the balance, once the message is accepted
}

func (s *Server) sends(c table.Channel) operation {
	channel, t := Channel(c.Name), *c.Send(s.names)
	must(s.rules.Channels[channel] != nil, "rules.json: no rules for the channel %q", channel)
	t.Response = t.Paths()
	op := s.newOperation(http.MethodPost, t)
	op.channel, op.isPlatform = channel, c.IsPlatform(s.names)
	op.handle = func(requestID string, f fields) (any, *problem) {
		m, p := f.submission()
		if p != nil {
			return nil, p
		}
		m.RequestID, m.Body = requestID, f.content()
		if p := s.submit(&m); p != nil {
			return nil, p
		}
		if f.fault.name == "AnotherResponse" {
			m.ID, m.ReferenceID, m.RequestID = m.ID+"-another", "another-message", s.newRequestID()
		}
		if channel == ChannelChatApp2 && slices.Index(t.Response["id"], platformID) > 0 {
			return m.confirmChatApp2(), nil
		}
		return s.confirm(t, m), nil
	}
	return op
}

// submission reads a message.
func (f fields) submission() (submission, *problem) {
	switch {
	case f.channel == ChannelSMS:
		return readSMS(f)
	case f.isPlatform:
		return readPlatform(f)
	default:
		return readChatApp(f)
	}
}

func (s *Server) submit(m *submission) *problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	isTaken := false
	if channel, _ := table.ChannelNamed(string(m.Channel)); m.ReferenceID != "" && channel.Send(s.names).IDIsReference() {
		m.ID, isTaken = m.ReferenceID, s.ledger.byID[m.ReferenceID] != nil
	}
	switch {
	case isTaken, s.ledger.refuseDuplicates && len(s.ledger.byReference[m.ReferenceID]) > 0:
		return &problem{"duplicate", "a message with this reference was accepted before"}
	case m.Channel == ChannelChatApp2 && !s.route(m):
		return &problem{"route", "the marketing-messages route is not available, and product_policy is STRICT"}
	case s.isWindowClosed(m.Sent):
		return &problem{"windowClosed", "the recipient has not written within the window; only a template can be sent"}
	case !s.ledger.accept(m):
		return &problem{"insufficientBalance", "insufficient balance"}
	}
	return nil
}

// confirm returns the response of SMS and chat app 1. Numbers are strings, as in most services of the kind, but not a status. A
// service without a status says by a code that all is well.
func (s *Server) confirm(t table.Send, m submission) any {
	if status := t.Response["status"]; len(t.Response["id"]) == 0 && status[0] == "" {
		return plainText(firstWord(t.Accepted)) // the status is the whole body
	}
	body := placeAll(placeFirst(nil, t.Response["id"], m.ID), t.Response, map[string]any{ // the ID first: a client has to find it
		"request":   m.RequestID,
		"reference": m.ReferenceID,
		"parts":     strconv.Itoa(m.Parts),
		"unitCost":  unitCost.beside(t.Response["currency"], t.Scale),
		"cost":      priceOf(m.Parts).beside(t.Response["currency"], t.Scale),
		"currency":  currency,
		"balance":   m.left.text(t.Scale),
		"operator":  operator,
		"status":    numberOrText(firstWord(t.Accepted)),
	})
	if success := s.names.Errors.Success; len(t.Response["status"]) == 0 && len(success) > 0 {
		body = placeFirst(body, s.names.Errors.Code, numberOrText(firstWord(success)))
	}
	return body
}

func readSMS(f fields) (submission, *problem) {
	p := f.check(f.rules.Channels[f.channel])
	m := f.message(f.extra)
	m.Parts = countParts(m.Text)
	return submission{Sent: m}, p
}

// checkChatApp checks what messages of both chat apps have beside their content.
func (f fields) checkChatApp() *problem {
	from, text := f.name("fallbackFrom"), f.name("fallbackText")
	isHalf := from != "" && text != "" && f.has("fallbackFrom") != f.has("fallbackText")
	isEmpty := f.has("fallbackFrom") && f.text("fallbackFrom") == "" || f.has("fallbackText") && f.text("fallbackText") == ""
	return cmp.Or(
		f.check(f.rules.ChatApp),
		refuseIf(isHalf || isEmpty, "fallback", from+" and "+text+" go together, and neither is empty"),
	)
}

// payload is one kind of message of a chat app whose fields the contract names.
type payload struct {
	Kind   string
	Marks  []string // concepts, each of which says that the message is of this kind
	Fields shape
}

func readChatApp(f fields) (submission, *problem) {
	kind, p := f.readPayload()
	p = cmp.Or(f.check(f.rules.Channels[f.channel]), p, f.checkChatApp())
	m := f.message(f.extra)
	m.Kind = kind
	return submission{Sent: m}, p
}

// readPayload returns the kind of a message that has exactly one payload.
func (f fields) readPayload() (kind string, p *problem) {
	all := f.rules.Payloads
	i := slices.IndexFunc(all, func(p payload) bool { return slices.ContainsFunc(p.Marks, f.has) })
	if i < 0 {
		return "", &problem{"payload", "there is no payload"}
	}
	for _, other := range all {
		for _, concept := range other.Marks {
			_, needed := all[i].Fields[concept]
			_, allowed := all[i].Fields[concept+"?"]
			if f.has(concept) && !needed && !allowed {
				return "", &problem{"payload", f.name(concept) + " does not belong to a payload of the kind " + all[i].Kind}
			}
		}
	}
	return all[i].Kind, f.check(all[i].Fields)
}
