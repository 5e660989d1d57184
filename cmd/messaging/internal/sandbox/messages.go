package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
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
	State       string          `json:"state,omitempty"`
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

// message returns how the API shows an entry. The caller holds mu.
func (s *Sandbox) message(e *entry) Message {
	m := Message{
		ID: e.ID, Channel: string(e.Channel), At: e.At, Pending: e.pending > 0, Fault: e.fault,
		Calls: append([]*Call{}, e.Calls...), States: append([]Reached{}, e.States...),
	}
	if s.traffic.byID[e.exchange] != nil {
		m.Exchange = e.exchange
	}
	if a := e.Answer; a != nil {
		m.Direction, m.Kind, m.From, m.To, m.Text = "answer", string(a.Kind), a.From, a.To, a.Text
		return m
	}
	sent := e.Sent
	m.Direction, m.Kind, m.From, m.To, m.Text = "sent", sent.Kind, sent.From, sent.To, sent.Text
	m.Code, m.State, m.ReferenceID, m.RequestID = e.code(), string(sent.State), sent.ReferenceID, sent.RequestID
	m.Parts, m.Cost, m.Template, m.FallbackOf = sent.Parts, cost(sent.Parts), sent.Template, sent.FallbackOf
	m.TTLSeconds = sent.TTL.Seconds()
	if fallback := s.book.fallbackOf(e); fallback != nil {
		m.Fallback = fallback.ID
	}
	body := s.body(e)
	if m.Body = json.RawMessage(body); body != "" && !json.Valid(m.Body) {
		m.Body, _ = json.Marshal(body) // a string
	}
	return m
}

// body returns the body of the request that brought a message, without secrets.
func (s *Sandbox) body(e *entry) string {
	body := string(e.Sent.Body)
	if e.Sent.CallbackURL != "" {
		body = s.maskCallback(body, e.Sent.CallbackURL)
	}
	return body
}

// wholeText returns everything in a message or an answer that somebody reads.
func (e *entry) wholeText() string {
	if e.Sent == nil {
		return e.preview
	}
	return cmp.Or(e.Sent.Text, e.preview)
}

// cost returns what the service takes for the parts of a message.
func cost(parts int) string {
	const each = 50 // hundredths, as in package messagingtest
	return fmt.Sprintf("%d.%02d", parts*each/100, parts*each%100)
}

const (
	defaultLimit = 100
	maxLimit     = 1000
	maxWait      = time.Minute
)

// query is which messages a program asks for.
type query struct {
	to, from, text, reference string
	channel                   messagingtest.Channel
	state                     messagingtest.DeliveryState
	after                     string
	limit                     int
	wait                      time.Duration
}

func parseQuery(v url.Values) (query, error) {
	q := query{
		to: v.Get("to"), from: v.Get("from"), text: strings.ToLower(v.Get("text")), reference: v.Get("reference"), after: v.Get("after"),
		channel: messagingtest.Channel(v.Get("channel")), state: messagingtest.DeliveryState(v.Get("state")),
	}
	var err error
	if q.limit, err = parseLimit(v.Get("limit")); err != nil {
		return q, err
	}
	if q.wait, err = parseWait(v.Get("wait")); err != nil {
		return q, err
	}
	switch {
	case q.channel != "" && channelName(q.channel) == "":
		return q, errChannel
	case q.state != "" && !slices.Contains(states(), q.state):
		return q, errState
	}
	return q, onlyKnown(v, "to", "from", "text", "reference", "state", "channel", "after", "limit", "wait")
}

// states returns the states of a message.
func states() []messagingtest.DeliveryState {
	return []messagingtest.DeliveryState{
		messagingtest.StateQueued, messagingtest.StateSent, messagingtest.StateDelivered, messagingtest.StateRead, messagingtest.StateFailed,
		messagingtest.StateExpired,
	}
}

var (
	errState  = errors.New("state must be queued, sent, delivered, read, failed or expired")
	errCursor = fmt.Errorf("after: %w", errNoSuchMessage)
)

