package transport

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// in returns the request with slots.
func in(room *Slots, r Request) Request {
	r.Slots = room
	return r
}

// fullRoom returns a room without a free place, in which a response usually takes so long.
func fullRoom(usual time.Duration) *Slots {
	room := NewSlots()
	room.addTime(usual)
	for range maxInFlight {
		room.taken <- struct{}{}
	}
	return room
}

// free frees a place of the room after a time.
func (r *Slots) free(after time.Duration) { time.AfterFunc(after, func() { <-r.taken }) }

// takesTime returns a reaction that responds after a time.
func takesTime(d time.Duration, react reaction) reaction {
	return func(r *http.Request) (*http.Response, error) {
		time.Sleep(d)
		return react(r)
	}
}

func TestPlacesBoundTheRequestsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewSlots()
		base := newFakeBase(takesTime(10*time.Second, responds(200, "{}")))
		tr := newTransport(base, ownBase)
		var calls sync.WaitGroup
		for range maxInFlight + 1 {
			calls.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), in(room, sendRequest())).StatusCode) })
		}
		synctest.Wait()
		assert.Equal(t, maxInFlight, base.count())
		calls.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), in(NewSlots(), sendRequest())).StatusCode) })
		synctest.Wait()
		assert.Equal(t, maxInFlight+1, base.count(), "other slots are free")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		assert.Equal(t, maxInFlight+2, base.count())
		calls.Wait()
		assert.Empty(t, room.taken)
	})
}

// Another round tripper than NewBase's has its own bounds.
func TestOnlyTheOwnBaseNeedsPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := newTransport(newFakeBase(responds(200, "{}")))
		began := time.Now()
		assert.Equal(t, 200, tr.Do(t.Context(), in(fullRoom(0), sendRequest())).StatusCode)
		tr = newTransport(newFakeBase(responds(200, "{}")), ownBase)
		assert.Equal(t, 200, tr.Do(t.Context(), in(nil, sendRequest())).StatusCode)
		assert.Zero(t, time.Since(began))
	})
}

func TestPlaceIsWaitedForHoldingNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		room := fullRoom(0)
		room.free(10 * time.Second)
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, ownBase, limitOf(time.Hour, 2))
		var waiting sync.WaitGroup
		waiting.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), in(room, p.asking())).StatusCode) })
		synctest.Wait()
		assert.InDelta(t, 2, tr.Limit.turns.Tokens(), 1e-9, "no turn")
		began := time.Now()
		assert.Equal(t, 200, tr.Do(t.Context(), in(NewSlots(), p.asking())).StatusCode, "not the probe")
		assert.Zero(t, time.Since(began))
		waiting.Wait()
		assert.Equal(t, 10*time.Second, time.Since(began))
		assert.Len(t, room.taken, maxInFlight-1)
	})
}

func TestTurnIsWaitedForHoldingThePlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair()
		p.open(t, responds(503, ""))
		time.Sleep(afterPause)
		room := NewSlots()
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase, limitOf(time.Minute, 1))
		tr.Limit.turns.Allow()
		var waiting sync.WaitGroup
		waiting.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), in(room, p.asking())).StatusCode) })
		synctest.Wait()
		assert.Len(t, room.taken, 1)
		assert.Nil(t, p.service.Blocked(), "and no probe")
		waiting.Wait()
		assert.Empty(t, room.taken)
	})
}

func TestBackoffHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewSlots()
		tr := newTransport(newFakeBase(responds(429, "", "Retry-After", "10"), responds(200, "{}")), ownBase)
		var waiting sync.WaitGroup
		waiting.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), in(room, sendRequest())).StatusCode) })
		synctest.Wait()
		assert.Empty(t, room.taken)
		waiting.Wait()
	})
}

// Credentials come before a place: a token source that hangs takes none from others.
func TestCredentialsAreFetchedHoldingNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewSlots()
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase, limitOf(time.Hour, 1))
		source := NewTokenSource(func(context.Context) (string, time.Time, error) {
			assert.Empty(t, room.taken)
			assert.InDelta(t, 1, tr.Limit.turns.Tokens(), 1e-9)
			return "t1", time.Time{}, nil
		})
		out := tr.Do(t.Context(), in(room, authenticatedBy(sendRequest(), source.Authenticator("Authorization", ""))))
		assert.Equal(t, 200, out.StatusCode)
	})
}

// Otherwise the next call would wait for turns that no call takes.
func TestLateTurnsOfConcurrentCallsAreAllGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 10
		tr := newTransport(newFakeBase(responds(200, "{}")), limitOf(time.Hour, 1))
		tr.Limit.turns.Allow()
		var waits, ended sync.WaitGroup
		waits.Add(calls)
		request := sendRequest()
		request.Observe = func(ctx context.Context, _ Step, _ int) (context.Context, func(Outcome)) {
			waits.Done()
			waits.Wait() // until each call has had its turn
			return ctx, func(Outcome) {}
		}
		for range calls {
			ended.Go(func() { assertLate(t, tr.Do(t.Context(), request).Err, false, "the rate limit") })
		}
		ended.Wait()
		assert.InDelta(t, 0, tr.Limit.turns.Tokens(), 1e-9)
	})
}

