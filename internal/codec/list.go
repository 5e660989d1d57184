package codec

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/google/go-querystring/query"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// What a page may tell beside its rows.
const (
	pageTotal concept = iota
	pagePages
	pageNumber
	pageSize
	pageHasNext
	pageNext
	pageCode
	pageMessage
	pageRequest
	pageConcepts
)

// List writes the queries of a listing and reads its pages. It never changes after CompileList and is safe for concurrent
// use.
type List struct {
	table contract.SMSList
	names map[string]string // concept to name
	taken map[string]bool   // names that Extra must not use
	zone  *time.Location
	base  *url.URL
	pair  KeyPair
	paths paths
	rows  *rows
	codes *Answers // what an error code means
}

// CompileList prepares a listing. Links to a next page must stay on base.
func CompileList(table contract.SMSList, failures contract.Errors, base *url.URL, pair KeyPair) (*List, error) {
	if pair != nil { // the contract's "body" is the query of a GET; elsewhere the pair is not part of the query
		if place, _ := pair(); place != contract.KeyPairInBody && place != contract.KeyPairInQuery {
			pair = nil
		}
	}
	zone, err := time.LoadLocation(table.Zone)
	if err != nil {
		return nil, fmt.Errorf("contract: sms.list.zone: %w", err)
	}
	l := &List{
		table: table, names: namesOf(table.Params), taken: map[string]bool{}, zone: zone, base: base, pair: pair,
		rows: compileRows(table.Record, zone), codes: CompileAnswers(contract.Send{}, failures),
	}
	for name, value := range table.Constants {
		if _, ok := plain(value); !ok {
			return nil, fmt.Errorf("contract: sms.list.constants.%s: must be a string, a number or a boolean in a query", name)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Values(l.names)), slices.Collect(maps.Keys(table.Constants))) {
		l.taken[name] = true
	}
	if pair != nil {
		_, members := pair()
		l.taken[members[0].Name], l.taken[members[1].Name] = true, true
	}
	delete(l.taken, "")
	for c, list := range [pageConcepts][]string{
		pageTotal: table.Page.Total, pagePages: table.Page.Pages, pageNumber: table.Page.Number, pageSize: table.Page.Size,
		pageHasNext: table.Page.HasNext, pageNext: table.Page.Next,
		pageCode: failures.Code, pageMessage: failures.Message, pageRequest: failures.Request,
	} {
		l.paths.want(concept(c), list)
	}
	for i, path := range table.Items {
		if at := l.paths.place(path); at.rows == 0 {
			at.rows = i + 1
		}
	}
	return l, nil
}

