package messagingtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/table"
)

var (
	errClosed        = errors.New("the server is closed")
	errNoSuchMessage = errors.New("messagingtest: not reported: no message with this ID was accepted")
	errNoCallback    = errors.New("messagingtest: not reported: the message was sent without a callback URL")
	errCallbackURL   = errors.New("messagingtest: not reported: the callback URL with its placeholders replaced is no http or https URL")
)

// A Reply is the result of one request to a webhook.
type Reply struct {
	Callback Callback // what was delivered: an InboundSMS, an InboundChatApp or a DeliveryReport
	Attempt  int      // counts the requests of one delivery from 1; 0 if none was made, and Err says why

	Request     *http.Request // that was made, whose body has been read; nil if none was
	RequestBody string        // that was sent
	At          time.Time     // when it was made
	Took        time.Duration // until the response had been read

	StatusCode int         // zero if there was no response
	Header     http.Header // nil if there was no response
	Body       []byte      // up to 64 KiB of it

	// Err is why there is no response, or not all of its body. It is nil for a complete response of any status. It contains
	// no URL, because that holds the message and the secret.
	Err error
}

// maxReply is how much of the body of a response is kept.
const maxReply = 64 << 10

// Receive calls a customer's webhook, as the service does when it has received a message or has something to report.
//
// The target is an absolute http or https URL, whose query stays byte for byte. Each request is an HTTP/1.1 GET without a body,
// or a POST if an option says so, and is one [Reply]: no redirect is followed, no proxy is used, and nothing is retried without
// [RetryFailures].
//
// Callbacks are delivered one after the other, and each waits up to 10 s for its response, body included: beyond that,
// [Reply.Err] is [context.DeadlineExceeded]. Receive returns the replies in the order of the callbacks. When the context ends,
// or the server is closed, what is under way gets no response and the rest is not sent. Receive panics if the target is not
// such a URL or the callback is nil.
func (s *Server) Receive(ctx context.Context, target string, callback Callback, opts ...ReceiveOption) []Reply {
	must(isURL(target) && callback != nil, "Receive: the target is not an absolute http or https URL, or the callback is nil")
	how, events := newReceiving(s.names, opts), callback.events()
	s.noteInbound(events)
	return s.deliverAll(ctx, how.calls(target, events), how)
}

// ReportDelivery calls the callback URL of a message in [Server.Sent] to report a status: a word, or a number such as "1". A
// status of package webhook that the contract has other words for, such as "delivered", is reported by the first of those. The
// test decides when and how often to report: nothing is reported by itself, and a report changes neither [Sent.State] nor
// listings.
//
// Placeholders in the callback URL are replaced, percent-encoded unless the option [Unescaped] is given. By the default
// contract they are %s, the status; %i, the message ID; %r, the reference ID; %d, the time by the server's clock; %tr, the
// [Channel]; %f, the sender; and %t, the recipient. So an escape that begins with %d or %f is a placeholder too: write it in
// upper case.
//
// Options and replies work as for [Server.Receive]. If there is no such message, or no callback URL that can be called,
// there is one reply, with Attempt 0 and an error that says which.
func (s *Server) ReportDelivery(ctx context.Context, id, status string, opts ...ReceiveOption) []Reply {
	s.mu.Lock()
	r, now := s.ledger.byID[id], s.ledger.now()
	s.mu.Unlock()
	if r == nil || r.foreign {
		return []Reply{{Callback: DeliveryReport{ID: id, Status: status}, Err: errNoSuchMessage}}
	}
	how := newReceiving(s.names, opts)
	report := DeliveryReport{
		ID: r.ID, ReferenceID: r.ReferenceID, Kind: string(r.Channel), From: r.From, To: r.To,
		Status: status, At: now.UTC().Truncate(time.Millisecond),
	}
	statuses := how.names.WebhookDelivery.Statuses
	if meaning, _ := table.Meaning(statuses, status, true); meaning == "" { // the word is not one of the contract's
		report.Status = cmp.Or(firstWord(statuses[status]), status)
	}
	target := report.fill(r.CallbackURL, how.names, how.unescaped)
	calls := []call{{callback: report, method: http.MethodGet, url: target}} // without parameters: the URL says it all
	switch {
	case target == "":
		return []Reply{{Callback: report, Err: errNoCallback}}
	case !isURL(target):
		return []Reply{{Callback: report, Err: errCallbackURL}}
	case how.encoding != "":
		calls = how.calls(target, report.events())
	}
	return s.deliverAll(ctx, calls, how)
}

