package codec_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // zones, even if the machine knows none

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/internal/codec"
	"github.com/messaging-service/messaging-go/internal/describe"
	"github.com/messaging-service/messaging-go/internal/table"
	"github.com/messaging-service/messaging-go/internal/wire"
	"github.com/messaging-service/messaging-go/sms"
)

// filter is what a listing may ask for.
type filter struct {
	CreatedAfter, CreatedBefore                              time.Time `json:",omitzero"`
	ID, ReferenceID, RequestID, CategoryID, From, To, Status string    `json:",omitzero"`
	PageSize                                                 int       `json:",omitzero"`
	SortBy, Descending                                       string    `json:",omitzero"`
}

func (f filter) query(extra url.Values, at wire.Position) wire.Query {
	q := describe.SMSList(sms.ListOptions{
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore, ID: f.ID, ReferenceID: f.ReferenceID, RequestID: f.RequestID,
		CategoryID: f.CategoryID, From: f.From, To: f.To, Status: f.Status, PageSize: f.PageSize, SortBy: f.SortBy,
	})
	q.Params.Set("order", f.Descending)
	q.Extra, q.At, q.Problems = extra, at, nil
	return q
}

// queryOf returns the query of a page at the base URL.
func queryOf(t testing.TB, l *codec.List, q wire.Query) (string, []wire.Problem) {
	t.Helper()
	request, problems := l.Encode(q)
	target := request.URL
	if target == nil {
		require.NotEmpty(t, problems)
		return "", problems
	}
	assert.Equal(t, base, strings.TrimSuffix(target.String(), "?"+target.RawQuery))
	return target.RawQuery, problems
}

// words returns the values of a filter by the concepts of the contract, with times as at writes them.
func (f filter) words(at func(time.Time) string, orders map[string]string) map[string]string {
	words := map[string]string{
		"id": f.ID, "reference": f.ReferenceID, "request": f.RequestID, "category": f.CategoryID, "from": f.From, "to": f.To,
		"status": f.Status, "sortBy": f.SortBy,
	}
	if !f.CreatedAfter.IsZero() {
		words["createdAfter"] = at(f.CreatedAfter)
	}
	if !f.CreatedBefore.IsZero() {
		words["createdBefore"] = at(f.CreatedBefore)
	}
	if f.PageSize != 0 {
		words["pageSize"] = strconv.Itoa(f.PageSize)
	}
	switch f.Descending {
	case "ascending":
		words["order"] = orders["ascending"]
	case "descending":
		words["order"] = orders["descending"]
	}
	maps.DeleteFunc(words, func(_, word string) bool { return word == "" })
	return words
}

// filterFields holds the Go fields of the options by concept.
var filterFields = map[string]string{
	"createdAfter": "CreatedAfter", "createdBefore": "CreatedBefore", "id": "ID", "reference": "ReferenceID", "request": "RequestID",
	"category": "CategoryID", "from": "From", "to": "To", "status": "Status", "pageSize": "PageSize", "sortBy": "SortBy", "order": "Descending",
}

var (
	createdAfter  = time.Date(2026, 10, 1, 4, 34, 56, 789_123_456, time.FixedZone("", 8*60*60)) // 20:34:56 of the day before in UTC
	createdBefore = time.Date(2026, 10, 31, 23, 59, 59, 0, time.UTC)
)

// allFilters asks for all but a status, which has no parameter by default.
func allFilters() filter {
	return filter{
		CreatedAfter: createdAfter, CreatedBefore: createdBefore, ID: "t-1", ReferenceID: "order-17", RequestID: "r-1", CategoryID: "c-1",
		From: "ACME", To: "+639171234567", PageSize: 500, SortBy: "dateCreated", Descending: "descending",
	}
}

func between() filter { return filter{CreatedAfter: createdAfter, CreatedBefore: createdBefore} }

const base = "https://api.example.com/api/sms"

func compileList(t testing.TB, overlay string, pair bool) *codec.List {
	t.Helper()
	c := parse(t, overlay)
	target, err := url.Parse(base)
	require.NoError(t, err)
	var keyPair codec.KeyPair
	if pair {
		keyPair = pairOf(key, secret)
	}
	return codec.CompileList(c, target, keyPair)
}

