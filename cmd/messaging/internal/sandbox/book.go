package sandbox

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// An entry is a message or an answer in a conversation. The sandbox's mutex guards it.
type entry struct {
	Message // but for what changes

	Sent    *messagingtest.Sent // a message of the program
	Answer  *Answer             // or an answer of the recipient
	Peer    string              // the recipient, as first written
	Sender  string              // of an SMS: each sender has a conversation of its own
	peer    string              // the recipient, the same for all spellings
	pending int                 // deliveries of the webhook under way

	accepted time.Duration // on the clock
	restored bool          // from the file of -keep: its lifetime does not go on
	callback string        // the URL for reports, without secrets
	preview  string
	lower    string        // the whole text in lower case, for searches
	names    string        // the same of IDs, numbers and the sender
	code     func() string // returns the one-time code that it seems to hold
	reported chan struct{} // closed when the last state has been reported
	replacer string        // the ID of the SMS that replaced the message
	seen     bool
	size     int
}

// Reached is a state of a message and when the message got there.
type Reached struct {
	State contract.Status `json:"state"`
	At    time.Time       `json:"at"`
}

// A Call is one request to a webhook.
type Call struct {
	About    string    `json:"about"` // the state that it reports, or "answer"
	URL      string    `json:"url"`   // without secrets
	Status   int       `json:"status"`
	Millis   float64   `json:"milliseconds"`
	Try      int       `json:"try"`
	Error    string    `json:"error,omitempty"`
	At       time.Time `json:"at"`
	Exchange int       `json:"exchange,omitempty"`
}

// IsFailure reports whether a message was not delivered, or the webhook did not take an answer.
func (e entry) IsFailure() bool {
	if e.Sent != nil {
		return e.Sent.Status == contract.StatusFailed || e.Sent.Status == contract.StatusExpired
	}
	return e.LastCall().Failed()
}

// Failed reports whether the webhook did not take the call. A nil call did not fail.
func (c *Call) Failed() bool { return c != nil && (c.Error != "" || c.Status >= 400) }

const (
	maxCalls  = 50 // of one entry
	maxStates = 20 // of one message
)

// newEntry returns the entry of a message, whose body it keeps without secrets.
func newEntry(m *messagingtest.Sent, t *table.Table, mask masker) *entry {
	e := &entry{Peer: m.To, Sent: m, code: sync.OnceValue(m.Code), Message: Message{
		ID: m.ID, Direction: "sent", Channel: m.Channel, Kind: m.Kind, From: m.From, To: m.To, Text: m.Text, At: m.At,
		ReferenceID: m.ReferenceID, RequestID: m.RequestID, Parts: m.Parts, Cost: cost(m.Parts), Template: m.Template,
		TTLSeconds: m.TTL.Seconds(), FallbackOf: m.FallbackOf,
	}}
	if m.CallbackURL != "" {
		mask = mask.with(m.CallbackURL, t.WebhookDelivery.Placeholders)
		e.callback, m.Body = mask.url(m.CallbackURL), []byte(mask.text(mask.unescaped(string(m.Body))))
	}
	e.preview = bubbleOf(*m, t).preview(m.Kind)
	e.index(m.Text, m.From, m.ID, m.From, m.RequestID, m.ReferenceID, m.Template, m.To)
	return e
}

// newAnswer returns the entry of an answer.
func newAnswer(id string, a *Answer, at time.Time) *entry {
	e := &entry{Peer: a.From, Answer: a, seen: true, Message: Message{
		ID: id, Direction: "answer", Channel: a.Channel, Kind: string(a.Kind), From: a.From, To: a.To, Text: a.Text, At: at,
	}}
	e.preview = a.bubble().preview(string(a.Kind))
	e.index(a.Text, a.To, id, a.From)
	return e
}

// index fills in by what an entry is found.
func (e *entry) index(text, sender string, names ...string) {
	e.peer = peerKey(e.Peer)
	if e.Channel == channelSMS {
		e.Sender = sender
	}
	e.lower, e.names = strings.ToLower(cmp.Or(text, e.preview)), strings.ToLower(strings.Join(names, "\n"))
}

// reach adds a state, unless the entry is in it.
func (e *entry) reach(state contract.Status, at time.Time) {
	if n := len(e.States); state == "" || n > 0 && e.States[n-1].State == state {
		return
	}
	e.States = append(e.States, Reached{state, at})
	if len(e.States) > maxStates {
		e.States = slices.Delete(e.States, 1, len(e.States)-maxStates+1)
	}
}

// hasReached reports whether the message is, or was, in a state.
func (e *entry) hasReached(state contract.Status) bool {
	return slices.ContainsFunc(e.States, func(r Reached) bool { return r.State == state })
}

// sizeOf returns about how much memory an entry takes.
func sizeOf(e *entry) int {
	const overhead, call = 1 << 10, 256
	size := overhead + textIn(e)
	for _, c := range e.Calls {
		size += call + len(c.URL) + len(c.Error)
	}
	if a := e.Answer; a != nil {
		return size + textIn(a)
	}
	for name, value := range e.Sent.Extra {
		size += len(name) + len(value)
	}
	return size + textIn(e.Sent)
}

