package messagingtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/webhook"
)

// A hook is a webhook that keeps its requests.
type hook struct {
	URL string

	mu       sync.Mutex
	requests []*http.Request
}

// newHook serves each request by a function that gets its number, from 1; by a 200 if it is nil.
func newHook(t *testing.T, serve func(n int, w http.ResponseWriter, r *http.Request)) *hook {
	t.Helper()
	h := &hook{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests = append(h.requests, r)
		n := len(h.requests)
		h.mu.Unlock()
		if serve != nil {
			serve(n, w, r)
		}
	}))
	t.Cleanup(srv.Close)
	h.URL = srv.URL + "/hook"
	return h
}

// came returns the values of a parameter, in order of arrival.
func (h *hook) came(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var values []string
	for _, r := range h.requests {
		values = append(values, r.URL.Query().Get(name))
	}
	return values
}

// callTimes calls a webhook with n messages, one after the other, and returns all replies.
func callTimes(ctx context.Context, s *Server, target string, n int, opts ...CallOption) []CallResult {
	var replies []CallResult
	for i := range n {
		message := InboundSMS{ID: strconv.Itoa(i), From: "639171234567"}
		replies = append(replies, s.CallWebhook(ctx, target, message, opts...)...)
	}
	return replies
}

func statuses(replies []CallResult) []int {
	var codes []int
	for _, r := range replies {
		codes = append(codes, r.StatusCode)
	}
	return codes
}

func TestCallWebhookSendsPlainGET(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	heads := make(chan string, 2)
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(c)
			var head strings.Builder
			for {
				line, err := r.ReadString('\n')
				head.WriteString(line)
				if err != nil || line == "\r\n" {
					break
				}
			}
			heads <- head.String()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			_ = c.Close()
		}
	}()
	target := "http://user:pass@" + listener.Addr().String() + "/a%2Fb?key=%zz;+x#part"
	m := InboundSMS{From: "+639171234567", Text: "100% a;b é caf\xe9 %zz\n"}
	replies := NewServer(t).CallWebhook(t.Context(), target, m, nil)
	assert.Equal(t, []int{200}, statuses(replies))
	const query = "from=%2B639171234567&message=100%25+a%3Bb+%C3%A9+caf%E9+%25zz%0A"
	assert.Equal(t, "GET /a%2Fb?key=%zz;+x&"+query+" HTTP/1.1\r\n"+
		"Host: "+listener.Addr().String()+"\r\nUser-Agent: Go-http-client/1.1\r\nAuthorization: Basic dXNlcjpwYXNz\r\n\r\n", <-heads)
}

func TestCallWebhookReturnsResults(t *testing.T) {
	t.Parallel()
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		switch n {
		case 1:
			w.Header().Set("Cache-Control", "no-store")
		case 2:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "not now")
		case 3:
			w.Header().Set("Retry-After", date)
			w.WriteHeader(http.StatusNotFound)
		case 4:
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case 5:
			panic(http.ErrAbortHandler)
		case 6:
			_, _ = w.Write(make([]byte, 2*maxResultBody))
		case 7:
			w.Header().Set("Content-Length", "10")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	})
	replies := callTimes(t.Context(), NewServer(t), h.URL, 7)
	require.Len(t, replies, 7)
	assert.Equal(t, []int{200, 503, 404, 307, 0, 200, 200}, statuses(replies))
	for i, r := range replies {
		assert.Equal(t, strconv.Itoa(i), r.Callback.(InboundSMS).ID)
		assert.Equal(t, 1, r.Attempt)
		assert.Equal(t, i == 4, r.Header == nil)
		assert.Equal(t, i == 4 || i == 6, r.Err != nil, "%v", r.Err)
	}
	assert.Equal(t, "no-store", replies[0].Header.Get("Cache-Control"))
	assert.Empty(t, replies[0].Body)
	assert.Equal(t, "not now", string(replies[1].Body))
	require.EqualError(t, replies[4].Err, "messagingtest: no complete response: EOF")
	assert.Len(t, replies[5].Body, maxResultBody)
	assert.Equal(t, "half", string(replies[6].Body))
	require.ErrorIs(t, replies[6].Err, io.ErrUnexpectedEOF)
	assert.Len(t, h.came("messageId"), 7, "nothing is sent again, and no redirect is followed")
}

func TestCallWebhookNothing(t *testing.T) {
	t.Parallel()
	h := newHook(t, nil)
	assert.Equal(t, []int{200}, statuses(NewServer(t).CallWebhook(t.Context(), h.URL, InboundSMS{})))
	assert.Equal(t, []string{""}, h.came("from"))
}

