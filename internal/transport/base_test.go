package transport

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readOf(t *testing.T, server *httptest.Server) Request {
	t.Helper()
	target, err := url.Parse(server.URL)
	require.NoError(t, err)
	request := readRequest()
	request.URL = target
	return request
}

func TestNewBaseSpeaksHTTP1WhereHTTP2IsOffered(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Proto)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	pool := NewBase()
	defer pool.CloseIdleConnections()
	pool.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	pool.TLSClientConfig.NextProtos = nil // which the test's client has filled in
	out := newTransport(pool).Do(t.Context(), readOf(t, server))
	require.NoError(t, out.Err)
	assert.Equal(t, "HTTP/1.1", string(out.Body))
}

func TestNewBaseKeepsTheConnectionsOfABurst(t *testing.T) {
	const senders = 30
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(5 * time.Millisecond)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	pool := NewBase()
	defer pool.CloseIdleConnections()
	tr, request := newTransport(pool), readOf(t, server)
	for range 4 {
		var calls sync.WaitGroup
		for range senders {
			calls.Go(func() { assert.Equal(t, 200, tr.Do(t.Context(), request).StatusCode) })
		}
		calls.Wait()
	}
	assert.LessOrEqual(t, opened.Load(), int32(senders+senders/2), "net/http alone would open some hundred")
}

// A connection is used again although the answer was an error page, and one larger than what is kept.
func TestErrorPageDoesNotCostAConnection(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(strings.Repeat("x", MaxErrorBody+maxDrained/2)))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	pool := NewBase()
	defer pool.CloseIdleConnections()
	out := newTransport(pool, waits(time.Millisecond, time.Second)).Do(t.Context(), readOf(t, server))
	assert.Equal(t, 4, out.Attempts)
	assert.Len(t, out.Body, MaxErrorBody)
	assert.EqualValues(t, 1, opened.Load())
}

func TestNewBaseBoundsResponseHeaders(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Large", strings.Repeat("x", 128<<10))
	}))
	defer server.Close()
	pool := NewBase()
	defer pool.CloseIdleConnections()
	out := newTransport(pool, attemptsUpTo(1)).Do(t.Context(), readOf(t, server))
	require.Error(t, out.Err)
	assert.Zero(t, out.StatusCode)
	assert.True(t, out.Written)
}

func TestNewBaseClosesIdleConnectionsBeforeServersDo(t *testing.T) {
	pool := NewBase()
	assert.Positive(t, pool.IdleConnTimeout)
	assert.Less(t, pool.IdleConnTimeout, 5*time.Second)
	assert.NotNil(t, pool.Proxy)
}

func TestNewBaseReturnsAPoolOfItsOwn(t *testing.T) {
	one, other := NewBase(), NewBase()
	assert.NotSame(t, one, other)
}
