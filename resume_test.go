package messaging_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// shelf is a listing in memory that pages in any way. Its rows may change between requests.
type shelf struct {
	rows    []int
	paging  string // page, offset, cursor, link, last or none
	size    int
	mu      sync.Mutex
	queries []url.Values
}

func (s *shelf) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries = append(s.queries, query)
	start := 0
	switch s.paging {
	case "page":
		number, _ := strconv.Atoi(query.Get("pageNumber"))
		start = (number - 1) * s.size
	case "offset":
		start, _ = strconv.Atoi(query.Get("skip"))
	case "cursor", "link":
		start, _ = strconv.Atoi(query.Get("at"))
	case "last":
		after, err := strconv.Atoi(strings.TrimPrefix(query.Get("at"), "t-"))
		if err == nil {
			start = slices.Index(s.rows, after) + 1
		}
	case "none":
		s.size = len(s.rows)
	}
	end := min(start+s.size, len(s.rows))
	page := map[string]any{"data": []any{}}
	var rows []any
	for _, id := range s.rows[min(start, end):end] {
		rows = append(rows, map[string]any{"id": fmt.Sprintf("t-%03d", id)})
	}
	if rows != nil {
		page["data"] = rows
	}
	if s.paging == "page" || s.paging == "offset" {
		page["totalRows"] = len(s.rows)
	}
	if s.paging != "none" {
		page["hasNext"] = end < len(s.rows)
	}
	switch {
	case end == len(s.rows):
	case s.paging == "cursor":
		page["nextPage"] = strconv.Itoa(end)
	case s.paging == "link":
		query.Set("at", strconv.Itoa(end))
		page["nextPage"] = "/api/sms?" + query.Encode()
	}
	body, err := json.Marshal(page)
	if err != nil {
		return nil, err
	}
	return respond(r, http.StatusOK, string(body)), nil
}

func (s *shelf) client(t *testing.T, options ...messaging.Option) *messaging.Client {
	t.Helper()
	names := map[string]string{
		"page":   `{"auth": {"keyPair": {"in": "query"}}}`,
		"offset": `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "offset"}, "params": {"offset": "skip"}}}`,
		"cursor": `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "at"}}}`,
		"link":   `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "at"}}}`,
		"last":   `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "at"}, "page": {"next": ["$last.id"]}}}`,
		"none":   `{"auth": {"keyPair": {"in": "query"}}, "sms.list": {"paging": {"by": "none", "whole": true}}}`,
	}
	client, err := messaging.NewClient(baseURL, append([]messaging.Option{
		messaging.WithAPIKey("key-1", "SECRET"), messaging.WithHTTPClient(&http.Client{Transport: s}), overlay(t, names[s.paging]),
	}, options...)...)
	require.NoError(t, err)
	return client
}

func newShelf(paging string, rows int) *shelf {
	s := &shelf{paging: paging, size: 3}
	for i := range rows {
		s.rows = append(s.rows, rows-i) // the newest first
	}
	return s
}

// interrupted lists pages, each in a new client that knows only the text of the position. It calls between after each page.
func interrupted(t *testing.T, s *shelf, options sms.ListOptions, between func(page int)) (ids []string) {
	t.Helper()
	for n := 1; ; n++ {
		for page, err := range s.client(t).SMS.Pages(t.Context(), options) {
			require.NoError(t, err)
			ids = append(ids, idsOf(page.Transactions)...)
			options.After = page.Next
			break
		}
		if options.After == "" {
			return ids
		}
		require.Less(t, n, 100, "it does not end")
		assert.NotContains(t, options.After, "SECRET", "a position is stored")
		between(n)
	}
}

func wantRows(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("t-%03d", n-i))
	}
	return ids
}

func TestPagesResumeForEveryKindOfPaging(t *testing.T) {
	t.Parallel()
	for _, paging := range []string{"page", "offset", "cursor", "link", "last", "none"} {
		t.Run(paging, func(t *testing.T) {
			t.Parallel()
			for _, options := range []sms.ListOptions{{}, {PageSize: 3, ReferenceID: "r-1"}} {
				s := newShelf(paging, 20)
				assert.Equal(t, wantRows(20), interrupted(t, s, options, func(int) {}))
				for _, query := range s.queries {
					assert.Equal(t, options.ReferenceID, query.Get("filter[referenceId]"))
				}
			}
		})
	}
}

