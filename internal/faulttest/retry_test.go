package faulttest_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

func TestRetryWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		transport roundTripperFunc
		status    int
		verdict   messaging.Verdict
	}{
		{"429", func(r *http.Request) (*http.Response, error) { return newResponse(r, 429, echo), nil }, 429, messaging.Refused},
		{"no connection", func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route")}
		}, 0, messaging.NotSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			send := func(t *testing.T, ctx context.Context) *messaging.Error {
				t.Helper()
				client := newClient(t, baseURL, tt.transport.option(),
					messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 50, MinWait: 30 * time.Second, MaxWait: time.Hour}))
				_, err := client.SMS.Send(ctx, testMessage(testReference))
				var e *messaging.Error
				require.ErrorAs(t, err, &e)
				assert.Equal(t, tt.verdict, e.Verdict, "what the last attempt showed stays true")
				assert.Equal(t, tt.status, e.StatusCode)
				assertNoSecrets(t, err)
				return e
			}
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, cancel)
				began := time.Now()
				for time.Since(began) < time.Second { // jitter may make one wait short, but not all of them
					require.ErrorIs(t, send(t, ctx), context.Canceled)
				}
				assert.Equal(t, time.Second, time.Since(began))
			})
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				e := send(t, ctx)
				require.NoError(t, ctx.Err(), "a wait beyond the deadline does not begin")
				after, ok := messaging.Retryable(e)
				assert.True(t, ok)
				assert.GreaterOrEqual(t, after, time.Second)
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const (
		minWait = 10 * time.Millisecond
		maxWait = 10 * time.Second
	)
	for _, tt := range []struct {
		header     string        // of the first response; {date} is three seconds from now
		least      time.Duration // waited before the second attempt, which is accepted
		most       time.Duration
		tooLong    bool          // there is no second attempt
		retryAfter time.Duration // reported by the error, at least
	}{
		{header: "2", least: 2 * time.Second, most: 3 * time.Second},
		{header: "{date}", least: 3 * time.Second, most: 4 * time.Second},
		{header: "0", most: maxWait},
		{header: "Fri, 31 Dec 1999 23:59:59 GMT", most: maxWait},
		// Neither seconds nor a date: ignored.
		{header: "-5", most: maxWait},
		{header: "1.5", most: maxWait},
		{header: "soon", most: maxWait},
		{header: "11", tooLong: true, retryAfter: 11 * time.Second},
		{header: "3600", tooLong: true, retryAfter: time.Hour},
		{header: "18446744073", tooLong: true, retryAfter: time.Hour}, // negative as nanoseconds in 64 bits
		{header: "99999999999999999999", tooLong: true, retryAfter: time.Hour},
		{header: "Fri, 31 Dec 2100 23:59:59 GMT", tooLong: true, retryAfter: time.Hour},
	} {
		t.Run(tt.header, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls := 0
				header := strings.ReplaceAll(tt.header, "{date}", time.Now().Add(3*time.Second).UTC().Format(http.TimeFormat))
				transport := roundTripperFunc(func(r *http.Request) (*http.Response, error) {
					if calls++; calls == 1 || tt.tooLong {
						return newResponse(r, 429, echo, "Retry-After", header), nil
					}
					return newResponse(r, 200, acceptedBody), nil
				})
				client := newClient(t, baseURL, transport.option(),
					messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: maxAttempts, MinWait: minWait, MaxWait: maxWait}))
				start := time.Now()
				_, err := client.SMS.Send(t.Context(), testMessage(testReference))
				took := time.Since(start)
				if !tt.tooLong {
					require.NoError(t, err)
					assert.Equal(t, 2, calls)
					assert.GreaterOrEqual(t, took, tt.least)
					assert.LessOrEqual(t, took, tt.most)
					return
				}
				assertOutcome(t, err, outcome{attempts: 1, status: 429, verdict: []messaging.Verdict{messaging.Refused}})
				assert.Zero(t, took)
				var e *messaging.Error
				require.ErrorAs(t, err, &e)
				assert.GreaterOrEqual(t, e.RetryAfter, tt.retryAfter)
			})
		})
	}
}

// Only a status that the contract calls not processed permits another attempt. A Retry-After does not.
func TestRetryAfterDoesNotRetryUnknownOutcome(t *testing.T) {
	t.Parallel()
	p := newPeer(t, script{react: func(x *exchange) { x.respond(503, echo, "Retry-After", "0") }})
	_, err := newClient(t, p.url()).SMS.Send(t.Context(), testMessage(testReference))
	assertOutcome(t, err, outcome{attempts: 1, status: 503, verdict: []messaging.Verdict{messaging.Unknown}})
	assert.Len(t, p.seen(testReference), 1)
}
