package faulttest_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
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
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/sms"
)

// refuses is the latency of a reply that resets the connection.
const refuses = -1

// An origin is a service in memory with a ledger of the messages that it accepted.
type origin struct {
	react func(since time.Duration, m sms.Message) reply
	began time.Time

	mu       sync.Mutex
	requests []time.Duration
	accepted map[string]int // by reference ID
}

func newOrigin(react func(time.Duration, sms.Message) reply) *origin {
	return &origin{react: react, began: time.Now(), accepted: map[string]int{}}
}

func (o *origin) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, _ := io.ReadAll(r.Body)
	value := func(name string) string {
		_, after, _ := strings.Cut(string(raw), `"`+name+`":"`)
		text, _, _ := strings.Cut(after, `"`)
		return text
	}
	m := sms.Message{To: value("to"), ReferenceID: value("referenceId")}
	since := time.Since(o.began)
	reply := o.react(since, m)
	o.mu.Lock()
	o.requests = append(o.requests, since)
	if reply.status == http.StatusOK && strings.Contains(reply.body, `"id"`) {
		o.accepted[m.ReferenceID]++
	}
	o.mu.Unlock()
	if reply.latency == refuses {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	select {
	case <-time.After(reply.latency):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	h := http.Header{}
	if reply.retryAfter != "" {
		h.Set("Retry-After", reply.retryAfter)
	}
	return &http.Response{
		StatusCode: reply.status, Header: h, ContentLength: int64(len(reply.body)), Body: io.NopCloser(strings.NewReader(reply.body)),
	}, nil
}

// ServeHTTP plays the service over loopback connections.
func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resp, err := o.RoundTrip(r) //nolint:bodyclose // it is in memory
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	maps.Copy(w.Header(), resp.Header)
	w.WriteHeader(resp.StatusCode)
	_, _ = io.Copy(w, resp.Body)
}

// client returns a client whose transport is the origin, within the library's own limits.
func (o *origin) client(t *testing.T, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(baseURL, append([]messaging.Option{
		messaging.WithToken(testToken), messaging.WithTransport(func(http.RoundTripper) http.RoundTripper { return o }),
	}, options...)...)
	require.NoError(t, err)
	return client
}

func (o *origin) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.requests)
}

// most returns the most requests that came within a span of time.
func (o *origin) most(span time.Duration) (most int) {
	for i, at := range o.requests {
		most = max(most, within(o.requests[i:], at, at+span))
	}
	return most
}

// accounts has the verdict of each message.
type accounts struct {
	tally

	mu       sync.Mutex
	verdicts map[string]messaging.Verdict
}