// Encode writes the query of one page. Problems say what the contract does not allow.
func (l *List) Encode(q wire.Query) (string, []wire.Problem) {
	own, err := query.Values(q.Filter)
	if err != nil {
		return "", []wire.Problem{{Field: "ListOptions", Reason: "cannot be encoded: " + typeOf(err)}}
	}
	values := url.Values{}
	var problems []wire.Problem
	for _, concept := range slices.Sorted(maps.Keys(own)) {
		value := own.Get(concept)
		switch name := l.names[concept]; {
		case concept == "order" && name == "" && value == ascending:
			// what a service does that cannot be told otherwise
		case name == "":
			problems = append(problems, wire.Problem{Field: fieldOf(q.Filter, concept), Reason: "must be absent: the contract names no parameter for it (sms.list.params." + concept + ")"})
		case concept == "order":
			values.Set(name, l.order(value))
		case concept == "createdAfter" || concept == "createdBefore":
			at, _ := time.Parse(time.RFC3339Nano, value)
			values.Set(name, writeTime(at, l.table.Time, l.zone))
		default:
			values.Set(name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.Extra)) {
		switch {
		case name == "":
			problems = append(problems, wire.Problem{Field: extraField("Extra", name), Reason: "a parameter needs a name"})
		case l.taken[name]:
			problems = append(problems, wire.Problem{Field: extraField("Extra", name), Reason: "the contract uses this name; set the field of the options instead, or change the contract"})
		}
		values[name] = q.Extra[name]
	}
	for name, value := range l.table.Constants {
		word, _ := plain(value)
		values.Set(name, word)
	}
	problems = append(problems, l.place(values, q.At)...)
	if problems != nil {
		return "", problems
	}
	if q.At.Link != "" { // it was parsed when it came
		link, _ := l.base.Parse(q.At.Link)
		values = link.Query()
	}
	if l.pair != nil {
		_, members := l.pair()
		values.Set(members[0].Name, members[0].Value)
		values.Set(members[1].Name, members[1].Value)
	}
	return values.Encode(), nil
}

const ascending = "ascending"

func (l *List) order(value string) string {
	if value == ascending {
		return l.table.Orders.Ascending
	}
	return l.table.Orders.Descending
}

// place writes where the page begins.
func (l *List) place(values url.Values, at wire.Position) []wire.Problem {
	missing := func(concept string) []wire.Problem {
		return []wire.Problem{{Field: "contract", Reason: "pages by " + string(l.table.Paging.By) + ", but names no parameter for it (sms.list.params." + concept + ")"}}
	}
	switch l.table.Paging.By {
	case contract.PagingByPage:
		if l.names["page"] == "" {
			return missing("page")
		}
		values.Set(l.names["page"], strconv.Itoa(l.number(at)))
	case contract.PagingByOffset:
		if l.names["offset"] == "" {
			return missing("offset")
		}
		values.Set(l.names["offset"], strconv.Itoa(at.Rows))
	case contract.PagingByCursor:
		switch {
		case at.Mark == "": // the first page, or a link that says all
		case l.names["cursor"] == "":
			return missing("cursor")
		default:
			values.Set(l.names["cursor"], at.Mark)
		}
	case contract.PagingNone:
	}
	return nil
}

func (l *List) number(at wire.Position) int {
	if at.Set {
		return at.Number
	}
	return l.table.Paging.First
}

// Ahead gives the position of the page after at, where it is known beforehand.
func (l *List) Ahead(at wire.Position) (wire.Position, bool) {
	return wire.Position{Set: true, Number: l.number(at) + 1}, l.table.Paging.By == contract.PagingByPage
}

// Failure is an answer with an error code in place of a page.
type Failure struct{ Code, Message, RequestID string }

// ErrPage says that an answer is JSON, and still no page that can be used. The errors that wrap it say why.
var ErrPage = errors.New("no page")

// pageError is an ErrPage with its reason.
type pageError string

// Error gives the reason.
func (e pageError) Error() string { return string(e) }

// Is matches ErrPage.
func (e pageError) Is(target error) bool { return target == ErrPage }

const (
	// ErrNoRows says that an answer holds no list where the contract looks for one.
	ErrNoRows = pageError("the answer holds no list at any path that the contract knows (sms.list.items)")
	// errElsewhere says that a page links to a next one on another host.
	errElsewhere = pageError("the answer links to a next page that is not at the base URL")
	errQuery     = pageError("the answer links to a next page with a query that cannot be read")
)

// Read reads a page that was asked for at a position. Nothing that it returns refers to body, which may be written over
// afterwards; the records may take the place of those in reuse.
func (l *List) Read(body []byte, at wire.Position, reuse []wire.Record) (wire.Page, Failure, error) {
	page := wire.Page{Records: reuse[:0]}
	var few [32]value
	found := few[:]
	if n := len(l.paths.leaves); n > len(few) {
		found = make([]value, n)
	}
	found = found[:len(l.paths.leaves)]
	reader := newRowReader(l.rows, &page)
	if err := l.paths.walk(&scanner{doc: view(body), rows: reader}, found); err != nil {
		return wire.Page{}, Failure{}, err
	}
	var first [pageConcepts]value
	null := false // whether the place of a next page holds a null, which tells that there is none
	var code errorCodes
	for i, leaf := range l.paths.leaves {
		v := found[i]
		switch {
		case leaf.concept == pageCode:
			code.see(v)
		case first[leaf.concept].kind == absent && v.scalar():
			first[leaf.concept] = v
		case leaf.concept == pageNext && v.kind == nothing:
			null = true
		}
	}
	failure := Failure{
		Code: strings.Clone(code.code), Message: strings.Clone(first[pageMessage].String()), RequestID: strings.Clone(first[pageRequest].String()),
	}
	if code.code != "" && code.doubt == "" {
		return wire.Page{}, failure, nil
	}
	if reader.came == 0 {
		return wire.Page{}, Failure{RequestID: failure.RequestID}, ErrNoRows
	}
	page.Number, _ = wholeNumber(first[pageNumber].String())
	page.Size, _ = wholeNumber(first[pageSize].String())
	page.Total, _ = wholeNumber(first[pageTotal].String())
	page.TotalPages, _ = wholeNumber(first[pagePages].String())
	err := l.end(&page, at, first[pageHasNext], first[pageNext], null)
	return page, Failure{}, err
}

// view reads bytes as a string without a copy: a page is large, and what is kept of it is copied row by row.
func view(body []byte) string {
	return unsafe.String(unsafe.SliceData(body), len(body)) //nolint:gosec // nothing that refers to it leaves Read
}

// end says whether a page is the last, and where the next begins. A short page alone says nothing, and neither does a
// number that cannot be read, or none of pages beside rows.
func (l *List) end(page *wire.Page, at wire.Position, hasNext, next value, null bool) error {
	more, told := truth(hasNext)
	page.Last = len(page.Records) == 0 || told && !more || !told && null && next.kind == absent
	switch l.table.Paging.By {
	case contract.PagingByPage:
		asked := l.number(at)
		page.Next = wire.Position{Set: true, Number: asked + 1}
		pages := asked - l.table.Paging.First + 1 // as counted from the first page on
		if page.Number > 0 && page.Number != asked {
			pages = page.Number // which the service counts in a way of its own
		}
		page.Last = page.Last || page.TotalPages > 0 && pages >= page.TotalPages
	case contract.PagingByOffset:
		page.Next = wire.Position{Rows: at.Rows + len(page.Records)}
		page.Last = page.Last || page.Total > 0 && page.Next.Rows >= page.Total
	case contract.PagingByCursor:
		mark := ""
		if next.kind != boolean {
			mark = strings.Clone(next.String())
		}
		if page.Last = page.Last || mark == ""; page.Last {
			return nil
		}
		var err error
		page.Next, err = l.follow(mark)
		return err
	case contract.PagingNone:
		page.Last = true
	}
	return nil
}

// truth reads a boolean, also one that is written as a word or a number.
func truth(v value) (is, told bool) {
	switch strings.ToLower(v.String()) {
	case "true", "1", "yes":
		return true, true
	case "false", "0", "no":
		return false, true
	default:
		return false, false
	}
}

// follow makes a position of a cursor, which may be a mark or a link. A link must stay where the credentials may go.
func (l *List) follow(mark string) (wire.Position, error) {
	isLink := strings.Contains(mark, "://") || strings.HasPrefix(mark, "?") ||
		strings.HasPrefix(mark, "/") && (strings.Contains(mark, "?") || strings.HasPrefix(mark, l.base.Path+"/"))
	if !isLink {
		return wire.Position{Set: true, Mark: mark}, nil
	}
	link, err := l.base.Parse(mark)
	if err != nil || !sameOrigin(link, l.base) || link.User != nil {
		return wire.Position{}, errElsewhere
	}
	if _, err := url.ParseQuery(link.RawQuery); err != nil {
		return wire.Position{}, errQuery
	}
	return wire.Position{Set: true, Link: link.RequestURI()}, nil
}

// Target is where a page is asked for: the listing's own URL, or the path of a link that the service gave.
func (l *List) Target(at wire.Position) *url.URL {
	target := *l.base
	if link, err := l.base.Parse(at.Link); err == nil && at.Link != "" {
		target.Path, target.RawPath = link.Path, link.RawPath
	}
	return &target
}

// sameOrigin tells whether two URLs lead to the same host and port by the same scheme.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		switch {
		case u.Port() != "":
			return u.Port()
		case u.Scheme == "https":
			return "443"
		default:
			return "80"
		}
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// Class gives the class of an error code.
func (l *List) Class(code string) Class { return l.codes.Class(code) }

// ReadFailure reads an answer that is no page.
func (l *List) ReadFailure(body []byte) (Failure, error) {
	a, err := l.codes.Read(body)
	return Failure{Code: a.Code, Message: a.Message, RequestID: a.ErrorRequestID}, err
}

// fieldOf gives the Go name of a filter by its concept.
func fieldOf(filter any, concept string) string {
	t := reflect.TypeOf(filter).Elem()
	for field := range t.Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("url"), ","); name == concept {
			return field.Name
		}
	}
	return concept
}
