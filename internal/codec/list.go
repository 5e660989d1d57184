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
			l.taken[l.top(name)] = true
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
	members = append(append(append(members, l.always...), position...), extra...)
	target, inLink := *l.url, []member(nil)
	if q.At.Link != "" {
		link, err := l.url.Parse(l.withoutPair(q.At.Link))
		if err != nil {
			return Request{}, []wire.Problem{{Field: "At", Reason: "holds a link that cannot be parsed"}}
		}
		target.Path, target.RawPath = link.Path, link.RawPath
		inLink = parameters(link.Query())
		// The link says all that stands in the query.
		if l.kind == "query" {
			members = nil
		}
	}
	return l.write(&target, members, inLink), nil
}

// Problem returns why no request of a listing can carry the key pair, or "": a pair without a stated place goes into a body, and not into a
// URL, which proxies and servers write into their logs.
func (l *List) Problem() string {
	if l.pair == nil || l.places.In != "body" || l.kind != "query" {
		return ""
	}
	return "says no place for the key pair in a request without a body (auth.keyPair.in); " +
		`write {"auth": {"keyPair": {"in": "header"}}}, or "basic", or "query" if the service accepts it in the URL only`
}

// options returns the parameters of the options that are set, and what is wrong with them.
func (l *List) options(q *wire.Query) (members []member, problems wire.Checks) {
	members = make([]member, 0, len(options)+len(l.always)+len(q.Extra)+3)
	for _, o := range options {
		m, present, reason := l.option(q, o.concept, o.format)
		m.name, m.dotted = l.op.Params[o.concept], true
		switch {
		case !present:
		case m.name != "":
			members = append(members, m)
		case o.format != "order" || q.Params.Get("order") == "descending": // ascending is what a service does that cannot be asked
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
func (l *List) option(q *wire.Query, concept, format string) (m member, present bool, reason string) {
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
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		field := "Extra[" + strconv.Quote(name) + "]"
		switch {
		case name == "":
			problems.Found(field, "a parameter needs a name")
		case l.taken[name] || slices.ContainsFunc(options, func(m member) bool { return l.top(m.name) == name }):
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
	Unreadable                      []Unreadable
	Others                          map[int]bool // the rows that are not of this listing (sms.list.only), by their index
	Number, Size, Total, TotalPages int
	Last                            bool          // no page follows, as far as the response says
	Missing                         string        // why a page without rows does not prove that there are none, or ""
	Next                            wire.Position // of the next page
	Full                            string        // why rows may follow that cannot be asked for, or ""
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
	p, failure, err := l.decode(body, reader, errNoRows)
	if err != nil || failure.Code != "" {
		return Page{}, failure, err
	}
	page.Number, page.Size, page.Total, page.TotalPages = p.number("number"), p.number("size"), p.number("total"), p.number("pages")
	next, more := l.next(&p, &page)
	if len(page.Transactions) == 0 {
		page.Last = page.Last || !more || next == "" || l.op.Paging.By != "cursor" // otherwise a cursor follows
		page.Missing = l.missing(&p, &page, more)
		claimsPages := p.word("total") == "" && (more || page.TotalPages > 1)
		if l.isFirst(at) && page.Last && (page.Total > 0 || claimsPages) {
			return Page{}, Failure{}, errNone
		}
	}
	if l.isFirst(at) && l.op.Paging.By == "page" && page.Number > l.number(at) {
		return Page{}, Failure{}, errOtherPage
	}
	err = l.setNext(&p, &page, at, rows, next, reader.lastCursor)
	return page, Failure{}, err
}

// next returns the cursor of the page after a page, or "", and whether the response says that more rows follow. It marks a page that
// says that none does as the last.
func (l *List) next(p *parsed, page *Page) (next string, more bool) {
	isFlag := func(slot int) bool { return p.found[slot].Kind == jsonscan.Boolean }
	next = first(p.text, p.found, slices.DeleteFunc(slices.Clone(p.slots["next"]), isFlag))
	switch hasNext := p.word("hasNext"); {
	case isTrue(hasNext):
		return next, true
	case isFalse(hasNext):
		page.Last = true
		return next, false
	}
	isNull := func(slot int) bool { return p.found[slot].Kind == jsonscan.Null }
	page.Last = next == "" && slices.ContainsFunc(p.slots["next"], isNull)
	return next, !table.IsPlaceholder(next)
}

func (l *List) isFirst(at wire.Position) bool {
	return at.Rows == 0 && at.Cursor == "" && at.Link == "" && l.number(at) == l.op.Paging.First
}

// missing returns why a page without rows does not prove that there are none, or "".
func (l *List) missing(p *parsed, page *Page, more bool) string {
	isUnclear := func(slot int) bool {
		v := p.found[slot]
		n, ok := wholeNumber(v.Word(p.text))
		return v.Kind > jsonscan.Null && (v.Kind == jsonscan.Boolean || !v.IsScalar() || !ok || n < 0)
	}
	isNoSuccess := func(slot int) bool {
		v, word := p.found[slot], p.found[slot].Word(p.text)
		_, isSuccess := p.meaning(word)
		return slot != root && v.Kind > jsonscan.Null && !isSuccess && table.Match(p.words.accepted, word, true) < 0
	}
	switch {
	case more && page.Last, page.Total > 0, page.TotalPages > 1:
		return string(errNone)
	case slices.ContainsFunc(p.slots["total"], isUnclear), slices.ContainsFunc(p.slots["pages"], isUnclear):
		return "the response lists no rows, and its total is no number (sms.list.page)"
	case slices.ContainsFunc(p.slots["status"], isNoSuccess):
		return "the response lists no rows, and has a status that is no word of the contract (sms.send.accepted, errors.success)"
	default:
		return ""
	}
}

// setNext sets where the page after a page begins, and whether there is one. A short page alone says nothing, and neither does
// a number that cannot be read, or a number of no pages beside rows.
func (l *List) setNext(p *parsed, page *Page, at wire.Position, rows int, next, lastCursor string) (err error) {
	switch l.op.Paging.By {
	case "page":
		requested := l.number(at)
		page.Next = wire.Position{Set: true, Number: requested + 1}
		pages := requested - l.op.Paging.First + 1 // counted from the first page
		if page.Number > 0 && page.Number != requested {
			pages = page.Number // the service counts in a way of its own
		}
		page.Last = page.Last || page.TotalPages > 0 && pages >= page.TotalPages
	case "offset":
		page.Next = wire.Position{Rows: at.Rows + len(page.Transactions)}
		page.Last = page.Last || page.Total > 0 && page.Next.Rows >= page.Total
	case "cursor":
		switch {
		case next == "" && !page.Last && len(l.rows.cursor) > 0 && len(page.Transactions) > 0:
			if page.Next = (wire.Position{Set: true, Cursor: lastCursor}); lastCursor == "" {
				err = errNoCursor
			}
		case next == "" && isTrue(p.word("hasNext")):
			err = errNoNext
		case next == "":
			page.Last = true
		case !page.Last:
			page.Next, err = l.follow(next)
		}
	default:
		page.Last = true
		if most := cmp.Or(min(l.op.Paging.Most, rows), rows, l.op.Paging.Most); most > 0 && len(page.Transactions) >= most {
			page.Full = string(errFull)
		}
	}
	return err
}

// follow returns the position of a cursor, which may be a link. A link must stay where the credentials may go.
func (l *List) follow(cursor string) (wire.Position, error) {
	isLink := strings.Contains(cursor, "://") || strings.HasPrefix(cursor, "?") ||
		strings.HasPrefix(cursor, "/") && (strings.Contains(cursor, "?") || strings.HasPrefix(cursor, l.url.Path+"/"))
	if !isLink {
		return wire.Position{Set: true, Cursor: cursor}, nil
	}
	return l.followLink(cursor)
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
