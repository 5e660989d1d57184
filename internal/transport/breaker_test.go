package transport

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// outcomeOf returns an outcome of now.
func outcomeOf(health Health) *heard { return outcomeAsking(health, 0) }

// outcomeAsking returns an outcome whose response asked to wait.
func outcomeAsking(health Health, wait time.Duration) *heard {
	return &heard{health: health, at: time.Now(), retryAfter: wait, cause: errReset}
}

func someone() *waiter { return new(waiter) }

// hear has calls enter and leave a breaker, one after the other.
func hear(t *testing.T, b *Breaker, outcomes ...Health) {
	t.Helper()
	for _, health := range outcomes {
		generation, wait := b.enter(someone(), false)
		require.Nil(t, wait)
		b.leave(generation, outcomeOf(health), "", false)
	}
}

func times(n int, health Health) []Health {
	all := make([]Health, n)
	for i := range all {
		all[i] = health
	}
	return all
}

func isOpen(b *Breaker) bool {
	_, open := b.Trouble()
	return open
}

func mixed(parts ...[]Health) (all []Health) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func repeat(n int, part []Health) (all []Health) {
	for range n {
		all = append(all, part...)
	}
	return all
}

func TestBreakerOpens(t *testing.T) {
	for name, tc := range map[string]struct {
		outcomes []Health
		want     bool
	}{
		"at five failures":                      {times(5, Failing), true},
		"not at four":                           {times(4, Failing), false},
		"at four in five":                       {mixed(times(1, Healthy), times(4, Failing)), true},
		"not at three in five":                  {mixed(times(2, Healthy), times(3, Failing)), false},
		"at ten in a row":                       {mixed(times(40, Healthy), times(10, Failing)), true},
		"not at nine":                           {mixed(times(40, Healthy), times(9, Failing)), false},
		"at thirty-two in forty":                {mixed(times(40, Healthy), repeat(8, mixed(times(1, Healthy), times(4, Failing)))), true},
		"not at thirty-one":                     {mixed(times(40, Healthy), repeat(7, mixed(times(1, Healthy), times(4, Failing))), times(2, Healthy), times(3, Failing)), false},
		"not at five in a row among successes":  {mixed(times(20, Healthy), times(5, Failing), times(20, Healthy), times(5, Failing)), false},
		"at five refusals of the account":       {times(5, Refusing), true},
		"at ten that were throttled":            {times(10, Throttling), true},
		"not at nine that were throttled":       {times(9, Throttling), false},
		"at half of twenty":                     {mixed(times(30, Healthy), times(10, Throttling)), true},
		"not at nine of twenty":                 {mixed(times(9, Throttling), times(11, Healthy)), false},
		"not at what is not known":              {mixed(times(100, Unheard), times(100, Unheard)), false},
		"not at successes":                      {times(100, Healthy), false},
		"not before, once successes came again": {mixed(times(40, Healthy), times(9, Failing), times(20, Healthy), times(9, Failing)), false},
		"not at ten throttled over forty calls": {mixed(times(5, Throttling), times(20, Healthy), times(9, Throttling)), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Breaker
				for i, health := range tc.outcomes {
					require.False(t, isOpen(&b), "after %d", i)
					hear(t, &b, health)
				}
				assert.Equal(t, tc.want, isOpen(&b))
			})
		})
	}
}

// Attempts begin one after the other, and f fails and s succeeds. Between them come an o, which is a success from before, and a dash: an
// attempt that begins and stays in flight.
func TestBreakerOpensAtTenThatBeganInARow(t *testing.T) {
	for outcomes, want := range map[string]bool{
		"ffofffofffoff":   true,
		"ffofffofffof":    false,
		"ffofffofffosfof": false,
		"ffofff-ofofffof": false,
	} {
		t.Run(outcomes, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Breaker
				hear(t, &b, times(40, Healthy)...)
				for i, outcome := range outcomes {
					require.False(t, isOpen(&b), "after %d", i)
					o := outcomeOf(Healthy)
					if outcome == 'f' {
						o = outcomeOf(Failing)
					}
					if outcome != 'o' {
						o.number = b.begun.Add(1)
					}
					if generation, _ := b.enter(someone(), false); outcome != '-' {
						b.leave(generation, o, "", false)
					}
				}
				assert.Equal(t, want, isOpen(&b))
			})
		})
	}
}

func TestBreakerForgetsAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		hear(t, &b, times(4, Failing)...)
		time.Sleep(time.Minute + time.Second)
		hear(t, &b, times(4, Failing)...)
		assert.False(t, isOpen(&b), "four of eight are too old")
		hear(t, &b, Failing)
		assert.True(t, isOpen(&b))

		var busy Breaker
		for range 5000 {
			hear(t, &busy, Healthy)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(58 * time.Second)
		hear(t, &busy, repeat(3, mixed(times(6, Failing), times(1, Throttling)))...)
		assert.False(t, isOpen(&busy), "the last forty successes are younger than a minute")

		var calm Breaker
		hear(t, &calm, times(20, Healthy)...)
		time.Sleep(time.Minute + time.Second)
		hear(t, &calm, times(5, Failing)...)
		assert.True(t, isOpen(&calm), "the successes are too old")
	})
}

// One probe passes after each pause. Its failure begins the next, its success closes the breaker.
func TestBreakerProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		hear(t, &b, times(5, Failing)...)
		for range 3 {
			trouble, open := b.Trouble()
			require.True(t, open)
			_, wait := b.enter(someone(), false)
			require.NotNil(t, wait)
			assert.Positive(t, time.Until(wait.Until))
			time.Sleep(time.Until(trouble.Until))

			probe, wait := b.enter(someone(), false)
			require.Nil(t, wait)
			second := someone()
			_, wait = b.enter(second, false)
			require.NotNil(t, wait, "there is one probe")
			assert.LessOrEqual(t, time.Until(wait.Until), time.Duration(0))
			b.join(second)
			b.leave(probe, outcomeOf(Failing), "", true)
			select {
			case <-second.sleeper:
			default:
				t.Error("nobody woke the call that waits")
			}
			second.part()
		}
		time.Sleep(time.Minute)
		probe, wait := b.enter(someone(), false)
		require.Nil(t, wait)
		changed := b.leave(probe, outcomeOf(Healthy), "", false)
		require.NotNil(t, changed)
		assert.False(t, isOpen(&b))
	})
}

func TestBreakerPassesACancelledProbeOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		hear(t, &b, times(5, Failing)...)
		time.Sleep(time.Second)
		probe, wait := b.enter(someone(), false)
		require.Nil(t, wait)
		second := someone()
		_, wait = b.enter(second, false)
		require.NotNil(t, wait)
		b.join(second)
		assert.Nil(t, b.leave(probe, outcomeOf(unwritten), "", false))
		<-second.sleeper
		next, wait := b.enter(second, false)
		require.Nil(t, wait, "the next call is the probe, at once")
		b.leave(next, outcomeOf(Healthy), "", false)
		assert.False(t, isOpen(&b))
	})
}

// A short timeout says nothing of the service, and still one probe follows another with a pause.
func TestBreakerPausesAfterAProbeThatTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		openBy(t, b, responds(503, ""))
		base := newFakeBase(hangs)
		tr := newTransport(base, attemptsUpTo(1), timeoutOf(200*time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() { tr.Do(ctx, guarded(b, Bulk)) })
		}
		calls.Wait()
		seen := base.requests()
		require.InDelta(t, 7, len(seen), 1)
		for i, probe := range seen[1:] {
			assert.GreaterOrEqual(t, probe.at.Sub(seen[i].at), minPause+200*time.Millisecond)
		}
	})
}

// hearOf has calls for recipients enter and leave a breaker: a letter each, a capital one for a failure.
func hearOf(t *testing.T, b *Breaker, recipients string) {
	t.Helper()
	for i, r := range recipients {
		recipient, outcome := strings.ToLower(string(r)), outcomeOf(Healthy)
		if recipient != string(r) {
			outcome = outcomeOf(Failing)
		}
		generation, wait := b.enter(&waiter{recipient: recipient}, false)
		require.Nil(t, wait, "after %d of %s", i, recipients)
		b.leave(generation, outcome, recipient, false)
	}
}

