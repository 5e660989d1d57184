package messagingtest

import (
	"context"
	"net"
	"sync"
)

// A port is a listener that can stop listening and start again on the same address.
type port struct {
	addr net.Addr

	mu       sync.Mutex
	listener net.Listener  // nil while connections are refused
	reopened chan struct{} // closed when the port listens again, or is closed
	isClosed bool
}

func newPort(l net.Listener) *port {
	return &port{addr: l.Addr(), listener: l, reopened: make(chan struct{})}
}

// RefuseConnections sets whether the server refuses connections, like a service that is not running: nothing listens on its port,
// and open connections end, with the requests on them. A client with an open connection cannot tell whether its next request was
// read: that request ends unknown. At the start the server accepts connections. RefuseConnections has no effect on
// [Server.ServeHTTP] and after [Server.Close].
//
// RefuseConnections(false) panics if another program has taken the port meanwhile.
func (s *Server) RefuseConnections(on bool) {
	if !on {
		s.port.open()
		return
	}
	s.port.shut()
	s.http.CloseClientConnections()
}

func (p *port) shut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
}

func (p *port) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.isClosed {
		return
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), p.addr.Network(), p.addr.String())
	panicUnless(err == nil, "RefuseConnections(false): %v", err)
	p.listener = listener
	close(p.reopened)
	p.reopened = make(chan struct{})
}

// Accept waits while connections are refused.
func (p *port) Accept() (net.Conn, error) {
	for {
		listener, reopened, isClosed := p.state()
		if isClosed {
			return nil, net.ErrClosed
		}
		if listener == nil {
			<-reopened
			continue
		}
		conn, err := listener.Accept()
		if err == nil {
			return conn, nil
		}
		if current, _, _ := p.state(); current == listener { // it was not shut, so the error is the port's own
			return nil, err //nolint:wrapcheck // like any listener
		}
	}
}

func (p *port) state() (listener net.Listener, reopened chan struct{}, isClosed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listener, p.reopened, p.isClosed
}

// Close closes the port for good.
func (p *port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil
	}
	p.isClosed = true
	close(p.reopened)
	if p.listener == nil {
		return nil
	}
	return p.listener.Close() //nolint:wrapcheck // like any listener
}

// Addr returns the address, even while connections are refused.
func (p *port) Addr() net.Addr { return p.addr }
