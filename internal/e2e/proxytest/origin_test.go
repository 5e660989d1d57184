package proxytest

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// originVariable turns the test binary into an origin. Its value is the behaviour as JSON.
const originVariable = "PROXYTEST_ORIGIN"

// rowsListed is the number of rows of the origin's listing.
const rowsListed = 600

// A behaviour configures an origin. A field whose name ends with Every is for each n-th request; 0 means never.
type behaviour struct {
	Address string
	Ledger  string // a file

	// Before a request is processed.
	FailEvery int   // responds 503 and processes nothing
	Pages     []int // responds with pages of these statuses in turn, and never processes anything

	// After it was processed.
	BrokenEvery, Broken int           // responds with the status Broken
	HangEvery           int           // responds after Hang
	Hang                time.Duration // of HangEvery
	DropEvery           int           // closes the connection
	ResetEvery          int           // resets the connection
	CutEvery            int           // responds with a half of the response
	Delay               time.Duration // before each response
	PerConnection       int           // requests after which a connection is closed; 0 keeps connections
}

// An origin is a process that plays the service. Its ledger is a file, so that it survives the process.
type origin struct {
	t       *testing.T
	config  behaviour
	process *exec.Cmd
}

// newOrigin starts an origin.
func newOrigin(t *testing.T, b behaviour) *origin {
	t.Helper()
	b.Address = freeAddress(t)
	b.Ledger = filepath.Join(t.TempDir(), "ledger")
	o := &origin{t: t, config: b}
	o.start()
	t.Cleanup(func() { o.kill() })
	return o
}

func (o *origin) start() {
	config, err := json.Marshal(o.config)
	require.NoError(o.t, err)
	o.process = exec.Command(os.Args[0])
	o.process.Env = append(os.Environ(), originVariable+"="+string(config))
	o.process.Stderr = os.Stderr
	o.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(o.t, o.process.Start())
	waitForListener(o.t, o.config.Address)
}

func (o *origin) kill() {
	_ = o.process.Process.Kill()
	_ = o.process.Wait()
}

func (o *origin) signal(s syscall.Signal) { _ = o.process.Process.Signal(s) }

// attemptHeader numbers the attempts of the client, so that a test can tell its repetitions from a proxy's.
const attemptHeader = "X-Attempt"

// ledger returns how often each reference was processed.
func (o *origin) ledger() map[string]int {
	times := map[string]int{}
	for _, line := range o.processed() {
		reference, _, _ := strings.Cut(line, " ")
		times[reference]++
	}
	return times
}

// processed returns the references that were processed, each with the attempt of the client that brought it.
func (o *origin) processed() []string {
	text, err := os.ReadFile(o.config.Ledger)
	if err != nil && !os.IsNotExist(err) {
		require.NoError(o.t, err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// finalLedger returns the ledger after it has not grown for a while, because a proxy may deliver late.
func (o *origin) finalLedger() map[string]int {
	o.signal(syscall.SIGCONT)
	size := int64(-1)
	since := time.Now()
	for time.Since(since) < 700*time.Millisecond {
		info, err := os.Stat(o.config.Ledger)
		if err == nil && info.Size() != size {
			size = info.Size()
			since = time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return o.ledger()
}

// serveOrigin is the main function of an origin.
func serveOrigin(config string) error {
	var b behaviour
	if err := json.Unmarshal([]byte(config), &b); err != nil {
		return err
	}
	file, err := os.OpenFile(b.Ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s := &service{behaviour: b, file: file}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := &http.Server{
		Addr: b.Address, Handler: s, Protocols: protocols, ReadHeaderTimeout: 5 * time.Second,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, &countedConn{Conn: c})
		},
	}
	return server.ListenAndServe()
}

// connectionKey is the key of the connection in the context of a request.
type connectionKey struct{}

// A countedConn counts the requests on a connection.
type countedConn struct {
	net.Conn
	mu       sync.Mutex
	requests int
}

// A service serves the requests of an origin.
type service struct {
	behaviour
	file     *os.File // the ledger
	mu       sync.Mutex
	requests int
}

// healthyRequests is how many requests pass before the first fault. Otherwise the reset of an HTTP/2 connection could hit every send of a run,
// and the run would show nothing.
const healthyRequests = 16

// isFaulty reports whether the request with a number meets a fault that each n-th request meets.
func isFaulty(number, every int) bool {
	return number >= healthyRequests && every > 0 && number%every == every-1
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the request did not come whole, so it is not processed
	}
	number := s.nextNumber()
	switch {
	case isFaulty(number, s.FailEvery):
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case len(s.Pages) > 0:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(s.Pages[number%len(s.Pages)])
		_, _ = io.WriteString(w, "<h1>Not today</h1>\n")
		return
	}
	var response []byte
	switch r.URL.Path {
	case "/sms/send":
		response, err = s.send(body, r.Header.Get(attemptHeader))
	case "/api/sms":
		response, err = s.list(r)
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.respond(w, r, number, response)
}

// nextNumber returns the number of a request, from 0.
func (s *service) nextNumber() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.requests
	s.requests++
	return number
}

// respond responds to a request that was processed, or does with the connection what the behaviour says.
func (s *service) respond(w http.ResponseWriter, r *http.Request, number int, response []byte) {
	conn, _ := r.Context().Value(connectionKey{}).(*countedConn)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case isFaulty(number, s.BrokenEvery):
		w.WriteHeader(s.Broken)
		_, _ = io.WriteString(w, `{"code":"50000","message":"internal error"}`)
		return
	case isFaulty(number, s.HangEvery):
		time.Sleep(s.Hang)
	case isFaulty(number, s.DropEvery):
		panic(http.ErrAbortHandler)
	case isFaulty(number, s.ResetEvery):
		conn.reset()
		panic(http.ErrAbortHandler)
	}
	time.Sleep(s.Delay)
	if s.PerConnection > 0 && conn.count() >= s.PerConnection {
		w.Header().Set("Connection", "close")
	}
	if isFaulty(number, s.CutEvery) {
		w.Header().Set("Content-Length", strconv.Itoa(len(response)))
		_, _ = w.Write(response[:len(response)/2])
		panic(http.ErrAbortHandler)
	}
	_, _ = w.Write(response)
}

// reset closes the connection with a RST. It does nothing for a nil connection.
func (c *countedConn) reset() {
	if c == nil {
		return
	}
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

// count counts a request, and returns how many there were on the connection: 0 for a nil connection.
func (c *countedConn) count() int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	return c.requests
}

// send processes a message. It counts as sent from then on, even if the response is lost.
func (s *service) send(body []byte, attempt string) ([]byte, error) {
	var message struct {
		Reference string `json:"referenceId"`
	}
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, err
	}
	if _, err := s.file.WriteString(message.Reference + " " + attempt + "\n"); err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, `{"id":"msg-%[1]s","referenceId":"%[1]s","status":"accepted"}`, message.Reference), nil
}

