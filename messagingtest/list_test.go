package messagingtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listResponse is a list response, as a client sees it. What is absent is nil, and so is a null.
type listResponse struct {
	TotalRows  *int
	TotalPages *int
	PageNumber *int
	PageSize   *int
	HasNext    *bool
	NextPage   any
	Data       []map[string]any
	raw        map[string]json.RawMessage
}

func (a listResponse) column(name string) []string {
	values := []string{}
	for _, row := range a.Data {
		values = append(values, fmt.Sprint(row[name]))
	}
	return values
}

func (a listResponse) ids() string { return strings.Join(a.column("transactionId"), " ") }

// params makes a query of names and values in turn.
func params(namesAndValues ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(namesAndValues); i += 2 {
		query.Add(namesAndValues[i], namesAndValues[i+1])
	}
	return query
}

func newListRequest(t *testing.T, s *Server, query string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/sms?"+query, nil)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.Token)
	return req
}

func readList(t *testing.T, r reply) listResponse {
	t.Helper()
	require.NoError(t, r.err)
	require.Equal(t, http.StatusOK, r.status, "the body is %s", r.body)
	assert.Equal(t, "application/json", r.header.Get("Content-Type"))
	var a listResponse
	require.NoError(t, json.Unmarshal(r.body, &a))
	require.NoError(t, json.Unmarshal(r.body, &a.raw))
	require.NotNil(t, a.Data)
	return a
}

func list(t *testing.T, client *http.Client, s *Server, namesAndValues ...string) listResponse {
	t.Helper()
	return readList(t, do(client, newListRequest(t, s, params(namesAndValues...).Encode())))
}

// day is a time of which each seeded message is some milliseconds away.
var day = time.Date(2026, 10, 3, 14, 44, 23, 186_000_000, time.UTC)

// seed puts n messages into the ledger, a millisecond apart: m-1 is the oldest, and the first that is listed is m-n.
func seed(s *Server, n int) {
	messages := make([]Sent, n)
	for i := range messages {
		messages[i] = Sent{
			ID: fmt.Sprint("m-", i+1), From: "ACME", To: "+639171234567", Text: "Hi", ReferenceID: fmt.Sprint("r-", i+1),
			At: day.Add(time.Duration(i) * time.Millisecond),
		}
	}
	s.Seed(messages...)
}

func TestListOfNothing(t *testing.T) {
	r := do(newClient(t), newListRequest(t, NewServer(t), ""))
	want := `{"totalRows":0,"totalPages":0,"pageNumber":1,"pageSize":100,"hasNext":false,"nextPage":null,"data":[]}`
	assert.JSONEq(t, want, string(r.body))
}

func TestListNamesTheFirstUnknownParameter(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	for range 20 {
		r := do(client, newListRequest(t, s, "size=1&color=2&weight=3&height=4&b=5"))
		assert.Equal(t, http.StatusBadRequest, r.status)
		assert.Contains(t, string(r.body), `\"b\" is not a parameter of this listing`)
	}
}

func TestListShowsWhatWasSent(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	data := send(t, client, s, `{"from":"ACME","to":"+639171234567","text":"Hi <Ana> & Bob","referenceId":"order-17","app":"billing",`+
		`"nested":{"a":[1, 1.50]},"price":"free","none":null}`).data(t)
	at := s.Sent()[0].At.UTC().Format("2006-01-02T15:04:05.000Z")
	r := do(client, newListRequest(t, s, ""))
	readList(t, r)
	assert.JSONEq(t, `{"totalRows":1,"totalPages":1,"pageNumber":1,"pageSize":100,"hasNext":false,"nextPage":null,"data":[{`+
		`"transactionId":"`+data["id"]+`","requestId":"`+data["requestId"]+`","referenceId":"order-17","categoryId":null,`+
		`"from":"ACME","to":"+639171234567","text":"Hi <Ana> & Bob","messageParts":1,"price":"0.50","dateCreated":"`+at+`",`+
		`"dateSent":null,"sendStatus":1,"dlrStatus":null,"operator":"OP_1","country":"ZZ","currency":"XTS","description":"accepted",`+
		`"app":"billing","nested":{"a":[1,1.50]},"none":null}]}`, string(r.body))
	assert.Contains(t, string(r.body), "1.50", "numbers stay as they were written")
	assert.NotContains(t, string(r.body), "free", "a record has each name once")
}

