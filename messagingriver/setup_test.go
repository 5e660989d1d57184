package messagingriver_test

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
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
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	_ "modernc.org/sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// The states of River's jobs.
const (
	available = rivertype.JobStateAvailable
	scheduled = rivertype.JobStateScheduled
	retryable = rivertype.JobStateRetryable
	running   = rivertype.JobStateRunning
	pending   = rivertype.JobStatePending
	completed = rivertype.JobStateCompleted
	cancelled = rivertype.JobStateCancelled
	discarded = rivertype.JobStateDiscarded
)

func text(reference string) sms.Message {
	return sms.Message{From: "ACME", To: "+639171234567", Text: "Your order is ready", ReferenceID: reference}
}

func chat(reference string) chatapp2.Message {
	return chatapp2.Message{To: "+639171234567", Content: chatapp2.Text{Body: "Your order is ready"}, ReferenceID: reference}
}

func texts(prefix string, n int) []messaging.Message {
	all := make([]messaging.Message, n)
	for i := range all {
		all[i] = text(fmt.Sprint(prefix, i))
	}
	return all
}

func newClient(t testing.TB, service *messagingtest.Server, options ...messaging.Option) *messaging.Client {
	t.Helper()
	client, err := messaging.NewClient(service.URL, append([]messaging.Option{messaging.WithToken(service.Token)}, options...)...)
	require.NoError(t, err)
	return client
}

// patience bounds how long a test waits for something that happens sooner on any machine.
const patience = 2 * time.Minute

// quick returns options with which rescues and lookups end soon.
func quick() messagingriver.Options {
	return messagingriver.Options{SendTimeout: 5 * time.Second, SettleFor: 3 * time.Second}
}

// rig is an outbox on one of the databases, with what a test needs of both.
type rig interface {
	Migrate(ctx context.Context) error
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Alive() bool
	Discarded(ctx context.Context) iter.Seq2[messagingriver.Record, error]
	Cancelled(ctx context.Context) iter.Seq2[messagingriver.Record, error]
	Get(ctx context.Context, reference string) ([]messagingriver.Record, error)
	Resolve(ctx context.Context, decision messagingriver.Decision, keys ...messagingriver.Key) (int, error)
	Campaigns(ctx context.Context, names ...string) ([]messagingriver.Campaign, error)
	PauseCampaign(ctx context.Context, name string) (int, error)
	ResumeCampaign(ctx context.Context, name string) (int, error)
	CancelCampaign(ctx context.Context, name string) (int, error)
	PauseChannel(ctx context.Context, channel string) error
	ResumeChannel(ctx context.Context, channel string) error
	Status(ctx context.Context) ([]messagingriver.ChannelStatus, error)
	PausedChannels(ctx context.Context) ([]messagingriver.ChannelStatus, error)
	Observe(meter metric.Meter) (metric.Registration, error)

	// setClock sets by how much the clock of the process is ahead.
	setClock(ahead time.Duration)
	// insert enqueues messages in a transaction of their own and returns how many are new.
	insert(t testing.TB, options messagingriver.InsertOptions, messages ...messaging.Message) int
	// insertReturningKnown is like insert and returns the messages that were known.
	insertReturningKnown(t testing.TB, options messagingriver.InsertOptions, messages ...messaging.Message) []messagingriver.Record
	// tryInsert is like insert, and rolls back after an error.
	tryInsert(ctx context.Context, options messagingriver.InsertOptions, messages ...messaging.Message) (int, error)
	// start works the queue until stop or the end of the test.
	start(t testing.TB) (stop func())
	// another returns another outbox on the same database.
	another(t testing.TB, client *messaging.Client, options messagingriver.Options) rig
	// exec runs a statement, in which JOBS and QUEUES are River's tables.
	exec(t testing.TB, statement string, args ...any)
	// number runs a statement that returns a number.
	number(t testing.TB, statement string, args ...any) int
	// retry, cancel and resume do what the buttons of River UI do for a job and for a queue.
	retry(t testing.TB, job int64)
	cancel(t testing.TB, job int64)
	resume(t testing.TB, queue string)
}

// operator is the client of River behind River UI.
type operator interface {
	JobRetry(ctx context.Context, id int64) (*rivertype.JobRow, error)
	JobCancel(ctx context.Context, id int64) (*rivertype.JobRow, error)
	QueueResume(ctx context.Context, name string, opts *river.QueuePauseOpts) error
}

type rigOf[TTx any] struct {
	*messagingriver.Outbox[TTx]

	db     *sql.DB
	tables *strings.Replacer
	begin  func(ctx context.Context) (tx TTx, commit, rollBack func() error, err error)
	open   func(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[TTx], error)
	ui     operator
	clock  *messagingriver.TestClock
}

