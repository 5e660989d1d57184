package messagingtest

import (
	"encoding/json"
	"fmt"
)

// Seed puts messages into the ledger as if they had been accepted in this order, so that a test can list thousands
// without sending them. They are in [Server.Sent] and in listings from then on, with copies of what Extra holds. They
// cost nothing, and no request is counted.
//
// What is absent is filled in: ID and RequestID with fresh ones, At with the current time of the server's clock, Parts with
// the server's own count of Text, Channel with [ChannelSMS]. Everything else is taken as it is, right or wrong, also what a
// request could not have brought. A chat-app message stays as it is seeded: its State does not change, it does not expire,
// and its fallback is not sent.
//
// Seed panics, and enters nothing, if an ID is in the ledger already or comes twice, if there is no such channel, or if a
// value of Extra is not JSON.
func (s *Server) Seed(messages ...Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := make(map[string]bool)
	for i, m := range messages {
		if given[m.ID] || s.ledger.byID[m.ID] != nil {
			panic(fmt.Sprintf("messagingtest: Seed: message %d has the ID %q, and so has another", i, m.ID))
		}
		if m.ID != "" {
			given[m.ID] = true
		}
		switch m.Channel {
		case "", ChannelSMS, ChannelChatApp1, ChannelChatApp2:
		default:
			panic(fmt.Sprintf("messagingtest: Seed: message %d: no such channel: %q", i, m.Channel))
		}
		for name, value := range m.Extra {
			if !json.Valid(value) {
				panic(fmt.Sprintf("messagingtest: Seed: message %d: the value of %q in Extra is not JSON", i, name))
			}
		}
	}
	now := s.ledger.clock.now()
	for _, m := range messages {
		m = m.clone()
		if m.Channel == "" {
			m.Channel = ChannelSMS
		}
		for m.ID == "" {
			if id := s.ledger.newID(m.Channel); !given[id] { // it may be that of a message further on
				m.ID = id
			}
		}
		if m.RequestID == "" {
			m.RequestID = s.newRequestID()
		}
		if m.At.IsZero() {
			m.At = now
		}
		if m.Parts == 0 {
			m.Parts = countParts(m.Text)
		}
		s.ledger.enter(newRow(m, len(s.ledger.rows)))
	}
}
