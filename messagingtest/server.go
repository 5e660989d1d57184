package messagingtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

const (
	maxBody = 1 << 20
	// ioTimeout is for a client that stops in the middle of a request, or does not read its response.
	ioTimeout = 30 * time.Second
	// idleTimeout is above the 90 s of net/http's default transport, so that the client closes idle connections first and
	// loses no request to the race between the two.
	idleTimeout = 2 * time.Minute
)

// A Server is a messaging service that listens on a port of the loopback interface. [NewServer] and [Start] make one; the
// zero value is not usable.
//
// The exported fields are set when the server starts, the credentials at random. Changing them has no effect. All methods are
// safe for concurrent use.
type Server struct {
	URL   string // the base address, such as http://127.0.0.1:41234, without a trailing slash
	Token string // what the server accepts in the Authorization header

	// APIKey and APISecret are what the server accepts in place of Token: in the body of a POST, in the query of a GET.
	APIKey, APISecret string

	names              *table.Table
	token, key, secret string // copies: a test that changes the fields does not race with requests
	rules              rules
	operations         []operation

	http   *httptest.Server
	door   *door              // its listener
	closed context.Context    //nolint:containedctx // it lasts as long as the server
	stop   context.CancelFunc // of closed: ends delayed responses and calls of webhooks

	serial atomic.Int64 // of the last request ID

	watch atomic.Pointer[func(*http.Request, Fault, string)]

	mu     sync.Mutex
	faults []Fault
	random func() Fault // of InjectRandomly; nil: none
	// Of InjectFor and SetCapacity:
	outage          Fault
	outageEnds      time.Time
	capacity, taken int // requests in the second that began then; zero: no limit
	second          time.Time

	ledger ledger

	window time.Duration        // of WithWindow
	wrote  map[string]time.Time // to chat app 2, by recipient, when they last wrote

	ignoreFilter bool
	// For chat app 2: see RegisterTemplate and SetMarketingRoute.
	templates   map[string]Category
	noMarketing bool
}

// An Option changes a server, for [NewServer] and [Start]. Nil is none.
type Option func(*Server)

// WithContract makes the server speak a contract other than the default one: its paths, names, encodings, credentials,
// constants, words, codes, prices, times, paging and callbacks. Of several names or paths for one concept the server uses the
// first. Two operations may have one path if their methods or constants differ.
func WithContract(c contract.Contract) Option { return func(s *Server) { s.speak(table.Of(c)) } }

// WithToken sets what the server accepts as a token, in place of a random one.
func WithToken(token string) Option { return func(s *Server) { s.Token = token } }

// WithAPIKey sets what the server accepts as a key pair, in place of a random one. Under a contract with a key alone, the secret
// has no effect.
func WithAPIKey(key, secret string) Option {
	return func(s *Server) { s.APIKey, s.APISecret = key, secret }
}

// WithWindow refuses messages of chat app 2, other than templates, to a recipient who has not written within d by the server's clock, as
// the platform does after 24 hours: with status 400 and, by the default contract, the code 131047. A recipient writes by an
// [InboundChatApp] that [Server.Receive] sends. WithWindow panics unless d is above zero.
func WithWindow(d time.Duration) Option {
	must(d > 0, "WithWindow(%v): the window is not above zero", d)
	return func(s *Server) { s.window = d }
}

// SetWindow changes the window of [WithWindow] while the server runs. Zero, as at the start, is none.
func (s *Server) SetWindow(d time.Duration) { s.set(func() { s.window = d }) }

// NewServer starts a server that is closed when the test and its subtests have ended.
func NewServer(tb testing.TB, opts ...Option) *Server {
	tb.Helper()
	s := Start(opts...)
	tb.Cleanup(s.Close)
	return s
}

// Start starts a server for a program that is not a test. The caller closes it. Like [net/http/httptest.NewServer], it panics
// if no loopback port is available.
func Start(opts ...Option) *Server {
	s := newServer(opts...)
	s.closed, s.stop = context.WithCancel(context.Background())
	s.http = httptest.NewUnstartedServer(s)
	s.door = newDoor(s.http.Listener)
	s.http.Listener = s.door
	s.http.Config.BaseContext = func(net.Listener) context.Context { return s.closed }
	s.http.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	// ReadTimeout and WriteTimeout would also count while Slow delays a response: serve sets deadlines around its reading and
	// its writing instead.
	s.http.Config.ReadHeaderTimeout = ioTimeout
	s.http.Config.IdleTimeout = idleTimeout
	s.http.Start()
	s.URL = s.http.URL
	return s
}

func newServer(opts ...Option) *Server {
	s := &Server{
		Token:     rand.Text(),
		APIKey:    rand.Text(),
		APISecret: rand.Text(),
		ledger:    ledger{balance: firstBalance, outcomes: map[string]Delivery{}, changed: make(chan struct{})},
		templates: map[string]Category{},
		wrote:     map[string]time.Time{},
		rules:     readRules(),
	}
	s.Watch(func(*http.Request, Fault, string) {})
	s.speak(table.Of(contract.Default()))
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	s.ledger.clear()
	s.token, s.key, s.secret = s.Token, s.APIKey, s.APISecret
	return s
}

