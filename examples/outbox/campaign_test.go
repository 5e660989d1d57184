package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// server is a PostgreSQL of the test's own, which it can kill.
type server struct {
	programs, folder string
	port             int
	down             bool
}

// as returns a command of the server's. It refuses to run as root.
func (s *server) as(ctx context.Context, name string, args ...string) *exec.Cmd {
	path := filepath.Join(s.programs, name)
	if os.Geteuid() == 0 {
		path, args = "runuser", append([]string{"-u", "postgres", "--", path}, args...)
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Dir = "/"
	return command
}

func (s *server) run(t *testing.T, name string, args ...string) {
	t.Helper()
	var output bytes.Buffer
	command := s.as(context.WithoutCancel(t.Context()), name, args...)
	command.Stdout, command.Stderr = nil, nil // a server that goes on would keep a pipe open
	assert.NoError(t, command.Run(), "%s %s", name, &output)
}

func (s *server) start(t *testing.T) {
	t.Helper()
	s.down = false
	s.run(t, "pg_ctl", "-D", s.folder+"/data", "-l", s.folder+"/log", "-w", "-t", "120", "-o",
		fmt.Sprintf("-h 127.0.0.1 -p %d -k %s -c max_connections=200", s.port, s.folder), "start")
}

// kill ends the server as kill -9 of all its processes does: without a checkpoint.
func (s *server) kill(t *testing.T) {
	t.Helper()
	if !s.down {
		s.down = true
		s.run(t, "pg_ctl", "-D", s.folder+"/data", "-m", "immediate", "-w", "stop")
	}
}

func (s *server) url() string {
	return fmt.Sprintf("postgres://outbox@127.0.0.1:%d/postgres?sslmode=disable", s.port)
}

func newServer(t *testing.T) *server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	require.NoError(t, err)
	require.NotEmpty(t, found, "no PostgreSQL: apt-get install postgresql")
	folder, err := os.MkdirTemp("", "campaign") //nolint:usetesting // the user postgres may not enter one of t.TempDir
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{programs: found[len(found)-1], folder: folder, port: listener.Addr().(*net.TCPAddr).Port}
	require.NoError(t, listener.Close())
	if os.Geteuid() == 0 {
		require.NoError(t, exec.CommandContext(t.Context(), "chown", "postgres", folder).Run())
	}
	s.run(t, "initdb", "-D", folder+"/data", "-U", "outbox", "-A", "trust", "-E", "UTF8", "--locale=C")
	s.start(t)
	t.Cleanup(func() {
		s.kill(t)
		assert.NoError(t, os.RemoveAll(folder))
	})
	return s
}

// TestCampaign sends a campaign while everything goes wrong at once: workers are killed and frozen, one has a clock that is an hour
// off, the database is killed and away, the service has storms and loses responses, the rate changes, and a person decides.
// It runs if there is a PostgreSQL; .ci/full runs it whole.
func TestCampaign(t *testing.T) {
	if programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(programs) == 0 {
		return // TestLedgerIsExactAlthoughProcessesAreKilledAndFrozen runs on SQLite
	}
	messages, torment, away, limit := 2_000, 12*time.Second, 2*time.Second, 4*time.Minute
	if *whole {
		messages, torment, away, limit = 100_000, 4*time.Minute, 30*time.Second, 45*time.Minute
		t.Setenv(limitEnv, "250")
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	database := newServer(t)
	service := messagingtest.NewServer(t)
	t.Setenv(serviceEnv, service.URL)
	t.Setenv(tokenEnv, service.Token)
	shop, err := connectProcess(ctx, database.url())
	require.NoError(t, err)
	defer shop.close()
	require.NoError(t, migrate(ctx, shop))
	began := time.Now()
	const each = 1000
	for first := 0; first < messages; first += each {
		require.NoError(t, shop.order(ctx, first, each))
	}
	t.Logf("%d messages enqueued in %v", messages, time.Since(began).Round(time.Millisecond))
	service.InjectRandomly(1, 0.02, messagingtest.AcceptThenDrop(), messagingtest.DropUnread(), messagingtest.Slow(300*time.Millisecond))

	var processes []*process
	for i := range 3 {
		p := &process{environment: []string{databaseEnv + "=" + database.url()}}
		if i == 2 {
			p.environment = append(p.environment, clockEnv+"=1h")
		}
		p.start(t)
		processes = append(processes, p)
	}
	tormented, done := context.WithTimeout(ctx, torment)
	defer done()
	var all sync.WaitGroup
	var mu sync.Mutex
	kills, freezes := 0, 0
	for _, p := range processes {
		all.Go(func() {
			k, f := p.torment(tormented, t)
			mu.Lock()
			defer mu.Unlock()
			kills += k
			freezes += f
		})
	}
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
			_ = shop.SetRate(tormented, float64(200+400*(i%3))) // the database may be away
			_ = decide(tormented, new(bytes.Buffer), shop, service)
		}
	})
	all.Wait()
	service.ClearFaults()
	require.NoError(t, shop.SetRate(ctx, 0))
	progress := new(bytes.Buffer)
	var out io.Writer = progress
	if testing.Verbose() {
		out = os.Stdout
	}
	for { // until nothing is left for a person
		require.NoError(t, watch(ctx, out, shop, func() {}), "%s", progress)
		parked, err := shop.parked(ctx)
		require.NoError(t, err)
		if len(parked) == 0 {
			break
		}
		require.NoError(t, decide(ctx, out, shop, service))
	}
	for _, p := range processes {
		p.signal(t, syscall.SIGTERM)
		p.wait()
		assert.Empty(t, strings.TrimSpace(p.output.String()))
	}
	twice := 0
	sent := map[string]int{}
	for _, m := range service.Sent() {
		if sent[m.ReferenceID]++; sent[m.ReferenceID] == 2 {
			twice++
		}
	}
	counts, err := shop.counts(ctx)
	require.NoError(t, err)
	t.Logf("%d messages in %v: %d kills, %d freezes, the database killed twice and away for %v; %d sent, %d twice, %d lost",
		messages, time.Since(began).Round(time.Second), kills, freezes, away, len(sent), twice, messages-len(sent))
	assert.Equal(t, map[messagingriver.State]int{messagingriver.Accepted: messages}, counts)
	assert.Len(t, sent, messages, "lost")
	assert.Zero(t, twice, "sent twice")
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// clockEnv is by how much the clock of a process is wrong.
const clockEnv = "OUTBOX_CLOCK"

// wrongClock is a clock of a process that is off. Its database's is not.
type wrongClock time.Duration

func (c wrongClock) Now() time.Time     { return time.Now().Add(time.Duration(c)) }
func (wrongClock) NowOrNil() *time.Time { return nil }

// workWrong is work with a wrong clock. It begins when the database is there.
func (s shop[TTx]) workWrong(ctx context.Context, off time.Duration) (stop func(context.Context) error, err error) {
	for {
		config := &river.Config{Logger: slog.New(slog.DiscardHandler), Test: river.TestConfig{Time: wrongClock(off)}}
		if err = s.AddTo(config); err != nil {
			return nil, err
		}
		client, err := river.NewClient(s.driver, config)
		if err != nil {
			return nil, err
		}
		if err = client.Start(context.WithoutCancel(ctx)); err == nil {
			return client.Stop, nil
		}
		if sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return nil, err
		}
	}
}
