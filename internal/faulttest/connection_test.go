package faulttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	messaging "github.com/messaging-service/messaging-go"
)

// The target of a redirect is another host. It must see no message and no credentials, even if the client of the user would follow.
func TestSendDoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		for name, options := range map[string][]messaging.Option{
			"own transport": {messaging.WithToken(testToken)},
			"own header":    {authWithHeader("X-Api-Key")},
			"a client that follows": {messaging.WithHTTPClient(&http.Client{
				Transport:     &http.Transport{DisableKeepAlives: true},
				CheckRedirect: func(*http.Request, []*http.Request) error { return nil },
			})},
		} {
			t.Run(fmt.Sprint(status, " ", name), func(t *testing.T) {
				t.Parallel()
				target := newPeer(t, script{})
				p := newPeer(t, script{react: func(x *exchange) { x.respond(status, echo, "Location", target.url()+"/sms/send") }})
				_, err := newClient(t, p.url(), options...).SMS.Send(t.Context(), testMessage(testReference))
				target.stop()
				assertOutcome(t, err, outcome{status: status, attempts: 1, verdict: []messaging.Verdict{messaging.Unknown}})
				assert.Len(t, p.seen(testReference), 1)
				assert.Empty(t, target.seen(""))
			})
		}
	}
}

// That no byte was seen leaving proves something only where bytes would have been seen.
func TestSendWithoutTraceEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		err     error
		calls   int
		verdict messaging.Verdict
	}{
		{"io.EOF", io.EOF, 1, messaging.Unknown},
		{"a text that claims too much", errors.New("connection refused"), 1, messaging.Unknown},
		{"a failed read", &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}, 1, messaging.Unknown},
		{"a failed dial", &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("no route")}, maxAttempts, messaging.NotSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			transport := roundTripperFunc(func(*http.Request) (*http.Response, error) {
				calls++
				return nil, tt.err
			})
			_, err := newClient(t, baseURL, transport.option()).SMS.Send(t.Context(), testMessage(testReference))
			assertOutcome(t, err, outcome{attempts: tt.calls, verdict: []messaging.Verdict{tt.verdict}})
			assert.Equal(t, tt.calls, calls)
			assert.ErrorIs(t, err, tt.err, "the cause")
		})
	}
}

func TestSendKeepsResponseAfterCancellation(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	transport := roundTripperFunc(func(r *http.Request) (*http.Response, error) {
		cancel()
		return newResponse(r, 200, acceptedBody), nil
	})
	receipt, err := newClient(t, baseURL, transport.option()).SMS.Send(ctx, testMessage(testReference))
	require.NoError(t, err)
	assert.Equal(t, "m-1", receipt.ID)
}

// newServer returns a server that is not started, and the number of its connections.
func newServer(t *testing.T, handle http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(handle)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	t.Cleanup(server.Close)
	return server, &connections
}

// referenceOf reads a request and returns the reference of its message.
func referenceOf(r *http.Request) string {
	var m struct{ ReferenceID string }
	body, err := io.ReadAll(r.Body)
	if err == nil {
		_ = json.Unmarshal(body, &m)
	}
	return m.ReferenceID
}

func TestSendReusesConnections(t *testing.T) {
	t.Parallel()
	const burst = 64
	var (
		arrived atomic.Int64
		gates   = [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	)
	server, connections := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		_ = referenceOf(r)
		// No request gets a response before the whole burst is there, so that each request needs a connection.
		n := arrived.Add(1) - 1
		gate := gates[min(n/burst, 1)]
		if (n+1)%burst == 0 {
			close(gate)
		}
		select {
		case <-gate:
		case <-time.After(peerLife / 2):
		}
		_, _ = io.WriteString(w, acceptedBody)
	})
	server.Start()
	client := newClient(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), peerLife)
	defer cancel()
	var before int64
	for n := range gates {
		before = connections.Load()
		var sends sync.WaitGroup
		for range burst {
			sends.Go(func() {
				_, err := client.SMS.Send(ctx, testMessage(testReference))
				assert.NoError(t, err, "burst %d", n+1)
			})
		}
		sends.Wait()
	}
	assert.GreaterOrEqual(t, before, int64(burst))
	assert.LessOrEqual(t, connections.Load()-before, int64(8), "connections opened by the second burst")
	assert.EqualValues(t, len(gates)*burst, arrived.Load())
}

// The service may close an idle connection just as the next request is written, which looks like a request that was
// processed. So the client closes first, before the usual keep-alive of servers ends.
func TestClientClosesIdleConnections(t *testing.T) {
	t.Parallel()
	p := newPeer(t, script{warmUp: 1, idle: (*exchange).awaitClose})
	_, err := newClient(t, p.url()).SMS.Send(t.Context(), testMessage(testReference))
	require.NoError(t, err)
	start := time.Now()
	await(t, p.noticed)
	assert.InDelta(t, 4.5, time.Since(start).Seconds(), 1.5)
}

