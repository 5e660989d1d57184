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

// database is where River's tables are. Statements are the same for both databases but for the words in capitals, which spell replaces:
//
//	JOBS, QUEUES         River's tables
//	JOB_STATE            the type of a job's state
//	NOW, CLOCK           the time, as River stores it, and in seconds since 1970
//	LATER                the time after the interval $3, such as '+10 seconds'
//	NOW_TEXT             the time as text; PAUSED_TEXT is the time of a queue's pause in the same form
//	SKIP_LOCKED          passes over rows that other transactions hold
//	MERGE(object)        the metadata with an object's members
//	WITHOUT_PAUSE        the metadata without the member "pause"; WITH_PROBES has $2 as its member "probes"
//	OBJECT(…), LIST(x)   a JSON object, and a JSON array of the rows of a group
//	WITHOUT_MESSAGE      the arguments of a job without its message
//	IS_MESSAGE           whether a job is that of the message of channel $1 with reference $2
//	IS_REFERENCE         whether a job is that of a message with the reference @reference
//	IN_CAMPAIGN          whether a job is one of the campaign $1
//	FETCHES              how often a job was fetched, up to 100
//	AGE(time)            how many seconds ago a time was
type database struct {
	riverClient

	executor riverdriver.Executor
	// isPostgres reports whether there are schemas, and marks of attempts.
	isPostgres bool
	spell      *strings.Replacer
}

func databaseOf(client riverClient, executor riverdriver.Executor, isPostgres bool, schema string) database {
	spell := sqliteWords()
	if isPostgres {
		spell = postgresWords(schema)
	}
	return database{riverClient: client, executor: executor, isPostgres: isPostgres, spell: spell}
}

func postgresWords(schema string) *strings.Replacer {
	return strings.NewReplacer(
		"JOB_STATE", schema+".river_job_state", "JOBS", schema+".river_job", "QUEUES", schema+".river_queue",
		"NOW_TEXT", "CAST(EXTRACT(EPOCH FROM now()) AS TEXT)", "PAUSED_TEXT", "CAST(EXTRACT(EPOCH FROM paused_at) AS TEXT)",
		"NOW", "now()", "CLOCK", "CAST(EXTRACT(EPOCH FROM clock_timestamp()) AS FLOAT8)",
		"LATER", "now() + CAST(CAST($3 AS TEXT) AS INTERVAL)", "AGE(", "EXTRACT(EPOCH FROM now() - ",
		"SKIP_LOCKED", "FOR UPDATE SKIP LOCKED", "FETCHES", "COALESCE(array_length(attempted_by, 1), 0)",
		"MERGE(", "(metadata || ", "WITHOUT_PAUSE", "metadata - 'pause'",
		"WITH_PROBES", "jsonb_set(metadata, '{pause,probes}', to_jsonb(CAST($2 AS INTEGER)))", "WITHOUT_MESSAGE", "args - 'message'",
		"OBJECT(", "jsonb_build_object(", "LIST(", "jsonb_agg(",
		"IS_MESSAGE", "args @> jsonb_build_object('channel', CAST($1 AS TEXT), 'reference', CAST($2 AS TEXT))",
		"IS_REFERENCE", "args @> jsonb_build_object('reference', CAST(@reference AS TEXT))",
		"IN_CAMPAIGN", "metadata @> jsonb_build_object('campaign', CAST($1 AS TEXT))",
	)
}

func sqliteWords() *strings.Replacer {
	const now = "strftime('%Y-%m-%d %H:%M:%f', 'now')"
	return strings.NewReplacer(
		"JOB_STATE", "TEXT", "JOBS", "river_job", "QUEUES", "river_queue",
		"NOW_TEXT", now, "PAUSED_TEXT", "paused_at", "NOW", now, "CLOCK", "unixepoch('subsec')",
		"LATER", "strftime('%Y-%m-%d %H:%M:%f', 'now', ?3)", "AGE(", "unixepoch('subsec') - unixepoch(",
		"SKIP_LOCKED", "", "FETCHES", "json_array_length(COALESCE(attempted_by, '[]'))",
		"MERGE(", "jsonb_patch(metadata, ", "WITHOUT_PAUSE", "jsonb_remove(metadata, '$.pause')",
		"WITH_PROBES", "jsonb_set(metadata, '$.pause.probes', ?2)",
		"WITHOUT_MESSAGE", "jsonb_remove(args, '$.message')", "OBJECT(", "json_object(", "LIST(", "json_group_array(",
		"IS_MESSAGE", "args->>'channel' = ?1 AND args->>'reference' = ?2", "IS_REFERENCE", "args->>'reference' = @reference",
		"IN_CAMPAIGN", "metadata->>'campaign' = ?1", "$", "?",
	)
}

// checkSQLite returns an error if connections of a pool could fail because others write, as package sqlstore does.
func checkSQLite(db *sql.DB) error {
	if db.Stats().MaxOpenConnections == 1 {
		return nil
	}
	var mode string
	var wait int
	err := errors.Join(db.QueryRow("PRAGMA journal_mode").Scan(&mode), db.QueryRow("PRAGMA busy_timeout").Scan(&wait)) //nolint:noctx // local
	if err != nil {
		return fmt.Errorf("messagingriver: %w", err)
	}
	if !strings.EqualFold(mode, "wal") || wait <= 0 {
		return fmt.Errorf("messagingriver: SQLite with several connections needs journal_mode(wal) and a busy_timeout, "+
			"but has %s and %d ms; set them in the name of the data source, or call db.SetMaxOpenConns(1)", mode, wait)
	}
	return nil
}

// statementTimeout bounds a statement of the outbox's own.
const statementTimeout = 10 * time.Second

// exec runs a statement, also if ctx has ended.
func (d *database) exec(ctx context.Context, statement string, args ...any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	return d.explain(d.executor.Exec(ctx, d.spell.Replace(statement), args...))
}

// inTx runs a function in a transaction, also if ctx has ended, and commits it unless the function fails.
func (d *database) inTx(ctx context.Context, run func(ctx context.Context, tx riverdriver.ExecutorTx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	tx, err := d.executor.Begin(ctx)
	if err != nil {
		return d.explain(err)
	}
	defer tx.Rollback(ctx) //nolint:errcheck // nothing after the commit
	if err := run(ctx, tx); err != nil {
		return d.explain(err)
	}
	return d.explain(tx.Commit(ctx))
}

// scan runs a statement of the pool or of a transaction that returns one row, and reports whether there is one.
func (d *database) scan(ctx context.Context, on riverdriver.Executor, targets []any, statement string, args ...any) (bool, error) {
	err := on.QueryRow(ctx, d.spell.Replace(statement), args...).Scan(targets...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, d.explain(err)
}

// explain adds to an error that tables are missing what to do about it.
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
