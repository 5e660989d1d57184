package messagingriver_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
)

// statements counts the statements of a pool.
type statements struct{ n atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	s.n.Add(1)
	return ctx
}

func (s *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

const speedMessages, speedWorkers = 5000, 100

// BenchmarkSend sends by the outbox and by a worker of bare River that calls SMS.Send, in turns, on PostgreSQL. It reports messages and
// statements, without the statements of the insertion.
func BenchmarkSend(b *testing.B) {
	if os.Getenv("OUTBOX_POSTGRES") == "" {
		b.Skip(".ci/with-postgres runs this beside a PostgreSQL")
	}
	var outbox, bare time.Duration
	var outboxStatements, bareStatements int64
	rounds := 0
	for b.Loop() {
		elapsed, n := sendByOutbox(b)
		outbox += elapsed
		outboxStatements += n
		elapsed, n = sendByRiver(b)
		bare += elapsed
		bareStatements += n
		rounds++
	}
	messages := float64(rounds * speedMessages)
	b.ReportMetric(messages/outbox.Seconds(), "outbox-msg/s")
	b.ReportMetric(messages/bare.Seconds(), "river-msg/s")
	b.ReportMetric(bare.Seconds()/outbox.Seconds(), "of-river")
	b.ReportMetric(float64(outboxStatements)/messages, "statements/msg")
	b.ReportMetric(float64(bareStatements)/messages, "river-statements/msg")
}

// countingPool returns a pool that counts statements.
func countingPool(b *testing.B) (*pgxpool.Pool, *statements) {
	b.Helper()
	config := openPostgres(b).Config()
	count := new(statements)
	config.ConnConfig.Tracer = count
	config.MaxConns = 20
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	return pool, count
}

func sendByOutbox(b *testing.B) (time.Duration, int64) {
	b.Helper()
	service := messagingtest.NewServer(b)
	pool, count := countingPool(b)
	schema := pool.Config().ConnConfig.RuntimeParams["search_path"]
	r := rigOn(b, pool, schema, newClient(b, service), messagingriver.Options{Workers: speedWorkers})
	r.insert(b, messagingriver.InsertOptions{}, texts("m", speedMessages)...)
	before := count.n.Load()
	began := time.Now()
	stop := r.start(b)
	awaitSent(b, service)
	elapsed := time.Since(began)
	stop()
	return elapsed, count.n.Load() - before
}

// bareArgs are the arguments of a bare job that sends.
type bareArgs struct {
	Reference string `json:"reference"`
}

func (bareArgs) Kind() string { return "bare" }

func sendByRiver(b *testing.B) (time.Duration, int64) {
	b.Helper()
	service := messagingtest.NewServer(b)
	client := newClient(b, service)
	pool, count := countingPool(b)
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	_, err = migrator.Migrate(b.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(b, err)
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, job *river.Job[bareArgs]) error {
		_, err := client.SMS.Send(ctx, text(job.Args.Reference))
		return err
	}))
	worker, err := river.NewClient(driver, &river.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler),
		Queues: map[string]river.QueueConfig{"default": {MaxWorkers: speedWorkers, FetchCooldown: 20 * time.Millisecond}},
	})
	require.NoError(b, err)
	jobs := make([]river.InsertManyParams, speedMessages)
	for i := range jobs {
		jobs[i].Args = bareArgs{fmt.Sprint("m", i)}
	}
	_, err = worker.InsertManyFast(b.Context(), jobs)
	require.NoError(b, err)
	before := count.n.Load()
	began := time.Now()
	require.NoError(b, worker.Start(context.WithoutCancel(b.Context())))
	awaitSent(b, service)
	elapsed := time.Since(began)
	require.NoError(b, worker.Stop(context.WithoutCancel(b.Context())))
	return elapsed, count.n.Load() - before
}

func awaitSent(b *testing.B, service *messagingtest.Server) {
	b.Helper()
	deadline := time.Now().Add(time.Minute)
	for len(service.Sent()) < speedMessages {
		require.True(b, time.Now().Before(deadline), "%d were sent", len(service.Sent()))
		time.Sleep(5 * time.Millisecond)
	}
}