func (c *accounts) add(t *testing.T, reference string, err error) {
	t.Helper()
	c.count(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.verdicts == nil {
		c.verdicts = map[string]messaging.Verdict{}
	}
	_, twice := c.verdicts[reference]
	assert.False(t, twice, "%s has two outcomes", reference)
	c.verdicts[reference] = messaging.VerdictOf(err)
}

// check compares the verdicts with the ledger.
func (c *accounts) check(t *testing.T, o *origin) {
	t.Helper()
	for reference, n := range o.accepted {
		assert.Equal(t, 1, n, "%s is accepted twice", reference)
		verdict, ok := c.verdicts[reference]
		assert.True(t, ok, "%s is lost", reference)
		assert.Contains(t, []messaging.Verdict{messaging.Accepted, messaging.Unknown}, verdict, "%s is misreported", reference)
	}
	for reference, verdict := range c.verdicts {
		if verdict == messaging.Accepted {
			assert.Equal(t, 1, o.accepted[reference], "%s is misreported", reference)
		}
	}
}

// to returns a message to the n-th number.
func to(n int, reference string) sms.Message {
	return sms.Message{From: "ACME", To: fmt.Sprintf("+63917%07d", n), Text: "x", ReferenceID: reference}
}

// campaign sends messages to as many numbers until the time is over or n were taken, and returns the outcomes.
func (o *origin) campaign(t *testing.T, client *messaging.Client, concurrency, n int, length time.Duration) *accounts {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	taken := 0
	messages := func(yield func(sms.Message) bool) {
		for taken < n && time.Since(o.began) < length-time.Second {
			m := to(taken, fmt.Sprint("r-", taken))
			if taken++; !yield(m) {
				return
			}
		}
	}
	var c accounts
	for out := range client.SMS.SendAll(ctx, messages, concurrency) {
		c.add(t, out.Message.ReferenceID, out.Err)
	}
	assert.Equal(t, taken, len(c.verdicts), "one outcome for each") //nolint:testifylint // thousands
	c.check(t, o)
	return &c
}

const manyMore = 1 << 30

func good() reply { return accepts(1) }

// during returns a service with a bad reply for a time, from a second after it began.
func during(length time.Duration, bad reply) func(time.Duration, sms.Message) reply {
	return func(since time.Duration, _ sms.Message) reply {
		if since >= calm && since < calm+length {
			return bad
		}
		return good()
	}
}

func TestManySendsAtOnceMeetTroubleTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(func(time.Duration, sms.Message) reply { return reply{status: 500, body: `{}`, latency: latency} })
		client := o.client(t)
		var c accounts
		var calls sync.WaitGroup
		for i := range 3000 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				_, err := client.SMS.Send(ctx, to(i, fmt.Sprint(i)))
				c.add(t, fmt.Sprint(i), err)
			})
		}
		calls.Wait()
		late := within(o.requests, latency, time.Hour)
		t.Logf("%d requests, %d after the first responses", len(o.requests), late)
		assert.LessOrEqual(t, len(o.requests), 300)
		assert.LessOrEqual(t, late, 20)
		assert.EqualValues(t, len(o.requests), c.unknown.Load())
		assert.EqualValues(t, 3000-len(o.requests), c.notSent.Load())
	})
}

// troubles are the responses of a service in trouble, or of a proxy.
var troubles = map[string]reply{
	"a page with 200": {status: 200, body: page, latency: time.Millisecond},
	"a redirect":      {status: 302, latency: time.Millisecond},
	"a page with 404": {status: 404, body: page, latency: time.Millisecond},
	"a page with 403": {status: 403, body: page, latency: time.Millisecond},
	"nothing":         {status: 200, latency: time.Millisecond},
	"503":             {status: 503, body: `{}`, latency: time.Millisecond},
	"refused":         {latency: refuses},
	"silence":         {latency: time.Hour},
	"a response about another message": {
		status: 200, body: `{"status":"ok","data":{"id":"m-1","referenceId":"quite-another-message"}}`, latency: time.Millisecond,
	},
}

// sendUntil has each sender Send one message after the other until the time is over.
func (o *origin) sendUntil(t *testing.T, clients []*messaging.Client, perClient int, length time.Duration) *accounts {
	t.Helper()
	var c accounts
	var senders sync.WaitGroup
	for i, client := range clients {
		for k := range perClient {
			senders.Go(func() {
				for n := 0; time.Since(o.began) < length; n++ {
					reference := fmt.Sprint("r-", i, "-", k, "-", n)
					ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
					_, err := client.SMS.Send(ctx, to(n, reference))
					cancel()
					c.add(t, reference, err)
				}
			})
		}
	}
	senders.Wait()
	c.check(t, o)
	return &c
}

func TestTroubleCostsFewMessages(t *testing.T) {
	const length = 8 * time.Second
	for name, bad := range troubles {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOrigin(during(length, bad))
				client := o.client(t, messaging.WithTimeout(3*time.Second))
				c := o.campaign(t, client, 16, manyMore, calm+length+4*time.Second)
				t.Logf("SendAll: %d unknown, %d refused", c.unknown.Load(), c.refused.Load())
				assert.LessOrEqual(t, c.unknown.Load()+c.refused.Load(), int64(70))
				assert.Positive(t, within(o.requests, calm+length+2*time.Second, time.Hour), "it is used again")
			})
			synctest.Test(t, func(t *testing.T) {
				o := newOrigin(during(length, bad))
				c := o.sendUntil(t, []*messaging.Client{o.client(t)}, 16, calm+length+2*time.Second)
				t.Logf("Send: %d unknown, %d refused", c.unknown.Load(), c.refused.Load())
				assert.LessOrEqual(t, c.unknown.Load()+c.refused.Load(), int64(70))
				assert.Positive(t, within(o.requests, calm+length, time.Hour), "it is used again")
			})
		})
	}
}

