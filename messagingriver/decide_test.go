package messagingriver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// TestForbiddenMessageCanBeResent: a 403 is about one message. It pauses nothing, and what it refused is kept for a while.
func TestForbiddenMessageCanBeResent(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		service.Inject(messagingtest.Status(403, 0), 2)
		insert(t, r, smsMessage("resent"), smsMessage("dropped"))
		defer r.start(t)()
		becomes(t, r, smsKey("resent"), messagingriver.Refused)
		becomes(t, r, smsKey("dropped"), messagingriver.Refused)
		paused, err := r.broken(t.Context())
		require.NoError(t, err)
		assert.False(t, paused)
		refused, err := r.Refused(t.Context(), messagingriver.Key{})
		require.NoError(t, err)
		require.Len(t, refused, 2)
		assert.Contains(t, refused[0].Problem, "HTTP 403")
		assert.NotNil(t, refused[0].Message)

		for decision, key := range map[messagingriver.Decision]messagingriver.Key{
			messagingriver.Resend: smsKey("resent"), messagingriver.Drop: smsKey("dropped"),
		} {
			n, err := r.Resolve(t.Context(), messagingriver.Sent, key)
			require.NoError(t, err)
			assert.Zero(t, n, "what was refused did not go out")
			n, err = r.Resolve(t.Context(), decision, key)
			require.NoError(t, err)
			assert.Equal(t, 1, n)
		}
		becomes(t, r, smsKey("resent"), messagingriver.Accepted)
		record := becomes(t, r, smsKey("dropped"), messagingriver.Dropped)
		assert.Empty(t, record.Message)
		assert.Equal(t, map[string]int{"resent": 1}, references(service))
	})
}

func TestRefusedContentIsDeletedAfterItsTime(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.KeepRefused = time.Second
		r := t.newRig(t, client, options)
		service.Inject(messagingtest.Status(422, 0), 1)
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		becomes(t, r, smsKey("a"), messagingriver.Refused)
		require.Eventually(t, func() bool {
			record, err := r.row(t.Context(), smsKey("a"))
			return err == nil && record.Message == ""
		}, time.Minute, 20*time.Millisecond)
		n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("a"))
		require.NoError(t, err)
		assert.Zero(t, n, "there is nothing to send")
		becomes(t, r, smsKey("a"), messagingriver.Refused)
	})
}

func TestWaitingMessageIsCancelled(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("dropped"), smsMessage("kept"))
		n, err := r.Resolve(t.Context(), messagingriver.Drop, smsKey("dropped"))
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		defer r.start(t)()
		becomes(t, r, smsKey("kept"), messagingriver.Accepted)
		becomes(t, r, smsKey("dropped"), messagingriver.Dropped)
		assert.Equal(t, map[string]int{"kept": 1}, references(service))
	})
}

// TestRowThatCannotBeReadStandsAlone: it is parked with its reason, or left to a version that knows its channel, and its
// neighbours in the same job are sent.
func TestRowThatCannotBeReadStandsAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("a"), smsMessage("nothing"), smsMessage("b"), smsMessage("text"), smsMessage("json"), smsMessage("c"), smsMessage("other"))
		for reference, change := range map[string]string{
			"nothing": "message = NULL", "text": "message = 'not a message'", "json": `message = '{"surprise": 1}'`, "other": "channel = 'pigeon'",
		} {
			require.NoError(t, r.exec(t.Context(), fmt.Sprintf("UPDATE messaging_outbox SET %s WHERE reference = '%s'", change, reference)))
		}
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_outbox SET due_at = 1 WHERE reference = 'other'"))
		defer r.start(t)()
		for _, reference := range []string{"a", "b", "c"} {
			becomes(t, r, smsKey(reference), messagingriver.Accepted)
		}
		for _, reference := range []string{"nothing", "text"} {
			record := becomes(t, r, smsKey(reference), messagingriver.Parked)
			assert.Equal(t, "the row holds no message that this version can read", record.Problem)
		}
		parked, err := r.Parked(t.Context(), messagingriver.Key{})
		require.NoError(t, err)
		require.Len(t, parked, 2)
		assert.Nil(t, parked[0].Message)
		time.Sleep(1500 * time.Millisecond) // a round
		record, err := r.row(t.Context(), messagingriver.Key{Channel: "pigeon", Reference: "other"})
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Waiting, record.State)
		record, err = r.row(t.Context(), smsKey("json"))
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Waiting, record.State, "for a newer version")
		assert.Contains(t, record.Problem, `unknown key "surprise"`)
		assert.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1}, references(service))
	})
}

