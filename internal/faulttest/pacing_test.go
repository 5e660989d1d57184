package faulttest_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// A bucket is a service that takes messages at a rate, and some at once.
type bucket struct {
	perSecond func(since time.Duration) float64
	burst     float64
	window    bool // a second begins anew
	refuses   reply
	jitter    time.Duration // up to which requests are delayed. Refusals then come at once, as from a gateway

	mu      sync.Mutex
	tokens  float64
	last    time.Duration
	refused int
}

func (b *bucket) react(since time.Duration, n int64, _ string) reply {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.window {
		if since/time.Second != b.last/time.Second {
			b.tokens = b.burst
		}
	} else {
		b.tokens = min(b.burst, b.tokens+(since-b.last).Seconds()*b.perSecond(since))
	}
	b.last = since
	r := accepts(n)
	r.latency = 100 * time.Millisecond
	if b.tokens+1e-6 < 1 {
		b.refused++
		r = b.refuses
		if r.latency = 100 * time.Millisecond; b.jitter > 0 {
			r.latency = time.Millisecond
		}
	} else {
		b.tokens--
	}
	return r
}

// unsteady delays requests by up to a duration.
type unsteady struct {
	next   http.RoundTripper
	jitter time.Duration

	mu     sync.Mutex
	random *rand.Rand
}

func (u *unsteady) RoundTrip(r *http.Request) (*http.Response, error) {
	u.mu.Lock()
	delay := time.Duration(u.random.Int64N(int64(u.jitter) + 1))
	u.mu.Unlock()
	time.Sleep(delay)
	return u.next.RoundTrip(r)
}

func always(perSecond float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return perSecond }
}

// even returns a service that takes messages evenly spaced.
func even(perSecond float64, refuses reply) *bucket {
	return &bucket{perSecond: always(perSecond), burst: 1, refuses: refuses}
}