func TestListShowsWhatWasSeeded(t *testing.T) {
	s := NewServer(t)
	s.Seed(Sent{
		ID: "t-1", From: "ACME", To: "639171234567", Text: strings.Repeat("я", 135), At: day.In(time.FixedZone("", 8*3600)).Add(999_999),
		RequestID: "q-1", CategoryID: "c-1", SentAt: day.Add(time.Second), DeliveryStatus: "1",
	})
	row := list(t, newClient(t), s).Data[0]
	assert.Subset(t, row, map[string]any{
		"transactionId": "t-1", "requestId": "q-1", "referenceId": nil, "categoryId": "c-1", "from": "ACME", "to": "639171234567",
		"text": strings.Repeat("я", 135), "messageParts": 3.0, "price": "1.50", "dateCreated": "2026-10-03T14:44:23.186Z",
		"dateSent": "2026-10-03T14:44:24.186Z", "sendStatus": 1.0, "dlrStatus": "1",
	})
}

func TestListFilters(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	s.Seed(
		Sent{ID: "a", From: "ACME", To: "+639170000001", ReferenceID: "r-1", RequestID: "q-1", CategoryID: "c-1", At: day},
		Sent{
			ID: "b", From: "ACME", To: "639170000001", ReferenceID: "r-2",
			RequestID: "q-2", CategoryID: "c-2", At: day.Add(time.Millisecond + 400),
		},
		Sent{ID: "c", From: "Other & Co", To: "+639170000003", ReferenceID: "r-2", RequestID: "q-3", At: day.Add(2 * time.Millisecond)},
		Sent{ID: "A", From: "acme", To: "+639170000004", RequestID: "q-3", At: day.Add(time.Second)},
	)
	for _, tc := range []struct {
		query []string
		want  string
	}{
		{nil, "A c b a"},
		{[]string{"filter[transactionId]", "a"}, "a"},
		{[]string{"filter[transactionId]", "d"}, ""},
		{[]string{"filter[referenceId]", "r-1"}, "a"},
		{[]string{"filter[referenceId]", "r-2"}, "c b"},
		{[]string{"filter[referenceId]", "r"}, ""},
		{[]string{"filter[requestId]", "q-3"}, "A c"},
		{[]string{"filter[categoryId]", "c-2"}, "b"},
		{[]string{"filter[from]", "ACME"}, "b a"},
		{[]string{"filter[from]", "Other & Co"}, "c"},
		{[]string{"filter[to]", "+639170000001"}, "a"},
		{[]string{"filter[to]", "639170000001"}, "b"},
		{[]string{"filter[from]", "ACME", "filter[referenceId]", "r-2"}, "b"},
		{[]string{"filter[transactionId]", "a", "filter[referenceId]", "r-2"}, ""},
		{[]string{"filter[dateCreatedGt]", "2026-10-03T14:44:23.186Z"}, "A c b"},
		{[]string{"filter[dateCreatedGt]", "2026-10-03T14:44:23.187Z"}, "A c"}, // rows with this date are not later
		{[]string{"filter[dateCreatedGt]", "2026-10-03T14:44:23.1859999Z"}, "A c b a"},
		{[]string{"filter[dateCreatedLt]", "2026-10-03T14:44:23.186Z"}, ""},
		{[]string{"filter[dateCreatedLt]", "2026-10-03T14:44:23.187Z"}, "a"},
		{[]string{"filter[dateCreatedLt]", "2026-10-03T22:44:23.188+08:00"}, "b a"},
		{[]string{"filter[dateCreatedLt]", "2026-10-03t14:44:24z"}, "c b a"},
		{[]string{"filter[dateCreatedLt]", "0001-01-01T00:00:00Z"}, ""},
		{[]string{"filter[dateCreatedGt]", "2026-10-03T14:44:23.186Z", "filter[dateCreatedLt]", "2026-10-03T14:44:24Z"}, "c b"},
		{[]string{"filter[dateCreatedGt]", "2026-10-03T14:44:24Z", "filter[dateCreatedLt]", "2026-10-03T14:44:23Z"}, ""},
	} {
		a := list(t, client, s, tc.query...)
		assert.Equal(t, tc.want, a.ids(), "%v", tc.query)
		assert.Equal(t, len(a.Data), *a.TotalRows, "%v", tc.query)
	}
}

