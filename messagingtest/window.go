package messagingtest

import (
	"cmp"
	"time"
)

// SetWindow refuses messages of chat app 2, other than templates, to a recipient who has not written within d by the server's
// clock, as the platform does after 24 hours: with status 400 and the platform's code 131047, unless the contract has another one in
// windowClosed. A recipient writes by an [InboundChatApp] that [Server.CallWebhook] is called with. At first, and after SetWindow(0), no message is refused.
func (s *Server) SetWindow(d time.Duration) { s.set(func() { s.window = d }) }

// noteInbound remembers when a recipient of chat app 2 wrote.
func (s *Server) noteInbound(callback Callback) {
	in, ok := callback.(InboundChatApp)
	if !ok || in.Channel != channelChatApp2 {
		return
	}
	senders := []string{in.From}
	if in.From == "" {
		value, _ := readJSON([]byte(in.JSON))
		object, _ := value.(document)
		senders = sendersIn(object)
	}
	s.set(func() {
		for _, sender := range senders {
			s.lastInbound[recipientKey(sender)] = s.ledger.now()
		}
	})
}

// sendersIn returns the senders of the messages in an object of the third-party platform. The object is a message, or an envelope: entries
// with changes, whose values hold messages.
func sendersIn(object document) []string {
	var senders []string
	sender := cmp.Or(textIn(object, "from"), textIn(object, "from_user_id"))
	if sender != "" {
		senders = append(senders, sender)
	}
	parts := []any{object["value"]}
	for _, name := range []string{"entry", "changes", "messages"} {
		list, _ := object[name].([]any)
		parts = append(parts, list...)
	}
	for _, part := range parts {
		inner, isObject := part.(document)
		if isObject {
			senders = append(senders, sendersIn(inner)...)
		}
	}
	return senders
}

// isWindowClosed reports whether the platform accepts only a template. The caller holds mu.
func (s *Server) isWindowClosed(m Sent) bool {
	if s.window <= 0 || m.Channel != channelChatApp2 || m.Kind == "template" {
		return false
	}
	last := s.lastInbound[recipientKey(m.To)]
	return s.ledger.now().Sub(last) > s.window
}
