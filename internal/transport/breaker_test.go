package transport

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An event is a number of attempts that pass a breaker one after the other, at once, and report the same.
type event struct {
	after      time.Duration // before the first
	count      int
	health     Health
	retryAfter time.Duration
}

func (e event) askingFor(retryAfter time.Duration) event { e.retryAfter = retryAfter; return e }

func (e event) in(after time.Duration) event { e.after = after; return e }

func failures(n int) event  { return event{count: n, health: Failing} }
func refusals(n int) event  { return event{count: n, health: Refusing} }
func successes(n int) event { return event{count: n, health: Healthy} }
func unheards(n int) event  { return event{count: n, health: Inconclusive} }
func unsents(n int) event   { return event{count: n, health: notWritten} }

// afterPause is when a first pause is surely over.
const afterPause = minPause + minPause/10 + 1

// begin has an attempt pass a breaker, and returns how it reports.
func begin(t *testing.T, b *Breaker) func(Health) *Change {
	t.Helper()
	passed, open := b.enter()
	require.Nil(t, open, "the breaker lets no attempt pass")
	began := time.Now()
	return func(health Health) *Change {
		return passed.record(report{health: health, began: began, cause: errReset})
	}
}

// play has events happen to a breaker, and returns what they changed.
func play(t *testing.T, b *Breaker, events ...event) (changes []Change) {
	t.Helper()
	for _, e := range events {
		time.Sleep(e.after)
		for range e.count {
			passed, open := b.enter()
			require.Nil(t, open, "the breaker lets no attempt pass")
			r := report{health: e.health, began: time.Now(), retryAfter: e.retryAfter, cause: errReset}
			if change := passed.record(r); change != nil {
				changes = append(changes, *change)
			}
		}
	}
	return changes
}

func isOpen(b *Breaker) bool {
	_, open := b.Trouble()
	return open
}

// assertPause asserts how long a breaker lets no attempt pass, except for the random tenth.
func assertPause(t *testing.T, want time.Duration, b *Breaker) {
	t.Helper()
	open := b.Blocked()
	require.NotNil(t, open)
	assert.GreaterOrEqual(t, open.RetryAfter, want)
	assert.LessOrEqual(t, open.RetryAfter, want+want/10)
}

