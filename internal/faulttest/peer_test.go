package faulttest_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// peerLife is how long a connection of a peer lasts at most.
const peerLife = 64 * time.Second

// A script is what a peer does, and when. A step that is nil is done properly. A step before the whole request is there ends
// the connection.
type script struct {
	http2   bool                          // HTTP/2, with prior knowledge or as TLS agrees; otherwise HTTP/1
	streams byte                          // how many streams of HTTP/2 a client may have at once; 0: no limit
	tls     *tls.Config                   // nil: no TLS
	warmUp  int                           // how many requests get a proper response before the fault begins
	parting bool                          // the last response of the warm-up announces the end of the connection
	strikes func() bool                   // reports whether the fault is still there; nil: always
	accept  func(c net.Conn)              // a connection was accepted, nothing is read
	begin   func(c net.Conn, r io.Reader) // the first byte of a request is there, nothing is read
	early   func(x *exchange)             // the header of a request is there, its body is not read
	react   func(x *exchange)             // the whole request is there
	idle    func(x *exchange)             // the warm-up is over, the next request has not begun
}

// A peer is the far end of a client's connections. It reads requests, records them, and does to the connections what no
// well-behaved server would.
type peer struct {
	script
	listener net.Listener
	struck   chan struct{} // closed when a request that the fault hits is there
	noticed  chan struct{} // closed when the client has closed the connection of the step idle
	ended    chan struct{} // closed when the peer stops
	once     sync.Once
	serving  sync.WaitGroup
	page     atomic.Int32 // the index of the page that a proper response to a listing has

	mu       sync.Mutex
	conns    []net.Conn
	arrivals []*arrival
	stopped  bool
}

// An arrival is one request, from its first byte on.
type arrival struct {
	conn  int // the number of its connection, from 1
	index int // its number among all requests, from 1
	whole bool
	head  http.Header // HTTP/1 only, like query: the peer does not decode HPACK
	query url.Values
	body  string
}

// isListing reports whether the request asks for a page: a listing has no body, and every send has one.
func (a arrival) isListing() bool { return a.body == "" }

func newPeer(t *testing.T, s script) *peer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if s.strikes == nil {
		s.strikes = func() bool { return true }
	}
	p := &peer{
		script: s, listener: l,
		struck: make(chan struct{}), noticed: make(chan struct{}), ended: make(chan struct{}),
	}
	p.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if number := p.register(c); number > 0 {
				p.serving.Go(func() {
					p.serve(c, number)
					_ = c.Close()
				})
			}
		}
	})
	t.Cleanup(p.stop)
	return p
}

func (p *peer) url() string {
	if p.tls != nil {
		return "https://" + p.listener.Addr().String()
	}
	return "http://" + p.listener.Addr().String()
}

// register records a connection and returns its number, or 0 if the peer has stopped.
func (p *peer) register(c net.Conn) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		_ = c.Close()
		return 0
	}
	_ = c.SetDeadline(time.Now().Add(peerLife))
	p.conns = append(p.conns, c)
	return len(p.conns)
}

// stop reads what is already on its way, so that everything the client sent is counted, and waits until all connections
// have ended.
func (p *peer) stop() {
	p.mu.Lock()
	if !p.stopped {
		p.stopped = true
		close(p.ended)
		_ = p.listener.Close()
		for _, c := range p.conns {
			_ = c.SetDeadline(time.Now().Add(10 * time.Millisecond))
		}
	}
	p.mu.Unlock()
	p.serving.Wait()
}

// seen returns the whole requests so far whose body contains text.
func (p *peer) seen(text string) []arrival {
	return p.filter(func(a arrival) bool { return strings.Contains(a.body, text) })
}

// filter returns the whole requests so far that match.
func (p *peer) filter(match func(arrival) bool) []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	var whole []arrival
	for _, a := range p.arrivals {
		if a.whole && match(*a) {
			whole = append(whole, *a)
		}
	}
	return whole
}

