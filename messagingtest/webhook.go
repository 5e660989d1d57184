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
	errNoTarget      = errors.New("messagingtest: not called: there is no webhook")
	errNoSuchMessage = errors.New("messagingtest: not reported: no message with this ID was accepted")
	errNoCallback    = errors.New("messagingtest: not reported: the message was sent without a callback URL")
	errCallbackURL   = errors.New("messagingtest: not reported: the callback URL, with its placeholders replaced, is not an http or https URL")
)

const (
	webhookTimeout = 10 * time.Second // for a response, body included
	maxResultBody  = 64 << 10         // of the body of a response that is kept
)

// A CallResult is the result of one request to a webhook.
type CallResult struct {
	Callback Callback // what was delivered: an InboundSMS, an InboundChatApp or a DeliveryReport
	Attempt  int      // counts the requests of one delivery from 1; 0 if no request was made, and Err says why

	Request     *http.Request // the request, whose body has been read; nil if none was made
	RequestBody string        // the body of the request
	At          time.Time     // when the request was made
	Took        time.Duration // until the response had been read

	StatusCode int         // zero if there was no response
	Header     http.Header // nil if there was no response
	Body       []byte      // up to 64 KiB of the response

	// Err is why there is no response, or not all of its body. It is nil for a complete response of any status. It contains
	// no URL, because a URL holds the message and the secret.
	Err error
}

// CallWebhook calls a customer's webhook, as the service does when it has received a message or has something to report.
//
// The target is an absolute http or https URL, whose query stays byte for byte. The request is what the contract says, an HTTP/1.1 GET
// without a body by default, or a POST with AsForm or AsJSON. No redirect is followed, no proxy is used, and nothing is retried
// without [RetryFailures]. A response, body included, may take up to 10 seconds; after that, [CallResult.Err] is
// [context.DeadlineExceeded].
//
// CallWebhook returns a [CallResult] for each request. When the context ends, or the server is closed, a request under way gets no
// response and no other is sent.
//
// An empty target is a customer without a webhook: nothing is called, and there is one result, with Attempt 0 and an error. An inbound
// message opens the window of [Server.SetWindow] all the same. CallWebhook panics if the target is anything else, or the callback is nil.
func (s *Server) CallWebhook(ctx context.Context, target string, callback Callback, opts ...CallOption) []CallResult {
	panicUnless(target == "" || isURL(target), "CallWebhook: the target is not an absolute http or https URL")
	panicUnless(callback != nil, "CallWebhook: the callback is nil")
	s.noteInbound(callback)
	if target == "" {
		return []CallResult{{Callback: callback, Err: errNoTarget}}
	}
	settings := newCallSettings(s.names, opts)
	return s.call(ctx, settings.write(target, callback), settings)
}

// ReportDelivery calls the callback URL of a message in [Server.Sent] to report a status: a word, or a number such as "1". A status
// of package webhook that the contract has other words for, such as "delivered", is reported by the first of those. Nothing is
// reported by itself, and a report changes neither [Sent.Status] nor listings.
//
// Placeholders in the callback URL are replaced, percent-encoded. By the default contract they are %s, the status; %i, the message
// ID; %r, the reference ID; %d, the time by the server's clock; %tr, the channel; %f, the sender; and %t, the recipient. An escape
// that begins with %d or %f is a placeholder too: write it in upper case. A field for which the contract has no placeholder is added
// to the query, under the contract's first name for the parameter.
//
// Options and results work as for [Server.CallWebhook]. If there is no such message, or no callback URL that can be called, there
// is one result, with Attempt 0 and an error that says which.
func (s *Server) ReportDelivery(ctx context.Context, id, status string, opts ...CallOption) []CallResult {
	message, now, ok := s.messageByID(id)
	if !ok {
		return []CallResult{{Callback: DeliveryReport{ID: id, Status: status}, Err: errNoSuchMessage}}
	}
	settings := newCallSettings(s.names, opts)
	at := settings.statusAt
	if at.IsZero() {
		at = now
	}
	report := DeliveryReport{
		Status:      reportedStatus(settings.names, status),
		ID:          message.ID,
		ReferenceID: message.ReferenceID,
		At:          at.UTC().Truncate(time.Millisecond),
		Kind:        message.Channel,
		From:        message.From,
		To:          message.To,
		ErrorCode:   settings.errorCode,
	}
	target := report.fillPlaceholders(message.CallbackURL, settings.names)
	switch {
	case target == "":
		return []CallResult{{Callback: report, Err: errNoCallback}}
	case !isURL(target):
		return []CallResult{{Callback: report, Err: errCallbackURL}}
	case settings.encodingOf(report) == "query":
		target = withQuery(target, queryOf(report.paramsWithoutPlaceholder(settings.names)))
		return s.call(ctx, webhookRequest{callback: report, method: http.MethodGet, url: target}, settings)
	default:
		return s.call(ctx, settings.write(target, report), settings)
	}
}

