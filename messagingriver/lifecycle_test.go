package messagingriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
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
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/conversations"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook/sqlstore"
)

// journal collects log records.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) contains(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.text.String(), text)
}

func TestStartRefusesAWrongClock(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		for _, ahead := range []time.Duration{time.Hour, -6 * time.Second} {
			r.setClock(ahead)
			require.ErrorContains(t, r.Start(t.Context()), "the clock of this process differs from that of the database")
		}
		r.setClock(4 * time.Second)
		r.start(t)
		require.True(t, r.Alive())
	})
}

// A process whose clock goes wrong stops working, logs an error, and continues when the clock is right.
func TestProcessWithAWrongClockDoesNotWork(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		log := new(journal)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{Logger: slog.New(slog.NewTextHandler(log, nil))})
		r.start(t)
		r.setClock(time.Minute)
		require.Eventually(t, func() bool { return !r.Alive() }, patience, 20*time.Millisecond)
		require.True(t, log.contains("this process does not work, because its clock differs"))
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		time.Sleep(2 * time.Second)
		require.Empty(t, service.Sent())
		r.setClock(0)
		await(t, r, "a", completed)
		require.Eventually(t, r.Alive, patience, 20*time.Millisecond) // River can work before its Start has returned
	})
}

func TestStartAndStop(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		require.NoError(t, r.Stop(t.Context()), "it is not started")
		require.False(t, r.Alive())
		stop := r.start(t)
		require.ErrorContains(t, r.Start(t.Context()), "started already")
		stop()
		require.False(t, r.Alive())
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		r.start(t)
		await(t, r, "a", completed)
	})
}

// Stop returns when its context ends, even while a statement of the maintenance waits for the database.
func TestStopDoesNotWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	service := messagingtest.NewServer(t)
	pool, schema := postgresPool(t, 40) // River waits with a connection for each queue
	r := rigOn(t, pool, schema, newClient(t, service), quick())
	r.start(t)
	db, ok := r.(rigOf[pgx.Tx])
	require.True(t, ok)
	tx, err := db.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer tx.Rollback() //nolint:errcheck // it only holds the lock
	_, err = tx.ExecContext(t.Context(), db.tables.Replace("LOCK TABLE JOBS IN ACCESS EXCLUSIVE MODE"))
	require.NoError(t, err)
	time.Sleep(6 * time.Second) // the maintenance waits for the lock

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	require.ErrorIs(t, r.Stop(ctx), context.DeadlineExceeded)
	require.Less(t, time.Since(began), 3*time.Second)
}

// Stop returns when its context ends, even while another call of Stop waits for a request.
func TestStopDoesNotWaitForAnotherStop(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		service.Inject(messagingtest.FaultSlow(3*time.Second), 1)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		sends := sendsOf(service)
		r.start(t)
		require.Eventually(t, func() bool { return sends.Load() == 1 }, patience, 5*time.Millisecond)
		first := make(chan error, 1)
		go func() { first <- r.Stop(t.Context()) }()
		time.Sleep(500 * time.Millisecond)

		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, r.Stop(ctx), context.DeadlineExceeded)
		require.Empty(t, first, "the first call waits for the request")
		require.NoError(t, r.Stop(t.Context()))
		require.NoError(t, <-first)
		require.Equal(t, completed, show(t, r, "a").State)
		require.NoError(t, r.Stop(t.Context()), "it is stopped already")
	})
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		r.insert(t, messagingriver.InsertOptions{}, text("a"))
		require.NoError(t, r.Migrate(t.Context()))
		show(t, r, "a")
	})
}