func TestTroubleCostsOnceForAllTenants(t *testing.T) {
	const length = 8 * time.Second
	for name, bad := range troubles {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOrigin(during(length, bad))
				client := o.client(t)
				var tenants []*messaging.Client
				for i := range 16 {
					tenant, err := client.With(messaging.WithToken(fmt.Sprint("tenant-", i)))
					require.NoError(t, err)
					tenants = append(tenants, tenant)
				}
				c := o.sendUntil(t, tenants, 4, calm+length+2*time.Second)
				t.Logf("%d unknown, %d refused", c.unknown.Load(), c.refused.Load())
				assert.LessOrEqual(t, c.unknown.Load()+c.refused.Load(), int64(120))
			})
		})
	}
}

// A program that sends in a loop without a pause must not burn its messages in an outage.
func TestSendBacksOffInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const messages = 20_000
		o := newOrigin(during(2*time.Second, reply{status: 503, body: `{}`, latency: time.Millisecond}))
		client := o.client(t)
		var c accounts
		var next atomic.Int64
		var senders sync.WaitGroup
		for range 16 {
			senders.Go(func() {
				for n := next.Add(1); n <= messages; n = next.Add(1) {
					reference := fmt.Sprint("r-", n)
					_, err := client.SMS.Send(t.Context(), to(int(n), reference))
					c.add(t, reference, err)
				}
			})
		}
		senders.Wait()
		t.Logf("%d accepted, %d unknown, %d not sent", c.accepted.Load(), c.unknown.Load(), c.notSent.Load())
		assert.GreaterOrEqual(t, c.accepted.Load(), int64(19_900))
		c.check(t, o)
	})
}

func TestRateLimitUnderOverload(t *testing.T) {
	for _, tc := range []struct {
		limit    float64
		deadline time.Duration
	}{{10, 2 * time.Second}, {10, 3 * time.Second}, {50, 2 * time.Second}, {50, 3 * time.Second}} {
		t.Run(fmt.Sprint(tc.limit, " a second, ", tc.deadline), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const length = 30 * time.Second
				o := newOrigin(func(time.Duration, sms.Message) reply {
					return reply{status: 200, body: good().body, latency: 200 * time.Millisecond}
				})
				client := o.client(t, messaging.WithRateLimit(tc.limit, 1))
				var c accounts
				var calls sync.WaitGroup
				every := time.Duration(float64(time.Second) / tc.limit / 1.8) // 90 calls a second against 50
				for n := 0; time.Since(o.began) < length; n++ {
					calls.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), tc.deadline)
						defer cancel()
						reference := fmt.Sprint("r-", n)
						_, err := client.SMS.Send(ctx, to(n, reference))
						c.add(t, reference, err)
					})
					time.Sleep(every)
				}
				calls.Wait()
				allowed := tc.limit * length.Seconds()
				t.Logf("%d accepted of %v allowed, %d unknown, %d not sent", c.accepted.Load(), allowed, c.unknown.Load(), c.notSent.Load())
				assert.Zero(t, c.unknown.Load())
				assert.GreaterOrEqual(t, float64(c.accepted.Load()), 0.95*allowed)
				c.check(t, o)
			})
		})
	}
}

