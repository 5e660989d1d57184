package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// TestFailover kills a PostgreSQL while two workers send, half a second after its standby has heard from it for the last time, and
// promotes the standby. If the standby confirms commits, nothing is sent twice. Otherwise it has forgotten attempts, and their
// messages are sent again. It runs with -whole, and if there is a PostgreSQL.
func TestFailover(t *testing.T) {
	if programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); !*whole || len(programs) == 0 {
		return
	}
	for _, synchronous := range []bool{true, false} {
		t.Run("synchronous="+strconv.FormatBool(synchronous), func(t *testing.T) {
			const messages = 3000
			primary := newServer(t)
			standby := newStandby(t, primary)
			if synchronous {
				query(t, primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
				query(t, primary, "SELECT pg_reload_conf()")
			}
			service := messagingtest.NewServer(t)
			t.Setenv(serviceEnv, service.URL)
			t.Setenv(tokenEnv, service.Token)
			database := fmt.Sprintf("postgres://outbox@127.0.0.1:%d,127.0.0.1:%d/postgres?sslmode=disable&target_session_attrs=read-write&connect_timeout=5",
				primary.port, standby.port)
			shop, err := connectProcess(t.Context(), database)
			require.NoError(t, err)
			defer shop.close()
			require.NoError(t, migrate(t.Context(), shop))
			require.NoError(t, shop.order(t.Context(), 0, messages))
			var processes []*process
			for range 2 {
				p := &process{environment: []string{databaseEnv + "=" + database}}
				p.start(t)
				processes = append(processes, p)
			}
			require.Eventually(t, func() bool { return service.Requests() > messages/4 }, 2*time.Minute, 10*time.Millisecond)

			query(t, standby, "ALTER SYSTEM SET primary_conninfo = ''")
			query(t, standby, "SELECT pg_reload_conf()")
			require.Eventually(t, func() bool { return query(t, standby, "SELECT COUNT(*) FROM pg_stat_wal_receiver") == "0" },
				time.Minute, 10*time.Millisecond)
			before := service.Requests()
			time.Sleep(500 * time.Millisecond)
			t.Logf("%d requests while the standby heard nothing", service.Requests()-before)
			primary.kill(t)
			standby.run(t, "pg_ctl", "-D", standby.folder+"/data", "-w", "promote")

			progress := new(bytes.Buffer)
			for { // until nothing is left for a person
				require.NoError(t, watch(t.Context(), progress, shop, func() {}), "%s", progress)
				parked, err := shop.parked(t.Context())
				require.NoError(t, err)
				if len(parked) == 0 {
					break
				}
				require.NoError(t, decide(t.Context(), progress, shop, service))
			}
			for _, p := range processes {
				p.signal(t, syscall.SIGTERM)
				p.wait()
			}
			sent, twice := map[string]int{}, 0
			for _, m := range service.Sent() {
				if sent[m.ReferenceID]++; sent[m.ReferenceID] == 2 {
					twice++
				}
			}
			counts, err := shop.counts(t.Context())
			require.NoError(t, err)
			t.Logf("%d messages: %d twice, %d lost", messages, twice, messages-len(sent))
			assert.Equal(t, map[messagingriver.State]int{messagingriver.Accepted: messages}, counts)
			assert.Len(t, sent, messages, "lost")
			if synchronous {
				assert.Zero(t, twice, "sent twice")
			}
		})
	}
}

// newStandby returns a standby to which a server streams.
func newStandby(t *testing.T, primary *server) *server {
	t.Helper()
	folder, err := os.MkdirTemp("", "standby") //nolint:usetesting // the user postgres may not enter one of t.TempDir
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{programs: primary.programs, folder: folder, port: listener.Addr().(*net.TCPAddr).Port}
	require.NoError(t, listener.Close())
	if os.Geteuid() == 0 {
		require.NoError(t, exec.CommandContext(t.Context(), "chown", "postgres", folder).Run())
	}
	s.run(t, "pg_basebackup", "-D", folder+"/data", "-d", primary.url(), "-R", "-c", "fast")
	s.start(t)
	t.Cleanup(func() {
		s.kill(t)
		assert.NoError(t, os.RemoveAll(folder))
	})
	require.Eventually(t, func() bool {
		return query(t, primary, "SELECT COUNT(*) FROM pg_stat_replication WHERE state = 'streaming'") == "1"
	},
		time.Minute, 50*time.Millisecond)
	return s
}

// query runs a statement on one server, and returns the text of its only value, or "".
func query(t *testing.T, s *server, statement string) (value string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	connection, err := pgx.Connect(ctx, s.url())
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
