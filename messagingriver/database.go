package messagingriver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/riverqueue/river/riverdriver"
)

// database is where River's tables are.
type database struct {
	riverClient

	executor riverdriver.Executor
	// isPostgres reports whether there are schemas, and marks of attempts.
	isPostgres bool
	// dialect translates a statement. Statements are the same for both databases, except for the words of dialectWords.
	dialect *strings.Replacer
}

func newDatabase(client riverClient, executor riverdriver.Executor, isPostgres bool, schema string) database {
	return database{
		riverClient: client,
		executor:    executor,
		isPostgres:  isPostgres,
		dialect:     newDialect(isPostgres, schema),
	}
}

// newDialect returns what replaces the words in capitals in a statement.
func newDialect(isPostgres bool, schema string) *strings.Replacer {
	var pairs []string
	for _, w := range dialectWords(schema + ".") {
		if isPostgres {
			pairs = append(pairs, w.word, w.postgres)
		} else {
			pairs = append(pairs, w.word, w.sqlite)
		}
	}
	return strings.NewReplacer(pairs...)
}

// dialectWord is a word in capitals with its meaning in each database.
type dialectWord struct{ word, postgres, sqlite string }

// dialectWords returns the words, for a schema on PostgreSQL. If one begins like another, the longer one comes first.
func dialectWords(schema string) []dialectWord {
	return []dialectWord{
		// River's tables, and the type of a job's state.
		{"JOBS", schema + "river_job", "river_job"},
		{"QUEUES", schema + "river_queue", "river_queue"},
		{"JOB_STATE", schema + "river_job_state", "TEXT"},

		// The time as text, and the time of a queue's pause in the same form.
		{"NOW_TEXT", "CAST(EXTRACT(EPOCH FROM now()) AS TEXT)", sqliteNow},
		{"PAUSED_TEXT", "CAST(EXTRACT(EPOCH FROM paused_at) AS TEXT)", "paused_at"},
		// The time as River stores it, and in seconds since 1970.
		{"NOW", "now()", sqliteNow},
		{"CLOCK", "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS FLOAT8)", "unixepoch('subsec')"},
		// The time after the interval $3, such as '+10 seconds', and how many seconds ago a time was.
		{"LATER", "now() + CAST(CAST($3 AS TEXT) AS INTERVAL)", "strftime('%Y-%m-%d %H:%M:%f', 'now', ?3)"},
		{"AGE(", "EXTRACT(EPOCH FROM now() - ", "unixepoch('subsec') - unixepoch("},

		// The metadata with the members of an object, without its member "pause", and with $2 and $3 as members of that.
		{"MERGE(", "(metadata || ", "jsonb_patch(metadata, "},
		{"WITHOUT_PAUSE", "metadata - 'pause'", "jsonb_remove(metadata, '$.pause')"},
		{
			"WITH_PROBES", "jsonb_set(jsonb_set(metadata, '{pause,probes}', to_jsonb(CAST($2 AS INTEGER))), '{pause,next}', to_jsonb(CAST($3 AS TEXT)))",
			"jsonb_set(metadata, '$.pause.probes', ?2, '$.pause.next', ?3)",
		},
		// Like MERGE, for a job that a person may have cancelled in River: without this member, River would cancel the job again.
		{
			"MERGE_AFTER_CANCEL(", "((metadata - 'cancel_attempted_at') || ",
			"jsonb_patch(jsonb_remove(metadata, '$.cancel_attempted_at'), ",
		},
		// Whether a message has expired, which is a time in RFC 3339.
		{"HAS_EXPIRED", "CAST(metadata->>'expires' AS TIMESTAMPTZ) <= now()", "julianday(metadata->>'expires') <= julianday('now')"},
		// The arguments of a job without its message.
		{"WITHOUT_MESSAGE", "args - 'message'", "jsonb_remove(args, '$.message')"},
		// A JSON object, and a JSON array of the rows of a group.
		{"OBJECT(", "jsonb_build_object(", "json_object("},
		{"LIST(", "jsonb_agg(", "json_group_array("},

		// Conditions: the message of channel $1 with reference $2, the messages with a reference, the messages of campaign $1.
		{
			"IS_MESSAGE", "args @> jsonb_build_object('channel', CAST($1 AS TEXT), 'reference', CAST($2 AS TEXT))",
			"args->>'channel' = ?1 AND args->>'reference' = ?2",
		},
		{"IS_REFERENCE", "args @> jsonb_build_object('reference', CAST(@reference AS TEXT))", "args->>'reference' = @reference"},
		{"IN_CAMPAIGN", "metadata @> jsonb_build_object('campaign', CAST($1 AS TEXT))", "metadata->>'campaign' = ?1"},

		// How often a job was fetched, up to 100.
		{"FETCHES", "COALESCE(array_length(attempted_by, 1), 0)", "json_array_length(COALESCE(attempted_by, '[]'))"},
		// Skips rows that other transactions have locked.
		{"SKIP_LOCKED", "FOR UPDATE SKIP LOCKED", ""},
		// The sign of a parameter.
		{"$", "$", "?"},
	}
}

