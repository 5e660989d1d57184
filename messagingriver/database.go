package messagingriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// database is one of the two databases. Its statements are the same in both but for the words in capitals that spell replaces: $1
// is often a JSON array, whose elements are the ROWS r(value). Where they are joined to the outbox, "state || ”" keeps SQLite
// from beginning with the index of states.
//
// CLOCK is the database's own clock, in milliseconds since 1970. No other clock decides anything, so that machines whose clocks
// are wrong agree.
type database[TTx any] struct {
	driver riverdriver.Driver[TTx]
	spell  *strings.Replacer
	// query runs a statement on the pool, and queryIn in the caller's transaction.
	query   func(ctx context.Context, statement string, args ...any) (rows, error)
	queryIn func(ctx context.Context, tx TTx, statement string, args ...any) (rows, error)
	// sequence is a statement that the database needs besides the schema, or "".
	sequence string
}

// rows is an *sql.Rows or pgx.Rows. Both close themselves after the last row.
type rows interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
}

func postgres(pool *pgxpool.Pool) database[pgx.Tx] {
	return database[pgx.Tx]{
		driver: riverpgxv5.New(pool),
		spell: strings.NewReplacer(
			"ROWS", "unnest(ARRAY(SELECT json_array_elements(CAST($1 AS json)))) AS r(value)", "UNLOCKED", "FOR UPDATE SKIP LOCKED", "WITHOUT ROWID", "",
			"CLOCK", "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)", "LATER", "GREATEST", "EARLIER", "LEAST",
			"NEXT", "nextval('messaging_outbox_seq')",
			"MESSAGES", "jsonb_array_elements(COALESCE(j.args->'messages', '[]')) AS r(value)",
			"FINALIZED", "CAST(EXTRACT(EPOCH FROM j.finalized_at) * 1000 AS BIGINT)",
			"ATTEMPTED", "CAST(EXTRACT(EPOCH FROM j.attempted_at) * 1000 AS BIGINT)"),
		query: func(ctx context.Context, statement string, args ...any) (rows, error) {
			return pool.Query(ctx, statement, args...)
		},
		queryIn: func(ctx context.Context, tx pgx.Tx, statement string, args ...any) (rows, error) {
			return tx.Query(ctx, statement, args...)
		},
		sequence: "CREATE SEQUENCE IF NOT EXISTS messaging_outbox_seq",
	}
}

func sqlite(db *sql.DB) database[*sql.Tx] {
	// To prepare a statement takes SQLite longer than to run it.
	var mu sync.Mutex
	prepared := map[string]*sql.Stmt{}
	prepare := func(ctx context.Context, statement string) (*sql.Stmt, error) {
		mu.Lock()
		known := prepared[statement]
		mu.Unlock()
		if known != nil {
			return known, nil
		}
		one, err := db.PrepareContext(ctx, statement) //nolint:sqlclosecheck // it lives as long as db
		if err == nil {
			mu.Lock()
			prepared[statement] = one
			mu.Unlock()
		}
		return one, err
	}
	return database[*sql.Tx]{
		driver: riversqlite.New(db),
		spell: strings.NewReplacer(
			"ROWS", "json_each(?1) AS r", "UNLOCKED", "", "$", "?",
			"CLOCK", "CAST(unixepoch('subsec') * 1000 AS INTEGER)", "LATER", "MAX", "EARLIER", "MIN",
			"NEXT", `(SELECT COALESCE(MAX(o.seq), 0) FROM messaging_outbox o
				WHERE o.channel = r.value->>'channel' AND o.recipient = r.value->>'recipient') + r.key + 1`,
			"MESSAGES", "json_each(j.args, '$.messages') AS r",
			"FINALIZED", "CAST(unixepoch(j.finalized_at, 'subsec') * 1000 AS INTEGER)",
			"ATTEMPTED", "CAST(unixepoch(j.attempted_at, 'subsec') * 1000 AS INTEGER)"),
		query: func(ctx context.Context, statement string, args ...any) (rows, error) {
			prepared, err := prepare(ctx, statement)
			if err != nil {
				return nil, err
			}
			return prepared.QueryContext(ctx, args...) //nolint:rowserrcheck,sqlclosecheck // collect does both
		},
		queryIn: func(ctx context.Context, tx *sql.Tx, statement string, args ...any) (rows, error) {
			return tx.QueryContext(ctx, statement, args...) //nolint:rowserrcheck,sqlclosecheck // collect does both
		},
	}
}

// list is an argument for ROWS.
type list[T any] []T

func (l list[T]) Value() (driver.Value, error) {
	encoded, err := json.Marshal(append([]T{}, l...)) // none is an empty array
	return string(encoded), err
}

