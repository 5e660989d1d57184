package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/sms"
)

// probeSize is the size of the pages by which paging is proven.
const probeSize = 2

// attempt adopts lines if a check proves them, and otherwise goes on as before.
func (d *doctor) attempt(lines []line, proves func() bool) bool {
	client, before, names := d.client, d.overlay, d.table
	if d.adopt(lines...) && proves() {
		return true
	}
	d.client, d.plain, d.overlay, d.table = client, nil, before, names
	return false
}

// examinePaging finds out how pages are asked for, and reads the rows of several.
func (d *doctor) examinePaging(ctx context.Context) {
	d.section = "paging"
	if len(d.rows) < 2 {
		d.add("paging", Note, "the account lists fewer than two messages, so there is no second page")
		return
	}
	if d.table.SMSList.Paging.By == "none" {
		d.add("paging", OK, "none, by the contract")
		return
	}
	size := d.examinePageSize(ctx)
	first := d.fetch(ctx, "asking for the first page", sms.ListOptions{PageSize: size})
	why := "the response says that there is none, although there are more rows"
	if first.err != nil || !first.isPage() {
		why = cmp.Or(describeOf(first.err), "there are no rows")
	}
	if first.page.Next != "" {
		why = "the second page is the first again"
	}
	switch {
	case first.err == nil && first.page.Next == "" && len(first.rows) >= len(d.rows) && len(first.rows) > 0:
		d.add("second page", Note, "all rows are on the first page")
		return
	case first.err == nil && d.turns(ctx, size):
		d.add("second page", OK, "has other rows than the first, which follow them")
	case d.findPaging(ctx, size):
	case d.isWhole(size):
		d.propose("second page", "there is none: all rows are on the first page, and the contract asks for more", "none",
			"sms.list", "paging", "by")
		return
	default:
		d.add("second page", Differs, why+", and no name by which pages are asked for was found (sms.list.paging, sms.list.params)"+
			d.pagingCandidates())
		return
	}
	d.examineEnd(ctx)
}

func describeOf(err error) string {
	if err == nil {
		return ""
	}
	return describe(err)
}

// examinePageSize finds the name of the page size, and returns the size of the pages to ask for: 0 if it has no name.
func (d *doctor) examinePageSize(ctx context.Context) int {
	name := d.table.SMSList.Params["pageSize"]
	one := d.fetch(ctx, "asking for a page of one row", sms.ListOptions{PageSize: 1})
	if name != "" && one.isPage() && len(one.rows) == 1 {
		d.add("page size", OK, name+" counts")
		d.sizeCounts = true
		return min(probeSize, len(d.rows)-1)
	}
	shows := func(names ...string) (effect, refused bool) {
		l := d.ask(ctx, "looking for the name of the page size", named("1", names, nil))
		return l.isPage() && len(l.rows) == 1, l.isRefusal()
	}
	found := d.effective(ctx, d.candidates(d.linkNames(), vocabularyOf("param pageSize")), shows)
	two := d.ask(ctx, "asking for a page of two rows", url.Values{found: {"2"}})
	switch {
	case found != "" && two.isPage() && len(two.rows) == 2:
		d.propose("page size", found+" counts", found, "sms.list", "params", "pageSize")
		d.sizeCounts = true
		return min(probeSize, len(d.rows)-1)
	case name != "":
		detail := fmt.Sprintf("asked for 1 row with %s, got %d: the service calls it otherwise, or does not know it", name, len(one.rows))
		if one.err != nil {
			detail = "a page of one row: " + describe(one.err)
		}
		d.add("page size", Differs, detail)
	}
	return 0
}

// vocabularyOf returns the names of a set of the vocabulary.
func vocabularyOf(set string) (names []string) {
	for line := range strings.Lines(synonyms) {
		if name, all, ok := strings.Cut(strings.TrimSpace(line), " | "); ok && name == set {
			for phrase := range strings.SplitSeq(all, ", ") {
				if strings.ContainsAny(phrase, "[]_$.") || phrase != strings.ToLower(phrase) {
					names = append(names, phrase) // a name as it is
				} else {
					names = append(names, styled(phrase)...)
				}
			}
		}
	}
	return names
}

