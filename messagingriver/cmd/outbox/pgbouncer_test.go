package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingtest"
)

// behindPgbouncer starts a pgbouncer with the settings that Debian ships, apart from transaction mode and where its files are, in front of
// a database of its own. It returns the URL of the database.
func behindPgbouncer(t *testing.T) string {
	t.Helper()
	config, err := pgx.ParseConfig(os.Getenv("OUTBOX_POSTGRES"))
	require.NoError(t, err)
	direct, err := pgx.ConnectConfig(t.Context(), config)
	require.NoError(t, err)
	defer direct.Close(t.Context())
	name := "t" + strings.ToLower(rand.Text())
	_, err = direct.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	folder, err := os.MkdirTemp("", "pgbouncer") //nolint:usetesting // the user postgres may not enter one of t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(folder)) })
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "userlist.txt"), []byte(`"outbox" "secret"`+"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "pgbouncer.ini"), fmt.Appendf(nil, `[databases]
%s = host=%s port=%d
[pgbouncer]
logfile = %s/log
pidfile = %[4]s/pid
listen_addr = localhost
listen_port = %d
unix_socket_dir = %[4]s
auth_type = md5
auth_file = %[4]s/userlist.txt
pool_mode = transaction
`, name, config.Host, config.Port, folder, port), 0o600))
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "pgbouncer", folder+"/pgbouncer.ini")
	if os.Geteuid() == 0 { // as which it refuses to run
		require.NoError(t, exec.CommandContext(t.Context(), "chown", "-R", "postgres", folder).Run())
		owner, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, err := strconv.Atoi(owner.Uid)
		require.NoError(t, err)
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid)}}
	}
	command.Dir = "/"
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		assert.NoError(t, command.Process.Kill())
		_ = command.Wait()
	})
	url := fmt.Sprintf("postgres://outbox:secret@localhost:%d/%s?sslmode=disable", port, name)
	require.Eventually(t, func() bool {
		connection, err := pgx.Connect(t.Context(), url)
		return err == nil && connection.Close(t.Context()) == nil
	}, 30*time.Second, 50*time.Millisecond, folder)
	return url
}

// TestPgbouncer: each command works behind it by the URL alone, and a program sends behind it with PollOnly.
func TestPgbouncer(t *testing.T) {
	if _, err := exec.LookPath("pgbouncer"); err != nil || os.Getenv("OUTBOX_POSTGRES") == "" {
		t.Skip("there is no pgbouncer or no PostgreSQL: apt-get install pgbouncer, and run this by .ci/with-postgres")
	}
	service := messagingtest.NewServer(t)
	environment := map[string]string{"DATABASE_URL": behindPgbouncer(t), "MESSAGING_BASE_URL": service.URL, "MESSAGING_TOKEN": service.Token}
	s := shell{T: t, environment: environment, service: service, schema: "messaging"}
	t.Setenv("MESSAGING_BASE_URL", service.URL)
	t.Setenv("MESSAGING_TOKEN", service.Token)
	s.run(0, "migrate")
	load := func(campaign string, n int) {
		var lines strings.Builder
		for i := range n {
			fmt.Fprintln(&lines, line(fmt.Sprint(campaign, "-", i)))
		}
		s.run(0, "load", s.file(campaign+".jsonl", lines.String()), "--campaign", campaign)
	}
	load("spring", 100)
	load("summer", 20)
	out, _ := s.run(0, "campaign", "cancel", "summer")
	assert.Equal(t, "cancel: 20\n", out)
	s.work()
	assert.Len(t, service.Sent(), 100)
	out, _ = s.run(0, "status")
	assert.Contains(t, out, "campaign spring: 100 completed\ncampaign summer: 20 cancelled\n")
	s.run(0, "migrate")
}
