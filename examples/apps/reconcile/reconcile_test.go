package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/contract"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

const header = "sender,status,currency,messages,parts,cost,unpriced\n"

var midnight = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// watch passes each request to a function before it is sent.
func watch(see func(*http.Request) error) messaging.Option {
	return messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if err := see(r); err != nil {
				return nil, err
			}
			return base.RoundTrip(r)
		})
	})
}

// newDatabase returns an empty database: a schema on the server OUTBOX_POSTGRES, or without one an SQLite file.
func newDatabase(t *testing.T) string {
	t.Helper()
	postgres := os.Getenv("OUTBOX_POSTGRES")
	if postgres == "" {
		return filepath.Join(t.TempDir(), "reconcile.db")
	}
	connection, err := pgx.Connect(t.Context(), postgres)
	require.NoError(t, err)
	defer connection.Close(t.Context())
	schema := "reconcile_" + strings.ToLower(rand.Text())
	_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	return postgres + "&search_path=" + schema
}

// openDay opens a day in a database as a process does that starts.
func openDay(t *testing.T, service *messagingtest.Server, databaseURL string, options ...messaging.Option) *day {
	t.Helper()
	options = append(options, messaging.WithToken(service.Token), messaging.WithRateLimit(1e6, 1))
	client, err := messaging.NewClient(service.URL, options...)
	require.NoError(t, err)
	db, err := openDatabase(t.Context(), databaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return newDay(db, client, midnight)
}

// sums reconciles a day and returns the output.
func sums(t *testing.T, d *day) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, d.reconcile(t.Context(), &out))
	return out.String()
}

// The total of the service is compared with the rows that several processes listed.
func TestReconcileComparesTheTotal(t *testing.T) {
	t.Parallel()
	const n = 1200
	service := messagingtest.NewServer(t)
	for i := range n {
		service.Seed(messagingtest.Sent{From: "SHOP", To: "+639171234567", At: midnight.Add(time.Duration(i) * time.Second)})
	}
	for total, want := range map[string]string{
		"1200": "",
		"1207": "the service counts 1207 rows and listed 1200: rows are missing, or its total counts others, too",
		"0":    "",
	} {
		databaseURL := newDatabase(t)
		requests := 0
		cut := watch(func(*http.Request) error {
			if requests++; requests == 3 {
				return errors.New("cut")
			}
			return nil
		})
		once := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})
		require.Error(t, openDay(t, service, databaseURL, cut, once).reconcile(t.Context(), io.Discard))
		d := openDay(t, service, databaseURL, withTotal(total))
		sums(t, d)
		if want == "" {
			assert.NoError(t, d.checkTotal(t.Context()))
		} else {
			assert.ErrorContains(t, d.checkTotal(t.Context()), want)
		}
	}
}

// The total counts the rows that Pages omits, also across an interruption. A listing that begins again counts anew.
func TestOmittedRowsBelongToTheTotal(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	_, err := d.db.ExecContext(t.Context(), "INSERT INTO progress VALUES ($1, '', 0, 0)", d.key)
	require.NoError(t, err)
	for range 2 {
		first := sms.Page{Transactions: []sms.Transaction{{ID: "m-1"}}, Omitted: 2, Next: "next"}
		require.NoError(t, d.store(t.Context(), first, ""))
		require.NoError(t, d.store(t.Context(), sms.Page{Omitted: 1}, "next"))
		d.total = 4
		require.NoError(t, d.checkTotal(t.Context()))
		d.total = 5
		require.Error(t, d.checkTotal(t.Context()))
	}
}

// withTotal replaces the total of each response.
func withTotal(total string) messaging.Option {
	return messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := base.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(response.Body)
			err = errors.Join(err, response.Body.Close())
			changed := bytes.Replace(body, []byte(`"totalRows":1200`), []byte(`"totalRows":`+total), 1)
			response.Body = io.NopCloser(bytes.NewReader(changed))
			response.ContentLength = int64(len(changed))
			return response, err
		})
	})
}

// Each SMS of the day is counted once, although the listing is interrupted again and again, each time in a new process, while
// more are sent.
func TestReconcileGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	const n = 30_000
	service := messagingtest.NewServer(t)
	service.Seed(messagingtest.Sent{From: "SHOP0", At: midnight.Add(-time.Millisecond)}) // the day before
	for i := range n {
		at := midnight.Add(time.Duration(i) * 24 * time.Hour / n)
		service.Seed(messagingtest.Sent{From: fmt.Sprint("SHOP", i%3), To: "+639171234567", Parts: 1 + i%2, At: at})
	}
	service.Seed(messagingtest.Sent{From: "SHOP0", At: midnight.AddDate(0, 0, 1)}) // the day after
	databaseURL := newDatabase(t)
	interruptions := 0
	requests := 0
	var out bytes.Buffer
	for {
		left := 11
		d := openDay(t, service, databaseURL, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), watch(func(*http.Request) error {
			requests++
			if left--; left < 0 {
				return errors.New("interrupted")
			}
			return nil
		}))
		err := d.reconcile(t.Context(), &out)
		if err == nil {
			break
		}
		require.ErrorContains(t, err, "start again to go on")
		interruptions++
		require.Less(t, interruptions, 20)
		service.Seed(messagingtest.Sent{From: "SHOP1", At: midnight.AddDate(0, 0, 2)})
	}
	assert.Equal(t, 5, interruptions, "60 pages, 11 at a time")
	assert.Equal(t, header+
		"SHOP0,unknown,XTS,10000,15000,7500.00,0\nSHOP1,unknown,XTS,10000,15000,7500.00,0\nSHOP2,unknown,XTS,10000,15000,7500.00,0\n", out.String())

	before := requests
	_ = openDay(t, service, databaseURL, watch(func(*http.Request) error { requests++; return nil })).reconcile(t.Context(), &bytes.Buffer{})
	assert.Equal(t, 60, requests-before, "a complete day is listed again")
}