func TestHangingTenantCostsTheOthersNothing(t *testing.T) {
	rate := func(t *testing.T, hanging int) (accepted int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := newOrigin(func(_ time.Duration, m sms.Message) reply {
				if strings.HasPrefix(m.ReferenceID, "hangs") {
					return reply{latency: time.Hour}
				}
				return good()
			})
			client := o.client(t)
			tenant, err := client.With(messaging.WithToken("another"))
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			var calls sync.WaitGroup
			for i := range hanging {
				calls.Go(func() { _, _ = tenant.SMS.Send(ctx, to(i, fmt.Sprint("hangs-", i))) })
			}
			synctest.Wait()
			accepted = o.campaign(t, client, 16, manyMore, 25*time.Second).accepted.Load()
			stop()
			calls.Wait()
		})
		return accepted
	}
	without, with := rate(t, 0), rate(t, 300)
	t.Logf("%.2f of the rate, %d of %d", float64(with)/float64(without), with, without)
	assert.GreaterOrEqual(t, float64(with), 0.9*float64(without))
}

// A success takes longer than a failure, so that at first successes of requests from before the trouble come between the failures.
func TestTroubleIsNoticedBesideLateSuccesses(t *testing.T) {
	for _, failure := range []time.Duration{time.Millisecond, 4 * time.Millisecond, 8 * time.Millisecond, 15 * time.Millisecond} {
		t.Run(failure.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				trouble := during(8*time.Second, reply{status: 502, body: page, latency: failure})
				var count atomic.Int64
				o := newOrigin(func(since time.Duration, m sms.Message) reply {
					r := trouble(since, m)
					if r.status == http.StatusOK {
						r.latency = latency/2 + time.Duration(count.Add(1)*7%41)*time.Millisecond
					}
					return r
				})
				o.campaign(t, o.client(t), senders, manyMore, 12*time.Second)
				failed := within(o.requests, calm, calm+8*time.Second)
				t.Logf("%d failed", failed)
				assert.LessOrEqual(t, failed, 70)
			})
		})
	}
}

func TestRateLimitHoldsAfterAnOutage(t *testing.T) {
	for name, bad := range map[string]reply{
		"503": {status: 503, body: `{}`, latency: latency}, "429": {status: 429, body: `{}`, latency: latency},
		"no credit": {status: 402, body: `{}`, latency: latency},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newOrigin(during(5*time.Second, bad))
				c := o.campaign(t, o.client(t, messaging.WithRateLimit(20, 1)), senders, manyMore, 12*time.Second)
				most, aSecond := o.most(100*time.Millisecond), o.most(time.Second)
				t.Logf("%d in 100 ms, %d in a second, %d unknown", most, aSecond, c.unknown.Load())
				assert.LessOrEqual(t, most, 4)
				assert.LessOrEqual(t, aSecond, 22)
				assert.LessOrEqual(t, c.unknown.Load(), int64(40))
				assert.GreaterOrEqual(t, within(o.requests, 10*time.Second, 11*time.Second), 18, "it is used again")
			})
		})
	}
}

func TestThrottledRecipientBlocksNoOther(t *testing.T) {
	run := func(t *testing.T, slow bool) (n int) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := newOrigin(func(_ time.Duration, m sms.Message) reply {
				if slow && strings.HasSuffix(m.To, "00") {
					return reply{status: 429, body: `{}`, retryAfter: "60", latency: 10 * latency}
				}
				return reply{status: 200, body: good().body, latency: 10 * latency}
			})
			n = int(o.campaign(t, o.client(t), senders, manyMore, 70*time.Second).accepted.Load())
		})
		return n
	}
	without, with := run(t, false), run(t, true)
	t.Logf("%.2f of the throughput", float64(with)/float64(without))
	assert.GreaterOrEqual(t, float64(with), 0.95*float64(without))
}