func TestListFindsManyOfOneReference(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	for i := range 201 {
		s.Seed(Sent{ReferenceID: "r", From: fmt.Sprint("F", i%2), At: day})
	}
	assert.Equal(t, 201, *list(t, client, s, "filter[referenceId]", "r").TotalRows)
	assert.Equal(t, 100, *list(t, client, s, "filter[referenceId]", "r", "filter[from]", "F1").TotalRows)
}

func TestListSorts(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	s.Seed(
		Sent{
			ID: "a", RequestID: "2", ReferenceID: "3", CategoryID: "3", From: "1", To: "2",
			Text: "c", At: day.Add(1e6), SentAt: day, DeliveryStatus: "2",
		},
		Sent{
			ID: "c", RequestID: "1", ReferenceID: "1", CategoryID: "2", From: "2", To: "1",
			Text: "b", At: day.Add(3e6), DeliveryStatus: "1", Parts: 10,
		},
		Sent{
			ID: "b", RequestID: "3", ReferenceID: "2", CategoryID: "1", From: "1", To: "1",
			Text: "a", At: day.Add(2e6), SentAt: day.Add(-1), Parts: 9,
		},
	)
	for _, tc := range []struct{ column, want, reversed string }{
		{"transactionId", "a b c", "c b a"},
		{"requestId", "c a b", "b a c"},
		{"referenceId", "c b a", "a b c"},
		{"categoryId", "b c a", "a c b"},
		{"from", "a b c", "c b a"},
		{"to", "c b a", "a b c"},
		{"text", "b c a", "a c b"},
		{"messageParts", "a b c", "c b a"},
		{"price", "a b c", "c b a"},
		{"dateCreated", "a b c", "c b a"},
		{"dateSent", "c b a", "a b c"},
		{"dlrStatus", "b c a", "a c b"},
		{"sendStatus", "a c b", "b c a"},
		{"operator", "a c b", "b c a"},
		{"country", "a c b", "b c a"},
		{"description", "a c b", "b c a"},
	} {
		assert.Equal(t, tc.want, list(t, client, s, "sort[column]", tc.column).ids(), tc.column)
		assert.Equal(t, tc.want, list(t, client, s, "sort[column]", tc.column, "sort[direction]", "asc").ids(), tc.column)
		assert.Equal(t, tc.reversed, list(t, client, s, "sort[column]", tc.column, "sort[direction]", "desc").ids(), tc.column)
	}
	assert.Equal(t, "c b a", list(t, client, s).ids(), "the newest first")
	assert.Equal(t, "c b a", list(t, client, s, "sort[direction]", "desc").ids())
	assert.Equal(t, "a b c", list(t, client, s, "sort[direction]", "asc").ids())
}

// A column that a record has and a listing cannot be sorted by would be forgotten.
func TestListSortsByEveryColumn(t *testing.T) {
	s := NewServer(t)
	seed(s, 1)
	names := list(t, newClient(t), s).Data[0]
	assert.Len(t, names, len(defaults().SMSList.Record))
	for name := range names {
		list(t, newClient(t), s, "sort[column]", name)
	}
}

