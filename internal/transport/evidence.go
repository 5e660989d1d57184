package transport

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// Evidence is what net/http's hooks reported of an attempt. They may run late and on other goroutines, hence the
// atomics. A hook of an earlier attempt can only make this one look written, never the reverse.
type evidence struct {
	connections  atomic.Int32 // that net/http asked its pool for
	wroteHeaders atomic.Bool
}

// maxConnections is how many connections an attempt may ask for. Over HTTP/2, net/http sends a read again by itself if
// the server hands it back, without a pause and without an end.
const maxConnections = 8

var errSentBack = &namedError{text: "the server sent the request back each time that the HTTP client repeated it"}

// trace sets the hooks of an attempt, which stop ends.
func (e *evidence) trace(hooks *httptrace.ClientTrace, stop context.CancelFunc, ownBase bool) {
	hooks.GetConn = func(string) {
		if e.connections.Add(1) > maxConnections {
			stop()
		}
	}
	hooks.WroteHeaders = func() { e.wroteHeaders.Store(true) }
	if ownBase {
		hooks.GotConn = established
	}
}

func (e *evidence) reset() {
	e.connections.Store(0)
	e.wroteHeaders.Store(false)
}

// written reports whether the service may have got the request. Only evidence says no: net/http asked for a connection
// and wrote no headers, or the error is a dial's. A round tripper that runs no hooks yields no evidence, and neither does
// the text of an error.
func (e *evidence) written(err error) bool {
	if e.wroteHeaders.Load() {
		return true
	}
	if e.connections.Load() > 0 {
		return false
	}
	var op *net.OpError
	return !errors.As(err, &op) || op.Op != "dial"
}

// explain returns an error that says more than err, if the evidence allows it.
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

// name returns an error whose text is known, and says what is known of the connection if that of err is not.
func (e *evidence) name(err error) error {
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
	case "*errors.errorString", "*errors.joinError", "*fmt.wrapError", "*fmt.wrapErrors": // which tell nothing
	default:
		text += " (" + kind + ")"
	}
	return &namedError{text, err}
}
