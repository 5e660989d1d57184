package messagingtest

import (
	"cmp"
	"slices"
	"time"
)

// operator is the same for all messages.
const operator = "OP_1"

// columns returns what listings show of a row, by concept: a string, a number, or nil for what the message does not have.
func columns() map[string]func(*row) any {
	return map[string]func(*row) any{
		"id":             func(r *row) any { return r.ID },
		"request":        func(r *row) any { return r.RequestID },
		"reference":      func(r *row) any { return orNull(r.ReferenceID) },
		"category":       func(r *row) any { return orNull(r.CategoryID) },
		"from":           func(r *row) any { return r.From },
		"to":             func(r *row) any { return r.To },
		"text":           func(r *row) any { return r.Text },
		"parts":          func(r *row) any { return r.Parts },
		"price":          func(r *row) any { return priceOf(r.Parts).String() },
		"created":        func(r *row) any { return r.shown },
		"sent":           func(r *row) any { return orNull(formatTime(r.SentAt, inMilliseconds)) },
		"deliveryStatus": func(r *row) any { return orNull(r.DeliveryStatus) },
		"sendStatus":     func(*row) any { return 1 },
		"operator":       func(*row) any { return operator },
		"country":        func(*row) any { return "ZZ" },
		"description":    func(*row) any { return "accepted" },
	}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// inMilliseconds is the layout of the times in a listing.
const inMilliseconds = "2006-01-02T15:04:05.000Z07:00"

// formatTime returns the time in UTC, or "" for the zero time.
func formatTime(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// document returns a row as listings show it.
func (r *row) document(names table, all map[string]func(*row) any) document {
	d := make(document, len(names)+len(r.Extra))
	for name, value := range r.Extra {
		d[name] = value
	}
	for concept, value := range all {
		d.set(names[concept], value(r))
	}
	return d
}

// matches reports whether a row is in the listing.
func (l listing) matches(r *row) bool {
	isMissed := func(filter func(*row) bool) bool { return !filter(r) }
	return r.Channel == ChannelSMS && !slices.ContainsFunc(l.filters, isMissed)
}

// compare returns the order of the listing. No two rows are equal in it, so that its pages agree with each other.
func (l listing) compare() func(a, b *row) int {
	value := columns()[l.sortBy]
	if l.sortBy == "price" { // each part costs the same, and prices are text
		value = columns()["parts"]
	}
	sign := 1
	if l.descending {
		sign = -1
	}
	return func(a, b *row) int {
		return sign * cmp.Or(compareValues(value(a), value(b)), cmp.Compare(a.order, b.order))
	}
}

// compareValues compares two values of a column. Nil is less than any text.
func compareValues(a, b any) int {
	if n, ok := a.(int); ok {
		return cmp.Compare(n, b.(int))
	}
	s, _ := a.(string)
	t, _ := b.(string)
	return cmp.Compare(s, t)
}

// list returns the rows that are listed by now.
func (l *ledger) list(q listing) []*row {
	if rows, ok := l.sorted[q.key]; ok {
		return rows
	}
	// A client that settles many messages looks up each: without the index, that would go through the ledger for each.
	candidates := l.rows
	if q.reference != "" {
		candidates = l.byReference[q.reference]
	}
	var rows []*row
	now := l.now()
	for _, r := range candidates {
		if q.matches(r) && (r.foreign || l.lag <= 0 || now.Sub(r.At) >= l.lag) {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, q.compare())
	if q.reference == "" && l.lag <= 0 { // with a lag, the rows depend on the time
		l.sorted = map[string][]*row{q.key: rows}
	}
	return rows
}