func TestListRefuses(t *testing.T) {
	s := NewServer(t)
	seed(s, 3)
	client := newClient(t)
	for _, tc := range []struct {
		paging      string
		query, code string
	}{
		{"page", "status=1", codeQuery},
		{"page", "filter[status]=1", codeQuery},
		{"page", "Filter[from]=ACME", codeQuery},
		{"page", "filter[from]=ACME&filter[from]=ACME", codeQuery},
		{"page", "filter[from]=", codeQuery},
		{"page", "filter[from]", codeQuery},
		{"page", "filter[from]=%ff", codeQuery},
		{"page", "filter[from]=%zz", codeQuery},
		{"page", "filter[from]=a;filter[to]=b", codeQuery},
		{"page", "=", codeQuery},
		{"page", "offset=0", codeQuery},
		{"page", "cursor=x", codeQuery},
		{"page", "pageNumber=0", codeNumber},
		{"page", "pageNumber=-1", codeNumber},
		{"page", "pageNumber=%2B1", codeNumber},
		{"page", "pageNumber=1.0", codeNumber},
		{"page", "pageNumber=0x1", codeNumber},
		{"page", "pageNumber=99999999999999999999", codeNumber},
		{"page", "pageSize=0", codeNumber},
		{"page", "pageSize=1001", codeNumber},
		{"page", "pageSize=many", codeNumber},
		{"page", "filter[dateCreatedGt]=2026-10-03", codeTime},
		{"page", "filter[dateCreatedGt]=2026-10-03T14:44:23", codeTime},
		{"page", "filter[dateCreatedGt]=2026-10-03T14:44:23+08:00", codeTime}, // the plus is not escaped
		{"page", "filter[dateCreatedLt]=2026-10-03%2014:44:23Z", codeTime},
		{"page", "filter[dateCreatedLt]=2026-02-30T14:44:23Z", codeTime},
		{"page", "filter[dateCreatedLt]=1790000000", codeTime},
		{"page", "sort[column]=userdata", codeSort},
		{"page", "sort[column]=DateCreated", codeSort},
		{"page", "sort[direction]=ASC", codeSort},
		{"page", "sort[direction]=up", codeSort},
		{"offset", "pageNumber=1", codeQuery},
		{"offset", "cursor=x", codeQuery},
		{"offset", "offset=-1", codeNumber},
		{"offset", "offset=x", codeNumber},
		{"cursor", "pageNumber=1", codeQuery},
		{"cursor", "offset=0", codeQuery},
		{"cursor", "cursor=", codeQuery},
		{"cursor", "cursor=x", codeCursor},
		{"cursor", "cursor=2", codeCursor},
		{"cursor", "cursor=%26cursor%3D", codeCursor},
		{"cursor", "cursor=%26cursor%3D%21", codeCursor},
		{"cursor", "cursor=%26cursor%3DMTIzNDU2Nzhtc2ctMQ%3D%3D", codeCursor},
		{"none", "pageNumber=1", codeQuery},
		{"none", "pageSize=1", codeQuery},
		{"none", "offset=0", codeQuery},
		{"none", "cursor=x", codeQuery},
	} {
		t.Run(fmt.Sprint(tc.paging, " ", tc.query), func(t *testing.T) {
			pageBy(s, tc.paging)
			r := do(client, newListRequest(t, s, tc.query))
			require.NoError(t, r.err)
			assert.Equal(t, http.StatusBadRequest, r.status)
			assert.Equal(t, tc.code, r.code(t), "%s", r.body)
			assert.True(t, strings.HasPrefix(tc.code, "2002"), "no code of an invalid request")
		})
	}
}

func TestListRefusesBody(t *testing.T) {
	s := NewServer(t)
	req := newListRequest(t, s, "")
	req.Body, req.ContentLength = io.NopCloser(strings.NewReader(`{"a":1}`)), 7
	r := do(newClient(t), req)
	assert.Equal(t, http.StatusBadRequest, r.status)
	assert.Equal(t, codeBody, r.code(t))
}

func TestListRefusesMethods(t *testing.T) {
	s := NewServer(t)
	for _, method := range []string{http.MethodPost, http.MethodHead, http.MethodDelete} {
		req := newListRequest(t, s, "")
		req.Method = method
		r := do(newClient(t), req)
		require.NoError(t, r.err)
		assert.Equal(t, http.StatusMethodNotAllowed, r.status)
		assert.Equal(t, "GET", r.header.Get("Allow"))
	}
}

