package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/cmd/messaging/internal/document"
	"github.com/messaging-service/messaging-go/internal/table"
)

// examination is what is compared: documents that are alike with a section of the contract that lists paths by concept.
type examination struct {
	docs       []document.Node
	section    map[string][]string
	place      []string            // of the section in the contract, such as sms.list and record
	elsewhere  map[string][]string // paths of another section that claims members
	containers string              // words of objects that say nothing
	essential  []string            // concepts without which the library cannot do what it promises
	proven     map[string]proof    // where concepts surely stand
	byProof    []string            // concepts for which a name is no proof
	isCallback bool                // one of several kinds, in which a concept that is not there says nothing
	// rejects says why the values at a path cannot be those of a concept, or "". It may be nil.
	rejects func(concept, path string, values []document.Node) string
}

// proof is where a concept stands, and what proves it.
type proof struct{ path, how string }

// examine adds a check for each concept, and one for the members that no concept claims. It adopts what is sure.
func (d *doctor) examine(e examination) {
	all, unnameable := columns(e.docs, "")
	if e.rejects == nil {
		e.rejects = func(string, string, []document.Node) string { return "" }
	}
	names := sortedKeys(e.section)
	current := map[string]string{} // where the contract finds a concept
	for _, concept := range names {
		current[concept], _ = find(e.docs, e.section[concept])
	}
	guessed := d.guess(e, all, current)
	taken := map[string]bool{}
	for _, path := range guessed {
		taken[path] = true
	}
	lines := map[string]line{}
	for concept, path := range guessed {
		at := slices.Concat(e.place, strings.Split(concept, "."))
		lines[concept] = line{at, append([]any{path}, d.overlay.list(at)...)} // what it says for other documents stays behind
	}
	if !d.adopt(slices.Concat(slices.Collect(maps.Values(lines)), e.yield(guessed))...) {
		clear(guessed)
	}
	left := unclaimed(all, e.section, e.elsewhere, asSection(guessed))
	for _, concept := range names {
		d.conclude(e, concept, current[concept], guessed[concept], lines[concept], left)
	}
	for _, c := range left {
		seen := ""
		if len(c.values) > 0 {
			seen = share(len(c.values), len(e.docs))
		}
		d.add("(unclaimed)", Note, fmt.Sprintf("%s: %s%s; no concept claims it", c.path, shapes(c.values, saysTime(c.path)), seen))
	}
	if unnameable > 0 {
		d.add("(unclaimed)", Note, fmt.Sprintf("%d members have names that are no plain words, and are not shown", unnameable))
	}
}

// guess returns where the contract should look for the concepts that it does not find, or looks for in the wrong place.
func (d *doctor) guess(e examination, all []column, current map[string]string) map[string]string {
	var wanted []string
	guessed := map[string]string{}
	taken := map[string]bool{}
	for concept, p := range e.proven {
		if taken[p.path] = true; p.path != current[concept] {
			guessed[concept] = p.path
		}
	}
	for _, concept := range sortedKeys(e.section) {
		if _, ok := e.proven[concept]; !ok && current[concept] == "" && !slices.Contains(e.byProof, concept) {
			wanted = append(wanted, concept)
		}
	}
	// A member that the contract names for one concept, but finds elsewhere, may be another.
	used := map[string][]string{}
	for concept, path := range current {
		if path != "" {
			used[concept] = []string{path}
		}
	}
	free := slices.DeleteFunc(unclaimed(all, used, e.elsewhere), func(c column) bool { return taken[c.path] })
	for concept, path := range newGuesser(e.section, e.containers, all).guess(free, wanted) {
		_, values := find(e.docs, []string{path})
		if len(values) > 0 && e.rejects(concept, path, values) == "" {
			guessed[concept] = path
		}
	}
	return guessed
}

// identity are the concepts of which no two may stand at one place.
var identity = []string{"id", "request", "reference", "from", "to", "text"} //nolint:gochecknoglobals // never written

// yield returns the lines that take guessed places away from the concepts that the contract had there.
func (e examination) yield(guessed map[string]string) (lines []line) {
	for _, concept := range identity {
		paths, ok := e.section[concept]
		isTaken := func(path string) bool {
			for other, at := range guessed {
				if other != concept && at == path && slices.Contains(identity, other) {
					return true
				}
			}
			return false
		}
		if _, isGuessed := guessed[concept]; ok && !isGuessed && slices.ContainsFunc(paths, isTaken) {
			left := slices.DeleteFunc(slices.Clone(paths), isTaken)
			lines = append(lines, line{slices.Concat(e.place, []string{concept}), anyList(left)})
		}
	}
	return lines
}

