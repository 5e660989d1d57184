package sandbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"html/template"
	"net/http"
	"strings"
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
	Contract     contract.Contract
	ContractFile string            // the absolute path of its overlay, for the environment of a program; empty without one
	Token        string            // of the service; random if empty
	Webhooks     map[string]string // the URLs that get the answers of recipients
	Password     string            // for the page; none if empty
	Log          func(line string) // gets a line for each message, answer, callback and fault; nil logs nothing

	faults []faultRule // in force from the start
}

// options are the options of a sandbox. They survive a reset.
type options struct {
	space       string // its name; empty for the default sandbox
	root        string // the path of its page and its API
	key, secret string // the other credentials of the service
	pageToken   string
	bounds      bounds
}

// core is what does not change while a sandbox runs.
type core struct {
	options

	config  Config
	service *messagingtest.Server
	table   *table.Table // of the contract
	mask    masker
	log     console
	live    *hub
}

// A Sandbox is a messaging service on this machine with a web page. All methods are safe for concurrent use.
type Sandbox struct {
	*core

	// owner.mu guards used. The lock of guarded guards what changes otherwise.
	owner   *Spaces
	used    time.Time    // by a request
	guarded sandboxState // lock returns it

	routes http.Handler              // of the page and the API
	pages  func() *template.Template // parses the templates once

	ctx     context.Context //nolint:containedctx // ends with the sandbox
	stop    context.CancelFunc
	workers sync.WaitGroup
	reports chan struct{} // one element for each report in progress
}

// startSandbox starts a sandbox, which its owner closes.
func startSandbox(owner *Spaces, o options) *Sandbox {
	config := owner.config
	const runLength = 8 // 40 random bits
	run := strings.ToLower(rand.Text()[:runLength])
	fixed := &core{
		options: o,
		config:  config,
		service: messagingtest.Start(
			messagingtest.WithContract(config.Contract), messagingtest.WithToken(config.Token), messagingtest.WithAPIKey(o.key, o.secret),
			messagingtest.WithIDPrefix("msg-"+run+"-"), // a program's database may have messages of an earlier run
		),
		table: table.Of(config.Contract),
		mask:  newMasker(config.Token, o.key, o.secret),
		log:   console{print: config.Log, space: o.space},
		live:  newHub(),
	}
	s := &Sandbox{
		core:    fixed,
		owner:   owner,
		used:    time.Now(),
		reports: make(chan struct{}, maxReports),
	}
	s.guarded.start(fixed)
	s.pages = sync.OnceValue(s.parsePages)
	s.routes = s.newMux()
	s.service.Watch(s.onRequest)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.workers.Go(func() {
		for m := range s.service.Changes(s.ctx) {
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

// size returns the number of messages and answers.
func (s *Sandbox) size() int {
	st := s.lock()
	defer st.unlock()
	return len(st.book.entries)
}

// onChange enters a new message of the ledger, or the new status of a known one.
func (s *Sandbox) onChange(m messagingtest.Sent) {
	st := s.lock()
	defer st.unlock()
	if e := st.book.byID[m.ID]; e == nil {
		s.enterMessage(st, &m)
	} else {
		s.updateMessage(st, e, &m)
	}
}

// enterMessage enters a new message, unless it was sent before the last reset.
func (s *Sandbox) enterMessage(st *sandboxState, m *messagingtest.Sent) {
	isSeed := st.seeds[m.ID]
	delete(st.seeds, m.ID)
	if !isSeed && m.At.Before(st.emptiedAt) {
		return
	}
	e := st.addMessage(m)
	if m.Status == contract.StatusRead {
		s.enterState(st, e, contract.StatusDelivered)
	}
	s.enterState(st, e, m.Status)
	s.live.notify(fmt.Sprintf("New message to %s by %s", clip(m.To, maxName), channelName(m.Channel)))
}

// updateMessage enters the new status of a known message.
func (s *Sandbox) updateMessage(st *sandboxState, e *entry, m *messagingtest.Sent) {
	before := e.Sent.Status
	if m.Status == before {
		return
	}
	m.Body = e.Sent.Body // without secrets
	e.Sent = m
	if m.Status == contract.StatusRead && before != contract.StatusDelivered {
		s.enterState(st, e, contract.StatusDelivered)
	}
	s.enterState(st, e, m.Status)
	s.live.notify("")
}

// enterState adds a status to a message and reports it to the callback URL.
func (s *Sandbox) enterState(st *sandboxState, e *entry, status contract.Status) {
	if status == "" {
		return
	}
	e.addState(status, cmp.Or(e.Sent.StatusAt, st.now()))
	delete(e.reports, status) // of the last time that the message was in it
	if e.Sent.CallbackURL == "" || st.isUnreported(e.ID) {
		return
	}
	previous := e.reported
	e.reported = make(chan struct{})
	e.open++ // now, so that a program can wait for the report
	s.report(e, status, previous, e.reported)
}

// reset removes messages, answers, traffic and faults. Delivery settings, webhooks, the clock and the balance stay.
func (s *Sandbox) reset() {
	st := s.lock()
	defer st.unlock()
	st.empty() // first, so that every message that the service keeps is newer than emptiedAt
	s.service.Reset()
	s.live.notify("")
}
