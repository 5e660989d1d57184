package sandbox

import (
	"context"
	_ "embed" // for the description of the API
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// openAPI describes the API.
//
//go:embed openapi.json
var openAPI []byte

// mux routes the page and the API.
func (s *Sandbox) mux() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /{$}":                            func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, Root, http.StatusSeeOther) },
		"GET /_sandbox/{$}":                   s.pageConversations,
		"GET /_sandbox/page/faults":           s.pageFaults,
		"GET /_sandbox/page/traffic":          s.pageTraffic,
		"GET /_sandbox/page/connect":          s.pageConnect,
		"GET /_sandbox/static/{name}":         static,
		"GET /_sandbox/events":                s.stream,
		"GET /_sandbox/openapi.json":          getOpenAPI,
		"GET /_sandbox/messages":              s.getMessages,
		"GET /_sandbox/messages/{id}":         s.getMessage,
		"GET /_sandbox/traffic":               s.getTraffic,
		"GET /_sandbox/faults":                func(w http.ResponseWriter, _ *http.Request) { respond(w, http.StatusOK, s.listFaults()) },
		"GET /_sandbox/settings":              func(w http.ResponseWriter, _ *http.Request) { respond(w, http.StatusOK, s.readSettings()) },
		"POST /_sandbox/replies":              changing(s, s.postReply),
		"POST /_sandbox/messages/{id}/repeat": changing(s, s.postRepeat),
		"POST /_sandbox/deliveries":           changing(s, s.postDelivery),
		"POST /_sandbox/clock":                changing(s, s.postClock),
		"POST /_sandbox/faults":               changing(s, s.postFaults),
		"DELETE /_sandbox/faults":             changing(s, s.deleteFaults),
		"PATCH /_sandbox/settings":            changing(s, s.patchSettings),
		"POST /_sandbox/seen":                 changing(s, s.postSeen),
		"POST /_sandbox/reset":                changing(s, s.postReset),
	} {
		mux.HandleFunc(pattern, handle)
	}
	return mux
}

func getOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI)
}

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
	Calls       []*Call         `json:"calls"`
	Pending     bool            `json:"pending"` // a webhook is being called
}

// message returns how the API shows an entry. The caller holds mu.
func (s *Sandbox) message(e *entry) Message {
	m := Message{
		ID: e.ID, Channel: string(e.Channel), At: e.At, Calls: slices.Clone(e.Calls), Pending: e.pending > 0,
	}
	if m.Calls == nil {
		m.Calls = []*Call{}
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
	if json.Valid(sent.Body) {
		m.Body = sent.Body
	} else if len(sent.Body) > 0 {
		m.Body, _ = json.Marshal(string(sent.Body)) // a string
	}
	return m
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
	to      string
	channel messagingtest.Channel
	after   string
	limit   int
	wait    time.Duration
}

func parseQuery(r *http.Request) (query, error) {
	v := r.URL.Query()
	q := query{to: v.Get("to"), channel: messagingtest.Channel(v.Get("channel")), after: v.Get("after"), limit: defaultLimit}
	for name := range v {
		if !slices.Contains([]string{"to", "channel", "after", "limit", "wait"}, name) {
			return q, fmt.Errorf("there is no parameter %q: to, channel, after, limit and wait are known", clip(name, 40))
		}
	}
	if q.channel != "" && channelName(q.channel) == "" {
		return q, errChannel
	}
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return q, fmt.Errorf("limit must be from 1 to %d", maxLimit)
		}
		q.limit = n
	}
	if text := v.Get("wait"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 || d > maxWait {
			return q, fmt.Errorf("wait must be a duration up to %v, such as 10s", maxWait)
		}
		q.wait = d
	}
	return q, nil
}

// find returns the last messages that a program sent and asks for, the oldest first.
func (s *Sandbox) find(q query) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []Message{}
	for at := s.book.entries.Back(); at != nil && len(found) < q.limit; at = at.Prev() {
		e, _ := at.Value.(*entry)
		if q.after != "" && e.ID == q.after {
			break
		}
		if e.Sent == nil || q.channel != "" && e.Channel != q.channel || q.to != "" && peerKey(e.Peer) != peerKey(q.to) {
			continue
		}
		found = append(found, s.message(e))
	}
	slices.Reverse(found)
	return found
}

// wait returns the messages that a program asks for, as soon as there is one or the time is over.
func (s *Sandbox) wait(ctx context.Context, q query) ([]Message, error) {
	sub, err := s.live.subscribe()
	if err != nil {
		return nil, err
	}
	defer s.live.leave(sub)
	ctx, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	for {
		if found := s.find(q); len(found) > 0 {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return []Message{}, nil
		case <-s.ctx.Done():
			return []Message{}, nil
		case <-sub.wake:
			s.live.take(sub)
		}
	}
}

