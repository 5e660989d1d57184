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
	up := timed(ascending.transactions)
	down := timed(descending.transactions)
	switch {
	case !differInTime(up) || !differInTime(down):
		return finding{plausible, "could not tell: no two rows have different times"}
	case isByTime(up) && isByTime(reversed(down)):
		return finding{proven, "rows come in both orders of their times"}
	case slices.EqualFunc(up, down, hasSameID):
		return finding{wrong, "it is ignored: both orders list the same rows"}
	case isByTime(reversed(up)) && isByTime(down):
		return finding{wrong, "ascending is descending: see sms.list.orders"}
	}
	return finding{wrong, "rows are not in the order of their times: see sms.list.sorts.created, sms.list.orders"}
}

// timed returns the rows whose time is read.
func timed(rows []sms.Transaction) []sms.Transaction {
	isUntimed := func(tx sms.Transaction) bool { return tx.CreatedAt.IsZero() }
	return slices.DeleteFunc(slices.Clone(rows), isUntimed)
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