func TestTwiceAtOnce(t *testing.T) {
	t.Parallel()
	var meeting sync.WaitGroup
	meeting.Add(2)
	h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n <= 2 {
			meeting.Done()
			meeting.Wait() // for ever, if the second came after the response to the first
		}
		w.WriteHeader(200 + n%2)
	})
	replies := callTimes(t.Context(), NewServer(t), h.URL+"?key=s3cret", 3, TwiceAtOnce())
	require.Len(t, replies, 6)
	assert.Equal(t, []string{"0", "0", "1", "1", "2", "2"}, h.came("messageId"))
	assert.ElementsMatch(t, []int{201, 200}, statuses(replies[:2]), "each has its own")
	h.mu.Lock()
	defer h.mu.Unlock()
	assert.Equal(t, h.requests[0].RequestURI, h.requests[1].RequestURI)
	assert.NotEqual(t, h.requests[0].RemoteAddr, h.requests[1].RemoteAddr)
}

func TestTwiceAtOnceWithoutListener(t *testing.T) {
	t.Parallel()
	// No server of another test is given a port so low.
	replies := callTimes(t.Context(), NewServer(t), "http://127.0.0.1:1", 2, TwiceAtOnce(), RetryFailures(1))
	require.Len(t, replies, 8)
	for i, r := range replies {
		assert.Error(t, r.Err)
		assert.Equal(t, i%2+1, r.Attempt)
	}
}

func TestRetryFailures(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status   func(n int) int
		times    int
		statuses []int
	}{
		"handled at last":        {func(n int) int { return []int{0, 500, 503, 200}[n] }, 9, []int{500, 503, 200}},
		"handled at once":        {func(int) int { return 204 }, 9, []int{204}},
		"never handled":          {func(int) int { return 500 }, 3, []int{500, 500, 500, 500}},
		"no response":            {func(n int) int { return []int{0, 0, 0, 200}[n] }, 9, []int{0, 0, 200}},
		"too many requests":      {func(n int) int { return []int{0, 429, 200}[n] }, 9, []int{429, 200}},
		"what can never be read": {func(int) int { return 400 }, 9, []int{400}},
		"wrong proof":            {func(int) int { return 403 }, 9, []int{403}},
		"a redirect is final":    {func(int) int { return 302 }, 9, []int{302}},
		"the last is final":      {func(n int) int { return []int{0, 599, 404}[n] }, 9, []int{599, 404}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if tt.status(n) == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(tt.status(n))
			})
			replies := NewServer(t).CallWebhook(t.Context(), h.URL+"?key=s3cret", fullSMS, RetryFailures(tt.times))
			assert.Equal(t, tt.statuses, statuses(replies))
			h.mu.Lock()
			defer h.mu.Unlock()
			require.Len(t, h.requests, len(tt.statuses))
			for i, r := range replies {
				assert.Equal(t, i+1, r.Attempt)
				assert.Equal(t, h.requests[0].RequestURI, h.requests[i].RequestURI)
			}
		})
	}
}

func TestCallWebhookDoesNotRetryByDefault(t *testing.T) {
	t.Parallel()
	h := newHook(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	assert.Equal(t, []int{503}, statuses(NewServer(t).CallWebhook(t.Context(), h.URL, InboundSMS{From: "1"})))
}

func TestPauseIsShort(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]time.Duration{
		"":                              10 * time.Millisecond,
		"0":                             0,
		"1":                             10 * time.Millisecond,
		"5":                             50 * time.Millisecond,
		"25":                            250 * time.Millisecond,
		"9223372036854775807":           250 * time.Millisecond,
		"99999999999999999999":          10 * time.Millisecond,
		"-1":                            10 * time.Millisecond,
		"1.5":                           10 * time.Millisecond,
		"soon":                          10 * time.Millisecond,
		"Sat, 03 Oct 2026 12:00:09 GMT": 10 * time.Millisecond,
	} {
		assert.Equal(t, want, pauseFor(asked), asked)
	}
}

