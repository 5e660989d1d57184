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

// settle is for a record that says unknown: an SMS is looked up, another message is parked.
func (d *delivery) settle(stop context.Context, e entry) (step, error) {
	b, isSMS := d.message.body.(smsBody)
	if !isSMS {
		return d.park(stop, e, "the outcome is unknown, and no listing can settle it: "+e.Reason)
	}
	if err := d.limiter.wait(stop); err != nil { // a look-up is a request, too
		return ended, err
	}
	// The time is asked for before the look-up: what counts is that the look-up began late enough.
	now, err := d.clock.now(stop)
	if err != nil {
		return ended, err
	}
	quiet := now.Sub(e.since) - (d.options.SendTimeout + d.options.SettleWindow)
	limited, cancel := context.WithTimeout(stop, d.options.SendTimeout)
	found, err := d.client.SMS.Find(limited, d.message.reference)
	cancel()
	switch {
	case stop.Err() != nil:
		return ended, stop.Err()
	case err == nil && isOf(found, b.m):
		next := e.becomes(Accepted, "")
		next.MessageID = found.ID
		_, _, err = d.records.swap(stop, d.key, e.revision, next)
		return again, err
	case err == nil:
		return d.park(stop, e, "the service lists another message under this reference ID")
	case errors.Is(err, messaging.ErrNotListed) && quiet > 0:
		_, _, err = d.records.swap(stop, d.key, e.revision, e.becomes(Queued, "not listed by the end of the settle window"))
		return again, err
	case errors.Is(err, messaging.ErrNotListed):
		d.later(stop, min(d.options.SettleInterval, -quiet+time.Millisecond))
		return ended, nil
	case now.Sub(e.since) > d.options.GiveUp:
		return d.park(stop, e, "it could not be looked up: "+err.Error())
	default:
		d.log.WarnContext(stop, "a look-up failed, trying again", slog.Any("error", err))
		d.later(stop, d.options.SettleInterval+jitter(d.options.SettleInterval))
		return ended, nil
	}
}

// park leaves a message to a person.
func (d *delivery) park(stop context.Context, e entry, reason string) (step, error) {
	_, _, err := d.records.swap(stop, d.key, e.revision, e.becomes(Parked, reason).keeping(d.raw.Data()))
	return again, err
}

// isOf tells whether a listed message can be this one: it has a name, and goes to the same number, written with or without a prefix.
func isOf(found sms.Transaction, m sms.Message) bool {
	const subscriber = 7
	listed, sent := digits(found.To), digits(m.To)
	n := min(len(listed), len(sent), subscriber)
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
