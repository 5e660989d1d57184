package outbox

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// starts records when requests begin to be written.
type starts struct {
	mu    sync.Mutex
	times []time.Time
}

// watch lets a worker record its requests behind the guard, and stalls some of them in front of it.
func (s *starts) watch(t *testing.T, w *Worker) {
	t.Helper()
	w.client = must(w.client.With(messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if rand.IntN(4) == 0 {
				time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
			}
			return base.RoundTrip(r)
		})
	})))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// recorder is a transport that records when it reads the body of a request, which is when the request is written.
func (s *starts) recorder(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			r = r.Clone(r.Context())
			r.Body = &recordedBody{ReadCloser: r.Body, starts: s}
		}
		return base.RoundTrip(r)
	})
}

type recordedBody struct {
	io.ReadCloser

	starts *starts
	begun  bool
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if !b.begun && n > 0 {
		b.begun = true
		b.starts.mu.Lock()
		b.starts.times = append(b.starts.times, time.Now())
		b.starts.mu.Unlock()
	}
	return n, err
}

func TestRateHoldsInAnySecondWhateverStalls(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	const rate, messages = 100, 150
	for n := range messages {
		r.put(testSMS(t, n))
	}
	require.NoError(t, r.outbox.SetRate(t.Context(), rate))
	var s starts
	for range 3 {
		client, err := messaging.NewClient(r.service.URL, messaging.WithToken(r.service.Token), messaging.WithTransport(s.recorder))
		require.NoError(t, err)
		w, err := r.outbox.NewWorker(client, relaxedOptions())
		require.NoError(t, err)
		s.watch(t, w)
		r.run(w)
	}
	r.waitForAll()
	require.Len(t, r.service.Sent(), messages)
	slices.SortFunc(s.times, time.Time.Compare)
	for i, first := range s.times {
		n := 0
		for _, at := range s.times[i:] {
			if at.Sub(first) < time.Second {
				n++
			}
		}
		const burst, preempted = rate/10 + 1, 5 // between the check and the record of it
		require.LessOrEqual(t, n, rate+burst+preempted, "in the second after %v", first.Sub(s.times[0]))
	}
}

func TestLimiterResetsPermitsBeyondTheEnginesClock(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	m := testSMS(t, 1)
	r.put(m)
	limits, err := r.engine.Bucket(t.Context(), engine.Limits)
	require.NoError(t, err)
	value, err := json.Marshal(rateState{PerSecond: 100, Next: time.Now().Add(time.Hour).UnixNano()}) // as a worker with a wrong clock would leave it
	require.NoError(t, err)
	_, err = limits.Put(t.Context(), "rate", value)
	require.NoError(t, err)
	w := r.worker(relaxedOptions())
	r.run(w)
	r.waitFor(m, Accepted)
	assert.Equal(t, 1, int(w.options.Metrics.Value("scaleout_alarms_total", "kind", "rate_reset")))
}

func TestWorkersSendOnWhenOneClockJumps(t *testing.T) {
	t.Parallel()
	for _, jump := range []time.Duration{time.Hour, 8 * time.Second} {
		r := newRig(t, engine.Setup{})
		require.NoError(t, r.outbox.SetRate(t.Context(), 50))
		var offset atomic.Int64
		wrong := r.worker(relaxedOptions())
		elapsed := wrong.clock.elapsed
		wrong.clock.elapsed = func() time.Duration { return elapsed() + time.Duration(offset.Load()) }
		r.run(wrong)
		r.start(relaxedOptions())
		var all []Message
		for n := range 60 {
			all = append(all, testSMS(t, n))
		}
		r.put(all[:30]...)
		r.waitFor(all[10], Accepted)
		offset.Store(int64(jump))
		r.put(all[30:]...)
		r.waitForAll() // it fails after half a minute
		for _, m := range all {
			assert.Equal(t, 1, r.sendCount(m))
		}
	}
}

