package outbox

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// Finding is a difference between the records and the service's listing.
type Finding struct {
	Reference string
	State     State // empty if there is no record
	Listed    int   // how many times the service lists the message
	Problem   string
}

// Audit compares the records of SMS with what the service lists since a time, and calls report for each difference. It returns the number
// of records and of listed messages that were compared. Records that were last written before since are compared only if the message
// is listed. It takes about 20 bytes for each listed message. Messages that workers send meanwhile can be reported wrongly.
//
// With mend, a queued or parked message that is listed once becomes accepted, as after a restore from a backup.
func (o *Outbox) Audit(ctx context.Context, client *messaging.Client, since time.Time, mend bool, report func(Finding)) (compared, rows int, err error) {
	seed := maphash.MakeSeed()
	listed := map[uint64]uint8{} // by the hash of the key
	for row, err := range client.SMS.List(ctx, sms.ListOptions{CreatedAfter: since, PageSize: 500}) {
		if errors.Is(err, messaging.ErrRow) {
			report(Finding{Problem: "a row of the listing cannot be read"})
			continue
		}
		if err != nil {
			return 0, rows, fmt.Errorf("outbox: listing: %w", err)
		}
		rows++
		if n := maphash.String(seed, key(SMS, row.ReferenceID)); listed[n] < ^uint8(0) {
			listed[n]++
		}
	}
	known := 0
	for e, err := range o.All(ctx) {
		if errors.Is(err, ErrUnreadable) {
			report(Finding{Problem: err.Error()})
			continue
		}
		if err != nil {
			return compared, rows, err
		}
		n := int(listed[maphash.String(seed, e.Key)])
		known += n
		if e.Channel != SMS || n == 0 && e.Since.Before(since) {
			continue
		}
		compared++
		if problem := e.problem(n); problem != "" {
			report(Finding{e.Reference, e.State, n, problem})
		}
		if mend && n == 1 && (e.State == Queued || e.State == Parked) {
			if _, _, err = o.swap(ctx, e, e.withState(Accepted, "an audit found it listed")); err != nil {
				return compared, rows, err
			}
		}
	}
	if unknown := rows - known; unknown > 0 {
		report(Finding{Listed: unknown, Problem: "listed without a record: sent by another program, or their records were removed"})
	}
	return compared, rows, nil
}

// problem returns what is wrong if the service lists a message n times.
func (e Entry) problem(n int) string {
	switch {
	case n > 1:
		return "sent more than once"
	case e.State == Accepted && n == 0:
		return "accepted, but not listed"
	case e.State == Refused && n == 1:
		return "refused, but listed"
	case e.State == Parked && n == 1:
		return "parked, but listed: resolve it as sent"
	case e.State == Queued && n == 1:
		return "queued, but listed: it would be sent again"
	default:
		return ""
	}
}
