package messagingriver_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestFailover kills a PostgreSQL while two workers send, half a second after its standby has heard from it for the last time, and
// promotes the standby. If the standby confirms commits, nothing is sent twice. Otherwise it has forgotten marks, and their
// messages are sent again. It runs with -whole, and if there is a PostgreSQL.
func TestFailover(t *testing.T) {
	if !*whole || postgresPrograms() == "" {
		return
	}
	for _, synchronous := range []bool{true, false} {
		t.Run("synchronous="+strconv.FormatBool(synchronous), func(t *testing.T) {
			const messages = 3000
			primary := newPrimary(t)
			standby := newStandby(t, primary)
			if synchronous {
				query(t, primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
				query(t, primary, "SELECT pg_reload_conf()")
			}
			service := messagingtest.NewServer(t)
			database := fmt.Sprintf("postgres://outbox@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write&connect_timeout=5",
				primary.port, standby.port)
			pool, err := pgxpool.New(t.Context(), database)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			options := messagingriver.Options{SendTimeout: time.Second, SettleFor: 5 * time.Second}
			r := rigOn(t, pool, "messaging", newClient(t, service), options)
			r.insert(t, messagingriver.InsertOptions{}, mixed(0, messages)...)
			p := program{
				Database: database, Schema: "messaging", Service: service.URL, Token: service.Token,
				Rate: 100, SendTimeout: options.SendTimeout, SettleFor: options.SettleFor,
			}
			for range 2 {
				p.begin(t)
			}
			require.Eventually(t, func() bool { return service.Requests() > messages/4 }, patience, 10*time.Millisecond)

			query(t, standby, "ALTER SYSTEM SET primary_conninfo = ''")
			query(t, standby, "SELECT pg_reload_conf()")
			require.Eventually(t, func() bool { return query(t, standby, "SELECT COUNT(*) FROM pg_stat_wal_receiver") == "0" },
				time.Minute, 10*time.Millisecond)
			before := service.Requests()
			time.Sleep(500 * time.Millisecond)
			t.Logf("%d requests while the standby heard nothing", service.Requests()-before)
			primary.kill(t)
			standby.run(t, "pg_ctl", "-D", standby.folder+"/data", "-w", "promote")

			run := torment{messages: messages}
			run.drain(t.Context(), t, r)
			sent := sentOf(service)
			for record, err := range r.Discarded(t.Context()) {
				require.NoError(t, err)
				decision := messagingriver.Resend
				if sent[record.Reference] > 0 {
					decision = messagingriver.Sent
				}
				_, err = r.Resolve(t.Context(), decision, record.Key)
				require.NoError(t, err)
			}
			run.drain(t.Context(), t, r)
			sent = sentOf(service)
			t.Logf("%d messages: %d twice, %d lost", messages, twice(sent), messages-len(sent))
			assert.Len(t, sent, messages, "lost")
			if synchronous {
				assert.Zero(t, twice(sent), "sent twice")
			}
		})
	}
}

// newStandby returns a standby to which a server streams.
func newStandby(t *testing.T, primary *postgres) *postgres {
	t.Helper()
	standby := newPostgres(t, func(p *postgres) {
		p.run(t, "pg_basebackup", "-D", p.folder+"/data", "-d", primary.url(), "-R", "-c", "fast")
	})
	require.Eventually(t, func() bool {
		return query(t, primary, "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1"
	}, patience, 50*time.Millisecond)
	return standby
}

// query runs a statement on one server, and returns the text of its only value, or "".
func query(t *testing.T, p *postgres, statement string) (value string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	connection, err := pgx.Connect(ctx, p.url())
	require.NoError(t, err)
	defer func() { assert.NoError(t, connection.Close(ctx)) }()
	rows, err := connection.Query(ctx, statement)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		require.NoError(t, err)
		value = strings.TrimSpace(fmt.Sprint(values[0]))
	}
	require.NoError(t, rows.Err())
	return value
}
