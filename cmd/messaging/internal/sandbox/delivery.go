package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
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
	errClock   = errors.New("the clock is ten years ahead: a reset of all turns it back")
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

// outcomeKey is for whom an outcome was chosen.
type outcomeKey struct {
	channel messagingtest.Channel
	peer    string
}

// outcomeFor returns what was chosen for a recipient on a channel. The caller holds mu.
func (s *Sandbox) outcomeFor(channel messagingtest.Channel, recipient string) outcomeChoice {
	return cmp.Or(s.outcomes[outcomeKey{channel, peerKey(recipient)}], outcomeChoice{Name: outcomeDelivered})
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
	if recipient == "" || len(recipient) > maxName {
		return fmt.Errorf("to must be a recipient of up to %d bytes", maxName)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const maxOutcomes = 20_000
	if len(s.outcomes) >= maxOutcomes {
		return fmt.Errorf("delivery is set for %d recipients already: reset all of the sandbox", maxOutcomes)
	}
	s.chooseOutcome(channel, recipient, choice)
	s.store(record{Delivery: &keptDelivery{channel, recipient, choice.Name, choice.After}})
	s.live.notify(aboutMessages)
	return nil
}

// chooseOutcome notes an outcome and passes it to the service. The caller holds mu.
func (s *Sandbox) chooseOutcome(channel messagingtest.Channel, recipient string, choice outcomeChoice) {
	const sms = messagingtest.ChannelSMS
	for _, c := range table.Channels() {
		of := messagingtest.Channel(c.Name)
		if channel == "" || (of == sms) == (channel == sms) { // the service has one outcome for all channels but SMS
			s.outcomes[outcomeKey{of, peerKey(recipient)}] = choice
		}
	}
	if channel != sms {
		s.service.SetDelivery(recipient, choice.outcome())
	}
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
	s.storeState()
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

// reportDelivery calls the callback URL of a message, and returns the calls.
func (s *Sandbox) reportDelivery(ctx context.Context, id string, state messagingtest.DeliveryState, opts ...messagingtest.ReceiveOption) []*Call {
	began := s.clock()
	ctx, header := traced(ctx)
	replies := s.service.ReportDelivery(ctx, id, s.statusWord(string(state)), append(opts, s.callOptions()...)...)
	return s.called(id, string(state), s.callbackSecrets(id), began, replies, header)
}

// clock returns the time on the clock.
func (s *Sandbox) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// traced returns a context in which requests leave their header, and a function that returns it. All requests of one delivery
// have the same.
func traced(ctx context.Context) (context.Context, func() http.Header) {
	var mu sync.Mutex
	var header http.Header
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaderField: func(name string, values []string) {
		mu.Lock()
		defer mu.Unlock()
		if header == nil {
			header = http.Header{}
		}
		header[name] = slices.Clone(values)
	}})
	return ctx, func() http.Header {
		mu.Lock()
		defer mu.Unlock()
		return header.Clone()
	}
}

// callbackSecrets returns the secrets in the callback URL of a message.
func (s *Sandbox) callbackSecrets(id string) webhookSecrets {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.book.byID[id]; e != nil && e.Sent != nil {
		return secretsOf(e.Sent.CallbackURL, s.table.WebhookDelivery.Placeholders)
	}
	return webhookSecrets{}
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

// called takes down the calls of a webhook for an entry, and returns them.
func (s *Sandbox) called(
	id, about string, secrets webhookSecrets, began time.Time, replies []messagingtest.Reply, header func() http.Header,
) []*Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[id]
	calls := []*Call{}
	for _, reply := range replies {
		x := s.outgoing(reply, about, secrets, began, header())
		call := &Call{
			About: about, URL: shorten(x.URL, maxURL), Status: reply.StatusCode, Took: reply.Took, Millis: millis(reply.Took),
			Try: reply.Attempt, Error: x.Error, At: x.At, Exchange: x.ID,
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
	s.live.notify(aboutMessages | aboutTraffic)
	return calls
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
	e := newAnswer(newInboundID(a.Channel), &a, s.now())
	s.add(e)
	s.store(record{Answer: &a, ID: e.ID, At: e.At})
	s.log.answer(e)
	s.mu.Unlock()
	s.live.notify(aboutMessages)
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
	target, callback := s.webhooks[e.Channel], e.Answer.callback(e.ID, e.At)
	if target == "" {
		s.mu.Unlock()
		return nil, errNoWebhook
	}
	e.pending++
	began := s.now()
	s.mu.Unlock()
	s.live.notify(aboutMessages)
	ctx, header := traced(ctx)
	replies := s.service.Receive(ctx, target, callback, append(opts, s.callOptions()...)...)
	return s.called(id, aboutAnswer, secretsOf(target, nil), began, replies, header), nil
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
