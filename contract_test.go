package messaging_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/sms"
)

// Constant headers go with every attempt, and credentials win over nothing: the contract rejects their headers.
func TestConstantHeaders(t *testing.T) {
	t.Parallel()
	var headers []http.Header
	service := roundTripper(func(r *http.Request) (*http.Response, error) {
		headers = append(headers, r.Header.Clone())
		r.Header.Set("X-Api-Version", "changed by a round tripper")
		switch {
		case r.Method == http.MethodGet:
			return respond(r, http.StatusOK, `{"data":[]}`), nil
		case len(headers) == 1:
			return respond(r, http.StatusTooManyRequests, ``), nil
		default:
			return respond(r, http.StatusOK, accepted), nil
		}
	})
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(),
		messaging.WithRetry(messaging.RetryPolicy{MinWait: 1, MaxWait: 1}), overlay(t, `{
			"headers": {"X-Api-Version": "3", "x-tenant": "shop"},
			"sms.list": {"headers": {"x-api-version": "4", "X-Tenant": ""}}
		}`))
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), one)
	require.NoError(t, err)
	_, err = client.SMS.Find(t.Context(), "r-1")
	require.ErrorIs(t, err, messaging.ErrNotListed)
	require.Len(t, headers, 3)
	for i, want := range []http.Header{
		{"X-Api-Version": {"3"}, "X-Tenant": {"shop"}, "Content-Type": {"application/json"}, "User-Agent": {"messaging-go/" + messaging.Version}},
		{"X-Api-Version": {"3"}, "X-Tenant": {"shop"}, "Content-Type": {"application/json"}, "User-Agent": {"messaging-go/" + messaging.Version}},
		{"X-Api-Version": {"4"}, "Cache-Control": {"no-cache"}, "User-Agent": {"messaging-go/" + messaging.Version}},
	} {
		want["Accept"], want["Authorization"] = []string{"application/json"}, []string{"Bearer t"}
		assert.Equal(t, want, headers[i], "request %d", i+1)
	}
}

// A listing by POST is a read: it is retried after what would leave a send in doubt, with its whole body.
func TestListByPOST(t *testing.T) {
	t.Parallel()
	for encoding, read := range map[string]func(body []byte) map[string]any{
		"json": func(body []byte) (fields map[string]any) {
			_ = json.Unmarshal(body, &fields)
			return fields
		},
		"form": func(body []byte) map[string]any {
			values, _ := url.ParseQuery(string(body))
			fields := map[string]any{}
			for name := range values {
				fields[name] = values.Get(name)
			}
			return fields
		},
	} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			requests := 0
			service := roundTripper(func(r *http.Request) (*http.Response, error) {
				requests++
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				assert.Equal(t, http.MethodPost, r.Method)
				assert.Equal(t, "/messages/search", r.URL.Path)
				assert.Empty(t, r.URL.RawQuery)
				assert.Nil(t, r.GetBody, "net/http repeats nothing by itself")
				assert.Equal(t, "order-17", read(body)["ref"])
				assert.NotNil(t, read(body)["pageNumber"])
				if requests%2 == 1 {
					return nil, io.ErrUnexpectedEOF // written, and the response lost
				}
				return respond(r, http.StatusOK, `{"hasNext":false,"data":[{"id":"t-1","referenceId":"order-17"}]}`), nil
			})
			client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), service.option(),
				messaging.WithRetry(messaging.RetryPolicy{MinWait: 1, MaxWait: 1}),
				overlay(t, `{"sms.list": {"method": "POST", "encoding": "`+encoding+`", "path": "/messages/search", "params": {"reference": "ref"}}}`))
			require.NoError(t, err)
			tx, err := client.SMS.Find(t.Context(), "order-17")
			require.NoError(t, err)
			assert.Equal(t, "t-1", tx.ID)
			receipt, err := client.SMS.Settle(t.Context(), sms.Message{To: "639171234567", ReferenceID: "order-17"}, time.Now())
			require.NoError(t, err)
			assert.Equal(t, "t-1", receipt.ID)
			assert.Equal(t, 4, requests)
		})
	}
}

func TestReceiptOfAnAdaptedContract(t *testing.T) {
	t.Parallel()
	respondWith := func(body string) roundTripper {
		return func(r *http.Request) (*http.Response, error) { return respond(r, http.StatusOK, body), nil }
	}
	names := overlay(t, `{"sms.send": {"scale": -4, "refused": ["REJECTED*"], "accepted": ["queued"],
		"response": {"cost": ["price.value"], "currency": ["price.currency"], "status": ["status"]}}}`)
	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"), names,
		respondWith(`{"id":"m-1","status":"queued","price":{"value":-12345,"currency":"EUR"}}`).option())
	require.NoError(t, err)
	receipt, err := client.SMS.Send(t.Context(), one)
	require.NoError(t, err)
	assert.Equal(t, "-1.2345", receipt.Cost)
	assert.Equal(t, "EUR", receipt.Currency)

	client, err = messaging.NewClient(baseURL, messaging.WithToken("t"), names,
		respondWith(`{"id":"m-1","status":"REJECTED_NO_ROUTE"}`).option())
	require.NoError(t, err)
	_, err = client.SMS.Send(t.Context(), one)
	assert.Equal(t, messaging.Refused, messaging.VerdictOf(err))
	require.ErrorContains(t, err, "REJECTED_NO_ROUTE")
}

func TestNewClientChecksTheNamesOfTheContract(t *testing.T) {
	t.Parallel()
	_, err := messaging.NewClient(baseURL, messaging.WithToken("t"), overlay(t, `{"sms.send":{"fields":{"to":"from"}},"chatapp1.send":{"constants":{"to.kind":1}}}`))
	var invalid *messaging.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Problems, 2)
	assert.Equal(t, "WithContract", invalid.Problems[0].Field)
	assert.Equal(t, "sms.send.fields.to: cannot be written together with sms.send.fields.from; give one of them another name, or leave it out",
		invalid.Problems[0].Reason)
	assert.Contains(t, invalid.Problems[1].Reason, "chatapp1.send.constants.to.kind: cannot be written together with chatapp1.send.fields.to")

	client, err := messaging.NewClient(baseURL, messaging.WithToken("t"))
	require.NoError(t, err)
	_, err = client.With(overlay(t, `{"sms.list":{"params":{"from":"number","to":"number"}}}`))
	require.ErrorContains(t, err, "sms.list.params.to: cannot be written together with sms.list.params.from")
}