// sqliteNow is the time as River stores it on SQLite.
const sqliteNow = "strftime('%Y-%m-%d %H:%M:%f', 'now')"

// checkSQLite returns an error if connections of a pool could fail while others write. Package sqlstore makes the same check.
func checkSQLite(db *sql.DB) error {
	if db.Stats().MaxOpenConnections == 1 {
		return nil
	}
	var mode string
	var wait int
	modeErr := db.QueryRow("PRAGMA journal_mode").Scan(&mode) //nolint:noctx // a local file
	waitErr := db.QueryRow("PRAGMA busy_timeout").Scan(&wait) //nolint:noctx // a local file
	if err := errors.Join(modeErr, waitErr); err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	if !strings.EqualFold(mode, "wal") || wait <= 0 {
		return fmt.Errorf("messagingriver: SQLite with several connections needs journal_mode(wal) and a busy_timeout, "+
			"but has %s and %d ms; set them in the name of the data source, or call db.SetMaxOpenConns(1)", mode, wait)
	}
	return nil
}

// statementTimeout bounds a statement of the outbox.
const statementTimeout = 10 * time.Second

// exec runs a statement.
func (d *database) exec(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	return d.explain(d.executor.Exec(ctx, d.dialect.Replace(statement), args...))
}

// inTx runs a function in a transaction, even after the end of ctx, and commits it unless the function fails. It returns the function's error
// as it is.
func (d *database) inTx(ctx context.Context, run func(ctx context.Context, tx riverdriver.ExecutorTx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	tx, err := d.executor.Begin(ctx)
	if err != nil {
		return d.explain(err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // nothing after the commit
	if err := run(ctx, tx); err != nil {
		return err
	}
	return d.explain(tx.Commit(ctx))
}

// scan runs a statement that returns one row or none, on the pool or in a transaction, and reports whether there is a row.
func (d *database) scan(ctx context.Context, on riverdriver.Executor, targets []any, statement string, args ...any) (bool, error) {
	err := on.QueryRow(ctx, d.dialect.Replace(statement), args...).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, d.explain(err)
}

// changeOne runs a statement that changes one row or none, on the pool or in a transaction, and reports whether it changed one.
func (d *database) changeOne(ctx context.Context, on riverdriver.Executor, statement string, args ...any) (bool, error) {
	var one int
	return d.scan(ctx, on, []any{&one}, statement+" RETURNING 1", args...)
}

// explain adds a hint to an error about missing tables.
func (d *database) explain(err error) error {
	if err == nil {
		return nil
	}
	const undefinedTable, undefinedSchema = "42P01", "3F000"
	code := ""
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		code = refusal.Code
	}
	if code == undefinedTable || code == undefinedSchema || strings.Contains(err.Error(), "no such table") {
		return fmt.Errorf("messagingriver: the database has no outbox yet: run Migrate: %w", err)
	}
	return fmt.Errorf("messagingriver: %w", err)
}
