package transport

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"sync/atomic"
)

// evidence is what net/http told of one attempt. Hooks may run on its goroutines, and late: hence the atomics. A hook
// that comes late can only make an attempt look written, never the reverse.
type evidence struct {
	hooks        httptrace.ClientTrace
	connections  atomic.Int32
	wroteHeaders atomic.Int32
	stop         atomic.Pointer[context.CancelFunc] // ends the attempt
}

// mostRepeats is how often net/http may look for a connection in one attempt. Over HTTP/2 it repeats by itself a read that the
// service gives back, without a pause and without an end.
const mostRepeats = 8

func (e *evidence) trace() *httptrace.ClientTrace {
	e.hooks.GetConn = func(string) {
		if stop := e.stop.Load(); e.connections.Add(1) > mostRepeats && stop != nil {
			(*stop)()
		}
	}
	e.hooks.WroteHeaders = func() { e.wroteHeaders.Add(1) }
	return &e.hooks
}

// repeated tells whether the attempt was ended because net/http repeated it too often.
func (e *evidence) repeated() bool { return e.connections.Load() > mostRepeats }

func (e *evidence) reset() {
	e.connections.Store(0)
	e.wroteHeaders.Store(0)
}

// written tells whether the service may have got the request. Only evidence says no: net/http looked
// for a connection and wrote no headers, or the error is a dial's. A round tripper that
// runs no hooks gives no evidence, and an error text is none.
func (e *evidence) written(err error) bool {
	switch {
	case e.wroteHeaders.Load() > 0:
		return true
	case e.connections.Load() > 0:
		return false
	}
	var op *net.OpError
	return !errors.As(err, &op) || op.Op != "dial"
}