func TestBreaker(t *testing.T) {
	opened := failures(failuresToOpen)
	for name, tc := range map[string]struct {
		events []event
		pause  time.Duration // 0: it is closed
	}{
		"nothing":                                     {nil, 0},
		"a failure less than it takes":                {[]event{failures(15)}, 0},
		"16 failures in a row":                        {[]event{failures(16)}, time.Second},
		"16 refusals in a row":                        {[]event{refusals(16)}, time.Second},
		"failures and refusals":                       {[]event{failures(8), refusals(8)}, time.Second},
		"failures over an hour":                       {[]event{failures(15), failures(1).in(time.Hour)}, time.Second},
		"a success ends the row":                      {[]event{failures(15), successes(1), failures(15)}, 0},
		"a row after a success":                       {[]event{failures(15), successes(1), failures(16)}, time.Second},
		"unheard":                                     {[]event{unheards(100)}, 0},
		"unheard within a row":                        {[]event{failures(15), unheards(10), failures(1)}, time.Second},
		"nothing written":                             {[]event{unsents(100)}, 0},
		"nothing written within a row":                {[]event{failures(15), unsents(10), failures(1)}, time.Second},
		"the last of the row asks to wait":            {[]event{failures(15), failures(1).askingFor(5 * time.Second)}, 5 * time.Second},
		"an earlier one asks to wait":                 {[]event{failures(15).askingFor(5 * time.Second), failures(1)}, time.Second},
		"it asks to wait very long":                   {[]event{failures(16).askingFor(time.Hour)}, 10 * time.Minute},
		"it asks to wait very shortly":                {[]event{failures(16).askingFor(time.Millisecond)}, time.Millisecond},
		"the probe succeeds":                          {[]event{opened, successes(1).in(afterPause)}, 0},
		"the probe succeeds, then some failures":      {[]event{opened, successes(1).in(afterPause), failures(15)}, 0},
		"the probe succeeds, then a row":              {[]event{opened, successes(1).in(time.Hour), failures(16)}, time.Second},
		"the probe fails":                             {[]event{opened, failures(1).in(afterPause)}, time.Second},
		"the probe fails after 5 s":                   {[]event{opened, failures(1).in(5 * time.Second)}, time.Second},
		"the probe fails after 20 s":                  {[]event{opened, failures(1).in(20 * time.Second)}, 4 * time.Second},
		"the second probe fails after 20 s":           {[]event{opened, failures(1).in(5 * time.Second), failures(1).in(15 * time.Second)}, 4 * time.Second},
		"the probe fails after 10 minutes":            {[]event{opened, failures(1).in(10 * time.Minute)}, 30 * time.Second},
		"the probe asks to wait":                      {[]event{opened, failures(1).in(10 * time.Minute).askingFor(7 * time.Second)}, 7 * time.Second},
		"the probe asks to wait very long":            {[]event{opened, failures(1).in(afterPause).askingFor(time.Hour)}, 10 * time.Minute},
		"the probe is refused":                        {[]event{opened, refusals(1).in(20 * time.Second)}, 4 * time.Second},
		"the probe is unheard":                        {[]event{opened, unheards(1).in(20 * time.Second)}, 4 * time.Second},
		"the probe is not written, the next fails":    {[]event{opened, unsents(3).in(20 * time.Second), failures(1)}, 4 * time.Second},
		"the probe is not written, the next succeeds": {[]event{opened, unsents(3).in(20 * time.Second), successes(1)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Breaker
				play(t, &b, tc.events...)
				if tc.pause > 0 {
					assertPause(t, tc.pause, &b)
				} else {
					assert.False(t, isOpen(&b))
					assert.Nil(t, b.Blocked())
				}
			})
		})
	}
}

func TestBreakerPauseIsJittered(t *testing.T) {
	shortest, longest := time.Hour, time.Duration(0)
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			var b Breaker
			play(t, &b, failures(16))
			pause := b.Blocked().RetryAfter
			shortest = min(shortest, pause)
			longest = max(longest, pause)
		})
	}
	assert.GreaterOrEqual(t, shortest, time.Second)
	assert.Less(t, shortest, 1020*time.Millisecond)
	assert.Greater(t, longest, 1080*time.Millisecond)
	assert.LessOrEqual(t, longest, 1100*time.Millisecond)
}

func TestBreakerLetsOneProbePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		play(t, &b, failures(16))
		open := b.Blocked()
		require.NotNil(t, open)
		time.Sleep(open.RetryAfter - 1)
		assert.Equal(t, time.Duration(1), b.Blocked().RetryAfter)
		time.Sleep(time.Nanosecond)
		assert.Nil(t, b.Blocked())
		assert.True(t, isOpen(&b))
		probe := begin(t, &b)
		for range 3 {
			_, open := b.enter()
			require.NotNil(t, open)
			assert.Equal(t, probeWait, open.RetryAfter, "while the probe is on its way")
			time.Sleep(time.Minute)
		}
		assert.True(t, isOpen(&b))
		require.NotNil(t, probe(Healthy))
		begin(t, &b)
		begin(t, &b)
	})
}

func TestBreakerHearsNothingOfASuccessFromBeforeTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		early := begin(t, &b)
		time.Sleep(time.Second)
		play(t, &b, failures(15))
		assert.Nil(t, early(Healthy))
		assert.Len(t, play(t, &b, failures(1)), 1)
	})
}

func TestBreakerHearsASuccessThatBeganWithinTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		play(t, &b, failures(1))
		within := begin(t, &b)
		play(t, &b, failures(14).in(time.Second))
		assert.Nil(t, within(Healthy))
		assert.Empty(t, play(t, &b, failures(15)))
	})
}