func TestBreakerWeighsRecipients(t *testing.T) {
	for name, tc := range map[string]struct {
		recipients string
		want       bool
	}{
		"five failures of one, and no other":         {"AAAAA", true},
		"five failures of one after another's":       {"bAAAAAAAA", false},
		"many failures of one":                       {"bcdAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", false},
		"one fails, others are sent to now and then": {"bAAAAAAcAAAAAAdAAAAAAeAAAAAAfAAAAAAgAAAAAAhAAAAAAiAAAAAA", false},
		"its own successes count for it":             {"bAAAAaAAAAaAAAAaAAAAaAAAAaAAAA", false},
		"five of as many":                            {"ABCDE", true},
		"ten in a row of two":                        {"cdefghijklmnopqrstuvwxyzABABABABAB", true},
		"nine in a row of two":                       {"cdefghijklmnopqrstuvwxyzABABABABA", false},
		"ten in a row of one, another is healthy":    {"bAAAAAAAAAA", false},
		"ten in a row of one, and no other":          {"aaaaaaaaaaAAAAAAAAAA", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Breaker
				hearOf(t, &b, tc.recipients)
				assert.Equal(t, tc.want, isOpen(&b))
			})
		})
	}
}

func TestBreakerOfOneRecipientOpensAtTroubleOfAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		hearOf(t, &b, "bcdefghijklmnopqrstu"+strings.Repeat("A", 100))
		assert.False(t, isOpen(&b))
		hearOf(t, &b, "B")
		assert.True(t, isOpen(&b), "the last ten are of two recipients")
	})
}

// Having closed, a breaker takes ten outcomes until twenty were healthy.
func TestBreakerThatWasOpenTakesTenOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closedAgain := func() *Breaker {
			b := new(Breaker)
			hearOf(t, b, "ABCDE")
			time.Sleep(time.Second)
			hearOf(t, b, "f")
			require.False(t, isOpen(b))
			return b
		}
		b := closedAgain()
		hearOf(t, b, "ABCDEFGHI")
		assert.False(t, isOpen(b))
		hearOf(t, b, "J")
		assert.True(t, isOpen(b))
		b = closedAgain()
		hearOf(t, b, "abcdefghijklmnopqrst")
		time.Sleep(2 * time.Minute)
		hearOf(t, b, "ABCDE")
		assert.True(t, isOpen(b))
	})
}

func TestSettledMessageClosesTheBreakerThatItWentThrough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		before := time.Now()
		time.Sleep(time.Second)
		hearOf(t, &b, "ABCDE")
		assert.Nil(t, b.Settled("a", before), "it was sent before the trouble")
		assert.True(t, isOpen(&b))
		time.Sleep(time.Second)
		assert.NotNil(t, b.Settled("f", time.Now()))
		assert.False(t, isOpen(&b))

		var other Breaker
		for _, r := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			hearOf(t, &other, strings.ToUpper(r))
			other.Settled(r, time.Now())
		}
		assert.False(t, isOpen(&other), "half of what it heard is good")
	})
}

// The probe is drawn from those that differ from what failed, and have the time.
func TestProbeDiffersFromWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers().Service
		openBy(t, Breakers{Service: b}, responds(503, ""))
		hearsOf := func(to string) Request {
			request := guarded(Breakers{Service: b}, Bulk)
			request.Recipient = to
			return request
		}
		var mu sync.Mutex
		var probes []string
		probed := func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(probes)
		}
		var calls sync.WaitGroup
		call := func(to string, within time.Duration) {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					probes = append(probes, to)
					return responds(503, "")(r)
				}), attemptsUpTo(1)).Do(ctx, hearsOf(to))
			})
			synctest.Wait()
		}
		call("a", time.Hour)
		time.Sleep(700 * time.Millisecond) // a has probed and failed, with nobody beside it
		require.Equal(t, []string{"a"}, probed())
		for range 20 {
			call("a", time.Hour)
			call("hasty", 900*time.Millisecond)
		}
		call("b", time.Hour)
		time.Sleep(600 * time.Millisecond)
		assert.Equal(t, []string{"a", "b"}, probed())
		time.Sleep(time.Hour)
		calls.Wait()
	})
}

// If nobody waits when a pause ends, the next call is the probe, also one that could not wait.
func TestNextCallIsTheProbeIfNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		openBy(t, b, responds(503, ""))
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		base := newFakeBase(hangs)
		newTransport(base).Do(ctx, guarded(b, Brief))
		assert.Equal(t, 1, base.count())
		trouble, _ := b.Service.Trouble()
		assert.GreaterOrEqual(t, time.Until(trouble.Until), minPause, "its caller left: the next goes after a pause")
	})
}

