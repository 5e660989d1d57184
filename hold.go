package messaging

import (
	"cmp"
	"time"

	"github.com/messaging-service/messaging-go/internal/transport"
)

// giveUp and giveUpAccount are how long a SendAll holds messages back without a success; see BreakerPolicy.GiveUp.
const (
	giveUp        = 10 * time.Minute
	giveUpAccount = time.Minute
)

// A hold says how the circuit breakers hold the messages of a SendAll back. The zero hold lets all of them begin.
type hold struct {
	isOpen    bool          // a breaker is open
	isBlocked bool          // a message that begins now ends not sent; otherwise, if a breaker is open, it is a probe
	wait      time.Duration // until a message may begin
}

// holdNow returns the current hold. When the trouble has lasted too long, messages begin although they are blocked.
func (b *bulk[M]) holdNow() hold {
	var h hold
	giveUpIn := forever
	calls := b.core.calls(b.endpoint.channel, false)
	for _, breaker := range []*transport.Breaker{calls.service, calls.account} {
		if breaker == nil {
			continue
		}
		trouble, isOpen := breaker.Trouble()
		if !isOpen {
			continue
		}
		h.isOpen = true
		giveUpIn = min(giveUpIn, b.giveUpIn(&trouble))
		if blocked := breaker.Blocked(); blocked != nil {
			h.isBlocked = true
			h.wait = max(h.wait, blocked.RetryAfter)
		}
	}
	h.wait = min(h.wait, giveUpIn)
	return h
}

// giveUpIn returns how much longer messages are held back because of a trouble. The time before the SendAll began does not count.
func (b *bulk[M]) giveUpIn(t *transport.Trouble) time.Duration {
	held := min(time.Since(b.began), time.Since(t.Since))
	limit := b.core.settings.breaker.GiveUp
	giveUpIn := cmp.Or(limit, giveUp) - held
	if t.Account && limit == 0 {
		heldByAccount := min(held, time.Since(t.AccountSince))
		giveUpIn = min(giveUpIn, giveUpAccount-heldByAccount)
	}
	return giveUpIn
}