// postgresPool opens the database, with a schema for the program's own tables and one for the outbox's.
func postgresPool(t testing.TB, connections int32) (pool *pgxpool.Pool, schema string) {
	t.Helper()
	url := os.Getenv("OUTBOX_POSTGRES")
	require.NotEmpty(t, url, "no PostgreSQL: .ci/with-postgres runs this beside one")
	config, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)
	config.MaxConns = connections
	pool, err = pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, "t" + strings.ToLower(rand.Text())
}

func postgresRig(t testing.TB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	pool, schema := postgresPool(t, 10)
	return rigOn(t, pool, schema, client, options)
}

func rigOn(t testing.TB, pool *pgxpool.Pool, schema string, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	open := func(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[pgx.Tx], error) {
		options.Schema = schema
		return messagingriver.NewPostgres(pool, client, options)
	}
	operator, err := river.NewClient(riverpgxv5.New(pool), &river.Config{Schema: schema})
	require.NoError(t, err)
	db := stdlib.OpenDBFromPool(pool)
	t.Cleanup(func() { _ = db.Close() })
	return newRig(t, rigOf[pgx.Tx]{
		db:     db,
		tables: strings.NewReplacer("JOBS", schema+".river_job", "QUEUES", schema+".river_queue"),
		begin: func(ctx context.Context) (pgx.Tx, func() error, func() error, error) {
			tx, err := pool.Begin(ctx)
			if err != nil {
				return nil, nil, nil, err
			}
			return tx, func() error { return tx.Commit(ctx) }, func() error { return tx.Rollback(context.WithoutCancel(ctx)) }, nil
		},
		open: open,
		ui:   operator,
	}, client, options)
}

func sqliteRig(t testing.TB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	return rigOnSQLite(t, openPoolOfOne(t), client, options)
}

func rigOnSQLite(t testing.TB, db *sql.DB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	operator, err := river.NewClient(riversqlite.New(db), &river.Config{})
	require.NoError(t, err)
	return newRig(t, rigOf[*sql.Tx]{
		db:     db,
		tables: strings.NewReplacer("JOBS", "river_job", "QUEUES", "river_queue"),
		begin: func(ctx context.Context) (*sql.Tx, func() error, func() error, error) {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return nil, nil, nil, err
			}
			return tx, tx.Commit, tx.Rollback, nil
		},
		open: func(client *messaging.Client, options messagingriver.Options) (*messagingriver.Outbox[*sql.Tx], error) {
			return messagingriver.NewSQLite(db, client, options)
		},
		ui: operator,
	}, client, options)
}

// openPoolOfOne opens a file that waits for no disk, with one connection.
func openPoolOfOne(t testing.TB) *sql.DB {
	t.Helper()
	db := openSQLite(t, wal+"&_txlock=immediate")
	db.SetMaxOpenConns(1)
	return db
}

const wal = "?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(off)"

// openSQLite opens a file of its own.
func openSQLite(t testing.TB, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "outbox.db")+options)
	require.NoError(t, err)
	db.SetMaxOpenConns(10)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// openPostgres opens a schema of a program's own.
func openPostgres(t testing.TB) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(os.Getenv("OUTBOX_POSTGRES"))
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

func newRig[TTx any](t testing.TB, r rigOf[TTx], client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	created := r.another(t, client, options)
	require.NoError(t, created.Migrate(t.Context()))
	return created
}

func (r rigOf[TTx]) another(t testing.TB, client *messaging.Client, options messagingriver.Options) rig {
	t.Helper()
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	r.clock = new(messagingriver.TestClock)
	var err error
	r.Outbox, err = r.open(client, messagingriver.ForTests(options, r.clock))
	require.NoError(t, err)
	return r
}

func (r rigOf[TTx]) setClock(ahead time.Duration) { r.clock.Set(ahead) }

func (r rigOf[TTx]) tryInsert(ctx context.Context, options messagingriver.InsertOptions, messages ...messaging.Message) (int, error) {
	tx, commit, rollBack, err := r.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer rollBack() //nolint:errcheck // nothing after the commit
	added, err := r.InsertMany(ctx, tx, messages, options)
	if err != nil {
		return added, err
	}
	return added, commit()
}

func (r rigOf[TTx]) insert(t testing.TB, options messagingriver.InsertOptions, messages ...messaging.Message) int {
	t.Helper()
	added, err := r.tryInsert(t.Context(), options, messages...)
	require.NoError(t, err)
	return added
}