// Rows that came before the interruption, and move to the next page meanwhile, are known by the last of them.
func TestPagesResumeWhileRowsMove(t *testing.T) {
	t.Parallel()
	for _, paging := range []string{"page", "offset"} {
		for _, moved := range []int{1, 2, 3} {
			s := newShelf(paging, 20)
			ids := interrupted(t, s, sms.ListOptions{}, func(page int) {
				for i := range moved {
					if page == 2 || page == 6 {
						s.rows = append([]int{100*page + i}, s.rows...)
					}
				}
			})
			assert.Equal(t, wantRows(20), ids, "%s, %d", paging, moved)
		}
	}
}

func TestListResumesByRowAndByPage(t *testing.T) {
	t.Parallel()
	s := newShelf("page", 20)
	var next string
	for page, err := range s.client(t).SMS.Pages(t.Context(), sms.ListOptions{PageSize: 3}) {
		require.NoError(t, err)
		next = page.Next
		if len(s.queries) == 2 {
			break
		}
	}
	everyWay(t, func(t *testing.T, by way) {
		t.Helper()
		ids, errs := walk(by.list(t.Context(), newShelf("page", 20).client(t), sms.ListOptions{PageSize: 3, After: next}))
		require.Empty(t, errs)
		assert.Equal(t, strings.Join(wantRows(20)[6:], " "), ids)
	})
}

func TestListRejectsPositionsThatDoNotFit(t *testing.T) {
	t.Parallel()
	positions := map[string]string{}
	for _, paging := range []string{"page", "offset", "cursor", "link"} {
		for page, err := range newShelf(paging, 20).client(t).SMS.Pages(t.Context(), sms.ListOptions{PageSize: 3}) {
			require.NoError(t, err)
			positions[paging] = page.Next
			break
		}
	}
	for name, tt := range map[string]struct {
		paging  string
		options sms.ListOptions
		field   string
		reason  string
	}{
		"of another paging":  {"page", sms.ListOptions{PageSize: 3, After: positions["offset"]}, "After", "is a position by offset; the contract pages by page (sms.list.paging.by)"},
		"of no paging":       {"none", sms.ListOptions{PageSize: 3, After: positions["cursor"]}, "After", "is a position by cursor; the contract pages by none (sms.list.paging.by)"},
		"another page size":  {"page", sms.ListOptions{PageSize: 4, After: positions["page"]}, "After", "is of a listing with the PageSize 3; want the same"},
		"another day":        {"page", sms.ListOptions{PageSize: 3, CreatedAfter: time.Unix(1, 0), After: positions["page"]}, "After", "is of a listing with another CreatedAfter; want the same"},
		"another filter":     {"cursor", sms.ListOptions{PageSize: 3, From: "ACME", After: positions["cursor"]}, "After", "is of a listing with another From; want the same"},
		"with a page":        {"page", sms.ListOptions{PageSize: 3, Page: 2, After: positions["page"]}, "Page", "must be 0 with After"},
		"no JSON":            {"page", sms.ListOptions{After: "2"}, "After", "is not a position in a listing; pass Page.Next"},
		"cut":                {"page", sms.ListOptions{PageSize: 3, After: positions["page"][:9]}, "After", "is not a position in a listing; pass Page.Next"},
		"more than one":      {"page", sms.ListOptions{PageSize: 3, After: positions["page"] + "{}"}, "After", "is not a position in a listing; pass Page.Next"},
		"two kinds":          {"page", sms.ListOptions{After: `{"page":2,"rows":3}`}, "After", "is not a position in a listing; pass Page.Next"},
		"nothing":            {"page", sms.ListOptions{After: `{}`}, "After", "is not a position in a listing; pass Page.Next"},
		"huge":               {"page", sms.ListOptions{After: `{"page":2,"cursor":"` + strings.Repeat("x", 1<<17) + `"}`}, "After", "is not a position in a listing; pass Page.Next"},
		"elsewhere":          {"link", sms.ListOptions{After: `{"link":"https://evil.example/api/sms?at=3"}`}, "After", "holds a link that leads away from the listing"},
		"elsewhere, slashes": {"link", sms.ListOptions{After: `{"link":"//evil.example/api/sms?at=3"}`}, "After", "holds a link that leads away from the listing"},
		"another scheme":     {"link", sms.ListOptions{After: `{"link":"ftp://sms.example.com/api/sms"}`}, "After", "holds a link that leads away from the listing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(tt.paging, 20)
			_, errs := list(s.client(t).SMS.List(t.Context(), tt.options))
			require.Len(t, errs, 1)
			v, ok := errors.AsType[*messaging.ValidationError](errs[0])
			require.True(t, ok, "%v", errs[0])
			assert.Equal(t, tt.field, v.Field)
			assert.Equal(t, tt.reason, v.Reason)
			assert.Empty(t, s.queries)
		})
	}
}

