package main

import (
	"bytes"
	"errors"
	"math/big"
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
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	const n = 30_000
	service := messagingtest.NewServer(t)
	service.Seed(messagingtest.Sent{From: "SHOP0", At: day.Add(-time.Millisecond)}) // the day before
	service.Seed(seeds(day, n)...)
	service.Seed(messagingtest.Sent{From: "SHOP0", At: day.AddDate(0, 0, 1)}) // the day after
	state := filepath.Join(t.TempDir(), "state.json")
	interruptions := 0
	var r *report
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
		r, err = load(state, day)
		require.NoError(t, err)
		if err = r.sumUp(t.Context(), client, state); err == nil {
			break
		}
		interruptions++
		require.Less(t, interruptions, 20)
		service.Seed(messagingtest.Sent{From: "SHOP1", At: day.AddDate(0, 0, 2)})
	}
	assert.Equal(t, 5, interruptions, "60 pages, 11 at a time")
	assert.Equal(t, n, r.Messages)
	var out bytes.Buffer
	require.NoError(t, r.writeCSV(&out))
	assert.Equal(t, "sender,currency,messages,parts,cost,unpriced\n"+
		"SHOP0,XTS,10000,15000,7500.00,0\nSHOP1,XTS,10000,15000,7500.00,0\nSHOP2,XTS,10000,15000,7500.00,0\n", out.String())

	_, err := load(state, day.AddDate(0, 0, 1))
	require.ErrorContains(t, err, "is of 2026-11-21, not of 2026-11-22; choose another file with -state")
}

func TestReportSumsUpExactly(t *testing.T) {
	r := &report{Totals: map[string]*total{}}
	for _, price := range []string{"0.1", "0.2", "", "0.0001", "n/a", "1e400000000"} {
		r.add(&sms.Transaction{From: "ACME", Currency: "EUR", Parts: 1, Price: price})
	}
	r.add(&sms.Transaction{From: "ACME", Currency: "USD", Parts: 1, Price: "7"})
	r.add(&sms.Transaction{From: "a, \"b\"", Parts: 1, Price: "-0.5"})
	var out bytes.Buffer
	require.NoError(t, r.writeCSV(&out))
	assert.Equal(t, "sender,currency,messages,parts,cost,unpriced\n"+
		"ACME,EUR,6,6,0.3001,3\nACME,USD,1,1,7.00,0\n\"a, \"\"b\"\"\",,1,1,-0.50,0\n", out.String())
}

func TestReportIsKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.json")
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	r, err := load(file, day)
	require.NoError(t, err)
	r.add(&sms.Transaction{From: "ACME", Parts: 2, Price: "0.1"})
	r.Next = "next"
	require.NoError(t, r.save(file))
	again, err := load(file, day)
	require.NoError(t, err)
	assert.Equal(t, r, again)
	assert.Equal(t, big.NewRat(1, 10), again.Totals[`"ACME"`].Cost)
}