// limits are what bounds the waits of a call.
type limits struct {
	maxWait  time.Duration // 0: an hour
	deadline time.Duration // 0: none
	canceled time.Duration // of the caller's context; 0: never
	ended    time.Duration // Request.WaitContext; 0: never
}

// do makes a call within the limits.
func (l limits) do(t *testing.T, tr *Transport, r Request) *Outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if l.deadline > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, l.deadline)
		defer stop()
	}
	if l.canceled > 0 {
		time.AfterFunc(l.canceled, cancel)
	}
	if l.ended > 0 {
		waits, end := context.WithCancel(ctx)
		time.AfterFunc(l.ended, end)
		r.WaitContext = waits
	}
	tr.MinWait = time.Millisecond
	tr.MaxWait = time.Hour
	if l.maxWait > 0 {
		tr.MaxWait = l.maxWait
	}
	return tr.Do(ctx, r)
}

const beyondMaxWait = "longer than MaxWait of the RetryPolicy"

// assertLate asserts why a call did not wait: for the caller's deadline, or else for MaxWait.
func assertLate(t *testing.T, err error, forDeadline bool, waitingFor string) {
	t.Helper()
	_, ok := errors.AsType[*LateError](err)
	assert.True(t, ok, "%v", err)
	assert.Equal(t, forDeadline, errors.Is(err, context.DeadlineExceeded), "%v", err)
	reason := beyondMaxWait
	if forDeadline {
		reason = context.DeadlineExceeded.Error()
	}
	assert.EqualError(t, err, "waiting for "+waitingFor+": "+reason)
}

func TestWaitForAPlace(t *testing.T) {
	for name, tc := range map[string]struct {
		limits
		ends        time.Duration
		sends       bool
		forDeadline bool
		err         error // unless the call would be late
	}{
		"it comes within MaxWait":                   {limits{maxWait: 10*time.Second + 1}, 10 * time.Second, true, false, nil},
		"it does not":                               {limits{maxWait: 9 * time.Second}, 9 * time.Second, false, false, nil},
		"it does not, and the deadline is later":    {limits{maxWait: 9 * time.Second, deadline: 20 * time.Second}, 9 * time.Second, false, false, nil},
		"it comes long enough before the deadline":  {limits{deadline: 12*time.Second + 1}, 10 * time.Second, true, false, nil},
		"it does not leave twice the usual time":    {limits{deadline: 11 * time.Second}, 9 * time.Second, false, true, nil},
		"the deadline leaves no time to wait":       {limits{deadline: 2 * time.Second}, 0, false, true, nil},
		"the deadline leaves no time at all":        {limits{deadline: time.Second}, 0, false, true, nil},
		"the caller cancels":                        {limits{canceled: 3 * time.Second}, 3 * time.Second, false, false, context.Canceled},
		"the waits end":                             {limits{ended: 3 * time.Second}, 3 * time.Second, false, false, context.Canceled},
		"MaxWait is the shorter, by less than that": {limits{maxWait: 9 * time.Second, deadline: 11*time.Second + 1}, 9 * time.Second, false, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				room := fullRoom(time.Second)
				room.free(10 * time.Second)
				base := newFakeBase(responds(200, "{}"))
				began := time.Now()
				out := tc.do(t, newTransport(base, ownBase), in(room, sendRequest()))
				assert.Equal(t, tc.ends, time.Since(began))
				assert.Equal(t, tc.sends, base.count() == 1)
				switch {
				case tc.sends:
					assert.Equal(t, 200, out.StatusCode)
				case tc.err != nil:
					require.ErrorIs(t, out.Err, tc.err)
					assert.EqualError(t, out.Err, "waiting for a connection: context canceled")
					assertOutcome(t, Outcome{Err: out.Err}, out)
				default:
					assertLate(t, out.Err, tc.forDeadline, "a connection")
					assertOutcome(t, Outcome{Err: out.Err, Wait: time.Second}, out, "it asks to come again when a response may have come")
				}
				time.Sleep(11 * time.Second)
				assert.Len(t, room.taken, maxInFlight-1, "a call that waited holds nothing")
			})
		})
	}
}

