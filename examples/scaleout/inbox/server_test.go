package inbox_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/messaging-service/messaging-go/examples/scaleout/embedded"
	"github.com/messaging-service/messaging-go/examples/scaleout/engine"
	"github.com/messaging-service/messaging-go/examples/scaleout/inbox"
	"github.com/messaging-service/messaging-go/messagingtest"
	"github.com/messaging-service/messaging-go/webhook"
)

// served is a receiver in this process.
type served struct {
	base   string
	stop   context.CancelFunc
	result chan error
}

// serve starts a receiver that ends with the test.
func serve(t *testing.T, c *engine.Connection, config inbox.Config) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	config.Secret = secret
	ctx, stop := context.WithCancel(t.Context())
	s := &served{base: "http://" + listener.Addr().String(), stop: stop, result: make(chan error, 1)}
	var wg sync.WaitGroup
	wg.Go(func() { s.result <- inbox.Serve(ctx, listener, c, config) })
	t.Cleanup(func() {
		stop()
		wg.Wait()
	})
	return s
}

// hook returns the URL that the service calls.
func (s *served) hook(path string) string { return s.base + path + "?key=" + secret }

// call requests a URL as the service does, on a new connection, and returns the status code.
func call(t *testing.T, target string) int {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Get(target)
	if !assert.NoError(t, err) {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// sms returns the URL with which the service sends an inbound SMS.
func (s *served) sms(m messagingtest.InboundSMS) string {
	return s.base + messagingtest.SMSRequest(inbox.SMSPath+"?key="+secret, m).URL.RequestURI()
}

func TestServeStoresEveryKindOnce(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	receivers := []*served{serve(t, c, inbox.Config{}), serve(t, c, inbox.Config{})}
	service := messagingtest.NewServer(t)
	want := make(map[inbox.Kind]int)
	for kind, path := range map[inbox.Kind]string{inbox.SMS: inbox.SMSPath, inbox.ChatApp1: inbox.ChatApp1Path, inbox.ChatApp2: inbox.ChatApp2Path, inbox.Delivery: inbox.DeliveryPath} {
		callbacks := map[inbox.Kind]messagingtest.Callback{
			inbox.SMS: messagingtest.InboundSMS{ID: "in-1", From: "639171234567", Text: "Hi"}, inbox.ChatApp1: messagingtest.InboundChatApp{ID: "in-1", From: "639171234567", Text: "Hi"},
			inbox.ChatApp2: messagingtest.InboundChatApp{ID: "in-1", From: "639171234567", Text: "Hi"}, inbox.Delivery: messagingtest.DeliveryReport{ID: "out-1", Status: "delivered"},
		}
		for _, r := range receivers {
			replies := service.Receive(t.Context(), r.hook(path), callbacks[kind], messagingtest.TwiceAtOnce(), messagingtest.RetryFailures(100))
			for _, reply := range replies {
				assert.NoError(t, reply.Err)
			}
			assert.Equal(t, http.StatusOK, replies[len(replies)-1].StatusCode)
		}
		want[kind] = 1
	}
	got := make(map[inbox.Kind]int)
	for _, e := range read(t, c, 4, inbox.ReadOptions{Name: "test"}) {
		got[e.Kind]++
		key, lasting := e.Message.(interface{ DuplicateKey() (string, bool) }).DuplicateKey()
		assert.Equal(t, e.Key, key)
		assert.True(t, lasting)
		assert.WithinDuration(t, time.Now(), e.ArrivedAt, time.Hour)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, 4, stored(t, c))
}

func TestServeStoresEveryEventOfEnvelope(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	r := serve(t, c, inbox.Config{})
	const envelope = `{"object": "account", "entry": [{"changes": [{"field": "messages", "value": {
		"messages": [{"id": "in-1", "from": "639171234567", "type": "text", "text": {"body": "Hi"}}],
		"statuses": [{"id": "out-1", "status": "sent"}, {"id": "out-1", "status": "read"}]}}]}]}`
	for range 2 {
		assert.Equal(t, http.StatusOK, call(t, r.hook(inbox.ChatApp2Path)+"&payload="+url.QueryEscape(envelope)))
	}
	got := make(map[inbox.Kind]int)
	for _, e := range read(t, c, 3, inbox.ReadOptions{Name: "test"}) {
		got[e.Kind]++
	}
	assert.Equal(t, map[inbox.Kind]int{inbox.ChatApp2: 1, inbox.Delivery: 2}, got)
	assert.Equal(t, 3, stored(t, c))
}

func TestServeTakesOverAfterLease(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	killed, survivor := newStore(t, c, 5*time.Second), serve(t, c, inbox.Config{})
	message := func(id string) webhook.SMSMessage {
		return webhook.SMSMessage{ID: id, From: "639171234567", Text: "Hi"}
	}
	const afterClaim, afterStoring = "killed-after-the-claim", "killed-after-the-event-was-stored"
	events := make(map[string]string)
	for _, id := range []string{afterClaim, afterStoring} {
		requireClaim(t, killed, keyOf(message(id)))
		events[id] = survivor.sms(messagingtest.InboundSMS{ID: id, From: "639171234567", Text: "Hi"})
	}
	require.NoError(t, newPublisher(t, c).SMS(t.Context(), message(afterStoring)))
	for id, event := range events {
		assert.Equal(t, http.StatusServiceUnavailable, call(t, event), id)
	}
	for id, event := range events {
		require.Eventually(t, func() bool { return call(t, event) == http.StatusOK }, time.Minute, 100*time.Millisecond, id)
		assertHandled(t, killed, keyOf(message(id)))
	}
	assert.Equal(t, 2, stored(t, c))
}

func TestServeRespondsUnavailableWithoutEngine(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s, err := embedded.Start(directory, 0)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	c := connect(t, s.URL())
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{}))
	r := serve(t, c, inbox.Config{Lease: long}) // a buffered claim would hold the event for this long
	event := r.sms(messagingtest.InboundSMS{ID: "in-1", From: "639171234567", Text: "Hi"})
	assert.Equal(t, http.StatusOK, call(t, r.base+inbox.HealthPath))

	address, err := url.Parse(s.URL())
	require.NoError(t, err)
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)
	s.Close()
	require.Eventually(t, func() bool { return !c.NATS.IsConnected() }, time.Minute, 10*time.Millisecond)
	assert.Equal(t, http.StatusServiceUnavailable, call(t, event))
	assert.Equal(t, http.StatusServiceUnavailable, call(t, r.base+inbox.HealthPath))

	s, err = embedded.Start(directory, port)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return call(t, r.base+inbox.HealthPath) == http.StatusOK }, time.Minute, 50*time.Millisecond)
	require.Eventually(t, func() bool { return call(t, event) == http.StatusOK }, time.Minute, 50*time.Millisecond)
	assert.Equal(t, 1, stored(t, c))
}

