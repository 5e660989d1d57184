package codec

import (
	"cmp"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/messaging-service/messaging-go/internal/jsonscan"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// List writes the requests of a listing and reads its pages. It never changes once it is compiled and is safe for concurrent
// use.
type List struct {
	reader

	op   *table.List
	rows *rows
}

// CompileList compiles the listing of a valid table at a URL, which links to a next page must not leave. The pair is nil if a request
// carries none.
func CompileList(t *table.Table, target *url.URL, pair KeyPair) *List {
	op := &t.SMSList
	page, lastRow := op.CursorInLastRow()
	l := &List{reader: newReader(t, &op.Read, target, pair, page, nil, op.Items), op: op}
	l.rows = compileRows(t, op, lastRow, l.zone)
	for concept, name := range op.Params {
		if !op.GivesWay(concept) {
			l.reserve([]member{{name: name}})
		}
	}
	return l
}

// options are the options of a listing, in the order in which they are written: by concept, the field of sms.ListOptions and the
// format.
var options = [...]struct{ concept, field, format string }{ //nolint:gochecknoglobals // never written
	{"createdAfter", "CreatedAfter", "time"},
	{"createdBefore", "CreatedBefore", "time"},
	{"id", "ID", "text"},
	{"reference", "ReferenceID", "text"},
	{"request", "RequestID", "text"},
	{"category", "CategoryID", "text"},
	{"from", "From", "text"},
	{"to", "To", "text"},
	{"status", "Status", "text"},
	{"pageSize", "PageSize", "number"},
	{"sortBy", "SortBy", "column"},
	{"order", "Descending", "order"},
}

// Encode returns the request of a page, or everything that is wrong with it.
func (l *List) Encode(q wire.Query) (Request, []wire.Problem) {
	members, problems := l.options(&q)
	problems = append(problems, q.Problems...)
	extra := l.extra(q.Extra, members, &problems)
	position, reason := l.position(q.At)
	problems.Found("contract", reason)
	problems.Found("contract", l.Problem())
	if len(problems) > 0 {
		return Request{}, problems
	}
	if q.At.Link != "" {
		return l.encodeLink(q.At.Link, slices.Concat(members, l.constants, position, extra))
	}
	members = append(members, l.constants...)
	members = append(members, position...)
	members = append(members, extra...)
	return l.write(l.url, members, nil), nil
}

// encodeLink returns the request of a page that a link of the service names. The link has all parameters of a query.
func (l *List) encodeLink(text string, members []member) (Request, []wire.Problem) {
	link, err := l.url.Parse(l.withoutPair(text))
	if err != nil {
		return Request{}, []wire.Problem{{Field: "At", Reason: "holds a link that cannot be parsed"}}
	}
	target := *l.url
	target.Path = link.Path
	target.RawPath = link.RawPath
	if l.kind == "query" {
		members = nil
	}
	return l.write(&target, members, parameters(link.Query())), nil
}

// Problem returns why no request of a listing can carry the key pair, or "": a pair without a stated place goes into a body, and not into a
// URL, which proxies and servers write into their logs.
func (l *List) Problem() string {
	if l.keyPair == nil || l.keyPairAt.In != "body" || l.kind != "query" {
		return ""
	}
	return "says no place for the key pair in a request without a body (auth.keyPair.in); " +
		`write {"auth": {"keyPair": {"in": "header"}}}, or "basic", or "query" if the service accepts it in the URL only`
}

// options returns the parameters of the options that are set, and what is wrong with them.
func (l *List) options(q *wire.Query) (members []member, problems wire.Checks) {
	members = make([]member, 0, len(options)+len(l.constants)+len(q.Extra)+3)
	for _, o := range options {
		m, isPresent, reason := l.option(q, o.concept, o.format)
		m.name = l.op.Params[o.concept]
		m.dotted = true
		isDefault := o.format == "order" && q.Params.Get("order") != "descending" // ascending, also without a parameter
		switch {
		case !isPresent:
		case m.name != "":
			members = append(members, m)
		case !isDefault:
			reason = l.noParameter(o.concept)
		}
		problems.Found(o.field, reason)
	}
	return members, problems
}

// noParameter returns why an option cannot be sent.
func (l *List) noParameter(concept string) string {
	if name := l.op.Displaced(concept); name != "" {
		return "must be absent: the contract uses its default name, " + strconv.Quote(name) + ", for something else, or has no object for it; " +
			"name the parameter there (sms.list.params." + concept + ")"
	}
	return "must be absent: the contract names no parameter for it (sms.list.params." + concept + ")"
}

// option returns what an option sends, whether it is present, and what is wrong with it.
func (l *List) option(q *wire.Query, concept, format string) (m member, isPresent bool, reason string) {
	text := q.Params.Get(concept)
	switch format {
	case "time":
		at := q.CreatedAfter
		if concept == "createdBefore" {
			at = q.CreatedBefore
		}
		return l.value(&wire.Field{Value: at})
	case "number":
		return member{raw: []byte(text)}, text != "", ""
	case "order":
		text = l.op.Orders[text]
	case "column":
		column, isColumn := l.op.Sorts[text]
		if isColumn && column == "" {
			return m, false, "is a column that the service cannot sort by (sms.list.sorts." + text + ` is "")`
		} else if isColumn {
			text = column
		}
	}
	return l.value(&wire.Field{Text: text})
}

// Widen moves the bounds of a listing outward as far as the contract requires, so that no row within them is left out.
func (l *List) Widen(q *wire.Query) {
	if at := q.CreatedAfter; !at.IsZero() {
		q.CreatedAfter = table.After(at, l.time, l.zone)
	}
	if at := q.CreatedBefore; !at.IsZero() {
		q.CreatedBefore = table.Before(at, l.time, l.zone)
	}
}

// extra returns the parameters that a user adds to those of the options, and adds what is wrong with them. In JSON, several values of one
// are a list.
func (l *List) extra(extra map[string][]string, options []member, problems *wire.Checks) (members []member) {
	hasName := func(name string) func(member) bool {
		return func(m member) bool { return l.top(m.name) == name }
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		field := "Extra[" + strconv.Quote(name) + "]"
		switch {
		case name == "":
			problems.Found(field, "a parameter needs a name")
		case l.reserved[name], slices.ContainsFunc(options, hasName(name)):
			problems.Found(field, "the contract uses this name; set the field of the options instead, or change the contract")
		case l.isJSON() && len(extra[name]) != 1:
			m, reason := encoded(extra[name])
			problems.Found(field, reason)
			members = append(members, member{name: name, raw: m.raw})
		default:
			for _, value := range extra[name] {
				if l.isJSON() {
					problems.Found(field, wire.CheckText(name+value))
				}
				members = append(members, member{name: name, text: value})
			}
		}
	}
	return members
}

func parameters(query url.Values) (members []member) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			members = append(members, member{name: name, text: value})
		}
	}
	return members
}

