package messagingriver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// postgres is a PostgreSQL of a test's own, which it can kill.
type postgres struct {
	programs, folder string
	port             int
	down             bool
}

// postgresPrograms returns the folder of a server's programs, or "" where none is installed.
func postgresPrograms() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// run runs a command of the server's. It refuses to run as root.
func (p *postgres) run(t *testing.T, name string, args ...string) {
	t.Helper()
	path := filepath.Join(p.programs, name)
	if os.Geteuid() == 0 {
		path, args = "runuser", append([]string{"-u", "postgres", "--", path}, args...)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), path, args...)
	command.Dir = "/"
	// Without its output, because a server that keeps running would keep a pipe open.
	assert.NoError(t, command.Run(), "%s; the log is in %s", name, p.folder)
}

// start starts the server, which waits for no disk: a test kills processes, and no machine loses its power.
func (p *postgres) start(t *testing.T) {
	t.Helper()
	p.down = false
	p.run(t, "pg_ctl", "-D", p.folder+"/data", "-l", p.folder+"/log", "-w", "-t", "120", "-o",
		fmt.Sprintf("-h 127.0.0.1 -p %d -k %s -c max_connections=200 -c fsync=off", p.port, p.folder), "start")
}

// kill ends the server as kill -9 of all its processes does: without a checkpoint.
func (p *postgres) kill(t *testing.T) {
	t.Helper()
	if !p.down {
		p.down = true
		p.run(t, "pg_ctl", "-D", p.folder+"/data", "-m", "immediate", "-w", "stop")
	}
}

func (p *postgres) url() string {
	return fmt.Sprintf("postgres://outbox@127.0.0.1:%d/postgres?sslmode=disable", p.port)
}

// newPostgres starts a server in the data that create makes.
func newPostgres(t *testing.T, create func(p *postgres)) *postgres {
	t.Helper()
	folder, err := os.MkdirTemp("", "postgres") //nolint:usetesting // the user postgres may not enter one of t.TempDir
	require.NoError(t, err)
	p := &postgres{programs: postgresPrograms(), folder: folder, port: freePort(t)}
	if os.Geteuid() == 0 {
		require.NoError(t, exec.CommandContext(t.Context(), "chown", "postgres", folder).Run())
	}
	create(p)
	p.start(t)
	t.Cleanup(func() {
		p.kill(t)
		assert.NoError(t, os.RemoveAll(folder))
	})
	return p
}

// newPrimary returns an empty server.
func newPrimary(t *testing.T) *postgres {
	t.Helper()
	return newPostgres(t, func(p *postgres) {
		p.run(t, "initdb", "-D", p.folder+"/data", "-U", "outbox", "-A", "trust", "-E", "UTF8", "--locale=C")
	})
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
