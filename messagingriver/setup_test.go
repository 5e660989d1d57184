package messagingriver_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	_ "modernc.org/sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// wal are the options of a database that waits for no disk: a test kills processes, and no machine loses its power.
const wal = "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(off)"

// openSQLite opens a database in a file of its own. A benchmark waits for the disk.
func openSQLite(t testing.TB) *sql.DB {
	t.Helper()
	options := wal + "&_txlock=immediate"
	if _, measures := t.(*testing.B); measures {
		options += "&_pragma=synchronous(full)"
	}
	db := openSQLiteWith(t, options)
	db.SetMaxOpenConns(1)
	return db
}

func openSQLiteWith(t testing.TB, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "outbox.db")+options)
	require.NoError(t, err)
	db.SetMaxOpenConns(10)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// openPostgres opens a schema of its own.
func openPostgres(t testing.TB) *pgxpool.Pool {
	t.Helper()
	url := os.Getenv("OUTBOX_POSTGRES")
	require.NotEmpty(t, url, "no PostgreSQL: .ci/with-postgres runs this beside one")
	config, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	schema := "t" + strings.ToLower(rand.Text())
	config.ConnConfig.RuntimeParams["search_path"] = schema
	config.MaxConns = 10
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Exec(t.Context(), "CREATE SCHEMA "+schema)
	require.NoError(t, err)
	return pool
}

// outbox is what does not depend on the type of a transaction.
type outbox interface {
	AddTo(config *river.Config) error
	Parked(ctx context.Context, after messagingriver.Key) ([]messagingriver.Record, error)
	Refused(ctx context.Context, after messagingriver.Key) ([]messagingriver.Record, error)
	Resolve(ctx context.Context, decision messagingriver.Decision, keys ...messagingriver.Key) (int, error)
	Show(ctx context.Context, reference string) ([]messagingriver.Record, error)
	PauseCampaign(ctx context.Context, name string) error
	ResumeCampaign(ctx context.Context, name string) error
	CancelCampaign(ctx context.Context, name string) (int, error)
	Campaigns(ctx context.Context, names ...string) ([]messagingriver.Campaign, error)
	Renew(ctx context.Context, expire time.Duration, keys ...messagingriver.Key) (int, error)
	SetRate(ctx context.Context, perSecond float64) error
	Status(ctx context.Context) (messagingriver.Status, error)
	Pause(ctx context.Context, channels ...string) error
	Resume(ctx context.Context, channels ...string) error
	Observe(meter metric.Meter) (metric.Registration, error)
}

// rig is an outbox on one of the databases, with what a test needs of both.
type rig interface {
	outbox
	// insert enqueues messages in one transaction, which it commits unless it is told to roll back.
	insert(ctx context.Context, rollBack bool, messages ...messaging.Message) (int, error)
	// insertWithoutTx is for a caller who has no transaction.
	insertWithoutTx(ctx context.Context, message messaging.Message) error
	// insertWith is like insert, for one message with options.
	insertWith(ctx context.Context, message messaging.Message, options messagingriver.InsertOptions) error
	// row returns the row of a message, as the table's documentation has it.
	row(ctx context.Context, key messagingriver.Key) (row, error)
	// start works the queue until stop is called.
	start(t testing.TB) (stop func())
	// startWith is like start, with a configuration of River's.
	startWith(t testing.TB, config *river.Config) (stop func())
	// runUntil works the queue under a context that ends when something is so, and returns when the client has stopped.
	runUntil(t testing.TB, config river.Config, is func() bool)
	counts(ctx context.Context) map[messagingriver.State]int
	// bare has a bare River worker send n messages to a service.
	bare(b *testing.B, n int, service *messagingtest.Server, run func(start, stop func()))
	// wake inserts another job for SMS, as River's rescuer does for one that it takes for stuck.
	wake(ctx context.Context) error
	// broken reports whether the shared breaker for SMS is open.
	broken(ctx context.Context) (bool, error)
	exec(ctx context.Context, statement string) error
	// kill stops workers, and leaves messages and jobs as they were before that: as a kill does.
	kill(t testing.TB, stop func())
	pool() *sql.DB
	// another returns another outbox in the same database.
	another(t testing.TB, client *messaging.Client, options messagingriver.Options) rig
	Migrate(ctx context.Context) error
	// dump returns everything that the tables hold, as text.
	dump(ctx context.Context) (string, error)
}

