package messaging_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// book is a listing in memory that records which pages were requested. A row is its JSON object.
type book struct {
	pages  [][]string
	first  int                                         // the number of the first page
	silent bool                                        // pages do not say how many there are
	before func(ctx context.Context, number int) error // runs before a page is returned; an error fails the page

	mu      sync.Mutex
	asked   []int
	queries []url.Values
	active  int
	most    int // requests at once
}

// errPage is what a page that fails matches.
var errPage = messaging.ErrInvalid

func (b *book) RoundTrip(r *http.Request) (*http.Response, error) {
	number, _ := strconv.Atoi(r.URL.Query().Get("pageNumber"))
	b.mu.Lock()
	b.asked = append(b.asked, number)
	b.queries = append(b.queries, r.URL.Query())
	b.active++
	b.most = max(b.most, b.active)
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.active--
	}()
	if b.before != nil {
		if err := b.before(r.Context(), number); err != nil {
			if r.Context().Err() != nil {
				return nil, err
			}
			return respond(r, http.StatusBadRequest, `{}`), nil
		}
	}
	index := number - b.first
	if index >= len(b.pages) {
		return respond(r, http.StatusOK, `{"hasNext":false,"data":[]}`), nil
	}
	facts := ""
	if !b.silent {
		total := 0
		for _, page := range b.pages {
			total += len(page)
		}
		facts = fmt.Sprintf(`"pageNumber":%d,"pageSize":%d,"totalRows":%d,"totalPages":%d,`, number, len(b.pages[0]), total, len(b.pages))
	}
	return respond(r, http.StatusOK, fmt.Sprintf(`{%s"hasNext":%v,"data":[%s]}`, facts, index < len(b.pages)-1, strings.Join(b.pages[index], ","))), nil
}

// client returns a client that does not retry.
func (b *book) client(t *testing.T, options ...messaging.Option) *messaging.Client {
	t.Helper()
	if b.first != 1 {
		options = append(options, overlay(t, fmt.Sprintf(`{"sms.list":{"paging":{"first":%d}}}`, b.first)))
	}
	client, err := messaging.NewClient(baseURL, append([]messaging.Option{
		messaging.WithToken("t"), messaging.WithHTTPClient(&http.Client{Transport: b}),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), messaging.WithTimeout(24 * time.Hour),
	}, options...)...)
	require.NoError(t, err)
	return client
}

// numbers returns the pages that were requested, in ascending order.
func (b *book) numbers() []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.asked))
}

// requests returns how many requests have begun, and how many of them have not ended.
func (b *book) requests() (begun, active int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.asked), b.active
}

// newBook returns a listing of rows with these IDs: "1 2|3".
func newBook(text string) *book {
	b := &book{first: 1}
	for ids := range strings.SplitSeq(text, "|") {
		page := []string{}
		for id := range strings.FieldsSeq(ids) {
			page = append(page, fmt.Sprintf(`{"id":%q}`, id))
		}
		b.pages = append(b.pages, page)
	}
	return b
}

// numbered returns n pages of two rows each, as newBook reads them, and their rows.
// walk ranges to the end, over errors too, and returns the IDs of the rows and the errors.
func walk(rows iter.Seq2[sms.Transaction, error]) (ids string, errs []error) {
	all, errs := list(rows)
	return strings.Join(idsOf(all), " "), errs
}

// way is a way to list: by rows or by pages.
type way struct{ pages bool }

func (w way) list(ctx context.Context, c *messaging.Client, o sms.ListOptions) iter.Seq2[sms.Transaction, error] {
	if !w.pages {
		return c.SMS.List(ctx, o)
	}
	pages := c.SMS.Pages(ctx, o)
	return func(yield func(sms.Transaction, error) bool) {
		for page, err := range pages {
			for _, tx := range page.Transactions {
				if !yield(tx, nil) {
					return
				}
			}
			if err != nil && !yield(sms.Transaction{}, err) {
				return
			}
		}
	}
}

func (w way) String() string { return fmt.Sprintf("pages=%v", w.pages) }