// A complete day is listed again. If that is interrupted, the rows of the listing before count, and not a part of the new ones.
func TestReconcileKeepsADayUntilItIsListedAgain(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	for range 600 {
		service.Seed(messagingtest.Sent{From: "ACME", At: midnight})
	}
	databaseURL := newDatabase(t)
	before := sums(t, openDay(t, service, databaseURL))
	service.Seed(messagingtest.Sent{From: "LATE", At: midnight.Add(time.Hour)})
	left := 1
	d := openDay(t, service, databaseURL, messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), watch(func(*http.Request) error {
		if left--; left < 0 {
			return errors.New("interrupted")
		}
		return nil
	}))
	require.ErrorContains(t, d.reconcile(t.Context(), io.Discard), "start again to go on")
	var after bytes.Buffer
	require.NoError(t, d.writeSums(t.Context(), &after))
	assert.Equal(t, header+"ACME,unknown,XTS,600,600,300.00,0\n", before)
	assert.Equal(t, before, after.String())
	assert.Equal(t, before+"LATE,unknown,XTS,1,1,0.50,0\n", sums(t, openDay(t, service, databaseURL)))
}

// A service that begins to ignore the filter lists only other days. That is an error each time, although the listing has several pages, and the day
// keeps its rows.
func TestReconcileSaysThatTheFilterIsIgnored(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]string{"from the beginning": "", "after a position that is refused": "of an earlier version"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testIgnoredFilter(t, next)
		})
	}
}

// testIgnoredFilter lists a day that an earlier process listed up to a position.
func testIgnoredFilter(t *testing.T, next string) {
	t.Helper()
	databaseURL := newDatabase(t)
	service := messagingtest.NewServer(t)
	service.Seed(messagingtest.Sent{From: "ACME", At: midnight})
	before := sums(t, openDay(t, service, databaseURL))
	service = messagingtest.NewServer(t)
	for range 1200 {
		service.Seed(messagingtest.Sent{From: "ACME", At: midnight.AddDate(0, 0, -7)})
	}
	ignore := watch(func(r *http.Request) error {
		query := r.URL.Query()
		query.Del("filter[dateCreatedGt]")
		query.Del("filter[dateCreatedLt]")
		r.URL.RawQuery = query.Encode()
		return nil
	})
	d := openDay(t, service, databaseURL, ignore)
	_, err := d.db.ExecContext(t.Context(), "UPDATE progress SET next = $1", next)
	require.NoError(t, err)
	for range 3 {
		require.ErrorIs(t, d.reconcile(t.Context(), io.Discard), messaging.ErrFilterIgnored)
	}
	var after bytes.Buffer
	require.NoError(t, d.writeSums(t.Context(), &after))
	assert.Equal(t, before, after.String())
}

// A comparison leaves a table of the same name alone: it may hold the only records of what was sent.
func TestCompareKeepsYourTable(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	_, err := d.db.ExecContext(t.Context(), "CREATE TABLE sms (reference text PRIMARY KEY)")
	require.NoError(t, err)
	_, err = d.db.ExecContext(t.Context(), "INSERT INTO sms VALUES ('r-1')")
	require.NoError(t, err)
	assert.Len(t, differences(t, d, "r-2,+639171234567,accepted,2026-11-21T12:00:00Z,2026-11-21T12:00:01Z,,"), 1)
	var reference string
	require.NoError(t, d.db.QueryRowContext(t.Context(), "SELECT reference FROM sms").Scan(&reference))
	assert.Equal(t, "r-1", reference)
}

// A day with one page, or none, can be summed up again, also with rows that came late.
func TestReconcileAQuietDay(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	databaseURL := newDatabase(t)
	assert.Equal(t, header, sums(t, openDay(t, service, databaseURL)))
	service.Seed(messagingtest.Sent{From: "ACME", At: midnight})
	for range 2 {
		assert.Equal(t, header+"ACME,unknown,XTS,1,1,0.50,0\n", sums(t, openDay(t, service, databaseURL)))
	}
}