func TestWaitForATurn(t *testing.T) {
	for name, tc := range map[string]struct {
		limits
		ends        time.Duration
		sends       bool
		forDeadline bool
		err         error // unless the call would be late
	}{
		"it comes within MaxWait":                  {limits{maxWait: 10 * time.Second}, 10 * time.Second, true, false, nil},
		"it does not":                              {limits{maxWait: 10*time.Second - 1}, 0, false, false, nil},
		"it does not, and the deadline is later":   {limits{maxWait: 9 * time.Second, deadline: 20 * time.Second}, 0, false, false, nil},
		"it comes long enough before the deadline": {limits{deadline: 12 * time.Second}, 10 * time.Second, true, false, nil},
		"it does not leave twice the usual time":   {limits{deadline: 12*time.Second - 1}, 0, false, true, nil},
		"the deadline is before it":                {limits{deadline: time.Second}, 0, false, true, nil},
		"the caller cancels":                       {limits{canceled: 3 * time.Second}, 3 * time.Second, false, false, context.Canceled},
		"the waits end":                            {limits{ended: 3 * time.Second}, 3 * time.Second, false, false, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				room := NewSlots()
				room.addTime(time.Second)
				base := newFakeBase(responds(200, "{}"))
				tr := newTransport(base, ownBase, limitOf(10*time.Second, 1))
				tr.Limit.turns.Allow()
				began := time.Now()
				out := tc.do(t, tr, in(room, sendRequest()))
				assert.Equal(t, tc.ends, time.Since(began))
				assert.Equal(t, tc.sends, base.count() == 1)
				assert.Empty(t, room.taken)
				switch {
				case tc.sends:
					assert.Equal(t, 200, out.StatusCode)
					return
				case tc.err != nil:
					require.ErrorIs(t, out.Err, tc.err)
					assert.EqualError(t, out.Err, "waiting for the rate limit: context canceled")
					assertOutcome(t, Outcome{Err: out.Err}, out)
				default:
					assertLate(t, out.Err, tc.forDeadline, "the rate limit")
					assertOutcome(t, Outcome{Err: out.Err, Wait: 10 * time.Second}, out)
				}
				assert.Equal(t, 200, limits{}.do(t, tr, sendRequest()).StatusCode)
				assert.WithinDuration(t, began.Add(10*time.Second), time.Now(), time.Microsecond, "the next call has its turn")
			})
		})
	}
}

// Of calls whose turns do not all fit, those that fit are sent: the others give their turns back.
func TestTurnThatDoesNotFitIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, limitOf(time.Second, 1))
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
				defer cancel()
				tr.Do(ctx, sendRequest())
			})
			synctest.Wait()
		}
		began := time.Now()
		calls.Wait()
		assert.Equal(t, 4, base.count())
		tr.Do(t.Context(), sendRequest())
		assert.WithinDuration(t, began.Add(4*time.Second), time.Now(), time.Microsecond)
	})
}

// A call waits 3 s for a place, then 4 s for its turn, is asked to back off for 5 s, and then waits another 2 s for its turn.
func TestWaitsAreBoundedTogether(t *testing.T) {
	const (
		usual = 500 * time.Millisecond
		least = 2 * usual // for a response before the deadline
		short = time.Millisecond
	)
	type row struct {
		most   time.Duration // that its waits take
		ends   time.Duration
		count  int
		status int
		wait   time.Duration
	}
	for name, tc := range map[string]row{
		"all of them fit":                {14 * time.Second, 14 * time.Second, 2, 200, 0},
		"the second turn does not fit":   {14*time.Second - short, 12 * time.Second, 1, 429, 2 * time.Second},
		"but the back-off does":          {12 * time.Second, 12 * time.Second, 1, 429, 2 * time.Second},
		"the back-off does not fit":      {12*time.Second - short, 7 * time.Second, 1, 429, 5 * time.Second},
		"but the first turn does":        {7 * time.Second, 7 * time.Second, 1, 429, 5 * time.Second},
		"the first turn does not fit":    {7*time.Second - short, 3 * time.Second, 0, 0, 4 * time.Second},
		"the place does not come":        {3*time.Second - short, 3*time.Second - short, 0, 0, usual},
		"there is no time for any of it": {0, 0, 0, 0, usual},
	} {
		for kind, bounds := range map[string]limits{
			"MaxWait":         {maxWait: max(tc.most, 1)},
			"deadline":        {deadline: tc.most + least},
			"MaxWait of both": {maxWait: max(tc.most, 1), deadline: 20 * time.Second},
		} {
			if tc.most == 0 && kind != "deadline" {
				continue
			}
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					room := fullRoom(usual)
					room.free(3 * time.Second)
					base := newFakeBase(responds(429, "", "Retry-After", "5"), responds(200, "{}"))
					tr := newTransport(base, ownBase, limitOf(7*time.Second, 1))
					tr.Limit.turns.Allow()
					began := time.Now()
					out := bounds.do(t, tr, in(room, sendRequest()))
					assert.Equal(t, tc.ends, time.Since(began))
					assert.Equal(t, tc.count, base.count())
					assert.Equal(t, tc.count, out.Attempts)
					assert.Equal(t, tc.status, out.StatusCode)
					assert.Equal(t, tc.wait, out.Wait)
					if tc.wait == 2*time.Second {
						assertLate(t, out.Interrupted, kind == "deadline", "the rate limit")
					} else {
						assert.NoError(t, out.Interrupted)
					}
				})
			})
		}
	}
}
