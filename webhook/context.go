package webhook

import (
	"context"
	"errors"
	"sync"
	"time"
)

// handlerContext is the context of a handle function. It has the values of the request's context, and ends with the handler
// timeout, with the server's base context and with a deadline of the request, but not when the caller hangs up.
//
// It starts its timer only if the function asks for the end, as one that calls a database does: a timer for every event
// takes as long as reading a short message.
type handlerContext struct {
	context.Context // of the request; of its own only the values count

	deadline time.Time

	mu    sync.Mutex
	timer context.Context // nil until it is asked for
	stop  func()
}

func (c *handlerContext) Deadline() (time.Time, bool) { return c.deadline, true }
func (c *handlerContext) Done() <-chan struct{}       { return c.start().Done() }
func (c *handlerContext) Err() error                  { return c.start().Err() }

func (c *handlerContext) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		timer, cancel := context.WithDeadline(context.WithoutCancel(c.Context), c.deadline)
		// A caller that hangs up cancels the context of the request without a cause. All other ends have one.
		unlink := context.AfterFunc(c.Context, func() {
			if !errors.Is(context.Cause(c.Context), context.Canceled) {
				cancel()
			}
		})
		c.timer, c.stop = timer, func() {
			unlink()
			cancel()
		}
	}
	return c.timer
}

// finish ends the context, also for those that ask only now.
func (c *handlerContext) finish() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil {
		c.timer, c.stop = finished{}, func() {}
	}
	c.stop()
}

// finished is a context that has ended.
type finished struct{ context.Context }

func (finished) Err() error { return context.Canceled }

func (finished) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
