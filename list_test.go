package messaging_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// respondingLists registers the response to the n-th list request, from 1, and returns the requests as they come.
func respondingLists(mock *httpmock.MockTransport, response func(n int) (status int, body string)) func() []*http.Request {
	var mu sync.Mutex
	var requests []*http.Request
	mock.RegisterResponder(http.MethodGet, `=~/api/sms`, func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		requests = append(requests, r)
		status, body := response(len(requests))
		return httpmock.NewStringResponse(status, body), nil
	})
	return func() []*http.Request {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(requests)
	}
}

func always(status int, body string) func(int) (int, string) {
	return func(int) (int, string) { return status, body }
}

// list ranges to the end, over errors too.
func list(rows iter.Seq2[sms.Transaction, error]) (all []sms.Transaction, errs []error) {
	for tx, err := range rows {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		all = append(all, tx)
		if len(all) > 10_000 {
			return all, append(errs, errors.New("it does not end"))
		}
	}
	return all, errs
}

func idsOf(rows []sms.Transaction) []string {
	ids := make([]string, len(rows))
	for i, tx := range rows {
		ids[i] = tx.ID
	}
	return ids
}

// testService starts a test server with n messages, a second apart, and returns a client of it.
func testService(t *testing.T, n int, options ...messaging.Option) (*messagingtest.Server, *messaging.Client, time.Time) {
	t.Helper()
	srv := messagingtest.NewServer(t)
	return srv, clientOf(t, srv, options...), seedService(srv, n)
}

// pagedService is like testService with a kind of paging.
func pagedService(t *testing.T, n int, kind string) (*messagingtest.Server, *messaging.Client) {
	t.Helper()
	names, err := contract.Parse([]byte(pagings[kind]))
	require.NoError(t, err)
	srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
	seedService(srv, n)
	return srv, clientOf(t, srv, messaging.WithContract(names))
}

// seedService puts n messages into the ledger, a second apart, and returns the time of the first.
func seedService(srv *messagingtest.Server, n int) time.Time {
	began := time.Date(2026, 10, 3, 14, 0, 0, 0, time.UTC)
	seeds := make([]messagingtest.Sent, n)
	for i := range seeds {
		seeds[i] = messagingtest.Sent{
			ID: fmt.Sprintf("m-%03d", i), RequestID: fmt.Sprintf("q-%03d", i), ReferenceID: fmt.Sprintf("r-%03d", i),
			CategoryID: fmt.Sprintf("c-%d", i%3), From: fmt.Sprintf("FROM%d", i%2), To: fmt.Sprintf("63917000%04d", i%5),
			Text: "Hi", At: began.Add(time.Duration(i) * time.Second),
		}
	}
	srv.Seed(seeds...)
	return began
}

func clientOf(t *testing.T, srv *messagingtest.Server, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(srv.URL, append([]messaging.Option{
		messaging.WithToken(srv.Token),
		messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 3, MinWait: time.Millisecond, MaxWait: 2 * time.Second}),
	}, options...)...)
	require.NoError(t, err)
	return client
}

// seeded returns the IDs of messages, as testService names them.
func seeded(from, below int) []string {
	var ids []string
	for i := from; i < below; i++ {
		ids = append(ids, fmt.Sprintf("m-%03d", i))
	}
	return ids
}

