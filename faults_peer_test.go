package messaging_test

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

// peerLife ends what a fault left hanging, on both sides: no connection of a faultPeer outlives it.
const peerLife = 64 * time.Second

// A faultScript says what a faultPeer does, and when. A step that is nil is done properly.
// A step before the request is over is the end of its connection.
type faultScript struct {
	http2   bool                          // HTTP/2 with prior knowledge or as TLS agrees, otherwise HTTP/1
	streams byte                          // how many streams of HTTP/2 a client may have at once; 0: as many as it likes
	tls     *tls.Config                   // nil: in the clear
	warmUp  int                           // requests answered properly before the fault begins
	parting bool                          // the last answer of the warm-up says that its connection ends
	strikes func() bool                   // whether the fault is still there; nil: always
	accept  func(c net.Conn)              // a connection was accepted, nothing is read
	begin   func(c net.Conn, r io.Reader) // the first byte of a request is there, nothing is read
	early   func(x *exchange)             // the header fields of a request are there, its body is not read
	react   func(x *exchange)             // a request is there, whole
	idle    func(x *exchange)             // the last request of the warm-up is answered, the next has not begun
}

// A faultPeer is the far end of a client's connections, written by hand: it reads requests, records them,
// and does with the connections what no well-behaved server would.
type faultPeer struct {
	faultScript
	listener net.Listener
	struck   chan struct{} // closed when a request that the fault hits is there, whole
	noticed  chan struct{} // closed when the client has closed a connection on which the step idle was done
	ended    chan struct{} // closed when what is held may go
	once     sync.Once
	serving  sync.WaitGroup
	page     atomic.Int32 // of the listing, from 0: the one that a proper answer has

	mu       sync.Mutex
	conns    []net.Conn
	arrivals []*arrival
	stopped  bool
}

// An arrival is one request, from its first byte.
type arrival struct {
	conn  int // which connection, from 1
	index int // which request of all, from 1
	whole bool
	head  http.Header // HTTP/1 only, as is query: nothing here decodes HPACK
	query url.Values
	body  string
}

// isListing tells whether it asks for a page: a listing has no body, and every send has one.
func (a arrival) isListing() bool { return a.body == "" }

func newFaultPeer(t *testing.T, script faultScript) *faultPeer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if script.strikes == nil {
		script.strikes = func() bool { return true }
	}
	p := &faultPeer{
		faultScript: script, listener: l,
		struck: make(chan struct{}), noticed: make(chan struct{}), ended: make(chan struct{}),
	}
	p.serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n := p.opened(c); n > 0 {
				p.serving.Go(func() {
					p.serve(c, n)
					_ = c.Close()
				})
			}
		}
	})
	t.Cleanup(p.stop)
	return p
}

func (p *faultPeer) url() string {
	if p.tls != nil {
		return "https://" + p.listener.Addr().String()
	}
	return "http://" + p.listener.Addr().String()
}

// opened takes a connection into the books and returns its number, or 0 if the peer has stopped.
func (p *faultPeer) opened(c net.Conn) int {
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

// stop lets go of what is held, reads what was already on its way, so that nothing that the client
// sent stays uncounted, and waits until all connections have ended.
func (p *faultPeer) stop() {
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

// seen returns what arrived so far: the requests whose body names the reference, or all for "".
func (p *faultPeer) seen(reference string) []arrival {
	return p.whole(func(a arrival) bool { return strings.Contains(a.body, reference) })
}

// whole returns those of the requests that arrived whole so far.
func (p *faultPeer) whole(those func(arrival) bool) []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	var whole []arrival
	for _, a := range p.arrivals {
		if a.whole && those(*a) {
			whole = append(whole, *a)
		}
	}
	return whole
}

// first returns the request that began as the index-th, from 1, whole or not.
func (p *faultPeer) first(index int) (arrival, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.arrivals) < index {
		return arrival{}, false
	}
	return *p.arrivals[index-1], true
}

func (p *faultPeer) begins(conn int) *arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &arrival{conn: conn, index: len(p.arrivals) + 1}
	p.arrivals = append(p.arrivals, a)
	return a
}

func (p *faultPeer) completes(a *arrival, req *http.Request, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.whole, a.body = true, string(body)
	if req != nil {
		a.head, a.query = req.Header, req.URL.Query()
	}
}

func (p *faultPeer) serve(c net.Conn, number int) {
	if p.accept != nil && p.strikes() {
		p.accept(c)
		return
	}
	if p.tls != nil {
		// Not closed politely: a close_notify would need the deadline that has passed by then.
		c = tls.Server(c, p.tls)
	}
	if p.http2 {
		p.serveHTTP2(c, number)
	} else {
		p.serveHTTP1(c, number)
	}
}

func (p *faultPeer) serveHTTP1(c net.Conn, number int) {
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
		x := &exchange{faultPeer: p, conn: c, in: r, index: a.index}
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
		if p.settle(x, hit); x.over {
			return
		}
	}
}

// hits says whether the fault hits this request.
func (p *faultPeer) hits(a *arrival) bool {
	return (p.begin != nil || p.early != nil || p.react != nil) && a.index > p.warmUp && p.strikes()
}

