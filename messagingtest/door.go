package messagingtest

import (
	"context"
	"net"
	"sync"
)

// A door is a listener that can be closed and opened again on the same port.
type door struct {
	addr net.Addr

	mu       sync.Mutex
	listener net.Listener  // nil while connections are refused
	opened   chan struct{} // closed when connections are accepted again, or never will be
	isGone   bool
}

func newDoor(l net.Listener) *door {
	return &door{addr: l.Addr(), listener: l, opened: make(chan struct{})}
}

// RefuseConnections sets whether the server refuses connections, as a service does that is not running: nothing listens on its port, and
// connections that are open end, with the requests on them. A client that still had such a connection cannot tell whether its next
// request was read: that one ends unknown. At the start the server accepts connections. RefuseConnections has no effect on
// [Server.ServeHTTP] and after [Server.Close].
//
// RefuseConnections(false) panics if another program has taken the port meanwhile.
func (s *Server) RefuseConnections(on bool) {
	if !on {
		s.door.open()
		return
	}
	s.door.shut()
	s.http.CloseClientConnections()
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != nil {
		_ = d.listener.Close()
		d.listener = nil
	}
}

func (d *door) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.listener != nil || d.isGone {
		return
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), d.addr.Network(), d.addr.String())
	must(err == nil, "RefuseConnections(false): %v", err)
	d.listener = listener
	close(d.opened)
	d.opened = make(chan struct{})
}

// Accept waits while connections are refused.
func (d *door) Accept() (net.Conn, error) {
	for {
		d.mu.Lock()
		listener, opened, isGone := d.listener, d.opened, d.isGone
		d.mu.Unlock()
		switch {
		case isGone:
			return nil, net.ErrClosed
		case listener == nil:
			<-opened
			continue
		}
		conn, err := listener.Accept()
		if err == nil || d.isOpen(listener) {
			return conn, err
		}
	}
}

// isOpen reports whether a listener was not closed by shut, so that its error is one of the port.
func (d *door) isOpen(listener net.Listener) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.listener == listener
}

// Close closes the port for good.
func (d *door) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isGone {
		return nil
	}
	d.isGone = true
	close(d.opened)
	if d.listener == nil {
		return nil
	}
	return d.listener.Close()
}

// Addr returns the address, also while connections are refused.
func (d *door) Addr() net.Addr { return d.addr }
