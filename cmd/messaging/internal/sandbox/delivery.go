package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// outcomeChoice is what becomes of messages, as the page and the API name it.
type outcomeChoice struct {
	Name  string
	After time.Duration
}

// outcomes returns what may become of a message, by the names of the page and the API.
func outcomes() map[string]func(after time.Duration) messagingtest.Outcome {
	always := func(o messagingtest.Outcome) func(time.Duration) messagingtest.Outcome {
		return func(time.Duration) messagingtest.Outcome { return o }
	}
	return map[string]func(time.Duration) messagingtest.Outcome{
		"delivered": messagingtest.DeliverAfter, "read": always(messagingtest.Read()), "failed": always(messagingtest.FailDelivery()),
		"unreachable": always(messagingtest.Unreachable()),
		"late":        func(d time.Duration) messagingtest.Outcome { return messagingtest.DeliverLate(cmp.Or(d, time.Minute)) },
	}
}

// maxAdvance keeps the clock within dates that every program can read.
const maxAdvance = 10 * 365 * 24 * time.Hour

var (
	errChannel = errors.New("channel must be one of " + channelNames())
	errOutcome = errors.New("outcome must be delivered, read, failed, unreachable or late")
	errAdvance = errors.New("advance must be a duration above zero and up to 87600h, such as 10m")
	errClock   = errors.New("the clock is ten years ahead: a reset of all turns it back")
)

// outcome returns what the service does.
func (c outcomeChoice) outcome() (o messagingtest.Outcome, err error) {
	of := outcomes()[c.Name]
	switch {
	case of == nil:
		return o, errOutcome
	case c.After < 0 || c.After > maxAdvance:
		return o, errAdvance
	}
	return of(c.After), nil
}

// outcomeKey is for whom an outcome was chosen.
type outcomeKey struct {
	channel messagingtest.Channel
	peer    string
}

// outcomeFor returns what was chosen for a recipient on a channel. The caller holds mu.
func (s *Sandbox) outcomeFor(channel messagingtest.Channel, recipient string) outcomeChoice {
	return cmp.Or(s.outcomes[outcomeKey{channel, peerKey(recipient)}], outcomeChoice{Name: "delivered"})
}

// setDelivery sets what becomes of messages to a recipient from now on: of SMS, of those of the chat apps, or of all if the
// channel is empty.
func (s *Sandbox) setDelivery(channel messagingtest.Channel, recipient string, choice outcomeChoice) error {
	const maxOutcomes = 20_000
	outcome, err := choice.outcome()
	if err != nil {
		return err
	}
	if channel != "" && channelName(channel) == "" {
		return errChannel
	}
	if recipient == "" || len(recipient) > maxName {
		return fmt.Errorf("to must be a recipient of up to %d bytes", maxName)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.outcomes) >= maxOutcomes {
		return fmt.Errorf("delivery is set for %d recipients already: reset all of the sandbox", maxOutcomes)
	}
	const sms = messagingtest.ChannelSMS
	for _, of := range channels() {
		if channel == "" || (of == sms) == (channel == sms) { // the service has one outcome for all channels but SMS
			s.outcomes[outcomeKey{of, peerKey(recipient)}] = choice
		}
	}
	if channel != sms {
		s.service.SetDelivery(recipient, outcome)
	}
	s.note("POST deliveries", deliveryBody{Channel: channel, To: recipient, Outcome: choice.Name, After: choice.After.String()})
	s.live.notify("")
	return nil
}

// setOutcome sets what becomes of one message from now on.
func (s *Sandbox) setOutcome(id string, choice outcomeChoice) error {
	outcome, err := choice.outcome()
	if err == nil && !s.service.SetOutcome(id, outcome) {
		return errNoSuchMessage
	}
	return err
}

// advance moves the clock.
func (s *Sandbox) advance(d time.Duration) error {
	if d <= 0 || d > maxAdvance {
		return errAdvance
	}
	s.mu.Lock()
	if s.advanced+d > maxAdvance {
		s.mu.Unlock()
		return errClock
	}
	s.advanced += d
	s.note("POST clock", clockBody{Advance: d.String()})
	s.mu.Unlock()
	s.service.Advance(d)
	s.live.notify("")
	return nil
}

// lifetimeOf returns how much of a message's lifetime is left.
func (s *Sandbox) lifetimeOf(id string) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[id]
	if e == nil || e.Sent == nil {
		return 0, errNoSuchMessage
	}
	left := s.lifetimeLeft(e)
	if left <= 0 {
		return 0, errors.New("the lifetime of the message is over")
	}
	return left, nil
}

// lifetimeLeft returns how much of a message's lifetime is left on the clock. The caller holds mu.
func (s *Sandbox) lifetimeLeft(e *entry) time.Duration {
	return cmp.Or(e.Sent.TTL, messagingtest.DefaultTTL) - (s.advanced - e.accepted)
}

// enqueue reports a state of a message when the state before has been reported, and on some messages at once. The caller holds mu.
func (s *Sandbox) enqueue(e *entry, state messagingtest.DeliveryState) {
	e.pending++
	before, done := e.reported, make(chan struct{})
	e.reported = done
	s.workers.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		s.slots <- struct{}{}
		defer func() { <-s.slots }()
		s.mu.Lock()
		isHere := s.book.byID[e.ID] == e
		s.mu.Unlock()
		if isHere {
			s.reportDelivery(s.ctx, e.ID, state)
		}
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

// callOptions returns how webhooks are called.
func (s *Sandbox) callOptions() []messagingtest.ReceiveOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	opts := []messagingtest.ReceiveOption{messagingtest.RetryFailures(tries)}
	switch s.set.WebhookForm {
	case formForm:
		opts = append(opts, messagingtest.AsForm())
	case formJSON:
		opts = append(opts, messagingtest.AsJSON())
	}
	return opts
}