// conclude adds the check of a concept.
func (d *doctor) conclude(e examination, concept, current, guess string, l line, left []column) {
	isTime := readVocabulary().concepts[concept].kind == "time"
	path := current
	if guess != "" {
		path = guess
	}
	_, values := find(e.docs, []string{path})
	if path == current {
		_, values = find(e.docs, e.section[concept])
	}
	detail := fmt.Sprintf("%s: %s%s", path, shapes(values, isTime), share(len(values), len(e.docs)))
	how := ""
	if p, ok := e.proven[concept]; ok {
		how = "; " + p.how
	}
	switch {
	case guess != "":
		d.add(concept, Differs, detail+how, l)
	case current == "" && slices.Contains(e.essential, concept):
		d.add(concept, Differs, "not found at "+strings.Join(e.section[concept], ", ")+candidatesOf(concept, left))
	case current == "":
		could := candidatesOf(concept, left)
		if !e.isCallback || could != "" && slices.Contains(e.byProof, concept) {
			d.add(concept, Note, "not there"+could)
		}
	case how != "":
		d.add(concept, OK, detail+how)
	case e.rejects(concept, current, values) != "":
		d.add(concept, Differs, detail+"; "+e.rejects(concept, current, values)+candidatesOf(concept, left))
	case slices.Contains(e.byProof, concept) || !d.passes(concept, values):
		d.add(concept, Note, detail+"; only its name says so")
	default:
		d.add(concept, OK, detail)
	}
}

