package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// filtered is what is known of the filter by a member.
type filtered struct {
	works  bool
	name   string // of the parameter
	detail string // if it does not work, why
	isOurs bool   // it is the one of the contract
}

// findFilter finds the parameter that filters by the member at a path: a value that exists finds only its rows, and one that does not
// exist finds none. It tries the one of the contract first.
func (d *doctor) findFilter(ctx context.Context, concept, path string) filtered {
	key := concept + " " + path
	if f, ok := d.filters[key]; ok {
		return f
	}
	f := d.tryFilter(ctx, concept, path)
	if d.filters == nil {
		d.filters = map[string]filtered{}
	}
	d.filters[key] = f
	return f
}

func (d *doctor) tryFilter(ctx context.Context, concept, path string) filtered {
	const mostWrong = 3
	exists := d.commonest(path)
	absent := absentLike(exists)
	d.sensitive[exists], d.sensitive[absent] = true, true
	name, detail := d.table.SMSList.Params[concept], ""
	if name != "" {
		byOptions := func(value string) lookup {
			o := sms.ListOptions{PageSize: d.someRows()}
			*map[string]*string{
				"id": &o.ID, "reference": &o.ReferenceID, "request": &o.RequestID, "category": &o.CategoryID, "from": &o.From, "to": &o.To,
			}[concept] = value
			return d.fetch(ctx, "filtering by "+concept, o)
		}
		if detail = d.wrongFilter(path, exists, byOptions(exists), byOptions(absent)); detail == "" {
			detail = d.comparesPart(concept, path, exists, byOptions)
		}
		if detail == "" {
			return filtered{works: true, name: name, isOurs: true}
		}
	}
	names := slices.DeleteFunc(d.candidates(d.filterNames(concept, path)), d.isClaimed)
	for range mostWrong {
		shows := func(names ...string) (effect, refused bool) {
			l := d.ask(ctx, "looking for the filter by "+concept, named(absent, names, nil))
			return l.isPage() && len(l.rows) == 0, l.isRefusal()
		}
		found := d.effective(ctx, names, shows)
		if found == "" {
			break
		}
		byName := func(value string) lookup { return d.ask(ctx, "filtering by "+concept, url.Values{found: {value}}) }
		if d.wrongFilter(path, exists, byName(exists), byName(absent)) == "" && d.comparesPart(concept, path, exists, byName) == "" {
			return filtered{works: true, name: found}
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == found })
	}
	return filtered{name: name, detail: detail}
}

// isClaimed reports whether a parameter was found to be that of a concept.
func (d *doctor) isClaimed(name string) bool {
	for _, f := range d.filters {
		if f.works && f.name == name {
			return true
		}
	}
	p := d.table.SMSList
	return name == p.Params["pageSize"] || name == p.Params[p.Paging.By]
}

// someRows is how many rows are asked for, if the service knows a name for that.
func (d *doctor) someRows() int {
	if d.isStrict && d.first.rows != nil && !d.sizeCounts {
		return 0
	}
	return someRows
}

// commonest returns a value of the member at a path, if possible one that not every row has.
func (d *doctor) commonest(path string) string {
	_, values := find(d.rows, []string{path})
	if len(values) == 0 {
		return ""
	}
	if mine := d.mine.At(path); says(mine) {
		return mine.Text()
	}
	return values[0].Text()
}

// absentLike returns a value of the same shape that no row has.
func absentLike(value string) string {
	const tries, short = 20, 4
	if len(value) < short {
		return "doctor-" + rand.Text()
	}
	for range tries {
		if other := scramble(value); other != value {
			return other
		}
	}
	return "doctor-" + rand.Text()
}

// wrongFilter says what is wrong with a filter, by what it lists for a value that exists and for one that does not, or "".
func (d *doctor) wrongFilter(path, exists string, hit, miss lookup) string {
	isOther := func(row document.Node) bool { return !sameValue(row.At(path).Text(), exists) }
	switch {
	case hit.err != nil || !hit.isPage():
		return "is refused: " + describeOf(hit.err)
	case slices.ContainsFunc(hit.rows, isOther):
		return "is ignored: other messages are listed"
	case len(hit.rows) == 0:
		return "does not find a message that is listed"
	case miss.isPage() && len(miss.rows) > 0:
		return "is ignored: a value that does not exist finds messages"
	case miss.err != nil || !miss.isPage():
		return "is not proven: a value that does not exist is refused"
	}
	return ""
}