// A filter is the service's word; a row is proof.
func TestListYieldsOnlyRowsThatWereAskedFor(t *testing.T) {
	t.Parallel()
	to := sms.ListOptions{To: "+639171234567"}
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		options sms.ListOptions
		row     string
		kept    bool
	}{
		{to, `"to":"639171234567"`, true},
		{to, `"to":"09171234567"`, true},
		{to, `"to":"+63 917 123-4567"`, true},
		{to, `"to":"63917***4567"`, true},
		{to, `"to":"unknown"`, true},
		{to, `"to":""`, true},
		{to, `"text":"x"`, true},
		{to, `"to":"639180000000"`, false},
		{sms.ListOptions{From: "ACME"}, `"from":"OTHER"`, true},
		{sms.ListOptions{ID: "m-1"}, `"text":"x"`, true},
		{sms.ListOptions{ID: "m-2"}, `"text":"x"`, false},
		{sms.ListOptions{ReferenceID: "r-1"}, `"referenceId":"R-1"`, true},
		{sms.ListOptions{ReferenceID: "r-1"}, `"referenceId":"r-2"`, false},
		{sms.ListOptions{ReferenceID: "r-1"}, `"referenceId":null`, true},
		{sms.ListOptions{RequestID: "q-1"}, `"requestId":"q-2"`, true},
		{sms.ListOptions{Status: "delivered"}, `"dlrStatus":"failed"`, true},
		{sms.ListOptions{CategoryID: "c-1"}, `"categoryId":"c-2"`, true},
		{sms.ListOptions{CreatedAfter: noon}, `"dateCreated":"2026-11-22T12:00:00.000Z"`, true},
		{sms.ListOptions{CreatedAfter: noon}, `"dateCreated":"2026-11-22T11:59:58.000Z"`, false},
		{sms.ListOptions{CreatedBefore: noon}, `"dateCreated":"2026-11-22T12:00:02.000Z"`, false},
		{sms.ListOptions{CreatedBefore: noon}, `"text":"no time"`, true},
	} {
		client, mock := mocked(t, overlay(t, `{"sms.list": {"params": {"status": "state"}}}`))
		respondingLists(mock, func(int) (int, string) {
			return http.StatusOK, `{"hasNext":false,"data":[{"transactionId":"m-1",` + tt.row + `}]}`
		})
		rows, errs := list(client.SMS.List(t.Context(), tt.options))
		require.Len(t, errs, map[bool]int{false: 1, true: 0}[tt.kept], tt.row)
		assert.Len(t, rows, map[bool]int{false: 0, true: 1}[tt.kept], tt.row)
		for _, err := range errs {
			require.ErrorIs(t, err, messaging.ErrFilterIgnored)
		}
	}
	client, mock := mocked(t)
	respondingLists(mock, func(n int) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"totalRows":3,"hasNext":%v,"data":[{"transactionId":"m-%d","to":"63917123456%d"}]}`, n < 3, n, n+5)
	})
	var totals, kept, omitted []int
	for page, err := range client.SMS.Pages(t.Context(), to) {
		require.NoError(t, err)
		totals = append(totals, page.Total)
		kept = append(kept, len(page.Transactions))
		omitted = append(omitted, page.Omitted)
	}
	assert.Equal(t, []int{3, 3, 3}, totals, "the service's")
	assert.Equal(t, []int{0, 1, 0}, kept)
	assert.Equal(t, []int{1, 0, 1}, omitted)
}

// Pages requests more than the bounds of time: the rows and the omitted rows together are the total of the service.
func TestOmittedRowsAndRowsAreTheTotal(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, overlay(t, `{"sms.list": {"time": "rfc3339"}}`))
	respondingLists(mock, func(n int) (int, string) {
		at := map[int]string{1: "11:59:59", 2: "12:00:00"}[n]
		return http.StatusOK, fmt.Sprintf(`{"totalRows":2,"hasNext":%v,"data":[{"transactionId":"m-%d","dateCreated":"2026-11-22T%sZ"}]}`, n < 2, n, at)
	})
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var kept, omitted []int
	for page, err := range client.SMS.Pages(t.Context(), sms.ListOptions{CreatedAfter: noon.Add(-time.Second / 2), CreatedBefore: noon.Add(time.Hour)}) {
		require.NoError(t, err)
		kept = append(kept, len(page.Transactions))
		omitted = append(omitted, page.Omitted)
	}
	assert.Equal(t, []int{0, 1}, kept)
	assert.Equal(t, []int{1, 0}, omitted)
}

func TestListOnTheWire(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	requests := respondingLists(mock, func(n int) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"status":true,"totalRows":2,"totalPages":2,"pageNumber":%d,"hasNext":%v,"data":[{"transactionId":"i&d","messageParts":%d}]}`, n, n == 1, n)
	})
	after := time.Date(2026, 10, 1, 2, 0, 0, 123_999_999, time.FixedZone("", 2*3600))
	rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{
		CreatedAfter: after, CreatedBefore: after.Add(time.Hour), ID: "i&d", ReferenceID: "r d", RequestID: "q", CategoryID: "c",
		From: "AC/ME", To: "+639171234567", PageSize: 500, SortBy: "dateCreated", Descending: true, Extra: url.Values{"tag": {"a", "b"}},
	}))
	require.Len(t, errs, 1, "the second page has the same row")
	assert.Len(t, rows, 1)
	got := requests()
	require.Len(t, got, 2)
	for i, r := range got {
		assert.Equal(t, http.MethodGet, r.Method)
		assert.Equal(t, "/api/sms", r.URL.Path)
		assert.True(t, r.Body == nil || r.Body == http.NoBody)
		assert.Equal(t, "Bearer tok-SECRET", r.Header.Get("Authorization"))
		assert.Equal(t, url.Values{
			"filter[dateCreatedGt]": {"2026-10-01T00:00:00.123Z"}, "filter[dateCreatedLt]": {"2026-10-01T01:00:00.124Z"},
			"filter[transactionId]": {"i&d"}, "filter[referenceId]": {"r d"}, "filter[requestId]": {"q"}, "filter[categoryId]": {"c"},
			"filter[from]": {"AC/ME"}, "filter[to]": {"+639171234567"}, "pageSize": {"500"}, "pageNumber": {fmt.Sprint(i + 1)},
			"sort[column]": {"dateCreated"}, "sort[direction]": {"desc"}, "tag": {"a", "b"},
		}, r.URL.Query())
	}
}

func TestListDecodesARow(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	respondingLists(mock, always(http.StatusOK, `{"hasNext":false,"data":[{"transactionId":"t-1","requestId":"q-1","referenceId":17,"categoryId":"c-1",
		"from":"ACME","to":"+639171234567","text":"Tom & <Jerry> é 😀","messageParts":"2","price":0.50,"dateCreated":"2026-10-03T14:44:23.186Z",
		"dateSent":"2026-10-03 14:44:24","sendStatus":1,"dlrStatus":"7","operator":"OP_1","country":"PHL","description":"sent","id":"second","user":{"n":1}}]}`))
	rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
	require.Empty(t, errs)
	require.Len(t, rows, 1)
	created := time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.UTC)
	assert.True(t, rows[0].CreatedAt.Equal(created))
	assert.True(t, rows[0].SentAt.Equal(created.Truncate(time.Second).Add(time.Second)))
	rows[0].CreatedAt, rows[0].SentAt = time.Time{}, time.Time{}
	assert.Equal(t, sms.Transaction{
		ID: "t-1", RequestID: "q-1", ReferenceID: "17", CategoryID: "c-1", From: "ACME", To: "+639171234567", Text: "Tom & <Jerry> é 😀",
		Parts: 2, Price: "0.50", SendStatus: "1", DeliveryStatus: "7", Operator: "OP_1", Country: "PHL", Description: "sent",
		Extra: map[string]json.RawMessage{"id": json.RawMessage(`"second"`), "user": json.RawMessage(`{"n":1}`)},
	}, rows[0])
}

