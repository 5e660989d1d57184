package messagingriver_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
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
	// Without its output: a server that goes on would keep a pipe open.
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

// TestCampaign sends a campaign while everything goes wrong at once: workers are killed and frozen, one has a clock that is an hour
// off, the database is killed and away, the service has storms and loses responses, the rate changes, and a person decides.
// It runs if there is a PostgreSQL; .ci/full runs it whole.
func TestCampaign(t *testing.T) {
	if postgresPrograms() == "" {
		return // TestLedgerIsExactAlthoughProcessesAreKilledAndFrozen runs on SQLite
	}
	messages, torment, away, limit, perSecond := 2_000, 12*time.Second, 2*time.Second, 4*time.Minute, 100.0
	if *whole {
		messages, torment, away, limit, perSecond = 100_000, 4*time.Minute, 30*time.Second, 45*time.Minute, 250
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	database := newPrimary(t)
	service := messagingtest.NewServer(t)
	worker := program{Database: database.url(), Service: service.URL, Token: service.Token, PerSecond: perSecond}
	outbox, err := worker.open(ctx)
	require.NoError(t, err)
	t.Cleanup(outbox.close)
	require.NoError(t, outbox.migrate(ctx))
	began := time.Now()
	for first := 0; first < messages; first += 1000 {
		outbox.enqueue(ctx, t, first, 1000)
	}
	t.Logf("%d messages enqueued in %v", messages, time.Since(began).Round(time.Millisecond))
	service.InjectRandomly(1, 0.02, messagingtest.AcceptThenDrop(), messagingtest.DropUnread(), messagingtest.Slow(300*time.Millisecond))

	wrong := worker
	wrong.Clock = time.Hour
	if *whole {
		wrong.Clock, wrong.binary = 0, hourFast(t)
	}
	processes := []*process{worker.begin(t), worker.begin(t), wrong.begin(t)}
	tormented, done := context.WithTimeout(ctx, torment)
	defer done()
	var all sync.WaitGroup
	var kills, freezes int
	all.Go(func() { kills, freezes = torments(tormented, t, processes) })
	all.Go(func() { // the database
		for _, d := range []time.Duration{0, away} {
			sleep(tormented, torment/4)
			database.kill(t)
			sleep(ctx, d)
			database.start(t)
		}
	})
	all.Go(func() { // the service
		for tormented.Err() == nil {
			sleep(tormented, torment/5)
			service.InjectFor(torment/20, messagingtest.Status(503, 0))
		}
	})
	all.Go(func() { // a person
		for i := 0; tormented.Err() == nil; i++ {
			sleep(tormented, torment/10)
			_ = outbox.SetRate(tormented, float64(200+400*(i%3))) // the database may be away
			_, _ = outbox.decide(tormented, service)
		}
	})
	all.Wait()
	service.ClearFaults()
	require.NoError(t, outbox.SetRate(ctx, 0))
	states := outbox.complete(ctx, t, service)
	sent := processed(service)
	t.Logf("%d messages in %v: %d kills, %d freezes, the database killed twice and away for %v; %d sent, %d twice, %d lost",
		messages, time.Since(began).Round(time.Second), kills, freezes, away, len(sent), twice(sent), messages-len(sent))
	assert.Equal(t, map[messagingriver.State]int{messagingriver.Accepted: messages}, states)
	assert.Len(t, sent, messages, "lost")
	assert.Zero(t, twice(sent), "sent twice")
}
