package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// day is a day of an account.
type day struct {
	db     *database
	client *messaging.Client
	begin  time.Time
	end    time.Time
	key    string // in the tables
	total  int    // of the service, as of the last page that was stored; 0 if it has none

	patience time.Duration // how long to wait for the service in all
	waited   time.Duration // of it
	pause    time.Duration // before the first new attempt
}

func newDay(db *database, client *messaging.Client, midnight time.Time) *day {
	// With the offset, so that the days of two zones are two.
	return &day{db: db, client: client, begin: midnight, end: midnight.AddDate(0, 0, 1), key: midnight.Format(time.RFC3339)}
}

// reconcile lists the rest of the day, and writes the sums.
func (d *day) reconcile(ctx context.Context, out io.Writer) error {
	list := func() error { return d.list(ctx) }
	if err := d.patiently(ctx, list, isTemporary); err != nil {
		if isPermanent(err) {
			return err
		}
		return fmt.Errorf("stopped; start again to go on: %w", err)
	}
	return d.writeSums(ctx, out)
}

// patiently runs a step until it succeeds or fails with an error that does not end by itself. After other errors it waits, and runs the step again.
func (d *day) patiently(ctx context.Context, step func() error, isTemporary func(error) bool) error {
	pause := d.pause
	for {
		err := step()
		if err == nil || !isTemporary(err) {
			return err
		}
		wait := pause
		if failed, ok := errors.AsType[*messaging.Error](err); ok {
			wait = max(wait, failed.RetryAfter)
		}
		if d.waited+wait >= d.patience {
			return err
		}
		d.waited += wait
		log.Printf("reconcile: goes on in %s: %v", wait, err) //nolint:gosec // the error quotes what the service says in one line
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
		pause = min(2*pause, maxPause)
	}
}

// isTemporary reports whether a listing that failed may be continued without a change of the options, the contract or the account.
func isTemporary(err error) bool {
	_, isOfService := errors.AsType[*messaging.Error](err)
	return isOfService && !isPermanent(err)
}

// isPermanent reports whether the same error comes again until somebody changes the options, the contract or the account.
func isPermanent(err error) bool {
	if errors.Is(err, messaging.ErrInvalid) {
		return true
	}
	_, isOfService := errors.AsType[*messaging.Error](err)
	_, isTemporary := messaging.Retryable(err)
	return isOfService && !isTemporary
}

// list stores the rows of the day, from where an earlier process was interrupted.
func (d *day) list(ctx context.Context) error {
	position, err := d.position(ctx)
	if err != nil {
		return err
	}
	err = d.listFrom(ctx, position)
	isRefused := position != "" && errors.Is(err, messaging.ErrInvalid) // the options differ, or the service no longer knows the position
	if !isRefused && !errors.Is(err, errDeleted) {
		return err
	}
	log.Println("reconcile: begins the day again:", err)
	if err = d.beginAgain(ctx); err != nil {
		return err
	}
	return d.listFrom(ctx, "")
}

// listFrom stores the rows of the day from a position on, in the order of their times if the contract can sort.
func (d *day) listFrom(ctx context.Context, position string) error {
	options := sms.ListOptions{CreatedAfter: d.begin, CreatedBefore: d.end, SortBy: sms.ByCreated, PageSize: 500, After: position}
	err := d.storePages(ctx, options)
	if isAboutOption(err, "SortBy") { // the contract has no parameter for it
		options.SortBy = ""
		err = d.storePages(ctx, options)
	}
	return err
}

// isAboutOption reports whether an option of a listing is invalid.
func isAboutOption(err error, option string) bool {
	invalid, ok := errors.AsType[*messaging.ValidationError](err)
	return ok && slices.ContainsFunc(invalid.Problems, func(p messaging.Problem) bool { return p.Field == option })
}

// storePages stores the pages of a listing.
func (d *day) storePages(ctx context.Context, options sms.ListOptions) error {
	position := options.After
	var last sms.Page
	for page, err := range d.client.SMS.Pages(ctx, options) {
		switch {
		case errors.Is(err, messaging.ErrFilterIgnored): // a listing that continued would not say it
			return errors.Join(err, d.beginAgain(ctx))
		case errors.Is(err, messaging.ErrUnreadableRow):
			log.Println("reconcile:", err) // the page has what could be read
		case err != nil:
			return err
		}
		if page.Total > 0 && page.Total < d.total {
			return errors.Join(errDeleted, d.beginAgain(ctx))
		}
		if page.Next == "" {
			last = page // stored below: the listing may still end with an error
			continue
		}
		if err := d.store(ctx, page, position); err != nil {
			return err
		}
		position = page.Next
	}
	return d.store(ctx, last, position)
}

// errDeleted says that a listing may have missed rows: those that follow a deleted row move to the page before.
var errDeleted = errors.New("the total of the service fell, because rows were deleted")