func TestListReportsEveryProblem(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	byOffset := overlay(t, `{"sms.list": {"paging": {"by": "offset"}, "params": {"offset": "offset"}}}`)
	unpaged := overlay(t, `{"sms.list": {"paging": {"by": "none", "whole": true}, "params": {"page": "", "pageSize": ""}}}`)
	byCursor := overlay(t, `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "cursor"}}}`)
	for name, tt := range map[string]struct {
		contract messaging.Option
		options  sms.ListOptions
		fields   []string
	}{
		"all at once": {
			overlay(t, `{}`),
			sms.ListOptions{CreatedAfter: at, CreatedBefore: at, Page: -4711, PageSize: -1, Status: "SECRET", Extra: url.Values{"pageNumber": {"SECRET"}}},
			[]string{"CreatedBefore", "Page", "PageSize", "Status", `Extra["pageNumber"]`},
		},
		"a status":              {overlay(t, `{}`), sms.ListOptions{Status: "SECRET"}, []string{"Status"}},
		"a page by offset":      {byOffset, sms.ListOptions{Page: 2}, []string{"Page"}},
		"a page by cursor":      {byCursor, sms.ListOptions{Page: 2}, []string{"Page"}},
		"a page of one":         {unpaged, sms.ListOptions{Page: 2}, []string{"Page"}},
		"a page size of one":    {unpaged, sms.ListOptions{PageSize: 2}, []string{"PageSize"}},
		"the cursor as a field": {byCursor, sms.ListOptions{Extra: url.Values{"cursor": {"SECRET"}}}, []string{`Extra["cursor"]`}},
		"the page as a field":   {overlay(t, `{}`), sms.ListOptions{Extra: url.Values{"pageNumber": {"1"}}}, []string{`Extra["pageNumber"]`}},
	} {
		client, mock := mocked(t, tt.contract)
		rows, errs := list(client.SMS.List(t.Context(), tt.options))
		assert.Empty(t, rows, name)
		require.Len(t, errs, 1, name)
		var v *messaging.ValidationError
		require.ErrorAs(t, errs[0], &v, name)
		var fields []string
		for _, p := range v.Problems {
			fields = append(fields, p.Field)
		}
		assert.ElementsMatch(t, tt.fields, fields, name)
		assert.Equal(t, "sms.list", v.Operation, name)
		require.ErrorIs(t, errs[0], messaging.ErrInvalid, name)
		assert.NotContains(t, errs[0].Error(), "SECRET", name)
		assert.Zero(t, mock.GetTotalCallCount(), name)
		for page, err := range client.SMS.Pages(t.Context(), tt.options) {
			assert.Equal(t, sms.Page{}, page, name)
			assert.ErrorAs(t, err, &v, name)
		}
	}
}

func TestListRejectsANilContext(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	_, errs := list(client.SMS.List(noContext, sms.ListOptions{}))
	require.Len(t, errs, 1)
	var v *messaging.ValidationError
	require.ErrorAs(t, errs[0], &v)
	assert.Equal(t, "ctx", v.Field)
	assert.Zero(t, mock.GetTotalCallCount())
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	_, client, began := testService(t, 30)
	some := func(keep func(i int) bool) (ids []string) {
		for i := range 30 {
			if keep(i) {
				ids = append(ids, fmt.Sprintf("m-%03d", i))
			}
		}
		return ids
	}
	for name, tt := range map[string]struct {
		options sms.ListOptions
		want    []string
	}{
		"after":     {sms.ListOptions{CreatedAfter: began.Add(20 * time.Second)}, seeded(20, 30)},
		"before":    {sms.ListOptions{CreatedBefore: began.Add(3 * time.Second)}, seeded(0, 3)},
		"between":   {sms.ListOptions{CreatedAfter: began.Add(3 * time.Second), CreatedBefore: began.Add(6 * time.Second)}, seeded(3, 6)},
		"ID":        {sms.ListOptions{ID: "m-007"}, seeded(7, 8)},
		"reference": {sms.ListOptions{ReferenceID: "r-008"}, seeded(8, 9)},
		"request":   {sms.ListOptions{RequestID: "q-009"}, seeded(9, 10)},
		"category":  {sms.ListOptions{CategoryID: "c-1"}, some(func(i int) bool { return i%3 == 1 })},
		"sender":    {sms.ListOptions{From: "FROM1"}, some(func(i int) bool { return i%2 == 1 })},
		"recipient": {sms.ListOptions{To: "639170000003"}, some(func(i int) bool { return i%5 == 3 })},
		"several":   {sms.ListOptions{To: "639170000003", From: "FROM1", CreatedBefore: began.Add(20 * time.Second)}, []string{"m-003", "m-013"}},
		"nothing":   {sms.ListOptions{ID: "m-999"}, []string{}},
		"no filter": {sms.ListOptions{}, seeded(0, 30)},
	} {
		tt.options.SortBy, tt.options.PageSize = "transactionId", 2
		rows, errs := list(client.SMS.List(t.Context(), tt.options))
		require.Empty(t, errs, name)
		assert.Equal(t, tt.want, idsOf(rows), name)
	}
}