func TestHealthWithoutStream(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	r := serve(t, c, inbox.Config{})
	assert.Equal(t, http.StatusOK, call(t, r.base+inbox.HealthPath))
	require.NoError(t, c.JetStream.DeleteStream(t.Context(), c.Name(engine.Inbox)))
	require.Eventually(t, func() bool { return call(t, r.base+inbox.HealthPath) == http.StatusServiceUnavailable }, time.Minute, 50*time.Millisecond)
}

func TestHealthReportsFullInbox(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	r := serve(t, c, inbox.Config{})
	assert.Equal(t, http.StatusOK, call(t, r.base+inbox.HealthPath))
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{MaxBytes: 200_000})) // less than what one event can take
	require.Eventually(t, func() bool { return call(t, r.base+inbox.HealthPath) == http.StatusServiceUnavailable }, time.Minute, 50*time.Millisecond)
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{MaxBytes: 1 << 20}))
	require.Eventually(t, func() bool { return call(t, r.base+inbox.HealthPath) == http.StatusOK }, time.Minute, 50*time.Millisecond)
}

func TestReceiverRefusesEventsThatDoNotFit(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	require.NoError(t, c.Prepare(t.Context(), engine.Setup{MaxBytes: 2000}))
	r := serve(t, c, inbox.Config{})
	accepted, refused := 0, 0
	for n := 0; refused == 0 && n < 20; n++ {
		switch call(t, r.sms(messagingtest.InboundSMS{ID: strconv.Itoa(n), From: "639171234567", ReceivedAt: time.Now()})) {
		case http.StatusOK:
			accepted++
		default:
			refused++
		}
	}
	assert.Equal(t, 1, refused)
	assert.Equal(t, accepted, stored(t, c), "an accepted event was discarded")
}

func TestServeCompletesEventsOnShutdown(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	started, proceed := make(chan struct{}), make(chan struct{})
	r := serve(t, (&lossyEngine{before: func() error {
		close(started)
		<-proceed
		return nil
	}}).over(c), inbox.Config{})
	status := make(chan int, 1)
	go func() { status <- call(t, r.sms(messagingtest.InboundSMS{ID: "in-1", From: "639171234567"})) }()
	<-started
	r.stop()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, time.Minute, 10*time.Millisecond, "the receiver must accept no more connections")
	close(proceed)
	assert.Equal(t, http.StatusOK, <-status)
	assert.NoError(t, <-r.result)
	assert.Equal(t, 1, stored(t, c))
}

func TestServeRequiresSecret(t *testing.T) {
	t.Parallel()
	_, c := startEngine(t)
	r := serve(t, c, inbox.Config{})
	assert.Equal(t, http.StatusForbidden, call(t, r.base+inbox.SMSPath+"?key=guess&from=1"))
	assert.Equal(t, http.StatusNotFound, call(t, r.base+"/"))
	assert.Equal(t, http.StatusNotFound, call(t, strings.Replace(r.hook(inbox.SMSPath), inbox.SMSPath, "/"+inbox.SMSPath, 1)+"&from=1"), "the mux must not redirect")
	assert.Zero(t, stored(t, c))
	for problem, config := range map[string]inbox.Config{
		"the secret is empty": {Secret: " "}, "WithStore": {Secret: secret, Options: []webhook.Option{webhook.WithStore(nil)}},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.ErrorContains(t, inbox.Serve(t.Context(), listener, c, config), problem)
		assert.ErrorIs(t, listener.Close(), net.ErrClosed, "the listener is left open")
	}
}

func TestServeLogsNothingPersonal(t *testing.T) {
	t.Parallel()
	s, c := startEngine(t)
	var out lockedBuffer
	c.Log = slog.New(slog.NewJSONHandler(&out, nil))
	r := serve(t, c, inbox.Config{})
	event := r.sms(messagingtest.InboundSMS{ID: "in-1", From: "639171234567", Text: "Hithere"})
	assert.Equal(t, http.StatusOK, call(t, event))
	s.Close()
	assert.Equal(t, http.StatusServiceUnavailable, call(t, event))
	for line := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		assert.True(t, json.Valid([]byte(line)))
	}
	assert.Contains(t, out.String(), inbox.ErrUnavailable.Error())
	for _, personal := range []string{"639171234567", "Hithere", secret} {
		assert.NotContains(t, out.String(), personal)
	}
}

// lockedBuffer is a buffer for concurrent use.
type lockedBuffer struct {
	mu  sync.Mutex
	out strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}
