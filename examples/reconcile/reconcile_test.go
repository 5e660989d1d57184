package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Each SMS of the day is counted once, although the listing is interrupted again and again, each time in a new process, while
// more are sent.
func TestReconcileGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	const n = 30_000
	service := messagingtest.NewServer(t)
	service.Seed(messagingtest.Sent{From: "SHOP0", At: day.Add(-time.Millisecond)}) // the day before
	for i := range n {
		at := day.Add(time.Duration(i) * 24 * time.Hour / n)
		service.Seed(messagingtest.Sent{From: fmt.Sprint("SHOP", i%3), To: "+639171234567", Parts: 1 + i%2, At: at})
	}
	service.Seed(messagingtest.Sent{From: "SHOP0", At: day.AddDate(0, 0, 1)}) // the day after
	file := filepath.Join(t.TempDir(), "state.json")
	interruptions := 0
	var out bytes.Buffer
	for {
		requests := 0
		client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithRateLimit(1e6, 1),
			messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
			messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
				return roundTripper(func(r *http.Request) (*http.Response, error) {
					if requests++; requests > 11 {
						return nil, errors.New("interrupted")
					}
					return base.RoundTrip(r)
				})
			}))
		require.NoError(t, err)
		if err = reconcile(t.Context(), client, day, file, &out); err == nil {
			break
		}
		require.ErrorContains(t, err, "start again to go on")
		interruptions++
		require.Less(t, interruptions, 20)
		service.Seed(messagingtest.Sent{From: "SHOP1", At: day.AddDate(0, 0, 2)})
	}
	assert.Equal(t, 5, interruptions, "60 pages, 11 at a time")
	assert.Equal(t, "sender,status,currency,messages,parts,cost,unpriced\n"+
		"SHOP0,unknown,XTS,10000,15000,7500.00,0\nSHOP1,unknown,XTS,10000,15000,7500.00,0\nSHOP2,unknown,XTS,10000,15000,7500.00,0\n", out.String())
	assert.NoFileExists(t, file)
}

// A day with one page, or none, leaves nothing behind, and can be summed up again.
func TestReconcileAQuietDay(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	service := messagingtest.NewServer(t)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "state.json")
	for _, want := range []string{"", "ACME,unknown,XTS,1,1,0.50,0\n", "ACME,unknown,XTS,1,1,0.50,0\n"} {
		var out bytes.Buffer
		if want != "" && len(service.Sent()) == 0 {
			service.Seed(messagingtest.Sent{From: "ACME", At: day})
		}
		require.NoError(t, reconcile(t.Context(), client, day, file, &out))
		assert.Equal(t, "sender,status,currency,messages,parts,cost,unpriced\n"+want, out.String())
		assert.NoFileExists(t, file)
	}
}

// Rows of messages that were not accepted, or may not have been, are not in the sums.
func TestReconcileSumsUpAcceptedMessages(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	service := messagingtest.NewServer(t)
	unknown := map[string]json.RawMessage{"error": []byte(`{"code":"200101"}`)}
	service.Seed(
		messagingtest.Sent{From: "ACME", At: day},
		messagingtest.Sent{From: "ACME", At: day, DeliveryStatus: "DELIVRD"},
		messagingtest.Sent{From: "ACME", At: day, SendStatus: "rejected"},
		messagingtest.Sent{From: "ACME", At: day, Row: unknown},
		messagingtest.Sent{From: "ACME", At: day, Row: unknown},
	)
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token))
	require.NoError(t, err)
	r := report{Totals: map[string]*total{}, Others: map[string]int{}}
	require.NoError(t, r.sumUp(t.Context(), client, day, ""))
	assert.Equal(t, map[string]int{"refused": 1, "unknown": 2}, r.Others)
	var out bytes.Buffer
	require.NoError(t, r.writeCSV(&out))
	assert.Equal(t, "sender,status,currency,messages,parts,cost,unpriced\nACME,delivered,XTS,1,1,0.50,0\nACME,unknown,XTS,1,1,0.50,0\n", out.String())
}

func TestReportSumsUpExactly(t *testing.T) {
	t.Parallel()
	r := &report{Totals: map[string]*total{}}
	for _, price := range []string{"0.1", "0.2", "", "0.0001", "n/a", "1e400000000"} {
		r.add(&sms.Transaction{From: "ACME", Currency: "EUR", Parts: 1, Price: price}, messaging.Accepted)
	}
	r.add(&sms.Transaction{From: "ACME", Currency: "USD", Parts: 1, Price: "7"}, messaging.Accepted)
	r.add(&sms.Transaction{From: "a, \"b\"", Parts: 1, Price: "-0.5"}, messaging.Accepted)
	var out bytes.Buffer
	require.NoError(t, r.writeCSV(&out))
	assert.Equal(t, "sender,status,currency,messages,parts,cost,unpriced\n"+
		"ACME,unknown,EUR,6,6,0.3001,3\nACME,unknown,USD,1,1,7.00,0\n\"a, \"\"b\"\"\",unknown,,1,1,-0.50,0\n", out.String())
}