func (r rigOf[TTx]) insertReturningKnown(
	t testing.TB, options messagingriver.InsertOptions, messages ...messaging.Message,
) []messagingriver.Record {
	t.Helper()
	tx, commit, rollBack, err := r.begin(t.Context())
	require.NoError(t, err)
	defer rollBack() //nolint:errcheck // nothing after the commit
	known, err := r.InsertManyReturningKnown(t.Context(), tx, messages, options)
	require.NoError(t, err)
	require.NoError(t, commit())
	return known
}

func (r rigOf[TTx]) start(t testing.TB) (stop func()) {
	t.Helper()
	require.NoError(t, r.Start(t.Context()))
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		require.NoError(t, r.Stop(ctx))
	})
	t.Cleanup(stop)
	return stop
}

func (r rigOf[TTx]) exec(t testing.TB, statement string, args ...any) {
	t.Helper()
	_, err := r.db.ExecContext(t.Context(), r.tables.Replace(statement), args...)
	require.NoError(t, err)
}

func (r rigOf[TTx]) number(t testing.TB, statement string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, r.db.QueryRowContext(t.Context(), r.tables.Replace(statement), args...).Scan(&n))
	return n
}

func (r rigOf[TTx]) retry(t testing.TB, job int64) {
	t.Helper()
	_, err := r.ui.JobRetry(t.Context(), job)
	require.NoError(t, err)
}

func (r rigOf[TTx]) cancel(t testing.TB, job int64) {
	t.Helper()
	_, err := r.ui.JobCancel(t.Context(), job)
	require.NoError(t, err)
}

func (r rigOf[TTx]) resume(t testing.TB, queue string) {
	t.Helper()
	require.NoError(t, r.ui.QueueResume(t.Context(), queue, nil))
}

// show returns the record of the only message with a reference ID.
func show(t testing.TB, r rig, reference string) messagingriver.Record {
	t.Helper()
	records, err := r.Get(t.Context(), reference)
	require.NoError(t, err)
	require.Len(t, records, 1)
	return records[0]
}

// await returns the record of a message when it is in a state.
func await(t testing.TB, r rig, reference string, state rivertype.JobState) messagingriver.Record {
	t.Helper()
	var record messagingriver.Record
	require.Eventually(t, func() bool {
		record = show(t, r, reference)
		return record.State == state
	}, patience, 20*time.Millisecond, "%s is not %s", reference, state)
	return record
}

// countOf returns how many messages are in a state.
func countOf(t testing.TB, r rig, state rivertype.JobState) int {
	t.Helper()
	return r.number(t, "SELECT COUNT(*) FROM JOBS WHERE kind = 'messaging' AND CAST(state AS TEXT) = $1", string(state))
}

// sentOf returns how often the service accepted each reference ID.
func sentOf(service *messagingtest.Server) map[string]int {
	sent := map[string]int{}
	for _, m := range service.Sent() {
		sent[m.ReferenceID]++
	}
	return sent
}

// metadataOf returns the metadata of a message's job.
func metadataOf(t testing.TB, r rig, reference string) map[string]any {
	t.Helper()
	var encoded []byte
	switch r := r.(type) {
	case rigOf[pgx.Tx]:
		statement := r.tables.Replace("SELECT metadata FROM JOBS WHERE args->>'reference' = $1")
		require.NoError(t, r.db.QueryRowContext(t.Context(), statement, reference).Scan(&encoded))
	case rigOf[*sql.Tx]:
		statement := r.tables.Replace("SELECT json(metadata) FROM JOBS WHERE args->>'reference' = $1")
		require.NoError(t, r.db.QueryRowContext(t.Context(), statement, reference).Scan(&encoded))
	}
	var metadata map[string]any
	require.NoError(t, json.Unmarshal(encoded, &metadata))
	return metadata
}

// database opens rigs on one of the databases.
type database struct {
	name       string
	isPostgres bool
	newRig     func(testing.TB, *messaging.Client, messagingriver.Options) rig
}

// databases returns SQLite, and PostgreSQL if .ci/with-postgres runs the tests.
func databases() []database {
	all := []database{{"SQLite", false, sqliteRig}}
	if os.Getenv("OUTBOX_POSTGRES") != "" {
		all = append(all, database{"PostgreSQL", true, postgresRig})
	}
	return all
}

// test is a test on one of the databases.
type test struct {
	*testing.T
	database
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

// needsPostgres skips a test where there is no server.
func needsPostgres(t testing.TB) {
	t.Helper()
	if os.Getenv("OUTBOX_POSTGRES") == "" {
		t.Skip(".ci/with-postgres runs this beside a PostgreSQL")
	}
}

// stateType returns the type of a job's state on PostgreSQL.
func stateType(r rig) string { return r.(rigOf[pgx.Tx]).tables.Replace("JOBS") + "_state" }
