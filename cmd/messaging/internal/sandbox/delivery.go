package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// maxAdvance keeps the clock within dates that every program can read.
const maxAdvance = 10 * 365 * 24 * time.Hour

var (
	errChannel = errors.New("channel must be one of " + channelNames())
	errOutcome = errors.New("outcome must be delivered, read, failed, unreachable or late")
	errAdvance = errors.New("advance must be a duration above zero and up to 87600h, such as 10m")
	errClock   = errors.New("the clock is ten years ahead: a reset of all turns it back")
)

// parseDuration parses a duration of a request; an absent one is zero.
func parseDuration(name, text string, longest time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > longest {
		return 0, fmt.Errorf("%s must be a duration from 0s to %v, such as 10s", name, longest)
	}
	return d, nil
}

// deliveryBody is what becomes of one message, or of messages to a recipient from now on: of SMS, of those of the chat apps, or of all if
// the channel is empty.
type deliveryBody struct {
	Channel string `json:"channel,omitempty"`
	To      string `json:"to,omitempty"`
	Message string `json:"message,omitempty"`
	Outcome string `json:"outcome"`
	After   string `json:"after,omitempty"`
}

// outcome returns what the service does.
func (d deliveryBody) outcome() (messagingtest.Delivery, error) {
	after, err := parseDuration("after", d.After, maxAdvance)
	outcome, isKnown := map[string]messagingtest.Delivery{
		"delivered": messagingtest.DeliveryAfter(after), "read": messagingtest.DeliveryRead(), "failed": messagingtest.DeliveryFailed(),
		"unreachable": messagingtest.DeliveryUnreachable(), "late": messagingtest.DeliveryLate(cmp.Or(after, time.Minute)),
	}[d.Outcome]
	if !isKnown {
		err = cmp.Or(err, errOutcome)
	}
	return outcome, err
}

// outcomeKey is for whom an outcome was chosen.
type outcomeKey struct {
	channel string
	peer    string
}

// outcomeFor returns what was chosen for a recipient on a channel. The caller holds mu.
func (s *Sandbox) outcomeFor(channel string, recipient string) deliveryBody {
	return cmp.Or(s.outcomes[outcomeKey{channel, peerKey(recipient)}], deliveryBody{Outcome: "delivered"})
}

func (s *Sandbox) postDelivery(_ *request, d deliveryBody) (any, error) {
	const maxOutcomes, sms = 20_000, channelSMS
	outcome, err := d.outcome()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case (d.To == "") == (d.Message == ""):
		return nil, errors.New("either to or message must be set: a recipient, or the ID of a message")
	case d.Message != "" && !s.service.SetMessageDelivery(d.Message, outcome):
		return nil, errNoSuchMessage
	case d.Message != "":
		return done(nil)
	case d.Channel != "" && channelName(d.Channel) == "":
		return nil, errChannel
	case len(d.To) > maxName:
		return nil, fmt.Errorf("to must be a recipient of up to %d bytes", maxName)
	case len(s.outcomes) >= maxOutcomes:
		return nil, fmt.Errorf("delivery is set for %d recipients already: reset all of the sandbox", maxOutcomes)
	}
	for _, of := range channels() {
		if d.Channel == "" || (of == sms) == (d.Channel == sms) { // the service has one outcome for all channels but SMS
			s.outcomes[outcomeKey{of, peerKey(d.To)}] = d
		}
	}
	if d.Channel != sms {
		s.service.SetDelivery(d.To, outcome)
	}
	s.note("POST deliveries", d)
	s.live.notify("")
	return done(nil)
}

type clockBody struct {
	Advance string `json:"advance"`
}

func (s *Sandbox) postClock(_ *request, body clockBody) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := time.ParseDuration(body.Advance)
	switch {
	case err != nil || d <= 0 || d > maxAdvance:
		return nil, errAdvance
	case s.advanced+d > maxAdvance:
		return nil, errClock
	}
	s.advanced += d
	s.note("POST clock", clockBody{Advance: d.String()})
	s.service.Advance(d)
	s.live.notify("")
	return s.settings(), nil
}

// defaultTTL is the lifetime of a message without one.
const defaultTTL = 24 * time.Hour

// lifetimeLeft returns how much of a message's lifetime is left on the clock. The caller holds mu.
func (s *Sandbox) lifetimeLeft(e *entry) time.Duration {
	return cmp.Or(e.Sent.TTL, defaultTTL) - (s.advanced - e.accepted)
}

// enqueue reports a state of a message when the state before has been reported, and on some messages at once. The caller holds mu.
func (s *Sandbox) enqueue(e *entry, state contract.Status) {
	e.pending++ // already: who waits for the message waits for all its reports
	before, done := e.reported, make(chan struct{})
	e.reported = done
	s.workers.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		_, _ = s.call(s.ctx, e, string(state))
		s.mu.Lock()
		defer s.mu.Unlock()
		e.pending--
		s.live.notify("")
	})
}

// tries is how often the service calls a webhook again that failed.
const tries = 2

// The forms in which webhooks are called.
const (
	formQuery = "query" // a GET: the default of the service
	formForm  = "form"
	formJSON  = "json"
)