// position returns what says where the page begins, if anything does, or why the contract cannot say so.
func (l *List) position(at wire.Position) (members []member, reason string) {
	by := l.op.Paging.By
	m := member{name: l.op.Params[by], dotted: true}
	switch by {
	case "page":
		m.raw = strconv.AppendInt(nil, int64(l.number(at)), 10)
	case "offset":
		m.raw = strconv.AppendInt(nil, int64(at.Rows), 10)
	case "cursor":
		m.text = at.Cursor // of the first page there is none
	}
	switch {
	case m.raw == nil && m.text == "":
		return nil, ""
	case m.name == "":
		return nil, "pages by " + by + ", but names no parameter for it (sms.list.params." + by + ")"
	default:
		return []member{m}, ""
	}
}

func (l *List) number(at wire.Position) int {
	if at.Set {
		return at.Number
	}
	return l.op.Paging.First
}

// PageNumber returns the number of the page at a position, as the service counts. It reports false if the contract does not page by number.
func (l *List) PageNumber(at wire.Position) (number int, ok bool) {
	if l.op.Paging.By != "page" {
		return 0, false
	}
	return l.number(at), true
}

const (
	errNoRows    = pageError("the response holds no list at any path of the contract (sms.list.items)")
	errElsewhere = pageError("the response links to a next page that is not at the base URL")
	errOtherPath = pageError("the response links to a next page at another path, where a POST could do more than list")
	errQuery     = pageError("the response links to a next page with a query that cannot be parsed")
	errOtherPage = pageError("the response is a later page than the first, which was requested (sms.list.paging, sms.list.page.number)")
	errNone      = pageError("the response says that there are rows, and lists none")
	errNoNext    = pageError("the response says that another page follows, and has no cursor (sms.list.page.next)")
	errFull      = pageError("the page has as many rows as it can hold, and there is no next one to ask for (sms.list.paging)")
	errNoCursor  = pageError("the last row of the page has no cursor where the contract's paging looks for it (sms.list.page.next)")
)

