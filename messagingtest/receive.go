package messagingtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

var errClosed = errors.New("the server is closed")

// Receive plays the service that has received a message, or has something to report, and calls a customer's webhook:
//
//	webhook := httptest.NewServer(handler)
//	defer webhook.Close()
//	for _, reply := range srv.Receive(ctx, webhook.URL+"/hooks/sms?key="+secret, messagingtest.InboundSMS{From: "639171234567", Text: "Hi"}) {
//		fmt.Println(reply.StatusCode, reply.Err)
//	}
//
// The target is an absolute http or https URL. The parameters of the callback follow what it has in its query, which stays
// byte for byte; a fragment is left out, and a user name goes into the header Authorization. Each request is a GET of
// HTTP/1.1 without a body. No redirect is followed, no proxy is used, and nothing is sent again that was not asked for:
// each request is one [Reply]. A certificate has to be valid.
//
// Several callbacks are delivered one after the other, unless an option says otherwise; see [TwiceAtOnce], [OutOfOrder],
// [Unescaped], [AgainAfterFailure], [SeveralAtOnce] and [AnswerWithin]. Receive returns when all is done, with the replies in
// the order of the callbacks and, for each, of its requests; every callback has at least one. Connections are kept from one
// callback to the next, and closed when Receive returns.
//
// It ends early when the context does, or when the server is closed: what was on its way then has no answer, and what was
// not is not sent, and each reply says so. Nothing of it enters the ledger, and it takes no fault of [Server.Inject]. Receive
// panics if the target is no such URL or the callback is nil. It may be called at any time, also from many goroutines.
func (s *Server) Receive(ctx context.Context, target string, callback Callback, opts ...ReceiveOption) []Reply {
	switch {
	case !isURL(target):
		panic("messagingtest: Receive: the target is not an absolute http or https URL")
	case callback == nil:
		panic("messagingtest: Receive: the callback is nil")
	}
	how := newReceiving(opts)
	var deliveries []dispatch
	for _, c := range callback.calls() {
		deliveries = append(deliveries, dispatch{c.callback, withQuery(target, how.query(c.params))})
	}
	return s.dispatch(ctx, deliveries, how)
}

// dispatch is a callback and the URL that says it.
type dispatch struct {
	callback Callback
	url      string
}

// dispatch delivers each.
func (s *Server) dispatch(ctx context.Context, deliveries []dispatch, how receiving) []Reply {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer s.whenClosed(func() { end(errClosed) })()
	transport := newReceiverTransport()
	defer transport.CloseIdleConnections()
	d := dispatcher{how, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}

	replies := make([][]Reply, len(deliveries))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(how.atOnce, len(deliveries)) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(deliveries) {
					return
				}
				if how.reversed {
					i = len(deliveries) - 1 - i
				}
				replies[i] = d.deliver(ctx, deliveries[i])
			}
		})
	}
	workers.Wait()
	return slices.Concat(replies...)
}

func newReceiverTransport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // HTTP/2 would put what comes at once onto one connection
	return &http.Transport{
		Protocols:           protocols,
		MaxIdleConnsPerHost: 1 << 10,
		DisableCompression:  true,
	}
}

// dispatcher is what the deliveries of one call have in common.
type dispatcher struct {
	how    receiving
	client *http.Client
}

func (d dispatcher) deliver(ctx context.Context, what dispatch) []Reply {
	if !d.how.twice {
		return d.insist(ctx, what, nil)
	}
	var replies [2][]Reply
	var both meeting
	both.expect(len(replies))
	var copies sync.WaitGroup
	for i := range replies {
		copies.Go(func() { replies[i] = d.insist(ctx, what, &both) })
	}
	copies.Wait()
	return slices.Concat(replies[:]...)
}

// insist calls until there is an answer that is final. Only the first call waits for the others.
func (d dispatcher) insist(ctx context.Context, what dispatch, together *meeting) []Reply {
	var replies []Reply
	for attempt := 1; ; attempt++ {
		reply := d.call(ctx, what, attempt, together)
		together = nil
		if reply.Attempt > 0 || attempt == 1 { // what was repeated has a reply already
			replies = append(replies, reply)
		}
		if reply.Attempt == 0 || !reply.failed() || attempt > d.how.repeats || !pause(ctx, reply.RetryAfter) {
			return replies
		}
	}
}

// call makes one request.
func (d dispatcher) call(ctx context.Context, what dispatch, attempt int, together *meeting) Reply {
	reply := Reply{Callback: what.callback}
	var join func()
	if together != nil {
		join = sync.OnceFunc(together.ready)
		defer join() // without a connection too: the other must not wait for ever
	}
	if ctx.Err() != nil {
		reply.Err = fmt.Errorf("messagingtest: not sent: %w", context.Cause(ctx))
		return reply
	}
	ctx, cancel := context.WithTimeoutCause(ctx, d.how.patience, fmt.Errorf("none within %v: %w", d.how.patience, context.DeadlineExceeded))
	defer cancel()
	traced := ctx
	if together != nil {
		traced = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
			join()
			together.wait()
		}})
	}
	// A body of a kind that net/http does not know keeps it from repeating the request by itself where a connection ends:
	// the receiver would see one more than there are replies. It is empty, so that nothing of it is on the wire.
	req, err := http.NewRequestWithContext(traced, http.MethodGet, what.url, emptyBody{})
	if err != nil {
		reply.Err = errors.New("messagingtest: the URL of the webhook cannot be used")
		return reply
	}
	reply.Attempt = attempt
	resp, err := d.client.Do(req)
	if err != nil {
		reply.Err = noAnswer(ctx, err)
		return reply
	}
	defer func() { _ = resp.Body.Close() }()
	if reply.read(resp); reply.Err != nil {
		reply.Err = noAnswer(ctx, reply.Err)
	}
	return reply
}

// noAnswer says why a request ended as it did, without its URL.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return fmt.Errorf("messagingtest: no whole answer: %w", err)
}

type emptyBody struct{}

func (emptyBody) Read([]byte) (int, error) { return 0, io.EOF }

func (emptyBody) Close() error { return nil }

// meeting is where several wait for each other.
type meeting struct{ missing sync.WaitGroup }

func (m *meeting) expect(n int) { m.missing.Add(n) }

func (m *meeting) ready() { m.missing.Done() }

func (m *meeting) wait() { m.missing.Wait() }

const (
	// haste is how much faster than time the clock of repetitions runs.
	haste = 100
	// retryUnasked is what a service waits that was told nothing.
	retryUnasked = time.Second
	longestPause = time.Second / 4
)

// pause waits before a repetition, and reports false if the context ended meanwhile.
func pause(ctx context.Context, asked time.Duration) bool {
	timer := time.NewTimer(pauseOf(asked))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func pauseOf(asked time.Duration) time.Duration {
	if asked == 0 {
		asked = retryUnasked
	}
	return min(asked/haste, longestPause)
}
