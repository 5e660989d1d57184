package check

import (
	"context"
	"errors"
	"slices"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// checkOrder lists the rows by their times, ascending and descending, if the contract names both parameters.
func (c *checker) checkOrder(ctx context.Context) {
	if !c.names.canSort() || len(c.listed.rows) == 0 || ctx.Err() != nil {
		return
	}
	c.say("trying the order")
	ascending := c.lister.list(ctx, sms.ListOptions{SortBy: sms.ByCreated}, 1)
	descending := c.lister.list(ctx, sms.ListOptions{SortBy: sms.ByCreated, Descending: true}, 1)
	c.report.add("order by created", "sms.list.params.sortBy", judgeOrder(ascending, descending))
}

// judgeOrder judges two listings, of which the second should be in the reverse order.
func judgeOrder(ascending, descending page) finding {
	for _, p := range []page{ascending, descending} {
		switch {
		case errors.Is(p.err, messaging.ErrInvalid):
			return finding{wrong, describe(p.err)}
		case !p.isPage || !p.isRead():
			return finding{plausible, "could not tell: " + describe(p.err)}
		}
	}
	return judgeTimes(withTime(ascending.transactions), withTime(descending.transactions))
}

// judgeTimes judges two lists of rows with times, of which the first should be ascending and the second descending.
func judgeTimes(ascending, descending []sms.Transaction) finding {
	isRight := isByTime(ascending) && isByTime(reversed(descending))
	isReversed := isByTime(reversed(ascending)) && isByTime(descending)
	switch {
	case !differInTime(ascending) || !differInTime(descending):
		return finding{plausible, "could not tell: no two rows have different times"}
	case isRight:
		return finding{proven, "rows come in both orders of their times"}
	case slices.EqualFunc(ascending, descending, hasSameID):
		return finding{wrong, "it is ignored: both orders list the same rows"}
	case isReversed:
		return finding{wrong, "ascending is descending: see sms.list.orders"}
	}
	return finding{wrong, "rows are not in the order of their times: see sms.list.sorts.created, sms.list.orders"}
}

// withTime returns the rows whose time is read.
func withTime(rows []sms.Transaction) []sms.Transaction {
	hasNoTime := func(tx sms.Transaction) bool { return tx.CreatedAt.IsZero() }
	return slices.DeleteFunc(slices.Clone(rows), hasNoTime)
}

// differInTime reports whether two rows have different times.
func differInTime(rows []sms.Transaction) bool {
	isOther := func(tx sms.Transaction) bool { return !tx.CreatedAt.Equal(rows[0].CreatedAt) }
	return slices.ContainsFunc(rows, isOther)
}

// isByTime reports whether rows are in the order of their times, the earliest first.
func isByTime(rows []sms.Transaction) bool {
	return slices.IsSortedFunc(rows, func(a, b sms.Transaction) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

func reversed(rows []sms.Transaction) []sms.Transaction {
	rows = slices.Clone(rows)
	slices.Reverse(rows)
	return rows
}

func hasSameID(a, b sms.Transaction) bool { return a.ID == b.ID }