// everyWay runs a test for each way to list.
func everyWay(t *testing.T, test func(t *testing.T, by way)) {
	t.Helper()
	for _, by := range []way{{false}, {true}} {
		t.Run(by.String(), func(t *testing.T) {
			t.Parallel()
			test(t, by)
		})
	}
}

// wait waits for a while or until the context ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func TestListRequestsNothingBeforeTheLoop(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, by way) {
		t.Helper()
		b := newBook("1 2|3")
		rows := by.list(t.Context(), b.client(t), sms.ListOptions{})
		assert.Empty(t, b.asked)
		ids, errs := walk(rows)
		assert.Equal(t, "1 2 3", ids)
		assert.Empty(t, errs)
	})
}

func TestListRequestsAPageWhenItsRowsAreNeeded(t *testing.T) {
	t.Parallel()
	b := newBook("1 2|3 4|5")
	var asked []int
	for tx, err := range b.client(t).SMS.List(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		begun, _ := b.requests()
		asked = append(asked, begun)
		assert.Equal(t, strconv.Itoa(len(asked)), tx.ID)
	}
	assert.Equal(t, []int{1, 1, 2, 2, 3}, asked)

	b, asked = newBook("1 2|3 4|5"), nil
	for _, err := range b.client(t).SMS.Pages(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		begun, _ := b.requests()
		asked = append(asked, begun)
	}
	assert.Equal(t, []int{1, 2, 3}, asked)
}

func TestPagesKeepTheirRows(t *testing.T) {
	t.Parallel()
	b := newBook("1 2|3 4|5")
	var pages []sms.Page
	for page, err := range b.client(t).SMS.Pages(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		pages = append(pages, page)
	}
	require.Len(t, pages, 3)
	assert.Equal(t, "1", pages[0].Transactions[0].ID)
	assert.Equal(t, "4", pages[1].Transactions[1].ID)
}

func TestListRangesAgain(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, by way) {
		t.Helper()
		b := newBook("1 2|3 4|5")
		rows := by.list(t.Context(), b.client(t), sms.ListOptions{})
		for _, err := range rows {
			require.NoError(t, err)
			break
		}
		for range 2 {
			ids, errs := walk(rows)
			assert.Equal(t, "1 2 3 4 5", ids)
			assert.Empty(t, errs)
		}
	})
}

func TestListCopiesItsOptions(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(url.Values){
		"set":      func(extra url.Values) { extra.Set("tag", "other") },
		"added":    func(extra url.Values) { extra.Add("more", "x") },
		"in place": func(extra url.Values) { extra["tag"][0] = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyWay(t, func(t *testing.T, by way) {
				t.Helper()
				b := newBook("1 2|3")
				extra := url.Values{"tag": {"mine"}}
				rows := by.list(t.Context(), b.client(t), sms.ListOptions{Extra: extra})
				change(extra)
				_, errs := walk(rows)
				require.Empty(t, errs)
				for _, q := range b.queries {
					assert.Equal(t, []string{"mine"}, q["tag"])
					assert.NotContains(t, q, "more")
				}
			})
		})
	}
}

func TestListSendsItsOptionsForEveryPage(t *testing.T) {
	t.Parallel()
	after := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	everyWay(t, func(t *testing.T, by way) {
		t.Helper()
		b := newBook("1|2|3")
		_, errs := walk(by.list(t.Context(), b.client(t), sms.ListOptions{
			CreatedAfter: after, ReferenceID: "r", PageSize: 7, SortBy: "column", Extra: url.Values{"tag": {"x"}},
		}))
		require.Empty(t, errs)
		for i, q := range b.queries {
			assert.Equal(t, url.Values{
				"filter[dateCreatedGt]": {"2026-09-30T23:59:59.999Z"}, "filter[referenceId]": {"r"}, "pageSize": {"7"},
				"sort[column]": {"column"}, "sort[direction]": {"asc"}, "tag": {"x"}, "pageNumber": {strconv.Itoa(b.asked[i])},
			}, q)
		}
		assert.Equal(t, []int{1, 2, 3}, b.numbers()[:3])
	})
}