// Rows of messages that were not accepted, or may not have been, are not in the sums.
func TestReconcileSumsUpAcceptedMessages(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	unknown := map[string]json.RawMessage{"error": []byte(`{"code":"200101"}`)}
	service.Seed(
		messagingtest.Sent{From: "ACME", At: midnight},
		messagingtest.Sent{From: "ACME", At: midnight, DeliveryStatus: "DELIVRD"},
		messagingtest.Sent{From: "ACME", At: midnight, SendStatus: "rejected"},
		messagingtest.Sent{From: "ACME", At: midnight, Row: unknown},
		messagingtest.Sent{From: "ACME", At: midnight, Row: unknown},
	)
	d := openDay(t, service, newDatabase(t))
	assert.Equal(t, header+"ACME,delivered,XTS,1,1,0.50,0\nACME,unknown,XTS,1,1,0.50,0\n", sums(t, d))
	var others string
	const query = "SELECT string_agg(verdict, ' ' ORDER BY verdict) FROM listed WHERE verdict <> 'accepted'"
	require.NoError(t, d.db.QueryRowContext(t.Context(), query).Scan(&others))
	assert.Equal(t, "refused unknown unknown", others)
}

func TestSumsAreExact(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	insert := func(sender, currency, price string) {
		const row = "INSERT INTO listed VALUES ($1, '', '', '', 'accepted', $2, 'unknown', $3, 1, $4, TRUE, '')"
		_, err := d.db.ExecContext(t.Context(), row, d.key, sender, currency, price)
		require.NoError(t, err)
	}
	for _, price := range []string{"0.1", "0.2", "", "0.0001", "n/a", "1e400000000"} {
		insert("ACME", "EUR", price)
	}
	insert("ACME", "USD", "7")
	insert(`a, "b"`, "", "-0.5")
	insert(`a, "b"`, "", "-0.5")
	var out bytes.Buffer
	require.NoError(t, d.writeSums(t.Context(), &out))
	assert.Equal(t, header+"ACME,unknown,EUR,6,6,0.3001,3\nACME,unknown,USD,1,1,7.00,0\n\"a, \"\"b\"\"\",unknown,,2,2,-1.00,0\n", out.String())
}

// Rows without a readable time are in the listing of every day. The test is not parallel, because it reads the log.
func TestSumsLeaveOutRowsWithoutATime(t *testing.T) {
	var logged bytes.Buffer
	log.SetOutput(&logged)
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	service := messagingtest.NewServer(t)
	service.Seed(
		messagingtest.Sent{From: "ACME", At: midnight},
		messagingtest.Sent{From: "ACME", At: midnight, Row: map[string]json.RawMessage{"dateCreated": []byte(`"soon"`)}},
	)
	d := openDay(t, service, newDatabase(t))
	assert.Equal(t, header+"ACME,unknown,XTS,1,1,0.50,0\n", sums(t, d))
	assert.Contains(t, logged.String(), "not in the sums: 1 accepted SMS without a readable time, which are in the listing of every day")
}

// A row that comes on two pages, because more than a page of rows entered the listing before it in the meantime, is counted once. Two rows with
// one ID and different recipients are two messages.
func TestReconcileCountsARowOnce(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	row := func(id, to string) sms.Transaction {
		return sms.Transaction{ID: id, To: to, From: "ACME", Parts: 1, Price: "1", CreatedAt: midnight}
	}
	require.NoError(t, d.store(t.Context(), sms.Page{Transactions: []sms.Transaction{row("1", "+1"), row("2", "+1"), row("2", "+2")}, Next: "2"}, ""))
	require.NoError(t, d.store(t.Context(), sms.Page{Transactions: []sms.Transaction{row("1", "+1"), row("3", "+1")}}, "2"))
	var out bytes.Buffer
	require.NoError(t, d.writeSums(t.Context(), &out))
	assert.Equal(t, header+"ACME,unknown,,4,4,4.00,0\n", out.String())
}

// An error that starting again cannot change does not ask for it.
func TestReconcileSaysWhetherToStartAgain(t *testing.T) {
	t.Parallel()
	const again = "start again"
	untimed, err := contract.Parse([]byte(`{"sms.list": {"params": {"createdAfter": "", "createdBefore": ""}}}`))
	require.NoError(t, err)
	service := messagingtest.NewServer(t)
	err = openDay(t, service, newDatabase(t), messaging.WithContract(untimed)).reconcile(t.Context(), io.Discard)
	require.ErrorContains(t, err, "CreatedAfter")
	assert.NotContains(t, err.Error(), again)
	once := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})
	for status, passes := range map[int]bool{http.StatusUnauthorized: false, http.StatusForbidden: false, http.StatusServiceUnavailable: true} {
		service.Inject(messagingtest.FaultStatus(status, 0), 1)
		err = openDay(t, service, newDatabase(t), once).reconcile(t.Context(), io.Discard)
		require.Error(t, err)
		assert.Equal(t, passes, strings.Contains(err.Error(), again), err)
	}
}

