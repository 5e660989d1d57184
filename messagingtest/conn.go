package messagingtest

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// conn is a connection that notices the first byte of each request. net/http calls a handler when it has read the headers,
// which is too late for a request that is to be dropped unread.
type conn struct {
	*net.TCPConn
	server *Server

	mu      sync.Mutex
	between bool   // the next byte begins a request
	taken   *Fault // by the request that is being read; nil once its handler has it
}

type listener struct {
	net.Listener
	server *Server
}

// Accept wraps the connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{TCPConn: c.(*net.TCPConn), server: l.server, between: true}, nil
}

// Read resets the connection when a request begins that is to be dropped unread.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.TCPConn.Read(p)
	if n > 0 && c.begin() {
		c.reset()
		return 0, io.EOF // net/http does not respond to it
	}
	return n, err
}

// begin takes a fault if a request begins, and reports whether the fault is to drop it unread.
func (c *conn) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.between {
		return false
	}
	c.between = false
	fault := c.server.arrive()
	c.taken = &fault
	return fault.kind == dropUnread
}

// fault returns the fault of the request that is being served.
func (c *conn) fault() Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taken == nil {
		// A pipelined request: its bytes came with those of the request before it.
		return c.server.arrive()
	}
	fault := *c.taken
	c.taken = nil
	return fault
}

// reset closes the connection so that the client sees a reset, not an end.
func (c *conn) reset() {
	_ = c.SetLinger(0)
	_ = c.Close()
}

func (s *Server) connState(nc net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
	case http.StateIdle:
		// net/http may have read one byte of the next request already, to see whether the client is still there. A request
		// is longer than that, so the next read still shows when it begins.
		c := nc.(*conn)
		c.mu.Lock()
		c.between = true
		c.mu.Unlock()
	case http.StateClosed:
		s.conns.Done()
	case http.StateActive, http.StateHijacked: // no handler hijacks
	}
}

type connKey struct{}

func connContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(r *http.Request) *conn { return r.Context().Value(connKey{}).(*conn) }