func TestListBeginsAtThePage(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, by way) {
		t.Helper()
		b := newBook("1|2|3|4")
		ids, errs := walk(by.list(t.Context(), b.client(t), sms.ListOptions{Page: 3}))
		assert.Empty(t, errs)
		assert.Equal(t, "3 4", ids)
		assert.Equal(t, []int{3, 4}, b.numbers()[:2])
	})
}

func TestListEndsWithTheLoop(t *testing.T) {
	t.Parallel()
	b := newBook("1 2|3 4|5")
	client := b.client(t)
	for _, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		break
	}
	for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		if tx.ID == "2" { // also at the end of a page
			break
		}
	}
	for _, err := range client.SMS.Pages(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		break
	}
	assert.Equal(t, []int{1, 1, 1}, b.numbers())
}

func TestListYieldsThePageThatCameBeforeTheContextEnded(t *testing.T) {
	t.Parallel()
	b := newBook("1 2|3 4|5 6|7")
	client := b.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var ids []string
	var errs []error
	for tx, err := range client.SMS.List(ctx, sms.ListOptions{}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if ids = append(ids, tx.ID); tx.ID == "3" {
			cancel()
		}
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, ids)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], context.Canceled)
	assert.Equal(t, []int{1, 2}, b.numbers())

	again, errs := walk(client.SMS.List(ctx, sms.ListOptions{}))
	assert.Empty(t, again)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], context.Canceled)
	assert.Equal(t, []int{1, 2}, b.numbers())
}

func TestListEndsWithAnError(t *testing.T) {
	t.Parallel()
	everyWay(t, func(t *testing.T, by way) {
		t.Helper()
		b := newBook("1 2|3 4|5 6")
		var fixed bool
		b.before = func(_ context.Context, number int) error {
			if number == 2 && !fixed {
				return errPage
			}
			return nil
		}
		rows := by.list(t.Context(), b.client(t), sms.ListOptions{})
		ids, errs := walk(rows)
		assert.Equal(t, "1 2", ids)
		require.Len(t, errs, 1)
		require.ErrorIs(t, errs[0], errPage)
		fixed = true
		ids, errs = walk(rows)
		assert.Equal(t, "1 2 3 4 5 6", ids, "the failure is not kept")
		assert.Empty(t, errs)
	})
}

func TestListYieldsEachRowOnce(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pages  string
		rows   string
		circle bool // it ends with an error
		calls  int  // 0: as many as there are pages
	}{
		"empty":                            {pages: "", rows: ""},
		"one page":                         {pages: "1 2", rows: "1 2"},
		"disjoint pages":                   {pages: "1 2|3 4|5", rows: "1 2 3 4 5"},
		"a short page in between":          {pages: "1 2|3|4 5", rows: "1 2 3 4 5"},
		"the last is empty":                {pages: "1 2|", rows: "1 2"},
		"rows shift by one":                {pages: "1 2|2 3|3 4|4", rows: "1 2 3 4"},
		"rows shift by two":                {pages: "1 2 3|2 3 4|3 4 5", rows: "1 2 3 4 5"},
		"the last row moved":               {pages: "1 2|2", rows: "1 2"},
		"rows of two pages before are new": {pages: "1|2|1", rows: "1 2 1"},
		"a repeated page":                  {pages: "1 2|1 2|3", rows: "1 2", circle: true, calls: 2},
		"a repeated page in another order": {pages: "1 2|2 1|3", rows: "1 2", circle: true, calls: 2},
		"the last page is repeated":        {pages: "1 2|3|3", rows: "1 2 3", circle: true, calls: 3},
		"a page that repeats, later":       {pages: "1|2|3 4|4|5", rows: "1 2 3 4", circle: true, calls: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := tt.calls
			if calls == 0 {
				calls = strings.Count(tt.pages, "|") + 1
			}
			everyWay(t, func(t *testing.T, by way) {
				t.Helper()
				for _, silent := range []bool{false, true} {
					b := newBook(tt.pages)
					b.silent = silent
					ids, errs := walk(by.list(t.Context(), b.client(t), sms.ListOptions{}))
					assert.Equal(t, tt.rows, ids)
					if tt.circle {
						require.Len(t, errs, 1)
						require.ErrorContains(t, errs[0], "sms.list.paging")
					} else {
						assert.Empty(t, errs)
					}
					numbers := b.numbers()
					assert.Len(t, slices.Compact(slices.Clone(numbers)), len(numbers), "a page is requested twice")
					assert.Len(t, numbers, calls)
				}
			})
		})
	}
}