// The owner of the schema may not be allowed to create schemas.
func TestMigrateAsTheOwnerOfTheSchema(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	pool, schema := postgresPool(t, 4)
	role := schema
	for _, statement := range []string{"CREATE ROLE " + role, "CREATE SCHEMA " + schema + " AUTHORIZATION " + role} {
		_, err := pool.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		_, err := pool.Exec(context.WithoutCancel(t.Context()), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role)
		require.NoError(t, err)
	})
	config := pool.Config()
	config.AfterConnect = func(ctx context.Context, connection *pgx.Conn) error {
		_, err := connection.Exec(ctx, "SET ROLE "+role)
		return err
	}
	owned, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(owned.Close)
	r := rigOn(t, owned, schema, newClient(t, messagingtest.NewServer(t)), messagingriver.Options{})
	r.insert(t, messagingriver.InsertOptions{}, text("a"))
	show(t, r, "a")
}

func TestNewSQLiteSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"))
	require.NoError(t, err)
	for options, want := range map[string]string{
		"": "has delete and 0 ms", "?_pragma=journal_mode(wal)": "has wal and 0 ms", "?_pragma=busy_timeout(5000)": "has delete and 5000 ms",
	} {
		_, err := messagingriver.NewSQLite(openSQLite(t, options), client, messagingriver.Options{})
		require.ErrorContains(t, err, "SQLite with several connections needs journal_mode(wal) and a busy_timeout")
		require.ErrorContains(t, err, want)
		_, storeErr := sqlstore.New(t.Context(), openSQLite(t, options), 0)
		require.Equal(t, strings.TrimPrefix(storeErr.Error(), "sqlstore: "), strings.TrimPrefix(err.Error(), "messagingriver: "))
	}
	_, err = messagingriver.NewSQLite(openSQLite(t, wal), client, messagingriver.Options{})
	require.NoError(t, err)
}

// A database that cannot be reached is not called one of another kind, and its error is printed once.
func TestUnreachableDatabaseIsNamedOnce(t *testing.T) {
	t.Parallel()
	postgres, err := sql.Open("pgx", "postgres://somebody@127.0.0.1:1/shop")
	require.NoError(t, err)
	defer postgres.Close()
	file, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "no", "shop.db"))
	require.NoError(t, err)
	defer file.Close()
	for _, db := range []*sql.DB{postgres, file} {
		cause := db.PingContext(t.Context())
		require.Error(t, cause)
		_, err = conversations.New(t.Context(), db, conversations.Options{})
		require.EqualError(t, err, "conversations: cannot reach the database: "+cause.Error())
		_, err = sqlstore.New(t.Context(), db, 0)
		require.EqualError(t, err, "sqlstore: cannot reach the database: "+cause.Error())
	}
	client := newClient(t, messagingtest.NewServer(t))
	_, err = messagingriver.NewSQLite(file, client, messagingriver.Options{})
	require.EqualError(t, err, "messagingriver: cannot reach the database: "+file.PingContext(t.Context()).Error())
}

func TestNewOutboxRejects(t *testing.T) {
	t.Parallel()
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"))
	require.NoError(t, err)
	for want, options := range map[string]messagingriver.Options{
		"Options.Workers must be 0 to 10000, got -1":          {Workers: -1},
		"Options.Rate must be 0 to 1000000 messages a second": {Rate: -1},
		"Options.SendTimeout must be 0 to 1h":                 {SendTimeout: -time.Second},
		"Options.SettleFor must not be negative":              {SettleFor: -time.Second},
		"Options.Keep must not be negative":                   {Keep: -time.Second},
		"Options.Schema is for PostgreSQL":                    {Schema: "messaging"},
	} {
		_, err := messagingriver.NewSQLite(openPoolOfOne(t), client, options)
		require.ErrorContains(t, err, want)
	}
	_, err = messagingriver.NewSQLite(openPoolOfOne(t), client, messagingriver.Options{Workers: -1, Keep: -1})
	require.ErrorContains(t, err, "Options.Workers")
	require.ErrorContains(t, err, "Options.Keep", "all problems at once")
	_, err = messagingriver.NewSQLite(nil, client, messagingriver.Options{})
	require.ErrorContains(t, err, "needs a database")
	_, err = messagingriver.NewPostgres(nil, client, messagingriver.Options{})
	require.ErrorContains(t, err, "needs a database")
	_, err = messagingriver.NewSQLite(openPoolOfOne(t), nil, messagingriver.Options{})
	require.ErrorContains(t, err, "needs a client")
}