func TestRetryFailuresHonorsRetryAfter(t *testing.T) {
	t.Parallel()
	var times []time.Time
	h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		times = append(times, time.Now())
		if n == 1 {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	NewServer(t).CallWebhook(t.Context(), h.URL, InboundSMS{From: "1"}, RetryFailures(1))
	require.Len(t, times, 2)
	assert.GreaterOrEqual(t, times[1].Sub(times[0]), 50*time.Millisecond)
}

func TestCallWebhookEndsAfterItsTimeout(t *testing.T) {
	t.Parallel()
	h := newHook(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			<-r.Context().Done() // the connection is closed
		case 2:
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	assert.Equal(t, 10*time.Second, newCallSettings(defaults(), nil).timeout)
	impatient := func(s *callSettings) { s.timeout = 300 * time.Millisecond }
	replies := callTimes(t.Context(), NewServer(t), h.URL, 3, impatient, RetryFailures(1))
	assert.Equal(t, []int{0, 200, 200}, statuses(replies)[:3])
	require.Len(t, replies, 4)
	require.ErrorIs(t, replies[0].Err, context.DeadlineExceeded)
	require.EqualError(t, replies[0].Err, "messagingtest: no complete response: none within 300ms: context deadline exceeded")
	require.ErrorIs(t, replies[1].Err, context.DeadlineExceeded)
	assert.Equal(t, "half", string(replies[1].Body))
	assert.Equal(t, []string{"0", "0", "1", "2"}, h.came("messageId"), "a status is a response, even if its body is cut")
}

func TestCallWebhookEndsWithContext(t *testing.T) {
	t.Parallel()
	over := errors.New("the test is over")
	for name, opts := range map[string][]CallOption{
		"one":             nil,
		"twice at once":   {TwiceAtOnce()},
		"again and again": {RetryFailures(math.MaxInt)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			h := newHook(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
				cancel(over)
				<-r.Context().Done()
			})
			replies := callTimes(ctx, NewServer(t), h.URL, 9, opts...)
			require.GreaterOrEqual(t, len(replies), 9)
			last := replies[len(replies)-1]
			assert.Zero(t, last.Attempt)
			require.EqualError(t, last.Err, "messagingtest: not sent: the test is over")
			require.ErrorIs(t, replies[0].Err, over)
			for _, r := range replies {
				assert.Error(t, r.Err)
				assert.Zero(t, r.StatusCode)
			}
			assert.LessOrEqual(t, len(h.came("messageId")), 2)
		})
	}
}

func TestCallWebhookEndsPauseWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := newHook(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		time.AfterFunc(300*time.Millisecond, cancel) // long after the first response was read
	})
	replies := NewServer(t).CallWebhook(ctx, h.URL, InboundSMS{}, RetryFailures(math.MaxInt))
	assert.Equal(t, 500, replies[0].StatusCode)
	for i, r := range replies {
		assert.Equal(t, i+1, r.Attempt, "a repetition that was not sent is no reply")
	}
}

func TestCallWebhookEndsWithServer(t *testing.T) {
	t.Parallel()
	s := Start()
	h := newHook(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		s.Close()
		<-r.Context().Done()
	})
	replies := callTimes(t.Context(), s, h.URL, 3)
	require.Len(t, replies, 3)
	require.EqualError(t, replies[0].Err, "messagingtest: no complete response: the server is closed")
	require.EqualError(t, replies[2].Err, "messagingtest: not sent: the server is closed")

	for range 20 {
		replies = s.CallWebhook(t.Context(), h.URL, InboundSMS{}, TwiceAtOnce())
		require.Len(t, replies, 2)
		require.EqualError(t, replies[1].Err, "messagingtest: not sent: the server is closed")
	}
	assert.Len(t, h.came("messageId"), 1)
}

func TestCallResultErrorsContainNoURL(t *testing.T) {
	t.Parallel()
	h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			panic(http.ErrAbortHandler)
		}
		w.Header()["Location"] = []string{"http://[::1"}
		w.WriteHeader(http.StatusFound)
	})
	tls := httptest.NewUnstartedServer(http.NotFoundHandler())
	tls.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	tls.StartTLS()
	defer tls.Close()
	s := NewServer(t)
	m := InboundSMS{From: "639171234567", Text: "hunter2"}
	replies := s.CallWebhook(t.Context(), h.URL+"?key=s3cret", m)
	replies = append(replies, s.CallWebhook(t.Context(), h.URL+"?key=s3cret", m)...)
	replies = append(replies, s.CallWebhook(t.Context(), tls.URL+"/?key=s3cret", m)...)
	replies = append(replies, s.CallWebhook(t.Context(), "http://127.0.0.1:1/?key=s3cret", m)...)
	require.Len(t, replies, 4)
	assert.Error(t, replies[0].Err)
	assert.ErrorContains(t, replies[2].Err, "certificate")
	assert.Error(t, replies[3].Err)
	for _, r := range replies {
		for _, secret := range []string{"s3cret", "639171234567", "hunter2", "key="} {
			assert.NotContains(t, fmt.Sprint(r.Err), secret)
		}
	}
}

func TestCallWebhookLeavesLedgerAlone(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Inject(FaultStatus(503, 0), 1)
	h := newHook(t, nil)
	assert.Equal(t, []int{200}, statuses(s.CallWebhook(t.Context(), h.URL, InboundSMS{From: "1"})))
	assert.Zero(t, s.Requests())
	assert.Empty(t, s.Sent())
	assert.Equal(t, 503, send(t, newClient(t), s, goodBody).status, "the fault is still there")
}