func (s *Server) messageByID(id string) (m Sent, now time.Time, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.ledger.byID[id]
	if r == nil {
		return Sent{}, time.Time{}, false
	}
	return r.Sent, s.ledger.now(), true
}

// reportedStatus returns the contract's first word for a status, or the word itself if the contract has it.
func reportedStatus(names *table.Table, status string) string {
	words := names.WebhookDelivery.Statuses
	if meaning, _ := table.Meaning(words, status, true); meaning != "" {
		return status
	}
	return cmp.Or(firstWord(words[status]), status)
}

// fillPlaceholders replaces the placeholders of a callback URL. The longest that fits counts: %tr, not %t.
func (d DeliveryReport) fillPlaceholders(template string, t *table.Table) string {
	var replacements [][]string
	for _, f := range textFields(d, t) {
		placeholder := t.WebhookDelivery.Placeholders[f.name]
		if placeholder == "" {
			continue
		}
		value := strings.ReplaceAll(url.QueryEscape(f.value), "+", "%20") // in a path, a + is not a space
		replacements = append(replacements, []string{placeholder, value})
	}
	slices.SortStableFunc(replacements, func(a, b []string) int { return cmp.Compare(len(b[0]), len(a[0])) })
	return strings.NewReplacer(slices.Concat(replacements...)...).Replace(template)
}

// paramsWithoutPlaceholder returns the parameters that no callback URL can hold, because the contract has no placeholder for them.
func (d DeliveryReport) paramsWithoutPlaceholder(t *table.Table) []param {
	delivery := t.WebhookDelivery
	var params []param
	for _, f := range textFields(d, t) {
		names := delivery.Params[f.name]
		hasPlaceholder := delivery.Placeholders[f.name] != ""
		if !hasPlaceholder && f.value != "" && len(names) > 0 {
			params = append(params, param{names[0], f.value})
		}
	}
	return params
}

// webhookRequest is a request to a webhook, as it is sent one or more times.
type webhookRequest struct {
	callback          Callback
	method, url       string
	contentType, body string
}

// call sends a request to a webhook, as often as the settings say.
func (s *Server) call(ctx context.Context, request webhookRequest, settings callSettings) []CallResult {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := context.AfterFunc(s.closed, func() { end(errClosed) }) //nolint:contextcheck // in addition to the caller's context
	defer stop()
	if s.closed.Err() != nil {
		end(errClosed) // AfterFunc calls its function in a goroutine, perhaps after the request
	}
	c := newCaller(settings)
	defer c.client.CloseIdleConnections()

	results := make([][]CallResult, settings.copies)
	var done sync.WaitGroup
	c.unconnected.Add(len(results))
	for i := range results {
		done.Go(func() { results[i] = c.deliver(ctx, request) })
	}
	done.Wait()
	return slices.Concat(results...)
}

// A caller makes the requests of one call. Those of several copies are sent in the same instant.
type caller struct {
	client      *http.Client
	settings    callSettings
	unconnected sync.WaitGroup // counts the copies without a connection
}

func newCaller(settings callSettings) *caller {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true) // HTTP/2 would send all copies over one connection
	return &caller{
		settings: settings,
		client: &http.Client{
			Transport:     &http.Transport{Protocols: protocols, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// deliver calls until a response is final. The first request is sent when all copies have a connection.
func (c *caller) deliver(ctx context.Context, request webhookRequest) []CallResult {
	connected := sync.OnceFunc(c.unconnected.Done)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		connected()
		c.unconnected.Wait()
	}})
	var results []CallResult
	for attempt := 1; ; attempt++ {
		result := c.try(ctx, request, attempt)
		connected() // even without a connection: the other copy must not wait forever
		isSent := result.Attempt > 0
		if isSent || attempt == 1 { // a retry that was not sent is not a result
			results = append(results, result)
		}
		if !isSent || isFinal(result.StatusCode) || attempt > c.settings.retries {
			return results
		}
		if !sleep(ctx, pauseFor(result.Header.Get("Retry-After"))) {
			return results
		}
	}
}

// isFinal reports whether the service does not call again after a response with this status; zero means no response.
func isFinal(status int) bool {
	return status != 0 && status != http.StatusTooManyRequests && status < http.StatusInternalServerError
}

func (c *caller) try(ctx context.Context, request webhookRequest, attempt int) CallResult {
	result := CallResult{Callback: request.callback}
	if ctx.Err() != nil {
		result.Err = fmt.Errorf("messagingtest: not sent: %w", context.Cause(ctx))
		return result
	}
	tooLate := fmt.Errorf("none within %v: %w", c.settings.timeout, context.DeadlineExceeded)
	ctx, cancel := context.WithTimeoutCause(ctx, c.settings.timeout, tooLate)
	defer cancel()
	// net/http retries a request by itself if it knows the type of the body. Hide the type, so that each request has its result.
	body := io.NopCloser(strings.NewReader(request.body))
	req, err := http.NewRequestWithContext(ctx, request.method, request.url, body)
	if err != nil {
		result.Err = errors.New("messagingtest: the URL of the webhook cannot be used")
		return result
	}
	req.ContentLength = int64(len(request.body))
	if request.contentType != "" {
		req.Header.Set("Content-Type", request.contentType)
	}
	result.Attempt = attempt
	result.Request = req
	result.RequestBody = request.body
	result.At = time.Now()
	err = result.read(c.client.Do(req)) //nolint:bodyclose // read closes it
	result.Took = time.Since(result.At)
	if err != nil {
		result.Err = fmt.Errorf("messagingtest: no complete response: %w", cmp.Or(context.Cause(ctx), withoutURL(err)))
	}
	return result
}

