package messagingriver_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
)

// programEnv makes the test binary a program, which its value describes as JSON.
const programEnv = "OUTBOX_PROGRAM"

// program is a process that works an outbox, or a receiver of webhooks if it has an address.
type program struct {
	Database string // postgres://… or the path of an SQLite file
	Schema   string
	Address  string // of a receiver

	Service, Token string
	Workers        int
	Rate           float64
	SendTimeout    time.Duration
	SettleFor      time.Duration

	// KillAt is where the process kills itself: "before the mark", "after the mark", "after the response" or "in OnOutcome".
	KillAt string
	// Outcomes has the process report outcomes to the service, as messages to this number.
	Outcomes bool
}

// runProgram runs until it is told to end, killed or frozen.
func runProgram(text string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var p program
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return err
	}
	if p.Address != "" {
		return p.receive(ctx)
	}
	outbox, err := p.open(ctx)
	if err != nil {
		return err
	}
	for outbox.Start(ctx) != nil { // until the database is there
		if sleep(ctx, 100*time.Millisecond); ctx.Err() != nil {
			return nil
		}
	}
	<-ctx.Done()
	return outbox.Stop(context.WithoutCancel(ctx))
}

// killAt kills the process if it is to be killed here.
func (p program) killAt(place string) {
	if p.KillAt == place {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// killing kills the process around a request to send. It is behind the fence.
func (p program) killing(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPost {
			p.killAt("after the mark")
		}
		response, err := base.RoundTrip(request)
		if request.Method == http.MethodPost {
			p.killAt("after the response")
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// startStop is an outbox over either type of transaction.
type startStop interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// open opens the outbox of a process.
func (p program) open(ctx context.Context) (startStop, error) {
	client, err := messaging.NewClient(p.Service, messaging.WithToken(p.Token), messaging.WithGuard(func(context.Context, messaging.Outgoing) error {
		p.killAt("before the mark")
		return nil
	}), messaging.WithTransport(p.killing))
	if err != nil {
		return nil, err
	}
	options := messagingriver.Options{
		Schema: p.Schema, Workers: p.Workers, Rate: p.Rate, SendTimeout: p.SendTimeout, SettleFor: p.SettleFor,
		Logger: slog.New(slog.DiscardHandler),
	}
	options = messagingriver.ForTests(options, new(messagingriver.TestClock))
	if p.Outcomes {
		options.OnOutcome = func(context.Context, messagingriver.Outcome) error {
			p.killAt("in OnOutcome")
			fmt.Println("outcome")
			return nil
		}
	}
	if !strings.HasPrefix(p.Database, "postgres://") {
		db, err := openShared(p.Database)
		if err != nil {
			return nil, err
		}
		return messagingriver.NewSQLite(db, client, options)
	}
	pool, err := pgxpool.New(ctx, p.Database)
	if err != nil {
		return nil, err
	}
	return messagingriver.NewPostgres(pool, client, options)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// process is a program in a process of its own, which is started again after each kill.
type process struct {
	program program

	mu      sync.Mutex
	command *exec.Cmd
	output  bytes.Buffer
	ended   bool // by itself
}

// begin starts a process, which ends with the test and has to have said nothing.
func (p program) begin(t *testing.T) *process {
	t.Helper()
	one := &process{program: p}
	one.start(t)
	t.Cleanup(func() {
		if one.ended {
			return
		}
		one.signal(t, syscall.SIGTERM)
		one.wait()
		assert.Empty(t, one.output.String())
	})
	return one
}

func (p *process) start(t *testing.T) {
	t.Helper()
	text, err := json.Marshal(p.program)
	require.NoError(t, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command = exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	p.command.Env = append(os.Environ(), programEnv+"="+string(text))
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	require.NoError(t, p.command.Start())
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.NoError(t, p.command.Process.Signal(s))
}

func (p *process) wait() { _ = p.command.Wait() }

// awaitEnd waits until a process has killed itself.
func (p *process) awaitEnd(t *testing.T) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		p.wait()
		close(ended)
	}()
	select {
	case <-ended:
		p.ended = true
	case <-time.After(time.Minute):
		require.Fail(t, "the process did not kill itself")
	}
}

// torment kills and freezes a process at random moments until the context ends, and leaves it running. It is killed three times as often as
// frozen. With -whole every third freeze is so long that other processes rescue its messages.
func (p *process) torment(ctx context.Context, t *testing.T) (kills, freezes int) {
	t.Helper()
	for {
		if sleep(ctx, within(t, 50*time.Millisecond, 2500*time.Millisecond)); ctx.Err() != nil {
			return kills, freezes
		}
		if within(t, 0, 4) == 0 {
			p.signal(t, syscall.SIGSTOP)
			freeze := within(t, 100*time.Millisecond, 3*time.Second)
			if *whole && within(t, 0, 3) == 0 {
				freeze = 50 * time.Second
			}
			time.Sleep(freeze)
			p.signal(t, syscall.SIGCONT)
			freezes++
			continue
		}
		p.signal(t, syscall.SIGKILL)
		p.wait()
		p.start(t)
		kills++
	}
}

// torments torments processes until the context ends.
func torments(ctx context.Context, t *testing.T, processes []*process) (kills, freezes int) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, p := range processes {
		all.Go(func() {
			k, f := p.torment(ctx, t)
			mu.Lock()
			defer mu.Unlock()
			kills += k
			freezes += f
		})
	}
	all.Wait()
	return kills, freezes
}

func within(t *testing.T, least, most time.Duration) time.Duration {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(int64(most-least)))
	require.NoError(t, err)
	return least + time.Duration(n.Int64())
}
