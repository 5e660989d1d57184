package messaging_test

import (
	"fmt"
	"io"
	"net/http"
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