// A listing is complete or ends with an error.
func TestListIsCompleteOrFails(t *testing.T) {
	t.Parallel()
	const claimed, later = "says that there are rows, and lists none", "is a later page than the first"
	for name, tt := range map[string]struct {
		overlay, body, reason string
		options               sms.ListOptions
	}{
		"the last page, from a cache": {`{}`, `{"pageNumber":3,"totalPages":3,"data":[{"id":"c"}]}`, later, sms.ListOptions{}},
		"the second page, counted":    {`{}`, `{"pageNumber":2,"hasNext":true,"data":[{"id":"c"}]}`, later, sms.ListOptions{}},
		"a later page than it began":  {`{"sms.list":{"paging":{"first":0}}}`, `{"pageNumber":1,"data":[]}`, later, sms.ListOptions{}},
		"no rows, and a total":        {`{}`, `{"totalRows":2,"data":[]}`, claimed, sms.ListOptions{}},
		"no rows, and a next page":    {`{}`, `{"nextPage":2,"data":[]}`, claimed, sms.ListOptions{}},
		"no rows, by offset":          {`{"sms.list":{"paging":{"by":"offset"},"params":{"offset":"start","page":""}}}`, `{"hasNext":true,"data":[]}`, claimed, sms.ListOptions{}},
		"no rows, and more pages":     {`{}`, `{"totalPages":3,"data":[]}`, claimed, sms.ListOptions{}},
		"no rows, and no cursor":      {`{"sms.list":{"paging":{"by":"cursor"},"params":{"cursor":"after"}}}`, `{"totalPages":3,"data":[]}`, claimed, sms.ListOptions{}},
		"no rows, and more by cursor": {`{"sms.list":{"paging":{"by":"cursor"},"params":{"cursor":"after"}}}`, `{"hasNext":true,"data":[]}`, claimed, sms.ListOptions{}},
		"more, and no cursor":         {`{"sms.list":{"paging":{"by":"cursor"},"params":{"cursor":"after"}}}`, `{"hasNext":true,"data":[{"id":"c"}]}`, "says that another page follows, and has no cursor", sms.ListOptions{}},
		"no rows, and one page":       {`{}`, `{"totalPages":1,"data":[]}`, "", sms.ListOptions{}},
		"no rows, and a total of 0":   {`{}`, `{"totalRows":0,"nextPage":2,"data":[]}`, "", sms.ListOptions{}},
		"a page behind the last":      {`{}`, `{"totalRows":2,"data":[]}`, "", sms.ListOptions{Page: 9}},
		"counted from 0":              {`{}`, `{"pageNumber":0,"hasNext":false,"data":[{"id":"c"}]}`, "", sms.ListOptions{}},
		"a total that differs":        {`{}`, `{"totalRows":7,"hasNext":false,"data":[{"id":"c"}]}`, "", sms.ListOptions{}},
		"a failure in part":           {`{}`, `{"partial":true,"data":[{"id":"c"}]}`, "a sign of a failure, or that it is incomplete", sms.ListOptions{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				requests++
				return respond(r, http.StatusOK, tt.body), nil
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), overlay(t, tt.overlay))
			require.NoError(t, err)
			_, errs := list(client.SMS.List(t.Context(), tt.options))
			assert.Equal(t, 1, requests, "another request would bring the same")
			if tt.reason == "" {
				assert.Empty(t, errs)
				return
			}
			require.Len(t, errs, 1)
			require.ErrorContains(t, errs[0], tt.reason)
		})
	}
}