// With -storm it runs over loopback connections.
func TestHangingChannelCostsTheOthersNothing(t *testing.T) {
	measure := func(t *testing.T, o *origin, client *messaging.Client, hanging int) int64 {
		t.Helper()
		var calls sync.WaitGroup
		defer calls.Wait()
		for range hanging {
			calls.Go(func() {
				m := chatapp1.New("channel-1", "+639170000001").Text("x")
				m.ReferenceID = "hangs"
				_, err := client.ChatApp1.Send(t.Context(), m)
				assert.Error(t, err)
			})
		}
		for o.count() < hanging {
			time.Sleep(time.Millisecond)
		}
		o.began = time.Now()
		return o.campaign(t, client, senders, manyMore, 3*time.Second).accepted.Load()
	}
	rate := func(hanging int) (n int64) {
		react := func(_ time.Duration, m sms.Message) reply {
			if m.ReferenceID == "hangs" {
				return reply{latency: time.Hour}
			}
			return good()
		}
		timeout := messaging.WithTimeout(4 * time.Second)
		if *stormReal {
			o := newOrigin(react)
			server := httptest.NewServer(o)
			defer server.Close()
			client, err := messaging.NewClient(server.URL, messaging.WithToken(testToken), timeout)
			require.NoError(t, err)
			return measure(t, o, client, hanging)
		}
		synctest.Test(t, func(t *testing.T) {
			o := newOrigin(react)
			n = measure(t, o, o.client(t, timeout), hanging)
		})
		return n
	}
	without, with := rate(0), rate(256)
	t.Logf("%.2f of the rate, %d of %d", float64(with)/float64(without), with, without)
	assert.GreaterOrEqual(t, float64(with), 0.9*float64(without))
}

func TestNumberInTroubleIsNotEverybodysTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const bad = 999
		o := newOrigin(func(_ time.Duration, m sms.Message) reply {
			if m.To == to(bad, "").To {
				return reply{status: 500, body: `{}`, latency: latency}
			}
			return good()
		})
		client := o.client(t)
		var c, ofBad accounts
		var calls sync.WaitGroup
		send := func(n int, reference string, counts *accounts) {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := client.SMS.Send(ctx, to(n, reference))
				counts.add(t, reference, err)
			})
		}
		for i := range 25 * 6 {
			send(bad, fmt.Sprint("bad-", i), &ofBad)
			if i%6 == 3 {
				send(i, fmt.Sprint("good-", i), &c)
			}
			time.Sleep(time.Second / 6)
		}
		calls.Wait()
		t.Logf("%d of 25 not sent", 25-c.accepted.Load())
		assert.GreaterOrEqual(t, c.accepted.Load(), int64(24))
	})
}

func TestAuthThatIgnoresItsContextHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(during(2*time.Second, reply{status: 503, body: `{}`, latency: latency}))
		client := o.client(t)
		tenant, err := client.With(messaging.WithAuth(func(*http.Request) error {
			time.Sleep(20 * time.Second)
			return nil
		}))
		require.NoError(t, err)
		var calls sync.WaitGroup
		time.Sleep(calm)
		for i := range 20 {
			_, _ = client.SMS.Send(t.Context(), to(i, fmt.Sprint("first-", i)))
			if client.Breaker(messaging.ChannelSMS).Open {
				break
			}
		}
		for i := range 8 {
			calls.Go(func() { _, _ = tenant.SMS.Send(t.Context(), to(100+i, fmt.Sprint("tenant-", i))) })
		}
		synctest.Wait()
		var c accounts
		for i := range 20 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()
				_, err := client.SMS.Send(ctx, to(200+i, fmt.Sprint(i)))
				c.add(t, fmt.Sprint(i), err)
			})
		}
		calls.Wait()
		t.Logf("%d of 20 held", 20-c.accepted.Load()-c.unknown.Load())
		assert.LessOrEqual(t, c.unknown.Load(), int64(4), "probes that met the outage")
		assert.EqualValues(t, 20, c.accepted.Load()+c.unknown.Load())
	})
}

