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
	"github.com/messaging-service/messaging-go/messagingtest"
)

// Message is a message or an answer in the API.
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

// messageOf returns what does not change of a message that a program sent.
func messageOf(m *messagingtest.Sent) Message {
	return Message{
		ID:          m.ID,
		Direction:   "sent",
		Channel:     m.Channel,
		Kind:        m.Kind,
		From:        m.From,
		To:          m.To,
		Text:        m.Text,
		At:          m.At,
		ReferenceID: m.ReferenceID,
		RequestID:   m.RequestID,
		Parts:       m.Parts,
		Cost:        cmp.Or(m.Price, cost(m.Parts)),
		Template:    m.Template,
		TTLSeconds:  m.TTL.Seconds(),
		FallbackOf:  m.FallbackOf,
	}
}

// answerMessage returns what does not change of an answer.
func answerMessage(id string, a *Answer, at time.Time) Message {
	return Message{
		ID:        id,
		Direction: "answer",
		Channel:   a.Channel,
		Kind:      string(a.Kind),
		From:      a.From,
		To:        a.To,
		Text:      a.Text,
		At:        at,
	}
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

// message returns an entry for the API.
func (st *sandboxState) message(e *entry) Message {
	m := e.Message
	m.Pending = e.pending > 0
	m.Calls = append([]*Call{}, e.Calls...)
	m.States = append([]Reached{}, e.States...)
	if st.traffic.byID[m.Exchange] == nil {
		m.Exchange = 0
	}
	if st.book.byID[e.replacer] != nil {
		m.Fallback = e.replacer
	}
	if e.Sent != nil {
		m.Code = e.code()
		m.State = e.Sent.Status
		m.Body = e.Sent.Body
	}
	if len(m.Body) > 0 && !json.Valid(m.Body) {
		m.Body, _ = json.Marshal(string(m.Body)) // a string
	}
	return m
}

// describe returns a short description for errors.
func (e *entry) describe() string {
	text := fmt.Sprintf("%s to %s: %s", channelName(e.Channel), clip(e.Recipient, maxName), e.preview)
	if e.Answer != nil {
		text = fmt.Sprintf("an answer of %s: %s", clip(e.Recipient, maxName), e.preview)
	}
	return shorten(text, 2*previewText)
}

// cost returns the price of a message.
func cost(parts int) string { return fmt.Sprintf("%.2f", 0.5*float64(parts)) } // as in package messagingtest

// states returns the states of a message.
func states() []contract.Status {
	return []contract.Status{
		contract.StatusQueued, contract.StatusSent, contract.StatusDelivered, contract.StatusRead, contract.StatusFailed,
		contract.StatusExpired,
	}
}

var errState = errors.New("state must be queued, sent, delivered, read, failed or expired")

// A messageFilter selects messages. Empty fields select all.
type messageFilter struct {
	isAnswer     bool // selects answers of recipients, and otherwise messages of programs
	channel      string
	state        contract.Status
	recipientKey string // as by recipientKeyOf
	from         string
	text         string // a part of the text, in lower case
	reference    string
}

func (f messageFilter) selects(e *entry) bool {
	switch {
	case f.isAnswer != (e.Answer != nil):
		return false
	case f.channel != "" && e.Channel != f.channel:
		return false
	case f.recipientKey != "" && e.recipientKey != f.recipientKey:
		return false
	case f.from != "" && e.From != f.from:
		return false
	case f.reference != "" && e.ReferenceID != f.reference:
		return false
	case f.state != "" && !e.hasReached(f.state):
		return false
	}
	return strings.Contains(e.lowerText, f.text)
}

// A messageList is a part of the messages or answers that a filter selects, the oldest first.
type messageList struct {
	found        []Message
	total        int // how many the filter selects after the cursor, without the limit
	dropped      int // how many messages and answers the sandbox has dropped
	isCursorGone bool
}

// list returns a part of what a filter selects after a message or an answer with an ID, or of everything if the ID is empty.
func (st *sandboxState) list(filter messageFilter, after string, part listPart) messageList {
	list := messageList{found: []Message{}, dropped: st.book.dropped}
	entries := st.book.entries
	if after != "" {
		cursor := slices.Index(entries, st.book.byID[after])
		if cursor < 0 {
			list.isCursorGone = true
			return list
		}
		entries = entries[cursor+1:]
	}
	var selected []*entry
	for _, e := range entries {
		if filter.selects(e) {
			selected = append(selected, e)
		}
	}
	list.total = len(selected)
	for _, e := range window(selected, part) {
		list.found = append(list.found, st.message(e))
	}
	return list
}

// getMessages returns messages, as soon as there is one.
func (s *Sandbox) getMessages(r *request) (any, error) {
	filter := messageFilter{
		channel:      oneOf(r, "channel", errChannel, channels()),
		state:        oneOf(r, "state", errState, states()),
		recipientKey: recipientKeyOf(r.param("to")),
		from:         r.param("from"),
		text:         strings.ToLower(r.param("text")),
		reference:    r.param("reference"),
	}
	after := r.param("after")
	part := r.part(after != "")
	wait := r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var list messageList
	_, err := s.waitUntil(r.Context(), wait, func(st *sandboxState) bool {
		list = st.list(filter, after, part)
		return list.isCursorGone || len(list.found) > 0
	})
	switch {
	case err != nil:
		return nil, err
	case list.isCursorGone:
		return nil, errNoSuchCursor
	case wait > 0 && len(list.found) == 0:
		return nil, timeoutError("no such message came", wait, "the newest are", s.newest())
	}
	return map[string]any{"messages": list.found, "total": list.total, "dropped": list.dropped}, nil
}

// errNoSuchCursor is the error of a cursor that is no message and no answer.
var errNoSuchCursor = &httpError{status: errNoSuchMessage.status, text: "after: " + errNoSuchMessage.text}

// getReplies returns the answers of recipients.
func (s *Sandbox) getReplies(r *request) (any, error) {
	filter := messageFilter{
		isAnswer:     true,
		channel:      oneOf(r, "channel", errChannel, channels()),
		recipientKey: recipientKeyOf(r.param("from")),
		text:         strings.ToLower(r.param("text")),
	}
	after := r.param("after")
	part := r.part(after != "")
	if err := r.check(); err != nil {
		return nil, err
	}
	st := s.lock()
	defer st.unlock()
	list := st.list(filter, after, part)
	if list.isCursorGone {
		return nil, errNoSuchCursor
	}
	return map[string]any{"replies": list.found, "total": list.total, "dropped": list.dropped}, nil
}

// newest describes the latest messages and answers, the newest first.
func (s *Sandbox) newest() (all []string) {
	const limit = 5
	st := s.lock()
	defer st.unlock()
	for _, e := range slices.Backward(st.book.entries[max(0, len(st.book.entries)-limit):]) {
		all = append(all, e.describe())
	}
	return all
}

// getMessage returns one message, as soon as it exists and has reached a state.
func (s *Sandbox) getMessage(r *request) (any, error) {
	state := oneOf(r, "state", errState, states())
	wait := r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var m Message
	exists := false
	hasReached, err := s.waitUntil(r.Context(), wait, func(st *sandboxState) bool {
		e := st.book.byID[r.PathValue("id")]
		exists = e != nil
		if !exists {
			return false
		}
		m = st.message(e)
		return state == "" || e.hasReached(state)
	})
	now := string(cmp.Or(m.State, "accepted"))
	missing := fmt.Sprintf("the message has not reached the state %s", state)
	switch {
	case err != nil, hasReached:
		return m, err
	case wait > 0 && !exists:
		return nil, timeoutError("no such message came", wait, "the newest are", s.newest())
	case !exists:
		return nil, errNoSuchMessage
	case wait > 0:
		return nil, timeoutError(missing, wait, "it is", []string{now})
	}
	return nil, &httpError{status: http.StatusConflict, text: missing + ": it is " + now}
}

// WebhookCall is a call of a webhook in the API, with the ID of its message or answer.
type WebhookCall struct {
	Message string `json:"message"`
	Call
}

// A callFilter selects calls of webhooks. Zero fields select all.
type callFilter struct {
	message string // an ID
	about   string
	status  int
	after   int // an exchange
}

func (f callFilter) selects(e *entry, c *Call) bool {
	switch {
	case f.message != "" && e.ID != f.message:
		return false
	case f.about != "" && c.About != f.about:
		return false
	case f.status != 0 && c.Status != f.status:
		return false
	}
	return c.Exchange > f.after
}

// getCalls returns calls of webhooks, in the order in which they ended, as soon as there is one.
func (s *Sandbox) getCalls(r *request) (any, error) {
	filter := callFilter{
		message: r.param("message"),
		about:   r.param("about"),
		status:  r.number("status", 0),
		after:   r.number("after", 0),
	}
	part := r.part(filter.after > 0)
	wait := r.wait()
	if err := r.check(); err != nil {
		return nil, err
	}
	var found []WebhookCall
	_, err := s.waitUntil(r.Context(), wait, func(st *sandboxState) bool {
		found = st.book.calls(filter)
		return len(found) > 0
	})
	if err == nil && wait > 0 && len(found) == 0 {
		err = timeoutError("no such call was made", wait, "others are", s.otherCalls(filter.after))
	}
	return map[string]any{"calls": window(found, part)}, err
}

// calls returns calls of webhooks in the order in which they ended.
func (b *book) calls(filter callFilter) []WebhookCall {
	found := []WebhookCall{}
	for _, e := range b.entries {
		for _, c := range e.Calls {
			if filter.selects(e, c) {
				found = append(found, WebhookCall{Message: e.ID, Call: *c})
			}
		}
	}
	slices.SortFunc(found, func(a, b WebhookCall) int { return a.Exchange - b.Exchange })
	return found
}

// otherCalls describes the latest calls after an exchange.
func (s *Sandbox) otherCalls(after int) (all []string) {
	const limit = 5
	st := s.lock()
	defer st.unlock()
	for _, c := range st.book.calls(callFilter{after: after}) {
		all = append(all, fmt.Sprintf("%s → %s for %s", c.About, cmp.Or(c.Error, itoa(c.Status)), c.Message))
	}
	return all[max(0, len(all)-limit):]
}