// Each query has a golden file of its name, with the overlay, what is asked for, and what comes of it.
var queries = map[string]struct {
	overlay  string
	pair     bool
	filter   filter
	extra    url.Values
	at       wire.Position
	problems []string // the fields of the problems; none: there is a query
}{
	"default-empty":      {},
	"default-complete":   {filter: allFilters()},
	"default-later":      {filter: allFilters(), at: wire.Position{Set: true, Number: 7}},
	"default-ascending":  {filter: filter{SortBy: "dateCreated", Descending: "ascending"}},
	"default-descending": {filter: filter{Descending: "descending"}},
	"default-reserved":   {filter: filter{ReferenceID: "a&b=c+d%e f;g#h?i/j\"k<l>%20", From: "A C+M&E", SortBy: "空 \u2028"}},
	"default-milliseconds": {filter: filter{
		CreatedAfter:  time.Date(2026, 1, 2, 3, 4, 5, 999_999_999, time.UTC),
		CreatedBefore: time.Date(2026, 1, 2, 3, 4, 6, 1_000_000, time.FixedZone("", -3*60*60-30*60)),
	}},

	"renamed-brackets": {
		overlay: `{"sms.list": {"params": {"createdAfter": "where[created][gt]", "id": "ids[]", "page": "page[number]", "pageSize": "page[size]", "order": "sort[][dir]"}}}`,
		filter:  allFilters(),
	},
	"renamed-dots":     {overlay: `{"sms.list": {"params": {"createdAfter": "created.gt", "createdBefore": "created.lt", "id": "id", "page": "page.number", "from": "id.from"}}}`, filter: allFilters()},
	"renamed-reserved": {overlay: `{"sms.list": {"params": {"id": "a&b=c +%", "reference": "空", "page": "<p>"}}}`, filter: allFilters()},
	"names-swapped":    {overlay: `{"sms.list": {"params": {"from": "filter[to]", "to": "filter[from]"}}}`, filter: allFilters()},
	"status-named":     {overlay: `{"sms.list": {"params": {"status": "filter[status]"}}}`, filter: filter{Status: "delivered"}},
	"unused-absent":    {overlay: `{"sms.list": {"params": {"createdAfter": "", "createdBefore": "", "id": "", "reference": "", "request": "", "category": "", "from": "", "to": "", "pageSize": "", "sortBy": "", "order": ""}}}`},

	"time-rfc3339ms":         {overlay: `{"sms.list": {"time": "rfc3339ms", "zone": "Asia/Manila"}}`, filter: between()},
	"time-rfc3339":           {overlay: `{"sms.list": {"time": "rfc3339", "zone": "Asia/Manila"}}`, filter: between()},
	"time-unix":              {overlay: `{"sms.list": {"time": "unix", "zone": "Asia/Manila"}}`, filter: between()},
	"time-unixms":            {overlay: `{"sms.list": {"time": "unixms", "zone": "Asia/Manila"}}`, filter: between()},
	"time-datetime":          {overlay: `{"sms.list": {"time": "datetime"}}`, filter: between()},
	"time-datetime-manila":   {overlay: `{"sms.list": {"time": "datetime", "zone": "Asia/Manila"}}`, filter: between()},
	"time-datetime-new-york": {overlay: `{"sms.list": {"time": "datetime", "zone": "America/New_York"}}`, filter: filter{CreatedAfter: createdAfter, CreatedBefore: createdBefore.AddDate(0, 1, 0)}},
	"time-date":              {overlay: `{"sms.list": {"time": "date", "zone": ""}}`, filter: between()},
	"time-date-manila":       {overlay: `{"sms.list": {"time": "date", "zone": "Asia/Manila"}}`, filter: between()},
	"time-before-1970":       {overlay: `{"sms.list": {"time": "unix"}}`, filter: filter{CreatedAfter: time.Date(1969, 12, 31, 23, 59, 58, 0, time.UTC)}},

	"orders-ascending":               {overlay: `{"sms.list": {"orders": {"ascending": "1", "descending": "-1"}}}`, filter: filter{Descending: "ascending"}},
	"orders-descending":              {overlay: `{"sms.list": {"orders": {"ascending": "1", "descending": "-1"}}}`, filter: filter{Descending: "descending"}},
	"sorted-by-a-concept":            {filter: filter{SortBy: sms.ByDeliveryStatus, Descending: "ascending"}},
	"sorted-by-a-concept-of-its-own": {overlay: `{"sms.list": {"sorts": {"created": "date"}}}`, filter: filter{SortBy: sms.ByCreated, Descending: "ascending"}},
	"sorted-by-what-it-cannot":       {overlay: `{"sms.list": {"sorts": {"price": ""}}}`, filter: filter{SortBy: sms.ByPrice}, problems: []string{"SortBy"}},
	"ascending-without-a-parameter":  {overlay: `{"sms.list": {"params": {"order": ""}}}`, filter: filter{SortBy: "dateCreated", Descending: "ascending"}},
	"descending-without-a-parameter": {overlay: `{"sms.list": {"params": {"order": ""}}}`, filter: filter{SortBy: "dateCreated", Descending: "descending"}, problems: []string{"Descending"}},

	"constants":          {overlay: `{"sms.list": {"constants": {"app": "billing & co", "v": 1.50, "big": 12345678901234567890, "on": true, "off": false, "a.b[c]": ""}}}`, filter: filter{ID: "t-1"}},
	"constants-old-name": {overlay: `{"sms.list": {"params": {"from": "sender"}, "constants": {"filter[from]": "fixed"}}}`, filter: allFilters()},

	"extra":              {extra: url.Values{"expand": {"price", "text", "price"}, "a b&": {"ü & +"}, "empty": {""}, "none": {}}},
	"extra-beside":       {overlay: `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"constants": {"app": "x"}}}`, pair: true, filter: allFilters(), extra: url.Values{"expand": {"price"}}},
	"extra-default-name": {overlay: `{"sms.list": {"params": {"from": "sender"}}}`, extra: url.Values{"filter[from]": {"the default name is free"}}},
	"extra-taken":        {filter: filter{From: "ACME"}, extra: url.Values{"filter[from]": {"x"}, "filter[to]": {"x"}, "pageNumber": {"2"}, "expand": {"x"}}, problems: []string{`Extra["filter[from]"]`, `Extra["pageNumber"]`}},
	"extra-no-name":      {extra: url.Values{"": {"x"}}, problems: []string{`Extra[""]`}},

	"pair-in-body":           {pair: true, problems: []string{"contract"}},
	"pair-in-query":          {overlay: `{"auth": {"keyPair": {"in": "query"}}}`, pair: true, filter: filter{ID: "t-1"}},
	"pair-in-query-renamed":  {overlay: `{"auth": {"keyPair": {"in": "query", "key": "auth.key", "secret": "auth[secret]"}}}`, pair: true},
	"pair-in-header":         {overlay: `{"auth": {"keyPair": {"in": "header", "key": "X-Key", "secret": "X-Secret"}}}`, pair: true, filter: filter{ID: "t-1"}},
	"pair-in-basic":          {overlay: `{"auth": {"keyPair": {"in": "basic"}}}`, pair: true, filter: filter{ID: "t-1"}},
	"pair-beside-extra-name": {overlay: `{"auth": {"keyPair": {"in": "basic"}}}`, pair: true, extra: url.Values{"apiKey": {"the name is free"}}},

	"page-from-0":         {overlay: `{"sms.list": {"paging": {"first": 0}}}`},
	"page-from-0-later":   {overlay: `{"sms.list": {"paging": {"first": 0}}}`, at: wire.Position{Set: true, Number: 3}},
	"page-0-of-1":         {at: wire.Position{Set: true}},
	"page-unnamed":        {overlay: `{"sms.list": {"params": {"page": ""}}}`, problems: []string{"contract"}},
	"offset":              {overlay: byOffset, filter: filter{PageSize: 50}},
	"offset-later":        {overlay: byOffset, filter: filter{PageSize: 50}, at: wire.Position{Rows: 150}},
	"offset-unnamed":      {overlay: `{"sms.list": {"paging": {"by": "offset"}}}`, problems: []string{"contract"}},
	"cursor":              {overlay: byCursor, filter: filter{ID: "t-1"}},
	"cursor-mark":         {overlay: byCursor, filter: filter{ID: "t-1"}, at: wire.Position{Set: true, Cursor: "a+b/c== &"}},
	"cursor-link":         {overlay: byCursor, filter: filter{ID: "t-1"}, at: wire.Position{Set: true, Link: "/api/sms?after=x%2By&ID=t-1&ID=t-2"}},
	"cursor-link-pair":    {overlay: `{"auth": {"keyPair": {"in": "query"}},` + byCursor[1:], pair: true, at: wire.Position{Set: true, Link: "/api/sms?after=x&apiKey=old&apiSecret=old&apiSecret=older"}},
	"cursor-link-alone":   {overlay: `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "constants": {"app": "x"}}}`, filter: allFilters(), extra: url.Values{"expand": {"x"}}, at: wire.Position{Set: true, Link: "/api/sms?p=2"}},
	"cursor-unnamed":      {overlay: `{"sms.list": {"paging": {"by": "cursor"}}}`, at: wire.Position{Set: true, Cursor: "x"}, problems: []string{"contract"}},
	"none":                {overlay: `{"sms.list": {"paging": {"by": "none", "whole": true}}}`, filter: filter{ID: "t-1"}},
	"none-without-a-name": {overlay: `{"sms.list": {"paging": {"by": "none", "whole": true}, "params": {"page": ""}}}`, filter: filter{ID: "t-1"}},

	"every-problem": {
		overlay: `{"sms.list": {"params": {"createdAfter": "", "createdBefore": "", "id": "", "reference": "", "request": "", "category": "", "from": "", "to": "", "pageSize": "", "sortBy": "", "order": "", "page": ""}}}`,
		filter:  func() filter { f := allFilters(); f.Status = "sent"; return f }(), extra: url.Values{"": {"x"}},
		problems: []string{"CreatedAfter", "CreatedBefore", "ID", "ReferenceID", "RequestID", "CategoryID", "From", "To", "Status", "PageSize", "SortBy", "Descending", `Extra[""]`, "contract"},
	},
}

