package messagingriver_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestNamedCampaign is paused, loaded, resumed and cancelled, each within a second, and holds no other message back.
func TestNamedCampaign(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.Rate = 50
		r := t.newRig(t, client, options)
		load := func(campaign string, n int, at ...time.Time) {
			for i := range n {
				options := messagingriver.InsertOptions{Campaign: campaign}
				if len(at) > 0 {
					options.At = at[0]
				}
				require.NoError(t, r.insertWith(t.Context(), smsMessage(fmt.Sprint(campaign, "-", i)), options))
			}
		}
		for what, err := range map[string]error{
			"pause": r.PauseCampaign(t.Context(), "spring"), "resume": r.ResumeCampaign(t.Context(), "spring"),
		} {
			require.EqualError(t, err, `messagingriver: there is no campaign "spring"`, what)
		}
		_, err := r.CancelCampaign(t.Context(), "spring")
		require.Error(t, err)
		_, err = r.Campaigns(t.Context(), "spring")
		require.EqualError(t, err, `messagingriver: there is no campaign "spring"`)

		load("spring", 200)
		load("summer", 20)
		defer r.start(t)()
		require.Eventually(t, func() bool { return len(service.Sent()) > 10 }, time.Minute, 5*time.Millisecond)
		began := time.Now()
		require.NoError(t, r.PauseCampaign(t.Context(), "spring"))
		load("spring-2", 1)
		require.NoError(t, r.insertWith(t.Context(), smsMessage("late"), messagingriver.InsertOptions{Campaign: "spring"}))
		assert.Less(t, time.Since(began), 2*time.Second)
		time.Sleep(time.Second)
		sent := references(service)
		insert(t, r, smsMessage("other"))
		becomes(t, r, smsKey("other"), messagingriver.Accepted)
		becomes(t, r, smsKey("summer-19"), messagingriver.Accepted)
		for reference := range references(service) {
			if sent[reference] == 0 {
				assert.NotContains(t, reference, "spring-1")
			}
		}
		campaigns, err := r.Campaigns(t.Context(), "summer", "spring")
		require.NoError(t, err)
		require.Len(t, campaigns, 2)
		assert.True(t, campaigns[0].Paused)
		assert.Positive(t, campaigns[0].States[messagingriver.Waiting])
		assert.Equal(t, "summer", campaigns[1].Name)
		var due int
		require.NoError(t, r.pool().QueryRowContext(t.Context(),
			"SELECT COUNT(*) FROM messaging_outbox WHERE campaign = 'spring' AND state = 'waiting' AND due_at IS NOT NULL").Scan(&due))
		assert.Zero(t, due, "out of the way of a claim")

		require.NoError(t, r.ResumeCampaign(t.Context(), "spring"))
		becomes(t, r, smsKey("late"), messagingriver.Accepted)
		load("autumn", 30, time.Now().Add(time.Hour))
		n, err := r.CancelCampaign(t.Context(), "autumn")
		require.NoError(t, err)
		assert.Equal(t, 30, n)
		record, err := r.row(t.Context(), smsKey("autumn-29"))
		require.NoError(t, err)
		assert.Equal(t, messagingriver.Dropped, record.State)
		assert.Empty(t, record.Message)
		load("autumn", 31)
		becomes(t, r, smsKey("autumn-30"), messagingriver.Accepted)
	})
}

// TestCampaignStopsWithinASecond although it takes longer to write all its messages.
func TestCampaignStopsWithinASecond(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(r rig) error{
		"pause":  func(r rig) error { return r.PauseCampaign(t.Context(), "spring") },
		"cancel": func(r rig) error { _, err := r.CancelCampaign(t.Context(), "spring"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t test) {
				service, client := connected(t)
				options := quick()
				options.Rate = 200
				r := t.newRig(t, client, options)
				require.NoError(t, r.exec(t.Context(), `
					INSERT INTO messaging_outbox (channel, reference, state, attempt, message, problem, history, created_at, due_at, not_before,
						priority, max_attempts, campaign)
					WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
					SELECT 'sms', 'spring-' || i, 'waiting', 0, '{"from":"ACME","to":"`+number+`","text":"Hi","referenceID":"spring-' || i || '"}',
						'', '', 1, 1, 0, 4, 25, 'spring' FROM n`))
				defer r.start(t)()
				require.Eventually(t, func() bool { return service.Requests() > 100 }, time.Minute, 5*time.Millisecond)
				began, done := time.Now(), make(chan error)
				go func() { done <- stop(r) }()
				time.Sleep(time.Second)
				sent := service.Requests()
				require.NoError(t, <-done)
				t.Logf("the command took %v", time.Since(began))
				time.Sleep(time.Second)
				assert.Equal(t, sent, service.Requests())
				assert.Less(t, sent, 40000)
			})
		})
	}
}