func TestBreakerHearsNothingOfAttemptsFromBeforeItOpened(t *testing.T) {
	for _, health := range []Health{Healthy, Failing, Refusing, Inconclusive, notWritten} {
		synctest.Test(t, func(t *testing.T) {
			var b Breaker
			early := begin(t, &b)
			play(t, &b, failures(16))
			before, _ := b.Trouble()
			time.Sleep(time.Hour)
			assert.Nil(t, early(health), "health %d", health)
			after, open := b.Trouble()
			assert.True(t, open)
			assert.Equal(t, before, after)
			probe := begin(t, &b)
			assert.NotNil(t, probe(Healthy))
		})
	}
}

func TestBreakerHearsNothingOfAttemptsFromBeforeItClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		failing := begin(t, &b)
		healthy := begin(t, &b)
		play(t, &b, failures(16), successes(1).in(time.Minute), failures(15))
		assert.Nil(t, failing(Failing), "it is no part of the new row")
		assert.False(t, isOpen(&b))
		assert.Nil(t, healthy(Healthy), "nor does it end the row")
		assert.Len(t, play(t, &b, failures(1)), 1)
	})
}

func TestBreakerTellsItsTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		trouble, open := b.Trouble()
		assert.False(t, open)
		assert.Zero(t, trouble)
		play(t, &b, refusals(15).in(time.Minute), failures(1))
		since := time.Now()
		trouble, open = b.Trouble()
		assert.True(t, open)
		assert.Equal(t, since, trouble.Since, "when it opened")
		assert.Equal(t, b.Blocked().RetryAfter, time.Until(trouble.Until))
		assert.Equal(t, errReset, trouble.Cause)
		assert.False(t, trouble.Account)

		play(t, &b, refusals(1).in(time.Minute))
		trouble, _ = b.Trouble()
		assert.Equal(t, since, trouble.Since)
		assert.True(t, trouble.Account, "as the last outcome says")

		time.Sleep(time.Minute)
		probe := begin(t, &b)
		probe(Inconclusive)
		trouble, _ = b.Trouble()
		assert.Equal(t, errReset, trouble.Cause, "silence of a probe is no cause")
		assert.True(t, trouble.Account)
	})
}

func TestBreakerTellsEachChangeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		changes := play(t, &b, failures(16), failures(1).in(time.Minute), unheards(1).in(time.Minute), unsents(1).in(time.Minute), successes(3), failures(16))
		require.Len(t, changes, 3)
		for i, change := range changes {
			assert.Equal(t, i != 1, change.Opened)
			assert.Equal(t, errReset, change.Cause)
		}
		assert.Equal(t, changes[0].Since, changes[1].Since)
	})
}

func TestSettledClosesTheBreakerForASendThatBeganAfterItOpened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		early := time.Now()
		play(t, &b, failures(16).in(time.Second))
		assert.Nil(t, b.Settled(early))
		assert.Nil(t, b.Settled(time.Now()), "it opened in the same moment")
		assert.True(t, isOpen(&b))
		time.Sleep(time.Minute)
		began := time.Now()
		probe := begin(t, &b)
		change := b.Settled(began)
		require.NotNil(t, change)
		assert.False(t, change.Opened)
		assert.False(t, isOpen(&b))
		play(t, &b, failures(15))
		assert.Nil(t, probe(Failing), "the probe began before it closed")
		assert.False(t, isOpen(&b))
	})
}

func TestSettledEndsTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		play(t, &b, failures(15))
		assert.Nil(t, b.Settled(time.Now()))
		assert.Empty(t, play(t, &b, failures(15)))
	})
}

func TestBreakerUnderManyCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		var probes, changes atomic.Int32
		var calls sync.WaitGroup
		for range 64 {
			calls.Go(func() {
				for range 200 {
					passed, open := b.enter()
					if open != nil {
						time.Sleep(open.RetryAfter)
						continue
					}
					isProbe := passed.generation%2 == 1 // it opened more often than it closed
					if isProbe {
						assert.Equal(t, int32(1), probes.Add(1))
					}
					began := time.Now()
					time.Sleep(rand.N(time.Millisecond))
					if isProbe {
						probes.Add(-1)
					}
					health := []Health{Healthy, Failing, Failing, Failing, Failing, Inconclusive, notWritten}[rand.N(7)]
					if passed.record(report{health: health, began: began, cause: errReset}) != nil {
						changes.Add(1)
					}
				}
			})
		}
		calls.Wait()
		assert.Equal(t, b.generation, uint64(changes.Load()))
		time.Sleep(time.Hour)
		if isOpen(&b) {
			assert.NotNil(t, begin(t, &b)(Healthy))
		}
		assert.Len(t, play(t, &b, successes(1), failures(16)), 1)
	})
}

// inTrouble is a Judge for which 503 is trouble of the service, 402 and 401 of the account, and 429 means throttled.
type inTrouble struct{}

func (inTrouble) Judge(out *Outcome) Judgement {
	j := Judgement{
		Repeatable:   out.StatusCode == http.StatusTooManyRequests,
		TokenRefused: out.StatusCode == http.StatusUnauthorized,
	}
	switch out.StatusCode {
	case http.StatusServiceUnavailable:
		j.Health = Failing
		j.Cause = NewError("HTTP 503", nil)
	case http.StatusPaymentRequired, http.StatusUnauthorized:
		j.Health = Refusing
		j.Cause = NewError("HTTP 402", nil)
	}
	return j
}

// A pair has the breakers of a service and of an account.
type pair struct{ service, account *Breaker }

func newPair() pair { return pair{new(Breaker), new(Breaker)} }

// asking returns a send that asks the breakers.
func (p pair) asking() Request {
	request := sendRequest()
	request.Judge = inTrouble{}
	request.Service = p.service
	request.Account = p.account
	return request
}

// areOpen reports which of the breakers are open.
func (p pair) areOpen() (open [2]bool) {
	for i, b := range []*Breaker{p.service, p.account} {
		open[i] = b != nil && isOpen(b)
	}
	return open
}

// open has 16 calls meet the reaction, which opens at least one of the breakers.
func (p pair) open(t *testing.T, react reaction) {
	t.Helper()
	tr := newTransport(newFakeBase(react), attemptsUpTo(1))
	for range failuresToOpen {
		tr.Do(t.Context(), p.asking())
	}
	require.Contains(t, p.areOpen(), true)
}

func TestBreakersHearWhatConcernsThem(t *testing.T) {
	for status, want := range map[int][2]bool{503: {true, true}, 402: {false, true}, 401: {false, true}, 429: {}, 400: {}, 200: {}} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair()
			tr := newTransport(newFakeBase(responds(status, "{}")), attemptsUpTo(1))
			for range failuresToOpen {
				tr.Do(t.Context(), p.asking())
			}
			assert.Equal(t, want, p.areOpen(), "HTTP %d", status)
			if want[0] {
				trouble, _ := p.service.Trouble()
				assert.False(t, trouble.Account)
			}
			if want[1] {
				trouble, _ := p.account.Trouble()
				assert.Equal(t, status != 503, trouble.Account)
			}
		})
	}
}

// For the service's breaker a refusal of the account is a success: the service responds.
func TestRefusalOfTheAccountShowsAHealthyService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		tr := newTransport(newFakeBase(mixed(15, responds(503, ""), responds(402, ""), responds(503, ""))...), attemptsUpTo(1))
		for range 31 {
			other := p
			other.account = new(Breaker) // one account after the other, as with the clients of With
			tr.Do(t.Context(), other.asking())
		}
		assert.False(t, isOpen(p.service))
		tr.Do(t.Context(), p.asking())
		assert.True(t, isOpen(p.service))
		assert.False(t, isOpen(p.account))
	})
}

// mixed returns n times the first reaction, and then the others.
func mixed(n int, first reaction, then ...reaction) (all []reaction) {
	for range n {
		all = append(all, first)
	}
	return append(all, then...)
}