// A nightly program waits for the end of an outage, for as long as the service asks, and goes on after the last page.
func TestReconcileWaitsForTheEndOfAnOutage(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	for range 600 {
		service.Seed(messagingtest.Sent{From: "ACME", At: midnight})
	}
	requests := 0
	d := openDay(t, service, newDatabase(t), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}), watch(func(*http.Request) error {
		requests++
		if requests == 2 { // for the second page
			service.Inject(messagingtest.FaultStatus(http.StatusServiceUnavailable, time.Second), 1)
			service.Inject(messagingtest.FaultStatus(http.StatusBadGateway, 0), 1)
		}
		return nil
	}))
	d.patience = time.Minute
	d.pause = 10 * time.Millisecond
	begun := time.Now()
	assert.Equal(t, header+"ACME,unknown,XTS,600,600,300.00,0\n", sums(t, d))
	assert.GreaterOrEqual(t, time.Since(begun), time.Second, "Retry-After")
	assert.Equal(t, 4, requests, "the first page is not listed again")
}

// An outage that lasts too long is an error, and so is at once an error that does not end by itself.
func TestReconcileDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	once := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})
	statuses := map[int]int{http.StatusServiceUnavailable: 3, http.StatusUnauthorized: 1, http.StatusPaymentRequired: 1}
	for status, want := range statuses {
		service := messagingtest.NewServer(t)
		service.Inject(messagingtest.FaultStatus(status, 0), 100)
		d := openDay(t, service, newDatabase(t), once)
		d.patience = 500 * time.Millisecond
		d.pause = 100 * time.Millisecond // then 200 and 400
		require.Error(t, d.reconcile(t.Context(), io.Discard))
		assert.Equal(t, want, service.Requests(), status)
	}
}

func TestRecordsNeedTheirFlag(t *testing.T) {
	t.Parallel()
	_, err := argumentsOf([]string{"-zone", "UTC", "sent.csv"})
	require.ErrorContains(t, err, "usage: reconcile")
}

func TestStartOfDay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 23, 17, 0, 0, 0, time.UTC) // 1:00 of the 24th in Manila
	begin, err := startOfDay("", "Asia/Manila", now)
	require.NoError(t, err)
	assert.Equal(t, "2026-11-23T00:00:00+08:00", begin.Format(time.RFC3339), "yesterday")
	begin, err = startOfDay("2026-10-25", "Europe/Berlin", now)
	require.NoError(t, err)
	assert.Equal(t, 25*time.Hour, newDay(nil, nil, begin).end.Sub(begin), "the clocks go back")
	for name, tt := range map[string]struct {
		date, zone string
		now        time.Time
		want       string
	}{
		"rows may come late": {"2026-11-23", "Asia/Manila", now.Add(-time.Second), "start at 2026-11-24T01:00:00+08:00"},
		"today":              {"2026-11-23", "UTC", now, "may not be listed yet"},
		"no zone":            {"2026-11-22", "", now, "-zone is not set"},
		"unknown zone":       {"2026-11-22", "Asia/Nowhere", now, "unknown time zone"},
		"no date":            {"yesterday", "UTC", now, "cannot parse"},
	} {
		_, err := startOfDay(tt.date, tt.zone, tt.now)
		assert.ErrorContains(t, err, tt.want, name)
	}
}

// A position that the library or the service refuses is dropped with the rows before it, and the day begins again.
func TestReconcileBeginsAgainIfThePositionIsRefused(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(t *testing.T, service *messagingtest.Server, d *day){
		"other options": func(t *testing.T, _ *messagingtest.Server, d *day) {
			t.Helper()
			_, err := d.db.ExecContext(t.Context(), "UPDATE progress SET next = 'of an earlier version'")
			require.NoError(t, err)
		},
		"the service forgot it": func(_ *testing.T, service *messagingtest.Server, _ *day) {
			service.Inject(messagingtest.FaultStatus(http.StatusBadRequest, 0), 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			for range 600 {
				service.Seed(messagingtest.Sent{From: "ACME", At: midnight})
			}
			databaseURL := newDatabase(t)
			ctx, interrupt := context.WithCancel(t.Context())
			requests := 0
			d := openDay(t, service, databaseURL, watch(func(*http.Request) error {
				if requests++; requests == 2 {
					interrupt()
				}
				return nil
			}))
			require.ErrorIs(t, d.reconcile(ctx, &bytes.Buffer{}), context.Canceled)
			refuse(t, service, d)
			assert.Equal(t, header+"ACME,unknown,XTS,600,600,300.00,0\n", sums(t, openDay(t, service, databaseURL)))
		})
	}
}

// A row of a page that was listed is deleted, so the first row of the next page moves there. A process that starts in between sees it, too.
func TestReconcileBeginsAgainAfterADeletion(t *testing.T) {
	t.Parallel()
	const n = 1200
	for name, isRestarted := range map[string]bool{"in one process": false, "in two processes": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			for i := range n {
				id := fmt.Sprint("m-", i)
				service.Seed(messagingtest.Sent{ID: id, From: "SHOP", To: "+639171234567", At: midnight.Add(time.Duration(i) * time.Second)})
			}
			databaseURL := newDatabase(t)
			requests := 0
			deleteRow := watch(func(*http.Request) error {
				requests++
				if requests != 2 {
					return nil
				}
				service.Remove("m-7")
				if isRestarted {
					return errors.New("cut")
				}
				return nil
			})
			once := messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1})
			d := openDay(t, service, databaseURL, deleteRow, once)
			if isRestarted {
				require.Error(t, d.reconcile(t.Context(), io.Discard))
				d = openDay(t, service, databaseURL)
			}
			sums(t, d)
			var rows int
			require.NoError(t, d.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM listed WHERE id = 'm-500'").Scan(&rows))
			assert.Equal(t, 1, rows, "the row that moved")
			require.NoError(t, d.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM listed").Scan(&rows))
			assert.Equal(t, n-1, rows)
			assert.NoError(t, d.checkTotal(t.Context()))
		})
	}
}

