package outbox

import (
	"context"
	"errors"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// settle handles a record that says unknown: it looks up an SMS and parks any other message.
func (d *delivery) settle(ctx context.Context, e Entry) (step, error) {
	b, isSMS := d.message.body.(smsBody)
	if !isSMS {
		return d.park(ctx, e, "the outcome is unknown and no listing can settle it: "+e.Reason)
	}
	// Read the clock before the lookup: the lookup must start late enough.
	now, err := d.clock.now(ctx)
	if err != nil {
		return done, err
	}
	if state, _ := d.breakers.state(SMS); now.Before(state.Until) { // lookups would only add to the trouble
		d.redeliverAfter(ctx, state.Until.Sub(now)+jitter(d.options.SettleInterval))
		return done, nil
	}
	elapsed := now.Sub(e.SentAt)
	a := &attempt{limiter: d.limiters[settleLane], elapsed: d.clock.elapsed} // a lookup is a request, too
	lookupCtx, cancel := context.WithTimeout(a.context(ctx), d.options.SendTimeout)
	receipt, err := d.lookUp(lookupCtx, b.m)
	cancel()
	absent := errors.Is(err, messaging.ErrNotListed)
	d.metrics.Count("scaleout_lookups_total", "outcome", map[bool]string{true: "answered", false: "failed"}[err == nil || absent])
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case err == nil:
		next := e.withState(Accepted, "")
		next.MessageID = receipt.ID
		_, _, err = d.records.swap(ctx, e, next)
		return reread, err
	case errors.Is(err, messaging.ErrFilterIgnored):
		return d.park(ctx, e, "the lookup found another message: "+err.Error())
	case absent && d.options.Resend && elapsed > d.options.SendTimeout+d.options.SettleWindow:
		d.metrics.Count("scaleout_resends_total")
		next := e.withState(Queued, "not listed by the end of the settle window: sent again").onLane(string(d.message.priority))
		_, _, err = d.records.swap(ctx, e, next)
		return reread, err
	case elapsed > d.options.SettleFor:
		return d.park(ctx, e, "it was looked up for "+d.options.SettleFor.String()+": "+err.Error())
	default:
		const longest = 10 * time.Minute
		wait := max(d.options.SettleInterval, min(elapsed/4, longest))
		if d.options.Resend {
			wait = min(wait, max(d.options.SettleInterval, d.options.SendTimeout+d.options.SettleWindow-elapsed))
		}
		d.redeliverAfter(ctx, wait+jitter(wait/4))
		return done, nil
	}
}

// lookUp returns the receipt of an SMS that is listed.
func (d *delivery) lookUp(ctx context.Context, m sms.Message) (messaging.Receipt, error) {
	found, err := d.client.SMS.Find(ctx, m.ReferenceID)
	if err == nil && !matches(found, m) {
		err = messaging.ErrFilterIgnored
	}
	return messaging.Receipt{ID: found.ID}, err
}

// matches reports whether a listed transaction can be m: it has an ID, and its recipient ends in the same digits, since prefixes
// can be written in different ways.
func matches(found sms.Transaction, m sms.Message) bool {
	const subscriberDigits = 7
	listed, sent := digits(found.To), digits(m.To)
	n := min(len(listed), len(sent), subscriberDigits)
	return found.ID != "" && listed[len(listed)-n:] == sent[len(sent)-n:]
}

func digits(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}