// A call that was told to probe and does not come keeps nobody waiting.
func TestProbeThatDoesNotComeIsReplaced(t *testing.T) {
	for range 10 { // the first is drawn at random
		synctest.Test(t, func(t *testing.T) {
			b := newBreakers()
			openBy(t, b, responds(503, ""))
			began := time.Now()
			var calls sync.WaitGroup
			base := newFakeBase(responds(200, "{}"))
			for range 3 {
				calls.Go(func() {
					request := authenticatedBy(guarded(b, Bulk), Custom(func(*http.Request) error {
						if time.Since(began) > 0 {
							time.Sleep(20 * time.Second) // it ignores its context
						}
						return nil
					}))
					newTransport(base).Do(t.Context(), request)
				})
			}
			synctest.Wait()
			out := newTransport(base).Do(t.Context(), guarded(b, Bulk))
			assert.Equal(t, 200, out.StatusCode)
			assert.Less(t, time.Since(began), 2*time.Second)
			calls.Wait()
		})
	}
}

// What began before the breaker opened neither closes it nor makes its pause longer.
func TestBreakerIgnoresWhatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		early, _ := b.enter(someone(), false)
		hear(t, &b, times(5, Failing)...)
		before, _ := b.Trouble()
		b.leave(early, outcomeOf(Healthy), "", false)
		b.leave(early, outcomeOf(Failing), "", false)
		after, open := b.Trouble()
		assert.True(t, open)
		assert.Equal(t, before, after)
		time.Sleep(time.Second)
		probe, _ := b.enter(someone(), false)
		b.leave(early, outcomeOf(Healthy), "", false)
		assert.True(t, isOpen(&b), "only the probe closes it")
		b.leave(probe, outcomeOf(Healthy), "", false)
		for range 20 {
			b.leave(early, outcomeOf(Failing), "", false)
		}
		assert.False(t, isOpen(&b))
	})
}

func TestBreakerRampsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		hear(t, &b, times(5, Failing)...)
		time.Sleep(time.Second)
		hear(t, &b, Healthy)
		passes := func() (all []uint64) {
			for {
				generation, wait := b.enter(someone(), false)
				if wait != nil || len(all) == 1000 {
					return all
				}
				all = append(all, generation)
			}
		}
		for _, want := range []int{2, 4, 8, 16, 32, 64, 128, 256} {
			all := passes()
			assert.Len(t, all, want)
			for _, generation := range all {
				b.leave(generation, outcomeOf(Healthy), "", false)
			}
		}
		assert.Len(t, passes(), 1000, "without bound")
	})
}

func TestBreakerRampsUpWithSuccessesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		hear(t, &b, times(5, Failing)...)
		time.Sleep(time.Second)
		hear(t, &b, Healthy, Failing, Unheard, Throttling, Failing)
		for range 2 {
			_, wait := b.enter(someone(), false)
			require.Nil(t, wait)
		}
		_, wait := b.enter(someone(), false)
		assert.NotNil(t, wait)
	})
}

func TestBreakerCountsACallOnce(t *testing.T) {
	var b Breaker
	for range 100 {
		generation, _ := b.enter(someone(), false)
		b.leave(generation, outcomeOf(Failing), "", true)
	}
	assert.False(t, isOpen(&b))
}

func TestPause(t *testing.T) {
	for name, tc := range map[string]struct{ lasted, dictated, least, most time.Duration }{
		"at first":                 {0, 0, 500 * time.Millisecond, 625 * time.Millisecond},
		"after two seconds":        {2 * time.Second, 0, 500 * time.Millisecond, 625 * time.Millisecond},
		"a fifth":                  {10 * time.Second, 0, 1500 * time.Millisecond, 2 * time.Second},
		"at most":                  {time.Hour, 0, 22500 * time.Millisecond, 30 * time.Second},
		"dictated":                 {time.Hour, time.Second, time.Second, 1100 * time.Millisecond},
		"dictated, short":          {time.Hour, 100 * time.Millisecond, 100 * time.Millisecond, 110 * time.Millisecond},
		"dictated, more than most": {0, time.Hour, 30 * time.Second, 33 * time.Second},
	} {
		shortest, longest := time.Hour, time.Duration(0)
		for range 1000 {
			p := pause(tc.lasted, tc.dictated)
			shortest, longest = min(shortest, p), max(longest, p)
		}
		assert.GreaterOrEqual(t, shortest, tc.least, name)
		assert.LessOrEqual(t, longest, tc.most, name)
		assert.Greater(t, longest-shortest, (tc.most-tc.least)/2, "%s: jittered", name)
	}
}