func TestReconcileDoesNotSortIfTheContractCannot(t *testing.T) {
	t.Parallel()
	unsorted, err := contract.Parse([]byte(`{"sms.list": {"params": {"sortBy": "", "order": ""}}}`))
	require.NoError(t, err)
	service := messagingtest.NewServer(t, messagingtest.WithContract(unsorted))
	for range 600 {
		service.Seed(messagingtest.Sent{From: "ACME", At: midnight})
	}
	databaseURL := newDatabase(t)
	left := 1
	d := openDay(t, service, databaseURL, messaging.WithContract(unsorted), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}),
		watch(func(*http.Request) error {
			if left--; left < 0 {
				return errors.New("interrupted")
			}
			return nil
		}))
	require.ErrorContains(t, d.reconcile(t.Context(), &bytes.Buffer{}), "start again to go on")
	requests := 0
	d = openDay(t, service, databaseURL, messaging.WithContract(unsorted), watch(func(*http.Request) error { requests++; return nil }))
	assert.Equal(t, header+"ACME,unknown,XTS,600,600,300.00,0\n", sums(t, d))
	assert.Equal(t, 1, requests, "it goes on from the position of a listing without an order")
}

// Two processes would count rows twice.
func TestOneProcessListsADay(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	page := sms.Page{Transactions: []sms.Transaction{{ID: "1"}}, Next: "2"}
	require.NoError(t, d.store(t.Context(), page, ""))
	require.ErrorContains(t, d.store(t.Context(), page, ""), "another process")
	require.NoError(t, d.store(t.Context(), sms.Page{Transactions: []sms.Transaction{{ID: "2"}}}, "2"))
	var rows int
	require.NoError(t, d.db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM listed").Scan(&rows))
	assert.Equal(t, 2, rows)
}

func TestUnfinishedDays(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	first := sms.Page{Transactions: []sms.Transaction{{ID: "1"}}, Next: "2"}
	require.NoError(t, d.store(t.Context(), first, ""))
	require.NoError(t, newDay(d.db, d.client, d.end).store(t.Context(), sms.Page{}, ""))
	days, err := unfinishedDays(t.Context(), d.db)
	require.NoError(t, err)
	assert.Equal(t, []string{"2026-11-21T00:00:00Z"}, days)
	require.NoError(t, d.store(t.Context(), sms.Page{}, "2"))
	days, err = unfinishedDays(t.Context(), d.db)
	require.NoError(t, err)
	assert.Empty(t, days)
}

// Days of long ago are forgotten with their positions: a listing that went on from one would lack the rows before it.
func TestOldDaysAreForgotten(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	d := openDay(t, service, newDatabase(t))
	complete := sms.Page{Transactions: []sms.Transaction{{ID: "1"}}}
	begun := sms.Page{Transactions: []sms.Transaction{{ID: "1"}}, Next: "2"}
	for _, age := range []int{91, 90} {
		old := newDay(d.db, d.client, midnight.AddDate(0, 0, -age))
		require.NoError(t, old.store(t.Context(), complete, ""))
		require.NoError(t, old.store(t.Context(), begun, ""))
	}
	sums(t, d)
	for _, query := range []string{"SELECT MIN(day) FROM listed", "SELECT MIN(day) FROM arriving", "SELECT MIN(day) FROM progress"} {
		var oldest string
		require.NoError(t, d.db.QueryRowContext(t.Context(), query).Scan(&oldest))
		assert.Equal(t, "2026-08-23T00:00:00Z", oldest)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	noon := midnight.Add(12 * time.Hour)
	service := messagingtest.NewServer(t)
	seed := func(sent messagingtest.Sent) {
		sent.To = cmp.Or(sent.To, "+639171234567")
		sent.At = noon
		service.Seed(sent)
	}
	for _, reference := range []string{"same", "twice", "twice", "found", "refused-yet-sent", "unsent-yet-sent", "no-record", "", ""} {
		seed(messagingtest.Sent{ReferenceID: reference})
	}
	for _, reference := range []string{"rejected", "refused-twice-over", "unsent-and-refused"} {
		seed(messagingtest.Sent{ReferenceID: reference, SendStatus: "rejected"})
	}
	doubtful := map[string]json.RawMessage{"error": []byte(`{"code":"200101"}`)}
	seed(messagingtest.Sent{ReferenceID: "doubtful", Row: doubtful})
	for reference, number := range map[string]string{"other-number": "+639180001111", "national": "09171234567", "no-plus": "639171234567"} {
		seed(messagingtest.Sent{ReferenceID: reference, To: number})
	}
	records := []string{
		"doubtful,unknown", "found,unknown", "lost,accepted", "national,accepted", "no-plus,accepted", "other-number,accepted",
		"refused-twice-over,refused", "refused-yet-sent,refused", "rejected,accepted", "same,accepted", "twice,accepted",
		"unsent-and-refused,not sent", "unsent-unlisted,not sent", "unsent-yet-sent,not sent",
	}
	for i, record := range records {
		reference, verdict, _ := strings.Cut(record, ",")
		records[i] = reference + ",+639171234567," + verdict + ",2026-11-21T12:00:00Z,2026-11-21T12:00:01Z,,"
	}
	d := openDay(t, service, newDatabase(t))
	sums(t, d)
	for range 2 { // without the records of the first time
		assert.Equal(t, []string{
			",no record,2 rows without a reference",
			"doubtful,unknown,unknown",
			"found,unknown,accepted",
			"lost,accepted,not listed",
			"no-record,no record,accepted",
			"other-number,accepted,another recipient",
			"refused-yet-sent,refused,accepted",
			"rejected,accepted,refused",
			"twice,accepted,2 rows",
			"unsent-yet-sent,not sent,accepted",
		}, differences(t, d, records...))
	}
}

// An accepted message may have another status or price than your record, which may have neither.
func TestCompareStatusAndPrice(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	for _, reference := range []string{"same", "failed-later", "dearer", "neither", "unreported"} {
		sent := messagingtest.Sent{ReferenceID: reference, To: "+639171234567", At: midnight, DeliveryStatus: "DELIVRD"}
		if reference == "unreported" {
			sent.DeliveryStatus = ""
		}
		service.Seed(sent) // its price is 0.50
	}
	d := openDay(t, service, newDatabase(t))
	sums(t, d)
	const accepted = ",+639171234567,accepted,2026-11-21T00:00:00Z,2026-11-21T00:00:01Z,"
	assert.Equal(t, []string{"dearer,price 0.4,price 0.50", "failed-later,status failed,status delivered"}, differences(t, d,
		"same"+accepted+"delivered,0.5", "failed-later"+accepted+"failed,0.50", "dearer"+accepted+"delivered,0.4", "neither"+accepted+",",
		"unreported"+accepted+"sent,0.50"))
}

// differences compares a day with records.
func differences(t *testing.T, d *day, records ...string) []string {
	t.Helper()
	sent, err := parseRecords(strings.NewReader(columns + "\n" + strings.Join(records, "\n")))
	require.NoError(t, err)
	found, err := d.differences(t.Context(), sent)
	require.NoError(t, err)
	var lines []string
	for _, f := range found {
		lines = append(lines, f.reference+","+f.recorded+","+f.listed)
	}
	return lines
}

// Unknown records are looked up. If a message is not listed, or its row has another number, its record stays unknown, and the others are settled.
func TestUnknownRecordsAreSettled(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	noon := midnight.Add(12 * time.Hour)
	for _, sent := range []messagingtest.Sent{
		{ReferenceID: "known"}, {ReferenceID: "found"}, {ReferenceID: "rejected", SendStatus: "rejected"}, {ReferenceID: "other-number", To: "+639180001111"},
	} {
		sent.To = cmp.Or(sent.To, "+639171234567")
		sent.At = noon
		service.Seed(sent)
	}
	d := openDay(t, service, newDatabase(t))
	sums(t, d)
	records := []record{{reference: "known", recipient: "+639171234567", verdict: messaging.Accepted, began: noon, ended: noon}}
	for _, reference := range []string{"lost", "other-number", "found", "rejected"} {
		records = append(records, record{reference: reference, recipient: "+639171234567", verdict: messaging.Unknown, began: noon})
	}
	var out bytes.Buffer
	require.NoError(t, d.writeDifferences(t.Context(), &out, records))
	assert.Equal(t, `reference,recorded,listed,settled
found,unknown,accepted,accepted
lost,unknown,not listed,
other-number,unknown,another recipient,undecided
rejected,unknown,refused,refused
`, out.String())
}

// A lookup that fails is repeated after an outage. It is never taken for one that did not find the message.
func TestSettleDoesNotHideFailedLookups(t *testing.T) {
	t.Parallel()
	noon := midnight.Add(12 * time.Hour)
	var records []record
	for _, reference := range []string{"first", "second"} {
		records = append(records, record{reference: reference, recipient: "+639171234567", verdict: messaging.Unknown, began: noon})
	}
	const (
		columns    = "reference,recorded,listed,settled\n"
		found      = columns + "first,unknown,accepted,accepted\nsecond,unknown,accepted,accepted\n"
		undecided  = columns + "first,unknown,accepted,undecided\nsecond,unknown,accepted,undecided\n"
		onlySecond = columns + "first,unknown,accepted,undecided\nsecond,unknown,accepted,accepted\n"
	)
	tests := map[string]struct {
		fault    messagingtest.Fault
		times    int
		want     string
		requests int // for the lookups
	}{
		"rate limit":        {messagingtest.FaultStatus(http.StatusTooManyRequests, 0), 2, found, 4},
		"outage":            {messagingtest.FaultStatus(http.StatusServiceUnavailable, 0), 2, found, 4},
		"wait":              {messagingtest.FaultStatus(http.StatusServiceUnavailable, time.Second), 1, found, 3},
		"connection":        {messagingtest.FaultDropUnread(), 2, found, 4},
		"long outage":       {messagingtest.FaultStatus(http.StatusServiceUnavailable, 0), 100, undecided, 9},
		"wrong credentials": {messagingtest.FaultStatus(http.StatusUnauthorized, 0), 100, undecided, 1},
		"invalid":           {messagingtest.FaultStatus(http.StatusBadRequest, 0), 100, undecided, 2},
		"one is invalid":    {messagingtest.FaultStatus(http.StatusBadRequest, 0), 1, onlySecond, 2},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			for _, r := range records {
				service.Seed(messagingtest.Sent{ReferenceID: r.reference, To: r.recipient, At: noon})
			}
			d := openDay(t, service, newDatabase(t), messaging.WithRetry(messaging.RetryPolicy{MaxAttempts: 1}))
			sums(t, d)
			listed := service.Requests()
			d.patience = 3 * time.Second
			d.pause = 10 * time.Millisecond
			service.Inject(test.fault, test.times)
			begun := time.Now()
			path := filepath.Join(t.TempDir(), "differences.csv")
			err := d.saveDifferences(t.Context(), path, records)
			written, readErr := os.ReadFile(path)
			require.NoError(t, readErr)
			assert.Equal(t, test.want, string(written))
			assert.Equal(t, test.requests, service.Requests()-listed)
			if test.want != found {
				require.ErrorContains(t, err, "unknown records are undecided: messaging: Settle")
				return
			}
			require.NoError(t, err)
			if name == "wait" {
				assert.GreaterOrEqual(t, time.Since(begun), time.Second, "Retry-After")
			}
		})
	}
}