func TestSchemaIsChecked(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	pool, _ := postgresPool(t, 2)
	client, err := messaging.NewClient("https://api.example.com", messaging.WithToken("t"))
	require.NoError(t, err)
	for _, schema := range []string{"1a", "Shop", "a-b", `a"b`, "a.b", strings.Repeat("x", 47), "é"} {
		_, err := messagingriver.NewPostgres(pool, client, messagingriver.Options{Schema: schema})
		require.ErrorContains(t, err, "Options.Schema must be", schema)
	}
}

// nothing are the arguments of a job of another program.
type nothing struct{}

func (nothing) Kind() string { return "nothing" }

// A River client of the program, with River's defaults and on the same database, neither works nor rescues nor deletes the outbox's jobs.
func TestForeignRiverClientTouchesNothing(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	service := messagingtest.NewServer(t)
	pool := openPostgres(t)
	r := rigOn(t, pool, "outbox_"+pool.Config().ConnConfig.RuntimeParams["search_path"][:10], newClient(t, service), messagingriver.Options{})
	r.insert(t, messagingriver.InsertOptions{}, text("waits"), text("done"), text("dead"))
	r.exec(t, "UPDATE JOBS SET state = 'completed', finalized_at = now() - interval '25 hours' WHERE args->>'reference' = 'done'")
	r.exec(t, "UPDATE JOBS SET state = 'running', attempt = 1, attempted_at = now() - interval '2 hours' WHERE args->>'reference' = 'dead'")

	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	workers := river.NewWorkers()
	worked := make(chan struct{}, 10)
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[nothing]) error {
		worked <- struct{}{}
		return nil
	}))
	queues := map[string]river.QueueConfig{"default": {MaxWorkers: 1}, "messaging_sms": {MaxWorkers: 1}}
	foreign, err := river.NewClient(driver, &river.Config{Workers: workers, Queues: queues, TestOnly: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	require.NoError(t, foreign.Start(context.WithoutCancel(t.Context())))
	defer func() { require.NoError(t, foreign.Stop(context.WithoutCancel(t.Context()))) }()
	_, err = foreign.Insert(t.Context(), nothing{}, nil)
	require.NoError(t, err)
	<-worked
	time.Sleep(3 * time.Second)
	require.Equal(t, available, show(t, r, "waits").State)
	require.Equal(t, completed, show(t, r, "done").State)
	require.Equal(t, running, show(t, r, "dead").State)
}

// A handler with a transaction of database/sql enqueues in it, at more calls at once than the pool has connections.
func TestPostgresSQLTakesTransactionsOfDatabaseSQL(t *testing.T) {
	t.Parallel()
	needsPostgres(t)
	service := messagingtest.NewServer(t)
	pool, schema := postgresPool(t, 4)
	o, err := messagingriver.NewPostgresSQL(pool, newClient(t, service), messagingriver.Options{Schema: schema})
	require.NoError(t, err)
	require.NoError(t, o.Migrate(t.Context()))
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	insert := func(reference string, commit bool) error {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // nothing after the commit
		if _, err := tx.ExecContext(t.Context(), "SELECT pg_sleep(0.05)"); err != nil {
			return err
		}
		added, err := o.InsertMany(t.Context(), tx, []messaging.Message{text(reference)}, messagingriver.InsertOptions{Campaign: "spring"})
		if err != nil {
			return err
		}
		if added != 1 {
			return fmt.Errorf("%d are new", added)
		}
		if _, err := o.GetTx(t.Context(), tx, reference); err != nil {
			return err
		}
		if !commit {
			return nil
		}
		return tx.Commit()
	}
	var calls sync.WaitGroup
	for i := range 40 {
		calls.Go(func() {
			if err := insert(fmt.Sprint("reply-", i), true); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	require.NoError(t, insert("rolled-back", false))
	require.NoError(t, o.Start(t.Context()))
	defer func() { require.NoError(t, o.Stop(context.WithoutCancel(t.Context()))) }()
	require.Eventually(t, func() bool { return len(service.Sent()) == 40 }, patience, 20*time.Millisecond)
	time.Sleep(300 * time.Millisecond)
	require.NotContains(t, sentOf(service), "rolled-back")
}

func TestInsertIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		switch r := r.(type) {
		case rigOf[pgx.Tx]:
			insertAndRollBack(t, r)
		case rigOf[*sql.Tx]:
			insertAndRollBack(t, r)
		}
		r.start(t)
		time.Sleep(500 * time.Millisecond)
		require.Empty(t, service.Sent())
		require.Zero(t, r.number(t, "SELECT COUNT(*) FROM JOBS"))
	})
}

func insertAndRollBack[TTx any](t testing.TB, r rigOf[TTx]) {
	t.Helper()
	tx, _, rollBack, err := r.begin(t.Context())
	require.NoError(t, err)
	isNew, err := r.Insert(t.Context(), tx, text("a"))
	require.NoError(t, err)
	require.True(t, isNew)
	require.NoError(t, rollBack())
	var none TTx
	_, err = r.Insert(t.Context(), none, text("a"))
	require.ErrorContains(t, err, "the transaction is nil")
}

func TestInsertOptionsAreChecked(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t test) {
		service := messagingtest.NewServer(t)
		r := t.newRig(t, newClient(t, service), messagingriver.Options{})
		for want, options := range map[string]messagingriver.InsertOptions{
			"InsertOptions.Priority must be 1 to 4, got 5":     {Priority: 5},
			"InsertOptions.Expire must not be negative":        {Expire: -1},
			"InsertOptions.MaxAttempts must be 0 to 1000":      {MaxAttempts: 1001},
			"InsertOptions.Campaign must be at most 255 bytes": {Campaign: "a\x00"},
		} {
			_, err := r.tryInsert(t.Context(), options, text("a"))
			require.ErrorContains(t, err, want)
		}
	})
}

