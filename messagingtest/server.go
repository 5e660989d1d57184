package messagingtest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
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

	names              names
	token, key, secret string // copies: a test that changes the fields does not race with requests
	operations         map[string]operation

	http   *httptest.Server
	closed context.Context    //nolint:containedctx // it lasts as long as the server
	stop   context.CancelFunc // of closed: ends delayed responses and calls of webhooks

	serial atomic.Int64 // of the last request ID

	watch atomic.Pointer[func(*http.Request, Fault, string)]

	mu     sync.Mutex
	faults []Fault
	random randomFaults
	ledger ledger

	paging       Paging
	ignoreFilter bool
	// For chat app 2: see RegisterTemplate and SetMarketingRoute.
	templates   map[string]Category
	noMarketing bool
}

// operation is what the service does at one path: handle returns the body of a success, or why the request is refused.
type operation struct {
	method string
	handle func(requestID string, r *http.Request, body []byte) (any, *problem)
}

// NewServer starts a server that is closed when the test and its subtests have ended.
func NewServer(tb testing.TB) *Server {
	tb.Helper()
	s := Start()
	tb.Cleanup(s.Close)
	return s
}

// Start starts a server for a program that is not a test. The caller closes it. Like [net/http/httptest.NewServer], it panics
// if no loopback port is available.
func Start() *Server {
	s := newServer()
	s.closed, s.stop = context.WithCancel(context.Background())
	s.http = httptest.NewUnstartedServer(s)
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

// newServer returns a server that does not listen.
func newServer() *Server {
	s := &Server{
		Token:     rand.Text(),
		APIKey:    rand.Text(),
		APISecret: rand.Text(),
		names:     defaultNames(),
		ledger:    ledger{balance: firstBalance, outcomes: map[string]Outcome{}, changed: make(chan struct{})},
		paging:    ByPage,
		templates: map[string]Category{},
	}
	s.ledger.clear()
	s.token, s.key, s.secret = s.Token, s.APIKey, s.APISecret
	s.operations = map[string]operation{
		s.names.sms.path:      s.sends(s.names.sms, readSMS, confirm),
		s.names.chatApp1.path: s.sends(s.names.chatApp1, readChatApp1, confirm),
		s.names.chatApp2.path: s.sends(s.names.chatApp2, readChatApp2, confirmChatApp2),
		s.names.list.path:     {http.MethodGet, s.listSMS},
	}
	return s
}

// Close closes the port and all connections. Requests under way get no response, and delays of [Slow] and calls of
// [Server.Receive] end. When Close returns, the server has no goroutine left. The ledger can still be read.
func (s *Server) Close() {
	s.stop()
	_ = s.http.Listener.Close() // first, so that no connection is accepted behind the back of the next line
	s.http.CloseClientConnections()
	s.http.Close()
}

// Requests returns how many requests have reached the server since the start or the last [Server.Reset], processed or not,
// including those that [DropUnread] drops.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.requests
}

