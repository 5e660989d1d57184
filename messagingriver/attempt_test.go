package messagingriver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// abandon leaves jobs as a process leaves them that died: running, fetched an hour ago, with this metadata.
func abandon(t testing.TB, r rig, isPostgres bool, reference, metadata string) {
	t.Helper()
	if isPostgres {
		r.exec(t, `UPDATE JOBS SET state = 'running', attempt = 1, finalized_at = NULL, attempted_at = now() - interval '1 hour',
			attempted_by = array_append(attempted_by, 'dead'), metadata = metadata || CAST($2 AS JSONB) WHERE args->>'reference' = $1`, reference, metadata)
		return
	}
	r.exec(t, `UPDATE JOBS SET state = 'running', attempt = 1, attempted_at = datetime('now', 'subsec', '-1 hour'),
		attempted_by = jsonb_insert(COALESCE(attempted_by, jsonb('[]')), '$[#]', 'dead'), metadata = jsonb_patch(metadata, ?2)
		WHERE args->>'reference' = ?1`, reference, metadata)
}

// A job whose process died without a mark was not sent, and is sent. One with a mark and without an outcome may have been sent.
func TestFenceDecidesAboutRescuedJobs(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	service := messagingtest.NewServer(t)
	client := newClient(t, service)
	r := postgresRig(t, client, quick())
	for _, reference := range []string{"unmarked", "unmarked after an outcome", "unsent before", "unsent before a mark", "sent", "unsent", "snoozed before"} {
		r.insert(t, messagingriver.InsertOptions{}, text(reference))
	}
	r.insert(t, messagingriver.InsertOptions{}, chat("chat"), chat("unmarked chat"))
	abandon(t, r, true, "unmarked", `{}`)
	abandon(t, r, true, "unmarked chat", `{}`)
	abandon(t, r, true, "unmarked after an outcome", `{"begun": "A", "ended": "A", "verdict": "not sent"}`)
	abandon(t, r, true, "unsent before", `{"begun": "A", "unsent": "A", "verdict": "not sent"}`)
	abandon(t, r, true, "unsent before a mark", `{"begun": "B", "unsent": "A", "ended": "A", "verdict": "not sent"}`)
	abandon(t, r, true, "sent", `{"begun": "A"}`)
	abandon(t, r, true, "unsent", `{"begun": "A"}`)
	abandon(t, r, true, "snoozed before", `{"begun": "B", "ended": "A", "verdict": "not sent", "snoozes": 1}`)
	abandon(t, r, true, "chat", `{"begun": "A"}`)
	_, err := client.SMS.Send(t.Context(), text("sent"))
	require.NoError(t, err)
	r.start(t)
	for _, reference := range []string{"unmarked", "unmarked chat", "unmarked after an outcome", "unsent before", "sent"} {
		await(t, r, reference, completed)
	}
	for _, reference := range []string{"unsent", "unsent before a mark", "snoozed before", "chat"} {
		require.Equal(t, messaging.Unknown, await(t, r, reference, discarded).Verdict, reference)
	}
	require.Equal(t, map[string]int{"unmarked": 1, "unmarked chat": 1, "unmarked after an outcome": 1, "unsent before": 1, "sent": 1}, sentOf(service))

	// The button of River UI looks again, and does not send.
	r.retry(t, show(t, r, "chat").Job)
	r.retry(t, show(t, r, "unsent").Job)
	time.Sleep(2 * time.Second)
	require.NotContains(t, sentOf(service), "chat")
	require.NotContains(t, sentOf(service), "unsent")
	// A person who knows more has it sent.
	resolved, err := r.Resolve(t.Context(), messagingriver.Resend, messagingriver.Key{Channel: "sms", Reference: "unsent"})
	require.NoError(t, err)
	require.Equal(t, 1, resolved)
	await(t, r, "unsent", completed)
}

// A process that was killed before its mark has begun no request. While a worker has the job, its request may begin at any moment.
func TestMessageOfAProcessKilledBeforeItsMarkWasNotSent(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	r := postgresRig(t, newClient(t, messagingtest.NewServer(t)), quick())
	r.insert(t, messagingriver.InsertOptions{}, text("unmarked"), text("marked"), text("unreadable"))
	abandon(t, r, true, "unmarked", `{}`)
	abandon(t, r, true, "marked", `{"begun": "A"}`)
	abandon(t, r, true, "unreadable", `{"begun": 1}`)
	require.Equal(t, messaging.Unknown, show(t, r, "unmarked").Verdict)
	r.exec(t, `UPDATE JOBS SET state = 'available', metadata = metadata || '{"river:rescue_count": 1}'`)
	record := show(t, r, "unmarked")
	require.Equal(t, messaging.NotSent, record.Verdict)
	require.False(t, record.MayHaveBeenSent())
	for _, reference := range []string{"marked", "unreadable"} {
		require.Equal(t, messaging.Unknown, show(t, r, reference).Verdict, reference)
	}
}