type rigOf[TTx any] struct {
	*messagingriver.Outbox[TTx]

	begin  func(ctx context.Context) (tx TTx, commit, rollBack func() error, err error)
	driver riverdriver.Driver[TTx]
	db     *sql.DB
	open   func(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[TTx], error)
}

func newRig[TTx any](t testing.TB, r rigOf[TTx]) rig {
	t.Helper()
	require.NoError(t, r.Migrate(t.Context()))
	require.NoError(t, r.Migrate(t.Context()), "again")
	return r
}

func sqliteRig(t testing.TB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	r, err := rigOnSQLite(openSQLite(t), client, options)
	require.NoError(t, err)
	return newRig(t, r)
}

func postgresRig(t testing.TB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	r, err := rigOnPostgres(openPostgres(t), client, options)
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.db.Close() })
	return newRig(t, r)
}

func rigOnSQLite(db *sql.DB, client *messaging.Client, options messagingriver.Options) (rigOf[*sql.Tx], error) {
	of, err := messagingriver.NewSQLite(db, client, options)
	return rigOf[*sql.Tx]{of, func(ctx context.Context) (*sql.Tx, func() error, func() error, error) {
		tx, err := db.BeginTx(ctx, nil)
		return tx, tx.Commit, tx.Rollback, err
	}, riversqlite.New(db), db, func(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[*sql.Tx], error) {
		return messagingriver.NewSQLite(db, client, options)
	}}, err
}

func rigOnPostgres(pool *pgxpool.Pool, client *messaging.Client, options messagingriver.Options) (rigOf[pgx.Tx], error) {
	of, err := messagingriver.NewPostgres(pool, client, options)
	return rigOf[pgx.Tx]{of, func(ctx context.Context) (pgx.Tx, func() error, func() error, error) {
		tx, err := pool.Begin(ctx)
		return tx, func() error { return tx.Commit(ctx) }, func() error { return tx.Rollback(ctx) }, err
	}, riverpgxv5.New(pool), stdlib.OpenDBFromPool(pool), func(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[pgx.Tx], error) {
		return messagingriver.NewPostgres(pool, client, options)
	}}, err
}

func (r rigOf[TTx]) insert(ctx context.Context, rollBack bool, messages ...messaging.Message) (int, error) {
	tx, commit, undo, err := r.begin(ctx)
	if err != nil {
		return 0, err
	}
	added, err := r.InsertMany(ctx, tx, messages, messagingriver.InsertOptions{})
	if rollBack || err != nil {
		return added, errors.Join(err, undo())
	}
	return added, commit()
}

func (r rigOf[TTx]) insertWithoutTx(ctx context.Context, message messaging.Message) error {
	var none TTx
	_, err := r.Insert(ctx, none, message)
	return err
}

func (r rigOf[TTx]) insertWith(ctx context.Context, message messaging.Message, options messagingriver.InsertOptions) error {
	tx, commit, undo, err := r.begin(ctx)
	if err != nil {
		return err
	}
	if _, err := r.InsertMany(ctx, tx, []messaging.Message{message}, options); err != nil {
		return errors.Join(err, undo())
	}
	return commit()
}

// row is a row of messaging_outbox.
type row struct {
	State    messagingriver.State
	Message  string
	Receipt  messaging.Receipt
	Problem  string
	Attempts int
	Began    time.Time
}

func (r rigOf[TTx]) row(ctx context.Context, key messagingriver.Key) (row, error) {
	var one row
	var receipt string
	var began int64
	err := r.db.QueryRowContext(ctx, `
		SELECT state, COALESCE(message, ''), COALESCE(receipt, '{}'), problem, attempt, COALESCE(began_at, 0) FROM messaging_outbox
		WHERE channel = $1 AND reference = $2`, key.Channel, key.Reference).
		Scan(&one.State, &one.Message, &receipt, &one.Problem, &one.Attempts, &began)
	if err != nil {
		return row{}, err
	}
	one.Began = time.UnixMilli(began)
	return one, json.Unmarshal([]byte(receipt), &one.Receipt)
}

func (r rigOf[TTx]) client(config *river.Config) (*river.Client[TTx], error) {
	config.Logger = slog.New(slog.DiscardHandler)
	config.TestOnly = true
	return river.NewClient(r.driver, config)
}

func (r rigOf[TTx]) start(t testing.TB) (stop func()) {
	t.Helper()
	return r.startWith(t, &river.Config{})
}

