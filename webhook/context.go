package webhook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// handlerContext is the context of a handle function. It has the values of the request's context. It ends with the handler
// timeout, with the server's base context and with a deadline of the request, but not when the caller hangs up.
//
// It starts its timer only if the function asks for the end, as one that calls a database does: starting one takes as long
// as reading a short message.
type handlerContext struct {
	request  context.Context //nolint:containedctx // it is the parent
	deadline time.Time

	mu    sync.Mutex
	timer context.Context //nolint:containedctx // nil until it is asked for
	stop  func()
	ended bool
}

func (c *handlerContext) Deadline() (time.Time, bool) { return c.deadline, true }
func (c *handlerContext) Done() <-chan struct{}       { return c.start().Done() }
func (c *handlerContext) Err() error                  { return c.start().Err() }
func (c *handlerContext) Value(key any) any           { return context.WithoutCancel(c.request).Value(key) }

func (c *handlerContext) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		return c.timer
	}
	timer, cancel := context.WithDeadline(context.Background(), c.deadline)
	// A caller that hangs up cancels the context of the request without a cause. All other ends have one.
	unlink := context.AfterFunc(c.request, func() {
		if !errors.Is(context.Cause(c.request), context.Canceled) {
			cancel()
		}
	})
	c.timer, c.stop = timer, func() {
		unlink()
		cancel()
	}
	if c.ended {
		c.stop()
	}
	return timer
}

// end ends the context.
func (c *handlerContext) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended = true; c.stop != nil {
		c.stop()
	}
}