// The shortest wait that a response asked for dictates the pause.
func TestBreakerPausesAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		for _, wait := range []time.Duration{0, 9 * time.Second, 3 * time.Second, 7 * time.Second, 0} {
			generation, _ := b.enter(someone(), false)
			b.leave(generation, outcomeAsking(Failing, wait), "", false)
		}
		trouble, _ := b.Trouble()
		assert.InDelta(t, 3.15, time.Until(trouble.Until).Seconds(), 0.15)
		time.Sleep(4 * time.Second)
		probe, _ := b.enter(someone(), false)
		b.leave(probe, outcomeAsking(Failing, 20*time.Second), "", false)
		trouble, _ = b.Trouble()
		assert.InDelta(t, 21, time.Until(trouble.Until).Seconds(), 1)
	})
}

func TestBreakerUnderManyCalls(t *testing.T) {
	var b Breaker
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 2000 {
				w := someone()
				generation, wait := b.enter(w, false)
				if wait != nil {
					b.join(w)
					select {
					case <-w.sleeper:
					case <-time.After(time.Millisecond):
					}
					w.part()
					continue
				}
				b.leave(generation, outcomeAsking(Health(rand.N(6)), time.Microsecond), "", rand.N(2) == 0)
				b.Trouble()
			}
		})
	}
	calls.Wait()
}

// inTrouble is a Judge for which 503 is trouble of the service, 402 of the account, and 429 means throttled.
type inTrouble struct{}

func (inTrouble) Judge(out *Outcome) Judgement {
	j := Judgement{Repeatable: out.StatusCode == http.StatusTooManyRequests}
	switch out.StatusCode {
	case http.StatusServiceUnavailable:
		j.Health, j.Cause = Failing, NewError("HTTP 503", nil)
	case http.StatusPaymentRequired:
		j.Health, j.Cause = Refusing, NewError("HTTP 402", nil)
	case http.StatusTooManyRequests:
		j.Health, j.Cause = Throttling, NewError("HTTP 429", nil)
	}
	return j
}

func guarded(b Breakers, patience Patience) Request {
	request := sendRequest()
	request.Judge, request.Breakers, request.Patience = inTrouble{}, b, patience
	return request
}

func newBreakers() Breakers { return Breakers{Service: new(Breaker), Account: new(Breaker)} }

// openBy opens the breakers by five calls that meet the reaction.
func openBy(t *testing.T, b Breakers, react reaction) {
	t.Helper()
	tr := newTransport(newFakeBase(react), attemptsUpTo(1))
	for range 10 {
		tr.Do(t.Context(), guarded(b, Brief))
		if isOpen(b.Service) || isOpen(b.Account) {
			return
		}
	}
	t.Fatal("no breaker opened")
}

func TestCallWaitsForTheBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		openBy(t, b, responds(503, "", "Retry-After", "5"))
		began := time.Now()
		out := newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), guarded(b, Brief))
		assert.Equal(t, 200, out.StatusCode)
		assert.InDelta(t, 5.25, time.Since(began).Seconds(), 0.25)
		assert.False(t, isOpen(b.Service))
	})
}

func TestCallThatCannotWaitEndsAtOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		patience Patience
		ctx      time.Duration
		maxWait  time.Duration
		want     time.Duration // how long it waits; 0 is not at all
	}{
		"the context is too short":           {Brief, time.Second, time.Minute, 0},
		"also for a patient call":            {Patient, time.Second, time.Minute, 0},
		"MaxWait is too short":               {Brief, time.Hour, time.Second, 0},
		"in bulk it waits for its context":   {Bulk, time.Second, time.Minute, time.Second},
		"in bulk it does not mind MaxWait":   {Bulk, 9 * time.Second, time.Second, 9 * time.Second},
		"the context ends, then the pause":   {Bulk, 4 * time.Second, time.Second, 4 * time.Second},
		"a patient call, beyond the breaker": {Patient, 5 * time.Second, time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreakers()
				openBy(t, b, responds(503, "", "Retry-After", "10"))
				base := newFakeBase(responds(200, "{}"))
				ctx, cancel := context.WithTimeout(t.Context(), tc.ctx)
				defer cancel()
				began := time.Now()
				out := newTransport(base, waits(time.Millisecond, tc.maxWait)).Do(ctx, guarded(b, tc.patience))
				assert.Equal(t, tc.want, time.Since(began))
				assert.Zero(t, base.count())
				assert.Zero(t, out.Attempts)
				assert.False(t, out.Written)
				open, ok := errors.AsType[*OpenError](out.Err)
				require.True(t, ok)
				assert.InDelta(t, 10.5-tc.want.Seconds(), open.RetryAfter.Seconds(), 0.5)
				assert.Contains(t, Describe(out.Err), "the circuit breaker is open: HTTP 503")
			})
		})
	}
}

func TestPatientCallGivesUp(t *testing.T) {
	for name, tc := range map[string]struct {
		react  reaction
		giveUp time.Duration
		want   time.Duration
	}{
		"trouble of the service":     {responds(503, ""), 0, 10 * time.Minute},
		"trouble of the account":     {responds(402, ""), 0, time.Minute},
		"throttled":                  {responds(429, ""), 0, 10 * time.Minute},
		"as configured":              {responds(503, ""), 20 * time.Second, 20 * time.Second},
		"as configured, the account": {responds(402, ""), 20 * time.Second, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreakers()
				openBy(t, b, tc.react)
				began := time.Now()
				tr := newTransport(newFakeBase(tc.react), attemptsUpTo(1), func(tr *Transport) { tr.GiveUp = tc.giveUp })
				unsent, last := 0, 0
				for range 2000 {
					out := tr.Do(t.Context(), guarded(b, Patient))
					if out.Attempts == 0 {
						unsent++
					}
					if last++; unsent > 3 {
						break
					}
				}
				assert.InDelta(t, tc.want.Seconds(), time.Since(began).Seconds(), tc.want.Seconds()/20)
				assert.Greater(t, unsent, 3)
			})
		})
	}
}

func TestOneProbeForManyWaitingCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		openBy(t, b, responds(503, ""))
		base := newFakeBase(responds(503, ""), responds(503, ""), responds(200, "{}"))
		tr := newTransport(base, attemptsUpTo(1))
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() { tr.Do(t.Context(), guarded(b, Bulk)) })
		}
		calls.Wait()
		require.Equal(t, 64, base.count())
		seen := base.requests()
		assert.GreaterOrEqual(t, seen[1].at.Sub(seen[0].at), minPause)
		assert.GreaterOrEqual(t, seen[2].at.Sub(seen[1].at), minPause)
	})
}

func TestBreakersAreToldOnlyWhatConcernsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for status, want := range map[int][2]bool{503: {true, false}, 402: {false, true}, 429: {false, true}, 400: {}, 200: {}} {
			b := newBreakers()
			tr := newTransport(newFakeBase(responds(status, "{}")), attemptsUpTo(1))
			for range 30 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				tr.Do(ctx, guarded(b, Brief))
				cancel()
			}
			assert.Equal(t, want, [2]bool{isOpen(b.Service), isOpen(b.Account)}, status)
		}
	})
}

// late returns a reaction that hangs, and goes on hanging for a time when the request has ended.
func late(by time.Duration) reaction {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := hangs(r)
		time.Sleep(by)
		return resp, err
	}
}

// Silence of a second is trouble if that is ten times as long as usual.
func TestSilenceIsMeasuredByWhatIsUsual(t *testing.T) {
	for usual, want := range map[time.Duration]bool{50 * time.Millisecond: true, 150 * time.Millisecond: false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreakers()
			healthy := newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
				time.Sleep(usual)
				return responds(200, "{}")(r)
			}))
			for range 30 {
				healthy.Do(t.Context(), guarded(b, Brief))
			}
			silent := newTransport(newFakeBase(hangs), attemptsUpTo(1), timeoutOf(time.Second))
			for range 20 {
				ctx, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
				silent.Do(ctx, guarded(b, Brief))
				cancel()
			}
			assert.Equal(t, want, isOpen(b.Service), usual)
		})
	}
}

func TestWhatCountsAsTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		react   reaction
		timeout time.Duration
		ctx     time.Duration
		want    bool
	}{
		"refused":                        {unsent(errRefused), time.Minute, time.Hour, true},
		"reset":                          {breaks(errReset), time.Minute, time.Hour, true},
		"cut":                            {cutResponse(200), time.Minute, time.Hour, true},
		"ended":                          {breaks(io.EOF), time.Minute, time.Hour, true},
		"a timeout":                      {hangs, 5 * time.Second, time.Hour, true},
		"a short timeout":                {hangs, 4 * time.Second, time.Hour, false},
		"the caller's context":           {hangs, time.Minute, 5 * time.Second, true},
		"a short context":                {hangs, time.Minute, 4 * time.Second, false},
		"a process that stood still":     {late(5 * time.Second), 10 * time.Second, time.Hour, false},
		"a response that is too large":   {responds(200, string(make([]byte, 1<<20+1))), time.Minute, time.Hour, false},
		"a proxy that wants credentials": {unsent(proxyError(http.StatusProxyAuthRequired)), time.Minute, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreakers()
				tr := newTransport(newFakeBase(tc.react), attemptsUpTo(1), timeoutOf(tc.timeout))
				for range 5 {
					ctx, cancel := context.WithTimeout(t.Context(), tc.ctx)
					tr.Do(ctx, guarded(b, Brief))
					cancel()
				}
				assert.Equal(t, tc.want, isOpen(b.Service))
				assert.False(t, isOpen(b.Account))
			})
		})
	}
}

func TestThrottledCallInBulkUsesNoAttemptWhileTheBreakerIsOpen(t *testing.T) {
	for name, tc := range map[string]struct {
		patience Patience
		want     int
	}{"in bulk": {Bulk, 12}, "alone": {Brief, 4}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreakers()
				openBy(t, b, responds(429, "", "Retry-After", "1"))
				busy := responds(429, "", "Retry-After", "1")
				base := newFakeBase(busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, busy, responds(200, "{}"))
				out := newTransport(base).Do(t.Context(), guarded(b, tc.patience))
				assert.Equal(t, tc.want, base.count())
				if tc.patience == Bulk {
					assert.Equal(t, 200, out.StatusCode)
				} else {
					assert.Equal(t, 429, out.StatusCode)
				}
			})
		})
	}
}

// A token that has expired is no trouble of the account, if a fresh one is accepted.
func TestRefusedTokenIsNoTroubleUntilAFreshOneIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		for range 10 {
			source, _ := issued()
			request := authenticatedBy(sendRequest(), source.Authenticator("Authorization", ""))
			request.Breakers = b
			require.Equal(t, 200, newTransport(newFakeBase(responds(401, ""), responds(200, "{}"))).Do(t.Context(), request).StatusCode)
		}
		assert.False(t, isOpen(b.Account))
	})
}

func TestPanicOfAProbePassesItOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		openBy(t, b, responds(503, ""))
		base := newFakeBase(func(*http.Request) (*http.Response, error) { panic("round tripper") }, responds(200, "{}"))
		tr := newTransport(base)
		assert.PanicsWithValue(t, "round tripper", func() { tr.Do(t.Context(), guarded(b, Brief)) })
		assert.Equal(t, 200, tr.Do(t.Context(), guarded(b, Brief)).StatusCode)
	})
}

// Whatever a function of the user does at any step, each breaker that the call entered is left: its probe passes on.
func TestStepThatEndsTheCallLeavesTheBreakers(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("observer") }, "Goexit": runtime.Goexit} {
		for _, step := range []Step{BreakerWait, Attempt} {
			for _, atEnd := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					b := newBreakers()
					openBy(t, b, responds(503, ""))
					tr := newTransport(newFakeBase(responds(503, "")), attemptsUpTo(1))
					var call sync.WaitGroup
					call.Go(func() {
						defer func() { _ = recover() }()
						request := guarded(b, Bulk)
						request.Observe = func(ctx context.Context, s Step, _ int) (context.Context, func(Outcome)) {
							if s == step && !atEnd {
								leave()
							}
							return ctx, func(Outcome) {
								if s == step {
									leave()
								}
							}
						}
						tr.Do(t.Context(), request)
					})
					call.Wait()
					out := newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), guarded(b, Brief))
					assert.Equal(t, 200, out.StatusCode, "%s, %s, at the end: %v", name, step, atEnd)
					assert.False(t, isOpen(b.Service))
				})
			}
		}
	}
}