func (r rigOf[TTx]) startWith(t testing.TB, config *river.Config) (stop func()) {
	t.Helper()
	require.NoError(t, r.AddTo(config))
	client, err := r.client(config)
	require.NoError(t, err)
	require.NoError(t, client.Start(context.WithoutCancel(t.Context())))
	return sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		require.NoError(t, client.Stop(ctx))
	})
}

func (r rigOf[TTx]) runUntil(t testing.TB, config river.Config, is func() bool) {
	t.Helper()
	require.NoError(t, r.AddTo(&config))
	client, err := r.client(&config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, client.Start(ctx))
	require.Eventually(t, is, time.Minute, 5*time.Millisecond)
	cancel()
	select {
	case <-client.Stopped():
	case <-time.After(time.Minute):
		require.Fail(t, "the client did not stop")
	}
}

func (r rigOf[TTx]) counts(ctx context.Context) map[messagingriver.State]int {
	counts := map[messagingriver.State]int{}
	status, err := r.Status(ctx)
	if err != nil {
		return nil
	}
	for _, channel := range status.Channels {
		for _, state := range channel.States {
			counts[state.State] += state.Messages
		}
	}
	return counts
}

func (r rigOf[TTx]) wake(ctx context.Context) error {
	client, err := r.client(&river.Config{})
	if err != nil {
		return err
	}
	_, err = client.Insert(ctx, sendArgs{"sms"}, &river.InsertOpts{Queue: "messaging"})
	return err
}

// sendArgs are the arguments of the outbox's jobs.
type sendArgs struct {
	Channel string `json:"channel"`
}

func (sendArgs) Kind() string { return "messaging_send" }

func (r rigOf[TTx]) broken(ctx context.Context) (open bool, err error) {
	return open, r.db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM messaging_breaker WHERE channel = 'sms')").Scan(&open)
}

func (r rigOf[TTx]) exec(ctx context.Context, statement string) error {
	_, err := r.db.ExecContext(ctx, statement)
	return err
}

func (r rigOf[TTx]) kill(t testing.TB, stop func()) {
	t.Helper()
	tables := []string{"river_job", "messaging_outbox"}
	tx, err := r.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	if _, ok := any(r.driver).(*riverpgxv5.Driver); ok { // SQLite always has one view of both tables
		_, err = tx.ExecContext(t.Context(), "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
		require.NoError(t, err)
	}
	for _, table := range tables {
		_, err = tx.ExecContext(t.Context(), "CREATE TABLE killed_"+table+" AS SELECT * FROM "+table)
		require.NoError(t, err)
	}
	require.NoError(t, tx.Commit())
	stop()
	for _, table := range tables {
		require.NoError(t, r.exec(t.Context(), "DELETE FROM "+table))
		require.NoError(t, r.exec(t.Context(), "INSERT INTO "+table+" SELECT * FROM killed_"+table))
	}
}

func (r rigOf[TTx]) dump(ctx context.Context) (string, error) {
	var all strings.Builder
	for _, table := range []string{"river_job", "messaging_outbox", "messaging_breaker"} {
		rows, err := r.db.QueryContext(ctx, "SELECT * FROM "+table)
		if err != nil {
			return "", err
		}
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				return "", err
			}
			for _, value := range values {
				switch value := (*value.(*any)).(type) {
				case []byte:
					all.Write(value)
				default:
					fmt.Fprint(&all, value)
				}
				all.WriteByte(' ')
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return "", err
		}
	}
	return all.String(), nil
}

func (r rigOf[TTx]) another(t testing.TB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	var err error
	r.Outbox, err = r.open(client, options)
	require.NoError(t, err)
	return r
}

func (r rigOf[TTx]) pool() *sql.DB { return r.db }

// test is a test on one of the databases.
type test struct {
	*testing.T
	database
}

type database struct {
	name   string
	newRig func(testing.TB, *messaging.Client, messagingriver.Options) rig
}

// databases returns SQLite, and PostgreSQL where .ci/with-postgres runs the tests beside a server.
func databases() []database {
	all := []database{{"SQLite", sqliteRig}}
	if os.Getenv("OUTBOX_POSTGRES") != "" {
		all = append(all, database{"PostgreSQL", postgresRig})
	}
	return all
}

// onBoth runs a test on both databases.
func onBoth(t *testing.T, run func(t test)) {
	t.Helper()
	for _, db := range databases() {
		t.Run(db.name, func(t *testing.T) {
			t.Parallel()
			run(test{t, db})
		})
	}
}