// TestCampaigns: of a thousand campaigns, and one beyond; each has a thousandth of what is counted.
func TestCampaigns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		r := t.newRig(t, client, quick())
		none, err := r.Campaigns(t.Context())
		require.NoError(t, err)
		assert.Empty(t, none)
		require.NoError(t, r.exec(t.Context(), `
			WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
			INSERT INTO messaging_outbox (channel, reference, state, attempt, problem, history, created_at, due_at, not_before, priority,
				max_attempts, campaign)
			SELECT 'sms', 'r-' || i, CASE WHEN i % 2 = 0 THEN 'accepted' ELSE 'waiting' END, 0, '', '', 0, 9000000000000, 0, 3, 25,
				CASE WHEN i < 1000 THEN 'c-' || (10000 + i) WHEN i < 4998 THEN 'big' END
			FROM n`))
		require.NoError(t, r.PauseCampaign(t.Context(), "c-10001"))
		began := time.Now()
		all, err := r.Campaigns(t.Context())
		require.NoError(t, err)
		assert.Less(t, time.Since(began), time.Second)
		require.Len(t, all, 1000)
		both := map[messagingriver.State]int{messagingriver.Accepted: 1000, messagingriver.Waiting: 1000}
		one := map[messagingriver.State]int{messagingriver.Waiting: 1}
		assert.Equal(t, messagingriver.Campaign{Name: "big", States: both, AtLeast: true}, all[0])
		assert.Equal(t, messagingriver.Campaign{Name: "c-10001", Paused: true, States: one}, all[2])
		assert.Equal(t, "c-10998", all[999].Name)
	})
}

func TestShow(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		none, err := r.Show(t.Context(), "a")
		require.NoError(t, err)
		assert.Empty(t, none)
		require.NoError(t, r.insertWith(t.Context(), smsMessage("a"), messagingriver.InsertOptions{
			Campaign: "spring", Priority: messagingriver.High, Expire: time.Hour,
		}))
		shown, err := r.Show(t.Context(), "a")
		require.NoError(t, err)
		require.Len(t, shown, 1)
		assert.Nil(t, shown[0].History)
		assert.Equal(t, messagingriver.Waiting, shown[0].State)
		assert.Equal(t, messagingriver.High, shown[0].Priority)
		assert.Equal(t, "spring", shown[0].Campaign)
		assert.Empty(t, shown[0].Worker)
		assert.Positive(t, shown[0].Job, "which wakes a worker")
		assert.WithinDuration(t, time.Now().Add(time.Hour), shown[0].Expires, time.Minute)

		service.Inject(messagingtest.AcceptThenDrop(), 1)
		insert(t, r, chatMessage("a"))
		defer r.start(t)()
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		record := becomes(t, r, chatKey("a"), messagingriver.Accepted, messagingriver.Parked)
		shown, err = r.Show(t.Context(), "a")
		require.NoError(t, err)
		require.Len(t, shown, 2)
		for _, one := range shown {
			require.NotEmpty(t, one.History, one.Channel)
			assert.Contains(t, []string{"accepted", "unknown"}, one.History[0].Verdict)
			host, _ := os.Hostname()
			assert.True(t, strings.HasPrefix(one.Worker, host+"/"), one.Worker)
			assert.Zero(t, one.Job, "it is final")
			assert.WithinDuration(t, record.Began, one.History[0].Began, time.Minute)
			assert.False(t, one.History[0].Ended.Before(one.History[0].Began))
		}
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, status.Workers)
		assert.Positive(t, status.LastMinute)
	})
}