func TestListSorts(t *testing.T) {
	t.Parallel()
	_, client, _ := testService(t, 9)
	backwards := seeded(0, 9)
	slices.Reverse(backwards)
	for name, tt := range map[string]struct {
		options sms.ListOptions
		want    []string
	}{
		"ascending":         {sms.ListOptions{SortBy: "dateCreated"}, seeded(0, 9)},
		"descending":        {sms.ListOptions{SortBy: "dateCreated", Descending: true}, backwards},
		"the service's own": {sms.ListOptions{}, backwards},
		"by another column": {sms.ListOptions{SortBy: "from"}, []string{"m-000", "m-002", "m-004", "m-006", "m-008", "m-001", "m-003", "m-005", "m-007"}},
		"from a later page": {sms.ListOptions{SortBy: "dateCreated", Page: 3}, seeded(4, 9)},
	} {
		tt.options.PageSize = 2
		rows, errs := list(client.SMS.List(t.Context(), tt.options))
		require.Empty(t, errs, name)
		assert.Equal(t, tt.want, idsOf(rows), name)
	}
}

// pagings are the kinds of paging, with the contract that each needs.
var pagings = map[string]string{
	"page":   `{}`,
	"offset": `{"sms.list": {"paging": {"by": "offset"}, "params": {"offset": "offset"}}}`,
	"cursor": `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "cursor"}}}`,
	"none":   `{"sms.list": {"paging": {"by": "none", "whole": true}, "params": {"page": "", "pageSize": ""}}}`,
}

func TestListWalksEveryKindOfPaging(t *testing.T) {
	t.Parallel()
	for kind := range pagings {
		srv, client := pagedService(t, 10, kind)
		for _, size := range []int{1, 3, 5, 10, 11} {
			options := sms.ListOptions{SortBy: "transactionId", PageSize: size}
			full := (10 + size - 1) / size
			if kind == "none" {
				options.PageSize, full = 0, 1
			}
			before := srv.Requests()
			rows, errs := list(client.SMS.List(t.Context(), options))
			require.Empty(t, errs, "%v, %d", kind, size)
			assert.Equal(t, seeded(0, 10), idsOf(rows), "%v, %d", kind, size)
			assert.Equal(t, full, srv.Requests()-before, "requests %v, %d", kind, size)

			pages := 0
			for page, err := range client.SMS.Pages(t.Context(), options) {
				require.NoError(t, err)
				pages++
				assert.Equal(t, 10, page.Total)
				assert.Equal(t, pages < full, page.Next != "")
				if kind == "page" {
					assert.Equal(t, full, page.TotalPages)
				}
			}
			assert.Equal(t, full, pages)
		}
		srv.Reset()
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		assert.Empty(t, rows, "%v", kind)
		assert.Empty(t, errs, "%v", kind)
	}
}

func TestListYieldsMovedRowsOnce(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"page", "offset", "cursor"} {
		for _, shift := range []int{1, 2} {
			srv, client := pagedService(t, 20, kind)
			arriveBetweenPages(srv, shift)
			rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{PageSize: 5}))
			require.Empty(t, errs, "%v, %d", kind, shift)
			got := slices.DeleteFunc(idsOf(rows), func(id string) bool { return strings.HasPrefix(id, "new-") })
			slices.Reverse(got) // the newest were first
			assert.Equal(t, seeded(0, 20), got, "%v, %d", kind, shift)
		}
	}
	srv, client, _ := testService(t, 20) // each page is the first again
	arriveBetweenPages(srv, 5)
	rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{PageSize: 5}))
	assert.Len(t, rows, 5)
	require.Len(t, errs, 1)
	assert.ErrorContains(t, errs[0], "sms.list.paging")
}

// arriveBetweenPages makes n messages arrive after each page but the last, as new as can be.
func arriveBetweenPages(srv *messagingtest.Server, n int) {
	arrived := 0
	srv.Watch(func(r *http.Request, _ messagingtest.Fault, _ string) {
		isFirst := srv.Requests() == 1
		if isFirst || arrived >= 1000 {
			return
		}
		for range n {
			arrived++
			srv.Seed(messagingtest.Sent{ID: fmt.Sprintf("new-%03d", arrived), From: "A", To: "639171234567", Text: "Hi", At: time.Now().Add(time.Duration(arrived) * time.Hour)})
		}
	})
}

// repeatFirst wraps a transport in a cache that responds to every request with the first response.
func repeatFirst(base http.RoundTripper) http.RoundTripper {
	var first []byte
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if first == nil {
			first = page
		}
		resp.Body = io.NopCloser(bytes.NewReader(first))
		resp.ContentLength = int64(len(first))
		return resp, err
	})
}

func TestListEndsAtARepeatedPage(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"page", "cursor"} {
		names, err := contract.Parse([]byte(pagings[kind]))
		require.NoError(t, err)
		srv := messagingtest.NewServer(t, messagingtest.WithContract(names))
		seedService(srv, 10)
		client := clientOf(t, srv, messaging.WithContract(names), messaging.WithTransport(repeatFirst))
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{SortBy: "transactionId", PageSize: 2}))
		assert.Equal(t, seeded(0, 2), idsOf(rows), kind)
		require.Len(t, errs, 1, kind)
		var e *messaging.Error
		require.ErrorAs(t, errs[0], &e)
		assert.Equal(t, "sms.list", e.Operation)
		require.ErrorContains(t, errs[0], "a page has only rows of the page before it: the service does not page as the contract says (sms.list.paging")
		require.NotErrorIs(t, errs[0], messaging.ErrOutcomeUnknown)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	srv, client, _ := testService(t, 300)
	tx, err := client.SMS.Find(t.Context(), "r-007")
	require.NoError(t, err)
	assert.Equal(t, "m-007", tx.ID)

	var e *messaging.Error
	_, err = client.SMS.Find(t.Context(), "r-9999")
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, messaging.ErrNotFound)
	require.ErrorIs(t, err, messaging.ErrNotListed)
	require.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
	require.NotErrorIs(t, err, messaging.ErrFilterIgnored)

	srv.Inject(messagingtest.FaultStatus(http.StatusNotFound, 0), 1)
	_, err = client.SMS.Find(t.Context(), "r-9999")
	require.ErrorIs(t, err, messaging.ErrNotFound)
	require.NotErrorIs(t, err, messaging.ErrNotListed, "a wrong address says nothing of a message")

	srv.IgnoreFilter(true)
	tx, err = client.SMS.Find(t.Context(), "r-007") // on a later page of all rows
	require.NoError(t, err)
	assert.Equal(t, "m-007", tx.ID)
	_, err = client.SMS.Find(t.Context(), "r-9999")
	require.ErrorAs(t, err, &e)
	require.ErrorIs(t, err, messaging.ErrFilterIgnored)
	require.NotErrorIs(t, err, messaging.ErrNotFound)
	require.NotErrorIs(t, err, messaging.ErrNotListed)
	require.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
	require.ErrorContains(t, err, "does not filter")

	var v *messaging.ValidationError
	_, err = client.SMS.Find(t.Context(), "")
	require.ErrorAs(t, err, &v)
	assert.Equal(t, "referenceID", v.Field)
}

