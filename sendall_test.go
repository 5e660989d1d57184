package messaging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// counter is a service that counts its requests and responds as handle does.
type counter struct {
	handle func(r *http.Request, reference string) (*http.Response, error)
	begun  atomic.Int32
	active atomic.Int32
	most   atomic.Int32
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, _ := io.ReadAll(r.Body)
	_, reference, _ := strings.Cut(string(raw), `"referenceId":"`)
	reference, _, _ = strings.Cut(reference, `"`)
	c.begun.Add(1)
	active := c.active.Add(1)
	defer c.active.Add(-1)
	for most := c.most.Load(); active > most; most = c.most.Load() {
		c.most.CompareAndSwap(most, active)
	}
	return c.handle(r, reference)
}

func (c *counter) client(t *testing.T) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: c}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithTimeout(time.Hour))
	require.NoError(t, err)
	return client
}

// slowly accepts every message after a second.
func slowly(r *http.Request, reference string) (*http.Response, error) {
	if err := wait(r.Context(), time.Second); err != nil {
		return nil, err
	}
	return accept(r, reference)
}

func accept(r *http.Request, reference string) (*http.Response, error) {
	return respond(r, http.StatusOK, `{"id":"m-`+reference+`"}`), nil
}

// counted yields n reference IDs, "0" and on, and counts how many were taken.
func counted(n int, taken *int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n {
			if *taken++; !yield(strconv.Itoa(i)) {
				return
			}
		}
	}
}

// books checks that each outcome comes once, under the index of its message.
type books struct {
	t    *testing.T
	seen map[int]bool
}

func newBooks(t *testing.T) *books {
	t.Helper()
	return &books{t: t, seen: map[int]bool{}}
}

func (b *books) enter(out sent) {
	assert.False(b.t, b.seen[out.index], "outcome %d comes twice", out.index)
	b.seen[out.index] = true
	assert.Equal(b.t, strconv.Itoa(out.index), out.reference, "the index is another message's")
	if out.err == nil {
		assert.Equal(b.t, "m-"+out.reference, out.id, "the receipt is another message's")
	}
}

func TestSendAllUnderRandomFaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 3000
		fate := func(reference string) *rand.Rand {
			i, _ := strconv.ParseUint(reference, 10, 64)
			return rand.New(rand.NewPCG(17, i))
		}
		want := func(reference string) messaging.Verdict { return messaging.Verdict(fate(reference).IntN(4)) }
		c := &counter{handle: func(r *http.Request, reference string) (*http.Response, error) {
			if err := wait(r.Context(), time.Duration(fate(reference).Int64N(int64(time.Second)))); err != nil {
				return nil, err
			}
			switch want(reference) {
			case messaging.Accepted:
				return accept(r, reference)
			case messaging.Refused:
				return respond(r, http.StatusBadRequest, `{}`), nil
			case messaging.NotSent:
				return nil, &net.OpError{Op: "dial", Err: errors.New("no route")}
			case messaging.Unknown:
			}
			return respond(r, http.StatusBadGateway, ``), nil
		}}
		taken, inOrder := 0, true
		b := newBooks(t)
		for out := range channels[0].sendAll(t.Context(), c.client(t), counted(n, &taken), 64) {
			inOrder = inOrder && out.index == len(b.seen)
			b.enter(out)
			assert.Equal(t, want(out.reference), messaging.VerdictOf(out.err))
		}
		assert.Len(t, b.seen, n)
		assert.Equal(t, n, taken)
		assert.EqualValues(t, n, c.begun.Load(), "sent once each")
		assert.False(t, inOrder, "an outcome waits for one before it")
		assert.EqualValues(t, 64, c.most.Load())
	})
}

func TestSendAllConcurrency(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		for _, tt := range []struct{ messages, concurrency, most, seconds int }{
			{100, 1, 1, 100}, {100, 7, 7, 15}, {100, 100, 100, 1}, {3, 1000, 3, 1}, {0, 5, 0, 0}, {3, int(^uint(0) >> 1), 3, 1},
		} {
			synctest.Test(t, func(t *testing.T) {
				c := &counter{handle: slowly}
				client := c.client(t)
				taken, start := 0, time.Now()
				b := newBooks(t)
				for out := range channel.sendAll(t.Context(), client, counted(tt.messages, &taken), tt.concurrency) {
					require.NoError(t, out.err)
					b.enter(out)
					assert.LessOrEqual(t, taken-len(b.seen)-1, tt.concurrency, "taken further ahead than there are workers")
				}
				assert.Len(t, b.seen, tt.messages)
				assert.EqualValues(t, tt.most, c.most.Load())
				assert.Equal(t, time.Duration(tt.seconds)*time.Second, time.Since(start))
				assert.Zero(t, c.active.Load())
			})
		}
	}
}

func goroutine() string {
	stack := make([]byte, 64)
	id, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte(" ["))
	return string(id)
}