// read reads a response, or returns the error of the request.
func (r *CallResult) read(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	r.StatusCode = resp.StatusCode
	r.Header = resp.Header
	r.Body, err = io.ReadAll(io.LimitReader(resp.Body, maxResultBody))
	return err //nolint:wrapcheck // the caller wraps it
}

func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// sleep waits for d, and reports false if the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// pauseFor returns a hundredth of the seconds in a Retry-After header, or of one second without one.
func pauseFor(retryAfter string) time.Duration {
	const longest = 25 // seconds
	seconds, err := strconv.ParseUint(retryAfter, 10, 63)
	if err != nil {
		seconds = 1
	}
	return time.Duration(min(seconds, longest)) * time.Second / 100
}

// A CallOption changes how the service calls a webhook, for [Server.CallWebhook], [Server.ReportDelivery] and [NewRequest]. If two
// options set the same thing, such as AsForm and AsJSON, the last one wins. A nil option is ignored.
type CallOption func(*callSettings)

type callSettings struct {
	names    *table.Table
	encoding string // "form" or "json"; "" is that of the contract
	copies   int    // requests in the same instant
	retries  int
	timeout  time.Duration

	errorCode string    // of a delivery report
	statusAt  time.Time // of a delivery report, or zero for now
}

func newCallSettings(names *table.Table, opts []CallOption) callSettings {
	settings := callSettings{names: names, copies: 1, timeout: webhookTimeout}
	for _, opt := range opts {
		if opt != nil {
			opt(&settings)
		}
	}
	return settings
}

// encodingOf returns the encoding of a callback: the one of the options or, without one, that of the contract.
func (s callSettings) encodingOf(callback Callback) string {
	return cmp.Or(s.encoding, s.names.Webhooks()[callback.section()].Encoding)
}

// write returns the request for a callback.
func (s callSettings) write(target string, callback Callback) webhookRequest {
	request := webhookRequest{callback: callback, method: http.MethodPost, url: target}
	switch s.encodingOf(callback) {
	case "json":
		request.contentType = "application/json"
		request.body = jsonBody(callback, s.names)
	case "form":
		request.contentType = "application/x-www-form-urlencoded"
		request.body = queryOf(paramsOf(callback, s.names))
	default:
		request.method = http.MethodGet
		request.url = withQuery(target, queryOf(paramsOf(callback, s.names)))
	}
	return request
}

// AsForm calls the webhook by POST, with the parameters as a form.
func AsForm() CallOption { return func(s *callSettings) { s.encoding = "form" } }

// AsJSON calls the webhook by POST, with the parameters as a JSON object: the names of the contract are paths in it. If the
// contract has a list of events, the object is the only element of that list. A parameter of Extra replaces a field that has its name, and the
// values of one name are joined by commas.
func AsJSON() CallOption { return func(s *callSettings) { s.encoding = "json" } }

// UnderContract writes a callback under the names of a contract. Without it, a server uses the names of its own contract, and
// [NewRequest] uses the default contract.
func UnderContract(c contract.Contract) CallOption {
	return func(s *callSettings) { s.names = table.Of(c) }
}

// TwiceAtOnce delivers the callback twice in the same instant, over two connections. The results of one delivery come before the
// results of the other. A correct receiver handles the callback once: it responds to the other delivery with 200 if the first is
// done by then, and otherwise with 503 and Retry-After.
func TwiceAtOnce() CallOption { return func(s *callSettings) { s.copies = 2 } }

// WithErrorCode makes [Server.ReportDelivery] report why a message was not delivered, such as "131026" of chat app 2's platform. It has no effect
// on other callbacks.
func WithErrorCode(code string) CallOption { return func(s *callSettings) { s.errorCode = code } }

// WithStatusTime makes [Server.ReportDelivery] report when the status was reached, and not the time by the server's clock. A report that repeats the
// time of an earlier one is a duplicate, which a correct receiver handles once. It has no effect on other callbacks.
func WithStatusTime(at time.Time) CallOption { return func(s *callSettings) { s.statusAt = at } }

// RetryFailures retries a delivery up to that many times if the webhook gave no response, or one with status 429 or 5xx. The
// seconds of Retry-After, or one second without it, pass a hundred times faster, and take at most 250 ms. RetryFailures panics if
// times is below 1.
func RetryFailures(times int) CallOption {
	panicUnless(times >= 1, "RetryFailures(%d): the number of retries is below 1", times)
	return func(s *callSettings) { s.retries = times }
}
