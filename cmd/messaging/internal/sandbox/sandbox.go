package sandbox

import (
	"cmp"
	"container/list"
	"context"
	"crypto/rand"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// Bounds on what is kept.
const (
	MaxMessages  = 10_000   // messages and answers
	maxBytes     = 64 << 20 // of them
	maxExchanges = 1000
	maxWorkers   = 8 // that call webhooks
	maxReports   = 10_000
)

// Config is how a sandbox is set up. The zero value is the default contract without webhooks.
type Config struct {
	Contract contract.Contract
	Token    string                           // what the service accepts; by default a random one
	Webhooks map[messagingtest.Channel]string // the URLs that answers go to
	Keep     string                           // the file that stores messages between runs; none if empty
	Password string                           // that the page asks for; none if empty
}

// A Sandbox is a running messaging service and what its page shows. All methods are safe for concurrent use.
type Sandbox struct {
	service *messagingtest.Server
	table   *table.Table
	config  Config
	token   string // of the page, for requests that change something
	live    *hub
	pages   *template.Template
	mask    masker

	ctx     context.Context //nolint:containedctx // it lasts as long as the sandbox
	stop    context.CancelFunc
	workers sync.WaitGroup

	resetting sync.Mutex // held while the ledger is emptied
	follower  func()     // ends the goroutine that follows the ledger; guarded by resetting

	mu       sync.Mutex
	book     book
	keep     *journal
	webhooks map[messagingtest.Channel]string
	outcomes map[conversationKey]outcomeChoice // by recipient; of the chat apps, under chat app 1
	advanced time.Duration
	faults   faultState
	lag      time.Duration
	form     string // in which webhooks are called

	refuseDuplicates bool
	traffic          []*Exchange
	serial           int                  // of exchanges
	reports          [maxWorkers][]report // by worker: those on one message stay in order
	wake             *sync.Cond           // reports have come, or the sandbox is closing
}

// New starts a sandbox. The caller closes it. The error is of the file to keep messages in.
func New(config Config) (*Sandbox, error) {
	opts := []messagingtest.Option{messagingtest.WithContract(config.Contract)}
	if config.Token != "" {
		opts = append(opts, messagingtest.WithToken(config.Token))
	}
	service := messagingtest.Start(opts...)
	s := &Sandbox{
		service: service, table: config.Contract.Table(), config: config, token: rand.Text(), live: newHub(), pages: parsePages(), mask: newMasker(service, config.Contract.Table()), form: formQuery,
		webhooks: map[messagingtest.Channel]string{}, outcomes: map[conversationKey]outcomeChoice{},
		book: newBook(),
	}
	s.wake = sync.NewCond(&s.mu)
	maps.Copy(s.webhooks, config.Webhooks)
	if config.Keep != "" {
		if err := s.restore(config.Keep); err != nil {
			service.Close()
			return nil, err
		}
		s.seed()
	}
	service.Watch(s.arrived)
	s.ctx, s.stop = context.WithCancel(context.Background())
	for worker := range maxWorkers {
		s.workers.Go(func() { s.reportAll(worker) })
	}
	s.resetting.Lock()
	s.follow()
	s.resetting.Unlock()
	return s, nil
}

// Close ends calls of webhooks, and closes the service and the file.
func (s *Sandbox) Close() error {
	s.resetting.Lock()
	s.follower()
	s.resetting.Unlock()
	s.stop()
	s.mu.Lock()
	s.wake.Broadcast()
	s.mu.Unlock()
	s.live.close()
	s.service.Close()
	s.workers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keep.close()
}

// follow starts the goroutine that follows the ledger. The caller holds resetting.
func (s *Sandbox) follow() {
	ctx, cancel := context.WithCancel(s.ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m := range s.service.Changes(ctx) {
			s.changed(m)
		}
	}()
	s.follower = func() {
		cancel()
		<-done
	}
}

// changed takes in a message that entered the ledger or whose state changed.
func (s *Sandbox) changed(m messagingtest.Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[m.ID]
	before := messagingtest.DeliveryState("")
	if isNew := e == nil; isNew {
		e = &entry{ID: m.ID, Channel: m.Channel, Peer: m.To, At: m.At, Sent: &m, accepted: s.advanced}
		s.add(e)
		if m.Channel == messagingtest.ChannelSMS && m.State == "" {
			// The service has no delivery of SMS of its own accord. Changes brings the state.
			s.service.SetOutcome(m.ID, s.outcomeFor(m.Channel, m.To).outcome())
		}
		s.live.announce(fmt.Sprintf("New message to %s by %s", m.To, channelName(m.Channel)))
	} else {
		before = e.Sent.State
		if before == m.State {
			return
		}
		e.Sent = &m
	}
	s.store(record{Sent: e.Sent})
	if m.State != before && m.CallbackURL != "" {
		if m.State == messagingtest.StateRead && before != messagingtest.StateDelivered {
			s.enqueue(report{e.ID, messagingtest.StateDelivered})
		}
		if m.State != "" {
			s.enqueue(report{e.ID, m.State})
		}
	}
	s.live.notify(aboutMessages)
}

// add enters a message or an answer and drops the oldest beyond the bounds. The caller holds mu.
func (s *Sandbox) add(e *entry) {
	if e.Sent != nil {
		e.code = sync.OnceValue(e.Sent.Code)
		b := bubbleOf(*e.Sent, s.table)
		e.preview = cmp.Or(b.Body, b.Header, b.Label)
		if e.preview == "" && b.Media != nil {
			e.preview = b.Media.Kind
		}
		e.preview = cmp.Or(e.preview, e.Sent.Kind)
	}
	for _, dropped := range s.book.add(e) {
		if dropped.Sent != nil {
			s.service.Drop(1)
		}
	}
}

// Reset empties the ledger, conversations, traffic and faults. Delivery settings, webhooks, the clock and the balance stay.
func (s *Sandbox) Reset() error {
	s.resetting.Lock()
	defer s.resetting.Unlock()
	s.follower()
	s.service.Reset()
	s.mu.Lock()
	s.book = newBook()
	s.traffic, s.reports, s.faults = nil, [maxWorkers][]report{}, faultState{}
	err := s.keep.clear()
	s.mu.Unlock()
	s.follow()
	s.live.notify(aboutMessages | aboutTraffic | aboutFaults)
	return err
}

// An entry is a message or an answer in a conversation. The sandbox's mutex guards it.
type entry struct {
	ID      string
	Channel messagingtest.Channel
	Peer    string // the recipient, as first written
	At      time.Time

	Sent    *messagingtest.Sent // a message of the program
	Answer  *Answer             // or an answer of the recipient
	Calls   []*Call             // of the webhook
	pending int                 // deliveries of the webhook under way

	accepted time.Duration // on the clock
	preview  string
	code     func() string // returns the one-time code that it seems to hold
	seen     bool
	size     int
	place    *list.Element
}

// A Call is one request to a webhook.
type Call struct {
	About    string        `json:"about"` // the state that it reports, or "answer"
	URL      string        `json:"url"`   // without secrets
	Status   int           `json:"status"`
	Took     time.Duration `json:"-"`
	Millis   float64       `json:"milliseconds"`
	Try      int           `json:"try"`
	Error    string        `json:"error,omitempty"`
	At       time.Time     `json:"at"`
	Exchange int           `json:"exchange,omitempty"`
}

// maxCalls is how many calls of one entry are kept.
const maxCalls = 50

func (e *entry) addCall(c *Call) {
	e.Calls = append(e.Calls, c)
	if len(e.Calls) > maxCalls {
		e.Calls = slices.Delete(e.Calls, 0, len(e.Calls)-maxCalls)
	}
}

// text returns what a list of conversations shows of the entry.
func (e *entry) text() string {
	if e.Answer != nil {
		return cmp.Or(e.Answer.Text, string(e.Answer.Kind))
	}
	return e.preview
}

// A conversation is what went between the program and one recipient on a channel.
type conversation struct {
	Channel messagingtest.Channel
	Peer    string
	Entries []*entry
	Unread  int
	place   *list.Element
}

// last returns the newest entry.
func (c *conversation) last() *entry { return c.Entries[len(c.Entries)-1] }

type conversationKey struct {
	channel messagingtest.Channel
	peer    string
}

func keyOf(channel messagingtest.Channel, peer string) conversationKey {
	return conversationKey{channel, peerKey(peer)}
}

// peerKey makes a number the same with and without a +, spaces and hyphens.
func peerKey(peer string) string {
	digits := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(peer)
	if digits != "" && strings.Trim(digits, "0123456789") == "" {
		return digits
	}
	return peer
}

// book holds entries by age and by conversation. The sandbox's mutex guards it.
type book struct {
	byID          map[string]*entry
	byRequest     map[string]*entry // what a request brought, by its ID
	entries       *list.List        // of *entry, the oldest first
	conversations map[conversationKey]*conversation
	recent        *list.List // of *conversation, the latest first
	bytes         int
	dropped       int
}

func newBook() book {
	return book{
		byID: map[string]*entry{}, byRequest: map[string]*entry{}, entries: list.New(), conversations: map[conversationKey]*conversation{}, recent: list.New(),
	}
}

// add enters an entry and returns those that it dropped for it.
func (b *book) add(e *entry) []*entry {
	key := keyOf(e.Channel, e.Peer)
	c := b.conversations[key]
	if c == nil {
		c = &conversation{Channel: e.Channel, Peer: e.Peer}
		b.conversations[key], c.place = c, b.recent.PushFront(c)
	}
	b.recent.MoveToFront(c.place)
	c.Entries = append(c.Entries, e)
	if e.Sent != nil && !e.seen {
		c.Unread++
	}
	b.byID[e.ID], e.place = e, b.entries.PushBack(e)
	if e.Sent != nil && e.Sent.FallbackOf == "" && e.Sent.RequestID != "" {
		b.byRequest[e.Sent.RequestID] = e
	}
	e.size = sizeOf(e)
	b.bytes += e.size
	var dropped []*entry
	for b.entries.Len() > MaxMessages || b.bytes > maxBytes && b.entries.Len() > 1 {
		oldest, _ := b.entries.Front().Value.(*entry)
		b.remove(oldest)
		dropped = append(dropped, oldest)
	}
	b.dropped += len(dropped)
	return dropped
}

// remove drops an entry that is the oldest of its conversation.
func (b *book) remove(e *entry) {
	b.entries.Remove(e.place)
	delete(b.byID, e.ID)
	if e.Sent != nil && b.byRequest[e.Sent.RequestID] == e {
		delete(b.byRequest, e.Sent.RequestID)
	}
	b.bytes -= e.size
	key := keyOf(e.Channel, e.Peer)
	c := b.conversations[key]
	c.Entries = slices.DeleteFunc(c.Entries, func(o *entry) bool { return o == e })
	if e.Sent != nil && !e.seen {
		c.Unread--
	}
	if len(c.Entries) == 0 {
		b.recent.Remove(c.place)
		delete(b.conversations, key)
	}
}

func sizeOf(e *entry) int {
	const overhead = 1 << 10
	if e.Sent == nil {
		return overhead + len(e.Answer.Text)
	}
	size := overhead + len(e.Sent.Body) + len(e.Sent.Text) + len(e.Sent.FallbackText)
	for name, value := range e.Sent.Extra {
		size += len(name) + len(value)
	}
	return size
}

// fallbackOf returns the SMS that replaced a chat-app message, or nil.
func (b *book) fallbackOf(e *entry) *entry {
	if e.Sent == nil || e.Sent.FallbackFrom == "" {
		return nil
	}
	c := b.conversations[keyOf(messagingtest.ChannelSMS, e.Peer)]
	if c == nil {
		return nil
	}
	for _, o := range slices.Backward(c.Entries) {
		if o.Sent != nil && o.Sent.FallbackOf == e.ID {
			return o
		}
	}
	return nil
}

func channelName(c messagingtest.Channel) string {
	channel, _ := table.ChannelNamed(string(c))
	return channel.Title
}

// channelNames returns the names of the channels as a list in a message: "sms", "chatapp1" …
func channelNames() string {
	var names []string
	for _, c := range table.Channels() {
		names = append(names, strconv.Quote(c.Name))
	}
	return strings.Join(names, ", ")
}