// archive lists rows by the time at which they were created, and understands its bounds in one way.
type archive struct {
	created                      []time.Time
	layout                       string
	afterIncluded, beforeInclude bool
}

func (a archive) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	after, before := query.Get("filter[dateCreatedGt]"), query.Get("filter[dateCreatedLt]")
	rows := []string{}
	for i, at := range a.created {
		shown := at.UTC().Format(a.layout) // all forms of a layout sort like the times
		if after != "" && (shown < after || shown == after && !a.afterIncluded) {
			continue
		}
		if before != "" && (shown > before || shown == before && !a.beforeInclude) {
			continue
		}
		rows = append(rows, fmt.Sprintf(`{"id":"m-%d","dateCreated":%q}`, i, at.UTC().Format(time.RFC3339Nano)))
	}
	return respond(r, http.StatusOK, `{"hasNext":false,"data":[`+strings.Join(rows, ",")+`]}`), nil
}

// Each row belongs to one day, however the service understands its bounds: it may include a bound or not, and compare times or
// days.
func TestListBoundsAtMidnight(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	var created []time.Time
	for n := -2; n <= 2; n++ {
		at := midnight.Add(time.Duration(n) * day)
		created = append(created, at.Add(-time.Millisecond), at, at.Add(time.Millisecond), at.Add(15*time.Hour))
	}
	layouts := map[string]string{"rfc3339ms": "2006-01-02T15:04:05.000Z07:00", "rfc3339": time.RFC3339, "date": time.DateOnly, "datetime": time.DateTime}
	for form, layout := range layouts {
		for n := range 4 {
			for name, bounds := range map[string][2]time.Time{
				"a day":                {midnight, midnight.Add(day)},
				"a day from afternoon": {midnight.Add(15 * time.Hour), midnight.Add(day + 15*time.Hour)},
				"a millisecond":        {midnight, midnight.Add(time.Millisecond)},
				"less":                 {midnight.Add(time.Microsecond), midnight.Add(2 * time.Microsecond)},
				"no end":               {midnight, {}},
				"no beginning":         {{}, midnight},
			} {
				want := []string{}
				var others []time.Time
				for i, at := range created {
					if !at.Before(bounds[0]) && (bounds[1].IsZero() || at.Before(bounds[1])) {
						want = append(want, fmt.Sprintf("m-%d", i))
					} else {
						others = append(others, at)
					}
				}
				options := sms.ListOptions{CreatedAfter: bounds[0], CreatedBefore: bounds[1]}
				a := archive{created, layout, n%2 > 0, n > 1}
				rows, errs := list(a.client(t, form).SMS.List(t.Context(), options))
				require.Empty(t, errs)
				assert.Equal(t, want, idsOf(rows), "%s, %s, included: %v and %v", form, name, a.afterIncluded, a.beforeInclude)

				a.created = others // the service lists those that it cannot tell from rows within the bounds
				rows, errs = list(a.client(t, form).SMS.List(t.Context(), options))
				require.Empty(t, errs, "%s, %s, included: %v and %v", form, name, a.afterIncluded, a.beforeInclude)
				assert.Empty(t, rows)
			}
		}
	}
}

func (a archive) client(t *testing.T, form string) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: a}),
		overlay(t, fmt.Sprintf(`{"sms.list":{"time":%q}}`, form)))
	require.NoError(t, err)
	return client
}