// list responds with a page of the rows 1 to rowsListed, or with the rows of the ledger that have a reference.
func (s *service) list(r *http.Request) ([]byte, error) {
	query := r.URL.Query()
	page, err := strconv.Atoi(query.Get("pageNumber"))
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(query.Get("pageSize"))
	if err != nil {
		size = 100
	}
	var references []string
	for i := range rowsListed {
		references = append(references, fmt.Sprintf("row-%d", i+1))
	}
	if reference := query.Get("filter[referenceId]"); reference != "" {
		references = nil
		file, err := os.Open(s.Ledger)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if processed, _, _ := strings.Cut(lines.Text(), " "); processed == reference {
				references = append(references, reference)
			}
		}
	}
	rows := []map[string]string{}
	from := min(len(references), (page-1)*size)
	for i, reference := range references[from:min(len(references), from+size)] {
		rows = append(rows, map[string]string{
			"transactionId": fmt.Sprintf("id-%s-%d", reference, from+i), "referenceId": reference, "to": "+639171234567",
		})
	}
	return json.Marshal(map[string]any{"data": rows, "totalRows": len(references), "hasNext": from+size < len(references)})
}

var lastPort atomic.Int32

// freeAddress returns an address that nothing listens on, and never the same one. A port from the system could go to another test, or to
// a connection, as soon as it is closed.
func freeAddress(t *testing.T) string {
	t.Helper()
	const first, last = 20_000, 32_000 // below the ports of outgoing connections
	for {
		address := fmt.Sprint("127.0.0.1:", first+lastPort.Add(1))
		require.LessOrEqual(t, lastPort.Load(), int32(last-first), "no port is free")
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		require.NoError(t, listener.Close())
		return address
	}
}

func waitForListener(t *testing.T, address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}, 20*time.Second, 10*time.Millisecond, "nothing listens on %s", address)
}

// sockets returns the number of sockets that this process has open.
func sockets() int {
	links, _ := filepath.Glob("/proc/self/fd/*")
	open := 0
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "socket:") {
			open++
		}
	}
	return open
}

// transport returns a round tripper that trusts the proxies' certificate, over HTTP/1.1 or HTTP/2.
func transport(t *testing.T, http2 bool) *http.Transport {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	base := &http.Transport{
		Protocols: protocols, IdleConnTimeout: 4 * time.Second, MaxIdleConnsPerHost: 16, TLSHandshakeTimeout: 5 * time.Second,
		TLSClientConfig: &tls.Config{RootCAs: certificate().pool, MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(base.CloseIdleConnections)
	return base
}
