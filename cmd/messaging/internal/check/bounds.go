package check

import (
	"context"
	"errors"
	"slices"
	"time"

	messaging "github.com/messaging-service/messaging-go"
)

// isTime reports whether a concept is a bound of time.
func isTime(concept string) bool { return concept == "createdAfter" || concept == "createdBefore" }

// tryBound asks with a bound that no message meets, and then with a bound that a row of the listing meets.
func (t filterTrial) tryBound(ctx context.Context, concept string) finding {
	absent := t.lister.byTime(ctx, concept, absentTime(concept))
	if f, isDecided := judgeAbsent(absent); isDecided {
		f.why += boundAdvice(f, absent.err, concept)
		return f
	}
	bound, hasTime := t.listedTime(concept)
	if !hasTime {
		return finding{plausible, "it finds nothing for a bound that no message meets; no row has a time to try"}
	}
	p := t.lister.byTime(ctx, concept, bound)
	if f, isDecided := t.judgeEmpty(p, "it hides a row of the listing that it should find: see sms.list.time, sms.list.zone"); isDecided {
		return f
	}
	return finding{plausible, "it finds rows by their time, and nothing for a bound that no message meets"}
}

// boundAdvice says what in the contract may explain the finding for a bound that no message meets, or is empty.
func boundAdvice(f finding, err error, concept string) string {
	switch {
	case errors.Is(err, messaging.ErrInvalid):
		return "; the service refuses the name or the time: see sms.list.params." + concept + ", sms.list.time"
	case f.grade == wrong:
		return "; check the form of times in sms.list.time first"
	}
	return ""
}

// absentTime returns a bound that no message meets.
func absentTime(concept string) time.Time {
	if concept == "createdAfter" {
		return time.Now().AddDate(10, 0, 0)
	}
	return time.Now().AddDate(-20, 0, 0)
}

// listedTime returns a bound that the newest or the oldest row of the listing meets, and reports whether a row has a time.
func (t filterTrial) listedTime(concept string) (bound time.Time, hasTime bool) {
	const distance = time.Hour // the service may filter by another time of the message
	var times []time.Time
	for _, tx := range t.listed.transactions {
		if !tx.CreatedAt.IsZero() {
			times = append(times, tx.CreatedAt)
		}
	}
	if len(times) == 0 {
		return bound, false
	}
	if concept == "createdAfter" {
		return slices.MaxFunc(times, time.Time.Compare).Add(-distance), true
	}
	return slices.MinFunc(times, time.Time.Compare).Add(distance), true
}
