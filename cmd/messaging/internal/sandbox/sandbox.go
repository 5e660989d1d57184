package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// maxReports is the limit for delivery reports at the same time.
const maxReports = 8

// chatWindow is how long after a message of the recipient the platform of chat app 2 accepts free-form messages.
const chatWindow = 24 * time.Hour

// Config configures a sandbox. The zero value is the default contract without webhooks.
type Config struct {
	Contract contract.Contract
	Token    string            // of the service; random if empty
	Webhooks map[string]string // the URLs that get the answers of recipients
	Password string            // for the page; none if empty
	Log      func(line string) // gets a line for each message, answer, callback and fault; nil logs nothing
}

// options are the options of a sandbox. They survive a reset.
type options struct {
	space       string // its name; empty for the default sandbox
	root        string // the path of its page and its API
	key, secret string // the other credentials of the service
	pageToken   string
	bounds      bounds
}

// A Sandbox is a messaging service on this machine with a web page. All methods are safe for concurrent use.
type Sandbox struct {
	options

	owner   *Spaces
	used    time.Time // guarded by owner.mu
	config  Config
	service *messagingtest.Server
	table   *table.Table // of the contract
	routes  http.Handler // of the page and the API
	pages   func() *template.Template
	mask    masker
	log     console
	live    *hub

	ctx     context.Context //nolint:containedctx // ends with the sandbox
	stop    context.CancelFunc
	workers sync.WaitGroup
	reports chan struct{} // one element for each report in progress

	mu         sync.Mutex // guards the fields below
	book       book
	traffic    trafficLog
	faults     faultRules
	set        Settings
	deliveries map[deliveryKey]deliveryBody
	advanced   time.Duration // how far the clock is ahead
	emptiedAt  time.Time     // by the last reset
	exchanges  int           // the last number of an exchange
}

// startSandbox starts a sandbox, which its owner closes.
func startSandbox(owner *Spaces, o options) *Sandbox {
	config := owner.config
	service := messagingtest.Start(
		messagingtest.WithContract(config.Contract), messagingtest.WithToken(config.Token), messagingtest.WithAPIKey(o.key, o.secret),
	)
	s := &Sandbox{
		options:    o,
		owner:      owner,
		used:       time.Now(),
		config:     config,
		service:    service,
		table:      table.Of(config.Contract),
		mask:       newMasker(config.Token, o.key, o.secret),
		log:        console{print: config.Log, space: o.space},
		live:       newHub(),
		reports:    make(chan struct{}, maxReports),
		book:       newBook(o.bounds),
		traffic:    newTrafficLog(o.bounds),
		set:        Settings{ListingLag: "0s", Webhooks: map[string]string{}, WebhookForm: formQuery},
		deliveries: map[deliveryKey]deliveryBody{},
	}
	s.pages = sync.OnceValue(s.parsePages)
	s.routes = s.newMux()
	maps.Copy(s.set.Webhooks, config.Webhooks)
	service.Watch(s.onRequest)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.workers.Go(func() {
		for m := range service.Changes(s.ctx) {
			s.onChange(m)
		}
	})
	return s
}

// close ends calls of webhooks and closes the service.
func (s *Sandbox) close() {
	s.stop()
	s.live.close()
	s.service.Close()
	s.workers.Wait()
}

// now returns the time on the clock of the sandbox. The caller holds mu.
func (s *Sandbox) now() time.Time { return time.Now().Add(s.advanced) }

// size returns the number of messages and answers.
func (s *Sandbox) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.book.entries)
}

// onChange enters a new message of the ledger, or the new status of a known one.
func (s *Sandbox) onChange(m messagingtest.Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[m.ID]
	before := contract.Status("")
	announcement := ""
	switch {
	case e == nil && m.At.Before(s.emptiedAt):
		return
	case e == nil:
		e = s.addMessage(&m)
		announcement = fmt.Sprintf("New message to %s by %s", clip(m.To, maxName), channelName(m.Channel))
	case e.Sent.Status == m.Status:
		return
	default:
		before = e.Sent.Status
		m.Body = e.Sent.Body // without secrets
		e.Sent = &m
	}
	if m.Status == contract.StatusRead && before != contract.StatusDelivered {
		s.enterState(e, contract.StatusDelivered)
	}
	s.enterState(e, m.Status)
	s.live.notify(announcement)
}

// addMessage enters a message of a program. The caller holds mu.
func (s *Sandbox) addMessage(m *messagingtest.Sent) *entry {
	e := newEntry(m, s.table, s.mask)
	e.acceptedAt = s.advanced
	if x := s.traffic.byRequest[m.RequestID]; x != nil && m.FallbackOf == "" {
		e.Exchange = x.ID
		e.Fault = x.Fault
	}
	s.add(e)
	if m.Channel == channelSMS && m.Status == "" {
		// The service delivers an SMS only on demand. The state arrives as another change.
		outcome, _ := s.deliveryTo(m.Channel, m.To).outcome() // it was validated
		s.service.SetMessageDelivery(m.ID, outcome)
	}
	s.log.message(e)
	return e
}

// enterState adds a state to a message and reports it to the callback URL. The caller holds mu.
func (s *Sandbox) enterState(e *entry, state contract.Status) {
	if state == "" {
		return
	}
	e.addState(state, cmp.Or(e.Sent.StatusAt, s.now()))
	if e.Sent.CallbackURL != "" {
		s.enqueueReport(e, state)
	}
}

// add enters a message or an answer. The caller holds mu.
func (s *Sandbox) add(e *entry) { s.removeFromLedger(s.book.add(e)) }

// removeFromLedger removes entries that the book dropped from the ledger of the service. The caller holds mu.
func (s *Sandbox) removeFromLedger(dropped []*entry) {
	for _, e := range dropped {
		if e.Sent != nil {
			s.service.Remove(e.ID)
		}
	}
}

// reset removes messages, answers, traffic and faults. Delivery settings, webhooks, the clock and the balance stay.
func (s *Sandbox) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emptiedAt = s.now()
	s.service.Reset()
	s.book = newBook(s.bounds)
	s.traffic = newTrafficLog(s.bounds)
	s.faults = faultRules{}
	s.live.notify("")
}