// A program that is stopped during the lookups does not replace the complete file of an earlier run.
func TestDifferencesStayIfTheProgramIsStopped(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	ctx, stop := context.WithCancel(t.Context())
	isLookup := false
	d := openDay(t, service, newDatabase(t), watch(func(*http.Request) error {
		if isLookup {
			stop()
		}
		return ctx.Err()
	}))
	sums(t, d)
	isLookup = true
	path := filepath.Join(t.TempDir(), "differences.csv")
	require.NoError(t, os.WriteFile(path, []byte("complete"), 0o600))
	unknown := record{reference: "lost", recipient: "+639171234567", verdict: messaging.Unknown, began: midnight}
	require.ErrorIs(t, d.saveDifferences(ctx, path, []record{unknown}), context.Canceled)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "complete", string(written))
}

func TestSettleNeedsAListingByReference(t *testing.T) {
	t.Parallel()
	without, err := contract.Parse([]byte(`{"sms.list": {"params": {"reference": ""}}}`))
	require.NoError(t, err)
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t), messaging.WithContract(without))
	sums(t, d)
	var out bytes.Buffer
	unknown := record{reference: "lost", recipient: "+639171234567", verdict: messaging.Unknown, began: midnight}
	require.ErrorIs(t, d.writeDifferences(t.Context(), &out, []record{unknown}), messaging.ErrInvalid)
	assert.Equal(t, "reference,recorded,listed,settled\nlost,unknown,not listed,undecided\n", out.String())
}

