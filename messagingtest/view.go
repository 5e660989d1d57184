package messagingtest

import (
	"slices"
	"time"
)

const (
	// maxViews is how many listings can be read side by side without sorting the ledger for each page.
	maxViews = 8
	// fewRows is what is sorted anew for each page.
	fewRows = 100
)

// view is the rows of one listing, kept from page to page: sorting a large ledger for each of its pages would take longer
// than everything else. It is brought up to date with what the ledger has got since.
type view struct {
	listing
	order   func(a, b *row) int
	rows    []*row // sorted
	pending []*row // not listed yet, because of the lag
	seen    int    // how many rows of the ledger have been looked at
}

func newView(l listing) *view {
	return &view{listing: l, order: l.compare()}
}

// list returns the rows that are listed by now. They are valid until the ledger changes or is listed again.
func (l *ledger) list(q listing, now time.Time) []*row {
	if candidates, ok := l.lookUp(q); ok {
		v := newView(q)
		v.add(candidates, func(r *row) bool { return l.lists(r, now) })
		return v.rows
	}
	v := l.view(q)
	candidates := append(v.pending, l.rows[v.seen:]...)
	v.pending, v.seen = nil, len(l.rows)
	v.add(candidates, func(r *row) bool { return l.lists(r, now) })
	return v.rows
}

// lookUp finds the few rows of which a listing can consist, without going through the ledger: a client that settles many
// messages looks up each.
func (l *ledger) lookUp(q listing) ([]*row, bool) {
	if q.transaction != "" {
		r := l.byID[q.transaction]
		if r == nil {
			return nil, true
		}
		return []*row{r}, true
	}
	rows := l.byReference[q.reference]
	return rows, q.reference != "" && len(rows) <= fewRows
}

func (l *ledger) view(q listing) *view {
	i := slices.IndexFunc(l.views, func(v *view) bool { return v.listing == q })
	var v *view
	switch {
	case i >= 0:
		v = l.views[i]
		l.views = slices.Delete(l.views, i, i+1)
	default:
		v = newView(q)
		l.views = l.views[:min(len(l.views), maxViews-1)]
	}
	l.views = slices.Insert(l.views, 0, v)
	return v
}

// lists says whether the lag of a row is over.
func (l *ledger) lists(r *row, now time.Time) bool {
	return r.foreign || l.lag <= 0 || now.Sub(r.At) >= l.lag
}

// add merges what is new into what is sorted, from the back, so that neither is copied.
func (v *view) add(candidates []*row, listed func(*row) bool) {
	var fresh []*row
	for _, r := range candidates {
		switch {
		case !v.matches(r):
		case listed(r):
			fresh = append(fresh, r)
		default:
			v.pending = append(v.pending, r)
		}
	}
	slices.SortFunc(fresh, v.order)
	i, j := len(v.rows)-1, len(fresh)-1
	v.rows = append(v.rows, fresh...)
	for k := len(v.rows) - 1; j >= 0; k-- {
		if i >= 0 && v.order(v.rows[i], fresh[j]) > 0 {
			v.rows[k] = v.rows[i]
			i--
		} else {
			v.rows[k] = fresh[j]
			j--
		}
	}
}
