package messagingriver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/messagingriver"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

// atOnce is how many messages each of them sends at a time.
const atOnce = 100

// BenchmarkOutbox measures how many messages a second the outbox takes in and sends, beside a bare River worker that makes the same
// request by hand, with a job for each message, and beside SendAll without any database. Each sends a hundred at a time. One operation
// is 20,000 messages through all three. The figures are medians of the operations, and a ratio is of two times of one operation:
//
//	.ci/with-postgres go -C messagingriver test -run '^$' -bench Outbox -benchtime 5x
func BenchmarkOutbox(b *testing.B) {
	for _, bb := range databases() {
		b.Run(bb.name, func(b *testing.B) {
			const messages, each = 20_000, 1_000
			took, cpu := map[string][]float64{}, map[string][]float64{}
			measure := func(what string, f func()) {
				began, used := time.Now(), userCPU(b)
				f()
				took[what] = append(took[what], time.Since(began).Seconds())
				cpu[what] = append(cpu[what], (userCPU(b) - used).Seconds())
			}
			for b.Loop() {
				service, client := connected(b)
				r := bb.newRig(b, client, messagingriver.Options{Workers: atOnce})
				measure("in", func() {
					for batch := range slices.Chunk(samples("outbox", messages), each) {
						messages := make([]messaging.Message, len(batch))
						for i, m := range batch {
							messages[i] = m
						}
						insert(b, r, messages...)
					}
				})
				await := func(n int) {
					for began := time.Now(); service.Requests() < n; time.Sleep(20 * time.Millisecond) {
						require.Less(b, time.Since(began), 2*time.Minute)
					}
				}
				measure("outbox", func() {
					stop := r.start(b)
					await(messages)
					stop() // when all is recorded
				})
				r.bare(b, messages, service, func(start, stop func()) {
					measure("bare", func() {
						start()
						await(2 * messages)
						stop()
					})
				})
				measure("sendall", func() {
					for out := range client.SMS.SendAll(b.Context(), slices.Values(samples("sendall", messages)), atOnce) {
						require.NoError(b, out.Err)
					}
				})
				require.Len(b, service.Sent(), 3*messages)
			}
			report := func(unit string, all []float64) {
				slices.Sort(all)
				b.ReportMetric(all[0], unit+"-min")
				b.ReportMetric(all[len(all)/2], unit)
				b.ReportMetric(all[len(all)-1], unit+"-max")
			}
			for _, other := range []string{"bare", "sendall"} {
				var ratios []float64
				for i, d := range took["outbox"] {
					ratios = append(ratios, took[other][i]/d)
				}
				report("of-"+other, ratios)
			}
			for what := range took {
				slices.Sort(took[what])
				slices.Sort(cpu[what])
				b.ReportMetric(messages/took[what][b.N/2], what+"/s")
				b.ReportMetric(cpu[what][b.N/2]*1e6/messages, what+"-µs-CPU")
			}
		})
	}
}

// BenchmarkSize measures how much disk 10,000 messages of 80 characters take with their jobs and indexes: while they wait, when they
// are accepted, and then packed, as a vacuum leaves them. The bytes are those of one message:
//
//	.ci/with-postgres go -C messagingriver test -run '^$' -bench Size -benchtime 1x
func BenchmarkSize(b *testing.B) {
	sizes := map[string][2]string{
		"SQLite":     {"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", "VACUUM"},
		"PostgreSQL": {"SELECT pg_total_relation_size('messaging_outbox') + pg_total_relation_size('river_job')", "VACUUM FULL messaging_outbox, river_job"},
	}
	for _, bb := range databases() {
		b.Run(bb.name, func(b *testing.B) {
			const messages = 10_000
			service, client := connected(b)
			r := bb.newRig(b, client, messagingriver.Options{})
			size := func() (bytes float64) {
				require.NoError(b, r.pool().QueryRowContext(b.Context(), sizes[bb.name][0]).Scan(&bytes))
				return bytes / messages
			}
			for b.Loop() {
				for batch := range slices.Chunk(samples("size", messages), 1000) {
					some := make([]messaging.Message, len(batch))
					for i, m := range batch {
						m.Text = "Your order 17 is ready. Show this message at the counter, open from 8 to 20 h. "
						some[i] = m
					}
					insert(b, r, some...)
				}
				b.ReportMetric(size(), "B-waiting")
				stop := r.start(b)
				for service.Requests() < messages {
					time.Sleep(20 * time.Millisecond)
				}
				stop()
				b.ReportMetric(size(), "B-accepted")
				require.NoError(b, r.exec(b.Context(), "DELETE FROM river_job")) // River's cleaner does after a day
				require.NoError(b, r.exec(b.Context(), sizes[bb.name][1]))
				b.ReportMetric(size(), "B-packed")
			}
		})
	}
}