// Both breakers are left before anybody is told, who may panic.
func TestPanicOfChangedLeavesBothBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreakers()
		openBy(t, b, responds(503, ""))
		openBy(t, Breakers{Account: b.Account}, responds(402, ""))
		time.Sleep(time.Second)
		tr := newTransport(newFakeBase(responds(200, "{}")))
		tr.Changed = func(context.Context, *Request, Change) { panic("logger") }
		assert.PanicsWithValue(t, "logger", func() { tr.Do(t.Context(), guarded(b, Brief)) })
		assert.False(t, isOpen(b.Service))
		assert.False(t, isOpen(b.Account))
		assert.Zero(t, b.Service.passing+b.Account.passing)
	})
}

func TestDoubtIsKnownAfterAPanic(t *testing.T) {
	boom := func(react reaction) reaction {
		return func(r *http.Request) (*http.Response, error) {
			_, _ = react(r)
			panic("round tripper")
		}
	}
	auth := Custom(func(*http.Request) error { panic("authenticator") })
	for name, tc := range map[string]struct {
		react reaction
		a     Authenticator
		want  bool
	}{
		"before anything":          {responds(200, ""), auth, false},
		"connecting":               {boom(unsent(errRefused)), nil, false},
		"written":                  {boom(responds(200, "")), nil, true},
		"without evidence":         {boom(silent(errReset)), nil, true},
		"after one that is proven": {responds(200, ""), nil, false},
	} {
		doubt := true
		request := authenticatedBy(sendRequest(), tc.a)
		request.Doubt = &doubt
		if name == "after one that is proven" {
			request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
				if step == Backoff {
					panic("observer")
				}
				return ctx, func(Outcome) {}
			}
			tc.react = responds(429, "")
		}
		assert.Panics(t, func() { newTransport(newFakeBase(tc.react)).Do(t.Context(), request) }, name)
		assert.Equal(t, tc.want, doubt, name)
	}
}

func TestChangesAreReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes []bool
		b := newBreakers()
		base := newFakeBase(mixedReactions(9, responds(503, ""), responds(200, "{}"))...)
		tr := newTransport(base, attemptsUpTo(1), func(tr *Transport) {
			tr.Changed = func(_ context.Context, _ *Request, change Change) {
				changes = append(changes, change.Opened)
				assert.Equal(t, "HTTP 503", change.Cause.Error())
			}
		})
		for range 12 {
			tr.Do(t.Context(), guarded(b, Brief))
		}
		assert.Equal(t, []bool{true, false}, changes)
	})
}

func mixedReactions(n int, first, then reaction) (all []reaction) {
	for range n {
		all = append(all, first)
	}
	return append(all, then)
}

func healthyCall() *call {
	two := newBreakers()
	c := &call{transport: &Transport{}, passed: [2]passed{{breaker: two.Service}, {breaker: two.Account}}}
	c.request.Breakers.Places = new(Places)
	c.outcome.Began = time.Now()
	return c
}

// passThrough is what a call without trouble does in the waiting room.
func (c *call) passThrough(ctx context.Context) bool {
	ok := c.enterBreakers(true) == nil && c.takePlace() && c.enterBreakers(false) == nil &&
		c.passed[1].breaker.pacer() == nil && c.transport.Limit.take(nil)
	c.leaveBreakers(Healthy)
	c.leavePlace()
	c.passed[0].counted, c.passed[1].counted = false, false
	return ok
}

// What a call without trouble pays for breakers and a place: at most 60 ns and nothing on the heap.
func BenchmarkBreakersAndPlace(b *testing.B) {
	c, ctx := healthyCall(), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if !c.passThrough(ctx) {
			b.Fatal("it waits")
		}
	}
}

func TestBreakersAndPlaceCostNoAllocation(t *testing.T) {
	c := healthyCall()
	assert.Zero(t, testing.AllocsPerRun(100, func() { c.passThrough(t.Context()) }))
}