// linkNames returns the names of parameters in the links that the first page holds.
func (d *doctor) linkNames() (names []string) {
	all, _ := columns([]document.Node{d.first.doc}, d.first.path)
	for _, c := range all {
		for _, v := range c.values {
			if link, err := url.Parse(v.Text()); err == nil && link.RawQuery != "" {
				for name := range link.Query() {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// turns reports whether a second page by the contract has the rows that follow those of the first.
func (d *doctor) turns(ctx context.Context, size int) bool {
	first := d.fetch(ctx, "asking for the first page", sms.ListOptions{PageSize: size})
	if first.err != nil || !first.isPage() || first.page.Next == "" || len(first.rows) == 0 || !sameRow(first.rows[0], d.rows[0]) {
		return false
	}
	second := d.fetch(ctx, "asking for the second page", sms.ListOptions{PageSize: size, After: first.page.Next})
	if second.err != nil || !d.follow(first.rows, second.rows) {
		return false
	}
	if second.page.Next == "" {
		return true
	}
	third := d.fetch(ctx, "asking for the third page", sms.ListOptions{PageSize: size, After: second.page.Next})
	return third.err == nil && (len(third.rows) == 0 || d.follow(slices.Concat(first.rows, second.rows), third.rows))
}

// follow reports whether rows are those that come after the first.
func (d *doctor) follow(first, second []document.Node) bool {
	isBefore := func(row document.Node) bool {
		return slices.ContainsFunc(first, func(before document.Node) bool { return sameRow(before, row) })
	}
	n := len(first)
	if len(second) == 0 || slices.ContainsFunc(second, isBefore) {
		return false
	}
	return n >= len(d.rows) || sameRow(second[0], d.rows[n])
}

func sameRow(a, b document.Node) bool { return reflect.DeepEqual(a, b) }

// findPaging finds how the next page is asked for: by what the first page says, by number, or by offset.
func (d *doctor) findPaging(ctx context.Context, size int) bool {
	beside := url.Values{}
	if size > 0 {
		beside.Set(d.table.SMSList.Params["pageSize"], strconv.Itoa(size))
	}
	first := d.ask(ctx, "asking for the first page", beside)
	if !first.isPage() || len(first.rows) == 0 {
		return false
	}
	return d.findCursor(ctx, first, size, beside) || d.findNumber(ctx, first, size, beside) || d.findOffset(ctx, first, size, beside)
}

// pagingBy returns lines for a way of paging, without what the contract says already.
func (d *doctor) pagingBy(by string, more ...line) []line {
	if d.table.SMSList.Paging.By == by {
		return more
	}
	return append([]line{{[]string{"sms.list", "paging", "by"}, by}}, more...)
}

func param(concept, name string) line { return line{[]string{"sms.list", "params", concept}, name} }

// proposePaging adopts a way of paging if the client then reads a second page by it.
func (d *doctor) proposePaging(ctx context.Context, size int, detail string, lines []line) bool {
	if !d.attempt(lines, func() bool { return d.turns(ctx, size) }) {
		return false
	}
	d.add("second page", Differs, detail, lines...)
	return true
}

// findCursor looks for a member whose value asks for the next page.
func (d *doctor) findCursor(ctx context.Context, first lookup, size int, beside url.Values) bool {
	next := []string{"sms.list", "page", "next"}
	type place struct {
		path, value string
		score       int
	}
	var places []place
	all, _ := columns([]document.Node{first.doc}, first.path)
	g := newGuesser(map[string][]string{"next": nil}, "page paging pagination link links meta", all)
	for _, c := range all {
		above, own := g.words(c.path)
		if score := g.score(readVocabulary().concepts["next"], above, own); len(c.values) == 1 && !c.values[0].IsBool() && first.path != "" {
			places = append(places, place{c.path, c.values[0].Text(), score})
		}
	}
	rows, _ := columns(d.first.rows, "")
	const longEnough, farBehind = 4, 100 // to be no number of a page; whatever the page itself says comes first
	idConcept := readVocabulary().concepts["id"]
	for _, c := range rows {
		if value := c.values; isUnique(c, len(d.first.rows)) && fits("id", value) && len(value[0].Text()) >= longEnough {
			above, own := g.words(c.path)
			last := first.rows[len(first.rows)-1].At(c.path).Text()
			places = append(places, place{table.LastRow + c.path, last, g.score(idConcept, above, own) - farBehind})
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return b.score - a.score })
	const most = 8
	names := d.candidates(vocabularyOf("param cursor"))
	for _, p := range places[:min(len(places), most)] {
		d.sensitive[p.value] = d.sensitive[p.value] || strings.HasPrefix(p.path, table.LastRow)
		value := line{next, []any{p.path}}
		if link, err := url.Parse(p.value); err == nil && link.RawQuery != "" {
			for name := range link.Query() {
				if beside.Has(name) {
					continue
				}
				if d.proposePaging(ctx, size, "is behind the link at "+p.path, d.pagingBy("cursor", value, param("cursor", name))) {
					return true
				}
			}
			continue
		}
		left := slices.DeleteFunc(d.candidates(cursorNames(p.path), names), func(name string) bool { return isLeaf(rows, name) })
		shows := func(names ...string) (effect, refused bool) {
			l := d.ask(ctx, "looking for the name of the cursor", named(p.value, names, beside))
			return l.isPage() && d.follow(first.rows, l.rows), l.isRefusal()
		}
		if name := d.effective(ctx, left, shows); name != "" &&
			d.proposePaging(ctx, size, "by cursor: "+name+" with the value at "+p.path, d.pagingBy("cursor", value, param("cursor", name))) {
			return true
		}
	}
	return false
}

// isLeaf reports whether a member of the rows has a name, which is then a filter rather than a cursor.
func isLeaf(rows []column, name string) bool {
	return slices.ContainsFunc(rows, func(c column) bool { return c.path[strings.LastIndexByte(c.path, '.')+1:] == name })
}

// cursorNames returns what a parameter may be called that takes the value of a member.
func cursorNames(path string) []string {
	leaf := path[strings.LastIndexByte(path, '.')+1:]
	words := strings.Join(new(guesser).split(leaf), " ")
	if words == "" {
		return []string{leaf}
	}
	names := []string{leaf}
	if strings.HasPrefix(path, table.LastRow) {
		names = nil // that would be a filter
	}
	for _, word := range []string{"after", "last", "since", "start", "starting after", "from"} {
		names = append(names, styled(word+" "+words)...)
	}
	if rest, ok := strings.CutPrefix(words, "next "); ok {
		names = append(names, styled(rest)...)
	}
	return names
}

// findNumber looks for a parameter that counts pages.
func (d *doctor) findNumber(ctx context.Context, first lookup, size int, beside url.Values) bool {
	for number := range 2 {
		// The page after the one with this number: if that is the second, the first has this number.
		shows := func(names ...string) (effect, refused bool) {
			l := d.ask(ctx, "looking for the name of the page number", named(strconv.Itoa(number+1), names, beside))
			return l.isPage() && d.follow(first.rows, l.rows), l.isRefusal()
		}
		name := d.effective(ctx, d.candidates(d.linkNames(), vocabularyOf("param page")), shows)
		if name == "" {
			continue
		}
		same := d.ask(ctx, "asking for the first page by its number", named(strconv.Itoa(number), []string{name}, beside))
		if !same.isPage() || len(same.rows) == 0 || !sameRow(same.rows[0], first.rows[0]) {
			continue
		}
		lines := d.pagingBy("page", param("page", name))
		if number != d.table.SMSList.Paging.First {
			lines = append(lines, line{[]string{"sms.list", "paging", "first"}, number})
		}
		if d.proposePaging(ctx, size, fmt.Sprintf("by number: %s, from %d", name, number), lines) {
			return true
		}
	}
	return false
}

// findOffset looks for a parameter that counts rows.
func (d *doctor) findOffset(ctx context.Context, first lookup, size int, beside url.Values) bool {
	if len(first.rows) < 2 && len(d.rows) < 2 {
		return false
	}
	shows := func(names ...string) (effect, refused bool) {
		l := d.ask(ctx, "looking for the name of the offset", named("1", names, beside))
		return l.isPage() && len(l.rows) > 0 && sameRow(l.rows[0], d.rows[1]), l.isRefusal()
	}
	name := d.effective(ctx, d.candidates(d.linkNames(), vocabularyOf("param offset")), shows)
	return name != "" && d.proposePaging(ctx, size, "by offset: "+name, d.pagingBy("offset", param("offset", name)))
}

// isWhole reports whether the first page surely has all rows: there was no second with pages of one row, or a total says so.
func (d *doctor) isWhole(size int) bool {
	if size > 0 {
		return false
	}
	all, _ := columns([]document.Node{d.first.doc}, d.first.path)
	found := newGuesser(map[string][]string{"total": nil}, "page paging pagination meta", all).guess(all, []string{"total"})
	return found["total"] != "" && d.first.doc.At(found["total"]).Text() == strconv.Itoa(len(d.first.rows))
}

// pagingCandidates names members that look as if they said where the next page is.
func (d *doctor) pagingCandidates() string {
	if d.first.path == "" {
		return ""
	}
	all, _ := columns([]document.Node{d.first.doc}, d.first.path)
	return candidatesOf("next", all)
}

// examineEnd walks to the end of the listing, or some pages far, and keeps the rows.
func (d *doctor) examineEnd(ctx context.Context) {
	const far, mostPages = 1_000_000, 10
	options := sms.ListOptions{PageSize: someRows}
	var all []document.Node
	for range mostPages {
		l := d.fetch(ctx, "walking to the end", options)
		if l.err != nil {
			d.add("end", Differs, describe(l.err))
			return
		}
		all = append(all, l.rows...)
		if options.After = l.page.Next; options.After == "" {
			d.whole = true
			break
		}
	}
	if len(all) >= len(d.rows) {
		d.rows = all
	}
	if !d.whole {
		d.add("end", Note, fmt.Sprintf("not reached within %d pages", mostPages))
		return
	}
	if d.table.SMSList.Paging.By == "page" {
		beyond := d.fetch(ctx, "asking for a page beyond the end", sms.ListOptions{PageSize: someRows, Page: far})
		if len(beyond.rows) > 0 {
			d.add("end", Differs, "a page far beyond the end has rows: a listing ends only by what the response says (sms.list.page)")
			return
		}
	}
	d.add("end", OK, fmt.Sprintf("the listing ends, after %d rows", len(all)))
}

// pageSample is a page, and what is known of it.
type pageSample struct {
	lookup

	size, number int // that were asked for, and the size at most that of the largest page
	isLast       bool
}

// examinePage looks at what pages say about the listing, and compares it with what is known of them.
func (d *doctor) examinePage(ctx context.Context) {
	list := d.table.SMSList
	if d.section = "page"; d.first.path == "" || len(d.rows) < 2 { // there is nothing beside the rows, or nothing to compare
		return
	}
	var samples []pageSample
	sizes := []int{someRows, 1, 1, probeSize}
	if list.Params["pageSize"] == "" {
		sizes = []int{0, 0}
	}
	after := ""
	for i, size := range sizes {
		if i > 0 && sizes[i-1] != size {
			after = ""
		}
		number := list.Paging.First
		if after != "" {
			number++
		}
		l := d.fetch(ctx, "looking at what pages say", sms.ListOptions{PageSize: size, After: after})
		if l.err != nil || !l.isPage() || len(l.rows) == 0 {
			break
		}
		seen := len(l.rows)
		if after != "" {
			seen += len(samples[len(samples)-1].rows)
		}
		isLast := d.whole && seen >= len(d.rows)
		if !isLast && l.page.Next != "" {
			size = min(size, len(l.rows)) // the service has no larger pages
		}
		samples = append(samples, pageSample{l, size, number, isLast})
		if after = l.page.Next; after == "" && size == 0 {
			break
		}
	}
	if len(samples) < 2 {
		d.add("page", Note, "what pages say was not compared: there are too few")
		return
	}
	docs := make([]document.Node, len(samples))
	for i, s := range samples {
		docs[i] = s.doc
	}
	all, _ := columns(docs, samples[0].path)
	section, _ := list.CursorInLastRow()
	g := newGuesser(section, "page paging pagination link links meta", all)
	for _, concept := range sortedKeys(section) {
		if concept == "next" && list.Paging.By != "page" {
			continue // found, or not, by paging
		}
		d.examinePageFact(concept, section[concept], samples, all, g)
	}
}

func (d *doctor) examinePageFact(concept string, paths []string, samples []pageSample, all []column, g *guesser) {
	const enough = 12 // rows, a number that nothing else has by chance
	docs := make([]document.Node, len(samples))
	for i, s := range samples {
		docs[i] = s.doc
	}
	if path, _ := find(docs, paths); path != "" {
		switch fits, tried := d.says(concept, path, samples); {
		case !tried:
			d.add(concept, Note, path+": nothing shows whether it is right")
		case fits:
			d.add(concept, OK, path+" agrees with the rows")
		default:
			others := filter(all, func(c column) bool { return c.path != path })
			d.add(concept, Differs, path+" does not agree with the rows"+candidatesOf(concept, others))
		}
		return
	}
	var fitting []column
	for _, c := range all {
		if fits, tried := d.says(concept, c.path, samples); fits && tried {
			fitting = append(fitting, c)
		}
	}
	path := g.best(concept, fitting)
	if path == "" && len(fitting) == 1 && concept == "total" && len(d.rows) >= enough {
		path = fitting[0].path
	}
	if path == "" {
		d.add(concept, Note, "not there"+candidatesOf(concept, fitting))
		return
	}
	d.propose(concept, path+" agrees with the rows", []any{path}, "sms.list", "page", concept)
}

// says reports whether the values at a path are what a concept is on each of some pages, and whether these pages differ enough to tell.
func (d *doctor) says(concept, path string, samples []pageSample) (fits, tried bool) {
	fits = true
	wants := map[string]bool{}
	for _, s := range samples {
		var want string
		switch got := s.doc.At(path).Text(); concept {
		case "hasNext":
			want = strconv.FormatBool(!s.isLast)
			isTrue := slices.Contains([]string{"true", "1", "yes"}, strings.ToLower(got))
			isFalse := slices.Contains([]string{"false", "0", "no"}, strings.ToLower(got))
			fits = fits && d.whole && (isTrue && !s.isLast || isFalse && s.isLast)
		case "next":
			if want = strconv.Itoa(s.number + 1); s.isLast {
				want = ""
			}
			fits = fits && got == want
		default:
			n := map[string]int{"total": len(d.rows), "size": s.size, "number": s.number}[concept]
			if concept == "pages" && s.size > 0 {
				n = (len(d.rows) + s.size - 1) / s.size
			}
			want = strconv.Itoa(n)
			fits = fits && got == want
		}
		wants[want] = true
	}
	switch concept {
	case "total":
		tried = d.whole && len(d.rows) > 0
	case "pages":
		tried = d.whole && len(wants) > 1
	case "number":
		tried = d.table.SMSList.Paging.By == "page" && len(wants) > 1
	default:
		tried = len(wants) > 1
	}
	return fits, tried
}