// Page is one page of a listing. Number, Size, Total and TotalPages are 0 if the response does not say.
type Page struct {
	Transactions []sms.Transaction
	// Unreadable lists the rows that could not be read in full. They are in Transactions too, as far as they could be read.
	Unreadable []Unreadable
	Excluded   map[int]bool // the indexes of rows that are not of this listing (sms.list.only)
	Failed     map[int]bool // the indexes of rows that hold an error, and no meaningful delivery status

	Number, Size, Total, TotalPages int

	Last    bool          // no page follows, as far as the response says
	Missing string        // why a page without rows does not prove that there are none, or ""
	Next    wire.Position // of the next page
	Full    string        // why rows may follow that cannot be asked for, or ""
}

// Unreadable is a row that could not be read in full: its index in the page, the field of sms.Transaction ("" for the whole
// row), and why, without the value.
type Unreadable struct {
	Index  int
	Field  string
	Reason string
}

// IsDoubtful reports whether the row proves nothing of a message: what names the message or says what became of it could not be read.
func (u Unreadable) IsDoubtful() bool {
	return slices.Contains([]string{"", "ID", "To", "SendStatus", "DeliveryStatus"}, u.Field)
}

// Decode reads the page that was requested at a position with so many rows, 0 if the request did not say. A response with an
// error code is a Failure and no page. Nothing that it returns refers to body; the transactions take the place of those in reuse.
//
// A page has at most ten times the rows that were requested, and at most 100,000. Reading it allocates at most 128 MiB and 64
// times the size of body, most of which is free again at the end, and takes time in proportion to that size.
func (l *List) Decode(body []byte, at wire.Position, rows int, reuse []sms.Transaction) (Page, Failure, error) {
	page := Page{Transactions: reuse[:0]}
	reader := newRowReader(l.rows, &page, rows)
	d, failure, err := l.decode(body, reader, errNoRows)
	if err != nil || failure.Code != "" {
		return Page{}, failure, err
	}
	page.Number = l.readNumber(&d, "number")
	page.Size = l.readNumber(&d, "size")
	page.Total = l.readNumber(&d, "total")
	page.TotalPages = l.readNumber(&d, "pages")
	cursor := l.readCursor(&d)
	page.Last = cursor.isEnd
	if len(page.Transactions) == 0 {
		if err := l.checkEmpty(&page, &d, at, cursor); err != nil {
			return Page{}, Failure{}, err
		}
	}
	isLater := l.op.Paging.By == "page" && page.Number > l.number(at)
	if l.isFirst(at) && isLater {
		return Page{}, Failure{}, errOtherPage
	}
	switch l.op.Paging.By {
	case "page":
		l.setNextNumber(&page, at)
	case "offset":
		l.setNextOffset(&page, at)
	case "cursor":
		err = l.setNextCursor(&page, &d, cursor, reader.lastCursor)
	default:
		l.endSinglePage(&page, rows)
	}
	return page, Failure{}, err
}

