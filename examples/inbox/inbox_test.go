package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

var whole = flag.Bool("whole", false, "run the kill tests at full size")

const (
	secret = "s3cret"
	// With engineEnv the test binary is a receiver or a consumer on that engine, as roleEnv says.
	engineEnv, roleEnv, databaseEnv = "INBOX_ENGINE", "INBOX_ROLE", "INBOX_DATABASE"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(engineEnv); url != "" {
		if err := process(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// process is the main function of a process that is killed. A receiver prints its address. It ends with its standard input.
func process(url string) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	stream, err := Connect(url, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer stream.Close()
	if os.Getenv(roleEnv) == "handle" {
		effect, err := openEffect(ctx, os.Getenv(databaseEnv))
		if err != nil {
			return err
		}
		return stream.Handle(ctx, Consumer{Name: "handler", HandleTimeout: 2 * time.Second}, effect.handle)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return Receive(ctx, listener, stream, secret)
}

// child is a receiver or a consumer in a process of its own.
type child struct {
	role, url, database string

	mu      sync.Mutex
	command *exec.Cmd
	input   io.Closer
	address atomic.Pointer[string]
}

func (c *child) start(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.command = exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	c.command.Env = append(os.Environ(), engineEnv+"="+c.url, roleEnv+"="+c.role, databaseEnv+"="+c.database)
	c.command.Stderr = os.Stderr
	input, err := c.command.StdinPipe()
	require.NoError(t, err)
	c.input = input
	output, err := c.command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.command.Start())
	if c.role == "receive" {
		line, err := bufio.NewReader(output).ReadString('\n')
		require.NoError(t, err)
		c.address.Store(new(strings.TrimSpace(line)))
	}
}

func (c *child) kill(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	require.NoError(t, c.command.Process.Kill())
	_ = c.command.Wait()
}

func (c *child) end(t *testing.T) {
	t.Helper()
	_ = c.input.Close()
	assert.NoError(t, c.command.Wait())
}

func engine(t *testing.T) *server.Server {
	t.Helper()
	s, err := startEngine(t.TempDir(), 0)
	require.NoError(t, err)
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

func prepared(t *testing.T, url string, setup Setup) *Stream {
	t.Helper()
	s, err := Connect(url, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, s.Prepare(t.Context(), setup))
	return s
}

func stored(t *testing.T, s *Stream, name string) int {
	t.Helper()
	stream, err := s.js.Stream(t.Context(), name)
	require.NoError(t, err)
	return int(stream.CachedInfo().State.Msgs)
}

// request returns the request with which the service sends an event, of one of four kinds.
func request(n int) *http.Request {
	hook := func(name string) string {
		return "http://receiver.example/hooks/" + name + "?" + secretParameter + "=" + secret
	}
	text := fmt.Sprint("event ", n)
	switch n % 4 {
	case 0:
		return messagingtest.SMSRequest(hook("sms"), messagingtest.InboundSMS{ID: fmt.Sprint("in-", n), From: "639171234567", Text: text})
	case 1: // without an ID: its parameters and its time identify it
		return messagingtest.SMSRequest(hook("sms"), messagingtest.InboundSMS{
			From: "639171234567", Text: text, ReceivedAt: time.Unix(1791038663+60*int64(n), 0),
		})
	case 2:
		return messagingtest.ChatAppRequest(hook("chatapp2"), messagingtest.InboundChatApp{
			Channel: messagingtest.ChannelChatApp2, ID: fmt.Sprint("in-", n), From: "639171234567", Text: text,
		})
	default:
		return messagingtest.DeliveryRequest(hook("delivery"), messagingtest.DeliveryReport{ID: fmt.Sprint("out-", n), ReferenceID: text, Status: "delivered"})
	}
}

func respond(t *testing.T, s *Stream, r *http.Request) int {
	t.Helper()
	handler, err := NewHandler(s, secret)
	require.NoError(t, err)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, r)
	return response.Code
}

// TestEachEventIsHandledOnce: every event comes twice, to two receivers, while receivers and consumers are killed, and the engine is
// restarted.
func TestEachEventIsHandledOnce(t *testing.T) {
	events, kills := 300, 3
	if *whole {
		events, kills = 10_000, 40
	}
	folder := t.TempDir()
	running, err := startEngine(folder, 0)
	require.NoError(t, err)
	defer func() { running.Shutdown(); running.WaitForShutdown() }()
	s := prepared(t, running.ClientURL(), Setup{})
	database := filepath.Join(t.TempDir(), "inbox.db")
	effect, err := openEffect(t.Context(), database)
	require.NoError(t, err)
	defer effect.Close()
	var receivers, all []*child
	for _, role := range []string{"receive", "receive", "handle", "handle"} {
		c := &child{role: role, url: running.ClientURL(), database: database}
		c.start(t)
		all = append(all, c)
		if role == "receive" {
			receivers = append(receivers, c)
		}
	}
	defer func() {
		for _, c := range all {
			c.end(t)
		}
	}()

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	calls := make(chan int)
	var callers sync.WaitGroup
	var done atomic.Int64
	for range 16 {
		callers.Go(func() {
			for n := range calls {
				for ctx.Err() == nil && !deliver(ctx, client, *receivers[n%2].address.Load(), n/2) {
					time.Sleep(20 * time.Millisecond) // the service calls again
				}
				done.Add(1)
			}
		})
	}
	callers.Go(func() {
		defer close(calls)
		for n := range 2 * events {
			calls <- n
		}
	})
	for i := range kills {
		for ctx.Err() == nil && int(done.Load()) < (i+1)*2*events/(kills+1) {
			time.Sleep(time.Millisecond)
		}
		all[i%4].kill(t)
		all[i%4].start(t)
		if i == kills/2 {
			port := running.Addr().(*net.TCPAddr).Port
			running.Shutdown()
			running.WaitForShutdown()
			running, err = startEngine(folder, port)
			require.NoError(t, err)
		}
	}
	callers.Wait()
	require.NoError(t, ctx.Err())
	assert.Equal(t, events, stored(t, s, eventStream), "stored once")
	require.Eventually(t, func() bool {
		n, err := effect.count(ctx)
		return err == nil && n >= events
	}, time.Minute, 50*time.Millisecond)
	var keys int
	require.NoError(t, effect.QueryRowContext(ctx, "SELECT COUNT(DISTINCT key) FROM event").Scan(&keys))
	n, err := effect.count(ctx)
	require.NoError(t, err)
	assert.Equal(t, []int{events, events}, []int{keys, n}, "handled once")
}

func deliver(ctx context.Context, client *http.Client, address string, n int) bool {
	r := request(n).WithContext(ctx)
	r.URL.Host, r.RequestURI = address, ""
	response, err := client.Do(r)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusOK
}

func TestReceiverStoresBeforeItResponds(t *testing.T) {
	running := engine(t)
	s := prepared(t, running.ClientURL(), Setup{})
	for n := range 8 {
		assert.Equal(t, http.StatusOK, respond(t, s, request(n)))
		assert.Equal(t, n+1, stored(t, s, eventStream))
		assert.Equal(t, http.StatusOK, respond(t, s, request(n)), "again, at another receiver")
		assert.Equal(t, n+1, stored(t, s, eventStream))
	}
	running.Shutdown()
	running.WaitForShutdown()
	assert.Equal(t, http.StatusInternalServerError, respond(t, s, request(9)), "so that the service calls again")
	assert.Equal(t, http.StatusServiceUnavailable, respond(t, s, httptest.NewRequest(http.MethodGet, "/healthz", nil)))
}

func TestReceiverStoresTheLongestEvent(t *testing.T) {
	s := prepared(t, engine(t).ClientURL(), Setup{})
	long := messagingtest.SMSRequest("http://receiver.example/hooks/sms?"+secretParameter+"="+secret,
		messagingtest.InboundSMS{ID: "long", From: "639171234567", Text: strings.Repeat("é", 10_000)}) // 60,000 bytes of query
	assert.Equal(t, http.StatusOK, respond(t, s, long))
	stream, err := s.js.Stream(t.Context(), eventStream)
	require.NoError(t, err)
	assert.Less(t, int(stream.CachedInfo().State.Bytes), maxEvent)
}

// TestReceiverRefusesWhatDoesNotFit: a stream, an account or a disk without room loses no event that got a 200.
func TestReceiverRefusesWhatDoesNotFit(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) *Stream{
		"stream": func(t *testing.T) *Stream {
			t.Helper()
			return prepared(t, engine(t).ClientURL(), Setup{MaxBytes: 3000})
		},
		"server": func(t *testing.T) *Stream {
			t.Helper()
			small, err := server.NewServer(&server.Options{
				Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, JetStreamMaxStore: 3000, StoreDir: t.TempDir(), NoSigs: true,
			})
			require.NoError(t, err)
			small.Start()
			t.Cleanup(func() { small.Shutdown(); small.WaitForShutdown() })
			require.True(t, small.ReadyForConnections(30*time.Second))
			return prepared(t, small.ClientURL(), Setup{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			taken := 0
			for n := range 30 {
				if status := respond(t, s, request(n)); status == http.StatusOK {
					taken++
				} else {
					assert.Equal(t, http.StatusInternalServerError, status, "so that the service calls again")
				}
			}
			assert.Positive(t, taken)
			assert.Less(t, taken, 30)
			assert.Equal(t, taken, stored(t, s, eventStream), "none is discarded for another")
			assert.Equal(t, http.StatusServiceUnavailable, respond(t, s, httptest.NewRequest(http.MethodGet, "/healthz", nil)))
		})
	}
}

func TestHealthyWithRoom(t *testing.T) {
	s := prepared(t, engine(t).ClientURL(), Setup{MaxBytes: 1 << 20})
	assert.Equal(t, http.StatusOK, respond(t, s, httptest.NewRequest(http.MethodGet, "/healthz", nil)))
}

func TestNewHandlerRequiresASecret(t *testing.T) {
	_, err := NewHandler(&Stream{log: slog.New(slog.DiscardHandler)}, " ")
	require.EqualError(t, err, "inbox: the secret is empty, so anyone could send events")
}

// TestPublishAfterALostResponse: a try whose response was lost may have stored the event, and the next one finds it.
func TestPublishAfterALostResponse(t *testing.T) {
	s := prepared(t, engine(t).ClientURL(), Setup{})
	lossy := &lossyEngine{JetStream: s.js}
	lossy.lost.Store(1)
	s.js = lossy
	for _, e := range []Event{ // the second has no lasting key
		newEvent(webhook.CallbackSMS, webhook.SMSMessage{ID: "a"}), newEvent(webhook.CallbackSMS, webhook.SMSMessage{Text: "b"}),
	} {
		lossy.lost.Store(1)
		require.NoError(t, s.Publish(t.Context(), e))
	}
	assert.Equal(t, 2, stored(t, s, eventStream))
}

// lossyEngine does what it is asked, and loses some responses.
type lossyEngine struct {
	jetstream.JetStream

	lost atomic.Int32
}

func (l *lossyEngine) Publish(ctx context.Context, subject string, data []byte, options ...jetstream.PublishOpt) (*jetstream.PubAck, error) {
	ack, err := l.JetStream.Publish(ctx, subject, data, options...)
	if err == nil && l.lost.Add(-1) >= 0 {
		return nil, context.DeadlineExceeded
	}
	return ack, err
}

func TestHandleRepeatsAndParks(t *testing.T) {
	s := prepared(t, engine(t).ClientURL(), Setup{})
	for n := range 3 {
		require.Equal(t, http.StatusOK, respond(t, s, request(n)))
	}
	_, err := s.js.Publish(t.Context(), "inbox.sms.bad", []byte(`{"version": 2}`)) // of a newer version
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var order []uint64
	require.NoError(t, s.Handle(ctx, Consumer{Name: "handler", MaxTries: 2}, func(_ context.Context, e Event) error {
		order = append(order, e.Sequence)
		if stored(t, s, parkedStream) == 1 || len(order) >= 4 {
			time.AfterFunc(2500*time.Millisecond, cancel)
		}
		if e.Sequence == 1 {
			return assert.AnError
		}
		return nil
	}))
	assert.Equal(t, []uint64{1, 2, 3, 1}, order, "others come while one waits")
	assert.Equal(t, 2, stored(t, s, parkedStream), "the one that failed, and the one that cannot be read")
}

func TestEventRoundTrip(t *testing.T) {
	var events []Event
	receiver, err := webhook.NewReceiver(webhook.WithSecret(secretParameter, secret))
	require.NoError(t, err)
	keep := func(callback webhook.Callback, m Message) error {
		events = append(events, newEvent(callback, m))
		return nil
	}
	for n, handler := range []http.Handler{
		receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error { return keep(webhook.CallbackSMS, m) }),
		receiver.SMS(func(_ context.Context, m webhook.SMSMessage) error { return keep(webhook.CallbackSMS, m) }),
		receiver.ChatApp2(func(_ context.Context, m webhook.ChatMessage) error { return keep(m.Callback, m) }),
		receiver.Delivery(func(_ context.Context, m webhook.DeliveryReport) error { return keep(webhook.CallbackDelivery, m) }),
	} {
		handler.ServeHTTP(httptest.NewRecorder(), request(n))
	}
	require.Len(t, events, 4)
	for _, e := range events {
		data, err := json.Marshal(e)
		require.NoError(t, err)
		var decoded Event
		require.NoError(t, json.Unmarshal(data, &decoded))
		key, lasting := decoded.Message.DuplicateKey()
		assert.Equal(t, []any{e.Key, e.Lasting, e.Callback}, []any{key, lasting, decoded.Callback})
		again, err := json.Marshal(decoded)
		require.NoError(t, err)
		assert.JSONEq(t, string(data), string(again))
	}
	for _, bad := range []string{`{`, `{"version": 2}`, `{"version": 1, "callback": "pigeon"}`, `{"version": 1, "callback": "sms", "message": "639171234567"}`} {
		err := new(Event).UnmarshalJSON([]byte(bad))
		require.ErrorIs(t, err, ErrBadEvent)
		assert.NotContains(t, err.Error(), "639")
	}
}

func TestRun(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out, nil))
	assert.Equal(t, "500 events, each delivered to both receivers: 500 handled\n", out.String())
	require.Error(t, run(t.Context(), &out, []string{"receive", "-nats", "nats://127.0.0.1:1"}))
	err := run(t.Context(), &out, []string{"sing", "-nats", engine(t).ClientURL()})
	require.EqualError(t, err, `there is no command "sing"; want receive or handle`)
	require.NotErrorIs(t, err, flag.ErrHelp)
}
