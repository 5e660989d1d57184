package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// outcomeChoice is what becomes of messages, as the page and the API name it.
type outcomeChoice struct {
	Name  string
	After time.Duration
}

// The outcomes, by the names of the page and the API.
const (
	outcomeDelivered   = "delivered"
	outcomeRead        = "read"
	outcomeFailed      = "failed"
	outcomeUnreachable = "unreachable"
	outcomeLate        = "late" // delivered after its lifetime
)

// maxAdvance keeps the clock within dates that every program can read.
const maxAdvance = 10 * 365 * 24 * time.Hour

var (
	errChannel = errors.New("channel must be one of " + channelNames())
	errOutcome = errors.New("outcome must be delivered, read, failed, unreachable or late")
	errAdvance = errors.New("advance must be a duration above zero and up to 87600h, such as 10m")
	errClock   = errors.New("the clock is ten years ahead: reset does not turn it back, a new start does")
)

func (c outcomeChoice) check() error {
	known := []string{outcomeDelivered, outcomeRead, outcomeFailed, outcomeUnreachable, outcomeLate}
	if !slices.Contains(known, c.Name) {
		return errOutcome
	}
	if c.After < 0 || c.After > maxAdvance {
		return errAdvance
	}
	return nil
}

func (c outcomeChoice) outcome() messagingtest.Outcome {
	switch c.Name {
	case outcomeRead:
		return messagingtest.Read()
	case outcomeFailed:
		return messagingtest.FailDelivery()
	case outcomeUnreachable:
		return messagingtest.Unreachable()
	case outcomeLate:
		return messagingtest.DeliverLate(cmp.Or(c.After, time.Minute))
	default:
		return messagingtest.DeliverAfter(c.After)
	}
}

// outcomeFor returns what was chosen for a recipient on a channel. The caller holds mu.
func (s *Sandbox) outcomeFor(channel messagingtest.Channel, recipient string) outcomeChoice {
	return cmp.Or(s.outcomes[outcomeKey(channel, recipient)], outcomeChoice{Name: outcomeDelivered})
}

// outcomeKey returns the key of an outcome: the service has one for all chat apps.
func outcomeKey(channel messagingtest.Channel, recipient string) conversationKey {
	if channel != messagingtest.ChannelSMS {
		channel = messagingtest.ChannelChatApp1
	}
	return keyOf(channel, recipient)
}

// setDelivery sets what becomes of messages to a recipient from now on: of SMS, of those of the chat apps, or of all if the
// channel is empty.
func (s *Sandbox) setDelivery(channel messagingtest.Channel, recipient string, choice outcomeChoice) error {
	if err := choice.check(); err != nil {
		return err
	}
	if channel != "" && channelName(channel) == "" {
		return errChannel
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const maxOutcomes = 20_000
	if len(s.outcomes) >= maxOutcomes {
		return fmt.Errorf("delivery is set for %d recipients already: start the sandbox again", maxOutcomes)
	}
	if channel == "" || channel == messagingtest.ChannelSMS {
		s.outcomes[outcomeKey(messagingtest.ChannelSMS, recipient)] = choice
	}
	if channel != messagingtest.ChannelSMS {
		s.outcomes[outcomeKey(messagingtest.ChannelChatApp1, recipient)] = choice
		s.service.SetDelivery(recipient, choice.outcome())
	}
	s.live.notify(aboutMessages)
	return nil
}

// setOutcome sets what becomes of one message from now on.
func (s *Sandbox) setOutcome(id string, choice outcomeChoice) error {
	if err := choice.check(); err != nil {
		return err
	}
	if !s.service.SetOutcome(id, choice.outcome()) {
		return errNoSuchMessage
	}
	return nil
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
	s.mu.Unlock()
	s.service.Advance(d)
	s.live.notify(aboutMessages)
	return nil
}

// advanceTo moves the clock to the end of a message's lifetime.
func (s *Sandbox) advanceTo(id string) (time.Duration, error) {
	s.mu.Lock()
	e := s.book.byID[id]
	if e == nil || e.Sent == nil {
		s.mu.Unlock()
		return 0, errNoSuchMessage
	}
	left := s.lifetimeLeft(e)
	s.mu.Unlock()
	if left <= 0 {
		return 0, errors.New("the lifetime of the message is over")
	}
	return left, s.advance(left)
}

// lifetimeLeft returns how much of a message's lifetime is left on the clock. The caller holds mu.
func (s *Sandbox) lifetimeLeft(e *entry) time.Duration {
	return cmp.Or(e.Sent.TTL, messagingtest.DefaultTTL) - (s.advanced - e.accepted)
}

// A report of delivery that is to be made.
type report struct {
	id    string
	state messagingtest.DeliveryState
}

// enqueue hands a report to the worker of its message. The caller holds mu.
func (s *Sandbox) enqueue(r report) {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(r.id)) // never fails
	queue := &s.reports[hash.Sum32()%maxWorkers]
	if len(*queue) >= maxReports {
		*queue = (*queue)[1:]
	}
	*queue = append(*queue, r)
	if e := s.book.byID[r.id]; e != nil {
		e.pending++
	}
	s.wake.Broadcast()
}