func (s *Server) deliverAll(ctx context.Context, calls []call, how receiving) []Reply {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(s.closed, func() { end(errClosed) })() //nolint:contextcheck // beside the context of the caller
	if s.closed.Err() != nil {
		end(errClosed) // before anything is sent: AfterFunc takes its time
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // HTTP/2 would put what comes at once onto one connection
	transport := &http.Transport{Protocols: protocols, DisableCompression: true}
	defer transport.CloseIdleConnections()
	how.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	replies := make([][]Reply, len(calls))
	for i := range calls {
		if how.reversed {
			i = len(calls) - 1 - i
		}
		replies[i] = how.deliver(ctx, calls[i])
	}
	return slices.Concat(replies...)
}

func (how receiving) deliver(ctx context.Context, what call) []Reply {
	replies := make([][]Reply, how.copies)
	var connected, done sync.WaitGroup
	connected.Add(len(replies))
	for i := range replies {
		done.Go(func() { replies[i] = how.retry(ctx, what, &connected) })
	}
	done.Wait()
	return slices.Concat(replies...)
}

// retry calls until a response is final. The first request is sent when all copies have a connection.
func (how receiving) retry(ctx context.Context, what call, connected *sync.WaitGroup) []Reply {
	var replies []Reply
	ready := sync.OnceFunc(connected.Done)
	meet := func(httptrace.GotConnInfo) {
		ready()
		connected.Wait()
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: meet})
	for attempt := 1; ; attempt++ {
		reply := how.call(ctx, what, attempt)
		ready()                                // without a connection too: the other copy must not wait for ever
		if reply.Attempt > 0 || attempt == 1 { // a retry that was not sent is no reply
			replies = append(replies, reply)
		}
		status := reply.StatusCode
		isFinal := status != 0 && status != http.StatusTooManyRequests && status < http.StatusInternalServerError
		if reply.Attempt == 0 || isFinal || attempt > how.retries || !sleep(ctx, pauseFor(reply.Header.Get("Retry-After"))) {
			return replies
		}
	}
}

func (how receiving) call(ctx context.Context, what call, attempt int) Reply {
	reply := Reply{Callback: what.callback}
	if ctx.Err() != nil {
		reply.Err = fmt.Errorf("messagingtest: not sent: %w", context.Cause(ctx))
		return reply
	}
	tooLate := fmt.Errorf("none within %v: %w", how.patience, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, how.patience, tooLate)
	defer cancel()
	// A body of a type that net/http does not know keeps it from retrying by itself when a connection ends: the receiver would
	// see more requests than there are replies. Nothing of an empty body is sent.
	req, err := http.NewRequestWithContext(ctx, what.method, what.url, io.NopCloser(strings.NewReader(what.body)))
	if err != nil {
		reply.Err = errors.New("messagingtest: the URL of the webhook cannot be used")
		return reply
	}
	if req.ContentLength = int64(len(what.body)); what.contentType != "" {
		req.Header.Set("Content-Type", what.contentType)
	}
	reply.Attempt, reply.Request, reply.RequestBody, reply.At = attempt, req, what.body, time.Now()
	resp, err := how.client.Do(req)
	if err == nil {
		reply.StatusCode, reply.Header = resp.StatusCode, resp.Header
		reply.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxReply))
		_ = resp.Body.Close()
	}
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok { // it holds the URL
			err = wrapped.Err
		}
		reply.Err = fmt.Errorf("messagingtest: no complete response: %w", cmp.Or(context.Cause(ctx), err))
	}
	reply.Took = time.Since(reply.At)
	return reply
}