// word returns the first word at the paths of a concept that is not empty, or "".
func (l *List) word(d *document, concept string) string { return d.first(l.responses.slots[concept]) }

// readNumber returns the whole number of a concept, or 0.
func (l *List) readNumber(d *document, concept string) int {
	n, _ := wholeInt(l.word(d, concept))
	return n
}

// cursor is what a response says about the page after it.
type cursor struct {
	next  string // "" if there is none
	more  bool   // the response says that more rows follow
	isEnd bool   // the response says that none follow
}

func (l *List) readCursor(d *document) cursor {
	slots := l.responses.slots["next"]
	isFlag := func(slot int) bool { return d.values[slot].Kind == jsonscan.Boolean }
	next := d.first(slices.DeleteFunc(slices.Clone(slots), isFlag))
	hasNext := l.word(d, "hasNext")
	switch {
	case isTrue(hasNext):
		return cursor{next: next, more: true}
	case isFalse(hasNext):
		return cursor{next: next, isEnd: true}
	}
	isNull := func(slot int) bool { return d.values[slot].Kind == jsonscan.Null }
	isEnd := next == "" && slices.ContainsFunc(slots, isNull)
	return cursor{next: next, more: !table.IsPlaceholder(next), isEnd: isEnd}
}

func (l *List) isFirst(at wire.Position) bool {
	isStart := at.Rows == 0 && at.Cursor == "" && at.Link == ""
	return isStart && l.number(at) == l.op.Paging.First
}

// checkEmpty completes a page without rows. It returns an error for a first page whose response says that there are rows.
func (l *List) checkEmpty(page *Page, d *document, at wire.Position, c cursor) error {
	hasCursor := l.op.Paging.By == "cursor" && c.more && c.next != ""
	page.Last = page.Last || !hasCursor
	page.Missing = l.missing(page, d, c)
	claimsPages := l.word(d, "total") == "" && (c.more || page.TotalPages > 1)
	claimsRows := page.Total > 0 || claimsPages
	if l.isFirst(at) && page.Last && claimsRows {
		return errNone
	}
	return nil
}

// missing returns why a page without rows does not prove that there are none, or "".
func (l *List) missing(page *Page, d *document, c cursor) string {
	slots := l.responses.slots
	isNoNumber := func(slot int) bool { return d.has(slot) && !isCount(d, slot) }
	isNoSuccess := func(slot int) bool { return slot != root && d.has(slot) && !l.isSuccessStatus(d.word(slot)) }
	switch {
	case c.more && page.Last, page.Total > 0, page.TotalPages > 1:
		return string(errNone)
	case slices.ContainsFunc(slots["total"], isNoNumber), slices.ContainsFunc(slots["pages"], isNoNumber):
		return "the response lists no rows, and its total is no number (sms.list.page)"
	case slices.ContainsFunc(slots["status"], isNoSuccess):
		return "the response lists no rows, and has a status that is no word of the contract (sms.send.accepted, errors.success)"
	default:
		return ""
	}
}

// isCount reports whether the value at a slot is a whole number that is not negative.
func isCount(d *document, slot int) bool {
	v := d.values[slot]
	if !v.IsScalar() || v.Kind == jsonscan.Boolean {
		return false
	}
	n, ok := wholeNumber(d.word(slot))
	return ok && n >= 0
}

// isSuccessStatus reports whether the contract knows a word as that of a success.
func (l *List) isSuccessStatus(word string) bool {
	_, isSuccess := l.responses.meaning(word)
	return isSuccess || table.Match(l.responses.vocabulary.accepted, word, true) >= 0
}