// request returns the request with an index, whole or not.
func (p *peer) request(index int) (arrival, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.arrivals) < index {
		return arrival{}, false
	}
	return *p.arrivals[index-1], true
}

// begins records the first byte of a request.
func (p *peer) begins(conn int) *arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &arrival{conn: conn, index: len(p.arrivals) + 1}
	p.arrivals = append(p.arrivals, a)
	return a
}

// completes records the whole request; req is nil over HTTP/2.
func (p *peer) completes(a *arrival, req *http.Request, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.whole, a.body = true, string(body)
	if req != nil {
		a.head, a.query = req.Header, req.URL.Query()
	}
}

func (p *peer) serve(c net.Conn, number int) {
	if p.accept != nil && p.strikes() {
		p.accept(c)
		return
	}
	if p.tls != nil {
		// Never closed politely: a close_notify would need a deadline that has passed by then.
		c = tls.Server(c, p.tls)
	}
	if p.http2 {
		p.serveHTTP2(c, number)
	} else {
		p.serveHTTP1(c, number)
	}
}

func (p *peer) serveHTTP1(c net.Conn, number int) {
	r := bufio.NewReader(c)
	for {
		if _, err := r.Peek(1); err != nil {
			return
		}
		a := p.begins(number)
		hit := p.hits(a)
		if hit && p.begin != nil {
			p.begin(c, r)
			return
		}
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		x := &exchange{peer: p, conn: c, in: r, index: a.index}
		if hit && p.early != nil {
			p.early(x)
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		p.completes(a, req, body)
		x.listing = len(body) == 0
		if p.handle(x, hit); x.over {
			return
		}
	}
}

// hits reports whether the fault hits this request.
func (p *peer) hits(a *arrival) bool {
	return (p.begin != nil || p.early != nil || p.react != nil) && a.index > p.warmUp && p.strikes()
}

// handle responds to a request properly, or does with it what the script says.
func (p *peer) handle(x *exchange, hit bool) {
	if hit {
		if p.streams > 0 {
			x.awaitRead()
		}
		p.once.Do(func() { close(p.struck) })
		p.react(x)
		return
	}
	if p.parting && x.index == p.warmUp {
		x.acceptAndPart()
		return
	}
	x.accept()
	if p.idle != nil && x.index == p.warmUp {
		p.idle(x)
		close(p.noticed)
		x.over = true
	}
}

// An exchange is a request that arrived, and what can be done about it. Methods whose comment names no protocol do the same
// thing over HTTP/1 and HTTP/2.
type exchange struct {
	*peer
	conn    net.Conn
	in      io.Reader
	stream  uint32 // HTTP/2 only
	written int    // bytes of the response body: HTTP/2 only
	window  int    // bytes that the client allows beyond initialWindow: HTTP/2 only
	index   int    // the number of the request, from 1
	listing bool   // the request asks for a page
	over    bool   // nothing more comes over this connection
}

// accept responds properly: with an acceptance or a page.
func (x *exchange) accept() { x.respond(http.StatusOK, x.acceptance()) }

// acceptance is the body of a proper response. The ID of a message names its request.
func (x *exchange) acceptance() string {
	if x.listing {
		return listPages[x.page.Load()]
	}
	return fmt.Sprintf(`{"status":"ok","data":{"id":"m-%d"}}`, x.index)
}

// acceptAndPart responds properly and announces that the next request needs another connection.
func (x *exchange) acceptAndPart() {
	if x.http2 {
		x.goAway(x.stream, codeNoError)
		x.accept()
		return
	}
	x.respond(http.StatusOK, x.acceptance(), "Connection", "close")
	x.close()
}

// respond sends a response; header holds fields as pairs.
func (x *exchange) respond(status int, body string, header ...string) {
	x.writeHead(status, append(header, "Content-Length", strconv.Itoa(len(body)))...)
	x.write(body, true)
}

// writeHead begins a response. A status below 200 makes it an interim one.
func (x *exchange) writeHead(status int, header ...string) {
	if x.http2 {
		x.writeHeaders(status, header)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for i := 0; i < len(header); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", header[i], header[i+1])
	}
	x.raw(b.String() + "\r\n")
}

// write writes a piece of a body and reports whether the connection took it.
func (x *exchange) write(piece string, last bool) bool {
	if x.http2 {
		return x.writeData(piece, last)
	}
	return x.raw(piece)
}

// raw writes bytes to the connection, in pieces so that a client that has seen enough ends it.
func (x *exchange) raw(s string) bool {
	const longest = 16 << 10
	for s != "" {
		n := min(len(s), longest)
		if _, err := io.WriteString(x.conn, s[:n]); err != nil {
			return false
		}
		s = s[n:]
	}
	return true
}

// refuseUnread responds before the request is read.
func (x *exchange) refuseUnread() {
	x.respond(http.StatusRequestEntityTooLarge, "")
}

// hold leaves the request without a response, but not forever: a client that would wait so long fails, it does not hang.
// Over HTTP/2 the connection goes on with other requests.
func (x *exchange) hold() {
	if x.http2 {
		return
	}
	select {
	case <-x.ended:
	case <-time.After(peerLife / 2):
	}
	x.over = true
}

func (x *exchange) close() {
	_ = x.conn.Close()
	x.over = true
}

func (x *exchange) reset() {
	resetConn(x.conn)
	x.over = true
}

// closeWrite closes this side and waits until the client has closed the other.
func (x *exchange) closeWrite() {
	if c, ok := x.conn.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	x.awaitClose()
}

// awaitClose waits until the client has closed the connection.
func (x *exchange) awaitClose() { _, _ = io.Copy(io.Discard, x.in) }

// writePart sends less than it announces, though what is there is a whole JSON document.
func (x *exchange) writePart(status int) {
	x.writeHead(status, "Content-Length", "500")
	x.write(x.document(status), false)
}

// writeHalfChunk announces a chunk of ten bytes and closes within it: HTTP/1 only.
func (x *exchange) writeHalfChunk() {
	x.writeHead(http.StatusOK, "Transfer-Encoding", "chunked")
	x.raw("a\r\n{\"status\":\r\n")
	x.close()
}

// document is what services write with a status.
func (x *exchange) document(status int) string {
	if status == http.StatusOK {
		return x.acceptance()
	}
	return echo
}

// respondEndlessly sends a body that does not end, as long as the client takes it.
func (x *exchange) respondEndlessly(status int) {
	x.writeHead(status)
	x.write(x.document(status), false)
	piece := strings.Repeat(" ", 16<<10)
	for range 1 << 10 {
		if !x.write(piece, false) {
			break
		}
	}
	x.hold()
}

// trickle sends a body that does not end, byte by byte.
func (x *exchange) trickle(status int) {
	x.writeHead(status)
	x.write(x.document(status), false)
	x.serving.Go(func() {
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for x.write(" ", false) {
			select {
			case <-ticker.C:
			case <-x.ended:
				return
			}
		}
	})
}

// writeEndlessHead sends a header that does not end.
func (x *exchange) writeEndlessHead() {
	filler := strings.Repeat("x", 15<<10)
	field := func() bool { return x.raw("X-Filler: " + filler + "\r\n") }
	if x.http2 {
		x.frame(frameHeaders, 0, x.stream, hpackStatus(http.StatusOK))
		block := hpackField(nil, "x-filler", filler)
		field = func() bool { return x.frame(frameContinuation, 0, x.stream, block) }
	} else {
		x.raw("HTTP/1.1 200 OK\r\n")
	}
	for range 1 << 11 {
		if !field() {
			break
		}
	}
	x.hold()
}

// resetConn closes a TCP connection with a RST.
func resetConn(c net.Conn) {
	if tc, ok := c.(*net.TCPConn); ok {
		_ = tc.SetLinger(0)
	}
	_ = c.Close()
}

// newCertificate returns a certificate for 127.0.0.1, and the pool in which it counts as an authority.
func newCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return server.TLS.Certificates[0], pool
}