// Reset empties the ledger, sets the number of requests to zero and cancels the fallbacks of the emptied messages. It ends
// [Server.Inject], [Server.InjectRandomly], [Server.ShiftRows] and [Server.RepeatPage]. All other settings stay, as do the
// credentials, the balance and the clock, and IDs are not reused. A request under way may still enter the ledger.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.random = nil, randomFaults{}
	s.ledger.clear()
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
	fault := s.arrive()
	if fault.name == "DropUnread" {
		s.watched(r, fault, "")
		reset(w)
		return
	}
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(time.Now().Add(ioTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = deadlines.SetReadDeadline(time.Time{})

	requestID := s.newRequestID()
	s.watched(r, fault, requestID)
	if fault.name == "Status" {
		s.writeStatus(w, fault, requestID)
		return
	}
	resp := s.process(r, requestID, body, err)
	if fault.delay > 0 && !sleep(r.Context(), fault.delay) { // the client has gone, or the server is being closed
		panic(http.ErrAbortHandler)
	}
	_ = deadlines.SetWriteDeadline(time.Now().Add(ioTimeout))
	fault.deliver(w, resp)
}

// process does what the service does with a request.
func (s *Server) process(r *http.Request, requestID string, body []byte, readErr error) response {
	op, ok := s.operations[r.URL.EscapedPath()]
	var p *problem
	var result any
	var tooLarge *http.MaxBytesError
	switch {
	case !ok:
		p = &problem{codeNoSuchPath, "no such path"}
	case r.Method != op.method:
		p = &problem{codeMethod, "the method of this path is " + op.method}
	case errors.As(readErr, &tooLarge):
		p = &problem{codeTooLarge, "the body is larger than 1 MiB"}
	case readErr != nil:
		p = &problem{codeBody, "the body ends early"}
	default:
		result, p = op.handle(requestID, r, body)
	}
	if p == nil {
		return response{status: http.StatusOK, body: encode(result)}
	}
	resp := s.names.failure(requestID, p.status(), *p)
	if p.code == codeMethod {
		resp.allow = op.method
	}
	return resp
}

// response is what the service responds to one request.
type response struct {
	status int
	allow  string // the header Allow
	body   []byte
}

func (r response) write(w http.ResponseWriter) {
	if r.allow != "" {
		w.Header().Set("Allow", r.allow)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// A problem is why a request is refused. Its text names fields and never repeats a value.
type problem struct{ code, text string }

// refuseIf returns a problem if there is one, or nil.
func refuseIf(isProblem bool, code, text string) *problem {
	if !isProblem {
		return nil
	}
	return &problem{code, text}
}

func (p problem) status() int {
	statuses := map[string]int{
		codeUnauthorized: http.StatusUnauthorized,
		codeNoSuchPath:   http.StatusNotFound,
		codeMethod:       http.StatusMethodNotAllowed,
		codeDuplicate:    http.StatusConflict,
		codeTooLarge:     http.StatusRequestEntityTooLarge,
	}
	return cmp.Or(statuses[p.code], http.StatusBadRequest)
}

// failure returns an error response, without a code if it is empty.
func (n names) failure(requestID string, status int, p problem) response {
	body := document{}
	for concept, value := range (table{"code": p.code, "message": p.text, "request": requestID}) {
		if value != "" {
			body.set(n.errors[concept], value)
		}
	}
	return response{status: status, body: encode(body)}
}

// authorize returns what is wrong with the credentials of a request, or nil. Keys and secrets are those of its body or query.
// Everything that it presents has to be right: a client that sends a wrong key beside the right token has a mistake that
// should show.
func (s *Server) authorize(header http.Header, keys, secrets []string) *problem {
	auth := s.names.auth
	tokens := header.Values(auth["header"])
	scheme, token, _ := strings.Cut(header.Get(auth["header"]), " ")
	isToken := strings.EqualFold(scheme, auth["scheme"]) && token == s.token
	isPair := slices.Equal(keys, []string{s.key}) && slices.Equal(secrets, []string{s.secret})
	pair := len(keys)+len(secrets) > 0
	switch {
	case len(tokens) == 0 && !pair:
		return &problem{codeUnauthorized, "no credentials: neither the header " + auth["header"] + ", nor " + auth["key"] + " and " +
			auth["secret"] + " in the body of a POST or the query of a GET"}
	case len(tokens) > 1:
		return &problem{codeUnauthorized, "more than one header " + auth["header"]}
	case len(tokens) == 1 && !isToken:
		return &problem{codeUnauthorized, auth["header"] + " does not hold " + auth["scheme"] + " and the token of this server"}
	case pair && !isPair:
		return &problem{codeUnauthorized, auth["key"] + " and " + auth["secret"] + " are not those of this server"}
	}
	return nil
}

// take removes a member and returns it as a list: empty if it is absent, and "" if it is not a string.
func (o object) take(name string) []string {
	if o[name] == nil {
		return nil
	}
	text := o.text(name)
	delete(o, name)
	return []string{text}
}