func TestListCredentials(t *testing.T) {
	s := NewServer(t)
	client := newClient(t)
	bearer := "Bearer " + s.Token
	pair := params("apiKey", s.APIKey, "apiSecret", s.APISecret).Encode()
	for name, tc := range map[string]struct {
		authorization, query string
		status               int
	}{
		"token":                    {bearer, "", 200},
		"pair":                     {"", pair, 200},
		"pair and a filter":        {"", pair + "&filter[from]=ACME", 200},
		"token and pair":           {bearer, pair, 200},
		"none":                     {"", "", 401},
		"none, query not readable": {"", "%zz", 401},
		"another token":            {bearer + "x", "", 401},
		"wrong token, right pair":  {"Bearer x", pair, 401},
		"right token, wrong pair":  {bearer, "apiKey=x&apiSecret=y", 401},
		"key alone":                {"", "apiKey=" + s.APIKey, 401},
		"secret alone":             {"", "apiSecret=" + s.APISecret, 401},
		"swapped":                  {"", "apiKey=" + s.APISecret + "&apiSecret=" + s.APIKey, 401},
		"key twice":                {"", pair + "&apiKey=" + s.APIKey, 401},
		"empty":                    {"", "apiKey=&apiSecret=", 401},
		"names in another case":    {"", "apikey=" + s.APIKey + "&apisecret=" + s.APISecret, 401},
		"before the parameters":    {"Bearer x", "pageSize=0", 401},
	} {
		t.Run(name, func(t *testing.T) {
			req := newListRequest(t, s, tc.query)
			req.Header.Del("Authorization")
			if tc.authorization != "" {
				req.Header.Set("Authorization", tc.authorization)
			}
			r := do(client, req)
			require.NoError(t, r.err)
			assert.Equal(t, tc.status, r.status, "%s", r.body)
			assert.NotContains(t, string(r.body), s.APISecret)
			if tc.status == http.StatusUnauthorized {
				assert.Equal(t, "40001", r.code(t))
			}
		})
	}
	req := newRequest(t, s, goodBody)
	req.URL.RawQuery = pair
	req.Header.Del("Authorization")
	assert.Equal(t, http.StatusUnauthorized, do(client, req).status, "a POST has its pair in the body")
}

func TestListFaults(t *testing.T) {
	for _, tc := range []struct {
		fault  Fault
		status int
		err    error
		body   string // a part of it
	}{
		{FaultAcceptThenDrop(), 0, syscall.ECONNRESET, ""},
		{FaultDropUnread(), 0, syscall.ECONNRESET, ""},
		{FaultSlow(50 * time.Millisecond), 200, nil, `"transactionId":"m-1"`},
		{FaultStatus(401, 0), 401, nil, `"code":"40001"`},
		{FaultStatus(503, time.Second), 503, nil, `"code":"50000"`},
		{FaultTruncated(), 200, io.ErrUnexpectedEOF, `{"data":[`},
		{FaultNotJSON(), 200, nil, "<!DOCTYPE html>"},
	} {
		t.Run(tc.fault.String(), func(t *testing.T) {
			s := NewServer(t)
			seed(s, 1)
			client := newClient(t)
			s.Inject(tc.fault, 1)
			r := do(client, newListRequest(t, s, ""))
			require.ErrorIs(t, r.err, tc.err)
			assert.Equal(t, tc.status, r.status)
			assert.Contains(t, string(r.body), tc.body)
			assert.GreaterOrEqual(t, r.elapsed, tc.fault.delay)
			assert.Equal(t, 1, s.Requests())
			assert.Equal(t, "m-1", list(t, client, s).ids(), "the fault is over")
			assert.Len(t, s.Sent(), 1)
		})
	}
}

func TestListRetriedByNetHTTP(t *testing.T) {
	s := NewServer(t)
	seed(s, 1)
	client := newClient(t)
	list(t, client, s)
	s.Reset()
	s.Inject(FaultAcceptThenDrop(), 1)
	list(t, client, s)
	assert.Equal(t, 2, s.Requests())
}

func TestListWhileSending(t *testing.T) {
	const workers, each = 8, 15
	s := NewServer(t)
	client := newClient(t)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for j := range each {
				reference := fmt.Sprintf("r-%d-%d", i, j)
				r := do(client, newRequest(t, s, `{"from":"ACME","to":"+639171234567","text":"Hi","referenceId":"`+reference+`"}`))
				assert.NoError(t, r.err)
				for _, query := range []url.Values{
					params("filter[referenceId]", reference), params("pageSize", "1"),
					params("sort[column]", "referenceId", "filter[from]", "ACME"),
				} {
					r = do(client, newListRequest(t, s, query.Encode()))
					assert.NoError(t, r.err)
					assert.Equal(t, http.StatusOK, r.status)
				}
				if i == 0 {
					s.SetLag(time.Duration(j%2) * time.Hour)
					s.IgnoreFilter(j%2 == 1)
				}
				_ = s.Sent()
			}
		})
	}
	wg.Wait()
	s.SetLag(0)
	s.IgnoreFilter(false)
	assert.Len(t, s.Sent(), workers*each)
	for i := range workers {
		for j := range each {
			require.Len(t, list(t, client, s, "filter[referenceId]", fmt.Sprintf("r-%d-%d", i, j)).Data, 1)
		}
	}
}