// A text of the service or of a person is no formula in a spreadsheet.
func TestCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	const formula = `=HYPERLINK("https://example.com")`
	service.Seed(messagingtest.Sent{From: "@SUM(1)", To: "+639171234567", ReferenceID: formula, At: midnight})
	service.Seed(messagingtest.Sent{From: "+639180001111", To: "+639171234567", ReferenceID: "-2+3", At: midnight})
	d := openDay(t, service, newDatabase(t))
	assert.Equal(t, header+"+639180001111,unknown,XTS,1,1,0.50,0\n'@SUM(1),unknown,XTS,1,1,0.50,0\n", sums(t, d))
	var out bytes.Buffer
	require.NoError(t, d.writeDifferences(t.Context(), &out, nil))
	assert.Equal(t, `reference,recorded,listed,settled
'-2+3,no record,accepted,
"'=HYPERLINK(""https://example.com"")",no record,accepted,
`, out.String())
}

func TestUnreadableRowsAreDifferences(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	service.Seed(messagingtest.Sent{
		To: "+639171234567", ReferenceID: "r-1", At: midnight.Add(time.Hour), Row: map[string]json.RawMessage{"messageParts": []byte(`"two"`)},
	})
	d := openDay(t, service, newDatabase(t))
	sums(t, d)
	found := differences(t, d, "r-1,+639171234567,accepted,2026-11-21T12:00:00Z,2026-11-21T12:00:01Z,,")
	require.Len(t, found, 1)
	assert.Regexp(t, `^r-1,unreadable row,.*Parts`, found[0])
}