// Alive returns at once, even while Start waits for the database.
func TestAliveDoesNotWaitForStart(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	db := openPoolOfOne(t)
	r := rigOnSQLite(t, db, newClient(t, service), messagingriver.Options{})
	only, err := db.Conn(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	started := make(chan error, 1)
	go func() { started <- r.Start(ctx) }()
	time.Sleep(500 * time.Millisecond)
	began := time.Now()
	require.False(t, r.Alive())
	require.Less(t, time.Since(began), time.Second)
	require.Error(t, <-started)
	require.NoError(t, only.Close())
}

// Stop returns when its context ends, even while Start waits for the database.
func TestStopDoesNotWaitForStart(t *testing.T) {
	t.Parallel()
	service := messagingtest.NewServer(t)
	db := openPoolOfOne(t)
	r := rigOnSQLite(t, db, newClient(t, service), messagingriver.Options{})
	only, err := db.Conn(t.Context())
	require.NoError(t, err)
	starting, cancelStart := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancelStart()
	started := make(chan error, 1)
	go func() { started <- r.Start(starting) }()
	time.Sleep(500 * time.Millisecond)
	require.ErrorContains(t, r.Start(t.Context()), "started already")

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	require.ErrorIs(t, r.Stop(ctx), context.DeadlineExceeded)
	require.Less(t, time.Since(began), time.Second)
	require.Error(t, <-started)
	require.NoError(t, only.Close())
	require.NoError(t, r.Stop(t.Context()), "the failed Start left nothing to stop")
	r.start(t)
	require.True(t, r.Alive())
}