const (
	claimed  = "the response says that there are rows, and lists none"
	gap      = "the page has no rows, and the response says that more follow"
	inPart   = "the response holds a sign of a failure, or that it is incomplete"
	byOffset = `{"sms.list": {"paging": {"by": "offset"}, "params": {"offset": "start", "page": ""}}}`
	byCursor = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}}}`
)

func TestListEncode(t *testing.T) {
	for name, tt := range queries {
		t.Run(name, func(t *testing.T) {
			l := compileList(t, tt.overlay, tt.pair)
			raw, problems := queryOf(t, l, tt.filter.query(tt.extra, tt.at))
			assert.Equal(t, tt.problems, fieldsOf(problems))
			if tt.problems != nil {
				assert.Empty(t, raw, "a query that must not be sent")
			} else {
				checkQuery(t, tt.overlay, tt.pair, tt.filter, tt.extra, tt.at, raw)
			}

			asJSON, err := json.Marshal(tt.filter)
			require.NoError(t, err)
			g := sections{}
			g.section("contract", tt.overlay)
			g.section("filter", string(asJSON))
			if tt.extra != nil {
				g.section("extra", decodedQuery(tt.extra))
			}
			g.section("position", position(tt.at))
			if problems == nil {
				g.section("query", raw)
				g.section("decoded", decodedQuery(parseForm(t, raw)))
			} else {
				var lines []string
				for _, p := range problems {
					lines = append(lines, p.Field+": "+p.Reason)
				}
				g.section("problems", strings.Join(lines, "\n"))
			}
			checkGolden(t, "queries", name, g.String())
		})
	}
}

// checkQuery computes what a query must hold from the contract alone, so that a golden file cannot hold a mistake that nobody
// saw.
func checkQuery(t *testing.T, overlay string, pair bool, f filter, extra url.Values, at wire.Position, raw string) {
	t.Helper()
	c := parse(t, overlay)
	op := &c.SMSList
	want := url.Values{}
	if at.Link != "" {
		_, query, _ := strings.Cut(at.Link, "?")
		want = parseForm(t, query)
	} else {
		names := op.Params
		for concept, word := range f.words(func(at time.Time) string { return formatted(t, at, op) }, op.Orders) {
			if column, ok := op.Sorts[word]; ok && concept == "sortBy" {
				word = column
			}
			if names[concept] != "" {
				want.Set(names[concept], word)
			}
		}
		for name, value := range op.Constants {
			want.Set(name, fmt.Sprint(value))
		}
		for name, values := range extra {
			if len(values) > 0 {
				want[name] = values
			}
		}
		switch op.Paging.By {
		case "page":
			number := at.Number
			if !at.Set {
				number = op.Paging.First
			}
			want.Set(op.Params["page"], strconv.Itoa(number))
		case "offset":
			want.Set(op.Params["offset"], strconv.Itoa(at.Rows))
		case "cursor":
			if at.Cursor != "" {
				want.Set(op.Params["cursor"], at.Cursor)
			}
		case "none":
		}
	}
	if in := c.Auth.KeyPair.In; pair && (in == "body" || in == "query") {
		want.Set(c.Auth.KeyPair.Key, key)
		want.Set(c.Auth.KeyPair.Secret, secret)
	}
	assert.Equal(t, want, parseForm(t, raw))
}

// formatted is a time in the form of the contract, made of its parts.
func formatted(t *testing.T, at time.Time, op *table.List) string {
	t.Helper()
	zone, err := time.LoadLocation(op.Zone)
	require.NoError(t, err)
	if op.Time != "datetime" && op.Time != "date" {
		zone = time.UTC
	}
	local := at.In(zone)
	date := fmt.Sprintf("%04d-%02d-%02d", local.Year(), local.Month(), local.Day())
	clock := fmt.Sprintf("%02d:%02d:%02d", local.Hour(), local.Minute(), local.Second())
	switch op.Time {
	case "rfc3339ms":
		return fmt.Sprintf("%sT%s.%03dZ", date, clock, local.Nanosecond()/1_000_000)
	case "rfc3339":
		return date + "T" + clock + "Z"
	case "unix":
		return strconv.FormatInt(at.Unix(), 10)
	case "unixms":
		return strconv.FormatInt(at.UnixMilli(), 10)
	case "datetime":
		return date + " " + clock
	case "date":
		return date
	default:
		require.Fail(t, "a form of time that this test does not know", op.Time)
		return ""
	}
}

// sections is a golden file under construction, without empty sections.
type sections struct{ strings.Builder }

func (r *sections) section(name, value string) {
	if value == "" {
		return
	}
	if r.Len() > 0 {
		r.WriteString("\n")
	}
	r.WriteString(name + ":\n" + value + "\n")
}

func orNone(value, none string) string {
	if value == "" {
		return none
	}
	return value
}

func decodedQuery(values url.Values) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, fmt.Sprintf("%s = %+q", name, values[name]))
	}
	return strings.Join(lines, "\n")
}

func position(at wire.Position) string {
	var parts []string
	if at.Set {
		parts = append(parts, "set", "number "+strconv.Itoa(at.Number))
	}
	if at.Rows != 0 {
		parts = append(parts, "rows "+strconv.Itoa(at.Rows))
	}
	if at.Cursor != "" {
		parts = append(parts, fmt.Sprintf("mark %+q", at.Cursor))
	}
	if at.Link != "" {
		parts = append(parts, fmt.Sprintf("link %+q", at.Link))
	}
	return strings.Join(parts, ", ")
}

func TestListEncodeRefusesParameterThatTheServiceLacks(t *testing.T) {
	full := allFilters()
	full.Status = "v4lue"
	for concept, field := range filterFields {
		overlay := `{"sms.list": {"params": {"status": "status"}}}`
		if concept != "status" {
			overlay = `{"sms.list": {"params": {"status": "status", "` + concept + `": ""}}}`
		} else {
			overlay = strings.Replace(overlay, `"status": "status"`, `"status": ""`, 1)
		}
		t.Run(field, func(t *testing.T) {
			l := compileList(t, overlay, false)
			raw, problems := queryOf(t, l, full.query(nil, wire.Position{}))
			assert.Empty(t, raw)
			require.Len(t, problems, 1)
			assert.Equal(t, field, problems[0].Field)
			assert.Contains(t, problems[0].Reason, "sms.list.params."+concept)
			word := full.words(func(at time.Time) string { return at.String() }, map[string]string{"ascending": "asc", "descending": "desc"})[concept]
			assert.NotContains(t, strings.ReplaceAll(problems[0].Reason, "sms.list.params."+concept, ""), word, "the value")

			_, problems = queryOf(t, l, filter{}.query(nil, wire.Position{}))
			assert.Empty(t, problems, "it is not used")
		})
	}
}

// A key in a URL is in the logs of every proxy.
func TestListEncodeRefusesKeyPairWithoutAPlace(t *testing.T) {
	t.Parallel()
	for overlay, isRefused := range map[string]bool{
		`{}`: true, `{"auth": {"keyPair": {"in": "body"}}}`: true,
		`{"auth": {"keyPair": {"in": "query"}}}`: false, `{"auth": {"keyPair": {"in": "header"}}}`: false, `{"auth": {"keyPair": {"in": "basic"}}}`: false,
		`{"sms.list": {"method": "POST", "encoding": "json"}}`: false,
	} {
		l := compileList(t, overlay, true)
		_, problems := l.Encode(wire.Query{})
		assert.Equal(t, isRefused, len(problems) > 0, "%s: %v", overlay, problems)
		assert.Equal(t, isRefused, l.Problem() != "", overlay)
		_, problems = compileList(t, overlay, false).Encode(wire.Query{})
		assert.Empty(t, problems, "no pair")
	}
}

func TestListEncodeRefusesPagingWithoutParameter(t *testing.T) {
	for overlay, place := range map[string]string{
		`{"sms.list": {"params": {"page": ""}}}`:     "sms.list.params.page",
		`{"sms.list": {"paging": {"by": "offset"}}}`: "sms.list.params.offset",
		`{"sms.list": {"paging": {"by": "cursor"}}}`: "sms.list.params.cursor",
	} {
		for _, at := range []wire.Position{{}, {Rows: 5}, {Set: true, Cursor: "x"}} {
			if strings.Contains(overlay, "cursor") && at.Cursor == "" {
				continue // the first page needs no cursor, and one by a link never does
			}
			raw, problems := queryOf(t, compileList(t, overlay, false), filter{}.query(nil, at))
			assert.Empty(t, raw)
			require.Len(t, problems, 1, overlay)
			assert.Contains(t, problems[0].Reason, place)
		}
	}
}

func TestListEncodeRefusesExtraWithNameOfContract(t *testing.T) {
	for name, tt := range map[string]struct {
		overlay     string
		pair        bool
		taken, free []string
	}{
		"default names": {
			taken: []string{"pageNumber"},
			free: []string{
				"filter", "from", "filter[From]", "apiKey", "apiSecret", "status",
				"filter[dateCreatedGt]", "filter[dateCreatedLt]", "filter[transactionId]", "filter[referenceId]", "filter[requestId]",
				"filter[categoryId]", "filter[from]", "filter[to]", "pageSize", "sort[column]", "sort[direction]",
			},
		},
		"renamed":         {overlay: `{"sms.list": {"params": {"from": "sender", "status": "status"}}}`, taken: []string{"sender", "status"}, free: []string{"filter[from]"}},
		"constant":        {overlay: `{"sms.list": {"constants": {"app": 1}}}`, taken: []string{"app"}},
		"offset":          {overlay: byOffset, taken: []string{"start"}, free: []string{"pageNumber"}},
		"cursor":          {overlay: byCursor, taken: []string{"after"}},
		"key pair":        {overlay: `{"auth": {"keyPair": {"in": "query"}}}`, pair: true, taken: []string{"apiKey", "apiSecret"}, free: []string{"apikey"}},
		"pair in query":   {overlay: `{"auth": {"keyPair": {"in": "query", "key": "user"}}}`, pair: true, taken: []string{"user", "apiSecret"}, free: []string{"apiKey"}},
		"pair in headers": {overlay: `{"auth": {"keyPair": {"in": "header", "key": "X-Key"}}}`, pair: true, free: []string{"X-Key", "apiSecret"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := compileList(t, tt.overlay, tt.pair)
			for _, extra := range tt.taken {
				raw, problems := queryOf(t, l, filter{}.query(url.Values{extra: {"v4lue"}, "other": {"1"}}, wire.Position{}))
				assert.Empty(t, raw)
				require.Equal(t, []string{`Extra["` + extra + `"]`}, fieldsOf(problems))
				assert.Contains(t, problems[0].Reason, "contract")
				assert.NotContains(t, problems[0].Reason, "v4lue")
			}
			for _, extra := range tt.free {
				raw, problems := queryOf(t, l, filter{}.query(url.Values{extra: {"a", "b"}}, wire.Position{}))
				require.Empty(t, problems, extra)
				assert.Equal(t, []string{"a", "b"}, parseForm(t, raw)[extra])
			}
		})
	}
}

func TestListEncodeChangesNothing(t *testing.T) {
	l := compileList(t, `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"constants": {"app": "x"}}}`, true)
	f, extra := allFilters(), url.Values{"expand": {"a", "b"}}
	raw, problems := queryOf(t, l, f.query(extra, wire.Position{}))
	require.Empty(t, problems)
	assert.Equal(t, allFilters(), f)
	assert.Equal(t, url.Values{"expand": {"a", "b"}}, extra)
	again, problems := queryOf(t, l, f.query(extra, wire.Position{}))
	require.Empty(t, problems)
	assert.Equal(t, raw, again)
}

func TestListEncodeReportsEveryProblem(t *testing.T) {
	t.Parallel()
	l := compileList(t, `{"sms.list": {"params": {"from": ""}}}`, false)
	q := filter{ID: "\xff", From: "x"}.query(url.Values{"": {"x"}}, wire.Position{})
	q.Problems = []wire.Problem{{Field: "Page", Reason: "must not be negative"}}
	request, problems := l.Encode(q)
	assert.Zero(t, request)
	assert.Equal(t, []string{"ID", "From", "Page", `Extra[""]`}, fieldsOf(problems))
}

// JSON cannot hold an invalid name, whether one value of the parameter is sent or a list.
func TestListEncodeRefusesExtraNameThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	l := compileList(t, `{"sms.list": {"method": "POST", "encoding": "json"}}`, false)
	for _, values := range [][]string{{}, {"a"}, {"a", "b"}} {
		request, problems := l.Encode(filter{}.query(url.Values{"caf\xe9": values}, wire.Position{}))
		assert.Zero(t, request)
		assert.Equal(t, []wire.Problem{{Field: `Extra["caf\xe9"]`, Reason: "must be valid UTF-8, and is not at byte 3"}}, problems, len(values))
	}
}

// An option without a line in the table of options would be left out of a request, silently.
func TestListEncodesEveryOption(t *testing.T) {
	t.Parallel()
	l := compileList(t, `{"sms.list": {"params": {"status": "state"}}}`, false)
	for field := range reflect.TypeFor[sms.ListOptions]().Fields() {
		if field.Tag.Get("url") == "-" {
			continue
		}
		var options sms.ListOptions
		switch v := reflect.ValueOf(&options).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.Int:
			v.SetInt(4711)
		default:
			v.SetString("4711")
		}
		raw, problems := queryOf(t, l, describe.SMSList(options))
		assert.Empty(t, problems, field.Name)
		assert.Contains(t, raw, "=4711", field.Name)
	}
}

func TestListEncodeKeepsTimes(t *testing.T) {
	t.Parallel()
	l := compileList(t, "", false)
	amsterdam := time.Date(1900, 1, 1, 0, 0, 0, 7_000_000, time.FixedZone("", 1172))
	raw, problems := queryOf(t, l, filter{CreatedAfter: amsterdam}.query(nil, wire.Position{}))
	require.Empty(t, problems)
	assert.Contains(t, raw, url.QueryEscape("1899-12-31T23:40:28.007Z"))
}

func TestListEncodeFollowsPathOfLink(t *testing.T) {
	t.Parallel()
	request, problems := compileList(t, byCursor, false).Encode(wire.Query{At: wire.Position{Set: true, Link: "/other/p%2Fath?after=x"}})
	require.Empty(t, problems)
	assert.Equal(t, "https://api.example.com/other/p%2Fath?after=x", request.URL.String())
	request, problems = compileList(t, byCursor, false).Encode(wire.Query{At: wire.Position{Set: true, Link: "%zz"}})
	assert.Zero(t, request)
	assert.NotEmpty(t, problems)
}

func TestListPageNumber(t *testing.T) {
	for _, tt := range []struct {
		overlay string
		at      wire.Position
		number  int
		ok      bool
	}{
		{"", wire.Position{}, 1, true},
		{"", wire.Position{Set: true, Number: 7}, 7, true},
		{`{"sms.list": {"paging": {"first": 0}}}`, wire.Position{}, 0, true},
		{byOffset, wire.Position{}, 0, false},
		{byCursor, wire.Position{Set: true, Cursor: "x"}, 0, false},
		{`{"sms.list": {"paging": {"by": "none", "whole": true}}}`, wire.Position{}, 0, false},
	} {
		number, ok := compileList(t, tt.overlay, false).PageNumber(tt.at)
		assert.Equal(t, tt.ok, ok, tt.overlay)
		assert.Equal(t, tt.number, number, tt.overlay)
	}
}

type failure struct{ Code, Message, RequestID string }

// Each page has a golden file of its name, with the overlay, the response and what is read.
type pageCase struct {
	overlay, body string
	at            wire.Position
	ids           []string
	facts         [4]int // number, size, total, pages
	last          bool
	next          wire.Position // where it is not by number, or not the page after the one that was asked for
	unread        []int
	failure       failure
	err           string // how it begins
}

const (
	noRows    = "the response holds no list"
	elsewhere = "the response links to a next page that is not at the base URL"
	noQuery   = "the response links to a next page with a query that cannot be parsed"
	longLink  = "the response links to a next page with a link of more than 16 KiB"
	oneRow    = `{"id":"a"}`
	twoRows   = `{"id":"a"},{"id":"b"}`
)

var (
	second   = wire.Position{Set: true, Number: 2}
	fromZero = `{"sms.list": {"paging": {"first": 0}}}`
	nextPath = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "page": {"next": ["links.next", "cursor"]}}}`
)

