package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// examinePaging looks at whether pages have the size that was asked for, differ, and end.
func (d *doctor) examinePaging(ctx context.Context) {
	d.section = "paging"
	l := d.table.SMSList
	if l.Paging.By == "none" {
		d.add("paging", OK, "none, by the contract")
		return
	}
	if len(d.rows) < 2 {
		d.add("paging", Note, "the account lists fewer than two messages, so there is no second page")
		return
	}
	first := d.fetch(ctx, "asking for a page of one row", sms.ListOptions{PageSize: 1})
	if first.err != nil {
		d.add("page size", Differs, "a page of one row: "+describe(first.err))
		return
	}
	size := 0
	if name := l.Params["pageSize"]; name != "" {
		if size = 1; len(first.rows) != 1 {
			d.add("page size", Differs, fmt.Sprintf("asked for 1 row with %s, got %d: the service calls it otherwise, or does not know it", name, len(first.rows)))
		} else {
			d.add("page size", OK, name+" counts")
		}
	}
	if first.page.Next == "" {
		if len(first.rows) < len(d.rows) {
			d.add("second page", Differs, "the response says that there is none, although there are more rows: sms.list.page or sms.list.paging.by is wrong")
		} else {
			d.add("second page", Note, "all rows are on the first page")
		}
		return
	}
	second := d.fetch(ctx, "asking for the second page", sms.ListOptions{PageSize: size, After: first.page.Next})
	switch {
	case second.err != nil:
		d.add("second page", Differs, describe(second.err))
	case len(second.rows) == 0:
		d.add("second page", Note, "is empty")
	case sameRow(first.rows[0], second.rows[0]):
		d.add("second page", Differs, "is the first again: the service pages otherwise (sms.list.paging.by, sms.list.params."+l.Paging.By+")")
		return
	default:
		d.add("second page", OK, "differs from the first")
	}
	d.examineEnd(ctx)
}

// sameRow reports whether two rows have the same members.
func sameRow(a, b *node) bool {
	one, _ := columns([]*node{a}, "")
	other, _ := columns([]*node{b}, "")
	return slices.EqualFunc(one, other, func(x, y column) bool {
		return x.path == y.path && slices.EqualFunc(x.values, y.values, func(v, w *node) bool { return v.text == w.text })
	})
}

// examineEnd looks at whether a listing ends: at a page far beyond its end, or by walking there.
func (d *doctor) examineEnd(ctx context.Context) {
	const far, mostPages = 1_000_000, 5
	if d.table.SMSList.Paging.By == "page" {
		beyond := d.fetch(ctx, "asking for a page beyond the end", sms.ListOptions{PageSize: someRows, Page: far})
		switch {
		case len(beyond.rows) > 0:
			d.add("end", Differs, "a page far beyond the end has rows: a listing ends only by what the response says (sms.list.page)")
		case beyond.err != nil:
			d.add("end", OK, "a page beyond the end is refused")
		default:
			d.add("end", OK, "a page beyond the end has no rows")
		}
		return
	}
	options := sms.ListOptions{PageSize: someRows}
	for range mostPages {
		l := d.fetch(ctx, "walking to the end", options)
		switch options.After = l.page.Next; {
		case l.err != nil:
			d.add("end", Differs, describe(l.err))
			return
		case options.After == "":
			d.add("end", OK, "the listing ends")
			return
		}
	}
	d.add("end", Note, fmt.Sprintf("not reached within %d pages", mostPages))
}

// examineReference looks at whether the filter on the reference ID works, on which settling depends.
func (d *doctor) examineReference(ctx context.Context) {
	d.section = "filters"
	const untrusted = ": settling (SendOnce, Settle) cannot be trusted"
	l := d.table.SMSList
	if l.Params["reference"] == "" {
		d.add("reference", Differs, "the contract names no parameter (sms.list.params.reference)"+untrusted)
		return
	}
	known := filled(d.valuesOf(d.rows, "reference"))
	if len(known) == 0 {
		d.add("reference", Unknown, "no row has a reference ID, so the filter cannot be tried (-send tries it)"+untrusted)
	} else {
		d.find(ctx, "reference that exists", known[0].text, nil, untrusted)
	}
	d.find(ctx, "reference that does not", "doctor-"+rand.Text(), messaging.ErrNotListed, untrusted)
}

// find looks a reference up and compares the error with the one that a filter that works leads to.
func (d *doctor) find(ctx context.Context, name, reference string, want error, untrusted string) {
	d.sensitive[reference] = true
	var err error
	d.step(ctx, "looking a reference ID up", func(ctx context.Context) { _, err = d.client.SMS.Find(ctx, reference) })
	param := d.table.SMSList.Params["reference"]
	switch {
	case err == nil && want == nil:
		d.add(name, OK, param+" finds its message")
	case want != nil && errors.Is(err, want):
		d.add(name, OK, param+" finds nothing")
	case errors.Is(err, messaging.ErrFilterIgnored):
		d.add(name, Differs, param+" is ignored: other messages are listed"+untrusted)
	case errors.Is(err, messaging.ErrNotListed):
		d.add(name, Differs, param+" does not find a message that is listed"+untrusted)
	default:
		d.add(name, Differs, describe(err)+untrusted)
	}
}

