package messaging_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
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

// numbered yields the messages from first to last, each to its own recipient.
func numbered(first, last int) iter.Seq[sms.Message] {
	return func(yield func(sms.Message) bool) {
		for i := first; i <= last; i++ {
			if !yield(sms.Message{From: "A", To: fmt.Sprintf("+6391700%05d", i), Text: "x"}) {
				return
			}
		}
	}
}

// verdicts counts the outcomes of messages by verdict.
func verdicts(outcomes iter.Seq[messaging.Outcome[sms.Message]]) map[messaging.Verdict]int {
	counts := map[messaging.Verdict]int{}
	for out := range outcomes {
		counts[messaging.VerdictOf(out.Err)]++
	}
	return counts
}

// newStatusClient returns a client of a service that responds after 200 ms with the status at that time since its start.
func newStatusClient(t *testing.T, statusAt func(time.Duration) int, options ...messaging.Option) *messaging.Client {
	t.Helper()
	start := time.Now()
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		time.Sleep(200 * time.Millisecond)
		status := statusAt(time.Since(start))
		if status == http.StatusOK {
			return respond(r, status, `{"id":"m-1"}`), nil
		}
		return respond(r, status, `{}`), nil
	})
	client, err := messaging.NewClient(baseURL, append([]messaging.Option{messaging.WithToken("t"), service.option()}, options...)...)
	require.NoError(t, err)
	return client
}

// failsUntil returns a function for newStatusClient: 503 until a time, and then 200.
func failsUntil(end time.Duration) func(time.Duration) int {
	return func(since time.Duration) int {
		if since < end {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
}

// The time before a SendAll begins does not count towards GiveUp.
func TestSendAllThatMeetsAnOpenBreakerHoldsMessagesBack(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		end     time.Duration // of the trouble, from the opening of the breaker
		unknown int           // probes that meet the trouble
	}{
		"the service is up again":        {time.Minute, 0},
		"the service is down for longer": {time.Hour + time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := newStatusClient(t, failsUntil(tt.end))
				verdicts(client.SMS.SendAll(t.Context(), numbered(1, 16), 16))
				require.True(t, client.Breaker(messaging.ChannelSMS).Open)
				time.Sleep(time.Hour)
				counts := verdicts(client.SMS.SendAll(t.Context(), numbered(1, 1000), 8))
				assert.Zero(t, counts[messaging.NotSent])
				assert.LessOrEqual(t, counts[messaging.Unknown], tt.unknown)
			})
		})
	}
}

// The messages after a silence wait for the probe, even if the breaker opened longer ago than GiveUp.
func TestSendAllWaitsForTheProbeAfterSilence(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]time.Duration{"GiveUp after the pause": 10 * time.Minute, "GiveUp during the pause": time.Second / 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := newStatusClient(t, failsUntil(time.Minute), messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: giveUp}))
				messages := func(yield func(sms.Message) bool) {
					for m := range numbered(1, 16) {
						if !yield(m) {
							return
						}
					}
					time.Sleep(time.Hour)
					numbered(17, 1000)(yield)
				}
				counts := verdicts(client.SMS.SendAll(t.Context(), messages, 8))
				assert.Equal(t, map[messaging.Verdict]int{messaging.Unknown: 16, messaging.Accepted: 984}, counts)
			})
		})
	}
}

// A gateway may respond with 403 or 404 while its service starts. The minute for trouble of the account counts from then.
func TestSendAllHoldsMessagesBackWhenTroubleTurnsIntoThatOfTheAccount(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var once sync.Once
				statusAt := func(since time.Duration) int {
					current := failsUntil(2 * time.Minute)(since)
					if current == http.StatusOK {
						once.Do(func() { current = status })
					}
					return current
				}
				counts := verdicts(newStatusClient(t, statusAt).SMS.SendAll(t.Context(), numbered(1, 1000), 8))
				assert.Zero(t, counts[messaging.NotSent])
				assert.Greater(t, counts[messaging.Accepted], 900)
			})
		})
	}
}