// A page in the middle that comes without its rows is an error, so that the rows after it are not lost silently.
func TestListEndsWithAnErrorAtAGap(t *testing.T) {
	t.Parallel()
	const byOffset = `{"sms.list":{"paging":{"by":"offset"},"params":{"offset":"start","page":""}}}`
	for name, tt := range map[string]struct{ overlay, facts string }{
		"by number, a flag":   {`{}`, `"hasNext":true`},
		"by number, pages":    {`{}`, `"totalPages":3`},
		"by offset, a flag":   {byOffset, `"hasNext":true`},
		"by offset, a total":  {byOffset, `"totalRows":3`},
		"by number, all else": {`{}`, `"pageNumber":2,"pageSize":1,"totalRows":3,"totalPages":3,"hasNext":true,"nextPage":3`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests := 0
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				requests++
				if requests == 1 {
					return respond(r, http.StatusOK, `{"data":[{"id":"a"}]}`), nil
				}
				return respond(r, http.StatusOK, `{`+tt.facts+`,"data":[]}`), nil
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), overlay(t, tt.overlay))
			require.NoError(t, err)
			rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
			assert.Len(t, rows, 1)
			require.Len(t, errs, 1)
			require.ErrorContains(t, errs[0], "the page has no rows, and the response says that more follow")
		})
	}
}

// A service that filters after it has cut its pages has empty pages before the last.
func TestListFollowsEmptyPagesWithACursor(t *testing.T) {
	t.Parallel()
	requests, end := 0, 4
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		requests++
		row := ""
		switch requests {
		case 1:
			row = `{"id":"a"}`
		case end:
			return respond(r, http.StatusOK, `{"nextPage":null,"data":[{"id":"b"}]}`), nil
		}
		return respond(r, http.StatusOK, fmt.Sprintf(`{"nextPage":"c-%d","data":[%s]}`, requests, row)), nil
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(),
		overlay(t, `{"sms.list":{"paging":{"by":"cursor"},"params":{"cursor":"after"}}}`))
	require.NoError(t, err)
	ids, errs := walk(client.SMS.List(t.Context(), sms.ListOptions{}))
	assert.Empty(t, errs)
	assert.Equal(t, "a b", ids)

	requests, end = 0, 0
	ids, errs = walk(client.SMS.List(t.Context(), sms.ListOptions{}))
	require.Len(t, errs, 1, "it does not go on for ever")
	require.ErrorContains(t, errs[0], "have no rows")
	assert.Equal(t, "a", ids)
}

// A service whose cursors lead back would be listed for ever.
func TestListDetectsACircleOfCursors(t *testing.T) {
	t.Parallel()
	for _, length := range []int{1, 2, 3, 17} {
		requests := 0
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			requests++
			return respond(r, http.StatusOK, fmt.Sprintf(`{"nextPage":"c-%d","data":[{"id":"m-%d"}]}`, requests%length, requests)), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), overlay(t, pagings["cursor"]))
		require.NoError(t, err)
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		assert.Len(t, rows, length+1)
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], "a cursor came again: the service does not page as the contract says (sms.list.paging")
		assert.Equal(t, length+1, requests)
	}
}

func TestListTellsRowsWithoutAnIDApart(t *testing.T) {
	t.Parallel()
	rows := map[string]string{
		"two texts, split here": `{"from":"a","to":"bc"}`, "two texts, split there": `{"from":"ab","to":"c"}`,
		"Extra":              `{"a":12}`,
		"Extra, other name":  `{"b":12}`,
		"Extra, split later": `{"a1":2}`,
		"Extra, two members": `{"a":12,"b":1}`,
		"Parts":              `{"messageParts":2}`,
		"CreatedAt":          `{"dateCreated":"2026-10-03T14:44:23.186Z"}`,
		"SentAt":             `{"dateSent":"2026-10-03T14:44:23.186Z"}`,
	}
	for _, name := range []string{
		"requestId", "referenceId", "categoryId", "from", "to", "text", "price", "sendStatus", "dlrStatus", "operator", "country", "description",
	} {
		rows[name] = fmt.Sprintf(`{%q:"x"}`, name)
	}
	count := func(before, after string) (n int) {
		b := &book{first: 1, pages: [][]string{{before}, {after}}}
		for _, err := range b.client(t).SMS.List(t.Context(), sms.ListOptions{}) {
			if errors.Is(err, messaging.ErrUnreadableRow) { // it has no ID
				n++
			}
		}
		return n
	}
	for name, row := range rows {
		assert.Equal(t, 1, count(row, row), "%s: the same row", name)
		assert.Equal(t, 2, count("{}", row), "%s with an empty row", name)
		for other := range rows {
			if other != name {
				assert.Equal(t, 2, count(rows[other], row), "%s with %s", name, other)
			}
		}
	}
}

