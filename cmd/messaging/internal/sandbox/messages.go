package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

// Message is a message or an answer, as the API shows it.
type Message struct {
	ID          string          `json:"id"`
	Direction   string          `json:"direction"` // "sent" by a program, or "answer" of a recipient
	Channel     string          `json:"channel"`
	Kind        string          `json:"kind"`
	From        string          `json:"from"`
	To          string          `json:"to"`
	Text        string          `json:"text"`
	Code        string          `json:"code,omitempty"`
	State       contract.Status `json:"state,omitempty"`
	At          time.Time       `json:"at"`
	ReferenceID string          `json:"referenceID,omitempty"`
	RequestID   string          `json:"requestID,omitempty"`
	Parts       int             `json:"parts,omitempty"`
	Cost        string          `json:"cost,omitempty"`
	Template    string          `json:"template,omitempty"`
	TTLSeconds  float64         `json:"ttlSeconds,omitempty"`
	FallbackOf  string          `json:"fallbackOf,omitempty"` // the message that this SMS replaces
	Fallback    string          `json:"fallback,omitempty"`   // the SMS that replaced this message
	Body        json.RawMessage `json:"body,omitempty"`
	States      []Reached       `json:"states"`
	Fault       string          `json:"fault,omitempty"`    // that the request met
	Exchange    int             `json:"exchange,omitempty"` // the request, in traffic
	Calls       []*Call         `json:"calls"`
	Pending     bool            `json:"pending"` // a webhook is being called
}

// Out reports whether a program sent it.
func (m Message) Out() bool { return m.Direction == "sent" }

// LastCall returns the latest call of the webhook, or nil.
func (m Message) LastCall() *Call {
	if len(m.Calls) == 0 {
		return nil
	}
	return m.Calls[len(m.Calls)-1]
}

// message returns how the API shows an entry. The caller holds mu.
func (s *Sandbox) message(e *entry) Message {
	m := e.Message
	m.Pending, m.Calls, m.States = e.pending > 0, append([]*Call{}, e.Calls...), append([]Reached{}, e.States...)
	if s.traffic.byID[m.Exchange] == nil {
		m.Exchange = 0
	}
	if s.book.byID[e.replacer] != nil {
		m.Fallback = e.replacer
	}
	if e.Sent != nil {
		m.Code, m.State, m.Body = e.code(), e.Sent.Status, e.Sent.Body
	}
	if len(m.Body) > 0 && !json.Valid(m.Body) {
		m.Body, _ = json.Marshal(string(m.Body)) // a string
	}
	return m
}

// describe says in a few words what a message or an answer is.
func (e *entry) describe() string {
	text := fmt.Sprintf("%s to %s: %s", channelName(e.Channel), clip(e.Peer, maxName), e.preview)
	if e.Answer != nil {
		text = fmt.Sprintf("an answer of %s: %s", clip(e.Peer, maxName), e.preview)
	}
	return shorten(text, 2*previewText)
}

// cost returns what the service takes for the parts of a message.
func cost(parts int) string { return fmt.Sprintf("%.2f", 0.5*float64(parts)) } // as in package messagingtest

// states returns the states of a message.
func states() []contract.Status {
	return []contract.Status{
		contract.StatusQueued, contract.StatusSent, contract.StatusDelivered, contract.StatusRead, contract.StatusFailed,
		contract.StatusExpired,
	}
}

// channels returns the names of the channels.
func channels() (names []string) {
	for _, c := range table.Channels() {
		names = append(names, c.Name)
	}
	return names
}

var errState = errors.New("state must be queued, sent, delivered, read, failed or expired")

// find returns the messages that a program asks for, the oldest first: the next ones after the cursor, or the last ones. The caller
// holds mu.
func (s *Sandbox) find(after string, limit int, isMeant func(*entry) bool) []Message {
	entries := s.book.entries
	if at := slices.Index(entries, s.book.byID[after]); at >= 0 {
		entries = entries[at+1:]
	}
	var meant []*entry
	for _, e := range entries {
		if e.Sent != nil && isMeant(e) {
			meant = append(meant, e)
		}
	}
	found := []Message{}
	for _, e := range window(meant, after != "", limit) {
		found = append(found, s.message(e))
	}
	return found
}