// Attempts write no marks on SQLite, so a process that was killed may have sent the message.
func TestSQLiteMessageOfAKilledProcessIsUnknown(t *testing.T) {
	t.Parallel()
	r := sqliteRig(t, newClient(t, messagingtest.NewServer(t)), quick())
	r.insert(t, messagingriver.InsertOptions{}, text("a"))
	abandon(t, r, false, "a", `{}`)
	require.Equal(t, messaging.Unknown, show(t, r, "a").Verdict)
	for _, metadata := range []string{`{}`, `{"river:rescue_count": 1}`} {
		r.exec(t, "UPDATE JOBS SET state = 'available', metadata = jsonb_patch(metadata, ?1)", metadata)
		require.Equal(t, messaging.Unknown, show(t, r, "a").Verdict, metadata)
	}
}

// The database commits the mark of an attempt, and the connection breaks before the reply, so no request begins. The next mark fails. The message is
// not in doubt.
func TestLostReplyToMarkLeavesNoDoubt(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	for name, wait := range map[string]time.Duration{
		"while the claim is young": 0,
		"when the claim is old":    11 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			r := lossyRig(t, newClient(t, service), wait)
			failSecondMark(t, r)
			r.insert(t, messagingriver.InsertOptions{}, chat("a"))
			r.start(t)

			var record messagingriver.Record
			require.Eventually(t, func() bool {
				record = show(t, r, "a")
				return record.Reason != ""
			}, patience, 10*time.Millisecond)
			require.NotEmpty(t, metadataOf(t, r, "a")["begun"], "the mark was committed: %v", metadataOf(t, r, "a"))
			require.Equal(t, messaging.NotSent, record.Verdict)
			require.Zero(t, record.Begun, "no request began")
			record = awaitEnd(t, r, "a")
			require.Equal(t, completed, record.State, record.Reason)
			require.Equal(t, map[string]int{"a": 1}, sentOf(service))
		})
	}
}

// lossyRig returns an outbox whose connection breaks some time after the reply to the first mark, which it loses.
func lossyRig(t testing.TB, client *messaging.Client, wait time.Duration) rig {
	t.Helper()
	config, err := pgxpool.ParseConfig(os.Getenv("OUTBOX_POSTGRES"))
	require.NoError(t, err)
	dial := config.ConnConfig.DialFunc
	hasLost := new(atomic.Bool)
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &lossyConn{Conn: connection, wait: wait, hasLost: hasLost}, nil
	}
	config.MaxConns = 10
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return rigOn(t, pool, "t"+strings.ToLower(rand.Text()), client, messagingriver.Options{})
}

// lossyConn is a connection that breaks some time after the reply to a mark has arrived, unless another connection did. The server replies after the
// commit.
type lossyConn struct {
	net.Conn

	wait        time.Duration
	hasLost     *atomic.Bool // a connection has lost its reply
	hasPrepared atomic.Bool  // the next that is written executes the statement of marks
	losesReply  atomic.Bool
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if c.hasPrepared.Load() && c.hasLost.CompareAndSwap(false, true) {
		c.losesReply.Store(true)
	}
	if bytes.Contains(b, []byte("'begun_at'")) {
		c.hasPrepared.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil || !c.losesReply.Load() {
		return n, err
	}
	time.Sleep(c.wait)
	return 0, errors.New("the connection broke")
}

// failSecondMark makes the database refuse the second mark.
func failSecondMark(t testing.TB, r rig) {
	t.Helper()
	r.exec(t, `CREATE SEQUENCE JOBS_marks`)
	r.exec(t, `CREATE FUNCTION JOBS_mark() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF nextval('JOBS_marks') = 2 THEN
				RAISE EXCEPTION 'the second mark fails';
			END IF;
			RETURN NEW;
		END $$`)
	r.exec(t, `CREATE TRIGGER mark BEFORE UPDATE ON JOBS FOR EACH ROW
		WHEN (OLD.metadata->'begun' IS DISTINCT FROM NEW.metadata->'begun') EXECUTE FUNCTION JOBS_mark()`)
}

// A mark whose statement the database executes slowly may be committed while River writes the facts of the attempt. Neither is lost.
func TestRiverKeepsAMarkThatIsCommittedLate(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	isMarked := make(chan struct{})
	client := newClient(t, messagingtest.NewServer(t), messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
		<-isMarked
		return messaging.Postpone(time.Hour)
	}))
	r := postgresRig(t, client, messagingriver.Options{}).(rigOf[pgx.Tx])
	r.insert(t, messagingriver.InsertOptions{}, chat("a"))
	r.start(t)
	await(t, r, "a", running)
	tx, err := r.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // nothing after the commit
	_, err = tx.ExecContext(t.Context(), r.tables.Replace(`UPDATE JOBS SET metadata = metadata || '{"begun": "late"}'`))
	require.NoError(t, err)
	close(isMarked)
	time.Sleep(time.Second) // River waits for the transaction
	require.Empty(t, show(t, r, "a").Reason)
	require.NoError(t, tx.Commit())
	record := await(t, r, "a", scheduled)
	require.NotEmpty(t, record.Reason)
	require.Equal(t, "late", metadataOf(t, r, "a")["begun"])
	require.Equal(t, messaging.Unknown, record.Verdict)
}