func (s *Sandbox) getMessages(w http.ResponseWriter, r *http.Request) {
	q, err := parseQuery(r)
	if err != nil {
		failed(w, err)
		return
	}
	found := s.find(q)
	if len(found) == 0 && q.wait > 0 {
		if found, err = s.wait(r.Context(), q); err != nil {
			fail(w, http.StatusServiceUnavailable, err)
			return
		}
	}
	s.mu.Lock()
	dropped := s.book.dropped
	s.mu.Unlock()
	respond(w, http.StatusOK, map[string]any{"messages": found, "dropped": dropped})
}

func (s *Sandbox) getMessage(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	e := s.book.byID[r.PathValue("id")]
	var m Message
	if e != nil {
		m = s.message(e)
	}
	s.mu.Unlock()
	if e == nil {
		failed(w, errNoSuchMessage)
		return
	}
	respond(w, http.StatusOK, m)
}

func (s *Sandbox) getTraffic(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	all := make([]Exchange, 0, min(len(s.traffic), defaultLimit))
	for _, x := range s.traffic[max(0, len(s.traffic)-defaultLimit):] {
		all = append(all, s.shown(x))
	}
	s.mu.Unlock()
	respond(w, http.StatusOK, map[string]any{"exchanges": all})
}

// shown returns a copy of an exchange with what the ledger holds by now. The caller holds mu.
func (s *Sandbox) shown(x *Exchange) Exchange {
	c := *x
	if e := s.book.byRequest[x.requestID]; e != nil {
		c.Message, c.InLedger = e.ID, true
	}
	return c
}

func (s *Sandbox) postReply(r *http.Request, a Answer) (any, error) {
	id, calls, err := s.answer(r.Context(), a)
	if err != nil && !errors.Is(err, errNoWebhook) {
		return nil, err
	}
	return result(id, calls, err), nil
}

// result says what a webhook responded, or why it was not called.
func result(id string, calls []*Call, err error) map[string]any {
	if calls == nil {
		calls = []*Call{}
	}
	body := map[string]any{"id": id, "calls": calls}
	if err != nil {
		body["note"] = err.Error()
	}
	return body
}

type repeatBody struct {
	Twice bool `json:"twice"`
}

func (s *Sandbox) postRepeat(r *http.Request, body repeatBody) (any, error) {
	calls, err := s.repeat(r.Context(), r.PathValue("id"), body.Twice)
	return result(r.PathValue("id"), calls, nil), err
}

type deliveryBody struct {
	Channel messagingtest.Channel `json:"channel"`
	To      string                `json:"to"`
	Message string                `json:"message"`
	Outcome string                `json:"outcome"`
	After   string                `json:"after"`
}

func (s *Sandbox) postDelivery(_ *http.Request, body deliveryBody) (any, error) {
	after, err := parseDuration("after", body.After)
	choice := outcomeChoice{body.Outcome, after}
	switch {
	case err != nil:
	case (body.To == "") == (body.Message == ""):
		err = errors.New("either to or message must be set: a recipient, or the ID of a message")
	case body.To != "":
		err = s.setDelivery(body.Channel, body.To, choice)
	default:
		err = s.setOutcome(body.Message, choice)
	}
	return struct{}{}, err
}

// parseDuration parses a duration of a request; an absent one is zero.
func parseDuration(name, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s must be a duration, such as 10m", name)
	}
	return d, nil
}

type clockBody struct {
	Advance string `json:"advance"`
	Message string `json:"message"` // to the end of its lifetime
}

func (s *Sandbox) postClock(_ *http.Request, body clockBody) (any, error) {
	d, err := time.ParseDuration(body.Advance)
	switch {
	case body.Message != "" && body.Advance == "":
		_, err = s.advanceTo(body.Message)
	case body.Message != "" || err != nil:
		err = errAdvance
	default:
		err = s.advance(d)
	}
	return s.readSettings(), err
}