func TestListRetriesAPage(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]messagingtest.Fault{
		"cut":             messagingtest.FaultTruncated(),
		"dropped":         messagingtest.FaultAcceptThenDrop(),
		"dropped unread":  messagingtest.FaultDropUnread(),
		"no JSON":         messagingtest.FaultNotJSON(),
		"408":             messagingtest.FaultStatus(http.StatusRequestTimeout, 0),
		"429":             messagingtest.FaultStatus(http.StatusTooManyRequests, -1),
		"500":             messagingtest.FaultStatus(http.StatusInternalServerError, 0),
		"502":             messagingtest.FaultStatus(http.StatusBadGateway, 0),
		"503":             messagingtest.FaultStatus(http.StatusServiceUnavailable, 0),
		"504":             messagingtest.FaultStatus(http.StatusGatewayTimeout, 0),
		"slow, not a lot": messagingtest.FaultSlow(20 * time.Millisecond),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv, client, _ := testService(t, 6)
			srv.Inject(fault, 1) // the first page
			var got []string
			for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{SortBy: "transactionId", PageSize: 2}) {
				require.NoError(t, err)
				if got = append(got, tx.ID); len(got) == 1 {
					srv.Inject(fault, 1) // the second page
				}
			}
			assert.Equal(t, seeded(0, 6), got)
		})
	}
}

func TestListFailureHasNoVerdict(t *testing.T) {
	t.Parallel()
	for status, class := range map[int]error{
		http.StatusBadRequest: messaging.ErrInvalid, http.StatusUnauthorized: messaging.ErrUnauthorized,
		http.StatusForbidden: messaging.ErrForbidden, http.StatusNotFound: messaging.ErrNotFound,
		http.StatusTooManyRequests: messaging.ErrRateLimited, http.StatusInternalServerError: messaging.ErrUnavailable,
		http.StatusServiceUnavailable: messaging.ErrUnavailable, http.StatusFound: nil, http.StatusNotImplemented: nil,
	} {
		client, mock := mocked(t)
		respondingLists(mock, always(status, `{"message":"no tok-SECRET for 639171234567"}`))
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{To: "639171234567"}))
		assert.Empty(t, rows, status)
		require.Len(t, errs, 1, status)
		var e *messaging.Error
		require.ErrorAs(t, errs[0], &e, status)
		assert.Equal(t, status, e.StatusCode)
		assert.Equal(t, "sms.list", e.Operation)
		require.NotErrorIs(t, e, messaging.ErrOutcomeUnknown, status)
		require.NotErrorIs(t, e, messaging.ErrNotSent, status)
		if class != nil {
			require.ErrorIs(t, e, class, status)
		}
		assertSilent(t, e.Error())
	}
}

func TestListRejectsResponsesThatAreNoListing(t *testing.T) {
	t.Parallel()
	for body, says := range map[string]string{
		`{}`:                          "sms.list.items",
		`{"status":true,"lines":[]}`:  "sms.list.items",
		`{"data":{}}`:                 "sms.list.items",
		`{"data":null}`:               "sms.list.items",
		`{"code":"40001","data":[]}`:  "code 40001",
		`{"code":40007,"message":""}`: "code 40007",
		``:                            "",
		`<html>`:                      "",
		`{"data":[`:                   "",
	} {
		client, mock := mocked(t)
		respondingLists(mock, always(http.StatusOK, body))
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		assert.Empty(t, rows, body)
		require.Len(t, errs, 1, body)
		var e *messaging.Error
		require.ErrorAs(t, errs[0], &e, body)
		require.ErrorContains(t, e, says, body)
		require.NotErrorIs(t, e, messaging.ErrOutcomeUnknown, body)
		assert.Equal(t, http.StatusOK, e.StatusCode, body)
	}
}