// sleep waits for d, and reports false if the context ended meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// pauseFor returns a hundredth of the seconds that were asked for, or of one second.
func pauseFor(retryAfter string) time.Duration {
	seconds, err := strconv.ParseUint(retryAfter, 10, 63)
	if err != nil {
		seconds = 1
	}
	return time.Duration(min(seconds, 25)) * time.Second / 100
}

// A ReceiveOption is a way in which the service calls a webhook, for [Server.Receive] and [Server.ReportDelivery]. The order
// of options does not matter, except that the last of two alike counts. Nil is none.
type ReceiveOption func(*receiving)

type receiving struct {
	client    *http.Client
	names     *table.Table
	encoding  string // "form" or "json"; otherwise a GET
	together  bool   // all events in one body
	unescaped bool
	reversed  bool
	copies    int // of each callback, in the same instant
	retries   int
	patience  time.Duration // with a response, body included
}

func newReceiving(names *table.Table, opts []ReceiveOption) receiving {
	r := receiving{names: names, copies: 1, patience: 10 * time.Second}
	for _, opt := range opts {
		if opt != nil {
			opt(&r)
		}
	}
	return r
}

// AsForm calls the webhook by POST, with the parameters as a form.
func AsForm() ReceiveOption { return func(r *receiving) { r.encoding = "form" } }

// AsJSON calls the webhook by POST, with the parameters as a JSON object: the names of the contract are paths in it. Where the
// contract says that events stand in a list, the object is the only element of that list.
func AsJSON() ReceiveOption { return func(r *receiving) { r.encoding = "json" } }

// InOneCall is like [AsJSON], with all callbacks as a list in one body. They have to be of one kind. There is one [Reply], whose
// Callback is [Callbacks].
func InOneCall() ReceiveOption { return func(r *receiving) { r.encoding, r.together = "json", true } }

// UnderContract writes callbacks under the names of a contract. Without it a server uses the names of its own contract, and
// [SMSRequest] and its siblings use the default contract.
func UnderContract(c contract.Contract) ReceiveOption {
	return func(r *receiving) { r.names = table.Of(c) }
}

// Unescaped writes the values of parameters as a careless sender does: + % ; = and bytes beyond ASCII stand as they are, and a
// space is a +. Only & # and control characters are escaped.
//
// A correct receiver gets every value whole all the same, and restores a + in front of a number. Two things are lost for any
// receiver: a + in a text reads as a space, and a % in front of two hexadecimal digits as the byte that they name.
func Unescaped() ReceiveOption { return func(r *receiving) { r.unescaped = true } }

// TwiceAtOnce delivers each callback twice in the same instant, over two connections. The replies to one delivery come before
// the replies to the other. A correct receiver handles the callback once: it responds to the other delivery with 200 if the
// first is done by then, and otherwise with 503 and Retry-After.
func TwiceAtOnce() ReceiveOption { return func(r *receiving) { r.copies = 2 } }

// OutOfOrder delivers the last callback first. The replies are still in the order of the callbacks.
func OutOfOrder() ReceiveOption { return func(r *receiving) { r.reversed = true } }

// RetryFailures retries a delivery up to that many times if the webhook gave no response, or one with status 429 or 5xx.
// The seconds of Retry-After, or one without them, pass a hundred times faster, and in 250 ms at most. RetryFailures panics if
// times is below 1.
func RetryFailures(times int) ReceiveOption {
	must(times >= 1, "RetryFailures(%d): the number of retries is below 1", times)
	return func(r *receiving) { r.retries = times }
}
