package messagingtest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/table"
)

// The channels, by their names in a contract.
const (
	channelSMS      = "sms"
	channelChatApp1 = "chatapp1"
	channelChatApp2 = "chatapp2"
)

func isChannel(name string) bool {
	_, ok := table.ChannelNamed(name)
	return ok
}

// A submission is a message that is valid, but not accepted yet.
type submission struct {
	Sent

	isToUser bool   // chat app 2: To is a user ID, not a number
	balance  amount // that is left when the message is accepted
}

// sendOperation returns the operation that sends on a channel.
func (s *Server) sendOperation(c table.Channel) operation {
	t := *c.Send(s.names)
	t.Response = t.Paths()
	op := newOperation(http.MethodPost, t)
	op.channel = c.Name
	op.isPlatform = c.IsPlatform(s.names)
	op.handle = func(requestID string, f fields) (any, *problem) {
		m, p := f.submission()
		if p != nil {
			return nil, p
		}
		m.RequestID = requestID
		m.Body = f.content()
		if p := s.submit(&m); p != nil {
			return nil, p
		}
		if c.Name == channelChatApp2 && hasPlatformResponse(t) {
			return m.confirmChatApp2(), nil
		}
		return s.confirm(t, m), nil
	}
	return op
}

// submission reads a message.
func (f fields) submission() (submission, *problem) {
	switch {
	case f.op.channel == channelSMS:
		return f.readSMS()
	case f.op.isPlatform:
		return f.readPlatform()
	default:
		return f.readChatApp()
	}
}

// submit accepts a message, or returns why the service refuses it.
func (s *Server) submit(m *submission) *problem {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isDuplicate(m.Sent):
		return &problem{"duplicate", "a message with this reference was accepted before"}
	case s.isWindowClosed(m.Sent):
		return &problem{"windowClosed", "the recipient has not written within the window; only a template can be sent"}
	}
	if s.hasReferenceAsID(m.Sent) {
		m.ID = m.ReferenceID
	}
	if !s.ledger.accept(m) {
		return &problem{"insufficientBalance", "insufficient balance"}
	}
	return nil
}

// isDuplicate reports whether a message is refused for its reference ID.
func (s *Server) isDuplicate(m Sent) bool {
	if s.hasReferenceAsID(m) && s.ledger.byID[m.ReferenceID] != nil {
		return true
	}
	return s.ledger.refuseDuplicates && len(s.ledger.byReference[m.ReferenceID]) > 0
}

// hasReferenceAsID reports whether the contract makes the reference ID of a message its message ID.
func (s *Server) hasReferenceAsID(m Sent) bool {
	channel, _ := table.ChannelNamed(m.Channel)
	return m.ReferenceID != "" && channel.Send(s.names).IDIsReference()
}

// confirm returns the response of SMS and chat app 1. Numbers are strings, as in most services of the kind, but a status is not. A
// service without a status reports success by a code.
func (s *Server) confirm(t table.Send, m submission) any {
	status := t.Response["status"]
	hasID := len(t.Response["id"]) > 0
	if !hasID && status[0] == "" { // the status is the whole body; a contract without an ID has a status
		return plainText(acceptedWord(t))
	}
	body := placeFirst(nil, t.Response["id"], m.ID) // before the others: a client has to find it
	body = placeAll(body, t.Response, map[string]any{
		"request":   m.RequestID,
		"reference": m.ReferenceID,
		"parts":     strconv.Itoa(m.Parts),
		"unitCost":  unitCost.withCurrency(testCurrency, t.Response["currency"], t.Scale),
		"cost":      priceOf(m.Parts).withCurrency(testCurrency, t.Response["currency"], t.Scale),
		"currency":  testCurrency,
		"balance":   m.balance.text(t.Scale),
		"operator":  testOperator,
		"status":    numberOrText(acceptedWord(t)),
	})
	success := s.names.Errors.Success
	if len(status) == 0 && len(success) > 0 {
		body = placeFirst(body, s.names.Errors.Code, numberOrText(firstWord(success)))
	}
	return body
}

// acceptedWord returns the word of an accepted message: the first one that the contract adds to those of the default contract, whose words are
// guesses, or the first one of all.
func acceptedWord(t table.Send) string {
	var added []string
	for _, word := range t.Accepted {
		if !isDefaultWord(word) {
			added = append(added, word)
		}
	}
	if len(added) > 0 {
		return firstWord(added)
	}
	return firstWord(t.Accepted)
}

// isDefaultWord reports whether a word means accepted in the default contract, for any channel.
func isDefaultWord(word string) bool {
	for _, channel := range table.Channels() {
		if slices.Contains(channel.Send(table.Default()).Accepted, word) {
			return true
		}
	}
	return false
}