// awaitEnd returns the record of a message when it is completed, cancelled or discarded.
func awaitEnd(t testing.TB, r rig, reference string) messagingriver.Record {
	t.Helper()
	var record messagingriver.Record
	require.Eventually(t, func() bool {
		record = show(t, r, reference)
		return !record.Finalized.IsZero()
	}, patience, 20*time.Millisecond)
	return record
}

// Each of the two facts of River's row is enough not to send.
func TestSQLiteFactsDecideAboutRescuedJobs(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change string
		isSent bool
	}{
		"neither":                        {"UPDATE JOBS SET attempt = 0", true},
		"it was rescued":                 {`UPDATE JOBS SET metadata = jsonb_patch(metadata, '{"river:rescue_count": 1}')`, false},
		"a person decided about rescues": {`UPDATE JOBS SET metadata = jsonb_patch(metadata, '{"river:rescue_count": 1, "decided_rescues": 1}')`, true},
		"it was fetched once more":       {`UPDATE JOBS SET attempted_by = jsonb('["dead"]')`, false},
		"each fetch had an outcome":      {`UPDATE JOBS SET attempted_by = jsonb('["a"]'), metadata = jsonb_patch(metadata, '{"decided_fetches": 1}')`, true},
		"fewer outcomes than fetches":    {`UPDATE JOBS SET attempted_by = jsonb('["a", "b"]'), metadata = jsonb_patch(metadata, '{"decided_fetches": 1}')`, false},
		"more fetches than River counts": {`UPDATE JOBS SET attempted_by = (SELECT jsonb_group_array('a') FROM generate_series(1, 100)), metadata = jsonb_patch(metadata, '{"decided_fetches": 100}')`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			r := sqliteRig(t, newClient(t, service), quick())
			r.insert(t, messagingriver.InsertOptions{}, text("a"))
			if name == "more fetches than River counts" {
				r.exec(t, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
					UPDATE JOBS SET attempted_by = (SELECT jsonb_group_array('a') FROM n), metadata = jsonb_patch(metadata, '{"decided_fetches": 100}')`)
			} else {
				r.exec(t, tt.change)
			}
			r.start(t)
			if tt.isSent {
				await(t, r, "a", completed)
				return
			}
			await(t, r, "a", discarded)
			require.Empty(t, service.Sent())
		})
	}
}

// A lookup on SQLite records the doubt: River forgets the fetch without an outcome after 100 fetches, and the message must not be sent then.
func TestSQLiteLookupKeepsTheDoubt(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	r := sqliteRig(t, newClient(t, service), messagingriver.Options{})
	r.insert(t, messagingriver.InsertOptions{}, text("a"))
	r.exec(t, `UPDATE JOBS SET attempted_by = jsonb('["dead"]')`)
	r.start(t)
	require.Eventually(t, func() bool { return metadataOf(t, r, "a")["in_doubt"] == true }, patience, 20*time.Millisecond)
	require.Empty(t, service.Sent())
}

// River counts each rescue in the metadata of the job, on which SQLite relies.
func TestRiverCountsRescues(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), quick())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		abandon(t, r, t.isPostgres, "a", `{"begun": "A"}`)
		r.start(t)
		await(t, r, "a", discarded)
		require.EqualValues(t, 1, metadataOf(t, r, "a")["river:rescue_count"])
	})
}

// River adds each worker that fetches a job to attempted_by, even if the job was snoozed before. SQLite relies on it. River remembers 100.
func TestRiverRemembersFetches(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		asked := 0
		client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
			if asked++; asked < 3 {
				return messaging.Postpone(time.Second)
			}
			return nil
		}))
		r := t.newRig(t, client, messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		await(t, r, "a", completed)
		fetches := "json_array_length(attempted_by)"
		if t.isPostgres {
			fetches = "array_length(attempted_by, 1)"
		}
		require.Equal(t, 3, r.number(t, "SELECT "+fetches+" FROM JOBS WHERE kind = 'messaging'"))
		members := metadataOf(t, r, "a")
		if t.isPostgres {
			require.NotContains(t, members, "decided_fetches", "it is of SQLite")
			return
		}
		require.EqualValues(t, 3, members["decided_fetches"])
		require.NotContains(t, members, "ended", "it is of PostgreSQL")
	})
}

// A job that was fetched more often than River remembers is not sent if its process died after its mark.
func TestFenceHoldsAfter100Fetches(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	service := messagingtest.NewServer(t)
	var asked atomic.Int64
	client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
		if asked.Add(1) <= 3 {
			return messaging.Postpone(time.Hour)
		}
		return nil
	}))
	r := postgresRig(t, client, quick())
	r.insert(t, messagingriver.InsertOptions{}, text("a"))
	r.exec(t, "UPDATE JOBS SET attempted_by = array_fill(CAST('earlier' AS TEXT), ARRAY[98])")
	stop := r.start(t)
	require.Eventually(t, func() bool {
		r.exec(t, "UPDATE JOBS SET state = 'available', scheduled_at = now() WHERE state = 'scheduled'")
		return asked.Load() > 3
	}, patience, 5*time.Millisecond)
	await(t, r, "a", completed)
	stop()
	require.EqualValues(t, 3, metadataOf(t, r, "a")["snoozes"])
	require.Len(t, service.Sent(), 1)
	require.Equal(t, 100, r.number(t, "SELECT array_length(attempted_by, 1) FROM JOBS"))

	// Its process died after the mark of another attempt.
	abandon(t, r, true, "a", `{"begun": "B", "verdict": "not sent"}`)
	service.Reset()
	r.start(t)
	await(t, r, "a", discarded)
	require.Empty(t, service.Sent())
}

// A worker whose job River gave to another begins nothing.
func TestFenceStopsAWorkerThatLostItsJob(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	for name, change := range map[string]string{
		"rescued":           "UPDATE JOBS SET state = 'available', scheduled_at = now() + interval '1 hour'",
		"given to another":  "UPDATE JOBS SET attempted_at = now(), attempted_by = array_append(attempted_by, 'another')",
		"cancelled by hand": "UPDATE JOBS SET state = 'cancelled', finalized_at = now()",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			asked := make(chan struct{})
			goOn := make(chan struct{})
			var once atomic.Bool
			client := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
				if once.CompareAndSwap(false, true) {
					close(asked)
					<-goOn
				}
				return nil
			}))
			r := postgresRig(t, client, messagingriver.Options{})
			r.insert(t, messagingriver.InsertOptions{}, text("a"))
			stop := r.start(t)
			<-asked
			r.exec(t, change)
			close(goOn)
			time.Sleep(300 * time.Millisecond)
			stop()
			if name == "given to another" { // it goes back, and is not in doubt
				require.LessOrEqual(t, len(service.Sent()), 1)
				return
			}
			require.Empty(t, service.Sent())
		})
	}
}

// A process is killed at each step of an attempt, and another process takes over.
func TestKillAtEachStep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		isPostgres := t.isPostgres
		for _, tt := range []struct {
			killAt      string
			sent        int
			postgres    string
			sqlite      string
			sqliteTimes int
		}{
			{"before the mark", 1, "completed", "discarded", 0},
			{"after the mark", 0, "discarded", "discarded", 0},
			{"after the response", 1, "completed", "completed", 1},
		} {
			t.Run(tt.killAt, func(t *testing.T) {
				t.Parallel()
				service := messagingtest.NewServer(t)
				p := program{Service: service.URL, Token: service.Token, SendTimeout: time.Second, SettleFor: 3 * time.Second, KillAt: tt.killAt}
				r, want, times := killRig(t, isPostgres, service, &p), tt.postgres, tt.sent
				if !isPostgres {
					want, times = tt.sqlite, tt.sqliteTimes
				}
				r.insert(t, messagingriver.InsertOptions{}, text("a"))
				victim := p.begin(t)
				victim.awaitEnd(t)
				checkBegun(t, show(t, r, "a"), isPostgres && tt.killAt != "before the mark")
				r.start(t)
				require.Eventually(t, func() bool { return string(show(t, r, "a").State) == want }, patience, 50*time.Millisecond)
				require.Len(t, service.Sent(), times)
			})
		}
	})
}

// checkBegun checks whether a record says when the request of a process began that was killed since.
func checkBegun(t testing.TB, record messagingriver.Record, hasBegun bool) {
	t.Helper()
	if !hasBegun {
		require.Zero(t, record.Begun)
		return
	}
	require.WithinRange(t, record.Begun, record.Attempted, time.Now().Add(time.Second))
}

// killRig returns an outbox on a database that a process shares.
func killRig(t testing.TB, isPostgres bool, service *messagingtest.Server, p *program) rig {
	t.Helper()
	options := messagingriver.Options{SendTimeout: p.SendTimeout, SettleFor: p.SettleFor}
	if isPostgres {
		pool, schema := postgresPool(t, 10)
		p.Database, p.Schema = os.Getenv("OUTBOX_POSTGRES"), schema
		return rigOn(t, pool, schema, newClient(t, service), options)
	}
	p.Database = filepath.Join(t.TempDir(), "outbox.db")
	shared, err := openShared(p.Database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = shared.Close() })
	return rigOnSQLite(t, shared, newClient(t, service), options)
}

// A process that is frozen while it holds messages sends none of them when it continues, although they were rescued, discarded and resent by a
// person meanwhile.
func TestFrozenProcessSendsNothingLater(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	const messages = 20
	service := messagingtest.NewServer(t)
	p := program{Service: service.URL, Token: service.Token, Rate: 2, Workers: 2, SendTimeout: 2 * time.Second, SettleFor: 2 * time.Second}
	r := killRig(t, true, service, &p)
	r.insert(t, messagingriver.InsertOptions{}, texts("f", messages)...)
	frozen := p.begin(t)
	require.Eventually(t, func() bool { return len(service.Sent()) > 1 }, patience, time.Millisecond)
	frozen.signal(t, syscall.SIGSTOP)
	r.start(t)
	require.Eventually(t, func() bool {
		for record, err := range r.Discarded(t.Context()) {
			require.NoError(t, err)
			_, err = r.Resolve(t.Context(), messagingriver.Resend, record.Key)
			require.NoError(t, err)
		}
		return countOf(t, r, completed) == messages
	}, patience, 200*time.Millisecond)
	frozen.signal(t, syscall.SIGCONT)
	time.Sleep(3 * time.Second)
	for i := range messages {
		require.LessOrEqual(t, sentOf(service)[fmt.Sprint("f", i)], 1)
	}
	require.Equal(t, messages, countOf(t, r, completed))
	for i := range messages {
		require.Equal(t, messaging.Accepted, show(t, r, fmt.Sprint("f", i)).Verdict)
	}
}

// An attempt waits in a guard for so long that another attempt gets its job and sends the message. The response to that is lost. What the
// first attempt does later neither sends the message nor ends the doubt.
func TestLostAttemptDoesNotEndDoubt(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	for name, tt := range map[string]struct {
		wait   time.Duration
		result error
	}{
		"allowed":                {0, nil},
		"denied after the claim": {11 * time.Second, messaging.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := messagingtest.NewServer(t)
			asked := make(chan struct{})
			goOn := make(chan struct{})
			release := sync.OnceFunc(func() { close(goOn) })
			t.Cleanup(release)
			guarded := newClient(t, service, messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
				close(asked)
				<-goOn
				return tt.result
			}))
			options := quick()
			options.SettleFor = time.Minute
			options.Workers = 1 // so that the outbox with the guard does not get the job again
			first := postgresRig(t, guarded, options)
			second := first.another(t, newClient(t, service), options)
			service.Inject(messagingtest.FaultDropUnread(), 1)
			sends := sendsOf(service)

			first.insert(t, messagingriver.InsertOptions{}, text("a"))
			stopFirst := first.start(t)
			<-asked
			first.exec(t, "UPDATE JOBS SET state = 'available'")
			stopSecond := second.start(t)
			require.Eventually(t, func() bool { return metadataOf(t, first, "a")["verdict"] == "unknown" }, patience, 10*time.Millisecond)
			time.Sleep(tt.wait)
			release()
			stopFirst()
			stopSecond()

			require.Equal(t, messaging.Unknown, show(t, first, "a").Verdict)
			first.another(t, newClient(t, service), quick()).start(t)
			require.Equal(t, messaging.Unknown, await(t, first, "a", discarded).Verdict)
			require.EqualValues(t, 1, sends.Load())
		})
	}
}

// A job that was cancelled while a request was under way is looked up, even if its process dies. It is never sent again.
func TestCancelledJobIsLookedUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		checkLookUpAfterCancel(t, `{"begun": "A", "cancel_attempted_at": "2026-01-01T00:00:00Z"}`, func(rig) {})
	})
}

// A process that was frozen before its request can cancel the job while another process sends the message.
func TestLateCancelIsLookedUp(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		checkLookUpAfterCancel(t, `{"begun": "B", "river:rescue_count": 1, "verdict": "not sent"}`, func(r rig) {
			r.exec(t, "UPDATE JOBS SET state = 'cancelled', finalized_at = attempted_at")
			require.Equal(t, messaging.Unknown, show(t, r, "sent").Verdict)
		})
	})
}

// checkLookUpAfterCancel abandons two jobs with some metadata, of which the service has one message, and changes them by prepare. The outbox
// finds that message, discards the other, and sends none.
func checkLookUpAfterCancel(t test, metadata string, prepare func(r rig)) {
	t.Helper()
	service := messagingtest.NewServer(t)
	client := newClient(t, service)
	r := t.newRig(t, client, quick())
	r.insert(t, messagingriver.InsertOptions{}, text("sent"), text("unsent"))
	for _, reference := range []string{"sent", "unsent"} {
		abandon(t, r, t.isPostgres, reference, metadata)
	}
	prepare(r)
	_, err := client.SMS.Send(t.Context(), text("sent"))
	require.NoError(t, err)
	r.start(t)
	await(t, r, "sent", completed)
	await(t, r, "unsent", discarded)
	require.Equal(t, map[string]int{"sent": 1}, sentOf(service))
}

// The attempt of a cancelled job ends with an unknown outcome.
func TestCancelDuringAnAttempt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		arrived := make(chan struct{})
		proceed := make(chan struct{})
		client := newClient(t, service, messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				response, err := base.RoundTrip(request)
				if request.Method != http.MethodPost {
					return response, err
				}
				close(arrived)
				<-proceed
				if err == nil {
					err = response.Body.Close()
				}
				return nil, errors.Join(err, errors.New("the response is lost"))
			})
		}))
		r := t.newRig(t, client, messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		<-arrived
		r.cancel(t, show(t, r, "a").Job)
		close(proceed)
		require.NotEmpty(t, await(t, r, "a", completed).Receipt.ID)
		require.Len(t, service.Sent(), 1)
	})
}

// A message whose guard takes too long each time waits a second, records the reason and logs it.
func TestSlowGuardIsReported(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		var endedAt atomic.Int64
		var paused atomic.Int64
		isRead := make(chan struct{})
		client := newClient(t, service, messaging.WithGuard(func(ctx context.Context, _ messaging.Outgoing) error {
			if before := endedAt.Load(); before != 0 {
				paused.CompareAndSwap(0, time.Now().UnixNano()-before)
				select { // the postponement writes another reason
				case <-isRead:
				case <-ctx.Done():
				}
				return messaging.Postpone(time.Hour)
			}
			<-ctx.Done()
			endedAt.Store(time.Now().UnixNano())
			return ctx.Err()
		}))
		log := new(journal)
		r := t.newRig(t, client, messagingriver.Options{Workers: 1, Logger: slog.New(slog.NewTextHandler(log, nil))})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		require.Eventually(t, func() bool { return log.contains("the message waits") }, patience, 5*time.Millisecond)
		require.True(t, log.contains("level=WARN"))
		require.False(t, log.contains("639171234567"))
		require.Eventually(t, func() bool {
			return show(t, r, "a").Reason == "no request could begin within 10s: a guard, the rate limit or the process took longer"
		}, 5*time.Second, 5*time.Millisecond)
		record := show(t, r, "a")
		require.Equal(t, messaging.NotSent, record.Verdict)
		require.False(t, record.MayHaveBeenSent())
		close(isRead)
		require.Eventually(t, func() bool { return paused.Load() > 0 }, patience, 5*time.Millisecond)
		require.GreaterOrEqual(t, time.Duration(paused.Load()), time.Second)
		require.Empty(t, service.Sent())
	})
}