// comparesPart says that a filter finds messages by a part of their value, or "": by a value that lacks its last character, or its first.
// Numbers may lack the first, for they are written with a + or without.
func (d *doctor) comparesPart(concept, path, exists string, list func(value string) lookup) string {
	value := []rune(exists)
	if len(value) < 2 {
		return ""
	}
	cuts := []string{string(value[:len(value)-1])}
	if concept != "from" && concept != "to" {
		cuts = append(cuts, string(value[1:]))
	}
	for _, cut := range cuts {
		l := list(cut)
		isOther := func(row document.Node) bool { return !sameValue(row.At(path).Text(), cut) }
		if l.isPage() && slices.ContainsFunc(l.rows, isOther) {
			return "compares a part: a value that is cut by one character finds messages"
		}
	}
	return ""
}

// filterNames returns what the filter by a member may be called: like the member, like the field that is sent, or as elsewhere.
func (d *doctor) filterNames(concept, path string) []string {
	var parts []string
	for part := range strings.SplitSeq(path, ".") {
		if !table.IsPosition(part) {
			parts = append(parts, part)
		}
	}
	leaf := parts[len(parts)-1]
	whole := strings.Join(parts, ".")
	names := []string{leaf, whole, strings.Join(parts, "_"), d.table.SMSSend.Fields[concept]}
	for _, like := range []string{leaf, whole, d.table.SMSSend.Fields[concept]} {
		if like != "" {
			names = append(names, "filter["+like+"]", "filter."+like, "filter_"+like, "where["+like+"]", like+"[eq]", like+"s")
		}
	}
	g := newGuesser(map[string][]string{concept: nil}, "", nil)
	names = append(names, styled(strings.Join(g.split(leaf), " "))...)
	const most = 12
	phrases := readVocabulary().concepts[concept].phrases
	for _, p := range phrases[:min(len(phrases), most)] {
		names = append(names, styled(strings.Join(p.words, " "))...)
	}
	return names
}

// examineFilters looks at whether the filters work, and finds those that have another name.
func (d *doctor) examineFilters(ctx context.Context) {
	d.section = "filters"
	if d.first.rows == nil {
		return
	}
	list := d.table.SMSList
	for _, concept := range []string{"id", "reference", "request", "category", "from", "to"} {
		path, _ := find(d.rows, list.Record[concept])
		if path == "" {
			if concept != "reference" {
				d.add(concept, Note, "not tried: no row has a value")
			}
			continue
		}
		f := d.findFilter(ctx, concept, path)
		switch {
		case f.works && f.isOurs:
			if concept != "reference" {
				d.add(concept, OK, f.name+" counts: a value that exists finds only its rows, one that does not finds none")
			}
		case f.works:
			d.propose(concept, f.name+" counts: a value that exists finds only its rows, one that does not finds none", f.name,
				"sms.list", "params", concept)
		case f.name == "":
			d.add(concept, Note, "the contract names no parameter, and none was found")
		case concept != "reference": // it has checks of its own
			d.add(concept, Differs, f.name+" "+f.detail+", and no other name was found")
		}
	}
	d.examineReference(ctx)
	d.examineBounds(ctx)
	d.examineSorting(ctx)
}

// examineReference looks at whether the filter on the reference ID works, on which settling depends.
func (d *doctor) examineReference(ctx context.Context) {
	const untrusted = ": settling (SendOnce, Settle) cannot be trusted"
	l := d.table.SMSList
	if l.Params["reference"] == "" {
		d.add("reference", Differs, "the contract names no parameter (sms.list.params.reference)"+untrusted)
		return
	}
	_, known := find(d.rows, l.Record["reference"])
	if mine := d.mine.At(first(l.Record["reference"])); says(mine) {
		known = []document.Node{mine}
	}
	if len(known) == 0 {
		d.add("reference", Unknown, "no row has a reference ID, so the filter cannot be tried (--send tries it)"+untrusted)
	} else {
		d.lookUp(ctx, "reference that exists", known[0].Text(), nil, untrusted)
		d.lookUpPart(ctx, known[0].Text(), untrusted)
	}
	d.lookUp(ctx, "reference that does not", "doctor-"+rand.Text(), messaging.ErrNotListed, untrusted)
}

