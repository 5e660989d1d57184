package sandbox

import (
	"maps"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// sandboxState is what changes while a sandbox runs. Only [Sandbox.lock] returns it, so a function that has it holds the lock. Neither the
// state nor what it holds may be used after unlock.
type sandboxState struct {
	*core

	mu           sync.Mutex // guards the fields below
	book         book
	traffic      trafficLog
	faults       faultRules
	settings     Settings
	deliveries   map[deliveryKey]deliveryBody
	advanced     time.Duration // how far the clock is ahead
	emptiedAt    time.Time     // by the last reset
	lastExchange int           // the number of the last exchange

	messageDeliveries map[string]deliveryBody // by message ID
	seeds             map[string]bool         // the IDs of seeds that are not entered yet
}

// start sets the first state of a sandbox.
func (st *sandboxState) start(fixed *core) {
	st.core = fixed
	st.book = newBook(fixed.bounds)
	st.traffic = newTrafficLog(fixed.bounds)
	st.settings = Settings{ListingLag: "0s", Webhooks: map[string]string{}, WebhookForm: formContract}
	maps.Copy(st.settings.Webhooks, fixed.config.Webhooks)
	for _, rule := range fixed.config.faults {
		if rule.Skip == 0 {
			rule.begin(time.Now())
		}
		st.faults.add(&rule)
	}
	st.deliveries = map[deliveryKey]deliveryBody{}
	st.messageDeliveries = map[string]deliveryBody{}
	st.seeds = map[string]bool{}
}

// lock returns the state, for one goroutine at a time. The caller calls unlock.
func (s *Sandbox) lock() *sandboxState {
	s.guarded.mu.Lock()
	return &s.guarded
}

func (st *sandboxState) unlock() { st.mu.Unlock() }

// now returns the time on the clock of the sandbox.
func (st *sandboxState) now() time.Time { return time.Now().Add(st.advanced) }

// addMessage enters a message of a program.
func (st *sandboxState) addMessage(m *messagingtest.Sent) *entry {
	e := newEntry(m, st.table, st.mask)
	e.acceptedAt = st.advanced
	if x := st.traffic.byRequest[m.RequestID]; x != nil && m.FallbackOf == "" {
		e.Exchange = x.ID
		e.Fault = x.Fault
	}
	st.add(e)
	_, isSet := st.messageDeliveries[m.ID] // a program can set the delivery of the message before it is entered
	if !isSet {
		st.deliver(m)
	}
	st.log.message(e)
	return e
}

// deliver sets the delivery of a new message to the delivery of its recipient.
func (st *sandboxState) deliver(m *messagingtest.Sent) {
	delivery := st.deliveryTo(m.Channel, m.To)
	st.messageDeliveries[m.ID] = delivery
	if m.Channel == channelSMS && m.Status == "" {
		// The service delivers an SMS only on demand. The state arrives as another change.
		outcome, _ := delivery.outcome() // it was validated
		st.service.SetMessageDelivery(m.ID, outcome)
	}
}

// add enters a message or an answer.
func (st *sandboxState) add(e *entry) { st.removeFromLedger(st.book.add(e)) }

// removeFromLedger removes entries that the book dropped from the ledger of the service.
func (st *sandboxState) removeFromLedger(dropped []*entry) {
	for _, e := range dropped {
		if e.Sent != nil {
			st.service.Remove(e.ID)
			delete(st.messageDeliveries, e.ID)
		}
	}
}

// empty removes messages, answers, traffic and faults.
func (st *sandboxState) empty() {
	st.emptiedAt = st.now()
	st.book = newBook(st.bounds)
	st.traffic = newTrafficLog(st.bounds)
	st.faults = faultRules{}
	st.messageDeliveries = map[string]deliveryBody{}
	st.seeds = map[string]bool{}
}
