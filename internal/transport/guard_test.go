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

func TestYesIsOldAfterFiveSecondsOnBothClocks(t *testing.T) {
	now := yes{asked: 1, at: time.Now(), uptime: uptime()}
	assert.False(t, now.isOld())
	suspended := now
	suspended.uptime -= 6
	assert.True(t, suspended.isOld())
	synctest.Test(t, func(t *testing.T) {
		waited := yes{asked: 1, at: time.Now(), uptime: uptime()}
		time.Sleep(5 * time.Second)
		assert.False(t, waited.isOld())
		time.Sleep(time.Nanosecond)
		assert.True(t, waited.isOld())
	})
}

// slowYes is a guard that takes half a second from the second time on.
func slowYes(_ context.Context, n int) error {
	if n > 1 {
		time.Sleep(time.Second / 2)
	}
	return nil
}

// A call whose yes became old while it waited gives back what it got, and comes first when it has been asked again.
func TestGuardIsAskedHoldingNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		limit  *Limit
		places int // that are free at first
		every  time.Duration
		want   []string
	}{
		"a place": {nil, 0, 10 * time.Second, []string{"second", "guarded", "third"}},
		"a turn":  {NewLimit(0.1, 1), places, 0, []string{"first", "second", "guarded", "third"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var order []string
				tr := newTransport(newFakeBase(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					order = append(order, r.Header.Get("Name"))
					mu.Unlock()
					time.Sleep(time.Second)
					return responds(200, "{}")(r)
				}), func(tr *Transport) { tr.Limit = tc.limit })
				all := new(Places)
				for range places - tc.places {
					require.True(t, all.take(false))
				}
				var calls sync.WaitGroup
				call := func(name string, guard Guard) {
					calls.Go(func() {
						request := sendRequest()
						request.Header, request.Guard, request.Breakers.Places = http.Header{"Name": {name}}, guard, all
						assert.Equal(t, 200, tr.Do(t.Context(), request).StatusCode)
					})
					synctest.Wait()
				}
				if tc.limit != nil {
					call("first", nil)
				}
				call("guarded", func(ctx context.Context, n int) error {
					if n == 3 { // once is enough
						return nil
					}
					return slowYes(ctx, n)
				})
				call("second", nil)
				call("third", nil)
				for range 3 {
					time.Sleep(tc.every)
					if tc.every > 0 {
						all.leave()
					}
				}
				calls.Wait()
				assert.Equal(t, tc.want, order)
			})
		})
	}
}

// A call that its guard ends when a breaker told it to probe leaves the probe to the next, at once.
func TestGuardThatEndsAProbePassesItOn(t *testing.T) {
	for range 20 { // a probe is drawn at random
		synctest.Test(t, func(t *testing.T) {
			b := newBreakers()
			openBy(t, b, responds(503, "", "Retry-After", "10"))
			tr := newTransport(newFakeBase(responds(200, "{}")))
			var calls sync.WaitGroup
			for range 20 {
				calls.Go(func() {
					request := guarded(b, Bulk)
					request.Guard = func(_ context.Context, n int) error {
						if n > 1 {
							return errors.New("no")
						}
						return nil
					}
					_, ok := errors.AsType[GuardError](tr.Do(t.Context(), request).Err)
					assert.True(t, ok)
				})
			}
			synctest.Wait()
			until := b.Service.trouble.Until
			assert.Equal(t, 200, tr.Do(t.Context(), guarded(b, Bulk)).StatusCode)
			assert.Less(t, time.Since(until), recall)
			calls.Wait()
		})
	}
}