var pages = map[string]pageCase{
	// Where the list stands.
	"items-data":          {body: `{"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-items":         {body: `{"items":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-transactions":  {body: `{"transactions":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-messages":      {body: `{"messages":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-results":       {body: `{"results":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-bare":          {body: ` [` + twoRows + ` ] `, ids: []string{"a", "b"}},
	"items-byte-order":    {body: "\ufeff" + `{"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-white-space":   {body: "{ \"data\"\n:\t[ { \"id\" : \"a\" , \"x\" : 1 }\r\n, {\"id\":\"b\"} ] , \"totalPages\" : 9 }\n", ids: []string{"a", "b"}, facts: [4]int{3: 9}},
	"items-escaped-name":  {body: `{"d\u0061ta":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"items-nested":        {overlay: `{"sms.list": {"items": ["result.page.rows"]}}`, body: `{"data":[{"id":"x"}],"result":{"rows":[{"id":"y"}],"page":{"rows":[` + twoRows + `]}}}`, ids: []string{"a", "b"}},
	"items-in-a-list":     {overlay: `{"sms.list": {"items": ["1.rows"]}}`, body: `[{"rows":[{"id":"x"}]},{"rows":[` + twoRows + `]}]`, ids: []string{"a", "b"}},
	"items-within-items":  {overlay: `{"sms.list": {"items": ["data", "data.rows"]}}`, body: `{"data":{"rows":[` + twoRows + `]}}`, ids: []string{"a", "b"}},
	"items-list-of-lists": {overlay: `{"sms.list": {"items": ["rows.0"]}}`, body: `{"rows":[[` + twoRows + `],[{"id":"x"}]]}`, ids: []string{"a", "b"}},

	// Of two lists the one that the contract names first counts, wherever it stands.
	"two-lists-first":       {body: `{"data":[` + twoRows + `],"items":[{"id":"x"},7]}`, ids: []string{"a", "b"}},
	"two-lists-behind":      {body: `{"items":[{"id":"x"},7,{"id":"y"}],"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"two-lists-middle":      {body: `{"results":[{"id":"x"}],"items":[` + twoRows + `],"messages":[{"id":"y"}]}`, ids: []string{"a", "b"}},
	"two-lists-empty":       {body: `{"items":[{"id":"x"}],"data":[]}`, ids: []string{}, last: true},
	"two-lists-null":        {body: `{"data":null,"items":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"two-lists-wrong-kind":  {body: `{"data":{"id":"x"},"items":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"two-lists-unread-gone": {body: `{"items":[1,2,3],"data":[{"id":"a"},"x"]}`, ids: []string{"a", ""}, unread: []int{1}},

	// No list.
	"no-list":               {body: `{"total":0}`, err: noRows},
	"no-list-object":        {body: `{"data":{}}`, err: noRows},
	"no-list-null":          {body: `{"data":null,"items":null}`, err: noRows},
	"no-list-word":          {body: `{"data":"[]","items":1,"results":true}`, err: noRows},
	"no-list-deeper":        {body: `{"data":{"page":[` + oneRow + `]},"page":{"items":[]}}`, err: noRows},
	"no-list-scalar":        {body: `"data"`, err: noRows},
	"no-list-null-response": {body: `null`, err: noRows},
	"no-list-other-case":    {body: `{"Data":[` + oneRow + `]}`, err: noRows},
	"no-list-overlay":       {overlay: `{"sms.list": {"items": ["rows"]}}`, body: `{"data":[` + oneRow + `]}`, err: noRows},
	"no-list-bare":          {overlay: `{"sms.list": {"items": ["rows"]}}`, body: `[` + oneRow + `]`, err: noRows},
	"no-list-request":       {body: `{"status":"ok","requestId":"r-1"}`, failure: failure{RequestID: "r-1"}, err: noRows},

	// What a page says of the listing.
	"facts-numbers":   {body: `{"totalRows":1234,"totalPages":13,"pageNumber":1,"pageSize":100,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{1, 100, 1234, 13}},
	"facts-behind":    {body: `{"data":[` + twoRows + `],"totalRows":1234,"totalPages":13,"pageNumber":1,"pageSize":100}`, ids: []string{"a", "b"}, facts: [4]int{1, 100, 1234, 13}},
	"facts-quoted":    {body: `{"totalRows":"1234","totalPages":" 13 ","pageNumber":"1","pageSize":"1\u00300","data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{1, 100, 1234, 13}},
	"facts-fractions": {body: `{"totalRows":1234.0,"totalPages":1.3e1,"pageNumber":"1.0","pageSize":1E2,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{1, 100, 1234, 13}},
	"facts-null":      {body: `{"totalRows":null,"totalPages":null,"pageNumber":null,"pageSize":null,"hasNext":null,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"facts-absent":    {body: `{"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"facts-objects":   {body: `{"totalRows":{"n":1},"totalPages":[1],"pageNumber":[],"pageSize":{},"hasNext":[false],"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"facts-in-bare":   {body: `[` + twoRows + `]`, ids: []string{"a", "b"}},
	"facts-nested": {
		overlay: `{"sms.list": {"page": {"total": ["meta.total"], "pages": ["meta.pages"], "number": ["meta.page.number"], "size": ["meta.page.size", "size"], "hasNext": ["meta.more"], "next": []}}}`,
		body:    `{"totalPages":1,"hasNext":false,"nextPage":null,"meta":{"total":"4","pages":2,"page":{"number":1,"size":null},"more":true},"size":2,"data":[` + twoRows + `]}`,
		ids:     []string{"a", "b"}, facts: [4]int{1, 2, 4, 2},
	},
	"facts-twice": {body: `{"totalPages":1,"data":[` + twoRows + `],"totalPages":5}`, err: repeated},
	"items-twice": {body: `{"data":[` + twoRows + `],"data":[]}`, err: repeated},
	"code-twice":  {body: `{"data":[],"code":"0","code":"0"}`, err: repeated},

	// Where a listing ends.
	"end-nothing-told":         {body: `{"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"end-short-page":           {body: `{"pageSize":100,"totalRows":500,"data":[` + oneRow + `]}`, ids: []string{"a"}, facts: [4]int{1: 100, 2: 500}},
	"end-total-is-no-page-end": {body: `{"totalRows":2,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{2: 2}},
	"end-empty":                {body: `{"data":[]}`, ids: []string{}, last: true},
	"end-empty-has-next":       {body: `{"hasNext":true,"nextPage":2,"totalPages":9,"data":[ ]}`, err: claimed},
	"end-empty-next":           {body: `{"nextPage":2,"data":[]}`, err: claimed},
	"end-empty-total":          {body: `{"hasNext":false,"totalRows":3,"data":[]}`, err: claimed},
	"end-empty-offset":         {overlay: byOffset, body: `{"hasNext":true,"data":[]}`, err: claimed},
	"end-empty-total-of-0":     {body: `{"hasNext":true,"totalRows":0,"data":[]}`, ids: []string{}, last: true},
	"end-empty-later":          {body: `{"totalRows":3,"data":[]}`, at: wire.Position{Set: true, Number: 4}, ids: []string{}, facts: [4]int{2: 3}, last: true},
	"end-empty-last":           {body: `{"totalPages":4,"data":[]}`, at: wire.Position{Set: true, Number: 4}, ids: []string{}, facts: [4]int{3: 4}, last: true},
	"gap-has-next":             {body: `{"hasNext":true,"totalRows":3,"data":[]}`, at: wire.Position{Set: true, Number: 4}, err: gap},
	"more-than-the-pages":      {body: `{"hasNext":true,"totalPages":1,"data":[` + oneRow + `]}`, ids: []string{"a"}, facts: [4]int{3: 1}},
	"more-than-the-total":      {overlay: byOffset, body: `{"hasNext":true,"totalRows":1,"data":[` + oneRow + `]}`, ids: []string{"a"}, facts: [4]int{2: 1}, next: wire.Position{Rows: 1}},
	"gap-pages":                {body: `{"totalPages":5,"data":[]}`, at: wire.Position{Set: true, Number: 4}, err: gap},
	"first-of-another-page":    {body: `{"pageNumber":3,"totalPages":3,"data":[` + oneRow + `]}`, err: "the response is a later page than the first"},
	"first-counted-from-0":     {body: `{"pageNumber":"0","totalPages":3,"data":[` + oneRow + `]}`, ids: []string{"a"}, facts: [4]int{3: 3}},
	"rows-failed":              {body: `{"status":"error","data":[]}`, err: "the response has a status that says that it failed"},
	"rows-with-errors":         {body: `{"errors":[{"title":"timeout"}],"data":[` + oneRow + `]}`, err: inPart},
	"rows-without-success":     {body: `{"success":false,"data":[]}`, err: inPart},
	"rows-partial":             {body: `{"partial":true,"data":[` + oneRow + `]}`, err: inPart},
	"rows-fault":               {overlay: `{"sms.list": {"items": ["result.rows"]}}`, body: `{"result":{"fault":"timeout","rows":[]}}`, err: inPart},
	"rows-without-signs":       {body: `{"status":"success","errors":[],"fault":null,"success":true,"partial":false,"data":[` + oneRow + `]}`, ids: []string{"a"}},
	"end-empty-bare":           {body: `[]`, ids: []string{}, last: true},
	"end-has-next":             {body: `{"hasNext":false,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, last: true},
	"end-has-next-word":        {body: `{"hasNext":"False","data":[` + twoRows + `]}`, ids: []string{"a", "b"}, last: true},
	"end-has-next-number":      {body: `{"hasNext":0,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, last: true},
	"end-has-next-0":           {body: `{"data":[` + twoRows + `],"hasNext":"0"}`, ids: []string{"a", "b"}, last: true},
	"end-has-next-true":        {body: `{"hasNext":true,"data":[` + oneRow + `]}`, ids: []string{"a"}},
	"end-has-next-1":           {body: `{"hasNext":1,"data":[` + oneRow + `]}`, ids: []string{"a"}},
	"end-has-next-unknown":     {body: `{"hasNext":"perhaps","data":[` + oneRow + `]}`, ids: []string{"a"}},
	"end-next-null":            {body: `{"nextPage":null,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, last: true},
	"end-next-null-behind":     {body: `{"data":[` + twoRows + `],"nextPage":null}`, ids: []string{"a", "b"}, last: true},
	"end-next-absent":          {body: `{"data":[` + twoRows + `],"next":null}`, ids: []string{"a", "b"}},
	"end-next-number":          {body: `{"nextPage":2,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"end-next-twice":           {body: `{"nextPage":null,"nextPage":2,"data":[` + twoRows + `]}`, err: repeated},
	"end-pages":                {body: `{"totalPages":3,"pageNumber":3,"data":[` + twoRows + `]}`, at: wire.Position{Set: true, Number: 3}, ids: []string{"a", "b"}, facts: [4]int{0: 3, 3: 3}, last: true},
	"end-pages-not-yet":        {body: `{"totalPages":3,"pageNumber":2,"data":[` + twoRows + `]}`, at: second, ids: []string{"a", "b"}, facts: [4]int{0: 2, 3: 3}},
	"end-pages-beyond":         {body: `{"totalPages":"3","pageNumber":"4","data":[` + twoRows + `]}`, at: wire.Position{Set: true, Number: 4}, ids: []string{"a", "b"}, facts: [4]int{0: 4, 3: 3}, last: true},
	"end-pages-asked":          {body: `{"totalPages":3,"data":[` + twoRows + `]}`, at: wire.Position{Set: true, Number: 3}, ids: []string{"a", "b"}, facts: [4]int{3: 3}, last: true},
	"end-pages-asked-null":     {body: `{"totalPages":3,"pageNumber":null,"data":[` + twoRows + `]}`, at: wire.Position{Set: true, Number: 3}, ids: []string{"a", "b"}, facts: [4]int{3: 3}, last: true},
	"end-pages-asked-not-yet":  {body: `{"totalPages":3,"data":[` + twoRows + `]}`, at: second, ids: []string{"a", "b"}, facts: [4]int{3: 3}},
	"end-pages-first":          {body: `{"totalPages":1,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{3: 1}, last: true},
	"end-pages-response-wins":  {body: `{"totalPages":3,"pageNumber":1,"data":[` + twoRows + `]}`, at: wire.Position{Set: true, Number: 3}, ids: []string{"a", "b"}, facts: [4]int{0: 1, 3: 3}},
	"end-from-0":               {overlay: fromZero, body: `{"totalPages":2,"pageNumber":1,"data":[` + twoRows + `]}`, at: wire.Position{Set: true, Number: 1}, ids: []string{"a", "b"}, facts: [4]int{0: 1, 3: 2}, last: true},
	"end-from-0-not-yet":       {overlay: fromZero, body: `{"totalPages":2,"pageNumber":0,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{3: 2}},
	"end-from-0-asked":         {overlay: fromZero, body: `{"totalPages":1,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, facts: [4]int{3: 1}, last: true},
	"end-only-null-rows":       {body: `{"data":[null]}`, ids: []string{""}, unread: []int{0}},

	// Where the next page begins.
	"next-page":                 {body: `{"nextPage":7,"pageNumber":5,"data":[` + oneRow + `]}`, at: wire.Position{Set: true, Number: 5}, ids: []string{"a"}, facts: [4]int{0: 5}},
	"next-page-later":           {body: `{"data":[` + oneRow + `]}`, at: wire.Position{Set: true, Number: 41}, ids: []string{"a"}},
	"next-page-from-0":          {overlay: fromZero, body: `{"data":[` + oneRow + `]}`, ids: []string{"a"}},
	"offset":                    {overlay: byOffset, body: `{"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, next: wire.Position{Rows: 2}},
	"offset-later":              {overlay: byOffset, body: `{"totalRows":13,"totalPages":1,"data":[` + twoRows + `]}`, at: wire.Position{Rows: 10}, ids: []string{"a", "b"}, facts: [4]int{2: 13, 3: 1}, next: wire.Position{Rows: 12}},
	"offset-total":              {overlay: byOffset, body: `{"totalRows":"12","data":[` + twoRows + `]}`, at: wire.Position{Rows: 10}, ids: []string{"a", "b"}, facts: [4]int{2: 12}, last: true, next: wire.Position{Rows: 12}},
	"offset-total-beyond":       {overlay: byOffset, body: `{"totalRows":11,"data":[` + twoRows + `]}`, at: wire.Position{Rows: 10}, ids: []string{"a", "b"}, facts: [4]int{2: 11}, last: true, next: wire.Position{Rows: 12}},
	"offset-total-null":         {overlay: byOffset, body: `{"totalRows":null,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}, next: wire.Position{Rows: 2}},
	"offset-unread-count":       {overlay: byOffset, body: `{"data":[` + oneRow + `,7]}`, ids: []string{"a", ""}, unread: []int{1}, next: wire.Position{Rows: 2}},
	"offset-has-next":           {overlay: byOffset, body: `{"hasNext":false,"totalRows":100,"data":[` + oneRow + `]}`, ids: []string{"a"}, facts: [4]int{2: 100}, last: true, next: wire.Position{Rows: 1}},
	"offset-empty":              {overlay: byOffset, body: `{"totalRows":10,"data":[]}`, at: wire.Position{Rows: 10}, ids: []string{}, facts: [4]int{2: 10}, last: true, next: wire.Position{Rows: 10}},
	"offset-gap":                {overlay: byOffset, body: `{"totalRows":100,"data":[]}`, at: wire.Position{Rows: 10}, err: gap},
	"none":                      {overlay: `{"sms.list": {"paging": {"by": "none", "whole": true}}}`, body: `{"hasNext":true,"totalPages":9,"data":[` + oneRow + `]}`, ids: []string{"a"}, facts: [4]int{3: 9}, last: true},
	"cursor-mark":               {overlay: byCursor, body: `{"nextPage":"a+b=\u0026c","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Cursor: "a+b=&c"}},
	"cursor-number":             {overlay: byCursor, body: `{"nextPage":12345678901234567890,"data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Cursor: "12345678901234567890"}},
	"cursor-mark-with-slash":    {overlay: byCursor, body: `{"nextPage":"/9j/4AAQSkZJRg==","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Cursor: "/9j/4AAQSkZJRg=="}},
	"cursor-null":               {overlay: byCursor, body: `{"nextPage":null,"data":[` + oneRow + `]}`, ids: []string{"a"}, last: true},
	"cursor-null-and-more":      {overlay: byCursor, body: `{"nextPage":null,"hasNext":true,"data":[` + oneRow + `]}`, err: "the response says that another page follows, and has no cursor"},
	"cursor-absent":             {overlay: byCursor, body: `{"data":[` + oneRow + `]}`, ids: []string{"a"}, last: true},
	"cursor-empty":              {overlay: byCursor, body: `{"nextPage":"","data":[` + oneRow + `]}`, ids: []string{"a"}, last: true},
	"cursor-empty-page":         {overlay: byCursor, body: `{"nextPage":"x","data":[]}`, ids: []string{}, next: wire.Position{Set: true, Cursor: "x"}},
	"cursor-empty-last-page":    {overlay: byCursor, body: `{"nextPage":"x","hasNext":false,"data":[]}`, ids: []string{}, last: true, next: wire.Position{}},
	"cursor-nested":             {overlay: nextPath, body: `{"links":{"next":"x"},"cursor":"y","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Cursor: "x"}},
	"cursor-second-path":        {overlay: nextPath, body: `{"links":{},"cursor":"y","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Cursor: "y"}},
	"cursor-link":               {overlay: byCursor, body: `{"nextPage":"https://api.example.com/api/sms?after=x%2By&n=1","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Link: "/api/sms?after=x%2By&n=1"}},
	"cursor-link-escaped":       {overlay: byCursor, body: `{"nextPage":"https:\/\/api.example.com\/api\/sms?after=\u0078","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Link: "/api/sms?after=x"}},
	"cursor-link-path":          {overlay: byCursor, body: `{"nextPage":"/api/sms?after=x","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Link: "/api/sms?after=x"}},
	"cursor-link-query":         {overlay: byCursor, body: `{"nextPage":"?after=x","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Link: "/api/sms?after=x"}},
	"cursor-link-host":          {overlay: byCursor, body: `{"nextPage":"https://evil.example.net/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-subdomain":     {overlay: byCursor, body: `{"nextPage":"https://api.example.com.evil.net/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-port":          {overlay: byCursor, body: `{"nextPage":"https://api.example.com:8443/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-scheme":        {overlay: byCursor, body: `{"nextPage":"http://api.example.com/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-odd-scheme":    {overlay: byCursor, body: `{"nextPage":"file://api.example.com/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-user":          {overlay: byCursor, body: `{"nextPage":"https://v4lue:x@api.example.com/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-user-as-host":  {overlay: byCursor, body: `{"nextPage":"https://api.example.com@evil.example.net/?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-no-scheme":     {overlay: byCursor, body: `{"nextPage":"//evil.example.net/api/sms?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-unreadable":    {overlay: byCursor, body: `{"nextPage":"https://api.example.com:v4lue/?after=x","data":[` + oneRow + `]}`, err: elsewhere},
	"cursor-link-query-broken":  {overlay: byCursor, body: `{"nextPage":"?after=v4%zz","data":[` + oneRow + `]}`, err: noQuery},
	"cursor-link-query-semi":    {overlay: byCursor, body: `{"nextPage":"/api/sms?after=v4;b=c","data":[` + oneRow + `]}`, err: noQuery},
	"link-where-pages-by-page":  {body: `{"nextPage":"https://evil.example.net/?after=x","data":[` + oneRow + `]}`, ids: []string{"a"}},
	"cursor-link-no-default-ok": {overlay: byCursor, body: `{"nextPage":"https://api.example.com/api/sms?","data":[` + oneRow + `]}`, ids: []string{"a"}, next: wire.Position{Set: true, Link: "/api/sms?"}},

	// A failure in a 200.
	"failure":             {body: `{"code":40001,"message":"v4lue \u0026","requestId":"r-1"}`, failure: failure{Code: "40001", Message: "v4lue &", RequestID: "r-1"}},
	"failure-quoted":      {body: `{"message":"no","code":"200101"}`, failure: failure{Code: "200101", Message: "no"}},
	"failure-nested":      {body: `{"error":{"code":"E-1","message":"no","fbtrace_id":"f-1"}}`, failure: failure{Code: "E-1", Message: "no", RequestID: "f-1"}},
	"failure-beside-rows": {body: `{"code":"40005","data":[` + twoRows + `]}`, failure: failure{Code: "40005"}},
	"failure-behind-rows": {body: `{"data":[],"code":"40005"}`, failure: failure{Code: "40005"}},
	"failure-0-then-code": {body: `{"code":0,"error":{"code":7},"data":[` + twoRows + `]}`, failure: failure{Code: "7"}},
	"failure-overlay":     {overlay: `{"errors": {"code": ["fault.no"], "message": ["fault.text"]}}`, body: `{"code":0,"fault":{"no":7,"text":"no"},"data":[]}`, failure: failure{Code: "7", Message: "no"}},
	"no-failure-0":        {body: `{"code":0,"message":"ok","data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"no-failure-success":  {body: `{"code":"200","message":"SUCCESS","error":{"code":"ok"},"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"failure-000":         {body: `{"code":"00000","data":[` + twoRows + `]}`, failure: failure{Code: "00000"}},
	"no-failure-null":     {body: `{"code":null,"error":null,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"no-failure-empty":    {body: `{"code":"","error":"","data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"no-failure-false":    {body: `{"code":false,"data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"no-failure-in-a-row": {body: `{"data":[{"id":"a","code":40001,"error":{"code":1}}]}`, ids: []string{"a"}},
	"no-failure-message":  {body: `{"message":"two rows","data":[` + twoRows + `]}`, ids: []string{"a", "b"}},
	"no-failure-0-alone":  {body: `{"code":0,"requestId":"r-1"}`, failure: failure{RequestID: "r-1"}, err: noRows},

	// Rows.
	"row-complete": {body: `{"data":[` + completeRow + `]}`, ids: []string{"t-1"}},
	"row-quoted": {
		body: `{"data":[{"transactionId":17,"messageParts":"2","price":"0.50","dateCreated":"1790000000","dateSent":"1790000000123","sendStatus":"1","dlrStatus":"DELIVRD"}]}`, ids: []string{"17"},
	},
	"row-alias":    {body: `{"data":[{"id":"second","transactionId":"first"},{"id":"alone"},{"transactionId":null,"id":"alone"}]}`, ids: []string{"first", "alone", "alone"}},
	"row-extra":    {body: `{"data":[{"id":"a","userdata1":"u","n":1.50E+2,"o":{ "x" : [1, 2] },"l":[ ],"t":true,"z":null,"e":"\u00e9\n","é \"":"odd"}]}`, ids: []string{"a"}},
	"row-objects":  {body: `{"data":[{"id":["a"],"text":{"b":1},"price":{"amount":"0.50"},"messageParts":[2],"dateCreated":{}},{"id":"b","price":{"amount":"0.50"},"dateCreated":{}}]}`, ids: []string{"", "b"}, unread: []int{0, 1}},
	"row-scripts":  {body: `{"data":[{"id":"a","text":"Größe · 你好 · \ud83d\ude00 \"quoted\" \\ \/ \u0041\n\t","from":"Ünï","to":"😀"}]}`, ids: []string{"a"}},
	"row-empty":    {body: `{"data":[{},{ }]}`, ids: []string{"", ""}, unread: []int{0, 1}},
	"row-no-row":   {body: `{"data":[{"id":"a"},null,"x",7,true,[{"id":"x"}],{"id":"b"}]}`, ids: []string{"a", "", "", "", "", "", "b"}, unread: []int{1, 2, 3, 4, 5}},
	"row-unread":   {body: `{"data":[{"messageParts":"many","id":"a","text":"t"},{"id":"b"},{"dateCreated":"soon","id":"c"},{"id":"d","dateSent":"later","price":1}]}`, ids: []string{"a", "b", "c", "d"}, unread: []int{0, 2, 3}},
	"row-doubles":  {body: `{"data":[{"id":"a","text":"t","x":1,"id":"x","x":{"y":2},"text":"x","o":1,"operator":"OP","operator":{"name":"x"}}]}`, ids: []string{"a"}, unread: []int{0}},
	"row-shuffled": {body: `{"data":[{"id":"a","text":"ta","x":1},{"x":2,"text":"tb","id":"b"},{"text":"tc"},{"y":1,"id":"d","z":2,"text":"td","x":3}]}`, ids: []string{"a", "b", "", "d"}, unread: []int{2}},
	"row-nested": {
		overlay: `{"sms.list": {"record": {"id": ["ids.main"], "from": ["parties.0.number"], "to": ["parties.1.number"], "operator": ["network.name"], "country": ["network.country", "country"]}}}`,
		body:    `{"data":[{"ids":{"main":"a", "other":1},"parties":[{"number":"ACME"},{"number":"639171234567"}],"network":{"name":"OP"},"country":"PHL"}]}`,
		ids:     []string{"a"},
	},
}

const completeRow = `{"transactionId":"t-1","requestId":"r-1","referenceId":"order-17","categoryId":"c-1","from":"ACME","to":"639171234567","text":"Hi",` +
	`"messageParts":1,"price":0.50,"dateCreated":"2026-10-03T14:44:23.186Z","dateSent":"2026-10-03T14:44:24Z","sendStatus":1,"dlrStatus":"1",` +
	`"operator":"OP","country":"PHL","description":"sent"}`

func TestListDecode(t *testing.T) {
	for name, tt := range pages {
		t.Run(name, func(t *testing.T) {
			l := compileList(t, tt.overlay, false)
			page, got, err := l.Decode([]byte(tt.body), tt.at, 0, nil)
			failure := failure{got.Code, got.Message, got.RequestID}
			assert.Equal(t, tt.failure, failure)
			switch {
			case tt.err != "":
				require.ErrorContains(t, err, tt.err)
				assert.NotContains(t, err.Error(), "v4", "an error that repeats the response")
				require.ErrorIs(t, err, codec.ErrPage)
			case tt.failure.Code != "":
				require.NoError(t, err)
				assert.Zero(t, page)
			default:
				require.NoError(t, err)
				checkPage(t, tt, page)
			}

			g := sections{}
			g.section("contract", tt.overlay)
			g.section("response", tt.body)
			g.section("position", position(tt.at))
			switch {
			case err != nil:
				g.section("error", err.Error())
			case failure.Code != "":
				g.section("failure", fmt.Sprintf("code %+q, message %+q, request %+q", failure.Code, failure.Message, failure.RequestID))
			default:
				g.section("page", pageText(page))
			}
			checkGolden(t, "pages", name, g.String())
		})
	}
}

func TestListHasNoOtherGoldenFiles(t *testing.T) {
	t.Parallel()
	checkGoldenFiles(t, "queries", queries)
	checkGoldenFiles(t, "pages", pages)
}

// checkPage holds a page against what the case says of it, and its rows against those of the reference.
func checkPage(t *testing.T, tt pageCase, page codec.Page) {
	t.Helper()
	names := parse(t, tt.overlay)
	op := &names.SMSList
	ids := make([]string, 0, len(page.Transactions))
	for _, record := range page.Transactions {
		ids = append(ids, record.ID)
	}
	assert.Equal(t, tt.ids, ids)
	facts := [4]int{page.Number, page.Size, page.Total, page.TotalPages}
	assert.Equal(t, tt.facts, facts)
	assert.Equal(t, tt.last, page.Last, "last")
	next := tt.next
	if op.Paging.By == "page" {
		next = wire.Position{Set: true, Number: op.Paging.First + 1}
		if tt.at.Set {
			next.Number = tt.at.Number + 1
		}
	}
	assert.Equal(t, next, page.Next)
	var unread []int
	for _, row := range page.Unreadable {
		unread = append(unread, row.Index)
	}
	assert.Equal(t, tt.unread, unread)
	if problem := differs(names, []byte(tt.body), page); problem != "" {
		assert.Fail(t, "not what the reference reads", problem)
	}
}

func pageText(page codec.Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "number %d, size %d, total %d, pages %d, last %t\n", page.Number, page.Size, page.Total, page.TotalPages, page.Last)
	fmt.Fprintf(&b, "next: %s\n", orNone(position(page.Next), "the first"))
	unread := map[int]string{}
	for _, row := range page.Unreadable {
		unread[row.Index] = row.Reason
	}
	for i, record := range page.Transactions {
		fmt.Fprintf(&b, "row %d:\n", i)
		if reason, ok := unread[i]; ok {
			fmt.Fprintf(&b, "  unreadable: %s\n", reason)
		}
		v := reflect.ValueOf(record)
		for j := range v.NumField() {
			name, field := v.Type().Field(j).Name, v.Field(j)
			switch value := field.Interface().(type) {
			case string:
				if value != "" {
					fmt.Fprintf(&b, "  %s = %+q\n", name, value)
				}
			case contract.Status:
				if value != contract.StatusUnknown {
					fmt.Fprintf(&b, "  %s = %s\n", name, value)
				}
			case time.Time:
				if !value.IsZero() {
					fmt.Fprintf(&b, "  %s = %s\n", name, value.UTC().Format(time.RFC3339Nano))
				}
			case int:
				if value != 0 {
					fmt.Fprintf(&b, "  %s = %d\n", name, value)
				}
			case map[string]json.RawMessage:
				for _, extra := range slices.Sorted(maps.Keys(value)) {
					fmt.Fprintf(&b, "  %s[%+q] = %s\n", name, extra, value[extra])
				}
			}
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func TestListDecodeRefusesCutPage(t *testing.T) {
	for _, whole := range []string{
		`{"totalPages":3,"data":[` + completeRow + `,{"id":"b","x":{"y":[1,-2.5e+7,null,true,false,""]},"text":"\u00e9\n\ud83d\ude00 é😀"},7,null],"hasNext":true,"nextPage":2}`,
		` [ {"id" : "a" , "dateSent" : null } , [ ] , { } ] `,
		`{"data":[]}`,
	} {
		whole = strings.TrimRight(whole, " ")
		for overlay, at := range map[string]wire.Position{"": {}, byCursor: {Set: true, Cursor: "x"}} {
			l := compileList(t, overlay, false)
			_, _, err := l.Decode([]byte(whole), at, 0, nil)
			require.NoError(t, err)
			for end := range len(whole) {
				page, failure, err := l.Decode([]byte(whole[:end]), at, 0, nil)
				require.Error(t, err, "%q", whole[:end])
				require.NotErrorIs(t, err, codec.ErrPage, "%q", whole[:end])
				require.Contains(t, []string{"JSON that is cut short", "empty"}, err.Error())
				require.Zero(t, page)
				require.Zero(t, failure)
			}
		}
	}
}

func TestListDecodeRefusesWhatIsNotJSON(t *testing.T) {
	l := compileList(t, "", false)
	for _, body := range []string{
		"", " ", "\ufeff", "<html>v4lue</html>", `{"data":[{"id":"v4lue"},]}`, `{"data":[,{"id":"v4lue"}]}`, `{"data":[{"id":"v4lue"}]}x`, `{"data":[{"id":v4lue}]}`,
		`{"data":[{"id":"v4lue"} {"id":"b"}]}`, `{"data":[{"id":"v4lue",}]}`, `{"data":[{"id" "v4lue"}]}`, `{"data":[{v4lue:1}]}`, `{"data":[{"id":"v4lue"}}`,
		"{\"data\":[{\"id\":\"v4\nlue\"}]}", "{\"data\":[{\"x\":\"v4\x00lue\"}]}", `{"data":[{"id":"\v4lue"}]}`, `{"data":[{"x":01}]}`, `{"data":[{"price":.5}]}`,
		`{"data":[v4]}`, `{"data":[{"id":"v4lue"}],"x":[}`, `{"items":[{"x":tru}],"data":[]}`, `{"data":[],"items":[{"x":tru}]}`, `[{"id":"a"}][{"id":"v4lue"}]`,
	} {
		page, failure, err := l.Decode([]byte(body), wire.Position{}, 0, nil)
		require.Error(t, err, body)
		require.NotErrorIs(t, err, codec.ErrPage, body)
		assert.NotContains(t, err.Error(), "v4", body)
		assert.Zero(t, page, body)
		assert.Zero(t, failure, body)
	}
}

func TestListDecodeDepth(t *testing.T) {
	l := compileList(t, `{"sms.list": {"items": ["data", "a.b.c", ""], "record": {"operator": ["x.x.x"]}}}`, false)
	for _, depth := range []int{1, 100, 9990, 9995, 9996, 9997, 9998, 9999, 10000, 10001, 50000} {
		for _, around := range []string{`{"data":[{"id":"a","x":%s}]}`, `{"data":[{"id":"a","text":%s}]}`, `{"data":[{"id":"a","other":%s}]}`, `{"a":{"b":{"c":[{"id":"a","x":%s}]}}}`, `[{"id":"a","x":%s}]`, `{"data":[{"id":"a"},%s]}`, `{"data":[{"id":"a"}],"x":%s}`, `{"x":%s,"data":[{"id":"a"}]}`} {
			for _, deep := range []string{
				strings.Repeat("[", depth) + strings.Repeat("]", depth),
				strings.Repeat(`{"x":`, depth) + "1" + strings.Repeat("}", depth),
			} {
				body := fmt.Sprintf(around, deep)
				page, _, err := l.Decode([]byte(body), wire.Position{}, 0, nil)
				require.Equal(t, json.Valid([]byte(body)), err == nil, "depth %d in %s: %v", depth, around, err)
				if err == nil {
					require.NotEmpty(t, page.Transactions)
					assert.Equal(t, "a", page.Transactions[0].ID)
				}
			}
		}
	}
	for _, body := range []string{strings.Repeat("[", 5_000_000), `{"data":[` + strings.Repeat(`{"x":`, 2_000_000), `{"data":[` + strings.Repeat(`{"data":[`, 2_000_000)} {
		_, _, err := l.Decode([]byte(body), wire.Position{}, 0, nil)
		require.Error(t, err)
	}
}

func TestListConcurrently(t *testing.T) {
	l := compileList(t, `{"sms.list": {"zone": "Asia/Manila"}}`, false)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			var reuse []sms.Transaction
			for j := range 50 {
				id := fmt.Sprintf("m-%d-%d", i, j)
				page, _, err := l.Decode(fmt.Appendf(nil, `{"data":[{"id":%q,"x%d":1,"dateCreated":"2026-01-02 03:04"},{"id":"b"}]}`, id, i), wire.Position{}, 0, reuse)
				if assert.NoError(t, err) && assert.Len(t, page.Transactions, 2) {
					assert.Equal(t, id, page.Transactions[0].ID)
					assert.Len(t, page.Transactions[0].Extra, 1)
				}
				reuse = page.Transactions
				raw, problems := queryOf(t, l, filter{ID: id}.query(nil, wire.Position{}))
				assert.Empty(t, problems)
				assert.Contains(t, raw, id)
			}
		})
	}
	all.Wait()
}

func TestListDecodeFailure(t *testing.T) {
	t.Parallel()
	l := compileList(t, "", false)
	failure, err := l.DecodeFailure([]byte(`{"code":40001,"message":"no","requestId":"r-1"}`))
	require.NoError(t, err)
	assert.Equal(t, codec.Failure{Code: "40001", Message: "no", RequestID: "r-1", Class: "unauthorized", FromService: true}, failure)

	failure, err = compileList(t, `{"errors": {"code": ["fault.no"], "classes": {"notFound": ["9*"]}}}`, false).DecodeFailure([]byte(`{"code":1,"fault":{"no":"97"}}`))
	require.NoError(t, err)
	assert.Equal(t, codec.Failure{Code: "97", Class: "notFound", FromService: true}, failure)

	failure, err = l.DecodeFailure([]byte(`{"message":"Forbidden"}`))
	require.NoError(t, err)
	assert.Equal(t, codec.Failure{Message: "Forbidden"}, failure)

	failure, err = l.DecodeFailure([]byte("<html>v4lue</html>"))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "v4lue")
	assert.Zero(t, failure)
}

// Another service may be at another path of the host.
func TestListDecodeRefusesLinkOutsideTheBasePath(t *testing.T) {
	t.Parallel()
	c := parse(t, byCursor)
	target, err := url.Parse("https://api.example.com/v1/api/sms")
	require.NoError(t, err)
	l := codec.CompileList(c, target, nil)
	for link, isBelow := range map[string]bool{
		"https://api.example.com/v1/api/sms?after=x": true,
		"/v1/other?after=x":                          true,
		"?after=x":                                   true,
		"/v2/api/sms?after=x":                        false,
		"/api/sms?after=x":                           false,
		"/v1/../v2?after=x":                          false,
		"/v1/%2e%2e/v2?after=x":                      false,
		"/v10/api/sms?after=x":                       false,
		"/v1/sub/../other?after=x":                   true,
		"/v1/tenant/..;/other?after=x":               true,
		"/v1/tenant/..;/../other?after=x":            true, // resolved before it is requested
		"/v1/..;/other?after=x":                      false,
		"/v1/..;a=b/other?after=x":                   false,
		"/v1/..%3b/other?after=x":                    false,
		"/v1/%5c..%5cother?after=x":                  false,
		"/v1/..%5cother?after=x":                     false,
		"/v1/..%2fother?after=x":                     false,
		"/v1/%252e%252e/other?after=x":               false,
		"/v1/%252e%252e/other/%25zz?after=x":         false, // some servers decode all but the last segment again
		"/v1/caf%c3%a9%20%2b/other?after=x":          true,
		"/v1/./.%2e/other?after=x":                   false,
		"/v1//other?after=x":                         true,
		"/v1/%25252541?after=x":                      true,
		"/v1/%2525252541?after=x":                    false, // encoded more often than any server decodes
	} {
		body := fmt.Sprintf(`{"data":[{"id":"a"}],"nextPage":%q}`, link)
		page, _, err := l.Decode([]byte(body), wire.Position{}, 0, nil)
		assert.Equal(t, isBelow, err == nil, "%s: %v", link, err)
		if !isBelow {
			require.ErrorIs(t, err, codec.ErrPage)
			assert.Zero(t, page.Next)
		}
	}
}

// Checking a link decodes its path, and each level of encoding is another pass over the whole path.
func TestListDecodeRefusesLinkThatIsLong(t *testing.T) {
	t.Parallel()
	l := compileList(t, byCursor, false)
	for length, want := range map[int]string{
		16 << 10:   "",
		16<<10 + 1: longLink,
		1 << 20:    longLink,
	} {
		link := "/api/sms?after="
		link += strings.Repeat("x", length-len(link))
		_, _, err := l.Decode([]byte(`{"data":[{"id":"a"}],"nextPage":"`+link+`"}`), wire.Position{}, 0, nil)
		if want == "" {
			require.NoError(t, err, length)
		} else {
			require.EqualError(t, err, want, length)
		}
	}
}