// settle answers a request, or does with it what the script says.
func (p *faultPeer) settle(x *exchange, hit bool) {
	if hit {
		if p.streams > 0 {
			x.obeyed()
		}
		p.once.Do(func() { close(p.struck) })
		p.react(x)
		return
	}
	if p.parting && x.index == p.warmUp {
		x.takeLeave()
		return
	}
	x.accept()
	if p.idle != nil && x.index == p.warmUp {
		p.idle(x)
		close(p.noticed)
		x.over = true
	}
}

// An exchange is a request that arrived whole, and what can be done about it. The methods without a
// protocol in their comment do the same thing on HTTP/1 and on HTTP/2.
type exchange struct {
	*faultPeer
	conn    net.Conn
	in      io.Reader
	stream  uint32 // HTTP/2 only
	written int    // how much of the answer's body: HTTP/2 only
	window  int    // how much the client has allowed beyond what it allows any answer: HTTP/2 only
	index   int    // which request of all, from 1
	listing bool   // it asks for a page
	over    bool   // nothing more comes over this connection
}

// accept answers properly: that the message is accepted, or with a page.
func (x *exchange) accept() { x.answer(http.StatusOK, x.acceptance()) }

// acceptance has an ID that names the request that is answered, or is the page that is due.
func (x *exchange) acceptance() string {
	if x.listing {
		return faultPages[x.page.Load()]
	}
	return fmt.Sprintf(`{"status":"ok","data":{"id":"m-%d"}}`, x.index)
}

// takeLeave answers properly, and lets the client know that the next request needs another connection.
func (x *exchange) takeLeave() {
	if x.http2 {
		x.goAway(x.stream, codeNoError)
		x.accept()
		return
	}
	x.answer(http.StatusOK, x.acceptance(), "Connection", "close")
	x.close()
}

// answer answers with a status, a body, and header fields as pairs.
func (x *exchange) answer(status int, body string, header ...string) {
	x.head(status, append(header, "Content-Length", strconv.Itoa(len(body)))...)
	x.write(body, true)
}

// head begins an answer; alone, a status below 200 is an interim answer.
func (x *exchange) head(status int, header ...string) {
	if x.http2 {
		x.headers(status, header)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for i := 0; i < len(header); i += 2 {
		fmt.Fprintf(&b, "%s: %s\r\n", header[i], header[i+1])
	}
	x.raw(b.String() + "\r\n")
}

// write writes a piece of a body and says whether the connection took it.
func (x *exchange) write(piece string, last bool) bool {
	if x.http2 {
		return x.data(piece, last)
	}
	return x.raw(piece)
}

// raw writes bytes as they are: HTTP/1 only.
func (x *exchange) raw(s string) bool {
	_, err := io.WriteString(x.conn, s)
	return err == nil
}

// refuseUnread answers before the request was read.
func (x *exchange) refuseUnread() {
	x.answer(http.StatusRequestEntityTooLarge, "")
}

// hold leaves the client without an answer, but not for ever: a client that would wait so long fails, it does not hang.
// On HTTP/2 other requests may come over the same connection meanwhile.
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

// leave closes this side only and waits until the client has noticed and closed its own.
func (x *exchange) leave() {
	if c, ok := x.conn.(*net.TCPConn); ok {
		_ = c.CloseWrite()
	}
	x.left()
}

// left waits until the client has closed the connection.
func (x *exchange) left() { _, _ = io.Copy(io.Discard, x.in) }

// part answers with less than it promises, though what is there could be read for a whole document.
func (x *exchange) part(status int) {
	x.head(status, "Content-Length", "500")
	x.write(x.document(status), false)
}

// document is what services write with a status.
func (x *exchange) document(status int) string {
	if status == http.StatusOK {
		return x.acceptance()
	}
	return echo
}

// endless answers with a body that does not end, as long as the client takes it.
func (x *exchange) endless(status int) {
	x.head(status)
	x.write(x.document(status), false)
	piece := strings.Repeat(" ", 16<<10)
	for range 1 << 10 {
		if !x.write(piece, false) {
			break
		}
	}
	x.hold()
}

// trickle answers with a body that does not end, and always has something more.
func (x *exchange) trickle(status int) {
	x.head(status)
	x.write(x.document(status), false)
	x.serving.Go(func() {
		pace := time.NewTicker(10 * time.Millisecond)
		defer pace.Stop()
		for x.write(" ", false) {
			select {
			case <-pace.C:
			case <-x.ended:
				return
			}
		}
	})
}

// endlessHead answers with header fields that do not end.
func (x *exchange) endlessHead() {
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

// resetConn closes a TCP connection such that the other side sees RST.
func resetConn(c net.Conn) {
	if tc, ok := c.(*net.TCPConn); ok {
		_ = tc.SetLinger(0)
	}
	_ = c.Close()
}

// faultCertificate returns a certificate for 127.0.0.1, and the pool in which it counts as an authority.
func faultCertificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	lender := httptest.NewTLSServer(http.NotFoundHandler())
	defer lender.Close()
	pool := x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	return lender.TLS.Certificates[0], pool
}

// readHello reads one TLS record: the client's first.
func readHello(r io.Reader) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r, int64(head[3])<<8|int64(head[4]))
}

// answerInPlainHTTP is what an HTTP server answers to what it cannot read.
func answerInPlainHTTP(c net.Conn) {
	readHello(c)
	_, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTPS request to an HTTP server.\n")
}
