package messagingriver_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// programEnv makes the test binary a program, which its value describes as JSON.
const programEnv = "OUTBOX_PROGRAM"

// program is a worker of an outbox, or a receiver of webhooks if it has an address.
type program struct {
	Database string // postgres://… or the path of an SQLite file
	Address  string // of a receiver

	Service, Token string
	PerSecond      float64       // the rate limit of a worker
	Rate           float64       // of all workers, or 0
	Clock          time.Duration // by how much the clock of a worker is wrong
	Enqueue        int           // how many messages a worker enqueues first

	binary string // the program's file; by default that of this test
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
	defer outbox.close()
	for i := range p.Enqueue {
		if _, err = outbox.insert(ctx, false, smsMessage(fmt.Sprint("early-", i))); err != nil {
			return err
		}
	}
	stopWork, err := outbox.work(ctx, wrongClock(p.Clock))
	if err != nil {
		return err
	}
	<-ctx.Done()
	return stopWork(context.WithoutCancel(ctx))
}

// killTimeout is the SendTimeout of workers that are killed.
const killTimeout = time.Second

// sharedOutbox is an outbox in a database that other processes share.
type sharedOutbox struct {
	rig

	migrate func(ctx context.Context) error
	work    func(ctx context.Context, clock wrongClock) (stop func(context.Context) error, err error)
	close   func()
}

// open opens the outbox of a worker.
func (p program) open(ctx context.Context) (*sharedOutbox, error) {
	client, err := messaging.NewClient(p.Service, messaging.WithToken(p.Token), messaging.WithRateLimit(p.PerSecond, 20))
	if err != nil {
		return nil, err
	}
	options := messagingriver.Options{SendTimeout: killTimeout, SettleFor: 2 * time.Second, Workers: 20, Rate: p.Rate}
	if !strings.HasPrefix(p.Database, "postgres://") {
		db, err := openShared(p.Database)
		if err != nil {
			return nil, err
		}
		r, err := rigOnSQLite(db, client, options)
		return &sharedOutbox{r, r.Migrate, r.work, func() { _ = db.Close() }}, err
	}
	pool, err := pgxpool.New(ctx, p.Database)
	if err != nil {
		return nil, err
	}
	r, err := rigOnPostgres(pool, client, options)
	return &sharedOutbox{r, r.Migrate, r.work, func() {
		_ = r.db.Close()
		pool.Close()
	}}, err
}

// openShared opens an SQLite file that other processes share.
func openShared(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+wal+"&_txlock=immediate")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// wrongClock is a clock of a process that is off. Its database's is not.
type wrongClock time.Duration

func (c wrongClock) Now() time.Time     { return time.Now().Add(time.Duration(c)) }
func (wrongClock) NowOrNil() *time.Time { return nil }

