package outbox

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// settle handles a record that says unknown: it looks up an SMS and parks any other message.
func (d *delivery) settle(ctx context.Context, e entry) (step, error) {
	b, isSMS := d.message.body.(smsBody)
	if !isSMS {
		return d.park(ctx, e, "the outcome is unknown and no listing can settle it: "+e.Reason)
	}
	if err := d.limiter.wait(ctx); err != nil { // a lookup is a request, too
		return done, err
	}
	// Read the clock before the lookup: the lookup must start late enough.
	now, err := d.clock.now(ctx)
	if err != nil {
		return done, err
	}
	windowLeft := d.options.SendTimeout + d.options.SettleWindow - now.Sub(e.since)
	lookupCtx, cancel := context.WithTimeout(ctx, d.options.SendTimeout)
	found, err := d.client.SMS.Find(lookupCtx, d.message.reference)
	cancel()
	switch {
	case ctx.Err() != nil:
		return done, ctx.Err()
	case err == nil && matches(found, b.m):
		next := e.withState(Accepted, "")
		next.MessageID = found.ID
		_, _, err = d.records.swap(ctx, d.key, e.revision, next)
		return reread, err
	case err == nil:
		return d.park(ctx, e, "the service lists another message under this reference ID")
	case errors.Is(err, messaging.ErrNotListed) && windowLeft < 0:
		_, _, err = d.records.swap(ctx, d.key, e.revision, e.withState(Queued, "not listed by the end of the settle window"))
		return reread, err
	case errors.Is(err, messaging.ErrNotListed):
		d.redeliverAfter(ctx, min(d.options.SettleInterval, windowLeft+time.Millisecond))
		return done, nil
	case now.Sub(e.since) > d.options.GiveUpAfter:
		return d.park(ctx, e, "the lookup failed: "+err.Error())
	default:
		d.log.WarnContext(ctx, "lookup failed, retrying", slog.Any("error", err))
		d.redeliverAfter(ctx, d.options.SettleInterval+jitter(d.options.SettleInterval))
		return done, nil
	}
}

// park leaves a message to an operator.
func (d *delivery) park(ctx context.Context, e entry, reason string) (step, error) {
	_, _, err := d.records.swap(ctx, d.key, e.revision, e.withState(Parked, reason).withLine(d.raw.Data()))
	return reread, err
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