func TestSetRateKeepsPermits(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	limits, err := r.engine.Bucket(t.Context(), engine.Limits)
	require.NoError(t, err)
	next := time.Now().Add(90 * time.Millisecond).UnixNano()
	value, err := json.Marshal(rateState{PerSecond: 100, Next: next})
	require.NoError(t, err)
	_, err = limits.Put(t.Context(), "rate", value)
	require.NoError(t, err)
	require.NoError(t, r.outbox.SetRate(t.Context(), 200))
	found, err := limits.Get(t.Context(), "rate")
	require.NoError(t, err)
	var rate rateState
	require.NoError(t, json.Unmarshal(found.Value(), &rate))
	assert.Equal(t, rateState{200, next}, rate)
}

func TestBreakerKeepsMessagesQueued(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]messagingtest.Fault{
		"401": messagingtest.Status(401, 0), "402": messagingtest.Status(402, 0), "429": messagingtest.Status(429, time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, engine.Setup{})
			const messages, concurrency, workers = 100, 8, 2
			r.service.InjectRandomly(1, 1, fault)
			var all []Message
			for n := range messages {
				all = append(all, testSMS(t, n))
			}
			r.put(all...)
			options := relaxedOptions()
			options.Concurrency = concurrency
			one, two := r.worker(options), r.worker(options)
			r.run(one)
			r.run(two)
			require.Eventually(t, func() bool { return r.service.Requests() > 0 }, 30*time.Second, time.Millisecond)
			time.Sleep(3 * time.Second) // a storm
			// What was in flight when the breaker opened, and then one probe at a time, at growing intervals.
			assert.Less(t, r.service.Requests(), workers*concurrency+10)
			for e, err := range r.outbox.All(t.Context()) {
				require.NoError(t, err)
				assert.Contains(t, []State{Queued, Sending}, e.State)
			}
			open, err := r.outbox.Breakers(t.Context())
			require.NoError(t, err)
			require.Len(t, open, 1)
			assert.Equal(t, SMS, open[0].Channel)
			assert.Contains(t, open[0].Reason, "HTTP "+name)
			alarm := func(w *Worker) float64 {
				return w.options.Metrics.Value("scaleout_alarms_total", "kind", "breaker_open")
			}
			assert.Positive(t, alarm(one)+alarm(two))
			r.put(testChatApp1(t, 1)) // its channel has a breaker of its own

			r.service.InjectRandomly(1, 0)
			r.waitForAll()
			for _, m := range all {
				assert.Equal(t, Accepted, r.record(m).State)
				assert.Equal(t, 1, r.sendCount(m))
			}
			open, err = r.outbox.Breakers(t.Context())
			require.NoError(t, err)
			assert.Empty(t, open)
		})
	}
}

func TestBreakerParksNoMoreThanWasInFlight(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	r.service.InjectRandomly(1, 1, messagingtest.Status(503, 0))
	for n := range 100 {
		r.put(testChatApp1(t, n))
	}
	options := relaxedOptions()
	options.Concurrency = 4
	r.start(options)
	require.Eventually(t, func() bool { return r.service.Requests() > 0 }, 30*time.Second, time.Millisecond)
	time.Sleep(3 * time.Second)
	r.service.InjectRandomly(1, 0)
	r.waitForAll()
	parked := 0
	for e, err := range r.outbox.All(t.Context()) {
		require.NoError(t, err)
		if e.State == Parked {
			parked++
		}
	}
	assert.LessOrEqual(t, parked, 4+6, "in flight, and the probes of three seconds")
}

