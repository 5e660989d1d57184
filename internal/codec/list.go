package codec

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// List writes the queries of a listing and reads its pages. It never changes once it is compiled and is safe for concurrent
// use.
type List struct {
	op        *table.List
	base      *url.URL
	zone      *time.Location
	pair      KeyPair           // nil if it is not part of the query
	constants map[string]string // by name
	taken     map[string]bool   // names that Extra cannot have
	paths     paths
	rows      *rows
	failures  paths // of a response without a page
	errs      *table.Errors
}

// CompileList compiles a listing of a valid table at the URL base, which links to a next page must not leave. The pair is nil
// if a request carries none.
func CompileList(op *table.List, errs *table.Errors, base *url.URL, pair KeyPair) *List {
	zone, err := time.LoadLocation(op.Zone)
	if err != nil {
		zone = time.UTC // never, because the table is valid
	}
	l := &List{
		op: op, base: base, zone: zone, constants: map[string]string{}, taken: map[string]bool{},
		paths: compilePaths(withErrors(op.Page, errs, op.Items...), op.Items), rows: compileRows(op.Record, zone),
		failures: compilePaths(withErrors(nil, errs), nil), errs: errs,
	}
	for name, value := range op.Constants {
		l.constants[name], _ = plain(value) // a valid table holds nothing else
		l.taken[name] = true
	}
	for _, name := range op.Params {
		l.taken[name] = true
	}
	if pair != nil {
		if in, members := pair(); in == "body" || in == "query" { // a GET has no body
			l.pair = pair
			l.taken[members[0].Name], l.taken[members[1].Name] = true, true
		}
	}
	return l
}

// Encode returns where a page is requested, with the query, or everything that is wrong with it.
func (l *List) Encode(q wire.Query) (*url.URL, []wire.Problem) {
	values := url.Values{}
	var problems wire.Checks
	for _, f := range q.Params {
		value, reason := l.value(f)
		name := l.op.Params[f.Concept]
		switch {
		case value == "":
		case name != "":
			values.Set(name, value)
			reason = f.Reason
		case f.Concept == "order" && f.Text == "ascending":
			// what a service does that cannot be asked for anything else
		default:
			reason = "must be absent: the contract names no parameter for it (sms.list.params." + f.Concept + ")"
		}
		problems.Found(f.Name, reason)
	}
	problems = append(problems, q.Problems...)
	for _, name := range sortedKeys(q.Extra) {
		field := "Extra[" + strconv.Quote(name) + "]"
		switch {
		case name == "":
			problems.Found(field, "a parameter needs a name")
		case l.taken[name]:
			problems.Found(field, "the contract uses this name; set the field of the options instead, or change the contract")
		default:
			values[name] = q.Extra[name]
		}
	}
	for name, value := range l.constants {
		values.Set(name, value)
	}
	problems.Found("contract", l.setPosition(values, q.At))
	if len(problems) > 0 {
		return nil, problems
	}
	target := *l.base
	if q.At.Link != "" {
		link, err := l.base.Parse(q.At.Link)
		if err != nil {
			return nil, []wire.Problem{{Field: "At", Reason: "holds a link that cannot be parsed"}}
		}
		target.Path, target.RawPath, values = link.Path, link.RawPath, link.Query()
	}
	if l.pair != nil {
		_, members := l.pair()
		values.Set(members[0].Name, members[0].Value)
		values.Set(members[1].Name, members[1].Value)
	}
	target.RawQuery = values.Encode()
	return &target, nil
}

// value returns a parameter as it is written, "" if it is absent, and what is wrong with it.
func (l *List) value(f wire.Field) (value, reason string) {
	switch v := f.Value.(type) {
	case nil:
		if f.Concept == "order" {
			return l.op.Orders[f.Text], ""
		}
		return f.Text, ""
	case int64:
		if v == 0 {
			return "", ""
		}
		return strconv.FormatInt(v, 10), ""
	case time.Time:
		if v.IsZero() {
			return "", ""
		}
		switch f.Concept {
		case "createdAfter":
			return table.FormatAfter(v, l.op.Time, l.zone), ""
		case "createdBefore":
			return table.FormatBefore(v, l.op.Time, l.zone), ""
		default:
			return table.FormatTime(v, l.op.Time, l.zone), ""
		}
	default:
		return "", fmt.Sprintf("cannot be a parameter: %T", v)
	}
}

// setPosition sets where the page begins. It returns why the contract cannot say so, or "".
func (l *List) setPosition(values url.Values, at wire.Position) string {
	value := ""
	switch l.op.Paging.By {
	case "page":
		value = strconv.Itoa(l.number(at))
	case "offset":
		value = strconv.Itoa(at.Rows)
	case "cursor":
		value = at.Cursor // of the first page there is none
	}
	if value == "" {
		return ""
	}
	name := l.op.Params[l.op.Paging.By]
	if name == "" {
		return "pages by " + l.op.Paging.By + ", but names no parameter for it (sms.list.params." + l.op.Paging.By + ")"
	}
	values.Set(name, value)
	return ""
}

func (l *List) number(at wire.Position) int {
	if at.Set {
		return at.Number
	}
	return l.op.Paging.First
}