func TestSendAllGivesUpOnTrouble(t *testing.T) {
	t.Parallel()
	always := func(status int) func(time.Duration) int { return func(time.Duration) int { return status } }
	alternate := func() func(time.Duration) int { // with each response, because pauses vary
		var responses atomic.Int32
		return func(time.Duration) int {
			if responses.Add(1)%2 == 0 {
				return http.StatusServiceUnavailable
			}
			return http.StatusNotFound
		}
	}
	for name, tt := range map[string]struct {
		statusAt func(time.Duration) int
		policy   messaging.BreakerPolicy
		want     time.Duration
	}{
		"the service":            {always(503), messaging.BreakerPolicy{}, 10 * time.Minute},
		"the account":            {always(403), messaging.BreakerPolicy{}, time.Minute},
		"both in turn":           {alternate(), messaging.BreakerPolicy{}, 10 * time.Minute},
		"the service, GiveUp":    {always(503), messaging.BreakerPolicy{GiveUp: 5 * time.Minute}, 5 * time.Minute},
		"the account, GiveUp":    {always(403), messaging.BreakerPolicy{GiveUp: 5 * time.Minute}, 5 * time.Minute},
		"both in turn, GiveUp":   {alternate(), messaging.BreakerPolicy{GiveUp: 5 * time.Minute}, 5 * time.Minute},
		"the account, a second":  {always(403), messaging.BreakerPolicy{GiveUp: time.Second}, time.Second},
		"the service, an hour":   {always(503), messaging.BreakerPolicy{GiveUp: time.Hour}, time.Hour},
		"the account for a time": {func(d time.Duration) int { return 503 - 100*int(min(d/(2*time.Minute), 1)) }, messaging.BreakerPolicy{}, 3 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := newStatusClient(t, tt.statusAt, messaging.WithBreaker(tt.policy))
				began := time.Now()
				counts := verdicts(client.SMS.SendAll(t.Context(), numbered(1, 1000), 8))
				assert.Greater(t, counts[messaging.NotSent], 500)
				assert.InDelta(t, tt.want.Seconds(), time.Since(began).Seconds(), 35, "GiveUp, and the pause of a last probe")
			})
		})
	}
}

// Messages wait while the token source fails, up to MaxWait.
func TestSendAllWaitsForItsToken(t *testing.T) {
	t.Parallel()
	const n = 5000
	errIssuer := errors.New("the issuer is down")
	for name, tt := range map[string]struct {
		outage time.Duration
		want   messaging.Verdict
	}{
		"5 seconds":  {5 * time.Second, messaging.Accepted},
		"30 seconds": {30 * time.Second, messaging.Accepted},
		"59 seconds": {59 * time.Second, messaging.Accepted},
		"an hour":    {time.Hour, messaging.NotSent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				fetches := 0
				source := func(context.Context) (messaging.Token, error) {
					fetches++
					time.Sleep(5 * time.Millisecond)
					if time.Since(start) < tt.outage {
						return messaging.Token{}, errIssuer
					}
					return messaging.Token{Value: "t"}, nil
				}
				service := troubled{status: http.StatusOK, body: `{"id":"m-1"}`}
				client := service.client(t, messaging.WithTokenSource(source))
				outcomes := 0
				for out := range client.SMS.SendAll(t.Context(), numbered(1, n), 32) {
					outcomes++
					assert.Equal(t, tt.want, messaging.VerdictOf(out.Err))
					if out.Err != nil {
						require.ErrorIs(t, out.Err, errIssuer)
						require.ErrorContains(t, out.Err, "authentication failed before anything was sent")
					}
				}
				assert.Equal(t, n, outcomes)
				assert.Less(t, fetches, n/3)
				assert.Greater(t, time.Since(start), min(tt.outage, 30*time.Second))
				assert.Less(t, time.Since(start), 2*time.Minute)
			})
		})
	}
}

// An empty token is as an error of the source.
func TestSendAllWaitsWhileItsTokenIsEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		source := func(context.Context) (messaging.Token, error) {
			if time.Since(start) < 10*time.Second {
				return messaging.Token{}, nil
			}
			return messaging.Token{Value: "t"}, nil
		}
		client := newStatusClient(t, failsUntil(0), messaging.WithTokenSource(source))
		counts := verdicts(client.SMS.SendAll(t.Context(), numbered(1, 100), 8))
		assert.Equal(t, map[messaging.Verdict]int{messaging.Accepted: 100}, counts)
	})
}

