package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
)

var manyRows = flag.Int("rows", 40_000, "rows of TestManyRows; 20 million need 15 GB of disk and some ten minutes")

// manySQL fills the table. Of a hundred rows one waits, a tenth of these in the campaign spring and the others in autumn; one waits for
// tomorrow, in summer; one is older than Options.Keep. The others are final, a tenth of them in winter.
const manySQL = `
	INSERT INTO messaging_outbox (channel, reference, state, attempt, message, receipt, problem, history, created_at, began_at, due_at,
		not_before, priority, max_attempts, campaign, worker)
	SELECT 'sms', reference, state, 1, CASE WHEN state = 'waiting' THEN '{"from":"ACME","to":"+639171234567","text":"Hi"}' END,
		CASE WHEN state = 'accepted' THEN '{"id":"' || md5(reference) || '","parts":1}' END, '',
		CASE WHEN state = 'waiting' THEN '' ELSE ',{"began":1790000000000,"ended":1790000000123,"verdict":"accepted","problem":""}' END,
		at, CASE WHEN state <> 'waiting' THEN at END, CASE WHEN kind = 1 THEN at + 86400000 ELSE at END,
		CASE WHEN kind = 1 THEN at + 86400000 ELSE 0 END, 4, 25,
		CASE WHEN kind = 0 AND i % 10 = 0 THEN 'spring' WHEN kind = 0 THEN 'autumn' WHEN kind = 1 THEN 'summer' WHEN kind < 12 THEN 'winter' END,
		'worker'
	FROM (SELECT i, kind, 'order-' || lpad(CAST(i AS TEXT), 10, '0') AS reference,
			CASE WHEN kind <= 1 THEN 'waiting' WHEN i % 100 = 40 THEN 'refused' WHEN i % 200 = 50 THEN 'dropped'
				WHEN i % 200 = 150 THEN 'expired' WHEN i % 20000 = 60 THEN 'parked' ELSE 'accepted' END AS state,
			clock - CASE kind WHEN 0 THEN 1000 WHEN 1 THEN 1000 WHEN 2 THEN 2700000000 ELSE 25000000 * CAST(kind AS BIGINT) - i % 1000 END AS at
		FROM (SELECT i, i * 100 / ($1 + 1) AS kind, CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT) AS clock
			FROM generate_series(1, CAST($1 AS BIGINT)) AS i) AS numbers) AS kinds`

// TestManyRows: with 20 million rows, an operator's commands end within a second, and an SMS that is listed is settled within ten,
// although 200,000 rows are due to be deleted. With fewer it shows that no statement reads the whole table.
//
//	.ci/with-postgres go -C messagingriver/cmd/outbox test -run ManyRows -v -timeout 1h -rows 20000000
func TestManyRows(t *testing.T) {
	onBoth(t, func(s shell) {
		url := s.environment["DATABASE_URL"]
		if !strings.HasPrefix(url, "postgres") {
			return // as many are nothing for SQLite
		}
		config, err := pgx.ParseConfig(url + "&synchronous_commit=off&maintenance_work_mem=512MB")
		require.NoError(s, err)
		connection, err := pgx.ConnectConfig(s.Context(), config)
		require.NoError(s, err)
		defer func() { assert.NoError(s, connection.Close(context.WithoutCancel(s.Context()))) }()
		exec := func(statement string, args ...any) {
			began := time.Now()
			_, err := connection.Exec(s.Context(), statement, args...)
			require.NoError(s, err)
			s.Logf("%v: %.60s", time.Since(began).Round(time.Millisecond), strings.Join(strings.Fields(statement), " "))
		}
		rows, err := connection.Query(s.Context(), `SELECT indexdef FROM pg_indexes WHERE tablename = 'messaging_outbox'
			AND schemaname = current_schema() AND indexname <> 'messaging_outbox_pkey'`)
		require.NoError(s, err)
		indexes, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(s, err)
		for _, index := range indexes {
			exec("DROP INDEX " + strings.Fields(index)[2])
		}
		exec(manySQL, *manyRows)
		for _, index := range indexes {
			exec(index)
		}
		analyze := func() {
			exec("VACUUM ANALYZE messaging_outbox")
			if *manyRows <= 1_000_000 { // status counts so few
				exec("UPDATE pg_class SET reltuples = reltuples * 1000, relpages = relpages * 1000 WHERE oid = 'messaging_outbox'::regclass")
			}
		}
		analyze()

		before := 0
		scans := func() int { // since the last call
			time.Sleep(1500 * time.Millisecond) // PostgreSQL counts once a second
			last := before
			require.NoError(s, connection.QueryRow(s.Context(),
				"SELECT seq_scan FROM pg_stat_user_tables WHERE relid = 'messaging_outbox'::regclass").Scan(&before))
			return before - last
		}
		took := map[string][]time.Duration{}
		try := func(args ...string) {
			began := time.Now()
			s.run(0, args...)
			name := strings.Join(args, " ")
			took[name] = append(took[name], time.Since(began))
		}
		scans()
		for range 5 {
			try("status")
			try("show", "order-0000012345")
			for _, campaign := range []string{"spring", "autumn"} {
				try("status", "--campaign", campaign)
				try("pause", "--campaign", campaign)
				try("resume", "--campaign", campaign)
			}
			try("status", "--campaign", "winter")
			try("pause", "--campaign", "winter")
			try("resume", "--campaign", "winter")
			analyze() // as autovacuum does
		}
		try("cancel", "--campaign", "spring")
		try("cancel", "--campaign", "autumn")
		assert.Zero(s, scans(), "a command reads the whole table")
		for name, all := range took {
			slices.Sort(all)
			s.Logf("%v: %s (%v to %v)", all[len(all)/2], name, all[0], all[len(all)-1])
			if !strings.HasSuffix(name, "autumn") { // the more messages, the longer they are written, after the campaign has stopped
				assert.Less(s, all[len(all)/2], time.Second, name)
			}
		}
		analyze()

		s.service.Inject(messagingtest.AcceptThenDrop(), 1)
		s.run(0, "load", s.file("a.jsonl", line("a")))
		scans()
		ctx, cancel := context.WithCancel(s.Context())
		ended := make(chan int)
		var said bytes.Buffer
		go func() {
			ended <- run(ctx, []string{"work"}, func(name string) string { return s.environment[name] }, io.Discard, &said)
		}()
		began, state := time.Now(), ""
		for state != "accepted" && time.Since(began) < time.Minute {
			time.Sleep(20 * time.Millisecond)
			require.NoError(s, connection.QueryRow(s.Context(), "SELECT state FROM messaging_outbox WHERE reference = 'a'").Scan(&state))
		}
		s.Logf("%v: settled", time.Since(began))
		assert.Less(s, time.Since(began), 10*time.Second)
		cancel()
		assert.Zero(s, <-ended, "%s", &said)
		assert.Zero(s, scans(), "a worker reads the whole table")
	})
}