func TestListYieldsRowErrors(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	pages := []string{
		`{"hasNext":true,"data":[{"id":"t-0"}]}`,
		`{"hasNext":false,"data":[{"id":"t-1"},{"id":"t-2","to":"639171234567","messageParts":"SECRET"},"SECRET",{"id":"t-3"},{"id":"t-4","dateCreated":{"at":1}},{"to":"639171234567"}]}`,
	}
	respondingLists(mock, func(n int) (int, string) { return http.StatusOK, pages[(n-1)%2] })
	var got []string
	var found []string
	for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
		if got = append(got, tx.ID); err == nil {
			require.NoError(t, tx.ReadError)
			continue
		}
		require.ErrorIs(t, err, messaging.ErrUnreadableRow)
		assert.Equal(t, err, tx.ReadError)
		found = append(found, err.Error())
		require.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
		var failed *messaging.Error
		require.NotErrorAs(t, err, &failed, "a row error is a failed listing")
		assertSilent(t, fmt.Sprintf("%v %+v %#v", err, err, err))
	}
	assert.Equal(t, []string{"t-0", "t-1", "t-2", "", "t-3", "t-4", ""}, got)
	require.Len(t, found, 4)
	for i, want := range []string{"row 2 of page 2 (ID t-2) cannot be read: Parts ", "row 3 of page 2", "row 5 of page 2 (ID t-4) cannot be read: CreatedAt ", "row 6 of page 2 cannot be read: ID "} {
		assert.Contains(t, found[i], "messaging: sms.list: "+want)
	}
	n := 0
	for page, err := range client.SMS.Pages(t.Context(), sms.ListOptions{}) {
		if n++; n == 1 {
			require.NoError(t, err)
			continue
		}
		assert.Len(t, page.Transactions, 6)
		require.ErrorIs(t, err, messaging.ErrUnreadableRow)
		require.ErrorContains(t, err, "row 2")
		require.ErrorContains(t, err, "row 6")
		var unread []string
		for _, tx := range page.Transactions {
			if tx.ReadError != nil {
				unread = append(unread, tx.ID)
			}
		}
		assert.Equal(t, []string{"t-2", "", "t-4", ""}, unread)
	}
}

// TestRowErrorNamesMessage: an ID that may be a phone number stays out of errors.
func TestRowErrorNamesMessage(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"msg-16": " (ID msg-16)", "4711": " (ID 4711)", "639171234567": ""} {
		client, mock := mocked(t)
		respondingLists(mock, always(http.StatusOK, fmt.Sprintf(`{"hasNext":false,"data":[{"id":%q,"messageParts":"two"}]}`, id)))
		_, err := client.SMS.Find(t.Context(), "order-1")
		require.EqualError(t, err, "messaging: sms.list: row 1 of page 1"+want+" cannot be read: Parts is in no known form (messageParts)")
	}
}

func TestPagesJoinsFewRowErrors(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	rows := strings.Repeat(`{},`, 5000) + `{}`
	respondingLists(mock, always(http.StatusOK, `{"hasNext":false,"data":[`+rows+`]}`))
	for page, err := range client.SMS.Pages(t.Context(), sms.ListOptions{}) {
		assert.Len(t, page.Transactions, 5001)
		require.ErrorIs(t, err, messaging.ErrUnreadableRow)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 21)
		assert.Equal(t, "messaging: sms.list: row 20 of page 1 cannot be read: ID is missing", lines[19])
		assert.Equal(t, "messaging: sms.list: 4981 more rows of page 1 cannot be read", lines[20])
	}
}

func TestListOfAFailure(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	for body, want := range map[string]string{
		`{"data":[],"error":"database timeout"}`:     `messaging: sms.list failed: HTTP 200, the response holds an error without a code (errors.code), "database timeout"`,
		`{"data":[],"error":{"message":"no"}}`:       `messaging: sms.list failed: HTTP 200, the response holds an error without a code (errors.code), "no"`,
		`{"data":[],"code":true}`:                    `messaging: sms.list failed: HTTP 200, the response holds something that is not a code at the place of an error code (errors.code)`,
		`{"data":[],"code":{"v":"40001"},"error":0}`: `messaging: sms.list failed: HTTP 200, the response holds something that is not a code at the place of an error code (errors.code), "0"`,
	} {
		respondingLists(mock, always(http.StatusOK, body))
		_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		require.Len(t, errs, 1, body)
		require.EqualError(t, errs[0], want)
		_, err := client.SMS.Find(t.Context(), "r-1")
		require.NotErrorIs(t, err, messaging.ErrNotListed, body)
	}
}

