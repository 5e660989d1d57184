package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
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
	case len(first.rows) > 0 && reflect.DeepEqual(first.rows[0], second.rows[0]):
		d.add("second page", Differs, "is the first again: the service pages otherwise (sms.list.paging.by, sms.list.params."+l.Paging.By+")")
		return
	default:
		d.add("second page", OK, "differs from the first")
	}
	d.examineEnd(ctx)
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
	_, known := find(d.rows, l.Record["reference"])
	if len(known) == 0 {
		d.add("reference", Unknown, "no row has a reference ID, so the filter cannot be tried (-send tries it)"+untrusted)
	} else {
		d.lookUp(ctx, "reference that exists", known[0].Text(), nil, untrusted)
	}
	d.lookUp(ctx, "reference that does not", "doctor-"+rand.Text(), messaging.ErrNotListed, untrusted)
}

// lookUp looks a reference up and compares the error with the one that a filter that works leads to.
func (d *doctor) lookUp(ctx context.Context, name, reference string, want error, untrusted string) {
	d.sensitive[reference] = true
	err := d.call(ctx, "sms.list", "looking a reference ID up", func(ctx context.Context) error {
		_, err := d.client.SMS.Find(ctx, reference)
		return err
	}).err
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
	for _, concept := range []string{"id", "request", "category", "from", "to"} {
		param, paths := d.table.SMSList.Params[concept], d.table.SMSList.Record[concept]
		_, known := find(d.rows, paths)
		if param == "" || len(known) == 0 {
			d.add(concept, Note, "not tried: no parameter, or no row has a value")
			continue
		}
		want, o := known[0].Text(), sms.ListOptions{PageSize: someRows}
		*map[string]*string{"id": &o.ID, "request": &o.RequestID, "category": &o.CategoryID, "from": &o.From, "to": &o.To}[concept] = want
		l := d.fetch(ctx, "filtering by "+concept, o)
		isOther := func(row document.Node) bool {
			_, values := find([]document.Node{row}, paths)
			return len(values) == 0 || values[0].Text() != want
		}
		switch {
		case l.err != nil:
			d.add(concept, Differs, param+": "+describe(l.err))
		case len(l.rows) == 0:
			d.add(concept, Differs, param+" does not find a message that is listed")
		case slices.ContainsFunc(l.rows, isOther):
			d.add(concept, Differs, param+" is ignored: other messages are listed")
		case !slices.ContainsFunc(d.rows, isOther):
			d.add(concept, Note, param+": all rows have the same value, so nothing shows whether it counts")
		default:
			d.add(concept, OK, param+" counts")
		}
	}
	at, unread := d.times(d.rows, "created")
	if len(at) == 0 || len(unread) > 0 {
		d.add("createdAfter", Note, "not tried: no row says when it was created")
		d.examineSorting(ctx, false)
		return
	}
	const day = 24 * time.Hour
	oldest, newest := slices.MinFunc(at, time.Time.Compare), slices.MaxFunc(at, time.Time.Compare)
	d.examineBound(ctx, "createdAfter", sms.ListOptions{CreatedAfter: oldest.Add(-3 * day)}, sms.ListOptions{CreatedAfter: time.Now().Add(3 * day)})
	d.examineBound(ctx, "createdBefore", sms.ListOptions{CreatedBefore: newest.Add(3 * day)}, sms.ListOptions{CreatedBefore: oldest.AddDate(-10, 0, 0)})
	d.examineSorting(ctx, !oldest.Equal(newest))
}

// examineBound looks at whether a bound of time works, and the way in which times are written in requests. There are rows under some,
// and none under none.
func (d *doctor) examineBound(ctx context.Context, concept string, some, none sms.ListOptions) {
	param := d.table.SMSList.Params[concept]
	if param == "" {
		d.add(concept, Note, "not tried: the contract names no parameter")
		return
	}
	param += " (sms.list.time is " + d.table.SMSList.Time + ")"
	some.PageSize, none.PageSize = someRows, someRows
	within := d.fetch(ctx, "listing with "+concept, some)
	beyond := d.fetch(ctx, "listing with "+concept+", which nothing is", none)
	switch {
	case within.err != nil:
		d.add(concept, Differs, param+": "+describe(within.err))
	case len(within.rows) == 0:
		d.add(concept, Differs, param+" does not find messages that are listed")
	case len(beyond.rows) > 0:
		d.add(concept, Differs, param+" is ignored: messages beyond the bound are listed")
	case beyond.err != nil:
		d.add(concept, Note, param+" finds messages; a bound beyond all of them is refused: "+describe(beyond.err))
	default:
		d.add(concept, OK, param+" counts")
	}
}

// examineSorting looks at whether the listing can be sorted by the time of creation, if the rows have different ones.
func (d *doctor) examineSorting(ctx context.Context, differ bool) {
	d.section = "sorting"
	l := d.table.SMSList
	path, _ := find(d.rows, l.Record["created"])
	if !differ || l.Params["sortBy"] == "" || l.Params["order"] == "" {
		d.add("created", Note, "not tried: no parameters, or no two messages of different times")
		return
	}
	// The word for a column may be the name of the member, or its path.
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
	for _, name := range []string{"ascending", "descending"} {
		isDescending := name == "descending"
		if isDescending {
			got = d.sorted(ctx, column, true)
		}
		at, _ := d.times(got.rows, "created")
		if isDescending {
			slices.Reverse(at)
		}
		order := l.Params["order"] + "=" + l.Orders[name]
		switch {
		case got.err != nil:
			d.add(name, Differs, order+": "+describe(got.err))
		case !slices.IsSortedFunc(at, time.Time.Compare):
			d.add(name, Differs, order+", by "+column+": the rows are not in that order")
		default:
			d.add(name, OK, "by "+column)
		}
	}
}

func (d *doctor) sorted(ctx context.Context, column string, descending bool) lookup {
	return d.fetch(ctx, "sorting", sms.ListOptions{PageSize: someRows, SortBy: column, Descending: descending})
}