// setNextNumber sets the number of the next page. A short page does not end a listing. Unreadable and zero counts are ignored.
func (l *List) setNextNumber(page *Page, at wire.Position) {
	requested := l.number(at)
	page.Next = wire.Position{Set: true, Number: requested + 1}
	pages := requested - l.op.Paging.First + 1 // counted from the first page
	if page.Number > 0 && page.Number != requested {
		pages = page.Number // the service counts in another way
	}
	isLast := page.TotalPages > 0 && pages >= page.TotalPages
	page.Last = page.Last || isLast
}

func (l *List) setNextOffset(page *Page, at wire.Position) {
	page.Next = wire.Position{Rows: at.Rows + len(page.Transactions)}
	isLast := page.Total > 0 && page.Next.Rows >= page.Total
	page.Last = page.Last || isLast
}

// setNextCursor sets the cursor of the next page: that of the response, or that of its last row.
func (l *List) setNextCursor(page *Page, d *document, c cursor, lastRow string) (err error) {
	isInRow := len(l.rows.cursor) > 0 && len(page.Transactions) > 0
	switch {
	case c.next != "" && page.Last:
	case c.next != "":
		page.Next, err = l.follow(c.next)
	case isInRow && !page.Last:
		page.Next = wire.Position{Set: true, Cursor: lastRow}
		if lastRow == "" {
			err = errNoCursor
		}
	case isTrue(l.word(d, "hasNext")):
		err = errNoNext
	default:
		page.Last = true
	}
	return err
}

// endSinglePage ends a listing that has one page. The page is full if it has as many rows as it can hold, or as were requested.
func (l *List) endSinglePage(page *Page, requested int) {
	page.Last = true
	limit := requested
	most := l.op.Paging.Most
	if most > 0 && (requested == 0 || most < requested) {
		limit = most
	}
	if limit > 0 && len(page.Transactions) >= limit {
		page.Full = string(errFull)
	}
}

// follow returns the position of a cursor, which may be a link. A link must stay where the credentials may go.
func (l *List) follow(cursor string) (wire.Position, error) {
	isURL := strings.Contains(cursor, "://") || strings.HasPrefix(cursor, "?")
	leadsOn := strings.Contains(cursor, "?") || strings.HasPrefix(cursor, l.url.Path+"/")
	isPath := strings.HasPrefix(cursor, "/") && leadsOn
	if isURL || isPath {
		return l.followLink(cursor)
	}
	return wire.Position{Set: true, Cursor: cursor}, nil
}

func (l *List) followLink(text string) (wire.Position, error) {
	link, err := l.url.Parse(text)
	if err != nil || !sameOrigin(link, l.url) || link.User != nil {
		return wire.Position{}, errElsewhere
	}
	if !l.isBelowBase(link) {
		return wire.Position{}, errElsewhere
	}
	if l.method == "POST" && link.EscapedPath() != l.url.EscapedPath() {
		return wire.Position{}, errOtherPath
	}
	if _, err := url.ParseQuery(link.RawQuery); err != nil {
		return wire.Position{}, errQuery
	}
	return wire.Position{Set: true, Link: link.RequestURI()}, nil
}

// isBelowBase reports whether a link stays below the path of the base URL, at which another service may be, however a server or a proxy
// reads the path.
func (l *List) isBelowBase(link *url.URL) bool {
	operation, _ := url.PathUnescape(l.op.Path)
	base := cleanPath(strings.TrimSuffix(l.url.Path, operation))
	return strings.HasPrefix(cleanPath(link.Path), strings.TrimSuffix(base, "/")+"/")
}

// cleanPath returns a path as the most generous server reads it: decoded, also twice, without parameters of its segments, with
// backslashes as slashes, and without dot segments.
func cleanPath(text string) string {
	for {
		decoded, err := url.PathUnescape(text)
		if err != nil || decoded == text {
			break
		}
		text = decoded
	}
	segments := strings.Split(strings.ReplaceAll(text, `\`, "/"), "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	return path.Clean("/" + strings.Join(segments, "/"))
}

func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if u.Scheme == "https" {
			return cmp.Or(u.Port(), "443")
		}
		return cmp.Or(u.Port(), "80")
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}
