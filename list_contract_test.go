package messaging_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/sms"
)

// A listing by POST is a read: it is retried, with the same body.
func TestListByPOSTIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names, err := contract.Parse([]byte(`{"sms.list": {"method": "POST", "encoding": "json", "params": {"from": "filter.from.0"}}}`))
		require.NoError(t, err)
		var bodies []string
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			require.NoError(t, err)
			bodies = append(bodies, r.Method+" "+r.URL.RequestURI()+" "+string(body))
			if len(bodies) == 1 {
				return respond(r, http.StatusServiceUnavailable, `{}`), nil
			}
			return respond(r, http.StatusOK, `{"data":[{"id":"a"}],"hasNext":false}`), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("token"), messaging.WithContract(names),
			messaging.WithHTTPClient(&http.Client{Transport: base}), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 2, MinWait: time.Second, MaxWait: time.Second}))
		require.NoError(t, err)
		for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{From: "ACME"}) {
			require.NoError(t, err)
			assert.Equal(t, "a", tx.ID)
		}
		const request = `POST /api/sms {"filter":{"from":["ACME"]},"pageNumber":1}`
		assert.Equal(t, []string{request, request}, bodies)
	})
}

func TestListByLastRow(t *testing.T) {
	t.Parallel()
	names, err := contract.Parse([]byte(`{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}, "page": {"next": ["$last.id"]}}}`))
	require.NoError(t, err)
	rows := map[string]string{"": `{"id":"a"},{"id":"b"}`, "b": `{"id":"c"}`, "c": ``}
	lacking := map[string]string{"": `{"id":"a"},{"id":"b"}`, "b": `{"id":"c"},{"x":1}`}
	list := func(rows map[string]string) (ids []string, err error) {
		base := roundTripper(func(r *http.Request) (*http.Response, error) {
			return respond(r, http.StatusOK, fmt.Sprintf(`{"data":[%s]}`, rows[r.URL.Query().Get("after")])), nil
		})
		client, err := messaging.NewClient(baseURL, messaging.WithToken("token"), messaging.WithContract(names),
			messaging.WithHTTPClient(&http.Client{Transport: base}))
		require.NoError(t, err)
		for tx, err := range client.SMS.List(t.Context(), sms.ListOptions{}) {
			if err != nil {
				return ids, err
			}
			ids = append(ids, tx.ID)
		}
		return ids, nil
	}
	ids, err := list(rows)
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b", "c"}, ids)

	ids, err = list(lacking)
	assert.Equal(t, []string{"a", "b"}, ids)
	assert.ErrorContains(t, err, "paging looks for it (sms.list.page.next)")

	_, err = list(map[string]string{"": `{"id":"a"}`, "a": `{"id":"a"}`})
	assert.ErrorContains(t, err, "does not page as the contract says", "a service that ignores the cursor")
}

// A request has the parameter of the contract's paging alone, and an order only with a column or if it is descending. A contract may lack the
// parameter for the order.
func TestListRequestParameters(t *testing.T) {
	t.Parallel()
	const (
		byCursor  = `{"sms.list": {"paging": {"by": "cursor"}, "params": {"cursor": "after"}}}`
		unordered = `{"sms.list": {"params": {"order": ""}}}`
	)
	for _, test := range []struct {
		overlay string
		options sms.ListOptions
		want    string // the decoded query
	}{
		{byCursor, sms.ListOptions{}, ""},
		{`{}`, sms.ListOptions{}, "pageNumber=1"},
		{`{}`, sms.ListOptions{SortBy: sms.ByCreated}, "pageNumber=1&sort[column]=dateCreated&sort[direction]=asc"},
		{`{}`, sms.ListOptions{Descending: true}, "pageNumber=1&sort[direction]=desc"},
		{unordered, sms.ListOptions{SortBy: sms.ByCreated}, "pageNumber=1&sort[column]=dateCreated"},
	} {
		query, _, err := listOnce(t, test.overlay, "", test.options)
		require.NoError(t, err)
		assert.Equal(t, test.want, query, test.overlay)
	}
	_, _, err := listOnce(t, unordered, "", sms.ListOptions{SortBy: sms.ByCreated, Descending: true})
	assert.ErrorContains(t, err, "Descending")
}

// Filters are sent in the form of the contract. Rows may have times in another form, or in a layout.
func TestListTimeForms(t *testing.T) {
	t.Parallel()
	const (
		inSeconds = `{"sms.list": {"time": "unix", "layouts": ["02/01/2006 15:04"]}}`
		rows      = `{"id":"a","created":1764345000},{"id":"b","created":"2025-11-28T15:50:00Z"},{"id":"c","created":"28/11/2025 15:50"}`
	)
	query, listed, err := listOnce(t, inSeconds, rows, sms.ListOptions{CreatedBefore: time.Unix(1764345600, 0)})
	require.NoError(t, err)
	assert.Contains(t, query, "filter[dateCreatedLt]=17643456")
	require.Len(t, listed, 3)
	for _, row := range listed {
		assert.Equal(t, int64(1764345000), row.CreatedAt.Unix())
	}
}

// listOnce lists from a service with one page of rows. It returns the decoded query of the request, and the rows.
func listOnce(t *testing.T, overlay, rows string, options sms.ListOptions) (query string, listed []sms.Transaction, err error) {
	t.Helper()
	names, err := contract.Parse([]byte(overlay))
	require.NoError(t, err)
	base := roundTripper(func(r *http.Request) (*http.Response, error) {
		query, err = url.QueryUnescape(r.URL.Query().Encode())
		require.NoError(t, err)
		return respond(r, http.StatusOK, `{"data":[`+rows+`],"hasNext":false}`), nil
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("token"), messaging.WithContract(names),
		messaging.WithHTTPClient(&http.Client{Transport: base}))
	require.NoError(t, err)
	for row, err := range client.SMS.List(t.Context(), options) {
		if err != nil {
			return query, listed, err
		}
		listed = append(listed, row)
	}
	return query, listed, nil
}