// Were the ledger sorted, or gone through, for each request, this would take minutes.
func TestListOfALargeLedger(t *testing.T) {
	const rows = 100_000
	s := NewServer(t)
	seed(s, rows)
	client := newClient(t)
	began := time.Now()
	ids := func(namesAndValues ...string) []struct{ TransactionID string } {
		r := do(client, newListRequest(t, s, params(namesAndValues...).Encode()))
		require.NoError(t, r.err)
		var page struct {
			Data []struct{ TransactionID string }
		}
		require.NoError(t, json.Unmarshal(r.body, &page))
		return page.Data
	}
	for number := 1; number <= 100; number += 9 { // the last is among them
		page := ids("pageSize", "1000", "pageNumber", strconv.Itoa(number))
		require.Len(t, page, 1000)
		next := rows - (number-1)*1000
		for _, row := range page {
			if row.TransactionID != "m-"+strconv.Itoa(next) {
				require.Fail(t, "a row is not in its place", "m-%d is %s", next, row.TransactionID)
			}
			next--
		}
	}
	for i := range 200 {
		one := strconv.Itoa(i*500 + 1)
		require.Len(t, ids("filter[referenceId]", "r-"+one), 1)
		require.Len(t, ids("pageSize", "1", "pageNumber", one), 1)
	}
	assert.Less(t, time.Since(began), time.Minute)
}

func TestSetLagCountsRealTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		ids := func() int {
			q, wrong := readListing(s.names.SMSList, fields{})
			require.Nil(t, wrong)
			p, wrong := s.page(q)
			require.Nil(t, wrong)
			return p.(document)["totalRows"].(int)
		}
		s.SetLag(time.Minute)
		s.Seed(Sent{}, Sent{})
		assert.Zero(t, ids())
		time.Sleep(30 * time.Second)
		s.Seed(Sent{})
		time.Sleep(30*time.Second - time.Nanosecond)
		assert.Zero(t, ids())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, 2, ids())
		time.Sleep(time.Hour)
		assert.Equal(t, 3, ids())
	})
}

func FuzzListQuery(f *testing.F) {
	kinds := []string{"page", "offset", "cursor", "none"}
	for _, seed := range []string{
		"", "pageNumber=2&pageSize=1", "pageNumber=2147483647&pageSize=1000", "filter[dateCreatedGt]=2026-10-03T14:44:23.186Z",
		"filter[dateCreatedLt]=2026-10-03T22:44:23%2B08:00", "sort[column]=price&sort[direction]=desc", "offset=2147483647", "offset=1",
		"cursor=%26cursor%3DMTIzNDU2Nzhtc2ctMQ%3D%3D", "filter[from]=%ff", "a=b;c", "%", "filter[from]=ACME&filter[to]=x", "filter[from]=", "sort[column]=text", "sort[column]=dlrStatus&sort[direction]=up",
	} {
		for i := range kinds {
			f.Add(i, seed)
		}
	}
	s := newServer()
	seed(s, 5)
	f.Fuzz(func(t *testing.T, paging int, query string) {
		if paging < 0 || paging >= len(kinds) {
			return
		}
		pageBy(s, kinds[paging])
		values, _ := url.ParseQuery(query)
		a := s.process(&http.Request{
			Method: http.MethodGet,
			Header: http.Header{"Authorization": {"Bearer " + s.Token}},
			URL:    &url.URL{Path: "/api/sms", RawQuery: query},
		}, "req-1", nil, nil)
		var body struct {
			Code      string
			TotalRows int
			Data      []json.RawMessage
		}
		if err := json.Unmarshal(a.body, &body); err != nil {
			t.Fatal(err)
		}
		switch {
		case a.status == http.StatusOK && body.Code == "" && len(body.Data) <= body.TotalRows && body.TotalRows <= 5:
		case a.status == http.StatusBadRequest && strings.HasPrefix(body.Code, "2002"):
		case a.status == http.StatusUnauthorized && (values.Has("apiKey") || values.Has("apiSecret")):
		default:
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