func TestAccountThatIsHeldBackGivesTheServiceProbeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		pair{p.service, nil}.open(t, responds(503, ""))
		pair{nil, p.account}.open(t, responds(402, "", "Retry-After", "20"))
		time.Sleep(afterPause) // the service's pause is over, the account's is not
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, attemptsUpTo(1))
		out := tr.Do(t.Context(), p.asking())
		assert.Contains(t, Describe(out.Err), "HTTP 402")
		assert.Zero(t, base.count())
		assert.True(t, isOpen(p.service))
		assert.Equal(t, 200, tr.Do(t.Context(), pair{p.service, new(Breaker)}.asking()).StatusCode, "another account probes at once")
		assert.Equal(t, [2]bool{false, true}, p.areOpen())
	})
}

func TestCallWithoutBreakersPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTransport(newFakeBase(responds(503, "")), attemptsUpTo(1))
		for range 40 {
			assert.Equal(t, 503, tr.Do(t.Context(), pair{}.asking()).StatusCode)
		}
	})
}

func TestOpenBreakerIsInTheErrorOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, "", "Retry-After", "10"))
		base := newFakeBase(responds(200, "{}"))
		out := newTransport(base, attemptsUpTo(1)).Do(t.Context(), p.asking())
		open, ok := errors.AsType[*OpenError](out.Err)
		require.True(t, ok)
		assert.InDelta(t, 10.5, open.RetryAfter.Seconds(), 0.5)
		assert.Equal(t, "the circuit breaker is open: HTTP 503", Describe(out.Err))
		assertOutcome(t, Outcome{Err: out.Err, Wait: open.RetryAfter}, out)
		assert.Zero(t, base.count())
	})
}

// The cause is shown to other calls, and the error of a round tripper may hold anything.
func TestCauseOfTheTroubleWrapsNoErrorOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, breaks(errors.Join(errReset, errSecret)))
		trouble, _ := p.service.Trouble()
		assert.Equal(t, "read tcp: connection reset by peer", trouble.Cause.Error())
		assert.NotErrorIs(t, trouble.Cause, errSecret)
	})
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
		"a timeout":                      {hangs, time.Second, time.Hour, true},
		"a short timeout":                {hangs, time.Second - 1, time.Hour, false},
		"a timeout while connecting":     {hangsUnsent, time.Second, time.Hour, true},
		"a short one while connecting":   {hangsUnsent, time.Second - 1, time.Hour, false},
		"the caller's context":           {hangs, time.Minute, time.Second, true},
		"a short context":                {hangs, time.Minute, time.Second - 1, false},
		"a response that is too large":   {responds(200, string(make([]byte, 1<<20+1))), time.Minute, time.Hour, false},
		"a certificate that is refused":  {unsent(errCertificate), time.Minute, time.Hour, false},
		"a proxy that wants credentials": {unsent(proxyError(http.StatusProxyAuthRequired)), time.Minute, time.Hour, false},
		"a proxy that refuses":           {unsent(proxyError(http.StatusBadGateway)), time.Minute, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPair()
				tr := newTransport(newFakeBase(tc.react), attemptsUpTo(1), timeoutOf(tc.timeout))
				for range failuresToOpen {
					ctx, cancel := context.WithTimeout(t.Context(), tc.ctx)
					tr.Do(ctx, p.asking())
					cancel()
				}
				assert.Equal(t, tc.want, isOpen(p.service))
			})
		})
	}
}

// What says nothing must not end a row either.
func TestWhatSaysNothingLeavesTheRow(t *testing.T) {
	for name, react := range map[string]reaction{
		"a certificate that is refused": unsent(errCertificate), "a short silence": hangs, "a short silence, nothing written": hangsUnsent,
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair()
			tr := newTransport(newFakeBase(mixed(15, breaks(errReset), react, breaks(errReset))...), attemptsUpTo(1))
			for range 17 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				tr.Do(ctx, p.asking())
				cancel()
			}
			assert.True(t, isOpen(p.service), name)
		})
	}
}

