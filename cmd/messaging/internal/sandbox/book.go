package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// An entry is a message or an answer in a conversation.
type entry struct {
	Message // the fields that do not change

	Sent      *messagingtest.Sent // a message of a program; nil for an answer
	Answer    *Answer             // an answer of a recipient; nil for a message
	Recipient string              // the recipient, as first written
	Sender    string              // of an SMS

	recipientKey string        // the recipient, the same for all spellings
	callback     string        // the URL for reports, without secrets
	preview      string        // the line in lists
	lowerText    string        // the text in lower case
	searched     string        // everything that a search looks at, in lower case
	code         func() string // returns the one-time code in the text
	acceptedAt   time.Duration // on the clock
	replacer     string        // the ID of the SMS that replaced the message
	pending      int           // webhook calls in progress
	reported     chan struct{} // closed when the last state has been reported
	bytes        int           // how much memory it takes, about

	reports map[contract.Status]stateReport // the last report of each state
}

// A stateReport is what a report says of a state. A repeat says the same, as that of a service does, so that it is a duplicate.
type stateReport struct {
	at   time.Time
	code string // of an error
}

// Reached is a state of a message and when the message reached it.
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

// Failed reports whether the webhook refused the call or did not respond. It is false for a nil call.
func (c *Call) Failed() bool { return c != nil && (c.Error != "" || c.Status >= 400) }

// IsFailure reports whether a message was not delivered, or the webhook did not accept an answer.
func (e entry) IsFailure() bool {
	if e.Sent != nil {
		return e.Sent.Status == contract.StatusFailed || e.Sent.Status == contract.StatusExpired
	}
	return e.LastCall().Failed()
}

const (
	maxCalls  = 50 // of one entry
	maxStates = 20 // of one message
)

// newEntry returns the entry of a message. Its body has no secrets.
func newEntry(m *messagingtest.Sent, t *table.Table, mask masker) *entry {
	e := &entry{Recipient: m.To, Sent: m, code: sync.OnceValue(m.Code), reports: map[contract.Status]stateReport{}, Message: Message{
		ID: m.ID, Direction: "sent", Channel: m.Channel, Kind: m.Kind, From: m.From, To: m.To, Text: m.Text, At: m.At,
		ReferenceID: m.ReferenceID, RequestID: m.RequestID, Parts: m.Parts, Cost: cost(m.Parts), Template: m.Template,
		TTLSeconds: m.TTL.Seconds(), FallbackOf: m.FallbackOf,
	}}
	if m.CallbackURL != "" {
		mask = mask.forURL(m.CallbackURL, t.WebhookDelivery.Placeholders)
		e.callback = mask.url(m.CallbackURL)
		m.Body = []byte(mask.json(string(m.Body)))
	}
	if m.Channel == channelSMS {
		e.Sender = m.From
	}
	e.preview = bubbleOf(*m, t).preview(m.Kind)
	e.index(m.ID, m.From, m.To, m.RequestID, m.ReferenceID, m.Template)
	return e
}

// newAnswer returns the entry of an answer.
func newAnswer(id string, a *Answer, at time.Time) *entry {
	e := &entry{Recipient: a.From, Answer: a, Message: Message{
		ID: id, Direction: "answer", Channel: a.Channel, Kind: string(a.Kind), From: a.From, To: a.To, Text: a.Text, At: at,
	}}
	if a.Channel == channelSMS {
		e.Sender = a.To
	}
	e.preview = a.bubble().preview(string(a.Kind))
	e.index(id, a.From, a.To)
	return e
}

// index fills in the fields for lookups. names are texts by which a search finds the entry.
func (e *entry) index(names ...string) {
	e.recipientKey = recipientKeyOf(e.Recipient)
	e.lowerText = strings.ToLower(cmp.Or(e.Text, e.preview))
	e.searched = strings.ToLower(strings.Join(names, "\n")) + "\n" + e.lowerText
}

// matches reports whether the entry has all words, which are in lower case.
func (e *entry) matches(words []string) bool {
	for _, word := range words {
		if !strings.Contains(e.searched, word) {
			return false
		}
	}
	return true
}

// addState adds a state, unless it is the last one.
func (e *entry) addState(state contract.Status, at time.Time) {
	if n := len(e.States); n > 0 && e.States[n-1].State == state {
		return
	}
	e.States = append(e.States, Reached{State: state, At: at})
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
	const overhead = 1 << 10
	var content any = e.Sent
	if e.Answer != nil {
		content = e.Answer
	}
	encoded, _ := json.Marshal(content) // plain values
	size := overhead + len(encoded) + len(e.preview) + len(e.lowerText) + len(e.searched)
	for _, call := range e.Calls {
		const callOverhead = 256
		size += callOverhead + len(call.URL) + len(call.Error)
	}
	return size
}

