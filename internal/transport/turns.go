package transport

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// turns are turns under the rate limit that were taken before the calls that use them. They are in their context.
type turns struct {
	left atomic.Int64
	end  time.Time
}

type turnsKey struct{}

// turnsHold is for how long turns that were taken can be used. Later calls wait for others, so that a process that was held up
// does not send more at once than the limit allows.
const turnsHold = 5 * time.Second

// Reserve waits for up to n turns under the rate limit, for those of a quarter of a second at most and no more than the burst.
// The next calls under the context that it returns take them.
func (t *Transport) Reserve(ctx context.Context, n int) (context.Context, int, error) {
	limiter := t.Limiter
	if limiter == nil || n < 1 {
		return ctx, n, ctx.Err()
	}
	n = min(n, limiter.Burst(), int(math.Ceil(float64(min(limiter.Limit()/4, math.MaxInt32)))))
	if err := limiter.WaitN(ctx, n); err != nil {
		return ctx, 0, err
	}
	taken := &turns{end: time.Now().Add(turnsHold)}
	taken.left.Store(int64(n))
	return context.WithValue(ctx, turnsKey{}, taken), n, nil
}

func takeTurn(ctx context.Context) bool {
	taken, ok := ctx.Value(turnsKey{}).(*turns)
	return ok && time.Now().Before(taken.end) && taken.left.Add(-1) >= 0
}
