package messagingtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

var errClosed = errors.New("the server is closed")

// A Reply is the result of one request to a webhook.
type Reply struct {
	Callback Callback // what was delivered: an InboundSMS, an InboundChatApp or a DeliveryReport

	// Attempt counts the requests of one delivery from 1. It is 0 if none was made; Err says why.
	Attempt int

	StatusCode int           // zero if there was no response
	Header     http.Header   // nil if there was no response
	RetryAfter time.Duration // what the header Retry-After asks for; zero if it is absent or invalid
	Body       []byte        // up to 64 KiB of it

	// Err is why there is no response, or not all of its body. It is nil for a complete response of any status. It contains
	// no URL, because that holds the message and the secret.
	Err error
}

// maxReply is how much of the body of a response is kept.
const maxReply = 64 << 10

// failed reports whether the service is to retry.
func (r Reply) failed() bool {
	return r.StatusCode == 0 || r.StatusCode == http.StatusTooManyRequests || r.StatusCode >= http.StatusInternalServerError
}

// Receive plays the service that has received a message, or has something to report, and calls a webhook of the customer:
//
//	webhook := httptest.NewServer(handler)
//	defer webhook.Close()
//	m := messagingtest.InboundSMS{From: "639171234567", Text: "Hi"}
//	for _, reply := range srv.Receive(ctx, webhook.URL+"/hooks/sms?key="+secret, m) {
//		fmt.Println(reply.StatusCode, reply.Err)
//	}
//
// The target is an absolute http or https URL, whose query stays byte for byte. Each request is an HTTP/1.1 GET without a body,
// and is one [Reply]: no redirect is followed, no proxy is used, and nothing is retried without [RetryFailures].
//
// Callbacks are delivered one after the other, unless an option says otherwise. Receive returns when all are delivered, with
// the replies in the order of the callbacks. When the context ends, or the server is closed, what is under way gets no response
// and the rest is not sent. Receive panics if the target is not such a URL or the callback is nil.
func (s *Server) Receive(ctx context.Context, target string, callback Callback, opts ...ReceiveOption) []Reply {
	must(isURL(target) && callback != nil, "Receive: the target is not an absolute http or https URL, or the callback is nil")
	how := newReceiving(opts)
	calls := callback.calls()
	for i, c := range calls {
		calls[i].url = withQuery(target, c.params.query(how.unescaped))
	}
	return s.deliverAll(ctx, calls, how)
}

func (s *Server) deliverAll(ctx context.Context, calls []call, how receiving) []Reply {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer s.whenClosed(func() { end(errClosed) })()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // HTTP/2 would put what comes at once onto one connection
	transport := &http.Transport{Protocols: protocols, MaxIdleConnsPerHost: 1 << 10, DisableCompression: true}
	defer transport.CloseIdleConnections()
	service := caller{how, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}

	if how.reversed {
		slices.Reverse(calls)
	}
	replies := make([][]Reply, len(calls))
	slots := make(chan struct{}, min(how.atOnce, len(calls)))
	var delivered sync.WaitGroup
	for i, c := range calls {
		slots <- struct{}{}
		delivered.Go(func() {
			replies[i] = service.deliver(ctx, c)
			<-slots
		})
	}
	delivered.Wait()
	if how.reversed {
		slices.Reverse(replies)
	}
	return slices.Concat(replies...)
}

// caller calls webhooks.
type caller struct {
	how    receiving
	client *http.Client
}

// deliver makes all copies of a call.
func (c caller) deliver(ctx context.Context, what call) []Reply {
	replies := make([][]Reply, c.how.copies)
	var connected, done sync.WaitGroup
	connected.Add(len(replies))
	for i := range replies {
		done.Go(func() { replies[i] = c.retry(ctx, what, &connected) })
	}
	done.Wait()
	return slices.Concat(replies...)
}

// retry calls until a response is final. The first request is sent when all copies have a connection.
func (c caller) retry(ctx context.Context, what call, connected *sync.WaitGroup) []Reply {
	var replies []Reply
	ready := sync.OnceFunc(connected.Done)
	for attempt := 1; ; attempt++ {
		reply := c.call(ctx, what, attempt, func(httptrace.GotConnInfo) {
			ready()
			connected.Wait()
		})
		ready()                                // without a connection too: the other copy must not wait for ever
		if reply.Attempt > 0 || attempt == 1 { // a retry that was not sent is no reply
			replies = append(replies, reply)
		}
		if reply.Attempt == 0 || !reply.failed() || attempt > c.how.retries || !sleep(ctx, pauseFor(reply.RetryAfter)) {
			return replies
		}
	}
}

// call makes one request.
func (c caller) call(ctx context.Context, what call, attempt int, gotConn func(httptrace.GotConnInfo)) Reply {
	reply := Reply{Callback: what.callback}
	if ctx.Err() != nil {
		reply.Err = fmt.Errorf("messagingtest: not sent: %w", context.Cause(ctx))
		return reply
	}
	tooLate := fmt.Errorf("none within %v: %w", c.how.patience, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, c.how.patience, tooLate)
	defer cancel()
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: gotConn})
	// A body of a type that net/http does not know keeps it from retrying by itself when a connection ends: the receiver would
	// see more requests than there are replies. Nothing of an empty body is sent.
	req, err := http.NewRequestWithContext(traced, http.MethodGet, what.url, io.NopCloser(strings.NewReader("")))
	if err != nil {
		reply.Err = errors.New("messagingtest: the URL of the webhook cannot be used")
		return reply
	}
	reply.Attempt = attempt
	resp, err := c.client.Do(req)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		reply.StatusCode, reply.Header = resp.StatusCode, resp.Header
		reply.RetryAfter = parseRetryAfter(resp.Header.Get("Retry-After"), time.Now())
		reply.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxReply))
	}
	if err != nil {
		reply.Err = noResponse(ctx, err)
	}
	return reply
}

// noResponse says why a request ended as it did, without its URL.
func noResponse(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return fmt.Errorf("messagingtest: no complete response: %w", err)
}

func parseRetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 63); err == nil {
		return time.Duration(min(seconds, math.MaxInt64/uint64(time.Second))) * time.Second
	}
	date, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}

// sleep waits for d, and reports false if the context ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// pauseFor returns a hundredth of the time that was asked for, or of a second.
func pauseFor(retryAfter time.Duration) time.Duration {
	if retryAfter == 0 {
		retryAfter = time.Second
	}
	return min(retryAfter/100, time.Second/4)
}
