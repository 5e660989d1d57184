package messagingriver

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// doubtCase is the metadata of a message, and whether it leaves the message in doubt.
type doubtCase struct {
	name     string
	metadata string
	// inGo is what doubtRules.hasRecordedDoubt says, about a job that a worker may have.
	inGo bool
	// inSQL is what the condition of the statements says, about a job that no worker has.
	inSQL bool
}

// checkDoubt checks both forms of the rules of a database. selectDoubt is a query of the condition over the metadata in its parameter.
func checkDoubt(t *testing.T, db *sql.DB, selectDoubt string, rules doubtRules, cases []doubtCase) {
	t.Helper()
	for _, tt := range cases {
		var m metadata
		require.NoError(t, json.Unmarshal([]byte(tt.metadata), &m), tt.name)
		assert.Equal(t, tt.inGo, rules.hasRecordedDoubt(&m), "Go: %s", tt.name)
		var inSQL sql.NullBool
		require.NoError(t, db.QueryRowContext(t.Context(), selectDoubt, tt.metadata).Scan(&inSQL), tt.name)
		assert.Equal(t, sql.NullBool{Bool: tt.inSQL, Valid: true}, inSQL, "SQL: %s", tt.name)
	}
}

// postgresPool returns a pool of connections to PostgreSQL.
func postgresPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	url := os.Getenv("OUTBOX_POSTGRES")
	if url == "" {
		t.Skip("no PostgreSQL: .ci/with-postgres runs this beside one")
	}
	pool, err := pgxpool.New(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// The statements and the workers agree about doubt, except where the comments of the conditions say why they do not.
func TestDoubtInGoAndOnPostgres(t *testing.T) {
	t.Parallel()
	db := stdlib.OpenDBFromPool(postgresPool(t))
	t.Cleanup(func() { _ = db.Close() })
	selectDoubt := "SELECT " + isRescuedInDoubtOnPostgres + " FROM (SELECT CAST($1 AS JSONB) AS metadata) AS job"
	checkDoubt(t, db, selectDoubt, markRules{}, []doubtCase{
		{"a new message", `{}`, false, false},
		{"rescued without a mark", `{"river:rescue_count": 1}`, false, false},
		{"rescued after a mark", `{"river:rescue_count": 1, "begun": "B"}`, true, true},
		{"rescued after a mark and the outcome of an earlier attempt", `{"river:rescue_count": 1, "begun": "B", "ended": "A"}`, true, true},
		{"rescued after an outcome", `{"river:rescue_count": 1, "begun": "B", "ended": "B"}`, false, false},
		{"rescued after an attempt that made no request", `{"river:rescue_count": 1, "begun": "B", "ended": "A", "unsent": "B"}`, false, false},
		{"rescued after an earlier attempt that made no request", `{"river:rescue_count": 1, "begun": "B", "unsent": "A"}`, true, true},
		{"rescued, with an outcome that another attempt recorded", `{"river:rescue_count": 1, "begun": "B", "verdict": "not sent"}`, true, true},
		{"the counts of SQLite", `{"river:rescue_count": 1, "decided_rescues": 0, "decided_fetches": 3, "in_doubt": true}`, false, false},

		{"a request is under way", `{"begun": "B"}`, true, false},
		{"the outcome is unknown", `{"verdict": "unknown", "begun": "B"}`, true, false},
		{"a lookup ended the doubt about an unknown outcome", `{"verdict": "unknown", "begun": "B", "ended": "B", "river:rescue_count": 1}`, true, false},
	})
}

func TestDoubtInGoAndOnSQLite(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	selectDoubt := "SELECT " + isRescuedInDoubtOnSQLite + " FROM (SELECT jsonb(?1) AS metadata)"
	checkDoubt(t, db, selectDoubt, countRules{}, []doubtCase{
		{"a new message", `{}`, false, false},
		{"rescued", `{"river:rescue_count": 1}`, true, true},
		{"rescued, and decided about", `{"river:rescue_count": 1, "decided_rescues": 1}`, false, false},
		{"rescued once more after a decision", `{"river:rescue_count": 2, "decided_rescues": 1}`, true, true},
		{"rescued more than nine times", `{"river:rescue_count": 10, "decided_rescues": 9}`, true, true},
		{"more decisions than rescues, which no process writes", `{"river:rescue_count": 1, "decided_rescues": 2}`, false, false},
		{"rescued, with an outcome that another attempt recorded", `{"river:rescue_count": 1, "verdict": "not sent"}`, true, true},
		{"a lookup has left the doubt after a rescue", `{"river:rescue_count": 1, "in_doubt": true}`, true, true},
		{"a lookup has ended the doubt", `{"river:rescue_count": 1, "decided_rescues": 1, "in_doubt": false}`, false, false},
		{"the tokens of PostgreSQL", `{"begun": "B"}`, false, false},

		{"the outcome is unknown", `{"verdict": "unknown"}`, true, false},
		{"a lookup has left the doubt after an unknown outcome", `{"verdict": "unknown", "in_doubt": true}`, true, false},
		{"a lookup has left the doubt about a fetch that River forgets", `{"in_doubt": true}`, true, false},
	})
}

// The statements of the maintenance read the few messages that they change, and not each one that waits or was cancelled. Migrate adds the indexes
// to a database of an earlier version.
func TestMaintenanceUsesIndexes(t *testing.T) {
	t.Parallel()
	pool := postgresPool(t)
	schema := "indexes_" + strings.ToLower(rand.Text())
	client, err := messaging.NewClient("http://127.0.0.1:1", messaging.WithToken("token"))
	require.NoError(t, err)
	o, err := NewPostgres(pool, client, Options{Schema: schema})
	require.NoError(t, err)
	require.NoError(t, o.Migrate(t.Context()))
	t.Cleanup(func() { _, _ = pool.Exec(context.WithoutCancel(t.Context()), "DROP SCHEMA "+schema+" CASCADE") })
	qualify := o.database.qualify
	for _, statement := range []string{
		"DROP INDEX " + schema + ".messaging_late",
		qualify(`INSERT INTO river_job (kind, queue, args, max_attempts, state, finalized_at, metadata)
			SELECT 'messaging', 'messaging_sms', '{"message": {}}', 25, 'cancelled', now(), '{"verdict": "refused"}' FROM generate_series(1, 4000)`),
		qualify(`INSERT INTO river_job (kind, queue, args, max_attempts, state, metadata)
			SELECT 'messaging', 'messaging_sms', '{"message": {}}', 25, 'available', '{}' FROM generate_series(1, 4000)`),
		qualify("ANALYZE river_job"),
	} {
		_, err := pool.Exec(t.Context(), statement)
		require.NoError(t, err, statement)
	}
	require.NoError(t, o.Migrate(t.Context()))
	for index, statements := range map[string][]string{
		"river_job_metadata_index": {o.database.statements.moveInDoubt, o.database.statements.reviveCancelled},
		"messaging_late":           {"SELECT * FROM river_job WHERE " + isLate},
	} {
		for _, statement := range statements {
			explained := qualify("EXPLAIN " + strings.ReplaceAll(statement, "$1", "'messaging_lookups'"))
			rows, err := pool.Query(t.Context(), explained)
			require.NoError(t, err)
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			assert.Contains(t, strings.Join(plan, "\n"), index)
		}
	}
}

// The mark of a job is that of one attempt. If another attempt on the job is in the same statement, it has no mark.
func TestStatementWritesOneMarkForAJob(t *testing.T) {
	t.Parallel()
	pool := postgresPool(t)
	schema := "marks_" + strings.ToLower(rand.Text())
	d := newDatabase(nil, riverpgxv5.New(pool).GetExecutor(), true, schema)
	for _, statement := range []string{
		"CREATE SCHEMA " + schema,
		"CREATE TABLE river_job (id BIGINT PRIMARY KEY, state TEXT, attempted_at TIMESTAMPTZ, metadata JSONB, queue TEXT DEFAULT 'messaging_sms')",
		"CREATE TABLE river_queue (name TEXT PRIMARY KEY, paused_at TIMESTAMPTZ)",
		"INSERT INTO river_job VALUES (1, 'running', '2026-05-01T09:00:00Z', '{}'), (2, 'running', '2026-05-01T09:00:00Z', '{}')",
	} {
		require.NoError(t, d.exec(t.Context(), statement))
	}
	t.Cleanup(func() { _, _ = pool.Exec(context.WithoutCancel(t.Context()), "DROP SCHEMA "+schema+" CASCADE") })
	attemptedAt := time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
	marks := []*mark{
		{job: 1, attemptedAt: attemptedAt, token: "A"},
		{job: 1, attemptedAt: attemptedAt, token: "B"},
		{job: 1, attemptedAt: attemptedAt.Add(-time.Minute), token: "C"},
		{job: 2, attemptedAt: attemptedAt, token: "D"},
	}
	require.NoError(t, markRules{db: &d}.write(t.Context(), marks))
	for _, m := range marks {
		var begun string
		require.NoError(t, pool.QueryRow(t.Context(), d.qualify("SELECT metadata->>'begun' FROM river_job WHERE id = $1"), m.job).Scan(&begun))
		assert.Equal(t, begun == m.token, m.isWritten, m.token)
	}
}