// work works the queue until stop is called. It begins when the database is there.
func (r rigOf[TTx]) work(ctx context.Context, clock wrongClock) (stop func(context.Context) error, err error) {
	for {
		config := &river.Config{Logger: slog.New(slog.DiscardHandler), Test: river.TestConfig{Time: clock}}
		if err = r.AddTo(config); err != nil {
			return nil, err
		}
		client, err := river.NewClient(r.driver, config)
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
}

// begin starts a process, which ends with the test and has to have said nothing.
func (p program) begin(t *testing.T) *process {
	t.Helper()
	one := &process{program: p}
	one.start(t)
	t.Cleanup(func() {
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
	p.command = exec.CommandContext(context.WithoutCancel(t.Context()), cmp.Or(p.program.binary, os.Args[0]))
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

// torment kills and freezes a process at random moments until the context ends, and leaves it running.
func (p *process) torment(ctx context.Context, t *testing.T) (kills, freezes int) {
	t.Helper()
	for {
		if sleep(ctx, within(t, 20*time.Millisecond, 800*time.Millisecond)); ctx.Err() != nil {
			return kills, freezes
		}
		if within(t, 0, 3) == 0 { // for a while
			p.signal(t, syscall.SIGSTOP)
			longest := 3 * time.Second
			if *whole { // others take it for dead
				longest = 30 * time.Second
			}
			time.Sleep(within(t, 100*time.Millisecond, longest))
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

// enqueue enqueues messages that are numbered from first, in one transaction. Most are SMS.
func (o *sharedOutbox) enqueue(ctx context.Context, t *testing.T, first, n int) {
	t.Helper()
	messages := make([]messaging.Message, n)
	for i := range messages {
		id := first + i
		to, text, reference := fmt.Sprintf("+63917%07d", id), fmt.Sprintf("Your order %d is ready", id), fmt.Sprintf("order-%d", id)
		switch id % 10 {
		case 3:
			messages[i] = chatapp1.New("channel-1", to).Text(text).WithReference(reference)
		case 6:
			messages[i] = chatapp2.Message{To: to, Content: chatapp2.Text{Body: text}, ReferenceID: reference}
		default:
			messages[i] = sms.Message{From: "ACME", To: to, Text: text, ReferenceID: reference}
		}
	}
	for {
		_, err := o.insert(ctx, false, messages...)
		if ctx.Err() == nil && err != nil && strings.Contains(err.Error(), "SQLITE_BUSY") { // a frozen process holds its lock
			continue
		}
		require.NoError(t, err)
		return
	}
}

// states returns how many messages are in each state.
func (o *sharedOutbox) states(ctx context.Context, t *testing.T) map[messagingriver.State]int {
	t.Helper()
	rows, err := o.pool().QueryContext(ctx, "SELECT state, COUNT(*) FROM messaging_outbox GROUP BY state")
	require.NoError(t, err)
	defer rows.Close()
	states := map[messagingriver.State]int{}
	for rows.Next() {
		var state messagingriver.State
		var n int
		require.NoError(t, rows.Scan(&state, &n))
		states[state] = n
	}
	require.NoError(t, rows.Err())
	return states
}

// drain waits until every message is accepted, refused, dropped or parked, and returns how many are in each state. Nothing pauses the
// queues meanwhile.
func (o *sharedOutbox) drain(ctx context.Context, t *testing.T) map[messagingriver.State]int {
	t.Helper()
	for reported := time.Now(); ; sleep(ctx, 500*time.Millisecond) {
		states := o.states(ctx, t)
		if states[messagingriver.Waiting]+states[messagingriver.Sending]+states[messagingriver.Unknown] == 0 {
			return states
		}
		var pauses int
		require.NoError(t, o.pool().QueryRowContext(ctx, "SELECT COUNT(*) FROM messaging_breaker WHERE account = 1").Scan(&pauses))
		require.Zero(t, pauses, "the account is in trouble")
		require.NoError(t, ctx.Err(), "%v", states)
		if time.Since(reported) > 10*time.Second {
			reported = time.Now()
			t.Log(states)
		}
	}
}

// parked returns the messages that wait for a person.
func (o *sharedOutbox) parked(ctx context.Context) ([]messagingriver.Record, error) {
	var all []messagingriver.Record
	var after messagingriver.Key
	for {
		some, err := o.Parked(ctx, after)
		if err != nil || len(some) == 0 {
			return all, err
		}
		all = append(all, some...)
		after = some[len(some)-1].Key
	}
}

// decide is the person who looks after parked messages. This one can look into the service's own ledger. It returns how many there were.
func (o *sharedOutbox) decide(ctx context.Context, service *messagingtest.Server) (int, error) {
	parked, err := o.parked(ctx)
	if err != nil {
		return 0, err
	}
	sent := processed(service)
	keys := map[messagingriver.Decision][]messagingriver.Key{}
	for _, record := range parked {
		decision := messagingriver.Resend
		if sent[record.Reference] > 0 {
			decision = messagingriver.Sent
		}
		keys[decision] = append(keys[decision], record.Key)
	}
	for decision, of := range keys {
		if _, err := o.Resolve(ctx, decision, of...); err != nil {
			return 0, err
		}
	}
	return len(parked), nil
}

// complete drains the outbox and decides, until nothing is left for a person.
func (o *sharedOutbox) complete(ctx context.Context, t *testing.T, service *messagingtest.Server) map[messagingriver.State]int {
	t.Helper()
	for {
		states := o.drain(ctx, t)
		decided, err := o.decide(ctx, service)
		require.NoError(t, err)
		if decided == 0 {
			return states
		}
	}
}

// processed returns how often the service processed the message of each reference ID.
func processed(service *messagingtest.Server) map[string]int {
	times := map[string]int{}
	for _, m := range service.Sent() {
		times[m.ReferenceID]++
	}
	return times
}

// twice returns how many messages were processed more than once.
func twice(times map[string]int) (n int) {
	for _, t := range times {
		if t > 1 {
			n++
		}
	}
	return n
}

// sharedDatabases returns SQLite, and PostgreSQL where .ci/with-postgres runs the tests beside a server: each returns the address of an
// empty database.
func sharedDatabases() map[string]func(t *testing.T) string {
	all := map[string]func(t *testing.T) string{
		"SQLite": func(t *testing.T) string {
			t.Helper()
			return filepath.Join(t.TempDir(), "outbox.db")
		},
	}
	if url := os.Getenv("OUTBOX_POSTGRES"); url != "" {
		all["PostgreSQL"] = func(t *testing.T) string {
			t.Helper()
			schema := "t" + strings.ToLower(rand.Text())
			connection, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			defer func() { require.NoError(t, connection.Close(context.WithoutCancel(t.Context()))) }()
			_, err = connection.Exec(t.Context(), "CREATE SCHEMA "+schema)
			require.NoError(t, err)
			return url + "&search_path=" + schema
		}
	}
	return all
}

// TestLedgerIsExactAlthoughProcessesAreKilledAndFrozen: four workers share a database. Without -whole the first process, River's leader,
// stays, which spares the test the time until River elects another one.
func TestLedgerIsExactAlthoughProcessesAreKilledAndFrozen(t *testing.T) {
	messages, torment, limit := 500, 2*time.Second, 2*time.Minute
	if *whole {
		messages, torment, limit = 15_000, time.Minute, 10*time.Minute
	}
	for name, database := range sharedDatabases() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			service := messagingtest.NewServer(t)
			service.InjectRandomly(1, 0.05, messagingtest.AcceptThenDrop(), messagingtest.DropUnread(),
				messagingtest.Slow(100*time.Millisecond), messagingtest.Slow(300*time.Millisecond))
			worker := program{Database: database(t), Service: service.URL, Token: service.Token, PerSecond: 100}
			outbox, err := worker.open(ctx)
			require.NoError(t, err)
			t.Cleanup(outbox.close)
			require.NoError(t, outbox.migrate(ctx))

			var processes []*process
			for range 4 {
				processes = append(processes, worker.begin(t))
				require.Eventually(t, func() bool {
					var leaders int
					err := outbox.pool().QueryRowContext(ctx, "SELECT COUNT(*) FROM river_leader").Scan(&leaders)
					return err == nil && leaders == 1
				}, time.Minute, 20*time.Millisecond, "the first process leads")
			}
			if !*whole {
				processes = processes[1:]
			}
			tormented, done := context.WithTimeout(ctx, torment)
			defer done()
			var victims sync.WaitGroup
			victims.Go(func() {
				kills, freezes := torments(tormented, t, processes)
				t.Logf("%d kills, %d freezes", kills, freezes)
			})
			for first := 0; first < messages; first += 100 {
				outbox.enqueue(ctx, t, first, 100)
				time.Sleep(torment / time.Duration(messages/100) / 2)
			}
			victims.Wait()
			service.ClearFaults()
			states := outbox.drain(ctx, t)

			// Nobody has decided anything yet: no message was sent twice, and each that was sent is accepted or parked.
			sent := processed(service)
			assert.Zero(t, twice(sent), "sent twice")
			parked, err := outbox.parked(ctx)
			require.NoError(t, err)
			unsent := 0
			for _, record := range parked {
				if sent[record.Reference] == 0 {
					unsent++
				}
			}
			assert.Equal(t, messages, len(parked)+states[messagingriver.Accepted], "%v", states)
			assert.Equal(t, messages, len(sent)+unsent, "what is neither sent nor parked is lost")
			assert.Less(t, len(parked), messages/3)

			assert.Equal(t, map[messagingriver.State]int{messagingriver.Accepted: messages}, outbox.complete(ctx, t, service))
			sent = processed(service)
			assert.Len(t, sent, messages, "lost")
			assert.Zero(t, twice(sent), "sent twice")
		})
	}
}