func (s *Server) speak(t *table.Table) {
	s.names = t
	form := t.SMSList.Time
	if form == "date" {
		form = "datetime" // rows have more than requests do
	}
	s.ledger.times = newTimeFormat(form, t.SMSList.Zone, t.SMSList.Layouts...)
	s.ledger.sendStatus = 1
	if table.Match(t.SMSSend.Refused, "1", true) >= 0 { // not the word of this service for a message that it accepted
		s.ledger.sendStatus = numberOrText(firstWord(t.SMSSend.Accepted))
	}
	s.operations = nil
	for _, c := range table.Channels() {
		s.operations = append(s.operations, s.sends(c))
	}
	s.operations = append(s.operations, s.lists(t.SMSList))
}

// Close closes the port and all connections. Requests under way get no response, and delays of [FaultSlow] and calls of
// [Server.Receive] end. When Close returns, the server has no goroutine left. The ledger can still be read.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Listener.Close() // first, so that no connection is accepted behind the back of the next line
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns how many requests have reached the server since the start or the last [Server.Reset], processed or not,
// including those that [FaultDropUnread] drops.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.requests
}

// Reset empties the ledger, sets the number of requests to zero and cancels the fallbacks of the emptied messages. It ends
// [Server.Inject], [Server.InjectFor], [Server.InjectRandomly], [Server.ShiftRows] and [Server.RepeatPage]. All other settings stay, as do
// the credentials, the balance and the clock, and IDs are not reused. A request under way may still enter the ledger.
func (s *Server) Reset() {
	s.ClearFaults()
	s.set(s.ledger.clear)
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// must panics with the message unless ok.
func must(ok bool, format string, args ...any) {
	if !ok {
		panic("messagingtest: " + fmt.Sprintf(format, args...))
	}
}

func (s *Server) newRequestID() string { return "req-" + strconv.FormatInt(s.serial.Add(1), 10) }

// ServeHTTP serves a request, as the server does on its own port, for a program that mounts it on another listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, watch := s.arrive(r.Context()), *s.watch.Load()
	if fault.name == "DropUnread" {
		watch(r, fault, "")
		reset(w)
		return
	}
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(time.Now().Add(ioTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = deadlines.SetReadDeadline(time.Time{})

	requestID := s.newRequestID()
	watch(r, fault, requestID)
	switch fault.name {
	case "Status", "Page":
		s.writeStatus(w, r, fault, requestID)
		return
	case "Silence":
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case "ProcessTwice":
		s.process(r, requestID, body, err, fault)
		requestID = s.newRequestID()
		watch(r, fault, requestID)
	}
	resp := s.process(r, requestID, body, err, fault)
	if fault.name == "StatusAfter" {
		s.writeStatus(w, r, fault, requestID)
		return
	}
	if fault.delay > 0 && !sleep(r.Context(), fault.delay) { // the client has gone, or the server is being closed
		panic(http.ErrAbortHandler)
	}
	_ = deadlines.SetWriteDeadline(time.Now().Add(ioTimeout))
	fault.deliver(w, resp)
}

func (s *Server) process(r *http.Request, requestID string, body []byte, readErr error, fault Fault) response {
	methods, operations := s.operationsFor(r)
	_, isTooLarge := errors.AsType[*http.MaxBytesError](readErr)
	p := cmp.Or(
		refuseIf(len(methods) == 0, "notFound", "no such path"),
		refuseIf(len(operations) == 0, "method", "the method of this path is "+methods),
		refuseIf(isTooLarge, "tooLarge", "the body is larger than 1 MiB"),
		refuseIf(readErr != nil, "body", "the body ends early"),
	)
	if p == nil {
		var result any
		if result, p = s.handle(operations, r, requestID, body, fault); p == nil {
			return response{status: http.StatusOK, body: encode(result)}
		}
	}
	kind, known := s.rules.Problems[p.name]
	must(known, "no problem of rules.json: %q", p.name)
	failure := s.failure(requestID, p.text, s.names.Errors.Code, s.codeOf(p.name))
	return response{status: cmp.Or(kind.Status, http.StatusBadRequest), methods: methods, body: failure}
}

// operationsFor returns the methods of the path of a request, and the operations with its method, too.
func (s *Server) operationsFor(r *http.Request) (methods string, operations []operation) {
	all := map[string][]operation{}
	for _, op := range s.operations {
		if op.Matches(r.URL.EscapedPath()) {
			all[op.method] = append(all[op.method], op)
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(all)), ", "), all[r.Method]
}

// handle passes a request to the first operation whose constants it has.
func (s *Server) handle(operations []operation, r *http.Request, requestID string, body []byte, fault Fault) (any, *problem) {
	var first *problem
	for _, op := range operations {
		f, p := s.read(op, r, body)
		if p == nil {
			f.fault = fault
			return op.handle(requestID, f)
		}
		first = cmp.Or(first, p)
	}
	return nil, first
}

type response struct {
	status  int
	methods string // of the path
	body    []byte
}

func (r response) write(w http.ResponseWriter) {
	if r.status == http.StatusMethodNotAllowed && r.methods != "" {
		w.Header().Set("Allow", r.methods)
	}
	kind := "application/json"
	if !json.Valid(r.body) {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// Watch calls f for each request, with the fault that it takes and the ID that [Sent.RequestID] shows, before it is processed.
// The ID is empty if the request is not read. A request that [FaultProcessTwice] repeats has two IDs, and two calls. Watch replaces the
// f before; it panics if f is nil.
func (s *Server) Watch(f func(r *http.Request, fault Fault, requestID string)) {
	must(f != nil, "Watch: f is nil")
	s.watch.Store(&f)
}
