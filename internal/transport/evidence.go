package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync"
)

// evidence is what the hooks of net/http reported about one attempt. They run in other goroutines, and late if a round tripper returns while
// net/http still works on its request.
type evidence struct {
	stop    context.CancelFunc // ends the attempt
	ownBase bool

	mu           sync.Mutex
	connections  int // that net/http requested from its pool
	connection   net.Conn
	wroteHeaders bool
	isOver       bool // the round tripper returned
}

// maxConnections is how many connections an attempt may request. Over HTTP/2, net/http repeats a read that the server hands back, without a
// pause and without an end.
const maxConnections = 8

var errSentBack = &safeError{text: "the server returned the request unprocessed each time the HTTP client retried it"}

// trace sets the hooks of the attempt. They call stop to end it.
func (e *evidence) trace(hooks *httptrace.ClientTrace, stop context.CancelFunc, ownBase bool) {
	e.stop = stop
	e.ownBase = ownBase
	hooks.GetConn = e.getConn
	hooks.GotConn = e.gotConn
	hooks.WroteHeaders = e.writeHeaders
}

func (e *evidence) getConn(string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.connections++
	if e.connections > maxConnections {
		e.stop()
	}
}

func (e *evidence) gotConn(info httptrace.GotConnInfo) {
	if e.ownBase {
		clearDialDeadline(info)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.connection = info.Conn
}

// writeHeaders runs when the headers are in the buffer of the connection or, over HTTP/2, written. The body follows, unless the attempt is over:
// then it may count as not written and be repeated, so the connection is closed.
func (e *evidence) writeHeaders() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wroteHeaders = true
	if e.isOver && e.connection != nil {
		_ = e.connection.Close()
	}
}

// end marks the attempt as over. What was not written before is never written after it.
func (e *evidence) end() {
	e.stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.isOver = true
}

// requested returns how many connections net/http requested, and whether it wrote the headers.
func (e *evidence) requested() (connections int, wroteHeaders bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.connections, e.wroteHeaders
}

// written reports whether the service may have got the request. Nothing was written if net/http requested a connection and wrote no headers,
// or if err is that of a dial. A round tripper that runs no hooks yields no evidence, and neither does the text of an error.
func (e *evidence) written(err error) bool {
	connections, wroteHeaders := e.requested()
	if wroteHeaders {
		return true
	}
	if connections > 0 {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	isDial := ok && op.Op == "dial"
	return !isDial
}

const completeResponse = "complete response"

// awaited returns what the attempt waits for until its end.
func (e *evidence) awaited() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	isConnecting := e.connections > 0 && e.connection == nil && !e.wroteHeaders
	if isConnecting {
		return "connection"
	}
	return completeResponse
}

// explain returns a better error than err, if the evidence allows one.
func (e *evidence) explain(err error) error {
	connections, _ := e.requested()
	switch {
	case connections > maxConnections:
		return errSentBack
	case !e.written(err):
		return connectError(err)
	default:
		return err
	}
}

// describe returns err if its text may be shown, or else an error that says what is known about the connection.
func (e *evidence) describe(err error) error {
	if describeKnown(err) != "" {
		return err
	}
	_, wroteHeaders := e.requested()
	text := "the round tripper failed, and does not tell whether it wrote the request"
	switch {
	case wroteHeaders:
		text = "the connection failed after the request was written"
	case !e.written(err):
		text = "the connection failed before anything was written"
	}
	switch kind := fmt.Sprintf("%T", err); kind {
	case "*errors.errorString", "*errors.joinError", "*fmt.wrapError", "*fmt.wrapErrors": // which say nothing
	default:
		text += " (" + kind + ")"
	}
	return &safeError{text, err}
}