// TestLostRowThatCannotBeRead: also after a kill.
func TestLostRowThatCannotBeRead(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("a"), smsMessage("b"))
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_outbox SET state = 'sending', attempt = 1, began_at = 1, due_at = 1, message = NULL WHERE reference = 'a'"))
		defer r.start(t)()
		record := becomes(t, r, smsKey("a"), messagingriver.Parked)
		assert.Contains(t, record.Problem, "the row holds no message")
		becomes(t, r, smsKey("b"), messagingriver.Accepted)
	})
}

// TestPanicIsOneMessagesFailure: before the request the message waits for its next attempt, after it its outcome is unknown.
func TestPanicIsOneMessagesFailure(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var before, after atomic.Bool
		before.Store(true)
		client, err := messaging.NewClient(service.URL,
			messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
				if before.Swap(false) {
					panic("secret " + number)
				}
				return messaging.Token{Value: service.Token}, nil
			}),
			messaging.WithHTTPClient(&http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := http.DefaultTransport.RoundTrip(request)
				if after.Swap(false) {
					panic(errors.New("after the request"))
				}
				return response, err
			})}))
		require.NoError(t, err)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("before"))
		defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		defer r.start(t)()
		record := becomes(t, r, smsKey("before"), messagingriver.Accepted)
		assert.Equal(t, 2, record.Attempts)
		after.Store(true)
		insert(t, r, chatMessage("after"))
		record = becomes(t, r, chatKey("after"), messagingriver.Parked)
		assert.Contains(t, record.Problem, "panic (*errors.errorString)")
		assert.NotContains(t, record.Problem, number)
		assert.Equal(t, map[string]int{"before": 1, "after": 1}, references(service))
	})
}