// A listing has texts and names of any messages, of which an error must not show any.
func TestListErrorShowsNoRows(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"data":[{"id":"m-1","text":"Jerry, come home","message":"Jerry, come home"}],"code":true}`, `{"data":[{"text":"Jerry, come home"}`,
	} {
		client, mock := mocked(t, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		respondingLists(mock, always(http.StatusOK, body))
		_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		require.Len(t, errs, 1)
		assert.NotContains(t, errs[0].Error(), "Jerry", body)
	}
}

// The error of a listing says what the service said, as that of a send does.
func TestListSaysWhyItFailed(t *testing.T) {
	t.Parallel()
	const (
		byText   = `{"errors":{"code":[""],"message":[""],"classes":{"unauthorized":["Error: token*"]}}}`
		twoPaths = `{"errors":{"code":["fault.code","code"],"message":["fault.text","message"]}}`
	)
	for _, tt := range []struct {
		overlay string
		status  int
		body    string
		code    string
		message string
		class   error
		reason  string
	}{
		{`{}`, 200, `{"code":"40001","message":"no"}`, "40001", "no", messaging.ErrUnauthorized, ""},
		{`{}`, 200, `{"data":[{"id":"m-1"}],"code":"40001","message":"no"}`, "40001", "no", messaging.ErrUnauthorized, ""},
		{`{}`, 400, `{"code":"200101","message":"no"}`, "200101", "no", messaging.ErrInsufficientBalance, ""},
		{`{}`, 422, `{"message":"no"}`, "", "no", messaging.ErrInvalid, ""},
		{`{}`, 200, `{"data":[],"code":"E7","message":"no"}`, "E7", "no", nil, "a code that the contract does not know (errors.success, errors.classes)"},
		{`{}`, 200, `{"data":[],"success":false,"code":"0","message":"no"}`, "", "no", nil, "a sign of a failure"},
		{`{}`, 200, `{"data":[],"partial":true,"message":"no"}`, "", "no", nil, "a sign of a failure, or that it is incomplete"},
		{`{}`, 200, `{"message":"no"}`, "", "no", nil, "no list at any path of the contract (sms.list.items)"},
		{twoPaths, 200, `{"fault":{"code":"40001","text":"no"},"code":"40003","message":"later"}`, "40001", "no", messaging.ErrUnauthorized, ""},
		{twoPaths, 200, `{"fault":{"code":"0"},"code":"40003","message":"no"}`, "40003", "no", messaging.ErrInvalid, ""},
		{byText, 200, `Error: token expired`, "Error: token expired", "Error: token expired", messaging.ErrUnauthorized, ""},
		{byText, 403, `Error: token expired`, "Error: token expired", "Error: token expired", messaging.ErrUnauthorized, ""},
		{byText, 200, `<html>`, "", "", nil, "the response is not JSON"},
	} {
		names, err := contract.Parse([]byte(tt.overlay))
		require.NoError(t, err)
		client, mock := mocked(t, messaging.WithContract(names), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		respondingLists(mock, always(tt.status, tt.body))
		rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
		require.Empty(t, rows, tt.body)
		require.Len(t, errs, 1, tt.body)
		var e *messaging.Error
		require.ErrorAs(t, errs[0], &e)
		assert.Equal(t, []string{tt.code, tt.message}, []string{e.Code, e.Message}, tt.body)
		assert.Equal(t, tt.status, e.StatusCode)
		assert.ErrorContains(t, e, tt.reason, tt.body)
		for _, class := range []error{messaging.ErrUnauthorized, messaging.ErrInsufficientBalance, messaging.ErrInvalid} {
			assert.Equal(t, class == tt.class, errors.Is(e, class), "%s: %v", tt.body, class)
		}
	}
}

func TestFindDoesNotTrustAnEmptyPageThatClaimsRows(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	for body, listed := range map[string]bool{
		`{"data":[]}`: false,
		`{"data":[],"totalRows":0,"hasNext":false}`:              false,
		`{"data":[],"totalRows":0,"totalPages":1}`:               false,
		`{"data":[],"nextPage":2,"hasNext":false}`:               false,
		`{"data":[],"nextPage":0}`:                               false,
		`{"data":[],"nextPage":null}`:                            false,
		`{"data":[],"totalRows":1,"totalPages":1}`:               true,
		`{"data":[],"hasNext":true}`:                             true,
		`{"data":[],"nextPage":2}`:                               true,
		`{"data":[],"nextPage":2,"hasNext":true,"totalRows":40}`: true,
	} {
		respondingLists(mock, always(http.StatusOK, body))
		_, err := client.SMS.Find(t.Context(), "r-1")
		require.Error(t, err)
		assert.Equal(t, !listed, errors.Is(err, messaging.ErrNotListed), "%s: %v", body, err)
	}
}

func TestFailedReadHasNoVerdict(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	respondingLists(mock, always(http.StatusForbidden, `{"code":"40003"}`))
	_, err := client.SMS.Find(t.Context(), "r-1")
	var e *messaging.Error
	require.ErrorAs(t, err, &e)
	assert.Zero(t, e.Verdict)
	assert.Equal(t, messaging.Unknown, messaging.VerdictOf(err), "as of any error that is not a send's")
	require.NotErrorIs(t, err, messaging.ErrOutcomeUnknown)
	require.NotErrorIs(t, err, messaging.ErrNotSent)
	raw, err := json.Marshal(e)
	require.NoError(t, err)
	for _, shown := range []string{e.Error(), string(raw), e.LogValue().String()} {
		for _, word := range []string{"verdict", "unknown", "refused", "not sent"} {
			assert.NotContains(t, shown, word)
		}
	}
	assert.JSONEq(t, `{"operation":"sms.list","status":403,"message":"messaging: sms.list failed: HTTP 403, code 40003, invalid","attempts":1}`, string(raw))
	respondingLists(mock, always(http.StatusNotFound, ``))
	_, err = client.SMS.Find(t.Context(), "r-1")
	require.EqualError(t, err, "messaging: sms.list failed: HTTP 404, GET /api/sms, not found")
}

func TestListErrorsHideTheKeyPair(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	hangsUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer hangsUp.Close()
	var asked atomic.Value
	redirects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.URL.Query())
		http.Redirect(w, r, "https://elsewhere.example.com/?apiSecret=pair-SECRET", http.StatusFound)
	}))
	defer redirects.Close()
	for name, target := range map[string]string{"refused": gone.URL, "hung up": hangsUp.URL, "redirected": redirects.URL} {
		client, err := messaging.NewClient(target, messaging.WithAPIKey("key-SECRET", "pair-SECRET"),
			overlay(t, `{"auth":{"keyPair":{"in":"query"}}}`), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
		require.NoError(t, err, name)
		_, errs := list(client.SMS.List(t.Context(), sms.ListOptions{To: "639171234567"}))
		require.Len(t, errs, 1, name)
		assertSilent(t, fmt.Sprintf("%v %+v %#v %q", errs[0], errs[0], errs[0], errs[0]))
		for cause := errs[0]; cause != nil; cause = errors.Unwrap(cause) {
			assertSilent(t, cause.Error())
		}
		require.NotErrorIs(t, errs[0], messaging.ErrOutcomeUnknown, name)
		require.NotErrorIs(t, errs[0], messaging.ErrNotSent, name)
	}
	assert.Equal(t, "pair-SECRET", asked.Load().(url.Values).Get("apiSecret"), "it is where the contract says")
}

func TestListEndsWithTheContext(t *testing.T) {
	t.Parallel()
	srv, client, _ := testService(t, 40)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var errs []error
	rows := 0
	for _, err := range client.SMS.List(ctx, sms.ListOptions{PageSize: 2}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if rows++; rows == 3 {
			cancel()
		}
	}
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], context.Canceled)
	var e *messaging.Error
	require.ErrorAs(t, errs[0], &e)
	require.NotErrorIs(t, e, messaging.ErrOutcomeUnknown)
	assert.LessOrEqual(t, srv.Requests(), 2)
	assert.LessOrEqual(t, rows, 2*2)
}

func TestListHasWhatWasSent(t *testing.T) {
	t.Parallel()
	srv, client, _ := testService(t, 0)
	receipt, err := client.SMS.Send(t.Context(), message)
	require.NoError(t, err)
	tx, err := client.SMS.Find(t.Context(), message.ReferenceID)
	require.NoError(t, err)
	assert.Equal(t, receipt.ID, tx.ID)
	assert.Equal(t, receipt.RequestID, tx.RequestID)
	assert.Equal(t, message.From, tx.From)
	assert.Equal(t, message.To, tx.To)
	assert.Equal(t, message.Text, tx.Text)
	assert.Equal(t, srv.Sent()[0].At.UTC().Truncate(time.Millisecond), tx.CreatedAt.UTC())
	assert.True(t, tx.SentAt.IsZero())
}

func TestFindEndsIfTheFilterIsIgnored(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	requests := respondingLists(mock, func(n int) (int, string) {
		return http.StatusOK, fmt.Sprintf(`{"hasNext":true,"data":[{"id":"t-%d","referenceId":"another"}]}`, n)
	})
	_, err := client.SMS.Find(t.Context(), "r-1")
	require.ErrorIs(t, err, messaging.ErrFilterIgnored)
	assert.Len(t, requests(), 100)
}

// The message may be on a page that follows, so a lookup that was cut off does not say that it is not listed.
func TestFindIsNotListedOnlyIfNoPageFollows(t *testing.T) {
	t.Parallel()
	const byCursor = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "page": {"next": ["next"]}}}`
	const outboundOnly = `{"sms.list": {"only": {"direction": ["outbound*"]}}}`
	for name, tt := range map[string]struct {
		overlay string
		page    func(n int, hasNext bool) string
	}{
		"empty pages": {byCursor, func(n int, hasNext bool) string {
			if !hasNext {
				return `{"data":[],"next":null}`
			}
			return fmt.Sprintf(`{"data":[],"next":"c-%d"}`, n)
		}},
		"pages of received messages": {outboundOnly, func(n int, hasNext bool) string {
			return fmt.Sprintf(`{"hasNext":%t,"data":[{"id":"t-%d","direction":"inbound"}]}`, hasNext, n)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for last, isCut := range map[int]bool{99: false, 100: false, 101: true, 1000: true} {
				client, mock := mocked(t, overlay(t, tt.overlay))
				requests := respondingLists(mock, func(n int) (int, string) { return http.StatusOK, tt.page(n, n < last) })
				_, err := client.SMS.Find(t.Context(), "r-1")
				require.Error(t, err)
				assert.Len(t, requests(), min(last, 100))
				assert.Equal(t, !isCut, errors.Is(err, messaging.ErrNotListed), "%d pages: %v", last, err)
				assert.Equal(t, !isCut, errors.Is(err, messaging.ErrNotFound), "%d pages: %v", last, err)
				if isCut {
					assert.ErrorContains(t, err, "cut off after 100 pages")
				}
			}
		})
	}
}

// A row that is not of the listing is not yielded, settles nothing, and is no failure of a filter.
func TestListOnly(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t, overlay(t, `{"sms.list": {"only": {"direction": ["outbound*"]}}}`))
	respondingLists(mock, always(http.StatusOK, `{"data":[{"direction":"inbound","referenceId":"r-1","to":"1111111","dateCreated":"never"}],"hasNext":false}`))
	for _, options := range []sms.ListOptions{{}, {To: "2222222"}} {
		rows, errs := list(client.SMS.List(t.Context(), options))
		assert.Empty(t, rows)
		assert.Empty(t, errs)
		for page, err := range client.SMS.Pages(t.Context(), options) {
			require.NoError(t, err)
			assert.Empty(t, page.Transactions)
		}
	}
	_, err := client.SMS.Find(t.Context(), "r-1")
	require.ErrorIs(t, err, messaging.ErrNotListed)
	require.NotErrorIs(t, err, messaging.ErrFilterIgnored)

	respondingLists(mock, always(http.StatusOK, `{"data":[{"direction":"inbound","direction":"outbound","id":"m-1"},{"direction":["inbound"],"id":"m-2"},{"direction":"","id":"m-3"}],"hasNext":false}`))
	rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{}))
	assert.Len(t, errs, 1, "a row that says both")
	assert.Len(t, rows, 2, "an empty word and a list are none")
}

// One row without a time must not make a listing that ignores the bounds look like a complete day.
func TestListWithoutATimeShowsNoFilter(t *testing.T) {
	t.Parallel()
	client, mock := mocked(t)
	respondingLists(mock, func(int) (int, string) {
		return http.StatusOK, `{"hasNext":false,"data":[
			{"transactionId":"m-1","dateCreated":null},
			{"transactionId":"m-2","dateCreated":"2026-11-20T12:00:00.000Z"}]}`
	})
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	rows, errs := list(client.SMS.List(t.Context(), sms.ListOptions{CreatedAfter: noon}))
	assert.Len(t, rows, 1, "the row without a time")
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], messaging.ErrFilterIgnored)
}
