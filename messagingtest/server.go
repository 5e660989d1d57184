package messagingtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	// ioTimeout is for a client that stops in the middle of a request, or does not read its answer.
	ioTimeout = 30 * time.Second
	// idleTimeout is above the 90 s of net/http's default transport: the client closes idle connections first, and
	// does not lose a request to the race between the two.
	idleTimeout = 2 * time.Minute
)

// A Server is a stand-in for the messaging service, listening on a port of the loopback interface.
// [NewServer] and [Start] make one; the zero value is of no use.
//
// The exported fields are set when the server starts and are for reading: the server does not look at them again.
// All methods may be called at any time from any goroutine, also while requests are being served.
type Server struct {
	// URL is the base address, such as http://127.0.0.1:41234, without a slash at the end. It speaks plain HTTP.
	URL string

	// Token is what the server accepts in the Authorization header. The header is of the specification, its form
	// "Bearer <token>" a default of the contract. It is random, and different for each server.
	Token string

	// APIKey and APISecret are what the server accepts in place of Token, as apiKey and apiSecret: fields of the body
	// of a POST, parameters in the query of a GET. The names and the places are defaults of the contract. They are
	// random, and different for each server.
	APIKey, APISecret string

	credentials credentials
	operations  map[string]operation

	http    *http.Server
	stop    context.CancelFunc // ends what a fault holds, and calls of webhooks
	served  chan struct{}      // closed when no more connections are accepted
	conns   sync.WaitGroup
	closing sync.Once

	whenClosed func(end func()) (forget func() bool) // calls end once the server is closed; at once, if it is

	mu      sync.Mutex
	serial  int // of the last request that got an ID
	faults  []Fault
	chance  chance // of a fault where none waits
	ledger  ledger
	listing listControls
	routing routing
}

// operation is what the service does at one path.
type operation struct {
	method string
	handle func(requestID string, r *http.Request, body []byte) answer
}

// NewServer starts a server that is closed when the test and its subtests have ended. The test fails at once if no
// loopback port is available. The server prints nothing.
func NewServer(tb testing.TB) *Server {
	tb.Helper()
	s, err := start()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.Close)
	return s
}

// Start starts a server for a program that is no test. The caller closes it. Start panics if no loopback port is
// available, as [net/http/httptest.NewServer] does. The server prints nothing.
func Start() *Server {
	s, err := start()
	if err != nil {
		panic(err)
	}
	return s
}

func start() (*Server, error) {
	ctx, stop := context.WithCancel(context.Background())
	tcp, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		stop()
		return nil, fmt.Errorf("messagingtest: no loopback port: %w", err)
	}
	s := &Server{
		URL:       "http://" + tcp.Addr().String(),
		Token:     rand.Text(),
		APIKey:    rand.Text(),
		APISecret: rand.Text(),
		stop:      stop,
		served:    make(chan struct{}),
		ledger:    newLedger(),
	}
	s.whenClosed = func(end func()) func() bool {
		if ctx.Err() != nil {
			end() // before anything is sent: AfterFunc takes its time
		}
		return context.AfterFunc(ctx, end)
	}
	// Copies, so that a test that writes to the fields does not race with the requests.
	s.credentials = newCredentials(s.Token, s.APIKey, s.APISecret)
	s.operations = map[string]operation{
		"/sms/send":      s.sends(readSMS, confirmData),
		"/chatapp1/send": s.sends(readChatApp1, confirmData),
		"/chatapp2/send": s.sends(readChatApp2, confirmChatApp2),
		"/api/sms":       {http.MethodGet, s.listSMS},
	}
	s.http = &http.Server{
		Handler:     http.HandlerFunc(s.serve),
		ConnState:   s.connState,
		ConnContext: connContext,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		// ReadTimeout and WriteTimeout would also count while Slow holds an answer: the handler sets deadlines
		// around its reading and its writing instead.
		ReadHeaderTimeout: ioTimeout,
		IdleTimeout:       idleTimeout,
	}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(listener{tcp, s}) // ends with ErrServerClosed
	}()
	return s, nil
}

// Close ends the server: the port is closed, and so are all connections, idle or not. A request that is being served
// gets no answer, and what a fault holds ends at once, as does what [Server.Receive] is about. Close returns when the server has no goroutine left that would
// serve a connection, in less than a second. The ledger can still be read. Closing again does nothing.
func (s *Server) Close() {
	s.closing.Do(func() {
		s.stop()
		_ = s.http.Close()
		<-s.served
		// Once more, for a connection that was accepted while the first call was on its way.
		_ = s.http.Close()
		// This ends: a handler waits for nothing but its connection and the context, and both have ended.
		s.conns.Wait()
	})
}

// Requests returns how many requests have reached the server since the start or the last [Server.Reset], processed or
// not. A request counts from its first byte: one that [DropUnread] drops counts too.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.requests
}

// Reset empties the ledger, sets the number of requests to zero and forgets the faults that no request has taken yet,
// with those of [Server.ShiftRows] and [Server.RepeatPage]; it ends [Server.InjectRandomly]. The fallbacks of the messages
// that it empties are never sent. The credentials, the balance, the clock and what else was set stay, and the IDs of later
// messages do not begin anew.
// A request that is being served at that moment may still enter the ledger.
func (s *Server) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.chance = nil, chance{}
	s.ledger.clear()
	s.listing.forget()
}

// arrive counts a request, and returns the fault that it takes: one that waits, else one by chance.
func (s *Server) arrive() Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger.requests++
	if len(s.faults) == 0 {
		return s.chance.take()
	}
	fault := s.faults[0]
	s.faults = s.faults[1:]
	return fault
}

func (s *Server) nextRequestID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newRequestID()
}

// newRequestID is called with the mutex held.
func (s *Server) newRequestID() string {
	s.serial++
	return "req-" + strconv.Itoa(s.serial)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	c := connOf(r)
	fault := c.fault()
	if fault.kind == dropUnread {
		// Only a pipelined request comes here: it was read together with the one before it.
		c.reset()
		panic(http.ErrAbortHandler)
	}
	deadlines := http.NewResponseController(w)
	_ = deadlines.SetReadDeadline(time.Now().Add(ioTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = deadlines.SetReadDeadline(time.Time{})

	requestID := s.nextRequestID()
	if fault.kind == status {
		fault.writeStatus(w, requestID)
		return
	}
	a := s.process(r, requestID, body, err)
	fault.hold(r.Context())
	_ = deadlines.SetWriteDeadline(time.Now().Add(ioTimeout))
	fault.deliver(w, c, a)
}

// process does what the service does with a request, and says what it answers.
func (s *Server) process(r *http.Request, requestID string, body []byte, readErr error) answer {
	op, ok := s.operations[r.URL.EscapedPath()]
	switch {
	case !ok:
		return refuse(requestID, http.StatusNotFound, codeNoSuchPath, "no such path")
	case r.Method != op.method:
		a := refuse(requestID, http.StatusMethodNotAllowed, codeMethod, "the method of this path is "+op.method)
		a.allow = op.method
		return a
	case tooLarge(readErr):
		return refuse(requestID, http.StatusRequestEntityTooLarge, codeTooLarge, "the body is larger than 1 MiB")
	case readErr != nil:
		return refuse(requestID, http.StatusBadRequest, codeBody, "the body ends early")
	}
	return op.handle(requestID, r, body)
}
