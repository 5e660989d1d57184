package sandbox

import (
	"slices"
	"strings"
	"time"
)

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
