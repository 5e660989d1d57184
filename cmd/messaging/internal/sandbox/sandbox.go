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

// maxWorkers is on how many messages reports of delivery are made at once.
const maxWorkers = 8

// chatWindow is for how long after a recipient of chat app 2 wrote anything but a template can be sent to them.
const chatWindow = 24 * time.Hour

// Config is how a sandbox is set up. The zero value is the default contract without webhooks.
type Config struct {
	Contract contract.Contract
	Token    string            // what the service accepts; by default a random one
	Webhooks map[string]string // the URLs that answers go to
	Keep     string            // the file that stores messages between runs; none if empty
	Password string            // that the page asks for; none if empty
	Log      func(line string) // gets a line for each message, answer, callback and fault; none if nil
}

// identity is what a sandbox keeps when it begins anew.
type identity struct {
	space       string // empty for the sandbox that is always there
	root        string // of its page and its API
	keep        string // the file that stores messages between runs; none if empty
	key, secret string // the other credentials of the service
	page        string // the token of the page
	bounds      bounds
}

// A Sandbox is a messaging service, and what its page shows. All methods are safe for concurrent use.
type Sandbox struct {
	identity
	owner   *Spaces
	used    time.Time    // the owner's mutex guards it
	routes  http.Handler // of the page and the API
	service *messagingtest.Server
	table   *table.Table
	config  Config
	live    *hub
	pages   func() *template.Template
	mask    masker
	log     console

	ctx     context.Context //nolint:containedctx // it lasts as long as the sandbox
	stop    context.CancelFunc
	workers sync.WaitGroup
	slots   chan struct{} // of workers

	mu       sync.Mutex
	emptied  time.Time // by the last reset
	book     book
	journal  *journal
	set      Settings
	outcomes map[outcomeKey]deliveryBody
	advanced time.Duration
	faults   faultRules
	traffic  trafficLog
	serial   int    // of exchanges
	scenario []step // what was done on the page
}

// newSandbox starts a sandbox, which its owner closes. The error is of the file to keep messages in. The caller holds the owner's mutex, if
// somebody else can.
func newSandbox(owner *Spaces, who identity) (*Sandbox, error) {
	config := owner.config
	service := messagingtest.Start(
		messagingtest.WithContract(config.Contract), messagingtest.WithToken(config.Token), messagingtest.WithAPIKey(who.key, who.secret),
	)
	s := &Sandbox{
		identity: who, owner: owner, used: time.Now(), service: service, table: table.Of(config.Contract), config: config, live: newHub(),
		mask: newMasker(service, table.Of(config.Contract)), log: console{print: config.Log, space: who.space},
		set:      Settings{ListingLag: "0s", Webhooks: map[string]string{}, WebhookForm: formQuery},
		outcomes: map[outcomeKey]deliveryBody{},
		book:     newBook(who.bounds), traffic: newTrafficLog(who.bounds), slots: make(chan struct{}, maxWorkers),
	}
	s.pages = sync.OnceValue(s.parsePages)
	s.routes = s.routed()
	maps.Copy(s.set.Webhooks, config.Webhooks)
	if who.keep != "" {
		if err := s.restore(who.keep); err != nil {
			service.Close()
			return nil, err
		}
	}
	service.Watch(s.arrived)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.workers.Go(func() {
		for m := range service.Changes(s.ctx) {
			s.changed(m)
		}
	})
	owner.spaces[who.space] = s
	return s, nil
}

// close ends calls of webhooks, and closes the service and the file. The caller holds the owner's mutex.
func (s *Sandbox) close() error {
	s.stop()
	s.live.close()
	s.service.Close()
	s.workers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.close()
}

// now returns the time on the clock of the sandbox, which messages, answers, calls and exchanges follow. The caller holds mu.
func (s *Sandbox) now() time.Time { return time.Now().Add(s.advanced) }

// changed takes in a message that entered the ledger or whose state changed.
func (s *Sandbox) changed(m messagingtest.Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[m.ID]
	before, say := contract.Status(""), ""
	switch {
	case e == nil && m.At.Before(s.emptied):
		return
	case e == nil:
		e = newEntry(&m, s.table, s.mask)
		e.accepted = s.advanced
		if x := s.traffic.byRequest[m.RequestID]; x != nil && m.FallbackOf == "" {
			e.Exchange, e.Fault = x.ID, x.Fault
		}
		s.add(e)
		if m.Channel == channelSMS && m.Status == "" {
			// The service has no delivery of SMS of its own accord. Changes brings the state.
			outcome, _ := s.outcomeFor(m.Channel, m.To).outcome() // it was checked
			s.service.SetMessageDelivery(m.ID, outcome)
		}
		say = fmt.Sprintf("New message to %s by %s", clip(m.To, maxName), channelName(m.Channel))
		s.log.message(e)
	case e.Sent.Status == m.Status:
		return
	default:
		before, m.Body = e.Sent.Status, e.Sent.Body // without secrets
		e.Sent = &m
	}
	reached := []contract.Status{m.Status}
	if m.Status == contract.StatusRead && before != contract.StatusDelivered {
		reached = []contract.Status{contract.StatusDelivered, m.Status}
	}
	for _, state := range reached {
		e.reach(state, cmp.Or(m.StatusAt, s.now()))
		if state != before && state != "" && m.CallbackURL != "" {
			s.enqueue(e, state)
		}
	}
	s.store(record{Sent: e.Sent, States: e.States, Balance: s.service.Balance()})
	s.live.notify(say)
}

// add enters a message or an answer. The caller holds mu.
func (s *Sandbox) add(e *entry) { s.forget(s.book.add(e)) }

// forget takes what the book dropped from the ledger, too. The caller holds mu.
func (s *Sandbox) forget(dropped []*entry) {
	for _, e := range dropped {
		if e.Sent != nil {
			s.service.Remove(e.ID)
		}
	}
}

// remove removes one message or answer, and reports whether there was one.
func (s *Sandbox) remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.book.byID[id]
	if e == nil {
		return false
	}
	s.book.remove(e)
	s.forget([]*entry{e})
	s.store(record{Removed: id})
	s.live.notify("")
	return true
}

// reset empties the ledger, conversations, traffic and faults. Delivery settings, webhooks, the clock and the balance stay.
func (s *Sandbox) reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emptied = s.now()
	s.service.Reset()
	s.book = newBook(s.bounds)
	s.traffic, s.faults, s.scenario = newTrafficLog(s.bounds), faultRules{}, nil
	s.live.notify("")
	if s.journal != nil && s.journal.compact(s.records()) != nil {
		return errKeep
	}
	return nil
}
