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
	// query runs a statement in a transaction, or if that is nil on the pool.
	query func(ctx context.Context, tx TTx, statement string, args ...any) (rows, error)
	// missing returns a row if the database does not have a part of the schema. An index whose creation was cut off is missing.
	missing string
	// estimate selects how many rows are final, if there are many.
	estimate string
	// patience begins a transaction that waits for no lock for long, and that nothing is compiled for; or it is "".
	patience string
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
			// As a subquery the clock is read once for each statement, so that an index serves a comparison with it.
			"CLOCK", "(SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT))", "LATER", "GREATEST", "EARLIER", "LEAST",
			"NEXT", "nextval('messaging_outbox_seq')"),
		query: func(ctx context.Context, tx pgx.Tx, statement string, args ...any) (rows, error) {
			if tx == nil {
				return pool.Query(ctx, statement, args...)
			}
			return tx.Query(ctx, statement, args...)
		},
		missing: `SELECT '', '' WHERE to_regclass(CAST($1 AS TEXT)) IS NULL
			OR EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(CAST($1 AS TEXT)) AND NOT indisvalid)`,
		estimate: `
			WITH shares AS (SELECT attname, unnest(CAST(CAST(most_common_vals AS TEXT) AS TEXT[])) AS value, unnest(most_common_freqs) AS share
				FROM pg_stats WHERE tablename = 'messaging_outbox' AND attname IN ('channel', 'state')
					AND schemaname = (SELECT nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass('messaging_outbox')))
			SELECT c.value, s.value, CAST(t.reltuples * c.share * s.share AS BIGINT), 0, 0 FROM pg_class t, shares c, shares s
			WHERE t.oid = to_regclass('messaging_outbox') AND t.reltuples > 1000000 AND c.attname = 'channel'
				AND s.attname = 'state' AND s.value IN ('accepted', 'refused', 'expired', 'dropped')`,
		patience: "SET LOCAL lock_timeout = '2s'; SET LOCAL jit = off",
	}
}

func sqlite(db *sql.DB) database[*sql.Tx] {
	var prepared sync.Map // because to prepare a statement takes SQLite longer than to run it
	return database[*sql.Tx]{
		driver: riversqlite.New(db),
		// SQLite has no sequences.
		missing:  "SELECT '', '' WHERE $1 NOT IN (SELECT name FROM sqlite_master UNION SELECT 'messaging_outbox_seq')",
		estimate: "SELECT '', '', 0, 0, 0 WHERE false",
		spell: strings.NewReplacer(
			"ROWS", "json_each(?1) AS r", "UNLOCKED", "", "CONCURRENTLY", "", "$", "?",
			"CLOCK", "CAST(unixepoch('subsec') * 1000 AS INTEGER)", "LATER", "MAX", "EARLIER", "MIN",
			"NEXT", `(SELECT COALESCE(MAX(o.seq), 0) FROM messaging_outbox o
				WHERE o.channel = r.value->>'channel' AND o.recipient = r.value->>'recipient') + r.key + 1`),
		query: func(ctx context.Context, tx *sql.Tx, statement string, args ...any) (rows, error) {
			if tx != nil {
				return tx.QueryContext(ctx, statement, args...) //nolint:rowserrcheck,sqlclosecheck // fetchIn does both
			}
			known, ok := prepared.Load(statement)
			if !ok {
				one, err := db.PrepareContext(ctx, statement) //nolint:sqlclosecheck // it lives as long as db
				if err != nil {
					return nil, err
				}
				known, _ = prepared.LoadOrStore(statement, one)
			}
			return known.(*sql.Stmt).QueryContext(ctx, args...) //nolint:rowserrcheck,sqlclosecheck // fetchIn does both
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

// keys runs a statement on the pool that returns keys.
func (d database[TTx]) keys(ctx context.Context, statement string, args ...any) ([]Key, error) {
	return fetch(ctx, d, keyColumns, statement, args...)
}

func keyColumns(key *Key) []any { return []any{&key.Channel, &key.Reference} }

// attempts runs an update on the pool, and returns the attempts of the rows.
func (d database[TTx]) attempts(ctx context.Context, update string, args ...any) ([]attempt, error) {
	return fetch(ctx, d, func(a *attempt) []any {
		return []any{&a.Channel, &a.Reference, &a.number, &a.stored, &a.age, &a.failures, &a.most, &a.expires}
	}, update+` RETURNING channel, reference, attempt, message, CLOCK - COALESCE(began_at, 0), failures, max_attempts,
		expires_at - CLOCK`, args...)
}

// inBatch is the condition that a row is in the table expression batch, which a statement reads once.
const inBatch = "(channel, reference) IN (SELECT channel, reference FROM batch)"

// fetch runs a statement on the pool and returns its rows.
func fetch[T, TTx any](ctx context.Context, d database[TTx], columns func(*T) []any, statement string, args ...any) ([]T, error) {
	var pool TTx
	return fetchIn(ctx, d, pool, columns, statement, args...)
}

// fetchMany is fetch for a statement that reads many rows. PostgreSQL would compile it, which takes longer than to run it.
func fetchMany[T, TTx any](ctx context.Context, o *Outbox[TTx], columns func(*T) []any, statement string, args ...any) (all []T, err error) {
	if o.database.patience == "" {
		return fetch(ctx, o.database, columns, statement, args...)
	}
	err = o.inTx(ctx, func(tx riverdriver.ExecutorTx) error {
		all, err = fetchIn(ctx, o.database, o.database.driver.UnwrapTx(tx), columns, statement, args...)
		return err
	})
	return all, err
}

// fetchIn is fetch in a transaction. It reads all rows, to the last also after an error. columns returns where the columns of a
// row go.
func fetchIn[T, TTx any](
	ctx context.Context, d database[TTx], tx TTx, columns func(*T) []any, statement string, args ...any,
) (all []T, err error) {
	found, err := d.query(ctx, tx, d.spell.Replace(statement), args...)
	if err != nil {
		return nil, fmt.Errorf("messagingriver: %w", err)
	}
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