func TestSilenceIsTroubleWhoeversTimeItEnds(t *testing.T) {
	for name, tc := range map[string]struct{ timeout, context time.Duration }{
		"timeouts of 3 s": {3 * time.Second, time.Minute}, "contexts of 6 s": {30 * time.Second, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const hang = 8 * time.Second
				o := newOrigin(during(hang, reply{latency: time.Hour}))
				client := o.client(t, messaging.WithTimeout(tc.timeout))
				var c accounts
				var callers sync.WaitGroup
				for i := range 40 {
					callers.Go(func() {
						for n := 0; time.Since(o.began) < calm+hang; n++ {
							ctx, cancel := context.WithTimeout(t.Context(), tc.context)
							reference := fmt.Sprint(i, "-", n)
							_, err := client.SMS.Send(ctx, to(100*i+n%100, reference))
							cancel()
							c.add(t, reference, err)
						}
					})
				}
				callers.Wait()
				requests := within(o.requests, calm, calm+hang)
				t.Logf("%d unknown, %d requests", c.unknown.Load(), requests)
				assert.LessOrEqual(t, c.unknown.Load(), int64(60))
				assert.LessOrEqual(t, requests, 60)
			})
		})
	}
}

func TestShortContextsProbeWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(func(time.Duration, sms.Message) reply { return reply{status: 503, body: `{}`, latency: latency} })
		client := o.client(t)
		for i := range 20 {
			if client.Breaker(messaging.ChannelSMS).Open {
				break
			}
			_, _ = client.SMS.Send(t.Context(), to(i, fmt.Sprint("first-", i)))
		}
		require.True(t, client.Breaker(messaging.ChannelSMS).Open)
		before := len(o.requests)
		var callers sync.WaitGroup
		for i := range 16 {
			callers.Go(func() {
				for n := 0; time.Since(o.began) < 5*time.Second; n++ {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
					_, _ = client.SMS.Send(ctx, to(100*i+n%100, fmt.Sprint(i, "-", n)))
					cancel()
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		callers.Wait()
		t.Logf("%d requests", len(o.requests)-before)
		assert.LessOrEqual(t, len(o.requests)-before, 20)
		assert.Positive(t, len(o.requests)-before)
	})
}

func TestHalfOfAllRequestsFail(t *testing.T) {
	run := func(t *testing.T, off, byAll bool) (n int64) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			o := newOrigin(func(_ time.Duration, m sms.Message) reply {
				h := fnv.New64a()
				_, _ = io.WriteString(h, m.ReferenceID)
				if rand.New(rand.NewPCG(17, h.Sum64())).IntN(2) == 0 {
					return reply{status: 500, body: `{}`, latency: latency}
				}
				return good()
			})
			client := o.client(t, messaging.WithBreaker(messaging.BreakerPolicy{Off: off}))
			if byAll {
				n = o.campaign(t, client, 8, manyMore, 90*time.Second).accepted.Load()
			} else {
				n = o.sendUntil(t, []*messaging.Client{client}, 8, 90*time.Second).accepted.Load()
			}
		})
		return n
	}
	for name, byAll := range map[string]bool{"Send": false, "SendAll": true} {
		possible, got := run(t, true, byAll), run(t, false, byAll)
		t.Logf("%s: %.2f of what is possible", name, float64(got)/float64(possible))
		assert.GreaterOrEqual(t, float64(got), 0.95*float64(possible), name)
	}
}

// With two senders and 5,000 messages that wait, the probe gets through, and after it the others.
func TestSendAllOfTwoIsNotHeldByThoseThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOrigin(during(20*time.Second, reply{status: 503, body: `{}`, latency: time.Millisecond}))
		var inFlight, most atomic.Int64
		react := o.react
		o.react = func(since time.Duration, m sms.Message) reply {
			most.Store(max(most.Load(), inFlight.Add(1)))
			time.AfterFunc(time.Millisecond/2, func() { inFlight.Add(-1) })
			r := react(since, m)
			r.latency = time.Millisecond
			return r
		}
		c := o.campaign(t, o.client(t), 2, 8000, 60*time.Second)
		t.Logf("%d accepted, %d unknown", c.accepted.Load(), c.unknown.Load())
		assert.GreaterOrEqual(t, c.accepted.Load(), int64(8000-40))
		assert.LessOrEqual(t, most.Load(), int64(2))
	})
}