// reportAll makes the reports of one worker until the sandbox closes.
func (s *Sandbox) reportAll(worker int) {
	for {
		s.mu.Lock()
		for len(s.reports[worker]) == 0 && s.ctx.Err() == nil {
			s.wake.Wait()
		}
		if s.ctx.Err() != nil {
			s.mu.Unlock()
			return
		}
		r := s.reports[worker][0]
		s.reports[worker] = s.reports[worker][1:]
		s.mu.Unlock()
		s.reportDelivery(s.ctx, r.id, r.state)
	}
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
	switch s.form {
	case formForm:
		opts = append(opts, messagingtest.AsForm())
	case formJSON:
		opts = append(opts, messagingtest.AsJSON())
	}
	return opts
}

// reportDelivery calls the callback URL of a message.
func (s *Sandbox) reportDelivery(ctx context.Context, id string, state messagingtest.DeliveryState, opts ...messagingtest.ReceiveOption) {
	began := time.Now()
	opts = append(opts, s.callOptions()...)
	replies := s.service.ReportDelivery(ctx, id, s.statusWord(string(state)), opts...)
	s.called(id, string(state), s.callbackSecrets(id), began, replies)
}

// callbackSecrets returns the secrets in the callback URL of a message.
func (s *Sandbox) callbackSecrets(id string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.book.byID[id]; e != nil && e.Sent != nil {
		return secretsOf(e.Sent.CallbackURL, s.table.WebhookDelivery.Placeholders)
	}
	return nil
}

// statusWord returns the word of the contract for a state: the state itself if it is one.
func (s *Sandbox) statusWord(state string) string {
	words := slices.DeleteFunc(slices.Clone(s.table.WebhookDelivery.Statuses[state]), func(w string) bool {
		return strings.HasSuffix(w, "*")
	})
	if len(words) == 0 || slices.Contains(words, state) {
		return state
	}
	return words[0]
}

// called takes down the calls of a webhook for an entry.
func (s *Sandbox) called(id, about string, secrets []string, began time.Time, replies []messagingtest.Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[id]
	for _, reply := range replies {
		x := s.outgoing(reply, about, secrets, began)
		call := &Call{
			About: about, URL: x.URL, Status: reply.StatusCode, Took: reply.Took, Millis: millis(reply.Took),
			Try: reply.Attempt, Error: x.Error, At: x.At, Exchange: x.ID,
		}
		if e != nil {
			x.Message = e.ID
			e.addCall(call)
		}
	}
	if e != nil && e.pending > 0 {
		e.pending--
	}
	s.live.notify(aboutMessages | aboutTraffic)
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

var errNoWebhook = errors.New("no webhook is set for this channel: start with -webhook-CHANNEL URL, or set it on the page Connect")

// answer enters an answer and calls the webhook of its channel.
func (s *Sandbox) answer(ctx context.Context, a Answer) (string, []*Call, error) {
	a.Kind = cmp.Or(a.Kind, AnswerText)
	if reason := a.check(); reason != "" {
		return "", nil, errors.New(reason)
	}
	s.mu.Lock()
	if a.To == "" {
		a.To = s.senderTo(a.Channel, a.From)
	}
	e := &entry{ID: newInboundID(a.Channel), Channel: a.Channel, Peer: a.From, At: time.Now().Add(s.advanced), Answer: &a, seen: true}
	s.add(e)
	s.store(record{Answer: &a, ID: e.ID, At: e.At})
	s.mu.Unlock()
	s.live.notify(aboutMessages)
	calls, err := s.deliver(ctx, e.ID)
	return e.ID, calls, err
}

// senderTo returns the sender of the last message to a recipient. The caller holds mu.
func (s *Sandbox) senderTo(channel messagingtest.Channel, recipient string) string {
	c := s.book.conversations[keyOf(channel, recipient)]
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
	target, callback := s.webhooks[e.Channel], e.Answer.callback(e.ID, e.At)
	if target == "" {
		s.mu.Unlock()
		return nil, errNoWebhook
	}
	e.pending++
	s.mu.Unlock()
	s.live.notify(aboutMessages)
	began := time.Now()
	opts = append(opts, s.callOptions()...)
	replies := s.service.Receive(ctx, target, callback, opts...)
	s.called(id, "answer", secretsOf(target, nil), began, replies)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(e.Calls[max(0, len(e.Calls)-len(replies)):]), nil
}

// repeat calls a webhook again: with an answer, or with the state of a message.
func (s *Sandbox) repeat(ctx context.Context, id string, twice bool) ([]*Call, error) {
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
	state, callback := e.Sent.State, e.Sent.CallbackURL
	s.mu.Unlock()
	if callback == "" || state == "" {
		return nil, errors.New("the message was sent without a callback URL")
	}
	s.reportDelivery(ctx, id, state, opts...)
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(e.Calls), nil
}
