package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// evidence is what the hooks of net/http reported about an attempt. They may run late and in other goroutines, so the fields are atomic. A
// hook of an earlier attempt can only make this one look written, never the reverse.
type evidence struct {
	connections  atomic.Int32 // that net/http requested from its pool
	wroteHeaders atomic.Bool
}

// maxConnections is how many connections an attempt may request. Over HTTP/2, net/http repeats a read that the server hands back, without a
// pause and without an end.
const maxConnections = 8

var errSentBack = &safeError{text: "the server sent the request back each time that the HTTP client repeated it"}

// trace sets the hooks of an attempt. They call stop to end it.
func (e *evidence) trace(hooks *httptrace.ClientTrace, stop context.CancelFunc, ownBase bool) {
	hooks.GetConn = func(string) {
		if e.connections.Add(1) > maxConnections {
			stop()
		}
	}
	hooks.WroteHeaders = func() { e.wroteHeaders.Store(true) }
	if ownBase {
		hooks.GotConn = clearDialDeadline
	}
}

func (e *evidence) reset() {
	e.connections.Store(0)
	e.wroteHeaders.Store(false)
}

// written reports whether the service may have got the request. Nothing was written if net/http requested a connection and wrote no headers,
// or if err is that of a dial. A round tripper that runs no hooks yields no evidence, and neither does the text of an error.
func (e *evidence) written(err error) bool {
	if e.wroteHeaders.Load() {
		return true
	}
	if e.connections.Load() > 0 {
		return false
	}
	op, ok := errors.AsType[*net.OpError](err)
	isDial := ok && op.Op == "dial"
	return !isDial
}

// explain returns a better error than err, if the evidence allows one.
func (e *evidence) explain(err error) error {
	switch {
	case e.connections.Load() > maxConnections:
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
	text := "the round tripper failed, and does not tell whether it wrote the request"
	switch {
	case e.wroteHeaders.Load():
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
