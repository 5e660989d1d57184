package main

import (
	"context"
	"errors"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// sendingHours are the hours of each day in which marketing is sent. Only the time of day of opens and closes counts.
type sendingHours struct {
	zone   *time.Location
	opens  time.Time
	closes time.Time
}

func newSendingHours(zoneName string, opens, closes time.Time) (sendingHours, error) {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return sendingHours{}, err
	}
	if !opens.Before(closes) {
		return sendingHours{}, errors.New("sending must begin before it ends")
	}
	return sendingHours{zone: zone, opens: opens, closes: closes}, nil
}

// guard postpones marketing that is not within the hours. The outbox keeps it until they begin. If your recipients live in several zones, set h.zone
// here first, by the country code of m.To.
func (h sendingHours) guard(_ context.Context, m messaging.Outgoing) error {
	wait := h.wait(time.Now())
	if m.Marketing && wait > 0 {
		return messaging.Postpone(wait)
	}
	return nil
}

// wait returns the time until the hours begin, and 0 within them. They end 10 seconds early, because the approval of a guard holds for 5 seconds.
// The service may deliver later than the request, such as to a phone that is off: let the hours end earlier by the time that your account allows.
func (h sendingHours) wait(now time.Time) time.Duration {
	today := now.In(h.zone)
	opens := timeOn(today, h.opens)
	closes := timeOn(today, h.closes).Add(-10 * time.Second)
	if !today.Before(closes) {
		opens = opens.AddDate(0, 0, 1)
	}
	return max(0, opens.Sub(today))
}

// timeOn returns a time of day on a day.
func timeOn(day, clock time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, day.Location())
}