func TestLanesDoNotStarveEachOther(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	options := relaxedOptions()
	options.Concurrency = 4
	r.service.InjectRandomly(1, 1, messagingtest.Slow(300*time.Millisecond))
	for n := range 100 {
		r.put(testChatApp1(t, n), testSMS(t, n))
	}
	urgent, err := NewMessage(sms.Message{From: "ACME", To: "+639170000001", Text: "Your code is 17", ReferenceID: "code"}, Options{Priority: High})
	require.NoError(t, err)
	w := r.worker(options)
	for _, key := range []string{sharedBreaker(w.outbox, "chatapp1").key} { // chat messages wait for a Retry-After
		value, err := json.Marshal(Breaker{Reason: "HTTP 429", Opened: time.Now(), Until: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		_, err = w.outbox.limits.Put(t.Context(), key, value)
		require.NoError(t, err)
	}
	r.run(w)
	r.waitFor(testSMS(t, 8), Accepted)
	r.put(urgent)
	r.waitFor(urgent, Accepted)
	waiting := 0
	for e, err := range r.outbox.All(t.Context()) {
		require.NoError(t, err)
		if e.Channel == SMS && !e.State.IsFinal() {
			waiting++
		}
	}
	assert.Greater(t, waiting, 20, "the urgent message waited for the others")
}

func TestWorkerDoesNotSendExpiredMessage(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	message := sms.Message{From: "ACME", To: "+639170000001", Text: "Your code is 17", ReferenceID: "late"}
	late, err := NewMessage(message, Options{Expires: time.Now().Add(-time.Minute)})
	require.NoError(t, err)
	message.ReferenceID = "in time"
	inTime, err := NewMessage(message, Options{Expires: time.Now().Add(time.Hour)})
	require.NoError(t, err)
	r.put(late, inTime)
	r.start(relaxedOptions())
	r.waitFor(inTime, Accepted)
	assert.Contains(t, r.waitFor(late, Refused).Reason, "expired")
	assert.Zero(t, r.sendCount(late))
}

func TestRunEndsWithinBoundWithoutEngine(t *testing.T) {
	t.Parallel()
	r := newRig(t, engine.Setup{})
	options := fastOptions()
	options.StopTimeout = time.Second
	r.service.InjectRandomly(1, 1, messagingtest.Slow(300*time.Millisecond))
	for n := range 20 {
		r.put(testSMS(t, n))
	}
	w := r.worker(options)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- w.Run(ctx) }()
	require.Eventually(t, func() bool { return r.service.Requests() > 0 }, 30*time.Second, time.Millisecond)
	r.server.Close() // while requests are in flight
	cancel()
	select {
	case err := <-result:
		require.ErrorIs(t, err, ErrUnrecorded)
	case <-time.After(20 * time.Second):
		require.FailNow(t, "Run does not end while the engine is away")
	}
	assert.Positive(t, w.options.Metrics.Value("scaleout_alarms_total", "kind", "unrecorded"))
}

func TestAttemptBeginsOnlyWithinItsPermitAndTime(t *testing.T) {
	const now = 10 * time.Second
	hour := time.Now().Add(time.Hour)
	for name, test := range map[string]struct {
		attempt *attempt
		want    string
	}{
		"in time":                          {&attempt{deadline: now + 1, wall: hour, permit: permit{now - 1, now + 1}}, ""},
		"no limit":                         {&attempt{deadline: now + 1, wall: hour, permit: noLimit()}, ""},
		"no permit":                        {&attempt{deadline: now + 1, wall: hour}, "the rate limit"},
		"the permit is over":               {&attempt{deadline: now + 1, wall: hour, permit: permit{now - 2, now - 1}}, "the rate limit"},
		"its time is over":                 {&attempt{deadline: now, wall: hour, permit: noLimit()}, "its time"},
		"the virtual machine was paused":   {&attempt{deadline: now + 1, wall: time.Now().Add(-time.Second), permit: noLimit()}, "its time"},
		"the permit is for another moment": {&attempt{deadline: now + 1, wall: hour, permit: permit{now + 1, now + 2}}, "the rate limit"},
	} {
		test.attempt.elapsed = func() time.Duration { return now }
		assert.Equal(t, test.want == "", test.attempt.begin(), name)
		assert.Contains(t, test.attempt.reason(), test.want, name)
		assert.False(t, test.attempt.begin(), "a permit is for one request")
	}
}