func TestSendAllRangesInTheCallersGoroutine(t *testing.T) {
	t.Parallel()
	caller := goroutine()
	taken := 0
	messages := func(yield func(string) bool) {
		assert.Equal(t, caller, goroutine(), "at the beginning")
		for reference := range counted(100, &taken) {
			assert.Equal(t, caller, goroutine())
			if !yield(reference) {
				return
			}
		}
		assert.Equal(t, caller, goroutine(), "at the end")
	}
	c := &counter{handle: accept}
	for out := range channels[0].sendAll(t.Context(), c.client(t), messages, 8) {
		assert.Equal(t, caller, goroutine())
		require.NoError(t, out.err)
	}
	assert.Equal(t, 100, taken)
}

func TestSendAllTakesNothingBeforeTheLoop(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		c := &counter{handle: slowly}
		taken := 0
		channel.sendAll(t.Context(), c.client(t), counted(5, &taken), 2)
		assert.Zero(t, taken)
		assert.Zero(t, c.begun.Load())
	}
}

func TestSendAllBreak(t *testing.T) {
	t.Parallel()
	for _, channel := range channels {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{handle: func(r *http.Request, reference string) (*http.Response, error) {
				if reference != "0" {
					require.NoError(t, wait(r.Context(), time.Minute), "a send under way is cancelled")
				}
				return slowly(r, reference)
			}}
			client := c.client(t)
			taken, start := 0, time.Now()
			closed := false
			messages := func(yield func(string) bool) {
				defer func() { closed = true }()
				counted(100, &taken)(yield)
			}
			for range channel.sendAll(t.Context(), client, messages, 4) {
				break
			}
			assert.Zero(t, c.active.Load(), "sends are left behind")
			assert.Equal(t, time.Minute+time.Second, time.Since(start))
			assert.True(t, closed)
			begun := c.begun.Load()
			assert.LessOrEqual(t, begun, int32(4))
			time.Sleep(time.Hour)
			assert.Equal(t, begun, c.begun.Load())
		})
	}
}

func TestSendAllBreakEndsTheStepsOfMessagesThatWait(t *testing.T) {
	t.Parallel()
	for range 20 { // the order of the workers varies
		synctest.Test(t, func(t *testing.T) {
			service := troubled{status: http.StatusTooManyRequests, retryAfter: "30", body: `{}`}
			var open atomic.Int32
			observer := observerFuncs{
				start: func(ctx context.Context, _ messaging.Step) context.Context {
					open.Add(1)
					return ctx
				},
				end: func(context.Context, messaging.Step, messaging.StepResult) { open.Add(-1) },
			}
			client := service.client(t, messaging.WithObserver(observer))
			messages := func(yield func(sms.Message) bool) {
				for range 6 {
					if !yield(hello) {
						return
					}
				}
				yield(sms.Message{}) // invalid, so its outcome is ready at once
			}
			for range client.SMS.SendAll(t.Context(), messages, 2) {
				break
			}
			assert.Zero(t, open.Load(), "steps that were not ended")
		})
	}
}

func TestSendAllGoesOnAfterGoexit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := troubled{status: http.StatusOK, body: `{"id":"m-1"}`}
		guard := func(_ context.Context, m messaging.Outgoing) error {
			if m.ReferenceID == "1" {
				runtime.Goexit()
			}
			return nil
		}
		client := service.client(t, messaging.WithGuard(guard))
		messages := func(yield func(sms.Message) bool) {
			for _, reference := range []string{"0", "1", "2", "1", "3"} {
				m := hello
				m.ReferenceID = reference
				if !yield(m) {
					return
				}
			}
		}
		outcomes := 0
		for out := range client.SMS.SendAll(t.Context(), messages, 1) {
			outcomes++
			if out.Message.ReferenceID == "1" {
				assert.ErrorIs(t, out.Err, messaging.ErrNotSent)
				assert.ErrorContains(t, out.Err, "runtime.Goexit")
			} else {
				assert.NoError(t, out.Err)
			}
		}
		assert.Equal(t, 5, outcomes)
	})
}