// aboutAnswer is what a call says that brings an answer; other calls report a state.
const aboutAnswer = "answer"

// call calls a webhook: that of its channel with an answer, or the callback URL of a message with a state. It takes down the calls, and
// returns them. Without a webhook, the answer stays in the conversation.
func (s *Sandbox) call(ctx context.Context, e *entry, about string, opts ...messagingtest.CallOption) ([]*Call, error) {
	s.mu.Lock()
	target, mask := s.set.Webhooks[e.Channel], s.mask
	form := map[string]messagingtest.CallOption{formForm: messagingtest.AsForm(), formJSON: messagingtest.AsJSON()}[s.set.WebhookForm]
	opts = append(opts, messagingtest.RetryFailures(tries), form)
	if e.Sent != nil {
		mask = mask.with(e.Sent.CallbackURL, s.table.WebhookDelivery.Placeholders)
	} else {
		mask = mask.with(target, nil)
	}
	isHere := s.book.byID[e.ID] == e
	e.pending++
	s.mu.Unlock()
	s.live.notify("")
	var replies []messagingtest.CallResult
	switch {
	case e.Answer != nil && target == "":
		s.tell(e.Answer.callback(e.ID, e.At))
	case e.Answer != nil:
		replies = s.service.CallWebhook(ctx, target, e.Answer.callback(e.ID, e.At), opts...)
	case isHere:
		replies = s.service.ReportDelivery(ctx, e.ID, about, opts...)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.pending--
	calls := []*Call{}
	for _, reply := range replies {
		x := s.outgoing(reply, about, mask)
		call := &Call{
			About: about, URL: x.URL, Status: x.Status, Millis: x.Millis, Try: x.Try, Error: x.Error, At: x.At, Exchange: x.ID,
		}
		calls = append(calls, call)
		s.log.callback(call)
		if s.book.byID[e.ID] == e {
			x.Message = e.ID
			e.Calls = append(e.Calls, call)
			e.Calls = e.Calls[max(0, len(e.Calls)-maxCalls):]
		}
	}
	s.forget(s.book.resize(e))
	s.live.notify("")
	if e.Answer != nil && target == "" {
		return calls, errNoWebhook
	}
	return calls, nil
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

var errNoWebhook = errors.New("no webhook is set for this channel: start with --webhook-CHANNEL URL, or set it on the page Connect")

// callsBody says what a webhook responded, or why it was not called.
type callsBody struct {
	ID    string  `json:"id"`
	Calls []*Call `json:"calls"`
	Note  string  `json:"note,omitempty"`
}

// postReply enters an answer and calls the webhook of its channel.
func (s *Sandbox) postReply(r *request, a Answer) (any, error) {
	a.Kind = cmp.Or(a.Kind, AnswerText)
	if reason := a.check(); reason != "" {
		return nil, errors.New(reason)
	}
	s.mu.Lock()
	if err := s.checkAnswer(&a); err != nil {
		s.mu.Unlock()
		return nil, err
	}
	if a.To == "" {
		a.To = s.senderTo(a.Channel, a.From)
	}
	e := newAnswer(newInboundID(), &a, s.now())
	s.add(e)
	s.store(record{Answer: &a, ID: e.ID, At: e.At})
	s.log.answer(e)
	s.mu.Unlock()
	s.live.notify("")
	calls, err := s.call(r.Context(), e, aboutAnswer)
	if errors.Is(err, errNoWebhook) {
		return callsBody{e.ID, calls, err.Error()}, nil
	}
	return callsBody{e.ID, calls, ""}, err
}

// senderTo returns the sender of the last message to a recipient. The caller holds mu.
func (s *Sandbox) senderTo(channel string, recipient string) string {
	c := s.book.conversation(channel, recipient, "")
	if c == nil {
		return ""
	}
	for _, e := range slices.Backward(c.Entries) {
		if e.Sent != nil && e.Sent.From != "" {
			return e.Sent.From
		}
	}
	return ""
}

// tell lets the service know that a recipient has written, though there is no webhook to call.
func (s *Sandbox) tell(callback messagingtest.Callback) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	s.service.CallWebhook(ended, "http://127.0.0.1", callback)
}

type repeatBody struct {
	Twice bool            `json:"twice,omitempty"`
	About contract.Status `json:"about,omitempty"` // by default the state that the message is in
}

// postRepeat calls a webhook again: with an answer, or with a state of a message.
func (s *Sandbox) postRepeat(r *request, body repeatBody) (any, error) {
	var opts []messagingtest.CallOption
	if body.Twice {
		opts = append(opts, messagingtest.TwiceAtOnce())
	}
	s.mu.Lock()
	e, about := s.book.byID[r.PathValue("id")], aboutAnswer
	var err error
	switch {
	case e == nil:
		err = errNoSuchMessage
	case e.Answer != nil:
	case e.Sent.CallbackURL == "" || e.Sent.Status == "":
		err = errors.New("the message was sent without a callback URL")
	case body.About != "" && !e.hasReached(body.About):
		err = errors.New("about must be a state that the message has reached")
	default:
		about = string(cmp.Or(body.About, e.Sent.Status))
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	calls, err := s.call(r.Context(), e, about, opts...)
	return callsBody{e.ID, calls, ""}, err
}
