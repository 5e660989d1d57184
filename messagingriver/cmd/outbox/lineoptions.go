package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingriver/internal/reference"
)

// lineOptions are the options of a line, or of the flags, as text.
type lineOptions struct {
	Campaign string `json:"campaign"`
	Priority string `json:"priority"`
	At       string `json:"at"`
	Expire   string `json:"expire"`
}

// or returns the options, with the values of the flags for empty ones.
func (o lineOptions) or(flags lineOptions) lineOptions {
	return lineOptions{
		Campaign: cmp.Or(o.Campaign, flags.Campaign),
		Priority: cmp.Or(o.Priority, flags.Priority),
		At:       cmp.Or(o.At, flags.At),
		Expire:   cmp.Or(o.Expire, flags.Expire),
	}
}

// parse returns the options for the outbox. It rejects what the outbox would reject together with the lines around it.
func (o lineOptions) parse() (messagingriver.InsertOptions, error) {
	options := messagingriver.InsertOptions{Campaign: o.Campaign}
	if !reference.IsStorable(o.Campaign) {
		return options, errors.New("the campaign must be at most 255 bytes of UTF-8 without a zero byte")
	}
	var err error
	options.Priority, err = parsePriority(o.Priority)
	if err != nil {
		return options, err
	}
	if o.At != "" {
		options.At, err = time.Parse(time.RFC3339, o.At)
		if err != nil {
			return options, fmt.Errorf("the time is %q; want one such as 2026-05-01T09:00:00+08:00", o.At)
		}
		options.At = options.At.UTC() // equal times are equal options
	}
	if o.Expire != "" {
		options.Expire, err = time.ParseDuration(o.Expire)
		if err != nil || options.Expire <= 0 {
			return options, fmt.Errorf("the expiry is %q; want a duration such as 10m", o.Expire)
		}
		if options.At.Add(options.Expire).Year() > 9999 {
			return options, errors.New("it expires after the year 9999")
		}
	}
	return options, nil
}

func parsePriority(text string) (messagingriver.Priority, error) {
	switch text {
	case "urgent", "1":
		return messagingriver.Urgent, nil
	case "2":
		return messagingriver.Priority(2), nil
	case "normal", "3":
		return messagingriver.Normal, nil
	case "bulk", "4":
		return messagingriver.Bulk, nil
	default:
		return 0, fmt.Errorf("the priority is %q; want urgent, normal, bulk or 1 to 4", text)
	}
}