// onlyKnown returns an error for a parameter that there is not.
func onlyKnown(v url.Values, known ...string) error {
	for name := range v {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no parameter %q: known are %s", clip(name, 40), strings.Join(known, ", "))
		}
	}
	return nil
}

func parseLimit(text string) (int, error) {
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		return 0, fmt.Errorf("limit must be from 1 to %d", maxLimit)
	}
	return n, nil
}

func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxWait {
		return 0, fmt.Errorf("wait must be a duration up to %v, such as 10s", maxWait)
	}
	return d, nil
}

// matches reports whether a message is one that the query asks for. The caller holds mu.
func (q query) matches(e *entry) bool {
	return e.Sent != nil && (q.channel == "" || e.Channel == q.channel) && (q.to == "" || peerKey(e.Peer) == peerKey(q.to)) &&
		(q.from == "" || e.Sent.From == q.from) && (q.reference == "" || e.Sent.ReferenceID == q.reference) &&
		(q.state == "" || e.hasReached(q.state)) && (q.text == "" || strings.Contains(strings.ToLower(e.wholeText()), q.text))
}

// find returns the messages that a program asks for, the oldest first: the next ones after the cursor, or the last ones.
func (s *Sandbox) find(q query) ([]Message, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []Message{}
	if q.after == "" {
		for at := s.book.entries.Back(); at != nil && len(found) < q.limit; at = at.Prev() {
			if e, _ := at.Value.(*entry); q.matches(e) {
				found = append(found, s.message(e))
			}
		}
		slices.Reverse(found)
		return found, nil
	}
	cursor := s.book.byID[q.after]
	if cursor == nil {
		return nil, errCursor
	}
	for at := cursor.place.Next(); at != nil && len(found) < q.limit; at = at.Next() {
		if e, _ := at.Value.(*entry); q.matches(e) {
			found = append(found, s.message(e))
		}
	}
	return found, nil
}

// until calls try until it reports true or fails, whenever something has changed, for so long at most.
func (s *Sandbox) until(ctx context.Context, wait time.Duration, try func() (bool, error)) error {
	if done, err := try(); done || err != nil || wait == 0 {
		return err
	}
	sub, err := s.live.subscribe(ofPrograms)
	if err != nil {
		return err
	}
	defer s.live.leave(sub)
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		if done, err := try(); done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.ctx.Done():
			return nil
		case <-sub.wake:
			s.live.take(sub)
		}
	}
}

func (s *Sandbox) getMessages(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	var found []Message
	if err == nil {
		err = s.until(r.Context(), q.wait, func() (bool, error) {
			var missing error
			found, missing = s.find(q)
			return len(found) > 0, missing
		})
	}
	if err != nil {
		failed(w, err)
		return
	}
	s.mu.Lock()
	dropped := s.book.dropped
	s.mu.Unlock()
	respond(w, http.StatusOK, map[string]any{"messages": found, "dropped": dropped})
}

// getMessage returns one message, as soon as it is there and has reached a state.
func (s *Sandbox) getMessage(w http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	state := messagingtest.DeliveryState(v.Get("state"))
	wait, err := parseWait(v.Get("wait"))
	if state != "" && !slices.Contains(states(), state) {
		err = cmp.Or(err, errState)
	}
	err = cmp.Or(err, onlyKnown(v, "state", "wait"))
	var m Message
	isThere, isReached := false, false
	if err == nil {
		err = s.until(r.Context(), wait, func() (bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			e := s.book.byID[r.PathValue("id")]
			if isThere = e != nil; !isThere {
				return false, nil
			}
			m, isReached = s.message(e), state == "" || e.hasReached(state)
			return isReached, nil
		})
	}
	switch {
	case err != nil:
		failed(w, err)
	case !isThere:
		failed(w, errNoSuchMessage)
	case !isReached:
		failed(w, fmt.Errorf("%w %s: it is %s", errNotReached, state, cmp.Or(m.State, "accepted")))
	default:
		respond(w, http.StatusOK, m)
	}
}