func TestSendAllAfterCancel(t *testing.T) {
	t.Parallel()
	for _, after := range []int{0, 1, 20, 50} {
		synctest.Test(t, func(t *testing.T) {
			c := &counter{handle: slowly}
			client := c.client(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if after == 0 {
				cancel()
			}
			taken, accepted, unknown, unsent := 0, 0, 0, 0
			b := newBooks(t)
			for out := range channels[0].sendAll(ctx, client, counted(10_000, &taken), 8) {
				b.enter(out)
				switch messaging.VerdictOf(out.err) {
				case messaging.Accepted:
					if accepted++; accepted == after {
						cancel()
					}
				case messaging.Unknown:
					unknown++
				case messaging.NotSent, messaging.Refused:
					require.ErrorIs(t, out.err, messaging.ErrNotSent)
					require.ErrorIs(t, out.err, context.Canceled)
					unsent++
				}
			}
			assert.Len(t, b.seen, taken)
			assert.EqualValues(t, accepted+unknown, c.begun.Load(), "what was not begun is not sent")
			assert.LessOrEqual(t, taken, after+2*8+1, "more are taken after the end")
			assert.Positive(t, unsent)
		})
	}
}

func TestSendAllPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		c := &counter{handle: slowly}
		client := c.client(t)
		taken := 0
		assert.PanicsWithValue(t, "in the loop", func() {
			for range channels[0].sendAll(t.Context(), client, counted(100, &taken), 8) {
				panic("in the loop")
			}
		})
		assert.Zero(t, c.active.Load(), "sends are left behind")
		assert.PanicsWithValue(t, "in the messages", func() {
			messages := func(yield func(string) bool) {
				yield("0")
				panic("in the messages")
			}
			for range channels[0].sendAll(t.Context(), client, messages, 8) {
			}
		})
		assert.Zero(t, c.active.Load(), "sends are left behind")
	})
}

// Not parallel: it looks at the memory of the whole process.
func TestSendAllMemoryIsFlat(t *testing.T) {
	const n = 50_000
	c := &counter{handle: accept}
	client := c.client(t)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc // with what is not collected yet
	}
	runtime.GC()
	start := heap()
	messages := func(yield func(sms.Message) bool) {
		for i := range n {
			if !yield(sms.Message{From: "A", To: "12345", Text: fmt.Sprint(i)}) {
				return
			}
		}
	}
	outcomes, most := 0, uint64(0)
	for out := range client.SMS.SendAll(t.Context(), messages, 32) {
		if out.Err != nil {
			require.NoError(t, out.Err)
		}
		if outcomes++; outcomes%(n/100) == 0 {
			most = max(most, heap())
		}
	}
	assert.Equal(t, n, outcomes)
	assert.Less(t, most, start+16<<20)
}

// BenchmarkSendAll measures the sending of many messages at once, in memory.
func BenchmarkSendAll(b *testing.B) {
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: &counter{handle: accept}}))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	messages := func(yield func(sms.Message) bool) {
		for range b.N {
			if !yield(sms.Message{From: "A", To: "12345", Text: "x"}) {
				return
			}
		}
	}
	for out := range client.SMS.SendAll(b.Context(), messages, 16) {
		if out.Err != nil {
			b.Fatal(out.Err)
		}
	}
}

// A live source may be silent for a while. The messages after it are not given up at once when the service throttles them.
func TestSendAllWaitsForAThrottleAfterSilence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const burst = 30
		const silence = time.Hour
		start := time.Now()
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			time.Sleep(10 * time.Millisecond)
			sinceSilence := time.Since(start) - silence
			if 0 < sinceSilence && sinceSilence < 20*time.Second {
				return respond(r, http.StatusTooManyRequests, `{}`), nil
			}
			return respond(r, http.StatusOK, `{"id":"m-1"}`), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option())
		require.NoError(t, err)
		messages := func(yield func(sms.Message) bool) {
			if !yield(hello) {
				return
			}
			time.Sleep(silence)
			for range burst {
				if !yield(hello) {
					return
				}
			}
		}
		accepted := 0
		for out := range client.SMS.SendAll(t.Context(), messages, 8) {
			if out.Err == nil {
				accepted++
			}
		}
		assert.Equal(t, 1+burst, accepted)
	})
}

// A throttle holds every message back, also those that arrive while most of the concurrent sends are unused.
func TestSendAllPacesABurstWhileTheServiceThrottles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const (
			concurrency = 64
			throttledAt = 5 * time.Second
			burstAt     = 7 * time.Second
			end         = 30 * time.Second
		)
		start := time.Now()
		burst := 0 // requests in the second after the burst
		var mu sync.Mutex
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			since := time.Since(start)
			if since >= burstAt && since < burstAt+time.Second {
				mu.Lock()
				burst++
				mu.Unlock()
			}
			time.Sleep(10 * time.Millisecond)
			if since >= throttledAt && since < end {
				return respond(r, http.StatusTooManyRequests, `{}`), nil
			}
			return respond(r, http.StatusOK, `{"id":"m-1"}`), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option())
		require.NoError(t, err)
		messages := func(yield func(sms.Message) bool) {
			for range concurrency { // all sends are used
				if !yield(hello) {
					return
				}
			}
			for time.Since(start) < burstAt { // and then few
				time.Sleep(100 * time.Millisecond)
				if !yield(hello) {
					return
				}
			}
			for range concurrency {
				if !yield(hello) {
					return
				}
			}
		}
		for range client.SMS.SendAll(t.Context(), messages, concurrency) {
		}
		assert.LessOrEqual(t, burst, 4, "requests in the second after the burst")
	})
}
