package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/rivertype"
	_ "modernc.org/sqlite" // the driver "sqlite"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// database is an outbox in one of the two databases.
type database interface {
	channelPauser

	Migrate(ctx context.Context) error
	Status(ctx context.Context) ([]messagingriver.ChannelStatus, error)
	PausedChannels(ctx context.Context) ([]messagingriver.ChannelStatus, error)
	Campaigns(ctx context.Context, names ...string) ([]messagingriver.Campaign, error)
	PauseCampaign(ctx context.Context, name string) (int, error)
	ResumeCampaign(ctx context.Context, name string) (int, error)
	CancelCampaign(ctx context.Context, name string) (int, error)
	List(ctx context.Context, states ...rivertype.JobState) iter.Seq2[messagingriver.Record, error]
	Get(ctx context.Context, reference string) ([]messagingriver.Record, error)
	Resolve(ctx context.Context, decision messagingriver.Decision, keys ...messagingriver.Key) (int, error)
	Decode(channel string, message []byte) (messaging.Message, error)

	// insert enqueues messages in a transaction of their own, and returns those that the outbox had before.
	insert(ctx context.Context, entries []entry) (known map[messagingriver.Key]messagingriver.Record, err error)
	// usesPostgres reports whether the database is PostgreSQL, and not SQLite.
	usesPostgres() bool
	// query runs a statement, in which JOBS and LEADERS are River's tables and $1 is the first parameter.
	query(ctx context.Context, statement string, parameters ...any) (*sql.Rows, error)
	close()
}

// outbox is a database whose transactions are of type TTx.
type outbox[TTx any] struct {
	*messagingriver.Outbox[TTx]

	schema string // of River's tables on PostgreSQL, with a dot after it, otherwise empty
	db     *sql.DB
	// inTx runs a function in a transaction, and commits it unless the function fails.
	inTx    func(ctx context.Context, run func(tx TTx) error) error
	closeDB func()
}

// open opens the outbox at a URL: postgres://… or the path of an SQLite file, which is created if it may be.
func open(ctx context.Context, url string, create bool, client *messaging.Client, options messagingriver.Options) (database, error) {
	switch {
	case url == "":
		return nil, errors.New("DATABASE_URL is empty; want postgres://… or the path of an SQLite file")
	case isPostgres(url):
		return openPostgres(ctx, url, client, options)
	case strings.Contains(url, "://"):
		return nil, errors.New("DATABASE_URL names a database of another kind; want postgres://… or the path of an SQLite file")
	default:
		return openSQLite(url, create, client, options)
	}
}

// isPostgres reports whether a URL is of a PostgreSQL database.
func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// openPostgres opens an outbox in PostgreSQL.
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
	river, err := messagingriver.NewPostgres(pool, client, options)
	if err != nil {
		pool.Close()
		return nil, err
	}
	db := stdlib.OpenDBFromPool(pool)
	return outbox[pgx.Tx]{
		Outbox: river,
		schema: cmp.Or(options.Schema, "messaging") + ".",
		db:     db,
		inTx: func(ctx context.Context, run func(pgx.Tx) error) error {
			return pgx.BeginFunc(ctx, pool, run)
		},
		closeDB: func() {
			_ = db.Close()
			pool.Close()
		},
	}, nil
}

// isPooled reports whether the connection goes through a pooler such as pgbouncer, whose process ID is not the server's.
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

// openSQLite opens an outbox in an SQLite file.
func openSQLite(path string, create bool, client *messaging.Client, options messagingriver.Options) (database, error) {
	if strings.Contains(path, "?") || strings.HasPrefix(path, "file:") || path == ":memory:" {
		return nil, fmt.Errorf("DATABASE_URL is %q; want the path of an SQLite file, without file: or options", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return nil, fmt.Errorf("DATABASE_URL: %w; create the folder first", err)
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
	river, err := messagingriver.NewSQLite(db, client, options)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return outbox[*sql.Tx]{
		Outbox: river,
		db:     db,
		inTx: func(ctx context.Context, run func(*sql.Tx) error) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			defer tx.Rollback() //nolint:errcheck // nothing after the commit
			if err := run(tx); err != nil {
				return err
			}
			return tx.Commit()
		},
		closeDB: func() { _ = db.Close() },
	}, nil
}

func (o outbox[TTx]) insert(ctx context.Context, entries []entry) (map[messagingriver.Key]messagingriver.Record, error) {
	byOptions := map[messagingriver.InsertOptions][]messaging.Message{}
	var order []messagingriver.InsertOptions // as in the file, so that two loads of it cannot deadlock
	for _, e := range entries {
		if byOptions[e.options] == nil {
			order = append(order, e.options)
		}
		byOptions[e.options] = append(byOptions[e.options], e.message)
	}
	known := map[messagingriver.Key]messagingriver.Record{}
	err := o.inTx(ctx, func(tx TTx) error {
		for _, options := range order {
			records, err := o.InsertManyReturningKnown(ctx, tx, byOptions[options], options)
			if err != nil {
				return err
			}
			for _, record := range records {
				known[record.Key] = record
			}
		}
		return nil
	})
	return known, err
}

func (o outbox[TTx]) usesPostgres() bool { return o.schema != "" }

func (o outbox[TTx]) query(ctx context.Context, statement string, parameters ...any) (*sql.Rows, error) {
	tables := strings.NewReplacer("JOBS", o.schema+"river_job", "LEADERS", o.schema+"river_leader")
	return o.db.QueryContext(ctx, tables.Replace(statement), parameters...)
}

// queryTexts runs a statement that returns one text in each row.
func queryTexts(ctx context.Context, db database, statement string, parameters ...any) ([]string, error) {
	rows, err := db.query(ctx, statement, parameters...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var texts []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

func (o outbox[TTx]) close() { o.closeDB() }