// Silence says something after a second, or after four times the usual time of a response if that is longer.
func TestSilenceIsMeasuredByWhatIsUsual(t *testing.T) {
	for _, tc := range []struct {
		usual, silence time.Duration
		want           bool
	}{
		{50 * time.Millisecond, time.Second, true},
		{50 * time.Millisecond, time.Second - 1, false},
		{500 * time.Millisecond, 2 * time.Second, true},
		{500 * time.Millisecond, 2*time.Second - 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair()
			request := p.asking()
			request.Slots = NewSlots()
			healthy := newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
				time.Sleep(tc.usual)
				return responds(200, "{}")(r)
			}))
			for range 3 {
				healthy.Do(t.Context(), request)
			}
			silent := newTransport(newFakeBase(hangs), attemptsUpTo(1), timeoutOf(tc.silence))
			for range failuresToOpen {
				silent.Do(t.Context(), request)
			}
			assert.Equal(t, tc.want, isOpen(p.service), "%v, usually %v", tc.silence, tc.usual)
		})
	}
}

// Only a success says how long a response takes: a refusal to process comes sooner.
func TestUsualTimeIsThatOfSuccesses(t *testing.T) {
	for name, tc := range map[string]struct {
		react reaction
		want  time.Duration
	}{
		"a success": {responds(200, ""), 2 * time.Second}, "throttled": {responds(429, ""), 0},
		"trouble": {responds(503, ""), 0}, "an error": {breaks(errReset), 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			request := newPair().asking()
			request.Slots = NewSlots()
			newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
				time.Sleep(2 * time.Second)
				return tc.react(r)
			}), attemptsUpTo(1)).Do(t.Context(), request)
			assert.Equal(t, tc.want, request.Slots.usualTime(), name)
		})
	}
}

func TestUsualTimeIsARunningMean(t *testing.T) {
	room := NewSlots()
	for range 100 {
		room.addTime(100 * time.Millisecond)
	}
	assert.Equal(t, 100*time.Millisecond, room.usualTime())
	room.addTime(time.Second)
	assert.Less(t, room.usualTime(), 200*time.Millisecond, "a slow one alone changes little")
	for range 100 {
		room.addTime(time.Second)
	}
	assert.Greater(t, room.usualTime(), 900*time.Millisecond)
}

// A token that has expired is no trouble of the account, if a fresh one is accepted.
func TestRefusedTokenIsNoTroubleUntilAFreshOneIsRefused(t *testing.T) {
	for fresh, want := range map[int]bool{200: false, 401: true} {
		synctest.Test(t, func(t *testing.T) {
			p := newPair()
			for range failuresToOpen {
				source, _ := issued()
				request := authenticatedBy(p.asking(), source.Authenticator("Authorization", ""))
				out := newTransport(newFakeBase(responds(401, ""), responds(fresh, "{}"))).Do(t.Context(), request)
				require.Equal(t, fresh, out.StatusCode)
				require.Equal(t, 2, out.Attempts)
			}
			assert.Equal(t, [2]bool{false, want}, p.areOpen())
		})
	}
}

// A probe with a token that has expired leaves the probe to the attempt with a fresh one.
func TestProbeIsRepeatedWithAFreshToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		source, _ := issued()
		request := authenticatedBy(p.asking(), source.Authenticator("Authorization", ""))
		out := newTransport(newFakeBase(responds(401, ""), responds(200, "{}")), attemptsUpTo(1)).Do(t.Context(), request)
		assert.Equal(t, 200, out.StatusCode)
		assert.Equal(t, [2]bool{}, p.areOpen())
	})
}

func TestPanicOfAProbePassesItOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		base := newFakeBase(func(*http.Request) (*http.Response, error) { panic("round tripper") }, responds(200, "{}"))
		tr := newTransport(base, attemptsUpTo(1))
		assert.PanicsWithValue(t, "round tripper", func() { tr.Do(t.Context(), p.asking()) })
		assert.Equal(t, 200, tr.Do(t.Context(), p.asking()).StatusCode)
	})
}

func TestGuardThatEndsAProbePassesItOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		tr := newTransport(newFakeBase(responds(200, "{}")), attemptsUpTo(1))
		request := p.asking()
		request.Guard = func(context.Context) error { return errSecret }
		require.ErrorIs(t, tr.Do(t.Context(), request).Err, errSecret)
		assert.Equal(t, 200, tr.Do(t.Context(), p.asking()).StatusCode)
	})
}

// A function of the user that ends the call at any step leaves no slot taken, and the breakers free: its probe passes on.
func TestStepThatEndsTheCallGivesBackWhatItHolds(t *testing.T) {
	for name, leave := range map[string]func(){"panic": func() { panic("observer") }, "Goexit": runtime.Goexit} {
		for _, step := range []Step{Wait, Backoff, Attempt} {
			for _, atEnd := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					p := newPair()
					p.open(t, responds(503, ""))
					room := NewSlots()
					limit := limitOf(3*time.Second, 1) // longer than the pause
					tr := newTransport(newFakeBase(responds(503, "")), ownBase, limit)
					if step == Wait { // while a breaker is open, nothing waits for a turn
						time.Sleep(afterPause)
					}
					tr.Limit.turns.Allow()
					reached := false
					var call sync.WaitGroup
					call.Go(func() {
						defer func() { _ = recover() }()
						request := p.asking()
						request.Slots = room
						request.Observe = func(ctx context.Context, s Step, _ int) (context.Context, func(Outcome)) {
							if s == step && !atEnd {
								reached = true
								leave()
							}
							return ctx, func(Outcome) {
								if s == step {
									reached = true
									leave()
								}
							}
						}
						tr.Do(t.Context(), request)
					})
					call.Wait()
					assert.True(t, reached, "%s, %s, at the end: %v", name, step, atEnd)
					assert.Empty(t, room.taken)
					out := newTransport(newFakeBase(responds(200, "{}"))).Do(t.Context(), p.asking())
					assert.Equal(t, 200, out.StatusCode, "%s, %s, at the end: %v", name, step, atEnd)
					assert.Equal(t, [2]bool{}, p.areOpen())
				})
			}
		}
	}
}

// Both breakers record the attempt, and its place is free, before Changed is called, which may panic.
func TestPanicOfChangedLeavesBothBreakers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		request := p.asking()
		request.Slots = NewSlots()
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase)
		tr.Changed = func(context.Context, *Request, Change) { panic("logger") }
		assert.PanicsWithValue(t, "logger", func() { tr.Do(t.Context(), request) })
		assert.Equal(t, [2]bool{}, p.areOpen())
		assert.Empty(t, request.Slots.taken)
	})
}

// A change that both breakers make at once is one change.
func TestChangedIsCalledOnceForOneChange(t *testing.T) {
	for name, p := range map[string]pair{"both": newPair(), "the service's": {new(Breaker), nil}, "the account's": {nil, new(Breaker)}} {
		synctest.Test(t, func(t *testing.T) {
			type key struct{}
			ctx := context.WithValue(t.Context(), key{}, "call")
			var changes []bool
			base := newFakeBase(mixed(17, responds(503, ""), responds(200, "{}"))...)
			tr := newTransport(base, attemptsUpTo(1))
			tr.Changed = func(ctx context.Context, r *Request, change Change) {
				changes = append(changes, change.Opened)
				assert.Equal(t, "HTTP 503", change.Cause.Error())
				assert.Equal(t, "call", ctx.Value(key{}))
				assert.EqualValues(t, 7, r.Channel)
			}
			for range 20 {
				request := p.asking()
				request.Channel = 7
				tr.Do(ctx, request)
				if len(changes) > 0 {
					time.Sleep(time.Minute)
				}
			}
			assert.Equal(t, []bool{true, false}, changes, name)
		})
	}
}

// The account was refused before the service failed: both breakers close with the next success, and each closing is a change of its own.
func TestChangedIsCalledForEachReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		play(t, p.account, refusals(16))
		play(t, p.service, failures(16))
		time.Sleep(afterPause)
		tr := newTransport(newFakeBase(responds(200, "{}")))
		var accounts []bool
		tr.Changed = func(_ context.Context, _ *Request, change Change) {
			assert.False(t, change.Opened)
			accounts = append(accounts, change.Account)
		}
		tr.Do(t.Context(), p.asking())
		assert.Equal(t, []bool{false, true}, accounts)
	})
}