func (s *Sandbox) getMessages(r *request) (any, error) {
	to, from, text, reference := r.param("to"), r.param("from"), strings.ToLower(r.param("text")), r.param("reference")
	channel, state := oneOf(r, "channel", errChannel, channels()), oneOf(r, "state", errState, states())
	after, limit, wait, peer := r.param("after"), r.limit(), r.wait(), peerKey(to)
	if err := r.check(); err != nil {
		return nil, err
	}
	isMeant := func(e *entry) bool {
		return (channel == "" || e.Channel == channel) && (to == "" || e.peer == peer) && (from == "" || e.From == from) &&
			(reference == "" || e.ReferenceID == reference) && (state == "" || e.hasReached(state)) && strings.Contains(e.lower, text)
	}
	var found []Message
	isMissing, dropped := false, 0
	_, err := s.until(r.Context(), wait, func() bool {
		isMissing = after != "" && s.book.byID[after] == nil
		found, dropped = s.find(after, limit, isMeant), s.book.dropped
		return isMissing || len(found) > 0
	})
	switch {
	case err != nil:
		return nil, err
	case isMissing:
		return nil, &refusal{errNoSuchMessage.status, "after: " + errNoSuchMessage.text, nil}
	case wait > 0 && len(found) == 0:
		return nil, tooLate("no such message came", wait, "the newest are", s.newest())
	}
	return map[string]any{"messages": found, "dropped": dropped}, nil
}

// newest describes the latest messages and answers, the newest first.
func (s *Sandbox) newest() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.book.entries[max(0, len(s.book.entries)-5):]) {
		all = append(all, e.describe())
	}
	return all
}

// getMessage returns one message, as soon as it is there and has reached a state.
func (s *Sandbox) getMessage(r *request) (any, error) {
	state, wait := oneOf(r, "state", errState, states()), r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var m Message
	isThere := false
	isReached, err := s.until(r.Context(), wait, func() bool {
		e := s.book.byID[r.PathValue("id")]
		if isThere = e != nil; !isThere {
			return false
		}
		m = s.message(e)
		return state == "" || e.hasReached(state)
	})
	now := string(cmp.Or(m.State, "accepted"))
	missing := fmt.Sprintf("the message has not reached the state %s", state)
	switch {
	case err != nil, isReached:
		return m, err
	case wait > 0 && !isThere:
		return nil, tooLate("no such message came", wait, "the newest are", s.newest())
	case !isThere:
		return nil, errNoSuchMessage
	case wait > 0:
		return nil, tooLate(missing, wait, "it is", []string{now})
	}
	return nil, &refusal{http.StatusConflict, missing + ": it is " + now, nil}
}

// WebhookCall is a call of a webhook with the message or answer that it is about, as the API shows it.
type WebhookCall struct {
	Message string `json:"message"`
	Call
}

// getCalls returns calls of webhooks, in the order in which they ended, as soon as there is one.
func (s *Sandbox) getCalls(r *request) (any, error) {
	message, about := r.param("message"), r.param("about")
	status, after, limit, wait := r.number("status", 0, 0), r.number("after", 0, 0), r.limit(), r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	isMeant := func(e *entry, c *Call) bool {
		return (message == "" || e.ID == message) && (about == "" || c.About == about) && (status == 0 || c.Status == status)
	}
	var found []WebhookCall
	_, err := s.until(r.Context(), wait, func() bool {
		found = s.book.calls(after, isMeant)
		return len(found) > 0
	})
	if err == nil && wait > 0 && len(found) == 0 {
		err = tooLate("no such call was made", wait, "others are", s.otherCalls(after))
	}
	slices.SortFunc(found, func(a, b WebhookCall) int { return a.Exchange - b.Exchange })
	return map[string]any{"calls": window(found, after > 0, limit)}, err
}

// calls returns the calls after one that are meant.
func (b *book) calls(after int, isMeant func(*entry, *Call) bool) []WebhookCall {
	found := []WebhookCall{}
	for _, e := range b.entries {
		for _, c := range e.Calls {
			if c.Exchange > after && isMeant(e, c) {
				found = append(found, WebhookCall{e.ID, *c})
			}
		}
	}
	return found
}

// otherCalls describes the calls after one.
func (s *Sandbox) otherCalls(after int) (all []string) {
	const enough = 5
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.book.calls(after, func(*entry, *Call) bool { return true }) {
		all = append(all, fmt.Sprintf("%s → %s for %s", c.About, cmp.Or(c.Error, itoa(c.Status)), c.Message))
	}
	return all[max(0, len(all)-enough):]
}