// TestRefusalsCostFewWhateverTheNumberOfWorkers: six workers, each with a client of its own, share one breaker. After it is mended, all
// others are accepted.
func TestRefusalsCostFewWhateverTheNumberOfWorkers(t *testing.T) {
	t.Parallel()
	for name, respond := range map[string]func() (int, string){
		"forbidden by nobody knows whom": func() (int, string) { return http.StatusForbidden, `{"error":"forbidden"}` },
		"forbidden by a page":            func() (int, string) { return http.StatusForbidden, "<html>no</html>" },
		"credentials":                    func() (int, string) { return http.StatusUnauthorized, "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t test) {
				const messages, workers = 1500, 6
				service := messagingtest.NewServer(t)
				var trouble atomic.Bool
				trouble.Store(true)
				connect := func() *messaging.Client {
					transport := http.DefaultTransport.(*http.Transport).Clone()
					t.Cleanup(transport.CloseIdleConnections)
					client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token),
						messaging.WithHTTPClient(&http.Client{Transport: roundTripper(func(request *http.Request) (*http.Response, error) {
							if !trouble.Load() {
								return transport.RoundTrip(request)
							}
							_, _ = io.Copy(io.Discard, request.Body)
							status, body := respond()
							return &http.Response{
								StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: request,
							}, nil
						})}))
					require.NoError(t, err)
					return client
				}
				options := messagingriver.Options{SendTimeout: 2 * time.Second, SettleFor: 2 * time.Second, Workers: 20, Rate: 300}
				first := t.newRig(t, connect(), options)
				insert(t, first, bulk(messages)...)
				for range workers {
					defer first.another(t, connect(), options).start(t)()
				}
				time.Sleep(8 * time.Second)
				spent := messages - first.counts(t.Context())[messagingriver.Waiting]
				assert.LessOrEqual(t, spent, 30+workers*options.Workers/2, "%v", first.counts(t.Context()))
				trouble.Store(false)
				require.Eventually(t, func() bool {
					counts := first.counts(t.Context())
					return counts[messagingriver.Waiting]+counts[messagingriver.Sending] == 0
				}, 2*time.Minute, 50*time.Millisecond)
				counts := first.counts(t.Context())
				t.Log(name, counts)
				assert.GreaterOrEqual(t, counts[messagingriver.Accepted], messages-30-workers*options.Workers/2, "%v", counts)
				assert.Len(t, service.Sent(), counts[messagingriver.Accepted])
			})
		})
	}
}

// TestSharedBreakerHoldsMessages: whichever process opened it, and until a probe is accepted.
func TestSharedBreakerHoldsMessages(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		r := t.newRig(t, client, quick())
		require.NoError(t, r.exec(t.Context(), `INSERT INTO messaging_breaker (channel, cause, account, pause, probe_at)
			VALUES ('sms', 'HTTP 503', 0, 1000, 9000000000000)`))
		require.NoError(t, r.Resume(t.Context()))
		status, err := r.Status(t.Context())
		require.NoError(t, err)
		assert.Equal(t, messagingriver.ChannelStatus{Channel: "sms", Breaker: "HTTP 503"}, status.Channels[2], "no person paused it")
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_breaker SET probe_at = 9000000000000"))
		insert(t, r, smsMessage("a"), smsMessage("b"), chatMessage("c"))
		defer r.start(t)()
		becomes(t, r, chatKey("c"), messagingriver.Accepted)
		time.Sleep(2 * time.Second)
		assert.Len(t, service.Sent(), 1)
		require.NoError(t, r.exec(t.Context(), "UPDATE messaging_breaker SET probe_at = 0"))
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		becomes(t, r, smsKey("b"), messagingriver.Accepted)
		open, err := r.broken(t.Context())
		require.NoError(t, err)
		assert.False(t, open)
	})
}

