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

// An entry is a message or an answer in a conversation. The lock of the sandboxState guards the fields that change.
type entry struct {
	// Message has the fields for the API. States and Calls grow; sandboxState.message completes the rest.
	Message

	// These do not change.
	Answer       *Answer       // an answer of a recipient; nil for a message
	Recipient    string        // as first written
	Sender       string        // of an SMS
	recipientKey string        // the recipient, the same for all spellings
	callback     string        // the URL for reports, without secrets
	preview      string        // the line in lists
	lowerText    string        // the text in lower case
	searched     string        // everything that a search looks at, in lower case
	code         func() string // returns the one-time code in the text
	acceptedAt   time.Duration // on the clock

	// These change.
	Sent     *messagingtest.Sent             // a message of a program in its latest state; nil for an answer
	replacer string                          // the ID of the SMS that replaced the message
	open     int                             // reports that are queued or being made, and webhook calls in progress
	reported chan struct{}                   // closed when the last state has been reported
	reports  map[contract.Status]stateReport // the last report of each state
	bytes    int                             // how much memory it takes, about
}

// A stateReport is what a report says of a state. A repeated report says the same, so that it is a duplicate.
type stateReport struct {
	at   time.Time
	code string // of an error
}

// Reached is a state of a message and when the message reached it.
type Reached struct {
	State contract.Status `json:"state"`
	At    time.Time       `json:"at"`
}

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
	e := &entry{
		Message:   messageOf(m),
		Sent:      m,
		Recipient: m.To,
		code:      sync.OnceValue(m.Code),
		reports:   map[contract.Status]stateReport{},
	}
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
	e := &entry{Message: answerMessage(id, a, at), Answer: a, Recipient: a.From}
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

// describe returns a short description for errors.
func (e *entry) describe() string {
	text := fmt.Sprintf("%s to %s: %s", channelName(e.Channel), clip(e.Recipient, maxName), e.preview)
	if e.Answer != nil {
		text = fmt.Sprintf("an answer of %s: %s", clip(e.Recipient, maxName), e.preview)
	}
	return shorten(text, 2*previewText)
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
