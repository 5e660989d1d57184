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
	Token string // what the server accepts in the header of the contract for tokens, by default Authorization

	// APIKey and APISecret are what the server accepts in place of Token: where the contract has them, by default in the
	// body of a POST and in the query of a GET.
	APIKey, APISecret string

	names              *table.Table
	token, key, secret string // copies: a test that changes the fields does not race with requests
	operations         []operation

	http   *httptest.Server
	port   *port              // its listener
	closed context.Context    //nolint:containedctx // it ends with the server
	stop   context.CancelFunc // of closed: ends delayed responses and calls of webhooks

	serial atomic.Int64 // the number in the last request ID

	mu           sync.Mutex
	faults       faultQueue
	ledger       ledger
	ignoreFilter bool
	watch        func(r *http.Request, fault Fault, requestID string) // of Watch; nil if it was not called

	window      time.Duration        // of SetWindow
	lastInbound map[string]time.Time // when recipients last wrote to chat app 2
}

// An Option changes a server, for [NewServer] and [Start]. A nil Option is ignored.
type Option func(*Server)

// WithContract makes the server use a contract other than the default one: its paths, names, encodings, credentials, constants,
// words, codes, prices, times, paging and callbacks. Of several names or paths for one concept the server uses the first. Two
// operations may have the same path if their methods or constants differ.
func WithContract(c contract.Contract) Option { return func(s *Server) { s.useContract(table.Of(c)) } }

// WithToken sets what the server accepts as a token, in place of a random one.
func WithToken(token string) Option { return func(s *Server) { s.Token = token } }

// WithAPIKey sets what the server accepts as a key pair, in place of a random one. Under a contract that has only a key, the
// secret has no effect.
func WithAPIKey(key, secret string) Option {
	return func(s *Server) {
		s.APIKey = key
		s.APISecret = secret
	}
}

// WithIDPrefix sets how the IDs of messages begin, in place of "msg-"; on chat app 2 the prefix is within an ID in the form of
// the platform. Every server counts from 1, so a program that keeps its messages longer than the server needs a prefix of its
// own for each server.
func WithIDPrefix(prefix string) Option { return func(s *Server) { s.ledger.idPrefix = prefix } }

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
	s.port = newPort(s.http.Listener)
	s.http.Listener = s.port
	s.http.Config.BaseContext = func(net.Listener) context.Context { return s.closed }
	s.http.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	// ReadTimeout and WriteTimeout would include the delay of FaultSlow. ServeHTTP sets deadlines for reading and writing instead.
	s.http.Config.ReadHeaderTimeout = ioTimeout
	s.http.Config.IdleTimeout = idleTimeout
	s.http.Start()
	s.URL = s.http.URL
	return s
}

func newServer(opts ...Option) *Server {
	s := &Server{
		Token:       rand.Text(),
		APIKey:      rand.Text(),
		APISecret:   rand.Text(),
		ledger:      newLedger(),
		lastInbound: map[string]time.Time{},
	}
	s.useContract(table.Of(contract.Default()))
	for _, opt := range opts {
		if opt != nil {
			opt(s)
		}
	}
	s.token = s.Token
	s.key = s.APIKey
	s.secret = s.APISecret
	return s
}

func (s *Server) useContract(t *table.Table) {
	s.names = t
	timeForm := t.SMSList.Time
	if timeForm == "date" {
		timeForm = "datetime" // a request filters by day, but a row has a time
	}
	s.ledger.times = newTimeFormat(timeForm, t.SMSList.Zone, t.SMSList.Layouts...)
	s.ledger.sendStatus = acceptedStatus(t.SMSSend)
	s.operations = nil
	for _, c := range table.Channels() {
		s.operations = append(s.operations, s.sendOperation(c))
	}
	s.operations = append(s.operations, s.listOperation(t.SMSList))
}

// acceptedStatus returns the send status of a row: 1 under the words of the default contract, and otherwise the first word that accepts a message.
func acceptedStatus(t table.Send) any {
	isDefault := slices.Equal(t.Accepted, table.Default().SMSSend.Accepted)
	isRefusal := table.Match(t.Refused, "1", true) >= 0
	if isDefault && !isRefusal {
		return 1
	}
	return numberOrText(acceptedWord(t))
}

// Close closes the port and all connections. Requests under way get no response, and delays of [FaultSlow] and calls of
// [Server.CallWebhook] end. When Close returns, the server has no goroutine left. The ledger can still be read.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Listener.Close() // first, so that no connection is accepted after the next line
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

// Reset empties the ledger, sets the number of requests to zero, cancels the fallbacks of the removed messages, and ends
// [Server.Inject], [Server.InjectFor], [Server.InjectRandomly] and [Server.SetFault]. All other settings stay, as do the credentials, the
// balance and the clock, and IDs are not reused. A request under way may still enter the ledger.
func (s *Server) Reset() {
	s.ClearFaults()
	s.set(s.ledger.clear)
}