func TestListYieldsAMovedRowErrorOnce(t *testing.T) {
	t.Parallel()
	odd := `{"id":"2","messageParts":"x"}`
	b := &book{first: 1, pages: [][]string{{`{"id":"1"}`, odd}, {odd, `{"id":"3"}`}}}
	ids, errs := walk(b.client(t).SMS.List(t.Context(), sms.ListOptions{}))
	assert.Equal(t, "1 3", ids)
	assert.Len(t, errs, 1)
	pages, pageErrors := 0, 0
	for _, err := range b.client(t).SMS.Pages(t.Context(), sms.ListOptions{}) {
		pages++
		if err != nil {
			pageErrors++
		}
	}
	assert.Equal(t, 2, pages)
	assert.Equal(t, 1, pageErrors, "a page has no error of a row that it leaves out")
}

func TestListEndsWithTheLoopAtARowError(t *testing.T) {
	t.Parallel()
	b := &book{first: 1, pages: [][]string{{`"no object"`, `{"id":"2"}`}, {`{"id":"3"}`}}}
	rows := 0
	for _, err := range b.client(t).SMS.List(t.Context(), sms.ListOptions{}) {
		require.ErrorIs(t, err, messaging.ErrUnreadableRow)
		rows++
		break
	}
	assert.Equal(t, 1, rows)
	assert.Equal(t, []int{1}, b.numbers())
}

func TestRowErrorCountsPagesInTheOrderOfAListingWithoutNumbers(t *testing.T) {
	t.Parallel()
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("cursor") == "" {
			return respond(r, http.StatusOK, `{"data":[{"id":"1"}],"nextPage":"c"}`), nil
		}
		return respond(r, http.StatusOK, `{"data":[{"id":"2","messageParts":"x"}],"nextPage":null}`), nil
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), overlay(t, pagings["cursor"]))
	require.NoError(t, err)
	_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
	require.Len(t, errs, 1)
	require.ErrorContains(t, errs[0], "row 1 of page 2 ")

	for page, err := range client.SMS.Pages(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		_, errs = list(client.SMS.List(t.Context(), sms.ListOptions{After: page.Next}))
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], "row 1 of page 2 ", "in another process, too")
		break
	}
}

// TestRowErrorNamesThePathOfItsValue: it is the path that the contract must change, or the service explain.
func TestRowErrorNamesThePathOfItsValue(t *testing.T) {
	t.Parallel()
	const price = `{"sms.list": {"record": {"price": ["price", "price.amount"]}}}`
	for row, want := range map[string]string{
		`{"id":"1","price":{"amount":"red"}}`: "Price is not a decimal number (price.amount)",
		`{"id":"1","price":{"colour":"red"}}`: "Price is neither a text nor a number (price)",
		`{"id":"1","messageParts":"two"}`:     "Parts is in no known form (messageParts)",
		`{"id":["1"]}`:                        "ID is not an ID (id)",
		`{"price":"1"}`:                       "ID is missing",
		`"no object"`:                         "is not an object",
	} {
		service := roundTripper(func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusOK, `{"hasNext":false,"data":[`+row+`]}`), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(), overlay(t, price))
		require.NoError(t, err)
		_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		require.Len(t, errs, 1)
		assert.Regexp(t, "cannot be read: "+regexp.QuoteMeta(want)+"$", errs[0].Error())
	}
}