// firstWord returns a word that the first entry of a list stands for, or "" if the list is empty.
func firstWord(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return strings.TrimSuffix(list[0], "*")
}

func (f fields) readSMS() (submission, *problem) {
	o := newObject(f.values)
	o.filled(f.name("from"))
	o.recipient(f.name("to"))
	o.filled(f.name("text"))
	f.checkTracking(o)
	m := f.message(f.extra)
	m.Parts = countParts(m.Text)
	return submission{Sent: m}, o.first()
}

// checkTracking checks the fields by which a client follows a message.
func (f fields) checkTracking(o object) {
	o.optional(f.name("callback"), o.callback)
	o.optional(f.name("reference"), o.text)
}

// checkChatApp checks the fields that messages of both chat apps have, whatever their content.
func (f fields) checkChatApp(o object) {
	f.unquote("ttl")
	ttl := f.name("ttl")
	o.optional(ttl, func(string) {
		if lifetimeOf(f.values[ttl], f.op.contract.TTL) == 0 {
			o.refuse("lifetime", ttl, "is not a whole number above zero, or is too large")
		}
	})
	f.checkTracking(o)
	f.checkFallback(o)
}

// checkFallback checks that the sender and the text of a fallback go together.
func (f fields) checkFallback(o object) {
	from, text := f.name("fallbackFrom"), f.name("fallbackText")
	o.optional(from, o.text)
	o.optional(text, o.text)
	for _, member := range []string{from, text} {
		if o.has(member) && textIn(f.values, member) == "" {
			o.refuse("fallback", member, "is empty")
		}
	}
	if from != "" && text != "" && o.has(from) != o.has(text) {
		o.refuse("fallback", from, "and "+text+" go together")
	}
}

// A payload is one kind of chat-app message whose fields the contract names. Fields are concepts.
type payload struct {
	kind  string
	marks []string // each of these fields says that the message is of this kind
	also  []string // other fields that it may have
	check func(f fields, o object)
}

// payloads returns the kinds in the order in which they are tried: text and image are also parts of a call to action.
func payloads() []payload {
	return []payload{
		{"call_to_action", []string{"caption", "url"}, []string{"text", "image"}, func(f fields, o object) {
			o.filled(f.name("text"))
			o.filled(f.name("caption"))
			o.link(f.name("url"))
			o.optional(f.name("image"), o.link)
		}},
		{"template", []string{"template", "params", "language"}, nil, func(f fields, o object) {
			f.unquote("params")
			o.filled(f.name("template"))
			o.optional(f.name("params"), o.texts)
			o.optional(f.name("language"), o.filledText)
		}},
		{"video", []string{"video", "thumbnail", "duration", "size"}, []string{"text"}, func(f fields, o object) {
			f.unquote("duration")
			f.unquote("size")
			o.link(f.name("video"))
			o.optional(f.name("text"), o.text)
			o.optional(f.name("thumbnail"), o.link)
			o.optional(f.name("duration"), o.number)
			o.optional(f.name("size"), o.wholeNumber)
		}},
		{"image", []string{"image"}, []string{"text"}, func(f fields, o object) {
			o.link(f.name("image"))
			o.optional(f.name("text"), o.text)
		}},
		{"text", []string{"text"}, nil, func(f fields, o object) {
			o.filled(f.name("text"))
		}},
	}
}

func (f fields) readChatApp() (submission, *problem) {
	o := newObject(f.values)
	o.filled(f.name("channel"))
	o.recipient(f.name("to"))
	kind := f.readPayload(o)
	f.checkChatApp(o)
	m := f.message(f.extra)
	m.Kind = kind
	return submission{Sent: m}, o.first()
}

// readPayload returns the kind of a message that has exactly one payload.
func (f fields) readPayload(o object) string {
	all := payloads()
	i := slices.IndexFunc(all, func(p payload) bool { return slices.ContainsFunc(p.marks, f.has) })
	if i < 0 && len(f.extra) > 0 {
		return "raw" // a kind that only the service knows
	}
	if i < 0 {
		o.refuse("payload", "the message", "has no payload")
		return ""
	}
	chosen := all[i]
	for _, other := range all {
		for _, concept := range other.marks {
			isOwn := slices.Contains(chosen.marks, concept) || slices.Contains(chosen.also, concept)
			if f.has(concept) && !isOwn {
				o.refuse("payload", f.name(concept), "does not belong to a payload of the kind "+chosen.kind)
			}
		}
	}
	chosen.check(f, o)
	return chosen.kind
}