func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// panicUnless panics with the message unless ok.
func panicUnless(ok bool, format string, args ...any) {
	if !ok {
		panic("messagingtest: " + fmt.Sprintf(format, args...))
	}
}

func (s *Server) newRequestID() string { return "req-" + strconv.FormatInt(s.serial.Add(1), 10) }

// Watch calls f for each request, with the fault that it takes and the ID that [Sent.RequestID] shows, before it is processed.
// The ID is empty if the request is not read. Watch replaces an f set before; it panics if f is nil.
func (s *Server) Watch(f func(r *http.Request, fault Fault, requestID string)) {
	panicUnless(f != nil, "Watch: f is nil")
	s.set(func() { s.watch = f })
}

// notify calls the function of Watch.
func (s *Server) notify(r *http.Request, fault Fault, requestID string) {
	s.mu.Lock()
	watch := s.watch
	s.mu.Unlock()
	if watch != nil {
		watch(r, fault, requestID)
	}
}

// ServeHTTP serves a request, as the server does on its own port, for a program that mounts it on another listener.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fault, isChosen := s.arrive(r.Context())
	if fault.kind == kindDropUnread {
		s.notify(r, fault, "")
		reset(w)
		return
	}
	body, err := readBody(w, r)
	if !isChosen && err == nil {
		fault = s.addressFault(r, body)
	}
	requestID := s.newRequestID()
	s.notify(r, fault, requestID)

	var resp response
	if fault.isProcessed() {
		resp = s.process(r, requestID, body, err)
	}
	if fault.replacesResponse() {
		resp = s.faultResponse(r, fault, requestID)
	}
	if fault.delay > 0 && !sleep(r.Context(), fault.delay) {
		panic(http.ErrAbortHandler) // the client went away, or the server is being closed
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(ioTimeout))
	fault.respond(w, resp)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	controller := http.NewResponseController(w)
	_ = controller.SetReadDeadline(time.Now().Add(ioTimeout))
	defer func() { _ = controller.SetReadDeadline(time.Time{}) }()
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)) //nolint:wrapcheck // the caller looks at the type only
}

// process returns the response of the service to a request, whose body ended with readErr.
func (s *Server) process(r *http.Request, requestID string, body []byte, readErr error) response {
	methods, operations := s.operationsFor(r)
	p := checkRoute(methods, operations, readErr)
	if p == nil {
		var result any
		result, p = s.handle(operations, r, requestID, body)
		if p == nil {
			return jsonResponse(http.StatusOK, encode(result))
		}
	}
	resp := jsonResponse(problemNamed(p.name).status, s.failure(requestID, p.text, s.names.Errors.Code, s.codeOf(p.name)))
	if p.name == "method" {
		resp.header.Set("Allow", methods)
	}
	return resp
}

// checkRoute returns why a request reaches no operation, or nil.
func checkRoute(methods string, operations []operation, readErr error) *problem {
	switch {
	case methods == "":
		return &problem{"notFound", "no such path"}
	case len(operations) == 0:
		return &problem{"method", "the method of this path is " + methods}
	case readErr == nil:
		return nil
	}
	if _, isTooLarge := errors.AsType[*http.MaxBytesError](readErr); isTooLarge {
		return &problem{"tooLarge", "the body is larger than 1 MiB"}
	}
	return &problem{"body", "the body ends early"}
}

// operationsFor returns the methods of the path of a request, and the operations that have its method too.
func (s *Server) operationsFor(r *http.Request) (methods string, operations []operation) {
	byMethod := map[string][]operation{}
	for _, op := range s.operations {
		if op.contract.Matches(r.URL.EscapedPath()) {
			byMethod[op.method] = append(byMethod[op.method], op)
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(byMethod)), ", "), byMethod[r.Method]
}

// handle passes a request to the first operation that can read it.
func (s *Server) handle(operations []operation, r *http.Request, requestID string, body []byte) (any, *problem) {
	f, p := s.readFirst(operations, r, body)
	if p != nil {
		return nil, p
	}
	return f.op.handle(requestID, f)
}

// readFirst reads a request under the names of the first operation that can read it. If none can, it returns the problem of the first.
func (s *Server) readFirst(operations []operation, r *http.Request, body []byte) (fields, *problem) {
	var first *problem
	for _, op := range operations {
		f, p := s.read(op, r, body)
		if p == nil {
			return f, nil
		}
		first = cmp.Or(first, p)
	}
	return fields{}, first
}

// A response is what the server writes, unless a fault prevents it.
type response struct {
	status int
	header http.Header
	body   []byte
}

// jsonResponse returns a response with a body of JSON or, if the contract has it so, of plain text.
func jsonResponse(status int, body []byte) response {
	contentType := "application/json"
	if !json.Valid(body) {
		contentType = "text/plain; charset=utf-8"
	}
	return response{status, http.Header{"Content-Type": {contentType}}, body}
}

func htmlResponse(status int, body string) response {
	return response{status, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, []byte(body)}
}

func (r response) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}
