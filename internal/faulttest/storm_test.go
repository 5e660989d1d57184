package faulttest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

var stormReal = flag.Bool("storm", false, "run the storms over loopback connections, for 12 s each, instead of in memory")

const (
	calm     = time.Second // before a storm
	stormFor = 8 * time.Second
	whole    = 12 * time.Second
	latency  = 40 * time.Millisecond // of a response in calm
	senders  = 64
)

// reply is what a service does with a request; status 0 is a broken connection.
type reply struct {
	status     int
	body       string
	retryAfter string
	latency    time.Duration
}

func accepts(n int64) reply {
	return reply{status: http.StatusOK, body: fmt.Sprintf(`{"status":"ok","data":{"id":"m-%d"}}`, n), latency: latency}
}

// stormy is a service that plays a storm, and remembers when requests came and when it accepted messages.
type stormy struct {
	react func(since time.Duration, n int64, to string) reply
	began time.Time
	count atomic.Int64

	mu                 sync.Mutex
	requests, accepted []time.Duration
}

func (s *stormy) reply(to string) reply {
	since := time.Since(s.began)
	r := s.react(since, s.count.Add(1), to)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, since)
	if r.status == http.StatusOK {
		s.accepted = append(s.accepted, since)
	}
	return r
}

func within(times []time.Duration, from, to time.Duration) (n int) {
	for _, at := range times {
		if at >= from && at < to {
			n++
		}
	}
	return n
}

// nth returns how long after a moment the n-th comes, or an hour if it never does.
func nth(times []time.Duration, from time.Duration, n int) time.Duration {
	later := slices.DeleteFunc(slices.Sorted(slices.Values(times)), func(at time.Duration) bool { return at < from })
	if len(later) < n {
		return time.Hour
	}
	return later[n-1] - from
}

func recipient(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	_, after, _ := strings.Cut(string(body), `"to":"`)
	to, _, _ := strings.Cut(after, `"`)
	return to
}

// RoundTrip plays the service in memory, where time is that of synctest.
func (s *stormy) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := s.reply(recipient(r))
	if reply.latency > 0 {
		select {
		case <-time.After(reply.latency):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	if reply.status == 0 {
		return nil, errReset
	}
	h := http.Header{}
	if reply.retryAfter != "" {
		h.Set("Retry-After", reply.retryAfter)
	}
	return &http.Response{
		StatusCode: reply.status, Header: h, ContentLength: int64(len(reply.body)), Body: io.NopCloser(strings.NewReader(reply.body)),
	}, nil
}

var errReset = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}

func (s *stormy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	reply := s.reply(recipient(r))
	time.Sleep(reply.latency)
	if reply.status == 0 {
		panic(http.ErrAbortHandler)
	}
	if reply.retryAfter != "" {
		w.Header().Set("Retry-After", reply.retryAfter)
	}
	w.WriteHeader(reply.status)
	_, _ = io.WriteString(w, reply.body)
}

// run plays the service for a client with the default settings, over loopback connections or in memory.
func (s *stormy) run(t *testing.T, play func(t *testing.T, client *messaging.Client)) {
	t.Helper()
	if *stormReal {
		server := httptest.NewServer(s)
		defer server.Close()
		client, err := messaging.NewClient(server.URL, messaging.WithToken(testToken))
		require.NoError(t, err)
		s.began = time.Now()
		play(t, client)
		return
	}
	synctest.Test(t, func(t *testing.T) {
		client, err := messaging.NewClient(baseURL, messaging.WithToken(testToken), messaging.WithHTTPClient(&http.Client{Transport: s}))
		require.NoError(t, err)
		s.began = time.Now()
		play(t, client)
	})
}

// A tally counts verdicts.
type tally struct {
	accepted, refused, unknown, notSent atomic.Int64
}

func (c *tally) count(err error) {
	switch messaging.VerdictOf(err) {
	case messaging.Accepted:
		c.accepted.Add(1)
	case messaging.Refused:
		c.refused.Add(1)
	case messaging.NotSent:
		c.notSent.Add(1)
	default:
		c.unknown.Add(1)
	}
}

// toMany yields messages without end, to ten recipients in turn and, once in 5,000 messages, to the eleventh.
func toMany(yield func(sms.Message) bool) {
	for i := 0; ; i++ {
		to := fmt.Sprintf("+63917123450%d", i%10)
		if i%5000 == 100 {
			to = "+639171234599"
		}
		if !yield(sms.Message{From: "ACME", To: to, Text: "x", ReferenceID: fmt.Sprint("r-", i)}) {
			return
		}
	}
}

