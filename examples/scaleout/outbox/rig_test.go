package outbox

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	messaging "github.com/messaging-service/messaging-go"
	"github.com/messaging-service/messaging-go/chatapp1"
	"github.com/messaging-service/messaging-go/chatapp2"
	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/metrics"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/sms"
)

var whole = flag.Bool("whole", false, "read a million records")

func TestMain(m *testing.M) {
	flag.Parse()
	// The tests mostly wait, so more of them than processors can run at once.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// rig is an engine, a test server for the service, and a loader.
type rig struct {
	t         *testing.T
	directory string
	server    *embedded.Server
	engine    *engine.Connection
	service   *messagingtest.Server
	outbox    *Outbox
}

func newRig(t *testing.T, setup engine.Setup) *rig {
	t.Helper()
	if setup.AckWait == 0 {
		setup.AckWait = 3 * time.Second
	}
	r := &rig{t: t, directory: t.TempDir(), service: messagingtest.NewServer(t)}
	var err error
	r.server, err = embedded.Start(r.directory, 0)
	require.NoError(t, err)
	t.Cleanup(func() { r.server.Close() })
	r.engine, err = engine.Connect(t.Context(), engine.Options{URL: r.server.URL(), Environment: "test"})
	require.NoError(t, err)
	t.Cleanup(r.engine.Close)
	require.NoError(t, r.engine.Prepare(t.Context(), setup))
	r.outbox, err = Open(t.Context(), r.engine)
	require.NoError(t, err)
	return r
}

// relaxedOptions returns worker options under which even a busy machine responds in time.
func relaxedOptions() WorkerOptions {
	options := fastOptions()
	options.SendTimeout = 2 * time.Second
	return options
}

// fastOptions returns worker options for tests that wait until a send must have ended.
func fastOptions() WorkerOptions {
	return WorkerOptions{
		SendTimeout: 500 * time.Millisecond, SettleWindow: 300 * time.Millisecond, SettleInterval: 20 * time.Millisecond, Resend: true, Metrics: metrics.New(),
	}
}

func (r *rig) worker(options WorkerOptions) *Worker {
	r.t.Helper()
	client, err := messaging.NewClient(r.service.URL, messaging.WithToken(r.service.Token))
	require.NoError(r.t, err)
	w, err := r.outbox.NewWorker(client, options)
	require.NoError(r.t, err)
	return w
}

// start runs a worker until stop is called or the test ends.
func (r *rig) start(options WorkerOptions) (stop func()) {
	r.t.Helper()
	return r.run(r.worker(options))
}

func (r *rig) run(w *Worker) (stop func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	r.t.Cleanup(stop)
	return stop
}

func (r *rig) put(messages ...Message) {
	r.t.Helper()
	for _, m := range messages {
		_, err := r.outbox.Put(r.t.Context(), m)
		require.NoError(r.t, err)
	}
}

// publish adds a token to the stream once more, regardless of the record.
func (r *rig) publish(m Message, token int) {
	r.t.Helper()
	e := Entry{Key: m.Key(), Channel: m.channel, Record: Record{Lane: string(m.priority), Token: token}}
	_, err := r.outbox.publish(r.t.Context(), e)
	require.NoError(r.t, err)
}

// forceRecord writes a record as a killed process would have left it.
func (r *rig) forceRecord(m Message, record Record) {
	r.t.Helper()
	record.Hash, record.Reference = hash(m.line), m.reference
	if record.Lane == "" {
		record.Lane = string(m.priority)
	}
	if record.Line == nil && record.State != Accepted {
		record.Line = m.line
	}
	value, err := json.Marshal(record)
	require.NoError(r.t, err)
	_, err = r.outbox.records.Put(r.t.Context(), m.Key(), value)
	require.NoError(r.t, err)
}

func (r *rig) record(m Message) Record {
	r.t.Helper()
	e, err := r.outbox.read(r.t.Context(), m.Key())
	require.NoError(r.t, err)
	return e.Record
}

// waitFor waits until the record of a message has a state.
func (r *rig) waitFor(m Message, state State) Record {
	r.t.Helper()
	var last Record
	require.Eventually(r.t, func() bool {
		last = r.record(m)
		return last.State == state
	}, 30*time.Second, 10*time.Millisecond, "the message did not become %s", state)
	return last
}

// waitForAll waits until every message has a final record and the stream is empty.
func (r *rig) waitForAll() {
	r.t.Helper()
	r.waitForQueue(0)
	for e, err := range r.outbox.All(r.t.Context()) {
		require.NoError(r.t, err)
		require.True(r.t, e.State.IsFinal(), "%s is %s", e.Key, e.State)
	}
}

// waitForQueue waits until the stream has so many tokens.
func (r *rig) waitForQueue(n int) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return r.queueLength() == n }, 30*time.Second, 20*time.Millisecond)
}

// queueLength returns the number of messages in the stream.
func (r *rig) queueLength() int {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
	defer cancel()
	stream, err := r.engine.Stream(ctx, engine.Outbox)
	if err != nil {
		return -1
	}
	return int(stream.CachedInfo().State.Msgs)
}

// sendCount returns how many times the service received a message.
func (r *rig) sendCount(m Message) int {
	n := 0
	for _, s := range r.service.Sent() {
		if string(s.Channel) == string(m.channel) && s.ReferenceID == m.reference {
			n++
		}
	}
	return n
}

func testSMS(t *testing.T, n int) Message {
	t.Helper()
	m, err := NewMessage(sms.Message{From: "ACME", To: fmt.Sprintf("+63917%07d", n), Text: "We open at nine", ReferenceID: fmt.Sprintf("order-%d", n)}, Options{})
	require.NoError(t, err)
	return m
}

func testChatApp1(t *testing.T, n int) Message {
	t.Helper()
	m, err := NewMessage(chatapp1.New("channel", fmt.Sprintf("+63917%07d", n)).Text("We open at nine").WithReference(fmt.Sprintf("order-%d", n)), Options{})
	require.NoError(t, err)
	return m
}

func testChatApp2(t *testing.T, n int) Message {
	t.Helper()
	m, err := NewMessage(chatapp2.Message{
		To: fmt.Sprintf("+63917%07d", n), Content: chatapp2.Text{Body: "We open at nine"}, ReferenceID: fmt.Sprintf("order-%d", n),
	}, Options{})
	require.NoError(t, err)
	return m
}