// exec runs a statement on the pool.
func (d database[TTx]) exec(ctx context.Context, statement string, args ...any) error {
	_, err := fetch(ctx, d, func(*struct{}) []any { return nil }, statement, args...)
	return err
}

// change runs statements without arguments that create or alter tables.
func (d database[TTx]) change(ctx context.Context, statements string) error {
	return d.driver.GetExecutor().Exec(ctx, d.spell.Replace(statements))
}

// keys runs a statement on the pool that returns keys.
func (d database[TTx]) keys(ctx context.Context, statement string, args ...any) ([]Key, error) {
	return fetch(ctx, d, keyColumns, statement, args...)
}

func keyColumns(key *Key) []any { return []any{&key.Channel, &key.Reference} }

// attempts runs an update on the pool, and returns the attempts of the rows.
func (d database[TTx]) attempts(ctx context.Context, update string, args ...any) ([]attempt, error) {
	return fetch(ctx, d, func(a *attempt) []any {
		return []any{&a.Channel, &a.Reference, &a.number, &a.stored, &a.age, &a.failures, &a.most, &a.recipient}
	}, update+` RETURNING channel, reference, attempt, message, CLOCK - COALESCE(began_at, 0), failures, max_attempts,
		COALESCE(recipient, '')`, args...)
}

// fetch runs a statement on the pool and returns its rows.
func fetch[T, TTx any](ctx context.Context, d database[TTx], columns func(*T) []any, statement string, args ...any) ([]T, error) {
	found, err := d.query(ctx, d.spell.Replace(statement), args...)
	return collect(found, err, columns)
}

// collect reads all rows, to the last also after an error. columns returns where the columns of a row go.
func collect[T any](found rows, err error, columns func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	var all []T
	for found.Next() {
		var one T
		if scanErr := found.Scan(columns(&one)...); err == nil {
			err = scanErr
		}
		all = append(all, one)
	}
	if err = errors.Join(err, found.Err()); err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
	return all, nil
}

// Migrate creates or updates River's tables and the outbox's. Call it in one process at a time, before processes of the new
// version start. Those of the version before can go on working meanwhile.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(o.database.driver, nil)
	if err != nil {
		return err
	}
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	if err = o.database.change(ctx, tables); err != nil {
		return err
	}
	if o.database.sequence != "" {
		err = o.database.change(ctx, o.database.sequence)
	}
	return err
}

const tables = `
	CREATE TABLE IF NOT EXISTS messaging_outbox (
		channel TEXT NOT NULL,
		reference TEXT NOT NULL,
		state TEXT NOT NULL,
		attempt BIGINT NOT NULL,
		message TEXT,
		receipt TEXT,
		problem TEXT NOT NULL,
		created_at BIGINT NOT NULL,
		began_at BIGINT,
		due_at BIGINT,
		not_before BIGINT NOT NULL, -- nothing is sent earlier
		failures BIGINT NOT NULL DEFAULT 0, -- attempts that count toward max_attempts
		priority BIGINT NOT NULL, -- of its jobs
		max_attempts BIGINT NOT NULL,
		recipient TEXT, -- if Options.InOrder
		seq BIGINT,
		decided_at BIGINT NOT NULL DEFAULT 0, -- when a person last decided about it
		PRIMARY KEY (channel, reference)
	) WITHOUT ROWID;
	CREATE TABLE IF NOT EXISTS messaging_pause (queue TEXT PRIMARY KEY, problem TEXT NOT NULL, probe_at BIGINT NOT NULL);
	CREATE TABLE IF NOT EXISTS messaging_breaker (channel TEXT PRIMARY KEY, cause TEXT NOT NULL, seen_at BIGINT NOT NULL);
	CREATE TABLE IF NOT EXISTS messaging_rate (name TEXT PRIMARY KEY, rate DOUBLE PRECISION, next_at DOUBLE PRECISION NOT NULL);
	INSERT INTO messaging_rate (name, rate, next_at) VALUES ('account', NULL, 0) ON CONFLICT DO NOTHING;
	CREATE INDEX IF NOT EXISTS messaging_outbox_due ON messaging_outbox (state, due_at);
	CREATE INDEX IF NOT EXISTS messaging_outbox_order ON messaging_outbox (channel, recipient, seq) WHERE recipient IS NOT NULL`

// dueIn is the condition that a row is due in one of some states. It holds for the first batch of them, so that a statement is
// short, and on PostgreSQL for none that another process works on. Rows of channels that this version does not know are left
// to one that does.
func dueIn(states string) string {
	return `due_at <= CLOCK AND (channel, reference) IN (SELECT channel, reference FROM messaging_outbox
		WHERE state IN (` + states + `) AND due_at <= CLOCK AND channel IN ` + knownChannels() + ` ORDER BY due_at LIMIT $1 UNLOCKED)`
}