func (s *Sandbox) listFaults() any {
	type known struct {
		Name     string `json:"name"`
		What     string `json:"what"`
		Verdict  string `json:"verdict"`
		InLedger bool   `json:"inLedger"`
	}
	type waiting struct {
		Title string `json:"title"`
		Left  int    `json:"left"`
	}
	body := struct {
		Faults  []known   `json:"faults"`
		Waiting []waiting `json:"waiting"`
		Share   float64   `json:"share"`
		Random  []string  `json:"random"`
	}{Waiting: []waiting{}, Random: []string{}}
	for _, k := range faultKinds() {
		body.Faults = append(body.Faults, known{k.Name, k.What, k.Verdict, k.InLedger})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults.Waiting {
		body.Waiting = append(body.Waiting, waiting{f.Title, f.Left})
	}
	body.Share, body.Random = s.faults.Share, append(body.Random, s.faults.Random...)
	return body
}

type faultsBody struct {
	Fault  string   `json:"fault"`
	Faults []string `json:"faults"`
	N      int      `json:"n"`
	Share  float64  `json:"share"`
	Delay  string   `json:"delay"` // of slow, or Retry-After of rate-limited and error-503
}

func (s *Sandbox) postFaults(_ *http.Request, body faultsBody) (any, error) {
	if body.Fault != "" {
		body.Faults = append(body.Faults, body.Fault)
	}
	delay, err := parseDuration("delay", body.Delay)
	if err == nil {
		err = s.inject(body.Faults, body.N, body.Share, delay)
	}
	return s.listFaults(), err
}

func (s *Sandbox) deleteFaults(*http.Request, struct{}) (any, error) {
	s.clearFaults()
	return s.listFaults(), nil
}

// Settings are what can be set while the sandbox runs.
type Settings struct {
	Clock            time.Time         `json:"clock"`
	Advanced         string            `json:"advanced"`
	Balance          string            `json:"balance"`
	RefuseDuplicates bool              `json:"refuseDuplicates"`
	ListingLag       string            `json:"listingLag"`
	Webhooks         map[string]string `json:"webhooks"` // without secrets
	WebhookForm      string            `json:"webhookForm"`
}

// settings returns what is set. The caller holds mu.
func (s *Sandbox) settings() Settings {
	now := Settings{
		Clock: time.Now().Add(s.advanced), Advanced: s.advanced.String(), Balance: s.service.Balance(),
		RefuseDuplicates: s.refuseDuplicates, ListingLag: s.lag.String(), Webhooks: map[string]string{},
		WebhookForm: s.form,
	}
	for channel, target := range s.webhooks {
		now.Webhooks[string(channel)] = s.mask.url(target, secretsOf(target, nil))
	}
	return now
}

func (s *Sandbox) readSettings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings()
}

type settingsBody struct {
	Balance          *string           `json:"balance"`
	RefuseDuplicates *bool             `json:"refuseDuplicates"`
	ListingLag       *string           `json:"listingLag"`
	Webhooks         map[string]string `json:"webhooks"`
	WebhookForm      *string           `json:"webhookForm"`
}

func (s *Sandbox) patchSettings(_ *http.Request, body settingsBody) (any, error) {
	var lag time.Duration
	if body.ListingLag != nil {
		d, err := time.ParseDuration(*body.ListingLag)
		if err != nil || d < 0 || d > maxAdvance {
			return nil, errors.New("listingLag must be a duration of at least zero, such as 30s")
		}
		lag = d
	}
	if body.Balance != nil && !regexp.MustCompile(`^\d{1,12}(\.\d{1,2})?$`).MatchString(*body.Balance) {
		return nil, errors.New("balance must be a number of at least zero with at most two decimals, such as 12.50")
	}
	if body.WebhookForm != nil && !slices.Contains([]string{formQuery, formForm, formJSON}, *body.WebhookForm) {
		return nil, errors.New("webhookForm must be query, form or json")
	}
	for channel, target := range body.Webhooks {
		if channelName(messagingtest.Channel(channel)) == "" || target != "" && webURL(target) == "" {
			return nil, errors.New("webhooks must hold http or https URLs for " + channelNames())
		}
	}
	s.mu.Lock()
	if body.Balance != nil {
		s.service.SetBalance(*body.Balance)
	}
	if body.RefuseDuplicates != nil {
		s.refuseDuplicates = *body.RefuseDuplicates
		s.service.RefuseDuplicates(s.refuseDuplicates)
	}
	if body.ListingLag != nil {
		s.lag = lag
		s.service.SetLag(lag)
	}
	if body.WebhookForm != nil {
		s.form = *body.WebhookForm
	}
	for channel, target := range body.Webhooks {
		s.webhooks[messagingtest.Channel(channel)] = target
	}
	s.mu.Unlock()
	s.live.notify(aboutFaults | aboutMessages)
	return s.readSettings(), nil
}

type seenBody struct {
	Channel messagingtest.Channel `json:"channel"`
	To      string                `json:"to"`
}

// postSeen marks the messages of a conversation as read by the person at the page.
func (s *Sandbox) postSeen(_ *http.Request, body seenBody) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.book.conversations[keyOf(body.Channel, body.To)]; c != nil && c.Unread > 0 {
		c.Unread = 0
		for _, e := range c.Entries {
			e.seen = true
		}
		s.live.notify(aboutMessages)
	}
	return struct{}{}, nil
}

func (s *Sandbox) postReset(*http.Request, struct{}) (any, error) {
	if s.Reset() != nil {
		return nil, errKeep
	}
	return struct{}{}, nil
}