// TestMigrateHarmsNobody: beside a transaction that has written, with nothing to do and with an index to make.
func TestMigrateHarmsNobody(t *testing.T) {
	t.Parallel()
	if os.Getenv("OUTBOX_POSTGRES") == "" {
		return // SQLite has one writer
	}
	_, client := connected(t)
	r := postgresRig(t, client, quick())
	defer r.start(t)()
	tx, err := r.pool().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "UPDATE messaging_outbox SET problem = ''")
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, r.Migrate(t.Context()))
	assert.Less(t, time.Since(began), 2*time.Second)

	require.NoError(t, tx.Rollback())
	require.NoError(t, r.exec(t.Context(), "ALTER TABLE messaging_live RENAME TO messaging_before"))
	blocked, err := r.pool().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = blocked.ExecContext(t.Context(), "CREATE TABLE messaging_live (worker TEXT)")
	require.NoError(t, err)
	done := make(chan error)
	go func() { done <- r.Migrate(t.Context()) }() // waits for the name
	time.Sleep(3 * time.Second)
	require.NoError(t, blocked.Rollback())
	require.NoError(t, <-done, "it tries again")

	require.NoError(t, r.exec(t.Context(), "DROP INDEX messaging_outbox_due"))
	tx, err = r.pool().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "UPDATE messaging_outbox SET problem = ''")
	require.NoError(t, err)
	go func() { done <- r.Migrate(t.Context()) }()
	time.Sleep(time.Second)
	insert(t, r, smsMessage("a"))
	becomes(t, r, smsKey("a"), messagingriver.Accepted)
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-done)
}

// TestMigrateGivesUp: an index waits for older transactions, and not for ever. Sending goes on.
func TestMigrateGivesUp(t *testing.T) {
	t.Parallel()
	if os.Getenv("OUTBOX_POSTGRES") == "" {
		return // SQLite has one writer
	}
	_, client := connected(t)
	r := postgresRig(t, client, quick())
	defer r.start(t)()
	require.NoError(t, r.exec(t.Context(), "DROP INDEX messaging_outbox_due"))
	tx, err := r.pool().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "UPDATE messaging_outbox SET problem = ''")
	require.NoError(t, err)
	isValid := func() (valid bool) {
		require.NoError(t, r.pool().QueryRowContext(t.Context(),
			"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('messaging_outbox_due')").Scan(&valid))
		return valid
	}
	began := time.Now()
	done := make(chan error)
	go func() { done <- r.Migrate(t.Context()) }()
	insert(t, r, smsMessage("a"))
	becomes(t, r, smsKey("a"), messagingriver.Accepted)
	require.ErrorContains(t, <-done, "end the transactions that are open for long, and call it again")
	assert.InDelta(t, 32, time.Since(began).Seconds(), 4)
	assert.False(t, isValid())
	require.NoError(t, tx.Rollback())
	require.NoError(t, r.Migrate(t.Context()))
	assert.True(t, isValid())
}

// TestMaintenanceHoldsUpNoLookup: beside 200,000 rows whose time is over, an SMS that is listed is settled within seconds.
func TestMaintenanceHoldsUpNoLookup(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service, client := connected(t)
		options := quick()
		options.SettleFor = time.Minute
		r := t.newRig(t, client, options)
		require.NoError(t, r.exec(t.Context(), `
			INSERT INTO messaging_outbox (channel, reference, state, attempt, problem, history, created_at, due_at, not_before, priority, max_attempts)
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
			SELECT 'sms', 'order-' || i, CASE WHEN i % 2 = 0 THEN 'accepted' ELSE 'refused' END, 1, '', '', 1, 1, 0, 1, 1 FROM n`))
		service.Inject(messagingtest.AcceptThenDrop(), 1)
		insert(t, r, smsMessage("a"))
		defer r.start(t)()
		began := time.Now()
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		assert.Less(t, time.Since(began), 10*time.Second)
	})
}

// TestShorterKeepHoldsForFinalRows: a row that became final under a longer one.
func TestShorterKeepHoldsForFinalRows(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		_, client := connected(t)
		r := t.newRig(t, client, quick())
		insert(t, r, smsMessage("a"))
		stop := r.start(t)
		becomes(t, r, smsKey("a"), messagingriver.Accepted)
		stop()
		options := quick()
		options.Keep = time.Second
		defer r.another(t, client, options).start(t)()
		require.Eventually(t, func() bool {
			_, err := r.row(t.Context(), smsKey("a"))
			return errors.Is(err, sql.ErrNoRows)
		}, 30*time.Second, 50*time.Millisecond)
	})
}