// After returns the position of the page after at, and whether it is known before the page at was read.
func (l *List) After(at wire.Position) (wire.Position, bool) {
	return wire.Position{Set: true, Number: l.number(at) + 1}, l.op.Paging.By == "page"
}

// ErrPage matches the errors of responses that are JSON, but no page that can be used: to request it again would bring the
// same. The errors say why.
var ErrPage = errors.New("no page")

type pageError string

func (e pageError) Error() string { return string(e) }

// Is matches ErrPage.
func (e pageError) Is(target error) bool { return target == ErrPage }

const (
	errNoRows    = pageError("the response holds no list at any path of the contract (sms.list.items)")
	errElsewhere = pageError("the response links to a next page that is not at the base URL")
	errQuery     = pageError("the response links to a next page with a query that cannot be parsed")
)

// Decode reads the page that was requested at a position with so many rows, 0 if the request did not say. A response with an
// error code is a Failure and no page. Nothing that it returns refers to body; the records take the place of those in reuse.
//
// A page has at most ten times the rows that were requested, and at most 100,000. Reading it allocates at most 128 MiB and 64
// times the size of body, most of which is free again at the end, and takes time in proportion to that size.
func (l *List) Decode(body []byte, at wire.Position, rows int, reuse []wire.Record) (wire.Page, Failure, error) {
	page := wire.Page{Records: reuse[:0]}
	var few [32]value
	found := slices.Grow(few[:0], l.paths.slots)[:l.paths.slots]
	scanner := newScanner(body)
	scanner.rows = newRowReader(l.rows, &page, rows)
	if err := l.paths.find(scanner, found); err != nil {
		return wire.Page{}, Failure{}, err
	}
	doc := scanner.doc
	word := func(concept string) string { return first(&l.paths, doc, found, concept) }
	number := func(concept string) int {
		n, _ := wholeNumber(word(concept))
		return n
	}
	failure, doubt := failure(&l.paths, doc, found, l.errs)
	switch {
	case failure.Class != "" || doubt == unknownCode:
		return wire.Page{}, failure, nil
	case doubt != "":
		return wire.Page{}, failure, pageError(doubt)
	case scanner.rows.place == 0:
		return wire.Page{}, Failure{RequestID: failure.RequestID}, errNoRows
	}
	page.Number, page.Size = number("number"), number("size")
	page.Total, page.TotalPages = number("total"), number("pages")
	_, next := pick(&l.paths, doc, found, "next", func(v value, word string) bool { return v.kind != boolean && word != "" })
	more := !table.IsPlaceholder(next)
	switch strings.ToLower(word("hasNext")) {
	case "true", "1", "yes":
		more = true
	case "false", "0", "no":
		page.Last, more = true, false
	default:
		noNext, _ := pick(&l.paths, doc, found, "next", func(v value, _ string) bool { return v.kind == null })
		page.Last = next == "" && noNext.kind == null
	}
	if len(page.Records) == 0 {
		page.Last, page.Missing = true, more || page.Total > 0
	}
	err := l.setNext(&page, at, next)
	return page, Failure{}, err
}

// setNext sets where the page after a page begins, and whether there is one. A short page alone says nothing, and neither does
// a number that cannot be read, or a number of no pages beside rows.
func (l *List) setNext(page *wire.Page, at wire.Position, next string) (err error) {
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
		page.Next = wire.Position{Rows: at.Rows + len(page.Records)}
		page.Last = page.Last || page.Total > 0 && page.Next.Rows >= page.Total
	case "cursor":
		if page.Last = page.Last || next == ""; !page.Last {
			page.Next, err = l.follow(next)
		}
	default:
		page.Last = true
	}
	return err
}

// follow returns the position of a cursor, which may be a link. A link must stay where the credentials may go.
func (l *List) follow(cursor string) (wire.Position, error) {
	isLink := strings.Contains(cursor, "://") || strings.HasPrefix(cursor, "?") ||
		strings.HasPrefix(cursor, "/") && (strings.Contains(cursor, "?") || strings.HasPrefix(cursor, l.base.Path+"/"))
	if !isLink {
		return wire.Position{Set: true, Cursor: cursor}, nil
	}
	link, err := l.base.Parse(cursor)
	if err != nil || !sameOrigin(link, l.base) || link.User != nil {
		return wire.Position{}, errElsewhere
	}
	if _, err := url.ParseQuery(link.RawQuery); err != nil {
		return wire.Position{}, errQuery
	}
	return wire.Position{Set: true, Link: link.RequestURI()}, nil
}

// sameOrigin reports whether two URLs lead to the same host and port by the same scheme.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if u.Scheme == "https" {
			return cmp.Or(u.Port(), "443")
		}
		return cmp.Or(u.Port(), "80")
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// DecodeFailure reads a response whose status says that it is no page. The error says why it is not JSON.
func (l *List) DecodeFailure(body []byte) (Failure, error) {
	scanner := newScanner(body)
	found := make([]value, l.failures.slots)
	if err := l.failures.find(scanner, found); err != nil {
		return Failure{}, err
	}
	failure, _ := failure(&l.failures, scanner.doc, found, l.errs)
	return failure, nil
}
