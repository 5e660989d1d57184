package messagingriver_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// openShared opens an SQLite file that other processes share. It waits for no disk: a test kills processes, and no machine loses its power.
func openShared(path string) (*sql.DB, error) {
	const options = "?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)&_pragma=synchronous(off)"
	db, err := sql.Open("sqlite", "file:"+path+options)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// parallelUnlessWhole runs a short torment in parallel with other tests. A long one runs alone, at full speed.
func parallelUnlessWhole(t *testing.T) {
	t.Helper()
	if !*whole {
		t.Parallel()
	}
}

// torment is a run of TestTorment.
type torment struct {
	messages, outages int
	duration, limit   time.Duration
}

// mixed returns messages that are numbered from first, most of them SMS.
func mixed(first, n int) []messaging.Message {
	messages := make([]messaging.Message, n)
	for i := range messages {
		id := first + i
		to, reference := fmt.Sprintf("+63917%07d", id), fmt.Sprintf("order-%d", id)
		switch id % 10 {
		case 3:
			messages[i] = chatapp1.New("channel-1", to).Text("Your order is ready").WithReference(reference)
		case 6:
			m := chat(reference)
			m.To = to
			messages[i] = m
		default:
			m := text(reference)
			m.To = to
			messages[i] = m
		}
	}
	return messages
}

// TestTorment: four processes on PostgreSQL, or one on SQLite, send while they are killed and frozen, PostgreSQL is killed and away, and the
// service loses responses. Nothing is sent twice and nothing is lost. The test decides about discarded messages by what the service received.
func TestTorment(t *testing.T) {
	parallelUnlessWhole(t)
	run := torment{messages: 300, outages: 1, duration: 12 * time.Second, limit: 4 * time.Minute}
	if *whole {
		run = torment{messages: 3000, outages: 2, duration: 150 * time.Second, limit: 15 * time.Minute}
	}
	t.Run("SQLite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "outbox.db")
		parallelUnlessWhole(t)
		alone := run
		alone.outages = 0
		alone.torment(t, program{Database: path}, 1, nil, func(client *messaging.Client) rig {
			db, err := openShared(path)
			require.NoError(t, err)
			t.Cleanup(func() { _ = db.Close() })
			return rigOnSQLite(t, db, client, messagingriver.Options{})
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		parallelUnlessWhole(t)
		if postgresPrograms() == "" {
			t.Skip("no PostgreSQL is installed")
		}
		server := newPrimary(t)
		run.torment(t, program{Database: server.url(), Schema: "messaging"}, 4, server, func(client *messaging.Client) rig {
			pool, err := pgxpool.New(t.Context(), server.url())
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			return rigOn(t, pool, "messaging", client, messagingriver.Options{})
		})
	})
}

func (run torment) torment(t *testing.T, p program, processes int, server *postgres, open func(*messaging.Client) rig) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), run.limit)
	defer cancel()
	service := messagingtest.NewServer(t)
	service.InjectRandomly(1, 0.05, messagingtest.FaultAcceptThenDrop(), messagingtest.FaultDropUnread(),
		messagingtest.FaultSlow(100*time.Millisecond), messagingtest.FaultSlow(300*time.Millisecond))
	r := open(newClient(t, service))
	p.Service, p.Token = service.URL, service.Token
	p.Rate, p.SendTimeout, p.SettleFor = 60, time.Second, 5*time.Second
	var victims []*process
	for range processes {
		victims = append(victims, p.begin(t))
	}
	tormented, done := context.WithTimeout(ctx, run.duration)
	defer done()
	var all sync.WaitGroup
	var kills, freezes int
	all.Go(func() { kills, freezes = torments(tormented, t, victims) })
	all.Go(func() {
		for i := range run.outages {
			sleep(tormented, run.duration/time.Duration(run.outages+2))
			server.kill(t)
			sleep(ctx, []time.Duration{2 * time.Second, 25 * time.Second}[i%2])
			server.start(t)
		}
	})
	all.Go(func() {
		const atOnce = 50
		for first := 0; first < run.messages; first += atOnce {
			for ctx.Err() == nil {
				if _, err := r.tryInsert(ctx, messagingriver.InsertOptions{}, mixed(first, atOnce)...); err == nil {
					break
				}
				sleep(ctx, 200*time.Millisecond) // the database is away, or a frozen process holds its lock
			}
			sleep(tormented, run.duration*atOnce/time.Duration(run.messages)*7/10)
		}
	})
	all.Wait()
	service.ClearFaults()
	incidents := kills + freezes + run.outages*processes
	began := time.Now()
	run.drain(ctx, t, r)
	sent := sentOf(service)
	parked := map[messagingriver.Decision][]messagingriver.Key{}
	for record, err := range r.Discarded(ctx) {
		require.NoError(t, err)
		decision := messagingriver.Resend
		if sent[record.Reference] > 0 {
			decision = messagingriver.Sent
		}
		parked[decision] = append(parked[decision], record.Key)
	}
	parkedCount := len(parked[messagingriver.Sent]) + len(parked[messagingriver.Resend])
	perIncident := float64(parkedCount) / float64(incidents)
	t.Logf("%d messages: %d kills, %d freezes, %d outages; drained after %v; parked: %d sent, %d unsent, %.1f for each incident", run.messages,
		kills, freezes, run.outages, time.Since(began).Round(time.Second), len(parked[messagingriver.Sent]), len(parked[messagingriver.Resend]), perIncident)
	assert.Zero(t, twice(sent), "sent twice")
	assert.Equal(t, run.messages, len(sent)+len(parked[messagingriver.Resend]), "what is neither sent nor parked is lost")
	if server != nil {
		assert.LessOrEqual(t, perIncident, 2.5)
	}
	for decision, keys := range parked {
		resolved, err := r.Resolve(ctx, decision, keys...)
		require.NoError(t, err)
		require.Equal(t, len(keys), resolved)
	}
	run.drain(ctx, t, r)
	sent = sentOf(service)
	assert.Zero(t, twice(sent), "sent twice")
	assert.Len(t, sent, run.messages, "lost")
	assert.Equal(t, run.messages, countOf(t, r, completed))
}

// drain waits until every message is completed, cancelled or discarded.
func (run torment) drain(ctx context.Context, t *testing.T, r rig) {
	t.Helper()
	for reported := time.Now(); ; sleep(ctx, 300*time.Millisecond) {
		status, err := r.Status(ctx)
		require.NoError(t, err)
		final := 0
		for _, channel := range status {
			final += channel.States[completed] + channel.States[cancelled] + channel.States[discarded]
		}
		if final == run.messages {
			return
		}
		if time.Since(reported) > 20*time.Second {
			reported = time.Now()
			t.Log(status)
		}
	}
}

// twice returns how many messages the service accepted more than once.
func twice(sent map[string]int) (n int) {
	for _, times := range sent {
		if times > 1 {
			n++
		}
	}
	return n
}