func TestMaybeWrittenIsKnownAfterAPanic(t *testing.T) {
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
		"after one that is proven": {responds(429, ""), nil, false},
	} {
		doubt := true
		request := authenticatedBy(sendRequest(), tc.a)
		request.MaybeWritten = &doubt
		request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
			if step == Backoff {
				panic("observer")
			}
			return ctx, func(Outcome) {}
		}
		assert.Panics(t, func() { newTransport(newFakeBase(tc.react)).Do(t.Context(), request) }, name)
		assert.Equal(t, tc.want, doubt, name)
	}
}

// hangsUnsent looks for a connection until the attempt is over.
func hangsUnsent(r *http.Request) (*http.Response, error) {
	connecting(r)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// calmCall returns a call that nothing holds back.
func calmCall() *call {
	c := &call{transport: &Transport{OwnBase: true}}
	c.request.Service = new(Breaker)
	c.request.Account = new(Breaker)
	c.request.Slots = NewSlots()
	c.outcome.Began = time.Now()
	return c
}

// passThrough is what a call without trouble does between its credentials and its request, and after it.
func (c *call) passThrough(ctx context.Context) bool {
	passed := c.acquireSlot(ctx) == nil && c.waitForTurn(ctx) == nil && c.enterBreakers() == nil
	c.release(Healthy)
	return passed
}

// What a call without trouble pays for breakers and a place.
func BenchmarkBreakersAndPlace(b *testing.B) {
	c := calmCall()
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if !c.passThrough(ctx) {
			b.Fatal("it waits")
		}
	}
}

func TestBreakersAndPlaceCostNoAllocation(t *testing.T) {
	c := calmCall()
	assert.Zero(t, testing.AllocsPerRun(100, func() { c.passThrough(t.Context()) }))
}

func TestOpenErrorSaysWhy(t *testing.T) {
	open := &OpenError{Trouble: Trouble{Cause: NewError("HTTP 503", errReset)}}
	assert.Equal(t, "the circuit breaker is open: HTTP 503", open.Error())
	require.ErrorIs(t, open, errReset)
	hidden := &OpenError{Trouble: Trouble{Cause: errSecret}}
	assert.NotContains(t, hidden.Error(), "secret")
}

func TestSettledOfASendBeforeTheRowKeepsTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Breaker
		early := time.Now()
		time.Sleep(time.Second)
		play(t, &b, failures(15))
		assert.Nil(t, b.Settled(early))
		assert.Len(t, play(t, &b, failures(1)), 1)
	})
}

func TestBreakerTellsSinceWhenTheAccountIsInTrouble(t *testing.T) {
	for name, tc := range map[string]struct {
		events []event
		want   time.Duration // before now
	}{
		"from the beginning":          {[]event{refusals(16)}, 0},
		"still":                       {[]event{refusals(16), refusals(1).in(time.Minute)}, time.Minute},
		"nothing is heard":            {[]event{refusals(16), unheards(1).in(time.Minute)}, time.Minute},
		"after the service":           {[]event{failures(16), refusals(1).in(time.Minute)}, 0},
		"again, after the service":    {[]event{refusals(16), failures(1).in(time.Minute), refusals(1).in(time.Minute)}, 0},
		"again, after it was closed":  {[]event{refusals(16), successes(1).in(time.Minute), refusals(16).in(time.Minute)}, 0},
		"still, after it was refused": {[]event{failures(16), refusals(1).in(time.Minute), refusals(1).in(time.Minute)}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b Breaker
				play(t, &b, tc.events...)
				trouble, open := b.Trouble()
				require.True(t, open)
				assert.True(t, trouble.Account)
				assert.Equal(t, tc.want, time.Since(trouble.AccountSince))
			})
		})
	}
}