// A conversation has the messages and answers between the program and one recipient on a channel. SMS have a conversation for each sender.
type conversation struct {
	Channel   string
	Recipient string
	Sender    string // of SMS
	Entries   []*entry
	Total     int // messages, including dropped ones
	key       conversationKey
	wrote     time.Time // the last answer
}

// last returns the newest entry.
func (c *conversation) last() *entry { return c.Entries[len(c.Entries)-1] }

type conversationKey struct {
	channel   string
	recipient string
	sender    string
}

func (e *entry) key() conversationKey {
	return conversationKey{channel: e.Channel, recipient: e.recipientKey, sender: e.Sender}
}

// recipientKeyOf returns a number without +, spaces, hyphens and brackets. Other recipients stay as they are.
func recipientKeyOf(recipient string) string {
	recipient = clip(recipient, maxName)
	digits := strings.NewReplacer("+", "", " ", "", "-", "", "(", "", ")", "").Replace(recipient)
	if digits != "" && strings.Trim(digits, "0123456789") == "" {
		return digits
	}
	return recipient
}

// book holds entries by age and by conversation.
type book struct {
	bounds        bounds
	entries       []*entry // the oldest first
	byID          map[string]*entry
	byRequest     map[string]*entry // by the ID of the request
	conversations map[conversationKey]*conversation
	recent        []*conversation // the latest last
	bytes         int
	dropped       int
}

func newBook(b bounds) book {
	return book{bounds: b, byID: map[string]*entry{}, byRequest: map[string]*entry{}, conversations: map[conversationKey]*conversation{}}
}

// add enters an entry and returns the entries that were dropped to make room.
func (b *book) add(e *entry) (dropped []*entry) {
	c := b.conversations[e.key()]
	if c == nil {
		c = &conversation{Channel: e.Channel, Recipient: e.Recipient, Sender: e.Sender, key: e.key()}
		b.conversations[c.key] = c
	}
	b.recent = append(without(b.recent, c), c)
	c.Entries = append(c.Entries, e)
	b.entries = append(b.entries, e)
	b.byID[e.ID] = e
	if e.Answer != nil {
		c.wrote = e.At
	} else {
		c.Total++
		b.link(e)
	}
	return b.resize(e)
}

// link enters a message by its request, and in the message that it replaces.
func (b *book) link(e *entry) {
	if e.Sent.FallbackOf == "" {
		if e.Sent.RequestID != "" {
			b.byRequest[e.Sent.RequestID] = e
		}
		return
	}
	if replaced := b.byID[e.Sent.FallbackOf]; replaced != nil {
		replaced.replacer = e.ID
	}
}

// without returns a list without one of its elements.
func without[T comparable](list []T, element T) []T {
	if i := slices.Index(list, element); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// resize counts what was added to an entry, drops the oldest entries beyond the bounds, and returns them. It keeps at least one entry.
func (b *book) resize(e *entry) (dropped []*entry) {
	if b.byID[e.ID] != e {
		return nil
	}
	b.bytes -= e.bytes
	e.bytes = sizeOf(e)
	b.bytes += e.bytes
	for len(b.entries) > b.bounds.messages || (b.bytes > b.bounds.bytes && len(b.entries) > 1) {
		oldest := b.entries[0]
		b.remove(oldest)
		dropped = append(dropped, oldest)
	}
	b.dropped += len(dropped)
	return dropped
}

// remove removes an entry.
func (b *book) remove(e *entry) {
	b.entries = without(b.entries, e)
	delete(b.byID, e.ID)
	b.bytes -= e.bytes
	if e.Sent != nil && b.byRequest[e.Sent.RequestID] == e {
		delete(b.byRequest, e.Sent.RequestID)
	}
	c := b.conversations[e.key()]
	c.Entries = without(c.Entries, e)
	if len(c.Entries) == 0 {
		b.recent = without(b.recent, c)
		delete(b.conversations, c.key)
	}
}

// conversation returns a conversation, or nil. For SMS without a sender, it returns the latest conversation with that number.
func (b *book) conversation(channel, recipient, sender string) *conversation {
	key := conversationKey{channel: channel, recipient: recipientKeyOf(recipient), sender: sender}
	if c := b.conversations[key]; c != nil || sender != "" {
		return c
	}
	for _, c := range slices.Backward(b.recent) {
		if c.Channel == channel && c.key.recipient == key.recipient {
			return c
		}
	}
	return nil
}

// The channels, by their names in the contract.
const (
	channelSMS      = "sms"
	channelChatApp1 = "chatapp1"
	channelChatApp2 = "chatapp2"
)

func channelName(c string) string {
	channel, _ := table.ChannelNamed(c)
	return channel.Title
}

// channelNames lists the channels for an error: "sms" "chatapp1" …
func channelNames() string { return strings.Trim(fmt.Sprintf("%q", channels()), "[]") }