// A lost message is reported for the day of its end, or of its beginning if its process was killed.
func TestEachRecordBelongsToADay(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	records := []string{
		"before,+639171234567,accepted,2026-11-20T23:59:58Z,2026-11-20T23:59:59Z,,",
		"ended-after-midnight,+639171234567,accepted,2026-11-20T23:59:59Z,2026-11-21T00:00:01Z,,",
		"killed,+639171234567,unknown,2026-11-21T23:59:59Z,,,",
		"killed-the-day-before,+639171234567,unknown,2026-11-20T23:59:59Z,,,",
		"manila,+639171234567,accepted,2026-11-21T08:00:00+08:00,2026-11-21T08:00:01+08:00,,",
		"straddle,+639171234567,accepted,2026-11-21T23:59:59Z,2026-11-22T00:00:01Z,,",
	}
	reported := map[string]int{}
	for _, offset := range []int{-1, 0, 1} {
		of := newDay(d.db, d.client, midnight.AddDate(0, 0, offset))
		sums(t, of)
		for _, line := range differences(t, of, records...) {
			assert.Contains(t, line, ",not listed")
			reference, _, _ := strings.Cut(line, ",")
			assert.NotContains(t, reported, reference, "it is reported once")
			reported[reference] = offset
		}
	}
	assert.Equal(t, map[string]int{
		"before": -1, "ended-after-midnight": 0, "killed": 0, "killed-the-day-before": -1, "manila": 0, "straddle": 1,
	}, reported)
}

// A message that was sent around midnight may be listed on either day.
func TestRecordsAreSearchedInAllListedDays(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	for reference, at := range map[string]time.Time{
		"listed-earlier": midnight.Add(-time.Second), "listed-later": midnight.AddDate(0, 0, 1), "killed": midnight.AddDate(0, 0, 1),
		"twice": midnight.Add(-time.Second),
	} {
		service.Seed(messagingtest.Sent{ReferenceID: reference, To: "+639171234567", At: at})
	}
	service.Seed(messagingtest.Sent{ReferenceID: "twice", To: "+639171234567", At: midnight})
	d := openDay(t, service, newDatabase(t))
	for _, offset := range []int{-1, 0, 1} {
		sums(t, newDay(d.db, d.client, midnight.AddDate(0, 0, offset)))
	}
	assert.Equal(t, []string{"killed,unknown,accepted", "twice,accepted,2 rows"}, differences(t, d,
		"listed-earlier,+639171234567,accepted,2026-11-20T23:59:59Z,2026-11-21T00:00:01Z,,",
		"listed-later,+639171234567,accepted,2026-11-21T23:59:59Z,2026-11-21T23:59:59Z,,",
		"killed,+639171234567,unknown,2026-11-21T23:59:59Z,,,",
		"twice,+639171234567,accepted,2026-11-20T23:59:59Z,2026-11-20T23:59:59Z,,",
	))
}

// A row without a time is in the listing of each day.
func TestARowInTwoDaysIsOneMessage(t *testing.T) {
	t.Parallel()
	d := openDay(t, messagingtest.NewServer(t), newDatabase(t))
	page := sms.Page{Transactions: []sms.Transaction{{ID: "1", ReferenceID: "timeless"}}}
	for _, offset := range []int{-1, 0} {
		require.NoError(t, newDay(d.db, d.client, midnight.AddDate(0, 0, offset)).store(t.Context(), page, ""))
	}
	assert.Empty(t, differences(t, d, "timeless,+639171234567,accepted,2026-11-21T12:00:00Z,2026-11-21T12:00:01Z,,"))
}

// An error names the line, and shows no value of it.
func TestParseRecordsRefusesWrongRecords(t *testing.T) {
	t.Parallel()
	const number = "+639171234567"
	for records, want := range map[string]string{
		"reference,verdict\n": "want the columns reference,recipient,verdict,began,ended,status,price",
		columns + "\na,b,accepted,2026-11-21T12:00:00Z," + number + ",,":               "line 2: ended",
		columns + "\na,b,accepted," + number + ",,,":                                   "line 2: began",
		columns + "\na,b," + number + ",,,,":                                           "line 2: verdict",
		columns + "\n," + number + ",accepted,2026-11-21T12:00:00Z,,,":                 "line 2: reference",
		columns + "\n" + number + ",,unknown,2026-11-21T12:00:00Z,,,":                  "line 2: recipient: it is empty",
		columns + strings.Repeat("\n"+number+",b,accepted,2026-11-21T12:00:00Z,,,", 2): "line 3: reference",
	} {
		_, err := parseRecords(strings.NewReader(records))
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), number)
	}
}

// A spreadsheet writes a byte order mark before the first column.
func TestParseRecordsSkipsAByteOrderMark(t *testing.T) {
	t.Parallel()
	records, err := parseRecords(strings.NewReader("\ufeff" + columns + "\nr-1,+639171234567,accepted,2026-11-21T12:00:00Z,,,"))
	require.NoError(t, err)
	assert.Len(t, records, 1)
}