// reportDelivery calls the callback URL of a message, and returns the calls.
func (s *Sandbox) reportDelivery(ctx context.Context, id string, state messagingtest.DeliveryState, opts ...messagingtest.ReceiveOption) []*Call {
	mask := s.mask
	s.mu.Lock()
	if e := s.book.byID[id]; e != nil && e.Sent != nil {
		mask = mask.with(e.Sent.CallbackURL, s.table.WebhookDelivery.Placeholders)
	}
	s.mu.Unlock()
	replies := s.service.ReportDelivery(ctx, id, string(state), append(opts, s.callOptions()...)...)
	return s.called(id, string(state), mask, replies)
}

// called takes down the calls of a webhook for an entry, and returns them.
func (s *Sandbox) called(id, about string, mask masker, replies []messagingtest.Reply) []*Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[id]
	calls := []*Call{}
	for _, reply := range replies {
		x := s.outgoing(reply, about, mask)
		call := &Call{
			About: about, URL: x.URL, Status: x.Status, Millis: x.Millis, Try: x.Try, Error: x.Error, At: x.At, Exchange: x.ID,
		}
		calls = append(calls, call)
		s.log.callback(call)
		if e != nil {
			x.Message = e.ID
			e.Calls = append(e.Calls, call)
			e.Calls = e.Calls[max(0, len(e.Calls)-maxCalls):]
		}
	}
	if e != nil {
		e.pending = max(0, e.pending-1)
		s.forget(s.book.resize(e))
	}
	s.live.notify("")
	return calls
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

var errNoWebhook = errors.New("no webhook is set for this channel: start with --webhook-CHANNEL URL, or set it on the page Connect")

// answer enters an answer and calls the webhook of its channel.
func (s *Sandbox) answer(ctx context.Context, a Answer) (string, []*Call, error) {
	a.Kind = cmp.Or(a.Kind, AnswerText)
	if reason := a.check(); reason != "" {
		return "", nil, errors.New(reason)
	}
	s.mu.Lock()
	if err := s.checkAnswer(&a); err != nil {
		s.mu.Unlock()
		return "", nil, err
	}
	if a.To == "" {
		a.To = s.senderTo(a.Channel, a.From)
	}
	e := newAnswer(newInboundID(a.Channel), &a, s.now())
	s.add(e)
	s.store(record{Answer: &a, ID: e.ID, At: e.At})
	s.log.answer(e)
	s.mu.Unlock()
	s.live.notify("")
	calls, err := s.deliver(ctx, e.ID)
	return e.ID, calls, err
}

// senderTo returns the sender of the last message to a recipient. The caller holds mu.
func (s *Sandbox) senderTo(channel messagingtest.Channel, recipient string) string {
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

// deliver calls the webhook with an answer, again if it was called before. Without a webhook, the answer stays in the conversation.
func (s *Sandbox) deliver(ctx context.Context, id string, opts ...messagingtest.ReceiveOption) ([]*Call, error) {
	s.mu.Lock()
	e := s.book.byID[id]
	if e == nil || e.Answer == nil {
		s.mu.Unlock()
		return nil, errNoSuchMessage
	}
	target, callback := s.set.Webhooks[e.Channel], e.Answer.callback(e.ID, e.At)
	if target == "" {
		s.mu.Unlock()
		s.tell(callback)
		return nil, errNoWebhook
	}
	e.pending++
	s.mu.Unlock()
	s.live.notify("")
	replies := s.service.Receive(ctx, target, callback, append(opts, s.callOptions()...)...)
	return s.called(id, aboutAnswer, s.mask.with(target, nil), replies), nil
}

// tell lets the service know that a recipient has written, though there is no webhook to call.
func (s *Sandbox) tell(callback messagingtest.Callback) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	s.service.Receive(ended, "http://127.0.0.1", callback)
}

// aboutAnswer is what a call says that brings an answer; other calls report a state.
const aboutAnswer = "answer"

// repeat calls a webhook again: with an answer, or with a state of a message, by default the one that it is in.
func (s *Sandbox) repeat(ctx context.Context, id string, state messagingtest.DeliveryState, twice bool) ([]*Call, error) {
	var opts []messagingtest.ReceiveOption
	if twice {
		opts = append(opts, messagingtest.TwiceAtOnce())
	}
	s.mu.Lock()
	e := s.book.byID[id]
	if e == nil || e.Sent == nil {
		s.mu.Unlock()
		return s.deliver(ctx, id, opts...)
	}
	current, callback := e.Sent.State, e.Sent.CallbackURL
	isState := state == "" || e.hasReached(state)
	s.mu.Unlock()
	switch {
	case callback == "" || current == "":
		return nil, errors.New("the message was sent without a callback URL")
	case !isState:
		return nil, errors.New("about must be a state that the message has reached")
	}
	return s.reportDelivery(ctx, id, cmp.Or(state, current), opts...), nil
}
