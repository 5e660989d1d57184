package messagingtest

import (
	"cmp"
	"fmt"
	"time"
)

// listing is which rows are asked for, in which order. Which page of them is another matter.
type listing struct {
	after, before                                       bound
	transaction, reference, request, category, from, to string // empty: any
	column                                              string
	descending                                          bool
}

// bound is a time that is in UTC, so that equal bounds are equal to ==.
type bound struct {
	time  time.Time
	given bool
}

func (l listing) matches(r *row) bool {
	return r.Channel == ChannelSMS &&
		(!l.after.given || r.created.After(l.after.time)) &&
		(!l.before.given || r.created.Before(l.before.time)) &&
		(l.transaction == "" || l.transaction == r.ID) &&
		(l.reference == "" || l.reference == r.ReferenceID) &&
		(l.request == "" || l.request == r.RequestID) &&
		(l.category == "" || l.category == r.CategoryID) &&
		(l.from == "" || l.from == r.From) &&
		(l.to == "" || l.to == r.To)
}

// unfiltered is the same order of all rows.
func (l listing) unfiltered() listing {
	return listing{column: l.column, descending: l.descending}
}

// compare orders any two rows: no two are equal, so that the pages of a listing agree with each other.
func (l listing) compare() func(a, b *row) int {
	by := compareBy(l.column)
	sign := 1
	if l.descending {
		sign = -1
	}
	return func(a, b *row) int {
		c := by(a, b)
		if c == 0 {
			c = cmp.Compare(a.order, b.order)
		}
		return sign * c
	}
}

// digest is a short text that differs, for practical purposes, from that of any other listing or row.
func (l listing) digest(last *row) []byte {
	sum := digest(fmt.Sprintf("%q %#v", last.ID, l))
	return sum[:8]
}
