package outbox

import (
	"context"
	"errors"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/sms"
)

// settle handles a record that says unknown: it looks up an SMS and parks any other message.
func (d *delivery) settle(ctx context.Context, e Entry) (step, error) {
	m, isSMS := d.message.content.(sms.Message)
	if !isSMS {
		return d.park(ctx, e, "the outcome is unknown and no listing can settle it: "+e.Reason)
	}
	// The time before the lookup: the lookup must start late enough.
	breaker, _, now, err := d.breakers[SMS].now(ctx)
	if err != nil {
		return done, err
	}
	if now.Before(breaker.Until) { // lookups would only add to the trouble
		return d.redeliverAfter(ctx, breaker.Until.Sub(now)+engine.Jitter(d.options.SettleInterval))
	}
	// A time after which every window has ended, so that Settle looks up once: the intervals are counted here, by the engine's clock.
	longAgo := time.Now().Add(-1000 * time.Hour)
	elapsed := now.Sub(e.SentAt)
	a := &attempt{limiter: d.limiters[settleLane], elapsed: d.clock.elapsed} // a lookup is a request, too
	lookupCtx, cancel := context.WithTimeout(a.context(ctx), d.options.SendTimeout)
	receipt, err := d.client.SMS.Settle(lookupCtx, m, longAgo)
	cancel()
	_, invalid := errors.AsType[*messaging.ValidationError](err)
	absent := errors.Is(err, messaging.ErrNotListed)
	d.options.Metrics.Count("scaleout_lookups_total", "outcome", map[bool]string{true: "answered", false: "failed"}[err == nil || absent])
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case err == nil:
		next := e.withState(Accepted, "")
		next.MessageID = receipt.ID
		return d.become(ctx, e, next)
	case errors.Is(err, messaging.ErrFilterIgnored), invalid: // another lookup would bring the same
		return d.park(ctx, e, "a lookup cannot settle it: "+err.Error())
	case absent && d.options.Resend && elapsed > d.options.SendTimeout+d.options.SettleWindow:
		d.options.Metrics.Count("scaleout_resends_total")
		next := e.withState(Queued, "not listed by the end of the settle window: sent again").onLane(string(d.message.priority))
		next.Overtaken = append(slices.Clip(next.Overtaken), Overtaken{Attempt: e.Attempt, State: Unknown}) // nobody else may notice
		return d.become(ctx, e, next)
	case elapsed > d.options.SettleFor:
		return d.park(ctx, e, "it was looked up for "+d.options.SettleFor.String()+": "+err.Error())
	default:
		const longest = 10 * time.Minute
		wait := max(d.options.SettleInterval, min(elapsed/4, longest))
		if d.options.Resend {
			wait = min(wait, max(d.options.SettleInterval, d.options.SendTimeout+d.options.SettleWindow-elapsed))
		}
		return d.redeliverAfter(ctx, wait+engine.Jitter(wait/4))
	}
}