// BenchmarkStatements measures how many transactions of PostgreSQL a message takes, each of which is a statement but for those of
// enqueuing, and how many bytes of its log:
//
//	.ci/with-postgres go -C messagingriver test -run '^$' -bench Statements -benchtime 1x
func BenchmarkStatements(b *testing.B) {
	if os.Getenv("OUTBOX_POSTGRES") == "" {
		return
	}
	const messages = 10_000
	service, client := connected(b)
	r := postgresRig(b, client, messagingriver.Options{Workers: atOnce})
	used := func() (transactions, bytes float64) {
		time.Sleep(1500 * time.Millisecond) // PostgreSQL counts once a second
		require.NoError(b, r.pool().QueryRowContext(b.Context(), `SELECT xact_commit + xact_rollback, pg_current_wal_lsn() - '0/0'::pg_lsn
			FROM pg_stat_database WHERE datname = current_database()`).Scan(&transactions, &bytes))
		return transactions, bytes
	}
	for b.Loop() {
		before, logBefore := used()
		for batch := range slices.Chunk(samples("statements", messages), 1000) {
			some := make([]messaging.Message, len(batch))
			for i, m := range batch {
				some[i] = m
			}
			insert(b, r, some...)
		}
		stop := r.start(b)
		for service.Requests() < messages {
			time.Sleep(5 * time.Millisecond)
		}
		stop()
		after, logAfter := used()
		b.ReportMetric((after-before)/messages, "statements/message")
		b.ReportMetric((logAfter-logBefore)/messages, "B-WAL/message")
	}
}

// userCPU returns the user CPU time that this process has used, its test server included and the PostgreSQL server not. On a machine
// that others use, it says more than the time that passed.
func userCPU(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano())
}

func samples(prefix string, n int) []sms.Message {
	all := make([]sms.Message, n)
	for i := range all {
		all[i] = sms.Message{From: "ACME", To: number, Text: "Your order is ready", ReferenceID: fmt.Sprintf("%s-%d", prefix, i)}
	}
	return all
}

// bareArgs are the body of a request in a job of its own.
type bareArgs struct {
	Body json.RawMessage `json:"body"`
}

func (bareArgs) Kind() string { return "bare" }

// bareWorker is what one writes by hand: a request, and the job fails if it is not accepted. It records no attempt, so that a
// kill sends twice.
type bareWorker struct {
	river.WorkerDefaults[bareArgs]

	request *http.Request // to copy
	client  *http.Client
}

func (w *bareWorker) Work(ctx context.Context, job *river.Job[bareArgs]) error {
	request, err := http.NewRequestWithContext(ctx, w.request.Method, w.request.URL.String(), bytes.NewReader(job.Args.Body))
	if err != nil {
		return err
	}
	request.Header = w.request.Header.Clone()
	response, err := w.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 || !json.Valid(body) {
		return fmt.Errorf("HTTP %d: %w", response.StatusCode, err)
	}
	return nil
}

// newBare returns a bare worker, and the jobs with which it sends n messages.
func newBare(b *testing.B, n int, service *messagingtest.Server) (*bareWorker, []river.InsertManyParams) {
	b.Helper()
	var template []byte
	w := &bareWorker{}
	client, err := messaging.NewClient(service.URL, messaging.WithToken(service.Token), messaging.WithTransport(func(base http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			var err error
			template, err = io.ReadAll(request.Body)
			w.request = request.Clone(b.Context())
			return nil, errors.Join(err, errors.New("captured"))
		})
	}))
	require.NoError(b, err)
	_, _ = client.SMS.Send(b.Context(), sms.Message{From: "ACME", To: number, Text: "Your order is ready", ReferenceID: "bare-0"})
	require.NotEmpty(b, template)
	jobs := make([]river.InsertManyParams, n)
	for i := range jobs {
		jobs[i].Args = bareArgs{bytes.Replace(template, []byte("bare-0"), fmt.Appendf(nil, "bare-%d", i), 1)}
	}
	return w, jobs
}

func (r rigOf[TTx]) bare(b *testing.B, n int, service *messagingtest.Server, run func(start, stop func())) {
	b.Helper()
	w, jobs := newBare(b, n, service)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = atOnce
	defer transport.CloseIdleConnections()
	w.client = &http.Client{Transport: transport, Timeout: time.Minute}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := r.client(&river.Config{
		Workers: workers, Queues: map[string]river.QueueConfig{"bare": {MaxWorkers: atOnce, FetchCooldown: 10 * time.Millisecond}},
	})
	require.NoError(b, err)
	for some := range slices.Chunk(jobs, 1000) {
		for i := range some {
			some[i].InsertOpts = &river.InsertOpts{Queue: "bare"}
		}
		_, err = client.InsertManyFast(b.Context(), some)
		require.NoError(b, err)
	}
	run(func() { require.NoError(b, client.Start(context.WithoutCancel(b.Context()))) },
		func() { require.NoError(b, client.Stop(context.WithoutCancel(b.Context()))) })
}
