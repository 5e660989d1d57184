package messagingriver

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
)

// database is one of the two databases. Its statements are the same in both but for the words in capitals that are replaced: $1 is
// often a JSON array, whose elements are the ROWS r(value). Where they are joined to the outbox, "state || ”" keeps SQLite from beginning
// with the index of states. Times are milliseconds since 1970, which both databases compare alike.
type database[TTx any] struct {
	driver riverdriver.Driver[TTx]
	// exec and query run a statement on the pool, and queryIn in the caller's transaction.
	exec    func(ctx context.Context, statement string, args ...any) error
	query   func(ctx context.Context, statement string, args ...any) (cursor, error)
	queryIn func(ctx context.Context, tx TTx, statement string, args ...any) (cursor, error)
}

// cursor is an *sql.Rows or pgx.Rows.
type cursor interface {
	Next() bool
	Scan(targets ...any) error
	Err() error
	Close() error
}

type pgxCursor struct{ pgx.Rows }

func (c pgxCursor) Close() error {
	c.Rows.Close()
	return nil
}

func postgres(pool *pgxpool.Pool) database[pgx.Tx] {
	spell := strings.NewReplacer(
		"ROWS", "json_array_elements(CAST($1 AS json)) AS r(value)", "UNLOCKED", "FOR UPDATE SKIP LOCKED", "WITHOUT ROWID", "")
	return database[pgx.Tx]{
		driver: riverpgxv5.New(pool),
		exec: func(ctx context.Context, statement string, args ...any) error {
			_, err := pool.Exec(ctx, spell.Replace(statement), args...)
			return err
		},
		query: func(ctx context.Context, statement string, args ...any) (cursor, error) {
			rows, err := pool.Query(ctx, spell.Replace(statement), args...)
			return pgxCursor{rows}, err
		},
		queryIn: func(ctx context.Context, tx pgx.Tx, statement string, args ...any) (cursor, error) {
			rows, err := tx.Query(ctx, spell.Replace(statement), args...)
			return pgxCursor{rows}, err
		},
	}
}

func sqlite(db *sql.DB) database[*sql.Tx] {
	spell := strings.NewReplacer("ROWS", "json_each(?1) AS r", "UNLOCKED", "", "$", "?")
	return database[*sql.Tx]{
		driver: riversqlite.New(db),
		exec: func(ctx context.Context, statement string, args ...any) error {
			_, err := db.ExecContext(ctx, spell.Replace(statement), args...)
			return err
		},
		query: func(ctx context.Context, statement string, args ...any) (cursor, error) {
			return db.QueryContext(ctx, spell.Replace(statement), args...) //nolint:rowserrcheck,sqlclosecheck // collect does both
		},
		queryIn: func(ctx context.Context, tx *sql.Tx, statement string, args ...any) (cursor, error) {
			return tx.QueryContext(ctx, spell.Replace(statement), args...) //nolint:rowserrcheck,sqlclosecheck // collect does both
		},
	}
}

// collect reads all rows. columns returns where the columns of a row go.
func collect[T any](rows cursor, err error, columns func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []T
	for rows.Next() {
		var one T
		if err := rows.Scan(columns(&one)...); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func keyColumns(key *Key) []any { return []any{&key.Channel, &key.Reference} }

// keys runs a statement on the pool that returns keys.
func (d database[TTx]) keys(ctx context.Context, statement string, args ...any) ([]Key, error) {
	found, err := d.query(ctx, statement, args...)
	return collect(found, err, keyColumns)
}

// migrate creates what is missing of River's tables and of the outbox's. A later version appends statements that can be
// repeated, as these can.
func (d database[TTx]) migrate(ctx context.Context) error {
	migrator, err := rivermigrate.New(d.driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("messagingriver: River's tables: %w", err)
	}
	for _, statement := range [...]string{
		`CREATE TABLE IF NOT EXISTS messaging_outbox (
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
		) WITHOUT ROWID`,
		`CREATE INDEX IF NOT EXISTS messaging_outbox_due ON messaging_outbox (state, due_at)`,
		`CREATE TABLE IF NOT EXISTS messaging_pause (queue TEXT PRIMARY KEY, problem TEXT NOT NULL, probe_at BIGINT NOT NULL)`,
	} {
		if err := d.exec(ctx, statement); err != nil {
			return fmt.Errorf("messagingriver: the outbox's tables: %w", err)
		}
	}
	return nil
}