func TestSendAllFindsTheRate(t *testing.T) {
	const (
		length = 12 * time.Second
		at16   = 16
		jitter = 4 * time.Millisecond
	)
	throttled := reply{status: 429, body: `{}`}
	later := reply{status: 429, body: `{}`, retryAfter: "1"}
	limited := reply{status: 429, body: "<html><head><title>429 Too Many Requests</title></head></html>"}
	falls := func(since time.Duration) float64 {
		if since >= 3*time.Second && since < 13*time.Second {
			return 5
		}
		return 50
	}
	rows := []struct {
		name    string
		bucket  *bucket
		length  time.Duration
		share   float64 // of what the service takes, at least
		refused int     // responses, at most
		unknown int64
		limit   float64
	}{
		{name: "10 a second", bucket: even(10, throttled), share: 0.75, refused: 200},
		{name: "50 a second", bucket: even(50, throttled), share: 0.75, refused: 200},
		{name: "110 a second", bucket: even(110, throttled), share: 0.75, refused: 300},
		{name: "200 a second", bucket: even(200, throttled), share: 0.75, refused: 200},
		{name: "10 a second, Retry-After 1", bucket: even(10, later), share: 0.75, refused: 200},
		{
			name: "50 a second, Retry-After 1", bucket: even(50, later),
			share: 0.75, refused: 200,
		},
		{
			name: "200 a second, Retry-After 1", bucket: even(200, later),
			share: 0.75, refused: 200,
		},
		{
			name: "50 a second, a page", bucket: even(50, limited),
			unknown: 150, refused: 1e6,
		},
		{
			name: "50 a second, WithRateLimit", bucket: even(50, throttled),
			limit: 40, share: 0.75, refused: 200,
		},
		{
			name: "10 a second, jitter", bucket: &bucket{perSecond: always(10), burst: 1, refuses: throttled, jitter: jitter},
			share: 0.75, refused: 1e6,
		},
		{
			name: "50 a second, jitter", bucket: &bucket{perSecond: always(50), burst: 1, refuses: throttled, jitter: jitter},
			share: 0.75, refused: 1e6,
		},
		{
			name: "20 a second, bursts, jitter", bucket: &bucket{perSecond: always(20), burst: 20, tokens: 20, refuses: throttled, jitter: jitter},
			share: 0.95, refused: 1e6,
		},
		{
			name:   "100 a second, bursts, jitter",
			bucket: &bucket{perSecond: always(100), burst: 100, tokens: 100, refuses: throttled, jitter: jitter},
			share:  0.95, refused: 1e6,
		},
		{
			name:   "50 a second, windows, jitter",
			bucket: &bucket{perSecond: always(50), burst: 50, tokens: 50, window: true, refuses: later, jitter: jitter},
			share:  0.65, refused: 1e6,
		},
		{
			name: "20 a second, bursts", bucket: &bucket{perSecond: always(20), burst: 20, tokens: 20, refuses: throttled},
			share: 0.95, refused: 1e6,
		},
		{
			name: "100 a second, bursts", bucket: &bucket{perSecond: always(100), burst: 100, tokens: 100, refuses: throttled},
			share: 0.95, refused: 1e6,
		},
		{
			name: "50 a second, windows", bucket: &bucket{perSecond: always(50), burst: 50, tokens: 50, window: true, refuses: later},
			share: 0.9, refused: 1e6,
		},
		{
			name: "falls to a tenth", bucket: &bucket{perSecond: falls, burst: 1, refuses: throttled},
			length: 25 * time.Second, refused: 1e6,
		},
	}
	for _, tc := range rows {
		t.Run(tc.name, func(t *testing.T) {
			tc.bucket.tokens = max(1, tc.bucket.tokens)
			s := &stormy{react: tc.bucket.react}
			var log strings.Builder
			var counts tally
			length := max(length, tc.length)
			synctest.Test(t, func(t *testing.T) {
				way := &unsteady{next: s, jitter: tc.bucket.jitter, random: rand.New(rand.NewPCG(1, 2))}
				options := []messaging.Option{
					messaging.WithToken(testToken), messaging.WithHTTPClient(&http.Client{Transport: way}),
					messaging.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
				}
				if tc.limit > 0 {
					options = append(options, messaging.WithRateLimit(tc.limit, at16))
				}
				client, err := messaging.NewClient(baseURL, options...)
				require.NoError(t, err)
				s.began = time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), length+time.Hour)
				defer cancel()
				messages := func(yield func(sms.Message) bool) {
					for m := range toMany {
						if time.Since(s.began) > length || !yield(m) {
							cancel()
							return
						}
					}
				}
				for out := range client.SMS.SendAll(ctx, messages, at16) {
					if time.Since(s.began) < length {
						counts.count(out.Err)
					}
				}
			})
			givenUp := counts.refused.Load() + counts.unknown.Load()
			accepted := within(s.accepted, 0, length)
			takes := min(tc.bucket.perSecond(0), at16*10) * length.Seconds()
			record(t, tc.name, fmt.Sprintf("%.2f", float64(accepted)/takes), fmt.Sprintf("%d refused", tc.bucket.refused),
				fmt.Sprintf("%d given up, %d unknown", givenUp, counts.unknown.Load()))
			if tc.limit > 0 {
				assert.LessOrEqual(t, float64(len(s.requests)), tc.limit*length.Seconds()+at16+1)
			}
			if tc.length == 0 {
				assert.GreaterOrEqual(t, float64(accepted), tc.share*takes)
			} else {
				back := nth(s.accepted, 13*time.Second, 50)
				record(t, "back", back.String())
				assert.Less(t, back, 8*time.Second) // of which one second is for 50
			}
			assert.LessOrEqual(t, tc.bucket.refused, tc.refused)
			assert.Equal(t, counts.unknown.Load(), givenUp, "no message is given up")
			assert.LessOrEqual(t, counts.unknown.Load(), tc.unknown)
		})
	}
}

// The first, longest gap leaves no time for 128 messages. They wait for a shorter one, and SendAll takes no others.
func TestPaceTurnsNoMessageAway(t *testing.T) {
	const length, most = 10 * time.Second, 5000
	b := &bucket{perSecond: always(50), burst: 1, tokens: 1, refuses: reply{status: 429, body: `{}`}}
	s, taken := &stormy{react: b.react}, 0
	var counts tally
	synctest.Test(t, func(t *testing.T) {
		client, err := messaging.NewClient(baseURL, messaging.WithToken(testToken), messaging.WithHTTPClient(&http.Client{Transport: s}))
		require.NoError(t, err)
		s.began = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		messages := func(yield func(sms.Message) bool) {
			for m := range toMany {
				if taken++; taken == most || !yield(m) {
					return
				}
			}
		}
		for out := range client.SMS.SendAll(ctx, messages, 128) {
			counts.count(out.Err)
		}
		assert.Equal(t, length, time.Since(s.began))
	})
	assert.Less(t, taken, 1000)
	assert.LessOrEqual(t, counts.notSent.Load(), int64(128))
	assert.Greater(t, counts.accepted.Load(), int64(300))
}
