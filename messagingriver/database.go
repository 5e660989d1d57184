package messagingriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// database is one of the two databases. Its statements are the same in both but for the words in capitals that spell replaces: $1
// is often a JSON array, whose elements are the ROWS r(value). Where they are joined to the outbox, "state || ”" keeps SQLite
// from beginning with the index of states. Times are milliseconds since 1970, which both databases compare alike.
type database[TTx any] struct {
	driver riverdriver.Driver[TTx]
	spell  *strings.Replacer
	// query runs a statement on the pool, and queryIn in the caller's transaction.
	query   func(ctx context.Context, statement string, args ...any) (rows, error)
	queryIn func(ctx context.Context, tx TTx, statement string, args ...any) (rows, error)
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
			"ROWS", "json_array_elements(CAST($1 AS json)) AS r(value)", "UNLOCKED", "FOR UPDATE SKIP LOCKED", "WITHOUT ROWID", ""),
		query: func(ctx context.Context, statement string, args ...any) (rows, error) {
			return pool.Query(ctx, statement, args...)
		},
		queryIn: func(ctx context.Context, tx pgx.Tx, statement string, args ...any) (rows, error) {
			return tx.Query(ctx, statement, args...)
		},
	}
}

func sqlite(db *sql.DB) database[*sql.Tx] {
	return database[*sql.Tx]{
		driver: riversqlite.New(db),
		spell:  strings.NewReplacer("ROWS", "json_each(?1) AS r", "UNLOCKED", "", "$", "?"),
		query: func(ctx context.Context, statement string, args ...any) (rows, error) {
			return db.QueryContext(ctx, statement, args...) //nolint:rowserrcheck,sqlclosecheck // collect does both
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
	return d.driver.GetExecutor().Exec(ctx, d.spell.Replace(statement), args...)
}

// keys runs a statement on the pool that returns keys.
func (d database[TTx]) keys(ctx context.Context, statement string, args ...any) ([]Key, error) {
	found, err := d.query(ctx, d.spell.Replace(statement), args...)
	return collect(found, err, keyColumns)
}

func keyColumns(key *Key) []any { return []any{&key.Channel, &key.Reference} }

// attempts runs an update on the pool, and returns the attempts of the rows.
func (d database[TTx]) attempts(ctx context.Context, update string, args ...any) ([]attempt, error) {
	found, err := d.query(ctx, d.spell.Replace(update+" RETURNING channel, reference, attempt, message, began_at"), args...)
	return collect(found, err, func(a *attempt) []any { return []any{&a.Channel, &a.Reference, &a.number, &a.stored, &a.began} })
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

// Migrate creates or updates River's tables and the outbox's. Call it in one process at a time.
func (o *Outbox[TTx]) Migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(o.database.driver, nil)
	if err != nil {
		return err
	}
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return o.database.exec(ctx, schema)
}

// schema creates what is missing. A later version appends statements that can be repeated, as these can.
const schema = `
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
		PRIMARY KEY (channel, reference)
	) WITHOUT ROWID;
	CREATE INDEX IF NOT EXISTS messaging_outbox_due ON messaging_outbox (state, due_at);
	CREATE TABLE IF NOT EXISTS messaging_pause (queue TEXT PRIMARY KEY, problem TEXT NOT NULL, probe_at BIGINT NOT NULL)`

// dueIn is the condition that a row is due at $1 in one of some states. It holds for the first of them, so that a statement is
// short, and on PostgreSQL for none that another process works on.
func dueIn(states string) string {
	return `due_at <= $1 AND (channel, reference) IN (SELECT channel, reference FROM messaging_outbox
		WHERE state IN (` + states + `) AND due_at <= $1 ORDER BY due_at LIMIT 1000 UNLOCKED)`
}