func TestCallWebhookConcurrently(t *testing.T) {
	t.Parallel()
	s, h := NewServer(t), newHook(t, nil)
	shared := InboundSMS{From: "1", Extra: url.Values{"a": {"b"}}}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, r := range s.CallWebhook(t.Context(), h.URL, shared, TwiceAtOnce()) {
				assert.Equal(t, 200, r.StatusCode)
			}
		})
	}
	wg.Wait()
	assert.Len(t, h.came("a"), 16)
}

func TestCallWebhookSendsEverySample(t *testing.T) {
	t.Parallel()
	h := newHook(t, nil)
	s := NewServer(t)
	var want []url.Values
	for _, m := range InboundSamples() {
		values := url.Values{}
		for _, p := range paramsOf(m, defaults()) {
			values.Add(p.name, p.value)
		}
		want = append(want, values)
		s.CallWebhook(t.Context(), h.URL, m)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	require.Len(t, h.requests, len(want))
	for i, r := range h.requests {
		got, err := url.ParseQuery(r.URL.RawQuery)
		require.NoError(t, err)
		assert.Equal(t, want[i], got)
	}
}

func TestCallWebhookRefusesMisuse(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	for _, target := range []string{
		"/hook", "shop.example.com/hook", "ftp://shop.example.com", "http://", "http://a b", "http://127.0.0.1/\n", "http://127.0.0.1/%zz",
	} {
		assert.PanicsWithValue(t, "messagingtest: CallWebhook: the target is not an absolute http or https URL",
			func() { s.CallWebhook(t.Context(), target, InboundSMS{}) }, target)
	}
	assert.PanicsWithValue(t, "messagingtest: CallWebhook: the callback is nil",
		func() { s.CallWebhook(t.Context(), s.URL, nil) })
	assert.PanicsWithValue(t, "messagingtest: RetryFailures(0): the number of retries is below 1", func() { RetryFailures(0) })
}

// Not parallel: it counts the goroutines of the process. Tests that are parallel go on when the others have ended.
func TestCallWebhookLeavesNoGoroutine(t *testing.T) {
	h := newHook(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n%3 == 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	s := NewServer(t)
	before := runtime.NumGoroutine()
	for range 5 {
		callTimes(t.Context(), s, h.URL, 20, TwiceAtOnce(), RetryFailures(1))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+1 }, 30*time.Second, time.Millisecond)
}

func TestReportDeliveryHasAnErrorCode(t *testing.T) {
	t.Parallel()
	srv := NewServer(t)
	rcv, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-16-characters"))
	require.NoError(t, err)
	var got webhook.DeliveryReport
	hook := httptest.NewServer(rcv.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		got = report
		return nil
	}))
	defer hook.Close()
	callback, err := rcv.DeliveryURL(hook.URL)
	require.NoError(t, err)
	srv.Seed(Sent{ID: "m-1", From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: "r-1", CallbackURL: callback})
	results := srv.ReportDelivery(t.Context(), "m-1", "failed", WithErrorCode("131026"))
	require.Len(t, results, 1)
	require.NoError(t, results[0].Err)
	assert.Equal(t, http.StatusOK, results[0].StatusCode)
	assert.Equal(t, "131026", got.ErrorCode)
	assert.Equal(t, webhook.StatusFailed, got.Status)
}

// TestReportedTime repeats a report: a receiver handles it again at another time, and once with the time of the first.
func TestReportedTime(t *testing.T) {
	t.Parallel()
	srv := NewServer(t)
	rcv, err := webhook.NewReceiver(webhook.WithSecret("key", "secret-of-16-characters"), webhook.WithStore(webhook.NewMemoryStore(100, time.Hour)))
	require.NoError(t, err)
	var got []time.Time
	hook := httptest.NewServer(rcv.Delivery(func(_ context.Context, report webhook.DeliveryReport) error {
		got = append(got, report.StatusAt)
		return nil
	}))
	defer hook.Close()
	callback, err := rcv.DeliveryURL(hook.URL)
	require.NoError(t, err)
	srv.Seed(Sent{ID: "m-1", From: "ACME", To: "+639171234567", Text: "Hi", CallbackURL: callback})
	first := time.Date(2026, 11, 22, 14, 5, 0, 123456789, time.FixedZone("", 8*60*60))
	for _, at := range []time.Time{first, first, first.Add(time.Second)} {
		results := srv.ReportDelivery(t.Context(), "m-1", "delivered", WithStatusTime(at))
		require.Len(t, results, 1)
		assert.Equal(t, http.StatusOK, results[0].StatusCode)
	}
	begin := first.UTC().Truncate(time.Millisecond)
	assert.Equal(t, []time.Time{begin, begin.Add(time.Second)}, got)
}