// examineFilters looks at whether the other filters work.
func (d *doctor) examineFilters(ctx context.Context) {
	d.section = "filters"
	for _, f := range []struct {
		concept string
		options func(value string) sms.ListOptions
	}{
		{"id", func(v string) sms.ListOptions { return sms.ListOptions{ID: v} }},
		{"request", func(v string) sms.ListOptions { return sms.ListOptions{RequestID: v} }},
		{"category", func(v string) sms.ListOptions { return sms.ListOptions{CategoryID: v} }},
		{"from", func(v string) sms.ListOptions { return sms.ListOptions{From: v} }},
		{"to", func(v string) sms.ListOptions { return sms.ListOptions{To: v} }},
	} {
		param, all := d.table.SMSList.Params[f.concept], d.valuesOf(d.rows, f.concept)
		known := filled(all)
		if param == "" || len(known) == 0 {
			d.add(f.concept, Note, "not tried: no parameter, or no row has a value")
			continue
		}
		want := known[0].text
		options := f.options(want)
		options.PageSize = someRows
		l := d.fetch(ctx, "filtering by "+f.concept, options)
		isOther := func(n *node) bool { return n == nil || n.text != want }
		switch {
		case l.err != nil:
			d.add(f.concept, Differs, param+": "+describe(l.err))
		case len(l.rows) == 0:
			d.add(f.concept, Differs, param+" does not find a message that is listed")
		case slices.ContainsFunc(d.valuesOf(l.rows, f.concept), isOther):
			d.add(f.concept, Differs, param+" is ignored: other messages are listed")
		case !slices.ContainsFunc(all, isOther):
			d.add(f.concept, Note, param+": all rows have the same value, so nothing shows whether it counts")
		default:
			d.add(f.concept, OK, param+" counts")
		}
	}
	d.examineBounds(ctx)
	d.examineSorting(ctx)
}

// examineBounds looks at whether the bounds of time work, and the way in which times are written in requests.
func (d *doctor) examineBounds(ctx context.Context) {
	at, unread := d.parseTimes(filled(d.valuesOf(d.rows, "created")))
	if len(at) == 0 || len(unread) > 0 {
		d.add("createdAfter", Note, "not tried: no row says when it was created")
		return
	}
	const days = 72 * time.Hour
	form := " (sms.list.time is " + d.table.SMSList.Time + ")"
	for _, b := range []struct {
		concept string
		none    sms.ListOptions // under which there are no rows
		some    sms.ListOptions // under which there are
	}{
		{"createdAfter", sms.ListOptions{CreatedAfter: time.Now().Add(days)}, sms.ListOptions{CreatedAfter: slices.MinFunc(at, time.Time.Compare).Add(-days)}},
		{"createdBefore", sms.ListOptions{CreatedBefore: slices.MinFunc(at, time.Time.Compare).AddDate(-10, 0, 0)}, sms.ListOptions{CreatedBefore: slices.MaxFunc(at, time.Time.Compare).Add(days)}},
	} {
		param := d.table.SMSList.Params[b.concept]
		if param == "" {
			d.add(b.concept, Note, "not tried: the contract names no parameter")
			continue
		}
		b.some.PageSize, b.none.PageSize = someRows, someRows
		some := d.fetch(ctx, "listing with "+b.concept, b.some)
		none := d.fetch(ctx, "listing with "+b.concept+", which nothing is", b.none)
		switch {
		case some.err != nil:
			d.add(b.concept, Differs, param+form+": "+describe(some.err))
		case len(some.rows) == 0:
			d.add(b.concept, Differs, param+form+" does not find messages that are listed")
		case len(none.rows) > 0:
			d.add(b.concept, Differs, param+form+" is ignored: messages beyond the bound are listed")
		case none.err != nil:
			d.add(b.concept, Note, param+form+" finds messages; a bound beyond all of them is refused: "+describe(none.err))
		default:
			d.add(b.concept, OK, param+form+" counts")
		}
	}
}

// examineSorting looks at whether the listing can be sorted by the time of creation.
func (d *doctor) examineSorting(ctx context.Context) {
	d.section = "sorting"
	l := d.table.SMSList
	path := matches(d.rows, map[string][]string{"created": l.Record["created"]})[0].path
	at, _ := d.parseTimes(filled(d.valuesOf(d.rows, "created")))
	if path == "" || l.Params["sortBy"] == "" || l.Params["order"] == "" || len(at) < 2 || slices.MinFunc(at, time.Time.Compare).Equal(slices.MaxFunc(at, time.Time.Compare)) {
		d.add("created", Note, "not tried: no parameters, or no two messages of different times")
		return
	}
	column := path[strings.LastIndexByte(path, '.')+1:]
	got := d.sorted(ctx, column, false)
	if got.err != nil && column != path {
		column = path
		got = d.sorted(ctx, column, false)
	}
	if got.err != nil {
		d.add("created", Note, "the service does not sort by "+column+": "+describe(got.err)+"; its documentation has the words for columns")
		return
	}
	d.compareOrder("ascending", column, got, time.Time.Compare)
	d.compareOrder("descending", column, d.sorted(ctx, column, true), func(a, b time.Time) int { return b.Compare(a) })
}

func (d *doctor) sorted(ctx context.Context, column string, descending bool) lookup {
	return d.fetch(ctx, "sorting", sms.ListOptions{PageSize: someRows, SortBy: column, Descending: descending})
}

func (d *doctor) compareOrder(name, column string, got lookup, compare func(a, b time.Time) int) {
	at, _ := d.parseTimes(filled(d.valuesOf(got.rows, "created")))
	param, value := d.table.SMSList.Params["order"], d.table.SMSList.Orders[name]
	switch {
	case got.err != nil:
		d.add(name, Differs, fmt.Sprintf("%s=%s: %s", param, value, describe(got.err)))
	case !slices.IsSortedFunc(at, compare):
		d.add(name, Differs, fmt.Sprintf("%s=%s, by %s: the rows are not in that order", param, value, column))
	default:
		d.add(name, OK, "by "+column)
	}
}
