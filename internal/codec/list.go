package codec

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
)

// List writes the requests of a listing and reads its pages. It never changes once it is compiled and is safe for concurrent
// use.
type List struct {
	reader

	op       *table.List
	row      *rowFormat
	contract string // op as JSON
}

// CompileList compiles the listing of a valid table at a URL, which links to a next page must not leave. The pair is nil if a request
// carries none.
func CompileList(t *table.Table, target *url.URL, pair KeyPair) *List {
	op := &t.SMSList
	page, lastRow := op.CursorInLastRow()
	byConcept := maps.Clone(page)
	byConcept["status"] = t.SMSSend.Paths()["status"]
	known := compileVocabulary(t, t.SMSSend.Accepted, t.SMSSend.Refused)
	l := &List{reader: newReader(t, &op.Read, target, pair), op: op}
	l.responses = compileResponseFormat(byConcept, op.Items, op.Items, known, &t.Errors)
	l.row = compileRowFormat(t, op, known, lastRow, l.zone)
	contract, _ := wire.Encode(op) // a table is JSON
	l.contract = string(contract)
	for concept, name := range op.Params {
		if !op.GivesWay(concept) {
			l.reserve([]member{{name: name}})
		}
	}
	return l
}

// Encode returns the request of a page, or all its problems.
func (l *List) Encode(q wire.Query) (Request, []wire.Problem) {
	members, problems := l.optionMembers(&q)
	problems = append(problems, q.Problems...)
	extra := l.extraMembers(q.Extra, members, &problems)
	position, reason := l.positionMembers(q.At)
	problems.Add("contract", reason)
	if len(problems) > 0 {
		return Request{}, problems
	}
	if q.At.Link != "" {
		return l.encodeLink(q.At.Link, slices.Concat(members, l.constants, position, extra))
	}
	members = append(members, l.constants...)
	members = append(members, position...)
	members = append(members, extra...)
	return l.write(l.url, members, nil)
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
	if l.encoding == "query" {
		members = nil
	}
	return l.write(&target, members, linkMembers(link.Query()))
}

// linkMembers returns the parameters in the query of a link.
func linkMembers(query url.Values) (members []member) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		for _, value := range query[name] {
			members = append(members, member{name: name, text: value})
		}
	}
	return members
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

// optionMembers returns the parameters of the options that are set, and their problems.
func (l *List) optionMembers(q *wire.Query) (members []member, problems wire.Checks) {
	members = make([]member, 0, len(options)+len(l.constants)+len(q.Extra)+3)
	for _, o := range options {
		m, isPresent, reason := l.optionMember(q, o.concept, o.format)
		m.name = l.op.Params[o.concept]
		m.isPath = true
		isDefault := o.format == "order" && q.Params.Get("order") != "descending" // ascending, also without a parameter
		switch {
		case !isPresent:
		case m.name != "":
			members = append(members, m)
		case !isDefault:
			reason = l.noParameter(o.concept)
		}
		problems.Add(o.field, reason)
	}
	return members, problems
}

// optionMember returns the parameter of an option, whether it is present, and why it is invalid, or "".
func (l *List) optionMember(q *wire.Query, concept, format string) (m member, isPresent bool, reason string) {
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
		}
		if isColumn {
			text = column
		}
	}
	return l.value(&wire.Field{Text: text})
}

// noParameter returns why an option cannot be sent.
func (l *List) noParameter(concept string) string {
	if name := l.op.Displaced(concept); name != "" {
		return "must be absent: the contract uses its default name, " + strconv.Quote(name) + ", for something else, or has no object for it; " +
			"name the parameter there (sms.list.params." + concept + ")"
	}
	return "must be absent: the contract names no parameter for it (sms.list.params." + concept + ")"
}

// extraMembers returns the parameters that a user adds to those of the options, and adds their problems. In JSON, several values of one
// are a list.
func (l *List) extraMembers(extra map[string][]string, options []member, problems *wire.Checks) (members []member) {
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		isSame := func(m member) bool { return l.top(m.name) == name }
		field := "Extra[" + strconv.Quote(name) + "]"
		switch {
		case name == "":
			problems.Add(field, "a parameter needs a name")
		case l.reserved[name], slices.ContainsFunc(options, isSame):
			problems.Add(field, "the contract uses this name; set the field of the options instead, or change the contract")
		case l.isJSON() && len(extra[name]) != 1:
			m, reason := jsonMember(extra[name])
			problems.Add(field, cmp.Or(wire.CheckText(name), reason))
			members = append(members, member{name: name, raw: m.raw})
		default:
			for _, value := range extra[name] {
				if l.isJSON() {
					problems.Add(field, wire.CheckText(name+value))
				}
				members = append(members, member{name: name, text: value})
			}
		}
	}
	return members
}

// positionMembers returns the parameter that says where the page begins, or none for the first page by cursor, or the reason why the contract
// has no such parameter.
func (l *List) positionMembers(at wire.Position) (members []member, reason string) {
	by := l.op.Paging.By
	m := member{name: l.op.Params[by], isPath: true}
	switch by {
	case "page":
		m.raw = strconv.AppendInt(nil, int64(l.pageNumber(at)), 10)
	case "offset":
		m.raw = strconv.AppendInt(nil, int64(at.Rows), 10)
	case "cursor":
		m.text = at.Cursor // "" on the first page
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

// pageNumber returns the number of the page at a position. It means something only if the contract pages by number.
func (l *List) pageNumber(at wire.Position) int {
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
	return l.pageNumber(at), true
}

// Widen moves the bounds of a listing outward as far as the contract requires, so that no row within them is left out. Each becomes
// the earliest, or the latest, time with the same written form.
func (l *List) Widen(q *wire.Query) {
	if at := q.CreatedAfter; !at.IsZero() {
		q.CreatedAfter = table.After(at, l.time, l.zone)
	}
	if at := q.CreatedBefore; !at.IsZero() {
		q.CreatedBefore = table.Before(at, l.time, l.zone)
	}
}