func TestPagesReportTheListing(t *testing.T) {
	t.Parallel()
	var got []sms.Page
	for page, err := range newBook("1 2|2 3|4").client(t).SMS.Pages(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		page.Next = regexp.MustCompile(`"contract":"[\w-]{4}"`).ReplaceAllString(page.Next, "")
		got = append(got, page)
	}
	assert.Equal(t, []sms.Page{
		{Transactions: []sms.Transaction{{ID: "1"}, {ID: "2"}}, Total: 5, TotalPages: 3, Next: `{"page":2,"last":"2","options":{}}`},
		{Transactions: []sms.Transaction{{ID: "3"}}, Total: 5, TotalPages: 3, Next: `{"page":3,"last":"3","options":{}}`},
		{Transactions: []sms.Transaction{{ID: "4"}}, Total: 5, TotalPages: 3},
	}, got)
}

func TestPagesOfAnEmptyListing(t *testing.T) {
	t.Parallel()
	b := newBook("")
	pages := 0
	for page, err := range b.client(t).SMS.Pages(t.Context(), sms.ListOptions{}) {
		require.NoError(t, err)
		assert.Equal(t, sms.Page{Transactions: []sms.Transaction{}, TotalPages: 1}, page)
		pages++
	}
	assert.Equal(t, 1, pages)
	assert.Equal(t, []int{1}, b.numbers())
}

func TestPagesYieldAnEmptyPageBesideAnError(t *testing.T) {
	t.Parallel()
	b := newBook("1|2")
	b.before = func(_ context.Context, number int) error {
		if number == 2 {
			return errPage
		}
		return nil
	}
	var got []sms.Page
	var errs []error
	for page, err := range b.client(t).SMS.Pages(t.Context(), sms.ListOptions{}) {
		got, errs = append(got, page), append(errs, err)
	}
	require.Len(t, got, 2)
	assert.Equal(t, sms.Page{}, got[1])
	assert.ErrorIs(t, errs[1], errPage)
}

func TestListRetriesAPageThatIsTooSlow(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second
	for slow := 1; slow <= 3; slow++ {
		synctest.Test(t, func(t *testing.T) {
			b := newBook("1 2|3 4|5")
			asked := 0
			b.before = func(ctx context.Context, number int) error {
				if number != slow {
					return nil
				}
				if asked++; asked > 1 {
					return nil
				}
				return wait(ctx, time.Hour)
			}
			client, start := b.client(t, messaging.WithRetry(messaging.RetryPolicy{}), messaging.WithTimeout(timeout)), time.Now()
			ids, errs := walk(client.SMS.List(t.Context(), sms.ListOptions{}))
			assert.Equal(t, "1 2 3 4 5", ids)
			assert.Empty(t, errs)
			assert.Equal(t, 2, asked)
			assert.GreaterOrEqual(t, time.Since(start), timeout)
		})
	}
}

// referenced returns a listing of rows with these reference IDs, a row per page. The ID of each is its place.
func referenced(references ...string) *book {
	b := &book{first: 1}
	for i, reference := range references {
		raw, _ := json.Marshal(map[string]string{"id": string(rune('a' + i)), "referenceId": reference})
		b.pages = append(b.pages, []string{string(raw)})
	}
	return b
}

func TestFindWalksAllPages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		book  *book
		id    string
		calls int
	}{
		"on the first page":    {referenced("r-1"), "a", 1},
		"on the last page":     {referenced("r-2", "r-3", "r-1"), "c", 3},
		"the first of several": {referenced("r-2", "r-1", "r-1"), "b", 2},
		"after none":           {referenced("", "r-1"), "b", 2},
		"after similar ones":   {referenced("R-1", "r-10", " r-1", "r-1"), "d", 4},
	} {
		tx, err := tt.book.client(t).SMS.Find(t.Context(), "r-1")
		require.NoError(t, err, name)
		assert.Equal(t, sms.Transaction{ID: tt.id, ReferenceID: "r-1"}, tx, name)
		assert.Len(t, tt.book.asked, tt.calls, name)
		for _, q := range tt.book.queries {
			assert.Equal(t, "r-1", q.Get("filter[referenceId]"), name)
		}
	}
}

