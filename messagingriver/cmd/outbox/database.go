package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// database is an outbox in one of the two databases.
type database interface {
	Migrate(ctx context.Context) error
	Status(ctx context.Context) (messagingriver.Status, error)
	Campaigns(ctx context.Context, names ...string) ([]messagingriver.Campaign, error)
	PauseCampaign(ctx context.Context, name string) (int, error)
	ResumeCampaign(ctx context.Context, name string) (int, error)
	CancelCampaign(ctx context.Context, name string) (int, error)
	Parked(ctx context.Context) iter.Seq2[messagingriver.Record, error]
	Refused(ctx context.Context) iter.Seq2[messagingriver.Record, error]
	Resolve(ctx context.Context, decision messagingriver.Decision, keys ...messagingriver.Key) (int, error)
	Decode(channel string, message []byte) (messaging.Message, error)

	// insert enqueues messages in a transaction of their own.
	insert(ctx context.Context, entries []entry) (added int, err error)
	pool() *sql.DB
	// table returns the name of a table of River.
	table(name string) string
	close()
}

type outbox[TTx any] struct {
	*messagingriver.Outbox[TTx]

	schema string // with a dot, or ""
	begin  func(ctx context.Context) (tx TTx, commit, rollBack func() error, err error)
	db     *sql.DB
	closed func()
}

// open opens the outbox at a URL: postgres://… or the path of an SQLite file, which is created if it may be.
func open(ctx context.Context, url string, create bool, client *messaging.Client, options messagingriver.Options) (database, error) {
	switch {
	case url == "":
		return nil, errors.New("DATABASE_URL is empty; want postgres://… or the path of an SQLite file")
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		return openPostgres(ctx, url, client, options)
	case strings.Contains(url, "://"):
		return nil, errors.New("DATABASE_URL names a database of another kind; want postgres://… or the path of an SQLite file")
	default:
		return openSQLite(url, create, client, options)
	}
}

func openPostgres(ctx context.Context, url string, client *messaging.Client, options messagingriver.Options) (database, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("DATABASE_URL cannot be read as a URL of PostgreSQL") // the error may repeat the password
	}
	if isPooled(ctx, config.ConnConfig) { // statements that were prepared are on another connection
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	of, err := messagingriver.NewPostgres(pool, client, options)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDBFromPool(pool)
	begin := func(ctx context.Context) (pgx.Tx, func() error, func() error, error) {
		tx, err := pool.Begin(ctx)
		return tx, func() error { return tx.Commit(ctx) }, func() error { return tx.Rollback(context.WithoutCancel(ctx)) }, err
	}
	return outbox[pgx.Tx]{of, cmp.Or(options.Schema, "messaging") + ".", begin, db, func() { _ = db.Close(); pool.Close() }}, nil
}

// isPooled reports whether a pooler such as pgbouncer is in between: it names a process other than the server's.
func isPooled(ctx context.Context, config *pgx.ConnConfig) bool {
	connection, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false // the first statement says why
	}
	defer connection.Close(ctx) //nolint:errcheck // it only asked
	var process uint32
	err = connection.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&process)
	return err == nil && process != connection.PgConn().PID()
}

func openSQLite(path string, create bool, client *messaging.Client, options messagingriver.Options) (database, error) {
	if strings.Contains(path, "?") || strings.HasPrefix(path, "file:") || path == ":memory:" {
		return nil, fmt.Errorf("DATABASE_URL is %q; want the path of an SQLite file, without file: or options", path)
	}
	if _, err := os.Stat(path); err != nil && !create {
		return nil, fmt.Errorf("DATABASE_URL: %w; outbox migrate creates a database", err)
	}
	escaped := strings.NewReplacer("%", "%25", "#", "%23").Replace(path)
	db, err := sql.Open("sqlite", "file:"+escaped+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w", err)
	}
	db.SetMaxOpenConns(1)
	of, err := messagingriver.NewSQLite(db, client, options)
	if err != nil {
		return nil, err
	}
	begin := func(ctx context.Context) (*sql.Tx, func() error, func() error, error) {
		tx, err := db.BeginTx(ctx, nil)
		return tx, tx.Commit, tx.Rollback, err
	}
	return outbox[*sql.Tx]{of, "", begin, db, func() { _ = db.Close() }}, nil
}

func (o outbox[TTx]) insert(ctx context.Context, entries []entry) (added int, err error) {
	tx, commit, rollBack, err := o.begin(ctx)
	if err != nil {
		return 0, err
	}
	alike := map[messagingriver.InsertOptions][]messaging.Message{}
	for _, e := range entries {
		alike[e.options] = append(alike[e.options], e.message)
	}
	for options, messages := range alike {
		n, err := o.InsertMany(ctx, tx, messages, options)
		if err != nil {
			return 0, errors.Join(err, rollBack())
		}
		added += n
	}
	return added, commit()
}

func (o outbox[TTx]) table(name string) string { return o.schema + name }

func (o outbox[TTx]) pool() *sql.DB { return o.db }
func (o outbox[TTx]) close()        { o.closed() }