func asSection(paths map[string]string) map[string][]string {
	section := map[string][]string{}
	for concept, path := range paths {
		section[concept] = []string{path}
	}
	return section
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// candidatesOf says which of some columns could be a concept, best first.
func candidatesOf(concept string, all []column) string {
	const most = 3
	names := candidates(concept, all)
	if len(names) == 0 {
		return ""
	}
	return "; could be " + strings.Join(names[:min(len(names), most)], ", ")
}

// leafOf returns the last name of a path.
func leafOf(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// candidates returns the paths of the columns that could be a concept, best first: one that identifies has a value of its own in each row.
func candidates(concept string, all []column) (paths []string) {
	c, ok := readVocabulary().concepts[concept]
	if !ok {
		return nil
	}
	g := newGuesser(map[string][]string{concept: nil}, rowContainers, all)
	type candidate struct {
		path  string
		score int
	}
	var found []candidate
	for _, col := range all {
		above, own := g.words(col.path)
		score := g.score(c, above, own)
		for _, word := range own {
			if c.words[word] && !c.around[word] && !g.neutral[word] {
				score++
			}
		}
		const first = 1000
		if isUnique := distinct(col.values) == len(col.values); score > 0 && isUnique && (concept == "id" || concept == "reference") {
			score += first
		}
		if len(col.values) > 0 && fits(c.kind, col.values) && score > 0 {
			found = append(found, candidate{col.path, score})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.score - a.score })
	for _, f := range found {
		paths = append(paths, f.path)
	}
	return paths
}

// isUnique reports whether each of some documents has a value of its own in a column.
func isUnique(c column, docs int) bool {
	distinct := map[string]bool{}
	for _, v := range c.values {
		distinct[v.Text()] = true
	}
	return len(distinct) == docs && len(c.values) == docs
}

// sameValue reports whether a value is what was sent: numbers are compared by their digits.
func sameValue(got, want string) bool {
	got, want = table.Number(got), table.Number(want)
	return got == want || isPhone.MatchString(got) && isPhone.MatchString(want) && digitsOf(got) == digitsOf(want)
}

func digitsOf(s string) string {
	return strings.TrimLeft(strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s), "0")
}

// examineRecord looks at the members of the rows.
func (d *doctor) examineRecord(ctx context.Context) {
	d.section = "listing"
	if len(d.rows) == 0 {
		return
	}
	list := d.table.SMSList
	d.examine(examination{
		docs: d.rows, section: list.Record, place: []string{"sms.list", "record"}, containers: rowContainers,
		essential: []string{"id", "reference", "created", "deliveryStatus", "to"}, proven: d.proveRecord(ctx),
		byProof: []string{"id", "request", "reference", "from", "to"}, rejects: d.rejectsRecord,
	})
	d.see(d.rows)
	d.section = "times"
	d.examineTimes("created")
	d.examineTimes("sent")
	d.section = "listing"
	d.examineStatusWords()
}

// rejectsRecord says why a path of a row cannot be that of a concept.
func (d *doctor) rejectsRecord(concept, path string, values []document.Node) string {
	const manyRows = 6
	mine := d.mine.At(path).Text()
	want := map[string]string{"from": d.sent.from, "to": d.sent.to, "text": d.sent.text, "reference": d.sent.reference}[concept]
	distinct := map[string]bool{}
	for _, v := range values {
		distinct[v.Text()] = true
	}
	switch concept {
	case "from", "to", "text", "reference":
		if d.mine.Exists() && want != "" && !sameValue(mine, want) {
			return "the message that was sent has another value there"
		}
	case "id":
		if len(values) < len(d.rows) || len(distinct) < len(d.rows) {
			return "is not in every row, or not unique"
		}
	case "parts":
		if d.mine.Exists() && mine != "" && mine != "1" {
			return "the message that was sent has one part"
		}
	case "created", "sent":
		return d.rejectsTime(concept, path, values)
	case "deliveryStatus", "sendStatus":
		if len(d.rows) >= manyRows && len(distinct)*2 > len(d.rows) {
			return "has too many values for a status"
		}
		if isNew := !slices.Contains(d.table.SMSList.Record[concept], path); isNew && !d.saysStatus(path, values) {
			return "has no word that the contract knows as a status"
		}
	}
	return ""
}

func (d *doctor) rejectsTime(concept, path string, values []document.Node) string {
	const tolerance, quarter = 10 * time.Minute, 15 * time.Minute
	at, ok := d.timeAt(d.mine, path)
	if off := at.Sub(d.sent.at); concept == "created" {
		switch {
		case len(values) < len(d.rows):
			return "is not in every row"
		case ok && (off-off.Round(quarter)).Abs() > tolerance:
			return "is not when the message was sent"
		}
		return ""
	}
	created := d.table.SMSList.Record["created"]
	for _, row := range d.rows {
		from, _ := find([]document.Node{row}, created)
		began, known := d.timeAt(row, from)
		if at, ok := d.timeAt(row, path); ok && known && at.Before(began) {
			return "is before the message was created"
		}
	}
	return ""
}

// timeAt returns the time at a path of a row.
func (d *doctor) timeAt(row document.Node, path string) (time.Time, bool) {
	if path == "" || !says(row.At(path)) {
		return time.Time{}, false
	}
	return d.readTime(row.At(path))
}

// proveRecord returns where concepts surely stand in a row: what was sent stands there, or it finds its row, or the values say so.
func (d *doctor) proveRecord(ctx context.Context) map[string]proof {
	proven := map[string]proof{}
	all, _ := columns(d.rows, "")
	g := newGuesser(d.table.SMSList.Record, rowContainers, all)
	if d.mine.Exists() {
		sent := map[string]string{"from": d.sent.from, "to": d.sent.to, "text": d.sent.text, "reference": d.sent.reference}
		for _, concept := range sortedKeys(sent) {
			isIt := func(c column) bool { return sent[concept] != "" && sameValue(d.mine.At(c.path).Text(), sent[concept]) }
			if path := d.choose(g, concept, filter(all, isIt)); path != "" {
				proven[concept] = proof{path, "as it was sent"}
			}
		}
		if path := d.proveCreated(g, all); path != "" {
			proven["created"] = proof{path, "when the message was sent, and before all other times"}
		}
		d.linkIDs(all)
		for concept, l := range d.links {
			proven[concept] = proof{l.row, "the response to the send has the same"}
		}
	}
	d.proveSides(g, all, proven)
	if path := d.proveStatus(g, all); path != "" {
		proven["deliveryStatus"] = proof{path, "its words are those of a delivery status"}
	}
	isSum := func(c column) bool {
		isNone := func(v document.Node) bool { return !isMoney.MatchString(v.Text()) || !strings.Contains(v.Text(), ".") }
		return len(c.values) > 0 && !slices.ContainsFunc(c.values, isNone)
	}
	if sums := filter(all, isSum); len(sums) == 1 {
		proven["price"] = proof{sums[0].path, "no other member is an amount with a currency"}
	}
	for _, concept := range []string{"id", "request"} {
		if _, ok := proven[concept]; !ok {
			d.proveByFilter(ctx, g, concept, all, proven)
		}
	}
	return proven
}

// proveStatus returns the member of which the contract knows every word as that of a delivery status, or "". A number could be anything.
func (d *doctor) proveStatus(g *guesser, all []column) string {
	known := readVocabulary().concepts
	ends := []string{"delivered", "read", "failed", "expired", "rejected"}
	fitting := filter(all, func(c column) bool {
		isForeign := func(v document.Node) bool { return isDigits.MatchString(v.Text()) || d.statusOf(v.Text()) == "" }
		isEnd := func(v document.Node) bool { return slices.Contains(ends, d.statusOf(v.Text())) }
		above, own := g.words(c.path)
		isOfSend := g.score(known["sendStatus"], above, own) > g.score(known["deliveryStatus"], above, own)
		return len(c.values) > 0 && !slices.ContainsFunc(c.values, isForeign) && slices.ContainsFunc(c.values, isEnd) && !isOfSend
	})
	return d.choose(g, "deliveryStatus", fitting)
}

// saysStatus reports whether some values are words of a status that the contract knows, or numbers under a name that says what they are.
func (d *doctor) saysStatus(path string, values []document.Node) bool {
	name := strings.ToLower(path)
	hasName := strings.Contains(name, "dlr") || strings.Contains(name, "deliver") || strings.Contains(name, "status")
	return slices.ContainsFunc(values, func(v document.Node) bool {
		return d.knowsWord(v.Text()) || hasName && isWhole.MatchString(v.Text())
	})
}

// proveCreated returns the member that says when the message was sent, and is in no row later than another time; or "".
func (d *doctor) proveCreated(g *guesser, all []column) string {
	times := filter(all, func(c column) bool {
		return len(c.values) == len(d.rows) && fits("time", c.values) && saysNoNumber(c) && d.rejectsTime("created", c.path, c.values) == ""
	})
	isFirst := func(c column) bool {
		return !slices.ContainsFunc(d.rows, func(row document.Node) bool {
			at, ok := d.timeAt(row, c.path)
			return !ok || slices.ContainsFunc(times, func(other column) bool {
				then, ok := d.timeAt(row, other.path)
				return ok && then.Before(at)
			})
		})
	}
	first := filter(times, isFirst)
	if len(times) < 2 && len(d.rows) < 2 {
		return g.best("created", first)
	}
	return d.choose(g, "created", first)
}

// saysNoNumber reports whether a column has times, and not numbers that could be anything.
func saysNoNumber(c column) bool {
	return !slices.ContainsFunc(c.values, func(v document.Node) bool { return timeForm(v.Text()) == "" || len(v.Text()) < len("1700000000") })
}

func filter(all []column, isIt func(column) bool) []column {
	return slices.DeleteFunc(slices.Clone(all), func(c column) bool { return !isIt(c) })
}

// choose returns which of some columns is a concept, of which any could be: the one that the contract names, the only one, the one whose
// name says it, or "".
func (d *doctor) choose(g *guesser, concept string, among []column) string {
	for _, path := range d.table.SMSList.Record[concept] {
		if slices.ContainsFunc(among, func(c column) bool { return c.path == path }) {
			return path
		}
	}
	switch {
	case len(among) == 0:
		return ""
	case len(among) == 1:
		return among[0].path
	}
	return g.best(concept, among)
}

// link is where a value stands in a response to a send, and in the row of that message.
type link struct{ response, row string }

// linkIDs finds the IDs that a send responded, and that are unique among the rows.
func (d *doctor) linkIDs(all []column) {
	const shortest = 2
	d.links = map[string]link{}
	inResponse, _ := columns([]document.Node{d.sent.response}, "")
	g := newGuesser(map[string][]string{"id": nil, "request": nil, "reference": nil}, "receipt", slices.Concat(all, inResponse))
	saysRequest := func(path string) bool {
		above, own := g.words(path)
		known := readVocabulary().concepts
		return g.score(known["request"], above, own) > g.score(known["id"], above, own)
	}
	found := map[string][]link{}
	for _, c := range all {
		value := d.mine.At(c.path).Text()
		if len(value) < shortest || d.sensitive[value] || !fits("word", c.values) {
			continue
		}
		isID := isUnique(c, len(d.rows)) && fits("id", c.values)
		for _, r := range inResponse {
			isRequest := saysRequest(c.path) || saysRequest(r.path)
			switch {
			case d.sent.response.At(r.path).Text() != value:
			case isRequest:
				found["request"] = append(found["request"], link{r.path, c.path})
			case isID:
				found["id"] = append(found["id"], link{r.path, c.path})
			}
		}
	}
	for concept, links := range found {
		if l, ok := d.bestLink(g, concept, links); ok {
			d.links[concept] = l
		}
	}
}

// bestLink returns the link that the contract has, the only one, or the one whose names say it.
func (d *doctor) bestLink(g *guesser, concept string, links []link) (best link, ok bool) {
	record, response := d.table.SMSList.Record[concept], d.table.SMSSend.Response[concept]
	score := func(l link) (n int) {
		for _, path := range []string{l.response, l.row} {
			above, own := g.words(path)
			n += g.score(readVocabulary().concepts[concept], above, own)
		}
		if slices.Contains(record, l.row) {
			n++
		}
		if slices.Contains(response, l.response) {
			n++
		}
		return n
	}
	slices.SortStableFunc(links, func(a, b link) int { return score(b) - score(a) })
	sameInRows := len(links) > 1 && d.mine.At(links[0].row).Text() == d.mine.At(links[1].row).Text()
	return links[0], len(links) == 1 || sameInRows || score(links[0]) > score(links[1])
}

// proveSides separates senders from recipients without a message that was sent: a recipient is a number, and a sender is a name, or one of
// few, for it is ours.
func (d *doctor) proveSides(g *guesser, all []column, proven map[string]proof) {
	const few, many = 2, 4
	_, hasFrom := proven["from"]
	_, hasTo := proven["to"]
	if hasFrom || hasTo {
		return
	}
	isOther := func(c column) bool { return len(c.values) < len(d.rows) }
	among := func(concept string) column {
		kind := readVocabulary().concepts[concept].kind
		if path, values := find(d.rows, d.table.SMSList.Record[concept]); path != "" {
			return column{path, values}
		}
		path := g.best(concept, filter(all, func(c column) bool { return len(c.values) > 0 && fits(kind, c.values) && !isOther(c) }))
		_, values := find(d.rows, []string{path})
		return column{path, values}
	}
	from, to := among("from"), among("to")
	if from.path == "" || to.path == "" || from.path == to.path || !fits("phone", to.values) {
		return
	}
	isName := func(v document.Node) bool {
		return strings.ContainsFunc(v.Text(), func(r rune) bool { return 'A' <= r && r <= 'z' })
	}
	senders, recipients := distinct(from.values), distinct(to.values)
	switch {
	case slices.ContainsFunc(from.values, isName):
		proven["from"], proven["to"] = proof{from.path, "some are names"}, proof{to.path, "all are numbers, and the other has names"}
	case len(d.rows) >= many && senders <= few && recipients > 2*senders:
		proven["from"], proven["to"] = proof{from.path, "of few values: it is ours"}, proof{to.path, "of many values"}
	}
}

func distinct(values []document.Node) int {
	all := map[string]bool{}
	for _, v := range values {
		all[v.Text()] = true
	}
	return len(all)
}

// proveByFilter proves an ID by the filter that finds its row.
func (d *doctor) proveByFilter(ctx context.Context, g *guesser, concept string, all []column, proven map[string]proof) {
	isTaken := func(path string) bool {
		for _, p := range proven {
			if p.path == path {
				return true
			}
		}
		return false
	}
	var paths []string
	if path, _ := find(d.rows, d.table.SMSList.Record[concept]); path != "" {
		paths = append(paths, path)
	}
	fitting := filter(all, func(c column) bool { return isUnique(c, len(d.rows)) && fits("id", c.values) && !isTaken(c.path) })
	if concept == "request" {
		fitting = filter(all, func(c column) bool { return len(c.values) > 0 && fits("word", c.values) && !isTaken(c.path) })
	}
	if path := g.best(concept, fitting); path != "" && !slices.Contains(paths, path) {
		paths = append(paths, path)
	}
	if concept == "id" && len(paths) == 0 { // what no other concept could be
		const most = 3
		for _, c := range fitting[:min(len(fitting), most)] {
			if above, own := g.words(c.path); !g.isAny(above, own) {
				paths = append(paths, c.path)
			}
		}
	}
	for _, path := range paths {
		_, values := find(d.rows, []string{path})
		if isTaken(path) || concept == "id" && d.rejectsRecord("id", path, values) != "" {
			continue
		}
		if f := d.findFilter(ctx, concept, path); f.works {
			proven[concept] = proof{path, "finds its row"}
			return
		}
	}
}

// examineStatusWords looks at whether the contract knows what the statuses of rows mean.
func (d *doctor) examineStatusWords() {
	_, words := find(d.rows, d.table.SMSList.Record["deliveryStatus"])
	unknown := filterNodes(words, func(v document.Node) bool { return d.statusOf(v.Text()) == "" })
	if len(unknown) > 0 {
		d.add("status words", Differs, fmt.Sprintf("%s in %d of %d rows, which no list of webhook.delivery.statuses has: "+
			"the service's documentation says what they mean", shapes(unknown, false), len(unknown), len(words)))
	} else if len(words) > 0 {
		d.add("status words", OK, strconv.Itoa(distinct(words))+", all known")
	}
}

func filterNodes(all []document.Node, isIt func(document.Node) bool) []document.Node {
	return slices.DeleteFunc(slices.Clone(all), func(n document.Node) bool { return !isIt(n) })
}