func TestClientDoesNotChangeUserHTTPClient(t *testing.T) {
	t.Parallel()
	server, connections := newServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "mine") })
	server.Start()
	tr := &http.Transport{IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 3}
	hc := &http.Client{Transport: tr, Timeout: time.Minute}
	t.Cleanup(tr.CloseIdleConnections)
	visit := func() {
		t.Helper()
		resp, err := hc.Get(server.URL)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	}
	visit()
	require.EqualValues(t, 1, connections.Load())

	p := newPeer(t, script{react: func(x *exchange) {
		switch x.index {
		case 1:
			x.close()
		case 2:
			x.respond(500, echo)
		case 3:
			x.reset()
		default:
			x.respond(429, echo)
		}
	}})
	for range 4 {
		client := newClient(t, p.url(), messaging.WithHTTPClient(hc), messaging.WithTimeout(time.Second))
		_, err := client.SMS.Send(t.Context(), testMessage(testReference))
		require.Error(t, err)
	}
	_, err := newClient(t, "http://"+deadAddress, messaging.WithHTTPClient(hc)).SMS.Send(t.Context(), testMessage(testReference))
	require.ErrorIs(t, err, messaging.ErrNotSent)

	visit()
	assert.EqualValues(t, 1, connections.Load(), "the user's idle connection was closed")
	assert.Same(t, tr, hc.Transport)
	assert.Nil(t, hc.CheckRedirect)
	assert.Nil(t, hc.Jar)
	assert.Equal(t, time.Minute, hc.Timeout)
	assert.Equal(t, time.Minute, tr.IdleConnTimeout)
	assert.Equal(t, 3, tr.MaxIdleConnsPerHost)
	assert.False(t, tr.DisableKeepAlives)
	assert.Nil(t, tr.Proxy)
	assert.Nil(t, tr.Protocols)
}

func TestClientSendsConcurrently(t *testing.T) {
	t.Parallel()
	const goroutines, each = 100, 3
	var handled sync.Map // reference to *atomic.Int64
	server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		reference := referenceOf(r)
		times, _ := handled.LoadOrStore(reference, new(atomic.Int64))
		times.(*atomic.Int64).Add(1)
		_, _ = fmt.Fprintf(w, `{"status":"ok","data":{"id":"id-of-%s"}}`, reference)
	})
	server.Start()
	client := newClient(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), peerLife)
	defer cancel()
	var senders sync.WaitGroup
	for g := range goroutines {
		senders.Go(func() {
			for i := range each {
				reference := fmt.Sprintf("r-%d-%d", g, i)
				receipt, err := client.SMS.Send(ctx, testMessage(reference))
				assert.Equal(t, "id-of-"+reference, receipt.ID, "%v", err)
			}
		})
	}
	senders.Wait()
	messages := 0
	handled.Range(func(reference, times any) bool {
		messages++
		assert.EqualValues(t, 1, times.(*atomic.Int64).Load(), "%v", reference)
		return true
	})
	assert.Equal(t, goroutines*each, messages)
}

// The service drops idle connections at about the time at which the client sends again. With net/http alone about a quarter
// of these sends fail. However each of them ends, its verdict is true.
func TestVerdictsInKeepAliveRace(t *testing.T) {
	t.Parallel()
	const keepAlive = 20 * time.Millisecond
	var mu sync.Mutex
	handled := map[string]int{}
	server, _ := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		reference := referenceOf(r)
		mu.Lock()
		handled[reference]++
		mu.Unlock()
		_, _ = io.WriteString(w, acceptedBody)
	})
	server.Config.IdleTimeout = keepAlive
	server.Start()
	client := newClient(t, server.URL)
	ctx, cancel := context.WithTimeout(t.Context(), peerLife)
	defer cancel()
	verdicts := map[string]messaging.Verdict{}
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for i := range 80 {
		reference := fmt.Sprint("r-", i)
		_, err := client.SMS.Send(ctx, testMessage(reference))
		verdicts[reference] = messaging.VerdictOf(err)
		<-ticker.C
	}
	server.Close()
	assertLedger(t, verdicts, handled)
}

// assertLedger compares verdicts with how often the service handled each message. No message was refused for good.
func assertLedger(t *testing.T, verdicts map[string]messaging.Verdict, handled map[string]int) {
	t.Helper()
	for reference, verdict := range verdicts {
		switch verdict {
		case messaging.Accepted:
			assert.Equal(t, 1, handled[reference], reference)
		case messaging.Unknown:
			assert.LessOrEqual(t, handled[reference], 1, reference)
		case messaging.NotSent, messaging.Refused:
			assert.Zero(t, handled[reference], reference)
		}
	}
}