// sender is an observer that sends a message of its own now and then, when a request is about to be written.
type sender struct {
	client *messaging.Client
	send   func(ctx context.Context, client *messaging.Client)
}

func (s *sender) StartStep(ctx context.Context, step messaging.Step) context.Context {
	if step.Kind == messaging.StepAttempt && !step.Read && rand.IntN(50) == 0 {
		s.send(ctx, s.client)
	}
	return ctx
}

func (*sender) EndStep(context.Context, messaging.Step, messaging.StepResult) {}

// TestWaitingRoomUnderEverything has clients that share breakers, places and a rate limit send in every way at once, while the service
// is in trouble of all kinds by turns. Not parallel: it counts goroutines. With -soak it runs as long as that.
func TestWaitingRoomUnderEverything(t *testing.T) {
	length := max(*soakFor, 3*time.Second)
	before := runtime.NumGoroutine()
	bad := []reply{
		{status: 503, body: `{}`}, {status: 429, body: `{}`, retryAfter: "1"}, {status: 402, body: `{}`}, {status: 200, body: page}, {latency: time.Hour},
	}
	o := newOrigin(func(since time.Duration, _ sms.Message) reply {
		r := reply{status: 200, body: good().body}
		if turn := int(since / (500 * time.Millisecond)); turn%3 == 1 {
			r = bad[turn/3%len(bad)]
		}
		r.latency += time.Duration(rand.N(4)) * time.Millisecond
		return r
	})
	var c accounts
	var count atomic.Int64
	message := func() sms.Message {
		n := int(count.Add(1))
		return to(n%500, fmt.Sprint("r-", n))
	}
	send := func(ctx context.Context, client *messaging.Client) {
		m := message()
		_, err := client.SMS.Send(ctx, m)
		c.add(t, m.ReferenceID, err)
	}
	nested := &sender{send: send}
	client := o.client(t, messaging.WithObserver(nested), messaging.WithTimeout(300*time.Millisecond),
		messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: time.Second}), messaging.WithRateLimit(5000, 50))
	nested.client = client
	derive := func(options ...messaging.Option) *messaging.Client {
		derived, err := client.With(options...)
		require.NoError(t, err)
		return derived
	}
	clients := []*messaging.Client{
		client, derive(messaging.WithTimeout(100 * time.Millisecond)), derive(messaging.WithToken("another")),
		derive(messaging.WithHTTPClient(&http.Client{Transport: o})), derive(messaging.WithBreaker(messaging.BreakerPolicy{Off: true})),
		derive(messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			time.Sleep(rand.N(5 * time.Millisecond))
			if rand.IntN(20) == 0 {
				return messaging.Postpone(time.Second)
			}
			return nil
		})),
		derive(messaging.WithAuth(func(*http.Request) error {
			time.Sleep(rand.N(5 * time.Millisecond))
			return nil
		})),
	}
	ctx, cancel := context.WithTimeout(t.Context(), length+2*time.Second)
	defer cancel()
	goesOn := func() bool { return time.Since(o.began) < length }
	var callers sync.WaitGroup
	for i := range 2 * len(clients) {
		client := clients[i%len(clients)]
		callers.Go(func() {
			for goesOn() {
				short, cancel := context.WithTimeout(ctx, rand.N(400*time.Millisecond))
				send(short, client)
				cancel()
			}
		})
		callers.Go(func() {
			messages := func(yield func(sms.Message) bool) {
				for more := true; more && goesOn(); {
					more = yield(message())
				}
			}
			for out := range client.SMS.SendAll(ctx, messages, 8) {
				c.add(t, out.Message.ReferenceID, out.Err)
			}
		})
	}
	callers.Wait()
	c.check(t, o)
	t.Logf("%d accepted, %d refused, %d unknown, %d not sent", c.accepted.Load(), c.refused.Load(), c.unknown.Load(), c.notSent.Load())
	assert.Positive(t, c.accepted.Load())
	for range 3000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("goroutines are left")
}