func TestFindWithoutARow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		book *book
		is   error
		not  error
	}{
		"nothing":         {newBook(""), messaging.ErrNotListed, messaging.ErrFilterIgnored},
		"one other":       {referenced("r-2"), messaging.ErrFilterIgnored, messaging.ErrNotFound},
		"many others":     {referenced("r-2", "r-3", "r-4"), messaging.ErrFilterIgnored, messaging.ErrNotFound},
		"no reference":    {referenced(""), messaging.ErrFilterIgnored, messaging.ErrNotFound},
		"almost the same": {referenced("R-1", "r-1 ", "r-10"), messaging.ErrFilterIgnored, messaging.ErrNotFound},
		"a failure":       {&book{first: 1, before: func(context.Context, int) error { return errPage }}, errPage, messaging.ErrNotFound},
	} {
		tx, err := tt.book.client(t).SMS.Find(t.Context(), "r-1")
		require.ErrorIs(t, err, tt.is, name)
		require.NotErrorIs(t, err, tt.not, name)
		assert.Equal(t, sms.Transaction{}, tx, name)
	}
}

func TestFindAmongRowErrors(t *testing.T) {
	t.Parallel()
	odd := `{"id":"a","referenceId":"r-1","messageParts":"x"}`
	for name, tt := range map[string]struct {
		pages [][]string
		id    string
		is    error
	}{
		"the row itself":    {[][]string{{odd}}, "a", nil},
		"a row before it":   {[][]string{{`"x"`}, {`{"id":"b","referenceId":"r-1"}`}}, "b", nil},
		"nothing else":      {[][]string{{`"x"`}}, "", messaging.ErrUnreadableRow},
		"other rows after":  {[][]string{{`"x"`}, {`{"id":"b","referenceId":"r-2"}`}}, "", messaging.ErrFilterIgnored},
		"others with it":    {[][]string{{`"x"`, `{"id":"b"}`}}, "", messaging.ErrFilterIgnored},
		"one without an ID": {[][]string{{`{"referenceId":"r-2"}`}}, "", messaging.ErrUnreadableRow},
	} {
		b := &book{first: 1, pages: tt.pages}
		tx, err := b.client(t).SMS.Find(t.Context(), "r-1")
		assert.Equal(t, tt.id, tx.ID, name)
		if tt.is == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, tt.is, name)
		require.NotErrorIs(t, err, messaging.ErrNotListed, name)
	}
}

// The contract may have a wrong name for the cursor. The first page must then not pass for the whole listing.
func TestListWithoutACursorForMoreRows(t *testing.T) {
	t.Parallel()
	const names = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "cursor"}}}`
	const row = `{"transactionId": "m"}`
	for name, tt := range map[string]struct {
		page  string
		isCut bool
	}{
		"more in all":             {`{"transactions": [` + row + `], "pageSize": 1, "totalRows": 3, "after": "c2"}`, true},
		"more pages":              {`{"transactions": [` + row + `], "pageSize": 1, "totalPages": 3, "after": "c2"}`, true},
		"a short page":            {`{"transactions": [` + row + `], "pageSize": 2, "totalRows": 3}`, false},
		"as many as there are":    {`{"transactions": [` + row + `], "pageSize": 1, "totalRows": 1}`, false},
		"no totals":               {`{"transactions": [` + row + `], "pageSize": 1}`, false},
		"the cursor is null":      {`{"transactions": [` + row + `], "pageSize": 1, "totalRows": 3, "nextPage": null}`, false},
		"the response says ended": {`{"transactions": [` + row + `], "pageSize": 1, "totalRows": 3, "hasNext": false}`, false},
	} {
		client, mock := mocked(t, overlay(t, names))
		mock.RegisterNoResponder(httpmock.NewStringResponder(http.StatusOK, tt.page))
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		assert.Len(t, rows, 1, name)
		if !tt.isCut {
			assert.Empty(t, errs, name)
			continue
		}
		require.Len(t, errs, 1, name)
		assert.ErrorContains(t, errs[0], "sms.list.page.next", name)
	}
}
