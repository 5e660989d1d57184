package transport

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A gate is a guard that remembers when it was asked.
type gate struct {
	began   time.Time
	asked   []time.Duration
	answers []error // for each time that it is asked; nil afterwards
}

func (g *gate) guard(context.Context) error {
	g.asked = append(g.asked, time.Since(g.began))
	if n := len(g.asked); n <= len(g.answers) {
		return g.answers[n-1]
	}
	return nil
}

func guardedBy(g *gate, r Request) Request {
	g.began = time.Now()
	r.Guard = g.guard
	return r
}

func TestGuardIsAskedAgainAfterFiveSeconds(t *testing.T) {
	const second = time.Second
	for name, tc := range map[string]struct {
		place, turn time.Duration // until it comes
		reactions   []reaction
		credentials time.Duration // how long it takes to get them
		want        []time.Duration
	}{
		"nothing waits":                     {want: []time.Duration{0}},
		"a place comes in time":             {place: 5 * second, want: []time.Duration{0}},
		"a place comes later":               {place: 5*second + 1, want: []time.Duration{0, 5*second + 1}},
		"a turn comes in time":              {turn: 5 * second, want: []time.Duration{0}},
		"a turn comes later":                {turn: 6 * second, want: []time.Duration{0, 6 * second}},
		"both together":                     {place: 3 * second, turn: 6 * second, want: []time.Duration{0, 6 * second}},
		"credentials take long":             {credentials: 6 * second, want: []time.Duration{0, 6 * second}},
		"a short back-off":                  {reactions: []reaction{responds(429, "", "Retry-After", "5")}, want: []time.Duration{0}},
		"a long back-off":                   {reactions: []reaction{responds(429, "", "Retry-After", "6")}, want: []time.Duration{0, 6 * second}},
		"back-offs together":                {reactions: []reaction{responds(429, "", "Retry-After", "4"), responds(429, "", "Retry-After", "4")}, want: []time.Duration{0, 8 * second}},
		"a slow response, then another try": {reactions: []reaction{takesTime(6*second, responds(429, "", "Retry-After", "1"))}, want: []time.Duration{0, 7 * second}},
		"a slow response alone":             {reactions: []reaction{takesTime(6*second, responds(200, ""))}, want: []time.Duration{0}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var g gate
				base := newFakeBase(append(tc.reactions, responds(200, "{}"))...)
				tr := newTransport(base, ownBase)
				if tc.turn > 0 {
					limitOf(tc.turn, 1)(tr)
					tr.Limit.turns.Allow()
				}
				request := authenticatedBy(sendRequest(), Custom(func(*http.Request) error { time.Sleep(tc.credentials); return nil }))
				if tc.place > 0 {
					request.Slots = fullRoom(0)
					request.Slots.free(tc.place)
				}
				out := tr.Do(t.Context(), guardedBy(&g, request))
				assert.Equal(t, 200, out.StatusCode)
				require.Len(t, g.asked, len(tc.want))
				for i, want := range tc.want {
					assert.InDelta(t, want, g.asked[i], float64(time.Microsecond))
				}
			})
		})
	}
}

// First, the guard is asked while the call holds nothing; the second time it has the last word.
func TestGuardIsAskedFirstAndLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := NewSlots()
		base := newFakeBase(responds(200, "{}"))
		tr := newTransport(base, ownBase, limitOf(10*time.Second, 1))
		tr.Limit.turns.Allow()
		var events []string
		request := in(room, authenticatedBy(sendRequest(), Custom(func(*http.Request) error {
			events = append(events, "credentials")
			return nil
		})))
		var held []int
		request.Guard = func(context.Context) error {
			events = append(events, "guard")
			held = append(held, len(room.taken))
			assert.Zero(t, base.count())
			return nil
		}
		request.Observe = func(ctx context.Context, step Step, _ int) (context.Context, func(Outcome)) {
			events = append(events, string(step))
			return ctx, func(Outcome) {}
		}
		require.Equal(t, 200, tr.Do(t.Context(), request).StatusCode)
		assert.Equal(t, []string{"guard", "credentials", "wait", "guard", "attempt"}, events)
		assert.Equal(t, []int{0, 1}, held)
	})
}

func TestGuardEndsTheCall(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []error
		want    Outcome
	}{
		"at its beginning":   {[]error{errSecret}, Outcome{}},
		"before the request": {[]error{nil, errSecret}, Outcome{}},
		"before another": {[]error{nil, nil, errSecret}, Outcome{
			StatusCode: 429, Header: http.Header{"Retry-After": {"10"}}, Body: []byte("wait"), Written: true, Attempts: 1, RetryAfter: 10 * time.Second,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gate{answers: tc.answers}
				room := fullRoom(0)
				room.free(10 * time.Second)
				tr := newTransport(newFakeBase(responds(429, "wait", "Retry-After", "10")), ownBase)
				out := tr.Do(t.Context(), guardedBy(&g, in(room, sendRequest())))
				stopped := out.Err
				if tc.want.Attempts > 0 {
					stopped = out.Interrupted
					tc.want.Interrupted = stopped
				} else {
					tc.want.Err = stopped
				}
				assert.Equal(t, errSecret, out.Guard)
				tc.want.Guard = errSecret
				require.ErrorIs(t, stopped, errSecret)
				assert.Equal(t, "a guard stopped the message", Describe(stopped))
				assertOutcome(t, tc.want, out)
				assert.Len(t, g.asked, len(tc.answers))
				time.Sleep(11 * time.Second)
				assert.Len(t, room.taken, maxInFlight-1)
			})
		})
	}
}

// A guard whose context ended has not decided.
func TestGuardWhoseContextEndedHasNotDecided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		request := sendRequest()
		request.Guard = func(ctx context.Context) error {
			<-ctx.Done()
			return errSecret
		}
		base := newFakeBase(responds(200, "{}"))
		out := newTransport(base).Do(ctx, request)
		require.ErrorIs(t, out.Err, context.DeadlineExceeded)
		require.ErrorIs(t, out.Err, errSecret)
		require.NoError(t, out.Guard)
		assert.Equal(t, "context deadline exceeded", Describe(out.Err))
		assertOutcome(t, Outcome{Err: out.Err}, out)
		assert.Zero(t, base.count())
	})
}

func TestPanicOfAGuardGivesThePlaceBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := fullRoom(0)
		room.free(10 * time.Second)
		n := 0
		request := in(room, sendRequest())
		request.Guard = func(context.Context) error {
			if n++; n == 2 {
				panic("guard")
			}
			return nil
		}
		tr := newTransport(newFakeBase(responds(200, "{}")), ownBase)
		assert.PanicsWithValue(t, "guard", func() { tr.Do(t.Context(), request) })
		assert.Len(t, room.taken, maxInFlight-1)
	})
}
