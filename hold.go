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
	isOpen bool          // a breaker is open, so that a message that begins is a probe
	wait   time.Duration // until a message may begin
}

// holdNow returns the current hold. When the trouble has lasted too long, messages begin, and end not sent.
func (b *bulk[M]) holdNow() hold {
	var h hold
	calls := b.core.calls(b.endpoint.channel, false)
	for _, breaker := range []*transport.Breaker{calls.service, calls.account} {
		if breaker == nil {
			continue
		}
		trouble, isOpen := breaker.Trouble()
		if !isOpen {
			continue
		}
		giveUpIn := b.giveUpIn(&trouble)
		if giveUpIn <= 0 {
			return hold{}
		}
		h.isOpen = true
		if blocked := breaker.Blocked(); blocked != nil {
			h.wait = max(h.wait, min(blocked.RetryAfter, giveUpIn))
		}
	}
	return h
}

// giveUpIn returns how much longer messages are held back because of a trouble.
func (b *bulk[M]) giveUpIn(t *transport.Trouble) time.Duration {
	after := giveUp
	if t.Account {
		after = giveUpAccount
	}
	after = cmp.Or(b.core.settings.breaker.GiveUp, after)
	return time.Until(t.Since.Add(after))
}