// sendAllFor sends new messages until the time is over, lets those that wait then go for as long as rest, and counts the outcomes.
func sendAllFor(t *testing.T, client *messaging.Client, length, rest time.Duration) *tally {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length+rest)
	defer cancel()
	began := time.Now()
	messages := func(yield func(sms.Message) bool) {
		for m := range toMany {
			if time.Since(began) > length-5*latency || !yield(m) { // so that the context cuts no send under way
				return
			}
		}
	}
	var counts tally
	for out := range client.SMS.SendAll(ctx, messages, senders) {
		counts.count(out.Err)
	}
	return &counts
}

// page is what a proxy writes.
const page = "<html><body>Bad Gateway</body></html>"

func TestStorm(t *testing.T) {
	// A failure takes a moment, too. With none, the failures of an instant mix with the successes of that instant in an order that
	// the scheduler draws, and the breaker cannot tell that they are later.
	storm := func(bad reply) func(time.Duration, int64, string) reply {
		bad.latency = time.Millisecond
		return func(since time.Duration, n int64, _ string) reply {
			if since >= calm && since < calm+stormFor {
				return bad
			}
			return accepts(n)
		}
	}
	rows := []struct {
		name          string
		bad           reply
		requests      float64 // a second, after the first second of the storm
		givenUp       int64
		withoutReturn bool // the pause outlasts the storm
	}{
		{name: "503, Retry-After 1", bad: reply{status: 503, body: `{}`, retryAfter: "1"}, requests: 2, givenUp: 86},
		{name: "500", bad: reply{status: 500, body: `{}`}, requests: 2, givenUp: 86},
		{name: "502, a page", bad: reply{status: 502, body: page}, requests: 2, givenUp: 86},
		{name: "connections reset", bad: reply{}, requests: 2, givenUp: 86},
		{name: "402, no credit", bad: reply{status: 402, body: `{"code":"200101"}`}, requests: 2, givenUp: 86},
		{name: "401", bad: reply{status: 401, body: `{"code":"40001"}`}, requests: 2, givenUp: 86},
		{name: "429, Retry-After 61", bad: reply{status: 429, body: `{}`, retryAfter: "61"}, requests: 2, givenUp: 90, withoutReturn: true},
		{name: "429", bad: reply{status: 429, body: `{}`}, requests: 2, givenUp: 36},
		{name: "429, Retry-After 1", bad: reply{status: 429, body: `{}`, retryAfter: "1"}, requests: 2, givenUp: 36},
	}
	for _, tc := range rows {
		t.Run(tc.name, func(t *testing.T) {
			s := &stormy{react: storm(tc.bad)}
			s.run(t, func(t *testing.T, client *messaging.Client) {
				t.Helper()
				counts := sendAllFor(t, client, whole, 5*time.Second) // so that none is cut that is on its way
				perSecond := float64(within(s.requests, calm+time.Second, calm+stormFor)) / (stormFor - time.Second).Seconds()
				givenUp := counts.refused.Load() + counts.unknown.Load()
				assert.LessOrEqual(t, perSecond, tc.requests, "requests a second")
				assert.LessOrEqual(t, givenUp, tc.givenUp, "refused and unknown")
				speed := "waits as long as it was asked"
				if !tc.withoutReturn {
					// After so many successes the breaker bounds 64 senders no more.
					returned := nth(s.accepted, calm+stormFor, 2*senders)
					assert.Less(t, returned, 2*time.Second, "full speed after the storm")
					speed = fmt.Sprintf("full speed after %.1f s", returned.Seconds())
				}
				if !tc.withoutReturn && !*stormReal { // a machine has no speed of its own in memory
					before, after := within(s.accepted, calm/2, calm), within(s.accepted, whole-calm, whole-calm/2)
					assert.GreaterOrEqual(t, float64(after), 0.9*float64(before), "messages in half a second")
				}
				record(t, tc.name, fmt.Sprintf("%.1f", perSecond), fmt.Sprint(givenUp), speed)
			})
		})
	}

	t.Run("takes 50 a second", func(t *testing.T) {
		var mu sync.Mutex
		var window, taken int
		s := &stormy{react: func(since time.Duration, n int64, _ string) reply {
			mu.Lock()
			defer mu.Unlock()
			if second := int(since / time.Second); second != window {
				window, taken = second, 0
			}
			if taken++; taken > 50 {
				return reply{status: 429, body: `{}`, retryAfter: "1"}
			}
			return reply{status: 200, body: accepts(n).body}
		}}
		s.run(t, func(t *testing.T, client *messaging.Client) {
			t.Helper()
			counts := sendAllFor(t, client, whole, 0)
			perSecond := float64(len(s.requests)) / whole.Seconds()
			givenUp := counts.refused.Load() + counts.unknown.Load()
			assert.LessOrEqual(t, perSecond, 100.0, "requests a second")
			assert.LessOrEqual(t, givenUp, int64(100), "refused and unknown")
			assert.GreaterOrEqual(t, len(s.accepted), 85*50*12/100)
			record(t, "takes 50 a second, 429 with Retry-After 1 beyond", fmt.Sprintf("%.1f", perSecond), fmt.Sprint(givenUp),
				fmt.Sprintf("%d of 600 accepted", len(s.accepted)))
		})
	})

	t.Run("Send with 300 ms", func(t *testing.T) {
		const down = 6 * time.Second
		s := &stormy{react: func(since time.Duration, n int64, _ string) reply {
			if since >= calm && since < calm+down {
				return reply{status: 503, body: `{}`}
			}
			return accepts(n)
		}}
		s.run(t, func(t *testing.T, client *messaging.Client) {
			t.Helper()
			var counts tally
			var callers sync.WaitGroup
			var longest, stalled atomic.Int64
			for i := range 16 {
				callers.Go(func() {
					for time.Since(s.began) < calm+down+3*time.Second {
						ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
						began := time.Now()
						_, err := client.SMS.Send(ctx, sms.Message{From: "ACME", To: "+639171234567", Text: "x", ReferenceID: fmt.Sprint(i)})
						took := time.Since(began)
						longest.Store(max(longest.Load(), int64(took)))
						cancel()
						counts.count(err)
						if messaging.VerdictOf(err) == messaging.Unknown && errors.Is(err, context.DeadlineExceeded) {
							stalled.Add(1) // the machine stood still: the service responds long before
						}
						time.Sleep(20 * time.Millisecond)
					}
				})
			}
			callers.Wait()
			perSecond := float64(within(s.requests, calm+time.Second, calm+down)) / (down - time.Second).Seconds()
			assert.LessOrEqual(t, perSecond, 3.0, "requests a second")
			unknown := counts.unknown.Load() - stalled.Load()
			assert.LessOrEqual(t, unknown, int64(40))
			assert.Zero(t, counts.refused.Load())
			assert.Less(t, time.Duration(longest.Load()), 400*time.Millisecond, "no call outlasts its context")
			first := nth(s.accepted, calm+down, 1)
			assert.Less(t, first, 2*time.Second, "accepted again")
			record(t, "503 for 6 s, 16 goroutines of Send with 300 ms each", fmt.Sprintf("%.1f", perSecond),
				fmt.Sprintf("%d unknown", unknown), fmt.Sprintf("accepted after %.1f s", first.Seconds()))
		})
	})
}