// lookUpPart looks a reference up that is cut by one character.
func (d *doctor) lookUpPart(ctx context.Context, reference, untrusted string) {
	path, _ := find(d.rows, d.table.SMSList.Record["reference"])
	name := d.table.SMSList.Params["reference"]
	isListed := len(reference) > 1
	wrong := d.comparesPart("reference", path, reference, func(value string) lookup {
		l := d.fetch(ctx, "looking a part of a reference ID up", sms.ListOptions{PageSize: d.someRows(), ReferenceID: value})
		isListed = isListed && l.isPage()
		return l
	})
	switch {
	case wrong != "":
		d.add("reference that is cut", Differs, name+" "+wrong+untrusted)
	case isListed:
		d.add("reference that is cut", OK, name+" does not find its message")
	default:
		d.add("reference that is cut", Note, "not tried: the reference ID is too short, or the service refuses what is left of it")
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// lookUp looks a reference up and compares the error with the one that a filter that works leads to.
func (d *doctor) lookUp(ctx context.Context, name, reference string, want error, untrusted string) {
	d.sensitive[reference] = true
	c := d.call(ctx, "sms.list", "looking a reference ID up", func(ctx context.Context) error {
		_, err := d.client.SMS.Find(ctx, reference)
		return err
	})
	err := c.err
	l := lookup{call: c}
	d.findRows(&l)
	path, _ := find(d.rows, d.table.SMSList.Record["reference"])
	isOther := func(row document.Node) bool { return row.At(path).Text() != reference }
	param := d.table.SMSList.Params["reference"]
	switch {
	case errors.Is(err, messaging.ErrFilterIgnored), slices.ContainsFunc(l.rows, isOther):
		d.add(name, Differs, param+" is ignored: other messages are listed"+untrusted)
	case err == nil && want == nil:
		d.add(name, OK, param+" finds its message, and no other")
	case want != nil && errors.Is(err, want):
		d.add(name, OK, param+" finds nothing")
	case errors.Is(err, messaging.ErrNotListed):
		d.add(name, Differs, param+" does not find a message that is listed"+untrusted)
	default:
		d.add(name, Differs, describe(err)+untrusted)
	}
}

// bound is a bound of time: which rows it leaves.
type bound struct {
	concept    string
	vocabulary string
	all, none  time.Time // bounds within which all rows are, and none
	between    time.Time // a bound between two rows that are near each other, or the zero time
	want       int       // rows that are within that, or 0 if it is not known how many
}

// examineBounds looks at whether the bounds of time work, and in which form times are written in requests.
func (d *doctor) examineBounds(ctx context.Context) {
	const day = 24 * time.Hour
	at, unread := d.times(d.rows, "created")
	if len(at) == 0 || len(unread) > 0 {
		d.add("createdAfter", Note, "not tried: no row says when it was created")
		return
	}
	slices.SortFunc(at, time.Time.Compare)
	oldest, newest := at[0], at[len(at)-1]
	after := bound{concept: "createdAfter", vocabulary: "param createdAfter", all: oldest.Add(-3 * day), none: time.Now().Add(3 * day)}
	before := bound{concept: "createdBefore", vocabulary: "param createdBefore", all: newest.Add(3 * day), none: oldest.AddDate(-10, 0, 0)}
	const most = 12
	near := min(most, len(d.first.rows)) // rows from the end, which a page surely holds
	if i := narrowest(at, max(1, len(at)-near), len(at)); i > 0 {
		after.between, after.want = at[i-1].Add(at[i].Sub(at[i-1])/2), len(at)-i
	}
	if i := narrowest(at, 1, min(len(at), near)); i > 0 {
		before.between, before.want = at[i-1].Add(at[i].Sub(at[i-1])/2), i
	}
	if !d.whole || len(at) != len(d.rows) {
		after.want, before.want = 0, 0
	}
	d.examineBound(ctx, after)
	d.examineBound(ctx, before)
}

// narrowest returns the index, among some, of the time that is the least after the one before it, but enough to part them; or 0.
func narrowest(at []time.Time, from, to int) (best int) {
	const enough = 4 * time.Second
	for i := from; i < to; i++ {
		if gap := at[i].Sub(at[i-1]); gap >= enough && (best == 0 || gap < at[best].Sub(at[best-1])) {
			best = i
		}
	}
	return best
}

func (d *doctor) examineBound(ctx context.Context, b bound) {
	list := d.table.SMSList
	name := list.Params[b.concept]
	wrong := ""
	if name != "" {
		if wrong = d.wrongBound(ctx, b); wrong == "" {
			d.add(b.concept, OK, name+" (sms.list.time is "+list.Time+") counts: rows within are listed, rows beyond are not")
			return
		}
	}
	names := d.known(ctx, slices.DeleteFunc(d.candidates(d.boundNames(b.vocabulary)), d.isClaimed))
	for _, form := range d.timeForms() {
		zone, _ := time.LoadLocation(list.Zone) // of a valid contract
		shows := func(names ...string) (effect, refused bool) {
			none := d.ask(ctx, "looking for "+b.concept, named(table.FormatTime(b.none, form, zone), names, nil))
			return none.isPage() && len(none.rows) == 0, none.isRefusal()
		}
		found := d.effective(ctx, names, shows)
		if found == "" {
			continue
		}
		lines := []line{param(b.concept, found), {[]string{"sms.list", "time"}, form}}
		if form == list.Time {
			lines = lines[:1]
		}
		if d.attempt(lines, func() bool { return d.wrongBound(ctx, b) == "" }) {
			d.add(b.concept, Differs, found+" (as "+form+") counts: rows within are listed, rows beyond are not", lines...)
			return
		}
	}
	if name == "" {
		d.add(b.concept, Note, "the contract names no parameter, and none was found")
		return
	}
	d.add(b.concept, Differs, name+" (sms.list.time is "+list.Time+") "+wrong+", and no other name was found")
}

// wrongBound says what is wrong with a bound of the contract, or "".
func (d *doctor) wrongBound(ctx context.Context, b bound) string {
	list := func(at time.Time) lookup {
		o := sms.ListOptions{PageSize: d.someRows()}
		if b.concept == "createdAfter" {
			o.CreatedAfter = at
		} else {
			o.CreatedBefore = at
		}
		return d.fetch(ctx, "listing with "+b.concept, o)
	}
	within := list(b.all)
	if within.err != nil || !within.isPage() {
		return "is refused: " + describeOf(within.err)
	}
	if len(within.rows) == 0 {
		return "does not find messages that are listed"
	}
	beyond := list(b.none)
	switch {
	case beyond.isPage() && len(beyond.rows) > 0:
		return "is ignored: messages beyond the bound are listed"
	case !beyond.isPage():
		return "is not proven: a bound beyond all messages is refused"
	case b.between.IsZero():
		return ""
	}
	slack := time.Second
	if d.table.SMSList.Time == "date" {
		slack, b.want = 48*time.Hour, 0
	}
	some := list(b.between)
	at, _ := d.times(some.rows, "created")
	isBeyond := func(t time.Time) bool {
		if b.concept == "createdAfter" {
			return t.Before(b.between.Add(-slack))
		}
		return t.After(b.between.Add(slack))
	}
	if some.err != nil || len(at) == 0 || slices.ContainsFunc(at, isBeyond) || b.want > 0 && len(at) != b.want {
		return "does not part the messages at the bound"
	}
	return ""
}

// timeForms returns the forms of times in requests, those of the rows first.
func (d *doctor) timeForms() []string {
	_, values := find(d.rows, d.table.SMSList.Record["created"])
	like := shapes(values, true)
	forms := []string{d.table.SMSList.Time}
	for _, known := range [][]string{
		{"unix seconds", "unix"}, {"unix milliseconds", "unixms"}, {"without an offset", "datetime"}, {"date", "date"}, {"rfc2822", "rfc2822"},
	} {
		if strings.Contains(like, known[0]) {
			forms = append(forms, known[1])
		}
	}
	for _, form := range []string{"rfc3339", "rfc3339ms", "datetime", "unix", "date"} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// boundNames returns what a bound of the time of creation may be called: templates hold {} where the name of the member stands.
func (d *doctor) boundNames(set string) (names []string) {
	path, _ := find(d.rows, d.table.SMSList.Record["created"])
	leaf := path[strings.LastIndexByte(path, '.')+1:]
	words := new(guesser).split(leaf)
	likes := []string{leaf}
	if len(words) > 1 {
		likes = append(likes, words[len(words)-1])
	}
	var others []string
	for _, name := range vocabularyOf(set) {
		if !strings.Contains(name, "{}") {
			others = append(others, name)
			continue
		}
		for _, like := range likes {
			names = append(names, strings.ReplaceAll(name, "{}", like))
		}
	}
	return append(names, others...)
}

// examineSorting looks at whether the listing can be sorted by the time of creation: the reverse order reverses the rows.
func (d *doctor) examineSorting(ctx context.Context) {
	d.section = "sorting"
	list := d.table.SMSList
	at, unread := d.times(d.rows, "created")
	if len(at) < 2 || len(unread) > 0 || slices.MinFunc(at, time.Time.Compare).Equal(slices.MaxFunc(at, time.Time.Compare)) {
		d.add("created", Note, "not tried: no two messages of different times")
		return
	}
	path, _ := find(d.rows, list.Record["created"])
	columns := d.candidates([]string{list.Sorts["created"], path[strings.LastIndexByte(path, '.')+1:], path})
	if list.Params["sortBy"] != "" && list.Params["order"] != "" && list.Sorts["created"] != "" {
		for _, column := range columns {
			if !d.sorts(ctx, column) {
				continue
			}
			if column != list.Sorts["created"] {
				d.propose("created", "by the column "+column+", in both orders", column, "sms.list", "sorts", "created")
			} else {
				d.add("created", OK, "by the column "+column+", in both orders")
			}
			return
		}
	}
	if d.findSorting(ctx, columns) {
		return
	}
	if list.Params["sortBy"] == "" || list.Params["order"] == "" {
		d.add("created", Note, "the contract names no parameters, and none were found")
		return
	}
	d.add("created", Differs, list.Params["sortBy"]+" and "+list.Params["order"]+" do not order the rows, and no other names were found: "+
		"the documentation of the service has them, and its words for columns")
}

// sorts reports whether the contract sorts by a column, in both orders.
func (d *doctor) sorts(ctx context.Context, column string) bool {
	up := d.fetch(ctx, "sorting", sms.ListOptions{PageSize: d.someRows(), SortBy: column})
	if up.err != nil || !d.isOrdered(up, false) {
		return false
	}
	down := d.fetch(ctx, "sorting", sms.ListOptions{PageSize: d.someRows(), SortBy: column, Descending: true})
	return down.err == nil && d.isOrdered(down, true)
}

// isOrdered reports whether the rows of a page are ordered by the time of creation, and not all of one time.
func (d *doctor) isOrdered(l lookup, descending bool) bool {
	at, _ := d.times(l.rows, "created")
	if descending {
		slices.Reverse(at)
	}
	return l.isPage() && len(at) > 1 && slices.IsSortedFunc(at, time.Time.Compare) && at[0].Before(at[len(at)-1])
}

// findSorting finds the parameters that sort, and their words.
func (d *doctor) findSorting(ctx context.Context, columns []string) bool {
	sortNames, orderNames := d.candidates(vocabularyOf("param sortBy")), d.candidates(vocabularyOf("param order"))
	if d.isStrict {
		sortNames, orderNames = d.known(ctx, sortNames), d.known(ctx, orderNames)
	}
	for _, words := range [][]string{{"asc", "desc"}, {"ASC", "DESC"}, {"ascending", "descending"}} {
		for _, column := range columns {
			both := func(sorts, orders []string) bool {
				isSorted := true
				for i, word := range words {
					l := d.ask(ctx, "looking for the names of sorting", named(column, sorts, named(word, orders, nil)))
					isSorted = isSorted && d.isOrdered(l, i == 1)
				}
				return isSorted
			}
			var order string
			sortBy := d.effective(ctx, sortNames, func(names ...string) (bool, bool) {
				if !d.isStrict {
					return both(names, orderNames), false
				}
				order = first(filterNames(orderNames, func(name string) bool { return both(names, []string{name}) }))
				return order != "", false
			})
			if sortBy == "" {
				continue
			}
			if order == "" {
				order = d.effective(ctx, orderNames, func(names ...string) (bool, bool) { return both([]string{sortBy}, names), false })
			}
			lines := []line{
				param("sortBy", sortBy), param("order", order),
				{[]string{"sms.list", "sorts", "created"}, column},
				{[]string{"sms.list", "orders"}, map[string]any{"ascending": words[0], "descending": words[1]}},
			}
			if order != "" && d.attempt(lines, func() bool { return d.sorts(ctx, column) }) {
				d.add("created", Differs, fmt.Sprintf("%s and %s order the rows by the column %s, both ways", sortBy, order, column), lines...)
				return true
			}
		}
	}
	return false
}

func filterNames(all []string, isIt func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return !isIt(name) })
}