// textIn returns how many bytes of text the fields of a struct have.
func textIn(pointer any) (size int) {
	for _, value := range reflect.ValueOf(pointer).Elem().Fields() {
		if kind := value.Kind(); kind == reflect.String || kind == reflect.Slice {
			size += value.Len()
		}
	}
	return size
}

// A conversation is what went between the program and one recipient on a channel; by SMS, between one sender and one recipient.
type conversation struct {
	Channel string
	Peer    string
	Sender  string // by SMS
	Entries []*entry
	Unread  int
	Total   int // messages, ever
	key     conversationKey
	wrote   time.Time // when the recipient last wrote
}

// last returns the newest entry.
func (c *conversation) last() *entry { return c.Entries[len(c.Entries)-1] }

type conversationKey struct {
	channel string
	peer    string
	sender  string
}

func (e *entry) key() conversationKey { return conversationKey{e.Channel, e.peer, e.Sender} }

// peerKey makes a number the same with and without a +, spaces and hyphens.
func peerKey(peer string) string {
	digits := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(clip(peer, maxName))
	if digits != "" && strings.Trim(digits, "0123456789") == "" {
		return digits
	}
	return peer
}

// book holds entries by age and by conversation. The sandbox's mutex guards it.
type book struct {
	bounds        bounds
	entries       []*entry // the oldest first
	byID          map[string]*entry
	byRequest     map[string]*entry // what a request brought, by its ID
	conversations map[conversationKey]*conversation
	recent        []*conversation // the latest last
	bytes         int
	dropped       int
}

func newBook(b bounds) book {
	return book{bounds: b, byID: map[string]*entry{}, byRequest: map[string]*entry{}, conversations: map[conversationKey]*conversation{}}
}

// add enters an entry and returns those that it dropped for it.
func (b *book) add(e *entry) []*entry {
	c := b.conversations[e.key()]
	if c == nil {
		c = &conversation{Channel: e.Channel, Peer: e.Peer, Sender: e.Sender, key: e.key()}
		b.conversations[c.key] = c
	}
	b.recent = append(without(b.recent, c), c)
	c.Entries = append(c.Entries, e)
	b.entries = append(b.entries, e)
	b.byID[e.ID] = e
	if e.Answer != nil {
		c.wrote = e.At
		return b.resize(e)
	}
	c.Total++
	if !e.seen {
		c.Unread++
	}
	if replaced := b.byID[e.Sent.FallbackOf]; replaced != nil {
		replaced.replacer = e.ID
	}
	if e.Sent.FallbackOf == "" && e.Sent.RequestID != "" {
		b.byRequest[e.Sent.RequestID] = e
	}
	return b.resize(e)
}

// without returns a list without one of its elements.
func without[T comparable](list []T, one T) []T {
	if i := slices.Index(list, one); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// resize counts what was added to an entry, drops the oldest beyond the bounds, except the last, and returns what was dropped.
func (b *book) resize(e *entry) []*entry {
	if b.byID[e.ID] != e {
		return nil
	}
	b.bytes -= e.size
	e.size = sizeOf(e)
	b.bytes += e.size
	var dropped []*entry
	for len(b.entries) > b.bounds.messages || b.bytes > b.bounds.bytes && len(b.entries) > 1 {
		dropped = append(dropped, b.entries[0])
		b.remove(b.entries[0])
	}
	b.dropped += len(dropped)
	return dropped
}

// remove drops an entry.
func (b *book) remove(e *entry) {
	b.entries = without(b.entries, e)
	delete(b.byID, e.ID)
	b.bytes -= e.size
	c := b.conversations[e.key()]
	c.Entries = without(c.Entries, e)
	if e.Sent != nil && b.byRequest[e.Sent.RequestID] == e {
		delete(b.byRequest, e.Sent.RequestID)
	}
	if e.Sent != nil && !e.seen {
		c.Unread--
	}
	if len(c.Entries) == 0 {
		b.recent = without(b.recent, c)
		delete(b.conversations, c.key)
	}
}

// conversation returns a conversation, or nil. Of an SMS without a sender it is the latest with that number.
func (b *book) conversation(channel string, peer, sender string) *conversation {
	key := conversationKey{channel, peerKey(peer), sender}
	if c := b.conversations[key]; c != nil || sender != "" {
		return c
	}
	for _, c := range slices.Backward(b.recent) {
		if c.Channel == channel && c.key.peer == key.peer {
			return c
		}
	}
	return nil
}

// The channels, by their names in a contract.
const (
	channelSMS      = "sms"
	channelChatApp1 = "chatapp1"
	channelChatApp2 = "chatapp2"
)

func channelName(c string) string {
	channel, _ := table.ChannelNamed(c)
	return channel.Title
}

// channelNames returns the names of the channels as a list in a message: "sms" "chatapp1" …
func channelNames() string { return strings.Trim(fmt.Sprintf("%q", channels()), "[]") }
