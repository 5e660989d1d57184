package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// whole kills every process for a minute. Without the flag the first process, River's leader, stays, which spares the test the
// time until River elects another one, and the others are killed for some seconds.
var whole = flag.Bool("whole", false, "kill every process, for a minute")

// The test binary is also the program whose processes are killed.
const databaseEnv, serviceEnv, tokenEnv = "OUTBOX_DATABASE", "OUTBOX_SERVICE", "OUTBOX_TOKEN"

// limitEnv is the rate limit of a process, in requests a second.
const limitEnv = "OUTBOX_LIMIT"

func TestMain(m *testing.M) {
	if database := os.Getenv(databaseEnv); database != "" {
		if err := workProcess(database); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// workProcess sends messages until it is told to end, killed or frozen.
func workProcess(database string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	shop, err := connectProcess(ctx, database)
	if err != nil {
		return err
	}
	defer shop.close()
	off, _ := time.ParseDuration(os.Getenv(clockEnv)) // none by default
	stopWork, err := shop.(interface {
		workWrong(ctx context.Context, off time.Duration) (func(context.Context) error, error)
	}).workWrong(ctx, off)
	if err != nil {
		return err
	}
	<-ctx.Done()
	return stopWork(context.WithoutCancel(ctx))
}

func connectProcess(ctx context.Context, database string) (anyShop, error) {
	limit, err := strconv.ParseFloat(cmp.Or(os.Getenv(limitEnv), "100"), 64)
	if err != nil {
		return nil, err
	}
	client, err := messaging.NewClient(os.Getenv(serviceEnv), messaging.WithToken(os.Getenv(tokenEnv)), messaging.WithRateLimit(limit, 20))
	if err != nil {
		return nil, err
	}
	options := options()
	options.Workers = 20
	return open(ctx, database, client, options)
}

// process is a work process that is started again after each kill.
type process struct {
	environment []string

	mu      sync.Mutex
	command *exec.Cmd
	output  bytes.Buffer
}

func (p *process) start(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.command = exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	p.command.Env = append(os.Environ(), p.environment...)
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	require.NoError(t, p.command.Start())
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NoError(t, p.command.Process.Signal(s))
}

func (p *process) wait() { _ = p.command.Wait() }

func within(t *testing.T, least, most time.Duration) time.Duration {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(int64(most-least)))
	require.NoError(t, err)
	return least + time.Duration(n.Int64())
}

// torment kills and freezes a process at random moments until the context ends, and leaves it running.
func (p *process) torment(ctx context.Context, t *testing.T) (kills, freezes int) {
	t.Helper()
	for {
		select {
		case <-ctx.Done():
			return kills, freezes
		case <-time.After(within(t, 20*time.Millisecond, 800*time.Millisecond)):
		}
		if within(t, 0, 3) == 0 { // for less or for more than the lease
			p.signal(t, syscall.SIGSTOP)
			time.Sleep(within(t, 100*time.Millisecond, 2*options().SendTimeout+time.Second))
			p.signal(t, syscall.SIGCONT)
			freezes++
		} else {
			p.signal(t, syscall.SIGKILL)
			p.wait()
			p.start(t)
			kills++
		}
	}
}

// led reports whether a process is River's leader.
func led(ctx context.Context, shop anyShop) bool {
	return shop.(interface {
		led(ctx context.Context) bool
	}).led(ctx)
}

func (s shop[TTx]) led(ctx context.Context) bool {
	var leaders int
	err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM river_leader").Scan(&leaders)
	return err == nil && leaders == 1
}

// databases returns the URLs of empty databases to test with.
func databases(t *testing.T) map[string]func(t *testing.T) string {
	t.Helper()
	all := map[string]func(t *testing.T) string{
		"SQLite": func(t *testing.T) string {
			t.Helper()
			return filepath.Join(t.TempDir(), "shop.db")
		},
	}
	if url := os.Getenv("OUTBOX_POSTGRES"); url != "" { // ./with-postgres runs the tests beside one
		all["PostgreSQL"] = func(t *testing.T) string {
			t.Helper()
			name := "t" + strings.ToLower(rand.Text())
			connection, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			defer func() { require.NoError(t, connection.Close(context.WithoutCancel(t.Context()))) }()
			_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+name)
			require.NoError(t, err)
			return url + "&search_path=" + name
		}
	}
	return all
}

func TestLedgerIsExactAlthoughProcessesAreKilledAndFrozen(t *testing.T) {
	orders, torment, limit := 500, 2*time.Second, 2*time.Minute
	if *whole {
		orders, torment, limit = 15_000, time.Minute, 10*time.Minute
	}
	for name, database := range databases(t) {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			url := database(t)
			service := messagingtest.NewServer(t)
			service.InjectRandomly(1, 0.05, messagingtest.AcceptThenDrop(), messagingtest.DropUnread(),
				messagingtest.Slow(100*time.Millisecond), messagingtest.Slow(300*time.Millisecond))
			t.Setenv(serviceEnv, service.URL)
			t.Setenv(tokenEnv, service.Token)
			shop, err := connectProcess(ctx, url)
			require.NoError(t, err)
			defer shop.close()
			require.NoError(t, migrate(ctx, shop))

			var processes []*process
			for range 4 {
				p := &process{environment: []string{databaseEnv + "=" + url}}
				p.start(t)
				require.Eventually(t, func() bool { return led(ctx, shop) }, time.Minute, 20*time.Millisecond, "the first process leads")
				processes = append(processes, p)
				defer func() {
					p.signal(t, syscall.SIGTERM)
					p.wait()
					assert.Empty(t, p.output.String())
				}()
			}
			tormented, done := context.WithTimeout(ctx, torment)
			defer done()
			var victims sync.WaitGroup
			for i, p := range processes {
				if i > 0 || *whole {
					victims.Go(func() {
						kills, freezes := p.torment(tormented, t)
						t.Logf("process %d was killed %d times and frozen %d times", i, kills, freezes)
					})
				}
			}
			for first := 0; first < orders; first += 100 {
				require.NoError(t, shop.order(ctx, first, 100))
				time.Sleep(torment / time.Duration(orders/100) / 2)
			}
			victims.Wait()
			service.InjectRandomly(1, 0)
			var progress bytes.Buffer
			require.NoError(t, watch(ctx, &progress, shop, func() { assert.Fail(t, "nothing pauses the queue") }), "%s", &progress)

			// Nobody has decided anything yet: no message was sent twice, and each that was sent is accepted or parked.
			sent := map[string]int{}
			for _, m := range service.Sent() {
				sent[m.ReferenceID]++
				assert.Equal(t, 1, sent[m.ReferenceID], m.ReferenceID)
			}
			parked, err := shop.parked(ctx)
			require.NoError(t, err)
			counts, err := shop.counts(ctx)
			require.NoError(t, err)
			t.Log(counts)
			unsent := 0
			for _, record := range parked {
				if sent[record.Reference] == 0 {
					unsent++
				}
			}
			assert.Equal(t, orders, len(parked)+counts[messagingriver.Accepted], "%v", counts)
			assert.Equal(t, orders, len(sent)+unsent, "what is neither sent nor parked is lost")
			assert.Less(t, len(parked), orders/3)

			require.NoError(t, decide(ctx, &progress, shop, service))
			require.NoError(t, watch(ctx, &progress, shop, func() {}), "%s", &progress)
			require.NoError(t, ledger(ctx, &progress, shop, service, orders))
		})
	}
}
