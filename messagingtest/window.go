package messagingtest

import (
	"cmp"
	"time"
)

// SetWindow refuses messages of chat app 2, other than templates, to a recipient who has not written within d by the server's
// clock, as the platform does after 24 hours: with status 400 and the platform's code 131047, unless the contract has another one in
// windowClosed. A recipient writes by an [InboundChatApp] that [Server.CallWebhook] is called with. Zero, as at the start, refuses none.
func (s *Server) SetWindow(d time.Duration) { s.set(func() { s.window = d }) }

// noteInbound remembers when a recipient of chat app 2 wrote.
func (s *Server) noteInbound(callback Callback) {
	in, ok := callback.(InboundChatApp)
	if !ok || in.Channel != channelChatApp2 {
		return
	}
	value, _ := readJSON([]byte(in.JSON))
	object, _ := value.(document)
	from := cmp.Or(in.From, textIn(object, "from"), textIn(object, "from_user_id"))
	s.set(func() { s.lastInbound[recipientKey(from)] = s.ledger.now() })
}

// isWindowClosed reports whether the platform accepts only a template. The caller holds mu.
func (s *Server) isWindowClosed(m Sent) bool {
	if s.window <= 0 || m.Channel != channelChatApp2 || m.Kind == "template" {
		return false
	}
	last := s.lastInbound[recipientKey(m.To)]
	return s.ledger.now().Sub(last) > s.window
}