// TestTroubleOfOneMessageBlocksNoOther compares the throughput with and without other messages in trouble.
func TestTroubleOfOneMessageBlocksNoOther(t *testing.T) {
	const length = 4 * time.Second
	throughput := func(t *testing.T, react func(time.Duration, int64, string) reply) int {
		t.Helper()
		s := &stormy{react: react}
		s.run(t, func(t *testing.T, client *messaging.Client) {
			t.Helper()
			sendAllFor(t, client, length, 0)
		})
		return len(s.requests)
	}
	none := 0
	t.Run("without trouble", func(t *testing.T) {
		none = throughput(t, func(_ time.Duration, n int64, _ string) reply { return accepts(n) })
	})
	down := reply{status: 503, body: `{}`, latency: latency}
	for name, react := range map[string]func(time.Duration, int64, string) reply{
		"one request in five fails": func(_ time.Duration, n int64, _ string) reply {
			h := fnv.New64a()
			_, _ = fmt.Fprint(h, n)
			if h.Sum64()%5 == 0 {
				return down
			}
			return accepts(n)
		},
		"one recipient of ten always fails": func(_ time.Duration, n int64, to string) reply {
			if to == "+639171234503" {
				return down
			}
			return accepts(n)
		},
		"one is always throttled for 60 s": func(_ time.Duration, n int64, to string) reply {
			if to == "+639171234599" {
				return reply{status: 429, body: `{}`, retryAfter: "60", latency: latency}
			}
			return accepts(n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := throughput(t, react)
			assert.GreaterOrEqual(t, float64(got), 0.9*float64(none), "requests, and %d without trouble", none)
			record(t, name, "", "", fmt.Sprintf("%.2f of the throughput without", float64(got)/float64(none)))
		})
	}
}

// record prints what a storm cost: requests a second, messages refused and unknown, and what came after.
func record(t *testing.T, cells ...string) {
	t.Helper()
	t.Log("| " + strings.Join(cells, " | ") + " |")
}