// TestPanicBehindATransportWithoutHooks: that a request began shows in no trace event, and counts all the same.
func TestPanicBehindATransportWithoutHooks(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		var requests atomic.Int64
		client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("token"), messaging.WithObserver(panicsAtTheEnd{}),
			messaging.WithHTTPClient(&http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, request.Body)
				requests.Add(1)
				return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"id":"m-1"}`)), Request: request}, nil
			})}))
		require.NoError(t, err)
		r := t.newRig(t, client, quick())
		insert(t, r, chatMessage("a"))
		defer r.start(t)()
		becomes(t, r, chatKey("a"), messagingriver.Parked)
		assert.EqualValues(t, 1, requests.Load())
	})
}

// panicsAtTheEnd is an observer that panics when a call has ended.
type panicsAtTheEnd struct{}

func (panicsAtTheEnd) StartStep(ctx context.Context, _ messaging.Step) context.Context { return ctx }

func (panicsAtTheEnd) EndStep(_ context.Context, step messaging.Step, _ messaging.StepResult) {
	if step.Kind == messaging.StepCall {
		panic("observer")
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func TestUnlistedMessageIsParked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.SendTimeout = 2 * time.Second
		r := t.newRig(t, client, options)
		defer r.start(t)()
		service.Inject(messagingtest.DropUnread(), 1)
		insert(t, r, smsMessage("lost"))
		record := becomes(t, r, smsKey("lost"), messagingriver.Parked)
		assert.Equal(t, 1, record.Attempts)
		assert.Contains(t, record.Problem, "is listed")
		n, err := r.Resolve(t.Context(), messagingriver.Resend, smsKey("lost"))
		require.NoError(t, err)
		assert.Equal(t, 1, n)
		becomes(t, r, smsKey("lost"), messagingriver.Accepted)
		service.Inject(messagingtest.AcceptThenDrop(), 1)
		insert(t, r, smsMessage("taken"))
		record = becomes(t, r, smsKey("taken"), messagingriver.Accepted)
		assert.Equal(t, 1, record.Attempts, "it is listed")
		assert.Equal(t, map[string]int{"lost": 1, "taken": 1}, references(service))
	})
}

// TestRoundEndsWhenNothingIsLeft: 20,000 rows whose time is over go in one round.
func TestRoundEndsWhenNothingIsLeft(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		options := quick()
		options.SendTimeout = 20 * time.Minute // one round in this test
		r := t.newRig(t, client, options)
		require.NoError(t, r.exec(t.Context(), `
			INSERT INTO messaging_outbox (channel, reference, state, attempt, problem, history, created_at, due_at, not_before, priority, max_attempts)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
			SELECT 'sms', 'order-' || i, CASE WHEN i % 2 = 0 THEN 'accepted' ELSE 'refused' END, 1, '', '', 1, 1, 0, 1, 1 FROM n`))
		defer r.start(t)()
		require.Eventually(t, func() bool {
			var n int
			return r.pool().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM messaging_outbox").Scan(&n) == nil && n == 0
		}, time.Minute, 50*time.Millisecond)
	})
}

// TestRateIsOfAllProcesses: at most rate and burst in any second, also while workers come and go and the rate changes.
func TestRateIsOfAllProcesses(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		var mu sync.Mutex
		var sent []time.Time
		service := messagingtest.NewServer(t)
		transport := http.DefaultTransport.(*http.Transport).Clone()
		defer transport.CloseIdleConnections()
		client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
			messaging.WithHTTPClient(&http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
				mu.Lock()
				sent = append(sent, time.Now())
				mu.Unlock()
				return transport.RoundTrip(request)
			})}))
		require.NoError(t, err)
		const rate, burst = 50, 20
		options := quick()
		options.Rate, options.Burst = rate, burst
		r := t.newRig(t, client, options)
		var messages []messaging.Message
		for i := range 500 {
			messages = append(messages, smsMessage(fmt.Sprint("order-", i)))
		}
		insert(t, r, messages...)
		stop := r.start(t)
		time.Sleep(time.Second)
		second := r.start(t) // another worker of the same database
		time.Sleep(2 * time.Second)
		stop()
		time.Sleep(time.Second)
		second()
		second = r.start(t)
		time.Sleep(time.Second)

		mu.Lock()
		times := slices.Clone(sent)
		mu.Unlock()
		most := 0
		for i, from := range times {
			n, _ := slices.BinarySearchFunc(times[i:], from.Add(time.Second), time.Time.Compare)
			most = max(most, n)
		}
		assert.LessOrEqual(t, most, rate+burst)
		took := times[len(times)-1].Sub(times[0])
		assert.Greater(t, float64(len(times)), 0.5*rate*took.Seconds(), "the rate is used")

		require.NoError(t, r.SetRate(t.Context(), 2000))
		becomes(t, r, smsKey("order-499"), messagingriver.Accepted)
		require.Eventually(t, func() bool { return len(service.Sent()) == 500 }, 30*time.Second, 10*time.Millisecond)
		assert.Less(t, time.Since(times[len(times)-1]), 5*time.Second)
		second()
		require.EqualError(t, r.SetRate(t.Context(), -1), "messagingriver: SetRate got -1; want 0 to 1000000 messages a second")
	})
}

// TestMessageThatWaitsForTheAccountKeepsItsPlace: in the order of a recipient. A message that was scheduled for later holds none back.
func TestMessageThatWaitsForTheAccountKeepsItsPlace(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		options := quick()
		options.InOrder = true
		r := t.newRig(t, client, options)
		require.NoError(t, r.insertWith(t.Context(), smsMessage("later"), messagingriver.InsertOptions{At: time.Now().Add(time.Hour)}))
		insert(t, r, smsMessage("0"), smsMessage("1"), smsMessage("2"))
		service.Inject(messagingtest.Status(402, 8*time.Second), 1)
		defer r.start(t)()
		require.Eventually(t, func() bool {
			paused, err := r.broken(t.Context())
			return err == nil && paused
		}, time.Minute, 10*time.Millisecond)
		require.NoError(t, r.Resume(t.Context()))
		for _, reference := range []string{"0", "1", "2"} {
			becomes(t, r, smsKey(reference), messagingriver.Accepted)
		}
		var got []string
		for _, m := range service.Sent() {
			got = append(got, m.ReferenceID)
		}
		assert.Equal(t, []string{"0", "1", "2"}, got)
	})
}

// TestLimitedWorkerClaimsWhatItSends: also before it knows the rate, and when the rate has fallen.
func TestLimitedWorkerClaimsWhatItSends(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		for name, begin := range map[string]float64{"at the start": 2, "after a fall": 0} {
			t.Run(name, func(inner *testing.T) {
				options := quick()
				options.Rate = begin
				r := t.newRig(inner, client, options)
				defer r.start(inner)()
				if begin == 0 {
					insert(inner, r, bulk(10_000)...)
					require.Eventually(inner, func() bool { return r.counts(inner.Context())[messagingriver.Accepted] > 300 }, time.Minute, 5*time.Millisecond)
					require.NoError(inner, r.SetRate(inner.Context(), 2))
					time.Sleep(1300 * time.Millisecond) // a rate holds within a second
				}
				var messages []messaging.Message
				for i := range 100 {
					messages = append(messages, smsMessage(fmt.Sprint("order-", i)))
				}
				insert(inner, r, messages...)
				most := 0
				for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
					most = max(most, r.counts(inner.Context())[messagingriver.Sending])
				}
				assert.Positive(inner, r.counts(inner.Context())[messagingriver.Accepted])
				assert.LessOrEqual(inner, most, 2)
			})
		}
	})
}

func TestMessagesOfARecipientAreSentInOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.InOrder = true
		r := t.newRig(t, client, options)
		service.InjectRandomly(1, 1, messagingtest.Slow(50*time.Millisecond), messagingtest.Slow(time.Millisecond))
		to := func(n, i int) messaging.Message {
			return sms.Message{From: "ACME", To: fmt.Sprintf("+63917123456%d", n), Text: text, ReferenceID: fmt.Sprintf("%d-%d", n, i)}
		}
		stop := r.start(t)
		defer stop()
		for i := range 8 { // half of them one by one, half in batches
			insert(t, r, to(1, i))
			insert(t, r, to(2, 2*i), to(2, 2*i+1))
		}
		for i := range 8 {
			becomes(t, r, smsKey(fmt.Sprintf("1-%d", i)), messagingriver.Accepted)
			becomes(t, r, smsKey(fmt.Sprintf("2-%d", 2*i+1)), messagingriver.Accepted)
		}
		next := map[string]int{}
		for _, m := range service.Sent() {
			assert.Equal(t, fmt.Sprintf("%c-%d", m.To[len(m.To)-1], next[m.To]), m.ReferenceID)
			next[m.To]++
		}
		assert.Len(t, service.Sent(), 24)
		rest, err := r.dump(t.Context())
		require.NoError(t, err)
		assert.NotContains(t, rest, "63917", "recipients are deleted with the content")
	})
}

// TestWorkerWithAWrongClock: it takes part in the work, and delays nothing by more than a round.
func TestWorkerWithAWrongClock(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]time.Duration{"an hour ahead": time.Hour, "an hour behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t test) {
				service, client := connected(t)
				unready := atomic.Int32{}
				unready.Store(3)
				client, err := client.With(messaging.WithTokenSource(func(context.Context) (messaging.Token, error) {
					if unready.Add(-1) >= 0 {
						return messaging.Token{}, assert.AnError // so that some wait for their next attempt
					}
					return messaging.Token{Value: service.Token}, nil
				}))
				require.NoError(t, err)
				r := t.newRig(t, client, quick())
				defer r.startWith(t, &river.Config{Test: river.TestConfig{Time: clock(off)}})()
				began := time.Now()
				insert(t, r, smsMessage("a"), smsMessage("b"), smsMessage("c"), smsMessage("d"))
				service.Inject(messagingtest.AcceptThenDrop(), 1)
				for reference := range strings.SplitSeq("abcd", "") {
					becomes(t, r, smsKey(reference), messagingriver.Accepted)
				}
				assert.Less(t, time.Since(began), 15*time.Second)
				assert.Len(t, service.Sent(), 4)
			})
		})
	}
}

// clock is a clock that is off, of a process, not of its database.
type clock time.Duration

func (c clock) Now() time.Time     { return time.Now().Add(time.Duration(c)) }
func (clock) NowOrNil() *time.Time { return nil }

// TestStopLeavesNothingInDoubt: as River's documentation shows it, a client is stopped by the end of the context it was started
// with. Requests are in flight then: they end, and no other begins.
func TestStopLeavesNothingInDoubt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.Workers = 20
		r := t.newRig(t, client, options)
		service.InjectRandomly(1, 1, messagingtest.Slow(time.Second))
		var messages []messaging.Message
		for i := range 500 {
			messages = append(messages, chatMessage(fmt.Sprint("order-", i)))
		}
		insert(t, r, messages...)
		accepted := 0
		// A hard stop does not interrupt what has begun, either.
		for _, config := range []river.Config{{}, {SoftStopTimeout: time.Millisecond}} {
			r.runUntil(t, config, func() bool { return service.Requests() >= accepted+options.Workers })
			counts := r.counts(t.Context())
			assert.Equal(t, len(messages), counts[messagingriver.Waiting]+counts[messagingriver.Accepted], "%v", counts)
			assert.GreaterOrEqual(t, counts[messagingriver.Accepted], accepted+options.Workers, "those in flight")
			accepted = counts[messagingriver.Accepted]
			assert.Len(t, service.Sent(), accepted)
			assert.Equal(t, service.Requests(), accepted)
		}
	})
}

// TestChannelsAreApart: a chat app that does not respond holds no SMS back.
func TestChannelsAreApart(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.Workers, options.SendTimeout = 5, 30*time.Second
		r := t.newRig(t, client, options)
		service.Inject(messagingtest.Slow(6*time.Second), 5)
		var chats, texts []messaging.Message
		for i := range 100 {
			chats = append(chats, chatMessage(fmt.Sprint("chat-", i)))
			texts = append(texts, smsMessage(fmt.Sprint("sms-", i)))
		}
		insert(t, r, chats...)
		defer r.start(t)()
		require.Eventually(t, func() bool { return service.Requests() == 5 }, 30*time.Second, 5*time.Millisecond)
		insert(t, r, texts...)
		becomes(t, r, smsKey("sms-99"), messagingriver.Accepted)
		assert.Equal(t, 0, r.counts(t.Context())[messagingriver.Parked])
		record, err := r.row(t.Context(), chatKey("chat-99"))
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Waiting, record.State)
	})
}

// TestStormCostsFewMessages: a service that fails for ten seconds costs those that were under way and the probes. The others wait.
func TestStormCostsFewMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.SendTimeout, options.SettleFor = 30*time.Second, time.Hour
		r := t.newRig(t, client, options)
		var messages []messaging.Message
		for i := range 2000 {
			messages = append(messages, smsMessage(fmt.Sprint("order-", i)))
		}
		insert(t, r, messages...)
		service.InjectFor(2*time.Minute, messagingtest.Status(503, 0))
		defer r.start(t)()
		require.Eventually(t, func() bool {
			status, err := r.Status(t.Context())
			return err == nil && len(status.Channels) == 3 && strings.Contains(status.Channels[2].Breaker, "503")
		}, time.Minute, 50*time.Millisecond, "the breaker is seen")
		service.InjectFor(10*time.Second, messagingtest.Status(503, 0)) // from now
		require.Eventually(t, func() bool {
			counts := r.counts(t.Context())
			return counts[messagingriver.Waiting]+counts[messagingriver.Sending] == 0
		}, 2*time.Minute, 100*time.Millisecond)
		counts := r.counts(t.Context())
		t.Log(counts)
		var doubt int
		require.NoError(t, r.pool().QueryRowContext(t.Context(), "SELECT COUNT(*) FROM messaging_outbox WHERE state <> 'accepted'").Scan(&doubt))
		assert.LessOrEqual(t, doubt, 130)
		assert.Equal(t, len(messages), counts[messagingriver.Accepted]+counts[messagingriver.Unknown])
		assert.Len(t, service.Sent(), counts[messagingriver.Accepted])
	})
}

// TestLateJobsTakeNoTurns: a job whose messages are done leaves the rate to those that wait.
func TestLateJobsTakeNoTurns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t, messaging.WithRateLimit(2, 1))
		options := quick()
		options.Workers = 1
		r := t.newRig(t, client, options)
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		for range 40 { // 20 seconds of the rate
			require.NoError(t, r.wake(t.Context()))
		}
		insert(t, r, smsMessage("b"))
		began := time.Now()
		becomes(t, r, smsKey("b"), messagingriver.Accepted)
		assert.Less(t, time.Since(began), 10*time.Second)
	})
}

// TestWaitingForTheClientCostsNothing: what waits for the rate limit of the client is not claimed, so that a stop or a kill leaves
// nothing in doubt, and costs no attempt.
func TestWaitingForTheClientCostsNothing(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t, messaging.WithRateLimit(40, 4))
		options := quick()
		options.SendTimeout = time.Second // less than the limit needs for those that have workers
		r := t.newRig(t, client, options)
		var messages []messaging.Message
		for i := range 100 {
			messages = append(messages, smsMessage(fmt.Sprint("sms-", i)), chatMessage(fmt.Sprint("chat-", i)))
		}
		insert(t, r, messages...)
		stop := r.start(t)
		defer stop()
		most := 0
		require.Eventually(t, func() bool {
			counts := r.counts(t.Context())
			most = max(most, counts[messagingriver.Sending])
			return counts[messagingriver.Accepted] == len(messages)
		}, time.Minute, 20*time.Millisecond)
		assert.LessOrEqual(t, most, 20, "claimed at once")
		assert.Len(t, service.Sent(), len(messages))
		var begun, failures int
		require.NoError(t, r.pool().QueryRowContext(t.Context(), "SELECT SUM(attempt), SUM(failures) FROM messaging_outbox").Scan(&begun, &failures))
		assert.Equal(t, len(messages), begun)
		assert.Zero(t, failures)
	})
}

// TestSustainedLoadLeavesNoGrowingTable: rounds delete as many rows as come in.
func TestSustainedLoadLeavesNoGrowingTable(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		options := quick()
		options.Keep = 2 * time.Second
		r := t.newRig(t, client, options)
		defer r.start(t)()
		rows := func() (n int) {
			for _, of := range r.counts(t.Context()) {
				n += of
			}
			return n
		}
		const perSecond = 500
		seconds, most := 8, 0
		if *whole {
			seconds = 30
		}
		for second := range seconds {
			next := time.After(time.Second)
			messages := make([]messaging.Message, perSecond)
			for i := range messages {
				messages[i] = smsMessage(fmt.Sprint(second, "-", i))
			}
			insert(t, r, messages...)
			if second%5 == 4 {
				t.Logf("after %2d s: %v", second+1, r.counts(t.Context()))
			}
			most = max(most, rows())
			<-next
		}
		t.Logf("at most %d rows of %d", most, perSecond*seconds)
		if *whole {
			require.Less(t, most, perSecond*seconds/2)
		}
		require.Eventually(t, func() bool {
			return rows() == 0
		}, 30*time.Second, 50*time.Millisecond, "nothing is left")
	})
}