// The wait for a guard leaves the whole wait for a token.
func TestSendAllWaitsForItsGuardAndForItsToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		guard := func(context.Context, messaging.Outgoing) error {
			if time.Since(start) < 31*time.Second {
				return messaging.Postpone(31 * time.Second)
			}
			return nil
		}
		source := func(context.Context) (messaging.Token, error) {
			if time.Since(start) < 80*time.Second {
				return messaging.Token{}, errors.New("the issuer is down")
			}
			return messaging.Token{Value: "t"}, nil
		}
		client := newStatusClient(t, failsUntil(0), messaging.WithTokenSource(source), messaging.WithGuard(guard))
		counts := verdicts(client.SMS.SendAll(t.Context(), numbered(1, 100), 8))
		assert.Equal(t, map[messaging.Verdict]int{messaging.Accepted: 100}, counts)
	})
}

// A token source that hangs costs MaxWait and few fetches, however many the messages are, and also while a breaker is open.
func TestSendAllGivesUpOnATokenSourceThatHangs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		hangsAt     time.Duration // since the start
		silence     time.Duration // after 16 messages
		concurrency int
		unknown     int // messages that meet the trouble of the service
	}{
		"the breaker is closed":    {0, 0, 8, 0},
		"it is closed, one by one": {0, 0, 1, 0},
		"the breaker is open":      {time.Second, 0, 16, 31},
		"it is open, after GiveUp": {time.Second, time.Hour, 16, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				source := func(ctx context.Context) (messaging.Token, error) {
					if time.Since(start) < tt.hangsAt {
						return messaging.Token{Value: "t", Expiry: time.Now().Add(time.Second)}, nil
					}
					<-ctx.Done()
					return messaging.Token{}, ctx.Err()
				}
				client := newStatusClient(t, failsUntil(time.Hour), messaging.WithTokenSource(source),
					messaging.WithBreaker(messaging.BreakerPolicy{GiveUp: 3 * time.Minute}))
				messages := func(yield func(sms.Message) bool) {
					count := 0
					for m := range numbered(1, 1000) {
						if count == 16 {
							time.Sleep(tt.silence)
						}
						count++
						if !yield(m) {
							return
						}
					}
				}
				counts := verdicts(client.SMS.SendAll(t.Context(), messages, tt.concurrency))
				assert.Equal(t, 1000, counts[messaging.NotSent]+counts[messaging.Unknown])
				assert.LessOrEqual(t, counts[messaging.Unknown], tt.unknown)
				assert.Less(t, time.Since(start), tt.hangsAt+tt.silence+150*time.Second)
			})
		})
	}
}

// After an outage of the token source, messages are sent as before, and a later outage has the whole wait again.
func TestSendAllAfterOutagesOfItsTokenSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		isDown := func(since time.Duration) bool {
			return since < 2*time.Minute || time.Hour < since && since < time.Hour+30*time.Second
		}
		source := func(context.Context) (messaging.Token, error) {
			if isDown(time.Since(start)) {
				return messaging.Token{}, errors.New("the issuer is down")
			}
			return messaging.Token{Value: "t", Expiry: time.Now().Add(time.Second)}, nil
		}
		client := newStatusClient(t, failsUntil(0), messaging.WithTokenSource(source))
		messages := func(yield func(sms.Message) bool) {
			for m := range numbered(1, 1000) {
				time.Sleep(10 * time.Second)
				if !yield(m) {
					return
				}
			}
		}
		counts := verdicts(client.SMS.SendAll(t.Context(), messages, 8))
		assert.LessOrEqual(t, counts[messaging.NotSent], 12)
		assert.Equal(t, 1000, counts[messaging.NotSent]+counts[messaging.Accepted])
	})
}

// HTTP 401 is trouble of the account, and does not turn the throttle on, even if no fresh token could be had.
func TestUnauthorizedIsNoThrottling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		fetches := 0
		source := func(context.Context) (messaging.Token, error) {
			if fetches++; fetches%2 == 0 { // the fresh token after each 401
				return messaging.Token{}, errors.New("the issuer is down")
			}
			return messaging.Token{Value: fmt.Sprint(fetches)}, nil
		}
		service := troubled{status: http.StatusUnauthorized, body: `{}`}
		client := service.client(t, messaging.WithTokenSource(source), messaging.WithBreaker(messaging.BreakerPolicy{Off: true}))
		counts := verdicts(client.SMS.SendAll(t.Context(), numbered(1, 30), 1))
		assert.Equal(t, map[messaging.Verdict]int{messaging.Refused: 30}, counts)
		assert.LessOrEqual(t, service.requests, 4*30, "MaxAttempts")
		assert.Less(t, time.Since(start), 2*time.Minute)
	})
}
